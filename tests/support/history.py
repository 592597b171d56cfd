"""What clients were told while they played, and whether the database still says so.

Clients write down every move that they send and every answer; an observer writes down positions as they are stored. In
the end `faults_in` holds all of it against the log: every acknowledged move is there once and in order, none that was
refused is there and none that nobody sent, the answers and the positions seen on the way are those that the log leads
to, the log leads to what is stored, and no card is ever lost or doubled.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from django.db import connection, transaction

from games import queries, rules
from games.models import Game, Move, Round, Seat
from games.queries.verify import faults_of
from games.rules import TURN_MOVES

When = tuple[int, int]
"""A position's place in its game: the number of its round, and the version."""


@dataclass(slots=True)
class Attempt:
    """A move as its client knows it, which is sent with one token until there is an answer that says what became of it.

    `sent` and `answered` are seconds of one clock for all clients; `shown` is the version of the answer; `lost` counts
    the answers that never came, or said no more than that something is broken.
    """

    game: str
    seat: int
    token: str
    move: str
    version: int
    sent: float
    answered: float | None = None
    acknowledged: bool | None = None
    shown: int | None = None
    lost: int = 0


class HandShown(NamedTuple):
    """What the answer to a move showed its player."""

    game: str
    when: When
    seat: int
    cards: tuple[str, ...]


class Observed(NamedTuple):
    """A position as it was stored at some moment."""

    game: str
    when: When
    position: rules.Position


class Fault(NamedTuple):
    """`kind` is one word; the sentence names the game and the line."""

    kind: str
    sentence: str


@dataclass
class History:
    """Everything the clients and the observer saw; lists that any thread may append to."""

    attempts: list[Attempt] = field(default_factory=list)
    hands: list[HandShown] = field(default_factory=list)
    observed: list[Observed] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)

    @property
    def acknowledged(self) -> list[Attempt]:
        return [attempt for attempt in self.attempts if attempt.acknowledged]

    def figures(self) -> str:
        """Counts of moves and of lost answers, for people."""
        made = self.acknowledged
        unknown = [attempt for attempt in self.attempts if attempt.lost]
        settled = Counter(attempt.acknowledged for attempt in unknown)
        return (
            f"{len(made)} moves acknowledged, {len(self.attempts) - len(made) - settled[None]} refused;"
            f" {len(unknown)} unknown at first, and sent again: {settled[True]} acknowledged then, {settled[False]}"
            f" refused, {settled[None]} unsettled; {len(self.observed)} stored positions observed"
        )


def observe(history: History, code: str) -> None:
    """Note the position of a running game as it is stored now. Call outside a transaction."""
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        table = queries.load(Game.objects.get(code=code))
    round_, position = table.started.round, table.started.position
    when = (round_.number, table.game.version)
    history.observed.append(Observed(code, when, position))
    cards = Counter(position.draw_pile) + Counter(position.discard_pile) + Counter(position.set_aside)
    for hand in position.hands:
        cards.update(hand)
    if cards != Counter(rules.DECKS[table.options.deck].cards):
        history.faults.append(Fault("cards", f"{code} at {when}: the cards stored are not the deck's"))


def faults_in(history: History) -> list[Fault]:
    """Everything in which history and database disagree. Call when no move is under way, outside a transaction."""
    found = list(history.faults)
    by_game: defaultdict[str, list[Attempt]] = defaultdict(list)
    for attempt in history.attempts:
        by_game[attempt.game].append(attempt)
    for game in Game.objects.exclude(status=Game.Status.OPEN).order_by("pk"):
        lines = list(Move.objects.filter(game=game).order_by("n"))
        people = set(Seat.objects.filter(game=game, bot="").values_list("index", flat=True))
        attempts = by_game.pop(game.code, [])
        found += _of_attempts(game.code, attempts, lines)
        found += _of_lines(game.code, attempts, lines, people)
        found += _of_order(game.code, attempts, lines)
        found += (Fault("stored", f"{game.code}: {sentence}") for sentence in faults_of(game.pk))
        found += _of_sights(game, history)
    found += (Fault("lost", f"{code}: the whole game is gone") for code in by_game)
    return found


