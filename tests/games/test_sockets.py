"""Wrong, broken, slow or too many sockets: each ends without an effect on others."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from typing import Any

import psycopg
import pytest
from asgiref.sync import sync_to_async
from channels.layers import get_channel_layer
from django.db import OperationalError, connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django.fixtures import Settings

from accounts.models import User
from common.limits import SOCKETS
from games.live import consumer, polling
from games.live.consumer import socket_access
from games.live.polling import poller
from games.live.socket_limits import MAX_OPEN, SocketLimits, TooManySockets, socket_limits
from games.models import Game
from nomercy.launcher.embedded import ServerLoopLayer
from tests.support.sockets import Socket, application, opened, played, thread_of_channels
from tests.support.tables import TWO_HANDS, table_at

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _thread_of_channels(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    yield from thread_of_channels(monkeypatch)


@pytest.fixture
def code(alice: User, bob: User) -> str:
    return table_at(TWO_HANDS, [alice, bob]).game.code


def layer() -> ServerLoopLayer:
    found = get_channel_layer()
    assert isinstance(found, ServerLoopLayer)
    return found


def nothing_is_left() -> bool:
    return not (poller().sockets or layer().groups or layer().channels or socket_limits().open)


async def change_version(code: str, version: int) -> None:
    await sync_to_async(Game.objects.filter(code=code).update)(version=version, revision=version)


async def statuses(*sockets: Socket) -> list[int]:
    """Return the status of each handshake. Nothing is left of the sockets afterwards."""
    found = []
    for socket in sockets:
        found.append(await socket.status())
        if found[-1] == 101:
            await socket.leave()
    assert nothing_is_left()
    return found


WRONG = [
    *("/ws/games/" + "x" * 150 + "/", "/ws/games/" + "x" * 17 + "/", "/ws/games/UPPER23456/", "/ws/games/with-hyphen/"),
    *("/ws/games/with.dots/", "/ws/games/n\x00l/", "/ws/games/äöü/", "/ws/games/", "/ws/games/abc"),
    *("/ws/games/abc/def/", "/ws/"),
]


async def test_an_unknown_address_is_refused_without_a_query(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(consumer, "socket_access", lambda *args: asked.append("database"))
    monkeypatch.setattr(ServerLoopLayer, "group_add", lambda *args: asked.append("layer"))
    assert dict(zip(WRONG, await statuses(*(Socket(path=path) for path in WRONG)), strict=True)) == dict.fromkeys(
        WRONG, 404
    )
    assert not poller().layer_is_down
    assert asked == []


ELSEWHERE = [
    "http://[bad",
    "http://127.0.0.1:x",
    "null",
    "",
    "https://evil.example",
    "http://127.0.0.1:6666",  # another program of this machine
    "http://127.0.0.1",
    "https://127.0.0.1:8000",
    "ws://127.0.0.1:8000",
    "http://localhost:8000",  # one of our names, and not the one that was asked
    "http://127.0.0.1:8000@evil.example",
]


async def test_a_page_of_another_origin_is_refused(code: str) -> None:
    found = await statuses(*(Socket(code, origin=origin) for origin in ELSEWHERE))
    assert dict(zip(ELSEWHERE, found, strict=True)) == dict.fromkeys(ELSEWHERE, 403)


OWN = [  # the site, proxies, the header `Host`, `X-Forwarded-Proto`, and what a page of ours says
    ("http://127.0.0.1:8000", 0, "localhost:8000", "", "http://localhost:8000"),
    ("http://127.0.0.1:8000", 0, "localhost:8000", "", "http://127.0.0.1:8000"),
    ("http://127.0.0.1:8000", 0, "127.0.0.1:9999", "", "http://127.0.0.1:9999"),
    ("http://127.0.0.1:8000", 0, "[::1]:8000", "", "http://[::1]:8000"),
    ("https://cards.example", 0, "cards.example", "", "https://cards.example"),
    ("https://cards.example", 1, "cards.example", "https", "https://cards.example"),
    ("https://cards.example:443", 1, "cards.example", "https", "https://cards.example"),
    ("https://Cards.example", 1, "cards.example", "https", "https://cards.example"),
    ("https://cards.example:8443", 1, "cards.example", "https", "https://cards.example:8443"),  # a `Host` without port
    ("https://cards.example", 1, "alias.example", "https", "https://alias.example"),
]
FOREIGN = [
    ("http://127.0.0.1:8000", 0, "evil.example", "", "http://evil.example"),  # a name that leads here
    ("http://127.0.0.1:8000", 0, "localhost:8000", "https", "https://localhost:8000"),
    ("https://cards.example", 1, "cards.example", "https", "http://cards.example"),
    ("https://cards.example", 1, "cards.example", "https", "https://cards.example:444"),
    ("https://cards.example", 1, "alias.example", "http", "https://alias.example"),
    # No browser sends these, although the host is this site's.
    ("http://127.0.0.1:8000", 0, "127.0.0.1:8000", "", "http://x@127.0.0.1:8000"),
    ("http://127.0.0.1:8000", 0, "127.0.0.1:8000", "", "http://:@127.0.0.1:8000"),
    ("http://127.0.0.1:8000", 0, "127.0.0.1:8000", "", "http://127.0.0.1:8000/"),
    ("http://127.0.0.1:8000", 0, "127.0.0.1:8000", "", "http://127.0.0.1:8000?x"),
    ("http://127.0.0.1:8000", 0, "127.0.0.1:8000", "", "http://127.0.0.1:8000#x"),
]


@pytest.fixture
def other(alice: User, bob: User) -> str:
    return table_at(TWO_HANDS, [alice, bob]).game.code


async def test_the_origin_must_be_the_site_or_an_allowed_host(code: str, settings: Settings) -> None:
    settings.ALLOWED_HOSTS = ["127.0.0.1", "localhost", "[::1]", "cards.example", "alias.example"]
    for way, status in [(way, 101) for way in OWN] + [(way, 403) for way in FOREIGN]:
        settings.SITE_URL, proxies, host, scheme, origin = way
        settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if proxies else None
        headers = {"X-Forwarded-Proto": scheme} if scheme else {}
        assert await statuses(Socket(code, origin=origin, host=host, headers=headers)) == [status], way


@pytest.mark.parametrize("fault", [TypeError("a name"), ValueError("a bug")])
async def test_an_error_of_one_socket_does_not_count_as_a_failed_layer(
    code: str, other: str, alice: User, monkeypatch: pytest.MonkeyPatch, fault: Exception
) -> None:
    join = ServerLoopLayer.group_add

    async def group_add(self: ServerLoopLayer, group: str, channel: str) -> None:
        if other in group:
            raise fault
        await join(self, group, channel)

    monkeypatch.setattr(ServerLoopLayer, "group_add", group_add)
    socket = await opened(code)
    with pytest.raises(ExceptionGroup):
        await serve(other, frames=0)
    assert not poller().layer_is_down
    await played(code, alice)
    assert (await socket.receive())["version"] == 1
    await socket.leave()
    assert nothing_is_left()


async def test_a_socket_that_cannot_join_is_closed_without_affecting_others(
    code: str, other: str, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    away = True
    join = ServerLoopLayer.group_add

    async def group_add(self: ServerLoopLayer, group: str, channel: str) -> None:
        if away:
            raise ConnectionError("refused")
        if other in group:
            raise TypeError("a bug")
        await join(self, group, channel)

    monkeypatch.setattr(ServerLoopLayer, "group_add", group_add)
    broken = [await opened(other) for _ in range(3)]
    socket = await opened(code)
    away, poller().layer_down_until = False, 0.0
    await poller().send_missed_updates()
    assert [await one.read_until_closed() for one in broken] == [1011] * 3
    await played(code, alice)
    assert (await socket.receive())["version"] == 1
    for one in (*broken, socket):
        await one.leave()
    assert nothing_is_left()


async def serve(
    code: str,
    *,
    frames: int,
    error: type[Exception] = ConnectionResetError,
    told: Callable[[], object] = lambda: None,
    then: Callable[[], Awaitable[object]] | None = None,
) -> None:
    """Serve a socket whose client disappears after this many frames, with -1 before it is accepted.

    `told` is called for each frame that arrives. `then` is done before the send fails.
    """
    left = frames
    incoming: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
    incoming.put_nowait({"type": "websocket.connect"})

    async def send(message: dict[str, Any]) -> None:
        nonlocal left
        if left < 0 or (left == 0 and message["type"] != "websocket.accept"):
            if then is not None:
                await then()
            raise error
        if message["type"] != "websocket.accept":
            left -= 1
            told()

    await asyncio.wait_for(application(Socket(code).scope, incoming.get, send), 20)


@pytest.mark.parametrize("error", [ConnectionResetError, RuntimeError])
@pytest.mark.parametrize("frames", [-1, 0])
async def test_a_socket_lost_after_the_handshake_leaves_nothing_behind(
    code: str, error: type[Exception], frames: int
) -> None:
    for _ in range(20):
        await serve(code, frames=frames, error=error)
    assert nothing_is_left()


async def test_a_failing_socket_does_not_stop_updates_of_others(code: str) -> None:
    """Polling covers all sockets of a table in one round."""
    here, all_here = [1] * 20, asyncio.Event()

    def told() -> None:
        here.pop()
        if not here:
            all_here.set()

    broken = [asyncio.create_task(serve(code, frames=1, told=told)) for _ in range(20)]
    await all_here.wait()
    socket = await opened(code)
    for version in (7, 8):
        await change_version(code, version)
        await poller().send_missed_updates()
        assert (await socket.receive())["version"] == version
    await asyncio.gather(*broken)
    assert len(poller().sockets) == 1
    await socket.leave()
    assert nothing_is_left()


async def test_polling_goes_on_after_a_failure(code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(polling, "POLL_SECONDS", 0.01)
    monkeypatch.setattr(polling, "SESSION_CHECK_SECONDS", 0.01)

    async def fail(*_: object) -> None:
        raise ValueError("a bug")

    monkeypatch.setattr(polling.Poller, "close_ended_sessions", fail)
    socket = await opened(code)
    await change_version(code, 7)
    while (await socket.receive())["version"] < 7:
        pass
    await socket.leave()


@pytest.mark.long
async def test_a_socket_that_does_not_read_delays_nobody(
    code: str, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consumer, "SEND_TIMEOUT", 1.0)
    here, stuck = asyncio.Event(), asyncio.Event()

    async def never() -> None:
        stuck.set()
        await asyncio.Event().wait()

    slow = asyncio.create_task(serve(code, frames=1, told=here.set, then=never))
    await here.wait()
    socket = await opened(code)
    await played(code, alice)
    assert (await socket.receive())["version"] == 1
    await stuck.wait()
    for version in (2, 3):  # these wait only for the slow socket
        await change_version(code, version)
        await poller().send_missed_updates()
        assert (await socket.receive())["version"] == version
    await slow  # ends after the timeout, although the client sends nothing
    await socket.leave()
    assert nothing_is_left()


async def test_many_updates_at_once_are_few_messages(code: str) -> None:
    socket = await opened(code)
    (watched,) = poller().sockets
    for number in range(1, 101):
        watched.notify(version=number, revision=number)
    assert (await socket.receive())["revision"] == 100
    assert await socket.receives_nothing()
    await socket.leave()


def test_a_socket_connects_with_few_statements(code: str, alice: User, as_alice: Client) -> None:
    key = as_alice.session.session_key
    with CaptureQueriesContext(connection) as asked:
        entrance = socket_access(code, key)
    assert entrance is not None
    assert (entrance.user_id, entrance.session_key, entrance.link) == (alice.pk, key, "")
    assert len(asked) == 3
    with CaptureQueriesContext(connection) as asked:
        assert socket_access(code, None) is not None
    assert len(asked) == 1


async def test_a_flood_from_one_address_does_not_delay_others(code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """All sockets share one thread for the database, so each address has one place in its queue."""
    came: list[str] = []

    def entrance(code: str, key: str | None) -> Any:
        came.append(key or "")
        return socket_access(code, None)

    monkeypatch.setattr(consumer, "socket_access", entrance)
    flood = [Socket(code, client="203.0.113.1", headers={"cookie": "session=flood"}) for _ in range(30)]
    coming = [asyncio.create_task(socket.status()) for socket in flood]
    for _ in range(20):
        await asyncio.sleep(0)
    before = len(came)  # how many of the flood are let in meanwhile depends on the machine
    assert before < 20
    socket = Socket(code, client="203.0.113.2", headers={"cookie": "session=player"})
    assert await socket.status() == 101
    assert came.index("player") <= before + 3
    await asyncio.gather(*coming)
    for one in (socket, *flood):
        await one.receive()
        await one.leave()
    assert nothing_is_left()


async def test_open_sockets_of_an_address_are_limited(code: str, settings: Settings) -> None:
    settings.RATE_LIMITS = 3
    first = [await opened(code, client="2001:db8:1:2::1") for _ in range(3)]
    again = Socket(code, client="2001:db8:1:2:ffff::9")  # the same /64, which one customer has
    assert await again.status() == 429
    assert again.refusal["retry-after"] == "60"
    others = [await opened(code, client=client) for client in ("2001:db8:1:3::1", "203.0.113.1")]
    await first.pop().leave()
    others.append(await opened(code, client="2001:db8:1:2::1"))
    for socket in (*first, *others):
        await socket.leave()
    assert nothing_is_left()


@pytest.mark.parametrize(
    ("proxies", "headers", "status"),
    [
        (0, {"X-Forwarded-For": "198.51.100.{}"}, 429),
        (1, {"X-Forwarded-For": "198.51.100.{}"}, 101),
        (1, {"X-Forwarded-For": "198.51.100.{}, 203.0.113.7"}, 429),
        (1, {"X_Forwarded_For": "198.51.100.{}"}, 429),
        (1, {"X_Forwarded_For": "198.51.100.{}", "X-Forwarded-For": "203.0.113.7"}, 429),
    ],
)
async def test_the_address_comes_from_trusted_proxies(
    code: str, settings: Settings, proxies: int, headers: dict[str, str], status: int
) -> None:
    settings.RATE_LIMITS, settings.TRUSTED_PROXIES = 1, proxies
    numbered = [{name: value.format(n) for name, value in headers.items()} for n in (1, 2)]
    socket = await opened(code, headers=numbered[0])
    assert await Socket(code, headers=numbered[1]).status() == status
    await socket.leave()


@pytest.mark.long
async def test_without_limits_an_address_can_open_any_number_of_sockets(code: str) -> None:
    for socket in [await opened(code) for _ in range(MAX_OPEN + 20)]:
        await socket.leave()
    assert nothing_is_left()


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def at(settings: Settings) -> Clock:
    settings.RATE_LIMITS = 100
    return Clock()


def connects(crowd: SocketLimits, address: str, times: int) -> int:
    """Open and close sockets one after another, and return how many were accepted."""
    let_in = 0
    for _ in range(times):
        with suppress(TooManySockets), crowd.count_socket(address):
            let_in += 1
    return let_in


def test_opening_sockets_too_fast_is_refused_until_the_minute_is_over(at: Clock) -> None:
    here = SocketLimits(at)
    assert connects(here, "203.0.113.1", 1000) == SOCKETS.most
    assert connects(here, "203.0.113.2", 50) == 50
    at.now += 15
    with pytest.raises(TooManySockets) as refused, here.count_socket("203.0.113.1"):
        pass
    at.now += refused.value.wait
    assert connects(here, "203.0.113.1", 1000) == SOCKETS.most


def test_normal_play_never_reaches_the_limits(at: Clock) -> None:
    """Forty people behind one address each open another page every ten seconds, and all connect again at once."""
    here = SocketLimits(at)
    for _ in range(600):
        at.now += 1
        assert connects(here, "203.0.113.1", 4) == 4
    assert connects(here, "203.0.113.1", MAX_OPEN) == MAX_OPEN


def test_only_open_sockets_of_earlier_minutes_are_remembered(at: Clock) -> None:
    here = SocketLimits(at)
    with here.count_socket("stays"):
        for n in range(1000):
            connects(here, f"goes {n}", 1)
        at.now += 60
        connects(here, "another", 1)
        assert (sum(here.open.values()), len(here.opened)) == (1, 1)
    assert not here.open


@pytest.mark.parametrize("fault", [psycopg.OperationalError(), ValueError()], ids=["away", "a bug"])
async def test_a_socket_is_refused_while_the_database_is_down(
    code: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, fault: Exception
) -> None:
    def fail(*_: object) -> None:
        raise OperationalError("nobody's business") from fault

    monkeypatch.setattr(consumer, "socket_access", fail)
    if isinstance(fault, ValueError):
        with pytest.raises(ExceptionGroup):
            await serve(code, frames=0)
    else:
        assert await Socket(code).status() == 503
    assert nothing_is_left()
    assert not any(record.exc_info for record in caplog.records)


async def test_a_message_to_a_socket_does_not_use_the_database_thread(
    code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise a hanging database would delay messages to all sockets."""
    visits: list[str] = []

    async def visit() -> None:
        visits.append("visit")

    monkeypatch.setattr("channels.consumer.aclose_old_connections", visit)
    socket = await opened(code)
    await layer().group_send(f"game.{code}", {"type": "game.changed", "version": 3, "revision": 3})
    assert (await socket.receive())["version"] == 3
    await socket.leave()
    assert visits == []


async def test_a_visitor_has_no_socket_where_a_log_in_is_required(
    code: str, as_alice: Client, settings: Settings
) -> None:
    settings.LOGIN_REQUIRED = True
    visitor = Socket(code)
    assert await visitor.accepted()
    assert await visitor.closed() == consumer.NOT_FOUND
    await opened(code, as_alice)
