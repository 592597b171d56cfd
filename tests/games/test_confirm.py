"""What is asked before a move, of somebody who wants to be asked about every press."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import User
from games.models import Game
from games.queries import Table
from tests.support.game_page import GamePage
from tests.support.tables import TWO_HANDS, log_of, now_of, table_at

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _asked(alice: User) -> None:
    User.objects.filter(pk=alice.pk).update(confirm=User.Confirm.ALWAYS)


def send(browser: Client, table: Table, move: str, *, htmx: bool = True, **fields: object) -> GamePage:
    """Press a button of a page that shows the table as it is now."""
    game = now_of(table).game
    return GamePage.after(browser, game, {"version": game.version, "deal": 1, "move": move, **fields}, htmx=htmx)


def question(page: GamePage) -> str:
    """Return the question of a page, empty without one."""
    return page.part("chooser").partition("?")[0]


@pytest.mark.parametrize(
    ("hand", "changes", "preset", "move", "uno", "asked", "htmx"),
    [
        (["r5", "b1", "b2"], {}, "no-mercy", "play r5", False, "Play Red 5? Back Yes, play it", True),
        (["r5", "b1"], {}, "no-mercy", "play r5", True, "Play Red 5 and call UNO? Back Yes, play it", False),
        (["r7", "b1", "b2"], {}, "no-mercy", "play r7 swap 1", False,
         "Play Red 7 and swap hands with bob? Back Yes, play it", True),
        (["b1", "b2", "W6"], {"phase": "drawn", "drawn": "W6"}, "no-mercy", "play W6 color g", False,
         "Play Wild Draw Six and choose green? Back Yes, play it", False),
        (["b1", "b2"], {}, "no-mercy", "draw", False, "Draw until one fits? Back Yes, draw", True),
        (["b1", "b2"], {}, "classic", "draw", False, "Draw a card? Back Yes, draw", False),
        (["b1", "r5"], {"phase": "drawn", "drawn": "r5"}, "classic", "pass", False,
         "Keep the card and pass? Back Yes, keep it", True),
    ],
)  # fmt: skip
def test_a_move_is_asked_about_and_then_made(
    as_alice: Client, alice: User, bob: User, hand: list[str], changes: dict[str, Any], preset: str, move: str,
    uno: bool, asked: str, htmx: bool,
) -> None:  # fmt: skip
    position = {**TWO_HANDS, "hands": [hand, ["r4", "g3", "g8"]], "draw_pile": ["y1", "y2", "r9"], **changes}
    table = table_at(position, [alice, bob], preset=preset)
    before = Game.objects.values().get(pk=table.game.pk)
    page = send(as_alice, table, move, htmx=htmx, **({"uno": "1"} if uno else {}))
    assert page.status == 200
    assert page.part("chooser").endswith(asked)
    assert (log_of(table), Game.objects.values().get(pk=table.game.pk)) == ([], before)
    assert [value for name, value in page.buttons if name == "sure"] == ["1"]
    made = page.one("input", name="move").get("value", "")
    assert made == (f"{move} uno" if uno else move)
    again = GamePage.of(as_alice, table.game, f"?{page.refetches}", fragment=True)
    assert again.part("chooser") == page.part("chooser")
    back = page.one("a", id="chooser-cancel").get("href", "")
    assert GamePage(as_alice.get(back)).has(id="chooser") == (preset == "no-mercy" and "drawn" in changes)
    send(as_alice, table, made, htmx=htmx, sure="1", token=page.field("token"))
    assert log_of(table)[0] == f"0 {made}"


@pytest.mark.parametrize(
    ("changes", "fields", "move"),
    [
        ({}, {"pace": "live"}, "play r5"),
        ({}, {"deadline": timedelta(seconds=50)}, "play r5"),
        ({}, {}, "play W6 color g"),  # the chooser has asked
        ({"exposed": [1]}, {}, "catch 1"),
        ({"exposed": [0], "hands": [["r5"], ["r4", "g3"]], "turn": 1}, {}, "uno"),
    ],
)
def test_what_nobody_is_asked_about(
    as_alice: Client, alice: User, bob: User, changes: dict[str, Any], fields: dict[str, Any], move: str
) -> None:
    if "deadline" in fields:
        fields = {"deadline": timezone.now() + fields["deadline"]}
    hands = {**TWO_HANDS, "hands": [["r5", "W6", "b2"], ["r4"] if "exposed" in changes else ["r4", "g3"]]}
    table = table_at({**hands, **changes}, [alice, bob], **fields)
    send(as_alice, table, move)
    assert log_of(table)[0] == f"0 {move}"


@pytest.mark.parametrize("confirm", [User.Confirm.TAPS, User.Confirm.NEVER])
def test_by_default_a_key_plays_at_once(as_alice: Client, alice: User, bob: User, confirm: str) -> None:
    User.objects.filter(pk=alice.pk).update(confirm=confirm)
    table = table_at(TWO_HANDS, [alice, bob])
    send(as_alice, table, "play r5")
    assert log_of(table) == ["0 play r5"]


def test_what_is_refused_is_not_asked_about(as_alice: Client, alice: User, bob: User) -> None:
    table = table_at(TWO_HANDS, [alice, bob])
    assert send(as_alice, table, "play b2").status == 422
    one, two = (send(as_alice, table, "play r5") for _ in range(2))
    assert question(one) == question(two) == "Play Red 5"
    assert send(as_alice, table, "play r5", sure="1", version=one.version).status == 200
    assert send(as_alice, table, "play r5", sure="1", version=two.version).status == 409
    assert log_of(table) == ["0 play r5"]


def test_another_button_beside_the_question_makes_its_own_move(as_alice: Client, alice: User, bob: User) -> None:
    """The form sends the move in question, too, before the move of the button."""
    table = table_at({**TWO_HANDS, "exposed": [1], "hands": [["r5", "b1", "b2"], ["r4"]]}, [alice, bob])
    page = send(as_alice, table, "play r5")
    assert ("move", "catch 1") in page.buttons
    url = f"{table.game.get_absolute_url()}move/"
    as_alice.post(url, {"version": 0, "deal": 1, "move": ["play r5", "catch 1"]})
    assert log_of(table) == ["0 catch 1"]


def test_the_setting_is_in_the_profile(as_alice: Client, alice: User) -> None:
    profile = {"display_name": "", "time_zone": "UTC"}
    for sent, stored in ("off", "off"), ("", "off"), ("some", "off"), ("all", "all"):
        as_alice.post("/accounts/me/", {**profile, "confirm": sent})
        alice.refresh_from_db()
        assert alice.confirm == stored
