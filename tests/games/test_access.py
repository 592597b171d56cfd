"""What pages and calls say where guests, new accounts or visitors are not let in (`GUESTS` and other settings)."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from accounts.models import User
from tests.conftest import logged_in
from tests.support.api import Program, refusal
from tests.support.pages import CHOICES, Page, open_table, text_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def closed(settings: Any) -> None:
    settings.REGISTRATION, settings.GUESTS, settings.LOGIN_REQUIRED = "closed", False, True


def test_the_rules_are_open_but_not_those_of_a_table(client: Client, alice: User, closed: None) -> None:
    game = open_table(alice)
    assert client.get("/rules/?preset=flip").status_code == 200
    for path in (f"/rules/?table={game.code}", "/rules/?table=none"):
        assert client.get(path)["Location"].startswith("/accounts/login/?next=/rules/")


def test_members_use_the_site_and_the_api(as_alice: Client, alice: User, closed: None) -> None:
    assert as_alice.get("/").status_code == 200
    assert Program(alice).get("me").status_code == 200
    for headers in ({}, {"Authorization": "Bearer none"}):
        answer = Client().get("/api/v1/games", headers=headers)
        assert (refusal(answer), answer["WWW-Authenticate"]) == ((401, "unauthorized"), "Bearer")
    assert Client().get("/api/v1/docs")["Location"] == "/accounts/login/?next=/api/v1/docs"


def test_after_the_log_in_a_person_is_where_the_form_was(client: Client, closed: None) -> None:
    sent = client.post("/tables/new/", CHOICES, headers={"Referer": "http://testserver/tables/new/?way=friends"})
    assert sent["Location"] == "/accounts/login/?next=http%3A//testserver/tables/new/%3Fway%3Dfriends"
    assert "nothing was done" in text_of(client.get(sent["Location"]))
    assert client.post("/play-now/", headers={"Referer": "https://evil.example/"})["Location"] == "/accounts/login/"
    htmx = {"HX-Request": "true", "HX-Current-URL": "http://testserver/games/abc/"}
    fragment = client.get("/games/abc/", headers=htmx)
    assert (fragment.status_code, fragment["HX-Redirect"]) == (401, "/accounts/login/?next=/games/abc/")


def test_pages_offer_only_what_is_possible(client: Client, settings: Any) -> None:
    settings.GUESTS = False
    pages = [Page(client.get(address)) for address in ("/", "/accounts/login/")]
    assert ["Play now" in page.text for page in pages] == [False, False]
    assert pages[0].links_to("/accounts/signup/")
    settings.REGISTRATION, settings.CONTACT_TEXT = "closed", "Ring the bell."
    assert not any("Sign up" in text_of(client.get(address)) for address in ("/", "/accounts/login/"))
    for refused in map(Page, (client.get("/accounts/signup/"), client.post("/accounts/signup/"))):
        assert (refused.status, "Nobody can sign up on this site." in refused.text) == (403, True)
        assert refused.links_to("/about/#contact")


def test_a_visitor_logs_in_to_sit_down(client: Client, alice: User, bob: User, settings: Any) -> None:
    game = open_table(alice, public=False)
    settings.GUESTS = False
    sent = client.post(f"/join/{game.invite_key}/")
    assert sent["Location"] == f"/accounts/login/?next={game.get_absolute_url()}"
    assert client.post(f"/games/{game.code}/join/")["Location"] == sent["Location"]
    client.force_login(bob, backend="accounts.backends.ByUsername")
    assert client.get(game.get_absolute_url()).status_code == 200


def test_a_guest_from_before_keeps_playing(settings: Any) -> None:
    guest = Client()
    guest.post("/play-now/")
    settings.GUESTS = False
    assert guest.post("/play-now/")["Location"].startswith("/games/")
    assert logged_in(User.objects.get(is_guest=True)).get("/").status_code == 200
