"""Test the table of staff acts: every row is complete, only its name is stored, and who may do what it says."""

from __future__ import annotations

import inspect
from collections import Counter
from hashlib import sha256
from importlib import import_module
from typing import Any

import pytest
from django.contrib.auth.models import Group, Permission
from django.db.migrations.loader import MigrationLoader
from django.test import Client

from accounts.models import User
from games.actions.play import play_move
from games.models import AuditEntry, Case, Notice, Seat
from games.models.moderation import CLOSE, LOOK, MOVE_SEAT, REMOVE
from games.queries import DoneAct, Table, Viewer, conduct
from games.queries.verify import faults_of
from games.render.log_notes import notes_of
from games.staff import accounts, acts, people, roles, tables
from games.staff.acts import ACTS, APPEAL_ACTS, CASE_ACTS, PERSON_ACTS, TABLE_ACTS, StaffAct
from tests.conftest import person, staff
from tests.support.codes import staff_browser
from tests.support.pages import text_of
from tests.support.staff import REASON, dealt, open_act, page_url, refused, write_entry
from tests.support.staff_acts import LATER, MODULES, PERFORM, ROWS, World
from tests.support.tables import NOON, TWO_HANDS, now_of, table_at

__all__ = ["dealt"]  # the fixture

NAMES = {
    "pause", "resume", "extend", "forgive", "void_round", "void_game", "close", "remove", "move_seat", "look", "warn",
    "mute", "unmute", "suspend", "suspend_for_good", "lift", "rename", "close_account", "reopen_account", "set_role",
    "drop_factor", "hold", "close_case", "change_outcome", "decide_appeal", "neutral_name", "end_neutral_name",
}  # fmt: skip
"""The names stored in databases and used in URLs of earlier releases."""


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
    done = act.done.format(about="alice")
    assert done[0].isupper()
    assert done.endswith(".")


def test_every_act_has_one_function_that_accepts_its_form() -> None:
    assert Counter(act for module in MODULES for act in module.PERFORM) == Counter(ACTS.values())
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
    (note,) = notes_of([done])
    assert note.text == "Staff gave a former player 5 min more for the turn."


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


def test_the_newest_migration_of_roles_gives_the_permissions_of_today() -> None:
    """A running site gets a new act or a changed role only by a migration. Copy `0067_close_with_tables.py`."""
    loader = MigrationLoader(None)
    named = {name: migration for (app, name), migration in loader.disk_migrations.items() if app == "games"}
    modules = [import_module(named[name].__module__) for name in sorted(named, reverse=True)]
    newest = next(module for module in modules if hasattr(module, "ROLES"))
    digest = sha256(repr(sorted((name, sorted(may)) for name, may in roles.ROLES.items())).encode()).hexdigest()

    assert digest[:16] == newest.ROLES, f"add a migration with ROLES = {digest[:16]!r} that calls set_roles"


