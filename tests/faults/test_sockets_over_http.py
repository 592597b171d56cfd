"""Test sockets of the production processes: broken ones while a player has a page open, and those of ended sessions.

Unlike in test_away.py, no process that carries the events was just killed.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
import socket
import struct
import time
from collections.abc import Callable, Iterator
from typing import Final
from urllib.parse import urlsplit

import pytest
from asgiref.sync import sync_to_async
from django.conf import settings
from django.test import Client
from pytest_django import DjangoDbBlocker
from pytest_django.fixtures import Settings
from websockets.asyncio.client import connect
from websockets.typing import Origin

from accounts.models import User
from common.limits import SOCKETS
from nomercy import settings as site_settings
from tests.conftest import Figure, logged_in
from tests.faults.test_away import a_table_with_a_bot, frames_until_closed, on_the_stack, open_socket, post
from tests.support.codes import confirmed_browser
from tests.support.database import emptied_afterwards
from tests.support.stack import RunningStack, stack
from tests.support.tables import TWO_HANDS, table_at

__all__ = ["on_the_stack"]  # the fixture of that module

pytestmark = [pytest.mark.long, pytest.mark.nginx, pytest.mark.redis, pytest.mark.django_db(transaction=True)]

BROKEN: Final = 40
RESET: Final = struct.pack("ii", 1, 0)
"""SO_LINGER: closing sends a reset, as when the other machine has gone."""
BY_EVENT: Final = 5.0
"""Seconds within which the event of an ended session closes its sockets."""


@pytest.fixture(scope="module")
def running(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[RunningStack]:
    with (
        emptied_afterwards(django_db_blocker),
        stack(only=["web", "ws"], RATE_LIMITS="100", LOG_LEVEL="WARNING", WEB_CONCURRENCY="1") as running,
    ):
        yield running


def handshake(running: RunningStack, path: str, source: str = "127.0.0.9") -> tuple[socket.socket, int]:
    """Ask for a socket by hand; return the connection and the status."""
    address = urlsplit(running.url)
    line = socket.create_connection((address.hostname, address.port), timeout=20, source_address=(source, 0))
    key = base64.b64encode(os.urandom(16)).decode()
    lines = [
        f"GET {path} HTTP/1.1", f"Host: {address.netloc}", f"Origin: {running.url}", "Upgrade: websocket",
        "Connection: Upgrade", f"Sec-WebSocket-Key: {key}", "Sec-WebSocket-Version: 13", "", "",
    ]  # fmt: skip
    line.sendall("\r\n".join(lines).encode())
    answer = line.recv(4096)
    return line, int(answer.split(b" ", 2)[1])


def break_off(line: socket.socket) -> None:
    line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
    line.close()


def test_a_page_is_updated_while_other_sockets_break(
    running: RunningStack, alice: User, bob: User, figure: Figure
) -> None:
    game = table_at(TWO_HANDS, [alice, bob]).game
    path, browser = f"/ws/games/{game.code}/", logged_in(alice)
    cookie = f"{settings.SESSION_COOKIE_NAME}={browser.cookies[settings.SESSION_COOKIE_NAME].value}"

    async def scenario() -> float:
        address = f"{running.url.replace('http', 'ws', 1)}{path}"
        async with connect(address, origin=Origin(running.url), additional_headers={"Cookie": cookie}) as page:
            assert json.loads(await page.recv())["version"] == 0
            for _ in range(BROKEN):
                line, status = await asyncio.to_thread(handshake, running, path)
                assert status == 101
                break_off(line)
            line, status = await asyncio.to_thread(handshake, running, f"/ws/games/{'x' * 150}/")
            line.close()
            assert status == 404
            started = time.monotonic()
            move = sync_to_async(post)(
                running, f"/games/{game.code}/move/", browser, move="play r5", version=0, token="1"
            )
            assert (await move)[0] == 303
            while json.loads(await asyncio.wait_for(page.recv(), 20))["version"] < 1:
                pass
            return time.monotonic() - started

    before = len(running.said)
    never_read = [handshake(running, path, "127.0.0.8") for _ in range(20)]
    assert {status for _, status in never_read} == {101}
    waited = asyncio.run(scenario())
    for line, _ in never_read:
        line.close()
    said = "".join(running.said[before:])
    figure(f"heard of the move after {waited:.2f} s beside {BROKEN} sockets that broke at once")
    assert waited < 5.0
    assert "Exception in ASGI application" not in said
    assert "sockets without channel layer" not in said


def test_only_an_address_that_opens_too_many_sockets_is_refused(
    running: RunningStack, alice: User, bob: User, figure: Figure
) -> None:
    code = table_at(TWO_HANDS, [alice, bob]).game.code
    seen: list[int] = []
    for _ in range(2 * SOCKETS.most + 1):  # a minute may end meanwhile
        line, status = handshake(running, f"/ws/games/{code}/", "127.0.0.10")
        seen.append(status)
        break_off(line)
    started = time.monotonic()
    line, status = handshake(running, f"/ws/games/{code}/", "127.0.0.7")
    waited = time.monotonic() - started
    line.close()
    figure(f"{seen.count(429)} of {len(seen)} were refused; somebody else came in after {waited:.2f} s")
    assert set(seen) == {101, 429}
    assert status == 101


def log_out(running: RunningStack, browser: Client, elsewhere: Client) -> None:
    assert post(running, "/accounts/logout/", browser)[0] == 302


def change_password(running: RunningStack, browser: Client, elsewhere: Client) -> None:
    form = {"oldpassword": "alice", "password1": "quite another 1", "password2": "quite another 1"}
    assert post(running, "/accounts/password/change/", browser, **form)[0] == 302


def log_out_elsewhere(running: RunningStack, browser: Client, elsewhere: Client) -> None:
    assert post(running, "/accounts/me/sessions/", elsewhere, end="others")[0] == 303


@pytest.mark.parametrize("ending", [log_out, log_out_elsewhere, change_password])
def test_a_socket_is_closed_within_seconds_when_its_session_ends(
    running: RunningStack,
    alice: User,
    bob: User,
    ending: Callable[[RunningStack, Client, Client], None],
    settings: Settings,
    figure: Figure,
) -> None:
    settings.PASSWORD_HASHERS = site_settings.PASSWORD_HASHERS  # the stack has no other accounts
    alice.set_password("alice")
    alice.save(update_fields=["password"])
    game = a_table_with_a_bot(alice)
    mine, elsewhere, other = logged_in(alice), confirmed_browser(alice), logged_in(bob)

    async def scenario() -> float:
        async with (
            await open_socket(running, game, mine) as socket,
            await open_socket(running, game, other) as bystander,
        ):
            await asyncio.to_thread(ending, running, mine, elsewhere)
            started = time.monotonic()
            frames = await frames_until_closed(socket)
            assert frames <= 1  # one message may have been on its way
            assert socket.close_code == 4401
            assert bystander.close_code is None
            return time.monotonic() - started

    seconds = asyncio.run(scenario())
    figure(f"closed after {seconds:.2f} s")
    assert seconds < BY_EVENT
