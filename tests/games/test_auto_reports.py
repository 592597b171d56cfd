"""Test the cases that the site opens itself: timeouts, early resignations, and two accounts in one browser."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import IntegrityError, connection
from django.test import Client
from django.utils import timezone

from accounts.actions import create_guest
from accounts.models import User
from games import queries
from games.actions import lobby
from games.actions.play import play_move
from games.models import BrowserMark, Case, Game, Move, Report, Seat
from games.queries import Table, Viewer
from games.refusals import Denied
from games.staff import accounts, auto_reports, cases, people, tables
from games.web.forms import NewTableForm
from tests.conftest import api_token, logged_in, person
from tests.support.codes import staff_browser
from tests.support.pages import open_table, text_of
from tests.support.tables import NOON, TWO_HANDS, table_at

REASON = "Seen in the log of the game"


@pytest.fixture
def table(alice: User, bob: User) -> Table:
    return table_at(TWO_HANDS, [alice, bob])


def lines(table: Table, text: str, count: int, *, seat: int = 1, at: datetime = NOON) -> None:
    round_ = table.started.round
    first = table.game.moves.count() + 1
    Move.objects.bulk_create(
        Move(game=table.game, round=round_, n=first + n, seat=seat, text=text, at=at) for n in range(count)
    )


def test_the_list_of_reports_says_what_the_site_noticed(table: Table, ann: User) -> None:
    lines(table, "clock draw", 12)
    auto_reports.report_signs(now=NOON)
    browser, report = staff_browser(ann), Report.objects.get()
    for page in ("/admin/games/report/", f"/admin/games/report/{report.pk}/change/"):
        said = text_of(browser.get(page))
        assert "what the site noticed by itself" in said.lower(), page
        assert "The clock played many turns" in said, page


def test_many_timeouts_open_a_case_once(table: Table, bob: User) -> None:
    lines(table, "clock draw", 11)
    lines(table, "clock uno", 5)
    assert auto_reports.report_signs(now=NOON) == 0
    lines(table, "clock take", 1)
    assert auto_reports.report_signs(now=NOON) == 1
    assert auto_reports.report_signs(now=NOON) == 0
    case = Case.objects.get()
    assert (case.person, case.kind, case.reports.get().reporter) == (bob, "abandon", None)
    assert "12 of this person's turns in 1 game within" in case.reports.get().text
    Case.objects.update(closed_at=NOON + timedelta(hours=1))
    assert auto_reports.report_signs(now=NOON + timedelta(hours=2)) == 0


def given_away(table: Table, by: User, username: str, *, seat: int = 1) -> None:
    """Give a seat away by a staff act at the current version."""
    Game.objects.filter(pk=table.game.pk).update(version=table.game.moves.count())
    tables.move_seat(game_id=table.game.pk, by=by, seat=seat, username=username, reason=REASON, now=NOON)


def test_timeouts_count_for_the_owner_at_that_time(table: Table, ann: User, bob: User) -> None:
    dora = person("dora")
    lines(table, "clock draw", 8)
    given_away(table, ann, "dora")
    lines(table, "clock draw", 11)
    assert auto_reports.report_signs(now=NOON) == 0
    lines(table, "clock draw", 1)
    assert auto_reports.report_signs(now=NOON) == 1
    assert Case.objects.get().person == dora
    other = table_at(TWO_HANDS, [ann, bob])
    lines(other, "clock take", 4)
    assert auto_reports.report_signs(now=NOON) == 1
    assert "12 of this person's turns in 2 games" in Report.objects.get(case__person=bob).text


def test_timeouts_of_a_removed_person_stay_theirs(table: Table, mo: User, ann: User, bob: User) -> None:
    dora = person("dora")
    lines(table, "clock draw", 12)
    Game.objects.filter(pk=table.game.pk).update(version=12)
    tables.remove(game_id=table.game.pk, by=mo, seat=1, bot=True, reason=REASON, now=NOON)
    given_away(table, ann, "dora")
    assert auto_reports.report_signs(now=NOON) == 1
    assert Case.objects.get().person == bob
    assert not Case.objects.filter(person=dora).exists()


def test_every_timeout_counts_once(table: Table, bob: User) -> None:
    for n in range(11):
        at = NOON - timedelta(hours=n)
        match n % 4:
            case 0:  # the card that the clock drew could be played
                lines(table, "clock draw", 1, at=at)
                lines(table, "clock play r5", 1, at=at)
            case 1:  # the person drew the card and then went away
                lines(table, "draw", 1, at=at - timedelta(minutes=1))
                lines(table, "clock pass", 1, at=at)
            case 2:
                lines(table, "clock color r", 1, at=at)
            case 3:
                lines(table, "clock take", 1, at=at)
        lines(table, "clock uno", 1, at=at)
    assert auto_reports.report_signs(now=NOON) == 0
    lines(table, "clock color b", 1, at=NOON - timedelta(days=1))
    assert auto_reports.report_signs(now=NOON) == 1
    assert "12 of this person's turns in 1 game within" in Report.objects.get(case__person=bob).text


@pytest.mark.long
def test_resignations_count_for_the_person_who_resigned(ann: User, alice: User, bob: User) -> None:
    dora = person("dora")
    for n in range(3):
        table = table_at(TWO_HANDS, [alice, bob])
        lines(table, "draw", 5)  # Bob made many moves
        given_away(table, ann, "dora")
        if n == 2:
            tables.remove(game_id=table.game.pk, by=ann, seat=1, bot=True, reason=REASON, now=NOON)
            given_away(table, ann, "dora")
        assert auto_reports.report_signs(now=NOON) == 0
        play_move(code=table.game.code, viewer=Viewer(dora), text="leave", version=None, now=NOON)
    assert auto_reports.report_signs(now=NOON) == 1
    assert Case.objects.get().person == dora


def test_old_timeouts_do_not_count(table: Table) -> None:
    lines(table, "clock draw", 20, at=NOON - timedelta(days=8))
    assert auto_reports.report_signs(now=NOON) == 0


def test_a_search_reads_only_the_newest_lines(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise people who let millions of turns time out could stop the search for everybody."""
    lines(table, "clock draw", 12, at=NOON - timedelta(days=1))
    lines(table, "clock uno", 1)
    monkeypatch.setattr(auto_reports, "MOST_LINES", 12)
    assert auto_reports.report_signs(now=NOON) == 0
    monkeypatch.setattr(auto_reports, "MOST_LINES", 13)
    assert auto_reports.report_signs(now=NOON) == 1


