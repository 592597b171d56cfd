"""Hypothesis strategies and random play for the properties of the rules."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from hypothesis import strategies as st

from games.rules import (
    OPTIONS,
    PRESETS,
    BadInput,
    Event,
    Move,
    Options,
    OptionSpec,
    Position,
    Shuffler,
    apply,
    deal,
    default_move,
    key_from_seed,
    legal_moves,
    options_from,
    refusal,
)


def _values(spec: OptionSpec) -> st.SearchStrategy[object]:
    if spec.name == "hand_size":
        return st.integers(1, 8)  # every deck is enough for ten players
    if spec.values:
        return st.sampled_from(spec.values)
    if spec.ranges:
        return st.one_of(*(st.integers(low, high) for low, high in spec.ranges))
    return st.booleans()


@st.composite
def tables(draw: st.DrawFn) -> Options:
    """Return random options of a table, of which at most six differ from a preset."""
    changed = draw(st.sets(st.sampled_from(OPTIONS), max_size=6))
    overrides = {spec.name: draw(_values(spec)) for spec in sorted(changed)}
    preset = draw(st.sampled_from(sorted(PRESETS)))
    try:
        return options_from(preset, overrides)
    except BadInput:
        return PRESETS[preset]


class Played(NamedTuple):
    """One accepted move of a random game."""

    before: Position
    seat: int
    move: Move
    after: Position
    events: tuple[Event, ...]


def leavers(players: int, seed: int) -> tuple[int, ...]:
    """Return random seats that left in an earlier round, in half of the games none."""
    rng = random.Random(f"{seed} before")
    return tuple(rng.sample(range(players), rng.randrange(players - 1))) if rng.random() < 0.5 else ()


def play(options: Options, players: int, seed: int, *, leaving: float = 0.01, most: int = 3000) -> Iterator[Played]:
    """Play a random round with calls, catches, misses, moves of the clock and players who leave. Yield each move.

    In half of the rounds players have left the match before, if at least two remain.
    """
    rng = random.Random(seed)
    shuffle = Shuffler(key_from_seed(str(seed))).shuffle
    position = deal(options, players, shuffle, absent=leavers(players, seed))
    for _ in range(most):
        if position.phase == "over":
            return
        before = position
        seat, move = random_move(position, options, rng, leaving)
        position, events = apply(position, seat, move, options, shuffle)
        yield Played(before, seat, move, position, events)


def random_move(position: Position, options: Options, rng: random.Random, leaving: float) -> tuple[int, Move]:
    """Return a seat and a random legal move of it, sometimes made by the clock."""
    if rng.random() < leaving:
        return rng.choice(position.still_in()), Move("leave")
    if rng.random() < 0.1:
        return position.turn, default_move(position, position.turn, options)
    listed = [(seat, move) for seat in position.still_in() for move in legal_moves(position, seat, options)]
    own = [(seat, move) for seat, move in listed if seat == position.turn and move.kind not in ("catch", "uno")]
    if options.interceptions != "off" and rng.random() < 0.02:
        listed = own = misses(position, options) or listed
    # In a race the seat on turn may have no move left.
    seat, move = rng.choice(listed if rng.random() < 0.3 or not own else own)
    return seat, replace(move, uno=rng.random() < 0.5) if move.kind == "play" else move


def misses(position: Position, options: Options) -> list[tuple[int, Move]]:
    """Return plays that are accepted as misses (INT-4), one for each seat that can miss."""
    side = options.rules.sides[position.extra.side]
    found = []
    for seat in position.still_in():
        plays = (Move("play", card) for card in side.show(position.hands[seat]))
        wanted = (play for play in plays if is_miss(position, seat, play, options))
        found += [(seat, play) for play in wanted][:1]
    return found


def is_miss(position: Position, seat: int, move: Move, options: Options) -> bool:
    """Return True if a move is accepted although no list of legal moves has it, because it is a miss (INT-4)."""
    if move.kind != "play" or seat == position.turn or refusal(position, seat, move, options) is not None:
        return False
    return all(other.card != move.card for other in legal_moves(position, seat, options))
