"""Waiting calls of the API answer as soon as there is something new, and hold no thread meanwhile."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import closing
from functools import partial
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
from games.actions.play import play_move
from games.live.polling import poller
from games.models import Game
from games.queries import Table, Viewer
from games.staff import people
from nomercy import waiting_calls
from nomercy.launcher.embedded import ServerLoopLayer
from nomercy.waiting_calls import WaitingCalls
from nomercy.wsgi import application
from tests.conftest import api_token
from tests.support.sockets import run, thread_of_channels
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
        """Begin a call of the API."""
        return Call(self.app, path, token)


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


async def move(table: Table, person: User, text: str = "play r5", version: int = 0) -> None:
    await sync_to_async(play_move)(
        code=table.game.code, viewer=Viewer(person), text=text, version=version, now=timezone.now()
    )


def test_a_call_is_answered_after_the_next_move(site: Site, table: Table, alice: User, bob: User) -> None:
    token = api_token(bob)

    async def scenario() -> None:
        call = await site.call(f"wait/games/{table.game.code}?after=0", token).begin()
        assert await call.waits()
        await move(table, alice)
        status, view = await call.answer()
        assert (status, view["version"], view["top"]) == (200, 1, "r5")
        assert view["hand"] is not None

    run(scenario())


def test_a_call_is_answered_at_once_if_there_was_a_move(site: Site, table: Table, alice: User, bob: User) -> None:
    token = api_token(bob)

    async def scenario() -> None:
        await move(table, alice)
        status, view = await (await site.call(f"wait/games/{table.game.code}?after=0", token).begin()).answer()
        assert (status, view["version"]) == (200, 1)

    run(scenario())


def test_a_call_is_answered_after_a_change_that_is_no_move(site: Site, table: Table, alice: User, bob: User) -> None:
    token = api_token(bob)

    async def scenario() -> None:
        call = await site.call(f"wait/games/{table.game.code}?after=0", token).begin()
        assert await call.waits()
        for person in (alice, bob):
            await sync_to_async(pauses.ask_pause)(code=table.game.code, viewer=Viewer(person), now=timezone.now())
        status, view = await call.answer()
        assert (status, view["version"]) == (200, 0)
        assert view["paused"]

    run(scenario())


@pytest.mark.long
def test_a_message_without_a_change_for_the_caller_is_no_answer(site: Site, table: Table, bob: User) -> None:
    token = api_token(bob)

    async def scenario() -> None:
        call = await site.call(f"wait/games/{table.game.code}", token).begin()
        assert await call.waits()
        await sync_to_async(announce.person_news)(bob.pk)
        assert await call.waits()
        await call.hang_up()

    run(scenario())


@pytest.mark.long
def test_without_a_change_the_call_is_answered_when_its_time_is_over(
    site: Site, table: Table, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = api_token(bob)
    monkeypatch.setattr(waiting_calls, "WAIT_SECONDS", 0.4)

    async def scenario() -> None:
        call = await site.call(f"wait/games/{table.game.code}?after=0", token).begin()
        assert await call.waits()
        status, view = await call.answer()
        assert (status, view["version"]) == (200, 0)

    run(scenario())


def test_a_call_takes_less_than_25_seconds() -> None:
    assert waiting_calls.WAIT_SECONDS < 25


def test_a_move_between_the_first_look_and_the_groups_is_not_missed(
    site: Site, table: Table, alice: User, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = api_token(bob)
    join = ServerLoopLayer.group_add

    async def group_add(self: ServerLoopLayer, group: str, channel: str) -> None:
        monkeypatch.setattr(ServerLoopLayer, "group_add", join)
        await move(table, alice)
        await join(self, group, channel)

    monkeypatch.setattr(ServerLoopLayer, "group_add", group_add)

    async def scenario() -> None:
        status, view = await (await site.call(f"wait/games/{table.game.code}?after=0", token).begin()).answer()
        assert (status, view["version"]) == (200, 1)

    run(scenario())


@pytest.mark.long
def test_a_call_finds_a_move_while_the_channel_layer_is_down(
    site: Site, table: Table, alice: User, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = api_token(bob)

    async def group_add(self: ServerLoopLayer, group: str, channel: str) -> None:
        raise ConnectionError("refused")

    monkeypatch.setattr(ServerLoopLayer, "group_add", group_add)
    monkeypatch.setattr(waiting_calls, "POLL_SECONDS", 0.1)

    async def scenario() -> None:
        call = await site.call(f"wait/games/{table.game.code}?after=0", token).begin()
        assert await call.waits()
        assert poller().layer_is_down
        await move(table, alice)
        assert (await call.answer())[1]["version"] == 1

    run(scenario())


@pytest.mark.long
def test_a_revoked_token_ends_the_call(site: Site, table: Table, bob: User, monkeypatch: pytest.MonkeyPatch) -> None:
    token = api_token(bob)
    monkeypatch.setattr(waiting_calls, "WAIT_SECONDS", 3)  # a busy machine takes a second to delete the token

    async def scenario() -> None:
        call = await site.call(f"wait/games/{table.game.code}?after=0", token).begin()
        assert await call.waits()
        await sync_to_async(ApiToken.objects.filter(user=bob).delete)()
        status, error = await call.answer()
        assert (status, error["error"]) == (401, "unauthorized")

    run(scenario())


def test_a_suspended_person_gets_a_refusal_at_once(site: Site, table: Table, bob: User, mo: User) -> None:
    token = api_token(bob)
    suspend = partial(people.suspend, person_id=bob.pk, by=mo, days=1, reason="Insults in the name", now=timezone.now())

    async def scenario() -> None:
        call = await site.call(f"wait/games/{table.game.code}?after=0", token).begin()
        assert await call.waits()
        await sync_to_async(suspend)()
        status, error = await call.answer()
        assert (status, error["error"]) == (403, "suspended")

    run(scenario())


def test_a_person_who_deletes_the_account_gets_a_refusal_at_once(site: Site, table: Table, bob: User) -> None:
    token = api_token(bob)

    async def scenario() -> None:
        call = await site.call(f"wait/games/{table.game.code}?after=0", token).begin()
        assert await call.waits()
        await sync_to_async(deletion.ask)(user=bob, now=timezone.now())
        status, error = await call.answer()
        assert (status, error["error"]) == (401, "unauthorized")

    run(scenario())


def test_nobody_waits_for_a_table_they_may_not_see(site: Site, table: Table, charlie: User) -> None:
    token = api_token(charlie)
    Game.objects.update(is_public=False)

    async def scenario() -> None:
        status, error = await (await site.call(f"wait/games/{table.game.code}?after=0", token).begin()).answer()
        assert (status, error["error"]) == (404, "not_found")

    run(scenario())


@pytest.mark.long
def test_events_list_the_open_and_running_tables(site: Site, table: Table, alice: User, bob: User) -> None:
    token = api_token(bob)
    lobby.create_table(user=bob, options=lobby.TableOptions(bots=0), now=timezone.now())

    async def scenario() -> None:
        call = await site.call("wait/events", token).begin()
        assert await call.waits()
        await move(table, alice)
        status, answer = await call.answer()
        assert status == 200
        assert answer["items"][0] == {
            "id": table.game.code,
            "version": 1,
            "status": "playing",
            "seats": 2,
            "waiting": True,
        }
        assert [item["status"] for item in answer["items"]] == ["playing", "open"]
        again = await site.call(f"wait/events?after={answer['mark']}", token).begin()
        assert await again.waits()
        await again.hang_up()

    run(scenario())


def test_events_tell_that_somebody_has_sat_down(site: Site, alice: User, bob: User) -> None:
    token = api_token(alice)
    code = lobby.create_table(user=alice, options=lobby.TableOptions(players=3), now=timezone.now()).game.code

    async def scenario() -> None:
        call = await site.call("wait/events", token).begin()
        assert await call.waits()
        await sync_to_async(lobby.join)(code=code, viewer=Viewer(bob), now=timezone.now())
        assert (await call.answer())[1]["items"][0]["seats"] == 2

    run(scenario())


def test_events_since_an_older_mark_are_told_at_once(site: Site, table: Table, bob: User) -> None:
    token = api_token(bob)

    async def scenario() -> None:
        status, answer = await (await site.call("wait/events?after=older", token).begin()).answer()
        assert (status, len(answer["items"])) == (200, 1)

    run(scenario())


@pytest.mark.long
def test_more_calls_wait_than_there_are_threads(site: Site, table: Table, alice: User, bob: User) -> None:
    token, other = api_token(bob), api_token(alice)
    path = f"wait/games/{table.game.code}?after=0"

    async def scenario() -> None:
        calls = [await site.call(path, token).begin() for _ in range(waiting_calls.THREADS + 2)]
        for call in calls:
            assert await call.waits()
        assert (await (await site.call("me", other).begin()).answer())[0] == 200
        await move(table, alice)
        assert [(await call.answer())[1]["version"] for call in calls] == [1] * len(calls)
        assert not site.app.waiting

    run(scenario())


@pytest.mark.long
def test_a_person_has_few_waiting_calls(
    site: Site, table: Table, alice: User, bob: User, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.RATE_LIMITS = 100
    monkeypatch.setattr(waiting_calls, "MOST_OF_ONE", 1)
    tokens = [api_token(alice), api_token(bob)]
    path = f"wait/games/{table.game.code}?after=0"

    async def scenario() -> None:
        calls = [await site.call(path, token).begin() for token in tokens]
        for call in calls:
            assert await call.waits()
        status, error = await (await site.call(path, tokens[0]).begin()).answer()
        assert (status, error["error"]) == (429, "too_many_requests")
        for call in calls:
            await call.hang_up()
        assert not site.app.waiting

    run(scenario())


def test_a_header_with_an_underscore_is_ignored(bob: User) -> None:
    seen: list[str] = []

    def note(environ: dict[str, Any], start_response: Any) -> list[bytes]:
        seen.extend(environ)
        return answer_and_disconnect(environ, start_response)

    headers = {"x_forwarded_for": "192.0.2.9", "x-forwarded-proto": "https"}

    async def scenario() -> None:
        call = Call(WaitingCalls(note), "me", "no-such-token", **headers)
        assert (await (await call.begin()).answer())[0] == 401

    run(scenario())
    assert "HTTP_X_FORWARDED_PROTO" in seen
    assert "HTTP_X_FORWARDED_FOR" not in seen


def test_calls_of_one_address_leave_threads_to_others() -> None:
    released = threading.Event()

    def late(environ: dict[str, Any], start_response: Any) -> list[bytes]:
        if environ["REMOTE_ADDR"] == "192.0.2.1":
            released.wait(10)
        start_response("200 OK", [])
        return [b"{}"]

    async def scenario() -> None:
        app = WaitingCalls(late)
        many = [await Call(app, "wait/events", "a", address="192.0.2.1").begin() for _ in range(20)]
        assert await many[0].waits()
        other = await Call(app, "wait/events", "b", address="192.0.2.2").begin()
        assert (await other.answer())[0] == 200
        released.set()
        assert [(await call.answer())[0] for call in many] == [200] * 20

    run(scenario())


@pytest.mark.long
def test_changes_that_are_nothing_new_are_looked_at_more_and_more_seldom(
    site: Site, table: Table, bob: User, caplog: pytest.LogCaptureFixture
) -> None:
    token = api_token(bob)

    async def scenario() -> None:
        call = await site.call(f"wait/games/{table.game.code}?after=0", token).begin()
        assert await call.waits()
        caplog.clear()
        for _ in range(40):
            await sync_to_async(announce.person_news)(bob.pk)
            await asyncio.sleep(0.02)
        await call.hang_up()

    with caplog.at_level("DEBUG", "nomercy.request"):
        run(scenario())
    assert 2 <= sum("wait/games" in record.getMessage() for record in caplog.records) <= 3


def test_a_caller_who_hangs_up_leaves_nothing_behind(site: Site, table: Table, bob: User) -> None:
    token = api_token(bob)

    async def scenario() -> None:
        call = await site.call(f"wait/games/{table.game.code}", token).begin()
        assert await call.waits()
        await call.hang_up()
        assert not site.app.waiting
        layer: Any = get_channel_layer()
        assert not layer.groups
        assert not layer.channels

    run(scenario())


def test_without_a_server_that_waits_the_view_answers_at_once(table: Table, bob: User) -> None:
    client = Client(headers={"authorization": f"Bearer {api_token(bob)}", "x-wait-for": "x", "nomercy.known": ""})
    for path in (f"wait/games/{table.game.code}?after=0", "wait/events"):
        answer = client.get(f"/api/v1/{path}")
        assert answer.status_code == 200
        assert "X-Wait-For" not in answer


@pytest.mark.parametrize(
    "path",
    ["wait/games/{}?after=-1", "wait/games/{}?after=x", "wait/games/{}?version=1", f"wait/events?after={'a' * 65}"],
)
def test_a_wrong_query_is_refused(path: str, table: Table, bob: User) -> None:
    client = Client(headers={"authorization": f"Bearer {api_token(bob)}"})
    answer = client.get(f"/api/v1/{path.format(table.game.code)}")
    assert (answer.status_code, answer.json()["error"]) == (400, "malformed")


def test_a_stopping_server_answers_the_calls(
    site: Site, table: Table, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = api_token(bob)

    async def scenario() -> None:
        call = await site.call(f"wait/games/{table.game.code}?after=0", token).begin()
        assert await call.waits()
        site.app.stopping.set()
        assert (await call.answer())[0] == 200

    run(scenario())
