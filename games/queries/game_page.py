"""Reads everything that the page of a game shows one viewer."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final

from games import queries, rules
from games.models import Game, Seat
from games.queries import (
    DoneAct,
    GameView,
    LastHand,
    LogLine,
    PastEvent,
    RematchState,
    Table,
    conduct,
    key_moments,
    past_table,
)
from games.queries.key_moments import ToldEnd
from games.queries.past_table import PastTable

if TYPE_CHECKING:
    from accounts.models import User

LOG_LINES: Final = 12
"""The lines of the log on a game page."""

READ_LINES: Final = 30
"""The newest lines of the log that are read for a game page: to show, to announce, and for "Since your last move"."""


@dataclass(frozen=True, slots=True)
class ShownPage:
    """What an open page shows, whose reader is to be told what has happened since.

    `version` and `deal` are None if the request does not say them. `ended` is the round whose end it shows, if any.
    `moved`: the reader has made a move on that version. `watches`: a reader who is out of the round is to see what has
    happened a move at a time. `tip` is the key of the tip that it shows, or empty.
    """

    version: int | None = None
    deal: int | None = None
    ended: int | None = None
    moved: bool = False
    watches: bool = False
    tip: str = ""


@dataclass(frozen=True, slots=True)
class LastRound:
    """A round that has ended: its number, its outcome and the hands at its end."""

    number: int
    outcome: rules.Outcome
    hands: Sequence[LastHand]


@dataclass(frozen=True, slots=True)
class PageContents:
    """What the page of a game shows one viewer.

    - `lines` are the newest lines of the log, oldest first, and `between` the staff acts and events between those that
      the page lists.
    - `last_round` is the round before this one, if the page still shows it.
    - `moments` are the key moments of a finished game, or of the round whose end the page shows, and `story` is that of
      the round.
    - `feats` is what the viewer did in the finished game or that round, None if they did not play or it is not known.
      `best` is their best in other finished games, once the game is over and if there is one.
    - `rematch` is there if somebody has asked for one and the viewer played in the game.
    - `unseen_end`: the game has ended, and the viewer, who played, has not looked at its end.
    - `called_off_by_staff`: staff ended the game without a winner.
    - `unseated` is the act by which staff took the viewer's seat, or empty.
    - `can_sign_up`: the viewer is a guest who plays here, and may sign up.
    - `seen_tips` are the keys of the tips that the viewer has seen, None for somebody who gets none.
    - `confirm` is what the viewer is asked about before a move (`User.Confirm`), empty for a visitor.
    - `is_past`: this is an earlier moment, which a viewer who is out watches. `turn_waits`: by now they are on turn in
      the next round.
    """

    view: GameView
    lines: Sequence[LogLine] = ()
    between: Sequence[DoneAct | PastEvent] = ()
    last_round: LastRound | None = None
    moments: Sequence[rules.KeyMoment] = ()
    story: rules.RoundStory | None = None
    feats: rules.Feats | None = None
    best: rules.Feats | None = None
    rematch: RematchState | None = None
    unseen_end: bool = False
    called_off_by_staff: bool = False
    unseated: str = ""
    can_sign_up: bool = False
    seen_tips: Collection[str] | None = None
    confirm: str = ""
    is_past: bool = False
    turn_waits: bool = False


def contents_of(table: Table, user: User | None, shown: ShownPage | None, *, now: datetime) -> PageContents:
    """Return what the page of a game that has started shows this person.

    Runs two queries, and more only for what few pages show.

    :param shown: what the reader's open page shows; None for a page that is loaded as a whole.
    """
    past = _past_table(table, user, shown, now)
    if past is not None:
        table = past.table
    view = queries.view_of(table, user)
    lines = queries.log_of(table, user, last=_lines_to_read(table, shown))
    # The notes since the oldest line that the page shows, or since the beginning if it shows all lines.
    oldest = lines[-LOG_LINES].n if len(lines) > LOG_LINES else 0
    last_round = _last_round(table, view, lines)
    end = _told_end(table, view, last_round)
    feats = _feats(table, view, user, end.story)
    return PageContents(
        view=view,
        lines=lines,
        between=queries.between_moves(table, user, since=oldest, last=LOG_LINES),
        last_round=last_round,
        moments=end.moments,
        story=end.story,
        feats=feats,
        best=key_moments.best_in_other_games(table, user) if view.ended and feats is not None and user else None,
        rematch=_rematch(table, view, user),
        unseen_end=queries.unseen_end(table, user),
        called_off_by_staff=view.status == Game.Status.VOID and conduct.closed_by_staff(table.game),
        unseated=conduct.unseated_by(table.game, user) if user is not None and view.you is None else "",
        can_sign_up=user is not None and user.is_guest and not user.no_sign_up_until and view.you is not None,
        seen_tips=user.seen_tips if user is not None and not (user.no_tips or user.is_program or past) else None,
        confirm=user.confirm if user is not None else "",
        is_past=past is not None,
        turn_waits=past is not None and past.my_turn,
    )


def _past_table(table: Table, user: User | None, shown: ShownPage | None, now: datetime) -> PastTable | None:
    """Return the next moment of a round that the reader is out of, if their page has not shown it yet."""
    seat = table.seat_of(user)
    if seat is None or shown is None or not shown.watches or shown.version is None or shown.deal is None:
        return None
    return past_table.next_step(table, seat, since=shown.version, deal=shown.deal, now=now)


def _lines_to_read(table: Table, shown: ShownPage | None) -> int:
    """Return how many of the newest lines of the log the page needs."""
    if shown is None or shown.version is None or not shown.moved:
        return READ_LINES
    # One more than the page lists, so that it knows that there are earlier ones. The reader's own move is after
    # `version`, so "Since your last move" needs no older lines.
    return min(READ_LINES, LOG_LINES + 1 + max(0, table.game.version - shown.version))


def _last_round(table: Table, view: GameView, lines: Sequence[LogLine]) -> LastRound | None:
    """Return the round before this one, or None if the reader has moved since or that is long ago."""
    new = view.version - table.started.round.from_version < READ_LINES
    moved = any(line.round == view.round and line.is_of(view.you) for line in lines)
    if view.you is None or view.turn is None or view.round < 2 or moved or not new:
        return None
    last = next((result for result in view.results if result.number == view.round - 1), None)
    if last is None:  # staff voided it
        return None
    return LastRound(last.number, last.outcome, queries.hands_after(table, last.number))


def _told_end(table: Table, view: GameView, last_round: LastRound | None) -> ToldEnd:
    if view.ended:
        return key_moments.end_of_game(table)
    if view.turn is None:
        return key_moments.end_of_round(table, view.round)
    return ToldEnd() if last_round is None else key_moments.end_of_round(table, last_round.number)


def _feats(table: Table, view: GameView, user: User | None, story: rules.RoundStory | None) -> rules.Feats | None:
    seat = table.own_seat(user)
    if seat is None or story is None:
        return None
    if not view.ended:
        return story.feats[seat.index]
    stored = [getattr(seat, name) for name in Seat.FEATS]
    return None if None in stored else rules.Feats(*stored)


def _rematch(table: Table, view: GameView, user: User | None) -> RematchState | None:
    if user is None or not view.ended or view.you is None:
        return None
    return queries.rematches_of([table.game], user).get(view.id)
