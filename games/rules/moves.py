"""A move, and the tables of the moves that legal lists are made of."""

from __future__ import annotations

from typing import Final, NamedTuple

from games.rules.cards import COLORS, FACES, Card

MAX_PLAYERS: Final = 6
MIN_PLAYERS: Final = 2


class Move(NamedTuple):
    """What a seat does. ``str(move)`` is its notation.

    >>> str(Move("play", "r7", target=2, uno=True))
    'play r7 swap 2 uno'
    """

    kind: str
    card: Card | None = None
    color: str | None = None
    target: int | None = None
    uno: bool = False
    clock: bool = False

    def __str__(self) -> str:
        words = ["clock"] if self.clock else []
        words.append(self.kind)
        if self.kind == "play":
            words.append(str(self.card))
            if self.color is not None:
                words += ["color", self.color]
            if self.target is not None:
                words += ["swap", str(self.target)]
            if self.uno:
                words.append("uno")
        elif self.kind == "color":
            words.append(str(self.color))
        elif self.kind == "catch":
            words.append(str(self.target))
        return " ".join(words)


KINDS: Final = frozenset({"play", "draw", "take", "color", "uno", "catch", "pass", "leave"})

DRAW: Final = Move("draw")
TAKE: Final = Move("take")
PASS: Final = Move("pass")
UNO: Final = Move("uno")
NAME_COLOR: Final = tuple(Move("color", color=color) for color in COLORS)
CATCH: Final = tuple(Move("catch", target=seat) for seat in range(MAX_PLAYERS))
PLAY: Final = {card: Move("play", card) for card in FACES}
PLAY_COLOR: Final = {
    card: tuple(Move("play", card, color) for color in COLORS)
    for card, face in FACES.items()
    if face.asks in ("color", "roulette")
}
PLAY_SWAP: Final = {
    card: tuple(Move("play", card, target=seat) for seat in range(MAX_PLAYERS))
    for card, face in FACES.items()
    if face.asks == "swap"
}
