"""The options: their rows, and what each value does."""

from __future__ import annotations

import re
from dataclasses import fields, replace
from itertools import groupby
from operator import attrgetter

import pytest

from common.say import ENGLISH
from games.rules import (
    FACE_OF,
    MAX_PLAYERS_OF,
    OPTIONS,
    PRESET_TITLES,
    PRESETS,
    RULEBOOK,
    SPECS,
    BadInput,
    Options,
    OptionSpec,
    changes_needed,
    check_players,
    options_dict,
    options_diff,
    options_from,
    options_from_stored,
    options_to_store,
    preselected,
    warning,
)
from tests.rules.tables import Case, Json, case, cases, check

GROUP = attrgetter("group")
NUMBERS: dict[str, object] = {"first_discard": "number", "bluff": "off"}
"""What a No Mercy deck needs of the preset `classic`."""
OTHERS = "g2 g3 / y1 W6"
STACK: Json = {"discard_pile": "r+2", "pending": (2, 2)}


@cases(
    case(
        "TURN-4",
        "voluntary_draw off: draw only when nothing fits",
        "r5 b1 / g2 g3",
        "0 draw",
        refused="may_not_draw",
        options={"voluntary_draw": False},
        legal={0: "play r5"},
    ),
    case(
        "TURN-4",
        "voluntary_draw off: without a playable card you must draw",
        "b1 b2 / g2 g3",
        "0 draw",
        {"drawn": "r9"},
        draw_pile="r9",
        options={"voluntary_draw": False},
    ),
    case(
        "ROUL-2",
        "roulette_color player: named by its player, drawn inside that move",
        "WC b1 b2 / g2 g3 / y1 y2",
        "0 play WC color g",
        {"hands": "b1 b2 / b1 b2 y3 g4 g2 g3 / y1 y2", "turn": 2, "color": "g", "phase": "play"},
        options={"roulette_color": "player"},
    ),
    case(
        "ROUL-2",
        "roulette_color player: a colour is needed",
        "WC b1 b2 / g2 g3",
        "0 play WC",
        refused="color_missing",
        options={"roulette_color": "player"},
    ),
    case(
        "ROUL-2 END-1",
        "roulette_color player: a last card has no colour",
        "WC / g2 g3",
        "0 play WC",
        {"winner": 0},
        options={"roulette_color": "player"},
    ),
    case(
        "ROUL-2 MERCY-1",
        "roulette_color player: the victim may be knocked out",
        "WC b1 b2 / b1 b2 b3 b4 b5 b6 b8 b9 / y1 y2",
        "0 play WC color r",
        {"out": [1], "turn": 2, "color": "r"},
        options={"roulette_color": "player", "mercy_limit": 10},
    ),
    case(
        "ROUL-2 END-4",
        "roulette_color player: knocking the victim out may end the round",
        "WC b1 b2 / b1 b2 b3 b4 b5 b6 b8 b9",
        "0 play WC color r",
        {"winner": 0, "points": 250},
        options={"roulette_color": "player", "mercy_limit": 10},
    ),
    case(
        "ROUL-1 UNO-1",
        "roulette_color player: its player still owes a call",
        "WC b1 / g2 g3",
        "0 play WC color g",
        {"exposed": [0], "turn": 0},
        options={"roulette_color": "player"},
    ),
    case(
        "END-2",
        "draw_then_win: the next player draws and it scores",
        f"r+2 / {OTHERS}",
        "0 play r+2",
        {"hands": "- / b1 b2 g2 g3 / y1 W6", "winner": 0, "points": 59},
        options={"last_draw_card": "draw_then_win"},
    ),
    case(
        "END-2 STACK-2",
        "draw_then_win: the whole stack",
        f"r+2 / {OTHERS}",
        "0 play r+2",
        {"hands": "- / b1 b2 y3 g4 g2 g3 / y1 W6", "winner": 0},
        options={"last_draw_card": "draw_then_win"},
        **STACK,
    ),
    case(
        "END-2 WR4-1",
        "draw_then_win: the direction turns first",
        f"WR4 / {OTHERS}",
        "0 play WR4 color g",
        {"hands": "- / g2 g3 / y1 W6 b1 b2 y3 g4", "winner": 0},
        options={"last_draw_card": "draw_then_win"},
    ),
    case(
        "END-2 WR4-2",
        "draw_then_win: with two left the other draws",
        "WR4 / g2 g3",
        "0 play WR4 color g",
        {"hands": "- / g2 g3 b1 b2 y3 g4", "winner": 0},
        options={"last_draw_card": "draw_then_win"},
    ),
    case(
        "END-2 MERCY-1",
        "draw_then_win: it may knock out",
        "r+2 / b1 b2 b3 b4 b5 b6 b8 b9 / y1 W6",
        "0 play r+2",
        {"out": [1], "winner": 0, "points": 301},
        options={"last_draw_card": "draw_then_win", "mercy_limit": 10},
    ),
    case(
        "END-2",
        "win_now: nobody draws",
        f"r+2 / {OTHERS}",
        "0 play r+2",
        {"hands": f"- / {OTHERS}", "winner": 0, "points": 56},
        options={"last_draw_card": "win_now"},
    ),
    case(
        "UNO-4",
        "uno_on_received_hand off: a received card owes nothing",
        "r7 b1 / g2 g3",
        "0 play r7 swap 1",
        {"exposed": []},
        options={"uno_on_received_hand": False},
    ),
    case(
        "UNO-4",
        "uno_on_received_hand off: your own 7 owes nothing either",
        "r7 b1 b2 / g2",
        "0 play r7 swap 1",
        {"exposed": []},
        options={"uno_on_received_hand": False},
    ),
    case(
        "UNO-4",
        "uno_on_received_hand off: the call made for it is gone all the same",
        "r7 b1 b2 / g2",
        "0 play r7 swap 1",
        {"exposed": [], "declared": []},
        options={"uno_on_received_hand": False},
        declared=[1],
    ),
    case(
        "UNO-2",
        "callout_penalty",
        "r5 b1 / g2 g3",
        "0 play r5; 1 catch 0",
        {"hands": "b1 b1 b2 y3 g4 / g2 g3"},
        options={"callout_penalty": 4},
    ),
    case(
        "UNO-2",
        "callout_penalty 0 only closes the window",
        "r5 b1 / g2 g3",
        "0 play r5; 1 catch 0",
        {"hands": "b1 / g2 g3", "exposed": [], "declared": []},
        options={"callout_penalty": 0},
    ),
    case(
        "UNO-6",
        "false_catch_penalty: accepted, and costs the catcher",
        "r5 b1 / g2 g3",
        "1 catch 0",
        {"hands": "r5 b1 / b1 b2 y3 g2 g3", "turn": 0},
        options={"false_catch_penalty": 3},
        legal={0: "catch 1; draw; play r5", 1: "catch 0"},
    ),
    case(
        "UNO-6",
        "false_catch_penalty: you cannot catch yourself",
        "r5 b1 / g2 g3",
        "1 catch 1",
        refused="nobody_to_catch",
        options={"false_catch_penalty": 3},
    ),
    case(
        "UNO-6 END-2",
        "false_catch_penalty: a player who went out is back in the round",
        "- / b1 g2 / y1 y2",
        "0 catch 1",
        {"hands": "b1 / b1 g2 / y1 y2", "going_out": [], "turn": 1, "winner": None},
        options={"false_catch_penalty": 1},
        turn=1,
        going_out=[0],
        **STACK,
    ),
    case(
        "SCORE-3",
        "penalty: a list, one a seat",
        "r5 / g9 gS / - / W6",
        "0 play r5",
        {"points": [0, 29, 250, 50], "winner": 0},
        options={"scoring": "penalty"},
        out=[2],
    ),
    case(
        "STACK-1",
        "stacking off: what is owed is drawn at once",
        "r+2 b1 b2 / g+2 g3 / y1 y2",
        "0 play r+2",
        {"hands": "b1 b2 / b1 b2 g+2 g3 / y1 y2", "turn": 2, "pending": None},
        options={"stacking": "off"},
    ),
    case(
        "STACK-1 END-2",
        "stacking off: a last draw card wins once it is drawn",
        f"r+2 / {OTHERS}",
        "0 play r+2",
        {"hands": "- / b1 b2 g2 g3 / y1 W6", "winner": 0, "points": 59},
        options={"stacking": "off"},
    ),
    case(
        "STACK-1 WR4-2",
        "stacking off: with two left you draw your own four at once",
        "WR4 b1 b9 / g2 g3",
        "0 play WR4 color g",
        {"hands": "b1 b9 b1 b2 y3 g4 / g2 g3", "turn": 1},
        options={"stacking": "off"},
    ),
    case(
        "SEVEN-1 ZERO-1",
        "zero_seven off: plain numbers",
        "r7 r0 b1 / g2 g3",
        "0 play r7",
        {"turn": 1, "hands": "r0 b1 / g2 g3"},
        options={"zero_seven": False},
    ),
    case(
        "SEVEN-1",
        "zero_seven off: no target",
        "r7 r0 b1 / g2 g3",
        "0 play r7 swap 1",
        refused="swap_not_asked",
        options={"zero_seven": False},
    ),
    case(
        "TURN-4",
        "draw_until_playable off: one card",
        "b1 b2 / g2 g3",
        "0 draw",
        {"hands": "b1 b2 b4 / g2 g3", "turn": 1},
        options={"draw_until_playable": False},
        draw_pile="b4 r9",
    ),
    case(
        "TURN-4",
        "drawn_must_play off: it may be kept",
        "b1 b2 / g2 g3",
        "0 draw; 0 pass",
        {"hands": "b1 b2 b4 r9 / g2 g3", "turn": 1, "phase": "play"},
        options={"drawn_must_play": False},
        draw_pile="b4 r9",
    ),
)
def test_options_do_what_their_help_says(row: Case) -> None:
    check(row)


