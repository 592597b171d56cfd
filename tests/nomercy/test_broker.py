"""The broker in memory: a receiver is woken by what it waits for, and does not look before."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import settings
from kombu import Connection, Consumer, Queue

from nomercy.launcher import broker
from tests.support.waiting import until

NAME = "test of the broker"
PATIENCE = 20.0


@pytest.fixture
def connection() -> Iterator[Connection]:
    with Connection(settings.CELERY_BROKER_URL, transport=settings.CELERY_BROKER_TRANSPORT) as connection:
        yield connection
        Queue(NAME)(connection.default_channel).delete()


class Looks:
    """Counts how often a receiver looks for a message."""

    def __init__(self, connection: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
        self.number = 0
        transport: Any = connection.transport
        cycle = transport.cycle
        get = cycle.get

        def look(*args: Any, **options: Any) -> Any:
            self.number += 1
            return get(*args, **options)

        monkeypatch.setattr(cycle, "get", look)


class Receiver:
    """Takes messages in a thread of its own."""

    def __init__(self, connection: Connection, *, at_most: int = 0) -> None:
        self.received: list[Any] = []
        channel: Any = connection.default_channel
        channel.basic_qos(prefetch_count=at_most)
        consumer = Consumer(channel, [Queue(NAME)], on_message=self.received.append)
        consumer.consume()
        self._connection = connection

    def take(self, number: int) -> threading.Thread:
        """Begin to take so many messages."""

        def run() -> None:
            for _ in range(number):
                self._connection.drain_events(timeout=PATIENCE)

        thread = threading.Thread(target=run)
        thread.start()
        return thread

    @property
    def bodies(self) -> list[object]:
        return [message.decode() for message in self.received]


def send(connection: Connection, body: str) -> None:
    with connection.clone() as another:
        another.Producer().publish(body, routing_key=NAME, declare=[Queue(NAME)])


def waits() -> bool:
    """Return True if a receiver waits for a change."""
    return bool(broker.changes._condition._waiters)  # type: ignore[attr-defined]


def test_the_site_uses_it_unless_there_is_redis(connection: Connection) -> None:
    assert isinstance(connection.transport, broker.Transport)


def test_a_message_that_is_there_is_taken_at_once(connection: Connection) -> None:
    receiver = Receiver(connection)
    send(connection, "early")

    connection.drain_events(timeout=0)

    assert receiver.bodies == ["early"]


def test_a_waiting_receiver_is_woken_by_a_message_and_looks_no_more_often(
    connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    receiver, looks = Receiver(connection), Looks(connection, monkeypatch)
    thread = receiver.take(1)
    until("it waits", waits)
    assert looks.number == 1

    send(connection, "late")
    thread.join(PATIENCE)

    assert receiver.bodies == ["late"]
    assert looks.number == 2


def test_a_receiver_at_its_limit_goes_on_when_a_message_is_done_with(connection: Connection) -> None:
    for finish in ("ack", "reject"):
        receiver = Receiver(connection, at_most=1)
        send(connection, "first")
        connection.drain_events(timeout=0)
        send(connection, "second")
        thread = receiver.take(1)
        until("it waits", waits)
        assert receiver.bodies == ["first"]

        getattr(receiver.received[0], finish)()
        thread.join(PATIENCE)

        assert receiver.bodies == ["first", "second"]
        receiver.received[1].ack()


def test_a_rejected_message_comes_again(connection: Connection) -> None:
    receiver = Receiver(connection, at_most=1)
    send(connection, "again")
    connection.drain_events(timeout=0)

    receiver.received[0].reject(requeue=True)
    connection.drain_events(timeout=0)

    assert receiver.bodies == ["again", "again"]


def test_without_a_message_the_wait_ends(connection: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    Receiver(connection)
    looks = Looks(connection, monkeypatch)

    for seconds in (0, 0.01):
        with pytest.raises(TimeoutError):
            connection.drain_events(timeout=seconds)

    assert looks.number == 2


def test_a_change_between_the_look_and_the_wait_is_noticed(
    connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    receiver = Receiver(connection)
    wait = broker.changes.wait

    def wait_a_moment_later(seen: int, seconds: float | None) -> bool:
        send(connection, "just now")
        return wait(seen, seconds)

    monkeypatch.setattr(broker.changes, "wait", wait_a_moment_later)

    connection.drain_events(timeout=PATIENCE)

    assert receiver.bodies == ["just now"]


def test_it_waits_for_ever_without_a_limit(connection: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    receiver = Receiver(connection)
    waited: list[float | None] = []

    def wait(seen: int, seconds: float | None) -> bool:
        waited.append(seconds)
        send(connection, "at last")
        return True

    monkeypatch.setattr(broker.changes, "wait", wait)
    connection.drain_events()

    assert waited == [None]
    assert receiver.bodies == ["at last"]
