"""The pictures that people choose, and the file that draws them."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from django.conf import settings
from django.test import Client

from accounts import actions
from accounts.avatars import AVATARS, FILE, avatar_of
from accounts.models import User
from games.models import Seat
from tests.conftest import logged_in
from tests.support.pages import open_table, text_of
from tests.support.tables import TWO_HANDS, table_at

STATIC = Path(settings.CHECKOUT) / "static"
SVG = "{http://www.w3.org/2000/svg}"


def shown(html: str) -> list[str]:
    """Return the pictures on a page, in order."""
    return re.findall(r'class="avatar" src="/static/img/avatars\.svg#(\w+)"', html)


def test_the_file_draws_every_picture_once_in_colours_of_the_site() -> None:
    drawn = ET.parse(STATIC / FILE).getroot()  # noqa: S314  # a file of ours
    assert [view.get("id") for view in drawn.iter(f"{SVG}view")] == list(AVATARS)
    grounds = [group.find(f"{SVG}path") for group in drawn.findall(f"{SVG}g")]
    colors = [ground.get("fill") for ground in grounds if ground is not None]
    assert len(set(colors)) == len(AVATARS)
    tokens = (STATIC / "css" / "tokens.css").read_text()
    assert all(f"{color};" in tokens for color in colors)


def test_the_file_is_small() -> None:
    assert (STATIC / FILE).stat().st_size <= 3_000


def test_without_a_choice_a_person_always_has_the_same_picture() -> None:
    assert [avatar_of("", number) for number in range(8)] == list(AVATARS)
    assert avatar_of("", 11) == avatar_of("", 3)
    assert avatar_of("crown", 11) == "crown"


def test_a_guest_keeps_the_picture_when_signing_up(db: None) -> None:
    guest = actions.create_guest()
    before = guest.avatar_shown
    words = {"password1": "a long way to Bergen", "password2": "a long way to Bergen"}
    logged_in(guest).post("/accounts/signup/", {"username": "dora", **words})
    assert User.objects.get(username="dora").avatar_shown == before


@pytest.mark.long
def test_a_chosen_picture_is_shown_wherever_the_person_is(as_alice: Client, alice: User, bob: User) -> None:
    other = next(name for name in AVATARS if name not in (alice.avatar_shown, bob.avatar_shown))
    saved = as_alice.post("/accounts/me/", {"display_name": "", "time_zone": "UTC", "avatar": other})
    assert saved.status_code == 302
    lobby_page, game = open_table(alice).get_absolute_url(), table_at(TWO_HANDS, [alice, bob]).game
    # A person's page has them at the top, and in the row of the game that they share with the reader.
    for path, times in ((lobby_page, 1), (game.get_absolute_url(), 1), ("/people/alice/", 2), ("/", 1)):
        found = shown(logged_in(bob).get(path).content.decode())
        assert found.count(other) == times, path
    assert 'value="' + other + '" id="id_avatar_' in as_alice.get("/accounts/me/").content.decode()
    chosen = re.search(r'value="(\w+)"[^>]* checked', as_alice.get("/accounts/me/").content.decode())
    assert chosen is not None
    assert chosen[1] == other


def test_the_choice_has_words(as_alice: Client) -> None:
    text = text_of(as_alice.get("/accounts/me/"))
    assert all(title in text for title in ("Picture", *AVATARS.values()))


@pytest.mark.parametrize("avatar", ["unicorn", "anchor\n", "x" * 500, "<b>"])
def test_an_unknown_picture_is_refused_and_the_rest_kept(as_alice: Client, alice: User, avatar: str) -> None:
    answer = as_alice.post("/accounts/me/", {"display_name": "Anna", "time_zone": "UTC", "avatar": avatar})
    assert (answer.status_code, "Select a valid choice" in text_of(answer)) == (422, True)
    assert 'value="Anna"' in answer.content.decode()
    alice.refresh_from_db()
    assert (alice.avatar, alice.display_name) == ("", "")


def test_a_form_without_a_picture_keeps_it(as_alice: Client, alice: User) -> None:
    User.objects.filter(pk=alice.pk).update(avatar="crown")
    assert as_alice.post("/accounts/me/", {"display_name": "Anna", "time_zone": "UTC"}).status_code == 302
    alice.refresh_from_db()
    assert (alice.avatar, alice.name) == ("crown", "Anna")


def test_bots_and_the_deleted_have_letters(client: Client, alice: User, bob: User) -> None:
    game = open_table(alice, players=4, bots=1)
    Seat.objects.create(game=game, index=1, name="Deleted player 7")
    html = client.get(game.get_absolute_url()).content.decode()
    assert shown(html) == [alice.avatar_shown]
    assert html.count('<span class="avatar" aria-hidden="true">') == 3  # the bot, the deleted player, the free seat