def test_every_option_has_one_row() -> None:
    assert sorted(spec.name for spec in OPTIONS) == sorted(field.name for field in fields(Options) if field.init)
    usual = options_dict(PRESETS["no-mercy"])
    rules = {rule.id for rule in RULEBOOK}
    for spec in OPTIONS:
        assert type(usual[spec.name]) is spec.type
        assert spec.source in rules
        assert all(value in (True, False) and to in spec.values for value, to in spec.earlier)
        assert (spec.type is bool) == (not spec.values and not spec.ranges)


def test_every_option_has_a_group_and_a_title() -> None:
    assert [(group, [(spec.name, spec.title) for spec in specs]) for group, specs in groupby(OPTIONS, GROUP)] == [
        (
            "Deck and deal",
            [
                ("deck", "Deck"),
                ("flip_backs", "Hidden sides of the others’ cards"),
                ("first_discard", "The first discard"),
                ("hand_size", "Cards dealt to each"),
            ],
        ),
        (
            "Drawing",
            [
                ("voluntary_draw", "Draw even if you can play"),
                ("draw_until_playable", "Draw until playable"),
                ("drawn_must_play", "A drawn card must be played"),
            ],
        ),
        (
            "Answers to draw cards",
            [
                ("stacking", "Stacking"),
                ("advanced_stacking", "Pass a debt on"),
                ("skip_after_draw", "Drawing a debt costs the turn"),
            ],
        ),
        (
            "Sevens, zeros and the roulette",
            [("zero_seven", "Sevens swap, zeros pass"), ("roulette_color", "Who chooses the roulette’s colour")],
        ),
        (
            "Straights and interceptions",
            [
                ("straights", "Straights"),
                ("interceptions", "Interceptions"),
                ("interception_penalty", "Points for a miss"),
            ],
        ),
        ("Bluffs", [("bluff", "Challenging a bluff")]),
        ("Buzzers", [("buzzers", "Buzzers")]),
        (
            "UNO calls",
            [
                ("callout_penalty", "Cards for being caught"),
                ("uno_window", "How long a missing call can be caught"),
                ("false_catch_penalty", "Cards for a false catch"),
                ("uno_on_received_hand", "UNO for a received card"),
            ],
        ),
        (
            "Elimination",
            [
                ("mercy_limit", "Mercy limit"),
                ("mercy_points", "Points for a player who is out"),
                ("mercy_card_points", "Points for the cards of a player who is out"),
                ("mercy_cards", "The cards of a player who is out"),
            ],
        ),
        (
            "The last card and scoring",
            [
                ("last_draw_card", "A draw card as the last card"),
                ("scoring", "Scoring"),
                ("target", "Points to play to"),
                ("rounds", "Rounds to play"),
            ],
        ),
    ]


