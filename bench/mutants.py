"""Test the tests of the rules with mutants: `python -m bench.mutants [--sample 1000] [--seed 1] [--jobs 2] [--again]`.

A mutant is `games/rules` with one small change: another number, text or operator, an argument left out, a condition
inverted. It is killed if `tests/rules` fails on it. Mutmut makes the mutants, and a sample of them is drawn by a seed.
The command can be stopped at any time and continues where it was: each outcome is a line of
`var/mutants/seed-SEED.jsonl`. `--again` runs the survivors once more, after tests have been added.

Mutmut's own runner is not used: it changes functions only, and half of the rules are tables; and it imports the rules
before it chooses a mutant, when the tables are already built. Here each mutant is a file in a copy of the tree, and a
process forked from one that has pytest loaded imports it and runs the tests, quick killers first and slow files last.

`tests/rules/survivors.toml` says in a line why a survivor changes nothing. Exits with 1 if fewer than 95 % are killed.
"""

from __future__ import annotations

import argparse
import difflib
import hashlib
import json
import os
import resource
import shutil
import signal
import sys
import time
import tomllib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import hypothesis.strategies  # noqa: F401  # imported here, so that no forked process has to
import libcst
import pytest
from libcst.metadata import MetadataWrapper
from mutmut.mutation.file_mutation import MutationVisitor
from mutmut.mutation.mutators import mutation_operators
from mutmut.mutation.pragma_handling import IgnoredCode

HERE = Path(__file__).resolve().parents[1]
RULES = "games/rules"
TESTS = "tests/rules"
# The files that the tests need.
COPIED = (
    RULES,
    "games/__init__.py",
    "common/__init__.py",
    "common/say.py",
    TESTS,
    "tests/__init__.py",
    "tests/golden",
    "docs",
)
# Left out, because these would only improve the figure: prose that a test compares with docs/rules.md, and a list of
# names.
LEFT_OUT = ("rulebook*.py", "__init__.py")
STATE = HERE / "var" / "mutants"
EXPLAINED = HERE / TESTS / "survivors.toml"

DEMANDED = 0.95
# A mutant that loops forever is killed after this many times the CPU time of the tests on the unchanged rules.
PATIENCE = 2.5
WALL_SECONDS = 900
MEMORY = 3 * 2**30

# Run before all others: these find most mutants of a module in a second.
QUICK = ("test_turns.py", "test_cards.py", "test_uno.py", "test_refusals.py")
QUICK_FOR = {
    "__main__.py": ("test_console.py", "test_record.py"),
    "clock.py": ("test_clock_and_leaving.py",),
    "console.py": ("test_console.py",),
    "deal.py": ("test_setup.py", "test_shuffle.py"),
    "events.py": ("test_narration.py",),
    "preview.py": ("test_preview.py",),
    "moves.py": ("test_moves.py", *QUICK),
    "narration.py": ("test_narration.py",),
    "notation.py": ("test_moves.py",),
    "options.py": ("test_options.py", "test_every_rule.py"),
    "position_json.py": ("test_console.py",),
    "presets.py": ("test_options.py", "test_every_rule.py"),
    "record.py": ("test_record.py",),
    "scoring.py": ("test_endings.py",),
    "shuffle.py": ("test_shuffle.py",),
    "views.py": ("test_preview.py", "test_properties.py"),
}
# Run after all others: these take seconds each, the others a fraction of one.
SLOW = ("test_console.py", "test_record.py", "test_against_oracle.py", "test_properties.py", "test_oracle.py")
# Without the long tests, whose fixtures are in tests/conftest.py.
PYTEST = (
    *("-x", "-q", "-m", "not long", "-W", "ignore", "--noconftest"),
    *("-c", os.devnull, "--assert=plain", "-p", "no:cacheprovider"),
)
PLUGINS_LEFT_OUT = ("django", "randomly", "xdist", "schemathesis", "hypothesispytest")


class Mutant(NamedTuple):
    """A changed module: `before` and `after` are the changed lines, `source` is the whole module."""

    module: str
    line: int
    before: str
    after: str
    source: str


class Outcome(NamedTuple):
    """The outcome of a mutant. `by` is the test that failed, or "" if the mutant survived."""

    name: str
    module: str
    line: int
    before: str
    after: str
    by: str


class Module:
    """A module of the rules with all its mutations."""

    def __init__(self, path: Path) -> None:
        self.name = path.name
        self._source = path.read_text(encoding="utf-8")
        visitor = MutationVisitor(mutation_operators, IgnoredCode(set(), set(), set()))
        self._tree = MetadataWrapper(libcst.parse_module(self._source)).visit(visitor)
        self._mutations = visitor.mutations
        self._digest = hashlib.sha256(self._source.encode()).hexdigest()[:16]

    def ids(self) -> list[str]:
        """Return a name for each mutant. Mutants of another version of the module have other names."""
        return [f"{self.name} {self._digest} {number}" for number in range(len(self._mutations))]

    def mutant(self, number: int) -> Mutant:
        """Return a mutant with its source. This is slow."""
        mutation = self._mutations[number]
        changed = self._tree.deep_replace(mutation.original_node, mutation.mutated_node)
        if not isinstance(changed, libcst.Module):
            raise TypeError(f"{self.name} is a module no more")
        return Mutant(self.name, *_difference(self._source, changed.code), changed.code)


