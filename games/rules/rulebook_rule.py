"""A numbered rule, and tests for the tables that it applies to."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from games.rules.options import Options


def _always(options: Options) -> bool:
    return True


def _with_any_number(options: Options, players: int) -> bool:
    return True


def has_set_aside_hands(options: Options) -> bool:
    """Return True if the hand of a player who is out is set aside."""
    return options.mercy_cards == "set_aside"


def can_be_knocked_out(options: Options) -> bool:
    """Return True if a player can be knocked out by a number of cards."""
    return options.mercy_limit > 0


def has_stacking(options: Options) -> bool:
    """Return True if a draw card can be answered by a draw card."""
    return options.stacking != "off"


def has_debts(options: Options) -> bool:
    """Return True if a player can owe cards at the beginning of a turn."""
    return has_stacking(options) or options.bluff != "off"


def has_contests(options: Options) -> bool:
    """Return True if a player can go out and not have won yet."""
    return options.last_draw_card == "contest"


def has_sevens(options: Options) -> bool:
    """Return True if a 7 swaps hands and a 0 passes them on."""
    return options.zero_seven


def may_answer_with_any(options: Options) -> bool:
    """Return True if any draw card that is high enough answers a draw card."""
    return options.stacking == "any"


def for_no_table(options: Options) -> bool:
    """Return False: only the page of every rule has this part."""
    return False


class RulePart(NamedTuple):
    """A part of a rule's text that not all tables read. Where it does not apply, ``instead`` replaces it.

    In ``instead`` ``{players}`` is the most players of the table.
    """

    text: str
    applies: Callable[[Options], bool]
    instead: str = ""


class Rule(NamedTuple):
    """A numbered rule. ``text`` and ``source`` may have `code` and *terms* as in Markdown, and no other markup.

    ``applies`` tells if the rule says anything about a table with these options. ``reachable`` tells it of the options
    and a number of players, if both matter. ``parts`` of the text say something about some tables only; they are
    replaced in their order.
    """

    id: str
    section: str
    text: str
    source: str
    applies: Callable[[Options], bool] = _always
    reachable: Callable[[Options, int], bool] = _with_any_number
    parts: tuple[RulePart, ...] = ()

    def text_for(self, options: Options, players: int) -> str:
        """Return the text for a table with these options and up to so many players."""
        text = self.text
        for part in self.parts:
            if not part.applies(options):
                text = text.replace(part.text, part.instead.format(players=players))
        return text
