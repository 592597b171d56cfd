"""Test the table of staff acts: every row is complete, and only its name is stored."""

from __future__ import annotations

import inspect
from collections import Counter
from typing import Any

import pytest
from django.contrib.auth.models import Group, Permission
from django.test import Client

from accounts.models import User
from games.models import AuditEntry, Case
from games.models.moderation import CLOSE, LOOK, MOVE_SEAT, REMOVE
from games.queries import conduct
from games.queries.conduct import DoneAct
from games.refusals import Denied
from games.staff import accounts, announcement, appeals, cases, invitations, new_accounts, people, roles, tables
from games.staff.acts import ACTS, PERSON_ACTS, TABLE_ACTS, StaffAct
from tests.support.codes import staff_browser
from tests.support.pages import text_of
from tests.support.staff import REASON, write_entry
from tests.support.tables import NOON, TWO_HANDS, table_at

NAMES = {
    "pause", "resume", "extend", "forgive", "void_round", "void_game", "close", "remove", "move_seat", "look", "warn",
    "mute", "unmute", "suspend", "suspend_for_good", "lift", "rename", "close_account", "reopen_account", "set_role",
    "drop_factor", "hold", "close_case", "change_outcome", "decide_appeal", "neutral_name", "end_neutral_name",
}  # fmt: skip
"""The names stored in databases and used in URLs of earlier releases."""
PERFORM: dict[StaffAct[Any], Any] = {
    **tables.PERFORM,
    **people.PERFORM,
    **accounts.PERFORM,
    **invitations.PERFORM,
    **cases.PERFORM,
    **appeals.PERFORM,
    **announcement.PERFORM,
    **new_accounts.PERFORM,
}


def test_stored_names_do_not_change() -> None:
    assert set(ACTS) >= NAMES
    assert {CLOSE, LOOK, MOVE_SEAT, REMOVE} <= set(TABLE_ACTS)


@pytest.mark.parametrize("act", ACTS.values(), ids=ACTS)
def test_every_act_is_complete(act: StaffAct[Any]) -> None:
    longest = AuditEntry._meta.get_field("act").max_length
    assert longest is not None
    assert 0 < len(act.name) <= longest
    assert act.title[0].isupper()
    said = (*act.consequences, *act.told)
    assert said
    assert all(sentence[0].isupper() and sentence.endswith(".") for sentence in said)
    assert bool(act.statuses) == (act.name in TABLE_ACTS)
    assert act.reason_required or not act.reason_is_shown


def test_every_act_has_one_function_that_accepts_its_form() -> None:
    modules = (tables, people, accounts, invitations, cases, appeals, announcement, new_accounts)
    listed = Counter(act for module in modules for act in module.PERFORM)
    assert listed == Counter(ACTS.values())
    for act, perform in PERFORM.items():
        takes = set(inspect.signature(perform).parameters)
        assert {"by", "reason", "now"} <= takes, act.name
        of_subject = {"game_id", "person_id", "case_id", "appeal_id", "announcement_id", "new_account_id", "host_id"}
        decided = {
            "remove": {"bot"},
            "extend": {"minutes"},
            "decide_appeal": {"lift"},
            "suspend_for_good": {"days"},
        }.get(act.name, set())
        asked = set(act.form.base_fields) - {"instead", "decision", "amount", "unit"}
        assert takes - of_subject - {"by", "now"} == asked | decided, act.name


def test_titles_need_no_migration() -> None:
    assert [field.name for field in AuditEntry._meta.fields if field.choices] == []
    assert AuditEntry._meta.permissions in ((), [])


def test_the_log_says_a_former_player_if_the_name_is_gone() -> None:
    done = DoneAct("extend", 0, NOON, "", None, {"minutes": 5})
    sentence = TABLE_ACTS["extend"].log_sentence
    assert sentence is not None
    assert sentence(done) == "Staff gave a former player 5 minutes more for the turn."


@pytest.mark.django_db
def test_roles_follow_the_table_of_acts() -> None:
    Permission.objects.filter(codename="do_look").delete()
    Group.objects.get(name="moderator").permissions.clear()
    roles.set_roles()
    names = set(Permission.objects.filter(codename__startswith="do_").values_list("codename", "name"))
    assert names == {(f"do_{act.name}", f"Can {act.phrase}") for act in ACTS.values()}
    for group, may in (("moderator", {"moderator"}), ("admin", {"moderator", "admin"})):
        held = Group.objects.get(name=group).permissions.filter(codename__startswith="do_")
        expected = {f"do_{act.name}" for act in ACTS.values() if act.role in may}
        assert set(held.values_list("codename", flat=True)) == expected