DONE = {
    ("suspend", ("days", 7)): "Suspend, 7 days",
    ("suspend_for_good", ("days", None)): "Suspend for good",
    ("mute", ("days", 1)): "Mute, 1 day",
    ("extend", ("minutes", 120)): "Extend the clock, 2 h",
    ("extend", ("minutes", 90)): "Extend the clock, 90 min",
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
        assert summary in text_of(browser.get(f"/admin/games/auditentry/{entry.pk}/change/"))
    for page in lists:
        text = text_of(browser.get(f"/admin/{page}"))
        assert [summary for summary in DONE.values() if summary not in text] == [], page


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


RANKS = {"player": 0, "moderator": 1, "admin": 2, "superuser": 3}


@pytest.fixture
def staff_by_role(alice: User, mo: User, ann: User, root: User) -> dict[str, User]:
    return {"player": alice, "moderator": mo, "admin": ann, "superuser": root}


def told() -> tuple[str, ...]:
    rows = Notice.objects.filter(channel="site").exclude(kind="turn").values_list("user__username", "kind")
    return tuple(sorted(f"{name} {kind}" for name, kind in rows))


@pytest.mark.parametrize("name", ACTS)
def test_an_act_is_done_by_its_role_for_a_reason_with_one_entry_and_told(
    dealt: Table, staff_by_role: dict[str, User], name: str
) -> None:
    act, row, by = ACTS[name], ROWS[name], staff_by_role[ACTS[name].role]
    world = World(dealt, by, colleague=staff_by_role["superuser"])
    row.ready(world)
    subject, fields = world.subject(act), row.fields(world)
    called = User.objects.get(pk=world.bob.pk).name
    Notice.objects.all().delete()

    def perform(by: User = by, reason: str = REASON) -> Any:
        return PERFORM[act](**subject, by=by, reason=reason, now=NOON, **fields)

    without_role = person("nora")
    without_role.is_staff = True
    suspended = User.objects.get(pk=by.pk)
    suspended.suspended_until = LATER
    below = [user for role, user in staff_by_role.items() if RANKS[role] < RANKS[act.role]]
    for user in (*below, without_role, suspended):
        assert refused("forbidden", perform, by=user) == f"You don’t have permission to {act.phrase}."
    for reason in ("because", "x" * 501, *["", "   "] * act.reason_required):
        assert "Give a reason of 10 to 500 characters." in refused("malformed", perform, reason=reason)
    assert not AuditEntry.objects.exists()
    assert told() == ()

    perform(reason=f"  {REASON}\n")
    entry = AuditEntry.objects.get()
    assert (entry.act, entry.actor, entry.actor_name, entry.reason, entry.at) == (name, by, by.name, REASON, NOON)
    assert (entry.game, entry.game_code) == ((world.game, world.game.code) if name in TABLE_ACTS else (None, ""))
    if name in {*PERSON_ACTS, *CASE_ACTS, *APPEAL_ACTS}:
        assert (entry.person, entry.person_name) == (world.bob, called)
    assert told() == tuple(sorted(row.told))
    if row.again:
        refused(row.again, perform)
    else:
        perform()
    assert AuditEntry.objects.count() == (1 if row.again else 2)


@pytest.mark.long
@pytest.mark.parametrize("name", sorted({*TABLE_ACTS, *PERSON_ACTS, *CASE_ACTS, *APPEAL_ACTS}))
def test_the_page_of_an_act_explains_it_and_performs_it_for_a_reason(
    dealt: Table, staff_by_role: dict[str, User], name: str
) -> None:
    act, row, by = ACTS[name], ROWS[name], staff_by_role[ACTS[name].role]
    world, browser = World(dealt, by, colleague=staff_by_role["superuser"]), staff_browser(by)
    row.ready(world)
    subject, form = world.row(act), row.form or row.fields(world)
    place = page_url(subject)
    page = open_act(browser, subject, name, **({"seat": 1} if act.seats else {}))
    assert page.url in browser.get(place).content.decode()
    assert [sentence for sentence in act.consequences if sentence not in page.text] == []
    assert ("The person will read this word for word." in page.text) is act.reason_is_shown
    done = page.send(follow=True, **form)
    entry = AuditEntry.objects.get()
    assert (entry.act, entry.actor, entry.reason) == (name, by, REASON)
    assert act.name == "look" or done.answer.redirect_chain == [(place, 302)]
    said = (act.done_instead(entry) if act.done_instead else "") or act.done.format(about="bob")
    assert act.name == "look" or said in done.text
    place_now = text_of(browser.get(place)) if act.name == "look" else done.text
    assert REASON in place_now or name in APPEAL_ACTS


def refused_to(by: User, world: World, act: StaffAct[Any]) -> str:
    fields = ROWS[act.name].fields(world)
    return refused("forbidden", PERFORM[act], **world.subject(act), by=by, reason=REASON, now=NOON, **fields)


def test_nobody_acts_on_themselves_on_higher_staff_or_on_people_they_play_with(
    dealt: Table, mo: User, ann: User, root: User, alice: User
) -> None:
    friend, max_ = person("dora"), staff("max", "moderator")
    on: dict[User, World] = {}
    for user in (mo, ann, root, friend, max_):
        game = table_at(TWO_HANDS, [alice, user])
        on[user] = World(game, ann, colleague=root)
    table_at(TWO_HANDS, [ann, friend])
    for act in PERSON_ACTS.values():
        if act.role != "superuser":
            assert "You can’t do this to yourself." in refused_to(ann, on[ann], act), act
            assert refused_to(ann, on[root], act) == "Only a superuser can do this to a superuser.", act
            assert "You are playing with dora." in refused_to(ann, on[friend], act), act
        else:
            assert "You can’t do this to yourself." in refused_to(root, on[root], act), act
        if act.role == "moderator":
            assert refused_to(mo, on[max_], act) == "Only an admin can do this to a staff member.", act
    for act in (acts.RENAME, acts.CLOSE_ACCOUNT, acts.CLOSE_WITH_TABLES, acts.REOPEN_ACCOUNT):
        assert refused_to(ann, on[mo], act) == "Only a superuser can change the account of a staff member.", act
    for on_seat in (act for act in TABLE_ACTS.values() if act.seats):
        assert refused_to(ann, on[root], on_seat) == "Only a superuser can do this to a superuser.", on_seat
        assert "You are playing with dora." in refused_to(ann, on[friend], on_seat), on_seat
        if on_seat.role == "moderator":
            assert refused_to(mo, on[max_], on_seat) == "Only an admin can do this to a staff member.", on_seat
    assert not AuditEntry.objects.exists()
    people.warn(person_id=max_.pk, by=ann, reason=REASON, now=NOON)
    accounts.close_account(person_id=mo.pk, by=root, reason=REASON, now=NOON)
    Seat.objects.filter(user=max_).update(misses=1)
    tables.forgive(game_id=on[max_].game.pk, seat=1, by=ann, reason=REASON, now=NOON)


@pytest.mark.parametrize("lost", [None, "remove", "move_seat"])
def test_nobody_acts_at_a_table_where_they_sit_or_sat(
    dealt: Table, ann: User, root: User, alice: User, bob: User, charlie: User, lost: str | None
) -> None:
    world = World(table_at(TWO_HANDS, [ann, bob]), ann, colleague=root)
    dora = person("dora")
    if lost == "remove":
        tables.remove(game_id=world.game.pk, by=root, seat=0, bot=True, reason=REASON, now=NOON)
    elif lost == "move_seat":
        tables.move_seat(game_id=world.game.pk, by=root, seat=0, username=dora.username, reason=REASON, now=NOON)
    for act in TABLE_ACTS.values():
        assert "You are or were a player at this table" in refused_to(ann, world, act), act
    tables.view_hands(game_id=dealt.game.pk, by=ann if lost else root, reason=REASON, now=NOON)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("name", sorted(set(TABLE_ACTS) - {"close"}))
def test_a_game_still_replays_after_every_act(dealt: Table, ann: User, root: User, name: str) -> None:
    world, row = World(dealt, ann, colleague=root), ROWS[name]
    row.ready(world)
    PERFORM[ACTS[name]](game_id=dealt.game.pk, by=ann, reason=REASON, now=NOON, **row.fields(world))
    assert faults_of(dealt.game.pk) == []
    if name == "pause":
        tables.resume(game_id=dealt.game.pk, by=ann, reason=REASON, now=NOON)
    after = now_of(dealt)
    user = after.on_turn.user
    if user is not None and name != "void_game":
        play_move(code=dealt.game.code, viewer=Viewer(user), text="draw", version=after.game.version, now=NOON)
    assert faults_of(dealt.game.pk) == []


def test_an_act_has_a_page_for_its_own_subject_only(mo: User, alice: User) -> None:
    browser: Client = staff_browser(mo)
    assert browser.get(f"/admin/accounts/user/{alice.pk}/act/pause/").status_code == 404
    assert browser.get(f"/admin/accounts/user/{alice.pk}/act/warn/").status_code == 200
