"""Sockets send version numbers, never cards, to those who may see the table."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from datetime import timedelta
from functools import partial
from typing import Any, TypeVar

import pytest
from asgiref.sync import sync_to_async
from django.conf import settings
from django.test import Client
from django.utils import timezone
from hypothesis import given
from hypothesis import settings as fuzzed
from hypothesis import strategies as st

from accounts.models import User
from accounts.queries import valid_sessions
from games import alarm, announce, presence
from games.actions.play import play_move
from games.live import polling
from games.live.polling import poller
from games.models import Game, Notice
from games.notices import outbox, player_notices
from games.notices.kinds import CAUGHT, SEAT_MOVED
from games.notices.player_notices import NewNotice
from games.queries import Viewer
from games.queries.page_state import states_of
from games.staff import people, tables
from games.staff.accounts import rename
from nomercy.launcher.embedded import ServerLoopLayer
from tests.conftest import logged_in
from tests.support.codes import confirmed_browser
from tests.support.sockets import Socket, run, thread_of_channels
from tests.support.tables import NOON, TWO_HANDS, now_of, table_at

T = TypeVar("T")

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_socket_announces_every_move(alice: User, bob: User) -> None:
    table = table_at(TWO_HANDS, [alice, bob])
    browser = logged_in(bob)

    async def scenario() -> None:
        socket = Socket(table.game.code, browser)
        assert await socket.accepted()
        assert await socket.receive() == {"game": table.game.code, "version": 0}
        await sync_to_async(play_move)(code=table.game.code, viewer=Viewer(alice), text="play r5", version=0, now=NOON)
        assert await socket.receive() == {"game": table.game.code, "version": 1}
        await socket.leave()

    run(scenario())


def test_a_suspension_closes_sockets_and_refuses_new_ones(mo: User, alice: User, bob: User) -> None:
    table = table_at(TWO_HANDS, [alice, bob])
    browser = logged_in(alice)
    why, now = "Rude words at two tables", timezone.now()

    async def scenario() -> None:
        socket = Socket(table.game.code, browser)
        assert await socket.accepted()
        await socket.receive()
        await sync_to_async(people.suspend)(person_id=alice.pk, by=mo, days=1, reason=why, now=now)
        assert await socket.closed() == 4403
        again = Socket(table.game.code, browser)
        assert await again.accepted()
        assert await again.closed() == 4404

    run(scenario())


@pytest.mark.parametrize("act", [partial(people.mute, days=3), partial(rename, username="alicia", display_name="")])
def test_a_name_taken_by_staff_disappears_from_open_pages(
    act: Callable[..., object], ann: User, alice: User, bob: User, charlie: User
) -> None:
    table, elsewhere = table_at(TWO_HANDS, [alice, bob]), table_at(TWO_HANDS, [bob, charlie])
    browser, why, now = logged_in(bob), "Rude words at two tables", timezone.now()

    async def scenario() -> None:
        socket, other = await open_socket(table.game.code, browser), await open_socket(elsewhere.game.code, browser)
        await sync_to_async(act)(person_id=alice.pk, by=ann, reason=why, now=now)
        assert await socket.receive() == {"game": table.game.code, "version": 0}
        assert await other.receives_nothing()
        await socket.leave()
        await other.leave()

    run(scenario())


def test_notices_that_are_shown_refresh_the_pages_of_their_reader_once(alice: User, bob: User) -> None:
    table = table_at(TWO_HANDS, [alice, bob])
    browsers = [logged_in(alice), logged_in(bob)]

    def deliver() -> None:
        for mark in (1, 2):
            notice = NewNotice(alice.pk, SEAT_MOVED, "Staff gave you a seat.")
            player_notices.write(table.game, [notice], now=NOON, mark=mark)
        outbox.deliver(clock=lambda: NOON)

    async def scenario() -> None:
        hers, his = [await open_socket(table.game.code, browser) for browser in browsers]
        await sync_to_async(deliver)()
        assert await hers.receive() == {"game": table.game.code, "version": 0}
        assert await hers.receives_nothing()
        assert await his.receives_nothing()
        await hers.leave()
        await his.leave()

    run(scenario())


def test_a_notice_that_is_not_shown_refreshes_no_page(alice: User, bob: User) -> None:
    table = table_at(TWO_HANDS, [alice, bob])
    browser = logged_in(alice)

    def deliver_while_she_looks() -> None:
        presence.mark_viewing(game_id=table.game.pk, user_id=alice.pk)
        player_notices.write(table.game, [NewNotice(alice.pk, CAUGHT, "Bob catches you.")], now=NOON)
        outbox.deliver(clock=lambda: NOON)

    async def scenario() -> None:
        socket = await open_socket(table.game.code, browser)
        await sync_to_async(deliver_while_she_looks)()
        assert await socket.receives_nothing()
        await socket.leave()

    run(scenario())
    assert Notice.objects.filter(channel="site").get().reason == "looking"


@pytest.fixture(autouse=True)
def _thread_of_channels(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    yield from thread_of_channels(monkeypatch)


async def code_of_close(socket: Socket) -> int:
    assert await socket.accepted()
    return await socket.closed()


def test_a_private_tables_socket_closes_for_others(alice: User, bob: User, charlie: User) -> None:
    code = table_at(TWO_HANDS, [alice, bob], is_public=False).game.code
    assert run(code_of_close(Socket(code, logged_in(charlie)))) == 4404
    assert run(code_of_close(Socket(code))) == 4404
    assert run(code_of_close(Socket("nowhere"))) == 4404


def test_a_visitor_with_the_link_gets_updates(alice: User, bob: User) -> None:
    table = table_at(TWO_HANDS, [alice, bob], is_public=False)
    visitor = Client()
    session = visitor.session
    session["links"] = [table.game.invite_key]
    session.save()
    visitor.cookies[settings.SESSION_COOKIE_NAME] = session.session_key or ""

    async def scenario() -> None:
        socket = Socket(table.game.code, visitor)
        assert await socket.accepted()
        assert (await socket.receive())["version"] == 0
        await socket.leave()

    run(scenario())


def test_the_socket_accepts_no_messages(alice: User, bob: User) -> None:
    table = table_at(TWO_HANDS, [alice, bob])

    async def scenario() -> None:
        socket = Socket(table.game.code)
        assert await socket.accepted()
        await socket.receive()
        await socket.say('{"move": "draw"}')
        assert await socket.closed() == 4400

    run(scenario())


def test_a_page_of_another_site_gets_no_socket(alice: User, bob: User) -> None:
    table = table_at(TWO_HANDS, [alice, bob])
    browser = logged_in(bob)
    assert not run(Socket(table.game.code, browser, origin="https://evil.example").accepted())


def test_a_channel_layer_that_is_down_never_fails_a_move(
    alice: User, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = table_at(TWO_HANDS, [alice, bob])

    def down() -> Any:
        raise ConnectionError("refused")

    monkeypatch.setattr(announce, "_publisher", down)
    monkeypatch.setattr(announce, "_paused_until", {})
    after = play_move(code=table.game.code, viewer=Viewer(alice), text="play r5", version=0, now=NOON)
    assert after.game.version == 1
    assert "channel layer" in announce._paused_until


def test_a_failed_target_is_skipped_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(announce, "_paused_until", {})
    calls: list[int] = []

    def fail() -> None:
        calls.append(1)
        raise ConnectionError("refused")

    announce._guarded("broker", fail)
    announce._guarded("broker", fail)
    assert calls == [1]


somewhat_like_ours = st.fixed_dictionaries(
    {"type": st.sampled_from(["game.changed", "websocket.close", "move"]), "version": st.none() | st.integers()}
)
frames = st.text() | st.binary() | somewhat_like_ours.map(json.dumps) | st.sampled_from(["é" * 40_000, "[" * 5000])


@pytest.mark.long
def test_any_message_closes_the_socket(alice: User, bob: User) -> None:
    table, browser = table_at(TWO_HANDS, [alice, bob]), logged_in(alice)

    @given(frames)
    @fuzzed(max_examples=50, derandomize=True, deadline=None, database=None)
    def say(frame: str | bytes) -> None:
        async def scenario() -> None:
            socket = await open_socket(table.game.code, browser)
            await socket.say(frame)
            assert await socket.closed() == 4400
            await socket.leave()

        run(scenario())

    say()
    assert now_of(table).game.version == table.game.version


async def open_socket(code: str, browser: Client | None) -> Socket:
    """Return a connected socket that has received the game's version."""
    socket = Socket(code, browser)
    assert await socket.accepted()
    await socket.receive()
    return socket


