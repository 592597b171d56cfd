"""Sockets send the numbers of versions and revisions, never cards, to those who may see the table."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from celery import current_app
from django.test import Client
from django.utils import timezone
from hypothesis import given
from hypothesis import settings as fuzzed
from hypothesis import strategies as st

from accounts.models import User
from accounts.queries import valid_sessions
from games import alarm, announce, presence
from games.actions.names import raise_revisions
from games.actions.play import play_move
from games.live import polling
from games.live.polling import poller
from games.models import Game, Notice
from games.notices import player_notices
from games.notices.kinds import CAUGHT, SEAT_MOVED
from games.notices.player_notices import NewNotice
from games.queries import Table, Viewer
from games.queries.open_pages import open_pages
from games.staff import people, tables
from games.staff.accounts import rename
from mail import outbox
from nomercy.launcher.embedded import ServerLoopLayer
from tests.conftest import logged_in
from tests.support.codes import confirmed_browser
from tests.support.sockets import Socket, opened, played, run, thread_of_channels
from tests.support.tables import NOON, TWO_HANDS, now_of, table_at

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _thread_of_channels(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    yield from thread_of_channels(monkeypatch)


@pytest.fixture
def table(alice: User, bob: User) -> Table:
    return table_at(TWO_HANDS, [alice, bob])


@pytest.fixture
def code(table: Table) -> str:
    return table.game.code


@pytest.fixture
def unannounced(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the channel layer lose all messages."""

    async def lose(*_: object) -> None:
        pass

    monkeypatch.setattr(ServerLoopLayer, "group_send", lose)


async def code_of_close(socket: Socket) -> int:
    assert await socket.accepted()
    return await socket.closed()


async def test_a_socket_announces_every_move(code: str, alice: User, as_bob: Client) -> None:
    socket = Socket(code, as_bob)
    assert await socket.accepted()
    assert await socket.receive() == {"game": code, "version": 0, "revision": 0}
    await played(code, alice)
    assert await socket.receive() == {"game": code, "version": 1, "revision": 1}
    await socket.leave()


async def test_a_suspension_closes_sockets_and_refuses_new_ones(
    code: str, mo: User, alice: User, as_alice: Client
) -> None:
    socket = await opened(code, as_alice)
    suspend = partial(people.suspend, person_id=alice.pk, by=mo, days=1, reason="Rude words", now=timezone.now())
    await sync_to_async(suspend)()
    assert await socket.closed() == 4403
    assert await code_of_close(Socket(code, as_alice)) == 4404


@pytest.fixture
def elsewhere(bob: User, charlie: User) -> str:
    return table_at(TWO_HANDS, [bob, charlie]).game.code


