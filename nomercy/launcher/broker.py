"""Kombu's transport in memory, with a receiver that waits for a message instead of polling every 20 ms."""

import queue
import threading
import time
from typing import Any

from kombu.transport import memory, virtual


class Changes:
    """Counts what may let a receiver get a message, so that it can wait for the next change."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self.count = 0

    def happened(self) -> None:
        """Wake all receivers."""
        with self._condition:
            self.count += 1
            self._condition.notify_all()

    def wait(self, seen: int, seconds: float | None) -> bool:
        """Wait until the count is not `seen` any more. Return False if that takes more than `seconds`."""
        with self._condition:
            return self._condition.wait_for(lambda: self.count != seen, seconds)


changes = Changes()
"""Of all queues: they too are shared by all connections of the process."""


class QoS(virtual.QoS):
    """Says when a message is done with: a receiver at its limit of messages may then take another."""

    def ack(self, delivery_tag: str) -> None:
        super().ack(delivery_tag)
        changes.happened()

    def reject(self, delivery_tag: str, requeue: bool = False) -> None:
        super().reject(delivery_tag, requeue=requeue)
        changes.happened()


class Channel(memory.Channel):
    """Says when there is a message in a queue."""

    QoS = QoS

    def _put(self, queue: str, message: Any, **options: Any) -> None:
        super()._put(queue, message, **options)
        changes.happened()

    def _put_fanout(self, exchange: str, message: Any, routing_key: str | None = None, **options: Any) -> None:
        super()._put_fanout(exchange, message, routing_key, **options)
        changes.happened()


class Transport(memory.Transport):
    """Named by `CELERY_BROKER_TRANSPORT`."""

    Channel = Channel

    def drain_events(self, connection: Any, timeout: float | None = None, **_: Any) -> None:
        """Deliver one message, waiting for it if there is none.

        :raises TimeoutError: there was none for `timeout` seconds.
        """
        assert self.cycle is not None
        until = None if timeout is None else time.monotonic() + timeout
        while True:
            seen = changes.count  # before the look: a message that comes after it is a change
            try:
                self.cycle.get(self._deliver)
            except queue.Empty:
                left = None if until is None else until - time.monotonic()
                if (left is not None and left <= 0) or not changes.wait(seen, left):
                    raise TimeoutError from None
            else:
                return
