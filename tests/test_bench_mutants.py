"""`bench.mutants`: which mutants are made, and that the runner kills only real faults."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from bench.mutants import Module, Outcome, report

ROOT = Path(__file__).parents[1]
SOURCE = """\
POINTS = {"r5": 5}


def worth(card: str) -> int:
    return POINTS[card] if card in POINTS else 0
"""

RUN = """
import os, sys
from pathlib import Path
from bench import mutants

mutants.STATE = Path(sys.argv[1])
path = mutants.HERE / "games/rules" / sys.argv[2]
before, after, tests = sys.argv[3:]
mutants.PYTEST = (*mutants.PYTEST, "-k", tests)
source = path.read_text(encoding="utf-8")
assert before in source
mutant = mutants.Mutant(path.name, 1, before, after, source.replace(before, after))
workspace = mutants.Workspace(0)
_, status = os.waitpid(workspace.start(mutant), 0)
print(workspace.settle(mutant, status))
"""


def test_tables_and_functions_are_mutated(tmp_path: Path) -> None:
    path = tmp_path / "cards.py"
    path.write_text(SOURCE, encoding="utf-8")
    module = Module(path)
    mutants = [module.mutant(number) for number in range(len(module.ids()))]
    assert {mutant.line for mutant in mutants} == {1, 5}
    assert ('POINTS = {"r5": 5}', 'POINTS = {"r5": 6}') in {(mutant.before, mutant.after) for mutant in mutants}
    assert all(mutant.source != SOURCE for mutant in mutants)


def test_mutants_of_a_changed_module_have_new_names(tmp_path: Path) -> None:
    path = tmp_path / "cards.py"
    path.write_text(SOURCE, encoding="utf-8")
    before = Module(path).ids()
    path.write_text(SOURCE.replace("0", "1"), encoding="utf-8")
    assert set(before).isdisjoint(Module(path).ids())


@pytest.mark.parametrize(("killed", "enough"), [(95, True), (94, False)])
def test_the_report_counts_what_was_killed(killed: int, enough: bool, capsys: pytest.CaptureFixture[str]) -> None:
    known = [Outcome(str(n), "cards.py", n, "a", "b", "test" if n < killed else "") for n in range(100)]
    assert report(known) is enough
    assert f"{killed} of 100 killed" in capsys.readouterr().out


@pytest.mark.long
@pytest.mark.parametrize(
    ("module", "before", "after", "tests", "killed"),
    [
        ("legal.py", "seat in position.out", "seat not in position.out", "", True),
        # All tests take a minute on a mutant that survives.
        ("legal.py", "thousands of lists", "many lists", "test_turns", False),
    ],
)
def test_the_runner_kills_only_real_faults(
    module: str, before: str, after: str, tests: str, killed: bool, tmp_path: Path
) -> None:
    command = [sys.executable, "-c", RUN, str(tmp_path), module, before, after, tests]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=600)
    assert bool(ran.stdout.strip()) == killed
