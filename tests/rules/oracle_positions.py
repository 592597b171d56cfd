"""Random positions with every field, rare ones above all."""

from __future__ import annotations

import random
from typing import Any

from tests.rules.oracle_cards import (
    DARK_FACES,
    DECKS,
    DRAW_VALUES,
    LIGHT_FACES,
    color_of,
    colors_of,
    excluded_pair,
    face,
    is_draw_card,
    is_number,
    is_wild,
    matches,
    symbol,
)
from tests.rules.oracle_options import Options

Json = dict[str, Any]


class Cards:
    """Random cards of one table: `any()` one, or one `of` which the face in force fulfils a condition."""

    def __init__(self, rng: random.Random, options: Options) -> None:
        self.rng = rng
        self.side = rng.choice(["light", "dark"]) if options.is_flip else None
        if options.is_flip:
            pairs = [(rng.choice(LIGHT_FACES), rng.choice(DARK_FACES)) for _ in range(400)]
            self.all = sorted({f"{light}/{dark}" for light, dark in pairs if not excluded_pair(light, dark)})
        else:
            self.all = sorted({*DECKS[options.deck], *(["BZ"] if options.buzzers != "off" else [])})

    def face(self, card: str) -> str:
        return face(card, self.side)

    def of(self, condition: Any) -> str:
        return self.rng.choice([card for card in self.all if condition(self.face(card))])

    def some(self, count: int) -> list[str]:
        """Return cards of one sort: any, draw cards, one colour, one symbol, or cards that move hands and turns."""
        color, kind = self.rng.choice(colors_of(self.side)), self.rng.choice("0123456789SRF")
        moods = [
            self.all,
            [card for card in self.all if is_draw_card(self.face(card))],
            [card for card in self.all if color_of(self.face(card)) == color],
            [card for card in self.all if symbol(self.face(card)) == kind],
            [card for card in self.all if not is_number(self.face(card)) or symbol(self.face(card)) in "07"],
        ]
        mood = self.rng.choice(moods) or self.all
        return [self.rng.choice(mood if self.rng.random() < 0.7 else self.all) for _ in range(count)]


def hand_size(rng: random.Random, options: Options) -> int:
    limit = options.mercy_limit or 30
    size = rng.choice([1, 1, 1, 2, 2, 3, rng.randint(3, 9), limit - 1, limit - rng.randint(1, 4)])
    return min(size, limit - 1)


def random_position(rng: random.Random, options: Options) -> Json:
    players = rng.choice([2, 2, 3, 3, 4, rng.randint(2, options.most_players)])
    cards = Cards(rng, options)
    seats = list(range(players))
    out = rng.sample(seats, rng.randint(0, players - 2)) if rng.random() < 0.4 else []
    playing = [seat for seat in seats if seat not in out]
    position: Json = {
        "hands": [[] if seat in out else cards.some(hand_size(rng, options)) for seat in seats],
        "out": out,
        "turn": rng.choice(playing),
        "direction": rng.choice([1, -1]),
        "draw_pile": cards.some(rng.choice([0, 0, 1, 2, rng.randint(3, 9), rng.randint(10, 60)])),
        "discard_pile": cards.some(rng.choice([1, 1, 2, rng.randint(3, 9)])),
        "set_aside": cards.some(rng.choice([0, 1, 25])) if out else [],
        "reshuffles": rng.randint(0, 3),
    }
    if cards.side is not None and (cards.side == "dark" or rng.random() < 0.7):
        position["side"] = cards.side
    set_phase(rng, options, position, cards)
    set_counts(rng, options, position)
    set_flags(rng, position)
    return position


def set_counts(rng: random.Random, options: Options, position: Json) -> None:
    seats = position["hands"]
    if options.buzzers == "lottery" and rng.random() < 0.6:
        position["buzzes"] = rng.randint(0, 5)
    if options.can_get_stuck(len(seats)) and rng.random() < 0.6:
        position["passes"] = rng.randint(0, len(seats))
    if options.keeps_fines and rng.random() < 0.6:
        position["fines"] = [rng.choice([0, 0, 3, rng.randint(0, 99)]) for _ in seats]


def set_flags(rng: random.Random, position: Json) -> None:
    """Let the seats with one card have called or not."""
    position["declared"], position["exposed"] = [], []
    for seat, hand in enumerate(position["hands"]):
        if len(hand) == 1:
            position[rng.choice(["declared", "exposed", "exposed"])].append(seat)
    for name in ("declared", "exposed"):
        if rng.random() < 0.3:
            position[name] = []


def set_phase(rng: random.Random, options: Options, position: Json, cards: Cards) -> None:
    kinds = ["play", "play", "drawn"]
    if options.stacking != "off" or options.bluff != "off":
        kinds += ["owed", "owed", "owed"]
    if options.is_no_mercy and options.roulette_color == "victim":
        kinds.append("choose")
    if options.straights:
        kinds += ["run", "run"]
    if options.buzzers == "race":
        kinds += ["buzz", "buzz"]
    kind = rng.choice(kinds)
    if kind == "owed":
        set_debt(rng, options, position, cards)
    elif kind == "choose":
        position["discard_pile"][-1] = "WC"
        position["phase"] = "choose_color"
    elif kind == "run":
        set_run(rng, options, position, cards)
    elif kind == "buzz":
        set_buzz(rng, position)
    if kind in ("play", "drawn"):
        set_color(rng, position, cards)
    if kind == "drawn":
        set_drawn(rng, position, cards)


