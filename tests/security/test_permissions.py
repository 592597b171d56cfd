"""Test who may request which URL, and the headers of the answers (Q10 and Q14).

The site has an OpenID provider here. Without one, its pages are 404 (tests/accounts/test_openid.py).

Every URL has a row in `permissions.txt`, which explains its letters. A new URL without a row fails here. The pages of
staff acts have a row for each act. They are sent a valid form, so that only the permission decides.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Final
from urllib.parse import urlencode

import pytest
from django.db import transaction
from django.http import HttpResponseBase
from django.template import Context, Template
from django.utils.safestring import SafeString
from pytest_django import DjangoDbBlocker
from pytest_django.fixtures import Settings

from games.staff.acts import ANNOUNCEMENT_ACTS, APPEAL_ACTS, CASE_ACTS, PERSON_ACTS, TABLE_ACTS
from tests.security.headers import faults
from tests.security.urls import Address, addresses
from tests.security.world import ROLES, World
from tests.support.worlds import undone

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("provider", "long_confirmations", "other_host_allowed")]

FEW: Final = ("anonymous", "seated", "admin")
METHODS: Final = {
    "GET": ROLES, "POST": ROLES, "PUT": FEW, "DELETE": FEW, "PATCH": FEW, "HEAD": FEW, "OPTIONS": FEW,
}  # fmt: skip
SAFE: Final = ("GET", "HEAD", "OPTIONS")
RENDERED: Final = {"GET": FEW}
"""The roles for which pages are rendered, by method. Pages of refusals are not. A refused form is the page of a GET."""
OTHER_HOST: Final = "other.example:6666"
"""The host that all requests name. No answer may contain it: links are paths, or begin with `SITE_URL`."""
REFUSALS: Final = ("403.html", "404.html")
"""The templates of refusals. `test_every_role_can_read_a_refusal` renders them."""
BODIES: Final = {"/api/v1/games/<code>/moves": {"move": "leave"}}
"""The data that a URL needs before it checks permissions."""
REASON: Final = {"reason": "To see who may do this at all", "seen": f"{10**9}-{10**9}"}  # nothing is newer
ACTS: Final[dict[str, Mapping[str, Mapping[str, object]]]] = {
    "admin:games_game_act": {
        "say": {"said": "Hello, all of you."}, "pause": {}, "resume": {},
        "extend": {"amount": 5}, "forgive": {"seat": 1}, "void_round": {}, "void_game": {},
        "remove": {"seat": 0, "instead": "bot"}, "move_seat": {"seat": 0, "username": "dora"}, "close": {}, "look": {},
    },
    "admin:accounts_user_act": {
        "warn": {}, "mute": {"days": 3}, "unmute": {}, "suspend": {"days": 3}, "suspend_for_good": {}, "lift": {},
        "rename": {"username": "bobby"}, "close_account": {}, "reopen_account": {}, "set_role": {"role": "moderator"},
        "close_with_tables": {}, "drop_factor": {}, "neutral_name": {}, "end_neutral_name": {}, "note_person": {},
        "revoke_invitations": {}, "drop_hook": {},
    },
    "admin:games_case_act": {
        "hold": {}, "close_case": {"outcome": "acted"}, "change_outcome": {"outcome": "acted"}, "hand_over": {},
        "give_back": {}, "note_case": {}, "reopen_case": {},
    },
    "admin:games_announcement_act": {"announce": {"text": "The site rests at noon."}, "end_announcement": {}},
    "admin:games_appeal_act": {"decide_appeal": {"decision": "upheld", "answer": "We have looked at it again."}},
}  # fmt: skip
"""The pages of acts by URL name, with what each act's form asks besides a reason."""
HOST_OR_PORT: Final = re.compile(rb"other\.example|6666")
TABLE: Final = Path(__file__).with_name("permissions.txt")
UNREADY: Final = 503
"""`/readyz` answers 503 because no sweep runs in tests. No other URL may."""


