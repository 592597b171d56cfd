"""What a bot is."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Protocol

from games.rules import Move, View


class Bot(Protocol):
    """A player that is a program; it keeps nothing between two calls."""

    @property
    def name(self) -> str:
        """The key in ``BOTS``, as tables store it."""

    @property
    def label(self) -> str:
        """What people read when they pick one."""

    @property
    def help(self) -> str:
        """One sentence on how it plays."""

    def choose(self, view: View, legal: Sequence[Move], rng: random.Random) -> Move | None:
        """Return a move of ``legal``, a play perhaps with UNO called; None: stay silent.

        Only a bot that is not on turn may stay silent. ``legal`` is what the rules list for the view's seat, and must
        not be empty. The same view, moves and state of ``rng`` give the same answer.
        """
