"""The 404 page tells a visitor how to get to what others may see, and nothing about what exists."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from accounts import invitations as sign_up_invitations
from accounts.models import User
from tests.conftest import staff
from tests.support.pages import open_table, text_of

pytestmark = pytest.mark.django_db


def without_path(answer: Any, path: str) -> tuple[bytes, list[tuple[str, str]]]:
    """Return a 404 without its own path and request id."""
    assert answer.status_code == 404
    headers = sorted((name, value) for name, value in answer.items() if name != "X-Request-ID")
    return answer.content.replace(path.encode(), b"PATH"), headers


def test_a_visitor_sees_the_same_whether_a_private_table_exists_or_not(client: Client, alice: User) -> None:
    code = open_table(alice, public=False).code
    for rest in ("", "log/", "replay/", "record/", "?choose=r3", "no-such-page/"):
        paths = f"/games/{code}/", f"/games/{'z' * len(code)}/"
        hidden, missing = (without_path(client.get(f"{path}{rest}"), path) for path in paths)
        assert hidden == missing, rest


def test_a_player_who_is_logged_out_can_log_in_and_is_at_the_table(client: Client, alice: User) -> None:
    code = open_table(alice, public=False).code
    page = client.get(f"/games/{code}/?choose=r3&uno=1").content.decode()
    link = f"/accounts/login/?next=/games/{code}/%3Fchoose%3Dr3%26uno%3D1"
    assert f'href="{link}">Log in</a>' in page
    shown = client.get(link).content.decode()
    assert f'name="next" value="/games/{code}/?choose=r3&amp;uno=1"' in shown


def test_every_404_has_the_link_unless_a_person_is_logged_in(client: Client, as_alice: Client) -> None:
    for path in ("/nothing/", "/people/nobody/", "/join/nothing/", "/games/%00/", "/static/no.css"):
        answer = client.get(path)
        assert (answer.status_code, 'href="/accounts/login/?next=/' in answer.content.decode()) == (404, True), path
    mine = as_alice.get("/games/none/")
    assert (mine.status_code, "Log in" in text_of(mine)) == (404, False)


def test_a_form_leads_to_no_address_that_takes_only_forms(client: Client, alice: User) -> None:
    answer = client.post(f"/games/{open_table(alice, public=False).code}/join/")
    assert answer.status_code == 404
    assert 'href="/accounts/login/">Log in</a>' in answer.content.decode()


@pytest.mark.parametrize("tail", ["/.", "/%20", "/%E2%80%9D).", "."])
def test_an_invitation_link_with_what_stood_after_it_opens(
    client: Client, alice: User, settings: Any, tail: str
) -> None:
    settings.REGISTRATION = "invite"
    key = sign_up_invitations.invite(user=staff("abe", "admin"), note="", days=7, now=timezone.now())
    for page in (f"/join/{open_table(alice).invite_key}", f"/accounts/invitation/{key}"):
        answer = client.get(f"{page}{tail}")
        assert (answer.status_code, answer["Location"]) == (302, f"{page}/")
        assert "no-store" in answer["Cache-Control"]
        assert client.get(answer["Location"]).status_code == 200
    assert client.get(f"/join/no-such-key{tail}", follow=True).status_code == 404
    assert client.get(f"/games/{open_table(alice).code}{tail}").status_code == 404
