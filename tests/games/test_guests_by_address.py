"""Test how many guests one network address can make."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.test import Client
from pytest_django.fixtures import Settings

from accounts.models import CountedTry, User
from common.limits import GUESTS
from games.actions import lobby
from games.models import Game
from games.web import guests
from tests.conftest import logged_in
from tests.support.pages import CHOICES
from tests.support.tables import NOON

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def two_an_hour(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.RATE_LIMITS = 100
    monkeypatch.setattr(guests, "GUESTS", replace(GUESTS, most=2))


def send(
    path: str, data: dict[str, Any] | None = None, *, address: str = "192.0.2.1", browser: Client | None = None
) -> Any:
    return (browser or Client()).post(path, data or {}, REMOTE_ADDR=address)


def test_no_form_exceeds_the_limit_on_guests_of_an_address(alice: User) -> None:
    public = lobby.create_table(user=alice, choices=lobby.TableChoices(players=6), now=NOON)
    join = f"/games/{public.game.code}/join/"
    assert send("/play-now/").status_code == 303
    assert send(join).status_code == 303
    tables, seats = Game.objects.count(), public.game.seats.count()
    for path, data in (("/play-now/", {}), (join, {}), ("/tables/new/", CHOICES)):
        refused = send(path, data)
        assert refused.status_code == 429
        assert refused.headers["Retry-After"]
        assert "Too many new guests from your network. Try again in 60 minutes." in refused.content.decode()
    assert (Game.objects.count(), public.game.seats.count()) == (tables, seats)
    assert User.objects.filter(is_guest=True).count() == 2
    assert send("/play-now/", address="192.0.2.9").status_code == 303


@pytest.mark.long
def test_accounts_and_existing_guests_are_not_counted(alice: User) -> None:
    browser = Client()
    for _ in range(2):
        assert send("/play-now/", browser=browser).status_code == 303
    for _ in range(3):
        assert send("/play-now/", browser=logged_in(alice)).status_code == 303
    assert send("/play-now/").status_code == 303
    assert send("/play-now/").status_code == 429


def test_a_visitor_who_gets_no_seat_is_not_counted(alice: User) -> None:
    private = lobby.create_table(user=alice, choices=lobby.TableChoices(players=6, public=False), now=NOON)
    for _ in range(3):
        assert send(f"/games/{private.game.code}/join/").status_code == 404
    assert send("/play-now/").status_code == 303


def browser_with_a_form() -> Client:
    browser = Client()
    browser.cookies[django_settings.CSRF_COOKIE_NAME] = "a" * 32
    return browser


@pytest.mark.long
@pytest.mark.parametrize(("path", "data"), [("/play-now/", {}), ("/tables/new/", CHOICES)])
def test_a_double_click_counts_one_guest(path: str, data: dict[str, Any]) -> None:
    for _ in range(3):
        assert send(path, {**data, "form": "one"}, browser=browser_with_a_form()).status_code == 303
    assert User.objects.filter(is_guest=True).count() == 1
    assert CountedTry.objects.get().count == 1


def test_a_double_click_at_the_limit_leads_to_the_table_of_the_first_click() -> None:
    send("/play-now/")
    clicks = [send("/play-now/", {"form": "one"}, browser=browser_with_a_form()) for _ in range(2)]
    assert [click.status_code for click in clicks] == [303, 303]
    assert clicks[0].headers["Location"] == clicks[1].headers["Location"]
    assert send("/play-now/", {"form": "two"}, browser=browser_with_a_form()).status_code == 429
    Game.objects.update(created_at=NOON - timedelta(days=1))
    assert send("/play-now/", {"form": "one"}, browser=browser_with_a_form()).status_code == 429
