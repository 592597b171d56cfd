"""No page shows a secret and is sent compressed: pages write it with `{% secret %}` (docs/decisions/0134)."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from http.cookies import SimpleCookie
from typing import Final

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import SECRET_SESSION_KEY as PENDING_SECRET
from django.db import transaction
from django.test import Client
from pytest_django import DjangoDbBlocker

from accounts.encryption import decrypt
from accounts.models import User
from common import secret_pages
from games.models import Game
from tests.security.urls import Address, addresses
from tests.security.world import World
from tests.support.codes import confirmed_browser
from tests.support.compression import GZIP, body_of, is_compressed, private_table, with_factor
from tests.support.worlds import undone

pytestmark = pytest.mark.long

API_TOKEN: Final = re.compile(rb"nomercy_[\w-]{40,}")


def secrets_of(browser: Client) -> set[bytes]:
    """Return all invitation keys, all secrets of apps and all recovery codes, and the secret that a form has shown."""
    found = set(Game.objects.values_list("invite_key", flat=True))
    for factor in Authenticator.objects.exclude(data={}):
        if factor.type == Authenticator.Type.TOTP:
            found.add(decrypt(factor.data["secret"]))
        elif factor.type == Authenticator.Type.RECOVERY_CODES:
            found |= set(RecoveryCodes(factor).get_unused_codes())
    if pending := browser.session.get(PENDING_SECRET):
        found.add(decrypt(pending))
    return {secret.encode() for secret in found}


def compressed_secrets(browser: Client, method: str, url: str) -> list[bytes]:
    """Return the secrets that the compressed answer to this request shows. Changes are rolled back."""
    cookies = {name: morsel.value for name, morsel in browser.cookies.items()}
    with undone():
        data = {"name": "my bot"} if method == "post" else None
        answer = getattr(browser, method)(url, data, headers=GZIP)
        found: list[bytes] = []
        if is_compressed(answer):
            shown = gzip.decompress(body_of(answer))
            found = [secret for secret in secrets_of(browser) if secret in shown] + API_TOKEN.findall(shown)
    browser.cookies = SimpleCookie(cookies)
    return found


class Revealing:
    """Browsers of people who may see secrets, and a world where every URL leads to something.

    Alice hosts an open private table and has just confirmed her password, Charlie his second factor.
    """

    def __init__(self) -> None:
        self.world = World()
        alice, charlie = (User.objects.get(username=name) for name in ("alice", "charlie"))
        game = private_table(alice)
        self.world.arguments |= {"code": game.code, "key": game.invite_key}
        self.world.objects["games/game"] = game.pk
        self.alice, self.charlie, self.admin = (
            confirmed_browser(alice),
            with_factor(charlie),
            self.world.browsers["admin"],
        )

    def compressed_secrets(self, address: Address) -> list[bytes]:
        """Return the secrets that anybody is shown here. Only staff are let in to the pages of the staff."""
        url, asked = self.world.url(address), [(self.alice, "get"), (self.charlie, "get"), (self.alice, "post")]
        if url.startswith(("/admin/", "/games/")):
            asked = [(self.admin, "get"), *([] if url.startswith("/admin/") else asked)]
        return [secret for browser, method in asked for secret in compressed_secrets(browser, method, url)]


@pytest.fixture(scope="module")
def revealing(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Revealing]:
    with django_db_blocker.unblock(), transaction.atomic():
        yield Revealing()
        transaction.set_rollback(True)


@pytest.mark.django_db
def test_no_compressed_page_shows_a_secret(revealing: Revealing) -> None:
    found = {address.key: revealing.compressed_secrets(address) for address in addresses()}
    assert {key: secrets for key, secrets in found.items() if secrets} == {}, "write it with {% secret %}"


SHOWING: Final = ("game", "invite", "me-token-create", "mfa_activate_totp", "mfa_view_recovery_codes")
"""The names of addresses that show a secret in a page long enough to be compressed."""


@pytest.mark.django_db
@pytest.mark.parametrize(
    "address", [address for address in addresses() if address.name in SHOWING], ids=lambda a: a.name
)
def test_the_scan_finds_what_it_looks_for(
    revealing: Revealing, address: Address, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(secret_pages, "mark_secret", lambda request: None)
    assert revealing.compressed_secrets(address) != []
