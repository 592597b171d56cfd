"""Reads what the key moments of a match are worked out from: the few lines of its log that tell them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import reduce
from operator import or_
from typing import Final

from django.db.models import Q

from games import rules
from games.models import Game, Move, Round
from games.models.positions import position_of
from games.queries.tables import Table

LONGEST: Final = 5_000
"""Matches with more moves have no key moments, because reading 75,000 lines with such moments takes two seconds."""

_TELLING: Final = reduce(or_, (Q(events__contains=[fields]) for fields in rules.TELLING))


def key_moments_of(table: Table, rounds: Sequence[Round] | None = None) -> list[rules.KeyMoment]:
    """Return the key moments of a match up to now, in the order of its log, none if it is longer than `LONGEST`.

    `rounds` are all its rounds in order, if they have been read already. Runs one query then, and two otherwise.
    """
    if table.game.version > LONGEST:
        return []
    if rounds is None:
        rounds = list(Round.objects.filter(game_id=table.game.pk).order_by("number"))
    lines = _lines_of(table.game)
    ends = [*(round_.from_version for round_ in rounds[1:]), table.game.version]
    played = [_logged(round_, end, lines[round_.pk]) for round_, end in zip(rounds, ends, strict=True)]
    return rules.key_moments(played, table.options, len(table.seats))


def moments_of_round(table: Table, number: int) -> list[rules.KeyMoment]:
    """Return the knock-outs and big stacks of one round, none in a match longer than `LONGEST`. Runs one query."""
    if table.game.version > LONGEST:
        return []
    lines = _lines_of(table.game, number)
    played = [rules.LoggedRound(number, table.game.version, None, (), found) for found in lines.values()]
    return rules.key_moments(played, table.options, len(table.seats))


def _lines_of(game: Game, number: int | None = None) -> Mapping[int, list[rules.LoggedMove]]:
    """Return the telling lines of a game, or of one round of it, by the primary key of their round."""
    moves = Move.objects.filter(_TELLING, game_id=game.pk)
    if number is not None:
        moves = moves.filter(round__number=number)
    lines: dict[int, list[rules.LoggedMove]] = defaultdict(list)
    for round_id, n, text, events in moves.order_by("n").values_list("round_id", "n", "text", "events"):
        lines[round_id].append(rules.LoggedMove(n, text, tuple(map(rules.Event.from_json, events))))
    return lines


def _logged(round_: Round, end: int, lines: Sequence[rules.LoggedMove]) -> rules.LoggedRound:
    outcome = None if round_.void else rules.outcome(position_of(round_))
    return rules.LoggedRound(round_.number, end, outcome, round_.absent, lines)
