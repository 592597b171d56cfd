"""Acts between the statements of a call, as another process would, or as if the database failed there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from django.db import connection

LOCK_GAME: Final = "WHERE g.id = %s FOR NO KEY UPDATE"
"""A part of the statement by which `lock_game` locks a game with a number."""
LOCK_PERSON: Final = 'UPDATE OF "accounts_user"'


@contextmanager
def before_statement(words: str, act: Callable[[], object], *, number: int = 1) -> Iterator[None]:
    """Call `act` right before the statement with these words that comes as the `number`th. `act` may raise.

    :raises AssertionError: there was no such statement.
    """
    left = number

    def watch(execute: Callable[..., Any], statement: str, *more: Any) -> Any:
        nonlocal left
        if words in statement:
            left -= 1
            if left == 0:
                act()
        return execute(statement, *more)

    with connection.execute_wrapper(watch):
        yield
    assert left <= 0, f"there was no statement with {words!r}"