def test_the_options_of_a_group_are_together() -> None:
    groups = [spec.group for spec in OPTIONS]
    assert all(groups)
    assert [title for title, _ in groupby(groups)] == list(dict.fromkeys(groups))


MEANINGS: list[tuple[OptionSpec, object]] = [
    *((spec, choice.value) for spec in OPTIONS for choice in spec.choices),
    *((spec, number) for spec in OPTIONS for bounds in spec.ranges for number in sorted(set(bounds))),
]
"""Every value of an option with choices, and the bounds of numbers."""


@pytest.mark.parametrize(("spec", "value"), MEANINGS, ids=[f"{spec.name}-{value}" for spec, value in MEANINGS])
def test_every_value_of_every_option_has_a_sentence(spec: OptionSpec, value: object) -> None:
    sentence = spec.sentence(value)
    assert re.fullmatch(r"[A-Z0-9][^.{}_]+\.", sentence)
    assert not re.search(r"\b1 \w+s\b|\b0 cards?\b|\'", sentence)
    assert spec.label(value)
    sentences = [spec.sentence(other) for option, other in MEANINGS if option == spec]
    assert len(set(sentences)) == len(sentences)
    assert sentence in spec.help or not spec.choices


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("hand_size", 1, "Each player is dealt 1 card."),
        ("hand_size", 9, "Each player is dealt 9 cards."),
        ("mercy_limit", 0, "However many cards you hold, you stay in the round."),
        ("mercy_limit", 30, "A player who holds 30 cards is out of the round."),
        ("callout_penalty", 0, "Being caught without having called UNO costs nothing."),
        ("stacking", "off", "Draw cards cannot be stacked."),
        ("zero_seven", False, "7 and 0 are plain numbers."),
        ("rounds", 3, "The match ends after 3 rounds."),
    ],
)
def test_a_sentence_says_what_a_value_means(name: str, value: object, sentence: str) -> None:
    assert SPECS[name].sentence(value) == sentence


