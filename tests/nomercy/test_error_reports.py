"""Errors are reported to Sentry without any data of people."""

from __future__ import annotations

import json
import logging
import logging.config
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any, Final

import psycopg
import pytest
import sentry_sdk
import structlog
from django.db import IntegrityError, OperationalError
from django.test import Client
from sentry_sdk.envelope import Envelope
from sentry_sdk.transport import Transport

import nomercy
from accounts.models import User
from nomercy import error_reports
from nomercy.error_reports import ReportingHandler
from tests.conftest import logged_in
from tests.support.ports import free_port

pytestmark = pytest.mark.django_db

CANARY: Final = "canary-4711"
sent: Final[list[dict[str, Any]]] = []


class Fake(Transport):
    """Keeps what would be sent, as text."""

    def capture_envelope(self, envelope: Envelope) -> None:
        sent.append(json.loads(json.dumps(envelope.get_event())))


@pytest.fixture
def handler(settings: Any) -> Iterator[ReportingHandler]:
    """A handler on the root of the log, with the filters of the site, that sends to the fake."""
    settings.SENTRY_DSN, settings.SITE_URL = "https://key@sentry.example.org/1", "https://cards.example.org"
    error_reports.start(Fake)
    configurator = logging.config.DictConfigurator(settings.LOGGING)
    one = ReportingHandler()
    for name in settings.LOGGING["handlers"]["stderr"]["filters"]:
        one.addFilter(configurator.configure_filter(dict(settings.LOGGING["filters"][name])))
    logging.getLogger().addHandler(one)
    sent.clear()
    yield one
    logging.getLogger().removeHandler(one)
    sentry_sdk.init()  # sends nothing


def fails(error: Exception) -> None:
    raise error


def broken(error: Exception) -> Any:
    def view(*args: object, **more: object) -> None:
        secret = CANARY
        try:
            fails(KeyError(secret))
        except KeyError as first:
            raise error from first

    return view


def test_a_report_says_where_and_nothing_else(
    handler: ReportingHandler, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("games.web.home.lists.next_game_for", broken(IntegrityError(f"Key (name)=({CANARY})")))
    browser = logged_in(alice)
    browser.raise_request_exception = False
    browser.cookies["canary"] = CANARY

    answer = browser.get(f"/next/?after={CANARY}", headers={"X-Canary": CANARY, "User-Agent": CANARY})

    assert answer.status_code == 500
    (report,) = sent
    text = json.dumps(report)
    assert CANARY not in text.replace("raise KeyError(secret)", "")
    for private in ("alice", "127.0.0.1", "testserver", "Cookie", "User-Agent", "Key (", browser.session.session_key):
        assert str(private) not in text, private
    assert "request" not in report
    assert "user" not in report
    assert "breadcrumbs" not in report
    assert [one["type"] for one in report["exception"]["values"]] == ["KeyError", "IntegrityError"]
    frames = report["exception"]["values"][-1]["stacktrace"]["frames"]
    assert frames[-1]["function"] == "view"
    assert frames[-1]["context_line"].strip() == "raise error from first"
    assert not any("vars" in frame for frame in frames)
    assert report["tags"].keys() == {"request_id"}
    assert report["tags"]["request_id"] == answer["X-Request-ID"]
    assert report["logentry"] == {"message": "%s: %s"}
    assert report["transaction"] == "next/"
    assert report["release"] == nomercy.__version__


def test_our_own_lines_are_reported_without_their_values(handler: ReportingHandler) -> None:
    log = structlog.get_logger("games.batch")
    try:
        fails(ValueError(CANARY))
    except ValueError:
        log.exception("a step failed", step=CANARY)
    assert sent[0]["logentry"] == {"message": "a step failed"}
    assert CANARY not in json.dumps(sent)


def test_the_same_error_is_sent_once_a_minute(handler: ReportingHandler) -> None:
    for _ in range(5):
        try:
            fails(ValueError())
        except ValueError:
            logging.getLogger("games").exception("it fails")
    assert len(sent) == 1


def test_outages_and_faults_of_clients_are_not_reported(
    handler: ReportingHandler, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*args: object, **more: object) -> None:
        raise OperationalError("gone") from psycopg.OperationalError()

    logging.getLogger("games").error("an error without a traceback")
    client.get("/", headers={"Host": "evil.example"})
    monkeypatch.setattr("games.web.home.front_page.open_tables", away)
    assert client.get("/").status_code == 503
    assert sent == []


class Refusing(BaseHTTPRequestHandler):
    """Answers as Sentry does for a key that it does not know."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_error(403)

    def log_message(self, *args: object) -> None:
        pass


@pytest.mark.long
@pytest.mark.parametrize("reason", ["status_403", "network"])
def test_the_log_says_that_a_report_did_not_arrive(
    reason: str, settings: Any, caplog: pytest.LogCaptureFixture
) -> None:
    with HTTPServer(("127.0.0.1", 0), Refusing) as server:
        port = server.server_port if reason == "status_403" else free_port()
        threading.Thread(target=server.serve_forever, daemon=True).start()
        settings.SENTRY_DSN = f"http://key@127.0.0.1:{port}/1"
        error_reports.start()
        sentry_sdk.capture_message("it fails")
        sentry_sdk.get_client().close(10)
        server.shutdown()
    sentry_sdk.init()

    (line,) = [str(record.msg) for record in caplog.records if record.name == "nomercy.error_reports"]
    assert "an error report was not accepted" in line
    assert f"'{reason}'" in line
    assert [record for record in caplog.records if record.name.startswith("urllib3")] == []


def test_it_is_off_by_default(settings: Any) -> None:
    assert settings.SENTRY_DSN == ""
    assert settings.LOGGING["handlers"]["stderr"]["class"] == "logging.StreamHandler"
