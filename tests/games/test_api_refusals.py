"""The API answers every bad request with its error object, the right code and status, and never with 500."""

from __future__ import annotations

from datetime import timedelta
from itertools import product
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from accounts.actions import create_token
from accounts.models import ApiToken, User
from games.models import Game, Move
from games.refusals import STATUSES
from nomercy.launcher.place import CHECKOUT
from tests.support.api import Program, refusal
from tests.support.tables import TWO_HANDS, table_at

pytestmark = pytest.mark.django_db

JSON = "application/json"
FORM = "application/x-www-form-urlencoded"
MOVE = b'{"move": "play r5", "version": 0}'
CALLS = [
    ("GET", "me"), ("GET", "games"), ("POST", "games"), ("GET", "games/{code}"), ("GET", "games/{code}/moves"),
    ("POST", "games/{code}/moves"), ("GET", "games/{code}/record"), ("POST", "games/{code}/join"),
    ("POST", "games/{code}/leave"), ("POST", "games/{code}/start"),
]  # fmt: skip
METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW"}
READING = sorted({path for method, path in CALLS if method == "GET"})


@pytest.fixture
def program(alice: User) -> Client:
    """Return a client with Alice's token."""
    return Program(alice).client


@pytest.fixture
def code(alice: User, bob: User) -> str:
    return table_at(TWO_HANDS, [alice, bob]).game.code


def refused(response: Any, status: int, error: str) -> dict[str, Any]:
    """Check that a response is an error object and that nobody has moved, and return it."""
    assert refusal(response) == (status, error)
    assert not Move.objects.exists()
    answer: dict[str, Any] = response.json()
    return answer


def test_a_token_for_reading_cannot_play(alice: User, code: str) -> None:
    token = create_token(user=alice, name="watcher", now=timezone.now(), scope=ApiToken.Scope.READ)
    client = Client(headers={"authorization": f"Bearer {token}"})
    for method, path in CALLS:
        url = f"/api/v1/{path.format(code=code)}"
        if method == "POST":
            assert "only read" in refused(client.post(url, MOVE, content_type=JSON), 403, "forbidden")["message"]
        elif "record" not in path:
            assert client.get(url).status_code == 200


def test_an_expired_token_is_unknown(alice: User) -> None:
    token = create_token(user=alice, name="old", now=timezone.now() - timedelta(days=30), days=30)
    refused(Client(headers={"authorization": f"Bearer {token}"}).get("/api/v1/me"), 401, "unauthorized")


@pytest.mark.parametrize("path", ["nonsense", "", "me/", "games/", "games/abc/nonsense", "games/abc/moves/", "me/%00"])
def test_an_unknown_address_is_404_for_everyone(program: Client, path: str) -> None:
    for method, client in product(METHODS, (program, Client(enforce_csrf_checks=True))):
        response = client.generic(method, f"/api/v1/{path}")
        assert response.status_code == 404, method
        if method != "HEAD":
            refused(response, 404, "not_found")


def test_an_address_outside_version_1_is_404() -> None:
    for address in ("/api", "/api/", "/api/v2/me", "/api/v1"):
        refused(Client().get(address), 404, "not_found")


@pytest.mark.parametrize(
    "path", ["games/%00", "games/%00/moves", "games/%00/record", "games/x%00y", "games/" + "9" * 400]
)
def test_an_impossible_code_is_not_found(program: Client, path: str) -> None:
    refused(program.get(f"/api/v1/{path}"), 404, "not_found")


@pytest.mark.parametrize("path", sorted({path for _, path in CALLS}))
def test_an_unsupported_method_is_405(program: Client, code: str, path: str) -> None:
    taken = {known for known, where in CALLS if where == path}
    taken |= {"HEAD"} if "GET" in taken else set()
    for method in sorted(METHODS - taken):
        response = program.generic(method, f"/api/v1/{path.format(code=code)}", MOVE, JSON)
        assert set(response.headers["Allow"].split(", ")) == taken, method
        if method == "HEAD":
            assert response.status_code == 405
        else:
            refused(response, 405, "method_not_allowed")


@pytest.mark.parametrize("path", ["openapi.json", "docs"])
def test_the_openapi_documents_are_read_only(path: str) -> None:
    assert Client().head(f"/api/v1/{path}").status_code == 200
    response = Client().post(f"/api/v1/{path}")
    refused(response, 405, "method_not_allowed")
    assert response.headers["Allow"] == "GET, HEAD"


@pytest.mark.parametrize("path", READING)
def test_head_works_where_get_works(program: Client, code: str, path: str) -> None:
    address = f"/api/v1/{path.format(code=code)}"
    told, shown = program.head(address), program.get(address)
    assert (told.status_code, told.content) == (shown.status_code, b"")
    for name in ("Content-Type", "Content-Length"):
        assert told.headers[name] == shown.headers[name]