def test_a_search_may_take_longer_than_a_page(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auto_reports, "SEARCH_SECONDS", 77)
    auto_reports.report_signs(now=NOON)
    with connection.cursor() as cursor:  # still in the transaction of the test
        cursor.execute("SHOW statement_timeout")
        assert cursor.fetchone() == ("77s",)


def test_many_early_resignations_open_a_case(alice: User, bob: User, mo: User) -> None:
    for n in range(4):
        table = table_at(TWO_HANDS, [alice, bob])
        if n == 0:  # after too many moves
            lines(table, "draw", 3)
        Game.objects.filter(pk=table.game.pk).update(version=table.game.moves.count())
        if n == 1:  # not the person's decision
            tables.remove(game_id=table.game.pk, by=mo, seat=1, bot=False, reason=REASON, now=NOON)
        else:
            play_move(code=table.game.code, viewer=Viewer(bob), text="leave", version=None, now=NOON)
    assert auto_reports.report_signs(now=NOON) == 0
    table = table_at(TWO_HANDS, [alice, bob])
    play_move(code=table.game.code, viewer=Viewer(bob), text="leave", version=None, now=NOON)
    assert auto_reports.report_signs(now=NOON) == 1
    assert Case.objects.get().person == bob


def test_letting_only_bots_wait_is_not_reported(alice: User, bob: User) -> None:
    """New people often try the game against bots and leave."""
    for _ in range(4):
        game = table_at(TWO_HANDS, [bob, "careful"]).game
        play_move(code=game.code, viewer=Viewer(bob), text="leave", version=None, now=NOON)
    lines(table_at(TWO_HANDS, [bob, "careful"]), "clock draw", 20, seat=0)
    assert auto_reports.report_signs(now=NOON) == 0
    three = {**TWO_HANDS, "hands": [*TWO_HANDS["hands"], ["y9", "g3"]]}
    table = table_at(three, [alice, bob, "careful"])
    lines(table, "clock draw", 11)
    lines(table, "leave", 1, seat=0)
    lines(table, "clock draw", 11)  # no other person is left
    assert auto_reports.report_signs(now=NOON) == 0
    lines(table_at(TWO_HANDS, [alice, bob]), "clock draw", 1)
    assert auto_reports.report_signs(now=NOON) == 1