@pytest.mark.parametrize("act", [partial(people.mute, days=3), partial(rename, username="alicia", display_name="")])
async def test_the_worker_lets_open_pages_show_a_name_that_staff_have_changed(
    act: Callable[..., object],
    ann: User,
    alice: User,
    code: str,
    elsewhere: str,
    as_bob: Client,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[tuple[str, object]] = []
    await User.objects.filter(pk=alice.pk).aupdate(display_name="Rude")
    monkeypatch.setattr(current_app, "send_task", lambda task, args, **_: asked.append((task, args)))
    socket, other = await opened(code, as_bob), await opened(elsewhere, as_bob)
    await sync_to_async(act)(person_id=alice.pk, by=ann, reason="Rude words at two tables", now=timezone.now())
    assert asked == [("games.tasks.raise_revisions", (alice.pk, False, 0))]
    assert await socket.receives_nothing()
    await sync_to_async(raise_revisions)(user_id=alice.pk, only_running=False)
    assert await socket.receive() == {"game": code, "version": 0, "revision": 1}
    assert await other.receives_nothing()
    await socket.leave()
    await other.leave()


async def test_notices_that_are_shown_refresh_the_pages_of_their_reader_once(
    table: Table, alice: User, as_alice: Client, as_bob: Client
) -> None:
    @sync_to_async
    def deliver() -> None:
        for number in (1, 2):
            notice = NewNotice(alice.pk, SEAT_MOVED, "got_back")
            player_notices.write(table.game, [notice], now=NOON, occasion=number)
        outbox.deliver(clock=lambda: NOON)

    hers, his = [await opened(table.game.code, browser) for browser in (as_alice, as_bob)]
    await deliver()
    assert await hers.receive() == {"game": table.game.code, "version": 0, "revision": 0, "news": True}
    assert await hers.receives_nothing()
    assert await his.receives_nothing()
    await hers.leave()
    await his.leave()


async def test_a_notice_that_is_not_shown_refreshes_no_page(table: Table, alice: User, as_alice: Client) -> None:
    @sync_to_async
    def deliver_while_she_looks() -> str:
        presence.mark_viewing(game_id=table.game.pk, user_id=alice.pk)
        player_notices.write(table.game, [NewNotice(alice.pk, CAUGHT)], now=NOON)
        outbox.deliver(clock=lambda: NOON)
        return Notice.objects.filter(channel="site").get().reason

    socket = await opened(table.game.code, as_alice)
    assert await deliver_while_she_looks() == "looking"
    assert await socket.receives_nothing()
    await socket.leave()


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Let every call of the channel layer and of the broker fail, and return the list of calls."""
    calls: list[str] = []

    def fail(kind: str, *_: object, **__: object) -> None:
        calls.append(kind)
        raise ConnectionError("refused")

    monkeypatch.setattr(ServerLoopLayer, "group_send", partial(fail, "channel layer"))
    monkeypatch.setattr(current_app, "send_task", partial(fail, "broker"))
    return calls


def test_a_channel_layer_or_broker_that_is_down_fails_no_move_and_is_left_alone_for_a_while(
    code: str, alice: User, broken: list[str]
) -> None:
    assert play_move(code=code, viewer=Viewer(alice), text="play r5", version=0, now=NOON).game.version == 1
    announce.person_news(alice.pk)
    announce.data_asked_for()
    announce.time_off_changed(alice.pk)
    assert broken == ["channel layer", "broker"]


somewhat_like_ours = st.fixed_dictionaries(
    {"type": st.sampled_from(["game.changed", "websocket.close", "move"]), "version": st.none() | st.integers()}
)
frames = st.text() | st.binary() | somewhat_like_ours.map(json.dumps) | st.sampled_from(["é" * 40_000, "[" * 5000])


async def close_code_after(frame: str | bytes, code: str, browser: Client | None) -> int:
    socket = await opened(code, browser)
    await socket.say(frame)
    closed = await socket.closed()
    await socket.leave()
    return closed


def test_the_socket_accepts_no_messages(code: str) -> None:
    assert run(close_code_after('{"move": "draw"}', code, None)) == 4400


@pytest.mark.long
def test_any_message_closes_the_socket(table: Table, as_alice: Client) -> None:
    @given(frames)
    @fuzzed(max_examples=50, derandomize=True, deadline=None, database=None)
    def say(frame: str | bytes) -> None:
        assert run(close_code_after(frame, table.game.code, as_alice)) == 4400

    say()
    assert now_of(table).game.version == table.game.version


@pytest.mark.long
async def test_polling_sends_what_the_channel_layer_lost(code: str, as_bob: Client) -> None:
    game = Game.objects.filter(code=code)
    socket = await opened(code, as_bob)
    await poller().send_missed_updates()
    assert await socket.receives_nothing()
    await sync_to_async(game.update)(version=7, revision=8)
    await poller().send_missed_updates()
    assert await socket.receive() == {"game": code, "version": 7, "revision": 8}
    await poller().send_missed_updates()
    assert await socket.receives_nothing()
    await socket.leave()
    assert poller().sockets == set()


async def test_polling_repeats_no_message_about_a_move(code: str, alice: User, as_bob: Client) -> None:
    socket = await opened(code, as_bob)
    await played(code, alice)
    assert (await socket.receive())["version"] == 1
    await poller().send_missed_updates()
    assert await socket.receives_nothing()
    await socket.leave()


async def test_a_socket_opens_while_the_channel_layer_is_down_and_joins_later(
    code: str, alice: User, as_bob: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def group_add(*_: object) -> None:
        raise ConnectionError("refused")

    with monkeypatch.context() as down:
        down.setattr(ServerLoopLayer, "group_add", group_add)
        socket = await opened(code, as_bob)
        assert poller().layer_is_down
        await poller().send_missed_updates()
    poller().layer_down_until = 0.0
    await poller().send_missed_updates()
    await played(code, alice)
    assert (await socket.receive())["version"] == 1
    await socket.leave()


def log_out(browser: Client, person: User) -> None:
    browser.post("/accounts/logout/")


def change_password(browser: Client, person: User) -> None:
    person.set_password("another")
    person.save(update_fields=["password"])


def ban(browser: Client, person: User) -> None:
    person.is_active = False
    person.save(update_fields=["is_active"])


def log_out_elsewhere(browser: Client, person: User) -> None:
    confirmed_browser(person).post("/accounts/me/sessions/", {"end": "others"})


endings = pytest.mark.parametrize("ending", [log_out, log_out_elsewhere, change_password, ban])


@endings
async def test_a_socket_ends_with_its_session_and_sends_nothing_more(
    code: str, alice: User, bob: User, as_alice: Client, as_bob: Client, ending: Callable[[Client, User], None]
) -> None:
    socket, other = await opened(code, as_bob), await opened(code, as_alice)
    await sync_to_async(ending)(as_bob, bob)
    assert await socket.closed() == 4401
    await played(code, alice)
    assert (await other.receive())["version"] == 1
    await poller().send_missed_updates()
    assert await socket.receives_nothing()
    await other.leave()


@endings
@pytest.mark.usefixtures("unannounced")
async def test_polling_closes_sockets_whose_session_ended_unannounced(
    code: str, bob: User, as_alice: Client, as_bob: Client, ending: Callable[[Client, User], None]
) -> None:
    socket, *others = [await opened(code, browser) for browser in (as_bob, as_alice, None)]
    await poller().close_ended_sessions(timezone.now())
    await sync_to_async(ending)(as_bob, bob)
    assert await socket.receives_nothing()
    await poller().close_ended_sessions(timezone.now())
    assert await socket.closed() == 4401
    for other in others:
        assert await other.receives_nothing()
        await other.leave()


def test_every_end_of_a_session_closes_its_socket(code: str, bob: User, as_bob: Client) -> None:
    now = timezone.now()

    async def scenario() -> None:
        socket = await opened(code, as_bob)
        await poller().close_ended_sessions(now + timedelta(days=59))
        assert await socket.receives_nothing()
        await poller().close_ended_sessions(now + timedelta(days=61))  # it has run out
        assert await socket.closed() == 4401

    run(scenario())
    owners: dict[str, int | None] = {as_bob.session.session_key or "": bob.pk}
    assert valid_sessions(owners, now) == set(owners)
    User.objects.filter(pk=bob.pk).update(suspended_until=now + timedelta(hours=1))
    assert valid_sessions(owners, now) == set()


UNHEARD: dict[str, Callable[..., object]] = {
    "pause": tables.pause,
    "extend": partial(tables.extend, minutes=5),
    "extend in a pause": partial(tables.extend, minutes=5),
    "void_game": tables.void_game,
    "remove": partial(tables.remove, seat=1, bot=True),
    "move_seat": partial(tables.move_seat, seat=1, username="charlie"),
}


@pytest.mark.parametrize("act", UNHEARD)
@pytest.mark.usefixtures("unannounced", "charlie")
def test_polling_finds_what_staff_did_unannounced(
    ann: User, alice: User, bob: User, as_alice: Client, act: str
) -> None:
    # Only acts that add a line to the log change the version.
    now = timezone.now()
    game = table_at(TWO_HANDS, [alice, bob], deadline=now + timedelta(hours=3), turn_since=now).game
    by_staff: dict[str, Any] = {"game_id": game.pk, "by": ann, "reason": "Asked for by both of them", "now": now}
    if "in a pause" in act:
        tables.pause(**by_staff)
    revision = Game.objects.get(pk=game.pk).revision

    async def scenario() -> None:
        socket = await opened(game.code, as_alice)
        await poller().send_missed_updates()
        assert await socket.receives_nothing()
        await sync_to_async(UNHEARD[act])(**by_staff)
        await poller().send_missed_updates()
        message = await socket.receive()
        assert (message["version"], message["revision"] > revision) == (0, True)
        await socket.leave()

    run(scenario())


async def test_polling_checks_whether_the_clocks_act(code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for seconds in ("POLL_SECONDS", "SESSION_CHECK_SECONDS"):
        monkeypatch.setattr(polling, seconds, 0.01)
    looked: list[int] = []
    twice, loop, here = asyncio.Event(), asyncio.get_running_loop(), poller()

    def look() -> None:
        looked.append(len(here.sockets))
        if len(looked) == 2:
            loop.call_soon_threadsafe(twice.set)

    monkeypatch.setattr(alarm, "check", look)
    socket = await opened(code)
    await asyncio.wait_for(twice.wait(), timeout=20)
    await socket.leave()
    assert looked[:2] == [1, 1]


async def test_a_socket_that_opens_as_the_last_one_closes_is_polled(code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    socket = await opened(code)
    (watched,) = poller().sockets
    await asyncio.sleep(0)  # let the poller start to wait
    poller().remove(watched)
    poller().add(watched)
    monkeypatch.setattr(polling, "POLL_SECONDS", 0.01)
    await sync_to_async(Game.objects.filter(code=code).update)(version=7, revision=7)
    assert (await socket.receive())["version"] == 7
    await socket.leave()


def test_few_queries_poll_many_sockets(
    alice: User, bob: User, django_assert_num_queries: Callable[[int], AbstractContextManager[object]]
) -> None:
    codes = {table_at(TWO_HANDS, [alice, bob]).game.code for _ in range(3)}
    sessions: dict[str, int | None] = {logged_in(alice).session.session_key or "": alice.pk for _ in range(3)}
    with django_assert_num_queries(1):
        assert set(open_pages(codes)) == codes
    with django_assert_num_queries(2):
        assert valid_sessions(sessions, timezone.now()) == set(sessions)
