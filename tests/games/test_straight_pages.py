"""Test how a straight is chosen card by card on a page without scripts, and sent in one piece."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client

from accounts.models import User
from games import queries, rules
from games.queries import Table
from tests.support.game_page import GamePage
from tests.support.races import RACING, STRAIGHT
from tests.support.tables import log_of, now_of, table_at

pytestmark = pytest.mark.django_db


@pytest.fixture
def table(alice: User, bob: User, charlie: User) -> Table:
    return table_at(STRAIGHT, [alice, bob, charlie], preset="house-party")


def send(browser: Client, table: Table, fields: Mapping[str, str], *, htmx: bool = False) -> GamePage:
    """Press a button, and without scripts follow the redirect."""
    return GamePage.after(browser, table.game, {"version": str(now_of(table).game.version), **fields}, htmx=htmx)


def page_of(browser: Client, table: Table, choose: str = "") -> GamePage:
    return GamePage.of(browser, table.game, f"?choose={choose}" if choose else "")


@pytest.mark.parametrize("htmx", [False, True])
def test_a_straight_is_chosen_card_by_card(table: Table, as_alice: Client, htmx: bool) -> None:
    cards = [button for button in page_of(as_alice, table).buttons if button[1].endswith(("r4", "r5", "r6", "b9"))]
    assert cards == [("choose", "r4"), ("choose", "r5"), ("choose", "r6"), ("move", "play b9")]
    page = send(as_alice, table, {"choose": "r4"}, htmx=htmx)
    assert "Continue the straight? All in one go: a straight can’t be continued later." in page.text
    assert "Play only this card Red 4" in page.text
    assert not any(part.get("class") == "avatar" for part in page.one(id="chooser").iter())  # no player is chosen
    assert {("move", "play r4"), ("choose", "r4,r5")} <= set(page.buttons)
    page = send(as_alice, table, {"choose": "r4,r5", "uno": "1"}, htmx=htmx)
    assert "And then Red 6" in page.text
    assert page.chosen("uno") == ["1"]
    assert ("move", "play r4,play r5") in page.buttons
    send(as_alice, table, {"choose": "r4,r5,r6", "uno": "1"}, htmx=htmx)
    assert log_of(table) == []
    send(as_alice, table, {"move": "play r4,play r5,play r6", "uno": "1"}, htmx=htmx)
    assert log_of(table) == ["0 play r4", "0 play r5", "0 play r6 uno"]


def test_the_first_card_can_be_played_alone_and_a_refusal_says_which_card(table: Table, as_alice: Client) -> None:
    page = send(as_alice, table, {"move": "play r4,play r6"})
    assert "Red 6 was refused, so no card was played. Only further cards of a straight can follow a play." in page.text
    assert log_of(table) == []
    send(as_alice, table, {"move": "play r4"})
    assert log_of(table) == ["0 play r4"]


def test_the_choice_has_an_address_that_is_escaped(table: Table, as_alice: Client) -> None:
    answer = as_alice.post(f"{table.game.get_absolute_url()}move/", {"choose": "r4,r5&uno=1\r\n", "version": "0"})
    assert answer.status_code == 303
    assert parse_qs(urlsplit(answer.headers["Location"]).query) == {"choose": ["r4,r5&uno=1\r\n"]}


def test_no_chooser_opens_for_cards_that_are_no_straight(table: Table, as_alice: Client) -> None:
    for chosen in ("r5,r4,r9", "r4,r6", "r4,r4", "b9", "b9,r4", "r4,", ",", "r4,r5 swap 1", "<b>"):
        page = page_of(as_alice, table, chosen)
        assert (page.status, page.has(id="chooser")) == (200, False), chosen


def test_a_card_is_played_at_once_where_its_steps_can_be_sent_alone(
    alice: User, bob: User, charlie: User, as_alice: Client
) -> None:
    page = page_of(as_alice, table_at(STRAIGHT, [alice, bob, charlie], **RACING), "r4")
    assert ("choose" in dict(page.buttons), page.has(id="chooser")) == (False, False)


def test_a_drawn_card_can_begin_a_straight(alice: User, bob: User, as_alice: Client) -> None:
    position = {**STRAIGHT, "hands": [["r5", "r6", "r4"], ["r1", "g2"]], "phase": "drawn", "drawn": "r4"}
    page = page_of(as_alice, table_at(position, [alice, bob], preset="house-party"))
    assert {("move", "pass"), ("move", "play r4"), ("choose", "r4,r5")} <= set(page.buttons)


def steps(user: User, table: Table, *plays: str) -> list[str]:
    view = queries.view_of(table, user).view
    assert view is not None
    return [str(move) for move in rules.next_steps(view, [rules.parse_move(f"play {play}") for play in plays])]


def test_steps_are_those_that_the_rules_accept(alice: User, bob: User) -> None:
    hand = ["r4", "r5", "r5", "r6", "r7", "r0", "r9", "g5", "W"]
    position = {**STRAIGHT, "hands": [hand, ["r1", "g2"]]}
    table = table_at(position, [alice, bob], preset="house-party")
    assert steps(alice, table, "r4") == ["play r5"]
    assert steps(alice, table, "r4", "r5") == ["play r6"]  # the way may turn round, but the other 4 is not held
    assert steps(alice, table, "r5", "r6") == ["play r5", "play r7 swap 1"]
    assert steps(alice, table, "r5", "r6", "r7") == []  # a 7 acts and closes the straight (RUN-3)
    assert steps(alice, table, "r9") == ["play r0"]
    assert steps(alice, table, "W") == steps(alice, table, "r7") == []
    shuffle = rules.Shuffler(bytes(32)).shuffle
    for plays in (["r4", "r5"], ["r5", "r6"]):
        after = table.started.position
        for card in plays:
            after, _ = rules.apply(after, 0, rules.parse_move(f"play {card}"), table.options, shuffle)
        legal = rules.legal_moves(after, 0, table.options)
        listed = [str(move) for move in legal if rules.is_step(after, 0, move.card or "", table.options)]
        assert sorted(listed) == steps(alice, table, *plays)
