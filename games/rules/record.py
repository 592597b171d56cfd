"""Reads, writes and replays records: a whole match as text (docs/notation.md, "Record")."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import takewhile
from typing import Final, NamedTuple

from games.rules.apply import apply
from games.rules.cards import Card
from games.rules.deal import deal_cards, is_deck, shuffled_cards
from games.rules.errors import BadInput, Refused
from games.rules.events import Event
from games.rules.match import Match
from games.rules.moves import MIN_PLAYERS
from games.rules.notation import parse_line
from games.rules.options import Options
from games.rules.position import Position
from games.rules.presets import MAX_PLAYERS_OF, options_from_stored, options_to_store
from games.rules.scoring import Outcome, outcome
from games.rules.shuffle import Shuffler, commitment

VOID: Final = "-"
"""The result of a void match."""
_TIME: Final = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z", re.ASCII)
_HEX: Final = re.compile(r"[0-9a-f]{64}")
_SEATS: Final = re.compile(r"\d(?: \d)*", re.ASCII)
_POINTS: Final = re.compile(r"\d+(?:,\d+)*", re.ASCII)


class RecordLine(NamedTuple):
    """A line of a round: an accepted move or a reshuffle.

    For a move ``at`` is its time in UTC and ``text`` is ``<seat> <move>``. For a reshuffle ``at`` is empty and ``text``
    has the cards.
    """

    at: str
    text: str


class RoundRecord(NamedTuple):
    """One round of a record.

    ``deal`` is the whole deck in the order dealt and drawn. ``end`` is None for a void round, which the next one
    replaces unless the match is void too.
    """

    number: int
    dealer: int
    deal: tuple[Card, ...]
    lines: tuple[RecordLine, ...]
    end: Outcome | None


class Record(NamedTuple):
    """A match.

    ``commitments`` and ``seeds`` are hex texts, one a round; a void match may have no seeds. ``result`` is the seat of
    the winner, None if the match is void.
    """

    preset: str
    options: Options
    players: tuple[str, ...]
    date: str
    commitments: tuple[str, ...]
    seeds: tuple[str, ...]
    result: int | None
    rounds: tuple[RoundRecord, ...]


class ReplayedRound(NamedTuple):
    """A replayed round. ``steps`` has each move's line, the position after it and its events."""

    number: int
    start: Position
    steps: tuple[tuple[RecordLine, Position, tuple[Event, ...]], ...]

    @property
    def position(self) -> Position:
        """The last position of the round."""
        return self.steps[-1][1] if self.steps else self.start


def print_record(record: Record) -> str:
    """Return a record as text. ``parse_record`` reads it back."""
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
    return "\n".join(header) + "\n" + "".join(_print_round(round_) for round_ in record.rounds)


def _print_round(round_: RoundRecord) -> str:
    lines = ["", f"round: {round_.number}", f"dealer: {round_.dealer}", f"deal: {' '.join(round_.deal)}"]
    lines += [f"{line.at} {line.text}" if line.at else f"shuffle: {line.text}" for line in round_.lines]
    if round_.end is not None:
        winner, points = round_.end
        lines.append(f"end: {winner} {','.join(map(str, points)) if isinstance(points, tuple) else points}")
    return "\n".join(lines) + "\n"


def parse_record(text: str) -> Record:
    """Return the record that a text holds. Its moves and results are checked by ``replay_record`` only.

    :raises BadInput: if the text does not have the form of a record.
    """
    if not text.endswith("\n") or "\r" in text:
        raise BadInput("A record is lines of text, each ended by a line feed.")
    head, *blocks = text[:-1].split("\n\n")
    fields = _parse_header(head.split("\n"))
    options = _parse_options(fields["preset"], fields["options"])
    players = _parse_players(fields["players"], MAX_PLAYERS_OF[fields["preset"]])
    return Record(
        preset=fields["preset"],
        options=options,
        players=players,
        date=_parse_time(fields["date"]),
        commitments=_parse_hexes(fields["commitment"], "commitment"),
        seeds=_parse_hexes(fields["seed"], "seed"),
        result=None if fields["result"] == VOID else _parse_seat(fields["result"], len(players)),
        rounds=tuple(_parse_round(block.split("\n"), options, len(players)) for block in blocks),
    )


_HEADER: Final = ("record", "preset", "options", "players", "date", "commitment", "seed", "result")


def _parse_header(lines: Sequence[str]) -> Mapping[str, str]:
    if len(lines) != len(_HEADER):
        raise BadInput(f"A record starts with the lines {', '.join(_HEADER)}.")
    fields = {name: _value_of_line(line, name) for name, line in zip(_HEADER, lines, strict=True)}
    if fields["record"] != "1":
        raise BadInput("Only version 1 of records is known.")
    return fields


def _value_of_line(line: str, name: str) -> str:
    found, _, value = line.partition(": ")
    if found != name and line != f"{name}:":
        raise BadInput(f"The record lacks the line {name!r} in its place.")
    return value


