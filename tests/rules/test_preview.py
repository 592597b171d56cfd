"""`games.rules.preview`: its answers are what moves then do."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from games.rules import (
    FACES,
    PRESETS,
    Move,
    Options,
    Position,
    Shuffler,
    View,
    apply,
    cards_after,
    continues_straight,
    cost_of_miss,
    face_of,
    key_from_seed,
    legal_moves,
    next_steps,
    options_from,
    parse_move,
    refusal,
    view_for,
    winner_by_leaving,
)
from games.rules.position import Extra
from tests.rules.strategies import play, tables

NO_MERCY = PRESETS["no-mercy"]
games = settings(max_examples=25, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])


@pytest.mark.long
@games
@given(tables(), st.integers(2, 6), st.integers(0, 10**6))
def test_cards_after_is_right_for_every_play_of_random_games(options: Options, count: int, seed: int) -> None:
    shuffle = Shuffler(key_from_seed("")).shuffle
    for played in play(options, count, seed, most=150):
        before, seat = played.before, played.before.turn
        view = view_for(before, seat, options)
        for move in legal_moves(before, seat, options):
            if move.kind == "play":
                after, events = apply(before, seat, move, options, shuffle)
                drawn = sum(event.amount or 0 for event in events if event.kind == "drew" and event.seat == seat)
                out = seat in after.out
                assert out or cards_after(view, move) == len(after.hands[seat]) - drawn, str(move)


@pytest.mark.long
@games
@given(tables(), st.integers(2, 6), st.integers(0, 10**6))
def test_winner_by_leaving_is_right_for_every_position_of_random_games(options: Options, count: int, seed: int) -> None:
    options = replace(options, hand_size=2)  # so that players soon go out on a stack
    shuffle = Shuffler(key_from_seed("")).shuffle
    for played in play(options, count, seed, most=150, leaving=0.03):
        for seat in played.before.still_in():
            after, _ = apply(played.before, seat, Move("leave"), options, shuffle)
            assert winner_by_leaving(view_for(played.before, seat, options)) == after.winner


def test_random_games_have_both_ways_to_win_when_another_player_leaves() -> None:
    shuffle = Shuffler(key_from_seed("")).shuffle
    options, won = options_from("no-mercy", {"hand_size": 2}), set()
    for seed in range(30):
        for played in play(options, 2 + seed % 3, seed, most=200):
            before = played.before
            left = [apply(before, seat, Move("leave"), options, shuffle) for seat in before.still_in()]
            won |= {events[-1].reason for after, events in left if after.winner is not None}
    assert won == {"last_card", "last_one_in"}


@pytest.mark.long
@games
@given(tables(), st.sampled_from(["exact", "super"]), st.sampled_from([0, 3]), st.integers(0, 10**6))
def test_every_card_that_costs_points_is_foreseen(base: Options, how: str, penalty: int, seed: int) -> None:
    """A play that fits nowhere is fined or refused at no cost, as the hand decides (INT-4)."""
    options = replace(base, interceptions=how, interception_penalty=penalty)
    for played in play(options, 3, seed, most=150):
        before = played.before
        for seat in range(3):
            listed = {move.card for move in legal_moves(before, seat, options)}
            hand = options.rules.sides[before.extra.side].show(before.hands[seat])
            refused = [refusal(before, seat, Move("play", card), options) for card in hand if card not in listed]
            costs = cost_of_miss(view_for(before, seat, options))
            assert costs in (0, penalty)
            if not costs:
                assert None not in refused
            elif listed.isdisjoint(hand):
                assert set(refused) <= {None}
            else:
                assert {one.code for one in refused if one is not None} <= {"wrong_card"}


def test_next_steps_are_the_plays_that_a_straight_then_allows() -> None:
    shuffle, lengths = Shuffler(key_from_seed("")).shuffle, set[int]()
    for preset, seed in product(PRESETS, range(4)):
        options = options_from(preset, {"straights": True, "interceptions": "off", "hand_size": 12})
        for played in play(options, 3, seed, most=60):
            position, seat, plays = played.before, played.before.turn, list[Move]()
            view = view_for(position, seat, options)
            opening = [move for move in legal_moves(position, seat, options) if move.kind == "play" and not move.uno]
            while opening:
                plays.append(opening[0])
                position, _ = apply(position, seat, opening[0], options, shuffle)
                may_go_on = position.winner is None and position.extra.run is not None
                follow = legal_moves(position, seat, options) if may_go_on else []
                opening = [move for move in follow if move.kind == "play" and not move.uno]
                assert {move.card for move in next_steps(view, plays)} == {move.card for move in opening}
                now = view_for(position, seat, options)
                if may_go_on:
                    assert {card for card in now.hand or () if continues_straight(now, card)} == {
                        move.card for move in opening
                    }
                lengths.add(len(plays))
    assert max(lengths) >= 3


@pytest.mark.parametrize(
    ("seat", "changes", "points"),
    [
        (1, {}, 3),
        (0, {}, 0),
        (None, {}, 0),
        (2, {"out": (2,)}, 0),
        (1, {"discard_pile": ("W",)}, 0),
        (1, {"phase": "drawn", "drawn": "r5"}, 3),
    ],
)
def test_a_card_that_does_not_fit_out_of_turn_costs_points(
    seat: int | None, changes: dict[str, object], points: int
) -> None:
    options = PRESETS["house-party"]
    hands = [("r5",), ("g1",), () if "out" in changes else ("b2",)]
    position = Position(hands=hands, turn=0, discard_pile=("r3",), color="r").replace(**changes)
    assert cost_of_miss(view_for(position, seat, options)) == points
    for other in (replace(options, interceptions="off"), replace(options, interception_penalty=0)):
        assert cost_of_miss(view_for(position, seat, other)) == 0


def seen(*hands: str, seat: int | None = 0, direction: int = 1) -> View:
    position = Position(
        hands=[hand.split() for hand in hands], turn=0, discard_pile=["r3"], color="r", direction=direction,
    )  # fmt: skip
    return view_for(position, seat, NO_MERCY)


@pytest.mark.parametrize(
    ("hands", "text", "left"),
    [
        (("r5 b1 b2", "g1"), "play r5", 2),
        (("r5", "g1"), "play r5", 0),
        (("rD r1 r2 b1", "g1"), "play rD", 1),
        (("rD rD r2", "g1"), "play rD", 0),
        (("r7 b1 b2", "g1", "y1 y2 y3 y4"), "play r7 swap 2", 4),
        (("r7", "g1"), "play r7", 0),
        (("r0 b1", "g1", "y1 y2 y3"), "play r0", 3),
        (("r0", "g1", "y1 y2 y3"), "play r0", 0),
        (("WR4", "g1 g2"), "play WR4 color g", 0),
    ],
)
def test_cards_after_counts_what_a_play_leaves(hands: tuple[str, ...], text: str, left: int) -> None:
    assert cards_after(seen(*hands), parse_move(text)) == left


def test_a_0_brings_the_hand_of_the_previous_player() -> None:
    hands = ("r0 b1", "g1 g2", "y1 y2 y3 y4")
    assert cards_after(seen(*hands, direction=1), parse_move("play r0")) == 4
    assert cards_after(seen(*hands, direction=-1), parse_move("play r0")) == 2


def test_a_view_with_hidden_cards_is_the_position_with_its_passes() -> None:
    hands, options = (("r5",), ("g1",)), PRESETS["playroom"]
    position = Position(hands=hands, turn=0, discard_pile=("r3",), color="r", extra=Extra(passes=1))
    assert view_for(position, 0, options).with_hidden(hands, draw_pile=(), set_aside=()) == position


@pytest.mark.parametrize(("players", "limit", "may"), [(5, 24, True), (6, 20, False)])
def test_hands_may_hold_all_cards_but_the_top_card(players: int, limit: int, may: bool) -> None:
    options = options_from("house-party", {"mercy_limit": limit})  # its deck has 116 cards
    assert options.may_hold_all_cards(players) is may


def test_a_spectator_who_leaves_makes_no_winner() -> None:
    assert winner_by_leaving(seen("r1", "g1", seat=None)) is None


def test_a_view_and_its_position_agree_on_the_next_and_previous_player() -> None:
    for played in play(NO_MERCY, 5, 3, leaving=0.03):
        position = played.after
        view = view_for(position, None, NO_MERCY)
        for seat in position.still_in():
            assert view.next_seat(seat) == position.next_seat(seat)
            assert view.previous_seat(seat) == position.previous_seat(seat)
            assert position.next_seat(position.previous_seat(seat)) == seat


def test_hands_are_sorted_by_number_then_action_then_wild() -> None:
    ranks = {face.symbol: face.rank for face in FACES.values()}
    order = sorted(ranks, key=ranks.__getitem__)
    actions, wilds = "S R E D F +1 +2 +4 +5", "W WC W4 W2 WD WR4 W6 W10 BZ"
    assert order == [*"0123456789", *actions.split(), *wilds.split()]
    assert len(set(ranks.values())) == len(order)
    assert face_of("r5").rank == face_of("b5").rank
