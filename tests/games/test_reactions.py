"""Test when bots react to a card: after a human time at live tables, and never out of turn at the other paces."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest

from accounts.models import User
from games import announce, bots
from games.actions import lobby, seating, sweep
from games.actions.bot_turn import EARLY, play_bots
from games.clocks import pausing
from games.clocks.bot_times import STRAIGHT_SECONDS, human_time
from games.models import Game
from games.queries import Table
from games.queries.verify import faults_of
from tests.support.clocks import SECOND, locked, move
from tests.support.races import INTERCEPTION, RACE, RACING, STRAIGHT
from tests.support.tables import NOON, SECRET, log_of, now_of, table_at

pytestmark = pytest.mark.django_db

HANDS = [["r4", "r9", "y9"], ["r5", "g5"], ["b4", "b9"]]
"""Seat 2 can intercept the red 4 that seat 0 plays."""
WAITED = timedelta(seconds=1)
"""More than a test waits for a lock."""

LATER = timedelta(seconds=STRAIGHT_SECONDS)
"""How much longer bots wait while a straight is open."""


@pytest.fixture(autouse=True)
def asked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return the list of games for which the worker is asked to move bots."""
    games: list[int] = []
    monkeypatch.setattr(announce, "wake_bots", lambda game_id, wake_at: games.append(game_id))
    return games


