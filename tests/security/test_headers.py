"""Test that every answer has strict headers (see also test_permissions.py) and does not say too much (Q14)."""

from __future__ import annotations

import pytest
from django.contrib.auth.hashers import MD5PasswordHasher
from django.test import Client

from accounts.models import AccountMail, User
from tests.conftest import logged_in
from tests.security.headers import faults
from tests.support.mail import deliver_now

pytestmark = pytest.mark.django_db
ELSEWHERE = ("https://evil.example/", "//evil.example/", "/\\evil.example", "javascript:alert(1)")


def test_the_scan_finds_a_missing_header_a_weak_policy_and_an_open_cookie(client: Client) -> None:
    answer = client.get("/rules/")
    assert faults(answer) == []
    answer["Content-Security-Policy"] = answer["Content-Security-Policy"].replace(
        "script-src 'self'", "script-src 'self' 'unsafe-inline'"
    )
    del answer["X-Frame-Options"]
    answer.set_cookie("open", "1")
    assert len(faults(answer)) == 3


@pytest.mark.parametrize("path", ["/no-such-page/", "/games/none/", "/admin/nowhere/", "/static/none.css", "/api/nope"])
def test_error_pages_have_the_strict_headers(client: Client, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code in (302, 404)
    assert faults(answer) == []


def test_a_failing_page_has_the_strict_headers(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    def explode(*args: object) -> None:
        raise RuntimeError("somebody's hand")

    monkeypatch.setattr("games.queries.front_page.open_tables", explode)
    browser = logged_in(alice)
    browser.raise_request_exception = False
    answer = browser.get("/")
    assert answer.status_code == 500
    assert faults(answer) == []
    assert b"somebody" not in answer.content


@pytest.mark.parametrize("target", ELSEWHERE)
def test_log_in_and_log_out_redirect_to_no_other_site(client: Client, alice: User, target: str) -> None:
    answer = client.post("/accounts/login/", {"login": "alice", "password": "alice", "next": target})
    assert answer.headers["Location"] == "/"
    answer = client.post("/accounts/logout/", {"next": target})
    assert answer.headers["Location"] == "/"


def test_answers_do_not_reveal_whether_an_account_exists(
    client: Client, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    hashed: list[str] = []
    encode = MD5PasswordHasher.encode

    def count(self: MD5PasswordHasher, password: str, salt: str) -> str:
        hashed.append(password)
        return encode(self, password, salt)

    monkeypatch.setattr(MD5PasswordHasher, "encode", count)
    answers, costs = [], []
    for name in ("alice", "nobody", "alice@example.org", "nobody@example.org"):
        hashed.clear()
        answer = client.post("/accounts/login/", {"login": name, "password": "wrong word"})
        answers.append((answer.status_code, answer.context["form"].non_field_errors()))
        costs.append(len(hashed))
    assert answers[0] == answers[1]
    assert answers[2] == answers[3]
    assert costs[0] == costs[1]
    assert costs[2] == costs[3]


def test_a_password_reset_says_the_same_and_queues_a_mail_either_way(client: Client, alice: User) -> None:
    known = client.post("/accounts/password/reset/", {"email": "alice@example.org"})
    unknown = client.post("/accounts/password/reset/", {"email": "nobody@example.org"})
    assert (known.status_code, known.headers["Location"]) == (unknown.status_code, unknown.headers["Location"])
    assert AccountMail.objects.count() == 2
    assert [message.to for message in deliver_now()] == [["alice@example.org"]]
