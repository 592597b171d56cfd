"""Nothing lies over the middle of a control of the game page, or over a player, in any state.

`test_layout.py` asks that in the states that are places, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from itertools import cycle
from typing import Any, Final

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from accounts.models import User
from games.actions import pauses
from games.actions.next_round import deal_next
from games.models import Game
from games.queries import Table, Viewer
from tests.browser.checks import COVERED_CONTROLS, SIZES, assert_nothing_is_covered
from tests.browser.game_page import NewPage, play
from tests.browser.places import DARK_SIDE, FOUR_HANDS_AND_A_STRAIGHT, MANY, STACK, Cast, Open, game
from tests.browser.test_watching import OUT_AT, finish, stopped_at_first_step
from tests.support.tables import table_after, table_at

NEAR_MERCY: Final = [color + "7" for color in "rbgy"] * 5
LAST_CARD: Final = {**MANY, "hands": [["r5"], *MANY["hands"][1:3], []], "out": [3]}
LAST_OF_A_STRAIGHT: Final = {
    **FOUR_HANDS_AND_A_STRAIGHT,
    "hands": [["r4", "r5"], *FOUR_HANDS_AND_A_STRAIGHT["hands"][1:]],
}
LONG_STRAIGHT: Final = {
    **FOUR_HANDS_AND_A_STRAIGHT,
    "hands": [
        ["r4", "r5", "r6", "r7", "b1", "b2", "b5", "b6", "g1", "g2", "g3", "y1", "y2"],
        *FOUR_HANDS_AND_A_STRAIGHT["hands"][1:],
    ],
}


def with_hand(hand: list[str], position: Mapping[str, Any] = MANY) -> dict[str, Any]:
    return {**position, "hands": [hand, *position["hands"][1:]]}


def ten_seats(position: Mapping[str, Any], query: str = "", *, bots: int = 0, **fields: Any) -> Open:
    """Open a table of ten, where seats 1 to 3 and each three after them have the hands that `position` has there."""

    def open_ten(page: Page, cast: Cast) -> None:
        names = ["Wilhelmina", "Maximilian B", "Ann", "Sly Lemur 95 Junior", "Jo", "Konstantina"][bots:]
        more = [User.objects.get_or_create(username=name, display_name=name)[0] for name in names]
        people: list[User | str] = [cast.alice, cast.bob, cast.charlie, cast.mo, *more, *["careful"] * bots]
        hands = [position["hands"][0], *position["hands"][1:4] * 3]
        deadline = timezone.now() + timedelta(hours=14)
        table = table_at({**position, "hands": hands}, people, deadline=deadline, bot_pause=60.0, **fields)
        if position["hands"][0] == NEAR_MERCY:
            play(table, 0, "take")
        page.goto(table.game.get_absolute_url() + query)

    return open_ten


def after(open_: Open, script: str, shows: str = "body") -> Open:
    """Open a page, run a script in it, and wait until it shows something."""

    def open_more(page: Page, cast: Cast) -> None:
        open_(page, cast)
        page.evaluate(script)
        page.locator(shows).wait_for()

    return open_more


def as_list(query: str = "") -> Open:
    as_a_list = after(game(MANY), "document.getElementById('hand-list').click()", "[role=listbox]")

    def open_list(page: Page, cast: Cast) -> None:
        as_a_list(page, cast)
        page.goto(page.url + query)
        page.get_by_role("listbox").wait_for()

    return open_list


def out(page: Page, cast: Cast) -> None:
    table = cast.table(with_hand(NEAR_MERCY, STACK))
    play(table, 0, "take")
    page.goto(table.game.get_absolute_url())


def with_moves_to_watch(page: Page, cast: Cast) -> None:
    table = table_after([cast.bob, cast.alice, cast.charlie], OUT_AT - 1, seed=3)
    page.goto(table.game.get_absolute_url())
    stopped_at_first_step(page, lambda: finish(table))
    page.locator("#skip-to-end").wait_for()
    expect(page.locator(".banner")).to_have_count(0)


def at_round_end(page: Page, cast: Cast) -> None:
    page.evaluate("localStorage.setItem('round-end', 'stay')")
    table = cast.table(LAST_CARD, target=1000)
    page.goto(table.game.get_absolute_url())
    end_round(table, cast)
    page.locator("#ended.layer").wait_for()


def in_next_round(page: Page, cast: Cast) -> None:
    table = cast.table(LAST_CARD, target=1000)
    end_round(table, cast)
    page.goto(table.game.get_absolute_url())


def end_round(table: Table, cast: Cast) -> None:
    play(table, 0, "play r5")
    deal_next(game_id=table.game.pk, now=timezone.now())


def after_a_match(page: Page, cast: Cast) -> None:
    table = cast.table(LAST_CARD, target=100)
    play(table, 0, "play r5")
    page.goto(table.game.get_absolute_url())
    expect(page.locator("#over")).to_be_visible()


def called_off(page: Page, cast: Cast) -> None:
    table = cast.table(MANY)
    Game.objects.filter(pk=table.game.pk).update(status=Game.Status.VOID)
    page.goto(table.game.get_absolute_url())


def news(page: Page, cast: Cast) -> None:
    page.goto(table_after([cast.alice, cast.bob, cast.charlie], 20, 4).game.get_absolute_url())
    page.locator("#news[open]").wait_for()
    page.locator("#skip-news").click()


def asked_to_pause(page: Page, cast: Cast) -> None:
    table = cast.table(MANY)
    pauses.ask_pause(code=table.game.code, viewer=Viewer(cast.bob), now=timezone.now())
    page.goto(table.game.get_absolute_url())
    page.locator("#clock-note").wait_for()


def watching(page: Page, cast: Cast) -> None:
    position = {**MANY, "hands": MANY["hands"][:3]}
    page.goto(table_at(position, [cast.bob, cast.charlie, cast.mo]).game.get_absolute_url())


def with_long_names(page: Page, cast: Cast) -> None:
    names = ("Sly Lemur 95 Junior", "Wilhelmina Butterfield", "A name that is thirty long, ok", "Bo")
    User.objects.update(display_name="")
    for user, name in zip((cast.alice, cast.bob, cast.charlie, cast.mo), names, strict=True):
        User.objects.filter(pk=user.pk).update(display_name=name)
    game(STACK, target=1000)(page, cast)


STATES: Final[Mapping[str, Open]] = {
    "roulette": game({**MANY, "discard_pile": ["y4", "WC"], "phase": "choose_color", "color": None}),
    "drawn": game({**MANY, "phase": "drawn", "drawn": "r3"}),
    "uno": game(with_hand(["r3", "r5"])),
    "uno-chooser": game(with_hand(["W6", "r5"]), "?choose=W6"),
    "uno-straight": game(LAST_OF_A_STRAIGHT, "?choose=r4,r5", preset="house-party"),
    "long-straight": game(LONG_STRAIGHT, "?choose=r4,r5", preset="house-party"),
    "list": as_list(),
    "list-chooser": as_list("?choose=W6"),
    "out": out,
    "moves-to-watch": with_moves_to_watch,
    "round-end": at_round_end,
    "next-round": in_next_round,
    "won": after_a_match,
    "called-off": called_off,
    "news": news,
    "asked-to-pause": asked_to_pause,
    "watching": watching,
    "options": after(
        game(MANY, target=1000),
        "document.querySelectorAll('.table-options details').forEach((e) => { e.open = true; })",
    ),
    "ten": ten_seats({**MANY, "turn": 4}),
    "ten-bots": ten_seats(STACK, bots=6, target=1000),
    "ten-swap": ten_seats(MANY, "?choose=r7"),
    "ten-flip": ten_seats(DARK_SIDE, preset="flip"),
    "ten-out": ten_seats(with_hand(NEAR_MERCY, STACK), bots=5),
}  # fmt: skip
OPENED: Final[Mapping[str, tuple[Open, str]]] = {
    "refused": (after(game(MANY), "document.getElementById('card-4').click()", "#refusal"), "#refusal"),
    "drawer": (after(news, "document.getElementById('show-log').open = true"), "#log"),
    "keys": (after(game(MANY), "document.getElementById('keys-help').showPopover()"), "#keys-help"),
    "menu": (after(game(MANY), "document.getElementById('menu').open = true"), ".top"),
    "open-news": (after(news, "document.getElementById('news').open = true"), "#news"),
    "ended": (after(in_next_round, "document.getElementById('ended-hands').open = true"), "#ended"),
    "backs": (
        after(game(DARK_SIDE, preset="flip"), "document.getElementById('show-backs').open = true"),
        "#show-backs",
    ),
}
"""What lies over the table once it was opened. Of these states only the controls inside of it are asked."""


def test_no_control_and_no_player_is_covered(new_page: NewPage, cast: Cast, subtests: pytest.Subtests) -> None:
    page = new_page(cast.alice, reduced_motion="reduce")
    whole = {name: (state, "body") for name, state in STATES.items()}
    states = {**whole, **OPENED, "long-names": (with_long_names, "body")}
    for (name, (open_, within)), sizes in zip(states.items(), cycle(SIZES)):
        with subtests.test(name):
            width, height = sizes[0]
            page.set_viewport_size({"width": width, "height": height})
            page.unroute_all()
            page.goto("/about/")
            page.evaluate("localStorage.clear()")
            Game.objects.update(status=Game.Status.VOID, wake_at=None, deadline=None)
            open_(page, cast)
            expect(page.locator("h1").first).to_be_visible()
            assert_nothing_is_covered(page, sizes, within)


def test_the_check_finds_what_is_covered_or_cut_off(new_page: NewPage, cast: Cast) -> None:
    page = new_page(cast.alice, viewport={"width": 390, "height": 844})
    game(MANY)(page, cast)
    assert page.evaluate(COVERED_CONTROLS) == []
    # In one step, because an update of the page would take the faults away
    faulty = f"""(within) => {{
        document.querySelector(".sort").style.cssText = "position: relative; z-index: 9";
        document.getElementById("draw").style.cssText = "position: fixed; left: -15rem";
        return ({COVERED_CONTROLS})(within);
    }}"""
    found = ["hand-list under DIV sort", "draw under cut off"]
    assert page.evaluate(faulty) == found
    assert page.evaluate(faulty, "#move") == ["draw under cut off"]
