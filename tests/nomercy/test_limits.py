"""Limits on requests: too many are refused, in time and by the right count, and normal play never reaches a limit."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.core.cache import caches
from django.db import connection, transaction
from django.test import Client, RequestFactory
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries
from pytest_django.fixtures import Settings
from structlog.testing import capture_logs

from accounts.models import User
from accounts.origin import address_of, address_of_scope
from common.limits import MOVES, READS, Limit
from games.actions import lobby
from games.models import Game
from nomercy import limits
from nomercy.cache import FailOpenRedisCache
from nomercy.limits import throttle
from tests.conftest import api_token, logged_in
from tests.security.urls import addresses
from tests.security.world import World
from tests.support.pages import CHOICES
from tests.support.tables import NOON, TWO_HANDS, table_after, table_at

TEN = Limit("ten", "person", 10, 60)


class Clock:
    def __init__(self) -> None:
        self.now = 3_600_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    found = Clock()
    monkeypatch.setattr(limits, "clock", found)
    return found


@pytest.fixture(autouse=True)
def _limited(settings: Settings) -> None:
    settings.RATE_LIMITS = 100


def taken(tries: int, limit: Limit = TEN, who: str = "somebody") -> int:
    return sum(throttle(limit, who) == 0 for _ in range(tries))


# The counting itself


def test_over_a_limit_requests_wait_until_the_window_ends(clock: Clock) -> None:
    clock.now += 20
    assert taken(15) == 10
    assert throttle(TEN, "somebody") == 40
    clock.now += 39
    assert throttle(TEN, "somebody") == 1  # refused requests make the wait no longer
    clock.now += 1
    assert taken(15) == 10


def test_each_person_and_each_limit_has_a_count(clock: Clock) -> None:
    assert taken(15) == 10
    assert taken(15, who="another") == 10
    assert taken(15, Limit("eleven", "person", 11)) == 11


def test_threads_together_have_exactly_the_limit() -> None:
    with ThreadPoolExecutor(16) as threads:
        assert sum(threads.map(lambda _: taken(5), range(16))) == 10


def test_junk_in_the_cache_does_not_erase_counts(settings: Settings) -> None:
    assert taken(15) == 10
    for number in range(settings.CACHES["default"]["OPTIONS"]["MAX_ENTRIES"] + 1):  # drops what was used longest ago
        caches["default"].set(f"junk{number}", 1)
    assert taken(15) == 0


def test_without_redis_all_requests_are_served_and_it_is_logged(monkeypatch: pytest.MonkeyPatch) -> None:
    away = FailOpenRedisCache("redis://127.0.0.1:1/0", {"OPTIONS": {"socket_connect_timeout": 0.2}})
    monkeypatch.setattr(limits, "cache", away)
    with capture_logs() as lines:
        assert taken(100) == 100
        limits.give_back(TEN, "somebody")
    assert [line["event"] for line in lines] == ["cache failed"]


def test_normal_play_stays_far_below_the_limits() -> None:
    """Twenty tables with a move a second; fifty people in one network with two pages that fetch themselves a second."""
    assert MOVES["person"].most >= 5 * 20 * 60
    assert MOVES["address"].most >= 50 * 20 * 60
    assert READS["address"].most >= 2 * 50 * 60


# By person, token and address


def ask_with(token: str, address: str = "203.0.113.1") -> Any:
    headers = {"Authorization": f"Bearer {token}"}
    return Client().get("/api/v1/me", headers=headers, REMOTE_ADDR=address)


@pytest.fixture
def five_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    """Allow five API calls of a token or session, and eight of an address."""
    small = {who: Limit("api", who, most) for who, most in {"token": 5, "session": 5, "address": 8}.items()}
    monkeypatch.setattr("common.limits.API_CALLS", small)


def test_too_many_calls_of_one_token_are_refused_with_the_error_object(
    five_calls: None, alice: User, bob: User
) -> None:
    token = api_token(alice)
    *answers, last = [ask_with(token) for _ in range(6)]
    assert {answer.status_code for answer in answers} == {200}
    assert (last.status_code, last.json()["error"]) == (429, "too_many_requests")
    assert last["Retry-After"] == "60"
    assert last.json()["message"] == "Too many requests in a short time. Try again in 60 seconds."
    assert ask_with(api_token(bob)).status_code == 200
    assert [ask_with(api_token(bob)).status_code for _ in range(2)] == [200, 429]  # the address


def test_spellings_of_a_token_share_a_count(five_calls: None, alice: User) -> None:
    token = api_token(alice)
    schemes = ["Bearer", "bearer", "BEARER", "bEARER", "beArer", "beaRer"]
    answers = [Client().get("/api/v1/me", headers={"Authorization": f"{one} {token}"}).status_code for one in schemes]
    assert answers == [200] * 5 + [429]


def test_an_invented_token_does_not_bypass_a_personal_limit(
    five_calls: None, settings: Settings, as_alice: Client, alice: User, bob: User
) -> None:
    calls = [as_alice.get("/api/v1/me", headers={"Authorization": f"Bearer x{n}"}).status_code for n in range(6)]
    assert calls == [200] * 5 + [429]
    settings.RATE_LIMITS = 10  # six a minute
    forms = [
        as_alice.post("/games/none234567/join/", headers={"Authorization": f"Bearer x{n}"}).status_code
        for n in range(7)
    ]
    assert forms == [404] * 6 + [429]


@pytest.mark.long
def test_unknown_tokens_count_by_address_and_then_run_no_query(
    alice: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    answers = [ask_with(f"junk{n}") for n in range(70)]
    assert [answer.status_code for answer in answers] == [401] * 60 + [429] * 10
    assert (answers[-1].json()["error"], answers[-1]["Retry-After"]) == ("too_many_requests", "60")
    with django_assert_num_queries(0):
        assert ask_with("more junk").status_code == 429
    assert ask_with("junk", "203.0.113.9").status_code == 401


@pytest.mark.long
def test_known_tokens_do_not_count_as_unknown_and_work_while_their_address_sends_junk(
    settings: Settings, clock: Clock, alice: User
) -> None:
    settings.RATE_LIMITS = 10  # six unknown tokens a minute
    tokens = [api_token(alice) for _ in range(8)]
    assert {ask_with(token).status_code for token in tokens} == {200}
    clock.now += 120
    assert [ask_with(f"junk{n}").status_code for n in range(8)] == [401] * 6 + [429] * 2
    assert {ask_with(token).status_code for token in tokens} == {200}


def test_limits_add_no_queries(settings: Settings, as_alice: Client, alice: User, bob: User) -> None:
    token, url = api_token(alice), f"/games/{table_at(TWO_HANDS, [alice, bob]).game.code}/"
    asks: list[Callable[[], Any]] = [lambda: ask_with(token), lambda: as_alice.get(url)]
    costs: list[list[int]] = [[], []]
    for ask, cost in zip(asks, costs, strict=True):
        ask()
        for percent in (0, 100):
            settings.RATE_LIMITS = percent
            with CaptureQueriesContext(connection) as done:
                assert ask().status_code == 200
            cost.append(len(done))
    assert [with_limits - without for without, with_limits in costs] == [0, 0]


# By what is done


@pytest.mark.parametrize(("path", "name"), [("/games/{}/record/", "page"), ("/api/v1/games/{}/record", "call")])
def test_records_have_their_own_limit(settings: Settings, alice: User, bob: User, path: str, name: str) -> None:
    settings.RATE_LIMITS = 1
    game = table_after([alice, bob], 10_000, seed=3).game
    headers = {"Authorization": f"Bearer {api_token(alice)}"} if name == "call" else {}
    answers = [Client().get(path.format(game.code), headers=headers).status_code for _ in range(4)]
    assert answers == [200] * 3 + [429]
    assert Client().get(f"/games/{game.code}/log/").status_code == 200


def test_too_many_moves_are_refused_without_effect(
    monkeypatch: pytest.MonkeyPatch, as_alice: Client, alice: User, bob: User
) -> None:
    monkeypatch.setitem(limits.WRITE_LIMITS, "move", {"person": Limit("moves", "person", 4)})
    table = table_at(TWO_HANDS, [alice, bob])
    url = f"/games/{table.game.code}/move/"
    answers = [as_alice.post(url, {"move": "play b1", "version": 0}).status_code for _ in range(4)]
    assert answers == [422] * 4
    refused = as_alice.post(url, {"move": "play r5", "version": 0})
    assert refused.status_code == 429
    fragment = as_alice.post(url, {"move": "play r5", "version": 0}, headers={"HX-Request": "true"})
    # A whole page: static/js/announce.js tells its reason, and the page that asked stays.
    assert (fragment.status_code, fragment.content) == (429, refused.content)
    assert "Too many requests in a short time. Try again in 60 seconds." in fragment.content.decode()
    table.game.refresh_from_db()
    assert table.game.version == 0
    assert as_alice.get(f"/games/{table.game.code}/").status_code == 200


@pytest.mark.parametrize("act", ["join", "leave", "start", "pause", "resume", "take-back", "orders"])
def test_api_calls_at_a_table_have_a_limit(settings: Settings, alice: User, act: str) -> None:
    settings.RATE_LIMITS = 1  # 6 a minute
    headers = {"Authorization": f"Bearer {api_token(alice)}", "Content-Type": "application/json"}
    method, url = "PUT" if act == "orders" else "POST", f"/api/v1/games/k7m2/{act}"
    answers = [Client().generic(method, url, "{}", headers=headers).status_code for _ in range(7)]
    assert (404 in answers[:6], 429 in answers[:6], answers[6]) == (True, False, 429)


@pytest.mark.long
def test_new_tables_on_pages_and_over_the_api_count_together_for_an_hour(
    settings: Settings, clock: Clock, alice: User, bob: User
) -> None:
    settings.RATE_LIMITS = 1  # 12 new tables an hour; forms that are refused count too

    def refused(user: User) -> tuple[bool, bool]:
        page = logged_in(user).post("/tables/new/", {"players": 9})
        headers = {"Authorization": f"Bearer {api_token(user)}"}  # another one each time
        call = Client().post("/api/v1/games", {"players": 9}, content_type="application/json", headers=headers)
        return page.status_code == 429, call.status_code == 429

    assert [refused(alice) for _ in range(6)] == [(False, False)] * 6
    clock.now += 50 * 60
    assert refused(alice) == (True, True)
    assert refused(bob) == (False, False)
    clock.now += 10 * 60
    assert refused(alice) == (False, False)


def test_the_names_in_the_tables_are_those_of_url_patterns() -> None:
    """Otherwise a view that was renamed would have no limit of its own."""
    names = {address.name for address in addresses()}
    assert {*limits.WRITE_LIMITS, *limits.READ_LIMITS} <= names


# Visitors


def test_visitors_of_one_address_have_a_limit_of_guests(settings: Settings, db: None) -> None:
    settings.RATE_LIMITS = 3
    answers = [Client().post("/play-now/").status_code for _ in range(4)]
    assert answers == [303, 303, 303, 429]
    assert User.objects.count() == Game.objects.count() == 3


@pytest.mark.long
@pytest.mark.parametrize("by", ["join", "invite"])
def test_joining_as_a_visitor_has_a_limit(settings: Settings, alice: User, by: str) -> None:
    settings.RATE_LIMITS = 10
    answers = []
    for _ in range(5):
        options = lobby.TableChoices(players=3, bots=1, public=by == "join")
        game = lobby.create_table(user=alice, choices=options, now=NOON).game
        argument = game.code if by == "join" else game.invite_key
        answers.append(Client().post(reverse(by, args=[argument])).status_code)
    assert answers == [303, 303, 303, 429, 429]
    assert User.objects.filter(is_guest=True).count() == 3


@pytest.mark.long
def test_every_form_that_creates_a_guest_has_a_visitor_limit(db: None, settings: Settings) -> None:
    """Send each form of the site as a visitor without a cookie."""
    settings.RATE_LIMITS = 0
    world, word = World(), "a long way to Bergen"
    host = User.objects.get(username="alice")
    opened = lobby.create_table(user=host, choices=lobby.TableChoices(players=3), now=NOON).game
    world.arguments |= {"code": opened.code, "key": opened.invite_key}
    forms = {"new-table": CHOICES, "account_signup": {"username": "dave", "password1": word, "password2": word}}
    made = set()
    for address in addresses():
        before = User.objects.count()
        with transaction.atomic():
            Client().post(world.url(address), forms.get(address.name, {}))
            if User.objects.count() > before:
                made.add(address.name)
            transaction.set_rollback(True)
    assert made == {"play-now", "new-table", "join", "invite", "account_signup"}
    assert {name for name in made if "visitor" not in limits.WRITE_LIMITS.get(name, {})} == {"account_signup"}


# Addresses


def test_the_cache_contains_no_network_addresses_and_names(alice: User) -> None:
    browser = Client(REMOTE_ADDR="203.0.113.77")
    browser.get("/")
    browser.post("/accounts/login/", {"login": "alice", "password": "wrong"})
    browser.post("/accounts/signup/", {"username": "x"})
    browser.post("/accounts/password/reset/", {"email": "alice@example.org"})
    counts: Any = caches["limits"]
    others: Any = caches["default"]
    held = dict(counts._cache)
    for kind in ("limit:reads:", "limit:log-ins:", "limit:others:"):
        assert any(kind in key for key in held), kind
    held |= others._cache
    assert not any("203.0.113" in key or b"203.0.113" in value for key, value in held.items())
    assert not any("alice" in key for key in held)


@pytest.mark.parametrize(
    ("proxies", "forwarded", "found"),
    [
        (0, "", "192.0.2.1"),
        (0, "198.51.100.7", "192.0.2.1"),
        (1, "198.51.100.7", "198.51.100.7"),
        (1, "6.6.6.6, 198.51.100.7", "198.51.100.7"),
        (2, "6.6.6.6, 198.51.100.7, 203.0.113.9", "198.51.100.7"),
        (2, "198.51.100.7", "192.0.2.1"),
        (1, "2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        (1, "::ffff:198.51.100.7", "198.51.100.7"),
        (1, "junk", "unknown"),
    ],
)
def test_only_addresses_from_trusted_proxies_count(
    rf: RequestFactory, settings: Settings, proxies: int, forwarded: str, found: str
) -> None:
    settings.TRUSTED_PROXIES = proxies
    headers = {"X-Forwarded-For": forwarded} if forwarded else {}
    assert address_of(rf.get("/", headers=headers, REMOTE_ADDR="192.0.2.1")) == found
    scope = {
        "headers": [(b"host", b"x"), *[(name.lower().encode(), value.encode()) for name, value in headers.items()]],
        "client": ("192.0.2.1", 50_000),
    }
    assert address_of_scope(scope) == found


def test_a_socket_without_a_peer_has_no_address() -> None:
    assert address_of_scope({"headers": [], "client": None}) == "unknown"