def test_every_choice_has_a_label_for_forms() -> None:
    labels = {
        spec.name: [spec.label(choice.value) for choice in spec.choices]
        for spec in OPTIONS
        if spec.choices and spec.type is str and spec.name != "deck"
    }
    assert labels == {
        "flip_backs": ["hidden", "seen"],
        "first_discard": ["number", "official"],
        "stacking": ["off", "the same card", "the same family", "any"],
        "roulette_color": ["the player who must draw", "the player of the card"],
        "interceptions": ["off", "same colour and kind", "same kind, any colour"],
        "bluff": ["off", "official", "playroom"],
        "buzzers": ["off", "race", "lottery"],
        "uno_window": ["one turn", "until the hand changes"],
        "mercy_cards": ["set aside", "into the draw pile"],
        "last_draw_card": ["the others may answer", "the next player draws", "nobody draws"],
        "scoring": ["the most points win", "the fewest points win"],
    }
    assert [SPECS["straights"].label(value) for value in (True, False)] == ["on", "off"]
    assert SPECS["deck"].label("flip112") == "Flip, 112 cards with two sides"
    assert SPECS["hand_size"].label(7) == "7"


@pytest.mark.parametrize("preset", PRESETS)
def test_only_a_live_table_with_buzzers_preselects_a_race(preset: str) -> None:
    offered = PRESETS[preset]
    assert preselected(preset, live=False) == offered
    wanted = replace(offered, buzzers="race") if preset == "house-party" else offered
    assert preselected(preset, live=True) == wanted


@pytest.mark.parametrize(
    ("target", "rounds", "match"), [(0, 0, False), (0, 1, False), (0, 2, True), (1, 0, True), (500, 1, True)]
)
def test_a_match_has_a_target_or_rounds(target: int, rounds: int, match: bool) -> None:
    assert options_from("classic", {"target": target, "rounds": rounds}).is_match == match


def test_the_help_of_an_option_explains_its_values() -> None:
    assert SPECS["zero_seven"].help == (
        "On: A 7 swaps two hands, and a 0 passes every hand on. Off: 7 and 0 are plain numbers."
    )
    assert SPECS["uno_window"].help == (
        "turn: A missing call can be caught until the next move of the player on turn."
        " open: A missing call can be caught until that hand changes."
    )
    assert SPECS["uno_window"].help_in_words == (
        "One turn: A missing call can be caught until the next move of the player on turn."
        " Until the hand changes: A missing call can be caught until that hand changes."
    )
    assert SPECS["zero_seven"].help_in_words == SPECS["zero_seven"].help
    assert SPECS["mercy_limit"].help == (
        "Must exceed the cards dealt to each, unless it is 0. With a No Mercy deck and no mercy limit, hands may grow"
        " until the piles run short. A player who holds N cards is out of the round."
        " 0: However many cards you hold, you stay in the round."
    )
    assert SPECS["hand_size"].help == "Each player is dealt N cards."


