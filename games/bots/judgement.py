"""What a move is worth at a glance, counted in cards: good for the one who moves is more."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from games.rules import COLORS, Face, Move, Pending, View, answers, cards_after, face_of

WON: Final = 100.0
LOST: Final = -100.0
TURN: Final = 1.0
"""A turn is worth about the card it sheds."""

ROULETTE_CARDS: Final = 4.5
"""What a roulette turns over on average: a colour is a little more than a fifth of the deck."""

DRAWING: Final = 1.6
"""What drawing until a card fits leaves in the hand, on average, with the turn gone."""

KEEP: Final = {"number": 0.0, "skip": 0.3, "reverse": 0.3, "skip_everyone": 0.4, "wild": 1.2, "roulette": 1.0}
"""What a card is worth in the hand, by kind; others by their own rule."""


class Judge:
    """Values the moves of the seat that sees a view."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._hand = [face_of(card) for card in view.hand or ()]
        colors = [face.color for face in self._hand]
        self._held = {color: colors.count(color) for color in COLORS}
        seat = view.turn if view.you is None else view.you
        self._next = view.next_seat(seat)
        self._before = view.seat_before(seat)
        self._two_left = len(view.counts) - len(view.out) == 2
        self._limit = view.options.mercy_limit or 10**9

    def worth(self, move: Move) -> float:
        """Return what a move of the turn is worth. Who takes a stack that somebody went out on, loses (END-2)."""
        if move.kind == "play":
            return self._play(move, face_of(move.card or ""))
        if move.kind == "take":
            return LOST if self._view.going_out else self._burden(self._owed()) - TURN
        if move.kind == "draw":
            return self._burden(1) - DRAWING
        if move.kind == "color":
            return float(self._held[move.color or ""])
        return 0.0

    def _play(self, move: Move, face: Face) -> float:
        left = cards_after(self._view, move)
        if not left:
            return self._last_card(face)
        shed = len(self._hand) - left
        after = self._held.get(move.color or face.color, 0) - (face.color != "")
        value = shed * self._weight(len(self._hand)) + 0.2 * after - self._keep(face)
        for effect in face.effects:
            rule = _EFFECTS.get(effect)
            if rule is not None:
                value += rule(self, face)
        return value

    def _last_card(self, face: Face) -> float:
        """The last card wins, unless it can be answered (END-2) or comes straight back (END-3)."""
        if self._view.options.last_draw_card != "contest" or not face.value:
            return WON
        if self._two_left and "rebound_owes" in face.effects:
            return self._burden(self._owed() + face.value) - TURN
        return WON / 2

    def _keep(self, face: Face) -> float:
        """What the card would still be good for; less in a full hand, which must shrink."""
        keep = 0.5 + 0.55 * face.value if face.value else KEEP.get(face.kind, 0.0)
        return keep * (0.4 if len(self._hand) > self._limit - 8 else 1.0)

    def _weight(self, cards: int) -> float:
        """What a card less is worth in a hand of so many: most when mercy is near."""
        return 2.0 if cards > self._limit - 8 else 1.0

    def _burden(self, cards: int) -> float:
        """What drawing so many is worth to the viewer (less than nothing)."""
        size = len(self._hand) + cards
        return LOST if size >= self._limit else -cards * self._weight(size)

    def _harm(self, seat: int, cards: float) -> float:
        """What it is worth that another seat draws so many: most if it is about to win, or near mercy."""
        if seat == self._view.you:
            return self._burden(int(cards))
        count = self._view.counts[seat]
        if count + cards >= self._limit:
            return cards + 6.0
        return cards * (0.25 + 1.5 / (1 + count))

    def _owed(self) -> int:
        return self._view.pending.total if self._view.pending else 0

    def skip_next(self, face: Face) -> float:
        """The next player loses a turn, most welcome if it is about to win."""
        return TURN if self._two_left else self._harm(self._next, 1)

    def skip_everyone(self, face: Face) -> float:
        """One turn more."""
        return TURN

    def bounce(self, face: Face) -> float:
        """A Reverse is one turn more between two; else it takes the turn from the one who is nearer to the end."""
        if self._two_left:
            return TURN
        return self._harm(self._next, 1) - self._harm(self._before, 1)

    def next_owes(self, face: Face) -> float:
        """The next player draws all, or passes it on."""
        return self._harm(self._next, self._owed() + face.value) + TURN / 2

    def rebound_owes(self, face: Face) -> float:
        """The player before draws all; between two it comes back, and only a card of four or more answers it."""
        if not self._two_left:
            return self._harm(self._before, self._owed() + face.value) + TURN / 2
        total = self._owed() + face.value
        fitting = answers(Pending(total, face.value), self._view.options)
        held = [other.value for other in self._hand if other.text in fitting and "rebound_owes" not in other.effects]
        return self._harm(self._next, total + min(held)) if held else self._burden(total)

    def roulette(self, face: Face) -> float:
        """The next player turns cards over until a colour shows, and loses the turn."""
        return self._harm(self._next, ROULETTE_CARDS) + TURN


_EFFECTS: Final[dict[str, Callable[[Judge, Face], float]]] = {
    "skip_next": Judge.skip_next,
    "skip_everyone": Judge.skip_everyone,
    "bounce": Judge.bounce,
    "next_owes": Judge.next_owes,
    "rebound_owes": Judge.rebound_owes,
    "roulette": Judge.roulette,
}
