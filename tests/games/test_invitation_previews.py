"""What an invitation link shows elsewhere: its preview in chats, and its QR code."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from django.conf import settings
from django.contrib.staticfiles import finders
from django.test import Client
from django.utils import timezone

from accounts import actions
from accounts.models import User
from games.actions import lobby
from games.models import Game
from games.queries import Viewer
from games.render.invitations import qr_code
from tests.conftest import logged_in
from tests.support.pages import open_table
from tests.support.tables import NOON, TWO_HANDS, table_at

pytestmark = pytest.mark.django_db


class _Metas(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: dict[str, str] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        name = values.get("property") or values.get("name")
        if tag == "meta" and name is not None:
            self.found[name] = values.get("content") or ""


def preview(response: Any) -> dict[str, str]:
    """Return what a chat reads of a page."""
    reader = _Metas()
    reader.feed(response.content.decode())
    return {name: text for name, text in reader.found.items() if name.startswith(("og:", "twitter:"))}


def link(game: Game) -> str:
    return f"/join/{game.invite_key}/"


def call(user: User, name: str) -> None:
    actions.update_profile(user=user, display_name=name, time_zone="UTC", now=timezone.now())


@pytest.mark.parametrize("public", [True, False])
def test_a_link_says_who_invites_to_what(client: Client, alice: User, public: bool) -> None:
    call(alice, "Anna")
    game = open_table(alice, players=3, bots=1, public=public)
    found = preview(client.get(link(game)))
    assert found["og:title"] == "Anna invites you to No Mercy. 1 seat left."
    assert found["og:description"] == "Standard pace, a single round. Play in your browser, without an account."
    assert found["og:url"] == f"{settings.SITE_URL}{link(game)}"
    assert found["twitter:card"] == "summary_large_image"
    assert found["og:image"] == f"{settings.SITE_URL}/static/img/share.png"


def test_the_image_has_the_size_that_the_page_says(client: Client, alice: User) -> None:
    found = preview(client.get(link(open_table(alice))))
    path = finders.find("img/share.png")
    assert isinstance(path, str)
    head = Path(path).read_bytes()[:24]
    size = int.from_bytes(head[16:20], "big"), int.from_bytes(head[20:24], "big")
    assert head.startswith(b"\x89PNG")
    assert size == (int(found["og:image:width"]), int(found["og:image:height"]))


def test_a_full_table_and_its_end_have_their_own_words(client: Client, alice: User, bob: User) -> None:
    game = table_at(TWO_HANDS, [alice, bob], is_public=False).game
    title = preview(client.get(link(game)))["og:title"]
    assert title == "alice’s game of No Mercy has started: every seat is taken."
    Game.objects.filter(pk=game.pk).update(status=Game.Status.OVER)
    assert preview(client.get(link(game)))["og:title"] == "alice’s game of No Mercy is over."


def test_a_closed_table_and_a_dead_link_have_no_preview(client: Client, alice: User) -> None:
    game = open_table(alice, public=False)
    lobby.leave_table(code=game.code, viewer=Viewer(alice), now=NOON)
    assert preview(client.get(link(game))) == {}
    gone = client.get("/join/guess/")
    assert (gone.status_code, preview(gone)) == (404, {})


@pytest.mark.long
def test_no_other_page_has_a_preview(client: Client, as_alice: Client, alice: User, bob: User) -> None:
    game, running = open_table(alice), table_at(TWO_HANDS, [alice, bob]).game
    for browser in (client, as_alice):
        for path in ("/", "/rules/", "/about/", f"/games/{game.code}/", f"/games/{running.code}/", "/people/alice/"):
            assert preview(browser.get(path)) == {}, path
    assert preview(client.get(f"{link(game)}rules/")) == {}


def test_there_is_none_where_visitors_see_no_tables(as_bob: Client, alice: User, settings: Any) -> None:
    game = open_table(alice, public=False)
    assert preview(as_bob.get(link(game)))
    settings.LOGIN_REQUIRED = True
    assert as_bob.get(link(game)).status_code == 200
    assert preview(as_bob.get(link(game))) == {}
    assert preview(Client().get(link(game))) == {}


def test_a_name_cannot_break_out_of_the_preview(client: Client, alice: User) -> None:
    name = '"><script>x</script>'
    call(alice, name)
    page = client.get(link(open_table(alice, players=2)))
    assert preview(page)["og:title"] == f"{name} invites you to No Mercy. 1 seat left."
    assert "<script>x" not in page.content.decode()


@pytest.mark.parametrize("rest", ["", "rules/"])
@pytest.mark.parametrize("started", [False, True])
def test_no_cache_keeps_a_page_with_the_secret_in_its_address(
    client: Client, alice: User, bob: User, rest: str, started: bool
) -> None:
    game = table_at(TWO_HANDS, [alice, bob], is_public=False).game if started else open_table(alice, public=False)
    answer = client.get(f"{link(game)}{rest}")
    assert answer.status_code == 200
    assert {"no-store", "private"} <= set(re.split(r",\s*", answer.headers["Cache-Control"]))


def test_only_players_get_the_qr_code(client: Client, as_alice: Client, alice: User, as_bob: Client) -> None:
    game = open_table(alice)
    shown = re.search(
        r'src="(data:image/svg\+xml,[^"]+)"\s+alt="QR code', as_alice.get(game.get_absolute_url()).content.decode()
    )
    assert shown is not None
    assert unquote(shown[1]).replace("&#x27;", "'") == unquote(qr_code(f"{settings.SITE_URL}{link(game)}"))
    for browser in (client, as_bob, logged_in(actions.create_guest())):
        for path in (game.get_absolute_url(), link(game)):
            assert "data:image/svg+xml" not in browser.get(path).content.decode()
    lobby.start(code=lobby_with_bot(game, alice), viewer=Viewer(alice), now=NOON)
    assert 'id="qr"' not in as_alice.get(game.get_absolute_url()).content.decode()


def lobby_with_bot(game: Game, host: User) -> str:
    lobby.add_bot(code=game.code, viewer=Viewer(host), bot="careful", now=NOON)
    return game.code


def test_a_new_link_has_another_qr_code(as_alice: Client, alice: User) -> None:
    game = open_table(alice)
    assert qr_code(f"{settings.SITE_URL}{link(game)}") != qr_code(f"{settings.SITE_URL}/join/other/")
