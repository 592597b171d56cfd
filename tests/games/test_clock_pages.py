"""Test clocks on pages and in the API: pauses, seats that bots took over, custom clocks and time off."""

from __future__ import annotations

from datetime import time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.db import transaction
from django.test import Client
from django.utils import timezone

from accounts.models import User
from games import queries
from games.actions import seating, timeouts
from games.actions.rematch import ask_rematch
from games.clocks import pausing, quiet_hours
from games.locks import lock_game
from games.models import Game, Seat
from games.queries import Table, Viewer
from tests.conftest import logged_in
from tests.support.api import Program, refusal
from tests.support.pages import CHOICES, Page, text_of, words_of
from tests.support.tables import NOON, TWO_HANDS, now_of, table_at

pytestmark = pytest.mark.django_db

DAY = timedelta(days=1)
REST = "/accounts/me/rest/"
CLOCK = {"bank": 7200, "increment": 1800, "cap": 10_800, "callout": 600}


@pytest.fixture
def table(alice: User, bob: User) -> Table:
    return table_at(TWO_HANDS, [alice, bob], deadline=timezone.now() + 2 * DAY)


def page(browser: Client, table: Table) -> str:
    answer = browser.get(table.game.get_absolute_url())
    assert answer.status_code == 200
    return text_of(answer)


def press(browser: Client, table: Table, act: str) -> int:
    return browser.post(f"/games/{table.game.code}/{act}/").status_code


def by_staff(table: Table, *, pause: bool = False, seat: int | None = None) -> None:
    with transaction.atomic():
        here = queries.load(lock_game(pk=table.game.pk))
        if pause:
            pausing.pause(here, reason="staff", now=timezone.now())
        if seat is not None:
            seating.replace_by_bot(here, seat=seat, now=timezone.now())


def test_two_players_pause_and_resume_with_buttons(table: Table, as_alice: Client, as_bob: Client) -> None:
    assert "Ask for a pause" in page(as_alice, table)
    assert press(as_alice, table, "pause") == 303
    assert "You have asked for a pause; bob has not agreed yet." in page(as_alice, table)
    assert "alice wants to pause the game." in page(as_bob, table)
    assert press(as_bob, table, "pause") == 303
    paused = Page(as_alice.get(table.game.get_absolute_url()))
    assert "The players have agreed to pause the game. You will have 47 h left when it resumes." in paused.text
    assert words_of(paused.one("h1")) == "Paused: your turn"
    assert not paused.has(id="draw")
    home = Page(as_alice.get("/")).text
    assert "No game needs you." in home
    assert "Paused: your turn" in home
    assert press(as_bob, table, "go-on") == 303
    assert now_of(table).game.deadline is not None
    assert "Your turn" in page(as_alice, table)


def test_a_vote_for_a_pause_can_be_withdrawn_and_one_person_among_bots_pauses_alone(
    table: Table, as_alice: Client, alice: User
) -> None:
    press(as_alice, table, "pause")
    assert "Withdraw" in page(as_alice, table)
    assert press(as_alice, table, "go-on") == 303
    assert now_of(table).game.pause_votes == []
    table = table_at(TWO_HANDS, [alice, "careful"], deadline=timezone.now() + DAY)
    assert "Pause the game" in page(as_alice, table)
    press(as_alice, table, "pause")
    assert now_of(table).game.paused_reasons == ["consent"]


def test_a_pause_by_staff_is_seen_by_all_and_ended_by_no_player(table: Table, charlie: User, as_alice: Client) -> None:
    by_staff(table, pause=True)
    browser = logged_in(charlie)
    assert "bob" not in Page(browser.get(table.game.get_absolute_url())).part("headline")
    assert "Staff have paused the game. alice will have 47 h left when it resumes." in page(browser, table)
    assert press(browser, table, "pause") == 403
    by_staff(table, pause=True)
    shown = Page(as_alice.get(table.game.get_absolute_url()))
    assert ("Staff have paused the game." in shown.text, shown.has(id="do-go-on")) == (True, False)
    assert press(as_alice, table, "go-on") == 403
    move = as_alice.post(f"/games/{table.game.code}/move/", {"move": "play r5", "version": "0"})
    assert (move.status_code, "nobody can move until it resumes" in text_of(move)) == (409, True)


