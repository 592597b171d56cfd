"""Where nobody can sign up, play as a guest or look without logging in, no address is a way in."""

from __future__ import annotations

from collections.abc import Iterator
from http.cookies import SimpleCookie
from itertools import product
from typing import Any, Final

import pytest
from django.db import transaction
from django.db.models import Count, Q
from django.test import Client
from pytest_django import DjangoDbBlocker

from accounts import actions
from accounts.models import User
from games.models import Game
from nomercy.log_in_required import OPEN
from tests.security.test_permissions import Row, letter, rows, unrendered
from tests.security.world import World
from tests.support.pages import CHOICES, text_of
from tests.support.worlds import undone

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("provider"), pytest.mark.long]

PASSWORD: Final = "four green reverses"
FORM: Final = {
    **CHOICES, "username": "newcomer", "email": "new@example.org", "password1": PASSWORD, "password2": PASSWORD,
    "login": "newcomer", "password": PASSWORD, "time_zone": "UTC",
}  # fmt: skip
"""A form with the fields of all forms that make a user."""
MAKES_A_USER: Final = {"account_signup", "play-now", "new-table", "join", "invite"}


@pytest.fixture(scope="module")
def world(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[World]:
    """Make one world for all tests, with the table that waits for players in the addresses."""
    with django_db_blocker.unblock(), transaction.atomic():
        made = World()
        waiting = Game.objects.get(status=Game.Status.OPEN)
        made.arguments |= {"code": waiting.code, "key": waiting.invite_key}
        yield made
        transaction.set_rollback(True)


@pytest.fixture
def closed(settings: Any) -> None:
    settings.REGISTRATION, settings.GUESTS, settings.LOGIN_REQUIRED = "closed", False, True


def names_of(page: list[Row]) -> set[str]:
    return {row.address.name for row in page}


def people() -> tuple[int, int]:
    counted = User.objects.aggregate(all=Count("pk"), guests=Count("pk", filter=Q(is_guest=True)))
    return counted["all"], counted["guests"]


def addresses_that_make_a_user(world: World, browser: Client) -> set[str]:
    """Return the names of the addresses where a valid form of this browser makes a user or an account of a guest."""
    before, found = people(), set()
    for row in {row.address.key: row for row in rows()}.values():  # one act of each subject
        for as_json in (False, True) if row.address.name.startswith("api-v1:") else (False,):
            with undone():
                kind: dict[str, Any] = {"content_type": "application/json"} if as_json else {}
                cookies = {name: morsel.value for name, morsel in browser.cookies.items()}
                with unrendered(None):
                    browser.post(world.url(row.address, row.act), FORM, **kind)
                browser.cookies = SimpleCookie(cookies)
                if people() != before:
                    found.add(row.address.name)
    return found


def guest_browser() -> Client:
    guest = Client()
    guest.post("/play-now/")
    return guest


def test_the_walk_finds_each_address_that_makes_a_user(world: World) -> None:
    assert addresses_that_make_a_user(world, Client()) == MAKES_A_USER
    with undone():
        assert addresses_that_make_a_user(world, guest_browser()) == {"account_signup"}


def test_nobody_becomes_a_user_where_registration_is_closed(world: World, settings: Any) -> None:
    with undone():
        browsers = [Client(), guest_browser()]
        settings.REGISTRATION, settings.GUESTS = "closed", False
        assert [addresses_that_make_a_user(world, browser) for browser in browsers] == [set()] * 2
        with pytest.raises(actions.GuestsAreOff):
            actions.create_guest()


def test_without_guests_an_account_is_the_only_way_in(world: World, settings: Any) -> None:
    settings.GUESTS = False
    assert addresses_that_make_a_user(world, Client()) == {"account_signup"}


def test_a_visitor_is_sent_to_the_log_in_page(world: World, closed: None) -> None:
    for row, method in product(rows(), ("GET", "POST", "OPTIONS")):
        got = letter(world, "anonymous", method, row)
        assert row.address.name in OPEN or got == "L", f"{method} {row.key}"


def test_what_is_open_exists_and_names_nobody(world: World, closed: None) -> None:
    found = [row for row in rows() if row.address.name in OPEN]
    assert names_of(found) == OPEN
    hidden = [person.username for person in world.people.values() if person is not None]
    for row in found:
        text = text_of(Client().get(world.url(row.address)))
        assert [name for name in (*hidden, world.arguments["code"]) if f" {name} " in text] == [], row.key


def test_a_visitor_costs_no_query(world: World, closed: None, django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(0):
        for row in rows():
            if row.address.name not in OPEN:
                Client().get(world.url(row.address, row.act))
