"""What is said after a commit: open pages are poked, and the worker is told when a bot is due.

Nothing here may fail a move that is already saved: pokes and tasks are hints, the database is the truth, and the page's
poll and the sweep find whatever gets lost. A target that failed is left alone for `BREAK` seconds.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from datetime import UTC, datetime
from functools import cache, partial
from typing import Any, Final

import structlog
from celery import current_app
from channels.layers import get_channel_layer
from django.db import transaction

from games import HOUSEKEEPING_SECONDS
from games.models import Game

log = structlog.get_logger(__name__)

BREAK: Final = 5.0
"""Seconds a failed target is not tried again."""

STALE: Final = 60.0
"""Seconds after which a task that nobody took is dropped: the sweep has asked again by then."""

BOT_TURN: Final = "games.tasks.bot_turn"
FOLLOW_REST: Final = "games.tasks.follow_rest"
REST_TASK_EXPIRES: Final = HOUSEKEEPING_SECONDS
"""Seconds after which a task of `rest_changed` expires: the regular task has moved the clocks by then."""


def group_of(code: str) -> str:
    """The channel group of everybody who has this table open."""
    return f"game.{code}"


def person_group(user_id: int) -> str:
    """The channel group of every socket that this person has open."""
    return f"person.{user_id}"


def person_news(user_id: int) -> None:
    """Once the transaction is committed, have this person's open pages look again: staff have something to say."""
    transaction.on_commit(partial(_tell, person_group(user_id), {"type": "person.news"}), robust=True)


def shut_out(user_id: int) -> None:
    """Once the transaction is committed, have this person's sockets closed."""
    message = {"type": "person.shut_out"}
    transaction.on_commit(partial(_tell, person_group(user_id), message), robust=True)


def signed_out(user_id: int) -> None:
    """Once the transaction is committed, have this person's sockets closed; whose session still stands comes back."""
    transaction.on_commit(partial(_tell, person_group(user_id), {"type": "person.signed_out"}), robust=True)


def access_changed(code: str) -> None:
    """Once the transaction is committed, have the sockets of this table closed whose people may not see it any more."""
    transaction.on_commit(partial(_tell, group_of(code), {"type": "access.changed"}), robust=True)


def after_commit(game: Game, *, wake: bool = True) -> None:
    """Once the transaction is committed, poke the open pages and, if a bot or a deal is due, the worker."""
    code, version, game_id = game.code, game.version, game.pk
    # `wake_at` goes by the database's clock, a countdown by this process's.
    wake_at = None if game.wake_at is None else game.wake_at - game.skew
    transaction.on_commit(partial(_poke, code, version), robust=True)
    if wake and wake_at is not None:
        transaction.on_commit(partial(wake_bots, game_id, wake_at), robust=True)


def wake_bots(game_id: int, wake_at: datetime) -> None:
    """Ask the worker to move the bots of this game at `wake_at`."""
    delay = max(0.0, (wake_at - datetime.now(UTC)).total_seconds())
    _guarded("broker", partial(_send_bot_turn, game_id, delay))


def _send_bot_turn(game_id: int, delay: float) -> None:
    current_app.send_task(
        BOT_TURN, args=(game_id,), countdown=delay or None, expires=delay + STALE, retry=False, ignore_result=True
    )


def rest_changed(user_id: int, *, after: int = 0) -> None:
    """Ask the worker to move the clocks of this person's turns, once the transaction is committed.

    The worker begins with the first game whose number is higher than `after`.
    """
    ask = partial(_guarded, "broker", partial(_send_follow_rest, user_id, after))
    transaction.on_commit(ask, robust=True)


def _send_follow_rest(user_id: int, after: int) -> None:
    current_app.send_task(
        FOLLOW_REST, args=(user_id, after), expires=REST_TASK_EXPIRES, retry=False, ignore_result=True
    )


def _poke(code: str, version: int) -> None:
    _tell(group_of(code), {"type": "game.changed", "game": code, "version": version})


def _tell(group: str, message: dict[str, Any]) -> None:
    layer = get_channel_layer()
    if layer is not None:
        _guarded("channel layer", lambda: _publisher().run(layer.group_send(group, message)))


class _Publisher:
    """One event loop in a thread of its own, so that a process keeps one connection to the channel layer."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        threading.Thread(target=self.loop.run_forever, name="publisher", daemon=True).start()

    def run(self, coroutine: Coroutine[object, object, None]) -> None:
        asyncio.run_coroutine_threadsafe(coroutine, self.loop).add_done_callback(_report)


def _report(future: Future[None]) -> None:
    error = future.exception()
    if error is not None:
        _trip("channel layer", error)


@cache
def _publisher() -> _Publisher:
    return _Publisher()


_open_until: dict[str, float] = {}


def _guarded(target: str, call: Callable[[], object]) -> None:
    """Call, unless this target failed a moment ago; a failure is logged and never raised."""
    if time.monotonic() < _open_until.get(target, 0.0):
        return
    try:
        call()
    except Exception as error:  # noqa: BLE001  # whatever a broker raises, the move is saved and must be answered
        _trip(target, error)


def _trip(target: str, error: BaseException) -> None:
    _open_until[target] = time.monotonic() + BREAK
    log.warning("announce failed", target=target, error=type(error).__name__, pause=BREAK)