@pytest.mark.long
def test_polling_sends_what_the_channel_layer_lost(alice: User, bob: User) -> None:
    table = table_at(TWO_HANDS, [alice, bob])
    browser = logged_in(bob)

    async def scenario() -> None:
        socket = await open_socket(table.game.code, browser)
        await poller().send_missed_updates()
        assert (await socket.receive())["version"] == 0  # once, for what may have changed since the page was made
        await sync_to_async(Game.objects.filter(pk=table.game.pk).update)(version=7)
        await poller().send_missed_updates()
        assert (await socket.receive())["version"] == 7
        await poller().send_missed_updates()
        assert await socket.receives_nothing()
        await sync_to_async(Game.objects.filter(pk=table.game.pk).update)(paused_at=NOON)
        await poller().send_missed_updates()
        assert (await socket.receive())["version"] == 7
        await socket.leave()
        assert poller().sockets == set()

    run(scenario())


def test_polling_repeats_no_message_about_a_move(alice: User, bob: User) -> None:
    table = table_at(TWO_HANDS, [alice, bob])
    browser = logged_in(bob)

    async def scenario() -> None:
        socket = await open_socket(table.game.code, browser)
        await poller().send_missed_updates()
        await socket.receive()
        await sync_to_async(play_move)(
            code=table.game.code, viewer=Viewer(alice), text="play r5", version=0, now=timezone.now()
        )
        assert (await socket.receive())["version"] == 1
        await poller().send_missed_updates()
        assert await socket.receives_nothing()
        await socket.leave()

    run(scenario())