@cache
def declared(start: str = "/") -> dict[str, str]:
    """Return the letters of the rows whose URL starts with this: pages with `/`, sockets with `ws/`."""
    columns = len(METHODS) if start == "/" else 1
    rows = [line.rsplit(maxsplit=columns) for line in TABLE.read_text().splitlines() if line.startswith(start)]
    return {key: " ".join(letters) for key, *letters in rows}


@dataclass(frozen=True)
class Row:
    """A row of the table: a URL, or the page of one act."""

    address: Address
    act: str = ""

    @property
    def key(self) -> str:
        return self.address.key.replace("<slug:act>", self.act) if self.act else self.address.key

    def body(self, method: str) -> tuple[str, str]:
        """Return the body to send and its content type."""
        if self.address.name.startswith("api-v1:"):
            return json.dumps(BODIES.get(self.key, {})), "application/json"
        form = {**ACTS[self.address.name][self.act], **REASON} if self.act and method == "POST" else {}
        return urlencode(form), "application/x-www-form-urlencoded"


def rows() -> list[Row]:
    """Return a row for every URL, or for every act that has its page there."""
    return [Row(address, act) for address in addresses() for act in ACTS.get(address.name, ("",))]


def letter(world: World, role: str, method: str, row: Row) -> str:
    """Return the letter of what this role gets here. Changes are rolled back."""
    with undone():
        return _letter(world, role, method, row)


def _letter(world: World, role: str, method: str, row: Row) -> str:
    browser = world.browsers[role]
    cookies = {name: morsel.value for name, morsel in browser.cookies.items()}
    body, kind = row.body(method)
    answer = browser.generic(method, world.url(row.address, row.act), body, content_type=kind)
    browser.cookies = SimpleCookie(cookies)
    assert faults(answer) == [], f"{method} {row.key} as {role}"
    assert OTHER_HOST not in answer.headers.get("Location", ""), f"{method} {row.key} as {role}"
    assert answer.streaming or not HOST_OR_PORT.search(answer.content), f"{method} {row.key} as {role}"
    if role != "anonymous":
        assert answer["Cache-Control"].removesuffix(", no-transform") == "no-store, private", (
            f"{method} {row.key} as {role}"
        )
    return letter_of(answer)


def letter_of(answer: HttpResponseBase) -> str:
    status, to = answer.status_code, answer.headers.get("Location", "")
    assert status < 500 or status == UNREADY, answer
    if to.startswith("/suspended/") or (status == 403 and b'"suspended"' in getattr(answer, "content", b"")):
        return "S"
    if status == 401 or to.startswith(("/accounts/login/", "/admin/login/")):
        return "L"
    return {403: "-", 404: "-", 405: "x"}.get(status, ".")


def letters_of(world: World, row: Row, methods: Mapping[str, Collection[str]] = METHODS) -> str:
    """Return what each role gets for each method.

    Changes of unsafe methods are rolled back for the next role, unless all roles are declared to be refused. Only
    `RENDERED` pages are rendered, because no permission depends on the others. `test_swap.py` renders nearly every page
    for every role.
    """
    expected = declared().get(row.key, "").split() or ["."] * len(METHODS)
    letters = []
    with undone():
        for (method, roles), declared_letters in zip(methods.items(), expected, strict=False):
            ask = letter if method not in SAFE and "." in declared_letters else _letter
            letters.append("")
            for role in roles:
                with unrendered(REFUSALS if role in RENDERED.get(method, ()) else None):
                    letters[-1] += ask(world, role, method, row)
    return " ".join(letters)


@contextmanager
def unrendered(names: Collection[str] | None) -> Iterator[None]:
    """Render nothing for the templates with these names, or for all (None). Status and `Location` stay as they are."""
    render = Template.render

    def skip(template: Template, context: Context) -> SafeString:
        return SafeString() if names is None or template.name in names else render(template, context)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Template, "render", skip)
        yield


@pytest.fixture
def long_confirmations(settings: Settings) -> None:
    """Let people who have confirmed who they are stay so: on a slow machine all rows take longer than five minutes."""
    settings.ACCOUNT_REAUTHENTICATION_TIMEOUT = 86_400


