"""Reads and writes the oracle's moves (docs/notation.md, "Moves"). `RULES` has its refusal codes in their order."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tests.rules.oracle_cards import colors_of, faces_of
from tests.rules.oracle_options import Options

RULES = {
    "malformed": None,
    "no_such_seat": None,
    "over": "END-1",
    "out": "MERCY-3",
    "nothing_owed": "UNO-6",
    "nobody_to_catch": "UNO-6",
    "no_buzz": "BUZZ-2",
    "already_pressed": "BUZZ-2",
    "not_your_turn": "TURN-1",
    "buzz_first": "BUZZ-2",
    "choose_color_first": "ROUL-1",
    "no_roulette": "ROUL-1",
    "not_the_clocks_move": "CLOCK-1",
    "must_play_drawn": "TURN-4",
    "nothing_to_take": "STACK-3",
    "nothing_to_challenge": "BLUFF-1",
    "cards_owed": "STACK-3",
    "not_in_hand": "TURN-1",
    "too_low": "STACK-1",
    "not_matching": "TURN-2",
    "wrong_card": "INT-4",
    "color_missing": "TURN-7",
    "color_not_asked": "TURN-7",
    "swap_missing": "SEVEN-1",
    "swap_not_asked": "SEVEN-1",
    "bad_swap_target": "SEVEN-1",
    "may_not_draw": "TURN-4",
}
TURN_MOVES = ("play", "draw", "take", "color", "pass", "challenge")

SEAT = "(0|[1-9][0-9]*)"
PLAY = re.compile(rf"play (?P<card>[^ ]+)(?: swap (?P<swap>{SEAT})| color (?P<color>[a-z]))?(?P<uno> uno)?")
LINE = re.compile(rf"(?P<seat>{SEAT}) (?P<clock>clock )?(?P<move>[^\n]*)")
NO_SEAT = 1_000_000


@dataclass
class Move:
    kind: str
    card: str = ""  # the face in force
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


def parse(text: str, options: Options, side: str | None) -> Line | None:
    """Return the line that a text describes, or None if it is malformed (docs/notation.md, "Moves").

    :param side: the side of flip112 that is in force, which says what the colours are; None for another deck
    """
    line = LINE.fullmatch(text)
    if line is None:
        return None
    move = parse_move(line["move"], options, side)
    return None if move is None else Line(seat_number(line["seat"]), bool(line["clock"]), move)


def words_of(options: Options) -> list[str]:
    """Return the moves of one word that a table with these options has."""
    words = ["draw", "take", "uno", "leave"]
    if not options.drawn_must_play:
        words.append("pass")
    if options.buzzers == "race":
        words.append("buzz")
    if options.bluff != "off":
        words.append("challenge")
    return words


def parse_move(text: str, options: Options, side: str | None) -> Move | None:
    if text in words_of(options):
        return Move(text)
    if match := re.fullmatch("color ([a-z])", text):
        return Move("color", color=match[1]) if match[1] in colors_of(side) else None
    if match := re.fullmatch(f"catch {SEAT}", text):
        return Move("catch", target=seat_number(match[1]))
    match = PLAY.fullmatch(text)
    # A hidden face is a card of the deck: it is not in the hand, and not malformed.
    if match is None or match["card"] not in faces_of(options.deck, options.buzzers):
        return None
    if match["color"] is not None and match["color"] not in colors_of(side):
        return None
    target = None if match["swap"] is None else seat_number(match["swap"])
    return Move("play", match["card"], match["color"], target, bool(match["uno"]))
