"""PostgreSQL accepts no NUL character, so a URL with one is refused before any view runs."""

from __future__ import annotations

import pytest
from django.test import Client

from accounts.models import User
from tests.conftest import logged_in
from tests.security.headers import faults
from tests.support.codes import staff_browser

pytestmark = pytest.mark.django_db


def test_a_url_with_a_null_character_is_refused_on_every_page(alice: User) -> None:
    root = staff_browser(User.objects.create_superuser("root", password="root"))
    paths = ("/%00", "/people/a%00b/", "/games/a%00/", "/join/%00/", "/admin/games/game/%00/change/")
    queries = ("/?a=%00", "/?%00=a", "/nothing/?a=%00")
    for browser in (Client(), logged_in(alice), root):
        assert browser.get("/").status_code == 200
        for url in (*paths, *queries):
            answer = browser.get(url)
            assert answer.status_code == (404 if url in paths else 400), url
            assert faults(answer) == []
    for lists in ("games/round/?q=%00", "games/game/?status__exact=%00", "games/auditentry/?at__year=%00"):
        assert root.get(f"/admin/{lists}").status_code == 400, lists


def test_the_refusal_says_what_to_do() -> None:
    page = Client().get("/?a=%00").content.decode()
    assert "Go back, reload the page and try again." in page
    error = Client().get("/api/v1/games/a%00/").json()
    assert error["error"] == "not_found"
    assert Client().get("/api/v1/games?status=%00").status_code == 400


def test_a_form_with_a_null_character_says_which_field_is_wrong(alice: User) -> None:
    page = Client().post("/accounts/signup/", {"username": "do\0ra", "password1": "x", "password2": "x"})
    assert (page.status_code, "Null characters are not allowed." in page.content.decode()) == (200, True)
    form = {"login": "alice", "password": "alice", "next": "http://a\0[b"}
    answer = Client().post("/accounts/login/", form)
    assert (answer.status_code, answer.headers["Location"]) == (302, "/")


def test_other_escaped_characters_are_accepted() -> None:
    for url in ("/?a=%2500", "/?a=100%2500", "/?a=%25%30%30"):
        assert Client().get(url).status_code == 200, url
