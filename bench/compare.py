"""Run a benchmark in two checkouts in turn, so that both see the same machine."""

from __future__ import annotations

import re
import statistics
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from nomercy.launcher.place import CHECKOUT

ROUNDS: Final = 3


def compare(module: str, arguments: Sequence[str], other: Path, *, figure: str) -> None:
    """Print what the benchmark prints in the other checkout and here, and the ratio of the medians of its figure.

    `other` needs a `.venv`. `figure` is a regular expression whose group is the figure in the output.
    """
    found: dict[Path, list[float]] = {other.resolve(): [], CHECKOUT: []}
    for _ in range(ROUNDS):
        for checkout, figures in found.items():
            command = [str(checkout / ".venv/bin/python"), "-m", module, *arguments]
            output = subprocess.run(command, cwd=checkout, stdout=subprocess.PIPE, check=True, text=True).stdout
            print(f"{checkout}\n{output}", end="", flush=True)
            match = re.search(figure, output)
            assert match, output
            figures.append(float(match[1]))
    before, now = map(statistics.median, found.values())
    print(f"{module}: {now:g} here, {before:g} there, ratio {now / before:.3f}")
