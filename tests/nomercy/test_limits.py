"""Limits on requests: too many are refused, and normal play never reaches a limit."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator
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
from games.actions import lobby
from games.models import Game
from nomercy import counting, limits
from nomercy.cache import FailOpenRedisCache
from nomercy.counting import FRESH, SLICES, Limiter, cache
from nomercy.limits import MOVES, READS, Limit
from tests.conftest import Figure, api_token, logged_in
from tests.security.urls import addresses
from tests.security.world import World
from tests.support.pages import CHOICES
from tests.support.tables import NOON, TWO_HANDS, table_after, table_at


class Clock:
    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(autouse=True)
def _empty_cache(monkeypatch: pytest.MonkeyPatch, clock: Clock) -> Iterator[None]:
    cache.clear()
    monkeypatch.setattr(limits, "limiter", Limiter(clock))
    yield
    cache.clear()


def taken(limiter: Limiter, tries: int, most: int, seconds: int = 60, key: str = "k") -> int:
    return sum(limiter.wait(key, most, seconds) == 0 for _ in range(tries))


@pytest.mark.parametrize("most", [1, 10, 300])
def test_no_window_exceeds_the_limit_in_one_process(clock: Clock, most: int) -> None:
    limiter, times = Limiter(clock), []
    for _ in range(most * 10):
        if limiter.wait("k", most, 60) == 0:
            times.append(clock.now)
        clock.now += 30 / most
    highest = max(sum(t <= other < t + 60 for other in times) for t in times)
    assert highest <= most
    assert len(times) >= 5 * most * 0.8 * SLICES / (SLICES + 1)


@pytest.mark.parametrize("most", [10, 120, 6_000])
def test_four_processes_together_overrun_a_limit_by_at_most_a_fifth(clock: Clock, most: int, figure: Figure) -> None:
    processes = [Limiter(clock) for _ in range(4)]
    passed = sum(processes[n % 4].wait("k", most, 60) == 0 for n in range(3 * most))
    figure(f"limit {most}: {passed} passed, overrun {passed / most - 1:+.1%}")
    assert most <= passed <= 1.2 * most


def test_four_processes_that_take_turns_in_bursts_overrun_by_at_most_a_fifth(clock: Clock) -> None:
    processes = [Limiter(clock) for _ in range(4)]
    passed = sum(taken(process, 180, 6_000) for _ in range(20) for process in processes)
    assert passed <= 7_200


def test_requests_work_after_the_stated_wait(clock: Clock) -> None:
    limiter = Limiter(clock)
    assert taken(limiter, 15, 10) == 10
    wait = limiter.wait("k", 10, 60)
    assert 0 < wait <= 71
    clock.now += wait
    assert taken(limiter, 15, 10) == 10


def test_refused_requests_do_not_make_the_wait_longer(clock: Clock) -> None:
    limiter = Limiter(clock)
    taken(limiter, 10, 10)
    for _ in range(100):
        assert limiter.wait("k", 10, 60) > 0
        clock.now += 0.6
    clock.now += 11
    assert taken(limiter, 15, 10) == 10


def test_legal_play_at_a_move_a_second_for_a_day_is_never_refused(clock: Clock) -> None:
    limiter = Limiter(clock)
    assert MOVES.person is not None
    for _ in range(86_400):
        assert limiter.wait("k", MOVES.person, MOVES.seconds) == 0
        clock.now += 1


def test_keys_are_counted_separately(clock: Clock) -> None:
    limiter = Limiter(clock)
    taken(limiter, 15, 10, key="a")
    assert taken(limiter, 10, 10, key="b") == 10


def test_many_keys_neither_fill_memory_nor_erase_counts(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "KEPT", 50)
    limiter = Limiter(clock)
    assert taken(limiter, 15, 10) == 10
    for n in range(1000):
        limiter.wait(f"k{n}", 10, 60)
    assert len(limiter._counters) == 50
    assert taken(limiter, 15, 10) == 0


@pytest.mark.long
def test_junk_in_the_cache_does_not_erase_counts(clock: Clock) -> None:
    limiter = Limiter(clock)
    assert taken(limiter, 15, 10) == 10
    for n in range(20_000):
        caches["default"].set(f"junk{n}", 1)
    for n in range(30_000):
        limiter.wait(f"k{n}", 10, 60)
    assert taken(Limiter(clock), 15, 10) == 0


def test_without_redis_all_requests_are_served_and_it_is_logged(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    away = FailOpenRedisCache("redis://127.0.0.1:1/0", {"OPTIONS": {"socket_connect_timeout": 0.2}})
    monkeypatch.setattr(counting, "cache", away)
    with capture_logs() as lines:
        assert taken(Limiter(clock), 100, 10) == 100
    assert "cache failed" in {line["event"] for line in lines}


class Hanging:
    """A cache that hangs for one key until it is released."""

    def __init__(self, key: str) -> None:
        self.key = key
        self.asked, self.let_go = threading.Event(), threading.Event()

    def __getattr__(self, operation: str) -> Any:
        return getattr(cache, operation)

    def get_many(self, keys: Collection[str]) -> dict[str, int]:
        if any(one.startswith(f"{self.key}:") for one in keys):
            self.asked.set()
            assert self.let_go.wait(20)
        found: dict[str, int] = cache.get_many(keys)
        return found


def test_a_hanging_cache_only_delays_requests_that_need_it(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    limiter, hanging = Limiter(clock), Hanging("slow")
    assert limiter.wait("known", 6_000, 60) == 0
    monkeypatch.setattr(counting, "cache", hanging)
    with ThreadPoolExecutor(2) as threads:
        slow = threads.submit(limiter.wait, "slow", 6_000, 60)
        assert hanging.asked.wait(20)
        others = threads.submit(lambda: taken(limiter, 1_000, 6_000, key="known") + taken(limiter, 1, 10, key="new"))
        try:
            assert others.result(20) == 1_001
            assert not slow.done()
        finally:
            hanging.let_go.set()
        assert slow.result(20) == 0


def test_requests_over_the_limit_do_not_wait_for_a_hanging_cache(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    limiter, hanging = Limiter(clock), Hanging("k")
    assert taken(limiter, 15, 10) == 10
    clock.now += FRESH
    monkeypatch.setattr(counting, "cache", hanging)
    with ThreadPoolExecutor(2) as threads:
        one = threads.submit(limiter.wait, "k", 10, 60)
        assert hanging.asked.wait(20)
        others = threads.submit(taken, limiter, 1_000, 10)
        try:
            assert others.result(20) == 0
            assert not one.done()
        finally:
            hanging.let_go.set()
        assert one.result(20) > 0
    clock.now += 71
    assert taken(limiter, 15, 10) == 10


def test_a_key_over_its_limit_asks_the_cache_once_a_second(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    limiter, asked = Limiter(clock), Counting()
    assert taken(limiter, 15, 10) == 10
    monkeypatch.setattr(counting, "cache", asked)
    for _ in range(5):
        clock.now += FRESH
        assert taken(limiter, 100, 10) == 0
    assert asked.looks == 5


class Counting:
    """A cache that counts how often it is read."""

    def __init__(self) -> None:
        self.looks = 0

    def __getattr__(self, operation: str) -> Any:
        return getattr(cache, operation)

    def get_many(self, keys: Collection[str]) -> dict[str, int]:
        self.looks += 1
        found: dict[str, int] = cache.get_many(keys)
        return found


def at_once(limiters: list[Limiter], tries: int, most: int) -> int:
    """Send requests by four threads for each limiter at the same time. Return how many are served."""
    begin = threading.Barrier(4 * len(limiters))

    def ask(limiter: Limiter) -> int:
        begin.wait(20)
        return taken(limiter, tries, most)

    with ThreadPoolExecutor(begin.parties) as threads:
        return sum(threads.map(ask, 4 * limiters))


@pytest.mark.parametrize("most", [1, 10, 300, 2_000])
def test_threads_of_one_process_do_not_exceed_the_limit(clock: Clock, most: int) -> None:
    assert at_once([Limiter(clock)], most, most) == most


@pytest.mark.parametrize("most", [10, 120, 2_000])
def test_threads_of_four_processes_overrun_a_limit_by_at_most_a_fifth(clock: Clock, most: int, figure: Figure) -> None:
    """Refused requests are not counted, so after all reports the rest of the limit is served."""
    limiters = [Limiter(clock) for _ in range(4)]
    passed = at_once(limiters, most // 2, most)
    clock.now += FRESH
    passed += sum(taken(limiter, most, most) for limiter in limiters)
    figure(f"limit {most}: {passed} passed, overrun {passed / most - 1:+.1%}")
    assert most <= passed <= 1.2 * most


class ReadTogether:
    """A cache for two processes that makes both report before one reads, and both read before one continues."""

    def __init__(self) -> None:
        self.both = threading.Barrier(2)

    def __getattr__(self, operation: str) -> Any:
        return getattr(cache, operation)

    def get_many(self, keys: Collection[str]) -> dict[str, int]:
        self.both.wait(20)
        found: dict[str, int] = cache.get_many(keys)
        self.both.wait(20)
        return found


@pytest.mark.parametrize("earlier", [0, 2])
def test_the_first_of_two_simultaneous_processes_is_served(
    clock: Clock, monkeypatch: pytest.MonkeyPatch, earlier: int
) -> None:
    """One more is allowed, and each of the two has one."""
    assert taken(Limiter(clock), earlier, earlier + 1) == earlier
    clock.now += 15  # what was served earlier is in another slice
    monkeypatch.setattr(counting, "cache", ReadTogether())
    with ThreadPoolExecutor(2) as threads:
        waits = list(threads.map(lambda _: Limiter(clock).wait("k", earlier + 1, 60), range(2)))
    assert waits.count(0) == 1


@pytest.fixture
def limited(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """Allow five API calls per token and eight per address, and four moves per person."""
    settings.RATE_LIMITS = 100
    monkeypatch.setattr(limits, "API_CALLS", Limit("api", 5, 8))
    monkeypatch.setattr(limits, "LIMITS", {name: Limit("moves", 4, None) for name in ("move", "api-v1:make_move")})


def test_too_many_calls_of_one_token_are_refused_with_the_error_object(limited: None, alice: User, bob: User) -> None:
    headers = {"Authorization": f"Bearer {api_token(alice)}"}
    *answers, last = [Client().get("/api/v1/me", headers=headers) for _ in range(6)]
    assert {answer.status_code for answer in answers} == {200}
    assert (last.status_code, last.json()["error"]) == (429, "too_many_requests")
    assert 0 < int(last["Retry-After"]) <= 71
    other = {"Authorization": f"Bearer {api_token(bob)}"}
    assert Client().get("/api/v1/me", headers=other).status_code == 200


def ask_with(token: str, address: str = "203.0.113.1") -> Any:
    headers = {"Authorization": f"Bearer {token}"}
    return Client().get("/api/v1/me", headers=headers, REMOTE_ADDR=address)


def test_unknown_tokens_count_by_address_only(settings: Settings, alice: User) -> None:
    settings.RATE_LIMITS = 100
    answers = [ask_with(f"junk{n}") for n in range(80)]
    assert [answer.status_code for answer in answers] == [401] * 60 + [429] * 20
    assert answers[-1].json()["error"] == "too_many_requests"
    assert 0 < int(answers[-1]["Retry-After"]) <= 71
    counted = [key for key in limits.limiter._counters if key.startswith(("limit:api:", "limit:unknown-tokens:"))]
    assert len(counted) == 2  # the address, once for all calls and once for the unknown tokens
    assert ask_with("junk", "203.0.113.9").status_code == 401


def test_refused_tokens_run_no_queries(
    settings: Settings, alice: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    settings.RATE_LIMITS = 1
    assert [ask_with(f"junk{n}").status_code for n in range(2)] == [401, 429]
    with django_assert_num_queries(0):
        assert ask_with("more junk").status_code == 429


def test_a_known_token_works_while_its_address_sends_junk(settings: Settings, alice: User) -> None:
    settings.RATE_LIMITS = 10
    token = api_token(alice)
    assert ask_with(token).status_code == 200
    assert [ask_with(f"junk{n}").status_code for n in range(10)] == [401] * 6 + [429] * 4
    assert ask_with(token).status_code == 200


def test_limits_add_no_queries_to_api_calls(settings: Settings, alice: User) -> None:
    token, costs = api_token(alice), []
    ask_with(token)
    for percent in (0, 100):
        settings.RATE_LIMITS = percent
        with CaptureQueriesContext(connection) as done:
            assert ask_with(token).status_code == 200
        costs.append(len(done))
    assert costs[0] == costs[1]


def test_reads_count_by_address_including_missing_pages(
    settings: Settings, alice: User, monkeypatch: pytest.MonkeyPatch, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    settings.RATE_LIMITS = 100
    monkeypatch.setattr(limits, "READS", Limit("reads", None, 6))
    browser = logged_in(alice)
    paths = ["/rules/", "/none/", "/healthz/none/", "/games/none/", "/", "/none/again/"]
    assert [browser.get(path).status_code for path in paths] == [200, 404, 404, 404, 200, 404]
    with django_assert_num_queries(0):
        refused = browser.get("/")
    assert refused.status_code == 429
    assert f"Try again in {refused['Retry-After']} seconds." in refused.content.decode()
    assert [Client().get(path).status_code for path in ("/healthz", "/readyz", "/api/v1/openapi.json")] == [
        200,
        503,
        200,
    ]
    assert browser.get("/about/", REMOTE_ADDR="203.0.113.9").status_code == 200


def test_records_have_their_own_limit(settings: Settings, alice: User, bob: User) -> None:
    settings.RATE_LIMITS = 1
    game = table_after([alice, bob], 10_000, seed=3).game
    pages = [Client().get(f"/games/{game.code}/record/").status_code for _ in range(4)]
    assert pages == [200] * 3 + [429]
    headers = {"Authorization": f"Bearer {api_token(alice)}"}
    calls = [Client().get(f"/api/v1/games/{game.code}/record", headers=headers).status_code for _ in range(4)]
    assert calls == [200] * 3 + [429]
    assert Client().get(f"/games/{game.code}/log/").status_code == 200


def test_limits_add_no_queries_to_pages(settings: Settings, as_alice: Client, alice: User, bob: User) -> None:
    url, costs = f"/games/{table_at(TWO_HANDS, [alice, bob]).game.code}/", []
    as_alice.get(url)
    for percent in (0, 100):
        settings.RATE_LIMITS = percent
        with CaptureQueriesContext(connection) as done:
            assert as_alice.get(url).status_code == 200
        costs.append(len(done))
    assert costs[0] == costs[1]


def test_fifty_players_of_one_network_stay_far_below_the_read_limit(clock: Clock) -> None:
    """Each person has two open pages, and each page fetches itself once a second."""
    assert READS.address is not None
    limiter = Limiter(clock)
    for _ in range(3 * 60):
        assert taken(limiter, 100, READS.address) == 100
        clock.now += 1


def test_too_many_moves_are_refused_without_effect(limited: None, as_alice: Client, alice: User, bob: User) -> None:
    table = table_at(TWO_HANDS, [alice, bob])
    url = f"/games/{table.game.code}/move/"
    answers = [as_alice.post(url, {"move": "play b1", "version": 0}).status_code for _ in range(4)]
    assert answers == [422] * 4
    refused = as_alice.post(url, {"move": "play r5", "version": 0})
    assert refused.status_code == 429
    assert "Too many requests" in refused.content.decode()
    fragment = as_alice.post(url, {"move": "play r5", "version": 0}, headers={"HX-Request": "true"})
    # A whole page: static/js/announce.js tells its reason, and the page that asked stays.
    assert (fragment.status_code, fragment.content) == (429, refused.content)
    assert "Too many requests in a short time. Try again in 70 seconds." in fragment.content.decode()
    table.game.refresh_from_db()
    assert table.game.version == 0
    assert as_alice.get(f"/games/{table.game.code}/").status_code == 200


def test_an_invented_token_does_not_bypass_a_personal_limit(
    limited: None, as_alice: Client, alice: User, bob: User
) -> None:
    url = f"/games/{table_at(TWO_HANDS, [alice, bob]).game.code}/move/"
    form = {"move": "play b1", "version": 0}
    answers = [as_alice.post(url, form, headers={"Authorization": f"Bearer x{n}"}).status_code for n in range(6)]
    assert answers == [422] * 4 + [429] * 2
    calls = [as_alice.get("/api/v1/me", headers={"Authorization": f"Bearer x{n}"}).status_code for n in range(6)]
    assert calls == [200] * 5 + [429]


def test_spellings_of_a_token_share_a_count(limited: None, alice: User) -> None:
    token = api_token(alice)
    schemes = ["Bearer", "bearer", "BEARER", "bEARER", "beArer", "beaRer"]
    answers = [Client().get("/api/v1/me", headers={"Authorization": f"{one} {token}"}).status_code for one in schemes]
    assert answers == [200] * 5 + [429]


def test_the_move_limit_of_an_address_allows_a_thousand_players(clock: Clock) -> None:
    assert MOVES.address is not None
    limiter = Limiter(clock)
    for _ in range(3 * 60):
        assert taken(limiter, 1_000, MOVES.address) == 1_000
        clock.now += 1


def test_moves_over_the_api_are_counted_as_moves(limited: None, alice: User) -> None:
    headers = {"Authorization": f"Bearer {api_token(alice)}"}
    move = {"move": "draw", "version": 0}
    answers = [
        Client().post("/api/v1/games/none/moves", move, content_type="application/json", headers=headers).status_code
        for _ in range(5)
    ]
    assert answers == [404] * 4 + [429]


@pytest.mark.parametrize("act", ["join", "leave", "start", "pause", "resume", "take-back", "orders"])
def test_api_calls_at_a_table_have_a_limit(settings: Settings, alice: User, act: str) -> None:
    settings.RATE_LIMITS = 1  # 6 a minute
    headers = {"Authorization": f"Bearer {api_token(alice)}", "Content-Type": "application/json"}
    method, url = "PUT" if act == "orders" else "POST", f"/api/v1/games/k7m2/{act}"
    answers = [Client().generic(method, url, "{}", headers=headers).status_code for _ in range(7)]
    assert (404 in answers[:6], 429 in answers[:6], answers[6]) == (True, False, 429)


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
    clock.now += 20 * 60
    assert refused(alice) == (False, False)


def test_visitors_of_one_address_have_a_limit_of_guests(settings: Settings, db: None) -> None:
    settings.RATE_LIMITS = 3
    answers = [Client().post("/play-now/").status_code for _ in range(4)]
    assert answers == [303, 303, 303, 429]
    assert User.objects.count() == Game.objects.count() == 3


@pytest.mark.parametrize("by", ["join", "invite"])
def test_joining_as_a_visitor_has_a_limit(settings: Settings, alice: User, by: str) -> None:
    settings.RATE_LIMITS = 10
    answers = []
    for _ in range(5):
        options = lobby.TableOptions(players=3, bots=1, public=by == "join")
        game = lobby.create_table(user=alice, options=options, now=NOON).game
        argument = game.code if by == "join" else game.invite_key
        answers.append(Client().post(reverse(by, args=[argument])).status_code)
    assert answers == [303, 303, 303, 429, 429]
    assert User.objects.filter(is_guest=True).count() == 3


@pytest.mark.long
def test_every_form_that_creates_a_guest_has_a_visitor_limit(db: None) -> None:
    """Send each form of the site as a visitor without a cookie."""
    world, word = World(), "a long way to Bergen"
    host = User.objects.get(username="alice")
    opened = lobby.create_table(user=host, options=lobby.TableOptions(players=3), now=NOON).game
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
    assert {name for name in made if limits.LIMITS.get(name, limits.OTHERS).visitors is None} == {"account_signup"}


def test_the_cache_contains_no_network_addresses(settings: Settings, alice: User) -> None:
    settings.RATE_LIMITS = 1  # so small that each request is told to the cache
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


def test_the_counters_contain_no_network_addresses(limited: None, client: Client, db: None) -> None:
    client.get("/api/v1/me", REMOTE_ADDR="203.0.113.77")
    assert limits.limiter._counters
    assert not any("203.0.113" in key for key in limits.limiter._counters)


def test_no_long_path_is_remembered(client: Client, db: None) -> None:
    client.get("/about/")
    known = limits._kept_name.cache_info().currsize
    for n in range(5):
        client.get(f"/games/{n}{'x' * limits.LONGEST_KEPT}/")
    assert limits._kept_name.cache_info().currsize == known
