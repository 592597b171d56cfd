"""Responses are sent compressed, except short ones and pages that show a secret (docs/decisions/0134)."""

from __future__ import annotations

import gzip
import re
from typing import Final

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from django.http import HttpResponseBase
from django.test import Client

from accounts.models import User
from nomercy.compression import LEAST
from nomercy.launcher.place import CHECKOUT
from tests.conftest import logged_in
from tests.support.codes import confirmed_browser
from tests.support.compression import GZIP, body_of, is_compressed, private_table, with_factor
from tests.support.tables import TWO_HANDS, table_at

API_TOKEN: Final = re.compile(rb"nomercy_[\w-]{40,}")
STYLE: Final = CHECKOUT / "static" / "css" / "base.css"


# What is compressed


@pytest.mark.parametrize("asked", [{}, {"HX-Request": "true"}])
def test_a_game_page_is_compressed(alice: User, bob: User, asked: dict[str, str]) -> None:
    browser, url = logged_in(alice), table_at(TWO_HANDS, [alice, bob]).game.get_absolute_url()
    answer = browser.get(url, headers=GZIP | asked)
    assert is_compressed(answer)
    assert "Accept-Encoding" in answer["Vary"]
    assert answer["Cache-Control"] == "no-store, private"
    assert int(answer["Content-Length"]) == len(answer.content)
    plain = browser.get(url, headers=asked)
    assert not is_compressed(plain)
    assert "Accept-Encoding" in plain["Vary"]
    assert abs(len(gzip.decompress(answer.content)) - len(plain.content)) < 100
    assert len(answer.content) < len(plain.content) / 3


def test_the_length_of_a_compressed_page_is_partly_random(client: Client, db: None) -> None:
    lengths = {len(client.get("/about/", headers=GZIP).content) for _ in range(12)}
    assert max(lengths) - min(lengths) > 10


def test_answers_of_the_api_are_compressed(client: Client, db: None) -> None:
    answer = client.get("/api/v1/openapi.json", headers=GZIP)
    assert is_compressed(answer)
    assert gzip.decompress(answer.content).startswith(b"{")


def test_short_answers_are_not_compressed(client: Client, db: None) -> None:
    answer = client.get("/api/v1/games/nothere", headers=GZIP)
    assert 0 < len(answer.content) < LEAST
    assert not is_compressed(answer)


# Static files


def test_a_style_is_compressed_and_not_sent_twice(client: Client, db: None) -> None:
    answer = client.get("/static/css/base.css", headers=GZIP)
    assert is_compressed(answer)
    assert "Accept-Encoding" in answer["Vary"]
    assert gzip.decompress(body_of(answer)) == STYLE.read_bytes()
    assert "ETag" not in answer
    again = client.get("/static/css/base.css", headers=GZIP | {"if-modified-since": answer["Last-Modified"]})
    assert (again.status_code, body_of(again)) == (304, b"")
    assert not is_compressed(again)


def test_a_part_of_a_style_is_sent_as_it_was_asked_for(client: Client, db: None) -> None:
    answer = client.get("/static/css/base.css", headers=GZIP | {"range": "bytes=0-9"})
    assert (answer.status_code, body_of(answer)) == (206, STYLE.read_bytes()[:10])
    assert not is_compressed(answer)


def test_what_is_compressed_already_is_sent_as_it_is(client: Client, db: None) -> None:
    (font,) = (CHECKOUT / "static" / "vendor").glob("*.woff2")
    answer = client.get(f"/static/vendor/{font.name}", headers=GZIP)
    assert not is_compressed(answer)
    assert body_of(answer) == font.read_bytes()


def test_a_head_of_a_style_says_its_length(client: Client, db: None) -> None:
    answer = client.head("/static/css/base.css", headers=GZIP)
    assert not is_compressed(answer)
    assert int(answer["Content-Length"]) == STYLE.stat().st_size


# Secrets


def expect_plain(answer: HttpResponseBase, secret: str) -> None:
    """The answer shows this secret uncompressed, and no proxy may compress it."""
    assert answer.status_code == 200
    assert not is_compressed(answer)
    assert secret.encode() in body_of(answer)
    assert answer["Cache-Control"] == "no-store, private, no-transform"


def test_the_page_of_a_new_api_token_is_not_compressed(alice: User) -> None:
    answer = confirmed_browser(alice).post("/accounts/me/tokens/", {"name": "my bot"}, headers=GZIP)
    expect_plain(answer, answer.context["new_token"])
    assert API_TOKEN.search(answer.content)


def test_the_form_for_an_api_token_is_compressed(alice: User) -> None:
    assert is_compressed(confirmed_browser(alice).get("/accounts/me/tokens/", headers=GZIP))


@pytest.mark.long
def test_the_page_to_set_up_an_app_is_not_compressed(alice: User) -> None:
    browser = confirmed_browser(alice)
    answer = browser.get("/accounts/2fa/totp/activate/", headers=GZIP)
    expect_plain(answer, answer.context["form"].secret)
    refused = browser.post("/accounts/2fa/totp/activate/", {"code": "1"}, headers=GZIP)
    expect_plain(refused, answer.context["form"].secret)


@pytest.mark.parametrize("page", ["", "download/"])
def test_recovery_codes_are_not_compressed(alice: User, page: str) -> None:
    browser = with_factor(alice)
    codes = RecoveryCodes(Authenticator.objects.get(type=Authenticator.Type.RECOVERY_CODES)).get_unused_codes()
    expect_plain(browser.get(f"/accounts/2fa/recovery-codes/{page}", headers=GZIP), codes[0])


@pytest.mark.parametrize("asked", [{}, {"HX-Request": "true"}])
def test_a_table_with_its_invitation_link_is_not_compressed(alice: User, asked: dict[str, str]) -> None:
    game = private_table(alice)
    expect_plain(logged_in(alice).get(game.get_absolute_url(), headers=GZIP | asked), game.invite_key)


def test_the_page_of_an_invitation_link_is_not_compressed(alice: User, bob: User) -> None:
    game = private_table(alice)
    expect_plain(logged_in(bob).get(f"/join/{game.invite_key}/", headers=GZIP), game.invite_key)
