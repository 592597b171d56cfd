"""Measure the speed of the rules: `python -m bench.rules [--seconds 5] [--against COMMIT [--factor 1.22]]`.

Compares `games.rules` with RLCard's UNO and, with `--against`, with `games.rules` of an older commit. Each side is its
own process that plays random games of four: it lists the legal moves at every step, picks one with Python's `random`
and makes it with its events. Dealing is included. A move picked from the list just made counts as validated. RLCard
reuses one `Game`, as its own environment does, and its step returns the state and its legal actions.

The sides take turns of half a second of CPU time, so that a busy machine slows all of them alike. Exits with 1 below
the required ratio to RLCard, or below `--factor` of the older commit.
"""

from __future__ import annotations

import argparse
import io
import os
import random
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]
PLAYERS = 4
SLICE = 0.5
DEMANDED = 0.85

OURS = "games.rules"
RLCARD = "rlcard 1.2.0"


def ours() -> Callable[[random.Random], int]:
    """Return a function that plays one game of `games.rules` and returns its number of moves."""
    from games.rules import PRESETS, Shuffler
    from games.rules.console import random_round

    return lambda rng: random_round(PRESETS["no-mercy"], PLAYERS, Shuffler(rng.randbytes(32)).shuffle, rng)


def rlcard() -> Callable[[random.Random], int]:
    """Return a function that plays one game of RLCard and returns its number of steps."""
    from rlcard.games.uno import Game

    game = Game(num_players=PLAYERS)
    game.np_random.seed(1)

    def play(rng: random.Random) -> int:
        state, _ = game.init_game()
        steps = 0
        while not game.is_over():
            state, _ = game.step(rng.choice(state["legal_actions"]))
            steps += 1
        return steps

    return play


SIDES = {OURS: ours, RLCARD: rlcard}


def serve(side: str) -> None:
    """Play a slice of games for each line read, and answer with moves and seconds of CPU time."""
    play, rng = SIDES[side](), random.Random("bench")
    play(rng)
    for _ in sys.stdin:
        moves, start = 0, time.process_time()
        while (spent := time.process_time() - start) < SLICE:
            moves += play(rng)
        print(moves, spent, flush=True)


class Side:
    """A process that plays one side, and its results so far."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self._moves = 0
        self.seconds = 0.0

    def play(self) -> None:
        """Let the process play for a slice of time."""
        if self._process.stdin is None or self._process.stdout is None:
            raise RuntimeError("the process was started without pipes")
        print(file=self._process.stdin, flush=True)
        moves, seconds = self._process.stdout.readline().split()
        self._moves += int(moves)
        self.seconds += float(seconds)

    @property
    def speed(self) -> float:
        """Return the moves a second of CPU time."""
        return self._moves / self.seconds


@contextmanager
def started(side: str, root: Path) -> Iterator[Side]:
    """Start the process of a side that imports `games.rules` from the checkout at `root`."""
    # With `-P`, only PYTHONPATH decides which `games.rules` is imported. All sides hash text alike.
    command = [sys.executable, "-P", __file__, "--side", side]
    environment = {**os.environ, "PYTHONPATH": str(root), "PYTHONHASHSEED": "0"}
    with subprocess.Popen(
        command, env=environment, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        yield Side(process)


@contextmanager
def checkout(commit: str) -> Iterator[Path]:
    """Unpack the files of a commit into a temporary folder."""
    archive = subprocess.run(["git", "archive", commit, "games"], cwd=HERE, check=True, stdout=subprocess.PIPE).stdout  # noqa: S607  # the git on the PATH
    with tempfile.TemporaryDirectory(prefix="bench-rules-") as folder:
        with tarfile.open(fileobj=io.BytesIO(archive)) as files:
            files.extractall(folder, filter="data")
        yield Path(folder)


def measure(seconds: float, against: str | None) -> dict[str, float]:
    """Return the moves a second of each side. Each plays for at least `seconds`."""
    with ExitStack() as stack:
        roots = {OURS: (OURS, HERE), RLCARD: (RLCARD, HERE)}
        if against is not None:
            roots[against] = (OURS, stack.enter_context(checkout(against)))
        sides = {name: stack.enter_context(started(side, root)) for name, (side, root) in roots.items()}
        while min(side.seconds for side in sides.values()) < seconds:
            for side in sides.values():
                side.play()
        return {name: side.speed for name, side in sides.items()}


def report(speeds: Mapping[str, float], bounds: Mapping[str, float]) -> bool:
    """Print the speeds and the ratios to the other sides. Return True if all ratios reach their bounds."""
    for name, speed in speeds.items():
        print(f"{name:20} {speed:10,.0f} moves/s")
    ratios = {name: speeds[OURS] / speeds[name] for name in bounds}
    for name, ratio in ratios.items():
        print(f"x {name:18} {ratio:10.2f} (demanded {bounds[name]})")
    return all(ratio >= bounds[name] for name, ratio in ratios.items())


def main() -> int:
    """Measure and print. Return the exit status."""
    parser = argparse.ArgumentParser(description="Speed of the rules against RLCard's UNO and against an older commit.")
    parser.add_argument("--seconds", type=float, default=5.0, help="CPU time for each side")
    parser.add_argument("--against", metavar="COMMIT", help="an older commit to compare with")
    parser.add_argument("--factor", type=float, default=0.0, help="the ratio to that commit below which to exit with 1")
    parser.add_argument("--side", choices=SIDES, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.side is not None:
        serve(asked.side)
        return 0
    bounds = {RLCARD: DEMANDED}
    if asked.against is not None:
        bounds[asked.against] = asked.factor
    return 0 if report(measure(asked.seconds, asked.against), bounds) else 1


if __name__ == "__main__":
    sys.exit(main())
