"""Tips: each is shown on its first occasion, until its reader moves or says so, and never where it is not true."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import pytest
from django.test import Client

from accounts.models import User
from games import queries
from games.queries import Table
from games.render.tips import TIPS, tip_of
from tests.support.game_page import HTMX, GamePage
from tests.support.tables import TWO_HANDS, table_at

pytestmark = pytest.mark.django_db

FLIP: Final = {
    "draw_pile": ["b1/o1", "b2/p2"],
    "discard_pile": ["r4/o6"],
    "hands": [["r3/o1", "b2/p2", "y1/p3"], ["r1/o4", "g2/o2", "g5/p2"]],
    "turn": 0,
}
CLASSIC: Final = {"hands": [["r5", "b1", "b2"], ["r4", "g3"]], "draw_pile": ["b1"]}
CAN_STACK: Final = {"hands": [["g+2", "b1", "b2"], ["r4", "g3"]]}
OCCASIONS: Final[list[tuple[str, str, Mapping[str, Any]]]] = [
    ("stack", "no-mercy", {**CAN_STACK, "discard_pile": ["r+2"], "pending": {"total": 6, "value": 2}}),
    ("", "no-mercy", {"discard_pile": ["r+2"], "pending": {"total": 6, "value": 2}}),
    (
        "stack_same",
        "house-party",
        {**CLASSIC, **CAN_STACK, "discard_pile": ["r+2"], "pending": {"total": 4, "value": 2}},
    ),
    ("", "classic", {**CLASSIC, "discard_pile": ["r+2"], "pending": {"total": 2, "value": 2}}),
    ("draw", "no-mercy", {"hands": [["g5", "b1", "b2"], ["r4", "g3", "W6"]]}),
    ("", "classic", {**CLASSIC, "hands": [["g5", "b1", "b2"], ["r4", "g3", "W"]]}),
    ("seven", "no-mercy", {"hands": [["r7", "b1", "b2"], ["r4", "g3", "W6"]]}),
    ("seven", "no-mercy", {"discard_pile": ["r7"], "turn": 1}),
    ("", "classic", {**CLASSIC, "discard_pile": ["r7"]}),
    ("zero", "no-mercy", {"discard_pile": ["r0"]}),
    ("roulette", "no-mercy", {"discard_pile": ["WC"], "color": None, "phase": "choose_color"}),
    ("uno", "no-mercy", {"hands": [["r5", "b1"], ["r4", "g3", "W6"]]}),
    ("catch", "no-mercy", {"hands": [["r5", "b1", "b2"], ["r4"]], "exposed": [1]}),
    ("mercy", "no-mercy", {"hands": [["r5", "b1", "b2"], [*["g3"] * 18]]}),
    ("", "no-mercy", {"hands": [["r5", "b1", "b2"], [*["g3"] * 17]]}),
    ("flip", "flip", {**FLIP, "discard_pile": ["rF/o6"]}),
    ("dark", "flip", {**FLIP, "side": "dark"}),
    ("", "flip", {**FLIP, "side": "dark", "turn": 1}),
]
"""A tip, or none, with the rules and the position of which it is true. Alice, in seat 0, reads the page."""


@pytest.mark.parametrize(("key", "preset", "position"), OCCASIONS)
def test_a_tip_is_shown_on_its_occasion_and_true_of_the_table(
    key: str, preset: str, position: Mapping[str, Any], alice: User, bob: User
) -> None:
    table = table_at({**TWO_HANDS, **position}, [alice, bob], preset=preset)
    view = queries.view_of(table, alice)
    tip = tip_of(view, ())
    assert (tip.key if tip else "") == key
    assert tip is None or len(tip.words.split()) <= 14
    assert tip_of(view, TIPS) is None
    assert tip_of(queries.view_of(table, None), ()) is None


@pytest.mark.parametrize(("key", "turn", "phase"), [("buzzer", 1, "buzz"), ("interception", 1, "play")])
def test_a_tip_out_of_turn(key: str, turn: int, phase: str, alice: User, bob: User) -> None:
    buzz: dict[str, Any] = {"color": None, "buzz": {"by": 1, "pressed": []}} if phase == "buzz" else {}
    top = "BZ" if phase == "buzz" else "r5"
    position = {**TWO_HANDS, "hands": [["r5", "b1", "b2"], ["r4", "g3"]], "draw_pile": ["b1"], "discard_pile": [top]}
    options = {"buzzers": "race"}
    table = table_at(
        {**position, "turn": turn, "phase": phase, **buzz},
        [alice, bob], preset="house-party", options=options, pace="live",
    )  # fmt: skip
    tip = tip_of(queries.view_of(table, alice), ())
    assert tip is not None
    assert tip.key == key


def tip_on(browser: Client, table: Table) -> str:
    page = GamePage.of(browser, table.game)
    return page.field("tip") if page.has(id="tip") else ""


@pytest.fixture
def table(alice: User, bob: User) -> Table:
    """A table where alice sees the tip of a 7, and later that of a 0."""
    return table_at({**TWO_HANDS, "hands": [["r7", "r0", "b2", "b3"], ["r4", "g3", "W6"]]}, [alice, bob])


def test_a_tip_that_was_read_does_not_come_back(table: Table, as_alice: Client, alice: User) -> None:
    url = table.game.get_absolute_url()
    assert tip_on(as_alice, table) == "seven"
    assert as_alice.post(f"{url}tip/", {"seen": "seven"}).status_code == 303
    assert as_alice.post(f"{url}tip/", {"seen": "nonsense"}, headers=HTMX).status_code == 200
    assert as_alice.post(f"{url}tip/", {"seen": "seven"}).status_code == 303
    alice.refresh_from_db()
    assert alice.seen_tips == ["seven"]
    assert tip_on(as_alice, table) == "zero"


def test_a_move_ends_the_tip_that_was_shown(table: Table, as_alice: Client, alice: User) -> None:
    url, sent = f"{table.game.get_absolute_url()}move/", {"version": 0, "tip": "seven"}
    assert as_alice.post(url, {**sent, "move": "play b2"}).status_code == 422
    alice.refresh_from_db()
    assert alice.seen_tips == []
    assert as_alice.post(url, {**sent, "move": "play r0"}).status_code == 303
    alice.refresh_from_db()
    assert alice.seen_tips == ["seven"]


def test_a_new_tip_is_said_once_after_the_turn(as_alice: Client, as_bob: Client, alice: User, bob: User) -> None:
    hands = [["g+2", "b1", "b2"], ["r+2", "b3", "g3", "g6"]]
    table = table_at({**TWO_HANDS, "turn": 1, "hands": hands}, [alice, bob])
    opened = GamePage.of(as_alice, table.game)
    as_bob.post(f"{table.game.get_absolute_url()}move/", {"version": 0, "move": "play r+2"})
    newer = GamePage.of(as_alice, table.game, f"?{opened.refetches}", fragment=True)
    turn = "Your turn. Stack or take 2. 1 of 3 fits: Green Draw Two."
    assert newer.told[1] == f"{turn} Play a +2 or higher to pass it on."
    again = GamePage.of(as_alice, table.game, f"?{newer.refetches}".replace("since=1", "since=0"), fragment=True)
    assert again.told[1] == turn


def test_tips_are_turned_off_at_the_table_and_on_in_the_account(table: Table, as_alice: Client, alice: User) -> None:
    as_alice.post(f"{table.game.get_absolute_url()}tip/", {"off": "1"})
    assert tip_on(as_alice, table) == ""
    assert 'name="no_tips"' in as_alice.get("/accounts/me/").content.decode()
    as_alice.post("/accounts/me/", {"display_name": "", "time_zone": "UTC"})
    assert tip_on(as_alice, table) == "seven"


def test_a_program_gets_no_tips(table: Table, as_alice: Client, alice: User) -> None:
    User.objects.filter(pk=alice.pk).update(is_program=True)
    assert tip_on(as_alice, table) == ""
