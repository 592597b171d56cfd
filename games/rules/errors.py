"""Every reason to refuse a move, and the error for input that describes no game."""

from __future__ import annotations

from typing import Final


class Refusal:
    """The rule behind a code, and its sentence.

    The sentence is empty if the caller writes it, for example to name a card.
    """

    __slots__ = ("rule", "sentence")

    def __init__(self, rule: str | None, sentence: str = "") -> None:
        self.rule = rule
        self.sentence = sentence


_ROWS: Final[dict[str, Refusal]] = {
    "malformed": Refusal(None, "That is not a move of this game."),
    "no_such_seat": Refusal(None, "This table has no such seat."),
    "over": Refusal("END-1", "The round is over."),
    "out": Refusal("MERCY-3", "You are out of this round."),
    "nothing_owed": Refusal("UNO-6", "You don’t need to call UNO."),
    "nobody_to_catch": Refusal("UNO-6", "You can’t catch that player now."),
    "no_buzz": Refusal("BUZZ-2", "No buzzer race is open."),
    "already_pressed": Refusal("BUZZ-2", "You have already pressed the buzzer."),
    "not_your_turn": Refusal("TURN-1", "It is not your turn."),
    "buzz_first": Refusal("BUZZ-2", "Press the buzzer first."),
    "choose_color_first": Refusal("ROUL-1", "Choose a colour for the roulette first."),
    "no_roulette": Refusal("ROUL-1", "You have no roulette colour to choose."),
    "not_the_clocks_move": Refusal("CLOCK-1", "The clock does not make that move."),
    "must_play_drawn": Refusal("TURN-4"),
    "nothing_to_take": Refusal("STACK-3", "You owe no cards."),
    "nothing_to_challenge": Refusal("BLUFF-1", "There is nothing to challenge."),
    "cards_owed": Refusal("STACK-3"),
    "not_in_hand": Refusal("TURN-1"),
    "too_low": Refusal("STACK-1"),
    "not_matching": Refusal("TURN-2"),
    "wrong_card": Refusal("INT-4", "That card does not fit, but another card in your hand does."),
    "color_missing": Refusal("TURN-7"),
    "color_not_asked": Refusal("TURN-7", "Don’t choose a colour for this card."),
    "swap_missing": Refusal("SEVEN-1", "Choose a player to swap hands with."),
    "swap_not_asked": Refusal("SEVEN-1", "This card doesn’t swap hands."),
    "bad_swap_target": Refusal("SEVEN-1", "Choose another player who is still in to swap with."),
    "may_not_draw": Refusal("TURN-4"),
}

REFUSALS: Final[dict[str, str | None]] = {code: row.rule for code, row in _ROWS.items()}
"""The rule of every code, in the order in which the codes are checked."""


class Refused(Exception):
    """A move was refused.

    ``code`` is a key of ``REFUSALS`` and ``rule`` its rule. ``message`` is one sentence for players.
    """

    def __init__(self, code: str, message: str = "") -> None:
        row = _ROWS[code]
        self.code = code
        self.rule = row.rule
        self.message = message or row.sentence
        super().__init__(code, self.message)

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"


class BadInput(ValueError):
    """The input describes no game: an impossible position, an unknown option or a broken record.

    The message is one sentence. ``option`` is the name of the option to change, ``"players"``, or empty: forms show
    ``on_form`` there, which is the message with the titles of options instead of their names.
    """

    def __init__(self, message: str, *, option: str = "", on_form: str = "") -> None:
        super().__init__(message)
        self.option = option
        self.on_form = on_form or message
