"""Card faces as SVG. One template draws all of them. The art is our own."""

from collections.abc import Sequence
from functools import cache
from typing import Final, NamedTuple

from games.rules import DECKS, face_of
from games.rules.cards import DARK, LIGHT


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

HEXAGON = '<path d="M-.57-.98H.57L1.14 0 .57.98H-.57L-1.14 0Z"/>'
HEART = (
    '<path d="M0 1.12C-.56.64-1.14.18-1.14-.38-1.14-1.12-.28-1.2 0-.54'
    '.28-1.2 1.14-1.12 1.14-.38 1.14.18.56.64 0 1.12Z"/>'
)
CLOVER = '<path d="M0-.8A.57.57 0 1 1 .8 0 .57.57 0 1 1 0 .8 .57.57 0 1 1-.8 0 .57.57 0 1 1 0-.8Z"/>'
DROP = '<path d="M0-1.26C.4-.7.9-.24.9.3A.9.9 0 1 1-.9.3C-.9-.24-.4-.7 0-1.26Z"/>'

GROUNDS = {
    "r": Ground("R", CIRCLE, 5.6),
    "y": Ground("Y", TRIANGLE, 8.4),
    "g": Ground("G", SQUARE, 5.6),
    "b": Ground("B", DIAMOND, 5.6),
    "o": Ground("O", HEXAGON, 5.6),
    "p": Ground("P", HEART, 3.6),
    "u": Ground("U", CLOVER, 5.6),
    "t": Ground("T", DROP, 8.4),
    "w": Ground("W", STAR, 6.2),
}

COLORS_OF_SIDE: Final = {side.name: side.colors for deck in DECKS.values() for side in deck.sides}
"""The four colours of each side of a deck, by its name. A deck with one side has the name None."""


def _four(colors: Sequence[str], places: Sequence[str], size: str) -> str:
    """Return the shapes of four colours at these places, for wild cards, backs and the logo."""
    shapes = [
        f'<g class="{color}" transform="translate({place}) scale({size})">{GROUNDS[color].shape}</g>'
        for color, place in zip(colors, places, strict=True)
    ]
    return f'<g class="four">{"".join(shapes)}</g>'


def _row_of_four(colors: Sequence[str]) -> str:
    return _four(colors, ("20 108", "40 108", "60 108", "80 108"), "7")


