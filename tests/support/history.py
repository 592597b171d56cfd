"""Records what clients saw while they played, and compares it with the database.

Clients record every move that they send and every answer. An observer records stored positions. At the end `faults_in`
compares all of it with the log:

- every acknowledged move is in the log once and in order
- the log has no refused move, and no move that nobody sent
- the hands shown and the positions observed are those of the log
- the log leads to the stored position, and no card was lost or doubled
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
"""The place of a position in its game: the number of the round, and the version."""


@dataclass(slots=True)
class Attempt:
    """A move that a client sends, with the same token, until an answer says if it was accepted.

    `sent` and `answered` are times in seconds by one clock for all clients. `shown` is the version of the answer.
    `lost` counts answers that never came or were server errors.
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
    """The hand that the answer to a move showed."""

    game: str
    when: When
    seat: int
    cards: tuple[str, ...]


class Observed(NamedTuple):
    """A position as it was stored during the game."""

    game: str
    when: When
    position: rules.Position


class Fault(NamedTuple):
    """A fault. `kind` is one word, and `sentence` names the game and the move."""

    kind: str
    sentence: str


@dataclass
class History:
    """Everything that clients and the observer saw. Any thread may append to the lists."""

    attempts: list[Attempt] = field(default_factory=list)
    hands: list[HandShown] = field(default_factory=list)
    observed: list[Observed] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)

    @property
    def acknowledged(self) -> list[Attempt]:
        return [attempt for attempt in self.attempts if attempt.acknowledged]

    def figures(self) -> str:
        """Return the numbers of moves and lost answers as a sentence."""
        made = self.acknowledged
        unknown = [attempt for attempt in self.attempts if attempt.lost]
        settled = Counter(attempt.acknowledged for attempt in unknown)
        return (
            f"{len(made)} moves acknowledged, {len(self.attempts) - len(made) - settled[None]} refused;"
            f" {len(unknown)} unknown at first, and sent again: {settled[True]} acknowledged then, {settled[False]}"
            f" refused, {settled[None]} unsettled; {len(self.observed)} stored positions observed"
        )


def observe(history: History, code: str) -> None:
    """Record the stored position of a running game. Call it outside a transaction."""
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
        history.faults.append(Fault("cards", f"{code} at {when}: the stored cards are not those of the deck"))


def faults_in(history: History) -> list[Fault]:
    """Return all differences between a history and the database.

    Call it outside a transaction, when no move is being made.
    """
    found = list(history.faults)
    by_game: defaultdict[str, list[Attempt]] = defaultdict(list)
    for attempt in history.attempts:
        by_game[attempt.game].append(attempt)
    for game in Game.objects.exclude(status=Game.Status.OPEN).order_by("pk"):
        lines = list(Move.objects.filter(game=game).order_by("n"))
        people = set(Seat.objects.filter(game=game, bot="").values_list("index", flat=True))
        attempts = by_game.pop(game.code, [])
        found += _answer_faults(game.code, attempts, lines)
        found += _sender_faults(game.code, attempts, lines, people)
        found += _order_faults(game.code, attempts, lines)
        found += (Fault("stored", f"{game.code}: {sentence}") for sentence in faults_of(game.pk))
        found += _observation_faults(game, history)
    found += (Fault("lost", f"{code}: the whole game is gone") for code in by_game)
    return found


def _answer_faults(code: str, attempts: list[Attempt], lines: list[Move]) -> Iterator[Fault]:
    """Yield the answers that were wrong."""
    saved = {(line.seat, line.token): line for line in lines if line.token is not None}
    for attempt in attempts:
        line = saved.get((attempt.seat, attempt.token))
        name = f"{code}: `{attempt.seat} {attempt.move}` on version {attempt.version}"
        if attempt.acknowledged is None:
            yield Fault("unsettled", f"{name} was never answered")
        elif attempt.acknowledged and line is None:
            yield Fault("lost", f"{name} was acknowledged and is not in the log")
        elif line is not None and not attempt.acknowledged:
            yield Fault("refused", f"{name} was refused and is line {line.n}")
        elif line is not None and line.text != attempt.move:
            yield Fault("changed", f"{name} is line {line.n} as `{line.text}`")
        elif line is not None and not _fits(attempt, line.n):
            yield Fault("order", f"{name} was acknowledged at version {attempt.shown} and is line {line.n}")


def _fits(attempt: Attempt, n: int) -> bool:
    """Return True if the answer allows the number of the move. A turn move must follow the version it was made on."""
    if rules.parse_move(attempt.move).kind in TURN_MOVES and n != attempt.version + 1:
        return False
    return attempt.version < n and (attempt.shown is None or n <= attempt.shown)


def _sender_faults(code: str, attempts: list[Attempt], lines: list[Move], people: set[int]) -> Iterator[Fault]:
    """Yield the moves of people that nobody sent, or that are in the log twice."""
    sent = {(attempt.seat, attempt.token) for attempt in attempts}
    for line in lines:
        if line.seat in people and not line.text.startswith("clock ") and (line.seat, line.token) not in sent:
            yield Fault("doubled", f"{code}: line {line.n}, `{line.seat} {line.text}`, is one that nobody sent")
    for (seat, token), count in Counter((line.seat, line.token) for line in lines if line.token).items():
        if count > 1:
            yield Fault("doubled", f"{code}: what seat {seat} sent with the token {token} is there {count} times")


def _order_faults(code: str, attempts: list[Attempt], lines: list[Move]) -> Iterator[Fault]:
    """Yield the moves that come before a move that had been answered before they were sent."""
    by_token = {(attempt.seat, attempt.token): attempt for attempt in attempts if attempt.acknowledged}
    earliest = float("inf")  # answer to any later line
    for line in reversed(lines):
        attempt = by_token.get((line.seat, line.token or ""))
        if attempt is None or attempt.answered is None:
            continue
        if earliest < attempt.sent:
            yield Fault("order", f"{code}: line {line.n} was sent after a later line had been answered")
        earliest = min(earliest, attempt.answered)


def _observation_faults(game: Game, history: History) -> Iterator[Fault]:
    """Yield the hands and positions seen during the game that are not those of the log."""
    positions = positions_of(game)
    for seen in history.observed:
        if seen.game == game.code and positions.get(seen.when) != seen.position:
            yield Fault("changed", f"{game.code} at {seen.when}: the position observed is not the log's")
    for shown in history.hands:
        position = positions.get(shown.when) if shown.game == game.code else None
        if shown.game == game.code and (position is None or sorted(position.hands[shown.seat]) != sorted(shown.cards)):
            yield Fault("changed", f"{game.code} at {shown.when}: seat {shown.seat} was shown another hand")


def positions_of(game: Game) -> dict[When, rules.Position]:
    """Return every position of the log, up to the first move that the rules refuse."""
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
                break  # `faults_of` reports it
            found[round_.number, line.n] = position
    return found
