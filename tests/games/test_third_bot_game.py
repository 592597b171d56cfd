"""Somebody with as many games against bots as they may have goes on with one, or gives up the oldest for a new one."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.conf import settings as site
from django.test import Client
from pytest_django.fixtures import Settings

from accounts.actions import create_guest
from accounts.models import User
from games.actions import table_limits
from games.models import Game, Move, Seat
from tests.conftest import api_token, logged_in, person
from tests.support.pages import CHOICES, text_of
from tests.support.tables import TWO_HANDS, table_at
from tests.support.web import at_once

pytestmark = pytest.mark.django_db

PLAY_NOW, NEW_TABLE = "/play-now/", "/tables/new/"
BOTS = CHOICES | {"way": "bots", "bots": "others"}


@pytest.fixture(autouse=True)
def limits(settings: Settings) -> None:
    settings.RATE_LIMITS = 100


def browser_of(user: User) -> Client:
    """Return a logged-in browser whose forms are known again when they are sent twice."""
    browser = logged_in(user)
    browser.cookies[site.CSRF_COOKIE_NAME] = "a" * 32
    return browser


@pytest.fixture
def guest() -> User:
    return create_guest()


@pytest.fixture
def two(guest: User) -> list[Game]:
    """Return the two games of the guest against bots, the oldest first."""
    return [table_at(TWO_HANDS, [guest, "careful"]).game for _ in range(2)]


@pytest.fixture
def browser(guest: User, two: list[Game]) -> Client:
    return browser_of(guest)


def running(user: User) -> set[str]:
    seats = Seat.objects.filter(user=user, left=False, game__status=Game.Status.PLAYING)
    return set(seats.values_list("game__code", flat=True))


def left(game: Game) -> bool:
    return Seat.objects.get(game=game, bot="").left


def offers(page: Any) -> list[str]:
    """Return the codes of the games that the page offers to give up."""
    return re.findall(r'name="give_up" value="(\w+)"', page.content.decode())


@pytest.mark.parametrize(("url", "form"), [(PLAY_NOW, {}), (NEW_TABLE, BOTS)])
def test_the_third_leads_to_the_newest_and_offers_to_give_up_the_oldest(
    browser: Client, guest: User, two: list[Game], url: str, form: dict[str, str]
) -> None:
    page = browser.post(url, form)
    assert page.status_code == 403
    said = "2 bot games are open. That is the most for a guest. Go on with one, or give up the oldest, with Bot 1, and"
    assert said in text_of(page)
    assert "the maximum" not in text_of(page)
    assert "bot games are open" not in text_of(browser.get("/"))
    assert f'href="/games/{two[1].code}/">Go on with the newest</a>' in page.content.decode()
    assert offers(page) == [two[0].code]
    assert running(guest) == {game.code for game in two}
    done = browser.post(url, {**form, "give_up": two[0].code})
    assert done.status_code == 303
    new = done.headers["Location"].split("/")[2]
    assert running(guest) == {two[1].code, new}
    assert left(two[0])


def test_an_account_at_its_limit_is_offered_the_same(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_limits, "TABLES_AGAINST_BOTS", 1)
    game = table_at(TWO_HANDS, [alice, "careful"]).game
    page = logged_in(alice).post(PLAY_NOW)
    assert offers(page) == [game.code]
    assert "for a guest" not in text_of(page)


def test_a_form_sent_twice_gives_up_one_game_and_makes_one(browser: Client, guest: User, two: list[Game]) -> None:
    form = {"form": "one", "give_up": two[0].code}
    answers = [browser.post(PLAY_NOW, form) for _ in range(2)]
    assert len({answer.headers["Location"] for answer in answers}) == 1
    assert (Game.objects.count(), left(two[1])) == (3, False)


@pytest.mark.django_db(transaction=True)
def test_two_clicks_at_one_instant_give_up_one_game_and_make_one(guest: User, two: list[Game]) -> None:
    def click(wait: Callable[[], object]) -> str:
        own = browser_of(guest)
        wait()
        return str(own.post(PLAY_NOW, {"form": "one", "give_up": two[0].code}).headers.get("Location"))

    (address,) = set(at_once([click] * 4))
    assert running(guest) == {two[1].code, address.split("/")[2]}
    assert Move.objects.filter(game=two[0], text="leave").count() == 1


def test_a_late_form_gives_up_no_other_game(browser: Client, guest: User, two: list[Game]) -> None:
    """The page may have been open while the game that it names ended."""
    Game.objects.filter(pk=two[0].pk).update(status=Game.Status.OVER, winner=0)
    assert browser.post(PLAY_NOW, {"give_up": two[0].code}).status_code == 303
    assert two[1].code in running(guest)
    again = browser.post(PLAY_NOW, {"give_up": two[0].code})
    assert (again.status_code, offers(again)) == (403, [two[1].code])


def test_only_own_games_against_bots_can_be_given_up(browser: Client, guest: User, bob: User) -> None:
    with_people = table_at(TWO_HANDS, [guest, bob]).game
    stranger = table_at(TWO_HANDS, [person("zoe"), "careful"]).game
    for code in (with_people.code, stranger.code, "no-such-table", "x" * 500):
        assert browser.post(PLAY_NOW, {"give_up": code}).status_code == 403
    assert not Seat.objects.filter(left=True).exists()


def test_if_no_game_can_be_made_none_is_given_up(
    browser: Client, two: list[Game], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table_limits, "TABLES", 1)
    page = browser.post(PLAY_NOW, {"give_up": two[0].code})
    assert page.status_code == 403
    assert "You have 1 unfinished table, the maximum" in text_of(page)
    assert not left(two[0])


def test_a_game_where_the_player_is_out_is_not_offered(guest: User) -> None:
    """Nobody can resign who is out until the next deal."""
    hands = [[], ["r4"], ["g3"]]
    for _ in range(2):
        table_at({**TWO_HANDS, "hands": hands, "out": [0], "turn": 1}, [guest, "careful", "careful"], target=500)
    page = logged_in(guest).post(PLAY_NOW)
    assert offers(page) == []
    assert "Go on with the newest" in text_of(page)


def test_the_form_for_a_new_table_keeps_what_was_chosen(browser: Client, two: list[Game]) -> None:
    page = browser.post(NEW_TABLE, {**BOTS, "preset": "flip", "players": "2", "bot": "sharp"}).content.decode()
    for name, value in (("preset", "flip"), ("players", "2"), ("bot", "sharp")):
        assert re.search(rf'name="{name}" value="{value}"[^>]* checked', page), name
    assert page.index("Create table</button>") < page.index('name="give_up"')  # Enter presses the first button


def test_the_api_refuses_as_before(guest: User, two: list[Game], alice: User) -> None:
    monkey = {"Authorization": f"Bearer {api_token(guest)}"}
    answer = Client().post("/api/v1/games", {"players": 2, "bots": 1}, content_type="application/json", headers=monkey)
    assert (answer.status_code, answer.json()["error"]) == (403, "forbidden")
    assert "Go on with one, leave one for a new one, or sign up." in answer.json()["message"]


def test_the_second_of_two_clicks_that_reach_a_limit_leads_to_the_table(guest: User) -> None:
    """The first click makes the last table that waits for players that a guest may have."""
    browser = browser_of(guest)
    browser.post(NEW_TABLE, CHOICES)
    form = {**CHOICES, "form": "one"}
    first, second = browser.post(NEW_TABLE, form), browser.post(NEW_TABLE, form)
    assert (first.status_code, second.status_code) == (303, 303)
    assert first.headers["Location"] == second.headers["Location"]
