"""`script/bootstrap`, mostly with a fake Python: which lock files it installs, and what it does without the wheel."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Final
from zipfile import ZipFile

import pytest

from nomercy.launcher.place import CHECKOUT

PYTHON: Final = """#!/bin/sh
case "$*" in
    *"uv pip sync"*)
        echo "$*" >>"$0.log"
        if [ -p "$0.wait" ]; then read -r _ <"$0.wait"; fi ;;
esac
case "$*" in {fails}) exit 1 ;; esac
"""
WHEEL: Final = "requirements/postgresql.lock"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Return a checkout with only the scripts, the lock files, and a `.venv` with a fake Python."""
    shutil.copytree(CHECKOUT / "script", tmp_path / "script")
    shutil.copytree(CHECKOUT / "requirements", tmp_path / "requirements")
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    return tmp_path


def bootstrap(checkout: Path, fails: str) -> tuple[subprocess.CompletedProcess[str], list[list[str]]]:
    """Run the script while installations whose arguments match `fails` fail.

    Return the finished process, and the lock files of each installation that it tried.
    """
    python = fake_python(checkout, fails)
    done = subprocess.run(
        ["/bin/sh", checkout / "script" / "bootstrap", "run"], capture_output=True, text=True, check=False
    )
    return done, tried_with(python)


def fake_python(checkout: Path, fails: str) -> Path:
    """Put a fake Python into `.venv`. It waits in each installation while there is a pipe `python.wait` beside it."""
    python = checkout / ".venv" / "bin" / "python"
    python.write_text(PYTHON.format(fails=fails))
    python.chmod(0o755)
    python.with_name("python.log").write_text("")
    return python


def tried_with(python: Path) -> list[list[str]]:
    lines = python.with_name("python.log").read_text().splitlines()
    return [[word for word in line.split() if word.endswith(".lock")] for line in lines]


def test_the_wheel_is_installed_with_the_rest_once(checkout: Path) -> None:
    done, tried = bootstrap(checkout, "nothing")
    assert (done.returncode, tried) == (0, [["requirements/run.lock", WHEEL]])
    assert bootstrap(checkout, "nothing")[1] == []
    (checkout / WHEEL).write_text("another wheel\n")
    assert bootstrap(checkout, "nothing")[1] == [["requirements/run.lock", WHEEL]]


def test_nobody_else_can_hold_the_lock_of_an_installation(checkout: Path) -> None:
    lock = checkout / ".venv" / ".lock"
    lock.write_text("")
    lock.chmod(0o666)
    bootstrap(checkout, "nothing")
    assert lock.stat().st_mode & 0o777 == 0o600


def test_without_the_wheel_the_rest_is_installed_with_a_warning(checkout: Path) -> None:
    done, tried = bootstrap(checkout, "*postgresql.lock*")
    assert (done.returncode, tried) == (0, [["requirements/run.lock", WHEEL], ["requirements/run.lock"]])
    assert "The wheel with PostgreSQL cannot be installed (see above)" in done.stderr
    assert bootstrap(checkout, "*postgresql.lock*")[1] == []  # the next start does not try again


def test_any_other_failure_stops_the_start_and_is_tried_again(checkout: Path) -> None:
    for _ in range(2):
        done, tried = bootstrap(checkout, "*.lock*")
        assert done.returncode != 0
        assert tried == [["requirements/run.lock", WHEEL], ["requirements/run.lock"]]


def test_of_two_first_starts_one_installs_and_the_other_waits(checkout: Path) -> None:
    python = fake_python(checkout, "nothing")
    pipe = python.with_name("python.wait")
    os.mkfifo(pipe)
    command = ["/bin/sh", str(checkout / "script" / "bootstrap"), "run"]
    starts: list[subprocess.Popen[str]] = []
    try:
        for said in ("Installing requirements/run.lock", "Waiting for another start, which is installing ..."):
            starts.append(subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True))
            assert starts[-1].stderr is not None
            assert starts[-1].stderr.readline().startswith(said)
        with pipe.open("w") as going_on:
            going_on.write("\n")
        assert [start.wait(timeout=60) for start in starts] == [0, 0]
    finally:
        for start in starts:
            with suppress(ProcessLookupError):  # it has ended
                os.killpg(start.pid, signal.SIGKILL)
            start.communicate()
    assert tried_with(python) == [["requirements/run.lock", WHEEL]]


def fake_uv(folder: Path) -> str:
    """Make a wheel of a `uv` that does nothing, and return the line of a lock file that names it."""
    wheel, info = folder / "uv-1.0-py3-none-any.whl", "uv-1.0.dist-info"
    files = {
        "uv/__main__.py": "",
        f"{info}/METADATA": "Metadata-Version: 2.1\nName: uv\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/RECORD": "",
    }
    with ZipFile(wheel, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return f"uv==1.0 --hash=sha256:{sha256(wheel.read_bytes()).hexdigest()}\n"


@pytest.mark.long
def test_what_a_person_has_set_for_pip_moves_no_installation(checkout: Path) -> None:
    """If one of these settings still counted, pip would install elsewhere, or refuse it beside another one."""
    shutil.rmtree(checkout / ".venv")
    home = checkout / "home"
    (home / ".config" / "pip").mkdir(parents=True)
    settings = f"[install]\nuser = true\ntarget = {home}/elsewhere\nprefix = {home}/elsewhere\n"
    (home / ".config" / "pip" / "pip.conf").write_text(settings)
    (checkout / "requirements" / "bootstrap.lock").write_text(fake_uv(checkout))
    environment = {"HOME": str(home), "PATH": os.environ["PATH"], "PYTHON": sys.executable, "PIP_NO_INDEX": "1"}
    environment["PIP_FIND_LINKS"] = str(checkout)  # where to find wheels still counts
    environment["PIP_USER"] = "1"
    command = ["/bin/sh", str(checkout / "script" / "bootstrap"), "run"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    assert list(checkout.glob(".venv/lib/*/site-packages/uv"))
    assert not list(home.rglob("site-packages"))
    assert not (home / "elsewhere").exists()
