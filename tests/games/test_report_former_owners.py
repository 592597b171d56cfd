"""Test reports about people whose seat staff took: by a bot or for somebody else."""

from __future__ import annotations

import re
from typing import Any

import pytest

from accounts.actions import create_guest
from accounts.models import User
from games.actions import lobby
from games.models import Report
from games.queries import Table, Viewer
from games.queries.players import players_of
from games.staff import cases, tables
from tests.conftest import logged_in, person
from tests.support.staff import act, refused
from tests.support.tables import NOON, TWO_HANDS, now_of, table_at

TEXT = "He wrote a rude word as his name, twice."


def report_arguments(table: Table, reporter: User, **more: Any) -> dict[str, Any]:
    fields = {"code": table.game.code, "viewer": Viewer(reporter), "seat": 1, "kind": "name", "text": TEXT, "now": NOON}
    return fields | more


def values_in(page: str, name: str) -> list[str]:
    """Return the values of the radio buttons with this name, in order."""
    return re.findall(rf'name="{name}" value="([^"]+)"', page)


def test_a_former_owner_of_a_seat_can_be_reported_at_the_table(
    alice: User, bob: User, charlie: User, ann: User
) -> None:
    table = table_at(TWO_HANDS, [alice, bob])
    tables.move_seat(**act(table, ann, seat=1, username="charlie"))
    url, browser = f"/games/{table.game.code}/report/", logged_in(alice)
    page = browser.get(url).content.decode()
    assert "bob (had seat 2)" in page
    assert values_in(page, "seat") == ["1.1", "1"]
    answer = browser.post(url, {"seat": "1", "kind": "name", "text": TEXT})
    assert answer.headers["Location"] == "/reports/"
    assert Report.objects.get().case.person == bob
    again = browser.post(url, {"seat": "1", "kind": "name", "text": TEXT})
    assert (again.status_code, "already reported" in again.content.decode()) == (403, True)
    browser.post(url, {"seat": "1.1", "kind": "name", "text": TEXT})
    assert Report.objects.latest("pk").case.person == charlie


def test_a_removed_player_can_be_reported_although_a_bot_has_the_seat(alice: User, bob: User, mo: User) -> None:
    table = table_at(TWO_HANDS, [alice, bob])
    tables.remove(**act(table, mo, seat=1, bot=True))
    url, browser = f"/games/{table.game.code}/report/", logged_in(alice)
    assert values_in(browser.get(url).content.decode(), "seat") == ["1"]
    form = {"seat": "1", "kind": "name", "text": TEXT}
    assert browser.post(url, form).headers["Location"] == "/reports/"
    assert Report.objects.get().case.person == bob
    arguments = report_arguments(table, alice)
    refused("malformed", cases.report, **arguments)  # the bot
    refused("malformed", cases.report, **arguments | {"owner": 1})
    refused("forbidden", cases.report, **report_arguments(table, bob, owner=0))  # bob himself
    assert values_in(logged_in(bob).get(url).content.decode(), "seat") == ["0"]


@pytest.mark.parametrize("seat", ["1.2", "9.0", "1.0", "bob", "1." + "9" * 30])
def test_a_form_cannot_name_somebody_who_never_had_the_seat(
    alice: User, bob: User, charlie: User, ann: User, seat: str
) -> None:
    table = table_at(TWO_HANDS, [alice, bob])
    tables.move_seat(**act(table, ann, seat=1, username="charlie"))
    form = {"seat": seat, "kind": "name", "text": TEXT}
    answer = logged_in(alice).post(f"/games/{table.game.code}/report/", form)
    assert (answer.status_code, TEXT in answer.content.decode()) == (422, True)
    assert not Report.objects.exists()


@pytest.mark.parametrize("owner", [2, -1])
def test_a_report_about_an_owner_that_never_was_is_refused(alice: User, bob: User, ann: User, owner: int) -> None:
    person("carla")
    table = table_at(TWO_HANDS, [alice, bob])
    tables.move_seat(**act(table, ann, seat=1, username="carla"))
    refused("malformed", cases.report, **report_arguments(table, alice, owner=owner))


