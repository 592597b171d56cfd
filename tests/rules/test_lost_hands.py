"""The hands of players who are knocked out, in random games."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from games.rules import PRESETS, Event, Options, lost_hands, position_from_json
from tests.rules.strategies import play, tables


@pytest.mark.long
@settings(max_examples=80, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(tables(), st.integers(2, 10), st.integers(0, 10**6))
def test_a_lost_hand_has_the_cards_that_the_player_held(options: Options, players: int, seed: int) -> None:
    for played in play(options, players, seed, most=600):
        lost = lost_hands(played.before, played.events, options)
        assert set(lost) == {event.seat for event in played.events if event.kind == "knocked_out"}
        for seat, faces in lost.items():
            assert len(faces) >= options.mercy_limit
            assert not played.after.hands[seat]
        set_aside = options.mercy_cards == "set_aside" and len(options.rules.sides) == 1
        if lost and set_aside and not any(event.kind == "reshuffled" for event in played.events):
            new = Counter(played.after.set_aside) - Counter(played.before.set_aside)
            assert sum((Counter(faces) for faces in lost.values()), Counter[str]()) == new


def test_a_hand_with_two_sides_is_lost_as_its_player_saw_it() -> None:
    options = PRESETS["flip"]
    before = position_from_json(
        {"draw_pile": ["b1/o1"], "discard_pile": ["y4/t9"], "hands": [["r3/o1"], ["r1/o4"]], "turn": 0, "side": "dark"},
        options,
    )
    events = [Event("drew", 0, amount=1, cards=("o1",), reason="turn"), Event("knocked_out", 0)]
    assert lost_hands(before, events, options) == {0: ("o1", "o1")}


def test_a_card_that_makes_its_own_player_draw_is_not_in_the_lost_hand() -> None:
    options = PRESETS["no-mercy"]
    before = position_from_json(
        {"draw_pile": ["b1"], "discard_pile": ["y4"], "hands": [["WR4", "r3", "WR4"], ["r1"]], "turn": 0}, options
    )
    events = [
        Event("played", 0, "WR4", "r"),
        Event("drew", 0, amount=1, cards=("b1",), reason="debt"),
        Event("knocked_out", 0),
    ]
    assert {seat: sorted(hand) for seat, hand in lost_hands(before, events, options).items()} == {
        0: ["WR4", "b1", "r3"]
    }
