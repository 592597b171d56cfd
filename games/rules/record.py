"""Records: a whole match as text (NOTATION, "Record"), read, written and replayed with everything checked."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final, NamedTuple

from games.rules.apply import apply
from games.rules.cards import Card
from games.rules.deal import deal_cards
from games.rules.errors import BadInput, Refused
from games.rules.events import Event
from games.rules.match import Match
from games.rules.moves import MAX_PLAYERS, MIN_PLAYERS
from games.rules.notation import parse_line
from games.rules.options import Options
from games.rules.position import Position
from games.rules.presets import options_from_stored, options_to_store
from games.rules.scoring import Outcome, outcome
from games.rules.shuffle import DEAL, Shuffler, commitment

VOID: Final = "-"
_TIME: Final = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z", re.ASCII)
_HEX: Final = re.compile(r"[0-9a-f]{64}")
_POINTS: Final = re.compile(r"\d+(?:,\d+)*", re.ASCII)


class Line(NamedTuple):
    """An accepted move: when (UTC), and ``<seat> <move>``. For a shuffle ``at`` is empty and ``text`` its cards."""

    at: str
    text: str


class RoundRecord(NamedTuple):
    """One round: ``deal`` is every card in the order dealt and drawn; ``end`` is winner and points, None if void.

    A void round is dealt anew as the next one, unless the game itself was void.
    """

    number: int
    dealer: int
    deal: tuple[Card, ...]
    lines: tuple[Line, ...]
    end: Outcome | None


class Record(NamedTuple):
    """A match. ``commitments`` and ``seeds`` are hex, one a round; ``result`` is the winner's seat, None if void."""

    preset: str
    options: Options
    players: tuple[str, ...]
    date: str
    commitments: tuple[str, ...]
    seeds: tuple[str, ...]
    result: int | None
    rounds: tuple[RoundRecord, ...]


class ReplayedRound(NamedTuple):
    """A round as replayed: every accepted line with the position after it and its events."""

    number: int
    start: Position
    steps: tuple[tuple[Line, Position, tuple[Event, ...]], ...]

    @property
    def position(self) -> Position:
        """The round's last position."""
        return self.steps[-1][1] if self.steps else self.start


def print_record(record: Record) -> str:
    """Return a record as text; ``parse_record`` reads it back."""
    header = [
        "record: 1",
        f"preset: {record.preset}",
        f"options: {json.dumps(options_to_store(record.preset, record.options))}",
        f"players: {json.dumps(record.players, ensure_ascii=False)}",
        f"date: {record.date}",
        f"commitment: {','.join(record.commitments)}",
        f"seed: {','.join(record.seeds)}".rstrip(),
        f"result: {VOID if record.result is None else record.result}",
    ]
    return "\n".join(header) + "\n" + "".join(_print_round(part) for part in record.rounds)


def _print_round(part: RoundRecord) -> str:
    lines = ["", f"round: {part.number}", f"dealer: {part.dealer}", f"deal: {' '.join(part.deal)}"]
    lines += [f"{line.at} {line.text}" if line.at else f"shuffle: {line.text}" for line in part.lines]
    if part.end is not None:
        winner, points = part.end
        lines.append(f"end: {winner} {','.join(map(str, points)) if isinstance(points, tuple) else points}")
    return "\n".join(lines) + "\n"


def parse_record(text: str) -> Record:
    """Return the record a text says; raises BadInput. What it says is checked by ``replay_record``."""
    if not text.endswith("\n") or "\r" in text:
        raise BadInput("A record is lines of text, each ended by a line feed.")
    head, *parts = text[:-1].split("\n\n")
    fields = _header(head.split("\n"))
    options = _options(fields["preset"], fields["options"])
    players = _players(fields["players"])
    return Record(
        preset=fields["preset"],
        options=options,
        players=players,
        date=_time(fields["date"]),
        commitments=_hexes(fields["commitment"], "commitment"),
        seeds=_hexes(fields["seed"], "seed"),
        result=None if fields["result"] == VOID else _seat(fields["result"], len(players)),
        rounds=tuple(_parse_round(part.split("\n"), options, len(players)) for part in parts),
    )


_HEADER: Final = ("record", "preset", "options", "players", "date", "commitment", "seed", "result")


def _header(lines: Sequence[str]) -> Mapping[str, str]:
    if len(lines) != len(_HEADER):
        raise BadInput(f"A record starts with the lines {', '.join(_HEADER)}.")
    fields = {name: _field(line, name) for name, line in zip(_HEADER, lines, strict=True)}
    if fields["record"] != "1":
        raise BadInput("Only version 1 of records is known.")
    return fields