def _block_of_four(colors: Sequence[str]) -> str:
    return _four(colors, ("33 56", "67 57", "33 92", "67 92"), "13.5")


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
FLIP = (
    '<g class="line thin"><rect x="34" y="62" width="32" height="44" rx="5"/>'
    '<path d="M25 60A25 17 0 0 1 73 52M77 40 74 53 61 50"/></g><path d="M64 66V99Q64 103.500 60 103.500H37Z"/>'
)
BUZZER = (
    '<path d="M28 88A22 24 0 0 1 72 88Z"/><rect x="18" y="93" width="64" height="11" rx="4"/>'
    '<path class="line thin" d="M50 55V43M29 63 20 54M71 63 80 54"/>'
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


def _wheel(colors: Sequence[str]) -> str:
    quarters = (
        "V43A31 31 0 0 1 81 74Z",
        "H81A31 31 0 0 1 50 105Z",
        "V105A31 31 0 0 1 19 74Z",
        "H19A31 31 0 0 1 50 43Z",
    )
    parts = [f'<path class="{color}" d="M50 74{quarter}"/>' for color, quarter in zip(colors, quarters, strict=True)]
    return (
        f'<g class="wheel">{"".join(parts)}<circle class="hub" cx="50" cy="74" r="8"/></g>'
        '<path class="pin" d="M50 52 42 33H58Z"/>'
    )


def _wilds(colors: Sequence[str]) -> dict[str, Glyph]:
    """Return the glyphs that show the four colours of a side."""
    row = _row_of_four(colors)
    return {
        "W": Glyph(_block_of_four(colors), "WILD"),
        "W2": Glyph(_text("+2", y=92) + row, "WILD", "+2"),
        "W4": Glyph(_text("+4", y=92) + row, "WILD", "+4"),
        "W6": Glyph(_text("+6", y=92) + row, "WILD", "+6"),
        "W10": Glyph(_text("+10", y=92) + row, "WILD", "+10"),
        # How many cards it costs is not known before the colour shows.
        "WD": Glyph(_text("+?", y=92) + row, "COLOUR", "+?"),
        "WC": Glyph(_wheel(colors), "ROULETTE"),
    }


PLAIN: Final = {number: _number(number) for number in "0123456789"} | {
    "S": Glyph(SKIP, "SKIP"),
    "R": Glyph(REVERSE, "REVERSE"),
    "E": Glyph(SKIP_EVERYONE, "SKIP ALL"),
    "D": Glyph(DISCARD_ALL, "DISCARD ALL"),
    "F": Glyph(FLIP, "FLIP"),
    "+1": _draw("+1", "DRAW ONE"),
    "+2": _draw("+2", "DRAW TWO"),
    "+4": _draw("+4", "DRAW FOUR"),
    "+5": _draw("+5", "DRAW FIVE"),
    "WR4": Glyph(TURN_ROUND + _text("+4", y=113), "REVERSE", "+4"),
    "BZ": Glyph(BUZZER, "BUZZER"),
}
"""The glyphs that are the same on every side."""

GLYPHS: Final = {side: PLAIN | _wilds(colors) for side, colors in COLORS_OF_SIDE.items()}
"""The glyph of each symbol, by the name of the side."""

# In a hand each card covers the one before it up to its left 39 %, where the text of the corner and the colour are.
TEMPLATE = (
    '<svg class="face {color}" viewBox="0 0 100 140" aria-hidden="true" focusable="false">'
    '<rect class="ground" x="1" y="1" width="98" height="138" rx="12"/>'
    '<g class="ghost" transform="translate(59 74) scale(34)">{ghost}</g>'
    "{corner}{badge}"
    '<g class="mark" transform="translate(16 10) scale(.86)">{mark}</g>'
    '<text class="{caption_class}" x="50" y="129">{caption}</text></svg>'
)
BADGE = (
    '<g class="badge" transform="translate(19.5 48)"><g transform="scale(12.5)">{shape}</g>'
    '<text class="letter" y="{letter_y}">{letter}</text></g>'
)


@cache
def face(card: str, side: str | None = None) -> str:
    """Return the SVG of a face in notation, like ``r7`` or ``W10``.

    `side` is the name of the side that has this face, None for a deck with one side: a wild shows the four colours of
    its side.

    :raises KeyError: `card` is not a face of any deck, or there is no such side.

    >>> face("r7").startswith('<svg class="face r"')
    True
    """
    printed = face_of(card)
    glyph, color = GLYPHS[side][printed.symbol], printed.color or "w"
    if glyph.corner:
        size = 19 if len(glyph.corner) > 2 else 26
        corner = f'<text class="idx" x="7" y="29" font-size="{size}">{glyph.corner}</text>'
    else:
        corner = f'<g class="idx" transform="translate(5 0) scale(.29)">{glyph.mark}</g>'
    return TEMPLATE.format(
        color=color,
        ghost=GROUNDS[color].shape if printed.color else "",
        # A buzzer has no colour and asks for none, so it does not have the star of wild cards.
        badge="" if printed.kind == "buzzer" else BADGE.format(**GROUNDS[color]._asdict()),
        corner=corner,
        mark=glyph.mark,
        caption=glyph.caption,
        caption_class="caption swap" if printed.symbol in SWAPS else "caption",
    )


@cache
def shape(color: str) -> str:
    """Return the SVG of the shape of a colour, given by its letter, or of the star of wild cards for ``w``."""
    return (
        f'<svg class="shape {color}" viewBox="-1.4 -1.4 2.8 2.8" aria-hidden="true" focusable="false">'
        f"{GROUNDS[color].shape}</svg>"
    )


def _back(picture: str) -> str:
    return (
        '<svg class="face back" viewBox="0 0 100 140" aria-hidden="true" focusable="false">'
        '<rect class="ground" x="1" y="1" width="98" height="138" rx="12"/>'
        f'<rect class="frame" x="10" y="10" width="80" height="120" rx="6"/>{picture}</svg>'
    )


FOUR: Final = _block_of_four(COLORS_OF_SIDE[None])
# A card with two sides shows its hidden face in place of a back, which nobody may see (FLIP-6). This picture is shown
# instead: the colours of both sides.
BOTH_SIDES: Final = (
    _four(COLORS_OF_SIDE[LIGHT], ("30 31", "54 31", "30 55", "54 55"), "9")
    + '<path class="frame" d="M10 96 90 44"/>'
    + _four(COLORS_OF_SIDE[DARK], ("46 85", "70 85", "46 109", "70 109"), "9")
)
BACK: Final = _back(FOUR)
FLIP_BACK: Final = _back(BOTH_SIDES)
LOGO: Final = f'<svg class="logo" viewBox="14 36 72 76" aria-hidden="true" focusable="false">{FOUR}</svg>'
