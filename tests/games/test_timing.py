"""Test the clock of a turn: time bank, reminder, quiet hours, vacation and pauses."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta

import pytest

from accounts.models import User
from accounts.time_off import TimeOff, quiet_length
from games.models import Game
from games.models.paces import CUSTOM, LIMITS, PACES, custom_pace, span
from games.models.rows import lock_row
from tests.support.clocks import HOUR, SECOND, move
from tests.support.tables import NOON, TWO_HANDS, now_of, table_at

NAPS = {"quiet_from": time(11), "quiet_to": time(14)}


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("pace", "rest", "seconds", "given", "reminded"),
    [
        ("standard", {}, 48 * 3600, 0, 0.8 * 48 * HOUR),
        (
            "standard",
            {"time_zone": "Europe/Helsinki", "quiet_from": time(13), "quiet_to": time(16)},
            50 * 3600,
            7200,
            0.8 * 50 * HOUR,
        ),
        # One turn gets at most 12 hours from quiet hours. These were stored before they had a maximum length.
        ("standard", {"quiet_from": time(11), "quiet_to": time(10)}, 60 * 3600, 12 * 3600, 46.75 * HOUR),
        ("live", {}, 60, 0, None),
        ("live", {"vacation_until": NOON + 9 * HOUR}, 60, 0, None),
        ("live", NAPS, 60, 0, None),
    ],
)
def test_a_turn_has_the_time_of_its_pace_and_quiet_hours_of_slow_tables(
    alice: User, bob: User, pace: str, rest: dict[str, object], seconds: int, given: int, reminded: timedelta | None
) -> None:
    User.objects.filter(pk=bob.pk).update(**rest)
    game = move(table_at(TWO_HANDS, [alice, bob], pace=pace), alice, "play r5").game
    assert (game.deadline, game.turn_since, game.quiet_seconds_added) == (NOON + seconds * SECOND, NOON, given)
    # Players are reminded when a fifth of the time is left, or before quiet hours, and not at live tables.
    assert game.remind_at == (NOON + reminded if reminded else None)


@pytest.mark.django_db
def test_a_bot_on_turn_has_no_clock(alice: User) -> None:
    table = table_at(TWO_HANDS, [alice, "careful"], deadline=NOON + HOUR, remind_at=NOON, turn_since=NOON)
    game = move(table, alice, "play r5").game
    assert (game.deadline, game.remind_at, game.turn_since) == (None, None, None)


@pytest.mark.django_db
def test_a_custom_pace_gives_its_own_time(alice: User, bob: User) -> None:
    numbers = {"bank": 7200, "increment": 3600, "cap": 10_800, "callout": 60}
    game = move(table_at(TWO_HANDS, [alice, bob], pace="custom", custom_pace=numbers), alice, "play r5").game
    assert game.deadline == NOON + 3 * HOUR  # the seats of these tables begin with a day: the cap holds
    assert game.terms.help == "2 h at the start, 1 h added per turn (3 h for the first), at most 3 h"


@pytest.mark.django_db
def test_time_from_quiet_hours_is_not_banked(alice: User, bob: User) -> None:
    table = table_at(TWO_HANDS, [alice, bob], deadline=NOON + 5 * HOUR, quiet_seconds_added=2 * 3600, turn_since=NOON)
    move(table, alice, "play r5")
    assert now_of(table).seats[0].bank == 3 * 3600


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
    assert TimeOff(*rest).quiet_end(moment) == end


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
