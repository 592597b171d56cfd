"""A wrong `DATABASE_URL` ends each command with one sentence without the password."""

from __future__ import annotations

import os
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.db import connection

from nomercy.launcher.given import require_reachable
from nomercy.launcher.place import CHECKOUT
from tests.support.ports import free_port
from tests.support.stack import database_url

pytestmark = pytest.mark.long

COMMANDS = {
    "script/run": ("-m", "nomercy.launcher.embedded"),
    "script/stack": ("-m", "script.stack"),
}


def sentence(url: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the refusal of this URL."""
    monkeypatch.setenv("DATABASE_URL", url)
    with pytest.raises(SystemExit) as stopped:
        require_reachable()
    said = str(stopped.value)
    assert said.startswith("No Mercy does not start: the database of DATABASE_URL cannot be used: ")
    assert "\n" not in said
    assert "hidden" not in said
    return said


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_ends_with_one_sentence(command: str) -> None:
    port = free_port()
    environment = {name: value for name, value in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"} | {
        "DATABASE_URL": f"postgres://u:hidden@127.0.0.1:{port}/name",
        "SECRET_KEY": "k" * 40,
        "PORT": str(free_port()),
    }
    stopped = subprocess.run(
        [sys.executable, *COMMANDS[command]], cwd=CHECKOUT, env=environment, capture_output=True, text=True, check=False
    )
    assert stopped.returncode == 1
    assert stopped.stdout == ""
    assert stopped.stderr == (
        "No Mercy does not start: the database of DATABASE_URL cannot be used:"
        f' connection to server at "127.0.0.1", port {port} failed: Connection refused.\n'
    )


def test_an_unknown_host_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "failed to resolve host 'nowhere.invalid'" in sentence("postgres://u:hidden@nowhere.invalid/x", monkeypatch)


def test_a_missing_database_is_reported(monkeypatch: pytest.MonkeyPatch, db: None) -> None:
    url = f"{database_url()}_is_not_there"
    assert f'database "{connection.settings_dict["NAME"]}_is_not_there" does not exist' in sentence(url, monkeypatch)


def test_a_reachable_database_is_disconnected_again(monkeypatch: pytest.MonkeyPatch, db: None) -> None:
    monkeypatch.setenv("DATABASE_URL", database_url())
    require_reachable()


@pytest.mark.parametrize("options", ["sslmode=bogus", "colour=red"])
def test_a_wrong_option_is_reported(monkeypatch: pytest.MonkeyPatch, options: str) -> None:
    name, _, _ = options.partition("=")
    assert name in sentence(f"postgres://u:hidden@127.0.0.1:1/x?{options}", monkeypatch)


@contextmanager
def server(answer: bytes | None) -> Iterator[int]:
    """Run a server that answers each start-up message with this, or never. Give its port."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            held = []
            while True:
                try:
                    line, _ = listening.accept()
                except OSError:
                    break
                held.append(line)
                while answer is not None and (told := line.recv(8)):
                    length, code = struct.unpack("!II", told)
                    line.recv(length - 8)
                    if code in (80877103, 80877104):  # refuse TLS and GSS
                        line.sendall(b"N")
                        continue
                    line.sendall(answer)
                    break
            for line in held:
                line.close()

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield listening.getsockname()[1]
        finally:
            listening.shutdown(socket.SHUT_RDWR)
            thread.join()


def refusal(**fields: str) -> bytes:
    body = b"".join(name.encode() + value.encode() + b"\0" for name, value in fields.items()) + b"\0"
    return b"E" + struct.pack("!I", len(body) + 4) + body


def test_a_wrong_password_is_reported_but_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = 'password authentication failed for user "u"'
    with server(refusal(S="FATAL", V="FATAL", C="28P01", M=f"{wrong} (was it hidden?)")) as port:
        assert f"{wrong} (was it …?)" in sentence(f"postgres://u:hidden@127.0.0.1:{port}/x", monkeypatch)


def test_a_wrong_password_ends_migrate_with_one_sentence() -> None:
    """`manage.py` asks before it runs any command. The password may be in `PGPASSWORD`, as in the compose file."""
    wrong = 'password authentication failed for user "u"'
    with server(refusal(S="FATAL", V="FATAL", C="28P01", M=wrong)) as port:
        environment = {"PATH": os.defpath, "NOMERCY_ENV_FILE": "", "SECRET_KEY": "k" * 40, "PGPASSWORD": "hidden"}
        environment["DATABASE_URL"] = f"postgres://u@127.0.0.1:{port}/x?connect_timeout=60"
        command = [sys.executable, "manage.py", "migrate"]
        stopped = subprocess.run(command, cwd=CHECKOUT, env=environment, capture_output=True, text=True, check=False)
    assert (stopped.returncode, stopped.stdout) == (1, "")
    assert stopped.stderr.startswith("No Mercy does not start: the database of DATABASE_URL cannot be used: ")
    assert stopped.stderr.endswith(f"{wrong}.\n")
    assert stopped.stderr.count("\n") == 1


def test_a_server_that_never_answers_times_out(monkeypatch: pytest.MonkeyPatch) -> None:
    with server(None) as port:
        assert "timeout" in sentence(f"postgres://u:hidden@127.0.0.1:{port}/x?connect_timeout=2", monkeypatch)
