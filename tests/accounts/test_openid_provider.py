"""The OpenID provider is down, slow, or answers nonsense: a clear page in bounded time, and one line in the log."""

from __future__ import annotations

import json
import socket
import time
from pathlib import Path
from typing import Any, Final

import pytest
from django.core.cache import caches
from django.test import Client

from accounts import openid_provider
from accounts.models import Session, User
from tests.support.openid import (
    CALLBACK,
    LOG_IN,
    NAME,
    SIGN_UP,
    Handler,
    Provider,
    go_through,
    make_certificate,
    running_provider,
    set_up,
    text,
)
from tests.support.pages import text_of

pytestmark = [pytest.mark.django_db, pytest.mark.long]

DISCOVERY: Final = "/.well-known/openid-configuration"


@pytest.fixture(autouse=True)
def short_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let pages wait a second for the provider."""
    monkeypatch.setattr("accounts.openid_provider.SECONDS", (1.0, 1.0))


def reasons(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Return the reasons of the lines about the provider in the log."""
    found: list[Any] = [record.msg for record in caplog.records if record.name == "accounts.openid"]
    assert not [record for record in caplog.records if record.exc_info or record.name == "django.request"]
    return [line["reason"] for line in found if line["event"] == "the OpenID provider failed"]


def nobody(handler: Any) -> None:
    """End the connection without an answer."""
    handler.close_connection = True
    handler.connection.shutdown(socket.SHUT_RDWR)


def silent(handler: Any) -> None:
    time.sleep(1.3)


