"""Test what a site with an https address sends, for every URL."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from nomercy.launcher.place import CHECKOUT
from tests.support.stack import database_url

pytestmark = pytest.mark.long

OURS = {
    f"__Host-{name}" for name in ("session", "csrf", "browser", "hand-sort", "known", "left-guest", "unsent")
}  # fmt: skip


@pytest.fixture(scope="module")
def told(django_db_setup: None) -> dict[str, Any]:
    environment = {
        "PATH": os.defpath,
        "NOMERCY_ENV_FILE": "",
        "DJANGO_SETTINGS_MODULE": "nomercy.settings",
        "DATABASE_URL": database_url(),
        "SECRET_KEY": "a key for tests, of no use to anybody else",
        "SITE_URL": "https://cards.example.org",
        "RATE_LIMITS": "0",
    }
    command = [sys.executable, "-m", "tests.security.https_answers"]
    answer = subprocess.run(command, cwd=CHECKOUT, env=environment, capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stderr
    found: dict[str, Any] = json.loads(answer.stdout)
    return found


def test_every_cookie_is_bound_to_this_host_and_to_https(told: dict[str, Any]) -> None:
    """Browsers accept a `__Host-` cookie only from this host, over https and for all paths."""
    kept = [cookie for cookie in told["cookies"] if cookie.get("max-age") != 0]
    assert {cookie["name"] for cookie in kept} == OURS
    for cookie in kept:
        assert cookie["secure"] is True, cookie
        assert (cookie["path"], cookie["samesite"], "domain" in cookie) == ("/", "Lax", False), cookie
        assert cookie.get("httponly"), cookie


def test_every_answer_has_hsts_for_a_year_and_for_this_host_only(told: dict[str, Any]) -> None:
    assert told["without_hsts"] == []
    assert told["hsts"] == "max-age=31536000"


def test_http_is_redirected_to_https_without_cookies(told: dict[str, Any]) -> None:
    """Except for the check whether the process is alive, which comes from inside."""
    assert told["plain"] == [301, "https://testserver/rules/?a=1", []]
    assert told["health"] == 200