def test_a_form_opened_before_staff_gave_the_seat_away_reports_the_person_it_showed(
    alice: User, bob: User, charlie: User, ann: User
) -> None:
    table = table_at(TWO_HANDS, [alice, bob])
    url, browser = f"/games/{table.game.code}/report/", logged_in(alice)
    [value] = values_in(browser.get(url).content.decode(), "seat")
    tables.move_seat(**act(table, ann, seat=1, username="charlie"))
    browser.post(url, {"seat": value, "kind": "name", "text": TEXT})
    assert Report.objects.get().case.person == bob


def test_a_former_owner_is_offered_once_and_not_beside_a_seat_of_today(alice: User, bob: User, ann: User) -> None:
    person("carla")
    table = table_at(TWO_HANDS, [alice, bob])
    for username in ("carla", "bob", "carla", "bob"):
        tables.move_seat(**act(table, ann, seat=1, username=username))
    labels = [(player.name, player.key, player.former) for player in players_of(now_of(table))]
    assert labels == [("alice", "0", False), ("bob", "1.4", False), ("carla", "1.3", True)]


def test_a_deleted_guest_who_lost_a_seat_is_not_offered(alice: User, mo: User) -> None:
    guest = create_guest()
    table = table_at(TWO_HANDS, [alice, guest])
    tables.remove(**act(table, mo, seat=1, bot=True))
    guest.delete()
    assert [player.name for player in players_of(now_of(table))] == ["alice"]
    refused("malformed", cases.report, **report_arguments(table, alice, owner=0))


def test_a_removed_player_can_be_reported_from_their_page(alice: User, bob: User, charlie: User, mo: User) -> None:
    table = table_at(TWO_HANDS, [alice, bob], is_public=False)
    elsewhere = table_at(TWO_HANDS, [charlie, bob])
    for one in (table, elsewhere):
        tables.remove(**act(one, mo, seat=1, bot=True))
    browser = logged_in(alice)
    page = browser.get("/people/bob/report/").content.decode()
    assert values_in(page, "game") == [table.game.code]
    assert f"{table.game.code} · bob had a seat" in page
    form = {"game": table.game.code, "kind": "name", "text": TEXT}
    assert browser.post("/people/bob/report/", form).headers["Location"] == "/reports/"
    assert Report.objects.get().case.person == bob
    assert browser.post("/people/bob/report/", form).status_code == 403
    assert browser.post("/people/bob/report/", form | {"game": elsewhere.game.code}).status_code == 422


@pytest.mark.parametrize("public", [True, False])
def test_a_reader_who_lost_a_seat_may_report_at_tables_they_can_see(
    alice: User, bob: User, mo: User, public: bool
) -> None:
    table = table_at(TWO_HANDS, [alice, bob], is_public=public)
    tables.remove(**act(table, mo, seat=1, bot=True))
    page = logged_in(bob).get("/people/alice/report/").content.decode()
    assert values_in(page, "game") == [table.game.code] * public
    form = {"game": table.game.code, "kind": "name", "text": TEXT}
    assert logged_in(bob).post("/people/alice/report/", form).status_code == (303 if public else 422)


def test_a_player_removed_before_the_start_can_be_reported(alice: User, bob: User, mo: User) -> None:
    table = lobby.create_table(user=alice, choices=lobby.TableChoices(players=3), now=NOON)
    lobby.join(code=table.game.code, viewer=Viewer(bob), now=NOON)
    tables.remove(**act(table, mo, seat=1, bot=True))
    url, browser = f"/games/{table.game.code}/report/", logged_in(alice)
    assert f'href="{url}"' in browser.get(f"/games/{table.game.code}/").content.decode()
    assert browser.post(url, {"seat": "1", "kind": "name", "text": TEXT}).status_code == 303
    assert Report.objects.get().case.person == bob
