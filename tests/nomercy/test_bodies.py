"""A body that is too long is refused before it is parsed."""

from __future__ import annotations

import json

import pytest
from django.conf import settings
from django.http.request import HttpRequest
from django.test import Client

from accounts.models import User
from games.api.base import StrictJson
from games.models import Game
from games.models.moderation import WORDS_LENGTH
from tests.conftest import api_token, logged_in
from tests.security.headers import faults
from tests.support.tables import TWO_HANDS, table_at

pytestmark = pytest.mark.django_db
MOST = 65_536
FORM = "application/x-www-form-urlencoded"
KINDS = [FORM, "application/json", "multipart/form-data; boundary=x", "text/plain", ""]
PATHS = ["/accounts/login/", "/no/such/page/", "/admin/login/", "/api/v1/games", "/api/v1/none"]


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("path", PATHS)
def test_a_long_body_is_refused_before_anything_reads_it(
    path: str, kind: str, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    monkeypatch.setattr(HttpRequest, "body", property(lambda self: read.append("body")))
    monkeypatch.setattr(HttpRequest, "read", lambda self, *size: read.append("form"))
    monkeypatch.setattr(StrictJson, "parse_body", lambda self, request: read.append("json"))
    token = {"Authorization": f"Bearer {api_token(alice)}"}
    for client, headers in ((Client(enforce_csrf_checks=True), {}), (logged_in(alice), {}), (Client(), token)):
        answer = client.generic("POST", path, b"%41" * (MOST // 3 + 1), content_type=kind, headers=headers)
        assert answer.status_code == 413
        assert faults(answer) == []
        assert answer.get("Cache-Control") == ("no-store, private" if client.cookies or headers else None)
        if path.startswith("/api/"):
            assert answer.json()["error"] == "too_large"
            assert "65,536 bytes" in answer.json()["message"]
        else:
            assert "64.0\xa0KB" in answer.content.decode()
    assert read == []


def test_the_limit_is_one_setting() -> None:
    assert settings.DATA_UPLOAD_MAX_MEMORY_SIZE == MOST


def test_a_body_of_exactly_the_limit_is_read(alice: User) -> None:
    client = Client(headers={"Authorization": f"Bearer {api_token(alice)}"})
    body = json.dumps({"players": 2, "bots": 0})
    answer = client.post("/api/v1/games", body.ljust(MOST), content_type="application/json")
    assert answer.status_code == 201
    assert client.post("/api/v1/games", body.ljust(MOST + 1), content_type="application/json").status_code == 413


def test_the_longest_report_fits(alice: User, bob: User) -> None:
    """Each of these characters becomes twelve in an encoded form."""
    code = table_at(TWO_HANDS, [alice, bob]).game.code
    text = {"seat": 1, "kind": "name", "text": ("\U00020000" * 19 + " ") * (WORDS_LENGTH // 20)}
    answer = logged_in(alice).post(f"/games/{code}/report/", text)
    assert answer.status_code == 303


DEEP = b"[" * 60_000
EXTREME = {
    "brackets": DEEP,
    "objects": b'{"a":' * 10_000,
    "closed brackets": b"[" * 30_000 + b"]" * 30_000,
    "a long number": b'{"players": ' + b"9" * 60_000 + b"}",
    "a number that is longer than Python reads": b'{"target": ' + b"9" * 4_301 + b"}",
    "a number that is as long as Python reads": b'{"target": ' + b"9" * 4_300 + b"}",
    "infinity": b'{"bot_pause": 1e999999}',
    "infinite seconds": b'{"pace": "custom", "clock": {"bank": 1e999999, "increment": 60, "cap": 600, "callout": 5}}',
    "a number of many digits": b'{"bot_pause": 9.' + b"9" * 60_000 + b"9e1}",
    "many fields": json.dumps({f"a{n}": 1 for n in range(5_000)}).encode(),
    "one field many times": b"{" + b'"players": 2,' * 4_000 + b'"players": 9}',
    "many options": json.dumps({"options": {f"a{n}": 1 for n in range(5_000)}}).encode(),
    "a long text": json.dumps({"preset": "x" * 60_000}).encode(),
    "a long option": json.dumps({"options": {"x" * 60_000: 1}}).encode(),
    "a long value": json.dumps({"options": {"jump_in": "x" * 60_000}}).encode(),
    "half a pair": b'{"preset": "\\ud800"}',
    "no UTF-8": b'{"preset": "\xff"}',
}


@pytest.mark.long
@pytest.mark.parametrize("body", EXTREME.values(), ids=EXTREME)
@pytest.mark.parametrize("call", ["games", "games/none234567/moves"])
def test_extreme_json_is_malformed(alice: User, call: str, body: bytes) -> None:
    client = Client(headers={"Authorization": f"Bearer {api_token(alice)}"})
    answer = client.post(f"/api/v1/{call}", body, content_type="application/json")
    assert answer.status_code == 400
    assert answer.json()["error"] == "malformed"
    assert len(answer.content) < 500
    assert Game.objects.count() == 0


@pytest.mark.parametrize("fields", [b"a&" * 30_000, b"a=1&" * 1_001])
@pytest.mark.parametrize("path", PATHS[:3])
def test_a_form_of_too_many_fields_is_refused(path: str, fields: bytes) -> None:
    assert Client().post(path, fields, content_type=FORM).status_code == 400