def half(handler: Any) -> None:
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n{")
    handler.wfile.flush()
    time.sleep(1.3)


def no_http(handler: Any) -> None:
    handler.wfile.write(b"SSH-2.0\r\n\r\n")


FAULTS: Final[dict[str, tuple[Handler, int]]] = {
    "no answer": (nobody, 503),
    "an error of the server": (text(500, "{}"), 503),
    "not found": (text(404, "{}"), 502),
    "a redirect": (text(302, "{}"), 502),
    "no JSON": (text(200, "<html>"), 502),
    "a list": (text(200, "[]"), 502),
    "deep": (text(200, "[" * 100_000), 502),
    "no UTF-8": (text(200, b"\xff\xfe{}\xff"), 502),
    "too long": (text(200, json.dumps({"x": "y" * openid_provider.LONGEST})), 502),
    "empty": (text(200, "{}"), 502),
    "no HTTP": (no_http, 503),
    "silent": (silent, 504),
    "half": (half, 503),
}


@pytest.mark.parametrize(
    ("path", "fault"),
    [
        *((DISCOVERY, fault) for fault in FAULTS),
        *((path, fault) for path in ("/token", "/keys") for fault in ("an error of the server", "no JSON", "silent")),
    ],
)
def test_a_page_says_what_is_wrong(
    client: Client, provider: Provider, caplog: pytest.LogCaptureFixture, path: str, fault: str
) -> None:
    handler, status = FAULTS[fault]
    provider.faults[path] = handler
    started = time.monotonic()
    answer = client.post(LOG_IN) if path == DISCOVERY else go_through(client)
    assert time.monotonic() - started < 3
    assert answer.status_code == status
    assert ("Retry-After" in answer) is (answer.status_code != 502)
    page = text_of(answer)
    assert f"{NAME} is not available" in page
    assert "Nothing was changed." in page
    assert len(reasons(caplog)) == 1
    assert not User.objects.exists()


def test_a_provider_that_is_not_there_gets_a_page(
    client: Client, provider: Provider, settings: Any, caplog: pytest.LogCaptureFixture
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    settings.OIDC_ISSUER = f"http://127.0.0.1:{port}"
    assert client.post(LOG_IN).status_code == 503
    assert reasons(caplog) == ["cannot be reached: ConnectionRefusedError"]
    assert not Session.objects.exists()


def test_a_certificate_must_be_signed_by_a_known_authority(
    client: Client, settings: Any, provider: Provider, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with running_provider(make_certificate(tmp_path / "certificate.pem")) as unknown:
        set_up(settings, unknown)
        assert client.post(LOG_IN).status_code == 503
        assert reasons(caplog) == ["cannot be reached: SSLCertVerificationError"]
        assert unknown.calls() == {}


def test_a_certificate_may_be_signed_by_an_authority_of_the_machine(
    client: Client, settings: Any, provider: Provider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = make_certificate(tmp_path / "certificate.pem")
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    with running_provider(file) as secure:
        set_up(settings, secure)
        assert go_through(client)["Location"] == SIGN_UP


@pytest.mark.parametrize(
    "change",
    [
        {"issuer": "https://another.example.org"},
        {"issuer": None},
        {"token_endpoint": "http://login.example.org/token"},
        {"token_endpoint": None},
        {"jwks_uri": "file:///etc/passwd"},
        {"authorization_endpoint": "javascript:alert(1)"},
        {"authorization_endpoint": "https://a@b/"},
        {"authorization_endpoint": "https://login.example.org/\r\nX: y"},
        {"authorization_endpoint": "https://login.example.org:x/"},
        {"userinfo_endpoint": 17},
    ],
    ids=str,
)
def test_a_discovery_document_that_cannot_be_meant_is_refused(
    client: Client, provider: Provider, change: dict[str, Any]
) -> None:
    provider.discovery = change
    assert client.post(LOG_IN).status_code == 502
    assert not Session.objects.exists()


@pytest.mark.parametrize(
    ("answer", "status"),
    [({"error": "invalid_grant"}, 400), ({"error": "invalid_client"}, 502), ({"error": "<script>"}, 502), ({}, 502)],
    ids=str,
)
def test_a_refusal_of_the_code_gets_a_page(
    client: Client, provider: Provider, answer: dict[str, str], status: int, caplog: pytest.LogCaptureFixture
) -> None:
    provider.faults["/token"] = text(400, json.dumps(answer))
    assert go_through(client).status_code == status
    assert "<script>" not in str(reasons(caplog))


@pytest.mark.parametrize(
    "tokens",
    [{"access_token": "x"}, {"id_token": None}, {"id_token": 17}, {"id_token": "a.b.c"}, {"id_token": "é"}],
    ids=str,
)
def test_an_answer_without_an_id_token_gets_a_page(client: Client, provider: Provider, tokens: dict[str, Any]) -> None:
    provider.faults["/token"] = text(200, json.dumps(tokens))
    assert go_through(client).status_code == 502


@pytest.mark.parametrize(
    "keys", [{"keys": {}}, {"keys": [17, {}, {"kid": "first", "kty": "RSA"}]}, {"keys": []}], ids=str
)
def test_keys_that_are_none_get_a_page(client: Client, provider: Provider, keys: dict[str, Any]) -> None:
    provider.faults["/keys"] = text(200, json.dumps(keys))
    assert go_through(client).status_code == 502


@pytest.mark.parametrize(
    ("fault", "status", "lines"), [({}, 200, []), ({DISCOVERY: text(500, "{}")}, 503, ["answered 500"])]
)
def test_many_log_ins_make_one_call_and_one_line(
    provider: Provider, caplog: pytest.LogCaptureFixture, fault: dict[str, Handler], status: int, lines: list[str]
) -> None:
    provider.faults |= fault
    assert {Client().post(LOG_IN).status_code for _ in range(50)} == {status}
    assert provider.calls() == {DISCOVERY: 1}
    assert reasons(caplog) == lines
    provider.faults.clear()
    caches["process"].clear()  # as after some seconds
    assert Client().post(LOG_IN).status_code == 200


def test_one_address_begins_sixty_a_minute(client: Client, provider: Provider, settings: Any) -> None:
    settings.RATE_LIMITS = 10
    assert [Client().post(LOG_IN).status_code for _ in range(7)] == [200] * 6 + [429]
    answers = [Client().get(f"{CALLBACK}?state=x&code=y").status_code for _ in range(7)]
    assert answers == [400] * 6 + [429]
