"""How open pages learn that the site has been upgraded."""

from __future__ import annotations

import re
from typing import Any, Final

import pytest
from django.contrib.staticfiles.storage import staticfiles_storage
from django.test import Client

from accounts.models import User
from tests.support.pages import open_table
from tests.support.tables import TWO_HANDS, table_at

pytestmark = pytest.mark.django_db

HTMX: Final = {"HX-Request": "true"}


def made_for(answer: Any) -> tuple[str, str]:
    """Return for which release and which reader a page or a fragment says that it was made."""
    found = re.search(r'data-release="([^"]*)" data-reader="([^"]*)"', answer.content.decode())
    assert found is not None
    return found[1], found[2]


@pytest.mark.parametrize("place", ["list", "lobby", "game"])
def test_a_fetch_says_if_the_static_files_are_those_of_the_page(
    as_alice: Client, alice: User, bob: User, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    game = open_table(alice) if place == "lobby" else table_at(TWO_HANDS, [alice, bob]).game
    address = "/" if place == "list" else game.get_absolute_url()
    before = made_for(as_alice.get(address))
    assert before[0]
    assert before[1] == "alice"
    assert made_for(as_alice.get(address, headers=HTMX)) == before
    monkeypatch.setattr(staticfiles_storage, "manifest_hash", "0a1b", raising=False)
    assert made_for(as_alice.get(address, headers=HTMX)) == made_for(as_alice.get(address)) == ("0a1b", "alice")


def test_a_visitor_is_a_reader_without_a_name(client: Client, alice: User, bob: User) -> None:
    game = table_at(TWO_HANDS, [alice, bob]).game
    assert made_for(client.get(game.get_absolute_url(), headers=HTMX))[1] == ""


def test_a_page_that_answers_a_form_has_no_release(as_alice: Client, alice: User, bob: User) -> None:
    """It would send the form again if it reloaded."""
    game = table_at(TWO_HANDS, [alice, bob]).game
    refused = as_alice.post(f"{game.get_absolute_url()}move/", {"version": 0, "move": "play b1"})
    assert refused.status_code == 422
    assert made_for(refused) == ("", "alice")
