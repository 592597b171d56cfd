"""Test that staff cannot act on people they play with, or on cases of their own games."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils import timezone

from accounts import actions as account_actions
from accounts.models import User
from games.actions import guests, lobby
from games.models import AuditEntry, Game, Seat
from games.queries import Table, Viewer
from games.staff import appeals, cases, people, tables
from tests.conftest import logged_in, person
from tests.support.staff import refused
from tests.support.tables import NOON, TWO_HANDS, now_of, table_at

REASON = "Rude words at two tables"
TEXT = "She lets everybody wait for hours on end."


def arguments_for(person: User, by: User, **more: Any) -> dict[str, Any]:
    return {"person_id": person.pk, "by": by, "reason": REASON, "now": NOON, **more}


def test_open_tables_count_as_playing_together_and_games_that_are_over_or_left_do_not(mo: User, alice: User) -> None:
    game = lobby.create_table(user=mo, choices=lobby.TableChoices(players=3), now=NOON).game
    lobby.join(code=game.code, viewer=Viewer(alice), now=NOON)
    refused("forbidden", people.warn, **arguments_for(alice, mo))
    Seat.objects.filter(game=game, user=alice).update(left=True)
    people.warn(**arguments_for(alice, mo))
    over = table_at(TWO_HANDS, [mo, alice]).game
    refused("forbidden", people.warn, **arguments_for(alice, mo))
    Game.objects.filter(pk=over.pk).update(status=Game.Status.OVER)
    people.warn(**arguments_for(alice, mo))


def test_staff_cannot_decide_the_appeal_of_a_person_they_play_with(ann: User, root: User, alice: User) -> None:
    people.suspend(**arguments_for(alice, root, days=3))
    appeal = appeals.appeal(person_id=alice.pk, text=TEXT, now=NOON)
    table_at(TWO_HANDS, [alice, ann])
    decision: dict[str, Any] = {"lift": True, "answer": "You are right, we are sorry.", "reason": REASON, "now": NOON}
    refused("forbidden", appeals.decide_appeal, appeal_id=appeal.pk, by=ann, **decision)
    appeals.decide_appeal(appeal_id=appeal.pk, by=root, **decision)


@pytest.fixture
def case_id(alice: User, bob: User, mo: User) -> int:
    """Return a case about Alice, from a game in which Mo plays too."""
    hands = {**TWO_HANDS, "hands": [["r5", "b1"], ["r4", "g3"], ["b2", "y7"]]}
    table = table_at(hands, [alice, bob, mo])
    report = cases.report(code=table.game.code, viewer=Viewer(bob), seat=0, kind="abandon", text=TEXT, now=NOON)
    return report.case_id


@pytest.mark.parametrize("status", [Game.Status.PLAYING, Game.Status.OVER])
def test_staff_cannot_close_a_case_about_a_game_they_played_in(case_id: int, mo: User, ann: User, status: str) -> None:
    Game.objects.update(status=status)
    refused("forbidden", cases.hold, case_id=case_id, by=mo, reason=REASON, now=NOON)
    closing: dict[str, Any] = {"outcome": "acted", "answer": "", "reason": REASON, "now": NOON}
    refused("forbidden", cases.close_case, case_id=case_id, by=mo, **closing)
    cases.hold(case_id=case_id, by=ann, reason=REASON, now=NOON)
    cases.close_case(case_id=case_id, by=ann, **closing)


def test_staff_who_lost_their_seat_cannot_close_a_case_about_that_game(case_id: int, mo: User, ann: User) -> None:
    game = Game.objects.get()
    tables.remove(game_id=game.pk, by=ann, seat=2, bot=True, reason=REASON, now=NOON)
    assert not Seat.objects.filter(user=mo).exists()
    assert "are or were" in refused("forbidden", cases.hold, case_id=case_id, by=mo, reason=REASON, now=NOON)


def test_a_superuser_can_act_on_people_they_play_with_and_the_entry_says_so(root: User, alice: User, bob: User) -> None:
    """A small site may have no other staff."""
    table = table_at(TWO_HANDS, [alice, root])
    people.warn(**arguments_for(alice, root))
    assert AuditEntry.objects.get().details == {"plays_with": True}
    report = cases.report(code=table.game.code, viewer=Viewer(root), seat=0, kind="abandon", text=TEXT, now=NOON)
    assert "reported" in refused("forbidden", cases.hold, case_id=report.case_id, by=root, reason=REASON, now=NOON)
    people.warn(**arguments_for(bob, root))
    assert AuditEntry.objects.latest("pk").details == {}


def test_a_guest_s_seat_stays_if_the_account_viewed_the_hands(mo: User, bob: User) -> None:
    """A staff member joins as a guest, logs in, views the hands, and tries to take over the guest's seat."""
    guest = account_actions.create_guest()
    seen, other = table_at(TWO_HANDS, [guest, bob]), table_at(TWO_HANDS, [guest, bob])
    tables.view_hands(game_id=seen.game.pk, by=mo, reason=REASON, now=NOON)
    assert guests.move_seats(guest=guest, user=mo, now=NOON) == (1, 1, 0, 0)
    assert [owner(seen), owner(other)] == [guest, mo]


@pytest.mark.parametrize("how", ["remove", "move_seat"])
def test_a_guest_s_seat_stays_if_staff_removed_the_account(ann: User, alice: User, bob: User, how: str) -> None:
    person("dora")
    guest = account_actions.create_guest()
    hands = {**TWO_HANDS, "hands": [["r5", "b1"], ["r4", "g3"], ["b2", "y7"]]}
    table = table_at(hands, [guest, alice, bob])
    more = {"bot": True} if how == "remove" else {"username": "dora"}
    getattr(tables, how)(game_id=table.game.pk, by=ann, seat=1, reason=REASON, now=NOON, **more)
    assert guests.move_seats(guest=guest, user=alice, now=NOON) == (0, 1, 0, 0)
    assert owner(table) == guest


def test_logging_in_says_which_seats_stay_with_the_guest(mo: User, bob: User) -> None:
    guest = account_actions.create_guest()
    seen = table_at(TWO_HANDS, [guest, bob])
    browser = logged_in(guest)
    browser.post("/accounts/login/", {"login": "mo", "password": "mo"})
    tables.view_hands(game_id=seen.game.pk, by=mo, reason=REASON, now=timezone.now())
    answer = browser.post("/move-seats/", {"answer": "move"}, follow=True).content.decode()
    assert f"0 games of {guest.name} moved to your account." in answer
    assert f"1 game of {guest.name} stayed behind: you looked at hands there as staff" in answer


def owner(table: Table) -> User | None:
    return now_of(table).seats[0].user
