"""A numbered rule, and tests for the tables that it applies to."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from games.rules.options import Options


def _always(options: Options) -> bool:
    return True


def _with_any_number(options: Options, players: int) -> bool:
    return True


class Rule(NamedTuple):
    """A numbered rule. ``text`` and ``source`` may have `code` and *terms* as in Markdown, and no other markup.

    ``applies`` tells if the rule says anything about a table with these options. ``reachable`` tells it of the options
    and a number of players, if both matter.
    """

    id: str
    section: str
    text: str
    source: str
    applies: Callable[[Options], bool] = _always
    reachable: Callable[[Options, int], bool] = _with_any_number
