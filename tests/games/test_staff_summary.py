"""Test what the page of a person shows staff."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django.fixtures import DjangoAssertNumQueries

from accounts.models import Session, User
from games.models import Case, Game, Move, Seat
from games.queries import Table, Viewer
from games.queries.staff_summary import MISSES_WITHIN, staff_summary_of
from games.staff import auto_reports, cases
from tests.support.codes import staff_browser
from tests.support.pages import text_of
from tests.support.tables import NOON, table_after

SAID = "They let us wait for three days in each game."


@pytest.fixture
def as_mo(mo: User) -> Client:
    return staff_browser(mo)


def page_of(browser: Client, person: User) -> str:
    return str(browser.get(f"/admin/accounts/user/{person.pk}/change/").content.decode())


def report(reporter: User, table: Table, **more: Any) -> None:
    cases.report(code=table.game.code, viewer=Viewer(reporter), kind="abandon", text=SAID, now=NOON, **more)


def test_running_and_finished_games_are_listed_with_seat_and_misses(as_mo: Client, alice: User, bob: User) -> None:
    running, finished = table_after([alice, bob], 7, seed=0), table_after([bob, alice], 7, seed=1)
    Seat.objects.filter(game=running.game, user=alice).update(misses=2)
    Game.objects.filter(pk=finished.game.pk).update(status="over", finished_at=NOON, winner=1)
    seen = staff_summary_of(alice, NOON, reader=0)
    assert [(seat.game_id, seat.index, seat.misses) for seat in seen.going] == [(running.game.pk, 0, 2)]
    assert [(seat.game_id, seat.index) for seat in seen.ended] == [(finished.game.pk, 1)]
    page = page_of(as_mo, alice)
    for table in (running, finished):
        assert f'<a href="/admin/games/game/{table.game.pk}/change/">{table.game.code}</a>' in page


def test_the_turns_that_the_clock_played_are_counted(alice: User, bob: User) -> None:
    table = table_after([alice, bob], 7, seed=0)
    round_id = table.started.round.pk

    def line(n: int, seat: int, text: str, at: Any) -> None:
        Move.objects.create(game=table.game, round_id=round_id, n=n, seat=seat, text=text, at=at)

    line(101, 0, "clock uno", NOON)  # closes a window, which is no turn
    line(102, 0, "clock draw", NOON + timedelta(minutes=1))
    line(103, 0, "clock pass", NOON + timedelta(minutes=1))  # the same turn
    line(104, 1, "clock draw", NOON + timedelta(minutes=2))
    line(105, 0, "clock draw", NOON + timedelta(minutes=3))
    assert staff_summary_of(alice, NOON + timedelta(hours=1), reader=0).missed == 2
    assert staff_summary_of(alice, NOON + MISSES_WITHIN + timedelta(minutes=2), reader=0).missed == 1


def test_reports_made_and_received_have_their_outcomes(as_mo: Client, ann: User, alice: User, bob: User) -> None:
    table = table_after([alice, bob], 7, seed=0)
    report(bob, table, seat=0)
    report(alice, table, seat=1)
    about_alice = Case.objects.get(person=alice)
    more: dict[str, Any] = {"outcome": "nothing", "answer": "", "reason": "Nobody had to wait.", "now": NOON}
    cases.close_case(case_id=about_alice.pk, by=ann, **more)
    seen = staff_summary_of(alice, NOON, reader=0)
    assert [(one.reporter, one.case) for one in seen.received] == [(bob, about_alice)]
    assert [(one.reporter, one.case.person) for one in seen.made] == [(alice, bob)]
    page = page_of(as_mo, alice)
    assert "We found nothing against the rules" in page
    assert page.count(SAID) == 2


@pytest.mark.long
def test_staff_never_see_that_somebody_has_reported_them(as_mo: Client, mo: User, alice: User, bob: User) -> None:
    report(alice, table_after([alice, mo, bob], 7, seed=0), seat=1)
    assert staff_summary_of(alice, NOON, reader=mo.pk).made == []
    assert SAID not in page_of(as_mo, alice)
    assert len(staff_summary_of(alice, NOON, reader=0).made) == 1


def test_a_report_with_html_is_shown_as_text(as_mo: Client, alice: User, bob: User) -> None:
    table = table_after([alice, bob], 7, seed=0)
    text = "<script>alert(1)</script> is what they wrote to us all."
    cases.report(code=table.game.code, viewer=Viewer(bob), seat=0, kind="other", text=text, now=NOON)
    page = page_of(as_mo, alice)
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)" in page


def test_the_last_visit_is_the_newest_use_of_a_session_or_the_log_in(as_mo: Client, alice: User) -> None:
    assert staff_summary_of(alice, NOON, reader=0).last_visit is None
    alice.last_login = NOON
    assert staff_summary_of(alice, NOON, reader=0).last_visit == NOON
    later = NOON + timedelta(hours=2)
    Session.objects.create(session_key="one", user=alice, seen_at=later, expire_date=later)
    assert staff_summary_of(alice, NOON, reader=0).last_visit == later


def test_other_accounts_of_the_same_browser_are_named(as_mo: Client, alice: User, bob: User, charlie: User) -> None:
    now = timezone.now()
    first, second = table_after([alice, bob], 7, seed=0), table_after([charlie, bob], 7, seed=1)
    for table, person, digest in ((first, alice, "one"), (first, bob, "two"), (second, charlie, "one")):
        auto_reports.store_browser_mark(code=table.game.code, user_id=person.pk, digest=digest, now=now)
    seen = staff_summary_of(alice, now, reader=0)
    assert [(other.person, other.tables) for other in seen.others] == [(charlie, 1)]
    assert staff_summary_of(bob, now, reader=0).others == []
    assert f'<a href="/admin/accounts/user/{charlie.pk}/change/">charlie</a>, at 1' in page_of(as_mo, alice)
    assert staff_summary_of(alice, now + timedelta(days=31), reader=0).others == []


def test_the_page_of_a_person_costs_the_same_with_many_games(
    as_mo: Client, alice: User, bob: User, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for seed in range(4):
        report(bob, table_after([alice, bob], 7, seed=seed), seat=0)
    with django_assert_max_num_queries(28):
        page_of(as_mo, alice)


def test_the_list_of_people_says_who_is_muted_and_suspended(mo: User, alice: User, bob: User) -> None:
    now = timezone.now()
    User.objects.filter(pk__in=(alice.pk, bob.pk)).update(muted_until=now + timedelta(days=1))
    User.objects.filter(pk=bob.pk).update(suspended_until=now + timedelta(days=1))
    shown = text_of(staff_browser(mo).get("/admin/accounts/user/?account=muted"))
    assert "open, muted" in shown
    assert "suspended, muted" in shown
