"""A view becomes the one `page` object that templates/games/game.html and its fragments show."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, NamedTuple

from django.urls import reverse
from django.utils.http import urlencode

from games import rules
from games.queries import GameView, LastHand, LogLine
from games.refusals import Denied
from games.render import words
from games.render.clock import clock_of
from games.render.move import move_of
from games.render.table import SORTS, hand_of, players_of, scores_of, shown_hands, table_of
from games.render.told import LogNote, log_of, since_your_move

Context = dict[str, Any]

LOG_LINES: Final = 12
"""So many lines of the log are on the game page."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What the reader wants to see: a chooser for a card, the UNO toggle on, the hand in an order, why not.

    `refresh`: without scripts, the page may load itself again while others move.
    """

    choose: str = ""
    uno: bool = False
    sort: str = "color"
    refusal: Denied | None = None
    refresh: bool = True


@dataclass(frozen=True, slots=True)
class Ended:
    """The round that ended last, shown until the reader has moved in the next."""

    number: int
    outcome: rules.Outcome
    hands: Sequence[LastHand]


@dataclass(frozen=True, slots=True)
class Again:
    """The rematch of a finished game: who asked for it, and whether the reader sits there, or still can."""

    host: str
    seated: bool
    open: bool


def page_of(
    view: GameView,
    lines: Sequence[LogLine],
    *,
    asked: Asked,
    now: datetime,
    notes: Sequence[LogNote] = (),
    ended: Ended | None = None,
    again: Again | None = None,
) -> Context:
    """Everything the game page shows to the reader of `view`.

    `lines` are the newest of the log, oldest first, and `notes` stand between those that the page shows.
    """
    here = reverse("game", args=[view.id])
    sort = asked.sort if asked.sort in SORTS else "color"
    players = players_of(view, now)
    move = move_of(view, choose=asked.choose, uno=asked.uno, here=here)
    hand = hand_of(view, sort=sort, chosen=asked.choose, here=here)
    page: Context = {
        "code": view.id,
        "version": view.version,
        "round": view.round,
        "unversioned": view.turn is None,
        "token": secrets.token_urlsafe(12),
        "headline": words.headline(view, now),
        "name": words.table_name(view),
        "crumb": words.crumb(view),
        "detail": words.detail(view),
        "due": _due(view, now),
        "url": here,
        "move_url": reverse("move", args=[view.id]),
        "log_url": reverse("log", args=[view.id]),
        "fragment_url": _fragment_url(here, view, asked.choose if move and move["chooser"] else ""),
        "refresh_url": here if view.status == "playing" and not view.my_turn else "",
        "refreshing": view.status == "playing" and not view.my_turn and asked.refresh,
        "refusal": asked.refusal,
        "news": since_your_move(view, lines) if view.my_turn or view.status == "over" else [],
        "move": move,
        "hand": hand,
        "table": table_of(view),
        "players": players,
        "scores": scores_of(view, players),
        "columns": tuple(player.name for player in players),
        "log": log_of(view, lines[-LOG_LINES:], now, notes),
        "ended": _ended(view, ended),
        "over": _over(view, again),
        "may_leave": may_leave(view),
        "clock": clock_of(view),
        "options": words.options_prose(view),
        "commitment": view.commitment,
    }
    page["says"] = says_of(view, page)
    return page


def _fragment_url(here: str, view: GameView, choose: str) -> str:
    """Where the page fetches its next state: the answer tells what happened after this version, or after this round."""
    query: dict[str, int | str] = {"since": view.version}
    if choose:
        query["choose"] = choose
    if view.status == "playing" and view.turn is None:
        query["ended"] = view.round
    return f"{here}?{urlencode(query)}"


def _due(view: GameView, now: datetime) -> Context | None:
    if view.deadline is None:
        return None
    return {
        "iso": view.deadline.isoformat(timespec="seconds"),
        "left": words.time_left(view.deadline, now),
        "seconds": round((view.deadline - now).total_seconds(), 1),
    }


def may_leave(view: GameView) -> bool:
    """Whether the reader can resign: still in, in a round that is being played."""
    seen = view.view
    return view.turn is not None and seen is not None and view.you is not None and view.you not in seen.out


def _over(view: GameView, again: Again | None) -> Context | None:
    if not view.ended:
        return None
    code = [view.id]
    label, note = _rematch(again)
    url = reverse("rematch", args=code) if view.you is not None and label else ""
    return {
        "rematch_url": url,
        "rematch": label,
        "note": note if view.you is not None else "",
        "looked": LOOKED if view.looked else "",
        "replay_url": reverse("replay", args=code),
        "record_url": reverse("record", args=code),
    }


LOOKED: Final = "Staff looked at hands while this game ran: the log says when."


def _rematch(again: Again | None) -> tuple[str, str]:
    """What the button says, empty for no button; and the sentence beside it."""
    if again is None:
        return "Rematch", ""
    if again.seated:
        return "To the rematch", ""
    if again.open:
        return "Join the rematch", f"{again.host or 'Somebody'} asks for a rematch."
    return "", "The rematch has begun without you, or was closed."


def _ended(view: GameView, ended: Ended | None) -> Context | None:
    seen = view.view
    if seen is not None and seen.hands is not None:
        hands = [
            LastHand(cards, seat.seat in seen.out, seat.left)
            for seat, cards in zip(view.seats, seen.hands, strict=True)
        ]
        ended = Ended(view.round, view.results[-1].outcome, hands)
    if ended is None:
        return None
    event = rules.Event("won", ended.outcome.winner, points=ended.outcome.points)
    result = f"Round {ended.number}: {rules.sentence(event, view.you, view.names)}"
    return {
        "result": result if view.target else "Everybody’s cards at the end",
        "hands": shown_hands(view, ended.hands),
    }


class Said(NamedTuple):
    """A key, its visible control, and what both say; static/js/keys.js puts the time in for `{left}`."""

    key: str
    label: str
    text: str


def says_of(view: GameView, page: Context) -> list[Said]:
    """What each key says, and its visible control."""
    table, hand = page["table"], page["hand"]
    stack = f"{table['owed']} owed, {table['owed_note']}." if table.get("owed") else "There is no stack."
    counts = ", ".join(f"{player.name} {words.cards(player.cards)}" for player in page["players"])
    scores = ", ".join(f"{seat.name} {seat.score}" for seat in view.seats)
    held = ", ".join(card.name for card in hand["cards"]) if hand else "You hold no cards."
    return [
        Said("c", "Top card", f"{table['top_name']}."),
        Said("v", "Colour in force", f"{table['color_name'] or 'Not named yet'}."),
        Said("g", "Stack", stack),
        Said("e", "Everyone’s counts", f"{counts}."),
        Said("d", "Your hand", f"{page['hand']['note']}: {held}." if hand else held),
        Said("t", "Whose turn, and time", page["headline"] + (" {left}" if view.deadline else "")),
        Said("s", "Scores", f"{scores}."),
    ]