def test_only_people_at_the_table_at_that_time_count_as_waiting(ann: User, mo: User, bob: User) -> None:
    dora = person("dora")
    first, second = table_at(TWO_HANDS, [dora, bob]), table_at(TWO_HANDS, ["careful", bob])
    lines(first, "clock draw", 6)
    lines(second, "clock draw", 11)
    Game.objects.filter(pk=first.game.pk).update(version=6)
    tables.remove(game_id=first.game.pk, by=mo, seat=0, bot=True, reason=REASON, now=NOON)
    given_away(second, ann, "dora", seat=0)
    lines(first, "clock draw", 5)
    lines(second, "clock draw", 5)
    assert auto_reports.report_signs(now=NOON) == 0
    lines(second, "clock draw", 1)
    assert auto_reports.report_signs(now=NOON) == 1
    assert "12 of this person's turns in 2 games" in Report.objects.get(case__person=bob).text


@pytest.mark.parametrize("way", ["suspended", "closed", "closed with tables"])
def test_timeouts_during_a_suspension_do_not_count(table: Table, ann: User, bob: User, way: str) -> None:
    out: dict[str, Any] = {"by": ann, "reason": REASON}

    def shut_out(now: datetime) -> None:
        if way == "suspended":
            people.suspend(person_id=bob.pk, days=9, now=now, **out)
        elif way == "closed":
            accounts.close_account(person_id=bob.pk, now=now, **out)
        else:
            open_table(bob)
            accounts.close_with_tables(host_id=bob.pk, now=now, **out)

    let_in = people.lift if way == "suspended" else accounts.reopen_account
    shut_out(NOON - timedelta(days=3))
    lines(table, "clock draw", 20, at=NOON - timedelta(days=2))
    lines(table, "clock draw", 11, at=NOON - timedelta(days=4))
    let_in(person_id=bob.pk, now=NOON - timedelta(days=1), **out)
    assert auto_reports.report_signs(now=NOON) == 0
    lines(table, "clock draw", 1, at=NOON - timedelta(hours=1))
    shut_out(NOON)
    assert auto_reports.report_signs(now=NOON) == 0  # staff have closed the case
    let_in(person_id=bob.pk, now=NOON, **out)
    assert auto_reports.report_signs(now=NOON) == 1
    assert "12 of" in Report.objects.get(case__person=bob).text


def test_a_sign_is_reported_once_per_case(table: Table, bob: User, alice: User) -> None:
    lines(table, "clock draw", 12)
    assert auto_reports.report_signs(now=NOON) == 1
    later = table_at(TWO_HANDS, [alice, bob])
    lines(later, "clock draw", 9)
    assert auto_reports.report_signs(now=NOON + timedelta(hours=1)) == 0
    for _ in range(3):
        game = table_at(TWO_HANDS, [alice, bob]).game
        play_move(code=game.code, viewer=Viewer(bob), text="leave", version=None, now=NOON)
    assert auto_reports.report_signs(now=NOON + timedelta(hours=2)) == 1
    assert set(Report.objects.values_list("sign", flat=True)) == {"timeouts", "resignations"}


def test_two_accounts_that_play_in_one_browser_open_one_case(alice: User, bob: User) -> None:
    browser = logged_in(alice)
    made = browser.post("/tables/new/", new_table() | {"players": 2})
    code = made.headers["Location"].split("/")[2]
    again = logged_in(bob)
    again.cookies["browser"] = browser.cookies["browser"].value
    again.post(f"/games/{code}/join/")
    table = queries.load(Game.objects.get(code=code))
    lines(table, "draw", 1, seat=0, at=timezone.now())
    lines(table, "clock draw", 1, at=timezone.now())
    assert auto_reports.report_signs(now=timezone.now()) == 0  # only one of them has moved
    lines(table, "draw", 1, at=timezone.now())
    assert auto_reports.report_signs(now=timezone.now()) == 1
    case = Case.objects.get()
    assert (case.kind, case.person, case.reports.get().text) == (
        "teaming",
        alice,
        "One browser was used here as alice and as bob.",
    )
    assert auto_reports.report_signs(now=timezone.now()) == 0
    Case.objects.update(closed_at=timezone.now())
    assert auto_reports.report_signs(now=timezone.now()) == 0