def test_a_socket_opens_while_the_channel_layer_is_down_and_joins_later(
    alice: User, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = table_at(TWO_HANDS, [alice, bob])
    browser = logged_in(bob)
    away = [True]
    join = ServerLoopLayer.group_add

    async def group_add(self: ServerLoopLayer, group: str, channel: str) -> None:
        if away:
            raise ConnectionError("refused")
        await join(self, group, channel)

    monkeypatch.setattr(ServerLoopLayer, "group_add", group_add)

    async def scenario() -> None:
        socket = await open_socket(table.game.code, browser)
        assert poller().layer_is_down
        await poller().send_missed_updates()
        await socket.receive()
        away.clear()
        poller().layer_down_until = 0.0
        await poller().send_missed_updates()
        await sync_to_async(play_move)(
            code=table.game.code, viewer=Viewer(alice), text="play r5", version=0, now=timezone.now()
        )
        assert (await socket.receive())["version"] == 1
        await socket.leave()

    run(scenario())


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


ENDINGS = [log_out, log_out_elsewhere, change_password, ban]


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_socket_ends_with_its_session_and_sends_nothing_more(
    alice: User, bob: User, ending: Callable[[Client, User], None]
) -> None:
    table = table_at(TWO_HANDS, [alice, bob])
    browser, opponent = logged_in(bob), logged_in(alice)

    async def scenario() -> None:
        socket = await open_socket(table.game.code, browser)
        other = await open_socket(table.game.code, opponent)
        await sync_to_async(ending)(browser, bob)
        assert await socket.closed() == 4401
        await sync_to_async(play_move)(
            code=table.game.code, viewer=Viewer(alice), text="play r5", version=0, now=timezone.now()
        )
        assert (await other.receive())["version"] == 1
        await poller().send_missed_updates()
        assert await socket.receives_nothing()
        await other.leave()

    run(scenario())


@pytest.mark.parametrize("ending", ENDINGS)
def test_polling_closes_sockets_whose_session_ended_unannounced(
    alice: User, bob: User, ending: Callable[[Client, User], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    table = table_at(TWO_HANDS, [alice, bob])
    browser, opponent = logged_in(bob), logged_in(alice)
    monkeypatch.setattr(announce, "_send_to_group", lambda group, message: None)

    async def scenario() -> None:
        socket = await open_socket(table.game.code, browser)
        other, nobody = await open_socket(table.game.code, opponent), await open_socket(table.game.code, None)
        await poller().close_ended_sessions(timezone.now())
        await sync_to_async(ending)(browser, bob)
        assert await socket.receives_nothing()
        await poller().close_ended_sessions(timezone.now())
        assert await socket.closed() == 4401
        assert await other.receives_nothing()
        assert await nobody.receives_nothing()
        await other.leave()
        await nobody.leave()

    run(scenario())


def test_every_end_of_a_session_closes_its_socket(alice: User, bob: User) -> None:
    table = table_at(TWO_HANDS, [alice, bob])
    browser = logged_in(bob)

    async def scenario() -> None:
        now = timezone.now()
        socket = await open_socket(table.game.code, browser)
        await poller().close_ended_sessions(now + timedelta(days=59))
        assert await socket.receives_nothing()
        await poller().close_ended_sessions(now + timedelta(days=61))  # it has run out
        assert await socket.closed() == 4401

    run(scenario())
    owners: dict[str, int | None] = {browser.session.session_key or "": bob.pk}
    assert valid_sessions(owners, timezone.now()) == set(owners)
    User.objects.filter(pk=bob.pk).update(suspended_until=timezone.now() + timedelta(hours=1))
    assert valid_sessions(owners, timezone.now()) == set()


UNHEARD: dict[str, Callable[..., object]] = {
    "pause": tables.pause,
    "extend": partial(tables.extend, minutes=5),
    "extend in a pause": partial(tables.extend, minutes=5),
    "void_game": tables.void_game,
    "remove": partial(tables.remove, seat=1, bot=True),
    "move_seat": partial(tables.move_seat, seat=1, username="charlie"),
}


@pytest.mark.parametrize("act", UNHEARD)
def test_polling_finds_what_staff_did_unannounced(
    ann: User, alice: User, bob: User, charlie: User, act: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Only acts that add a line to the log change the version.
    now, why = timezone.now(), "Asked for by both of them"
    table = table_at(TWO_HANDS, [alice, bob], deadline=now + timedelta(hours=3), turn_since=now)
    if "in a pause" in act:
        tables.pause(game_id=table.game.pk, by=ann, reason=why, now=now)
    monkeypatch.setattr(announce, "_send_to_group", lambda group, message: None)

    async def scenario() -> None:
        socket = await open_socket(table.game.code, logged_in_browser)
        await poller().send_missed_updates()
        await socket.receive()
        await poller().send_missed_updates()
        assert await socket.receives_nothing()
        await sync_to_async(UNHEARD[act])(game_id=table.game.pk, by=ann, reason=why, now=now)
        await poller().send_missed_updates()
        assert await socket.receive() == {"game": table.game.code, "version": 0}
        await socket.leave()

    logged_in_browser = logged_in(alice)
    run(scenario())


def test_polling_checks_whether_the_clocks_act(alice: User, bob: User, monkeypatch: pytest.MonkeyPatch) -> None:
    table = table_at(TWO_HANDS, [alice, bob])
    for seconds in ("POLL_SECONDS", "SESSION_CHECK_SECONDS"):
        monkeypatch.setattr(polling, seconds, 0.01)

    async def scenario() -> None:
        looked: list[int] = []
        twice, loop, here = asyncio.Event(), asyncio.get_running_loop(), poller()

        def look() -> None:
            looked.append(len(here.sockets))
            if len(looked) == 2:
                loop.call_soon_threadsafe(twice.set)

        monkeypatch.setattr(alarm, "check", look)
        assert looked == []
        socket = await open_socket(table.game.code, None)
        await asyncio.wait_for(twice.wait(), timeout=20)
        await socket.leave()
        assert looked[:2] == [1, 1]

    run(scenario())


def test_a_socket_that_opens_as_the_last_one_closes_is_polled(
    alice: User, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = table_at(TWO_HANDS, [alice, bob])

    async def scenario() -> None:
        socket = await open_socket(table.game.code, None)
        (watched,) = poller().sockets
        await asyncio.sleep(0)  # let the poller start to wait
        poller().remove(watched)
        poller().add(watched)
        monkeypatch.setattr(polling, "POLL_SECONDS", 0.01)
        await sync_to_async(Game.objects.filter(pk=table.game.pk).update)(version=7)
        assert (await socket.receive())["version"] == 7
        await socket.leave()

    run(scenario())


def test_few_queries_poll_many_sockets(
    alice: User, bob: User, django_assert_num_queries: Callable[[int], AbstractContextManager[object]]
) -> None:
    codes = {table_at(TWO_HANDS, [alice, bob]).game.code for _ in range(3)}
    sessions: dict[str, int | None] = {logged_in(alice).session.session_key or "": alice.pk for _ in range(3)}
    with django_assert_num_queries(1):
        assert set(states_of(codes)) == codes
    with django_assert_num_queries(2):
        assert valid_sessions(sessions, timezone.now()) == set(sessions)
