"""What several modules of tests do with the page of a game: open it, read it, and move."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.utils import timezone
from playwright.sync_api import Locator, Page, Position, expect
from playwright.sync_api import TimeoutError as PlaywrightTimeout

from accounts.models import User
from games.actions.play import play_move
from games.models import Game
from games.queries import Table, Viewer
from tests.browser.pauses import TO_READ, pause
from tests.support.tables import TWO_HANDS, now_of, table_at

NewPage = Callable[..., Page]
"""The type of the fixture `new_page`, which is called with a user and options of a Playwright context."""
LEFT_EDGE: Final[Position] = {"x": 12, "y": 22}
"""Where to press a card of the hand: the next one may cover its middle."""
MOST_MOVES: Final = 400
"""After this many moves of people, a round that has not ended is an error."""


def open_game(page: Page, game: Game) -> None:
    """Go to the page of this game, and wait until it is shown."""
    page.goto(game.get_absolute_url())
    expect(page.locator("#headline")).to_be_visible()


def load_game(page: Page, game: Game) -> None:
    """Go to the page of this game, and wait until it has loaded and fetched everything."""
    open_game(page, game)
    page.wait_for_load_state("networkidle")


def open_page(new_page: NewPage, user: User, table: Table, **options: Any) -> Page:
    """Open the game of this table in a browser of this user's, wait until it has loaded, and return the page."""
    page = new_page(user, **options)
    load_game(page, table.game)
    return page


@dataclass(frozen=True, slots=True)
class TableForTwo:
    """Opens tables of Alice, who is seat 0 and on turn, and Bob, in browsers. It is the fixture `open_table`."""

    new_page: NewPage
    people: tuple[User, User]

    def __call__(
        self,
        *,
        reader: int = 0,
        page: Page | None = None,
        rules: Mapping[str, Any] | None = None,
        script: str = "",
        browser: Mapping[str, Any] | None = None,
        played: Sequence[tuple[int, str]] = (),
        **position: Any,
    ) -> tuple[Page, Table]:
        """Return the loaded page of one of the two, and its table.

        `position` differs from `TWO_HANDS`, and `rules` are other arguments of `table_at`. `played` are moves before
        the page is opened. That is `page`, or a new one with the options `browser` and `script`.
        """
        table = table_at({**TWO_HANDS, **position}, self.people, **(rules or {}))
        for seat, text in played:
            play(table, seat, text)
        page = page or self.new_page(self.people[reader], script=script, **(browser or {}))
        load_game(page, table.game)
        return page, table

    def both(self, *, script: str = "", **more: Any) -> tuple[Page, Page, Table]:
        """Return the loaded pages of Alice and of Bob, and their table."""
        page, table = self(script=script, **more)
        return page, open_page(self.new_page, self.people[1], table, script=script), table


def play(table: Table, by: User | int, text: str) -> None:
    """Make a move of this user's, or of this seat's, without a browser, at the current version of the table."""
    user = table.seats[by].user if isinstance(by, int) else by
    assert user is not None
    version = now_of(table).game.version
    play_move(code=table.game.code, viewer=Viewer(user), text=text, version=version, now=timezone.now())


def version(page: Page) -> int:
    """Return the version of the game that the page shows."""
    return int(page.locator("#main").get_attribute("data-version") or 0)


def shows(page: Page, version: int, *, within: float | None = None) -> None:
    """Wait until the page shows this version of the game, at most `within` milliseconds."""
    expect(page.locator(f"#main[data-version='{version}']")).to_be_attached(timeout=within)


def focused(page: Page) -> str:
    """Return the id of the focused element, or its tag name."""
    name: str = page.evaluate("document.activeElement.id || document.activeElement.tagName")
    return name


def my_turn(page: Page) -> Locator:
    """Return the headline that tells the reader that it is their turn."""
    return page.locator("#headline", has_text="Your turn")


def over(page: Page) -> Locator:
    """Return what only the page of a finished game has."""
    return page.locator("#over")


def wait_for_me(page: Page) -> bool:
    """Wait until this person must move, and return True; return False once the game is over."""
    # The bots may finish the round among themselves. A player who is out would watch that at a move each second, and
    # also the moves that bots make after a skip.
    skip, settled = page.locator("#skip-to-end"), my_turn(page).or_(over(page)).first
    while not settled.is_visible():
        expect(settled.or_(skip).first).to_be_visible(timeout=60_000)
        skip.evaluate_all("(links) => links[0]?.click()")  # an update of the page may remove it meanwhile
        page.wait_for_timeout(100)
    return not over(page).is_visible()


def first_choice(page: Page) -> Locator:
    """Return what to click next: the first choice of a chooser, a playable card, or the draw button."""
    for selector in ("#chooser .swatch", "#hand-cards .card:not([aria-disabled])", "#play-drawn"):
        if page.locator(selector).count():
            return page.locator(selector).first
    return page.locator("#draw")


def press(page: Page) -> None:
    """Click the first choice. Choose again if the page was updated before the click."""
    for _ in range(10):
        try:
            first_choice(page).click(timeout=6_000, position=LEFT_EDGE)
        except PlaywrightTimeout:
            continue
        return
    raise AssertionError("There was nothing to press for a minute.")


def after(page: Page, do: Callable[[], object]) -> None:
    """Pause, do something, and wait until the page shows the result: a new version, or another chooser."""
    pause(page, TO_READ)
    before = version(page)
    page.evaluate("document.getElementById('chooser')?.setAttribute('data-seen', '')")  # an update removes it
    do()
    page.wait_for_function(
        """(version) => Number(document.getElementById("main").dataset.version) > version
            || document.querySelector("#chooser:not([data-seen])") !== null""",
        arg=before,
    )
    expect(page.locator("#play[aria-busy]")).to_have_count(0)
