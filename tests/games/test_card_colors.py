"""The contrast of cards and of blocks of colour, computed from the style sheets in both themes."""

import re
from collections.abc import Mapping
from itertools import combinations
from pathlib import Path
from typing import Final

import pytest

from games.render.faces import GROUNDS
from games.rules import color_name

CSS: Final = Path(__file__).parents[2] / "static" / "css"
TOKENS: Final = (CSS / "tokens.css").read_text()
CARDS: Final = " ".join((CSS / "cards.css").read_text().split())
LEAST: Final = 4.5
TOKEN: Final = re.compile(r"--([a-z-]+): (#[0-9a-f]{3,8});")

LIGHT_THEME: Final = dict(TOKEN.findall(TOKENS.partition("@media")[0]))
DARK_THEME: Final = LIGHT_THEME | dict(TOKEN.findall(TOKENS.partition("prefers-color-scheme: dark")[2]))
THEMES: Final = pytest.mark.parametrize("theme", [LIGHT_THEME, DARK_THEME], ids=["light theme", "dark theme"])
COLORS: Final = pytest.mark.parametrize("color", GROUNDS)

HUES: Final = dict(re.findall(r"\.([a-z]), \.on-\1\b[^{]* \{ --hue: var\(--([a-z]+)\); \}", CARDS))
ON_LIGHT: Final = re.search(r"\.face:is\([^)]*\), (\.on-[^{]*) \{ color: var\(--on-light\); \}", CARDS)
assert ON_LIGHT
BLOCKS: Final = {
    color: (ground, "on-light" if f".on-{color}" in ON_LIGHT[1].split(", ") else "on-dark")
    for color, ground in HUES.items()
}
"""The tokens of the ground and of the ink of a block of each colour."""


def channels(color: str) -> list[float]:
    digits = color.lstrip("#")
    digits = "".join(digit * 2 for digit in digits) if len(digits) == 3 else digits
    return [int(digits[n : n + 2], 16) / 255 for n in (0, 2, 4)]


def luminance(rgb: list[float]) -> float:
    """Return the relative luminance that WCAG 2 defines."""
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in rgb]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one: list[float], other: list[float]) -> float:
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def faded(rgb: list[float], amount: float) -> list[float]:
    """Return a colour as the filter `saturate(amount)` shows it."""
    grey = sum(weight * part for weight, part in zip((0.213, 0.715, 0.072), rgb, strict=True))
    return [grey + amount * (part - grey) for part in rgb]


def letters(pattern: str) -> set[str]:
    """Return the colours that a selector of cards.css lists, such as `.r, .b`."""
    found = re.search(pattern, CARDS)
    assert found is not None, pattern
    return set(re.findall(r"\.([a-z])\b", found[1]))


def test_every_colour_has_a_ground_named_like_it_and_an_ink() -> None:
    names = {color: color_name(color).lower() for color in GROUNDS if color != "w"} | {"w": "wild"}
    assert {color: ground for color, (ground, _) in BLOCKS.items()} == names
    assert re.search(r"\.face \.ground, [^{]* \{ fill: var\(--hue\); \}", CARDS)


def test_cards_have_the_ink_of_a_block_of_their_colour() -> None:
    dark_ink = {color for color, (_, ink) in BLOCKS.items() if ink == "on-light"}
    assert letters(r"\.face:is\(([^)]*)\), [^{]* \{ color: var\(--on-light\); \}") == dark_ink
    assert letters(r"\.face:is\(([^)]*)\) \.ghost \{ fill: #000; \}") == set(GROUNDS) - dark_ink - {"w"}
    assert re.search(r"\.face \.ghost \{ fill: #fff; fill-opacity: \.27; \}", CARDS)


@THEMES
@COLORS
def test_text_on_a_colour_a_shape_a_badge_and_a_faded_card_has_enough_contrast(
    color: str, theme: Mapping[str, str]
) -> None:
    ground, ink = (channels(theme[token]) for token in BLOCKS[color])
    assert contrast(ground, ink) >= LEAST
    over = 1.0 if BLOCKS[color][1] == "on-light" else 0.0
    assert contrast([part * 0.73 + over * 0.27 for part in ground], ink) >= LEAST, "the shape behind a figure"
    assert " .badge text { fill: var(--hue" in CARDS
    white = re.search(rf"&\.{color} \.badge text {{ fill: (#fff)", CARDS)
    assert contrast(channels("#fff") if white else ground, ink) >= LEAST, "the letter in the badge"
    fading = re.search(r"\.face \{ filter: saturate\((\.\d+)\); \}", CARDS)
    assert fading is not None
    assert contrast(*(faded(rgb, float(fading[1])) for rgb in (ground, ink))) >= LEAST, "a card that cannot be played"


@pytest.mark.parametrize("side", ["rygb", "oput"])
def test_the_colours_of_a_side_differ_in_lightness_beside_their_letters_and_shapes(side: str) -> None:
    # People who see few colours tell them apart by lightness.
    for one, other in combinations(side, 2):
        grounds = [channels(LIGHT_THEME[BLOCKS[color][0]]) for color in (one, other)]
        assert contrast(*grounds) >= 1.4, (one, other)