def test_the_preset_no_mercy_has_the_values_of_the_rulebook() -> None:
    options = PRESETS["no-mercy"]
    assert (options.voluntary_draw, options.roulette_color, options.last_draw_card) == (True, "victim", "contest")
    assert (options.uno_on_received_hand, options.callout_penalty, options.false_catch_penalty) == (True, 2, 0)
    assert (options.mercy_limit, options.hand_size, options.scoring, options.target) == (25, 7, "winner", 1000)


def test_the_preset_classic_has_its_own_values() -> None:
    assert options_diff("no-mercy", PRESETS["classic"]) == {
        "deck": "classic108",
        "draw_until_playable": False,
        "drawn_must_play": False,
        "stacking": "off",
        "zero_seven": False,
        "last_draw_card": "draw_then_win",
        "mercy_limit": 0,
        "target": 500,
        "first_discard": "official",
        "bluff": "official",
    }


# As in docs/rules.md. A preset has the value of no-mercy if it is not named here.
OFFERED: dict[str, Json] = {
    "no-mercy": {},
    "playroom": {
        "deck": "classic108", "draw_until_playable": False, "drawn_must_play": False, "stacking": "off",
        "skip_after_draw": False, "zero_seven": False, "callout_penalty": 4, "uno_window": "open", "mercy_limit": 0,
        "mercy_cards": "draw_pile", "last_draw_card": "draw_then_win", "scoring": "penalty", "target": 500,
    },
    "playroom-no-mercy": {
        "draw_until_playable": False, "drawn_must_play": False, "stacking": "family", "skip_after_draw": False,
        "roulette_color": "player", "callout_penalty": 4, "uno_window": "open", "mercy_cards": "draw_pile",
        "last_draw_card": "draw_then_win", "scoring": "penalty", "target": 500,
    },
    "flip": {
        "deck": "flip112", "first_discard": "official", "draw_until_playable": False, "drawn_must_play": False,
        "stacking": "off", "zero_seven": False, "roulette_color": "player", "bluff": "official", "mercy_limit": 0,
        "last_draw_card": "draw_then_win", "target": 500, "flip_backs": "seen",
    },
    "house-party": {
        "deck": "classic108", "buzzers": "lottery", "draw_until_playable": False, "drawn_must_play": False,
        "stacking": "same", "advanced_stacking": True, "skip_after_draw": False, "straights": True,
        "interceptions": "super", "bluff": "playroom", "callout_penalty": 4, "uno_window": "open", "mercy_limit": 0,
        "mercy_cards": "draw_pile", "scoring": "penalty", "target": 500,
    },
}  # fmt: skip


@pytest.mark.parametrize("preset", OFFERED)
def test_a_preset_offers_the_values_of_the_rulebook(preset: str) -> None:
    assert options_diff("no-mercy", PRESETS[preset]) == OFFERED[preset]
    assert MAX_PLAYERS_OF[preset] == (6 if preset == "no-mercy" else 10)


@pytest.mark.parametrize("preset", PRESETS)
def test_the_face_of_a_preset_is_one_of_its_cards(preset: str) -> None:
    face, side = FACE_OF[preset]
    assert face in PRESETS[preset].rules.sides[side].faces


@pytest.mark.parametrize("preset", PRESETS)
def test_options_can_be_restored_from_their_difference(preset: str) -> None:
    changed = options_from(preset, {"mercy_limit": 30, "scoring": "penalty", "hand_size": 9})
    assert options_from(preset, options_diff(preset, changed)) == changed
    assert options_diff(preset, PRESETS[preset]) == {}


