"""Draw the icons of the installed app from static/img/favicon.svg: `.venv/bin/python script/icons.py`.

Needs Chromium. Run it again after a change of that file.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final, NamedTuple

from playwright.sync_api import sync_playwright

CHECKOUT: Final = Path(__file__).parent.parent
sys.path.insert(0, str(CHECKOUT))

from tests.support.programs import CHROMIUM_FLAGS, CHROMIUM_NAMES, program  # noqa: E402  # found by the line above

FOLDER: Final = CHECKOUT / "static" / "img"
SOURCE: Final = (FOLDER / "favicon.svg").read_text()
ROUND_CORNERS: Final = 'width="64" height="64" rx="15"'
VIEW: Final = 'viewBox="0 0 64 64"'


class Icon(NamedTuple):
    """An icon to draw. `margin` is how far its ground reaches beyond the drawing, which is 64 wide; None leaves the
    round corners of the drawing.
    """

    name: str
    width: int
    margin: int | None = None


ICONS: Final = (
    Icon("icon-192", 192),
    Icon("icon-512", 512),
    Icon("icon-maskable-512", 512, margin=8),  # systems may cut off all but a circle of 80 %
    Icon("apple-touch-icon", 180, margin=4),
)


def drawing(icon: Icon) -> str:
    """Return the SVG of an icon."""
    if icon.margin is None:
        return SOURCE
    start, size = -icon.margin, 64 + 2 * icon.margin
    ground = f'x="{start}" y="{start}" width="{size}" height="{size}"'
    return SOURCE.replace(VIEW, f'viewBox="{start} {start} {size} {size}"').replace(ROUND_CORNERS, ground)


def main() -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program(CHROMIUM_NAMES), args=CHROMIUM_FLAGS)
        page = browser.new_page()
        for icon in ICONS:
            page.set_viewport_size({"width": icon.width, "height": icon.width})
            page.set_content(f"<style>body {{ margin: 0 }} svg {{ display: block }}</style>{drawing(icon)}")
            page.screenshot(path=FOLDER / f"{icon.name}.png", omit_background=True)
        browser.close()


if __name__ == "__main__":
    main()
