"""Reads what the key moments of a match, the story of its end, and what each player did are worked out from."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import lru_cache, reduce
from operator import or_
from typing import TYPE_CHECKING, Final, NamedTuple

from django.db.models import Max, Q

from games import rules
from games.models import Move, Round, Seat
from games.models.positions import position_of
from games.queries.tables import Table

if TYPE_CHECKING:
    from accounts.models import User

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
    lines = _lines_of(_TELLING, table.game.pk)
    ends = [*(round_.from_version for round_ in rounds[1:]), table.game.version]
    played = [_logged(round_, end, lines.get(round_.pk, ())) for round_, end in zip(rounds, ends, strict=True)]
    return rules.key_moments(played, table.options, len(table.seats))


class ToldEnd(NamedTuple):
    """What is told of the end of a round or of a game: its key moments, and the story of its last round."""

    moments: Sequence[rules.KeyMoment] = ()
    story: rules.RoundStory | None = None


def end_of_game(table: Table) -> ToldEnd:
    """Return what is told of the end of a game. Nothing of one longer than `LONGEST`. Runs at most three queries."""
    if table.game.version > LONGEST:
        return ToldEnd()
    rounds = list(Round.objects.filter(game_id=table.game.pk).order_by("number"))
    return ToldEnd(key_moments_of(table, rounds), end_of_round(table, rounds[-1].number).story)


def end_of_round(table: Table, number: int) -> ToldEnd:
    """Return what is told of the end of a round that is over. Nothing in a match longer than `LONGEST`.

    A single round has no changes of the lead. Runs one query at most.
    """
    if table.game.version > LONGEST:
        return ToldEnd()
    return _end_of_round(table.game.pk, number, table.options, len(table.seats))


@lru_cache(maxsize=256)  # it never changes, and the players' pages show it again and again
def _end_of_round(game_id: int, number: int, options: rules.Options, players: int) -> ToldEnd:
    lines = [line for found in _lines_of(Q(round__number=number), game_id).values() for line in found]
    played = rules.LoggedRound(number, lines[-1].n if lines else 0, None, (), lines)
    return ToldEnd(rules.key_moments([played], options, players), rules.round_story(lines, players))


def feats_of(table: Table) -> Sequence[rules.Feats]:
    """Return what each seat did in a game, empty for one longer than `LONGEST`. Runs one query."""
    if table.game.version > LONGEST:
        return ()
    found = _lines_of(Q(), table.game.pk).values()
    return rules.round_story((line for lines in found for line in lines), len(table.seats)).feats


def best_in_other_games(table: Table, user: User) -> rules.Feats | None:
    """Return the best of what a person did in other games, None if nothing is stored of any. Runs one query."""
    others = Seat.objects.filter(user=user, stack_sent__isnull=False).exclude(game_id=table.game.pk)
    best = others.aggregate(*(Max(name) for name in Seat.FEATS))
    return None if best["stack_sent__max"] is None else rules.Feats(*best.values())


def _lines_of(which: Q, game_id: int) -> Mapping[int, list[rules.LoggedMove]]:
    """Return these lines of a game by the primary key of their round."""
    moves = Move.objects.filter(which, game_id=game_id)
    lines: dict[int, list[rules.LoggedMove]] = defaultdict(list)
    for round_id, n, text, events in moves.order_by("n").values_list("round_id", "n", "text", "events"):
        lines[round_id].append(rules.LoggedMove(n, text, tuple(map(rules.Event.from_json, events))))
    return lines


def _logged(round_: Round, end: int, lines: Sequence[rules.LoggedMove]) -> rules.LoggedRound:
    outcome = None if round_.void else rules.outcome(position_of(round_))
    return rules.LoggedRound(round_.number, end, outcome, round_.absent, lines)
