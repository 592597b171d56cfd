"""Test which tables are closed and which guests are deleted automatically."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.core import mail
from django.test import Client

from accounts.actions import create_guest
from accounts.models import User
from games.actions import housekeeping, lobby
from games.actions.rematch import ask_rematch
from games.models import Case, Game, Notice, Report, Seat
from games.queries import Table, Viewer, conduct
from games.staff import cases
from games.staff import tables as staff_tables
from mail import outbox
from tests.conftest import logged_in
from tests.support.codes import staff_browser
from tests.support.notices import texts_of
from tests.support.pages import text_of
from tests.support.staff import REASON, act, report_seat
from tests.support.statements import LOCK_GAME, LOCK_PERSON, before_statement
from tests.support.tables import NOON, TWO_HANDS, now_of, table_at

pytestmark = pytest.mark.django_db


@pytest.fixture
def guest(db: None) -> User:
    return create_guest()


def test_a_table_that_waited_a_week_is_closed(alice: User, bob: User) -> None:
    old = lobby.create_table(user=alice, choices=lobby.TableChoices(players=3), now=NOON - timedelta(days=8))
    young = lobby.create_table(user=alice, choices=lobby.TableChoices(players=3), now=NOON - timedelta(days=6))
    running = table_at(TWO_HANDS, [alice, bob])
    Game.objects.filter(pk=running.game.pk).update(created_at=NOON - timedelta(days=90))
    assert housekeeping.close_old_tables(now=NOON) == 1
    statuses = [now_of(table).game.status for table in (old, young, running)]
    assert statuses == [Game.Status.VOID, Game.Status.OPEN, Game.Status.PLAYING]
    assert now_of(old).game.finished_at == NOON


def test_people_are_notified_when_their_table_closes(alice: User, bob: User) -> None:
    week_ago = NOON - timedelta(days=7, seconds=1)
    table = lobby.create_table(user=alice, choices=lobby.TableChoices(players=4, bots=1), now=week_ago)
    lobby.join(code=table.game.code, viewer=Viewer(bob), now=week_ago)
    housekeeping.close_old_tables(now=NOON)
    outbox.deliver(clock=lambda: NOON)
    text = "Your table was closed because not enough players joined in time."
    assert sorted((letter.to[0], letter.subject) for letter in mail.outbox) == [
        (alice.email, f"No Mercy with bob (+1 bot): {text}"),
        (bob.email, f"No Mercy with alice (+1 bot): {text}"),
    ]
    assert text in text_of(logged_in(bob).get("/notices/"))


def hours_ago(hours: int) -> datetime:
    return NOON - timedelta(hours=hours)


def opened_by(host: User, *, hours: int, **options: Any) -> Table:
    return lobby.create_table(user=host, choices=lobby.TableChoices(players=4, **options), now=hours_ago(hours))


def leaves(table: Table, user: User, *, hours: int) -> None:
    lobby.leave_table(code=table.game.code, viewer=Viewer(user), now=hours_ago(hours))


def joins(table: Table, user: User, *, hours: int) -> None:
    lobby.join(code=table.game.code, viewer=Viewer(user), now=hours_ago(hours))


def test_a_guest_s_empty_table_is_closed_after_a_day(alice: User, bob: User, guest: User) -> None:
    alone, with_bots, young = opened_by(guest, hours=25), opened_by(guest, hours=25, bots=2), opened_by(guest, hours=23)
    joined, of_alice = opened_by(guest, hours=25), opened_by(alice, hours=25)
    joins(joined, bob, hours=0)
    lobby.add_bot(code=alone.game.code, viewer=Viewer(guest), bot="careful", now=hours_ago(1))
    assert housekeeping.close_old_tables(now=NOON) == 2
    ended = {table.game.pk for table in (alone, with_bots, young, joined, of_alice) if now_of(table).game.ended}
    assert ended == {alone.game.pk, with_bots.game.pk}
    assert "ot enough players joined within 24 hours" in text_of(logged_in(guest).get(f"/games/{alone.game.code}/"))
    notices = texts_of(Notice.objects.filter(user=guest, channel="site"))
    assert notices == ["Your table was closed because not enough players joined in time."] * 2


def loses_the_host(alice: User, guest: User, staff: User) -> Table:
    table = opened_by(alice, hours=60)
    joins(table, guest, hours=30)
    leaves(table, alice, hours=1)
    return table


def loses_a_friend(alice: User, guest: User, staff: User) -> Table:
    table = opened_by(guest, hours=60)
    joins(table, alice, hours=59)
    leaves(table, alice, hours=1)
    return table


def loses_a_friend_to_staff(alice: User, guest: User, staff: User) -> Table:
    table = opened_by(guest, hours=60)
    joins(table, alice, hours=59)
    staff_tables.remove(**act(table, staff, seat=1, bot=False, now=hours_ago(1)))
    return table


def gets_the_table_from_staff(alice: User, guest: User, staff: User) -> Table:
    table = opened_by(alice, hours=60)
    staff_tables.move_seat(**act(table, staff, seat=0, username=guest.username, now=hours_ago(1)))
    return table


@pytest.mark.parametrize(
    "guest_is_left_alone", [loses_the_host, loses_a_friend, loses_a_friend_to_staff, gets_the_table_from_staff]
)
def test_a_guest_left_alone_at_an_old_table_has_24_hours(
    alice: User, ann: User, guest: User, guest_is_left_alone: Callable[[User, User, User], Table]
) -> None:
    table = guest_is_left_alone(alice, guest, ann)
    assert now_of(table).game.host == guest
    assert housekeeping.close_old_tables(now=NOON) == 0
    assert now_of(table).game.status == Game.Status.OPEN
    assert housekeeping.close_old_tables(now=hours_ago(1) + housekeeping.GUEST_TABLE) == 0
    assert housekeeping.close_old_tables(now=NOON + housekeeping.GUEST_TABLE) == 1
    assert now_of(table).game.status == Game.Status.VOID


def test_a_guest_left_alone_does_not_extend_the_week(alice: User, guest: User) -> None:
    table = opened_by(alice, hours=7 * 24 + 1)
    joins(table, guest, hours=3)
    leaves(table, alice, hours=2)
    assert housekeeping.close_old_tables(now=NOON) == 1
    assert "in 7 days" in text_of(logged_in(guest).get(f"/games/{table.game.code}/"))


def signs_up(table: Table, guest: User, alice: User) -> None:
    User.objects.filter(pk=guest.pk).update(is_guest=False)


def is_joined(table: Table, guest: User, alice: User) -> None:
    joins(table, alice, hours=0)


def is_left_by_who_had_joined(table: Table, guest: User, alice: User) -> None:
    joins(table, alice, hours=1)
    leaves(table, alice, hours=0)


@pytest.mark.parametrize("change", [signs_up, is_joined, is_left_by_who_had_joined])
def test_a_guest_s_table_that_changed_after_the_listing_stays(
    alice: User, guest: User, change: Callable[[Table, User, User], None]
) -> None:
    table = opened_by(guest, hours=25)
    with before_statement(LOCK_GAME, lambda: change(table, guest, alice)):
        assert housekeeping.close_old_tables(now=NOON) == 0
    assert now_of(table).game.status == Game.Status.OPEN


def test_a_guest_who_signed_up_gets_a_week(alice: User, guest: User) -> None:
    table = opened_by(guest, hours=25)
    signs_up(table, guest, alice)
    assert housekeeping.close_old_tables(now=NOON) == 0
    assert housekeeping.close_old_tables(now=NOON + timedelta(days=6)) == 1
    assert now_of(table).game.status == Game.Status.VOID


def test_a_broken_table_does_not_stop_others_from_closing(alice: User, caplog: pytest.LogCaptureFixture) -> None:
    week_ago = NOON - timedelta(days=8)
    broken, whole = (
        lobby.create_table(user=alice, choices=lobby.TableChoices(players=3), now=week_ago) for _ in range(2)
    )
    Game.objects.filter(pk=broken.game.pk).update(preset="nonsense")
    assert housekeeping.close_old_tables(now=NOON) == 1
    assert now_of(whole).game.status == Game.Status.VOID
    assert "an old table was not closed" in caplog.text


def old_guest() -> User:
    guest = create_guest()
    User.objects.filter(pk=guest.pk).update(date_joined=NOON - timedelta(days=40))
    return guest


def test_idle_guests_are_deleted(alice: User) -> None:
    idle, busy, lately, done = (old_guest() for _ in range(4))
    fresh = create_guest()
    table_at(TWO_HANDS, [busy, alice])
    for guest, days in ((lately, 3), (done, 35)):
        table = table_at(TWO_HANDS, [guest, alice])
        over = {"status": Game.Status.OVER, "winner": 0, "finished_at": NOON - timedelta(days=days)}
        Game.objects.filter(pk=table.game.pk).update(**over)
    User.objects.filter(pk=fresh.pk).update(date_joined=NOON)
    User.objects.filter(pk=alice.pk).update(date_joined=NOON - timedelta(days=400))
    assert housekeeping.forget_guests(now=NOON) == 2
    assert set(User.objects.all()) == {alice, busy, lately, fresh}
    assert not User.objects.filter(pk__in=[idle.pk, done.pk]).exists()
    assert Seat.objects.filter(user=None, name=done.name).exists()


def test_the_seat_of_a_deleted_guest_is_not_that_of_a_bot(alice: User) -> None:
    table = table_at({**TWO_HANDS, "hands": [["r5"], ["r4"], ["g3"]]}, [alice, old_guest(), "sharp"])
    Seat.objects.filter(game=table.game, index=1).update(bot="careful")  # it played for the guest
    over = {"status": Game.Status.OVER, "winner": 0, "finished_at": NOON - timedelta(days=35)}
    Game.objects.filter(pk=table.game.pk).update(**over)
    assert housekeeping.forget_guests(now=NOON) == 1
    again = ask_rematch(code=table.game.code, viewer=Viewer(alice), now=NOON)
    assert [seat.bot for seat in again.seats] == ["", "sharp"]
    assert (again.game.players, again.game.status) == (3, Game.Status.OPEN)


def settled_case_of_a_forgotten_guest(alice: User, mo: User) -> Case:
    """Return a closed case in which Alice reported a guest who has been deleted since, but not before."""
    game = table_at(TWO_HANDS, [old_guest(), alice]).game
    case = report_seat(game, by=alice, seat=0).case
    Game.objects.filter(pk=game.pk).update(status=Game.Status.VOID, finished_at=NOON - timedelta(days=35))
    assert housekeeping.forget_guests(now=NOON) == 0
    cases.close_case(case_id=case.pk, by=mo, outcome="acted", answer="Thank you.", reason=REASON, now=NOON)
    assert housekeeping.forget_guests(now=NOON + timedelta(days=29)) == 0
    assert housekeeping.forget_guests(now=NOON + timedelta(days=31)) == 1
    case.refresh_from_db()
    return case


def test_a_reported_guest_is_deleted_a_month_after_the_case_which_stays(
    alice: User, mo: User, as_alice: Client
) -> None:
    case = settled_case_of_a_forgotten_guest(alice, mo)
    assert (case.person, case.outcome, case.reports.get().reporter) == (None, "acted", alice)
    assert case.reports.get().called == ""
    page = as_alice.get("/reports/").content.decode()
    assert "A deleted player: an offensive name" in page
    assert "<strong>We agreed and acted on it.</strong> Thank you." in page


def test_upheld_reports_count_after_the_guest_is_deleted(alice: User, bob: User, mo: User) -> None:
    settled_case_of_a_forgotten_guest(alice, mo)
    game = table_at(TWO_HANDS, [alice, bob]).game
    about_bob = report_seat(game, by=alice, seat=1).case
    for reader in (mo.pk, None):
        record: Any = conduct.reports_of(about_bob, reader=reader).get()
        assert (record.acted, record.nothing) == (1, 0)


@pytest.mark.long
def test_staff_can_read_and_close_the_case_of_a_deleted_guest(alice: User, mo: User) -> None:
    case = settled_case_of_a_forgotten_guest(alice, mo)
    staff = staff_browser(mo)
    row = re.search(r'class="field-about".*?</t', staff.get("/admin/games/case/?state=all").content.decode(), re.DOTALL)
    assert row is not None
    assert "a deleted player" in row[0]
    page = staff.get(f"/admin/games/case/{case.pk}/change/").content.decode()
    assert "Case about a deleted player" in page
    table = staff.get(f"/admin/games/game/{case.reports.get().game_id}/change/").content.decode()
    assert "about a deleted player" in table
    Case.objects.filter(pk=case.pk).update(closed_at=None, outcome="")
    entry = cases.close_case(case_id=case.pk, by=mo, outcome="nothing", answer="", reason=REASON, now=NOON)
    assert (entry.person, entry.person_name) == (None, "")


def test_reports_stay_when_the_guests_who_made_them_are_deleted(alice: User, bob: User) -> None:
    game = table_at(TWO_HANDS, [alice, bob]).game
    for _ in range(2):
        report_seat(game, by=old_guest(), seat=1)
    cases.report_sign(person_id=bob.pk, kind="name", sign=Report.Sign.TIMEOUTS, game_id=game.pk, text="x", now=NOON)
    assert housekeeping.forget_guests(now=NOON) == 2
    assert not Report.objects.exclude(reporter=None).exists()
    assert sorted(Report.objects.values_list("sign", flat=True)) == ["", "", "timeouts"]


def test_a_guest_who_joins_a_table_between_the_listing_and_the_lock_is_not_deleted(alice: User) -> None:
    guest = old_guest()
    with before_statement(LOCK_PERSON, lambda: table_at(TWO_HANDS, [guest, alice])):
        assert housekeeping.forget_guests(now=NOON) == 0
    assert User.objects.filter(pk=guest.pk).exists()