def test_an_owner_takes_a_seat_back_with_one_button(table: Table, as_alice: Client, as_bob: Client) -> None:
    by_staff(table, seat=0)
    mine, other, home = page(as_alice, table), page(as_bob, table), text_of(as_alice.get("/"))
    assert ("A bot is keeping your seat warm." in mine, "Take your seat back" in mine) == (True, True)
    assert ("a bot plays" in other, "Take your seat back" in other) == (True, False)
    assert ("No game needs you." in home, "A bot plays for you" in home) == (True, True)
    assert press(as_alice, table, "take-back") == 303
    assert "Your turn" in page(as_alice, table)
    assert Seat.objects.get(game=table.game, index=0).bot == ""


def test_a_seat_that_is_out_of_the_only_round_cannot_be_taken_back(alice: User, bob: User, as_alice: Client) -> None:
    here = table_at({**TWO_HANDS, "hands": [[], *TWO_HANDS["hands"]], "turn": 1, "out": [0]}, [alice, bob, "careful"])
    Seat.objects.filter(game=here.game, index=0).update(bot="careful")
    assert "A bot is keeping your seat warm." not in page(as_alice, here)
    Game.objects.filter(pk=here.game.pk).update(target=500)
    assert "A bot is keeping your seat warm." in page(as_alice, here)


def test_a_stack_that_the_clock_took_is_marked_in_the_log(alice: User, bob: User, as_bob: Client) -> None:
    owed = {**TWO_HANDS, "discard_pile": ["r+2"], "pending": {"total": 2, "value": 2}}
    here = table_at(owed, [alice, bob], deadline=NOON)
    assert timeouts.run_out(game_id=here.game.pk, now=NOON)
    assert "Time ran out. alice draws 2 cards and loses the turn." in page(as_bob, here)


def test_misses_and_vacations_are_shown_to_everyone(table: Table, alice: User, as_bob: Client) -> None:
    back = timezone.now() + 3 * DAY
    User.objects.filter(pk=alice.pk).update(vacation_until=back)
    Seat.objects.filter(game=table.game, index=0).update(misses=2)
    shown = page(as_bob, table)
    for said in (
        "missed 2 of 3 turns",
        f"alice is on vacation until {back:%a}.",
        "After 3 missed turns in a row, a bot takes the seat until",
    ):
        assert said in shown


def test_only_who_allows_it_is_shown_asleep_until_about_an_hour_of_the_reader(
    table: Table, alice: User, bob: User, as_bob: Client, as_alice: Client
) -> None:
    wakes = timezone.now() + 3 * DAY / 24
    hours = {"quiet_from": (wakes - DAY / 4).time(), "quiet_to": wakes.time()}
    User.objects.filter(pk=alice.pk).update(**hours)
    User.objects.filter(pk=bob.pk).update(time_zone="Asia/Tokyo")
    assert "asleep" not in page(as_bob, table)
    form = {"quiet_from": f"{hours['quiet_from']:%H:%M}", "quiet_to": f"{wakes:%H:%M}", "shows_sleep": "on"}
    assert as_alice.post(REST, form).status_code == 303
    about = (wakes + DAY / 48).astimezone(ZoneInfo("Asia/Tokyo"))
    seen = page(as_bob, table)
    assert seen.count(f"asleep until about {about:%H}:00") == 2  # her seat and, on her turn, a sentence
    assert "asleep" not in page(Client(), table)
    assert "asleep" not in page(as_alice, table)  # she is looking
    Seat.objects.filter(game=table.game, index=0).update(bot="careful")
    assert "asleep" not in page(as_bob, table)


# New tables

