"""Play rounds among careful bots, and say after how many rounds a match ends, to choose the lengths of new tables.

Use ``python bench/lengths.py`` for the figures of decision 135 (about a minute), ``--rounds 50`` for a quick look,
and ``--targets 500 1500`` for other lengths. For each preset and number of players it prints the most points that a
player scores in a round, and how many rounds a match to each target has: the median, and the first and last decile. The
matches are put together at random from the rounds that were played.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import statistics
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from games.bots import BOTS
from games.bots.arena import play_round
from games.rules import LENGTHS_OF, MAX_PLAYERS_OF, PRESETS, Match, Outcome, outcome

PLAYERS = (2, 4, 6)
PROCESSES = 2
MATCHES = 2000


def play(number: int, *, players: int, preset: str) -> Outcome:
    """Play one round."""
    bots = [BOTS["careful"]] * players
    end = play_round(bots, PRESETS[preset], f"length {players} {number}", dealer=number % players)
    ended = outcome(end)
    if ended is None:
        raise ValueError(f"Round {number} of {preset} has no winner.")
    return ended


def rounds_of_match(played: Sequence[Outcome], *, players: int, preset: str, target: int, rng: random.Random) -> int:
    """Return how many rounds a match to `target` points has, made of rounds that were played."""
    match = Match(replace(PRESETS[preset], target=target), (0,) * players, 0)
    while True:
        ended = rng.choice(played)
        match = match.with_result(ended)
        if match.winner(ended) is not None:
            return match.rounds


def report(preset: str, players: int, played: Sequence[Outcome], targets: Sequence[int]) -> None:
    """Print a line about the rounds of one preset and table size."""
    points = [max(map(ended.gained, range(players))) for ended in played]
    parts = [
        f"{preset}, {players} players: {statistics.mean(points):.0f} points (median {statistics.median(points):.0f})"
    ]
    for target in targets:
        rng = random.Random(f"{preset} {players} {target}")  # the figures must be repeatable
        many = [rounds_of_match(played, players=players, preset=preset, target=target, rng=rng) for _ in range(MATCHES)]
        deciles = statistics.quantiles(many, n=10)
        parts.append(f"to {target:,}: {statistics.median(many):.0f} ({deciles[0]:.0f} to {deciles[-1]:.0f})")
    print("; ".join(parts), flush=True)


def main() -> None:
    """Play and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=400, help="rounds of each preset at each table size")
    parser.add_argument("--players", type=int, action="append", help="default: 2, 4 and 6")
    parser.add_argument("--preset", default="all", choices=[*sorted(PRESETS), "all"])
    parser.add_argument("--targets", type=int, nargs="+", help="default: those that the form offers")
    args = parser.parse_args()
    with multiprocessing.Pool(PROCESSES) as pool:
        for preset in PRESETS if args.preset == "all" else [args.preset]:
            for players in args.players or PLAYERS:
                if players <= MAX_PLAYERS_OF[preset]:
                    played = pool.map(partial(play, players=players, preset=preset), range(args.rounds), chunksize=10)
                    report(preset, players, played, args.targets or [length.points for length in LENGTHS_OF[preset]])


if __name__ == "__main__":
    main()
