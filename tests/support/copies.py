"""Makes many copies of a table."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final, TypeVar

from django.db.models import Model

from games.models import Game, Hand, Round, Seat
from games.models.tables import new_code, new_invite_key
from games.queries import Table

BATCH: Final = 1000
M = TypeVar("M", bound=Model)


def copy_table(table: Table, count: int, *, deadline: Callable[[int], datetime], turn: timedelta) -> list[int]:
    """Make copies of a running table, with its position and without its log. Return their numbers.

    The n-th copy has the deadline `deadline(n)`. `turn` is the length of its turn.
    """
    made: list[int] = []
    while len(made) < count:
        first = len(made)
        made += _copy(table, [deadline(n) for n in range(first, min(first + BATCH, count))], turn)
    return made


def _copy(table: Table, deadlines: list[datetime], turn: timedelta) -> list[int]:
    round_, hands = table.started.round, table.started.hands
    games = [_unsaved_copy(table.game, code=new_code(), invite_key=new_invite_key(), round=None) for _ in deadlines]
    for game, deadline in zip(games, deadlines, strict=True):
        game.deadline, game.turn_since, game.remind_at = deadline, deadline - turn, None
    Game.objects.bulk_create(games)
    rounds = Round.objects.bulk_create(_unsaved_copy(round_, game=game) for game in games)
    for game, own in zip(games, rounds, strict=True):
        game.round = own
    Game.objects.bulk_update(games, ["round"])
    seats = Seat.objects.bulk_create(_unsaved_copy(seat, game=game) for game in games for seat in table.seats)
    owners = [own for own in rounds for _ in hands]
    Hand.objects.bulk_create(
        _unsaved_copy(hand, round=own, seat=seat)
        for own, seat, hand in zip(owners, seats, hands * len(games), strict=True)
    )
    return [game.pk for game in games]


def _unsaved_copy(row: M, **changes: object) -> M:
    values = {
        field.attname: getattr(row, field.attname) for field in row._meta.concrete_fields if not field.primary_key
    }
    copy = type(row)(**values)
    for name, value in changes.items():
        setattr(copy, name, value)
    return copy