CUSTOM = {
    "pace": "custom", "clock_bank": "2 h", "clock_increment": "30 min", "clock_cap": "3 h", "clock_callout": "10 min",
    "misses_allowed": "2", "after_misses": "leave", "vacations": "0",
}  # fmt: skip
NEW = CHOICES | {"players": "2", "bots": "1"}


def test_a_table_can_have_a_custom_clock(as_alice: Client) -> None:
    assert as_alice.post("/tables/new/", {**NEW, **CUSTOM}).status_code == 303
    game = Game.objects.get()
    assert (game.custom_pace, game.misses_allowed, game.after_misses) == (CLOCK, 2, "leave")
    shown = text_of(as_alice.get(game.get_absolute_url()))
    assert "Custom pace: 2 h at the start, 30 min added per turn (150 min for the first), at most 3 h." in shown
    assert "After 2 missed turns in a row, the player leaves the game." in shown
    assert "No vacations at this table." in shown
    assert "Custom pace · no vacations" in text_of(as_alice.get("/"))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"clock_bank": "soon"}, "Write a number and a unit: 90 s, 10 min, 2 h or 3 days."),
        ({"clock_bank": ""}, "The custom pace needs this time."),
        ({"clock_cap": "1 min"}, "Choose at least 2 h, the longer of the two times above."),
        ({"clock_increment": "1 s"}, "Choose 10 s to 14 days."),
        ({"clock_callout": "4 h"}, "Choose at most 3 h, the longest turn."),
        ({"misses_allowed": "11"}, "less than or equal to 10"),
        ({"after_misses": "shout"}, "Select a valid choice"),
    ],
)
def test_an_invalid_clock_is_shown_on_the_form(as_alice: Client, change: dict[str, str], says: str) -> None:
    answer = as_alice.post("/tables/new/", {**NEW, **CUSTOM, **change})
    assert (answer.status_code, says in text_of(answer), Game.objects.count()) == (422, True, 0)


def test_a_rematch_keeps_the_clock(alice: User, bob: User) -> None:
    table = table_at(TWO_HANDS, [alice, bob], pace="custom", custom_pace=CLOCK, misses_allowed=5, vacations=False)
    Game.objects.filter(pk=table.game.pk).update(status=Game.Status.OVER)
    again = ask_rematch(code=table.game.code, viewer=Viewer(alice), now=NOON).game
    assert (again.pace, again.custom_pace, again.misses_allowed, again.vacations) == ("custom", CLOCK, 5, False)


# The API


def test_the_api_shows_and_pauses_the_clock(table: Table, alice: User, bob: User) -> None:
    path, a, b = f"games/{table.game.code}", Program(alice), Program(bob)
    clock = a.get(f"{path}/clock").json()
    assert (clock["pace"], clock["increment"], clock["paused"]) == ("standard", 86_400, [])
    assert [program.post(f"{path}/pause").status_code for program in (a, b)] == [200, 200]
    clock = b.get(f"{path}/clock").json()
    assert (clock["paused"], clock["deadline"], round(clock["time_left"] / 3600)) == (["consent"], None, 48)
    assert refusal(a.move(table.game.code, "play r5")) == (409, "paused")
    assert "play r5" in a.post(f"{path}/resume").json()["legal"]


def test_the_api_takes_a_seat_back(table: Table, alice: User) -> None:
    by_staff(table, seat=0)
    path, a = f"games/{table.game.code}", Program(alice)
    refused = a.move(table.game.code, "play r5")
    assert (refusal(refused), refused.json()["rule"]) == ((409, "bot_plays"), "CLOCK-3")
    view = a.get(path).json()
    assert (view["legal"], view["seats"][0]["bot"]) == ([], True)
    assert a.post(f"{path}/take-back").json()["legal"] != []


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"pace": "custom"}, "Give clock settings"),
        ({"clock": {"bank": 0, "increment": 60, "cap": 60, "callout": 8}}, "Give clock settings"),
        ({"pace": "custom", "clock": {"bank": 0, "increment": 1, "cap": 60, "callout": 8}}, "increment"),
        ({"pace": "glacial"}, "The pace must be one of: live, fast, standard, slow, custom."),
        ({"misses_allowed": 0}, "1 to 10 missed turns"),
        ({"after_misses": "shout"}, "bot, leave"),
    ],
)
def test_the_api_refuses_an_invalid_clock(alice: User, change: dict[str, Any], says: str) -> None:
    refused = Program(alice).post("games", {"players": 2, "bots": 1, **change})
    assert (refusal(refused), says in refused.json()["message"]) == ((400, "malformed"), True)


