"""What a page loads of our own styles and scripts, in bytes as they are in the repository."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import pytest
from django.conf import settings
from django.test import Client

from accounts.models import User
from tests.conftest import logged_in
from tests.support.pages import open_table
from tests.support.tables import TWO_HANDS, table_after, table_at

STATIC: Final = Path(settings.CHECKOUT) / "static"
LIMITS: Final = {"css": 75_000, "js": 60_000}
PAGES: Final = sorted((Path(settings.CHECKOUT) / "templates").rglob("*.html"))
TAGGED: Final = re.compile(r"<script[^>]*\{% static 'js/([\w.-]+)' %\}")
LOADED: Final = re.compile(r'(?:src|href)="/static/((?:css|js)/[\w./-]+)"')
IMPORTED: Final = re.compile(r'^import (?:.* from )?"\./([\w.-]+)";$', re.MULTILINE)


def with_imports(scripts: Iterable[str]) -> set[str]:
    """Return these scripts and those that they import, not those that they load later."""
    found, left = set[str](), list(scripts)
    while left:
        if (script := left.pop()) not in found:
            found.add(script)
            left += [f"js/{name}" for name in IMPORTED.findall((STATIC / script).read_text())]
    return found


def weights(page: str) -> dict[str, int]:
    """Return the bytes of styles and of scripts that a page loads at once."""
    loaded = set(LOADED.findall(page))
    scripts = with_imports(name for name in loaded if name.startswith("js/"))
    return {
        "css": sum((STATIC / name).stat().st_size for name in loaded if name.startswith("css/")),
        "js": sum((STATIC / name).stat().st_size for name in scripts),
    }


def test_imports_are_followed() -> None:
    assert "js/reload.js" in with_imports(["js/my_games.js"])
    assert {"js/live.js", "js/banners.js", "js/store.js"} < with_imports(["js/live.js", "js/events.js"])
    assert "js/round_end.js" not in with_imports(["js/events.js"])


def test_a_script_that_is_imported_has_no_tag() -> None:
    """A tag has a name with a hash where files are collected, and an import has not: the script would run twice."""
    tags = {name for page in PAGES for name in TAGGED.findall(page.read_text())}
    imported = {name for script in (STATIC / "js").glob("*.js") for name in IMPORTED.findall(script.read_text())}
    assert {"hand.js", "live.js"} < tags
    assert {"announce.js", "presses.js"} < imported
    assert tags & imported == set()


@pytest.mark.parametrize("place", ["/", "game", "over", "replay", "lobby", "/tables/new/", "/accounts/me/", "/rules/"])
def test_a_page_loads_few_styles_and_scripts(alice: User, bob: User, place: str) -> None:
    match place:
        case "game":
            url = table_at(TWO_HANDS, [alice, bob]).game.get_absolute_url()
        case "over" | "replay":
            game = table_after([alice, bob], 10_000, seed=3).game
            url = game.get_absolute_url() + ("replay/" if place == "replay" else "")
        case "lobby":
            url = open_table(alice).get_absolute_url()
        case _:
            url = place
    found = weights(logged_in(alice).get(url).content.decode())
    assert found["css"] > 20_000
    assert found["js"] > 3_000
    assert {kind: size for kind, size in found.items() if size > LIMITS[kind]} == {}


def test_the_landing_page_loads_few_scripts(client: Client, db: None) -> None:
    assert 1_000 < weights(client.get("/").content.decode())["js"] < 10_000