def set_color(rng: random.Random, position: Json, cards: Cards, null: bool = True) -> None:
    """Give a wild on top its colour, or none where none may be in force (FIRST-1, FLIP-2)."""
    top = cards.face(position["discard_pile"][-1])
    if is_wild(top):
        may_be_null = null and (top == "W" or cards.side is not None)
        if not may_be_null or rng.random() < 0.6:
            position["color"] = rng.choice(colors_of(cards.side))
    elif rng.random() < 0.5:
        position["color"] = color_of(top)


def set_drawn(rng: random.Random, position: Json, cards: Cards) -> None:
    top, hand = cards.face(position["discard_pile"][-1]), position["hands"][position["turn"]]
    color = position.get("color", color_of(top))
    fitting = [card for card in hand if matches(cards.face(card), top, color)]
    if fitting and len(hand) > 1:
        position["phase"], position["drawn"] = "drawn", rng.choice(fitting)


def set_debt(rng: random.Random, options: Options, position: Json, cards: Cards) -> None:
    """Let the player on turn owe cards, passed on by another card perhaps, or with a right to challenge."""
    discard, hand = position["discard_pile"], position["hands"][position["turn"]]
    wilds = ("W4", "W2", "WD") if options.bluff != "off" and rng.random() < 0.6 else tuple(DRAW_VALUES)
    discard[-1] = cards.of(lambda shown: symbol(shown) in wilds)
    by = symbol(cards.face(discard[-1]))
    value = DRAW_VALUES[by]
    total = 0 if by == "WD" else value + rng.choice([0, 0, 2, 4, 10, 24])
    position["pending"] = {"total": total, "value": value}
    if options.advanced_stacking and by != "WD" and rng.random() < 0.4:
        discard.append(cards.of(lambda shown: symbol(shown) in ("S", "R", "W")))
        position["pending"]["by"] = by
    set_color(rng, position, cards, null=False)
    if options.last_draw_card == "contest" and by != "WD" and rng.random() < 0.5:
        set_going_out(rng, position)
    if rng.random() < 0.25:  # a player who may go out on a running stack
        hand[:] = [cards.of(lambda shown: DRAW_VALUES.get(symbol(shown), -1) >= value or symbol(shown) in "SRWDE")]
    elif options.advanced_stacking and rng.random() < 0.6:  # what passes a debt on, or ends it
        color = position.get("color", color_of(cards.face(discard[-1])))
        hand[0] = cards.of(lambda shown: symbol(shown) in ("S", "R", "D", "E") and color_of(shown) == color)
    others = [seat for seat, held in enumerate(position["hands"]) if held and seat != position["turn"]]
    challengeable = cards.face(discard[-1]) in ("W4", "W2", "WD") and "by" not in position["pending"]
    if options.bluff != "off" and challengeable and others and rng.random() < 0.8:
        position["challenge"] = {"seat": rng.choice(others), "bluff": rng.random() < 0.5}


def set_going_out(rng: random.Random, position: Json) -> None:
    others = [seat for seat in range(len(position["hands"])) if seat not in [*position["out"], position["turn"]]]
    rng.shuffle(others)
    position["going_out"] = others[: rng.randint(1, len(others))]
    for seat in position["going_out"]:
        position["hands"][seat] = []


def set_run(rng: random.Random, options: Options, position: Json, cards: Cards) -> None:
    """Open a straight of a seat that is not on turn, which mostly holds a neighbour."""

    def opens(shown: str) -> bool:
        return is_number(shown) and not (options.zero_seven and symbol(shown) in "07")

    position["discard_pile"][-1] = card = cards.of(opens)
    seat = rng.choice([seat for seat, hand in enumerate(position["hands"]) if hand and seat != position["turn"]])
    position["run"] = {"seat": seat, "card": card}
    shown = cards.face(card)
    near = [f"{shown[0]}{(int(shown[1:]) + step) % 10}" for step in (1, -1)]
    fitting = [other for other in cards.all if cards.face(other) in near]
    if fitting and rng.random() < 0.8:
        position["hands"][seat][0] = rng.choice(fitting)


def set_buzz(rng: random.Random, position: Json) -> None:
    """Start a race, in which the buzzer's player may hold no card."""
    position["discard_pile"][-1] = "BZ"
    position["phase"] = "buzz"
    playing = [seat for seat in range(len(position["hands"])) if seat not in position["out"]]
    pressed = rng.sample(playing, rng.randint(0, len(playing) - 2))
    position["buzz"] = {"by": position["turn"], "pressed": pressed}
    if rng.random() < 0.3:
        position["hands"][position["turn"]] = []
