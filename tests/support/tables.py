"""Makes tables for tests from positions in the notation."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from accounts.models import User
from games import queries, rules
from games.models import Game, Hand, Move, Round, Seat
from games.models.positions import position_columns
from games.queries import Table

NOON = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
SECRET = bytes(range(32))


def table_at(
    position: Mapping[str, Any],
    people: Sequence[User | str],
    *,
    options: Mapping[str, object] | None = None,
    target: int = 0,
    preset: str = "no-mercy",
    **game_fields: Any,
) -> Table:
    """Make a running game in a position. `people` are its seats in order: people, or names of bots.

    The log is empty, so the game does not follow from its deal, and `faults_of` reports that.
    """
    engine = rules.options_from(preset, {**(options or {}), "target": target})
    here = rules.position_from_json(dict(position), engine)
    game, seats = _game_of(people, preset, engine, **game_fields)
    round_ = Round.objects.create(
        game=game, number=1, dealer=len(people) - 1, secret=SECRET, commitment=rules.commitment(SECRET), deal="",
        from_version=0, started_at=NOON, **position_columns(here),
    )  # fmt: skip
    for seat in seats:
        Hand.objects.create(round=round_, seat=seat)
    game.round = round_
    game.save()
    return queries.load(Game.objects.get(pk=game.pk))


def stored_options(preset: str, options: rules.Options) -> dict[str, object]:
    """Return the value of `Game.options` of a table with these options."""
    stored = rules.options_to_store(preset, options)
    return {name: value for name, value in stored.items() if name != "target"}


def _game_of(
    people: Sequence[User | str], preset: str, options: rules.Options, **fields: Any
) -> tuple[Game, list[Seat]]:
    host = next(person for person in people if isinstance(person, User))
    game = Game.objects.create(
        host=host, players=len(people), status=Game.Status.PLAYING, created_at=NOON, started_at=NOON,
        preset=preset, options=stored_options(preset, options), target=options.target, **{"bot_pause": 0.0, **fields},
    )  # fmt: skip
    seats = [
        Seat(game=game, index=n, user=person, name=person.name, bank=86400)
        if isinstance(person, User)
        else Seat(game=game, index=n, bot=person, name=f"Bot {n}")
        for n, person in enumerate(people)
    ]
    return game, Seat.objects.bulk_create(seats)


def now_of(table: Table) -> Table:
    """Return the same table as it is stored now."""
    return queries.load(Game.objects.get(pk=table.game.pk))


def change_position(table: Table, **fields: object) -> None:
    """Store other values in fields of a table's position, without a move in the log."""
    round_, position = table.started.round, table.started.position
    Round.objects.filter(pk=round_.pk).update(**position_columns(position.replace(**fields)))


def log_of(table: Table) -> list[str]:
    """Return the lines of the log in the notation."""
    return [f"{move.seat} {move.text}" for move in Move.objects.filter(game=table.game).order_by("n")]


TWO_HANDS: Mapping[str, Any] = {
    "draw_pile": ["b1", "b2", "y3", "g4", "r5", "b6", "y8", "g9", "W6", "r2", "y1", "g1"],
    "hands": [["r5", "b1", "b2"], ["r4", "g3", "W6"]],
    "turn": 0,
    "discard_pile": ["r3"],
}
"""Seat 0 is on turn on a red 3 and can play the red 5. Seat 1 can then play the red 4."""


def table_after(
    people: Sequence[User | str],
    moves: int,
    seed: int,
    *,
    earlier: int = 0,
    preset: str = "no-mercy",
    options: Mapping[str, object] | None = None,
    leave: Mapping[int, int] | None = None,
    **game_fields: Any,
) -> Table:
    """Make a table after `moves` random moves, stored with its log as if they had been played.

    It is a single round, or the round of a match that comes after `earlier` rounds. `leave` maps the number of a round
    to a number of moves: the player who is on turn then leaves.
    """
    rng = random.Random(seed)
    engine = rules.options_from(preset, {**(options or {}), "target": 5000 if earlier else 0})
    game, seats = _game_of(people, preset, engine, **game_fields)
    match = rules.Match(engine, (0,) * len(seats), dealer=len(seats) - 1)
    for number in range(1, earlier + 2):
        most = moves if number > earlier else None
        match = replace(match, dealer=match.next_dealer if number > 1 else match.dealer)
        game.round, position = _random_round(
            game, seats, match, rng, number=number, most=most, leave=(leave or {}).get(number)
        )
        match = replace(match, absent=tuple(seat.index for seat in seats if seat.left))
    if position.winner is not None and not earlier:
        game.status, game.winner, game.finished_at = Game.Status.OVER, position.winner, NOON
    game.save()
    return queries.load(Game.objects.get(pk=game.pk))


