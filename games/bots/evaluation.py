"""Values of moves without looking ahead, in cards. A higher value is better for the player who moves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from games.rules import Effect, Face, Move, Pending, View, answers, cards_after, face_of

WIN: Final = 100.0
LOSS: Final = -100.0
TURN: Final = 1.0
"""The value of a turn: about the one card that it sheds."""

ROULETTE_CARDS: Final = 4.5
"""How many cards a roulette turns over on average. A colour is a little more than a fifth of the deck."""

DRAW_COST: Final = 1.6
"""The average cost of drawing until a card matches, the lost turn included."""

ANOTHER_CARD_FITS: Final = {"official": 0.2, "playroom": 0.35}
"""The probability that a card makes a wild draw card a bluff, by the option ``bluff``."""

VALUE_IN_HAND: Final = {
    "number": 0.0,
    "skip": 0.3,
    "reverse": 0.3,
    "skip_everyone": 0.4,
    "wild": 1.2,
    "roulette": 1.0,
    "discard_all": 0.0,
    "flip": 0.2,
    "buzzer": 0.4,
}
"""The value of keeping a card, by kind. Draw cards are valued by how many cards they make others draw."""


class Evaluator:
    """Values the turn moves of the seat that has a view."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._hand = [face_of(card) for card in view.hand or ()]
        colors = [face.color for face in self._hand]
        self._held = {color: colors.count(color) for color in view.options.rules.sides[view.side].colors}
        seat = view.turn if view.you is None else view.you
        self._next = view.next_seat(seat)
        self._previous = view.previous_seat(seat)
        self._two_left = len(view.counts) - len(view.out) == 2
        self._limit = view.options.mercy_limit or 10**9

    def value_of(self, move: Move) -> float:
        """Return the value of a turn move. Taking a stack that a player went out on loses the round (END-2)."""
        if move.kind == "play":
            return self._value_of_play(move, face_of(move.card or ""))
        if move.kind == "take":
            return LOSS if self._view.going_out else self._value_of_drawing(self._owed()) - TURN
        if move.kind == "challenge":
            return self._value_of_challenge()
        if move.kind == "draw":
            return self._value_of_drawing(1) - DRAW_COST
        if move.kind == "color":
            return float(self._held[move.color or ""])
        return 0.0

    def _value_of_play(self, move: Move, face: Face) -> float:
        left = cards_after(self._view, move)
        if not left:
            return self._value_of_last_card(face)
        shed = len(self._hand) - left
        after = self._held.get(move.color or face.color, 0) - (face.color != "")
        value = shed * self._shedding_weight(len(self._hand)) + 0.2 * after - self._value_in_hand(face)
        for effect in face.effects:
            rule = _EFFECTS.get(effect)
            if rule is not None:
                value += rule(self, face)
        return value

    def _value_of_last_card(self, face: Face) -> float:
        """Return the value of a last card. A draw card may be stacked on (END-2) or come back at once (END-3)."""
        if self._view.options.last_draw_card != "contest" or face.kind != "draw":
            return WIN
        if self._two_left and "next_owes_after_reverse" in face.effects:
            return self._value_of_drawing(self._owed() + face.value) - TURN
        return WIN / 2

    def _value_in_hand(self, face: Face) -> float:
        """Return the value of keeping a card. It is lower when the hand is near the mercy limit."""
        value = _draw_value(face)
        keep = 0.5 + 0.55 * value if value else VALUE_IN_HAND[face.kind]
        return keep * (0.4 if len(self._hand) > self._limit - 8 else 1.0)

    def _shedding_weight(self, cards: int) -> float:
        """Return the value of one card less in a hand of ``cards``. It is higher near the mercy limit."""
        return 2.0 if cards > self._limit - 8 else 1.0

    def _value_of_drawing(self, cards: int) -> float:
        """Return the value of drawing ``cards`` cards, which is negative."""
        size = len(self._hand) + cards
        return LOSS if size >= self._limit else -cards * self._shedding_weight(size)

    def _value_if_draws(self, seat: int, cards: float) -> float:
        """Return the value of making a seat draw. It is higher if the seat has few cards or is near the mercy limit."""
        if seat == self._view.you:
            return self._value_of_drawing(int(cards))
        count = self._view.counts[seat]
        if count + cards >= self._limit:
            return cards + 6.0
        return cards * (0.25 + 1.5 / (1 + count))

    def _owed(self) -> int:
        pending = self._view.pending
        if pending is None:
            return 0
        # Drawing until a colour shows takes about as many cards as a roulette (BLUFF-5).
        return pending.total or round(ROULETTE_CARDS)

    def _value_of_challenge(self) -> float:
        """Return the value of challenging: the more cards the other player holds, the likelier it was a bluff."""
        view = self._view
        cards = view.counts[view.challenge or 0]
        bluff = 1 - (1 - ANOTHER_CARD_FITS[view.options.bluff]) ** cards
        if view.going_out:
            return bluff * LOSS / 2 + (1 - bluff) * LOSS
        return (1 - bluff) * (self._value_of_drawing(self._owed() + 2) - TURN)

    def skip_next(self, face: Face) -> float:
        """Return the value of the next player losing a turn."""
        return TURN if self._two_left else self._value_if_draws(self._next, 1)

    def skip_everyone(self, face: Face) -> float:
        """Return the value of another turn."""
        return TURN

    def skip_if_two_left(self, face: Face) -> float:
        """Return the value of a Reverse: another turn with two players, or the turn going to the other neighbour."""
        if self._two_left:
            return TURN
        return self._value_if_draws(self._next, 1) - self._value_if_draws(self._previous, 1)

    def next_owes(self, face: Face) -> float:
        """Return the value of the next player having to draw the stack or to stack on it."""
        return self._value_if_draws(self._next, self._owed() + _draw_value(face)) + TURN / 2

    def next_owes_after_reverse(self, face: Face) -> float:
        """Return the value of the previous player having to draw the stack.

        With two players left the viewer has to stack a draw card of four or more on it, or to draw it (WR4-2).
        """
        if not self._two_left:
            return self._value_if_draws(self._previous, self._owed() + face.value) + TURN / 2
        total = self._owed() + face.value
        fitting = answers(Pending(total, face.value, face.symbol), self._view.options, self._view.side)
        held = [
            other.value
            for other in self._hand
            if other.text in fitting and "next_owes_after_reverse" not in other.effects
        ]
        return self._value_if_draws(self._next, total + min(held)) if held else self._value_of_drawing(total)

    def roulette(self, face: Face) -> float:
        """Return the value of the next player drawing for a roulette and losing the turn."""
        return self._value_if_draws(self._next, ROULETTE_CARDS) + TURN


def _draw_value(face: Face) -> float:
    """Return how many cards a draw card makes others draw, 0 for other cards."""
    return ROULETTE_CARDS if face.symbol == "WD" else face.value


_EFFECTS: Final[dict[Effect, Callable[[Evaluator, Face], float]]] = {
    "skip_next": Evaluator.skip_next,
    "skip_everyone": Evaluator.skip_everyone,
    "skip_if_two_left": Evaluator.skip_if_two_left,
    "next_owes": Evaluator.next_owes,
    "next_owes_after_reverse": Evaluator.next_owes_after_reverse,
    "roulette": Evaluator.roulette,
}
