"""Helpers for tests of pages."""

from __future__ import annotations

import re
from typing import Any, Final

from django.test import Client

from accounts.models import User
from games.actions import lobby
from games.models import Game
from tests.support.tables import NOON

CHOICES: Final = {
    "players": "3",
    "bots": "0",
    "bot": "careful",
    "bot_pause": "1",
    "target": "0",
    "pace": "standard",
    "public": "1",
    "preset": "no-mercy",
}
"""The fields of the form for a new table."""


def open_table(user: User, **options: Any) -> Game:
    """Make a table that waits for players, with a person as its host."""
    return lobby.create_table(user=user, options=lobby.TableOptions(**options), now=NOON).game


def text_of(response: Any) -> str:
    """Return the text of a page, without markup."""
    return words_in(response.content.decode())


def words_in(markup: str) -> str:
    """Return the text of a piece of HTML, with one space between words."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", markup))


def group(response: Any, name: str) -> str:
    """Return the HTML of one group of games on the front page, or an empty text."""
    html = response.content.decode()
    found = re.search(rf'<section class="group[^"]*" aria-labelledby="group-{name}">.*?</section>', html, re.DOTALL)
    return found[0] if found else ""


def log_lines(browser: Client, game: Game, rest: str = "", *, fragment: bool = False) -> list[str]:
    """Return the lines of the log on a page of a game, newest first, without times."""
    headers = {"HX-Request": "true"} if fragment else {}
    body = browser.get(f"{game.get_absolute_url()}{rest}", headers=headers).content.decode()
    log = body[body.index('id="log"') :]
    lines = re.findall(r"<li[^>]*>(.*?)</li>", log[: log.index("</section>")], re.DOTALL)
    texts = [re.sub(r"<(a|time) .*?</\1>|<[^>]+>", "", line, flags=re.DOTALL) for line in lines]
    return [" ".join(text.split()) for text in texts]
