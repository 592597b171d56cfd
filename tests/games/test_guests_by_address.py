"""How many guests one network address can make."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from accounts.limits import GUESTS
from accounts.models import User
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


def test_no_form_makes_more_guests_than_an_address_may_have(alice: User) -> None:
    public = lobby.create_table(user=alice, options=lobby.TableOptions(players=6), now=NOON)
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


def test_accounts_and_guests_who_play_on_are_not_counted(alice: User) -> None:
    browser = Client()
    for _ in range(2):
        assert send("/play-now/", browser=browser).status_code == 303
    for _ in range(3):
        assert send("/play-now/", browser=logged_in(alice)).status_code == 303
    assert send("/play-now/").status_code == 303
    assert send("/play-now/").status_code == 429


def test_a_visitor_who_gets_no_seat_is_not_counted(alice: User) -> None:
    private = lobby.create_table(user=alice, options=lobby.TableOptions(players=6, public=False), now=NOON)
    for _ in range(3):
        assert send(f"/games/{private.game.code}/join/").status_code == 404
    assert send("/play-now/").status_code == 303