def _random_round(
    game: Game,
    seats: Sequence[Seat],
    match: rules.Match,
    rng: random.Random,
    *,
    number: int,
    most: int | None,
    leave: int | None,
) -> tuple[Round, rules.Position]:
    """Play and store a round of at most `most` random moves, or a whole round of random plays."""
    secret, options = rng.randbytes(32), match.options
    shuffle = rules.Shuffler(secret).shuffle
    position = rules.deal(options, len(seats), shuffle, dealer=match.dealer, absent=match.absent)
    log: list[tuple[int, str, list[dict[str, object]]]] = []
    hands = [Hand(seat=seat) for seat in seats]
    # Whole rounds of random moves have thousands of them with some presets.
    pick = _random_play if most is None else _random_move
    while (most is None or len(log) < most) and position.phase != "over":
        seat, move = pick(position, options, rng)
        if len(log) == leave:
            seat, move = position.turn, rules.Move("leave")
            seats[seat].left = True
        before = position
        position, events = rules.apply(position, seat, move, options, shuffle)
        for out, faces in rules.lost_hands(before, events, options).items():
            hands[out].lost, hands[out].lost_side = list(faces), before.extra.side or ""
        log.append((seat, str(move), [event.to_json() for event in events]))
    over = position.phase == "over"
    round_ = Round.objects.create(
        game=game, number=number, dealer=match.dealer, secret=secret, commitment=rules.commitment(secret),
        deal=" ".join(rules.shuffled_cards(options, shuffle)), from_version=game.version, started_at=NOON,
        ended_at=NOON if over else None, absent=list(match.absent), **position_columns(position),
    )  # fmt: skip
    for hand in hands:
        hand.round = round_
    Hand.objects.bulk_create(hands)
    Move.objects.bulk_create(
        Move(game=game, round=round_, n=n, seat=seat, text=text, at=NOON, events=events)
        for n, (seat, text, events) in enumerate(log, game.version + 1)
    )
    game.version += len(log)
    outcome = rules.outcome(position)
    if outcome is not None:
        for mine in seats:
            mine.score += outcome.gained(mine.index)
    Seat.objects.bulk_update(seats, ["score", "left"])
    return round_, position


def _random_move(position: rules.Position, options: rules.Options, rng: random.Random) -> tuple[int, rules.Move]:
    """Return a legal move of any seat. Where cards may be played out of turn it is sometimes a miss (INT-4)."""
    if options.interceptions != "off" and rng.random() < 0.1:
        seat = rng.choice([seat for seat, hand in enumerate(position.hands) if hand])
        card = options.rules.sides[position.extra.side].show_card(rng.choice(position.hands[seat]))
        miss = rules.Move("play", card)
        if seat != position.turn and rules.refusal(position, seat, miss, options) is None:
            return seat, miss
    return rng.choice(_legal_moves(position, options))


def _random_play(position: rules.Position, options: rules.Options, rng: random.Random) -> tuple[int, rules.Move]:
    """Return a legal move of any seat that plays a card, or another if there is none."""
    moves = _legal_moves(position, options)
    return rng.choice([(seat, move) for seat, move in moves if move.kind == "play"] or moves)


def _legal_moves(position: rules.Position, options: rules.Options) -> list[tuple[int, rules.Move]]:
    seats = range(len(position.hands))
    return [(seat, move) for seat in seats for move in rules.legal_moves(position, seat, options)]
