"""Networks take turns with the threads of a server."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from nomercy.server.turns import Turns


def run(scenario: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(scenario())


async def settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


class Requests:
    """Requests by name, like `a1` of network `a`. `started` are those that got a place, in order."""

    def __init__(self, turns: Turns) -> None:
        self.turns = turns
        self.started: list[str] = []
        self.tasks: dict[str, asyncio.Task[None]] = {}
        self.ends: dict[str, asyncio.Event] = {}

    async def arrive(self, *names: str) -> None:
        for name in names:
            self.ends[name] = asyncio.Event()
            self.tasks[name] = asyncio.create_task(self._request(name))
        await settle()

    async def _request(self, name: str) -> None:
        async with self.turns.place(name[0]):
            self.started.append(name)
            await self.ends[name].wait()

    async def end(self, *names: str) -> None:
        for name in names:
            self.ends[name].set()
            await settle()

    async def cancel(self, name: str) -> None:
        self.tasks[name].cancel()
        await settle()


def test_a_network_with_one_request_does_not_wait_for_all_of_another() -> None:
    async def scenario() -> None:
        requests = Requests(Turns(1, most=None))
        await requests.arrive("a1", "a2", "a3", "a4", "b1", "b2", "c1")
        await requests.end("a1", "a2", "b1", "c1", "a3", "b2", "a4")
        assert requests.started == ["a1", "a2", "b1", "c1", "a3", "b2", "a4"]

    run(scenario)


def test_a_network_cannot_take_all_places() -> None:
    async def scenario() -> None:
        requests = Requests(Turns(3, most=2))
        await requests.arrive("a1", "a2", "a3", "b1")
        assert requests.started == ["a1", "a2", "b1"]
        await requests.end("b1")
        assert requests.started == ["a1", "a2", "b1"]
        await requests.end("a1")
        assert requests.started == ["a1", "a2", "b1", "a3"]

    run(scenario)


@pytest.mark.parametrize(
    ("cancelled", "started"),
    [("a1", ["a1", "a2", "b1", "a3"]), ("a2", ["a1", "a3", "b1"]), ("b1", ["a1", "a2", "a3"])],
)
def test_a_cancelled_request_leaves_its_place_to_others(cancelled: str, started: list[str]) -> None:
    async def scenario() -> None:
        requests = Requests(Turns(1, most=None))
        names = ["a1", "a2", "b1", "a3"]
        await requests.arrive(*names)
        await requests.cancel(cancelled)
        await requests.end(*names)
        assert requests.started == started
        await requests.arrive("c1")
        assert requests.started[-1] == "c1"

    run(scenario)


def test_a_request_that_is_cancelled_as_its_turn_comes_leaves_its_place_to_others() -> None:
    async def scenario() -> None:
        requests = Requests(Turns(1, most=None))
        await requests.arrive("a1", "b1", "c1")
        requests.ends["a1"].set()
        await requests.tasks["a1"]
        requests.tasks["b1"].cancel()
        await settle()
        assert requests.started[-1] == "c1"

    run(scenario)


def test_nothing_is_kept_of_requests_that_are_over() -> None:
    async def scenario() -> None:
        turns = Turns(2, most=1)
        requests = Requests(turns)
        await requests.arrive("a1", "a2", "b1", "c1")
        await requests.cancel("c1")
        await requests.end("a1", "a2", "b1")
        assert (turns._free, turns._running, turns._waiting) == (2, {}, {})

    run(scenario)
