"""Card faces as SVG. One template draws all of them. The art is our own."""

from functools import cache
from typing import Final, NamedTuple

from games.rules import face_of


class Ground(NamedTuple):
    """What all cards of a colour share: its letter and its shape. `letter_y` centres the letter in the shape."""

    letter: str
    shape: str
    letter_y: float


class Glyph(NamedTuple):
    """What all cards of a kind share: the SVG in the middle, the caption below it, and the text in the corner.

    Without `corner` the mark is repeated there, smaller.
    """

    mark: str
    caption: str
    corner: str = ""


# Shapes are centred on 0,0, about one unit large, and scaled where they are used.
CIRCLE = '<circle r="1"/>'
TRIANGLE = '<path d="M0-1.12 1.18.92H-1.18Z"/>'
SQUARE = '<rect x="-.93" y="-.93" width="1.86" height="1.86" rx=".12"/>'
DIAMOND = '<path d="M0-1.28 1.12 0 0 1.28-1.12 0Z"/>'
STAR = '<path d="M0-1.2.33-.42 1.16-.37.52.18.74 1 0 .54-.74 1-.52.18-1.16-.37-.33-.42Z"/>'

GROUNDS = {
    "r": Ground("R", CIRCLE, 5.6),
    "y": Ground("Y", TRIANGLE, 8.4),
    "g": Ground("G", SQUARE, 5.6),
    "b": Ground("B", DIAMOND, 5.6),
    "w": Ground("W", STAR, 6.2),
}

# The four colours in one or two rows, for wild cards and the logo.
FOUR = (
    '<g class="four"><g class="r" transform="translate({0}) scale({4})">' + CIRCLE + "</g>"
    '<g class="y" transform="translate({1}) scale({4})">' + TRIANGLE + "</g>"
    '<g class="g" transform="translate({2}) scale({4})">' + SQUARE + "</g>"
    '<g class="b" transform="translate({3}) scale({4})">' + DIAMOND + "</g></g>"
)
ROW_OF_FOUR = FOUR.format("20 108", "40 108", "60 108", "80 108", "7")
BLOCK_OF_FOUR = FOUR.format("33 56", "67 57", "33 92", "67 92", "13.5")

SKIP = '<g class="line"><circle cx="50" cy="72" r="25"/><path d="M32.300 89.700 67.700 54.300"/></g>'
REVERSE = '<g class="line"><path d="M36 98V50M23 62 36 48 49 62M64 46v48M51 82 64 96 77 82"/></g>'
SKIP_EVERYONE = (
    '<g class="line"><circle cx="50" cy="72" r="17"/><path d="M38 84 62 60"/>'
    '<path d="M22 52a35 35 0 0 0 0 40M78 52a35 35 0 0 1 0 40"/></g>'
)
DISCARD_ALL = (
    '<g class="line thin"><path d="M27 46 41 42 51 77 37 81Z"/><path d="M44 41H59V77H52"/>'
    '<path d="M62 43 76 47 66 80"/><path d="M50 84V103M40 94 50 104 60 94"/></g>'
)
ROULETTE = (
    '<g class="wheel"><path class="r" d="M50 74V43A31 31 0 0 1 81 74Z"/>'
    '<path class="y" d="M50 74H81A31 31 0 0 1 50 105Z"/><path class="g" d="M50 74V105A31 31 0 0 1 19 74Z"/>'
    '<path class="b" d="M50 74H19A31 31 0 0 1 50 43Z"/><circle class="hub" cx="50" cy="74" r="8"/></g>'
    '<path class="pin" d="M50 52 42 33H58Z"/>'
)
TURN_ROUND = '<g class="line thin"><path d="M32 43H68L60 35"/><path d="M68 55H32L40 63"/></g>'


def _text(text: str, *, y: float = 96) -> str:
    size = {1: 76, 2: 56, 3: 43}[len(text)]
    return f'<text class="num" x="50" y="{y - (76 - size) / 3.2:.3g}" font-size="{size}">{text}</text>'


