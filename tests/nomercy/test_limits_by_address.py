"""Every request counts for its address before its session, token or body is read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries
from pytest_django.fixtures import Settings
from structlog.testing import capture_logs

from accounts.models import User
from accounts.origin import TIMES_FOR_48
from nomercy import limits, storms
from nomercy.counting import Limiter, cache
from nomercy.limits import Limit
from tests.conftest import api_token, logged_in
from tests.security.headers import faults
from tests.support.tables import TWO_HANDS, table_at

pytestmark = pytest.mark.django_db
SMALL = 3


@pytest.fixture(autouse=True)
def _small_limits(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Allow three requests of each kind by address, and three moves by visitors."""
    settings.RATE_LIMITS = 100
    cache.clear()
    monkeypatch.setattr(limits, "limiter", Limiter(lambda: 1_000_000.0))
    monkeypatch.setattr(storms, "_once", storms.OnceAMinute())
    for name in ("READS", "OTHERS", "API_CALLS", "HEALTH_CHECKS"):
        monkeypatch.setattr(limits, name, Limit(name.lower(), None, SMALL), raising=False)
    moves = Limit("moves", 100, 100, visitors=SMALL)
    tables = Limit("tables", None, SMALL)
    monkeypatch.setattr(limits, "LIMITS", {"move": moves, "play-now": tables, "api-v1:make_move": moves})
    yield
    cache.clear()


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
    assert 0 < int(refused.headers["Retry-After"]) <= 71
    assert faults(refused) == []


@pytest.mark.parametrize("path", ["/no/such/page/", "/play-now/"])
def test_a_refusal_reads_neither_session_nor_body(
    alice: User, path: str, monkeypatch: pytest.MonkeyPatch, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    browser = logged_in(alice)
    for _ in range(SMALL + 1):
        browser.post(path)
    monkeypatch.setattr("django.http.request.HttpRequest._load_post_and_files", None)
    with django_assert_num_queries(0):
        refused = browser.post(path, {"a": "b"})
    assert refused.status_code == 429
    assert faults(refused) == []


def test_refusals_of_one_person_do_not_count_for_the_address(
    alice: User, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "LIMITS", {"play-now": Limit("tables", 2, 4, visitors=1)})
    assert [logged_in(alice).post("/play-now/").status_code for _ in range(6)] == [303] * 2 + [429] * 4
    assert [Client().post("/play-now/").status_code for _ in range(4)] == [303] + [429] * 3
    assert [logged_in(bob).post("/play-now/").status_code for _ in range(2)] == [303, 429]


def test_other_addresses_are_still_served() -> None:
    for _ in range(2 * SMALL):
        Client().put("/")
    assert Client().put("/").status_code == 429
    assert Client().put("/", REMOTE_ADDR="203.0.113.9").status_code == 405


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


def test_many_forms_over_a_personal_limit_run_no_queries(
    monkeypatch: pytest.MonkeyPatch, alice: User, bob: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    monkeypatch.setattr(limits, "LIMITS", {"move": Limit("moves", 1, 1_000)})
    monkeypatch.setattr(limits, "REFUSED", Limit("refused", None, SMALL))
    path = f"/games/{table_at(TWO_HANDS, [alice, bob]).game.code}/move/"
    browser = logged_in(alice)
    assert [browser.post(path).status_code for _ in range(SMALL + 2)] == [400] + [429] * (SMALL + 1)
    with django_assert_num_queries(0):
        assert browser.post(path).status_code == 429
    assert browser.get("/").status_code == 200
    elsewhere = logged_in(bob)
    assert elsewhere.post(path, REMOTE_ADDR="192.0.2.7").status_code == 400


@pytest.mark.parametrize("charset", ["rot13", "latin-1"])
def test_forms_that_cannot_be_read_meet_a_limit(monkeypatch: pytest.MonkeyPatch, charset: str) -> None:
    monkeypatch.setattr(limits, "UNREADABLE", Limit("unreadable", None, SMALL))
    kind = f"multipart/form-data; boundary=x; charset={charset}"
    answers = [Client().generic("POST", "/accounts/login/", b"--x--", kind).status_code for _ in range(SMALL + 2)]
    assert answers == [400] * (SMALL + 1) + [429]
    assert Client().get("/accounts/login/").status_code == 200
    assert Client(REMOTE_ADDR="192.0.2.7").generic("POST", "/accounts/login/", b"--x--", kind).status_code == 400


def test_api_and_reads_work_while_forms_are_refused(monkeypatch: pytest.MonkeyPatch, alice: User, bob: User) -> None:
    monkeypatch.setattr(limits, "LIMITS", {"join": Limit("seats", 1, 1_000), "api-v1:make_move": Limit("moves", 9, 9)})
    monkeypatch.setattr(limits, "REFUSED", Limit("refused", None, 1))
    code, browser = table_at(TWO_HANDS, [alice, bob]).game.code, logged_in(bob)
    path = f"/games/{code}/join/"
    assert [browser.post(path).status_code for _ in range(4)] == [409, 429, 429, 429]
    move, headers = {"move": "play b1", "version": 0}, {"Authorization": f"Bearer {api_token(alice)}"}
    by_api = Client().post(f"/api/v1/games/{code}/moves", move, "application/json", headers=headers)
    assert by_api.status_code == 422
    assert browser.get(f"/games/{code}/record/").status_code == 404  # it has not ended


def from_64(number: int) -> Client:
    """Return a browser in another /64 of one customer's /48."""
    return Client(REMOTE_ADDR=f"2001:db8:7:{number:x}::1")


@pytest.mark.long
@pytest.mark.parametrize(
    "ask",
    [FLOODS["HEAD"], FLOODS["a wrong CSRF token"], FLOODS["a move with a wrong token by a visitor"]],
    ids=["usual", "by view", "by visitors"],
)
def test_a_48_has_eight_times_the_limit_of_one_address(ask: Ask) -> None:
    most = SMALL * TIMES_FOR_48
    answers = [ask(from_64(number)).status_code for number in range(most + 1)]
    assert [status == 429 for status in answers] == [False] * most + [True]
    assert ask(Client(REMOTE_ADDR="2001:db8:8::1")).status_code == answers[0]
    assert [ask(Client(REMOTE_ADDR="192.0.2.7")).status_code for _ in range(SMALL)] == answers[:SMALL]
