"""Games in lists: on the front page and on profiles."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Final, NamedTuple

from django.utils import timezone
from django.utils.text import capfirst

from games import rules
from games.models import Game
from games.queries import GameView
from games.render import words
from games.render.rulebook import USUAL

YOUR_TURN: Final = "Your turn: "


class GameCard(NamedTuple):
    """A game in a list. `top` is the card on top of the discard pile, None before the first deal.

    `side` is the side in force, None if the deck has one side.
    `due` is the time left for the reader's move and `due_note` its deadline, both empty if it is not their turn.
    `join_url` is empty if the table is not open.
    """

    url: str
    name: str
    what: str
    people: str
    top: str | None = None
    side: str | None = None
    due: str = ""
    due_note: str = ""
    join_url: str = ""


def game_card(view: GameView, now: datetime) -> GameCard:
    """Return a game's card for the reader of `view`."""
    deadline = view.deadline if view.my_turn else None
    others = [seat.name for seat in view.seats if seat.seat != view.you]
    return GameCard(
        url=words.table_url("game", view.id),
        name=words.listed(others) or words.table_name(view),
        what=_what(view, now),
        people=_length(view),
        top=view.view.top if view.view else None,
        side=_side(view),
        due=words.time_left(deadline, now) if deadline else "",
        due_note=words.due(deadline, now) if deadline else "",
    )


def open_card(view: GameView) -> GameCard:
    """Return the card of a table where the reader can sit down."""
    seated = ", ".join(seat.name for seat in view.seats)
    return GameCard(
        url=words.table_url("game", view.id),
        name=words.table_name(view),
        what=f"{len(view.seats)} of {view.players} seats taken",
        people=" · ".join(filter(None, (seated, _rules(view), _length(view)))),
        side=_side(view),
        join_url=words.table_url("join", view.id),
    )


def _rules(view: GameView) -> str:
    """Return the rules of a table in a list, or an empty text for those that a reader expects here."""
    changed = ", changed" if words.differences(view) else ""
    return f"{rules.PRESET_TITLES[view.preset]} rules{changed}" if changed or view.preset != USUAL else ""


def _side(view: GameView) -> str | None:
    """Return the side in force, or the first side before the first deal. None if the deck has one side."""
    return view.view.side if view.view else view.options.rules.first.name


def begun_at(game: Game) -> datetime:
    """Return when this table was started, or made if it has not started, in the current time zone."""
    return timezone.localtime(game.started_at or game.created_at)


def _what(view: GameView, now: datetime) -> str:
    """Return the game's headline without the parts that the list shows elsewhere."""
    if view.view is None:
        free = view.players - len(view.seats)
        return f"Waiting for {words.counted(free, 'more player')}."
    sentence = words.headline(replace(view, deadline=None), now)
    if sentence.startswith(YOUR_TURN):
        what = sentence.removeprefix(YOUR_TURN)
        sentence = capfirst(what)
    if view.bot_for_me:
        return "A bot plays for you." if view.turn == view.you else f"A bot plays for you. {sentence}"
    return sentence


def _length(view: GameView) -> str:
    return f"{view.terms.label} pace · {words.length(view)}"
