"""Every reason to refuse a move, and the error for input that describes no game."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from common.say import ENGLISH, N_, Message, Say
from games.rules.cards import card_name, color_name


class Refusal:
    """The rule behind a code, and its sentence, which is empty if the code has several: they are where it is raised."""

    __slots__ = ("rule", "sentence")

    def __init__(self, rule: str | None, sentence: str = "") -> None:
        self.rule = rule
        self.sentence = sentence


_ROWS: Final[dict[str, Refusal]] = {
    "malformed": Refusal(None, N_("That is not a move of this game.")),
    "no_such_seat": Refusal(None, N_("This table has no such seat.")),
    "over": Refusal("END-1", N_("The round is over.")),
    "out": Refusal("MERCY-3", N_("You are out of this round. Watch how it ends.")),
    "nothing_owed": Refusal("UNO-6", N_("No UNO to call now. Call it as you play your last card but one.")),
    "nobody_to_catch": Refusal("UNO-6", N_("You can’t catch that player now. Watch for one who forgets to call UNO.")),
    "no_buzz": Refusal("BUZZ-2", N_("No buzzer race is on. Press when someone plays a buzzer.")),
    "already_pressed": Refusal("BUZZ-2", N_("You have pressed the buzzer already. Wait for the others.")),
    "not_your_turn": Refusal("TURN-1", N_("It is not your turn.")),
    "buzz_first": Refusal("BUZZ-2", N_("Press the buzzer first.")),
    "choose_color_first": Refusal("ROUL-1", N_("Choose a colour for the roulette first.")),
    "no_roulette": Refusal("ROUL-1", N_("No roulette colour to pick now. Make another move.")),
    "not_the_clocks_move": Refusal("CLOCK-1", N_("The clock does not make that move.")),
    "must_play_drawn": Refusal("TURN-4"),
    "nothing_to_take": Refusal("STACK-3", N_("You owe no cards. Play or draw.")),
    "nothing_to_challenge": Refusal("BLUFF-1"),
    "cards_owed": Refusal("STACK-3"),
    "not_in_hand": Refusal("TURN-1", N_("{card} is not in your hand. Choose another card.")),
    "too_low": Refusal("STACK-1"),
    "not_matching": Refusal("TURN-2"),
    "wrong_card": Refusal("INT-4", N_("That card does not fit, but another card in your hand does.")),
    "color_missing": Refusal("TURN-7", N_("Choose a colour for {card}.")),
    "color_not_asked": Refusal("TURN-7", N_("Don’t choose a colour for this card.")),
    "swap_missing": Refusal("SEVEN-1", N_("Choose a player to swap hands with.")),
    "swap_not_asked": Refusal("SEVEN-1", N_("This card doesn’t swap hands. Play it without choosing a player.")),
    "bad_swap_target": Refusal("SEVEN-1", N_("Choose another player who is still in to swap with.")),
    "may_not_draw": Refusal("TURN-4"),
}

REFUSALS: Final[dict[str, str | None]] = {code: row.rule for code, row in _ROWS.items()}
"""The rule of every code, in the order in which the codes are checked."""

_NAMES: Final[dict[str, Callable[[str, Say], str]]] = {"card": card_name, "top": card_name, "color": color_name}
"""How each fact is named that is a face or a colour in the notation."""


class Refused(Exception):
    """A move was refused.

    ``code`` is a key of ``REFUSALS`` and ``rule`` its rule. ``message`` says in English why. ``sentence`` is for codes
    that have several, and ``facts`` are what its placeholders stand for: numbers, or faces and colours in the notation.
    """

    def __init__(self, code: str, sentence: Message = "", **facts: int | str) -> None:
        row = _ROWS[code]
        self.code = code
        self.rule = row.rule
        self._sentence = sentence or row.sentence
        assert self._sentence, code
        self._facts = facts
        self.message = self.said(ENGLISH)
        super().__init__(code, self.message)

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"

    def said(self, say: Say) -> str:
        """Return why the move was refused, for players."""
        facts: dict[str, Any] = {
            name: _NAMES[name](str(fact), say) if name in _NAMES else fact for name, fact in self._facts.items()
        }
        return say.form("refusal", self._sentence, **facts)


class BadInput(ValueError):
    """The input describes no game: an impossible position, an unknown option or a broken record.

    The message is one English sentence. ``option`` is the name of the option to change, ``"players"``, or empty.
    """

    def __init__(self, message: str, *, option: str = "") -> None:
        super().__init__(message)
        self.option = option

    def said(self, say: Say) -> str:
        """Return the sentence for a form. Only that about an option is said in other languages than English."""
        return str(self)
