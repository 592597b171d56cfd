"""A form that arrives after its session has ended leads to a log-in page which says that nothing was done."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from accounts.models import User
from tests.support.tables import TWO_HANDS, table_at

pytestmark = pytest.mark.django_db
SAID = "You are not logged in, so nothing was done."


@pytest.mark.parametrize("path", ["/accounts/me/", "/notices/settings/", "/accounts/me/rest/"])
def test_the_log_in_page_says_that_a_form_was_not_processed(client: Client, path: str) -> None:
    answer = client.post(path, {"display_name": "Anna"})
    assert (answer.status_code, answer["Location"]) == (302, f"/accounts/login/?next={path}")
    assert SAID in client.get(answer["Location"]).content.decode()
    assert SAID not in client.get(answer["Location"]).content.decode()


@pytest.mark.parametrize(("htmx", "header"), [(False, "Location"), (True, "HX-Redirect")])
def test_it_says_so_for_a_move(client: Client, alice: User, bob: User, htmx: bool, header: str) -> None:
    code = table_at(TWO_HANDS, [alice, bob], is_public=True).game.code
    more: dict[str, Any] = {"headers": {"HX-Request": "true"}} if htmx else {}
    answer = client.post(f"/games/{code}/move/", {"move": "play r5", "version": 0}, **more)
    assert SAID in client.get(answer[header]).content.decode()


def test_it_says_nothing_for_a_page(client: Client) -> None:
    answer = client.get("/accounts/me/")
    assert answer["Location"] == "/accounts/login/?next=/accounts/me/"
    assert SAID not in client.get(answer["Location"]).content.decode()