def test_the_api_creates_tables_with_custom_clocks(alice: User) -> None:
    clock, a = {"bank": 0, "increment": 90, "cap": 90, "callout": 10}, Program(alice)
    made = a.post("games", {"players": 2, "bots": 1, "pace": "custom", "clock": clock, "vacations": False})
    assert (made.status_code, made.json()["vacations"]) == (201, False)
    told = a.get(f"games/{made.json()['id']}/clock").json()
    assert {name: told[name] for name in clock} == clock


# Time off


def test_quiet_hours_are_set_in_the_person_s_time_zone(as_alice: Client, alice: User) -> None:
    def stored() -> tuple[object, ...]:
        alice.refresh_from_db()
        return alice.quiet_from, alice.quiet_to, alice.auto_vacation

    User.objects.filter(pk=alice.pk).update(time_zone="Asia/Tokyo")
    assert "Asia/Tokyo" in text_of(as_alice.get(REST))
    assert as_alice.post(REST, {"quiet_from": "22:30", "quiet_to": "07:00", "auto_vacation": "on"}).status_code == 303
    assert stored() == (time(22, 30), time(7), True)
    assert Page(as_alice.get(REST)).field("quiet_from") == "22:30"
    as_alice.post(REST, {"quiet_from": "", "quiet_to": ""})
    assert stored() == (None, None, False)


@pytest.mark.parametrize(
    ("start", "end", "says"),
    [
        ("07:00", "07:00", "at most"),
        ("08:00", "20:01", "12 hours at most"),
        ("22:00", "", "Enter both times"),
        ("", "07:00", "Enter both times"),
        ("25:00", "07:00", "Enter a valid time."),
    ],
)
def test_invalid_quiet_hours_are_refused(as_alice: Client, alice: User, start: str, end: str, says: str) -> None:
    answer = as_alice.post(REST, {"quiet_from": start, "quiet_to": end})
    alice.refresh_from_db()
    assert (answer.status_code, says in text_of(answer), alice.quiet_from) == (422, True, None)


def test_a_vacation_starts_and_ends_with_buttons(table: Table, as_alice: Client, alice: User) -> None:
    before = now_of(table).game.deadline
    assert "You have 28 days" in words(as_alice)
    assert as_alice.post(f"{REST}vacation/", {"days": "3"}).status_code == 303
    quiet_hours.follow_time_off(user_id=alice.pk, now=timezone.now())
    after = now_of(table).game.deadline
    assert before is not None
    assert after is not None
    assert timedelta(seconds=-5) < after - before - 3 * DAY < timedelta(seconds=5)
    assert "You are on vacation until" in words(as_alice)
    assert "Come back early?" in text_of(as_alice.get("/"))
    assert "2 vacation days returned" in text_of(as_alice.post(f"{REST}vacation/end/", follow=True))
    assert "You have 27 days" in words(as_alice)
    assert "Come back early?" not in text_of(as_alice.get("/"))
    assert "not on vacation" in text_of(as_alice.post(f"{REST}vacation/end/", follow=True))


def words(browser: Client) -> str:
    """Return the text of the page about time off."""
    return Page(browser.get(REST)).text


@pytest.mark.parametrize(
    ("days", "says"), [("0", "greater than or equal to 1"), ("29", "Choose 1 to 28 days."), ("x", "whole number")]
)
def test_a_vacation_of_invalid_length_is_refused(as_alice: Client, days: str, says: str) -> None:
    answer = as_alice.post(f"{REST}vacation/", {"days": days})
    assert (answer.status_code, says in text_of(answer)) == (422, True)