def test_a_case_about_a_browser_is_about_an_account_if_one_is_there(bob: User) -> None:
    guest = create_guest()
    dora = person("dora")
    shared_browser(guest, dora, at=NOON)
    shared_browser(guest, bob, at=NOON)
    shared_browser(dora, bob, at=NOON)
    assert auto_reports.report_signs(now=NOON) == 3
    assert sorted(Report.objects.values_list("case__person__username", flat=True)) == ["bob", "bob", "dora"]


def test_guests_who_only_sit_down_open_no_cases(bob: User) -> None:
    """Anybody can sit down as any number of guests."""
    here = {**TWO_HANDS, "hands": [["r5", "b1"]] + [["r4", "g3"]] * 4}
    guests = [create_guest() for _ in range(4)]
    table = table_at(here, [bob, *guests])
    for guest in guests:
        auto_reports.store_browser_mark(code=table.game.code, user_id=guest.pk, digest="one", now=NOON)
    assert auto_reports.report_signs(now=NOON) == 0
    for seat in (1, 2, 3):
        lines(table, "draw", 1, seat=seat)
    assert auto_reports.report_signs(now=NOON) == 1
    assert all(guest.name in Report.objects.get().text for guest in guests)


@pytest.mark.parametrize("hours", [1, 3])
def test_a_case_closed_after_the_last_move_covers_the_table(alice: User, bob: User, hours: int) -> None:
    table = table_at(TWO_HANDS, [alice, bob])
    for seat, user in enumerate((alice, bob)):
        auto_reports.store_browser_mark(code=table.game.code, user_id=user.pk, digest="one", now=NOON)
        lines(table, "draw", 1, seat=seat, at=NOON + timedelta(hours=2))
    closed = NOON + timedelta(hours=hours)
    Case.objects.create(person=alice, kind="teaming", opened_at=NOON, closed_at=closed, outcome="nothing")
    assert auto_reports.report_signs(now=NOON + timedelta(hours=4)) == (hours < 2)