@pytest.fixture
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let careful bots make the first move they are offered."""
    monkeypatch.setattr(type(bots.BOTS["careful"]), "choose", lambda self, view, legal, rng: legal[0])


def run_bots(table: Table, at: datetime) -> int | None:
    return play_bots(game_id=table.game.pk, clock=lambda: at, rng=random.Random(1), most=1)


def run_at_wake(table: Table) -> datetime:
    """Run the bots at the moment stored for them, and return it."""
    at = now_of(table).game.wake_at
    assert at is not None
    run_bots(table, at)
    return at


def reactions(table: Table) -> dict[int, datetime]:
    """Return when the bots of seats react, by seat."""
    return {seat: at for seat, at in enumerate(now_of(table).game.react_at) if at is not None}


def assert_reacts(table: Table, *seats: int, later: timedelta = timedelta()) -> None:
    """Assert that only the bots of these seats react to the last line, made at noon, so much later than a person."""
    game = now_of(table).game
    assert set(reactions(table)) == set(seats)
    for seat, at in reactions(table).items():
        assert NOON <= at - human_time(SECRET, game.version, seat) - later < NOON + WAITED


def intercepting(*people: User | str, hands: list[list[str]] = HANDS, **fields: Any) -> Table:
    return table_at({**INTERCEPTION, "hands": hands}, people, **{**RACING, **fields})


def test_a_bot_needs_0_6_to_1_8_seconds_and_at_least_2_in_a_straight() -> None:
    times = [
        human_time(bytes([game]), version, seat) for game in range(10) for version in range(20) for seat in range(5)
    ]
    assert min(times) - EARLY >= timedelta(seconds=0.6)
    assert min(times) + LATER - EARLY >= 2 * SECOND
    assert max(times) <= timedelta(seconds=1.8)
    assert len(set(times)) > 900
    assert human_time(SECRET, 3, 1) == human_time(SECRET, 3, 1)


def test_bots_press_the_buzzer_one_by_one(alice: User, bob: User) -> None:
    hands = [["BZ", "r4", "r5"], ["r1", "g2"], ["b4", "b3"], ["g8", "y3"]]
    position = {**RACE, "hands": hands, "phase": "play", "buzz": None, "discard_pile": ["r3"]}
    table = table_at(position, [alice, "careful", "sharp", bob], **RACING)
    move(table, alice, "play BZ")
    assert_reacts(table, 1, 2)
    react_at = reactions(table)
    assert now_of(table).game.wake_at == min(react_at.values())
    assert run_bots(table, NOON + timedelta(seconds=0.59)) == 0
    assert [run_at_wake(table), run_at_wake(table)] == sorted(react_at.values())
    pressed = sorted(react_at, key=react_at.__getitem__)
    assert log_of(table) == ["0 play BZ", *(f"{seat} buzz" for seat in pressed)]
    assert (now_of(table).game.wake_at, now_of(table).game.react_at) == (None, [])


def test_a_bot_can_be_the_slowest(alice: User, bob: User) -> None:
    table = table_at(RACE, [alice, "careful", bob], **RACING, react_at=[None, NOON + SECOND, None], wake_at=NOON)
    for user in (alice, bob):
        move(table, user, "buzz")
    after = now_of(table)
    assert (after.started.position.phase, len(after.started.position.hands[1]), after.game.react_at) == ("play", 4, [])


def test_only_bots_that_hold_a_fitting_card_react(alice: User) -> None:
    table = intercepting(alice, "careful", "careful", bot_pause=3.0)
    move(table, alice, "play r4")
    assert_reacts(table, 2, later=LATER)
    game = now_of(table).game
    assert (game.bots_move_at, game.wake_at) == (NOON + 3 * SECOND + LATER, reactions(table)[2])


@pytest.mark.parametrize(("pause", "waits"), [(1.0, 2.4), (0.2, 2.05), (0.0, 0.0)])
def test_a_bot_waits_before_it_ends_a_straight(alice: User, bob: User, pause: float, waits: float) -> None:
    table = table_at(STRAIGHT, [alice, "careful", bob], **RACING, bot_pause=pause)
    move(table, alice, "play r4")
    assert now_of(table).game.wake_at == NOON + timedelta(seconds=waits)
    move(table, alice, "play r5", at=NOON + SECOND)
    assert now_of(table).game.wake_at == NOON + SECOND + timedelta(seconds=waits)


def test_a_bot_does_not_wait_longer_without_a_straight(alice: User, bob: User) -> None:
    hands = [["rS", "r5", "b9"], ["g2", "y3"], ["b4", "b3"]]
    table = table_at({**STRAIGHT, "hands": hands}, [alice, bob, "careful"], **RACING, bot_pause=1.0)
    move(table, alice, "play rS")
    assert now_of(table).game.wake_at == NOON + SECOND


def test_bots_do_not_react_at_other_paces(alice: User) -> None:
    table = intercepting(alice, "careful", "careful", bot_pause=3.0, pace="standard", options={})
    move(table, alice, "play r4")
    game = now_of(table).game
    assert (game.react_at, game.bots_move_at, game.wake_at) == ([], None, NOON + 3 * SECOND)


@pytest.mark.usefixtures("eager")
def test_a_bot_intercepts_before_the_bot_on_turn_moves(alice: User) -> None:
    table = intercepting(alice, "careful", "careful", bot_pause=3.0)
    move(table, alice, "play r4")
    run_at_wake(table)
    assert log_of(table) == ["0 play r4", "2 play b4"]


def test_a_bot_that_declines_is_not_asked_again(alice: User, monkeypatch: pytest.MonkeyPatch, asked: list[int]) -> None:
    monkeypatch.setattr(type(bots.BOTS["careful"]), "choose", lambda self, view, legal, rng: None)
    table = intercepting(alice, "sharp", "careful", bot_pause=3.0)
    move(table, alice, "play r4")
    asked.clear()
    run_at_wake(table)
    game = now_of(table).game
    assert (log_of(table), game.wake_at, game.react_at) == (["0 play r4"], NOON + 3 * SECOND + LATER, [])
    assert asked == [table.game.pk]  # for the bot on turn
    run_at_wake(table)
    assert [line[0] for line in log_of(table)] == ["0", "1"]


def test_calls_and_presses_do_not_change_when_bots_react(alice: User, bob: User) -> None:
    table = intercepting(alice, bob, "careful", hands=[["r4", "r9"], ["r5", "g5"], ["b4", "b9", "r8"]])
    move(table, alice, "play r4")
    before = reactions(table)
    move(table, alice, "uno", at=NOON + SECOND / 2)
    assert reactions(table) == before
    assert now_of(table).game.wake_at == before[2]


@pytest.mark.usefixtures("eager")
def test_a_bot_goes_on_with_its_straight_at_a_live_table(alice: User) -> None:
    hands = [*STRAIGHT["hands"][:2], ["b1", "b2"]]  # nobody can intercept
    table = table_at({**STRAIGHT, "hands": hands}, ["careful", alice, "random"], **RACING, wake_at=NOON)
    run_at_wake(table)
    assert_reacts(table, 0)
    run_at_wake(table)
    run_at_wake(table)
    assert log_of(table) == ["0 play r4", "0 play r5", "0 play r6"]


def pause_and_resume(table: Table) -> None:
    locked(table, lambda here: pausing.pause(here, reason=Game.PAUSED_BY_STAFF, now=NOON))
    assert now_of(table).game.react_at == []
    locked(table, lambda here: pausing.resume(here, reason=Game.PAUSED_BY_STAFF, now=NOON))


def test_bots_react_after_a_pause_as_if_the_card_had_just_been_played(alice: User, bob: User) -> None:
    table = table_at(RACE, [alice, "careful", bob], **RACING, react_at=[None, NOON, None], wake_at=NOON)
    pause_and_resume(table)
    assert_reacts(table, 1)


@pytest.mark.usefixtures("eager")
def test_a_bot_sends_its_straight_with_its_play_at_other_paces(alice: User, bob: User) -> None:
    table = table_at(STRAIGHT, ["careful", alice, bob], preset="house-party", wake_at=NOON)
    assert run_bots(table, NOON) == 3
    assert log_of(table) == ["0 play r4", "0 play r5", "0 play r6"]


def test_a_bot_that_takes_a_seat_during_a_race_presses(alice: User, bob: User, charlie: User) -> None:
    table = table_at(RACE, [alice, bob, charlie], **RACING)
    locked(table, lambda here: seating.replace_by_bot(here, seat=1, now=NOON))
    assert_reacts(table, 1)
    run_at_wake(table)
    assert log_of(table) == ["1 buzz"]


def test_the_sweep_finds_a_reaction_whose_task_was_lost(alice: User, bob: User, asked: list[int]) -> None:
    table = intercepting(alice, bob, "careful")
    move(table, alice, "play r4")
    asked.clear()
    assert sweep.sweep(clock=lambda: NOON + 4 * SECOND).asked == 1
    assert asked == [table.game.pk]


def test_bots_alone_react_at_once(alice: User) -> None:
    position = {**RACE, "hands": [["r4", "r5"], ["r1", "g2"], []], "out": [2]}
    table = table_at(position, ["careful", "sharp", alice], **RACING)
    pause_and_resume(table)
    assert set(reactions(table)) == {0, 1}
    assert max(reactions(table).values()) < NOON + WAITED / 2


@pytest.mark.long
@pytest.mark.parametrize(("pace", "options"), [("live", {"buzzers": "race"}), ("fast", {})])
@pytest.mark.django_db(transaction=True)
def test_games_of_bots_are_played_to_the_end(alice: User, pace: str, options: dict[str, object]) -> None:
    chosen = lobby.TableChoices(
        preset="house-party", options=options, players=4, bots=3, pace=pace, bot="random", bot_pause=0.0
    )
    table = lobby.create_table(user=alice, choices=chosen, now=NOON)
    locked(table, lambda here: seating.replace_by_bot(here, seat=0, now=NOON, bot="careful"))
    rng, at = random.Random(1), NOON
    while now_of(table).game.status == Game.Status.PLAYING:
        at += SECOND
        assert play_bots(game_id=table.game.pk, clock=partial(datetime.fromtimestamp, at.timestamp(), UTC), rng=rng)
    assert now_of(table).game.status == Game.Status.OVER
    assert faults_of(table.game.pk) == []
