"""Test what the clock does in a race for the buzzer, with a right to challenge, and with windows that stay open."""

from __future__ import annotations

import random
from datetime import timedelta

import pytest

from accounts.models import User
from games.actions import seating
from games.actions.bot_turn import play_bots
from games.models import Hand, Seat
from games.queries import Table
from tests.support.clocks import MINUTE, SECOND, due_table, locked, move, paused, refused, resumed, swept
from tests.support.races import RACE, RACING, STRAIGHT
from tests.support.tables import NOON, log_of, now_of, table_at

pytestmark = pytest.mark.django_db

CALLOUT = 8 * SECOND
"""The callout time of the pace Live."""

BEFORE_THE_RACE = {
    **RACE,
    "hands": [["BZ", "r4", "r5"], ["r1", "g2"], ["b4", "b3"]],
    "phase": "play",
    "buzz": None,
    "discard_pile": ["r3"],
}


@pytest.fixture
def race(alice: User, bob: User, charlie: User) -> Table:
    """Return a table where Alice has opened a race at noon, with 20 of her 60 seconds left."""
    table = table_at(BEFORE_THE_RACE, [alice, bob, charlie], **RACING, deadline=NOON + 20 * SECOND)
    Seat.objects.filter(game=table.game).update(bank=0)
    return move(table, alice, "play BZ")


def test_a_race_ends_after_the_callout_time(race: Table, bob: User) -> None:
    assert now_of(race).game.deadline == NOON + CALLOUT
    move(race, bob, "buzz", at=NOON + SECOND)
    assert now_of(race).game.deadline == NOON + CALLOUT  # a press changes no time
    swept(NOON + CALLOUT - SECOND / 10)
    assert now_of(race).started.position.phase == "buzz"
    swept(NOON + CALLOUT)
    after = now_of(race)
    assert log_of(race) == ["0 play BZ", "1 buzz", "0 clock buzz"]
    assert [len(hand) for hand in after.started.position.hands] == [2, 2, 4]  # the last in the order of play (BUZZ-2)
    assert after.game.deadline == NOON + CALLOUT + MINUTE
    assert [(seat.bank, seat.misses) for seat in after.seats] == [(20, 0), (0, 0), (0, 0)]  # it counts no miss


def test_a_race_that_times_out_is_no_missed_turn_and_saves_no_time(race: Table, alice: User, bob: User) -> None:
    for user in (alice, bob):
        move(race, user, "buzz", at=NOON + SECOND)
    after = now_of(race)
    assert (after.started.position.phase, after.started.position.turn) == ("play", 1)
    assert [seat.bank for seat in after.seats] == [20, 0, 0]
    assert after.game.deadline == NOON + SECOND + MINUTE


def test_a_race_that_a_bot_opens_times_out_too(alice: User, bob: User) -> None:
    hands = [["BZ"], *BEFORE_THE_RACE["hands"][1:]]
    table = table_at({**BEFORE_THE_RACE, "hands": hands}, ["careful", alice, bob], **RACING, wake_at=NOON)
    play_bots(game_id=table.game.pk, clock=lambda: NOON, rng=random.Random(1), most=1)
    assert (log_of(table), now_of(table).game.deadline) == (["0 play BZ"], NOON + CALLOUT)
    swept(NOON + CALLOUT)
    assert log_of(table)[-1] == "0 clock buzz"


def test_a_press_after_the_callout_time_lets_the_clock_act_first(race: Table, bob: User) -> None:
    swept(NOON)
    assert refused(lambda: move(race, bob, "buzz", at=NOON + CALLOUT))[0] == "no_buzz"
    assert log_of(race) == ["0 play BZ", "0 clock buzz"]


def test_a_pause_stops_a_race_and_a_change_of_seats_does_not(race: Table) -> None:
    locked(race, lambda here: seating.replace_by_bot(here, seat=0, now=NOON + SECOND))
    assert now_of(race).game.deadline == NOON + CALLOUT
    paused(race, at=NOON + 3 * SECOND)
    resumed(race, at=NOON + MINUTE)
    assert now_of(race).game.deadline == NOON + MINUTE + CALLOUT - 3 * SECOND


def test_the_clock_takes_and_never_challenges(alice: User, bob: User) -> None:
    position = {
        "draw_pile": ["b1", "b2", "y3", "g4", "b6", "y8", "g9", "r2"],
        "hands": [["r4", "r5"], ["g1", "g2"]],
        "turn": 1,
        "discard_pile": ["r3", "W4"],
        "color": "g",
        "pending": {"total": 4, "value": 4},
        "challenge": {"seat": 0, "bluff": True},
    }
    table = due_table(position, [alice, bob], preset="classic")
    swept()
    after = now_of(table).started.position
    assert log_of(table) == ["1 clock take"]
    assert (after.extra.challenge, len(after.hands[0]), len(after.hands[1])) == (None, 2, 6)


def test_a_window_that_outlasts_the_turn_is_closed_by_the_clock(alice: User, bob: User, charlie: User) -> None:
    position = {**STRAIGHT, "hands": [["r4", "r5"], ["b1"], ["b4", "b3", "g8"]], "exposed": [1]}
    table = due_table(position, [alice, bob, charlie], preset="house-party")  # whose windows stay open (CALL-1)
    Hand.objects.filter(seat=table.seats[1]).update(callout_until=NOON)
    swept(NOON - SECOND / 2)
    assert log_of(table) == ["0 clock draw"]
    swept(NOON)
    assert log_of(table)[1:] == ["1 clock uno"]
    late = due_table(position, [alice, bob, charlie], preset="house-party")
    Hand.objects.filter(seat=late.seats[1]).update(callout_until=NOON - timedelta(milliseconds=1))
    swept(NOON)
    assert log_of(late) == ["0 clock draw", "1 clock uno"]
