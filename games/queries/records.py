"""Makes the record of a finished game (docs/notation.md, "Record")."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from django.db.models import Prefetch

from games import rules
from games.models import Move, Round
from games.models.positions import position_of
from games.queries import Table
from games.queries.replays import one_at_a_time, refuse_if_faulty, replayed
from games.refusals import Denied


def record_of(table: Table) -> rules.Record:
    """Return the record of a game that is over. Runs three queries.

    :raises Denied: `not_found` while the game runs, because a record shows cards, and for a game whose log does not
        replay; `busy` while another request works on a long game.
    """
    game = table.game
    if not game.ended or table.playing is None:
        raise Denied("not_found", "The record is published once the game is over.", version=game.version)
    moves = Prefetch("moves", queryset=Move.objects.order_by("n").only("round", "seat", "text", "at"))
    started = game.started_at or game.created_at
    times = _AscendingTimes(started)
    with one_at_a_time(game.version), refuse_if_faulty(game):
        rounds = list(Round.objects.filter(game=game).prefetch_related(moves).order_by("number"))
        played = tuple(_round(round_, table, times) for round_ in rounds)
    return rules.Record(
        preset=game.preset,
        options=table.options,
        players=tuple(table.names),
        date=_utc_text(started),
        commitments=tuple(round_.commitment for round_ in rounds),
        seeds=tuple(bytes(round_.secret).hex() for round_ in rounds),
        result=game.winner,
        rounds=played,
    )


def _round(round_: Round, table: Table, times: _AscendingTimes) -> rules.RoundRecord:
    return rules.RoundRecord(
        number=round_.number,
        dealer=round_.dealer,
        deal=tuple(round_.deal.split()),
        lines=tuple(_lines(round_, table, times)),
        end=rules.outcome(position_of(round_)),
    )


def _lines(round_: Round, table: Table, times: _AscendingTimes) -> list[rules.RecordLine]:
    """Return the lines of a round, with each shuffle before the move that needed it.

    Shuffles before the first move are those of a first discard (FIRST-1, ELIM-1).
    """
    shuffler, lines = rules.Shuffler(bytes(round_.secret)), list[rules.RecordLine]()

    def shuffle(cards: Sequence[rules.Card], stream: str) -> list[rules.Card]:
        order = shuffler.shuffle(cards, stream)
        if not rules.is_of_deal(stream):  # the deal is not among the lines
            lines.append(rules.RecordLine("", " ".join(order)))
        return order

    moves = round_.moves.all()
    positions = replayed(
        round_,
        ((move.seat, move.text) for move in moves),
        options=table.options,
        players=len(table.seats),
        shuffle=shuffle,
    )
    next(positions)
    for move, _ in zip(moves, positions, strict=True):
        lines.append(rules.RecordLine(times.at(move.at), f"{move.seat} {move.text}"))
    return lines


class _AscendingTimes:
    """Makes the times of moves ascend. Moves that waited for the same lock may have their times in the wrong order."""

    def __init__(self, start: datetime) -> None:
        self._last = start

    def at(self, moment: datetime) -> str:
        self._last = max(self._last, moment)
        return _utc_text(self._last)


def _utc_text(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
