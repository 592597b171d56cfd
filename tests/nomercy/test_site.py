"""What all responses of the site have in common."""

import io
import json
import logging
import os
import re
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.conf import settings
from django.core.mail import EmailMessage
from django.core.management import CommandError, call_command
from django.db import InterfaceError, InternalError, OperationalError, connections, transaction
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.template import loader
from django.test import Client, RequestFactory
from django.utils import timezone
from pytest_django.fixtures import Settings
from structlog.contextvars import merge_contextvars
from structlog.stdlib import ProcessorFormatter
from structlog.testing import capture_logs

import nomercy
from accounts import actions
from accounts.models import Session, User
from common import schema
from games import refusals
from games.models import Move
from games.refusals import Denied
from nomercy.cache import FailOpenRedisCache
from nomercy.launcher.place import CHECKOUT
from nomercy.log_throttle import ThrottleFilter
from nomercy.mail import FolderAndConsole
from nomercy.messages import MOST
from nomercy.middleware import try_again
from nomercy.sessions import SessionStore
from tests.conftest import api_token, logged_in
from tests.support.tables import TWO_HANDS, table_at


def test_a_healthy_site_says_so_with_its_version(client: Client, db: None) -> None:
    answer = client.get("/healthz")

    assert answer.status_code == 200
    assert answer.json() == {"status": "ok", "version": nomercy.__version__}
    assert "no-store" in answer["Cache-Control"]


