"""Test a full disk of the database: writes are answered 503, the log says why in one line, and `/readyz` fails."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.cookiejar import CookieJar
from io import StringIO
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.db import OperationalError, connection, transaction
from django.test import Client
from django.utils import timezone
from structlog.testing import capture_logs

from accounts.models import User
from common import disk
from common.run_all import run_all
from games.models import Game, Heartbeat, Move
from nomercy import faults
from nomercy.launcher.place import ROOT_HOME, place_for
from tests.conftest import Figure, api_token
from tests.support.database import migrated_database
from tests.support.stack import RunningStack, database_url, stack
from tests.support.tables import TWO_HANDS, table_at
from tests.support.waiting import until

FULL = "could not extend file: No space left on device"
RAISE: Final = """
CREATE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '{code}'; END $$;
CREATE TRIGGER no_room BEFORE INSERT ON games_move FOR EACH ROW EXECUTE FUNCTION no_room();
"""


@contextmanager
def no_room(code: str = "53100") -> Iterator[None]:
    """Make PostgreSQL refuse each new move with this code, as when it cannot extend a file."""
    with connection.cursor() as cursor:
        cursor.execute(RAISE.format(code=code))
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute("DROP TRIGGER no_room ON games_move; DROP FUNCTION no_room")


def errors(lines: list[Any]) -> list[dict[str, Any]]:
    return [line for line in lines if line["log_level"] == "error"]


@pytest.mark.parametrize("code", ["53000", "53100", "53200"])
@pytest.mark.django_db
def test_a_move_on_a_full_disk_is_answered_as_unavailable(
    alice: User, bob: User, as_alice: Client, caplog: pytest.LogCaptureFixture, code: str
) -> None:
    table = table_at(TWO_HANDS, [alice, bob])
    form = {"move": "play r5", "version": 0, "token": "once"}
    with no_room(code), capture_logs() as lines:
        page = as_alice.post(f"/games/{table.game.code}/move/", form)
        fragment = as_alice.post(f"/games/{table.game.code}/move/", form, headers={"HX-Request": "true"})
        bearer = {"Authorization": f"Bearer {api_token(alice)}"}
        call = Client().post(
            f"/api/v1/games/{table.game.code}/moves",
            {"move": "play r5", "version": 0},
            "application/json",
            headers=bearer,
        )
    assert {(answer.status_code, answer["Retry-After"]) for answer in (page, fragment, call)} == {(503, "2")}
    assert "cannot save anything" in page.content.decode()
    assert call.json()["error"] == "unavailable"
    assert [(line["event"], line["sqlstate"]) for line in errors(lines)] == [("the database has no room", code)] * 3
    assert not any(record.exc_info for record in caplog.records)
    assert not any(record.name == "django.request" for record in caplog.records)  # its lines repeat the path
    assert (Move.objects.count(), Game.objects.get().version) == (0, 0)
    assert as_alice.post(f"/games/{table.game.code}/move/", form).status_code == 303


def refused(code: str) -> str:
    """Return a statement that PostgreSQL refuses with this code."""
    return f"DO $$ BEGIN RAISE EXCEPTION '{FULL}' USING ERRCODE = '{code}'; END $$"


@pytest.mark.django_db
def test_the_site_is_not_ready_while_nothing_can_be_saved(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    Heartbeat.objects.update_or_create(pk=1, defaults={"at": timezone.now()})
    assert client.get("/readyz").json()["ready"]
    monkeypatch.setattr(disk, "WRITE_A_LITTLE", refused("53100"))
    answer = client.get("/readyz")
    assert (answer.status_code, answer.json()["parts"]["database"]) == (503, "disk full")
    assert client.get("/healthz").status_code == 200  # this process can still serve reads


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        ("53100", "the disk of the database is full, so nothing can be saved."),
        ("58030", "the database cannot write to its disk, so nothing can be saved."),
    ],
)
@pytest.mark.django_db
def test_the_command_for_monitoring_fails_while_nothing_can_be_saved(
    monkeypatch: pytest.MonkeyPatch, code: str, sentence: str
) -> None:
    Heartbeat.objects.update_or_create(pk=1, defaults={"at": timezone.now()})
    call_command("health", stdout=StringIO())
    monkeypatch.setattr(disk, "WRITE_A_LITTLE", refused(code))
    out = StringIO()
    with pytest.raises(CommandError) as failed:
        call_command("health", "--json", stdout=out)
    assert (str(failed.value), failed.value.returncode) == (sentence, 1)
    assert json.loads(out.getvalue())["failures"] == [sentence.removesuffix(".")]


@pytest.mark.django_db
def test_readiness_writes_to_the_disk(client: Client) -> None:
    """PostgreSQL limits the size of temporary files, so writing one can be made to fail."""
    assert client.get("/readyz").json()["parts"]["database"] == "ok"
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL temp_file_limit = '64kB'")
        assert client.get("/readyz").json()["parts"]["database"] == "cannot write"
        transaction.set_rollback(True)


def raised(sqlstate_of: type[psycopg.Error]) -> OperationalError:
    try:
        try:
            raise sqlstate_of(FULL)
        except psycopg.Error as cause:
            raise OperationalError(FULL) from cause
    except OperationalError as error:
        return error


@pytest.mark.parametrize(
    ("error", "brief"),
    [
        (raised(psycopg.errors.DiskFull), True),
        (
            ExceptionGroup("2 of 3 steps failed", [raised(psycopg.errors.DiskFull), raised(psycopg.OperationalError)]),
            True,
        ),
        (ExceptionGroup("2 of 3 steps failed", [raised(psycopg.errors.DiskFull), ValueError("a bug")]), False),
        (raised(psycopg.errors.IoError), False),
        (ValueError("a bug"), False),
    ],
)
def test_a_task_that_fails_in_the_database_logs_no_traceback(error: Exception, brief: bool) -> None:
    """Each worker runs some task every two seconds: tracebacks would fill the rest of the disk."""
    record = logging.LogRecord(
        "celery.app.trace", logging.ERROR, "", 0, "Task failed", None, (type(error), error, None)
    )
    assert faults.OutageFilter().filter(record)
    assert (record.exc_info is None) is brief


def test_a_step_that_fails_in_the_database_logs_no_traceback(caplog: pytest.LogCaptureFixture) -> None:
    def fail() -> None:
        raise raised(psycopg.errors.DiskFull)

    with pytest.raises(ExceptionGroup):
        run_all(delivery=fail)
    (record,) = [record for record in caplog.records if "a step failed" in str(record.msg)]
    assert faults.OutageFilter().filter(record)
    assert "Traceback" not in logging.getLogger().handlers[0].format(record)


needs_mount = pytest.mark.skipif(
    os.geteuid() != 0 or subprocess.run(["mount", "--version"], capture_output=True, check=False).returncode != 0,  # noqa: S607
    reason="only root can mount a small disk",
)
SIZE_MB: Final = 48


@contextmanager
def small_disk(folder: Path) -> Iterator[None]:
    """Let Django use a database whose tables and temporary files are on a small disk."""
    user = place_for().user
    assert user is not None
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE_MB}m,mode=755", "nomercy-test", folder], check=True)  # noqa: S607
    try:
        (folder / "tables").mkdir()
        subprocess.run(["chown", user, folder / "tables"], check=True)  # noqa: S607
        name = f"test_nomercy_{os.getpid()}_full"
        with psycopg.connect(database_url(), dbname="postgres", autocommit=True) as server:
            server.execute(f"CREATE TABLESPACE {name} LOCATION '{folder}/tables'")
            try:
                with migrated_database("full", tablespace=name):
                    yield
            finally:
                server.execute(f"DROP TABLESPACE {name}")
    finally:
        subprocess.run(["umount", folder], check=True)  # noqa: S607
        folder.rmdir()


class Visitor:
    """A browser that keeps its cookies."""

    def __init__(self, running: RunningStack) -> None:
        self.url, self.cookies = running.url, CookieJar()
        self.opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(self.cookies))

    def get(self, path: str) -> tuple[int, str]:
        return self._open(urllib.request.Request(f"{self.url}{path}"))  # noqa: S310  # our own stack

    def post(self, path: str, **form: str) -> tuple[int, str]:
        token = next((cookie.value or "" for cookie in self.cookies if cookie.name == "csrf"), "")
        data = urlencode({"csrfmiddlewaretoken": token, **form}).encode()
        return self._open(urllib.request.Request(f"{self.url}{path}", data))  # noqa: S310  # likewise

    def _open(self, request: urllib.request.Request) -> tuple[int, str]:
        try:
            with self.opener.open(request, timeout=60) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()


@pytest.mark.long
@pytest.mark.nginx
@pytest.mark.redis
@needs_mount
@pytest.mark.django_db(transaction=True)
def test_a_site_with_a_full_disk_says_so_and_recovers(figure: Figure) -> None:
    # Not in pytest's folder, which is private: PostgreSQL runs as a user of its own.
    disk = ROOT_HOME / f"test-disk-{os.getpid()}"
    with small_disk(disk), stack(only=["web"], RATE_LIMITS="0", LOG_LEVEL="ERROR", WEB_CONCURRENCY="1") as running:
        visitor = Visitor(running)
        assert visitor.get("/")[0] == 200
        assert visitor.post("/play-now/")[0] == 200
        filler = disk / "filler"
        with filler.open("wb", buffering=0) as file:
            try:
                while True:
                    file.write(b"x" * 65_536)
            except OSError:
                pass

        seen = [visitor.post("/play-now/")[0] for _ in range(20)]
        assert set(seen) <= {200, 503}
        assert 503 in seen
        # PostgreSQL may restart when it cannot write its log, and until then the site says that it is away.
        until("the reason is told", lambda: '"disk full"' in visitor.get("/readyz")[1], patience=20.0)
        assert visitor.get("/readyz")[0] == 503
        assert visitor.get("/about/")[0] == 200
        figure(f"{seen.count(503)} of {len(seen)} new games were refused with 503, none with 500")

        filler.unlink()
        assert visitor.post("/play-now/")[0] == 200
        assert '"disk full"' not in visitor.get("/readyz")[1]
        said = "".join(running.said)
    assert "the database has no room" in said
    assert "/django/db/" not in said  # tracebacks of database errors contain it