@pytest.mark.parametrize(
    ("preset", "overrides", "sentence"),
    [
        (
            "mercy",
            {},
            "There is no preset 'mercy'; there are no-mercy, classic, playroom, playroom-no-mercy, flip, house-party.",
        ),
        ("no-mercy", {"jokers": 2}, "There is no option 'jokers'."),
        ("no-mercy", {"mercy_limit": "25"}, "The option mercy_limit must be a whole number."),
        ("no-mercy", {"mercy_limit": True}, "The option mercy_limit must be a whole number."),
        ("no-mercy", {"mercy_limit": 25.0}, "The option mercy_limit must be a whole number."),
        ("no-mercy", {"mercy_limit": 9}, "The option mercy_limit must be 0 or 10 to 50."),
        ("no-mercy", {"mercy_limit": 51}, "The option mercy_limit must be 0 or 10 to 50."),
        ("no-mercy", {"mercy_limit": 10, "hand_size": 10}, "The option mercy_limit must exceed hand_size."),
        ("no-mercy", {"hand_size": 0}, "The option hand_size must be 1 to 15."),
        ("no-mercy", {"hand_size": 16}, "The option hand_size must be 1 to 15."),
        ("no-mercy", {"callout_penalty": 11}, "The option callout_penalty must be 0 to 10."),
        ("no-mercy", {"false_catch_penalty": -1}, "The option false_catch_penalty must be 0 to 10."),
        ("no-mercy", {"target": 5001}, "The option target must be 0 to 5000."),
        ("no-mercy", {"voluntary_draw": 1}, "The option voluntary_draw must be true or false."),
        ("no-mercy", {"voluntary_draw": None}, "The option voluntary_draw must be true or false."),
        ("no-mercy", {"roulette_color": "dealer"}, "The option roulette_color must be one of victim, player."),
        (
            "no-mercy",
            {"deck": "uno108"},
            "The option deck must be one of nomercy168, nomercy172, classic108, flip112.",
        ),
        ("no-mercy", {"stacking": 1}, "The option stacking must be a text."),
        ("no-mercy", {"stacking": "all"}, "The option stacking must be one of off, same, family, any."),
        ("no-mercy", {"buzzers": True}, "The option buzzers must be a text."),
        ("no-mercy", {"interceptions": "on"}, "The option interceptions must be one of off, exact, super."),
        ("no-mercy", {"interception_penalty": 51}, "The option interception_penalty must be 0 to 50."),
        ("no-mercy", {"mercy_points": 1001}, "The option mercy_points must be 0 to 1000."),
        ("no-mercy", {"rounds": 51}, "The option rounds must be 0 to 50."),
        ("no-mercy", {"straights": "yes"}, "The option straights must be true or false."),
    ],
)
def test_bad_options_are_refused_with_one_sentence(preset: str, overrides: dict[str, object], sentence: str) -> None:
    with pytest.raises(BadInput) as refused:
        options_from(preset, overrides)
    assert str(refused.value) == sentence


@pytest.mark.parametrize(
    ("preset", "overrides", "option"),
    [
        ("no-mercy", {"jokers": 2}, ""),
        ("no-mercy", {"mercy_limit": 9}, "mercy_limit"),
        ("no-mercy", {"mercy_limit": "9"}, "mercy_limit"),
        ("no-mercy", {"scoring": "golf"}, "scoring"),
        ("no-mercy", {"mercy_limit": 10, "hand_size": 10}, "mercy_limit"),
        ("classic", {"advanced_stacking": True}, "advanced_stacking"),
        ("classic", {"advanced_stacking": True, "stacking": "any"}, "advanced_stacking"),
        ("no-mercy", {"bluff": "official"}, "bluff"),
        ("no-mercy", {"first_discard": "official"}, "first_discard"),
        ("flip", {"buzzers": "race"}, "buzzers"),
        ("flip", {"roulette_color": "victim"}, "roulette_color"),
        ("classic", {"flip_backs": "seen"}, "flip_backs"),
    ],
)
def test_a_refusal_names_the_option_to_change(preset: str, overrides: dict[str, object], option: str) -> None:
    with pytest.raises(BadInput) as refused:
        options_from(preset, overrides)
    assert refused.value.option == option


@pytest.mark.parametrize(
    ("preset", "chosen", "needed"),
    [
        ("classic", {}, {}),
        ("classic", {"advanced_stacking": True}, {"stacking": "same", "last_draw_card": "contest"}),
        ("classic", {"advanced_stacking": True, "stacking": "any"}, {"last_draw_card": "contest"}),
        ("no-mercy", {"advanced_stacking": True}, {}),
        ("house-party", {"stacking": "off"}, {"advanced_stacking": False}),
        ("house-party", {"last_draw_card": "win_now"}, {"advanced_stacking": False}),
        ("classic", {"deck": "nomercy168"}, {"bluff": "off", "first_discard": "number"}),
        ("classic", {"deck": "nomercy168", "bluff": "off"}, {"first_discard": "number"}),
        ("house-party", {"deck": "flip112"}, {"buzzers": "off", "roulette_color": "player"}),
        ("flip", {"deck": "classic108"}, {"flip_backs": "hidden"}),
    ],
)
def test_options_left_alone_follow_the_chosen_ones(
    preset: str, chosen: dict[str, object], needed: dict[str, object]
) -> None:
    assert changes_needed(PRESETS[preset], chosen) == needed
    assert options_diff(preset, options_from(preset, chosen | needed)) == chosen | needed


