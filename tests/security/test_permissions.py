"""Q10 and Q14: who may ask what of which address, and with what headers each is answered.

Every address stands in `permissions.txt`, which says what its letters mean; a new one without a row fails here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Final

import pytest
from django.db import transaction
from django.http import HttpResponseBase
from pytest_django import DjangoDbBlocker

from tests.security.headers import faults
from tests.security.urls import Address, addresses
from tests.security.world import ROLES, World

pytestmark = pytest.mark.django_db

FEW: Final = ("anonymous", "seated", "admin")
METHODS: Final = {"GET": ROLES, "POST": ROLES, "PUT": FEW, "DELETE": FEW}
BODIES: Final = {"/api/v1/games/<code>/moves": {"move": "leave"}}
"""What an address must be sent to get as far as asking who may."""
TABLE: Final = Path(__file__).with_name("permissions.txt")
UNREADY: Final = 503
"""`/readyz` says that no sweep runs here; nobody else may be that."""


def declared(start: str = "/") -> dict[str, str]:
    """The letters of the rows whose address starts so: pages with `/`, sockets with `ws/`."""
    columns = len(METHODS) if start == "/" else 1
    rows = [line.rsplit(maxsplit=columns) for line in TABLE.read_text().splitlines() if line.startswith(start)]
    return {key: " ".join(letters) for key, *letters in rows}


def letter(world: World, role: str, method: str, address: Address) -> str:
    """What this role gets here; nothing of it stays."""
    browser = world.browsers[role]
    cookies = {name: morsel.value for name, morsel in browser.cookies.items()}
    body = json.dumps(BODIES.get(address.key, {})) if address.name.startswith("api-v1:") else ""
    kind = "application/json" if body else "application/x-www-form-urlencoded"
    with transaction.atomic():
        answer = browser.generic(method, world.url(address), body, content_type=kind)
        transaction.set_rollback(True)
    browser.cookies = SimpleCookie(cookies)
    assert faults(answer) == [], f"{method} as {role}"
    if role != "anonymous":
        assert answer["Cache-Control"] == "no-store, private", f"{method} as {role}"
    return letter_of(answer)


def letter_of(answer: HttpResponseBase) -> str:
    status, to = answer.status_code, answer.headers.get("Location", "")
    assert status < 500 or status == UNREADY, answer
    if to.startswith("/suspended/") or (status == 403 and b'"suspended"' in getattr(answer, "content", b"")):
        return "S"
    if status == 401 or to.startswith(("/accounts/login/", "/admin/login/")):
        return "L"
    return {403: "-", 404: "-", 405: "x"}.get(status, ".")


def row_of(world: World, address: Address) -> str:
    return " ".join(
        "".join(letter(world, role, method, address) for role in roles) for method, roles in METHODS.items()
    )


@pytest.fixture(scope="module")
def world(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[World]:
    """One world for all rows, taken back at the end."""
    with django_db_blocker.unblock(), transaction.atomic():
        yield World()
        transaction.set_rollback(True)


@pytest.mark.parametrize("address", addresses(), ids=lambda address: f"{address.key} {address.name}")
def test_every_role_gets_what_is_declared(world: World, address: Address) -> None:
    row = row_of(world, address)
    assert address.key in declared(), f"declare it in {TABLE.name}, after a look at it:\n{address.key} {row}"
    assert declared()[address.key] == row


def test_no_row_is_left_over() -> None:
    assert set(declared()) == {address.key for address in addresses()}


def test_the_scan_would_notice_a_page_that_forgot_to_ask(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("games.queries.may_see", lambda *args: True)
    game = next(address for address in addresses() if address.name == "game")
    assert row_of(world, game) != declared()[game.key]


NO_COOKIE_NEEDED: Final = {"/mail/stop/<str:token>/"}
"""One-click unsubscription is a POST of a mail server with a signed token and no cookie (RFC 8058)."""


@pytest.mark.parametrize("address", addresses(), ids=lambda address: f"{address.key} {address.name}")
def test_nothing_is_done_for_a_form_of_another_site(world: World, address: Address) -> None:
    """Whoever would be answered is refused without the CSRF token, before anything else is looked at."""
    if declared()[address.key].split()[1].strip("xLS-") == "" or address.key in NO_COOKIE_NEEDED:
        return
    for role in FEW:
        browser = world.browsers[role]
        browser.handler.enforce_csrf_checks = True
        try:
            assert letter(world, role, "POST", address) in "-xLS", f"{role} at {address.key}"
        finally:
            browser.handler.enforce_csrf_checks = False
