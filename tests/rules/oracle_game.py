"""Questions about a round of the oracle: seats, what matches, what answers a debt, plays out of turn, the clock."""

from __future__ import annotations

from tests.rules.oracle_cards import (
    DRAW_VALUES,
    color_of,
    colors_of,
    face,
    is_draw_card,
    is_number,
    is_wild,
    matches,
    points_of,
    symbol,
)
from tests.rules.oracle_moves import Move
from tests.rules.oracle_options import Options
from tests.rules.oracle_table import Table


class Game:
    """One round: the table, its options and its shuffle key. Cards are faces here, except where a card is said."""

    def __init__(self, table: Table, options: Options, key: bytes) -> None:
        self.table = table
        self.options = options
        self.key = key

    # --- seats ---

    def seats(self) -> list[int]:
        return list(range(len(self.table.hands)))

    def next_after(self, seat: int) -> int:
        """Return the next player still in, in the direction of play (TERM-1)."""
        seat = (seat + self.table.direction) % len(self.table.hands)
        while seat in self.table.out:
            seat = (seat + self.table.direction) % len(self.table.hands)
        return seat

    def two_left(self) -> bool:
        return len(self.table.still_in()) == 2  # TWO-1

    # --- hands ---

    def faces(self, seat: int) -> list[str]:
        """Return the faces in force of a hand (FLIP-1)."""
        return [face(card, self.table.side) for card in self.table.hands[seat]]

    def card_for(self, seat: int, shown: str) -> str:
        """Return the card that a play of this face takes (FLIP-4)."""
        table = self.table
        if table.phase == "drawn" and seat == table.turn:
            assert table.drawn is not None
            return table.drawn
        return min(card for card in table.hands[seat] if face(card, table.side) == shown)

    def is_last(self, seat: int) -> bool:
        return len(self.table.hands[seat]) == 1

    def worth(self, cards: list[str]) -> int:
        return sum(points_of(face(card, self.table.side), self.options.deck) for card in cards)

    def most_held(self, cards: list[str]) -> str:
        """Return the colour most held. If several are, or none is held, it is the first in order (CLOCK-1, FLIP-7)."""
        colors = [color_of(face(card, self.table.side)) for card in cards]
        return max(colors_of(self.table.side), key=colors.count)  # `max` returns the first of several

    # --- what a card asks for ---

    def can_match(self, shown: str) -> bool:
        return matches(shown, self.table.top(), self.table.color)

    def asks_color(self, seat: int, shown: str) -> bool:
        if shown == "WC":  # ROUL-1, option roulette_color; END-1: a last roulette names no colour
            return self.options.roulette_color == "player" and not self.is_last(seat)
        return is_wild(shown)  # TURN-7

    def asks_swap(self, seat: int, shown: str) -> bool:
        # SEVEN-1; END-1: a last 7 names no target
        return self.options.zero_seven and symbol(shown) == "7" and not self.is_last(seat)

    # --- debts (RESP-1 to RESP-6) ---

    def could_answer(self, shown: str) -> bool:
        """Return True for a card that passes a debt on or ends it, if it matches (RESP-3, RESP-4)."""
        debt = self.table.pending
        if debt is None or debt.by == "WD" or not self.options.advanced_stacking:  # RESP-6
            return False
        if symbol(shown) in ("W", "S", "R"):
            return True
        return self.options.is_no_mercy and symbol(shown) in ("D", "E")

    def answers(self, shown: str) -> bool:
        """Return True for a draw card that answers the debt (RESP-1)."""
        debt = self.table.pending
        if debt is None or not is_draw_card(shown) or "WD" in (debt.by, shown):  # RESP-6
            return False
        kind = self.options.stacking
        if kind == "same":
            return symbol(shown) == debt.by
        if kind == "family" and is_wild(shown) != is_wild(debt.by):
            return False
        return kind != "off" and DRAW_VALUES[symbol(shown)] >= debt.value

    # --- plays out of turn (RUN-2, INT-2) ---

    def is_step(self, seat: int, shown: str) -> bool:
        """Return True if a face would be the next step of the seat's straight (RUN-2)."""
        table, run = self.table, self.table.run
        if run is None or run.seat != seat or table.phase != "play" or table.pending is not None:
            return False
        last = face(run.card, table.side)
        if not is_number(shown) or color_of(shown) != color_of(last):
            return False
        return (int(symbol(shown)) - int(symbol(last))) % 10 in (1, 9)  # 9 and 0 are neighbours

    def can_be_intercepted(self) -> bool:
        """Return True in the phases and under the tops of INT-1 and INT-4."""
        if self.options.interceptions == "off" or self.table.phase not in ("play", "drawn"):
            return False
        return color_of(self.table.top()) is not None

    def is_interception(self, seat: int, shown: str) -> bool:
        """Return True if a seat that is not on turn may play this face (INT-1)."""
        top = self.table.top()
        if seat == self.table.turn or not self.can_be_intercepted() or color_of(shown) is None:
            return False
        if symbol(shown) != symbol(top):
            return False
        if self.options.interceptions == "exact" and color_of(shown) != color_of(top):
            return False
        if self.table.pending is None:
            return True
        passes_on = self.could_answer(shown) and symbol(shown) in ("S", "R")  # RESP-3, not RESP-4
        return self.answers(shown) or (passes_on and self.can_match(shown))

    def fits_out_of_turn(self, seat: int, shown: str) -> bool:
        return self.is_step(seat, shown) or self.is_interception(seat, shown)

    # --- calls ---

    def catchable(self, seat: int, target: int | None) -> bool:
        return target in self.table.exposed and target != seat  # UNO-2

    # --- the clock (CLOCK-1) ---

    def default_move(self) -> Move:
        """Return the move that the clock makes for the seat on turn."""
        table, seat = self.table, self.table.turn
        if table.phase == "buzz":
            return Move("buzz")
        if table.phase == "choose_color":
            return Move("color", color=self.most_held(table.hands[seat]))
        if table.pending is not None:
            return Move("take")
        if table.drawn is None:
            return Move("draw")
        if not self.options.drawn_must_play:
            return Move("pass")
        rest = list(table.hands[seat])
        rest.remove(table.drawn)
        shown = face(table.drawn, table.side)
        color = self.most_held(rest) if self.asks_color(seat, shown) else None
        target = self.smallest_hand(seat) if self.asks_swap(seat, shown) else None
        return Move("play", shown, color, target)

    def smallest_hand(self, seat: int) -> int:
        others = []
        other = self.next_after(seat)
        while other != seat:
            others.append(other)
            other = self.next_after(other)
        return min(others, key=lambda other: len(self.table.hands[other]))  # ties: the nearest
