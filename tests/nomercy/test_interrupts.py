"""Ctrl-C, SIGTERM and a reader that has gone end a command without a traceback, and it says what was done."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone
from pytest_django import DjangoDbBlocker

from accounts.models import User
from games.actions import restore
from mail.models import Outbox
from nomercy.backup import archive, postgresql
from nomercy.launcher.place import CHECKOUT
from nomercy.management.commands import prepare
from nomercy.management.commands import restore as restore_command
from tests.conftest import person
from tests.faults.test_restore import a_game_in_play
from tests.support.database import empty_database, migrated_database
from tests.support.stack import database_url
from tests.support.waiting import until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]


@pytest.fixture(autouse=True)
def keyboard() -> Iterator[None]:
    """Handle Ctrl-C as in a terminal, also where a shell runs the tests in the background, which ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="module")
def backup(django_db_setup: None, django_db_blocker: DjangoDbBlocker, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a backup of a site with one game. The database of the tests is empty."""
    path = tmp_path_factory.mktemp("backup") / "site.backup"
    with django_db_blocker.unblock(), migrated_database("backed_up"):
        a_game_in_play([person("alice"), person("bob")], 0, timezone.now(), players=2)
        call_command("backup", str(path))
    return path


@pytest.fixture
def file(backup: Path, transactional_db: None) -> Path:
    """Return that backup once `restore` may use the database. Connections of the test before end a moment after it."""
    until("nobody else is connected", lambda: postgresql.other_connections() == 0)
    return backup


def interrupt(*_: Any, **__: Any) -> Any:
    signal.raise_signal(signal.SIGINT)


def sentence_of(command: str, *arguments: str) -> str:
    """Return the sentence with which an interrupted command ends."""
    with pytest.raises(CommandError) as stopped:
        call_command(command, *arguments)
    assert stopped.value.returncode == 130
    return str(stopped.value)


def test_a_restore_that_is_interrupted_says_that_nothing_was_changed(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    User.objects.create_user("later")
    load = postgresql.load
    monkeypatch.setattr(postgresql, "load", lambda dump: (load(dump), interrupt()))
    assert sentence_of("restore", str(file), "--replace") == "Stopped. Nothing was changed."
    assert User.objects.filter(username="later").exists()


def test_a_restore_that_has_changed_the_database_ends_as_usual(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    User.objects.create_user("later")
    tell = restore_command.Command.tell
    monkeypatch.setattr(restore_command.Command, "tell", lambda *given: (interrupt(), tell(*given)))
    call_command("restore", str(file), "--replace")
    assert not User.objects.filter(username="later").exists()
    assert capsys.readouterr().out.endswith("If this is the copy that counts, run: manage.py release\n")
    with pytest.raises(KeyboardInterrupt):
        interrupt()


def test_a_restore_that_nobody_reads_stores_the_secret_key(
    file: Path, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    class Gone(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError

    stored = list[str]()
    key = settings.SECRET_KEY
    settings.EMBEDDED, settings.SECRET_KEY = True, "another key, also only for tests " * 2
    monkeypatch.delenv("SECRET_KEY", raising=False)
    monkeypatch.setattr(restore_command, "store_secret_key", lambda place, found: stored.append(found))
    with pytest.raises(BrokenPipeError):
        call_command("restore", str(file), "--replace", stdout=Gone())
    assert stored == [key]


def test_a_backup_that_is_interrupted_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "write", interrupt)
    assert sentence_of("backup", str(tmp_path / "site.backup")) == "Stopped. No backup was made."
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("command", "done"), [("freeze", "stopped"), ("release", "released")])
def test_a_freeze_and_a_release_that_are_interrupted_can_be_repeated(
    alice: User, bob: User, command: str, done: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    a_game_in_play([alice, bob], 0, timezone.now(), players=2)
    if command == "release":
        call_command("freeze")
    with monkeypatch.context() as patch:
        patch.setattr(restore, "lock_game", interrupt)
        assert sentence_of(command) == f"Stopped before every game was {done}. Run manage.py {command} again."
    assert Outbox.objects.get().held_since is not None
    call_command(command)


def test_a_preparation_that_is_interrupted_can_be_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prepare, "call_command", interrupt)
    assert sentence_of("prepare") == "Stopped before everything was done. Run manage.py prepare again."


def started(*arguments: str | Path, unbuffered: str = "", stdout: int | None = None) -> subprocess.Popen[str]:
    environment = {
        "PATH": os.defpath,
        "NOMERCY_ENV_FILE": "",
        "SECRET_KEY": "k" * 40,
        "DATABASE_URL": database_url(),
        "PYTHONUNBUFFERED": unbuffered,
    }
    command = [sys.executable, "manage.py", *map(str, arguments)]
    return subprocess.Popen(command, cwd=CHECKOUT, env=environment, text=True, stdout=stdout, stderr=subprocess.PIPE)


@pytest.mark.parametrize(
    ("command", "number", "said"),
    [
        ("restore {}", signal.SIGTERM, "CommandError: Stopped. Nothing was changed.\n"),
        ("shell -v0 -c open('{}').read()", signal.SIGINT, "Stopped before the command had finished.\n"),
    ],
)
def test_a_signal_ends_a_command_with_one_sentence(
    command: str, number: signal.Signals, said: str, tmp_path: Path
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with started(*command.format(pipe).split()) as process, pipe.open("wb"):  # waits until the command reads
        process.send_signal(number)
        _, errors = process.communicate(timeout=30)
    assert (errors, process.returncode) == (said, 128 + number)


def test_a_reader_that_has_gone_is_no_fault_of_a_restore(file: Path) -> None:
    for unbuffered in ("", "1"):
        reader, writer = os.pipe()
        os.close(reader)
        with empty_database("restored"):
            process = started("restore", file, stdout=writer, unbuffered=unbuffered)
            os.close(writer)
            _, errors = process.communicate(timeout=60)
            assert (errors, process.returncode) == ("", 128 + signal.SIGPIPE), unbuffered
            assert User.objects.filter(username="alice").exists(), unbuffered
