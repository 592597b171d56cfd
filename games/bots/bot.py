"""The interface of a bot."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Protocol

from games.rules import Move, View


class Bot(Protocol):
    """A program that plays. It keeps no state between two calls."""

    @property
    def name(self) -> str:
        """The key in ``BOTS``, which tables store."""

    @property
    def label(self) -> str:
        """The name that people see when they choose a bot."""

    @property
    def help(self) -> str:
        """One sentence on how it plays."""

    def choose(self, view: View, legal: Sequence[Move], rng: random.Random) -> Move | None:
        """Return one of the ``legal`` moves, or None to make no move.

        ``legal`` are the legal moves of the view's seat. It must not be empty. A play may have ``uno`` added. Only a
        bot that is not on turn may return None. The same view, moves and state of ``rng`` give the same answer.
        """
