"""Test that invalid values in the URLs of staff lists cause no error."""

from __future__ import annotations

import pytest
from django.contrib import admin
from django.contrib.messages import get_messages
from django.db import DataError
from django.test import Client
from django.urls import reverse
from structlog.testing import capture_logs

from accounts.models import User
from common.read_only_admin import UNREADABLE, ReadOnlyAdmin
from games.models import Game
from tests.support.codes import staff_browser
from tests.support.tables import table_after

pytestmark = pytest.mark.django_db

HUGE = "9" * 30  # too large for a column, a year or a page number


@pytest.fixture
def root() -> Client:
    return staff_browser(User.objects.create_superuser("root", password="root"))


def lists() -> list[tuple[str, ReadOnlyAdmin]]:
    """Return every list of the staff pages with its URL."""
    found = []
    for model, pages in admin.site._registry.items():
        assert isinstance(pages, ReadOnlyAdmin), model
        found.append((reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist"), pages))
    return found


@pytest.mark.long
def test_a_huge_number_breaks_no_filter(root: Client, alice: User, bob: User) -> None:
    table_after([alice, bob], 4, seed=1)
    for address, pages in lists():
        for name in ("p", "o", *pages.lookups_of_filters()):
            assert root.get(address, {name: HUGE}).status_code in (200, 302), (address, name)


@pytest.mark.long
def test_a_long_search_is_refused(root: Client, alice: User, bob: User) -> None:
    table_after([alice, bob], 4, seed=1)
    for address, pages in lists():
        if not pages.search_fields or type(pages).get_search_results is not ReadOnlyAdmin.get_search_results:
            continue  # those look for the text as a whole, which costs no more for many words
        assert "Search for at most 100 characters." not in root.get(address, {"q": "a " * 50}).content.decode()
        answer = root.get(address, {"q": "a " * 51}).content.decode()
        assert "Search for at most 100 characters." in answer, address
        assert 'class="field-' not in answer, address  # no rows


@pytest.mark.parametrize("error", [DataError, ValueError, OverflowError])
def test_an_invalid_value_shows_the_whole_list(
    root: Client, monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    def refuse(self: ReadOnlyAdmin, *args: object) -> None:
        raise error("bigint out of range")

    monkeypatch.setattr(ReadOnlyAdmin, "get_queryset", refuse)
    with capture_logs() as lines:
        answer = root.get("/admin/games/round/", {"q": "9"})
    assert (answer.status_code, answer.headers["Location"]) == (302, "/admin/games/round/")
    assert [str(message) for message in get_messages(answer.wsgi_request)] == [UNREADABLE]
    assert [(line["list"], line["error"]) for line in lines if line["log_level"] == "warning"] == [
        ("games.round", error.__name__)
    ]
    with pytest.raises(error):
        root.get("/admin/games/round/")  # a bug of the site, because the URL has no value


@pytest.mark.parametrize("error", [ValueError, OverflowError, DataError])
def test_a_bug_in_a_list_page_is_not_hidden_as_a_wrong_value(
    root: Client, monkeypatch: pytest.MonkeyPatch, error: type[Exception], alice: User, bob: User
) -> None:
    def fail(self: Game) -> str:
        raise error

    table_after([alice, bob], 1, seed=1)
    monkeypatch.setattr(Game, "__str__", fail)
    root.raise_request_exception = False
    for address in ("/admin/games/round/", "/admin/games/round/?p=1"):
        answer = root.get(address)
        assert answer.status_code == 500, address
