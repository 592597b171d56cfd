"""Test what only a real server shows: the bytes after the headers."""

from __future__ import annotations

import socket

import pytest

from accounts.models import User
from tests.conftest import api_token
from tests.support.web import Request, Site

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]


def test_head_ends_with_the_headers(site: Site, alice: User) -> None:
    token = api_token(alice)
    request = Request("HEAD", "/api/v1/me", {"Authorization": f"Bearer {token}"})
    with socket.create_connection(("127.0.0.1", site.port), timeout=60) as line:
        line.sendall(request.bytes(site.port))
        answer = b"".join(iter(lambda: line.recv(65536), b""))
    assert answer.startswith(b"HTTP/1.1 200 ")
    assert answer.endswith(b"\r\n\r\n")


def test_a_request_whose_body_never_comes_is_answered(site: Site, alice: User) -> None:
    headers = f"Host: 127.0.0.1:{site.port}\r\nAuthorization: Bearer {api_token(alice)}\r\n"
    with socket.create_connection(("127.0.0.1", site.port), timeout=60) as line:
        line.sendall(f"POST /api/v1/games HTTP/1.1\r\n{headers}Content-Length: 100\r\n\r\n{{".encode())
        line.shutdown(socket.SHUT_WR)
        answer = b"".join(iter(lambda: line.recv(65536), b""))
    assert answer.startswith(b"HTTP/1.1 400 "), answer
    assert b'"malformed"' in answer
