"""Replays a finished game step by step from its stored deal and moves."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, NamedTuple

import structlog

from games import queries, rules
from games.models import Game, Move, Round
from games.models.owner_changes import read_owner_changes
from games.models.positions import position_of
from games.queries import GameView, LogLine, RoundResult, Table
from games.queries.former_holders import holders_of, names_at
from games.queries.key_moments import key_moments_of
from games.refusals import Denied, busy, does_not_replay

if TYPE_CHECKING:
    from accounts.models import User

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Span:
    """The part of the log that belongs to one round: versions after `start` up to `end`."""

    number: int
    start: int
    end: int


class Counts(NamedTuple):
    """How many cards each seat holds after move `n`, and how many are owed (`stack`)."""

    n: int
    cards: tuple[int, ...]
    stack: int


@dataclass(frozen=True, slots=True)
class ReplayFrame:
    """A game after its first `n` moves.

    Where one round ends and the next begins, `round` says which of the two is shown. `lines` are the last `SHOWN` moves
    of the round so far, oldest first, with all their cards. `left` are the seats whose players had left by then, and
    `results` the rounds that had ended. `former` has the names of the seats that somebody else has today. `last` is the
    number of moves of the whole game. `course` has the counts after each move of this round, empty for a round with
    `LONG` or more moves. `moments` are the key moments of the whole game.
    """

    n: int
    round: int
    last: int
    spans: tuple[Span, ...]
    position: rules.Position
    lines: tuple[LogLine, ...]
    left: frozenset[int]
    former: Mapping[int, str]
    results: tuple[RoundResult, ...]
    course: tuple[Counts, ...]
    moments: tuple[rules.KeyMoment, ...]

    @property
    def span(self) -> Span:
        return next(span for span in self.spans if span.number == self.round)

    @property
    def after(self) -> tuple[int, int] | None:
        """The `n` and the round of the next frame, None at the end."""
        if self.n < self.span.end:
            return self.n + 1, self.round
        following = next((span for span in self.spans if span.number > self.round), None)
        return (self.n, following.number) if following else None

    @property
    def before(self) -> tuple[int, int] | None:
        """The `n` and the round of the previous frame, None at the first deal."""
        if self.n > self.span.start:
            return self.n - 1, self.round
        earlier = [span for span in self.spans if span.number < self.round]
        return (self.n, earlier[-1].number) if earlier else None


def frame_at(table: Table, n: int, round_number: int | None = None) -> ReplayFrame:
    """Return the frame after move `n`, or the nearest one. Runs five queries.

    Where two rounds meet, `round_number` chooses between the end of one and the deal of the next.

    :raises Denied: `not_found` for a game that runs or never began, and for one whose log does not replay; `busy` while
        another request works on a long game.
    """
    game = table.game
    if not game.ended or table.playing is None:
        raise Denied("not_found", "A game can be replayed once it is over.", version=game.version)
    rounds = list(Round.objects.filter(game_id=game.pk).order_by("number"))
    ends = [*(round_.from_version for round_ in rounds[1:]), game.version]
    spans = tuple(Span(round_.number, round_.from_version, end) for round_, end in zip(rounds, ends, strict=True))
    n = min(max(n, 0), game.version)
    span = _choose_span(spans, n, round_number)
    with one_at_a_time(n - span.start):
        return _frame(table, rounds, spans, span, n)


def _frame(table: Table, rounds: list[Round], spans: tuple[Span, ...], span: Span, n: int) -> ReplayFrame:
    game, round_ = table.game, next(round_ for round_ in rounds if round_.number == span.number)
    moves = Move.objects.filter(round_id=round_.pk, n__lte=n)
    newest = reversed(moves.order_by("-n")[:SHOWN])
    long = span.end - span.start >= LONG
    # Replay the whole round for its counts, unless that takes long.
    last = n if long else span.end
    lines = Move.objects.filter(round_id=round_.pk, n__lte=last).order_by("n").values_list("n", "seat", "text")
    position, course = _replayed_to(table, round_, list(lines), n)
    played = [(seat, text) for at, seat, text in lines if at <= n]
    ended = [row for row in rounds if row.number < span.number + (n == span.end)]
    holders = holders_of(table.seats, read_owner_changes(game.pk))
    return ReplayFrame(
        n=n,
        round=span.number,
        last=game.version,
        spans=spans,
        position=position,
        lines=tuple(_line(span.number, move).made_by(holders) for move in newest),
        former=names_at(holders, max(n, 1)),
        left=frozenset(round_.absent).union(seat for seat, text in played if text == "leave"),
        results=tuple(
            RoundResult(row.number, outcome)
            for row in ended
            if (outcome := rules.outcome(position_of(row))) is not None
        ),
        course=() if long else course,
        moments=tuple(key_moments_of(table, rounds)),
    )


def _choose_span(spans: Iterable[Span], n: int, wanted: int | None) -> Span:
    here = [span for span in spans if span.start <= n <= span.end]
    named = [span for span in here if span.number == wanted]
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
    """Deal a stored round again and replay moves of its log. Yield the position dealt, and the one after each move.

    `lines` are pairs of a seat and the text of its move. `shuffle` defaults to the shuffle by the round's secret.

    :raises Refused: at the first move that is refused.
    :raises BadInput: if the round cannot be dealt.
    """
    shuffle = shuffle or rules.Shuffler(bytes(round_.secret)).shuffle
    dealt = rules.deal(options, players, shuffle, dealer=round_.dealer, absent=tuple(round_.absent))
    yield dealt
    moves = ((seat, rules.parse_move(text)) for seat, text in lines)
    for position, _ in rules.replay(dealt, moves, options, shuffle):
        yield position


def last_position(table: Table, round_: Round, lines: Iterable[tuple[int, str]]) -> rules.Position:
    """Replay these lines, which are tuples of seat and text, and return the position after the last.

    :raises Denied: a line does not replay.
    """
    with refuse_if_faulty(table.game):
        # Keep only the last position: a long round has tens of thousands.
        (last,) = deque(replayed(round_, lines, options=table.options, players=len(table.seats)), maxlen=1)
    return last


def _replayed_to(
    table: Table, round_: Round, lines: Sequence[tuple[int, int, str]], n: int
) -> tuple[rules.Position, tuple[Counts, ...]]:
    """Replay these lines, which are tuples of `n`, seat and text. Return the position after `n`, and the counts."""
    numbers = [round_.from_version, *(at for at, _, _ in lines)]
    moves = [(seat, text) for _, seat, text in lines]
    course: list[Counts] = []
    with refuse_if_faulty(table.game):
        # Keep one position: a long round has tens of thousands.
        for at, position in zip(
            numbers, replayed(round_, moves, options=table.options, players=len(table.seats)), strict=True
        ):
            owed = position.pending.total if position.pending else 0
            course.append(Counts(at, tuple(map(len, position.hands)), owed))
            if at == n:
                here = position
    return here, tuple(course)


SHOWN: Final = 10
"""How many moves of a round are listed beside a frame."""

LONG: Final = 1_000
"""From this many moves on, replaying is too slow for several pages at once: about 0.2 s, and 30 s for 150,000 moves."""

_long_work = threading.Lock()


@contextmanager
def one_at_a_time(moves: int) -> Iterator[None]:
    """Let at most one request of this process work on a part of a log with `LONG` or more moves.

    Others are refused and do not wait, because waiting requests would hold the threads that all other pages need.

    :raises Denied: `busy` if another request works on a long part.
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
def refuse_if_faulty(game: Game) -> Iterator[None]:
    """Log a game whose moves do not follow from its deal, and refuse the request.

    :raises Denied: `not_found` if the block raises `Refused` or `BadInput`.
    """
    try:
        yield
    except (rules.Refused, rules.BadInput) as fault:
        log.error("a game does not replay", game=game.code, fault=str(fault))  # noqa: TRY400  # expected, so no traceback
        raise does_not_replay() from fault


