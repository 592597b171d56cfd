"""Draw the picture that chats show of an invitation link, `static/img/share.png`, from the card faces in Chromium.

    .venv/bin/python -m bench.share_image

Run it after a change of the faces that it shows.
"""

from __future__ import annotations

import os
from typing import Final

import django
from playwright.sync_api import sync_playwright

from nomercy.launcher.place import CHECKOUT
from tests.support.programs import CHROMIUM_FLAGS, CHROMIUM_NAMES, program

WIDTH: Final = 1200
HEIGHT: Final = 630
CARDS: Final = ("gE", "r7", "W10", "y+4", "bD")
STYLE: Final = """
    body { margin: 0; overflow: hidden; background: #f4f0e6; color: #1a191e }
    main { display: grid; grid-template-columns: 29rem 1fr; align-items: center; height: 630px; padding-left: 4.5rem }
    h1 { font: 800 5.4rem/.95 "Bricolage Grotesque"; letter-spacing: -.045em; margin: 0; white-space: nowrap }
    div { position: relative; height: 630px }
    .face { position: absolute; width: 14rem; top: 9rem; left: 12.6rem; transform-origin: 50% 140% }
    .face:nth-child(1) { rotate: -34deg } .face:nth-child(2) { rotate: -17deg } .face:nth-child(4) { rotate: 17deg }
    .face:nth-child(5) { rotate: 34deg }
"""


FONT: Final = "http://localhost/font.woff2"
WORDS: Final = "<h1>Stack it.<br>Swap it.<br>Show no<br>mercy.</h1>"


def main() -> None:
    unused = {"DATABASE_URL": "postgres://nobody@localhost/nothing", "SECRET_KEY": "share" * 12}
    os.environ |= {"DJANGO_SETTINGS_MODULE": "nomercy.settings", **unused}
    django.setup()
    from games.render import faces  # needs the settings

    styles = "".join((CHECKOUT / "static" / "css" / f"{name}.css").read_text() for name in ("tokens", "cards"))
    (font,) = (CHECKOUT / "static" / "vendor").glob("*.woff2")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program(CHROMIUM_NAMES), args=CHROMIUM_FLAGS)
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light")
        page.route(
            "**/font.woff2", lambda route: route.fulfill(path=font, headers={"Access-Control-Allow-Origin": "*"})
        )
        fan = "".join(map(faces.face, CARDS))
        styles = styles.replace(f"../vendor/{font.name}", "http://localhost/font.woff2")
        page.set_content(
            f"<style>{styles}{STYLE}</style><main><h1>Stack it.<br>Swap it.<br>Show no<br>mercy.</h1><div>{fan}"
        )
        page.evaluate("() => document.fonts.ready")
        page.screenshot(path=CHECKOUT / "static" / "img" / "share.png")
        browser.close()


if __name__ == "__main__":
    main()