@pytest.mark.parametrize(("method", "path"), CALLS)
def test_an_unknown_query_field_is_400(program: Client, code: str, method: str, path: str) -> None:
    address = f"/api/v1/{path.format(code=code)}?nonsense=1&code={code}"
    body = MOVE if path.endswith("moves") else b"{}"
    answer = refused(program.generic(method, address, body, JSON), 400, "malformed")
    assert "'code'" in answer["message"]
    assert Game.objects.count() == 1


QUERIES = [
    "limit=abc", "limit=", "limit=0", "limit=101", "limit=1e2", f"limit={'9' * 5000}", "offset=-1", f"offset={10**30}",
    "mine=perhaps", "turn=%00", "limit=%ff", "mine=1&mine=nonsense", "offset=%F0%9F%99%88", "after=x", "after=void-1-1",
    "after=open-1-1&mine=1",
]  # fmt: skip


def test_a_query_field_of_the_wrong_type_is_400(program: Client, code: str) -> None:
    for query in QUERIES:
        refused(program.get(f"/api/v1/games?{query}"), 400, "malformed")
    for after in ("-1", "abc", "%00", str(2**31), "9" * 5000, "1.5", ""):
        refused(program.get(f"/api/v1/games/{code}/moves?after={after}"), 400, "malformed")


def deep(levels: int) -> bytes:
    return b"[" * levels + b"]" * levels


BODIES = {
    "nothing": b"",
    "a word": b"nonsense",
    "half": MOVE[:-1],
    "two": MOVE + MOVE,
    "a list": b"[]",
    "null": b"null",
    "a number": b"5",
    "huge": b"9" * 5000,
    "NaN": b'{"move": "play r5", "version": NaN}',
    "deep": deep(30_000),
    "deep inside": b'{"move": ' + deep(30_000) + b', "version": 0}',
    "NUL": b'{"move": "play r5\x00", "version": 0}',
    "NUL told": b'{"move": "play r5\\u0000", "version": 0}',
    "NUL token": b'{"move": "play r5", "version": 0, "token": "\\u0000"}',
    "half a pair": b'{"move": "\\ud800", "version": 0}',
    "half a pair for a name": b'{"\\ud800": "play r5", "version": 0}',
    "latin-1": '{"move": "spielé", "version": 0}'.encode("latin-1"),
    "UTF-16": MOVE.decode().encode("utf-16"),
    "a float": b'{"move": "play r5", "version": 0.5}',
    "a truth": b'{"move": "play r5", "version": true}',
    "text": b'{"move": "play r5", "version": "0"}',
    "too huge": b'{"move": "play r5", "version": ' + b"9" * 5000 + b"}",
    "an unknown field": b'{"move": "play r5", "version": 0, "seat": 0}',
    "a long unknown field": b'{"move": "play r5", "version": 0, "' + b"x" * 5000 + b'": 0}',
    "no move": b'{"version": 0}',
    "no version": b'{"move": "play r5"}',
    "a number for a move": b'{"move": 5, "version": 0}',
    "a space too many": b'{"move": "play  r5", "version": 0}',
    "a long move": b'{"move": "' + b"x" * 60_000 + b'", "version": 0}',
    "an empty token": b'{"move": "play r5", "version": 0, "token": ""}',
    "a long token": b'{"move": "play r5", "version": 0, "token": "' + b"x" * 65 + b'"}',
    "a token of two lines": b'{"move": "play r5", "version": 0, "token": "a\\nb"}',
    "an empty move": b'{"move": "", "version": 0}',
    "a clock's move": b'{"move": "clock draw", "version": 0}',
}


@pytest.mark.parametrize("body", BODIES)
def test_an_invalid_move_body_is_400(program: Client, code: str, body: str) -> None:
    response = program.generic("POST", f"/api/v1/games/{code}/moves", BODIES[body], JSON)
    assert len(refused(response, 400, "malformed")["message"]) < 300


def test_an_impossible_version_is_stale(program: Client, code: str) -> None:
    for version in (-1, 10**30, 2**31, 2**63):
        body = {"move": "play r5", "version": version}
        response = program.post(f"/api/v1/games/{code}/moves", body, content_type=JSON)
        assert refused(response, 409, "stale")["version"] == 0


TABLES = {
    "NaN": b'{"bot_pause": NaN}',
    "infinite": b'{"bot_pause": 1e999}',
    "huge": b'{"players": 99999999999999999999}',
    "huge target": b'{"target": 99999999999999999999}',
    "an option in half a pair": b'{"options": {"\\ud800": 1}}',
    "an option with NUL": b'{"options": {"mercy_limit\\u0000": 1}}',
    "a deep option": b'{"options": {"mercy_limit": ' + deep(900) + b"}}",
    "a huge option": b'{"options": {"mercy_limit": 99999999999999999999}}',
    "a preset with NUL": b'{"preset": "no-mercy\\u0000"}',
    "a pace of another type": b'{"pace": {}}',
    "null": b'{"players": null}',
    "a word": b"nonsense",
    "a list": b"[]",
    "text for a number": b'{"players": "4"}',
    "too many players": b'{"players": 9}',
    "an unknown field": b'{"player": 4}',
    "a long pause": b'{"bot_pause": 11}',
    "a truth for a number": b'{"options": {"mercy_limit": true}}',
    "a target among the options": b'{"options": {"target": 10}}',
    "an unknown preset": b'{"preset": "poker"}',
    "a negative target": b'{"target": -1}',
    "very many bots": b'{"bots": ' + b"9" * 30 + b"}",
}