@pytest.mark.long
def test_a_search_opens_few_cases_at_once_and_guests_wait(
    alice: User, bob: User, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(auto_reports, "MOST_PEOPLE", 2)
    guests = [create_guest() for _ in range(3)]
    for guest in guests:
        shared_browser(guest, create_guest(), at=NOON)
        lines(table_at(TWO_HANDS, [alice, guest]), "clock draw", 12)
    for _ in range(2):
        shared_browser(alice, bob, at=NOON)
    lines(table_at(TWO_HANDS, [alice, bob]), "clock draw", 12)

    def found() -> list[set[Any]]:
        auto_reports.report_signs(now=NOON)
        kinds = (Case.objects.filter(kind=kind).values_list("person", flat=True) for kind in ("teaming", "abandon"))
        return [set(people) for people in kinds]

    first, second, third = (guest.pk for guest in guests)
    assert found() == [{alice.pk, first}, {bob.pk, first}]
    assert Report.objects.filter(case__person=alice).count() == 2  # in one case
    assert "more findings than a search reports" in caplog.text
    assert found() == [{alice.pk, first, second, third}, {bob.pk, first, second, third}]


def shared_browser(alice: User, bob: User, *, at: datetime, digest: str = "one") -> Game:
    """Let two people play at a new table in one browser."""
    table = table_at(TWO_HANDS, [alice, bob])
    for seat, user in enumerate((alice, bob)):
        auto_reports.store_browser_mark(code=table.game.code, user_id=user.pk, digest=digest, now=at)
        lines(table, "draw", 1, seat=seat, at=at)
    return table.game


def test_repeated_marks_do_not_reopen_a_closed_case(alice: User, bob: User) -> None:
    """Marks are deleted after a month. The next move in a long game makes them again."""
    game = shared_browser(alice, bob, at=NOON)
    assert auto_reports.report_signs(now=NOON) == 1
    Case.objects.update(closed_at=NOON + timedelta(days=1))
    later = NOON + timedelta(days=31)
    assert auto_reports.forget_browser_marks(now=later) == 2
    for user in (alice, bob):
        auto_reports.store_browser_mark(code=game.code, user_id=user.pk, digest="one", now=later)
    assert auto_reports.report_signs(now=later) == 0
    shared_browser(alice, bob, at=later)
    assert auto_reports.report_signs(now=later) == 1  # another table counts as new


@pytest.mark.long
@pytest.mark.parametrize("fault", [Denied("malformed", "This guest no longer exists."), IntegrityError("no such game")])
def test_a_report_that_fails_does_not_stop_the_others(
    alice: User, bob: User, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, fault: Exception
) -> None:
    """For example because a guest is deleted between the query and the report."""
    dora = person("dora")
    shared_browser(alice, bob, at=NOON)
    shared_browser(bob, dora, at=NOON, digest="two")
    lines(table_at(TWO_HANDS, [alice, bob]), "clock draw", 12, seat=0)
    real = cases.report_sign

    def report_sign(**given: Any) -> bool:
        if given["sign"] == "timeouts" or given["person_id"] == alice.pk:
            raise fault
        return real(**given)

    with monkeypatch.context() as patched:
        patched.setattr(auto_reports, "report_sign", report_sign)
        assert auto_reports.report_signs(now=NOON) == 1
    assert Case.objects.get().person == bob
    assert ("a finding was not reported" in caplog.text) == isinstance(fault, IntegrityError)
    assert auto_reports.report_signs(now=NOON) == 2


@pytest.mark.parametrize("fragment", [True, False])
def test_two_seats_played_in_one_browser_are_reported(alice: User, bob: User, fragment: bool) -> None:
    code = table_at(TWO_HANDS, [alice, bob]).game.code
    browser, again = logged_in(alice), logged_in(bob)
    headers = {"HX-Request": "true"} if fragment else {}
    played = {"move": "play r5", "version": 0, "deal": 1}
    assert browser.post(f"/games/{code}/move/", played, headers=headers).status_code in (200, 303)
    again.cookies["browser"] = browser.cookies["browser"].value
    assert again.post(f"/games/{code}/move/", {"move": "play zz", "version": 1}).status_code == 400  # no move, no mark
    assert auto_reports.report_signs(now=timezone.now()) == 0
    assert again.post(f"/games/{code}/move/", {"move": "play r4", "version": 1}, headers=headers).status_code < 400
    assert auto_reports.report_signs(now=timezone.now()) == 1
    assert Report.objects.get(case__kind="teaming").text == "One browser was used here as alice and as bob."


def test_a_browser_is_stored_once_per_table(alice: User, django_assert_max_num_queries: Any) -> None:
    code = table_at(TWO_HANDS, [alice, "careful"], bot_pause=60.0).game.code
    browser = logged_in(alice)
    asked = []
    savepoints = 3  # the test's own transaction turns BEGIN and ROLLBACK into these
    for n in range(2):
        with django_assert_max_num_queries(8 + savepoints) as queries:
            browser.post(f"/games/{code}/move/", {"move": ("draw", "pass")[n], "version": n})
        asked.append(sum("games_browsermark" in query["sql"] for query in queries.captured_queries))
    assert asked == [1, 0]
    assert BrowserMark.objects.get().user == alice


def test_the_api_makes_the_mark_of_two_accounts_in_one_browser_the_same(alice: User, bob: User) -> None:
    browser = logged_in(alice)
    code = browser.post("/api/v1/games", {"players": 2}, content_type="application/json").json()["id"]
    assert BrowserMark.objects.get().user == alice
    again = logged_in(bob)
    again.cookies["browser"] = browser.cookies["browser"].value
    assert again.post(f"/api/v1/games/{code}/join", {}, content_type="application/json").status_code == 200
    assert {(row.user, row.game.code) for row in BrowserMark.objects.all()} == {(alice, code), (bob, code)}
    assert len(set(BrowserMark.objects.values_list("digest", flat=True))) == 1


@pytest.mark.parametrize("token", [True, False])
@pytest.mark.parametrize("call", ["moves", "rematch", "join by link"])
def test_the_api_marks_the_browser_of_a_session_and_no_token(alice: User, bob: User, call: str, *, token: bool) -> None:
    url = f"games/{table_at(TWO_HANDS, [alice, bob]).game.code}/{call}"
    if call == "rematch":
        Game.objects.update(status=Game.Status.OVER, winner=0)
    if call == "join by link":
        url = f"join/{lobby.create_table(user=bob, choices=lobby.TableChoices(), now=NOON).game.invite_key}"
    body = {"move": "play r5", "version": 0} if call == "moves" else {}
    browser = Client(headers={"Authorization": f"Bearer {api_token(alice)}"}) if token else logged_in(alice)
    answer = browser.post(f"/api/v1/{url}", body, content_type="application/json")
    assert answer.status_code == 200
    marked = [] if token else [answer.json()["id"]]
    assert [row.game.code for row in BrowserMark.objects.all()] == marked
    assert ("browser" in browser.cookies) is not token


def test_a_form_sent_again_without_the_cookie_stores_no_browser(alice: User) -> None:
    code = table_at(TWO_HANDS, [alice, "careful"], bot_pause=60.0).game.code
    browser = logged_in(alice)
    for _ in range(3):
        browser.cookies.pop("browser", None)
        again = browser.post(f"/games/{code}/move/", {"move": "draw", "version": 0, "token": "the same"})
        assert again.status_code == 303
    assert BrowserMark.objects.count() == 1


def test_few_browsers_of_a_person_are_stored_for_a_table(alice: User, bob: User) -> None:
    code = table_at(TWO_HANDS, [alice, bob]).game.code
    for n in range(auto_reports.MOST_BROWSER_MARKS + 3):
        auto_reports.store_browser_mark(code=code, user_id=alice.pk, digest=f"{n}", now=NOON)
    auto_reports.store_browser_mark(code=code, user_id=bob.pk, digest="1", now=NOON)
    assert BrowserMark.objects.filter(user=alice).count() == auto_reports.MOST_BROWSER_MARKS
    assert BrowserMark.objects.filter(user=bob).count() == 1


def test_people_who_left_an_open_table_do_not_count(alice: User, bob: User) -> None:
    browser = logged_in(alice)
    code = browser.post("/tables/new/", new_table()).headers["Location"].split("/")[2]
    again = logged_in(bob)
    again.cookies["browser"] = browser.cookies["browser"].value
    again.post(f"/games/{code}/join/")
    again.post(f"/games/{code}/leave/")
    assert BrowserMark.objects.count() == 2
    assert auto_reports.report_signs(now=timezone.now()) == 0


def new_table() -> dict[str, Any]:
    form = NewTableForm(None)
    return {name: field.initial for name, field in form.fields.items() if field.initial is not None} | {
        "players": 3,
        "bots": 0,
    }


def test_two_accounts_in_two_browsers_are_not_reported(alice: User, bob: User) -> None:
    made = logged_in(alice).post("/tables/new/", new_table())
    code = made.headers["Location"].split("/")[2]
    logged_in(bob).post(f"/games/{code}/join/")
    assert Seat.objects.filter(user=bob).exists()
    assert BrowserMark.objects.count() == 2
    assert auto_reports.report_signs(now=timezone.now()) == 0
    assert not Case.objects.exists()


def test_a_forged_mark_is_ignored(alice: User) -> None:
    browser = logged_in(alice)
    browser.cookies["browser"] = "somebody-elses:forged"
    assert browser.post("/play-now/").status_code == 303
    assert browser.cookies["browser"].value != "somebody-elses:forged"
    assert browser.cookies["browser"]["httponly"]


def test_marks_are_deleted_after_30_days(alice: User, bob: User) -> None:
    table = lobby.create_table(user=alice, choices=lobby.TableChoices(), now=NOON)
    for days in (29, 31):
        BrowserMark.objects.create(game=table.game, user=alice, digest=f"{days}", at=NOON - timedelta(days=days))
    BrowserMark.objects.create(game=table.game, user=bob, digest="32", at=NOON - timedelta(days=32))
    assert auto_reports.forget_browser_marks(now=NOON, batch=1) == 2
    assert BrowserMark.objects.get().digest == "29"


def test_a_search_that_fails_does_not_stop_the_others() -> None:
    searched: list[str] = []

    def fail(now: datetime) -> list[bool]:
        searched.append("first")
        raise ValueError

    def find(now: datetime) -> list[bool]:
        searched.append("second")
        return []

    with pytest.raises(ExceptionGroup, match="1 of 2 steps failed"):
        auto_reports.report_signs(now=NOON, searches={"first": fail, "second": find})
    assert searched == ["first", "second"]