def _line(round_number: int, move: Move) -> LogLine:
    events = tuple(map(rules.Event.from_json, move.events))
    return LogLine(move.n, round_number, move.seat, move.text, move.at, events, move.by_bot, move.by_order)


def view_at(table: Table, frame: ReplayFrame, user: User | None, seat: int | None) -> GameView:
    """Return the view of a table at a frame, as if the game were still running and `user` saw what `seat` saw.

    With `seat` None it has only what everybody saw. All hands are in the position of the frame.
    """
    seen = rules.view_for(frame.position, seat, table.options)
    now = queries.view_of(table, user)
    if now.you in frame.former:
        now = replace(now, you=None)
    legal = () if now.you is None else queries.legal_moves(table, frame.position, now.you)
    seats = tuple(
        replace(
            there,
            name=frame.former.get(there.seat, there.name),
            username="" if there.seat in frame.former else there.username,
            cards=seen.counts[there.seat],
            uno=there.seat in seen.declared,
            exposed=there.seat in seen.exposed,
            out=there.seat in seen.out,
            left=there.seat in frame.left,
            score=sum(result.outcome.gained(there.seat) for result in frame.results),
            owner=False,
            misses=0,
            away_until=None,
        )
        for there in now.seats
    )
    return replace(
        now,
        status="playing",
        version=frame.n,
        round=frame.round,
        view=seen,
        legal=tuple(legal),
        seats=seats,
        winner=now.winner if frame.after is None else None,
        results=frame.results,
        paused=(),
    )
