"""Test that a table that cannot be read, as after a restore, breaks no list, nor an unknown zone a page."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from accounts.models import User
from games.models import Game
from games.queries import front_page, tables
from tests.conftest import api_token, logged_in
from tests.support.pages import open_table

pytestmark = pytest.mark.django_db


@pytest.fixture
def broken(alice: User) -> Game:
    """An open table with rules that this release does not know, and a newer one of Bob's that can be read."""
    tables.log_unreadable.cache_clear()
    game = open_table(alice)
    Game.objects.filter(pk=game.pk).update(preset="later")
    return game


@pytest.mark.long
def test_lists_leave_out_a_table_that_cannot_be_read(
    broken: Game, alice: User, bob: User, caplog: pytest.LogCaptureFixture
) -> None:
    other = open_table(bob)
    for _ in range(2):
        for reader in (Client(), logged_in(alice), logged_in(bob)):
            for path in ("/", "/people/alice/", "/people/bob/"):
                assert reader.get(path).status_code == 200, path
        page = Client().get("/").content.decode()
        assert (other.code in page, broken.code in page) == (True, False)
    told = [record for record in caplog.records if "left out of lists" in record.getMessage()]
    assert len(told) == 1


def test_the_list_of_the_api_goes_on_after_such_a_table(broken: Game, bob: User) -> None:
    older = Game.objects.get(pk=broken.pk)
    others = [open_table(bob).code for _ in range(2)]
    client = Client(headers={"authorization": f"Bearer {api_token(bob)}"})
    seen, url = [], "/api/v1/games?limit=1"
    for _ in range(5):
        answer = client.get(url).json()
        seen += [item["id"] for item in answer["items"]]
        if "next" not in answer:
            break
        url = f"/api/v1/games?limit=1&after={answer['next']}"
    assert (set(others) <= set(seen), older.code in seen) == (True, False)


def test_a_page_of_current_games_knows_that_there_are_more(
    broken: Game, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_table(alice)
    monkeypatch.setattr(front_page, "PAGE", 1)
    pages = [front_page.current_games(alice, before=before) for before in (0, 1)]
    assert [(len(found), more) for found, more in pages] == [(1, True), (0, False)]


def test_a_person_with_an_unknown_time_zone_sees_utc(alice: User) -> None:
    User.objects.filter(pk=alice.pk).update(time_zone="Not/A_Zone")
    open_table(alice)
    reader = logged_in(alice)
    for path in ("/", reverse("me"), "/people/alice/", "/notices/"):
        assert reader.get(path).status_code == 200, path
