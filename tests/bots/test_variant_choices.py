"""What bots choose in the variants without a mercy limit, and what sharp's play-outs are based on."""

from __future__ import annotations

from random import Random

import pytest

from games.bots import BOTS
from games.bots.playout import simple_move
from games.bots.winning import win_chance
from games.bots.worlds import sample_world, unseen_cards
from games.rules import PRESETS, Options, Pending, Position, options_from, view_for
from games.rules.position import Challenge, Extra
from tests.bots.tables import cards, choices, seen


@pytest.mark.parametrize(
    ("preset", "hands", "top", "wanted"),
    [
        pytest.param("playroom", ("b6 bS g2", "y1"), "g9", "play g2", id="plays instead of drawing"),
        pytest.param("playroom", ("g+2 g2 gR y9", "b1"), "y9", "play y9", id="plays its only card that fits"),
        pytest.param("playroom", ("W r8 y3 y6 yS", "b1 b2 b3"), "r9", "play r8", id="keeps the plain wild"),
        pytest.param("classic", ("W4 b2 b4 r7 g1", "y1 y2 y3 y4 y5"), "r5", "play r7", id="does not bluff"),
    ],
)
def test_sharp_plays_the_better_card(preset: str, hands: tuple[str, ...], top: str, wanted: str) -> None:
    view, legal = seen(*hands, top=top, options=PRESETS[preset])
    assert set(choices(BOTS["sharp"], view, legal, 8)) == {wanted}


def chance(hand: str, other: str = "g1 g2 g3", preset: str = "classic", **fields: object) -> float:
    """Return the estimated chance of a player on turn with two players, a red 5 on top."""
    position = Position(hands=[cards(hand), cards(other)], turn=0, discard_pile=["r5"], color="r")
    return win_chance(position.replace(**fields), 0, PRESETS[preset])


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        pytest.param("b1 b2", "b1 b2 b3", id="fewer cards"),
        pytest.param("b1 W", "b1 b2", id="a plain wild"),
        pytest.param("b1 W", "b1 bS", id="a wild more than a skip"),
        pytest.param("b1 b+2", "b1 b2", id="a draw card"),
        pytest.param("b1 bS", "b1 b2", id="a skip"),
        pytest.param("b1 b2", "b1 y2", id="fewer colours"),
        pytest.param("r1 r2", "b1 b2", id="cards that fit the top card"),
    ],
)
def test_a_hand_is_better_without_a_mercy_limit(better: str, worse: str) -> None:
    assert chance(better) > chance(worse)


def test_cards_owed_count_as_held() -> None:
    owes = Pending(4, 4, "W4")
    assert chance("b1 b2", pending=owes) < chance("b1 b2 b3 b4 b5")
    assert chance("b1 b2", turn=1, pending=owes) > chance("b1 b2", turn=1)
    position = Position(
        hands=[cards("r1/o1"), cards("r2/o2")], turn=0, discard_pile=["W/tF"], color="o", extra=Extra("dark")
    )
    draws_until_a_color = position.replace(pending=Pending(0, 0, "WD"))
    assert win_chance(draws_until_a_color, 0, PRESETS["flip"]) < win_chance(position, 0, PRESETS["flip"]) - 0.1


def claimed(options: Options, *hands: str, top: str = "r5") -> Position:
    """Return a position in which seat 1 has played a Wild Draw Four that seat 0 may challenge."""
    return Position(
        hands=[cards(hand) for hand in hands],
        turn=0,
        discard_pile=[top, "W4"],
        draw_pile=cards("g1 g2 y3 y4 b8 b9 r1 r2 g6 y6"),
        color="b",
        pending=Pending(4, 4, "W4"),
        extra=Extra(challenge=Challenge(1, bluff=False)),
    )


@pytest.mark.parametrize(("held", "wanted"), [("g1", "take"), ("g1 g2 g3 g4 g5", "challenge")])
def test_play_outs_challenge_a_player_who_holds_many_cards(held: str, wanted: str) -> None:
    options = PRESETS["classic"]
    for seed in range(20):
        assert simple_move(claimed(options, "y1 y2 y3", held), options, Random(seed)).kind == wanted


# With the hidden cards alone the shares would be 0.70 and 0.85.
@pytest.mark.parametrize(("bluff", "least", "most"), [("official", 0.3, 0.55), ("playroom", 0.5, 0.75)])
def test_a_bluff_is_less_likely_than_the_hidden_cards_say(bluff: str, least: float, most: float) -> None:
    options = options_from("classic", {"bluff": bluff})
    position = claimed(options, "y1 y2 y3", "g1 g2 g3 g4")
    view = view_for(position, 0, options)
    rng, unseen = Random(1), unseen_cards(view)
    worlds = [sample_world(view, unseen, rng) for _ in range(400)]
    bluffs = sum(world.extra.challenge.bluff for world in worlds if world.extra.challenge) / len(worlds)
    assert least < bluffs < most
