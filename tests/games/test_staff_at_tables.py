"""Test all staff acts at tables: who may perform them, their pages, and that the game still replays."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import User
from games.actions.play import play_move
from games.models import AuditEntry, Game, Seat
from games.queries import Table, Viewer
from games.queries.verify import faults_of
from games.rules.cards import card_name
from games.staff import tables
from games.staff.acts import TABLE_ACTS
from tests.conftest import staff
from tests.support.codes import staff_browser
from tests.support.pages import text_of
from tests.support.staff import REASON, act, dealt, entry_of, refused
from tests.support.tables import NOON, TWO_HANDS, now_of, table_after, table_at

__all__ = ["dealt"]  # the fixture


def test_the_page_to_choose_a_seat_says_whose_seat_staff_may_not_touch(dealt: Table, mo: User, bob: User) -> None:
    User.objects.filter(pk=bob.pk).update(is_staff=True)
    browser = staff_browser(mo)
    page = text_of(browser.get(f"/admin/games/game/{dealt.game.pk}/act/remove/"))
    assert "Remove alice, seat 1" in page
    assert "Remove bob, seat 2: Only an admin can do this to a staff member." in page
    assert 'href="?seat=1"' not in browser.get(f"/admin/games/game/{dealt.game.pk}/act/remove/").content.decode()


def test_a_paused_game_says_how_to_void_its_round(dealt: Table, mo: User) -> None:
    browser, page = staff_browser(mo), f"/admin/games/game/{dealt.game.pk}/change/"
    said = "To void the round, resume the game first."
    assert said not in text_of(browser.get(page))
    tables.pause(**act(dealt, mo))
    assert said in text_of(browser.get(page))
    Game.objects.filter(pk=dealt.game.pk).update(paused_reasons=[Game.PAUSED_BY_RESTORE])
    assert said not in text_of(browser.get(page))  # staff cannot end that pause


@pytest.mark.parametrize("name", ["move_seat", "remove"])
@pytest.mark.parametrize("what", ["look", "extend", "pause", "void_round"])
def test_a_staff_member_who_lost_a_seat_still_cannot_act_there(
    ann: User, mo: User, bob: User, charlie: User, name: str, what: str
) -> None:
    User.objects.create_user(username="dora")
    table = table_at(TWO_HANDS, [mo, bob])
    more = {"username": "dora"} if name == "move_seat" else {"bot": True}
    tables.PERFORM[TABLE_ACTS[name]](**act(table, ann, seat=0, **more))
    minutes = {"minutes": 5} if what == "extend" else {}
    message = refused("forbidden", tables.PERFORM[TABLE_ACTS[what]], **act(table, mo, **minutes))
    assert "You are or were a player at this table" in message
    other = table_at(TWO_HANDS, [charlie, "careful"])
    tables.view_hands(**act(other, mo))


AT_TABLES: dict[str, dict[str, Any]] = {
    "say": {"said": "Please wait a moment."},
    "pause": {},
    "resume": {},
    "extend": {"minutes": 5},
    "forgive": {"seat": 0},
    "void_round": {},
    "void_game": {},
    "close": {},
    "remove": {"seat": 0, "bot": True},
    "move_seat": {"seat": 0, "username": "charlie"},
    "look": {},
}


@pytest.mark.parametrize("name", sorted(AT_TABLES))
def test_a_staff_member_cannot_act_at_their_own_table(ann: User, bob: User, name: str) -> None:
    table = table_at(TWO_HANDS, [bob, ann])
    message = refused("forbidden", tables.PERFORM[TABLE_ACTS[name]], **act(table, ann, **AT_TABLES[name]))
    assert "You are or were a player at this table" in message
    assert not AuditEntry.objects.exists()


@pytest.mark.parametrize("name", sorted(AT_TABLES))
def test_only_staff_can_act_at_a_table(dealt: Table, bob: User, name: str) -> None:
    refused("forbidden", tables.PERFORM[TABLE_ACTS[name]], **act(dealt, bob, **AT_TABLES[name]))


def test_a_moderator_cannot_void_a_game_or_give_a_seat_away(dealt: Table, mo: User) -> None:
    refused("forbidden", tables.void_game, **act(dealt, mo))
    refused("forbidden", tables.move_seat, **act(dealt, mo, seat=1, username="dora"))


def test_every_act_at_a_table_is_tested() -> None:
    assert set(TABLE_ACTS) == set(AT_TABLES)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("name", sorted(set(AT_TABLES) - {"close"}))
def test_a_game_still_replays_after_every_act(dealt: Table, ann: User, name: str) -> None:
    User.objects.create_user(username="dora")
    more = AT_TABLES[name] | ({"username": "dora"} if name == "move_seat" else {})
    if name == "resume":
        tables.pause(**act(dealt, ann))
    if name == "forgive":
        Seat.objects.filter(game=dealt.game, index=0).update(misses=1)
    tables.PERFORM[TABLE_ACTS[name]](**act(dealt, ann, **more))
    assert faults_of(dealt.game.pk) == []
    if name == "pause":
        tables.resume(**act(dealt, ann))
    after = now_of(dealt)
    user = after.on_turn.user
    if user is not None and name != "void_game":
        play_move(code=dealt.game.code, viewer=Viewer(user), text="draw", version=after.game.version, now=NOON)
    assert faults_of(dealt.game.pk) == []


ON_SEATS: dict[str, dict[str, Any]] = {
    "forgive": {"seat": 1},
    "remove": {"seat": 1, "bot": True},
    "move_seat": {"seat": 1, "username": "dora"},
}


def test_every_act_on_a_seat_has_its_test() -> None:
    assert set(ON_SEATS) == {act.name for act in TABLE_ACTS.values() if act.seats}


@pytest.mark.parametrize("name", ON_SEATS)
def test_acts_on_a_seat_follow_the_rules_about_acts_on_a_person(
    alice: User, charlie: User, ann: User, root: User, name: str
) -> None:
    User.objects.create_user(username="dora")
    of_staff, of_root = (
        table_after([alice, staff("max", "moderator")], 4, seed=0),
        table_after([alice, root], 4, seed=0),
    )
    of_friend = table_after([alice, charlie], 4, seed=0)
    table_after([ann, charlie], 4, seed=0)
    Seat.objects.filter(index=1).update(misses=1)
    perform, more = tables.PERFORM[TABLE_ACTS[name]], ON_SEATS[name]
    if name != "move_seat":  # for admins only
        message = refused("forbidden", perform, **act(of_staff, staff("mia", "moderator"), **more))
        assert message == "Only an admin can do this to a staff member."
    assert "to a superuser" in refused("forbidden", perform, **act(of_root, ann, **more))
    assert "You are playing with charlie" in refused("forbidden", perform, **act(of_friend, ann, **more))
    assert not AuditEntry.objects.exists()
    perform(**act(of_staff, ann, **more))


FORMS: dict[str, dict[str, Any]] = {
    "extend": {"amount": "30"},
    "forgive": {"seat": "1"},
    "remove": {"seat": "1", "instead": "aside"},
    "move_seat": {"seat": "1", "username": "dora"},
}


@pytest.fixture
def browser(dealt: Table, ann: User) -> Client:
    User.objects.create_user(username="dora")
    Seat.objects.filter(game=dealt.game, index=1).update(misses=1)
    return staff_browser(ann)


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(set(TABLE_ACTS) - {"say", "close", "resume", "look"}))
def test_the_page_of_an_act_explains_and_performs_it(dealt: Table, browser: Client, name: str) -> None:
    back = f"/admin/games/game/{dealt.game.pk}/change/"
    url = f"/admin/games/game/{dealt.game.pk}/act/{name}/"
    Game.objects.filter(pk=dealt.game.pk).update(deadline=timezone.now() + timedelta(hours=1))
    assert url in browser.get(back).content.decode()
    body = browser.get(url, {"seat": "1"} if TABLE_ACTS[name].seats else {}).content.decode()
    assert all(sentence.replace("'", "&#x27;") in body for sentence in TABLE_ACTS[name].consequences)
    assert browser.post(url, FORMS.get(name, {})).status_code == 422
    assert not AuditEntry.objects.exists()
    answer = browser.post(url, {**FORMS.get(name, {}), "reason": REASON})
    assert (answer.status_code, answer.headers.get("Location")) == (302, back)
    assert entry_of(dealt).act == name
    assert REASON in browser.get(back).content.decode()


def test_hands_are_shown_in_the_response_only(dealt: Table, browser: Client) -> None:
    url = f"/admin/games/game/{dealt.game.pk}/act/look/"
    assert not any(" ".join(hand) in browser.get(url).content.decode() for hand in dealt.started.position.hands)
    answer = browser.post(url, {"reason": REASON})
    assert answer.status_code == 200
    assert answer.headers["Cache-Control"] == "no-store, private"
    page = answer.content.decode()
    for hand in dealt.started.position.hands:
        for card in hand:
            assert f"<span>{card_name(card)}</span>" in page
    assert page.count('<svg class="face ') == sum(map(len, dealt.started.position.hands))
    assert entry_of(dealt).act == "look"
