"""Tasks of several steps, or of many games, that have nothing to do with each other."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import structlog

log = structlog.get_logger(__name__)


def run_all(**steps: Callable[[], object]) -> None:
    """Run every step in order, whatever becomes of those before it.

    :raises ExceptionGroup: what the steps raised, once all have run; each is logged with its traceback by then.
    """
    failed: list[Exception] = []
    for name, step in steps.items():
        try:
            step()
        except Exception as error:
            log.exception("a step failed", step=name)
            failed.append(error)
    if failed:
        raise ExceptionGroup(f"{len(failed)} of {len(steps)} steps failed", failed)


@dataclass(frozen=True, slots=True)
class Done:
    """At how many games there was something to do, and the numbers of those that failed."""

    count: int
    failed: list[int]


def for_each_game(
    games: Iterable[int],
    act: Callable[[int], bool],
    *,
    failed: str,
    put_off: Callable[[int], object] = lambda _: None,
    fatal: Callable[[Exception], bool] = lambda _: False,
) -> Done:
    """Do this at each game, by its number.

    One that fails is logged as `failed`, `put_off` and passed over: one broken game keeps no other. Never with the
    traceback, whose values hold hands. A fault that is none of the game's, and `fatal`, ends it all.

    :raises Exception: what is `fatal`, and what `put_off` and `games` raise.
    """
    count, broken = 0, []
    for game_id in games:
        try:
            count += act(game_id)
        except Exception as error:
            if fatal(error):
                raise
            log.error(failed, game=game_id, error=type(error).__name__)  # noqa: TRY400  # as said
            broken.append(game_id)
            put_off(game_id)
    return Done(count, broken)
