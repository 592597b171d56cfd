"""Find games whose clock or bots are due, every few seconds. Nothing is missed if a task or message gets lost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

import structlog
from django.conf import settings
from django.db import transaction

from games import announce, queries, randomness
from games.actions import timeouts
from games.clocks.outage import HEARTBEAT_EVERY, heartbeat, note_tried
from games.models import Game
from games.models.rows import claim_due, claim_game, read_windows
from games.queries import due_bots

log = structlog.get_logger(__name__)

GRACE: Final = timedelta(seconds=2)
"""How late a bot may be before the sweep asks for it again. Until then its own task is probably on its way."""

BATCH: Final = 200
"""The most games for which one sweep asks for bots, and the number of callout windows read by one query."""

UNATTENDED_BATCH: Final = 2
"""The most games without people for which one sweep asks for bots. See `bot_turn.UNATTENDED_MOVES`."""


@dataclass(slots=True)
class Swept:
    """How many games one sweep handled."""

    asked: int = 0  # the worker was asked to play their bots or deal their next round
    acted: int = 0  # their clock acted or moved
    failed: int = 0


def sweep(*, clock: Callable[[], datetime], most: int = 2000) -> Swept:
    """Let up to `most` clocks act whose time has passed, and ask for overdue bots and deals.

    Several sweeps can run at once, because each skips games that another has locked. A game that fails is logged,
    skipped and tried again by the next sweep. If games were overdue for longer than `HEARTBEAT_EVERY`, the sweep stores
    up to which deadline it has tried them, for the health check.
    """
    grace = timedelta(seconds=settings.SWEEP_GRACE_SECONDS)
    heartbeat_at = clock()
    while not (result := heartbeat(now=heartbeat_at, grace=grace)).may_act:
        heartbeat_at = clock()  # each call gives the time of an outage back to another batch of games
    skew = result.skew
    swept = Swept(asked=_ask_for_bots(clock(), skew))
    due = _Overdue()
    for claim in _claims(lambda: clock() + skew, due):
        now = clock()
        if now - heartbeat_at >= HEARTBEAT_EVERY:
            # The machine may have been asleep since the last game. Give that time back before a clock acts.
            if not heartbeat(now=now, grace=grace).may_act:
                break
            heartbeat_at = now
        acted = _act(claim, now, skew)
        if acted is None:
            continue
        swept.acted += acted
        swept.failed += not acted
        if swept.acted >= most:  # games that failed do not count
            break
    if due.some_are_late and due.tried_through is not None:
        note_tried(through=due.tried_through)
    return swept


def _ask_for_bots(now: datetime, skew: timedelta) -> int:
    """Ask for overdue bots at a batch of tables with people and at a few without; return the number of tables."""
    late = now + skew - GRACE
    due = _sample(list(due_bots.attended(late).order_by("wake_at", "pk").values_list("pk", flat=True)), BATCH)
    due += _next_unattended(late)
    for game_id in due:
        announce.wake_bots(game_id, now)
    return len(due)


def _next_unattended(late: datetime) -> list[int]:
    """Return the next few games without people, and put them at the end of the queue.

    The queue moves on even if the bots of these games fail each time.
    """
    if not due_bots.unattended(late).exists():
        return []
    with transaction.atomic():
        waiting = due_bots.unattended(late).select_for_update(of=("self",), skip_locked=True, no_key=True)
        games = list(waiting.values_list("pk", flat=True)[:UNATTENDED_BATCH])
        Game.objects.filter(pk__in=games).update(wake_at=late)
    return games


def _sample(games: list[int], most: int) -> list[int]:
    """Return these games, or a random sample of `most` of them.

    A random sample reaches every game, even if there are many whose bots fail each time.
    """
    return games if len(games) <= most else randomness.source.sample(games, most)


Claim = Callable[[datetime], Game | None]
"""Locks and returns a due game. Takes the current time by the database's clock; returns None if the game is not due."""


def _claims(moment: Callable[[], datetime], due: _Overdue) -> Iterator[Claim]:
    """Yield functions that each lock one due game: callout windows first, then turns, the longest overdue first.

    `moment` returns the current time by the database's clock.
    """
    last = 0
    while games := read_windows(moment(), last, BATCH):
        yield from map(_claim_of, games)
        last = games[-1]
    while not due.exhausted:
        yield due.claim


def _claim_of(game_id: int) -> Claim:
    return lambda _: claim_game(game_id)


class _Overdue:
    """Claim each game whose turn has run out once, so that one that fails cannot hold up the others.

    tried_through: All games that were due by this time have been claimed.
    some_are_late: Whether a claimed game had been due for longer than `HEARTBEAT_EVERY`, which happens if games fail.
    """

    def __init__(self) -> None:
        self._after = (datetime(1, 1, 1, tzinfo=UTC), 0)
        self.exhausted = self.some_are_late = False
        self.tried_through: datetime | None = None

    def claim(self, moment: datetime) -> Game | None:
        game = claim_due(moment, self._after)
        if game is None or game.deadline is None:
            self.exhausted, self.tried_through = True, moment
            return None
        self._after, self.tried_through = (game.deadline, game.pk), game.deadline
        self.some_are_late |= moment - game.deadline > HEARTBEAT_EVERY
        return game


def _act(claim: Claim, now: datetime, skew: timedelta) -> bool | None:
    """Claim a game and let its clock act, in one transaction; return False if that failed, None if none was due."""
    game = None
    try:
        with transaction.atomic():
            game = claim(now + skew)
            if game is None:
                return None
            table = queries.load(game)
            act = timeouts.let_clock_act(table, now=now)
        timeouts.conclude(table, act, now=now)
    except Exception as error:
        if game is None:
            raise
        # One broken game must not stop the other clocks. No traceback: its values can include hands.
        log.error("the clock could not act", game=game.pk, error=type(error).__name__)  # noqa: TRY400  # no traceback
        return False
    return True
