"""The bridge makes the WSGI environment of a request."""

from __future__ import annotations

import asyncio
import io
from typing import Any

import pytest
from django.core.handlers.wsgi import WSGIRequest
from pytest_django.fixtures import Settings

from accounts.origin import address_of
from nomercy.server.bridge import Bridge, environ_of
from nomercy.server.limits import LIMITS
from tests.support.server import App, Line, serving_app


def scope(path: bytes = b"/", *headers: tuple[bytes, bytes], **more: Any) -> Any:
    return {
        "type": "http",
        "method": "GET",
        "http_version": "1.1",
        "scheme": "http",
        "path": path.decode(),
        "raw_path": path,
        "query_string": b"",
        "headers": list(headers),
        "client": ("192.0.2.1", 50_000),
        "server": ("127.0.0.1", 8000),
        **more,
    }


def test_headers_with_an_underscore_are_ignored() -> None:
    environ = environ_of(scope(b"/", (b"x_forwarded_for", b"198.51.100.7"), (b"x-forwarded-for", b"192.0.2.9")), b"")
    assert environ["HTTP_X_FORWARDED_FOR"] == "192.0.2.9"
    environ = environ_of(scope(b"/", (b"x_forwarded-proto", b"https")), b"")
    assert [name for name in environ if "FORWARDED" in name] == []


def test_repeated_headers_are_joined_in_order() -> None:
    headers = ((b"x-forwarded-for", b"a"), (b"cookie", b"b=1"), (b"x-forwarded-for", b"c"), (b"cookie", b"d=2"))
    environ = environ_of(scope(b"/", *headers), b"")
    assert (environ["HTTP_X_FORWARDED_FOR"], environ["HTTP_COOKIE"]) == ("a,c", "b=1; d=2")


def test_the_content_length_is_that_of_the_received_body() -> None:
    headers = ((b"content-length", b"99"), (b"transfer-encoding", b"chunked"), (b"content-type", b"text/plain"))
    environ = environ_of(scope(b"/", *headers), b"abc")
    assert (environ["CONTENT_LENGTH"], environ["CONTENT_TYPE"]) == ("3", "text/plain")
    assert environ["wsgi.input"].read() == b"abc"
    assert [name for name in environ if name.startswith("HTTP_")] == []


@pytest.mark.parametrize(
    ("raw", "path"), [(b"/a%20b", "/a b"), (b"/%C3%A9", "/é"), (b"/%ff", "/\xff"), (b"/%2e%2e/x", "/../x")]
)
def test_a_path_is_decoded_as_bytes(raw: bytes, path: str) -> None:
    told = environ_of(scope(raw), b"")["PATH_INFO"]
    assert told == (path.encode().decode("latin-1") if raw != b"/%ff" else path)


def test_without_a_client_the_remote_address_is_empty() -> None:
    environ = environ_of(scope(client=None, server=("/run/web.sock", None)), b"")
    assert (environ["REMOTE_ADDR"], environ["SERVER_PORT"]) == ("", "")


def test_the_response_is_closed_after_an_error() -> None:
    class Broken(io.BytesIO):
        def __iter__(self) -> Any:
            raise RuntimeError("in the middle")

    answer = Broken()
    bridge = Bridge(lambda environ, start: answer, threads=1)
    with pytest.raises(RuntimeError, match="in the middle"):
        asyncio.run(bridge.answer(scope(), b""))
    assert answer.closed


def test_behind_a_proxy_a_client_cannot_forge_its_address(settings: Settings) -> None:
    settings.TRUSTED_PROXIES = 1
    app = App()
    with serving_app(app, LIMITS) as port, Line(port) as line:
        head = b"GET / HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 192.0.2.9\r\nX_Forwarded_For: 198.51.100.7\r\n\r\n"
        assert line.send(head).answer().status == 200
    assert address_of(WSGIRequest(app.environs[0])) == "192.0.2.9"
