"""Every request counts for its address before its session, token or body is read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries
from pytest_django.fixtures import Settings
from structlog.testing import capture_logs

from accounts.models import User
from common.limits import Limit, RequestLimits
from nomercy import limits, log_throttle
from tests.conftest import api_token, logged_in
from tests.security.headers import faults
from tests.support.tables import TWO_HANDS, table_at

pytestmark = pytest.mark.django_db
SMALL = 3


@pytest.fixture(autouse=True)
def _small_limits(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """Allow three requests of each kind by address, and three moves by visitors."""
    settings.RATE_LIMITS = 100
    log_throttle.OF_THIS_PROCESS.forget()
    for name in ("READS", "OTHERS", "API_CALLS", "HEALTH_CHECKS"):
        monkeypatch.setattr(f"common.limits.{name}", requests(name.lower(), address=SMALL))
    moves, tables = requests("moves", person=100, visitor=SMALL, address=100), requests("tables", address=SMALL)
    monkeypatch.setattr(limits, "WRITE_LIMITS", {"move": moves, "play-now": tables, "api-v1:make_move": moves})


def requests(name: str, **most: int) -> RequestLimits:
    return {who: Limit(name, who, number) for who, number in most.items()}


Ask = Callable[[Client], Any]


def sent(method: str, path: str, **more: Any) -> Ask:
    return lambda client: client.generic(method, path, **more)


FORM = {"content_type": "application/x-www-form-urlencoded", "data": "csrfmiddlewaretoken=wrong"}
FLOODS = {
    "a wrong CSRF token": sent("POST", "/play-now/", **FORM),
    "a form for nobody": sent("POST", "/no/such/page/", **FORM),
    "a form for the front page": sent("POST", "/", **FORM),
    "a move with a wrong token by a visitor": sent("POST", "/games/none234567/move/", **FORM),
    "OPTIONS": sent("OPTIONS", "/"),
    "OPTIONS for nobody": sent("OPTIONS", "/no/such/page/"),
    "HEAD": sent("HEAD", "/about/"),
    "PUT": sent("PUT", "/"),
    "DELETE": sent("DELETE", "/games/none234567/"),
    "PATCH for nobody": sent("PATCH", "/no/such/page/"),
    "a method that nobody knows": sent("FROBNICATE", "/"),
    "TRACE": sent("TRACE", "/about/"),
    "PUT at a health check": sent("PUT", "/healthz"),
    "health checks": sent("GET", "/healthz"),
    "the API where nothing is": sent("POST", "/api/v1/none"),
    "the API by a wrong method": sent("DELETE", "/api/v1/me"),
    "a method that the API does not know": sent("FROBNICATE", "/api/v1/games"),
    "no version of the API": sent("GET", "/api/"),
    "moves by the API": sent("POST", "/api/v1/games/none234567/moves", data="{}", content_type="application/json"),
}


@pytest.mark.parametrize("flood", FLOODS)
def test_every_repeated_request_reaches_a_limit(flood: str, django_assert_num_queries: DjangoAssertNumQueries) -> None:
    browser = Client(enforce_csrf_checks=True)
    answers = [FLOODS[flood](browser).status_code for _ in range(SMALL)]
    assert 429 not in answers
    with django_assert_num_queries(0):
        refused = FLOODS[flood](browser)
    assert refused.status_code == 429
    assert refused.headers["Retry-After"] == "60"
    assert faults(refused) == []


@pytest.mark.parametrize("path", ["/no/such/page/", "/play-now/"])
def test_a_refusal_reads_neither_session_nor_body(
    alice: User, path: str, monkeypatch: pytest.MonkeyPatch, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    browser = logged_in(alice)
    for _ in range(SMALL + 1):
        browser.post(path)
    monkeypatch.setattr("django.http.request.HttpRequest.body", property(lambda self: pytest.fail("it was read")))
    monkeypatch.setattr("django.http.request.HttpRequest.read", None)
    with django_assert_num_queries(0):
        refused = browser.post(path, {"a": "b"})
    assert refused.status_code == 429
    assert faults(refused) == []


def test_other_addresses_are_still_served() -> None:
    for _ in range(2 * SMALL):
        Client().put("/")
    assert Client().put("/").status_code == 429
    assert Client().put("/", REMOTE_ADDR="203.0.113.9").status_code == 405


@pytest.mark.long
def test_a_player_is_served_while_visitors_of_the_address_flood_moves(alice: User, bob: User) -> None:
    url, browser = f"/games/{table_at(TWO_HANDS, [alice, bob]).game.code}/move/", logged_in(alice)
    flood = Client(enforce_csrf_checks=True)
    answers = [flood.post(url).status_code for _ in range(SMALL + 1)]
    assert answers == [403] * SMALL + [429]
    assert [browser.post(url, {"move": "play b1", "version": 0}).status_code for _ in range(10)] == [422] * 10


def test_refusals_log_one_line_a_minute_per_limit(alice: User) -> None:
    headers = {"Authorization": f"Bearer {api_token(alice)}"}
    with capture_logs() as lines:
        for number in range(20):
            Client().generic(f"METHOD{number}", f"/no/such/page/{number}/")
            Client().get("/api/v1/me", headers=headers)
    refusals = [line for line in lines if line["event"] == "too many requests"]
    assert [line["limit"] for line in refusals] == ["others", "api_calls"]
    assert sum(line["event"] == "request" for line in lines) == 2 * SMALL
    assert len(lines) == len(refusals) + 2 * SMALL


def test_a_flood_of_forms_over_a_personal_limit_counts_for_the_address(
    monkeypatch: pytest.MonkeyPatch, alice: User, bob: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    monkeypatch.setattr(limits, "WRITE_LIMITS", {"join": requests("seats", person=1, address=3)})
    path, browser = f"/games/{table_at(TWO_HANDS, [alice, bob]).game.code}/join/", logged_in(alice)
    assert [browser.post(path).status_code for _ in range(3)] == [409, 429, 429]
    with django_assert_num_queries(0):
        assert browser.post(path).status_code == 429
    assert browser.get("/about/").status_code == 200
    assert logged_in(bob).post(path, REMOTE_ADDR="192.0.2.7").status_code == 409


@pytest.mark.parametrize("charset", ["rot13", "latin-1"])
def test_forms_that_cannot_be_read_meet_a_limit(charset: str) -> None:
    kind = f"multipart/form-data; boundary=x; charset={charset}"
    answers = [Client().generic("POST", "/accounts/login/", b"--x--", kind).status_code for _ in range(SMALL + 1)]
    assert answers == [400] * SMALL + [429]
    assert Client().get("/accounts/login/").status_code == 200
    assert Client(REMOTE_ADDR="192.0.2.7").generic("POST", "/accounts/login/", b"--x--", kind).status_code == 400


def test_an_ipv6_address_counts_as_its_64() -> None:
    answers = [Client(REMOTE_ADDR=f"2001:db8:7:1::{n}").head("/about/").status_code for n in range(SMALL + 1)]
    assert answers == [200] * SMALL + [429]
    assert Client(REMOTE_ADDR="2001:db8:7:2::1").head("/about/").status_code == 200
