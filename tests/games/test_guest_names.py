"""Visitors who sit down are asked for their name, at an invitation and at a public table."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth import get_user
from django.test import Client

from accounts import actions
from accounts.models import User
from games.actions import lobby
from games.models import Game, Seat
from games.queries import Viewer
from tests.conftest import logged_in
from tests.support.pages import CHOICES, open_table, text_of, words_in
from tests.support.tables import NOON

pytestmark = pytest.mark.django_db
FIELD = 'name="name"'
FRIENDS = {**CHOICES, "way": "friends"}
WORDS = {"password1": "correct horse battery", "password2": "correct horse battery"}


def link(game: Game) -> str:
    return f"/join/{game.invite_key}/"


@pytest.mark.long
@pytest.mark.parametrize("public", [True, False])
def test_a_visitor_sits_down_with_the_name_as_typed(client: Client, alice: User, public: bool) -> None:
    game = open_table(alice, public=public)
    assert FIELD in client.get(link(game)).content.decode()
    assert client.post(link(game), {"name": "  Anna  Lee "}).status_code == 303
    guest = Seat.objects.get(game=game, index=1).user
    assert guest is not None
    assert (guest.name, guest.is_guest, get_user(client)) == ("Anna Lee", True, guest)
    for path in ("/", f"/games/{game.code}/", f"/people/{guest.username}/", "/accounts/me/", "/accounts/signup/"):
        page = client.get(path).content.decode()
        assert "Anna Lee" in page
        assert "anna lee" not in page


def test_a_public_table_asks_at_its_own_address_too(client: Client, alice: User) -> None:
    game = open_table(alice)
    assert FIELD in client.get(f"/games/{game.code}/").content.decode()
    assert client.post(f"/games/{game.code}/join/", {"name": "Zoë"}).status_code == 303
    assert Seat.objects.get(game=game, index=1).name == "Zoë"
    assert Client().post(f"/games/{game.code}/join/").status_code == 303  # gets a name of the site
    assert len(Seat.objects.get(game=game, index=2).name.split()) == 3


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("", "Enter the name that others will see."),
        ("   ", "Enter the name that others will see."),
        ("x" * 31, "has at most 30 characters"),
        ("\N{ARABIC LIGATURE SALLALLAHOU ALAYHE WASALLAM}" * 31, "has at most 30 characters"),
        ("alice", "Somebody else goes by this name."),
        ("ALICE", "Somebody else goes by this name."),
        ("Al1ce", "looks like"),
        ("Moderator", "This name is reserved. Choose another."),
        ("An\u200bna", "Use only visible characters"),
        ("\U0001f98a", "Use at least one letter or number"),
        ("anna.example.com", "Mail programs would turn this name into a link"),
        ("A" * 31, "Ensure this value has at most 30 characters (it has 31)."),
        ("<script>alert(1)</script>", ""),
    ],
)
def test_a_refused_name_loses_nothing(client: Client, alice: User, name: str, why: str) -> None:
    game = open_table(alice, public=False)
    answer = client.post(link(game), {"name": name})
    page = answer.content.decode()
    assert answer.status_code == 422 if why else 303
    if not why:
        assert "<script>alert" not in client.get(f"/games/{game.code}/").content.decode()
        return
    assert why in text_of(answer)
    assert f'action="{link(game)}"' in page
    assert 'aria-invalid="true"' in page
    assert "autofocus" in page
    assert f'value="{name}"' in page or not name.strip()
    assert not User.objects.filter(is_guest=True).exists()
    assert Seat.objects.filter(game=game).count() == 1
    assert client.post(link(game), {"name": "Anna"}).status_code == 303  # the same link, once more


def test_a_host_without_an_account_invites_by_name(client: Client, as_alice: Client) -> None:
    assert FIELD in client.get("/tables/new/?way=friends").content.decode()
    assert FIELD not in as_alice.get("/tables/new/").content.decode()
    refused = client.post("/tables/new/", FRIENDS | {"name": "alice"})
    assert (refused.status_code, "Somebody else goes by this name." in text_of(refused)) == (422, True)
    assert not User.objects.filter(is_guest=True).exists()
    assert client.post("/tables/new/", FRIENDS | {"name": " Anna Lee "}).status_code == 303
    assert "Anna Lee invites you to No Mercy." in Client().get(link(Game.objects.get())).content.decode()
    assert Client().post("/tables/new/", FRIENDS | {"name": " "}).status_code == 303  # gets a name of the site
    assert len(Seat.objects.latest("pk").name.split()) == 3


def test_a_seated_guest_reads_how_to_come_back(client: Client, alice: User, as_alice: Client) -> None:
    game = open_table(alice, public=False)
    client.post(link(game), {"name": "Anna"})
    page = client.get(f"/games/{game.code}/").content.decode()
    assert "You can close this page: in this browser, the front page leads back to the game." in words_in(page)
    assert f'/accounts/signup/?next=/games/{game.code}/"' in page
    assert "come-back" not in as_alice.get(f"/games/{game.code}/").content.decode()


@pytest.mark.long
def test_a_refused_name_is_not_counted_as_a_guest(client: Client, alice: User) -> None:
    game = open_table(alice, players=10, preset="classic")
    for _ in range(25):
        assert client.post(link(game), {"name": "alice"}).status_code == 422
    assert client.post(link(game), {"name": "Anna"}).status_code == 303


def test_a_person_who_is_logged_in_is_not_asked(as_bob: Client, bob: User, alice: User) -> None:
    game = open_table(alice, public=False)
    assert FIELD not in as_bob.get(link(game)).content.decode()
    assert as_bob.post(link(game), {"name": "Mallory"}).status_code == 303
    bob.refresh_from_db()
    assert (bob.name, Seat.objects.get(game=game, index=1).user) == ("bob", bob)


def test_where_nobody_becomes_a_guest_nobody_is_asked(client: Client, alice: User, settings: Any) -> None:
    settings.GUESTS = False
    game = open_table(alice)
    assert FIELD not in client.get(link(game)).content.decode()
    answer = client.post(link(game), {"name": "Anna"})
    assert answer.headers["Location"].startswith("/accounts/login/")
    assert not User.objects.filter(is_guest=True).exists()


def test_a_full_table_is_refused_before_the_name(client: Client, alice: User, bob: User) -> None:
    game = open_table(alice, players=2)
    lobby.join(code=game.code, viewer=Viewer(bob), now=NOON)
    answer = client.post(link(game), {"name": "alice"})
    assert (answer.status_code, "Every seat at this table is taken." in text_of(answer)) == (409, True)


def test_signing_up_keeps_capitals(client: Client) -> None:
    assert client.post("/accounts/signup/", {"username": "AnnaLee", **WORDS}).status_code == 302
    anna = User.objects.get()
    assert (anna.username, anna.display_name, anna.name) == ("annalee", "AnnaLee", "AnnaLee")
    assert "AnnaLee" in text_of(client.get("/"))
    again = Client().post("/accounts/signup/", {"username": "aNNALEE", **WORDS})
    assert (again.status_code, User.objects.count()) == (200, 1)
    Client().post("/accounts/signup/", {"username": "bert", **WORDS})
    assert User.objects.get(username="bert").display_name == ""  # needs no second name
    assert Client().post("/accounts/login/", {"login": "ANNALEE", "password": WORDS["password1"]}).status_code == 302


def test_a_guest_keeps_the_chosen_name_and_gives_up_a_made_up_one(db: None) -> None:
    chosen, made_up = actions.create_guest(name="Anna"), actions.create_guest()
    page = logged_in(chosen).get("/accounts/signup/")
    assert "Others still see you as Anna." in text_of(page)
    assert 'value="Anna"' in page.content.decode()
    logged_in(chosen).post("/accounts/signup/", {"username": "anna2", **WORDS})
    logged_in(made_up).post("/accounts/signup/", {"username": "Bert", **WORDS})
    for user in (chosen, made_up):
        user.refresh_from_db()
    assert [(user.username, user.name, user.is_guest) for user in (chosen, made_up)] == [
        ("anna2", "Anna", False),
        ("bert", "Bert", False),
    ]


def test_a_name_that_is_too_long_is_not_looked_at(alice: User, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """Composing its characters could take seconds."""
    monkeypatch.setattr(actions, "clean_display_name", lambda typed: pytest.fail("looked at"))
    assert client.post(link(open_table(alice)), {"name": "x" * 20_000}).status_code == 422