@pytest.fixture
def other_host_allowed(settings: Settings) -> None:
    settings.ALLOWED_HOSTS = [OTHER_HOST.split(":")[0]]


@pytest.fixture(scope="module")
def world(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[World]:
    """Make one world for all rows, and roll it back at the end."""
    with django_db_blocker.unblock(), transaction.atomic():
        made = World()
        for browser in made.browsers.values():
            browser.defaults["HTTP_HOST"] = OTHER_HOST
        yield made
        transaction.set_rollback(True)


@pytest.mark.contained
def test_a_visitor_and_a_player_get_the_declared_answers(world: World) -> None:
    """Check two roles and methods of every row. The long test below checks all of them."""
    found = {row.key: letters_of(world, row, {"GET": ROLES[:2], "POST": ROLES[:2]}) for row in rows()}
    wanted = {key: " ".join(letters[:2] for letters in row.split()[:2]) for key, row in declared().items()}
    assert found == wanted, f"declare it in {TABLE.name}, after a look at it"


# One test for each row: pytest keeps the log of a test, and with it all requests that were refused.
@pytest.mark.long
@pytest.mark.parametrize("row", rows(), ids=lambda row: f"{row.key} {row.address.name}")
def test_every_role_gets_the_declared_answer(world: World, row: Row) -> None:
    letters = letters_of(world, row)
    assert declared().get(row.key) == letters, f"declare it in {TABLE.name}, after a look at it"


def test_every_role_can_read_a_refusal(world: World) -> None:
    staff = ("moderator", "seated moderator", "admin")
    for path, status, roles in (("/nowhere/", 404, ROLES), ("/admin/games/round/add/", 403, staff)):
        for role in roles:
            answer = world.browsers[role].get(path, follow=True)
            assert (answer.status_code, b"<h1" in answer.content) == (status, True), role


def test_a_head_is_answered_like_a_get() -> None:
    few = [ROLES.index(role) for role in FEW]
    for key, letters in declared().items():
        got, *_, head, _ = letters.split()
        assert head == "".join(got[n] for n in few), key


def test_every_row_is_of_a_url_of_the_site() -> None:
    assert set(declared()) == {row.key for row in rows()}


def test_every_act_has_a_row() -> None:
    assert {name: set(acts) for name, acts in ACTS.items()} == {
        "admin:games_game_act": set(TABLE_ACTS),
        "admin:accounts_user_act": set(PERSON_ACTS),
        "admin:games_case_act": set(CASE_ACTS),
        "admin:games_appeal_act": set(APPEAL_ACTS),
        "admin:games_announcement_act": set(ANNOUNCEMENT_ACTS),
    }
    taken = {address.name for address in addresses() if "act" in address.arguments}
    assert taken == set(ACTS)


def test_the_scan_finds_a_page_without_a_permission_check(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("games.queries.tables.may_see", lambda *args: True)
    game = next(row for row in rows() if row.address.name == "game")
    assert letters_of(world, game) != declared()[game.key]


def test_the_scan_finds_an_act_on_a_person_one_plays_with(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("games.queries.plays_with", lambda *args: False)
    warn = next(row for row in rows() if row.act == "warn")
    assert letters_of(world, warn) != declared()[warn.key]


NO_COOKIE_NEEDED: Final = {"/mail/stop/<str:token>/"}
"""One-click unsubscription (RFC 8058) is a POST by a mail server, with a signed token and without cookies."""


@pytest.mark.long
def test_a_form_of_another_site_is_refused(world: World) -> None:
    """Everyone is refused without the CSRF token, before anything else is checked."""
    answering = [row for row in rows() if declared()[row.key].split()[1].strip("xLS-")]
    wrong = []
    for role in FEW:
        browser = world.browsers[role]
        browser.handler.enforce_csrf_checks = True
        try:
            with unrendered(None):
                asked = [row for row in answering if row.key not in NO_COOKIE_NEEDED]
                wrong += [f"{role} at {row.key}" for row in asked if letter(world, role, "POST", row) not in "-xLS"]
        finally:
            browser.handler.enforce_csrf_checks = False
    assert wrong == []
