"""What links show elsewhere: the previews of invitations and of moments in chats, and the QR code."""

from __future__ import annotations

import re
from functools import partial
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
from games.queries import Viewer, key_moments
from games.render.invitations import qr_code
from tests.conftest import logged_in
from tests.support.pages import Page, open_table
from tests.support.tables import NOON, TWO_HANDS, table_after, table_at

pytestmark = pytest.mark.django_db


def preview(response: Any) -> dict[str, str]:
    """Return what a chat reads of a page."""
    metas = {
        meta.get("property") or meta.get("name") or "": meta.get("content", "") for meta in Page(response).all("meta")
    }
    return {name: text for name, text in metas.items() if name.startswith(("og:", "twitter:"))}


def link(game: Game) -> str:
    return f"/join/{game.invite_key}/"


def call(user: User, name: str) -> None:
    actions.update_profile(user=user, display_name=name, time_zone="UTC", now=timezone.now())


@pytest.mark.parametrize("public", [True, False])
def test_a_link_says_who_invites_to_what(client: Client, alice: User, public: bool) -> None:
    call(alice, "Anna")
    game = open_table(alice, players=3, bots=1, public=public)
    page = client.get(link(game))
    found = preview(page)
    assert Page(page).has("meta", name="robots", content="noindex")
    assert found["og:title"] == "Anna invites you to No Mercy. 1 seat left."
    assert found["og:description"] == "Standard pace, a single round. Play in your browser, without an account."
    assert (found["og:url"], found["twitter:card"]) == (f"{settings.SITE_URL}{link(game)}", "summary_large_image")
    assert found["og:image"] == f"{settings.SITE_URL}/static/img/share.png"
    head = Path(str(finders.find("img/share.png"))).read_bytes()[:24]
    size = int.from_bytes(head[16:20], "big"), int.from_bytes(head[20:24], "big")
    assert head.startswith(b"\x89PNG")
    assert size == (int(found["og:image:width"]), int(found["og:image:height"]))


def test_full_ended_and_closed_tables_and_dead_links_have_their_own_words_or_none(
    client: Client, alice: User, bob: User
) -> None:
    game, closed = table_at(TWO_HANDS, [alice, bob], is_public=False).game, open_table(alice, public=False)
    title = preview(client.get(link(game)))["og:title"]
    assert title == "alice’s game of No Mercy has started: every seat is taken."
    Game.objects.filter(pk=game.pk).update(status=Game.Status.OVER)
    assert preview(client.get(link(game)))["og:title"] == "alice’s game of No Mercy is over."
    lobby.leave_table(code=closed.code, viewer=Viewer(alice), now=NOON)
    for address, status in ((link(closed), 200), ("/join/guess/", 404)):
        answer = client.get(address)
        assert (answer.status_code, preview(answer)) == (status, {})


@pytest.mark.long
def test_no_other_page_has_a_preview(client: Client, as_alice: Client, alice: User, bob: User) -> None:
    game, running = open_table(alice), table_at(TWO_HANDS, [alice, bob]).game
    for browser in (client, as_alice):
        for path in ("/", "/rules/", "/about/", f"/games/{game.code}/", f"/games/{running.code}/", "/people/alice/"):
            assert preview(browser.get(path)) == {}, path
    assert preview(client.get(f"{link(game)}rules/")) == {}


def test_there_is_none_where_visitors_see_no_tables(as_bob: Client, alice: User, settings: Any) -> None:
    address = link(open_table(alice, public=False))
    assert preview(as_bob.get(address))
    settings.LOGIN_REQUIRED = True
    assert as_bob.get(address).status_code == 200
    assert preview(as_bob.get(address)) == preview(Client().get(address)) == {}


def test_a_link_to_a_moment_tells_it_to_those_who_may_see_the_table(
    client: Client, as_alice: Client, alice: User, bob: User, settings: Any
) -> None:
    table = table_after([alice, bob, "careful"], 10_000, seed=3)
    moment = next(one for one in key_moments.key_moments_of(table) if (one.kind, one.seat) == ("knocked_out", 1))
    address = f"{table.game.get_absolute_url()}replay/?n={moment.n}&round=1"
    for browser in (client, as_alice):
        page = browser.get(address)
        found = preview(page)
        assert not Page(page).has("meta", name="robots")
        assert "No mercy: bob is out." in found["og:title"]
        about = f"No Mercy with alice, bob and Bot 2: move {moment.n} of {table.game.version}."
        assert (found["og:description"], found["og:url"]) == (about, f"{settings.SITE_URL}{address}")
    plain = preview(client.get(f"{table.game.get_absolute_url()}replay/?n=1"))
    assert plain["og:title"].startswith(("alice ", "bob ", "Bot 2 "))
    Game.objects.filter(pk=table.game.pk).update(is_public=False)
    answer = client.get(address)
    assert (answer.status_code, preview(answer)) == (404, {})
    settings.LOGIN_REQUIRED = True
    assert preview(as_alice.get(address)) == {}


def test_a_name_cannot_break_out_of_the_preview(client: Client, alice: User) -> None:
    name = '"><script>x</script>'
    call(alice, name)
    page = client.get(link(open_table(alice, players=2)))
    assert preview(page)["og:title"] == f"{name} invites you to No Mercy. 1 seat left."
    assert "<script>x" not in page.content.decode()


@pytest.mark.parametrize("started", [False, True])
def test_no_cache_keeps_a_page_with_the_secret_in_its_address(
    client: Client, alice: User, bob: User, started: bool
) -> None:
    game = table_at(TWO_HANDS, [alice, bob], is_public=False).game if started else open_table(alice, public=False)
    for rest in ("", "rules/"):
        answer = client.get(f"{link(game)}{rest}")
        assert answer.status_code == 200
        assert {"no-store", "private"} <= set(re.split(r",\s*", answer.headers["Cache-Control"]))


def test_only_players_get_the_qr_code(client: Client, as_alice: Client, alice: User, as_bob: Client) -> None:
    game = open_table(alice)
    image = Page(as_alice.get(game.get_absolute_url())).one("img", alt="QR code of the invitation link").get("src", "")
    assert unquote(image) == unquote(qr_code(f"{settings.SITE_URL}{link(game)}"))
    assert image != qr_code(f"{settings.SITE_URL}/join/other/")
    for browser in (client, as_bob, logged_in(actions.create_guest())):
        for path in (game.get_absolute_url(), link(game)):
            assert "data:image/svg+xml" not in browser.get(path).content.decode()
    for act in (partial(lobby.add_bot, bot="careful"), lobby.start):
        act(code=game.code, viewer=Viewer(alice), now=NOON)
    assert not Page(as_alice.get(game.get_absolute_url())).has(id="qr")
