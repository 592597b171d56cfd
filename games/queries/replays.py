"""Step by step through a game that is over, from any seat: its rounds dealt and played again from what is stored."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final

import structlog

from games import queries, rules
from games.models import Game, Move, Round
from games.models.positions import position_of
from games.queries import GameView, LogLine, RoundResult, Table
from games.refusals import Denied, busy, does_not_replay

if TYPE_CHECKING:
    from accounts.models import User

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Span:
    """One round's part of the log: what was before its deal, and its last line."""

    number: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class ReplayFrame:
    """A game after its first `n` lines; where one round ends and the next begins, `round` says which of the two.

    `lines` are the newest `SHOWN` of this round so far, oldest first, with everything that is known by now. `left` are
    the seats whose players had left by then, `results` the rounds that had ended.
    """

    n: int
    round: int
    last: int
    spans: tuple[Span, ...]
    position: rules.Position
    lines: tuple[LogLine, ...]
    left: frozenset[int]
    results: tuple[RoundResult, ...]

    @property
    def span(self) -> Span:
        return next(span for span in self.spans if span.number == self.round)

    @property
    def after(self) -> tuple[int, int] | None:
        """`n` and round of the next step, None at the end."""
        if self.n < self.span.end:
            return self.n + 1, self.round
        following = next((span for span in self.spans if span.number > self.round), None)
        return (self.n, following.number) if following else None

    @property
    def before(self) -> tuple[int, int] | None:
        """`n` and round of the step before, None at the first deal."""
        if self.n > self.span.start:
            return self.n - 1, self.round
        earlier = [span for span in self.spans if span.number < self.round]
        return (self.n, earlier[-1].number) if earlier else None


def step_of(table: Table, n: int, round_number: int | None = None) -> ReplayFrame:
    """The step after line `n`, or the nearest there is; the deal of `round_number` if that round begins there.

    Three queries.

    :raises Denied: `not_found` while the game runs, for one that never began, and for one whose log is at fault; `busy`
        if somebody else has a long round replayed.
    """
    game = table.game
    if not game.ended or table.playing is None:
        raise Denied("not_found", "A game can be replayed once it is over.", version=game.version)
    rounds = list(Round.objects.filter(game_id=game.pk).order_by("number"))
    ends = [*(round_.from_version for round_ in rounds[1:]), game.version]
    spans = tuple(Span(round_.number, round_.from_version, end) for round_, end in zip(rounds, ends, strict=True))
    n = min(max(n, 0), game.version)
    span = _span_at(spans, n, round_number)
    with one_at_a_time(n - span.start):
        return _step(table, rounds, spans, span, n)


def _step(table: Table, rounds: list[Round], spans: tuple[Span, ...], span: Span, n: int) -> ReplayFrame:
    game, round_ = table.game, next(round_ for round_ in rounds if round_.number == span.number)
    moves = Move.objects.filter(round_id=round_.pk, n__lte=n)
    newest = reversed(moves.order_by("-n")[:SHOWN])
    played = moves.order_by("n").values_list("seat", "text")  # read once, for both uses
    ended = [row for row in rounds if row.number < span.number + (n == span.end)]
    return ReplayFrame(
        n=n,
        round=span.number,
        last=game.version,
        spans=spans,
        position=_played(table, round_, played),
        lines=tuple(map(partial(_line, span.number), newest)),
        left=frozenset(round_.absent).union(seat for seat, text in played if text == "leave"),
        results=tuple(
            RoundResult(row.number, outcome)
            for row in ended
            if (outcome := rules.outcome(position_of(row))) is not None
        ),
    )


def _span_at(spans: Iterable[Span], n: int, asked: int | None) -> Span:
    here = [span for span in spans if span.start <= n <= span.end]
    named = [span for span in here if span.number == asked]
    played = [span for span in here if span.start < n]
    return (named or played or here)[0]


def replayed(
    round_: Round,
    lines: Iterable[tuple[int, str]],
    *,
    options: rules.Options,
    players: int,
    shuffle: rules.Shuffle | None = None,
) -> Iterator[rules.Position]:
    """Deal a stored round again and play these lines of its log. Yield the position dealt, and that after each line.

    `lines` are pairs of a seat and its move as text. `shuffle` shuffles by the round's secret if it is not given.

    :raises Refused: at the first line that is refused.
    """
    shuffle = shuffle or rules.Shuffler(bytes(round_.secret)).shuffle
    dealt = rules.deal(options, players, shuffle, dealer=round_.dealer, absent=tuple(round_.absent))
    yield dealt
    moves = ((seat, rules.parse_move(text)) for seat, text in lines)
    for position, _ in rules.replay(dealt, moves, options, shuffle):
        yield position


def _played(table: Table, round_: Round, lines: Iterable[tuple[int, str]]) -> rules.Position:
    with told_if_faulty(table.game):
        # Only the last position is kept: a long round has tens of thousands.
        (last,) = deque(replayed(round_, lines, options=table.options, players=len(table.seats)), maxlen=1)
    return last


SHOWN: Final = 10
"""So many of the newest moves of a round are told beside a step of its replay."""

LONG: Final = 2_000
"""Work on this many moves or more takes longer than a page may: about 0.2 s, and 30 s for 150,000 moves."""

_long_work = threading.Lock()


@contextmanager
def one_at_a_time(moves: int) -> Iterator[None]:
    """Let at most one request in this process work on a long part of a log; there is no limit on shorter parts.

    Requests that would have to wait are refused instead: those who wait would hold the threads that all others need.

    :raises Denied: `busy`.
    """
    if moves < LONG:
        yield
    elif _long_work.acquire(blocking=False):
        try:
            yield
        finally:
            _long_work.release()
    else:
        raise busy()


@contextmanager
def told_if_faulty(game: Game) -> Iterator[None]:
    """A log that does not follow from its deal is told to whoever runs the site, and refused to whoever asked.

    :raises Denied: `not_found`.
    """
    try:
        yield
    except (rules.Refused, rules.BadInput) as fault:
        log.error("a game does not replay", game=game.code, fault=str(fault))  # noqa: TRY400  # a log line, no crash
        raise does_not_replay() from fault


def _line(round_number: int, move: Move) -> LogLine:
    events = tuple(map(rules.Event.from_json, move.events))
    return LogLine(move.n, round_number, move.seat, move.text, move.at, events, move.by_bot)


def view_at(table: Table, step: ReplayFrame, user: User | None, seat: int | None) -> GameView:
    """The table at this step for `user`, as if the game were still going on and they saw what `seat` saw.

    Seat None sees what everybody saw; who may see everybody's cards finds them in the step's position.
    """
    seen = rules.view_for(step.position, seat, table.options)
    now = queries.view_of(table, user)
    legal = () if now.you is None else rules.legal_moves(step.position, now.you, table.options)
    seats = tuple(
        replace(
            there,
            cards=seen.counts[there.seat],
            uno=there.seat in seen.declared,
            exposed=there.seat in seen.exposed,
            out=there.seat in seen.out,
            left=there.seat in step.left,
            score=sum(result.outcome.gained(there.seat) for result in step.results),
            owner=False,
            misses=0,
            away_until=None,
        )
        for there in now.seats
    )
    return replace(
        now,
        status="playing",
        version=step.n,
        round=step.round,
        view=seen,
        legal=tuple(legal),
        seats=seats,
        winner=now.winner if step.after is None else None,
        results=step.results,
        paused=(),
    )
