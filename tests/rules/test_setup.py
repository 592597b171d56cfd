"""Decks, the deal and the first player."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import pytest

from games.rules import (
    DECKS,
    PRESETS,
    BadInput,
    Shuffler,
    card_name,
    color_name,
    deal,
    face_of,
    is_deck,
    key_from_seed,
    options_from,
    shuffled_cards,
)
from games.rules.deal import deal_cards, next_dealer

NO_MERCY = PRESETS["no-mercy"]
COLORED_168 = {**{str(n): 2 for n in range(10)}, "S": 3, "R": 3, "E": 2, "D": 3, "+2": 3, "+4": 2}
NUMBERS_2 = {str(n): 2 for n in range(1, 10)}
COLORED_108 = {"0": 1, **{str(n): 2 for n in range(1, 10)}, "S": 2, "R": 2, "+2": 2}


@pytest.mark.rule("DECK-1")
@pytest.mark.parametrize(
    ("deck", "colored", "wild", "total"),
    [
        ("nomercy168", COLORED_168, {"WC": 8, "W6": 4, "W10": 4, "WR4": 8}, 168),
        ("nomercy172", COLORED_168, {"WC": 8, "W6": 4, "W10": 4, "WR4": 8, "W": 4}, 172),
        ("classic108", COLORED_108, {"W": 4, "W4": 4}, 108),
    ],
)
def test_a_deck_has_the_right_count_of_every_kind(
    deck: str, colored: dict[str, int], wild: dict[str, int], total: int
) -> None:
    wanted = {color + face: count for color in "rygb" for face, count in colored.items()} | wild
    assert Counter(DECKS[deck].cards) == wanted
    assert len(DECKS[deck].cards) == total


@pytest.mark.rule("DECK-2")
@pytest.mark.parametrize(
    ("side", "colors", "colored", "wild"),
    [
        (0, "rygb", {**NUMBERS_2, "S": 2, "R": 2, "F": 2, "+1": 2}, {"W": 4, "W2": 4}),
        (1, "oput", {**NUMBERS_2, "R": 2, "E": 2, "F": 2, "+5": 2}, {"W": 4, "WD": 4}),
    ],
)
def test_a_side_of_the_flip_deck_has_the_right_count_of_every_kind(
    side: int, colors: str, colored: dict[str, int], wild: dict[str, int]
) -> None:
    wanted = {color + face: count for color in colors for face, count in colored.items()} | wild
    assert Counter(DECKS["flip112"].sides[side].printed) == wanted
    assert sum(wanted.values()) == DECKS["flip112"].size == 112


@pytest.mark.rule("BUZZ-1")
@pytest.mark.parametrize("deck", ["nomercy168", "nomercy172", "classic108"])
def test_buzzers_are_eight_cards_more(deck: str) -> None:
    options = options_from("no-mercy", {"deck": deck, "buzzers": "race"})
    with_buzzers = Counter(options.rules.deck.cards)
    assert with_buzzers - Counter(DECKS[deck].cards) == Counter({"BZ": 8})
    assert options.rules.deck.cards[-8:] == ("BZ",) * 8
    assert options.rules.deck.size == DECKS[deck].size + 8


@pytest.mark.rule("DECK-1 DECK-2")
def test_the_points_of_a_whole_deck_are_known() -> None:
    points = {
        f"{name} {side.name or ''}".strip(): sum(side.faces[face].points for face in side.printed)
        for name, deck in DECKS.items()
        for side in deck.sides
    }
    assert points == {
        "nomercy168": 2840,
        "nomercy172": 3040,
        "classic108": 1240,
        # 360 for the numbers and 480 for skips, reverses and flips; 80 for Draw Ones; 160 and 200 for wilds
        "flip112 light": 360 + 480 + 80 + 160 + 200,
        # 360 for the numbers and 480 for reverses, flips and Draw Fives; 240 for Skip Everyone; 160 and 240 for wilds
        "flip112 dark": 360 + 480 + 240 + 160 + 240,
    }


@pytest.mark.parametrize(
    ("card", "name", "kind", "points", "value"),
    [
        ("g0", "Green 0", "number", 0, 0),
        ("g1", "Green 1", "number", 1, 0),
        ("g2", "Green 2", "number", 2, 0),
        ("g3", "Green 3", "number", 3, 0),
        ("g4", "Green 4", "number", 4, 0),
        ("g5", "Green 5", "number", 5, 0),
        ("g6", "Green 6", "number", 6, 0),
        ("g7", "Green 7", "number", 7, 0),
        ("g8", "Green 8", "number", 8, 0),
        ("g9", "Green 9", "number", 9, 0),
        ("gS", "Green Skip", "skip", 20, 0),
        ("gR", "Green Reverse", "reverse", 20, 0),
        ("gE", "Green Skip Everyone", "skip_everyone", 20, 0),
        ("gD", "Green Discard All", "discard_all", 20, 0),
        ("g+2", "Green Draw Two", "draw", 20, 2),
        ("g+4", "Green Draw Four", "draw", 20, 4),
        ("WC", "Wild Color Roulette", "roulette", 50, 0),
        ("W6", "Wild Draw Six", "draw", 50, 6),
        ("W10", "Wild Draw Ten", "draw", 50, 10),
        ("WR4", "Wild Reverse Draw Four", "draw", 50, 4),
        ("W4", "Wild Draw Four", "draw", 50, 4),
        ("g+1", "Green Draw One", "draw", 10, 1),
        ("gF", "Green Flip", "flip", 20, 0),
        ("W2", "Wild Draw Two", "draw", 50, 2),
        ("o+5", "Orange Draw Five", "draw", 20, 5),
        ("p9", "Pink 9", "number", 9, 0),
        ("uR", "Purple Reverse", "reverse", 20, 0),
        ("tF", "Teal Flip", "flip", 20, 0),
        ("WD", "Wild Draw Colour", "draw", 60, 0),
        ("BZ", "Buzzer", "buzzer", 50, 0),
    ],
)
def test_a_card_has_its_name_kind_points_and_value(card: str, name: str, kind: str, points: int, value: int) -> None:
    face = face_of(card)
    assert (card_name(card), face.kind, face.points, face.value) == (name, kind, points, value)


@pytest.mark.rule("DECK-2")
@pytest.mark.parametrize(
    ("card", "points"),
    [("W", {"nomercy172": 50, "classic108": 50, "light": 40, "dark": 40}), ("E", {"nomercy168": 20, "dark": 30})],
)
def test_a_wild_and_a_skip_everyone_score_otherwise_in_flip(card: str, points: dict[str, int]) -> None:
    found = {
        side.name or deck.name: face.points
        for deck in DECKS.values()
        for side in deck.sides
        for face in side.faces.values()
        if face.symbol == card
    }
    assert {name: found[name] for name in points} == points


def test_colors_and_decks_have_names() -> None:
    assert [color_name(color) for color in "rygb"] == ["Red", "Yellow", "Green", "Blue"]
    assert [color_name(color) for color in "oput"] == ["Orange", "Pink", "Purple", "Teal"]
    assert [deck.title for deck in DECKS.values()] == [
        "No Mercy, 168 cards",
        "No Mercy with plain Wilds, 172 cards",
        "Classic, 108 cards",
        "Flip, 112 cards with two sides",
    ]
    assert {name: deck.name for name, deck in DECKS.items()} == {name: name for name in DECKS}


def test_a_card_differs_between_decks_only_in_its_points_and_what_it_does_to_a_debt() -> None:
    for deck in DECKS.values():
        for side in deck.sides:
            for card, face in side.faces.items():
                assert replace(face, points=0, answer=()) == replace(face_of(card), points=0, answer=())
                assert face.answer == face_of(card).answer or (deck.name, face.symbol) == ("flip112", "E")


def test_the_shuffle_starts_from_the_order_of_the_notation() -> None:
    numbers = [f"r{n}" for n in range(10) for _ in range(2)]
    action_counts = {"S": 3, "R": 3, "E": 2, "D": 3, "+2": 3, "+4": 2}
    actions = [f"r{face}" for face, count in action_counts.items() for _ in range(count)]
    assert DECKS["nomercy168"].cards[:36] == (*numbers, *actions)
    assert [card[0] for card in DECKS["nomercy168"].cards[::36]] == ["r", "y", "g", "b", "W"]
    assert DECKS["nomercy168"].cards[-24:] == ("WC",) * 8 + ("W6",) * 4 + ("W10",) * 4 + ("WR4",) * 8
    classic = "r0 r1 r1 r2 r2 r3 r3 r4 r4 r5 r5 r6 r6 r7 r7 r8 r8 r9 r9 rS rS rR rR r+2 r+2"
    assert DECKS["classic108"].cards[:25] == tuple(classic.split())
    assert DECKS["classic108"].cards[-8:] == ("W",) * 4 + ("W4",) * 4


@pytest.mark.rule("DECK-2")
def test_the_new_decks_have_the_order_of_the_notation() -> None:
    assert DECKS["nomercy172"].cards == (*DECKS["nomercy168"].cards, *("W",) * 4)
    light, dark = DECKS["flip112"].sides
    red = "r1 r1 r2 r2 r3 r3 r4 r4 r5 r5 r6 r6 r7 r7 r8 r8 r9 r9 rS rS rR rR rF rF r+1 r+1"
    orange = "o1 o1 o2 o2 o3 o3 o4 o4 o5 o5 o6 o6 o7 o7 o8 o8 o9 o9 oR oR oE oE oF oF o+5 o+5"
    assert (light.printed[:26], dark.printed[:26]) == (tuple(red.split()), tuple(orange.split()))
    assert "".join(card[0] for card in light.printed[:104:26]) == "rygb"
    assert "".join(card[0] for card in dark.printed[:104:26]) == "oput"
    assert light.printed[-8:] == ("W",) * 4 + ("W2",) * 4
    assert dark.printed[-8:] == ("W",) * 4 + ("WD",) * 4


@pytest.mark.rule("PAIR-1")
def test_flip_cards_are_paired_until_no_card_is_wild_or_flip_on_both_sides() -> None:
    light, dark = DECKS["flip112"].sides
    streams = []
    bad = list(dark.printed)  # has Wild under Wild
    orders = {"p0": bad, "p1": bad, "p2": bad[30:] + bad[:30]}

    def shuffle(cards: Sequence[str], stream: str) -> list[str]:
        streams.append(stream)
        return orders.get(stream, list(cards))

    cards = shuffled_cards(PRESETS["flip"], shuffle)
    assert streams == ["p0", "p1", "p2", "0"]
    assert cards[0] == f"{light.printed[0]}/{dark.printed[30]}"
    assert is_deck(cards, PRESETS["flip"])


@pytest.mark.rule("PAIR-1")
def test_a_deck_of_other_pairs_is_no_flip_deck() -> None:
    options = PRESETS["flip"]
    cards = shuffled_cards(options, Shuffler(key_from_seed("x")).shuffle)
    other = [card.replace("r1/", "r2/", 1) for card in cards]
    assert is_deck(cards[::-1], options)
    assert not is_deck(other, options)
    assert not is_deck(cards[1:], options)
    assert not is_deck([*cards[1:], "W/W"], options)


@pytest.mark.rule("SETUP-1")
@pytest.mark.parametrize("players", [0, 1, 11])
def test_a_table_must_have_2_to_10_players(players: int) -> None:
    with pytest.raises(BadInput, match=r"^A table has 2 to 10 players\.$"):
        deal(NO_MERCY, players, Shuffler(key_from_seed("")).shuffle)


def list_as_it_is(cards: Sequence[str], stream: str) -> list[str]:
    """Return the cards in their order, in place of a shuffle."""
    return list(cards)


@pytest.mark.rule("SETUP-2")
def test_cards_are_dealt_one_at_a_time_from_the_left_of_the_dealer() -> None:
    order = list(DECKS["nomercy168"].cards)
    position = deal_cards(options_from("no-mercy", {"hand_size": 6}), 3, order, list_as_it_is, dealer=1)
    assert position.hands[2] == tuple(order[0:18:3])
    assert position.hands[0] == tuple(order[1:18:3])
    assert position.hands[1] == tuple(order[2:18:3])
    assert position.discard_pile == ("r9",)
    assert position.draw_pile == tuple(order[19:])


@pytest.mark.rule("SETUP-3")
def test_cards_are_turned_over_until_a_number_without_effect() -> None:
    hands = ["r1"] * 14
    position = deal_cards(NO_MERCY, 2, [*hands, "W10", "rS", "WC", "b7", "g1"], list_as_it_is)
    assert position.discard_pile == ("W10", "rS", "WC", "b7")
    assert (position.color, position.turn, position.pending, position.phase) == ("b", 0, None, "play")
    assert position.draw_pile == ("g1",)
    assert position.hands == (("r1",) * 7, ("r1",) * 7)


@pytest.mark.rule("SETUP-3")
def test_a_deal_without_a_number_to_start_with_is_refused() -> None:
    sentence = "The cards left after the deal hold no card to start with."
    with pytest.raises(BadInput, match=f"^{re.escape(sentence)}$"):
        deal_cards(NO_MERCY, 2, ["r1"] * 14 + ["W10", "rS"], list_as_it_is)


@pytest.mark.rule("SETUP-1")
def test_a_round_needs_two_players() -> None:
    with pytest.raises(BadInput, match=r"^A round needs at least 2 players\.$"):
        deal(NO_MERCY, 3, Shuffler(key_from_seed("")).shuffle, absent=(0, 2))


@pytest.mark.rule("SETUP-4")
@pytest.mark.parametrize(("dealer", "starts"), [(None, 0), (0, 1), (2, 3), (3, 0)])
def test_the_player_left_of_the_dealer_starts_and_play_runs_clockwise(dealer: int | None, starts: int) -> None:
    position = deal(NO_MERCY, 4, Shuffler(key_from_seed("")).shuffle, dealer=dealer)
    assert (position.turn, position.direction) == (starts, 1)


@pytest.mark.rule("SETUP-5")
@pytest.mark.parametrize(("dealer", "absent", "following"), [(0, (), 1), (3, (), 0), (0, (1, 2), 3), (2, (3, 0), 1)])
def test_the_next_player_in_the_match_deals(dealer: int, absent: tuple[int, ...], following: int) -> None:
    assert next_dealer(dealer, 4, absent) == following


@pytest.mark.rule("LEAVE-1")
def test_a_player_who_left_the_match_is_dealt_no_cards() -> None:
    position = deal(NO_MERCY, 4, Shuffler(key_from_seed("")).shuffle, dealer=0, absent=(1,))
    assert [len(hand) for hand in position.hands] == [7, 0, 7, 7]
    assert (position.turn, position.out, position.absent) == (2, (1,), (1,))


@pytest.mark.rule("SETUP-2")
def test_the_hand_size_is_an_option() -> None:
    options = options_from("no-mercy", {"hand_size": 3})
    position = deal(options, 6, Shuffler(key_from_seed("")).shuffle)
    assert [len(hand) for hand in position.hands] == [3] * 6
