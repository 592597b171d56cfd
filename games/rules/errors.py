"""The closed set of refusals, and the one error for input that is not a game at all."""

from __future__ import annotations

from typing import Final


class Refusal:
    """A row: its code's rule, and the sentence; empty where each refusal says more, such as which card."""

    __slots__ = ("rule", "sentence")

    def __init__(self, rule: str | None, sentence: str = "") -> None:
        self.rule = rule
        self.sentence = sentence


_ROWS: Final[dict[str, Refusal]] = {
    "malformed": Refusal(None, "That is not a move of this game."),
    "no_such_seat": Refusal(None, "There is no such seat at this table."),
    "over": Refusal("END-1", "The round is over."),
    "out": Refusal("MERCY-3", "You are out of this round."),
    "nothing_owed": Refusal("UNO-6", "You owe no UNO call now."),
    "nobody_to_catch": Refusal("UNO-6", "That player cannot be caught now."),
    "not_your_turn": Refusal("TURN-1", "It is not your turn."),
    "choose_color_first": Refusal("ROUL-1", "Name a colour for the roulette first."),
    "no_roulette": Refusal("ROUL-1", "No roulette is aimed at you."),
    "not_the_clocks_move": Refusal("CLOCK-1", "That is not the move the clock makes."),
    "must_play_drawn": Refusal("TURN-4"),
    "nothing_to_take": Refusal("STACK-3", "You owe no cards."),
    "cards_owed": Refusal("STACK-3"),
    "not_in_hand": Refusal("TURN-1"),
    "too_low": Refusal("STACK-1"),
    "not_matching": Refusal("TURN-2"),
    "color_missing": Refusal("TURN-7"),
    "color_not_asked": Refusal("TURN-7", "This play names no colour."),
    "swap_missing": Refusal("SEVEN-1", "Name a player to swap hands with."),
    "swap_not_asked": Refusal("SEVEN-1", "This play swaps no hands."),
    "bad_swap_target": Refusal("SEVEN-1", "Swap with another player who is still in."),
    "may_not_draw": Refusal("TURN-4"),
}

REFUSALS: Final[dict[str, str | None]] = {code: row.rule for code, row in _ROWS.items()}
"""Every code and its rule, in the order in which they are checked."""


class Refused(Exception):
    """A move that is not accepted: a code of ``REFUSALS``, its rule and a sentence a player understands."""

    def __init__(self, code: str, message: str = "") -> None:
        row = _ROWS[code]
        self.code = code
        self.rule = row.rule
        self.message = message or row.sentence
        super().__init__(code, self.message)

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"


class BadInput(ValueError):
    """Input that describes no game: an impossible position, an unknown option, a broken record. One sentence."""
