"""Say a sentence in a language. A sentence is chosen whole: nothing is added to it, cut off it or put into its middle.

The English text is the key of its translations, as in gettext, and its context tells apart texts that are equal in
English only. Where a caller chooses between sentences, it keeps them in rows and marks each with `N_`.
`tests/test_sentences.py` checks the calls. This module knows nothing but Python, so that the rules can use it.
"""

from __future__ import annotations

from typing import Final, TypeAlias

Message: TypeAlias = str | tuple[str, str]
"""A message, or its forms for one and for many, between which the number `n` chooses."""


def N_(message: str) -> str:  # noqa: N802  # the name that gettext's tools know
    """Mark a message that is said later, and return it.

    >>> N_("The round is over.")
    'The round is over.'
    """
    return message


class Say:
    """Say texts in English. A subclass finds the translation of a text before its facts are filled in."""

    def text(self, context: str, message: str, **facts: object) -> str:
        """Return a message with its facts. `context` says where it is shown, such as "log" or "refusal".

        A fact is a name, a number, or a text that is said for itself, such as the name of a card. Braces in a fact are
        shown as they are.

        >>> ENGLISH.text("log", "{seat} swaps hands with {target}.", seat="{x}", target="Bob")
        '{x} swaps hands with Bob.'
        """
        return self.found(context, message).format(**facts)

    def plural(self, context: str, one: str, many: str, n: int, **facts: object) -> str:
        """Return the form of a message for `n`, which `{n}` shows with separators for thousands.

        >>> ENGLISH.plural("log", "You draw {n} card.", "You draw {n} cards.", 1)
        'You draw 1 card.'
        >>> ENGLISH.plural("log", "{name} wins with {n} point.", "{name} wins with {n} points.", 1000, name="Ann")
        'Ann wins with 1,000 points.'
        """
        return self.found_plural(context, one, many, n).format(n=self.number(n), **facts)

    def form(self, context: str, message: Message, n: int = 0, **facts: object) -> str:
        """Return a message of a row with its facts, in the form for the number `n` if it has two.

        >>> ENGLISH.form("log", ("You draw {n} card.", "You draw {n} cards."), 2)
        'You draw 2 cards.'
        """
        if isinstance(message, str):
            return self.text(context, message, n=self.number(n), **facts)
        one, many = message
        return self.plural(context, one, many, n, **facts)

    def number(self, n: int) -> str:
        """Return a number with separators for thousands.

        >>> ENGLISH.number(12500)
        '12,500'
        """
        return f"{n:,}"

    def found(self, context: str, message: str) -> str:
        """Return the translation of a message."""
        return message

    def found_plural(self, context: str, one: str, many: str, n: int) -> str:
        """Return the translation of the form of a message for `n`."""
        return one if n == 1 else many


ENGLISH: Final = Say()
