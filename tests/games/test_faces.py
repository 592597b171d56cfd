"""The card faces: one for every card of every deck, with its colour as letter and shape too."""

import xml.etree.ElementTree as ET

import pytest

from games.render.faces import BACK, GLYPHS, GROUNDS, LOGO, face, shape
from games.rules import DECKS, face_of

CARDS = sorted({card for deck in DECKS.values() for card in deck.cards})
SHAPES = {"r": "circle", "y": "path", "g": "rect", "b": "path", "w": "path"}


def test_the_no_mercy_deck_has_68_faces() -> None:
    assert len({face(card) for card in DECKS["nomercy168"].cards}) == 68


@pytest.mark.parametrize("card", CARDS)
def test_a_face_shows_its_colour_as_class_letter_and_shape(card: str) -> None:
    color = "w" if card.startswith("W") else card[0]
    svg = ET.fromstring(face(card))  # noqa: S314  # our own markup
    badge = next(group for group in svg if group.get("class") == "badge")
    letter = badge.find("text")
    assert svg.get("class") == f"face {color}"
    assert svg.get("aria-hidden") == "true"
    assert letter is not None
    assert letter.text == GROUNDS[color].letter
    assert badge[0][0].tag == SHAPES[color]


def test_every_symbol_has_a_glyph_and_there_are_no_others() -> None:
    assert set(GLYPHS) == {face_of(card).symbol for card in CARDS}


def test_two_cards_never_share_a_face() -> None:
    assert len({face(card) for card in CARDS}) == len(CARDS)


def test_text_that_is_not_a_card_raises_key_error() -> None:
    with pytest.raises(KeyError):
        face("r99")


@pytest.mark.parametrize(
    "markup", [face("rD"), face("WC"), shape("y"), BACK, LOGO], ids=["D", "WC", "y", "back", "logo"]
)
def test_faces_obey_the_content_security_policy(markup: str) -> None:
    for forbidden in ("style=", "<script", "href=", " on"):
        assert forbidden not in markup


@pytest.mark.parametrize("card", CARDS)
def test_only_0_and_7_have_captions_about_hands(card: str) -> None:
    words = {"0": ["PASS HANDS"], "7": ["SWAP HANDS"]}.get(face_of(card).symbol, [])
    svg = ET.fromstring(face(card))  # noqa: S314  # our own markup
    assert [text.text for text in svg.iter("text") if "swap" in (text.get("class") or "").split()] == words