SWAPS: Final = {"0": "PASS HANDS", "7": "SWAP HANDS"}
"""The captions of the numbers that move hands. The style sheet shows them only inside an element of class `swaps`."""


def _number(text: str) -> Glyph:
    bar = '<path class="line" d="M37 106H63"/>' if text in "69" else ""
    return Glyph(_text(text) + bar, SWAPS.get(text, ""), text)


def _draw(text: str, caption: str) -> Glyph:
    return Glyph(_text(text), caption, text)


GLYPHS = {number: _number(number) for number in "0123456789"} | {
    "S": Glyph(SKIP, "SKIP"),
    "R": Glyph(REVERSE, "REVERSE"),
    "E": Glyph(SKIP_EVERYONE, "SKIP ALL"),
    "D": Glyph(DISCARD_ALL, "DISCARD ALL"),
    "+2": _draw("+2", "DRAW TWO"),
    "+4": _draw("+4", "DRAW FOUR"),
    "W": Glyph(BLOCK_OF_FOUR, "WILD"),
    "W4": Glyph(_text("+4", y=92) + ROW_OF_FOUR, "WILD", "+4"),
    "W6": Glyph(_text("+6", y=92) + ROW_OF_FOUR, "WILD", "+6"),
    "W10": Glyph(_text("+10", y=92) + ROW_OF_FOUR, "WILD", "+10"),
    "WR4": Glyph(TURN_ROUND + _text("+4", y=113), "REVERSE", "+4"),
    "WC": Glyph(ROULETTE, "ROULETTE"),
}

TEMPLATE = (
    '<svg class="face {color}" viewBox="0 0 100 140" aria-hidden="true" focusable="false">'
    '<rect class="ground" x="1" y="1" width="98" height="138" rx="12"/>'
    '<g class="ghost" transform="translate(50 74) scale(40)">{shape}</g>'
    "{corner}"
    '<g class="badge" transform="translate(81 20)"><g transform="scale(12.5)">{badge}</g>'
    '<text class="letter" y="{letter_y}">{letter}</text></g>'
    '<g class="mark">{mark}</g><text class="{caption_class}" x="50" y="129">{caption}</text></svg>'
)


@cache
def face(card: str) -> str:
    """Return the SVG of a card in notation, like ``r7`` or ``W10``.

    :raises KeyError: `card` is not a card of any deck.

    >>> face("r7").startswith('<svg class="face r"')
    True
    """
    printed = face_of(card)
    glyph, color = GLYPHS[printed.symbol], printed.color or "w"
    ground = GROUNDS[color]
    if glyph.corner:
        corner = f'<text class="idx" x="9" y="30">{glyph.corner}</text>'
    else:
        corner = f'<g class="idx" transform="translate(5 3) scale(.25)">{glyph.mark}</g>'
    return TEMPLATE.format(
        color=color,
        shape="" if color == "w" else ground.shape,
        badge=ground.shape,
        corner=corner,
        letter=ground.letter,
        letter_y=ground.letter_y,
        mark=glyph.mark,
        caption=glyph.caption,
        caption_class="caption swap" if printed.symbol in SWAPS else "caption",
    )


@cache
def shape(color: str) -> str:
    """Return the SVG of the shape of a colour: ``r``, ``y``, ``g``, ``b``, or ``w`` for the star of wild cards."""
    return (
        f'<svg class="shape {color}" viewBox="-1.4 -1.4 2.8 2.8" aria-hidden="true" focusable="false">'
        f"{GROUNDS[color].shape}</svg>"
    )


BACK = (
    '<svg class="face back" viewBox="0 0 100 140" aria-hidden="true" focusable="false">'
    '<rect class="ground" x="1" y="1" width="98" height="138" rx="12"/>'
    '<rect class="frame" x="10" y="10" width="80" height="120" rx="6"/>' + BLOCK_OF_FOUR + "</svg>"
)
LOGO = '<svg class="logo" viewBox="14 36 72 76" aria-hidden="true" focusable="false">' + BLOCK_OF_FOUR + "</svg>"
