"""Test standing orders in random games: which seat plays, what, and that the lines replay. Uses no database.

The long form is `ORDER_GAMES=10000 script/test tests/games/test_orders_in_random_games.py`.
"""

from __future__ import annotations

import os
import random
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

import pytest

from games import rules
from games.actions.standing_orders import next_play
from games.models import Game, Seat
from games.models.orders import CARD, FACE, INTERCEPT, NEVER, Orders, orders_of
from games.queries import Table
from tests.conftest import Figure

GAMES: Final = int(os.environ.get("ORDER_GAMES", "30"))
TABLES: Final[tuple[tuple[str, dict[str, object]], ...]] = (
    ("house-party", {}),
    ("classic", {"interceptions": "exact", "stacking": "same"}),
    ("flip", {"interceptions": "super"}),
    ("no-mercy", {"interceptions": "super"}),
    ("playroom-no-mercy", {"interceptions": "super", "straights": True, "advanced_stacking": False}),
)


def table_with_orders(preset: str, options: dict[str, object], rng: random.Random) -> Table:
    """Return a table of two to six people with random orders. Nothing of it is stored."""
    here = rules.options_from(preset, options)
    game = Game(preset=preset, options=options, pace="standard")
    faces = [text for side in here.rules.sides.values() for text in side.faces]
    seats = [
        Seat(index=n, user_id=n + 1, orders=_random_orders(faces, rng).to_json()) for n in range(rng.randrange(2, 7))
    ]
    return Table(game, seats, here)


def _random_orders(faces: Sequence[str], rng: random.Random) -> Orders:
    keep = tuple(rng.sample(faces, rng.choice((0, 0, 10, 30))))
    return Orders(rng.choice((*INTERCEPT, FACE)), keep, rng.random() < 0.5)


def fitting(table: Table, position: rules.Position, seat: int) -> set[str]:
    """Return the cards that a seat's orders may play, found in the list of legal moves."""
    orders = orders_of(table.seats[seat])
    if seat == position.turn or orders.intercept == NEVER:
        return set()
    side = table.options.rules.sides[position.extra.side]
    top = side.show_card(position.top)
    cards = {move.card for move in rules.legal_moves(position, seat, table.options) if move.kind == "play"}
    alike = {card for card in cards if card and rules.face_of(card).symbol == rules.face_of(top).symbol}
    return {card for card in alike if card not in orders.keep and (orders.intercept != CARD or card == top)}


def check(table: Table, position: rules.Position, after: int, play: tuple[int, rules.Move] | None) -> None:
    """Check that the first seat whose orders fit plays one of its cards."""
    players = len(table.seats)
    round_table = [(after + n * position.direction) % players for n in range(1, players + 1)]
    first = next((seat for seat in round_table if fitting(table, position, seat)), None)
    if play is None:
        assert first is None
        return
    seat, move = play
    assert (seat, move.card in fitting(table, position, seat)) == (first, True)
    assert replace(move, uno=False) in rules.legal_moves(position, seat, table.options)


def play_out(table: Table, rng: random.Random) -> tuple[int, int]:
    """Play a round with random moves; return how many lines it has, and how many of them orders made."""
    options, shuffle = table.options, rules.Shuffler(rng.randbytes(32)).shuffle
    start = position = rules.deal(options, len(table.seats), shuffle, dealer=0)
    lines: list[tuple[int, rules.Move]] = []
    by_order = 0
    while position.phase != "over":
        seat = position.turn
        move = rng.choice(rules.legal_moves(position, seat, options) or [rules.default_move(position, seat, options)])
        position, _ = rules.apply(position, seat, move, options, shuffle)
        lines.append((seat, move))
        while True:
            play = next_play(table, position, after=seat, shuffle=shuffle)
            check(table, position, seat, play)
            if play is None:
                break
            fines, (seat, move) = position.extra.fines, play
            position, events = rules.apply(position, seat, move, options, shuffle)
            assert events[0].kind == "intercepted"
            assert position.extra.fines == fines or options.mercy_card_points
            assert (seat in position.exposed) <= (not orders_of(table.seats[seat]).call_uno)
            lines.append(play)
            by_order += 1
    *_, (replayed, _) = rules.replay(start, lines, options, shuffle)
    assert replayed == position
    return len(lines), by_order


@pytest.mark.long
@pytest.mark.parametrize(("preset", "options"), TABLES, ids=[preset for preset, _ in TABLES])
def test_the_nearest_seat_plays_a_legal_card_and_the_lines_replay(
    preset: str, options: dict[str, object], figure: Figure
) -> None:
    rng, lines, by_order = random.Random(20261123), 0, 0
    games = max(1, GAMES // len(TABLES))
    for _ in range(games):
        played, ordered = play_out(table_with_orders(preset, dict(options), rng), rng)
        lines, by_order = lines + played, by_order + ordered
    figure(f"{games} games with {lines} lines, {by_order} of them by standing order")
    assert by_order > games


def test_orders_say_nothing_while_the_game_is_paused() -> None:
    rng = random.Random(1)
    table = table_with_orders("house-party", {}, rng)
    for seat in table.seats:
        seat.orders = Orders(FACE).to_json()
    position = rules.Position(
        hands=[["r5"] * 3] * len(table.seats), turn=0, discard_pile=["r5"], draw_pile=["b1", "b2"], color="r"
    )
    shuffle = rules.Shuffler(bytes(32)).shuffle
    assert next_play(table, position, after=0, shuffle=shuffle) == (1, rules.Move("play", "r5"))
    table.game.paused_at = datetime(2026, 11, 23, tzinfo=UTC)
    assert next_play(table, position, after=0, shuffle=shuffle) is None
