"""Strangers sit down by a link, and players share it: by name, by the device's own menu, and by a QR code."""

from __future__ import annotations

import base64
import re
from typing import Any, Literal

import zxingcpp
from django.utils import timezone
from playwright.sync_api import Page, expect

from accounts.models import User
from games.actions import lobby
from games.models import Game, Seat
from games.queries import Viewer
from tests.browser.game_page import NewPage
from tests.browser.places import MANY, Cast
from tests.browser.test_axe import violations

STUB = """
    window.shared = [];
    navigator.share = async (what) => {
        window.shared.push(what);
        if (window.shared.length === 2) throw new DOMException("closed", "AbortError");
    };
"""
PIXELS = """async (picture) => {
    const image = new Image();
    image.src = `data:image/png;base64,${picture}`;
    await image.decode();
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [image.width, image.height];
    const context = canvas.getContext("2d");
    context.drawImage(image, 0, 0);
    const { data } = context.getImageData(0, 0, image.width, image.height);
    const green = data.filter((_, n) => n % 4 === 1);
    let text = "";
    for (let n = 0; n < green.length; n += image.width) {
        text += String.fromCharCode(...green.subarray(n, n + image.width));
    }
    return [image.height, image.width, btoa(text)];
}"""
"""Returns the height and the width of a picture, and how green each of its pixels is, in Base64: a list of a million
numbers takes Playwright seconds."""


def private_table(host: User, **options: Any) -> Game:
    options = {"players": 4, "public": False, **options}
    return lobby.create_table(user=host, choices=lobby.TableChoices(**options), now=timezone.now()).game


def read_qr(page: Page) -> list[str]:
    """Return the texts of the QR codes that a scanner finds on the screen."""
    picture = base64.b64encode(page.screenshot()).decode()
    height, width, green = page.evaluate(PIXELS, picture)
    pixels = memoryview(base64.b64decode(green)).cast("B", (height, width))
    return [code.text for code in zxingcpp.read_barcodes(pixels)]


def test_a_stranger_is_asked_for_a_name_and_sits_down_as_typed(new_page: NewPage, alice: User) -> None:
    game = private_table(alice)
    page = new_page()
    page.goto(f"/join/{game.invite_key}/")
    page.get_by_role("button", name="Sit down").click()
    assert Seat.objects.filter(game=game).count() == 1  # the browser asks for the name first
    field = page.get_by_label("Your name")
    field.fill("Moderator")
    field.press("Enter")
    expect(page.locator(".errorlist")).to_have_text("This name is reserved. Choose another.")
    expect(field).to_have_value("Moderator")
    expect(field).to_be_focused()
    expect(field).to_have_attribute("aria-invalid", "true")
    assert "id_name_error" in (field.get_attribute("aria-describedby") or "")
    assert violations(page) == []
    field.fill("Anna Lee")
    field.press("Enter")
    expect(page.locator(".seat", has_text="Anna Lee")).to_contain_text("you")
    expect(page.locator(".me .name")).to_have_text("Anna Lee")
    assert page.url.endswith(f"/games/{game.code}/")


def test_a_name_being_typed_stays_when_somebody_else_sits_down(new_page: NewPage, alice: User, bob: User) -> None:
    game = private_table(alice)
    page = new_page()
    page.goto(f"/join/{game.invite_key}/")
    field = page.get_by_label("Your name")
    field.press_sequentially("Ann")
    lobby.join(code=game.code, viewer=Viewer(bob, [game.invite_key]), now=timezone.now())
    page.evaluate("() => htmx.trigger('#main', 'refetch')")  # a visitor has no socket of a private table, and polls
    expect(page.get_by_role("heading", level=1)).to_have_text("alice’s table: 2 seats are free")
    expect(field).to_have_value("Ann")
    expect(field).to_be_focused()
    field.press_sequentially("a")
    field.press("Enter")
    expect(page.locator(".me .name")).to_have_text("Anna")


def test_a_person_shares_the_link_by_the_menu_of_the_device_if_it_has_one(
    new_page: NewPage, alice: User, site: str
) -> None:
    game = private_table(alice)
    page = new_page(alice, script=STUB)
    page.goto(f"/games/{game.code}/")
    button = page.get_by_role("button", name="Share")
    button.click()
    button.click()  # the reader closes the menu, which is no error
    page.wait_for_function("() => window.shared.length === 2")
    assert page.evaluate("() => window.shared[0]") == {
        "title": page.title(),
        "text": "alice invites you to No Mercy.",
        "url": f"{site}/join/{game.invite_key}/",
    }
    expect(page.get_by_role("button", name="Copy link")).to_be_visible()
    page.add_init_script("delete navigator.share; delete Navigator.prototype.share;")
    page.reload()
    expect(page.locator("#copy-link")).to_be_visible()
    expect(page.locator("#share-link")).to_be_hidden()


def test_a_scanner_reads_the_link_from_the_qr_code(new_page: NewPage, alice: User, bob: User, site: str) -> None:
    game = private_table(alice)
    page = new_page(alice)
    page.goto(f"/games/{game.code}/")
    page.get_by_text("QR code", exact=True).click()
    page.locator("img.qr").scroll_into_view_if_needed()
    looks: tuple[tuple[Literal["light", "dark"], Literal["none", "active"]], ...]
    looks = (("light", "none"), ("dark", "active"), ("dark", "none"))
    for scheme, forced in looks:
        page.emulate_media(color_scheme=scheme, forced_colors=forced)
        assert read_qr(page) == [f"{site}/join/{game.invite_key}/"], (scheme, forced)
    lobby.join(code=game.code, viewer=Viewer(bob, [game.invite_key]), now=timezone.now())
    expect(page.locator(".seat", has_text="bob")).to_be_visible()
    expect(page.locator("img.qr")).to_be_visible()  # an update leaves it unfolded


def test_a_person_chooses_a_picture_by_keyboard(new_page: NewPage, cast: Cast) -> None:
    User.objects.filter(pk=cast.alice.pk).update(avatar="anchor")
    page = new_page(cast.alice)
    page.goto("/accounts/me/")
    chosen = page.get_by_role("radio", name="Anchor")
    expect(chosen).to_be_checked()
    chosen.focus()
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("radio", name="Balloon")).to_be_checked()
    page.keyboard.press("Enter")
    expect(page.locator(".messages")).to_contain_text("Saved.")
    mine = re.compile(r"/static/img/avatars\.svg#balloon$")
    expect(page.locator(".me .avatar")).to_have_attribute("src", mine)
    page.goto(cast.table(MANY).game.get_absolute_url())
    expect(page.locator(".player.you .avatar")).to_have_attribute("src", mine)
    assert page.locator(".player .avatar").evaluate_all("(all) => all.every((one) => one.naturalWidth > 0)")
