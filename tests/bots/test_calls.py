"""UNO calls and catches."""

from __future__ import annotations

from random import Random

import pytest

from games.bots import BOTS
from games.bots.calls import turn_moves, with_call
from games.rules import PRESETS, Shuffler, apply, deal, key_from_seed, legal_moves, options_from, view_for
from tests.bots.tables import NO_MERCY, choices, move, seen


@pytest.mark.parametrize(
    ("hands", "text", "called"),
    [
        (("r7 b1", "g1 g2"), "play r7 swap 1", False),
        (("r7 b1 b2 b3", "g1"), "play r7 swap 1", True),
        (("r0 b1", "g1 g2 g3"), "play r0", False),
        (("r0 b1 b2", "g1"), "play r0", True),
        (("rD r1 r2 b1", "g1 g2"), "play rD", True),
        (("rD r1 r2", "g1 g2"), "play rD", False),
        (("r1 b1", "g1 g2"), "play r1", True),
        (("r1", "g1 g2"), "play r1", False),
        (("r1 b1", "g1 g2"), "draw", False),
    ],
)
def test_uno_is_called_with_a_play_that_leaves_one_card(hands: tuple[str, ...], text: str, called: bool) -> None:
    view, _ = seen(*hands)
    assert with_call(view, move(text)).uno is called


def test_with_call_knows_the_hand_that_a_0_brings() -> None:
    view, _ = seen("r0 b1 b2", "g1 g2 g3", "y1", direction=1)
    assert with_call(view, move("play r0")).uno
    view, _ = seen("r0 b1 b2", "g1 g2 g3", "y1", direction=-1)
    assert not with_call(view, move("play r0")).uno


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("players", [2, 4])
def test_a_call_with_the_play_prevents_a_catch_and_is_never_wasted(preset: str, players: int) -> None:
    options = options_from(preset, {"zero_seven": True, "hand_size": 3})
    calls = 0
    for game in range(20):
        rng, shuffle = Random(game), Shuffler(key_from_seed(f"calls {game}")).shuffle
        position = deal(options, players, shuffle)
        while position.phase != "over":
            seat = position.turn
            listed = turn_moves(legal_moves(position, seat, options))
            plain = rng.choice([one for one in listed if one.kind != "draw"] or listed)
            chosen = with_call(view_for(position, seat, options), plain)
            position, events = apply(position, seat, chosen, options, shuffle)
            if position.phase != "over" and all(event.kind != "drew" for event in events):
                assert seat not in position.exposed
                assert not chosen.uno or seat in position.declared
                calls += chosen.uno
    assert calls > 10


def test_sharp_never_misses_a_call_or_a_catch() -> None:
    view, legal = seen("r9 g1", "b1 b2 b3")
    assert set(choices(BOTS["sharp"], view, legal, 4)) == {"play r9 uno"}
    view, legal = seen("r9 g1 g2", "b1", "b2 b3", exposed=(1,), seat=2)
    assert set(choices(BOTS["sharp"], view, legal, 20)) == {"catch 1"}
    view, legal = seen("r9 g1 g2", "b1", "b2 b3", exposed=(1,))
    assert set(choices(BOTS["sharp"], view, legal, 20)) == {"catch 1"}
    view, legal = seen("r9 g1 g2", "b1", "b2 b3", exposed=(1,), seat=1)
    assert set(choices(BOTS["sharp"], view, legal, 20)) == {"uno"}


def test_careful_sometimes_forgets_to_call() -> None:
    view, legal = seen("r9 g1", "b1 b2 b3")
    chosen = choices(BOTS["careful"], view, legal, 400)
    assert set(chosen) == {"play r9 uno", "play r9"}
    assert 20 <= chosen.count("play r9") <= 60


def test_random_often_forgets_to_call() -> None:
    view, legal = seen("r9 g1", "b1 b2 b3")
    plays = [move for move in choices(BOTS["random"], view, legal, 400) if move.startswith("play r9")]
    assert 0.4 <= plays.count("play r9") / len(plays) <= 0.6


def test_careful_usually_catches_and_sometimes_calls_late() -> None:
    view, legal = seen("r9 g1 g2", "b1", "b2 b3", exposed=(1,), seat=2)
    chosen = choices(BOTS["careful"], view, legal, 400)
    assert set(chosen) == {"catch 1", ""}
    assert 300 <= chosen.count("catch 1") <= 380
    view, legal = seen("r9 g1 g2", "b1", "b2 b3", exposed=(1,), seat=1)
    chosen = choices(BOTS["careful"], view, legal, 400)
    assert set(chosen) == {"uno", ""}
    assert 120 <= chosen.count("uno") <= 280


@pytest.mark.parametrize("name", BOTS)
def test_bots_make_no_false_catches(name: str) -> None:
    options = options_from("no-mercy", {"false_catch_penalty": 5})
    view, legal = seen("r9 g1 g2", "b1", "b2 b3", seat=2, options=options)
    assert [str(one) for one in legal] == ["catch 0", "catch 1"]
    assert set(choices(BOTS[name], view, legal, 30)) == {""}


@pytest.mark.parametrize("name", BOTS)
def test_bots_catch_only_players_who_can_be_caught(name: str) -> None:
    view, legal = seen("r9 g1 g2", "b1", "b2 b3", "y1", exposed=(3,), declared=(1,), seat=2, options=NO_MERCY)
    assert set(choices(BOTS[name], view, legal, 30)) <= {"catch 3", ""}
