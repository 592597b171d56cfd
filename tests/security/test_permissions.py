"""Q10 and Q14: who may ask what of which address, and with what headers each is answered.

Every address stands in `permissions.txt`, which says what its letters mean; a new one without a row fails here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any, Final

import pytest
from allauth.mfa.models import Authenticator
from django.db import transaction
from django.http import HttpResponseBase
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoDbBlocker

from accounts import actions as account_actions
from games.actions import lobby, notices
from games.actions.moderation import cases, people
from games.models import Appeal, AuditEntry, Case, Game, Notice, Suspension, Warned
from tests.conftest import logged_in, person, staff
from tests.security.headers import faults
from tests.security.urls import Address, addresses
from tests.support.codes import staff_browser
from tests.support.tables import TWO_HANDS, table_at

pytestmark = pytest.mark.django_db

ROLES: Final = (
    "anonymous", "seated", "opponent", "outsider", "spectator", "moderator", "seated moderator", "admin", "suspended",
)  # fmt: skip
FEW: Final = ("anonymous", "seated", "admin")
METHODS: Final = {"GET": ROLES, "POST": ROLES, "PUT": FEW, "DELETE": FEW}
BODIES: Final = {"/api/v1/games/<code>/moves": {"move": "leave"}}
"""What an address must be sent to get as far as asking who may."""
TABLE: Final = Path(__file__).with_name("permissions.txt")
UNREADY: Final = 503
"""`/readyz` says that no sweep runs here; nobody else may be that."""
WHY: Final = "To have something in every row"


def declared() -> dict[str, str]:
    rows = [line.rsplit(maxsplit=len(METHODS)) for line in TABLE.read_text().splitlines() if line.startswith("/")]
    return {key: " ".join(letters) for key, *letters in rows}


class World:
    """A private game, people in every role with their browsers, and a row of everything that an address can name."""

    def __init__(self) -> None:
        now = timezone.now()
        alice, bob, charlie, dora = (person(name) for name in ("alice", "bob", "charlie", "dora"))
        mo, mia, ann, eve = staff("mo", "moderator"), staff("mia", "moderator"), staff("ann", "admin"), person("eve")
        game = table_at({**TWO_HANDS, "hands": [["r5", "b1"], ["r4", "g3"], ["b2", "y7"]]}, [alice, bob, mia]).game
        Game.objects.filter(pk=game.pk).update(is_public=False, host=alice)
        game.refresh_from_db()
        lobby.create_table(user=charlie, options=lobby.TableOptions(), now=now)
        case = cases.report(code=game.code, reporter=alice, seat=1, kind="name", text=f"{WHY} of this.", now=now)
        people.warn(person_id=bob.pk, by=ann, reason=WHY, now=now)
        people.suspend(person_id=eve.pk, by=ann, days=9, reason=WHY, now=now)
        appeal = cases.appeal(person_id=eve.pk, text=f"{WHY} of this.", now=now)
        notices.tell(game, [notices.Intent(bob.pk, "out", WHY)], now=now)
        account_actions.create_token(user=alice, name="bot")
        token = alice.api_tokens.get()
        factor = Authenticator.objects.create(user=bob, type=Authenticator.Type.TOTP, data={})
        self.arguments: dict[str, Any] = {
            "code": game.code, "key": game.invite_key, "token_id": token.pk, "uidb36": "1", "token": "no-such-token",
            "number": Notice.objects.filter(user=bob).earliest("pk").pk,
            "act": "hold", "person_id": bob.pk, "game_id": game.pk, "case_id": case.case_id,
            "appeal_id": appeal.pk, "app_label": "games", "url": "nowhere", "id": bob.pk, "content_type_id": 1,
        }  # fmt: skip
        self.acts = {"person_id": "warn", "game_id": "extend", "case_id": "hold", "appeal_id": "decide_appeal"}
        self.objects: dict[str, Any] = {
            "accounts/user": bob.pk, "accounts/apitoken": token.pk, "mfa/authenticator": factor.pk,
            "games/game": game.pk, "games/round": game.round_id, "games/case": Case.objects.get().pk,
            "games/report": case.pk, "games/appeal": Appeal.objects.get().pk, "games/warned": Warned.objects.get().pk,
            "games/suspension": Suspension.objects.get().pk, "games/auditentry": AuditEntry.objects.earliest("pk").pk,
            "games/notice": Notice.objects.earliest("pk").pk,
        }  # fmt: skip
        spectator = logged_in(dora)
        session = spectator.session
        session["links"] = [game.code]
        session.save()
        self.browsers: dict[str, Client] = dict(
            zip(
                ROLES,
                (Client(), logged_in(alice), logged_in(bob), logged_in(charlie), spectator, staff_browser(mo),
                 staff_browser(mia), staff_browser(ann), logged_in(eve)),
                strict=True,
            )
        )  # fmt: skip

    def url(self, address: Address) -> str:
        values = dict(self.arguments)
        values["object_id"] = next((pk for name, pk in self.objects.items() if f"admin/{name}/" in address.route), 0)
        values["act"] = next((act for name, act in self.acts.items() if name in address.arguments), "")
        return address.url(values)

    def letter(self, role: str, method: str, address: Address) -> str:
        """What this role gets here; nothing of it stays."""
        browser = self.browsers[role]
        cookies = {name: morsel.value for name, morsel in browser.cookies.items()}
        body = json.dumps(BODIES.get(address.key, {})) if address.name.startswith("api-v1:") else ""
        kind = "application/json" if body else "application/x-www-form-urlencoded"
        with transaction.atomic():
            answer = browser.generic(method, self.url(address), body, content_type=kind)
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
    return " ".join("".join(world.letter(role, method, address) for role in roles) for method, roles in METHODS.items())


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
            assert world.letter(role, "POST", address) in "-xLS", f"{role} at {address.key}"
        finally:
            browser.handler.enforce_csrf_checks = False
