"""The staff pages: what is found and shown there, to whom, and the page that every act on a person has."""

from __future__ import annotations

from datetime import timedelta
from html import unescape

import pytest
from allauth.mfa.models import Authenticator
from django.contrib import admin
from django.test import Client
from django.utils import timezone
from pytest_django.fixtures import DjangoAssertNumQueries

from accounts.models import User
from games import queries
from games import render as rendering
from games.actions import notices
from games.admin import people as people_admin
from games.models import AuditEntry, Case, Game, Notice, Report
from tests.conftest import logged_in
from tests.support.codes import staff_browser
from tests.support.tables import NOON, TWO_HANDS, table_after, table_at

REASON = "Rude words at two tables"
NAME = "<b id=canary>\u202eEve"


@pytest.fixture
def as_mo(mo: User) -> Client:
    return staff_browser(mo)


@pytest.fixture
def as_ann(ann: User) -> Client:
    return staff_browser(ann)


def listed(browser: Client, query: str) -> set[str]:
    answer = browser.get(f"/admin/games/game/?{query}")
    assert answer.status_code == 200
    return {game.code for game in answer.context["cl"].result_list}


def test_every_page_of_the_staff_opens_for_a_moderator_who_may_see_it(as_mo: Client, alice: User, bob: User) -> None:
    table_after([alice, bob], 10, seed=1)
    for name in ("game", "round", "move", "auditentry", "case", "report", "suspension", "warned", "appeal", "notice"):
        assert as_mo.get(f"/admin/games/{name}/").status_code == 200, name
    assert as_mo.get("/admin/accounts/user/").status_code == 200
    for name in ("accounts/apitoken", "mfa/authenticator"):
        assert as_mo.get(f"/admin/{name}/").status_code == 403, name
    for name in ("auth/group", "account/emailaddress"):
        assert as_mo.get(f"/admin/{name}/").status_code == 404, name


def test_games_are_found_by_code_and_by_the_names_of_their_people(as_mo: Client, alice: User, bob: User) -> None:
    first, second = table_at(TWO_HANDS, [alice, bob]), table_at(TWO_HANDS, [bob, "careful"])
    assert listed(as_mo, f"q={first.game.code}") == {first.game.code}
    assert listed(as_mo, "q=alice") == {first.game.code}
    assert listed(as_mo, "q=bob") == {first.game.code, second.game.code}


def test_games_are_found_by_what_ails_them(as_mo: Client, alice: User, bob: User) -> None:
    now = timezone.now()
    fine = table_at(TWO_HANDS, [alice, bob], deadline=now + timedelta(hours=1)).game
    overdue = table_at(TWO_HANDS, [alice, bob], deadline=now - timedelta(hours=1)).game
    stuck = table_at(TWO_HANDS, [alice, bob]).game
    paused = table_at(TWO_HANDS, [alice, bob], paused_at=now, paused_reasons=["staff"]).game
    case = Case.objects.create(person=bob, kind=Case.Kind.OTHER, opened_at=now)
    Report.objects.create(case=case, reporter=alice, game=fine, at=now, text="He said a bad word to me.")

    assert listed(as_mo, "ails=overdue") == {overdue.code}
    assert listed(as_mo, "ails=stuck") == {stuck.code}
    assert listed(as_mo, "ails=paused") == {paused.code}
    assert listed(as_mo, "ails=reported") == {fine.code}


def test_the_game_page_of_the_staff_shows_what_everybody_sees_and_no_hand(
    as_mo: Client, alice: User, bob: User
) -> None:
    table = table_after([alice, bob, "careful"], 12, seed=0)
    body = unescape(as_mo.get(f"/admin/games/game/{table.game.pk}/change/").content.decode())
    round_, hands, _ = table.playing
    said = [line.text for line in rendering.log_of(queries.view_of(table, None), queries.log_of(table, None), NOON)]
    assert len(said) == table.game.version == 12
    assert all(len(hand.cards.split()) > 3 for hand in hands)
    assert all(sentence in body for sentence in said)
    assert not any(secret in body for secret in (bytes(round_.secret).hex(), round_.deal, round_.draw_pile))
    assert not any(hand.cards in body for hand in hands)


def test_notices_are_found_by_code_and_name_and_say_what_became_of_them(
    as_mo: Client, alice: User, bob: User, charlie: User
) -> None:
    first, second = table_at(TWO_HANDS, [alice, bob]).game, table_at(TWO_HANDS, [bob, charlie]).game
    for game, whom in ((first, alice), (second, charlie)):
        notices.tell(game, [notices.Intent(whom.pk, "caught", "You were caught by a canary.")], now=NOON)

    def found(query: str) -> set[tuple[str, str]]:
        answer = as_mo.get(f"/admin/games/notice/?q={query}")
        return {(row.user.username, row.channel) for row in answer.context["cl"].result_list}

    assert found(first.code) == found("alice") == {("alice", "site"), ("alice", "email")}
    assert found(second.code) == {("charlie", "site"), ("charlie", "email")}
    mail = Notice.objects.get(user=alice, channel="email")
    page = as_mo.get(f"/admin/games/notice/{mail.pk}/change/").content.decode()
    assert "Not sent" in page
    assert "off" in page
    assert "canary" not in page
    assert as_mo.post(f"/admin/games/notice/{mail.pk}/change/", {"state": "waiting"}).status_code == 403


