"""What a player sees first, without scrolling: who must do what, the actions, and the hand."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Locator

from accounts.models import User
from games.models import Game, Move
from games.staff import tables
from tests.browser.game_page import NewPage
from tests.browser.places import MANY, STACK, Cast
from tests.support.tables import NOON, table_after

SCREENSHOTS = os.environ.get("NOMERCY_SCREENSHOTS")
SIZES = ((1280, 800), (390, 844))
NEWS = (
    (1, "play y4", [{"kind": "played", "seat": 1, "card": "y4"}]),
    (2, "play W6 color b", [
        {"kind": "played", "seat": 2, "card": "W6", "color": "b"}, {"kind": "owes", "seat": 3, "amount": 6},
    ]),
    (3, "take", [{"kind": "drew", "seat": 3, "amount": 6, "reason": "stack"}]),
)  # fmt: skip


def bottom(locator: Locator) -> float:
    box = locator.bounding_box()
    assert box is not None
    return box["y"] + box["height"]


def top(locator: Locator) -> float:
    box = locator.bounding_box()
    assert box is not None
    return box["y"]


def with_news(cast: Cast) -> Game:
    """A match in its second round in which others have moved since."""
    table = cast.table(STACK, target=1000)
    round_ = table.started.round
    Move.objects.bulk_create(
        Move(game=table.game, round=round_, n=n, seat=seat, text=text, at=NOON, events=events)
        for n, (seat, text, events) in enumerate(NEWS, 1)
    )
    Game.objects.filter(pk=table.game.pk).update(version=len(NEWS))
    return table.game


@pytest.mark.parametrize("what", ["news", "plain"])
def test_actions_and_hand_are_visible_without_scrolling(new_page: NewPage, cast: Cast, what: str) -> None:
    page = new_page(cast.alice)
    game = with_news(cast) if what == "news" else cast.table(MANY).game
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        page.goto(game.get_absolute_url())
        page.locator("#hand-list").wait_for()
        if SCREENSHOTS:
            page.screenshot(path=Path(SCREENSHOTS) / f"first-{what}-{width}.png")
        assert bottom(page.locator("#headline")) < height / 3, width
        assert bottom(page.locator("#move")) <= height, width
        # On a phone the actions stay at the bottom, above the hand that scrolls.
        assert bottom(page.locator("#card-3")) <= (height if width == 1280 else top(page.locator("#move"))), width
        assert page.evaluate("scrollY") == 0, width


@pytest.mark.parametrize("position", [MANY, STACK])
def test_focusing_a_long_hand_does_not_hide_the_headline(
    new_page: NewPage, cast: Cast, position: Mapping[str, Any]
) -> None:
    long = [*position["hands"][0], "r0", "r5", "y7", "b4", "g0", "gS", "bS", "W6"]
    page = new_page(cast.alice, viewport={"width": 1280, "height": 800})
    table = cast.table({**position, "hands": [long, *position["hands"][1:]]})
    page.goto(table.game.get_absolute_url())
    page.locator("#hand-list").wait_for()
    page.locator("#card-0").focus()
    assert page.evaluate("scrollY") == 0
    if position is MANY:  # whose second row stands partly below the window
        for _ in range(8):
            page.keyboard.press("ArrowRight")
        assert bottom(page.locator("#card-8")) <= 800
        assert top(page.locator("#headline")) >= bottom(page.locator("header.top"))


CUT_OFF = "line => line.scrollWidth > line.clientWidth || line.scrollHeight > line.clientHeight"


@pytest.mark.parametrize("what", ["a round cancelled", "a stack"])
def test_the_line_of_news_is_whole_on_small_screens(new_page: NewPage, cast: Cast, ann: User, what: str) -> None:
    if what == "a stack":
        game, below = with_news(cast), "#owed"
    else:
        game, below = table_after([cast.alice, cast.bob, cast.charlie], 7, seed=0).game, ".pile-size"
        Game.objects.filter(pk=game.pk).update(target=500)
        tables.void_round(game_id=game.pk, by=ann, reason="Asked for by all of them", now=timezone.now())
    page = new_page(cast.alice)
    page.goto(game.get_absolute_url())
    title = page.locator("#news > summary")
    for width, height in ((390, 844), (844, 390), (640, 400)):
        page.set_viewport_size({"width": width, "height": height})
        assert bottom(title) <= height, width
        assert not page.locator("#news .brief").evaluate(CUT_OFF), width
        assert bottom(page.locator(below)) <= top(title) or width < height, width
        assert top(page.locator(".hand .card").last) < height - 40, width


def test_the_news_can_be_unfolded(new_page: NewPage, cast: Cast) -> None:
    page = new_page(cast.alice)
    page.goto(with_news(cast).get_absolute_url())
    last = "mo draws 6 cards and loses the turn."
    assert page.locator("#news > summary").inner_text() == f"Since your last move {last}"
    page.locator("#news > summary").click()
    assert page.locator("#news li").all_inner_texts() == [
        "bob plays Yellow 4.", "charlie plays Wild Draw Six and chooses blue. mo owes 6 cards.", last,
    ]  # fmt: skip
