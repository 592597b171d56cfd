"""Pages of games with a deck of two sides, and of moments with no colour in force."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from typing import Any

import pytest
from django.template import loader

from accounts.models import User
from games import rules
from games.actions import lobby, play
from games.models import Game
from games.queries import GameView, Viewer
from games.render import faces, game_cards, table, words
from games.rules import Event
from tests.conftest import logged_in
from tests.games.test_render import NAMES, NOW, PLAIN, chooser, page, seen, there
from tests.support.pages import text_of, words_in
from tests.support.tables import NOON, now_of, table_at

LIGHT: Mapping[str, Any] = {
    "hands": [["r5/o2", "b1/pF", "W/u3", "W2/oE"], ["r4/t1", "g3/W"], ["y1/u9", "y2/WD"]], "turn": 0, "side": "light",
    "discard_pile": ["r3/t4"], "draw_pile": ["b2/o5", "g7/p8"],
}  # fmt: skip
DARK: Mapping[str, Any] = {
    **LIGHT, "side": "dark", "hands": [["b1/pF", "g3/W", "r5/o2", "y2/tE"], ["r4/t1", "W/u3"], ["y1/u9", "b9/WD"]],
}  # fmt: skip
DARK_WITH_TWO = {**DARK, "hands": [["g3/W", "r5/o2"], ["r4/t1", "W/u3"], ["y1/u9", "b9/WD"]]}
WILD_ON_TOP = {**DARK, "discard_pile": ["g4/W"]}
TURNED = "The cards are turned over to the dark side."
BUZZER_ON_TOP: Mapping[str, Any] = {
    **PLAIN,
    "discard_pile": ["r3", "BZ"],
    "hands": [["r5", "b1"], ["r4", "g3"], ["y1"]],
}
OVER: Mapping[str, Any] = {
    **DARK, "hands": [[], ["r4/t1", "W/u3"], ["y1/u9", "b9/WD"]], "phase": "over", "winner": 0, "points": 120,
}  # fmt: skip


def flip(position: Mapping[str, Any], you: int | None = 0, **game: Any) -> GameView:
    return seen(position, you, preset="flip", **game)


def rendered(template: str, **context: Any) -> str:
    return loader.render_to_string(f"games/_{template}.html", context)


def test_the_table_shows_the_side_in_force() -> None:
    for position, side, colors in ((LIGHT, "light", "rygb"), (DARK, "dark", "oput")):
        assert f"Side in force {side}" in words_in(rendered("table", page=page(flip(position, None))))
        shown = page(flip(position)).table
        assert (shown.side, "".join(shown.colors)) == (side, colors)
    dark = rendered("table", page=page(flip(DARK)))
    assert words_in(dark).count("Teal") == 2  # the card's name and the current colour
    assert faces.FLIP_BACK in dark
    assert faces.BACK in rendered("table", page=page(seen(BUZZER_ON_TOP, preset="house-party")))


def test_wilds_and_the_hand_follow_the_colours_of_the_side_in_force() -> None:
    light, dark = (there(page(flip(position)).hand) for position in (LIGHT, DARK))
    assert [card.side for card in light.cards if card.text == "W"] == ["light"]
    (wild,) = [card for card in dark.cards if card.text == "W"]
    assert wild.side == "dark"
    assert faces.face("W", "dark") in rendered("hand", page=page(flip(DARK)))
    hand = ["W", "t3", "WD", "uF", "o+5", "p9", "o1", "tR"]
    assert table.sorted_hand(hand, "color") == ["o1", "o+5", "p9", "uF", "t3", "tR", "W", "WD"]
    assert table.sorted_hand(hand, "number") == ["o1", "t3", "p9", "tR", "uF", "o+5", "W", "WD"]
    assert table.sorted_hand(["BZ", "W", "b1", "r2"], "color") == ["r2", "b1", "W", "BZ"]


def test_a_dark_wild_asks_for_a_dark_colour_with_its_letter_as_key() -> None:
    asked = chooser(flip(DARK), choose="W")
    assert [choice.name for choice in asked.choices] == ["Orange", "Pink", "Purple", "Teal"]
    assert [choice.move for choice in asked.choices] == [f"play W color {color}" for color in "oput"]
    html = rendered("chooser", page=page(flip(DARK), choose="W"))
    assert re.findall(r'data-key="(.)"', html) == list("oput")
    assert all(faces.shape(color) in html for color in "oput")


def test_the_key_for_uno_is_another_one_while_u_chooses_purple() -> None:
    """Without it the key for UNO would choose a colour, because keys.js takes the first control with a key."""
    dark, light = (
        flip(DARK_WITH_TWO),
        flip({**LIGHT, "hands": [["W/u3", "r5/o2"], ["r4/t1", "g3/W"], ["y1/u9", "y2/WD"]]}),
    )
    for view, choose, key in ((dark, "", "u"), (dark, "W", "shift+u"), (light, "W", "u")):
        assert there(there(page(view, choose=choose).move).uno).key == key
    keys = re.findall(r'data-key="([^"]*)"', rendered("move", page=page(dark, choose="W")))
    assert sorted(keys) == sorted([*"oput", "shift+u", "escape"])


@pytest.mark.parametrize(("position", "keys", "other"), [(LIGHT, "R Y G B", False), (DARK, "O P U T", True)])
def test_the_help_lists_the_keys_of_the_colours_in_play(position: Mapping[str, Any], keys: str, other: bool) -> None:
    told = " ".join(words_in(rendered("keys", page=page(flip(position)))).split())
    assert f"{keys} choose that colour" in told
    assert ("Shift+U while you choose a colour" in told) is other


@pytest.mark.parametrize(
    ("view", "color"),
    [
        (flip(WILD_ON_TOP), "Any card fits"),
        (seen(BUZZER_ON_TOP, preset="house-party"), "Any card fits"),
        (seen({**BUZZER_ON_TOP, "discard_pile": ["W"]}, preset="classic"), "Any card fits"),
        (seen({**BUZZER_ON_TOP, "discard_pile": ["WC"], "phase": "choose_color"}), "Not chosen yet"),
    ],
    ids=["a wild that a Flip brought up", "a buzzer", "a first wild", "a roulette"],
)
def test_the_table_says_that_no_colour_is_in_force(view: GameView, color: str) -> None:
    shown = page(view)
    assert shown.table.color is None
    assert f"Current colour {color}" in words_in(rendered("table", page=shown))
    assert f"{color}." in [key.text for key in shown.spoken_keys]


@pytest.mark.parametrize(
    ("view", "detail"),
    [
        (flip(DARK), "You can play teal, any 4 or any wild."),
        (flip({**DARK, "discard_pile": ["r3/t+5"]}), "You can play teal, any Draw Five or any wild."),
        (flip(WILD_ON_TOP), "You can play any card."),
        (seen({**BUZZER_ON_TOP, "discard_pile": ["r3"]}, preset="house-party"),
         "You can play red, any 3 or any wild or buzzer."),
    ],
)  # fmt: skip
def test_the_detail_names_dark_colours_and_says_that_any_card_fits(view: GameView, detail: str) -> None:
    assert page(view).detail == detail


def test_sentences_name_dark_colours() -> None:
    for event, sentence in (
        (Event("played", 1, "W", color="p"), "Bob plays Wild and chooses pink."),
        (Event("played", 1, "WD", color="u"), "Bob plays Wild Draw Colour and chooses purple."),
        (Event("owes_color", 1, color="t"), "Bob has to draw until teal shows."),
        (Event("flipped", 1, "o5", reason="dark"), f"{TURNED} Orange 5 is on top."),
        (Event("flipped", 1, "W", reason="dark"), f"{TURNED} Wild is on top, and any card fits."),
        (Event("played", 1, "BZ"), "Bob plays Buzzer."),
    ):
        assert rules.sentence(event, 0, NAMES) == sentence


def test_a_game_in_a_list_shows_the_side_in_force() -> None:
    card = game_cards.game_card(flip(WILD_ON_TOP), NOW)
    assert (card.top, card.side) == ("W", "dark")
    assert faces.face("W", "dark") in rendered("game_list", games=[card], named=False)
    assert faces.FLIP_BACK in rendered("game_list", games=[card._replace(top=None)], named=False)
    assert game_cards.game_card(seen(BUZZER_ON_TOP, preset="house-party"), NOW).side is None


def test_the_table_says_that_a_wild_draw_colour_can_be_challenged() -> None:
    challenge = {"color": "t", "challenge": {"seat": 2, "bluff": True}, "pending": {"total": 0, "value": 0}}
    shown = page(flip({**DARK, "discard_pile": ["r3/t4", "r9/WD"], **challenge}))
    assert shown.headline == "Challenge, or draw until teal shows"
    assert shown.detail == "You can challenge Chen."
    hint = "A bluff: Chen draws until the colour shows. No bluff: you do, and 2 more."
    assert there(shown.move).hint == hint
    stack = next(item.text for item in shown.spoken_keys if item.key == "g")
    assert (shown.table.owed, stack) == ("Cards", "You draw until teal shows. You can challenge Chen.")


def test_players_see_the_backs_of_the_other_hands() -> None:
    for view, backs in (
        (flip(DARK), [[], ["r4", "W"], ["y1", "b9"]]),
        (flip(LIGHT), [[], ["t1", "W"], ["u9", "WD"]]),
        (flip(DARK, None), [[], [], []]),
        (flip(DARK, options={"flip_backs": "hidden"}), [[], [], []]),
    ):
        assert [[card.text for card in player.backs] for player in page(view).players] == backs
    html = rendered("players", page=page(flip(LIGHT)))
    assert faces.face("W", "dark") in html
    assert "Teal 1" in words_in(html)


def test_the_hands_at_the_end_of_a_round_show_both_faces_of_each_card() -> None:
    shown = page(flip(OVER, 1, status="over", winner=0))
    ended = there(shown.ended)
    assert [[card.name for card in row.cards] for row in ended.rows[1:]] == [
        ["Purple 3, Wild on the back", "Teal 1, Red 4 on the back"],
        ["Purple 9, Yellow 1 on the back", "Wild Draw Colour, Blue 9 on the back"],
    ]
    html = rendered("ended", page=shown, csrf_input="")
    for face, side in (("u3", "dark"), ("W", "light"), ("t1", "dark"), ("r4", "light")):
        assert faces.face(face, side) in html


def test_hands_seen_from_both_sides_are_sorted_by_the_side_in_force_and_hide_what_their_player_did_not_see() -> None:
    for side, shown in (
        ("light", [("r4", "t1", True), ("b9", "o7", False), ("W", "u3", False)]),
        ("dark", [("o7", "b9", True), ("u3", "W", False), ("t1", "r4", False)]),
    ):
        cards = table.shown_cards(["r4/t1", "W/u3", "b9/o7"], flip(DARK).options, side, fitting={"r4", "o7"})
        assert [(card.text, card.back, card.fits) for card in cards] == shown
    as_seen = table.shown_cards(["r4/t1", "W/u3"], flip(DARK).options, "dark", backs=False)
    assert [(card.text, card.name, card.back) for card in as_seen] == [("u3", "Purple 3", ""), ("t1", "Teal 1", "")]


def test_the_headline_of_a_drawn_card_names_the_face_in_force() -> None:
    drawn = {**DARK, "phase": "drawn", "drawn": "r5/o2", "discard_pile": ["r3/t2"]}
    assert words.headline(flip(drawn)) == "You drew Orange 2: play or keep?"


@pytest.mark.django_db
def test_a_flip_turns_the_pages_of_both_players(alice: User, bob: User) -> None:
    table_ = table_at({**LIGHT, "hands": [["r5/o2", "rF/u1", "b2/p2"], ["r4/t1", "g3/W"]]}, [alice, bob], preset="flip")
    play.play_move(code=table_.game.code, viewer=Viewer(alice), text="play rF", version=0, now=NOON)
    url = table_.game.get_absolute_url()
    mine, theirs = (text_of(logged_in(user).get(url)) for user in (alice, bob))
    for shown in (mine, theirs):
        assert "Current colour Teal" in shown  # the bottom of the pile, r3/t4, is on top
        assert "alice plays Red Flip." in shown or "You play Red Flip." in shown
        assert "The cards are turned over to the dark side. Teal 4 is on top." in shown
    assert "Orange 2" in mine
    assert "Red 5" not in mine
    assert "Red 5" in theirs  # the back of a card of alice's
    assert "Orange 2" not in theirs


@pytest.mark.long
@pytest.mark.django_db
def test_the_pages_of_a_whole_flip_game_can_be_seen(alice: User, bob: User) -> None:
    options = lobby.TableChoices(players=2, preset="flip", public=False)
    made = lobby.create_table(user=alice, choices=options, now=NOON)
    lobby.join(code=made.game.code, viewer=Viewer(bob, [made.game.invite_key]), now=NOON)
    rng, browser, sides = random.Random(4), logged_in(alice), set()
    url = made.game.get_absolute_url()
    while (here := now_of(made)).game.status == Game.Status.PLAYING:
        position = here.started.position
        if (position.extra.side, position.turn) not in sides:
            sides.add((position.extra.side, position.turn))
            assert browser.get(url).status_code == 200
            assert browser.get("/").status_code == 200
            assert browser.get(f"{url}log/").status_code == 200
        moves = rules.legal_moves(position, position.turn, here.options)
        moves = [move for move in moves if move.kind == "play"] or moves
        user = (alice, bob)[position.turn]
        text = str(rng.choice(moves))
        play.play_move(code=here.game.code, viewer=Viewer(user), text=text, version=here.game.version, now=NOON)
    assert {side for side, _ in sides} == {"light", "dark"}
    assert " on the back" in browser.get(url).content.decode()
    for n in range(0, here.game.version, 20):
        replay = browser.get(f"{url}replay/?n={n}").content.decode()
        assert " on the back" in replay
        assert " on the back" not in browser.get(f"{url}replay/?n={n}&seat=0").content.decode()