def _difference(before: str, after: str) -> tuple[int, str, str]:
    """Return the number of the first changed line, and the changed lines before and after."""
    old, new = before.splitlines(), after.splitlines()
    blocks = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    _, start, end, new_start, new_end = next(block for block in blocks if block[0] != "equal")
    return start + 1, " ".join(map(str.strip, old[start:end])), " ".join(map(str.strip, new[new_start:new_end]))


Make = Callable[[], Mutant]


def sample(count: int, seed: str) -> dict[str, Make]:
    """Return so many mutants of the rules as they are, drawn by the seed: their names, and what makes them."""
    modules = [Module(path) for path in (HERE / RULES).glob("*.py") if not any(map(path.match, LEFT_OUT))]
    every = [(module, number) for module in modules for number in range(len(module.ids()))]
    # Drawn one by one, so that a change of one module does not change the rest of the sample.
    drawn = sorted(every, key=lambda one: hashlib.sha256(f"{seed} {one[0].name} {one[1]}".encode()).digest())[:count]
    print(f"{len(drawn)} of {len(every)} mutants, drawn with the seed {seed}")
    return {module.ids()[number]: partial(module.mutant, number) for module, number in drawn}


class FirstFailure:
    """A pytest plugin that remembers which test, or which file of tests, failed."""

    def __init__(self) -> None:
        self.test = ""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Remember a failed test."""
        if report.failed and not self.test:
            self.test = report.nodeid

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Remember a file of tests that cannot be imported."""
        if report.failed and not self.test:
            self.test = report.nodeid


class Workspace:
    """A copy of the files that the tests need, with one mutant at a time."""

    def __init__(self, number: int) -> None:
        self.cpu_seconds = resource.RLIM_INFINITY
        self._root = STATE / f"tree-{number}"
        shutil.rmtree(self._root, ignore_errors=True)
        for name in COPIED:
            source, target = HERE / name, self._root / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if source.is_dir():
                shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__", "release-*", "img"))
            else:
                shutil.copy(source, target)

    def start(self, mutant: Mutant | None) -> int:
        """Fork a process that runs the tests on a mutant, or on the unchanged rules. Return its PID."""
        self._answer = self._root / "answer"
        self._answer.unlink(missing_ok=True)
        if mutant is not None:
            self._unchanged = (self._root / RULES / mutant.module).read_text(encoding="utf-8")
        child = os.fork()
        if child:
            return child
        status = 70  # the runner itself failed
        try:
            os.setsid()
            with (self._root / "output").open("wb") as output:
                os.dup2(output.fileno(), 1)
                os.dup2(output.fileno(), 2)
            status = self._run(mutant)
        finally:
            os._exit(status)

    def _run(self, mutant: Mutant | None) -> int:
        resource.setrlimit(resource.RLIMIT_CPU, (self.cpu_seconds, self.cpu_seconds))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        if mutant is not None:
            self._write(mutant.module, mutant.source)
        os.chdir(self._root)
        sys.path[0] = str(self._root)
        first = FirstFailure()
        without = [part for name in PLUGINS_LEFT_OUT for part in ("-p", f"no:{name}")]
        module = "" if mutant is None else mutant.module
        quick = [f"{TESTS}/{name}" for name in QUICK_FOR.get(module, QUICK)]
        every = sorted((path.name in SLOW, str(path)) for path in Path(TESTS).glob("test_*.py"))
        for files in (quick, [path for _, path in every]):
            status = int(pytest.main([*PYTEST, *without, "--rootdir", str(self._root), *files], plugins=[first]))
            if status:
                break
        self._answer.write_text(first.test, encoding="utf-8")
        return status

    def _write(self, module: str, source: str) -> None:
        path = self._root / RULES / module
        path.write_text(source, encoding="utf-8")
        # Python reuses bytecode if the source has the same size and modification time in seconds.
        for compiled in path.parent.glob(f"__pycache__/{path.stem}.*.pyc"):
            compiled.unlink()

    def settle(self, mutant: Mutant | None, status: int) -> str:
        """Restore the module. Return the test that failed, or "" if none did."""
        if mutant is not None:
            self._write(mutant.module, self._unchanged)
        if os.WIFSIGNALED(status):
            return f"signal {os.WTERMSIG(status)}"
        if os.WEXITSTATUS(status) == 0:
            return ""
        said = self._answer.read_text(encoding="utf-8") if self._answer.exists() else ""
        return said or f"exit status {os.WEXITSTATUS(status)}"

    def output(self) -> str:
        """Return what pytest printed last."""
        return (self._root / "output").read_text(encoding="utf-8", errors="replace")