@pytest.mark.parametrize(
    ("preset", "chosen"),
    [
        ("no-mercy", {"mercy_limit": 10, "hand_size": 10}),
        ("classic", {"advanced_stacking": True, "stacking": "off", "last_draw_card": "contest"}),
        ("classic", {"deck": "nomercy172", "bluff": "official", "first_discard": "number"}),
        ("flip", {"buzzers": "race", "deck": "flip112"}),
    ],
)
def test_chosen_options_never_change(preset: str, chosen: dict[str, object]) -> None:
    assert changes_needed(PRESETS[preset], chosen) == {}
    with pytest.raises(BadInput):
        options_from(preset, chosen)


def test_changes_are_refused_like_options() -> None:
    with pytest.raises(BadInput, match=r"^There is no option 'jokers'\.$"):
        changes_needed(PRESETS["classic"], {"jokers": 2})


@pytest.mark.parametrize(
    ("preset", "mercy_limit", "warned"),
    [("no-mercy", 25, False), ("no-mercy", 0, True), ("playroom-no-mercy", 0, True), ("classic", 0, False)],
)
def test_a_no_mercy_deck_without_a_mercy_limit_is_warned_about(preset: str, mercy_limit: int, warned: bool) -> None:
    wanted = "With a No Mercy deck and no mercy limit, hands may grow until the piles run short." if warned else ""
    assert warning(options_from(preset, {"mercy_limit": mercy_limit})) == wanted
    assert warning(options_from("classic", {"deck": "nomercy172", **NUMBERS})) != ""


def test_a_mercy_limit_of_0_conflicts_with_no_hand_size() -> None:
    assert options_from("no-mercy", {"mercy_limit": 0, "hand_size": 15}).mercy_limit == 0


def test_every_preset_has_a_title() -> None:
    assert {name: PRESET_TITLES[name] for name in PRESETS} == {
        "no-mercy": "No Mercy",
        "classic": "Classic",
        "playroom": "Playroom",
        "playroom-no-mercy": "Playroom No Mercy",
        "flip": "Flip",
        "house-party": "House Party",
    }


@pytest.mark.parametrize("preset", PRESETS)
def test_options_can_be_restored_from_what_is_stored(preset: str) -> None:
    for changed in (*PRESETS.values(), replace(PRESETS["classic"], hand_size=3, scoring="penalty")):
        assert options_from_stored(preset, options_to_store(preset, changed)) == changed


