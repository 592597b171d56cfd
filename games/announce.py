"""Raises the revision of a game in the caller's transaction, and after the commit tells its open pages and the worker.

A failure after the commit must not fail a move that is saved already. Messages are only hints: the database is the
truth, and polling and the sweep find what a lost message was about. After a failure the channel layer or the broker is
not used for `BREAK` seconds.
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

from games import HOUSEKEEPING_SECONDS, asked_bots
from games.locks import lock_game
from games.models import Game

log = structlog.get_logger(__name__)

BREAK: Final = 5.0
"""Seconds for which the channel layer or the broker is not used after a failure."""

BOT_TURN: Final = "games.tasks.bot_turn"
FOLLOW_TIME_OFF: Final = "games.tasks.follow_time_off"
RAISE_REVISIONS: Final = "games.tasks.raise_revisions"
COPY_DATA: Final = "games.tasks.copy_data"
TASK_EXPIRES: Final = HOUSEKEEPING_SECONDS
"""Seconds after which a task for a person expires. What matters of it the housekeeping task has done by then."""


def group_of(code: str) -> str:
    """Return the channel group of all sockets that have a table open."""
    return f"game.{code}"


def person_group(user_id: int) -> str:
    """Return the channel group of all sockets of a person."""
    return f"person.{user_id}"


def person_news(user_id: int) -> None:
    """Refresh a person's open pages after the commit, because their header has changed: the bell or news of staff."""
    transaction.on_commit(partial(_send_to_group, person_group(user_id), {"type": "person.news"}), robust=True)


def close_sockets_of_suspended(user_id: int) -> None:
    """Close the sockets of a suspended person or closed account after the commit. Their pages reload."""
    message = {"type": "person.shut_out"}
    transaction.on_commit(partial(_send_to_group, person_group(user_id), message), robust=True)


def close_sockets(user_id: int) -> None:
    """Close a person's sockets after the commit. Browsers whose session is still valid reconnect."""
    transaction.on_commit(partial(_send_to_group, person_group(user_id), {"type": "person.logged_out"}), robust=True)


def access_changed(code: str) -> None:
    """Close the sockets of people who may no longer see a table, after the commit."""
    transaction.on_commit(partial(_send_to_group, group_of(code), {"type": "access.changed"}), robust=True)


def changed(*games: Game, wake: bool = True) -> None:
    """Raise the revisions of games, whose locks the caller holds, and call `after_commit`.

    Call it in the transaction of each change that the page of any viewer shows.
    """
    Game.raise_revisions(games)
    for game in games:
        after_commit(game, wake=wake)


def rematch_changed(game: Game) -> None:
    """Call `changed` for the game of which this table is a rematch, if its page says so: who asked, who can join."""
    earlier = None if game.rematch_of_id is None else lock_game(pk=game.rematch_of_id)
    if earlier is not None and earlier.started_at is not None:
        changed(earlier, wake=False)


def after_commit(game: Game, *, wake: bool = True) -> None:
    """Tell the open pages of a game its new revision after the commit.

    With `wake`, also tell the worker when a bot or a deal is due.
    """
    game_id = game.pk
    # `wake_at` is the database's time, but a countdown needs this process's.
    wake_at = None if game.wake_at is None else game.wake_at - game.skew
    transaction.on_commit(partial(_send_changed, game), robust=True)
    if wake and wake_at is not None:
        transaction.on_commit(partial(wake_bots, game_id, wake_at), robust=True)


def wake_bots(game_id: int, wake_at: datetime) -> None:
    """Ask the worker to move the bots of a game at `wake_at`, by this process's clock, if it has not been asked yet."""
    now = datetime.now(UTC)
    _guarded("broker", partial(_send_bot_turn, game_id, max(wake_at, now).timestamp(), now.timestamp()))


def _send_bot_turn(game_id: int, at: float, now: float) -> None:
    if not asked_bots.note_asked(game_id, at=at, now=now):
        return
    try:
        # It does not expire, because after an outage of the worker no other may follow for an hour.
        current_app.send_task(BOT_TURN, args=(game_id,), countdown=at - now or None, retry=False, ignore_result=True)
    except Exception:
        asked_bots.forget(game_id)
        raise


def time_off_changed(user_id: int, *, after: int = 0) -> None:
    """Ask the worker, after the commit, to adapt a person's deadlines to changed quiet hours or vacation.

    The worker starts with the first game whose number is higher than `after`.
    """
    ask = partial(_send, FOLLOW_TIME_OFF, args=(user_id, after))
    transaction.on_commit(partial(_guarded, "broker", ask), robust=True)


def person_changed(user_id: int, *, only_running: bool, after: int = 0) -> None:
    """Ask the worker, after the commit, to raise the revisions of a person's games: others see the person differently.

    Nothing makes up for a lost task: an open page then shows the change with the next one at its table.

    :param only_running: of the running games only.
    :param after: start with the first game whose number is higher.
    """
    ask = partial(_send, RAISE_REVISIONS, args=(user_id, only_running, after))
    transaction.on_commit(partial(_guarded, "broker", ask), robust=True)


def data_asked_for() -> None:
    """Ask the worker, after the commit, to make the next copy of a person's data."""
    transaction.on_commit(partial(_guarded, "broker", partial(_send, COPY_DATA)), robust=True)


def _send(task: str, *, args: tuple[int, ...] = ()) -> None:
    current_app.send_task(task, args=args, expires=TASK_EXPIRES, retry=False, ignore_result=True)


def _send_changed(game: Game) -> None:
    message = {"type": "game.changed", "game": game.code, "version": game.version, "revision": game.revision}
    _send_to_group(group_of(game.code), message)


def _send_to_group(group: str, message: dict[str, Any]) -> None:
    layer = get_channel_layer()
    if layer is not None:
        _guarded("channel layer", lambda: _publisher().run(layer.group_send(group, message)))


class _Publisher:
    """Runs an event loop in a thread, so that a process keeps one connection to the channel layer."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        threading.Thread(target=self.loop.run_forever, name="publisher", daemon=True).start()

    def run(self, coroutine: Coroutine[object, object, None]) -> None:
        asyncio.run_coroutine_threadsafe(coroutine, self.loop).add_done_callback(_report)


def _report(future: Future[None]) -> None:
    error = future.exception()
    if error is not None:
        _pause_target("channel layer", error)
    elif paused_until.pop("channel layer", None):
        log.info("announce works", target="channel layer", back="Redis")


@cache
def _publisher() -> _Publisher:
    return _Publisher()


paused_until: dict[str, float] = {}


def _guarded(target: str, call: Callable[[], object]) -> None:
    """Call `call`, unless `target` failed less than `BREAK` seconds ago. Log an error and never raise it."""
    if time.monotonic() < paused_until.get(target, 0.0):
        return
    try:
        call()
    except Exception as error:  # noqa: BLE001  # the move is saved, so no error may reach the caller
        _pause_target(target, error)


def _pause_target(target: str, error: BaseException) -> None:
    paused_until[target] = time.monotonic() + BREAK
    log.warning("announce failed", target=target, error=type(error).__name__, pause=BREAK, away="Redis")
