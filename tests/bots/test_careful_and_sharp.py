"""The choices of the careful and the sharp bot."""

from __future__ import annotations

from random import Random

import pytest

from games.bots import BOTS, playout, sharp
from games.bots.arena import play_round
from games.bots.sharp import Sharp
from games.bots.worlds import sample_world
from games.rules import (
    Card,
    Move,
    Options,
    Pending,
    Position,
    Shuffler,
    View,
    deal,
    key_from_seed,
    legal_moves,
    view_for,
)
from tests.bots.tables import NO_MERCY, choices, seen

HAND_OF_20 = "g1 g2 g3 g4 y1 y2 y3 y4 b1 b2 " * 2


@pytest.mark.parametrize("name", ["careful", "sharp"])
@pytest.mark.parametrize(
    ("hands", "wanted"),
    [
        pytest.param(("r9", "b1 b2"), "play r9", id="the last card wins"),
        pytest.param(("rD r1 r2 r3", "b1 b2"), "play rD", id="discard all wins"),
    ],
)
def test_bots_play_a_winning_card(name: str, hands: tuple[str, ...], wanted: str) -> None:
    view, legal = seen(*hands)
    assert set(choices(BOTS[name], view, legal, 5)) == {wanted}


def careful_choice(*hands: str, top: str = "r5") -> set[str]:
    view, legal = seen(*hands, top=top)
    return {text.removesuffix(" uno") for text in choices(BOTS["careful"], view, legal, 10)}


def test_careful_does_not_swap_a_short_hand_for_a_long_one() -> None:
    assert careful_choice("r7 r1 g2", "b1 b2 b3 b4 b5 b6 b8") == {"play r1"}


def test_careful_swaps_with_the_shortest_hand() -> None:
    assert careful_choice("r7 g1 g2 g3 g4 y6", "b1 b2 b3", "y1 y2") == {"play r7 swap 2"}


def test_careful_plays_the_color_it_holds_most() -> None:
    assert careful_choice("r1 g5 g2 g3 g4", "b1 b2 b3 b4", top="r5") == {"play g5"}
    assert careful_choice("W10 b3 b4 y1", "g1 g2", top="r5") == {"play W10 color b"}


def test_careful_keeps_draw_cards_while_nobody_is_about_to_win() -> None:
    assert careful_choice("r1 W6 W10 g2", "b1 b2 b3 b4 b5 b6 b8", "y1 y2 y3 y4 y5 y6") == {"play r1"}


def test_careful_attacks_a_player_who_is_about_to_win() -> None:
    assert careful_choice("r1 r+4 g2 b3", "b1", "y1 y2 y3 y4 y5 y6") == {"play r+4"}


def test_careful_attacks_if_that_knocks_out_a_player() -> None:
    assert careful_choice("W10 r1 g2 g3", HAND_OF_20, "y1 y2 y3") == {"play W10 color g"}


def test_careful_does_not_attack_itself_with_two_players() -> None:
    assert careful_choice("WR4 WC", "b1 b2 b3 b4 b5 b6 b8") == {"play WC"}
    assert careful_choice("WR4 W6 y2 y3", HAND_OF_20) == {"play WR4 color y"}


def test_careful_answers_a_stack_with_the_lowest_possible_card() -> None:
    view, legal = seen(
        "r+2 W6 W10 g2 g4", "b1 b2 b3 b4 b5 b6 b8 b9 g9", "y1 y2 y3 y4", pending=Pending(2, 2, "+2"), top="b+2"
    )
    assert set(choices(BOTS["careful"], view, legal, 10)) == {"play r+2"}


@pytest.mark.parametrize("name", ["careful", "sharp"])
def test_bots_do_not_take_a_stack_that_lets_another_player_win(name: str) -> None:
    view, legal = seen("r+2 b1 g2", "", "y1 y2 y3 y4", pending=Pending(2, 2, "+2"), top="b+2", going_out=(1,))
    assert set(choices(BOTS[name], view, legal, 4)) == {"play r+2"}


@pytest.mark.parametrize("name", BOTS)
def test_bots_name_a_color_for_a_roulette(name: str) -> None:
    view, legal = seen("r1 b1 b2", "y1 y2", top="WC", phase="choose_color", color=None)
    assert set(choices(BOTS[name], view, legal, 4)) <= {f"color {color}" for color in "rygb"}


def test_sharp_stays_within_its_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    made = 0

    def counted(position: Position, options: Options, plies: int, rng: Random) -> tuple[Position, int]:
        nonlocal made
        end, moves = playout.play_out(position, options, plies, rng)
        made += 1 + moves
        return end, moves

    def dealt(view: View, hidden: list[Card], rng: Random) -> Position:
        nonlocal made
        made += sharp.WORLD_COST
        return sample_world(view, hidden, rng)

    monkeypatch.setattr(sharp, "play_out", counted)
    monkeypatch.setattr(sharp, "sample_world", dealt)
    for players in (2, 6):
        position = deal(NO_MERCY, players, Shuffler(key_from_seed("budget")).shuffle)
        made = 0
        BOTS["sharp"].choose(view_for(position, 0, NO_MERCY), legal_moves(position, 0, NO_MERCY), Random(1))
        one_world = sharp.WORLD_COST + sharp.CANDIDATES * (1 + sharp.HORIZON)
        assert sharp.BUDGET <= made < sharp.BUDGET + 2 * one_world


def test_sharp_makes_no_play_outs_for_a_single_move(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> Move:
        raise AssertionError("a play-out for a single move")

    monkeypatch.setattr(sharp, "play_out", never)
    view, legal = seen("g1 g2", "b1 b2")
    assert set(choices(BOTS["sharp"], view, legal, 3)) == {"draw"}


@pytest.mark.long
def test_sharp_beats_careful() -> None:
    pair = [Sharp(budget=200), BOTS["careful"]]
    wins = 0
    for game in range(24):
        seat = game % 2
        end = play_round(pair if seat == 0 else pair[::-1], NO_MERCY, f"duel {game // 2}")
        wins += end.winner == seat
    assert wins >= 14


def test_careful_beats_random() -> None:
    pair = [BOTS["careful"], BOTS["random"]]
    ends = [play_round(pair, NO_MERCY, f"easy {game}") for game in range(100)]
    assert sum(end.winner == 0 for end in ends) >= 60
