"""The OpenID provider is down, slow, or answers nonsense: a clear page in bounded time, and one line in the log."""

from __future__ import annotations

import json
import socket
import ssl
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import pytest
from django.db import connection
from django.test import Client

from accounts import openid_provider
from accounts.models import Session, User
from accounts.openid_provider import ProviderFailed
from nomercy.settings import HTTP_THREADS
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
    slow,
    text,
)
from tests.support.pages import text_of

pytestmark = [pytest.mark.django_db, pytest.mark.long]

DISCOVERY: Final = "/.well-known/openid-configuration"


@pytest.fixture(autouse=True)
def short_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let pages wait a second for the provider."""
    monkeypatch.setattr("accounts.openid_provider.SECONDS", 1.0)


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
    time.sleep(2)


def slow_until(released: threading.Event, document: Callable[[], dict[str, Any]]) -> Handler:
    """Return a fault that sends a header line byte by byte until the event is set, and then this document."""

    def answer(handler: Any) -> None:
        content = json.dumps(document()).encode()
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
        while not released.wait(0.05):
            handler.wfile.write(b"x")
            handler.wfile.flush()
        handler.wfile.write(b"\r\nContent-Length: %d\r\n\r\n%b" % (len(content), content))

    return answer


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
    "no HTTP": (no_http, 502),
    "silent": (silent, 504),
    "byte by byte": (slow(), 504),
}


@pytest.mark.parametrize("path", [DISCOVERY, "/token", "/keys"])
@pytest.mark.parametrize("fault", FAULTS)
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


def test_over_https_a_slow_provider_is_cut_off_as_well(
    client: Client, settings: Any, provider: Provider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = make_certificate(tmp_path / "certificate.pem")
    trusting = ssl.create_default_context(cafile=str(file))
    monkeypatch.setattr(openid_provider, "_certificates", lambda: trusting)
    with running_provider(file) as secure:
        set_up(settings, secure)
        assert go_through(client)["Location"] == SIGN_UP
        secure.faults["/token"] = slow()
        started = time.monotonic()
        assert go_through(Client()).status_code == 504
        assert time.monotonic() - started < 3


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
    [
        ({"error": "invalid_grant"}, 400),
        ({"error": "invalid_client"}, 502),
        ({"error": "<script>"}, 502),
        ({}, 502),
    ],
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
    [
        {"access_token": "x"},
        {"id_token": None},
        {"id_token": 17},
        {"id_token": "a.b.c"},
        {"id_token": "é"},
        {"id_token": ""},
    ],
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


def test_a_thousand_log_ins_make_one_call(client: Client, provider: Provider) -> None:
    for _ in range(50):
        assert Client().post(LOG_IN).status_code == 200
    assert provider.calls() == {DISCOVERY: 1}


def test_a_thousand_log_ins_at_a_provider_that_is_down_make_one_call_and_one_line(
    provider: Provider, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    provider.faults[DISCOVERY] = text(500, "{}")
    assert {Client().post(LOG_IN).status_code for _ in range(50)} == {503}
    assert provider.calls() == {DISCOVERY: 1}
    assert reasons(caplog) == ["answered 500"]
    provider.faults.clear()
    monkeypatch.setattr("accounts.openid_provider.FAILURE_KEPT", 0.0)
    assert Client().post(LOG_IN).status_code == 200


def test_one_address_begins_sixty_a_minute(client: Client, provider: Provider, settings: Any) -> None:
    settings.RATE_LIMITS = 10
    assert [Client().post(LOG_IN).status_code for _ in range(7)] == [200] * 6 + [429]
    answers = [Client().get(f"{CALLBACK}?state=x&code=y").status_code for _ in range(7)]
    assert answers == [400] * 6 + [429]


def test_documents_are_read_again_after_some_minutes(provider: Provider, monkeypatch: pytest.MonkeyPatch) -> None:
    openid_provider.read_endpoints()
    openid_provider.read_endpoints()
    assert provider.calls() == {DISCOVERY: 1}
    monkeypatch.setattr("accounts.openid_provider.KEPT", 0.0)
    openid_provider.read_endpoints()
    assert provider.calls() == {DISCOVERY: 2}


def test_threads_that_ask_at_once_make_one_call(provider: Provider) -> None:
    def late(handler: Any) -> None:
        time.sleep(0.2)
        text(200, json.dumps(provider.document()))(handler)

    provider.faults[DISCOVERY] = late
    found = in_threads(openid_provider.read_endpoints, openid_provider.AT_ONCE)
    assert [type(one).__name__ for one in found] == ["Endpoints"] * openid_provider.AT_ONCE
    assert provider.calls() == {DISCOVERY: 1}


@pytest.mark.django_db(transaction=True)
def test_an_answer_byte_by_byte_leaves_threads_for_other_pages(
    provider: Provider, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("accounts.openid_provider.SECONDS", 60.0)
    monkeypatch.setattr("accounts.openid_provider.LONGEST_WAIT", 60.0)  # so that waiting threads stay
    released = threading.Event()
    provider.faults[DISCOVERY] = slow_until(released, provider.document)

    def ask(method: str, path: str, address: str) -> int:
        try:
            status: int = getattr(Client(REMOTE_ADDR=address), method)(path).status_code
            return status
        finally:
            connection.close()

    few = openid_provider.AT_ONCE
    with ThreadPoolExecutor(HTTP_THREADS) as pages:
        try:
            forms = [pages.submit(ask, "post", LOG_IN, f"127.0.2.{n // 4}") for n in range(16)]
            back = as_completed(forms, timeout=20)
            assert [next(back).result() for _ in range(16 - few)] == [503] * (16 - few)
            assert pages.submit(ask, "get", "/rules/", "127.0.3.1").result(20) == 200
            inside = [form for form in forms if not form.done()]
            assert len(inside) == few <= HTTP_THREADS // 2
        finally:
            released.set()
        assert [form.result(20) for form in inside] == [200] * few
    assert provider.calls() == {DISCOVERY: 1}
    assert reasons(caplog) == []


def test_no_thread_waits_long_for_the_call_of_another(provider: Provider, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("accounts.openid_provider.SECONDS", 60.0)
    monkeypatch.setattr("accounts.openid_provider.LONGEST_WAIT", 0.1)
    released = threading.Event()
    provider.faults[DISCOVERY] = slow_until(released, provider.document)
    with ThreadPoolExecutor(3) as threads:
        try:
            calls = [threads.submit(openid_provider.read_endpoints) for _ in range(3)]
            back = as_completed(calls, timeout=10)
            failures = [next(back).exception() for _ in range(2)]
        finally:
            released.set()
    assert {(type(failure).__name__, getattr(failure, "repeated", None)) for failure in failures} == {("Busy", True)}
    assert sorted(call.exception() is None for call in calls) == [False, False, True]


@pytest.mark.parametrize(("old_kept", "known"), [(60.0, True), (0.0, False)])
def test_an_old_document_is_used_while_another_thread_reads_it_again(
    provider: Provider, monkeypatch: pytest.MonkeyPatch, old_kept: float, *, known: bool
) -> None:
    openid_provider.read_endpoints()
    for name, seconds in (("SECONDS", 60.0), ("LONGEST_WAIT", 0.0), ("KEPT", 0.0), ("OLD_KEPT", old_kept)):
        monkeypatch.setattr(f"accounts.openid_provider.{name}", seconds)
    released, begun = threading.Event(), threading.Event()

    def changed() -> dict[str, Any]:
        begun.set()
        return {**provider.document(), "token_endpoint": f"{provider.url}/new"}

    provider.faults[DISCOVERY] = slow_until(released, changed)
    with ThreadPoolExecutor(2) as threads:
        try:
            reading = threads.submit(openid_provider.read_endpoints)
            assert begun.wait(10)
            found = threads.submit(openid_provider.read_endpoints)
            if known:
                assert found.result(10).token == f"{provider.url}/token"
            else:
                assert type(found.exception(10)).__name__ == "Busy"
            assert not reading.done()
        finally:
            released.set()
        assert reading.result(10).token == f"{provider.url}/new"


def test_a_slow_provider_holds_few_threads(provider: Provider, monkeypatch: pytest.MonkeyPatch) -> None:
    under_way, most = 0, 0

    def late(handler: Any) -> None:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        time.sleep(0.3)
        under_way -= 1
        text(400, '{"error": "invalid_client"}')(handler)

    provider.faults["/token"] = late
    monkeypatch.setattr("accounts.openid_provider.SECONDS", 8.0)
    openid_provider.read_endpoints()
    found = in_threads(lambda: openid_provider.redeem(code="x", verifier="x", nonce="x", redirect_uri="x"), 20)
    assert most == openid_provider.AT_ONCE
    assert {type(one).__name__ for one in found} == {"BadAnswer", "Busy"}
    assert len(found) == 20


def in_threads(what: Callable[[], object], number: int) -> list[object]:
    """Call a function in that many threads at once. Return what each returned or raised."""
    found: list[object] = []

    def call() -> None:
        try:
            found.append(what())
        except ProviderFailed as failure:
            found.append(failure)

    threads = [threading.Thread(target=call) for _ in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    return found


def test_several_dead_addresses_take_no_longer_than_one(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=0) as full, ExitStack() as waiting:
        for _ in range(6):  # more than its queue holds, so that it answers nobody else
            one = waiting.enter_context(socket.socket())
            one.setblocking(False)  # has no name
            one.connect_ex(full.getsockname())
        found = [(socket.AF_INET, socket.SOCK_STREAM, 0, "", full.getsockname())] * 3
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)
        began = time.monotonic()
        with pytest.raises(ProviderFailed):
            openid_provider._send("http://login.example.org/", openid_provider.Deadline(1.5))
        assert time.monotonic() - began < 4  # each got all of the time before
