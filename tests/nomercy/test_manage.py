"""`manage.py` without the tables, the settings or the database of a site."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import django
import pytest
from django.core.checks import WARNING, Tags, run_checks
from django.core.management import CommandError, call_command
from pytest_django.fixtures import Settings

import manage
from nomercy.launcher.place import CHECKOUT
from nomercy.management.commands import prepare
from tests.support.database import empty_database
from tests.support.stack import database_url

pytestmark = pytest.mark.long

COMMANDS = ("freeze", "health", "check_games", "release", "bounced ann@example.org", "reencrypt_factors")


def ended(command: str, at: Path = CHECKOUT, **variables: str) -> tuple[int, str]:
    """Return the status and the error output of a command with these environment variables."""
    environment = {"PATH": os.defpath, "NOMERCY_ENV_FILE": "", "SECRET_KEY": "k" * 40, **variables}
    arguments = [sys.executable, "manage.py", *command.split()]
    done = subprocess.run(arguments, cwd=at, env=environment, capture_output=True, text=True, check=False, timeout=60)
    return done.returncode, done.stderr


@pytest.mark.django_db(transaction=True)  # commands close their connections
def test_missing_tables_and_those_of_another_release_are_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    no_tables = "The database has no tables yet. Run manage.py migrate."
    others = "The database does not have the tables of this release. Run manage.py migrate."
    monkeypatch.setattr(django, "setup", lambda: None)  # done
    monkeypatch.setattr(manage, "gc", Mock())  # this process lives on
    with empty_database("manage"):
        for command in COMMANDS:
            assert refusal_of(command, monkeypatch) == no_tables, command
        assert ended(COMMANDS[0], DATABASE_URL=database_url()) == (1, f"{no_tables}\n")
        call_command("migrate", "accounts", "0009", verbosity=0)
        assert refusal_of("release", monkeypatch) == others


def refusal_of(command: str, monkeypatch: pytest.MonkeyPatch) -> object:
    """Return what a command prints when it stops, if it is run in this process."""
    monkeypatch.setattr(sys, "argv", ["manage.py", *command.split()])
    with pytest.raises(SystemExit) as stopped:
        manage.execute()
    return stopped.value.code


@pytest.mark.django_db
def test_prepare_collects_static_files_if_there_is_a_place_for_them(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ran: list[str] = []
    monkeypatch.setattr(prepare, "call_command", lambda name, **_: ran.append(name))
    call_command("prepare")
    assert capsys.readouterr().out == "The database has the tables of this release.\n"
    settings.STATIC_ROOT = tmp_path
    call_command("prepare")
    assert ran == ["migrate", "freeze", "migrate", "freeze", "collectstatic"]
    said = f"The database has the tables of this release. The static files are in {tmp_path}.\n"
    assert capsys.readouterr().out == said


def test_prepare_does_nothing_if_there_is_no_place_for_static_files(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[str] = []
    monkeypatch.setattr(prepare, "call_command", lambda name, **_: ran.append(name))
    (tmp_path / "file").touch()
    settings.STATIC_ROOT = tmp_path / "file" / "static"
    with pytest.raises(CommandError) as refused:
        call_command("prepare")
    said = f"STATIC_ROOT is {settings.STATIC_ROOT}, which cannot be written: Not a directory. Nothing was done."
    assert (str(refused.value), ran) == (said, [])


def test_a_site_without_https_gets_one_warning_with_its_own_setting(settings: Settings) -> None:
    settings.SECRET_KEY = "0123456789abcdefghijklmnopqrstuvwxyz" * 2  # the one for tests is too short
    found = run_checks(tags=[Tags.security], include_deployment_checks=True)
    (said,) = [fault for fault in found if fault.level >= WARNING and not fault.is_silenced()]
    assert said.id == "nomercy.W001"
    assert said.msg.startswith("SITE_URL is http://127.0.0.1:8000, without https")


def test_a_restore_after_a_loss_says_how_to_get_the_settings_back(checkout: Path) -> None:
    status, said = ended("restore site.backup", checkout)
    assert (status, said.count("\n")) == (1, 1)
    assert said.startswith(
        "There is no database here to restore into. If the settings are lost too, get them out of the"
    )
    assert "manage.py verify_backup FILE --write-settings local.env" in said
    assert (
        "use that of the backup" in ended("restore site.backup", SECRET_KEY="", DATABASE_URL="postgres://u@host/x")[1]
    )