def _of_attempts(code: str, attempts: list[Attempt], lines: list[Move]) -> Iterator[Fault]:
    """Whether each answer was true."""
    saved = {(line.seat, line.token): line for line in lines if line.token is not None}
    for attempt in attempts:
        line = saved.get((attempt.seat, attempt.token))
        words = f"{code}: `{attempt.seat} {attempt.move}` on version {attempt.version}"
        if attempt.acknowledged is None:
            yield Fault("unsettled", f"{words} was never answered")
        elif attempt.acknowledged and line is None:
            yield Fault("lost", f"{words} was acknowledged and is not in the log")
        elif line is not None and not attempt.acknowledged:
            yield Fault("refused", f"{words} was refused and is line {line.n}")
        elif line is not None and line.text != attempt.move:
            yield Fault("changed", f"{words} is line {line.n} as `{line.text}`")
        elif line is not None and not _fits(attempt, line.n):
            yield Fault("order", f"{words} was acknowledged at version {attempt.shown} and is line {line.n}")


def _fits(attempt: Attempt, n: int) -> bool:
    """Whether a line's number is one that the answer allows: a turn's move comes right after what it was made on."""
    if rules.parse_move(attempt.move).kind in TURN_MOVES and n != attempt.version + 1:
        return False
    return attempt.version < n and (attempt.shown is None or n <= attempt.shown)


def _of_lines(code: str, attempts: list[Attempt], lines: list[Move], people: set[int]) -> Iterator[Fault]:
    """Whether each line of a person was sent, and is there once."""
    sent = {(attempt.seat, attempt.token) for attempt in attempts}
    for line in lines:
        if line.seat in people and not line.text.startswith("clock ") and (line.seat, line.token) not in sent:
            yield Fault("doubled", f"{code}: line {line.n}, `{line.seat} {line.text}`, is one that nobody sent")
    for (seat, token), count in Counter((line.seat, line.token) for line in lines if line.token).items():
        if count > 1:
            yield Fault("doubled", f"{code}: what seat {seat} sent with the token {token} is there {count} times")


def _of_order(code: str, attempts: list[Attempt], lines: list[Move]) -> Iterator[Fault]:
    """Whether a move that was answered before another was sent stands before it."""
    by_token = {(attempt.seat, attempt.token): attempt for attempt in attempts if attempt.acknowledged}
    earliest = float("inf")  # answer to any later line
    for line in reversed(lines):
        attempt = by_token.get((line.seat, line.token or ""))
        if attempt is None or attempt.answered is None:
            continue
        if earliest < attempt.sent:
            yield Fault("order", f"{code}: line {line.n} was sent after a later line had been answered")
        earliest = min(earliest, attempt.answered)


def _of_sights(game: Game, history: History) -> Iterator[Fault]:
    """Whether everything seen on the way is what the log leads to there."""
    positions = positions_of(game)
    for seen in history.observed:
        if seen.game == game.code and positions.get(seen.when) != seen.position:
            yield Fault("changed", f"{game.code} at {seen.when}: the position observed is not the log's")
    for shown in history.hands:
        position = positions.get(shown.when) if shown.game == game.code else None
        if shown.game == game.code and (position is None or sorted(position.hands[shown.seat]) != sorted(shown.cards)):
            yield Fault("changed", f"{game.code} at {shown.when}: seat {shown.seat} was shown another hand")


def positions_of(game: Game) -> dict[When, rules.Position]:
    """Every position that the log leads through, as far as the rules let it."""
    options = queries.options_of(game)
    seats = Seat.objects.filter(game=game).count()
    found: dict[When, rules.Position] = {}
    for round_ in Round.objects.filter(game=game).order_by("number"):
        shuffle = rules.Shuffler(bytes(round_.secret)).shuffle
        position = rules.deal(options, seats, shuffle, dealer=round_.dealer, absent=tuple(round_.absent))
        found[round_.number, round_.from_version] = position
        for line in Move.objects.filter(round=round_).order_by("n"):
            try:
                position, _ = rules.apply(position, line.seat, rules.parse_move(line.text), options, shuffle)
            except rules.Refused:
                break  # `faults_of` says so
            found[round_.number, line.n] = position
    return found