def test_the_list_of_notices_costs_the_same_however_long_it_is(
    as_mo: Client, alice: User, bob: User, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for _ in range(8):
        game = table_at(TWO_HANDS, [alice, bob]).game
        notices.tell(game, [notices.Intent(user.pk, "out") for user in (alice, bob)], now=NOON)
    with django_assert_max_num_queries(9):
        assert as_mo.get("/admin/games/notice/").status_code == 200


def test_no_staff_page_has_a_field_that_holds_cards() -> None:
    cards = {
        "games.Round": {"deal", "secret", "draw_pile", "discard_pile", "set_aside", "drawn"},
        "games.Move": {"events", "token"},
        "games.Hand": {"cards"},
    }
    for model, model_admin in admin.site._registry.items():
        hidden = cards.get(model._meta.label)
        if hidden is not None:
            assert model_admin.fields is not None
            assert not hidden & {*model_admin.fields, *model_admin.list_display}, model
    assert "games.Hand" not in {model._meta.label for model in admin.site._registry}


def test_a_moderator_sees_no_mail_address_and_finds_its_owner_by_all_of_it(
    as_mo: Client, as_ann: Client, alice: User, bob: User
) -> None:
    def found(browser: Client, query: str) -> set[str]:
        answer = browser.get("/admin/accounts/user/", {"q": query})
        assert "bob@example.org" not in answer.content.decode()
        return {user.username for user in answer.context["cl"].result_list}

    assert found(as_mo, "Alice@example.org") == {"alice"}
    assert found(as_mo, "@example.org") == found(as_mo, "alice@example") == found(as_ann, "@example.org") == set()
    page = f"/admin/accounts/user/{alice.pk}/change/"
    assert "alice@example.org" not in as_mo.get(page).content.decode()
    assert "alice@example.org" in as_ann.get(page).content.decode()


def test_names_are_escaped_everywhere(as_ann: Client, alice: User, bob: User) -> None:
    User.objects.filter(pk=alice.pk).update(display_name=NAME)
    alice.refresh_from_db()
    table = table_after([alice, bob], 20, seed=2)
    pages = [
        "/admin/games/game/",
        f"/admin/games/game/{table.game.pk}/change/",
        "/admin/accounts/user/",
        f"/admin/accounts/user/{alice.pk}/change/",
        f"/admin/accounts/user/{alice.pk}/act/warn/",
    ]
    for page in pages:
        body = as_ann.get(page).content.decode()
        assert "<b id=canary>" not in body, page
        assert "&lt;b id=canary&gt;" in body, page


MORE = {"rename": {"username": "alicia"}, "set_role": {"role": "moderator"}}


@pytest.mark.parametrize("act", sorted(people_admin.PAGES))
def test_an_act_on_a_person_asks_a_reason_and_says_what_will_happen(
    as_ann: Client, ann: User, alice: User, act: str
) -> None:
    User.objects.filter(pk=ann.pk).update(is_superuser=act in ("set_role", "drop_factor"))
    if act == "lift":
        User.objects.filter(pk=alice.pk).update(suspended_until=timezone.now() + timedelta(days=1))
    if act == "reopen_account":
        User.objects.filter(pk=alice.pk).update(is_active=False)
    Authenticator.objects.create(user=alice, type=Authenticator.Type.TOTP, data={})
    url = f"/admin/accounts/user/{alice.pk}/act/{act}/"
    page = as_ann.get(url)
    for sentence in people_admin.PAGES[act].will:
        assert sentence in page.content.decode()
    days = {"days": 3, **MORE.get(act, {})}
    refused = as_ann.post(url, {**days, "reason": ""})
    assert refused.status_code == 422
    assert not AuditEntry.objects.exists()
    done = as_ann.post(url, {**days, "reason": REASON})
    assert (done.status_code, done.headers["Location"]) == (302, f"/admin/accounts/user/{alice.pk}/change/")
    entry = AuditEntry.objects.get()
    assert (entry.act, entry.person_id, entry.reason, entry.actor_name) == (act, alice.pk, REASON, "ann")


def test_an_act_that_a_role_does_not_have_is_neither_offered_nor_done(as_mo: Client, alice: User) -> None:
    assert "suspend_for_good" not in as_mo.get(f"/admin/accounts/user/{alice.pk}/change/").content.decode()
    url = f"/admin/accounts/user/{alice.pk}/act/suspend_for_good/"
    assert as_mo.get(url).status_code == 403
    assert as_mo.post(url, {"reason": REASON}).status_code == 403
    assert as_mo.get(f"/admin/accounts/user/{alice.pk}/act/explode/").status_code == 404


def test_an_act_that_is_refused_says_why_and_loses_nothing(as_mo: Client, ann: User) -> None:
    answer = as_mo.post(f"/admin/accounts/user/{ann.pk}/act/warn/", {"reason": REASON})
    assert answer.status_code == 403
    assert "Only an admin acts on members of staff." in answer.content.decode()
    assert REASON in answer.content.decode()


def test_a_moderator_changes_no_row(as_mo: Client, alice: User, bob: User) -> None:
    table = table_after([alice, bob], 5, seed=1)
    move = table.game.moves.get(n=1)
    for name, pk in (("game", table.game.pk), ("move", move.pk), ("round", table.game.round_id)):
        assert as_mo.post(f"/admin/games/{name}/{pk}/change/", {"status": "void"}).status_code in (200, 403)
        assert as_mo.post(f"/admin/games/{name}/{pk}/delete/", {"post": "yes"}).status_code == 403
    assert as_mo.post(f"/admin/accounts/user/{alice.pk}/change/", {"username": "x"}).status_code == 403
    assert Game.objects.get().status == Game.Status.PLAYING


def test_a_moderator_who_sits_at_a_table_sees_no_more_of_it_there(mo: User, alice: User) -> None:
    table = table_after([mo, alice, "careful"], 12, seed=0)
    body = staff_browser(mo).get(f"/admin/games/game/{table.game.pk}/change/").content.decode()
    assert table.hands is not None
    assert not any(hand.cards in body for hand in table.hands)
    assert logged_in(mo).get(f"/games/{table.game.code}/").status_code == 200
