"""Play one sharp bot against careful ones: seeded rounds of two, four and six players.

Use ``python bench/bots.py --games 2000`` for the figures and ``--games 200`` for a quick look, and ``--preset all
--players 2 --games 1000`` for two players with every preset. Exits with 1 if against one careful bot the lower 95 %
bound of the sharp bot's rate is 50 % or less, or the rate itself below 55 %, with `no-mercy` below 60 %. The seeds
decide who wins; only the times vary.
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import random
import statistics
import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from games.bots import BOTS
from games.bots.arena import play_round
from games.rules import PRESETS, Move, View

PLAYERS = (2, 4, 6)
PROCESSES = 2
HEADS_UP_BOUND = 0.50
HEADS_UP_RATE = 0.55
HEADS_UP_RATES = {"no-mercy": 0.60}


class Played(NamedTuple):
    """The result of a round: whether sharp won, and the wall-clock and CPU seconds of each of its choices."""

    won: bool
    choices: tuple[float, ...]
    busy: tuple[float, ...]


class _Stopwatch:
    """The sharp bot with its choices timed."""

    def __init__(self) -> None:
        self._bot = BOTS["sharp"]
        self.name, self.label, self.help = self._bot.name, self._bot.label, self._bot.help
        self.choices: list[float] = []
        self.busy: list[float] = []

    def choose(self, view: View, legal: Sequence[Move], rng: random.Random) -> Move | None:
        wall, cpu = time.perf_counter(), time.process_time()
        move = self._bot.choose(view, legal, rng)
        self.busy.append(time.process_time() - cpu)
        self.choices.append(time.perf_counter() - wall)
        return move


def play(game: int, *, players: int, preset: str) -> Played:
    """Play one round. Neighbouring games of the list have the same cards, with sharp in another seat."""
    cards, seat = divmod(game, players)
    sharp = _Stopwatch()
    bots = [sharp if other == seat else BOTS["careful"] for other in range(players)]
    end = play_round(bots, PRESETS[preset], f"bench {players} {cards}", dealer=cards % players)
    return Played(end.winner == seat, tuple(sharp.choices), tuple(sharp.busy))


def wilson(wins: int, games: int, z: float = 1.96) -> tuple[float, float]:
    """Return the Wilson score interval of a rate, 95 % by default."""
    rate = wins / games
    middle = (rate + z * z / (2 * games)) / (1 + z * z / games)
    half = z / (1 + z * z / games) * math.sqrt(rate * (1 - rate) / games + z * z / (4 * games * games))
    return middle - half, middle + half


def report(preset: str, players: int, rounds: Sequence[Played]) -> bool:
    """Print a line about the rounds of one table size. Return False if sharp missed the goal for two players."""
    wins = sum(played.won for played in rounds)
    low, high = wilson(wins, len(rounds))
    choices = [seconds for played in rounds for seconds in played.choices]
    busy = [seconds for played in rounds for seconds in played.busy]
    print(
        f"{preset}, {players} players: {wins} of {len(rounds)} won, {wins / len(rounds):.1%}"
        f" (95 %: {low:.1%} to {high:.1%}; fair {1 / players:.1%})"
        f" | choice: {_times(choices)} (CPU: {_times(busy)})",
        flush=True,
    )
    return players > 2 or (low > HEADS_UP_BOUND and wins / len(rounds) >= HEADS_UP_RATES.get(preset, HEADS_UP_RATE))


def _times(seconds: Sequence[float]) -> str:
    mean, median, worst = (1000 * time for time in (statistics.mean(seconds), statistics.median(seconds), max(seconds)))
    return f"mean {mean:.1f} ms, median {median:.1f} ms, worst {worst:.1f} ms"


def main() -> int:
    """Play and print. Return 1 if the goal was missed, else 0."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=2000, help="rounds at each table size")
    parser.add_argument("--players", type=int, action="append", choices=range(2, 7), help="default: 2, 4 and 6")
    parser.add_argument("--preset", default="no-mercy", choices=[*sorted(PRESETS), "all"])
    args = parser.parse_args()
    missed = []
    with multiprocessing.Pool(PROCESSES) as pool:
        for preset in PRESETS if args.preset == "all" else [args.preset]:
            for players in args.players or PLAYERS:
                rounds = pool.map(partial(play, players=players, preset=preset), range(args.games), chunksize=10)
                if not report(preset, players, rounds):
                    missed.append(preset)
    if missed:
        print(f"Sharp does not win often enough against one careful bot: {', '.join(missed)}.")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
