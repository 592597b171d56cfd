"""Older code on a database that newer code has used says so at its start, and in `manage.py health`."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.apps import apps
from django.core.management import call_command
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone
from structlog.testing import capture_logs

from common import schema
from games.models import Heartbeat
from nomercy.launcher import embedded
from nomercy.launcher.place import CHECKOUT
from nomercy.start import log_state_of_database
from tests.support.stack import database_url

pytestmark = pytest.mark.django_db(transaction=True)

SENTENCE = "The database was used by newer code: the code here does not have its migration games.9999_later."


@pytest.fixture
def newer() -> Iterator[None]:
    recorder = MigrationRecorder(connection)
    recorder.record_applied("games", "9999_later")
    yield
    recorder.record_unapplied("games", "9999_later")


def test_a_database_of_this_release_has_no_unknown_migration() -> None:
    assert schema.unknown_migration() == ""


def test_a_process_logs_it_once_at_its_start(newer: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", database_url())
    with capture_logs() as lines:
        log_state_of_database()
    event = {"event": "the database was used by newer code", "log_level": "warning"}
    assert lines == [event | {"migration": "games.9999_later"}]


@pytest.mark.long
def test_a_server_logs_it_before_it_loads_the_site(newer: None) -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from nomercy.start import log_state_of_database; log_state_of_database()"],
        env=os.environ | {"DATABASE_URL": database_url()}, cwd=CHECKOUT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "the database was used by newer code" in done.stdout + done.stderr
    assert "Warning" not in done.stderr
    assert done.returncode == 0


def test_own_apps_are_all_that_have_migrations_here() -> None:
    own = {app.label for app in apps.get_app_configs() if Path(app.path).parent == CHECKOUT and [*app.get_models()]}
    assert own == set(schema.OWN_APPS)


def test_script_run_says_it(newer: None, capsys: pytest.CaptureFixture[str]) -> None:
    embedded.migrate()
    assert capsys.readouterr().err.startswith(SENTENCE)


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_health_says_it_and_is_no_failure(newer: None, options: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    Heartbeat.objects.update_or_create(pk=1, defaults={"at": timezone.now()})
    call_command("health", *options)
    assert capsys.readouterr().err.startswith(SENTENCE)
