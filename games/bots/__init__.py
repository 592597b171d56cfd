"""Bots: programs that play. A bot sees only what its seat may see, and chooses one of its legal moves."""

from __future__ import annotations

from typing import Final

from games.bots.bot import Bot
from games.bots.careful import Careful
from games.bots.random_bot import Random
from games.bots.sharp import Sharp

BOTS: Final[dict[str, Bot]] = {bot.name: bot for bot in (Random(), Careful(), Sharp())}

__all__ = ["BOTS", "Bot"]
