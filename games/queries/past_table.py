"""What a player who is out of a round watches: the rest of it, a move at a time."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from games import rules
from games.models import Game, Hand, Move, Round
from games.models.positions import position_of
from games.queries.replays import LONG, last_position
from games.queries.tables import Playing, Table
from games.refusals import Denied

TO_MOVE: Final = timedelta(seconds=60)
"""The time that a player must have left for a turn in the next round after watching. Otherwise the watching ends."""


@dataclass(frozen=True, slots=True)
class PastTable:
    """An earlier moment of a table. `table` is the table as it was then, which must not be saved.

    `my_turn`: the player who watches is on turn in the next round by now.
    """

    table: Table
    my_turn: bool


def next_step(table: Table, seat: int, *, since: int, deal: int, now: datetime) -> PastTable | None:
    """Return the table after the next move that a player who is out has not seen; None if the present comes next.

    `since` and `deal` are the version and the deal that the player's page shows. The player sees what they saw when the
    move was made, and at least the move that knocked them out. Rounds with `LONG` and more moves are not played back.
    """
    playing = table.started
    round_, end = playing.round, table.game.version
    present = deal == round_.number
    if not present:
        if deal != round_.number - 1:
            return None
        before = Round.objects.filter(game_id=table.game.pk, number=deal, void=False).first()
        if before is None:
            return None
        round_, end = before, playing.round.from_version
    if seat not in round_.out or seat in round_.absent or table.seats[seat].left:
        return None
    if not _has_lost_hand(playing, round_, seat):
        return None  # somebody else had this seat then
    knocked_out = _knocked_out_at(round_, seat)
    if knocked_out is None:
        return None
    n = max(since + 1, knocked_out)
    my_turn = not present and _is_on_turn(table, seat)
    deadline = table.game.deadline
    in_time = deadline is None or deadline - now > TO_MOVE + timedelta(seconds=end - n)
    if n > end or (present and n == end) or (my_turn and not in_time):
        return None
    position = _position_after(table, round_, n)
    return None if position is None else PastTable(_table_at(table, round_, position, n, end), my_turn)


def _is_on_turn(table: Table, seat: int) -> bool:
    return (
        table.game.status == Game.Status.PLAYING
        and table.game.paused_at is None
        and not table.started.over
        and table.on_turn.index == seat
        and not table.seats[seat].bot
    )


def _has_lost_hand(playing: Playing, round_: Round, seat: int) -> bool:
    """Return True if the hand is stored that a seat was knocked out with in a round, this one or the last."""
    if round_ == playing.round:
        return bool(playing.hands[seat].lost)
    return Hand.objects.filter(round=round_, seat__index=seat).exclude(lost=[]).exists()


def _knocked_out_at(round_: Round, seat: int) -> int | None:
    """Return the line of the log that knocked a seat out in a round, or None."""
    lines = Move.objects.filter(round_id=round_.pk, events__contains=[{"kind": "knocked_out", "seat": seat}])
    return lines.values_list("n", flat=True).first()


def _position_after(table: Table, round_: Round, n: int) -> rules.Position | None:
    """Return the position after move `n` of a round. None for a long log, and for a faulty one, which is logged."""
    if n - round_.from_version >= LONG:
        return None
    lines = Move.objects.filter(round_id=round_.pk, n__lte=n).order_by("n").values_list("seat", "text")
    try:
        return last_position(table, round_, lines)
    except Denied:
        return None


def _table_at(table: Table, round_: Round, position: rules.Position, n: int, end: int) -> Table:
    """Return a copy of a table as it was after move `n` of a round that ends with move `end`."""
    game = copy(table.game)
    game.version, game.status, game.round, game.winner = n, Game.Status.PLAYING, round_, None
    game.deadline, game.paused_at, game.paused_reasons = None, None, []
    ended = rules.outcome(position_of(round_)) if n < end else None
    seats = [copy(seat) for seat in table.seats]
    for seat in seats:
        seat.score -= ended.gained(seat.index) if ended else 0
    rows = {hand.seat_id: hand for hand in Hand.objects.filter(round_id=round_.pk)}
    hands = [
        Hand(round=round_, seat=seat, lost=rows[seat.pk].lost, lost_side=rows[seat.pk].lost_side) for seat in seats
    ]
    earlier = None if table.earlier is None else [row for row in table.earlier if row.number < round_.number]
    return Table(game, seats, table.options, Playing(round_, hands, position), earlier)