def _field(line: str, name: str) -> str:
    found, _, value = line.partition(": ")
    if found != name and line != f"{name}:":
        raise BadInput(f"The record lacks the line {name!r} where it is due.")
    return value


def _json(text: str, name: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise BadInput(f"The record's {name} are not JSON.") from None


def _options(preset: str, text: str) -> Options:
    overrides = _json(text, "options")
    if not isinstance(overrides, dict):
        raise BadInput("The record's options must be an object.")
    options = options_from_stored(preset, overrides)
    if options_to_store(preset, options) != overrides:
        raise BadInput("The record's options must be just what differs from the preset.")
    return options


def _players(text: str) -> tuple[str, ...]:
    players = _json(text, "players")
    if not isinstance(players, list) or not all(isinstance(name, str) for name in players):
        raise BadInput("The record's players must be a list of names.")
    if not MIN_PLAYERS <= len(players) <= MAX_PLAYERS:
        raise BadInput("A record has 2 to 6 players.")
    try:
        "".join(players).encode("utf-8")
    except UnicodeEncodeError:
        raise BadInput("The record's players must have names that UTF-8 can say.") from None
    return tuple(players)


def _time(text: str) -> str:
    sentence = f"{text!r} is not a time such as 2026-11-21T00:13:00Z."
    if not _TIME.fullmatch(text):
        raise BadInput(sentence)
    try:
        datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
    except ValueError:
        raise BadInput(sentence) from None
    return text


def _hexes(text: str, name: str) -> tuple[str, ...]:
    values = tuple(text.split(",")) if text else ()
    if not all(_HEX.fullmatch(value) for value in values):
        raise BadInput(f"The record's {name} must be 64 hex digits a round.")
    return values


def _seat(text: str, players: int) -> int:
    if text not in [str(seat) for seat in range(players)]:
        raise BadInput(f"{text!r} is not a seat of this record.")
    return int(text)


def _parse_round(lines: Sequence[str], options: Options, players: int) -> RoundRecord:
    if len(lines) < len(("round", "dealer", "deal")):
        raise BadInput("A round starts with the lines round, dealer, deal.")
    number = _field(lines[0], "round")
    if not re.fullmatch("[1-9][0-9]{0,5}", number):
        raise BadInput(f"{number!r} is not the number of a round.")
    body, end = list(lines[3:]), None
    if body and body[-1].startswith("end: "):
        end = _end(body.pop(), players)
    return RoundRecord(
        number=int(number),
        dealer=_seat(_field(lines[1], "dealer"), players),
        deal=_cards(_field(lines[2], "deal"), options),
        lines=tuple(_line(line, options) for line in body),
        end=end,
    )


def _cards(text: str, options: Options) -> tuple[Card, ...]:
    cards = tuple(text.split(" "))
    if not all(card in options.rules.deck.faces for card in cards):
        raise BadInput("The record names a card that is not in its deck.")
    return cards


def _line(line: str, options: Options) -> Line:
    if line.startswith("shuffle: "):
        cards = line.removeprefix("shuffle: ")
        return Line("", " ".join(_cards(cards, options)))
    at, _, text = line.partition(" ")
    return Line(_time(at), text)


def _end(line: str, players: int) -> Outcome:
    winner, _, points = line.removeprefix("end: ").partition(" ")
    numbers = points.split(",")
    if not _POINTS.fullmatch(points) or any(number != str(int(number[:9])) for number in numbers):
        raise BadInput(f"{line!r} is not the end of a round.")
    if len(numbers) not in (1, players):
        raise BadInput("A round ends with the winner's points, or with one number a seat.")
    values = tuple(int(number) for number in numbers)
    return Outcome(_seat(winner, players), values[0] if len(values) == 1 else values)


def replay_record(record: Record) -> Iterator[ReplayedRound]:
    """Replay every round, checking all a record says; raises BadInput at the first thing that is not so.

    Commitments against seeds, deal and shuffles against the seed (a void match may have none), each move against the
    rules, each end, each dealer, the order of times, and the result of the match.
    """
    _check_commitments(record)
    check = _Check(record)
    for index, part in enumerate(record.rounds):
        yield check.round(index, part)
    check.result()


def _check_commitments(record: Record) -> None:
    if len(record.commitments) != len(record.rounds):
        raise BadInput("A record has one commitment a round.")
    if record.result is not None and not record.seeds:
        raise BadInput("The record of a match that is over has the seed of each round.")
    if record.seeds and [commitment(bytes.fromhex(seed)) for seed in record.seeds] != list(record.commitments):
        raise BadInput("A seed of the record is not what was committed to.")


class _Check:
    """Checks a record while it is replayed. Its first round may have any dealer."""

    def __init__(self, record: Record) -> None:
        self._record = record
        dealer = record.rounds[0].dealer if record.rounds else 0
        self._match = Match(record.options, (0,) * len(record.players), dealer)
        self._due = dealer
        self._at = record.date
        self._winner: int | None = None

    def round(self, index: int, part: RoundRecord) -> ReplayedRound:
        """Replay one round."""
        record = self._record
        if self._winner is not None:
            raise BadInput(f"Round {part.number} comes after the end of the match.")
        if part.number != index + 1:
            raise BadInput(f"Round {index + 1} is numbered {part.number}.")
        if part.dealer != self._due:
            raise BadInput(f"Round {part.number} has the wrong dealer.")
        self._match = replace(self._match, dealer=part.dealer)
        seed = record.seeds[index] if record.seeds else None
        tape = _Tape(part, None if seed is None else Shuffler(bytes.fromhex(seed)))
        start = deal_cards(
            record.options,
            len(record.players),
            tape.deal(record.options),
            dealer=part.dealer,
            absent=self._match.absent,
        )
        replayed = ReplayedRound(part.number, start, tuple(self._steps(part, start, tape)))
        self._end(part, replayed.position)
        return replayed

    def _steps(
        self, part: RoundRecord, position: Position, tape: _Tape
    ) -> Iterator[tuple[Line, Position, tuple[Event, ...]]]:
        for line in part.lines:
            if not line.at:
                tape.offer(line.text)
                continue
            if line.at < self._at:
                raise BadInput(f"The line {line.text!r} of round {part.number} goes back in time.")
            self._at = line.at
            try:
                seat, move = parse_line(line.text)
                position, events = apply(position, seat, move, self._record.options, tape.shuffle)
            except Refused as refused:
                raise BadInput(f"Round {part.number}, line {line.text!r}: {refused.message}") from None
            if move.kind == "leave":
                self._match = replace(self._match, absent=tuple(sorted({*self._match.absent, seat})))
            tape.settle()
            yield line, position, events
        tape.settle()

    def _end(self, part: RoundRecord, position: Position) -> None:
        ended = outcome(position)
        if part.end is None:
            if ended is not None:
                raise BadInput(f"Round {part.number} lacks its end.")
            self._due = self._match.dealer_again
            return
        if ended is None or ended != part.end:
            raise BadInput(f"Round {part.number} does not end as the record says.")
        self._match = self._match.with_result(ended)
        self._winner = self._match.winner(ended)
        if self._winner is None:
            self._due = self._match.next_dealer

    def result(self) -> None:
        """Check the result after the last round."""
        if self._record.result != self._winner:
            raise BadInput("The match does not end as the record says.")


class _Tape:
    """Gives a replay the cards that the record says, and checks them against the seed."""

    def __init__(self, part: RoundRecord, shuffler: Shuffler | None) -> None:
        self._part = part
        self._shuffler = shuffler
        self._offered: list[tuple[Card, ...]] = []

    def deal(self, options: Options) -> list[Card]:
        """Return the deal."""
        return self._checked(self._part.deal, options.rules.deck.cards, DEAL)

    def offer(self, text: str) -> None:
        """Keep a shuffle line for the move after it."""
        self._offered.append(tuple(text.split(" ")))

    def shuffle(self, cards: Sequence[Card], stream: str) -> list[Card]:
        """Answer the rules' shuffle with the line that stands before the move."""
        if not self._offered:
            raise BadInput(f"Round {self._part.number} lacks the line of shuffle {stream}.")
        return self._checked(self._offered.pop(0), cards, stream)

    def settle(self) -> None:
        """A move is done: its shuffle lines must have been needed."""
        if self._offered:
            raise BadInput(f"Round {self._part.number} has a shuffle that no draw needed.")

    def _checked(self, said: tuple[Card, ...], cards: Sequence[Card], stream: str) -> list[Card]:
        if sorted(said) != sorted(cards):
            raise BadInput(f"Shuffle {stream} of round {self._part.number} does not hold the right cards.")
        if self._shuffler is not None and self._shuffler.shuffle(cards, stream) != list(said):
            raise BadInput(f"Shuffle {stream} of round {self._part.number} is not the seed's.")
        return list(said)