@pytest.mark.parametrize("body", TABLES)
def test_an_invalid_table_body_is_400(program: Client, body: str) -> None:
    refused(program.generic("POST", "/api/v1/games", TABLES[body], JSON), 400, "malformed")
    assert not Game.objects.exists()


@pytest.mark.parametrize("name", ["text/plain", "multipart/form-data; boundary=x", "application/xml", "nonsense"])
def test_a_body_with_another_content_type_is_400(as_alice: Client, program: Client, name: str) -> None:
    for client in (program, as_alice):
        assert "JSON" in refused(client.generic("POST", "/api/v1/games", b"{}", name), 400, "malformed")["message"]


@pytest.mark.parametrize("name", [JSON, f"{JSON}; charset=utf-8", JSON.upper(), "", FORM])
def test_json_is_read_with_the_right_content_type_or_none(program: Client, code: str, name: str) -> None:
    response = program.generic("POST", f"/api/v1/games/{code}/moves", MOVE, name)
    assert (response.status_code, response.json()["version"]) == (200, 1)


@pytest.mark.parametrize("name", [JSON, "multipart/form-data; boundary=x", FORM])
def test_a_broken_or_huge_body_is_refused(alice: User, program: Client, name: str) -> None:
    browser = Client(enforce_csrf_checks=True)  # without the header, Django looks for the CSRF token in the body
    browser.force_login(alice)
    for body, status, error in ((b"x" * 3_000_000, 413, "too_large"), (b"--x\r\n" * 2000, 400, "malformed")):
        refused(program.generic("POST", "/api/v1/games", body, name), status, error)
        response = browser.generic("POST", "/api/v1/games", body, name)
        assert response.status_code in (400, 403, 413)
        refused(response, response.status_code, response.json()["error"])


def test_authentication_comes_before_all_checks_except_the_address() -> None:
    response = Client().generic("POST", "/api/v1/games/abc/moves?nonsense=1", b"\xff", "text/plain")
    refused(response, 401, "unauthorized")
    assert response.headers["WWW-Authenticate"] == "Bearer"
    for path in READING:
        refused(Client().get(f"/api/v1/{path.format(code='abc')}"), 401, "unauthorized")


def test_refusals_have_a_fixed_order(alice: User, bob: User, charlie: User) -> None:
    """Each request also has the faults of all requests after it."""
    table = table_at(TWO_HANDS, [alice, bob], is_public=False).game.code
    over = table_at(TWO_HANDS, [alice, bob]).game.code
    Game.objects.filter(code=over).update(status=Game.Status.OVER)
    a, c = Program(alice), Program(charlie)
    for program, code, body, status, error in (
        (c, "nowhere", {"move": "play q5", "version": 7}, 400, "malformed"),
        (c, "nowhere", {"move": "play b1"}, 400, "malformed"),
        (c, "nowhere", {"move": "play b1", "version": 7}, 404, "not_found"),
        (c, table, {"move": "play b1", "version": 7}, 404, "not_found"),
        (c, over, {"move": "play b1", "version": 7}, 403, "not_seated"),
        (a, over, {"move": "play b1", "version": 7}, 409, "over"),
        (a, table, {"move": "play b1", "version": 7}, 409, "stale"),
        (a, table, {"move": "play b1", "version": 0}, 422, "not_matching"),
    ):
        refused(program.post(f"games/{code}/moves", body), status, error)


@pytest.mark.parametrize(
    "header",
    ["Bearer nonsense", "Bearer ", "Basic YTpi", "nonsense", "Bearer \xff", "Bearer nomercy_\x00",
     "Bearer " + "x" * 5000, "Bearer a b", "bearer", "Basic \xff"],
    ids=ascii,
)  # fmt: skip
def test_a_malformed_authorization_header_is_401(header: str) -> None:
    refused(Client(headers={"authorization": header}).get("/api/v1/me"), 401, "unauthorized")


def test_a_request_for_another_host_is_400() -> None:
    refused(Client(headers={"host": "elsewhere.example.org"}).get("/api/v1/me"), 400, "malformed")


def test_a_server_error_reveals_no_details(program: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> int:
        raise RuntimeError("a secret")

    monkeypatch.setattr("games.queries.lists.games_to_act_in", broken)
    program.raise_request_exception = False
    response = program.get("/api/v1/me")
    assert refused(response, 500, "broken")
    assert b"secret" not in response.content


def test_every_refusal_is_documented() -> None:
    told = (CHECKOUT / "docs" / "api.md").read_text()
    assert [code for code in STATUSES if f"`{code}`" not in told] == []