def _parse_json(text: str, name: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise BadInput(f"The record's {name} are not JSON.") from None


def _parse_options(preset: str, text: str) -> Options:
    overrides = _parse_json(text, "options")
    if not isinstance(overrides, dict):
        raise BadInput("The record's options must be an object.")
    options = options_from_stored(preset, overrides)
    if set(options_to_store(preset, options)) != set(overrides):
        raise BadInput("The record's options must be exactly those that differ from the preset.")
    return options


def _parse_players(text: str, most: int) -> tuple[str, ...]:
    players = _parse_json(text, "players")
    if not isinstance(players, list) or not all(isinstance(name, str) for name in players):
        raise BadInput("The record's players must be a list of names.")
    if not MIN_PLAYERS <= len(players) <= most:
        raise BadInput(f"A record has {MIN_PLAYERS} to {most} players.")
    try:
        "".join(players).encode("utf-8")
    except UnicodeEncodeError:
        raise BadInput("The record's players must have names that UTF-8 can encode.") from None
    return tuple(players)


def _parse_time(text: str) -> str:
    sentence = f"{text!r} is not a time such as 2026-11-21T00:13:00Z."
    if not _TIME.fullmatch(text):
        raise BadInput(sentence)
    try:
        datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
    except ValueError:
        raise BadInput(sentence) from None
    return text


def _parse_hexes(text: str, name: str) -> tuple[str, ...]:
    values = tuple(text.split(",")) if text else ()
    if not all(_HEX.fullmatch(value) for value in values):
        raise BadInput(f"The record's {name} must be 64 hex digits a round.")
    return values


def _parse_seat(text: str, players: int) -> int:
    if text not in [str(seat) for seat in range(players)]:
        raise BadInput(f"{text!r} is not a seat of this record.")
    return int(text)


def _parse_round(lines: Sequence[str], options: Options, players: int) -> RoundRecord:
    if len(lines) < len(("round", "dealer", "deal")):
        raise BadInput("A round starts with the lines round, dealer, deal.")
    number = _value_of_line(lines[0], "round")
    if not re.fullmatch("[1-9][0-9]{0,5}", number):
        raise BadInput(f"{number!r} is not the number of a round.")
    body, end = list(lines[3:]), None
    if body and body[-1].startswith("end: "):
        end = _parse_end(body.pop(), players)
    return RoundRecord(
        number=int(number),
        dealer=_parse_seat(_value_of_line(lines[1], "dealer"), players),
        deal=_parse_cards(_value_of_line(lines[2], "deal"), options),
        lines=tuple(_parse_record_line(line, options) for line in body),
        end=end,
    )


def _parse_cards(text: str, options: Options) -> tuple[Card, ...]:
    cards = tuple(text.split(" "))
    side = options.rules.first
    if not all(card in (side.shown or side.faces) for card in cards):
        raise BadInput("The record names a card that is not in its deck.")
    return cards


def _parse_record_line(line: str, options: Options) -> RecordLine:
    if line.startswith("shuffle: "):
        text = line.removeprefix("shuffle: ")
        # The order of the seats in a lottery, or cards (BUZZ-3).
        return RecordLine("", text if _SEATS.fullmatch(text) else " ".join(_parse_cards(text, options)))
    at, _, text = line.partition(" ")
    return RecordLine(_parse_time(at), text)


def _parse_end(line: str, players: int) -> Outcome:
    winner, _, points = line.removeprefix("end: ").partition(" ")
    numbers = points.split(",")
    # No number has a leading zero or more than nine digits.
    if not _POINTS.fullmatch(points) or any(number != str(int(number[:9])) for number in numbers):
        raise BadInput(f"{line!r} is not the end of a round.")
    if len(numbers) not in (1, players):
        raise BadInput("A round ends with the winner's points, or with one number a seat.")
    values = tuple(int(number) for number in numbers)
    return Outcome(_parse_seat(winner, players), values[0] if len(values) == 1 else values)


def replay_record(record: Record) -> Iterator[ReplayedRound]:
    """Replay a record and check everything in it. Yield each round when it has been replayed.

    This checks the commitments, the deals and the reshuffles against the seeds (a void match may have none), the moves
    against the rules, the ends of rounds, the dealers, the order of times and the result.

    :raises BadInput: at the first error.
    """
    _check_commitments(record)
    replay = _RecordReplay(record)
    for index, round_ in enumerate(record.rounds):
        yield replay.round(index, round_)
    replay.check_result()


def _check_commitments(record: Record) -> None:
    if len(record.commitments) != len(record.rounds):
        raise BadInput("A record has one commitment a round.")
    if record.result is not None and not record.seeds:
        raise BadInput("The record of a finished match has the seed of each round.")
    if record.seeds and [commitment(bytes.fromhex(seed)) for seed in record.seeds] != list(record.commitments):
        raise BadInput("A seed of the record does not match its commitment.")


class _RecordReplay:
    """Replays the rounds of a record in order and checks them. The first round may have any dealer."""

    def __init__(self, record: Record) -> None:
        self._record = record
        dealer = record.rounds[0].dealer if record.rounds else 0
        self._match = Match(record.options, (0,) * len(record.players), dealer)
        self._next_dealer = dealer
        self._at = record.date
        self._winner: int | None = None

    def round(self, index: int, round_: RoundRecord) -> ReplayedRound:
        """Replay the round at ``index`` and check it.

        :raises BadInput: at the first error.
        """
        record = self._record
        if self._winner is not None:
            raise BadInput(f"Round {round_.number} comes after the end of the match.")
        if round_.number != index + 1:
            raise BadInput(f"Round {index + 1} is numbered {round_.number}.")
        if round_.dealer != self._next_dealer:
            raise BadInput(f"Round {round_.number} has the wrong dealer.")
        self._match = replace(self._match, dealer=round_.dealer)
        seed = record.seeds[index] if record.seeds else None
        cards = _RecordedCards(round_, None if seed is None else Shuffler(bytes.fromhex(seed)))
        start = deal_cards(
            record.options,
            len(record.players),
            cards.deal(record.options),
            cards.shuffle,
            dealer=round_.dealer,
            absent=self._match.absent,
        )
        replayed = ReplayedRound(round_.number, start, tuple(self._replay_lines(round_, start, cards)))
        self._check_end(round_, replayed.position)
        return replayed

    def _replay_lines(
        self, round_: RoundRecord, position: Position, cards: _RecordedCards
    ) -> Iterator[tuple[RecordLine, Position, tuple[Event, ...]]]:
        for line in round_.lines[len(cards.before_moves) :]:
            if not line.at:
                cards.add(line.text)
                continue
            if line.at < self._at:
                raise BadInput(f"The line {line.text!r} of round {round_.number} goes back in time.")
            self._at = line.at
            try:
                seat, move = parse_line(line.text)
                position, events = apply(position, seat, move, self._record.options, cards.shuffle)
            except Refused as refused:
                raise BadInput(f"Round {round_.number}, line {line.text!r}: {refused.message}") from None
            if move.kind == "leave":
                self._match = replace(self._match, absent=tuple(sorted({*self._match.absent, seat})))
            cards.check_all_used()
            yield line, position, events
        cards.check_all_used()

    def _check_end(self, round_: RoundRecord, position: Position) -> None:
        ended = outcome(position)
        if round_.end is None:
            if ended is not None:
                raise BadInput(f"Round {round_.number} lacks its end.")
            self._next_dealer = self._match.dealer_after_void
            return
        if ended is None or ended != round_.end:
            raise BadInput(f"Round {round_.number} does not end as the record says.")
        self._match = self._match.with_result(ended)
        self._winner = self._match.winner(ended)
        if self._winner is None:
            self._next_dealer = self._match.next_dealer

    def check_result(self) -> None:
        """Check the result of the match, after the last round.

        :raises BadInput: if the record has another result.
        """
        if self._record.result != self._winner:
            raise BadInput("The match does not end as the record says.")


class _RecordedCards:
    """Gives the replay of a round the recorded cards, and checks them against the seed if there is one."""

    def __init__(self, round_: RoundRecord, shuffler: Shuffler | None) -> None:
        self._round = round_
        self._shuffler = shuffler
        self._unused: list[tuple[Card, ...]] = []
        # The first discard may knock somebody out whose cards are shuffled into the draw pile (FIRST-1, ELIM-1).
        self.before_moves = list(takewhile(lambda line: not line.at, round_.lines))
        for line in self.before_moves:
            self.add(line.text)

    def deal(self, options: Options) -> list[Card]:
        """Return the cards of the deal.

        :raises BadInput: if they are not those of the deck or not in the order of the seed.
        """
        if not is_deck(self._round.deal, options):
            raise BadInput(f"The deal of round {self._round.number} does not have the right cards.")
        if self._shuffler is not None and shuffled_cards(options, self._shuffler.shuffle) != list(self._round.deal):
            raise BadInput(f"The deal of round {self._round.number} is not in the order of the seed.")
        return list(self._round.deal)

    def add(self, text: str) -> None:
        """Keep the cards of a shuffle line for the next move."""
        self._unused.append(tuple(text.split(" ")))

    def shuffle(self, cards: Sequence[Card], stream: str) -> list[Card]:
        """Return the cards of the next shuffle line. The rules call this where a move needs a reshuffle.

        :raises BadInput: if there is no line, or its cards are wrong.
        """
        if not self._unused:
            raise BadInput(f"Round {self._round.number} lacks the line of shuffle {stream}.")
        return self._checked(self._unused.pop(0), cards, stream)

    def check_all_used(self) -> None:
        """Check after a move that it has used every shuffle line before it.

        :raises BadInput: if one is left.
        """
        if self._unused:
            raise BadInput(f"Round {self._round.number} has a shuffle that no draw needed.")

    def _checked(self, recorded: tuple[Card, ...], cards: Sequence[Card], stream: str) -> list[Card]:
        if sorted(recorded) != sorted(cards):
            raise BadInput(f"Shuffle {stream} of round {self._round.number} does not have the right cards.")
        if self._shuffler is not None and self._shuffler.shuffle(cards, stream) != list(recorded):
            raise BadInput(f"Shuffle {stream} of round {self._round.number} is not in the order of the seed.")
        return list(recorded)
