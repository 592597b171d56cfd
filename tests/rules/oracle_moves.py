"""Reads and writes the oracle's moves (NOTATION, "Moves"). `RULES` has its refusal codes in NOTATION's order."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tests.rules.oracle_input import Options, known_cards

RULES = {
    "malformed": None,
    "no_such_seat": None,
    "over": "END-1",
    "out": "MERCY-3",
    "nothing_owed": "UNO-6",
    "nobody_to_catch": "UNO-6",
    "not_your_turn": "TURN-1",
    "choose_color_first": "ROUL-1",
    "no_roulette": "ROUL-1",
    "not_the_clocks_move": "CLOCK-1",
    "must_play_drawn": "TURN-4",
    "nothing_to_take": "STACK-3",
    "cards_owed": "STACK-3",
    "not_in_hand": "TURN-1",
    "too_low": "STACK-1",
    "not_matching": "TURN-2",
    "color_missing": "TURN-7",
    "color_not_asked": "TURN-7",
    "swap_missing": "SEVEN-1",
    "swap_not_asked": "SEVEN-1",
    "bad_swap_target": "SEVEN-1",
    "may_not_draw": "TURN-4",
}

SEAT = "(0|[1-9][0-9]*)"
PLAY = re.compile(rf"play (?P<card>[^ ]+)(?: swap (?P<swap>{SEAT})| color (?P<color>[rygb]))?(?P<uno> uno)?")
LINE = re.compile(rf"(?P<seat>{SEAT}) (?P<clock>clock )?(?P<move>[^\n]*)")
NO_SEAT = 1_000_000


@dataclass
class Move:
    kind: str
    card: str = ""
    color: str | None = None
    target: int | None = None
    uno: bool = False

    def __str__(self) -> str:
        words = [self.kind, self.card]
        if self.color is not None:
            words += [self.color] if self.kind == "color" else ["color", self.color]
        if self.target is not None:
            words += [str(self.target)] if self.kind == "catch" else ["swap", str(self.target)]
        return " ".join(word for word in [*words, "uno" if self.uno else ""] if word)


@dataclass
class Line:
    seat: int
    clock: bool
    move: Move


def seat_number(digits: str) -> int:
    return int(digits) if len(digits) < 6 else NO_SEAT


def parse(text: str, options: Options) -> Line | None:
    """Return the line that a text describes, or None if it is malformed (NOTATION, "Moves")."""
    line = LINE.fullmatch(text)
    if line is None:
        return None
    move = parse_move(line["move"], options)
    return None if move is None else Line(seat_number(line["seat"]), bool(line["clock"]), move)


def parse_move(text: str, options: Options) -> Move | None:
    if text in ("draw", "take", "uno", "leave"):
        return Move(text)
    if text == "pass":
        return Move(text) if options.classic else None  # "`classic` only"
    if match := re.fullmatch("color ([rygb])", text):
        return Move("color", color=match[1])
    if match := re.fullmatch(f"catch {SEAT}", text):
        return Move("catch", target=seat_number(match[1]))
    match = PLAY.fullmatch(text)
    if match is None or match["card"] not in known_cards(options):
        return None
    target = None if match["swap"] is None else seat_number(match["swap"])
    return Move("play", match["card"], match["color"], target, bool(match["uno"]))
