"""Makes many copies of a table."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from django.db import connection
from django.db.models import Model

from games.models import Game, Hand, Round, Seat
from games.models.tables import new_code, new_invite_key
from games.queries import Table


def copy_table(table: Table, count: int, *, deadline: Callable[[int], datetime], turn: timedelta) -> list[int]:
    """Make copies of a running table, with its position and without its log. Return their numbers.

    The n-th copy has the deadline `deadline(n)`. `turn` is the length of its turn. One statement for each kind of
    row makes thousands in a second.
    """
    given: dict[str, Any] = {
        "game": table.game.pk,
        "round": table.started.round.pk,
        "codes": [new_code() for _ in range(count)],
        "keys": [new_invite_key() for _ in range(count)],
        "deadlines": [deadline(n) for n in range(count)],
        "turn": turn,
    }
    own = {"code": "new.code", "invite_key": "new.key", "round_id": "NULL", "remind_at": "NULL"}
    own |= {"deadline": "new.deadline", "turn_since": "new.deadline - %(turn)s"}
    new = "unnest(%(codes)s::text[], %(keys)s::text[], %(deadlines)s::timestamptz[]) WITH ORDINALITY AS new"
    copies = _copy(Game, own, f"{new} (code, key, deadline, n) WHERE old.id = %(game)s ORDER BY n", given)
    given["copies"] = copies
    made = "unnest(%(copies)s::bigint[]) AS made (id)"
    _copy(Round, {"game_id": "made.id"}, f"{made} WHERE old.id = %(round)s", given)
    _copy(Seat, {"game_id": "made.id"}, f"{made} WHERE old.game_id = %(game)s", given)
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE games_game SET round_id = own.id FROM games_round own"
            " WHERE own.game_id = games_game.id AND games_game.id = ANY(%(copies)s)",
            given,
        )
    # Not joined by a statement: without statistics of these rows the planner chooses a slow way.
    rounds = dict(Round.objects.filter(game_id__in=copies).values_list("game_id", "pk"))
    windows = dict(table.started.round.hands.values_list("seat__index", "callout_until"))
    seats = Seat.objects.filter(game_id__in=copies).values_list("pk", "game_id", "index")
    hands = [Hand(round_id=rounds[game], seat_id=seat, callout_until=windows[n]) for seat, game, n in seats]
    Hand.objects.bulk_create(hands)
    return copies


def _copy(model: type[Model], own: dict[str, str], source: str, given: dict[str, Any]) -> list[int]:
    """Insert copies of the rows `old`, one for each row of `source`, with these columns of their own."""
    columns = [str(field.column) for field in model._meta.concrete_fields if not field.primary_key]
    values = (own.get(column, f'old."{column}"') for column in columns)
    names, table = ", ".join(f'"{column}"' for column in columns), model._meta.db_table
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {table} ({names}) SELECT {', '.join(values)} FROM {table} old, {source} RETURNING id",  # noqa: S608  # columns of a model
            given,
        )
        return [pk for (pk,) in cursor.fetchall()]
