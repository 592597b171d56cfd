"""Speed of the rules against RLCard's UNO, in one run: `python -m bench.rules [--seconds 5]`.

Both play random games at 4 players, moves picked by Python's `random`, dealing included. Ours lists the legal moves at
every step, validates the one picked and makes its events; RLCard's step answers with the state and its legal actions.
The two take turns of half a second of this process's own CPU time, so that a busy machine slows both alike. Exit status
1 below the ratio demanded.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Callable

from rlcard.games.uno import Game

from games.rules import PRESETS, Shuffler
from games.rules.console import random_round

PLAYERS = 4
SLICE = 0.5
DEMANDED = 1.0


def ours(rng: random.Random) -> int:
    """Play one game; returns its accepted moves."""
    return random_round(PRESETS["no-mercy"], PLAYERS, Shuffler(rng.randbytes(32)).shuffle, rng)


def rlcard(rng: random.Random) -> int:
    """Play one game; returns its steps."""
    game = Game(num_players=PLAYERS)
    game.np_random.seed(rng.randrange(2**32))
    state, _ = game.init_game()
    steps = 0
    while not game.is_over():
        state, _ = game.step(rng.choice(state["legal_actions"]))
        steps += 1
    return steps


def timed(play: Callable[[random.Random], int], rng: random.Random) -> tuple[int, float]:
    """Play for a slice of time; returns moves and seconds."""
    moves, start = 0, time.process_time()
    while (spent := time.process_time() - start) < SLICE:
        moves += play(rng)
    return moves, spent


def main() -> int:
    """Print both speeds and their ratio."""
    parser = argparse.ArgumentParser(description="Rules against RLCard's UNO.")
    parser.add_argument("--seconds", type=float, default=5.0, help="time for each side")
    seconds = parser.parse_args().seconds
    rng = random.Random("bench")
    totals = {"games.rules": (0, 0.0), "rlcard 1.2.0": (0, 0.0)}
    for play in (ours, rlcard):
        play(rng)
    while min(spent for _, spent in totals.values()) < seconds:
        for name, play in (("games.rules", ours), ("rlcard 1.2.0", rlcard)):
            moves, spent = timed(play, rng)
            totals[name] = (totals[name][0] + moves, totals[name][1] + spent)
    speeds = {name: moves / spent for name, (moves, spent) in totals.items()}
    for name, speed in speeds.items():
        print(f"{name:13} {speed:10,.0f} moves/s")
    ratio = speeds["games.rules"] / speeds["rlcard 1.2.0"]
    print(f"ratio         {ratio:10.2f} (demanded {DEMANDED})")
    return 0 if ratio >= DEMANDED else 1


if __name__ == "__main__":
    sys.exit(main())
