"""Runs one action for many games, so that one failure does not stop the others."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import structlog

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class BatchResult:
    """The number of games for which the action returned True, and the numbers of those that failed."""

    count: int
    failed: list[int]


def for_each_game(
    games: Iterable[int],
    act: Callable[[int], bool],
    *,
    failed: str,
    put_off: Callable[[int], object] = lambda _: None,
    fatal: Callable[[Exception], bool] = lambda _: False,
) -> BatchResult:
    """Call `act` with the number of each game.

    If it fails, the error is logged under the name `failed`, without a traceback, because its values may show hands.
    Then `put_off` is called with the number, and the next game follows. An error for which `fatal` returns True is
    raised and ends the loop.

    :raises Exception: a `fatal` error, and what `put_off` and `games` raise.
    """
    count, broken = 0, []
    for game_id in games:
        try:
            count += act(game_id)
        except Exception as error:
            if fatal(error):
                raise
            log.error(failed, game=game_id, error=type(error).__name__)  # noqa: TRY400  # no traceback
            broken.append(game_id)
            put_off(game_id)
    return BatchResult(count, broken)