class Running(NamedTuple):
    """A mutant whose tests are running."""

    name: str
    mutant: Mutant
    workspace: Workspace
    deadline: float


def run(mutants: Mapping[str, Make], jobs: int, state: Path) -> None:
    """Run the tests on every mutant, `jobs` at a time, and append a line for each to the state."""
    free = [Workspace(number) for number in range(jobs)]
    limit = round(PATIENCE * max(map(_check_unchanged, free))) + 5
    for workspace in free:
        workspace.cpu_seconds = limit
    waiting, running = list(mutants)[::-1], dict[int, Running]()
    start, total = time.monotonic(), len(mutants)
    with state.open("a", encoding="utf-8") as lines:
        try:
            while waiting or running:
                while waiting and free:
                    name, workspace = waiting.pop(), free.pop()
                    mutant, deadline = mutants[name](), time.monotonic() + WALL_SECONDS
                    running[workspace.start(mutant)] = Running(name, mutant, workspace, deadline)
                ended, status = _ended(running)
                name, mutant, workspace, _ = running.pop(ended)
                by = workspace.settle(mutant, status)
                free.append(workspace)
                lines.write(json.dumps(Outcome(name, *mutant[:-1], by)._asdict()) + "\n")
                lines.flush()
                done = total - len(waiting) - len(running)
                print(
                    f"{done}/{total} {time.monotonic() - start:.0f} s  {mutant.module}:{mutant.line} {by or 'SURVIVED'}"
                )
        finally:
            for child in running:
                os.killpg(child, signal.SIGKILL)
    for workspace in free:
        _check_unchanged(workspace)


def _ended(running: dict[int, Running]) -> tuple[int, int]:
    """Wait for a process to end, and kill those that run too long. Return its PID and status."""
    while True:
        for child, (_, _, _, deadline) in running.items():
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                return ended, status
            if time.monotonic() > deadline:
                os.killpg(child, signal.SIGKILL)
        time.sleep(0.02)


def _check_unchanged(workspace: Workspace) -> float:
    """Exit if the tests fail on the unchanged rules. Return the CPU seconds that the tests take."""
    _, status, used = os.wait4(workspace.start(None), 0)
    if by := workspace.settle(None, status):
        sys.exit(f"The tests fail without a mutant: {by}\n{workspace.output()}")
    return used.ru_utime + used.ru_stime


def outcomes(state: Path) -> dict[str, Outcome]:
    """Return the last outcome of each mutant."""
    if not state.exists():
        return {}
    rows = map(json.loads, state.read_text(encoding="utf-8").splitlines())
    return {row["name"]: Outcome(**row) for row in rows}


def report(known: Sequence[Outcome]) -> bool:
    """Print how many mutants were killed, by what, and the survivors. Return True if enough were killed."""
    rows = tomllib.loads(EXPLAINED.read_text(encoding="utf-8"))["survivor"] if EXPLAINED.exists() else []
    why = {(row["module"], row["before"], row["after"]): row["why"] for row in rows}
    survivors = sorted((one for one in known if not one.by), key=lambda one: (one.module, one.line, one.after))
    for one in survivors:
        print(f"\n{one.module}:{one.line}\n  - {one.before}\n  + {one.after}")
        print(f"  {why.get((one.module, one.before, one.after), 'NOT EXPLAINED')}")
    files = Counter(one.by.split("::")[0] for one in known if one.by)
    print("\nkilled by: " + ", ".join(f"{name} {count}" for name, count in files.most_common()))
    explained = sum((one.module, one.before, one.after) in why for one in survivors)
    share = 1 - len(survivors) / len(known) if known else 0.0
    print(f"{len(known) - len(survivors)} of {len(known)} killed: {share:.1%} (demanded {DEMANDED:.0%})")
    print(f"{len(survivors)} survivors, {explained} of them explained")
    return share >= DEMANDED


def main() -> int:
    """Run the remaining mutants and report. Return the exit status."""
    parser = argparse.ArgumentParser(description="Mutation testing of the rules.")
    parser.add_argument("--sample", type=int, default=1000, help="how many mutants")
    parser.add_argument("--seed", default="1", help="which mutants")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="how many at a time")
    parser.add_argument("--again", action="store_true", help="run the survivors again")
    asked = parser.parse_args()
    # Forked processes compile the rules and the tests once, whatever the environment says.
    sys.dont_write_bytecode = False
    STATE.mkdir(parents=True, exist_ok=True)
    state = STATE / f"seed-{asked.seed}.jsonl"
    mutants = sample(asked.sample, asked.seed)
    known = outcomes(state)
    left = [name for name in mutants if name not in known or (asked.again and not known[name].by)]
    if left:
        run({name: mutants[name] for name in left}, asked.jobs, state)
    known = outcomes(state)
    return 0 if report([known[name] for name in mutants if name in known]) else 1


if __name__ == "__main__":
    sys.exit(main())
