"""Waiting calls of the API answer as soon as there is something new, and hold no thread meanwhile."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from asgiref.testing import ApplicationCommunicator
from channels.layers import get_channel_layer
from django.db import connections
from django.test import Client
from django.utils import timezone
from pytest_django.fixtures import Settings

from accounts.models import ApiToken, User
from games import announce
from games.actions import deletion, lobby, pauses
from games.live.polling import poller
from games.models import Game
from games.queries import Table, Viewer
from games.staff import people
from nomercy import waiting_calls
from nomercy.launcher.embedded import ServerLoopLayer
from nomercy.waiting_calls import WaitingCalls
from nomercy.wsgi import application
from tests.conftest import api_token
from tests.support.sockets import played, run, thread_of_channels
from tests.support.tables import TWO_HANDS, table_at

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _thread_of_channels(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    yield from thread_of_channels(monkeypatch)


class Site:
    """The app for waiting calls, with threads of its own."""

    def __init__(self) -> None:
        self.app = WaitingCalls(answer_and_disconnect)

    def call(self, path: str, token: str) -> Call:
        return Call(self.app, path, token)

    async def waiting(self, path: str, token: str) -> Call:
        """Begin a call of the API that has no answer for a while."""
        call = await self.call(path, token).begin()
        assert await call.waits()
        return call

    async def answer(self, path: str, token: str) -> tuple[int, Any]:
        """Return the status and the JSON of a call of the API."""
        return await (await self.call(path, token).begin()).answer()


def answer_and_disconnect(environ: dict[str, Any], start_response: Any) -> list[bytes]:
    """Run the site. The test database cannot be emptied while the thread has a connection."""
    try:
        with closing(application(environ, start_response)) as response:
            return list(response)
    finally:
        connections.close_all()


class Call:
    """A call that may take a while."""

    def __init__(self, app: WaitingCalls, path: str, token: str, *, address: str = "127.0.0.1", **headers: str) -> None:
        path, _, query = path.partition("?")
        scope = {
            "type": "http",
            "http_version": "1.1",
            "scheme": "http",
            "method": "GET",
            "path": f"/api/v1/{path}",
            "raw_path": f"/api/v1/{path}".encode(),
            "query_string": query.encode(),
            "headers": [
                *[(b"host", b"127.0.0.1:8000"), (b"authorization", f"Bearer {token}".encode())],
                *[(name.encode(), value.encode()) for name, value in headers.items()],
            ],
            "client": [address, 50_000],
            "server": ["127.0.0.1", 8000],
        }
        self._app: Any = ApplicationCommunicator(app, scope)  # type: ignore[no-untyped-call]

    async def begin(self) -> Call:
        await self._app.send_input({"type": "http.request", "body": b"", "more_body": False})
        return self

    async def waits(self) -> bool:
        """Return True if there is no answer for a while."""
        return bool(await self._app.receive_nothing(timeout=0.3))

    async def answer(self) -> tuple[int, Any]:
        """Return the status and the JSON of the answer."""
        start = await self._app.receive_output(10)
        body = b""
        while (message := await self._app.receive_output(1)).get("more_body", False):
            body += message["body"]
        assert b"x-wait-for" not in dict(start["headers"])
        return int(start["status"]), json.loads(body + message["body"])

    async def hang_up(self) -> None:
        await self._app.send_input({"type": "http.disconnect"})
        await self._app.wait(5)


@pytest.fixture
def site() -> Site:
    return Site()


@pytest.fixture
def table(alice: User, bob: User) -> Table:
    return table_at(TWO_HANDS, [alice, bob])


@pytest.fixture
def path(table: Table) -> str:
    """The address at which a program waits for the first move."""
    return f"wait/games/{table.game.code}?after=0"


@pytest.fixture
def token(bob: User) -> str:
    """Bob's token."""
    return api_token(bob)


async def test_a_call_is_answered_after_the_next_move_or_at_once_if_there_was_one(
    site: Site, table: Table, path: str, token: str, alice: User
) -> None:
    call = await site.waiting(path, token)
    await played(table.game.code, alice)
    status, view = await call.answer()
    assert (status, view["version"], view["top"]) == (200, 1, "r5")
    assert view["hand"] is not None
    assert (await site.answer(path, token))[1]["version"] == 1


async def test_a_call_is_answered_after_a_change_that_is_no_move(
    site: Site, table: Table, path: str, token: str, alice: User, bob: User
) -> None:
    ask = sync_to_async(pauses.ask_pause)
    await ask(code=table.game.code, viewer=Viewer(alice), now=timezone.now())
    call = await site.waiting(path, token)
    await ask(code=table.game.code, viewer=Viewer(bob), now=timezone.now())
    status, view = await call.answer()
    assert (status, view["version"]) == (200, 0)
    assert view["paused"]