DONE = {
    ("suspend", ("days", 7)): "Suspend, 7 days",
    ("suspend_for_good", ("days", None)): "Suspend for good",
    ("mute", ("days", 1)): "Mute, 1 day",
    ("extend", ("minutes", 120)): "Extend the clock, 2 hours",
    ("extend", ("minutes", 90)): "Extend the clock, 90 minutes",
    ("extend", ("minutes", 2880)): "Extend the clock, 2 days",
    ("set_role", ("role", "moderator")): "Give a role: moderator",
    ("set_role", ("role", "")): "Give a role: none",
    ("close_case", ("outcome", "nothing")): "Close the case: we found nothing against the rules",
    ("decide_appeal", ("lifted", True)): "Decide the appeal: the suspension is lifted",
    ("warn", ("plays_with", True)): "Warn",
    ("void_round", ("round", 3)): "Void the round, round 3",
    ("forgive", ("misses", 2)): "Forgive missed turns: 2 missed turns",
    ("remove", ("bot", True)): "Remove a player, a bot took the seat",
    ("remove", ("bot", False)): "Remove a player, the hand was set aside",
    ("say", ("said", "Be kind.")): "Say something to the table: “Be kind.”",
    ("pause", ("said", "We look at it.")): "Pause the game: “We look at it.”",
}


@pytest.mark.long
def test_lists_of_acts_say_how_long_and_which(mo: User, ann: User, alice: User, bob: User) -> None:
    game, browser = table_at(TWO_HANDS, [alice, bob]).game, staff_browser(mo)
    lists = ["games/auditentry/", f"accounts/user/{alice.pk}/change/", f"games/game/{game.pk}/change/"]
    for (act, (name, value)), summary in DONE.items():
        entry = write_entry(act, ann, person=alice, game=game, version=0, details={name: value})
        for page in (*lists, f"games/auditentry/{entry.pk}/change/"):
            assert summary in text_of(browser.get(f"/admin/{page}")), page


def test_the_page_of_an_entry_has_its_act_as_heading_and_links_what_it_is_about(
    mo: User, ann: User, alice: User, bob: User
) -> None:
    game = table_at(TWO_HANDS, [alice, bob]).game
    case = Case.objects.create(person=bob, kind="other", opened_at=NOON)
    details = {"outcome": "nothing", "case": case.pk, "appeal": 999}
    entry = write_entry("close_case", ann, person=bob, game=game, version=0, details=details)
    page = staff_browser(mo).get(f"/admin/games/auditentry/{entry.pk}/change/").content.decode()
    assert "<h1>Close the case: we found nothing against the rules</h1>" in page
    assert "<h2>by ann</h2>" in page
    assert "close_case" not in page
    for address in (f"accounts/user/{bob.pk}", f"games/game/{game.pk}", f"games/case/{case.pk}"):
        assert f'href="/admin/{address}/change/"' in page
    assert "games/appeal/999" not in page


@pytest.fixture
def audited(ann: User, alice: User) -> None:
    """Return an entry of this release and one of a later release."""
    for name in ("warn", "of_tomorrow"):
        write_entry(name, ann, person=alice)


@pytest.mark.usefixtures("audited")
def test_the_audit_log_is_filtered_by_the_titles_of_acts(mo: User) -> None:
    browser = staff_browser(mo)
    page = text_of(browser.get("/admin/games/auditentry/"))
    assert all(title in page for title in (*(act.title for act in ACTS.values()), "of_tomorrow"))
    entries = browser.get("/admin/games/auditentry/?act__exact=warn").context["cl"].queryset
    assert [entry.act for entry in entries] == ["warn"]


@pytest.mark.usefixtures("audited")
def test_an_unknown_act_is_shown_by_its_stored_name(mo: User, alice: User) -> None:
    page = text_of(staff_browser(mo).get(f"/admin/accounts/user/{alice.pk}/change/"))
    assert "of_tomorrow" in page
    assert PERSON_ACTS["warn"].title in page
    assert len(conduct.conduct_of(alice, NOON, reader=mo.pk).audit) == 2


@pytest.mark.django_db
def test_a_refusal_names_the_act(mo: User, alice: User) -> None:
    with pytest.raises(Denied, match="You don’t have permission to suspend for good"):
        people.suspend(person_id=alice.pk, by=mo, days=None, reason=REASON, now=NOON)


def test_an_act_has_a_page_for_its_own_subject_only(mo: User, alice: User) -> None:
    browser: Client = staff_browser(mo)
    assert browser.get(f"/admin/accounts/user/{alice.pk}/act/pause/").status_code == 404
    assert browser.get(f"/admin/accounts/user/{alice.pk}/act/warn/").status_code == 200