@pytest.mark.parametrize("preset", PRESETS)
def test_stored_options_do_not_change_when_a_preset_offers_others(preset: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = options_from(preset, {"hand_size": 6})
    kept = options_to_store(preset, before)
    monkeypatch.setitem(PRESETS, preset, replace(PRESETS[preset], hand_size=5, callout_penalty=3, zero_seven=False))
    assert options_from_stored(preset, kept) == before
    offered = options_from(preset, {})
    assert options_to_store(preset, offered)["callout_penalty"] == 3
    assert options_from_stored(preset, options_to_store(preset, offered)) == offered


def test_the_stored_options_of_presets_are_never_edited() -> None:
    """If this fails, restore `stored` of the preset and edit `offered` instead.

    For a new option, add its default to `at_first`. Never change what is there.
    """
    at_first = {
        "buzzers": "off", "first_discard": "number", "advanced_stacking": False, "skip_after_draw": True,
        "straights": False, "interceptions": "off", "interception_penalty": 3, "bluff": "off", "uno_window": "turn",
        "mercy_points": 250, "mercy_card_points": False, "mercy_cards": "set_aside", "rounds": 0,
        "flip_backs": "hidden",
    }  # fmt: skip
    assert {preset: options_dict(options_from_stored(preset, {})) for preset in ("no-mercy", "classic")} == {
        "no-mercy": {
            "deck": "nomercy168", "voluntary_draw": True, "draw_until_playable": True, "drawn_must_play": True,
            "stacking": "any", "zero_seven": True, "roulette_color": "victim", "last_draw_card": "contest",
            "uno_on_received_hand": True, "callout_penalty": 2, "false_catch_penalty": 0, "mercy_limit": 25,
            "hand_size": 7, "scoring": "winner", "target": 1000, **at_first,
        },
        "classic": {
            "deck": "classic108", "voluntary_draw": True, "draw_until_playable": False, "drawn_must_play": False,
            "stacking": "off", "zero_seven": False, "roulette_color": "victim", "last_draw_card": "draw_then_win",
            "uno_on_received_hand": True, "callout_penalty": 2, "false_catch_penalty": 0, "mercy_limit": 0,
            "hand_size": 7, "scoring": "winner", "target": 500, **at_first,
        },
    }  # fmt: skip
    for preset in ("playroom", "playroom-no-mercy", "flip", "house-party"):
        stored = options_dict(options_from_stored(preset, {}))
        assert stored == {**options_dict(options_from_stored("no-mercy", {})), **OFFERED[preset]}


def test_stored_options_of_the_first_release_are_read() -> None:
    assert options_from_stored("classic", {"stacking": True}).stacking == "any"
    assert options_from_stored("no-mercy", {"stacking": False}).stacking == "off"


@pytest.mark.rule("OPT-1")
@pytest.mark.parametrize(
    ("preset", "overrides", "sentence"),
    [
        (
            "no-mercy",
            {"advanced_stacking": True, "stacking": "off"},
            "The option advanced_stacking needs stacking other than off, and last_draw_card contest.",
        ),
        (
            "no-mercy",
            {"advanced_stacking": True, "last_draw_card": "win_now"},
            "The option advanced_stacking needs stacking other than off, and last_draw_card contest.",
        ),
        ("no-mercy", {"bluff": "playroom"}, "The option bluff must be off with a No Mercy deck."),
        (
            "classic",
            {"deck": "nomercy172", "first_discard": "number"},
            "The option bluff must be off with a No Mercy deck.",
        ),
        ("no-mercy", {"first_discard": "official"}, "The option first_discard must be number with a No Mercy deck."),
        ("flip", {"buzzers": "lottery"}, "The option buzzers must be off with the deck flip112."),
        ("flip", {"roulette_color": "victim"}, "The option roulette_color must be player with the deck flip112."),
        ("classic", {"flip_backs": "seen"}, "The option flip_backs must be hidden without the deck flip112."),
    ],
)
def test_options_that_do_not_go_together_are_refused(preset: str, overrides: Json, sentence: str) -> None:
    with pytest.raises(BadInput) as refused:
        options_from(preset, overrides)
    assert str(refused.value) == sentence
    assert not any(name in refused.value.said(ENGLISH) for name in SPECS if "_" in name)


def test_a_refusal_has_the_titles_and_labels_of_forms() -> None:
    with pytest.raises(BadInput) as refused:
        options_from("flip", {"roulette_color": "victim"})
    assert refused.value.said(ENGLISH) == (
        "The option “Who chooses the roulette’s colour” must be “the player of the card” with the deck"
        " “Flip, 112 cards with two sides”."
    )
    with pytest.raises(BadInput) as unknown:
        options_from("flip", {"colour": "victim"})
    assert unknown.value.said(ENGLISH) == str(unknown.value)


@pytest.mark.rule("OPT-1")
@pytest.mark.parametrize(
    ("preset", "overrides", "most"),
    [
        ("no-mercy", {"hand_size": 14}, 10),
        ("no-mercy", {"hand_size": 15}, 9),
        ("classic", {"hand_size": 9}, 9),
        ("classic", {"hand_size": 9, "buzzers": "lottery"}, 10),
        ("flip", {"hand_size": 10}, 9),
        ("no-mercy", {"hand_size": 15, "deck": "nomercy172"}, 10),
    ],
)
def test_twenty_cards_must_be_left_after_the_deal(preset: str, overrides: Json, most: int) -> None:
    options = options_from(preset, overrides)
    for players in range(2, most + 1):
        check_players(options, players)
    for players in range(most + 1, 11):
        sentence = f"The deck has too few cards for {players} players with {options.hand_size} cards each"
        with pytest.raises(BadInput, match=f"^{sentence}: at least 20 must be left\\.$"):
            check_players(options, players)


@pytest.mark.rule("OPT-2")
def test_a_no_mercy_deck_without_a_mercy_limit_is_not_refused() -> None:
    for deck in ("nomercy168", "nomercy172"):
        assert options_from("no-mercy", {"deck": deck, "mercy_limit": 0}).mercy_limit == 0


def test_an_unknown_preset_is_refused() -> None:
    with pytest.raises(BadInput, match="no preset"):
        options_from_stored("house", {})