def test_a_site_with_missing_migrations_is_not_healthy(
    client: Client, db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    schema.known.forget()
    recorded = MigrationRecorder(connections["default"]).applied_migrations()
    newest = max(MigrationLoader(None, replace_migrations=False).graph.leaf_nodes("games"))
    del recorded[newest]
    monkeypatch.setattr(MigrationRecorder, "applied_migrations", lambda self: recorded)

    answer = client.get("/healthz")

    assert (answer.status_code, answer.json()["status"]) == (503, "migrations missing")


def test_migrations_that_go_missing_are_noticed(client: Client, db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    schema.known.forget()
    assert client.get("/healthz").status_code == 200
    recorder = MigrationRecorder(connections["default"])
    newest = max(MigrationLoader(None, replace_migrations=False).graph.leaf_nodes("games"))
    recorder.record_unapplied(*newest)

    schema.known.until = 0.0

    answer = client.get("/healthz")
    assert (answer.status_code, answer.json()["status"]) == (503, "migrations missing")
    assert client.get("/readyz").json()["parts"]["migrations"] == "migrations missing"
    with pytest.raises(CommandError, match="migrations are missing, until: manage"):
        call_command("health")
    recorder.record_applied(*newest)
    assert client.get("/healthz").status_code == 200


def test_no_migration_is_loaded_when_all_are_recorded(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    schema.known.forget()
    monkeypatch.setattr(MigrationExecutor, "__init__", lambda *_: pytest.fail("migrations were loaded"))

    assert schema.migrated()


def test_a_migration_that_others_replace_need_not_be_recorded(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    schema.known.forget()
    monkeypatch.setattr(schema, "has_all", lambda recorded: False)

    assert schema.migrated()


def test_a_site_without_its_database_is_not_healthy(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise OperationalError("the address of the server is nobody's business")

    monkeypatch.setattr(connections["default"], "cursor", refuse)

    answer = client.get("/healthz")

    assert (answer.status_code, answer.json()["status"]) == (503, "database unavailable")
    assert b"nobody's business" not in answer.content


def test_a_response_that_sets_a_cookie_is_not_cached(client: Client, db: None) -> None:
    """A shared cache would give one visitor's cookie and form to others."""
    first = client.get("/tables/new/")
    assert settings.CSRF_COOKIE_NAME in first.cookies
    assert first["Cache-Control"] == "no-store, private"


def test_api_responses_are_not_cached(client: Client, db: None) -> None:
    answer = client.get("/healthz", headers={"Authorization": "Bearer x"})

    assert answer["Cache-Control"] == "no-store, private"


def test_the_log_in_response_is_not_cached(client: Client, alice: User) -> None:
    answer = client.post("/accounts/login/", {"login": "alice", "password": "alice"})

    assert answer.status_code == 302
    assert Session.objects.count() == 1
    assert answer["Cache-Control"] == "no-store, private"


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_health_checks_are_not_logged_at_info(
    client: Client, db: None, caplog: pytest.LogCaptureFixture, path: str
) -> None:
    with capture_logs() as lines:
        client.get(path)
    assert [line["log_level"] for line in lines if line["event"] == "request"] == ["debug"]
    assert [record for record in caplog.records if record.name == "django.request"] == []  # /readyz is 503 in tests


@pytest.mark.parametrize("path", ["/", "/api/v1/games"])
def test_a_request_on_an_old_schema_is_answered_503(as_alice: Client, path: str) -> None:
    with transaction.atomic():
        with connections["default"].cursor() as cursor:
            cursor.execute("ALTER TABLE games_game RENAME COLUMN is_public TO was_public")
        with capture_logs() as lines:
            answer = as_alice.get(path)
        transaction.set_rollback(True)
    assert (answer.status_code, answer["Retry-After"]) == (503, "2")
    assert b"The site is being updated. Try again in a minute." in answer.content
    assert answer["Content-Type"].startswith("application/json" if path.startswith("/api") else "text/html")
    [line] = [line for line in lines if line["event"] == "the database does not fit this release"]
    assert "is_public" in line["missing"]


def test_requests_are_logged_by_route_not_by_path(client: Client, db: None) -> None:
    with capture_logs() as lines:
        client.get("/accounts/password/reset/key/1-canary/?token=canary")

    [line] = [line for line in lines if line["event"] == "request"]
    assert "reset/key" in line["route"]
    assert "canary" not in str(lines)


def test_the_admin_uses_the_sites_log_in(client: Client, as_alice: Client) -> None:
    assert client.get("/admin/login/").headers["Location"].startswith("/accounts/login/")
    assert as_alice.get("/admin/login/").status_code == 403


def test_mail_is_stored_in_a_folder_and_printed(
    tmp_path: Path, settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    settings.EMAIL_FILE_PATH = tmp_path / "mail"
    messages = [EmailMessage(f"Hello {n}", "It is your turn.", "from@example.org", ["to@example.org"]) for n in (1, 2)]

    assert FolderAndConsole().send_messages(messages) == 2

    first, second = sorted((tmp_path / "mail").iterdir())
    assert "Subject: Hello 1" in first.read_text()
    assert "Subject: Hello 2" in second.read_text()
    assert stat.S_IMODE(first.stat().st_mode) == 0o600
    assert "Subject: Hello 1" in capsys.readouterr().out


@pytest.fixture
def dead_cache() -> FailOpenRedisCache:
    """A cache whose Redis refuses every connection."""
    return FailOpenRedisCache("redis://127.0.0.1:1/0", {"OPTIONS": {"socket_connect_timeout": 0.2}})


def test_the_cache_works_without_redis(dead_cache: FailOpenRedisCache) -> None:
    with capture_logs() as lines:
        answers: list[Any] = [
            dead_cache.get("a", "nothing"),
            dead_cache.add("a", 1),
            dead_cache.incr("a"),
            dead_cache.get_many(["a"]),
            dead_cache.delete("a"),
            dead_cache.touch("a"),
            "a" in dead_cache,
        ]

    assert answers == ["nothing", True, 1, {}, False, False, False]
    assert [line["event"] for line in lines] == ["cache failed"]  # once: then Redis is left alone for a while


@pytest.mark.long
def test_a_publisher_without_its_broker_gives_up_at_once() -> None:
    code = """
import time
import nomercy.wsgi
from celery import current_app
from kombu.exceptions import OperationalError
for _ in range(3):
    started = time.monotonic()
    try:
        current_app.send_task("any", retry=False, ignore_result=True)
    except OperationalError:
        print(time.monotonic() - started)
"""
    answer = subprocess.run(
        [sys.executable, "-c", code],
        cwd=CHECKOUT,
        env={"PATH": os.defpath, "NOMERCY_ENV_FILE": "", "SECRET_KEY": "k" * 40, "REDIS_URL": "redis://127.0.0.1:1/0"},
        capture_output=True,
        text=True,
        check=True,
    )

    waits = [float(line) for line in answer.stdout.split()]
    assert len(waits) == 3
    assert min(waits) < 0.2, waits  # Celery's own retry would wait for seconds each time


@pytest.mark.parametrize("key", ["\x00aaabbbb", "\x00aaa", "a" * 20_000, "ABCDEFGH", "åaaabbbb"])
def test_a_malformed_session_cookie_is_ignored(client: Client, db: None, key: str) -> None:
    client.cookies["session"] = key

    assert client.get("/accounts/me/").headers["Location"] == "/accounts/login/?next=/accounts/me/"
    assert SessionStore(key).session_key is None


def test_a_valid_session_cookie_is_accepted(as_alice: Client) -> None:
    assert as_alice.get("/accounts/me/").status_code == 200
    assert type(as_alice.session) is SessionStore


def waited_too_long(*_: object, **__: object) -> None:
    """Raise what a statement raises that exceeds `statement_timeout`."""
    with connections["default"].cursor() as cursor:
        cursor.execute("SET LOCAL statement_timeout = 10")
        cursor.execute("SELECT pg_sleep(5)")


def waited_for_a_lock(*_: object, **__: object) -> None:
    raise OperationalError("the row's values are nobody's business") from psycopg.errors.LockNotAvailable()


def hung_in_a_transaction(*_: object, **__: object) -> None:
    raise InternalError("what it held is nobody's business") from psycopg.errors.IdleInTransactionSessionTimeout()


def broke_a_rule_of_the_database(*_: object, **__: object) -> None:
    raise OperationalError("the row's values are nobody's business") from psycopg.errors.IoError()


def lost_its_connection(*_: object, **__: object) -> None:
    """Raise what a statement raises when PostgreSQL is killed or stopped during it."""
    with connections["default"].cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")


def reached_no_database(*_: object, **__: object) -> None:
    raise OperationalError("the address of the server is nobody's business") from psycopg.OperationalError()


def reached_a_starting_database(*_: object, **__: object) -> None:
    raise OperationalError("it is nobody's business") from psycopg.errors.CannotConnectNow()


def found_the_connection_closed(*_: object, **__: object) -> None:
    raise InterfaceError("the connection is nobody's business") from psycopg.InterfaceError()


AWAY = (lost_its_connection, reached_no_database, reached_a_starting_database, found_the_connection_closed)


@pytest.mark.parametrize("fault", [waited_too_long, waited_for_a_lock, hung_in_a_transaction])
@pytest.mark.parametrize("where", ["accounts.queries.tokens_of", "accounts.middleware.timezone.override"])
def test_a_busy_database_gives_a_503_page(
    alice: User, as_alice: Client, monkeypatch: pytest.MonkeyPatch, fault: Callable[..., None], where: str
) -> None:
    actions.update_profile(user=alice, display_name="", time_zone="Asia/Tokyo", now=timezone.now())
    monkeypatch.setattr(where, fault)
    as_alice.raise_request_exception = False

    answer = as_alice.get("/accounts/me/")

    assert (answer.status_code, answer["Retry-After"]) == (503, "2")
    assert "Try again in a few seconds" in answer.content.decode()
    assert "nobody's business" not in answer.content.decode()


@pytest.mark.parametrize("fault", AWAY)
@pytest.mark.parametrize("where", ["accounts.queries.tokens_of", "accounts.middleware.timezone.override"])
@pytest.mark.django_db(transaction=True)
def test_an_unavailable_database_gives_a_503_page(
    alice: User, as_alice: Client, monkeypatch: pytest.MonkeyPatch, fault: Callable[..., None], where: str
) -> None:
    actions.update_profile(user=alice, display_name="", time_zone="Asia/Tokyo", now=timezone.now())
    as_alice.raise_request_exception = False
    with monkeypatch.context() as patch:
        patch.setattr(where, fault)
        answer = as_alice.get("/accounts/me/")
    connections["default"].close()  # as Django does after a request; its test client does not

    assert (answer.status_code, answer["Retry-After"]) == (503, "2")
    assert "The database is unavailable. Try again in a few seconds." in answer.content.decode()
    assert "nobody's business" not in answer.content.decode()
    assert as_alice.get("/accounts/me/").status_code == 200


@pytest.mark.parametrize("fault", AWAY)
@pytest.mark.django_db(transaction=True)
def test_an_unavailable_database_gives_a_503_in_the_api(
    as_alice: Client, monkeypatch: pytest.MonkeyPatch, fault: Callable[..., None]
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("games.queries.lists.public_games", fault)
        with capture_logs() as lines:
            answer = as_alice.get("/api/v1/games")
    connections["default"].close()
    assert [line["event"] for line in lines if line["log_level"] == "error"] == ["the database is unavailable"]
    assert "nobody's business" not in str(lines)

    assert (answer.status_code, answer["Retry-After"], answer.json()["error"]) == (503, "2", "unavailable")


@pytest.mark.parametrize("denied", [refusals.busy(), refusals.unavailable()])
def test_the_503_page_runs_no_queries(rf: RequestFactory, denied: Denied) -> None:
    assert try_again(rf.get("/"), denied).status_code == 503  # this test has no `db`


@pytest.mark.parametrize("denied", [refusals.busy(), refusals.unavailable()], ids=["busy", "away"])
def test_the_503_page_says_to_check_before_repeating(rf: RequestFactory, denied: Denied) -> None:
    pages = (try_again(request, denied).content.decode() for request in (rf.post("/"), rf.get("/")))
    sent, asked = (" ".join(page.split()) for page in pages)
    assert "We don’t know yet if your changes were saved" in sent
    assert "twice" not in sent
    assert "again.js" not in sent
    assert "Your moves are safe" in asked
    assert "again.js" in asked


@pytest.mark.parametrize("fault", [waited_for_a_lock, reached_no_database])
def test_the_503_page_says_that_a_move_can_be_repeated(
    alice: User, bob: User, as_alice: Client, monkeypatch: pytest.MonkeyPatch, fault: Callable[..., None]
) -> None:
    table = table_at(TWO_HANDS, [alice, bob])
    form = {"move": "play r5", "version": 0, "token": "the-first-try"}
    with monkeypatch.context() as patch:
        patch.setattr("games.actions.end_seen.mark_end_seen", fault)
        answer = as_alice.post(f"/games/{table.game.code}/move/", form)

    said = " ".join(answer.content.decode().split())
    assert (answer.status_code, Move.objects.count()) == (503, 1)
    assert "We don’t know yet if your move was saved. Check the table, or send it again: it never counts twice." in said
    assert as_alice.post(f"/games/{table.game.code}/move/", form).status_code == 303
    assert Move.objects.count() == 1


@pytest.mark.parametrize("page", ["400", "403", "403_csrf", "404", "429", "500", "503"])
def test_an_error_page_needs_neither_a_context_nor_the_database(page: str) -> None:
    said = " ".join(loader.get_template(f"{page}.html").render().split())
    assert re.search(r"<title>\S.+ · No Mercy</title>", said)
    assert re.search(r'<h1>\S.+</h1> <p class="lead"> ?\S', said)
    assert re.search(r'<p class="buttons"><a class="button primary"', said)


@pytest.mark.parametrize("debug", [False, True])
@pytest.mark.parametrize("fault", [waited_for_a_lock, hung_in_a_transaction])
def test_a_busy_database_gives_a_503_in_the_api(
    as_alice: Client, monkeypatch: pytest.MonkeyPatch, settings: Settings, fault: Callable[..., None], debug: bool
) -> None:
    settings.DEBUG = debug
    monkeypatch.setattr("games.queries.lists.public_games", fault)

    answer = as_alice.get("/api/v1/games")

    assert (answer.status_code, answer["Retry-After"]) == (503, "2")
    body = answer.json()
    assert body.pop("message").endswith("Try again in a few seconds.")
    assert body == {"error": "busy", "rule": None, "version": None}


def test_other_database_errors_give_500(as_alice: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("accounts.queries.tokens_of", broke_a_rule_of_the_database)
    as_alice.raise_request_exception = False

    answer = as_alice.get("/accounts/me/")

    assert answer.status_code == 500
    assert "nobody's business" not in answer.content.decode()


def test_a_fetch_with_an_ended_session_keeps_the_new_cookie(client: Client, db: None) -> None:
    client.cookies["session"] = "gone00000000000000000000000000000"
    page = client.get("/")
    assert page.cookies["session"].value == ""

    client.cookies["session"] = "gone00000000000000000000000000000"
    fetch = client.get("/", headers={"HX-Request": "true"})
    assert "session" not in fetch.cookies


def request_lines(ask: Callable[[], object]) -> list[Any]:
    """Return the log lines of a request with their context."""
    with capture_logs(processors=[merge_contextvars]) as lines:
        ask()
    return [line for line in lines if line["event"] == "request"]


def test_a_forged_host_logs_one_line(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    [handler] = [one for one in logging.getLogger().handlers if isinstance(one.formatter, ProcessorFormatter)]
    assert isinstance(handler, logging.StreamHandler)
    monkeypatch.setattr(handler, "stream", io.StringIO())
    # Another test may have logged such a line less than a minute ago.
    others = [one for one in handler.filters if not isinstance(one, ThrottleFilter)]
    monkeypatch.setattr(handler, "filters", [*others, ThrottleFilter()])
    assert client.get("/healthz", headers={"host": "evil.example"}).status_code == 400
    lines = [line for line in handler.stream.getvalue().splitlines() if "evil.example" in line or "Traceback" in line]
    assert len(lines) == 1
    assert "warning" in lines[0]


def test_log_lines_name_the_user_and_the_game(as_alice: Client, alice: User, bob: User) -> None:
    game = table_at(TWO_HANDS, [alice, bob]).game

    [page] = request_lines(lambda: as_alice.get(f"/games/{game.code}/"))
    [call] = request_lines(lambda: as_alice.get(f"/api/v1/games/{game.code}"))
    [token] = request_lines(lambda: Client().get("/api/v1/me", headers={"Authorization": f"Bearer {api_token(bob)}"}))
    [nobody] = request_lines(lambda: Client().get("/"))

    assert (page["user"], page["game"]) == (call["user"], call["game"]) == (alice.pk, game.code)
    assert token["user"] == bob.pk
    assert not {"user", "game"} & set(nobody)
    assert len({line["request_id"] for line in (page, call, token, nobody)}) == 4


def test_text_from_a_url_is_not_logged_as_a_game(as_alice: Client) -> None:
    [line] = request_lines(lambda: as_alice.get("/api/v1/games/canary%20token"))

    assert "canary" not in str(line)


@pytest.mark.long
def test_only_the_newest_messages_wait_for_a_page(alice: User) -> None:
    browser = logged_in(alice)
    for _ in range(MOST + 5):
        browser.get("/next/")
    assert len(json.loads(browser.session["_messages"])) == MOST
    assert browser.get("/").content.decode().count('class="note') >= MOST
