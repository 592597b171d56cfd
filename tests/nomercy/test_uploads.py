"""No page accepts files, and nothing of a file is stored."""

from __future__ import annotations

import io
from unittest.mock import Mock

import pytest
from django.core.files import uploadhandler
from django.test import Client

from accounts.models import User
from nomercy.uploads import SENTENCE
from nomercy.wsgi import application
from tests.conftest import api_token
from tests.security.headers import faults
from tests.support.web import CSRF

pytestmark = pytest.mark.django_db
PAGES = ("/accounts/login/", "/games/new/", "/admin/login/", "/no-such-page/")
LARGE = 3_000_000
FIELD = b'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n'


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Collect the files that Django opens for uploads, in memory or in the temporary folder."""
    kept: list[object] = []
    for handler in (uploadhandler.TemporaryFileUploadHandler, uploadhandler.MemoryFileUploadHandler):
        monkeypatch.setattr(handler, "new_file", lambda self, *values, **more: kept.append(self))
    return kept


def a_file(size: int) -> io.BytesIO:
    file = io.BytesIO(bytes(size))
    file.name = "x.bin"
    return file


def browser(*, with_cookie: bool) -> Client:
    client = Client(enforce_csrf_checks=True)
    if with_cookie:
        client.cookies["csrf"] = CSRF
    return client


@pytest.mark.parametrize("path", PAGES)
@pytest.mark.parametrize("with_cookie", [False, True])
def test_a_form_with_a_file_is_refused_before_it_is_stored(path: str, with_cookie: bool, written: list[object]) -> None:
    for size, status in ((1, 400), (50_000, 400), (LARGE, 413)):
        answer = browser(with_cookie=with_cookie).post(path, {"file": a_file(size)})
        assert answer.status_code == status
        assert faults(answer) == []
        assert written == []


def test_the_refusal_says_what_to_do(client: Client) -> None:
    form = {"login": "x", "file": a_file(1)}
    answer = client.post("/accounts/login/", form)
    assert answer.status_code == 400
    assert SENTENCE in answer.content.decode()


def test_the_api_refuses_files_too(alice: User, as_alice: Client, written: list[object]) -> None:
    token = api_token(alice)
    for headers in ({"Authorization": f"Bearer {token}"}, {}):
        answer = as_alice.post("/api/v1/games", {"file": a_file(1)}, headers=headers)
        assert answer.status_code == 400
        assert answer.json()["error"] == "malformed"
    assert written == []


def test_a_multipart_form_without_a_file_is_accepted(client: Client) -> None:
    answer = client.post("/accounts/login/", {"login": "nobody", "password": "wrong"})
    assert answer.status_code == 200
    assert b"password you specified" in answer.content or b"not correct" in answer.content


BROKEN = {
    "no boundary": ("multipart/form-data", b"x", 400),
    "a wrong boundary": ("multipart/form-data; boundary=\xff", b"x", 400),
    "too many fields": ("application/x-www-form-urlencoded", b"a=1&" * 1001, 400),
    "too many fields in parts": ("multipart/form-data; boundary=x", b"--x\r\n" + FIELD * 1001, 400),
    "too long a field": ("multipart/form-data; boundary=x", FIELD.replace(b"1", b"1" * LARGE), 413),
    "an encoding of bytes": ("multipart/form-data; boundary=x; charset=rot13", FIELD, 400),
    "an encoding that fails": ("multipart/form-data; boundary=x; charset=undefined", FIELD, 400),
    "another encoding": ("application/x-www-form-urlencoded; charset=latin-1", b"a=1", 400),
    "too long": ("application/x-www-form-urlencoded", b"a=" + b"1" * LARGE, 413),
}


@pytest.mark.parametrize(("kind", "body", "status"), BROKEN.values(), ids=BROKEN)
@pytest.mark.parametrize("path", PAGES)
def test_an_unreadable_form_is_refused_everywhere(path: str, kind: str, body: bytes, status: int) -> None:
    answer = browser(with_cookie=True).generic("POST", path, body, kind)
    assert answer.status_code == status
    assert faults(answer) == []


UNREADABLE_TYPES = {
    "an encoding of bytes": "text/plain; charset=rot13",
    "an unknown encoding of a value": "text/plain; name*=nope''%41",
    "an encoding of a value that fails": "text/plain; name*=undefined''%41",
    "too long": 'text/plain; x="' + ";" * 250,
    "an encoding in two parts": "text/plain; charset*0=ro; charset*1=t13",
}


@pytest.mark.parametrize("kind", UNREADABLE_TYPES.values(), ids=UNREADABLE_TYPES)
@pytest.mark.parametrize("path", ["/rules/?preset=%ff", "/nope/?x=%ff", "/api/v1/games?mine=%ff"])
def test_a_content_type_that_django_cannot_read_is_refused(path: str, kind: str) -> None:
    path, _, query = path.partition("?")
    fields = {"CONTENT_TYPE": kind, "QUERY_STRING": query, "SERVER_NAME": "localhost", "SERVER_PORT": "80"}
    environ = {"REQUEST_METHOD": "GET", "PATH_INFO": path, "wsgi.input": io.BytesIO(), **fields}
    start = Mock()
    body = b"".join(application(environ, start))
    assert start.call_args.args[0] == "400 Bad Request"
    assert b"UTF-8" in body


@pytest.mark.parametrize(
    "kind", ["text/plain; charset=UTF-8", 'text/plain; charset="utf-8"', "text/plain; charset=utf8"]
)
def test_utf8_is_accepted(kind: str) -> None:
    assert browser(with_cookie=True).get("/rules/?preset=flip", CONTENT_TYPE=kind).status_code == 200