@pytest.mark.long
async def test_a_caller_gets_no_answer_without_a_change_and_hangs_up_without_a_trace(
    site: Site, path: str, token: str, bob: User
) -> None:
    call = await site.waiting(path.partition("?")[0], token)
    await sync_to_async(announce.person_news)(bob.pk)
    assert await call.waits()
    await call.hang_up()
    call = await site.waiting(path.partition("?")[0], token)
    await call.hang_up()
    layer: Any = get_channel_layer()
    left = (site.app.waiting, layer.groups, layer.channels)
    assert not any(left)


@pytest.mark.long
async def test_without_a_change_the_call_is_answered_when_its_time_is_over(
    site: Site, path: str, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert waiting_calls.WAIT_SECONDS < 25
    monkeypatch.setattr(waiting_calls, "WAIT_SECONDS", 0.4)
    status, view = await (await site.waiting(path, token)).answer()
    assert (status, view["version"]) == (200, 0)


async def test_a_move_between_the_first_look_and_the_groups_is_not_missed(
    site: Site, table: Table, path: str, token: str, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    join = ServerLoopLayer.group_add

    async def group_add(self: ServerLoopLayer, group: str, channel: str) -> None:
        monkeypatch.setattr(ServerLoopLayer, "group_add", join)
        await played(table.game.code, alice)
        await join(self, group, channel)

    monkeypatch.setattr(ServerLoopLayer, "group_add", group_add)
    status, view = await site.answer(path, token)
    assert (status, view["version"]) == (200, 1)


@pytest.mark.long
async def test_a_call_finds_a_move_while_the_channel_layer_is_down(
    site: Site, table: Table, path: str, token: str, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def group_add(self: ServerLoopLayer, group: str, channel: str) -> None:
        raise ConnectionError("refused")

    monkeypatch.setattr(ServerLoopLayer, "group_add", group_add)
    monkeypatch.setattr(waiting_calls, "POLL_SECONDS", 0.1)
    call = await site.waiting(path, token)
    assert poller().layer_is_down
    await played(table.game.code, alice)
    assert (await call.answer())[1]["version"] == 1


def suspend(user: User, mo: User) -> None:
    people.suspend(person_id=user.pk, by=mo, days=1, reason="Insults in the name", now=timezone.now())


def delete_account(user: User, mo: User) -> None:
    deletion.ask(user=user, now=timezone.now())


def revoke_token(user: User, mo: User) -> None:
    ApiToken.objects.filter(user=user).delete()


@pytest.mark.long
@pytest.mark.parametrize(
    ("act", "status", "error", "longest"),
    [
        (suspend, 403, "suspended", None),
        (delete_account, 401, "unauthorized", None),
        (revoke_token, 401, "unauthorized", 3),  # a busy machine takes a second to delete the token
    ],
)
async def test_a_person_who_loses_access_gets_a_refusal(
    site: Site, path: str, token: str, bob: User, mo: User, monkeypatch: pytest.MonkeyPatch,
    act: Callable[[User, User], None], status: int, error: str, longest: int | None,
) -> None:  # fmt: skip
    if longest is not None:  # nobody is told of a revoked token
        monkeypatch.setattr(waiting_calls, "WAIT_SECONDS", longest)
    call = await site.waiting(path, token)
    await sync_to_async(act)(bob, mo)
    told = await call.answer()
    assert (told[0], told[1]["error"]) == (status, error)


def test_nobody_waits_for_a_table_they_may_not_see(site: Site, path: str, charlie: User) -> None:
    token = api_token(charlie)
    Game.objects.update(is_public=False)
    status, error = run(site.answer(path, token))
    assert (status, error["error"]) == (404, "not_found")


@pytest.mark.long
def test_events_list_the_open_and_running_tables(site: Site, table: Table, token: str, alice: User, bob: User) -> None:
    lobby.create_table(user=bob, choices=lobby.TableChoices(bots=0), now=timezone.now())

    async def scenario() -> None:
        call = await site.waiting("wait/events", token)
        await played(table.game.code, alice)
        status, answer = await call.answer()
        assert status == 200
        playing = {"id": table.game.code, "version": 1, "status": "playing", "seats": 2, "waiting": True}
        assert answer["items"][0] == playing
        assert [item["status"] for item in answer["items"]] == ["playing", "open"]
        again = await site.waiting(f"wait/events?after={answer['mark']}", token)
        await again.hang_up()

    run(scenario())


def test_events_tell_that_somebody_has_sat_down(site: Site, alice: User, bob: User) -> None:
    token = api_token(alice)
    code = lobby.create_table(user=alice, choices=lobby.TableChoices(players=3), now=timezone.now()).game.code

    async def scenario() -> None:
        call = await site.waiting("wait/events", token)
        await sync_to_async(lobby.join)(code=code, viewer=Viewer(bob), now=timezone.now())
        assert (await call.answer())[1]["items"][0]["seats"] == 2

    run(scenario())


@pytest.mark.usefixtures("table")
async def test_events_since_an_older_mark_are_told_at_once(site: Site, token: str) -> None:
    status, answer = await site.answer("wait/events?after=older", token)
    assert (status, len(answer["items"])) == (200, 1)


@pytest.mark.long
def test_more_calls_wait_than_there_are_threads(site: Site, table: Table, path: str, token: str, alice: User) -> None:
    other = api_token(alice)

    async def scenario() -> None:
        calls = [await site.call(path, token).begin() for _ in range(waiting_calls.THREADS + 2)]
        for call in calls:
            assert await call.waits()
        assert (await site.answer("me", other))[0] == 200
        await played(table.game.code, alice)
        assert [(await call.answer())[1]["version"] for call in calls] == [1] * len(calls)
        assert not site.app.waiting

    run(scenario())


@pytest.mark.long
def test_a_person_has_few_waiting_calls(
    site: Site, path: str, token: str, alice: User, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.RATE_LIMITS = 100
    monkeypatch.setattr(waiting_calls, "MOST_OF_ONE", 1)
    other = api_token(alice)

    async def scenario() -> None:
        calls = [await site.waiting(path, one) for one in (token, other)]
        status, error = await site.answer(path, token)
        assert (status, error["error"]) == (429, "too_many_requests")
        for call in calls:
            await call.hang_up()
        assert not site.app.waiting

    run(scenario())


@pytest.mark.usefixtures("bob")
async def test_a_header_with_an_underscore_is_ignored() -> None:
    seen: list[str] = []

    def note(environ: dict[str, Any], start_response: Any) -> list[bytes]:
        seen.extend(environ)
        return answer_and_disconnect(environ, start_response)

    headers = {"x_forwarded_for": "192.0.2.9", "x-forwarded-proto": "https"}
    call = Call(WaitingCalls(note), "me", "no-such-token", **headers)
    assert (await (await call.begin()).answer())[0] == 401
    assert "HTTP_X_FORWARDED_PROTO" in seen
    assert "HTTP_X_FORWARDED_FOR" not in seen


async def test_calls_of_one_address_leave_threads_to_others() -> None:
    released = threading.Event()

    def late(environ: dict[str, Any], start_response: Any) -> list[bytes]:
        if environ["REMOTE_ADDR"] == "192.0.2.1":
            released.wait(10)
        start_response("200 OK", [])
        return [b"{}"]

    app = WaitingCalls(late)
    many = [await Call(app, "wait/events", "a", address="192.0.2.1").begin() for _ in range(20)]
    assert await many[0].waits()
    other = await Call(app, "wait/events", "b", address="192.0.2.2").begin()
    assert (await other.answer())[0] == 200
    released.set()
    assert [(await call.answer())[0] for call in many] == [200] * 20


@pytest.mark.long
async def test_changes_that_are_nothing_new_are_looked_at_more_and_more_seldom(
    site: Site, path: str, token: str, bob: User, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level("DEBUG", "nomercy.request"):
        call = await site.waiting(path, token)
        caplog.clear()
        for _ in range(40):
            await sync_to_async(announce.person_news)(bob.pk)
            await asyncio.sleep(0.02)
        await call.hang_up()
    assert 2 <= sum("wait/games" in record.getMessage() for record in caplog.records) <= 3


def test_without_a_server_that_waits_the_view_answers_at_once(path: str, token: str) -> None:
    client = Client(headers={"authorization": f"Bearer {token}", "x-wait-for": "x", "nomercy.known": ""})
    for address in (path, "wait/events"):
        answer = client.get(f"/api/v1/{address}")
        assert answer.status_code == 200
        assert "X-Wait-For" not in answer


def test_a_wrong_query_is_refused(path: str, token: str) -> None:
    client, game = Client(headers={"authorization": f"Bearer {token}"}), path.partition("?")[0]
    for wrong in (f"{game}?after=-1", f"{game}?after=x", f"{game}?version=1", f"wait/events?after={'a' * 65}"):
        answer = client.get(f"/api/v1/{wrong}")
        assert (answer.status_code, answer.json()["error"]) == (400, "malformed"), wrong


async def test_a_stopping_server_answers_the_calls(site: Site, path: str, token: str) -> None:
    call = await site.waiting(path, token)
    site.app.stopping.set()
    assert (await call.answer())[0] == 200
