"""What makes hints unnecessary: every few seconds the due rows are found, whatever got lost on the way."""

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
from games.clocks.outage import PULSE, beat, note_tried
from games.models import Game
from games.models.rows import claim_due, claim_game, read_windows
from games.queries import due_bots

log = structlog.get_logger(__name__)

GRACE: Final = timedelta(seconds=2)
"""How late a bot may be before the sweep asks again: its own task is most often on its way."""

BATCH: Final = 200
"""So many bots are asked for in one sweep, and callout windows found by one query."""

UNATTENDED_BATCH: Final = 2
"""So many games where no person plays any more get their bots asked for in one sweep: see `bot_turn`."""


@dataclass(slots=True)
class Swept:
    """What one sweep did: games whose bots or deal were asked for, whose clock acted or moved, and that failed."""

    asked: int = 0
    acted: int = 0
    failed: int = 0


def sweep(*, clock: Callable[[], datetime], most: int = 2000) -> Swept:
    """Let every clock act whose time has passed, at most `most`, and ask for the bots and deals that are overdue.

    Any number of sweeps may run at once: each takes games that no other holds. A game that fails is logged, passed over
    and tried again by the next sweep; how far it got is noted if some were overdue for long.
    """
    grace = timedelta(seconds=settings.SWEEP_GRACE_SECONDS)
    beaten = clock()
    while not (pulse := beat(now=beaten, grace=grace)).may_act:
        beaten = clock()  # each beat gives the time of an outage back to some more games
    skew = pulse.skew
    swept = Swept(asked=_ask_for_bots(clock(), skew))
    due = _Overdue()
    for claim in _claims(lambda: clock() + skew, due):
        now = clock()
        if now - beaten >= PULSE:
            # The machine may have slept since the last game: what came due meanwhile is nobody's fault.
            if not beat(now=now, grace=grace).may_act:
                break
            beaten = now
        acted = _act(claim, now, skew)
        if acted is None:
            continue
        swept.acted += acted
        swept.failed += not acted
        if swept.acted >= most:  # those that fail are passed over, however many they are
            break
    if due.some_are_late and due.tried_through is not None:
        note_tried(through=due.tried_through)
    return swept


def _ask_for_bots(now: datetime, skew: timedelta) -> int:
    """Ask for the bots that are overdue: at a batch of tables where people play, and at a few of all others."""
    late = now + skew - GRACE
    due = _some(list(due_bots.attended(late).order_by("wake_at", "pk").values_list("pk", flat=True)), BATCH)
    due += _next_unattended(late)
    for game_id in due:
        announce.wake_bots(game_id, now)
    return len(due)


def _next_unattended(late: datetime) -> list[int]:
    """Return a few of the games where no person plays, and put them at the end of the queue.

    So games whose bots fail each time do not keep others waiting for good.
    """
    if not due_bots.unattended(late).exists():
        return []
    with transaction.atomic():
        waiting = due_bots.unattended(late).select_for_update(of=("self",), skip_locked=True, no_key=True)
        games = list(waiting.values_list("pk", flat=True)[:UNATTENDED_BATCH])
        Game.objects.filter(pk__in=games).update(wake_at=late)
    return games


def _some(games: list[int], most: int) -> list[int]:
    """Return these games; if they are more than `most`, so many of them by chance.

    So games whose bots fail each time, however many, do not keep others waiting for good.
    """
    return games if len(games) <= most else randomness.source.sample(games, most)


Claim = Callable[[datetime], Game | None]


def _claims(moment: Callable[[], datetime], due: _Overdue) -> Iterator[Claim]:
    """Ways to lock the next due game, one at a time: callout windows first, then turns, the longest overdue first.

    `moment` is now, by the database's clock.
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
    """The games whose turn has run out, each claimed once, so that one that fails cannot hold up the others.

    All that were due by `tried_through` have been claimed; `some_are_late` if one had been due for longer than a pulse:
    those that work are claimed sooner.
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
        self.some_are_late |= moment - game.deadline > PULSE
        return game


def _act(claim: Claim, now: datetime, skew: timedelta) -> bool | None:
    """Claim a game and let its clock act, in one transaction; None if there was none, False if it failed."""
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
        # One broken game must not stop everybody's clocks. Never the traceback's values: they hold hands.
        log.error("the clock could not act", game=game.pk, error=type(error).__name__)  # noqa: TRY400  # as said
        return False
    return True
