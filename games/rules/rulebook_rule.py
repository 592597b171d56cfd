"""A numbered rule, and tests for the tables that it applies to."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from games.rules.options import Options


def _always(options: Options) -> bool:
    return True


class Rule(NamedTuple):
    """A numbered rule. ``text`` and ``source`` may have `code` and *terms* as in Markdown, and no other markup.

    ``applies`` tells if the rule says anything about a table with these options.
    """

    id: str
    section: str
    text: str
    source: str
    applies: Callable[[Options], bool] = _always


def has_no_mercy_deck(options: Options) -> bool:
    """Return True if a table plays with one of the No Mercy decks."""
    return options.deck in ("nomercy168", "nomercy172")


def has_flip_deck(options: Options) -> bool:
    """Return True if a table plays with cards that have two sides."""
    return len(options.rules.sides) > 1
