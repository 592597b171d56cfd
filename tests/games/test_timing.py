"""Test the clock of a turn: time bank, reminder, quiet hours, vacation and pauses."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta
from typing import Any

import pytest

from accounts.models import User
from accounts.rest import Rest, quiet_length
from games.actions.play import play_move
from games.models import Game
from games.models.paces import CUSTOM, LIMITS, PACES, custom_pace, span
from games.models.rows import lock_row
from games.queries import Table, Viewer
from tests.support.tables import NOON, TWO_HANDS, now_of, table_at

HOUR = timedelta(hours=1)


def after_the_move(alice: User, bob: User, **fields: Any) -> Table:
    """Return the table after Alice's move, at the start of Bob's turn."""
    table = table_at(TWO_HANDS, [alice, bob], **fields)
    play_move(code=table.game.code, viewer=Viewer(alice), text="play r5", version=0, now=NOON)
    return now_of(table)


def resting(user: User, **fields: object) -> None:
    User.objects.filter(pk=user.pk).update(**fields)


@pytest.mark.django_db
def test_a_turn_s_player_is_reminded_when_a_fifth_of_the_time_is_left(alice: User, bob: User) -> None:
    game = after_the_move(alice, bob).game
    assert game.deadline == NOON + 48 * HOUR
    assert game.turn_since == NOON
    assert game.remind_at == NOON + timedelta(hours=38, minutes=24)


@pytest.mark.django_db
def test_nobody_is_reminded_at_a_live_table(alice: User, bob: User) -> None:
    game = after_the_move(alice, bob, pace="live").game
    assert (game.deadline, game.remind_at) == (NOON + timedelta(seconds=60), None)


@pytest.mark.django_db
def test_a_bot_on_turn_has_no_clock(alice: User) -> None:
    table = table_at(TWO_HANDS, [alice, "careful"], deadline=NOON + HOUR, remind_at=NOON, turn_since=NOON)
    play_move(code=table.game.code, viewer=Viewer(alice), text="play r5", version=0, now=NOON)
    game = now_of(table).game
    assert (game.deadline, game.remind_at, game.turn_since) == (None, None, None)


@pytest.mark.django_db
def test_a_custom_pace_gives_its_own_time(alice: User, bob: User) -> None:
    numbers = {"bank": 7200, "increment": 3600, "cap": 10_800, "callout": 60}
    game = after_the_move(alice, bob, pace="custom", custom_pace=numbers).game
    assert game.deadline == NOON + 3 * HOUR  # the seats of these tables begin with a day: the cap holds
    assert game.terms.help == "2 h at the start, 1 h added per turn (3 h for the first), at most 3 h"


@pytest.mark.django_db
def test_a_deadline_in_the_night_moves_to_the_morning(alice: User, bob: User) -> None:
    resting(bob, time_zone="Europe/Helsinki", quiet_from=time(13), quiet_to=time(16))  # 11:00 to 14:00 UTC
    game = after_the_move(alice, bob).game
    assert game.deadline == NOON + 50 * HOUR
    assert game.quiet_given == 2 * 3600


@pytest.mark.django_db
def test_time_from_quiet_hours_is_not_banked(alice: User, bob: User) -> None:
    table = table_at(TWO_HANDS, [alice, bob], deadline=NOON + 5 * HOUR, quiet_given=2 * 3600, turn_since=NOON)
    play_move(code=table.game.code, viewer=Viewer(alice), text="play r5", version=0, now=NOON)
    assert now_of(table).seats[0].bank == 3 * 3600


@pytest.mark.django_db
def test_a_turn_that_begins_on_vacation_runs_from_its_end(alice: User, bob: User) -> None:
    resting(bob, vacation_from=NOON - HOUR, vacation_until=NOON + 100 * HOUR)
    game = after_the_move(alice, bob).game
    assert game.turn_since == NOON + 100 * HOUR
    assert game.deadline == NOON + 148 * HOUR


@pytest.mark.django_db
def test_vacation_time_is_not_banked(alice: User, bob: User) -> None:
    resting(alice, vacation_from=NOON - HOUR, vacation_until=NOON + 100 * HOUR)
    table = table_at(TWO_HANDS, [alice, bob], deadline=NOON + 105 * HOUR, turn_since=NOON + 100 * HOUR)
    play_move(code=table.game.code, viewer=Viewer(alice), text="play r5", version=0, now=NOON)
    assert now_of(table).seats[0].bank == 5 * 3600


@pytest.mark.django_db
@pytest.mark.parametrize(
    "fields", [{"vacation_until": NOON + 9 * HOUR}, {"quiet_from": time(11), "quiet_to": time(14)}]
)
def test_a_live_table_ignores_vacations_and_quiet_hours(alice: User, bob: User, fields: dict[str, object]) -> None:
    resting(bob, **fields)
    assert after_the_move(alice, bob, pace="live").game.deadline == NOON + timedelta(seconds=60)


@pytest.mark.django_db
def test_one_turn_gets_at_most_12_hours_from_quiet_hours(alice: User, bob: User) -> None:
    resting(bob, quiet_from=time(11), quiet_to=time(10))  # stored before vacations had a maximum length
    game = after_the_move(alice, bob).game
    assert game.deadline == NOON + 60 * HOUR
    assert game.quiet_given == 12 * 3600


def utc(day: int, hour: int, minute: int = 0, month: int = 11) -> datetime:
    return datetime(2026, month, day, hour, minute, tzinfo=UTC)


NIGHT = ("Europe/Helsinki", time(22), time(7), None, None)


@pytest.mark.parametrize(
    ("rest", "moment", "end"),
    [
        (NIGHT, utc(21, 19, 59), utc(21, 19, 59)),
        (NIGHT, utc(21, 20), utc(22, 5)),
        (NIGHT, utc(22, 4, 59), utc(22, 5)),
        (NIGHT, utc(22, 5), utc(22, 5)),
        (("UTC", time(13), time(14), None, None), utc(21, 13, 30), utc(21, 14)),
        (("America/New_York", time(22), time(7), None, None), utc(22, 11, 59), utc(22, 12)),
        (("UTC", None, None, None, None), utc(21, 3), utc(21, 3)),
        # The clocks of Helsinki go from 3:00 to 4:00 on 29 March, and from 4:00 to 3:00 on 25 October.
        (("Europe/Helsinki", time(22), time(3, 30), None, None), utc(29, 1, 10, 3), utc(29, 1, 30, 3)),
        (("Europe/Helsinki", time(22), time(3, 30), None, None), utc(25, 0, 29, 10), utc(25, 0, 30, 10)),
        (("Europe/Helsinki", time(22), time(3, 30), None, None), utc(25, 1, 29, 10), utc(25, 1, 29, 10)),
    ],
)
def test_quiet_hours_end_in_their_owner_s_time_zone(
    rest: tuple[str, time | None, time | None, None, None], moment: datetime, end: datetime
) -> None:
    assert Rest(*rest).quiet_end(moment) == end


def test_quiet_hours_can_span_midnight() -> None:
    assert quiet_length(time(22), time(7)) == 9 * HOUR
    assert quiet_length(time(7), time(7)) == 24 * HOUR


def pace(**changes: object) -> dict[str, object]:
    return {"bank": 3600, "increment": 3600, "cap": 7200, "callout": 600, **changes}


@pytest.mark.parametrize(
    ("numbers", "says"),
    [
        (pace(bank=-1), "The bank of a pace must be 0 s to 30 days."),
        (pace(increment=9), "The increment of a pace must be 10 s to 14 days."),
        (pace(cap=True), "The cap of a pace must be 10 s to 60 days."),
        (pace(callout="8"), "The callout of a pace must be 5 s to 14 days."),
        (pace(cap=1800), "The cap of a pace cannot be less than its bank or its increment."),
        (pace(callout=7201), "The callout time of a pace cannot be more than its cap."),
        ({"bank": 1}, "A custom pace has the numbers bank, increment, cap, callout, in seconds."),
        (pace(more=1), "A custom pace has the numbers bank, increment, cap, callout, in seconds."),
    ],
)
def test_a_custom_pace_has_limits(numbers: dict[str, object], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        custom_pace(numbers)


def test_preset_paces_are_within_the_limits_of_custom_paces() -> None:
    for preset in PACES.values():
        numbers = {name: getattr(preset, name) for name in LIMITS}
        made = custom_pace(numbers)
        assert {name: getattr(made, name) for name in LIMITS} == numbers
        assert made.name == CUSTOM


def test_a_duration_is_shown_in_its_largest_unit() -> None:
    assert [span(n) for n in (0, 90, 120, 7200, 86_400, 172_800)] == ["0 s", "90 s", "2 min", "2 h", "1 day", "2 days"]


@pytest.mark.django_db
def test_a_loaded_game_has_the_skew_of_the_database_s_clock(alice: User, bob: User) -> None:
    game = lock_row("pk", table_at(TWO_HANDS, [alice, bob]).game.pk)
    assert game is not None
    assert abs(game.skew) < timedelta(seconds=5)
    assert Game.objects.get(pk=game.pk).skew == timedelta()
