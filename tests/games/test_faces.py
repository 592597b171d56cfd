"""The card faces: one for every face of every deck, with its colour as letter and shape too."""

import re
import xml.etree.ElementTree as ET

import pytest

from games.render.faces import BACK, FLIP_BACK, GLYPHS, GROUNDS, LOGO, face, shape
from games.rules import DECKS, card_name, face_of
from games.rules.cards import DARK, LIGHT, with_buzzers

SIDES = [side for deck in DECKS.values() for side in with_buzzers(deck).sides]
FACES = sorted({(text, side.name) for side in SIDES for text in side.faces}, key=str)
SHAPES = {"r": "circle", "g": "rect"}
ART = {GROUNDS[color].shape for color in GROUNDS}


def test_every_face_looks_different_and_has_a_name_of_its_own() -> None:
    assert len({face(card) for card in DECKS["nomercy168"].cards}) == 68
    assert len({ground.letter for ground in GROUNDS.values()}) == len(GROUNDS)
    assert len(ART) == len(GROUNDS)
    cards = {card for card, _ in FACES}
    assert len({card_name(card) for card in cards}) == len(cards)
    assert len({face_of(card).rank for card in cards}) == len({face_of(card).symbol for card in cards})

    def uncolored(card: str, side: str | None) -> str:
        return re.sub(r' class="[^"]*"', "", face(card, side))

    # The light side of Flip has the colours of a deck with one side.
    looks = {(card, side == DARK and not face_of(card).color): uncolored(card, side) for card, side in FACES}
    assert len(set(looks.values())) == len(looks)
    with pytest.raises(KeyError):
        face("r99")
    with pytest.raises(KeyError):
        face("r5", "back")


def test_a_face_shows_its_colour_as_class_letter_and_shape() -> None:
    for card, side in FACES:
        color = face_of(card).color or "w"
        svg = ET.fromstring(face(card, side))  # noqa: S314  # our own markup
        assert svg.get("class") == f"face {color}", card
        assert svg.get("aria-hidden") == "true", card
        badges = [group for group in svg if group.get("class") == "badge"]
        if card == "BZ":  # it has no colour and asks for none
            assert badges == []
            continue
        letter = badges[0].find("text")
        assert letter is not None, card
        assert letter.text == GROUNDS[color].letter, card
        assert badges[0][0][0].tag == SHAPES.get(color, "path"), card
        assert GROUNDS[color].shape in face(card, side), card


@pytest.mark.parametrize(("side", "colors"), [(None, "rygb"), (LIGHT, "rygb"), (DARK, "oput")])
def test_a_wild_shows_the_four_colours_of_its_side(side: str | None, colors: str) -> None:
    svg = ET.fromstring(face("W", side))  # noqa: S314  # our own markup
    mark = next(group for group in svg if group.get("class") == "mark")
    assert [group.get("class") for group in mark[0]] == list(colors)
    assert all(GROUNDS[color].shape in face("W", side) for color in colors)


def test_every_symbol_has_a_glyph_and_backs_show_the_colours_of_their_sides() -> None:
    for glyphs in GLYPHS.values():
        assert set(glyphs) == {face_of(card).symbol for card, _ in FACES}
    found = re.findall(r'class="([a-z])"', FLIP_BACK)
    assert sorted(found) == sorted("rygboput")
    assert sorted(re.findall(r'class="([a-z])"', BACK)) == sorted("rygb")


@pytest.mark.parametrize(
    "markup",
    [face("rD"), face("WC"), face("BZ"), face("WD", DARK), face("oF", DARK), shape("y"), BACK, FLIP_BACK, LOGO],
    ids=["D", "WC", "BZ", "WD", "oF", "y", "back", "flip back", "logo"],
)
def test_faces_obey_the_content_security_policy(markup: str) -> None:
    for forbidden in ("style=", "<script", "href=", " on"):
        assert forbidden not in markup


def test_only_0_and_7_have_captions_about_hands() -> None:
    for card, side in FACES:
        words = {"0": ["PASS HANDS"], "7": ["SWAP HANDS"]}.get(face_of(card).symbol, [])
        svg = ET.fromstring(face(card, side))  # noqa: S314  # our own markup
        found = [text.text for text in svg.iter("text") if "swap" in (text.get("class") or "").split()]
        assert found == words, card
