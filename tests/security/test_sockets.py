"""Test every socket route with every role, as declared in `permissions.txt` (Q10)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.urls import path

from games.live.consumer import GameConsumer
from nomercy.asgi import websockets
from tests.security.test_permissions import declared
from tests.security.urls import Address, addresses
from tests.security.world import ROLES, World
from tests.support.sockets import Socket, run, thread_of_channels

pytestmark = pytest.mark.django_db(transaction=True)


def routes() -> list[Address]:
    """Return the socket routes of the router that the site serves."""
    patterns: Any = websockets.routes  # the stub wants a private pattern class
    return addresses(patterns)


def rows() -> dict[str, str]:
    return declared("ws/")


@pytest.fixture(autouse=True)
def _thread_of_channels(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    yield from thread_of_channels(monkeypatch)


async def letter(world: World, role: str, address: Address) -> str:
    """Return the letter of what this role gets: a message, or a close."""
    browser = world.browsers[role]
    socket = Socket(browser=browser if role != "anonymous" else None, path=address.url(world.arguments))
    if not await socket.accepted():
        return "-"
    answer = await socket.receive_or_close()
    if isinstance(answer, int):
        return "-"
    assert set(answer) == {"game", "version", "revision"}
    await socket.leave()
    return "."


def test_every_socket_has_a_row_and_no_row_is_left_over() -> None:
    assert set(rows()) == {address.key.removeprefix("/") for address in routes()}


def test_the_scan_finds_a_socket_without_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    new = path("ws/lobby/", GameConsumer.as_asgi())  # type: ignore[arg-type]  # an ASGI app, which URLRouter takes
    monkeypatch.setattr(websockets, "routes", [*websockets.routes, new])
    assert {address.key.removeprefix("/") for address in routes()} - set(rows()) == {"ws/lobby/"}


@pytest.mark.long
def test_every_role_gets_the_declared_messages() -> None:
    world = World()

    async def row(address: Address) -> str:
        return "".join([await letter(world, role, address) for role in ROLES])

    found = {address.key.removeprefix("/"): run(row(address)) for address in routes()}
    assert found == rows()


@pytest.mark.long
def test_the_scan_finds_a_socket_without_a_permission_check(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("games.queries.tables.may_see", lambda *args: True)
    (game,) = routes()
    assert run(letter(World(), "outsider", game)) == "."
