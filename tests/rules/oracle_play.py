"""Playing a card in the oracle: in turn, as a step of a straight, or as an interception."""

from __future__ import annotations

from tests.rules.oracle_cards import (
    DRAW_VALUES,
    color_of,
    is_draw_card,
    is_number,
    is_wild,
    shuffled,
    symbol,
)
from tests.rules.oracle_drawing import Drawing
from tests.rules.oracle_moves import Move
from tests.rules.oracle_table import Buzz, Challenge, Debt, Run


class Play(Drawing):
    # --- the three ways a play comes ---

    def play_in_turn(self, seat: int, move: Move) -> None:
        self.table.run = self.table.challenge = None  # RUN-4, BLUFF-6
        card = self.card_for(seat, move.card)
        self.play(seat, card, move)
        opens = self.options.straights and is_number(move.card)
        if self.options.zero_seven and symbol(move.card) in ("0", "7"):
            opens = False
        if opens and self.table.phase != "over":
            self.table.run = Run(seat, card)  # RUN-1

    def intercept(self, seat: int, move: Move) -> None:
        """Play out of turn (INT-2, INT-3)."""
        table = self.table
        card = self.card_for(seat, move.card)
        table.turn, table.phase, table.drawn = seat, "play", None
        table.run = table.challenge = None
        self.play(seat, card, move, stays=is_number(move.card))

    def step(self, seat: int, move: Move) -> None:
        """Play the next number of a straight; the turn does not move (RUN-2, RUN-3)."""
        table, on_turn = self.table, self.table.turn
        card = self.card_for(seat, move.card)
        acts = self.options.zero_seven and symbol(move.card) in ("0", "7")
        table.run = None if acts else Run(seat, card)
        self.play(seat, card, move)
        if table.phase != "over":
            table.turn = on_turn

    # --- one card ---

    def play(self, seat: int, card: str, move: Move, stays: bool = False) -> None:
        """Play a card as on turn.

        :param stays: True if the player has a whole turn more after it (INT-3)
        """
        table, shown = self.table, move.card
        hand = table.hands[seat]
        hand.remove(card)
        bluff = self.is_bluff(seat, shown)
        table.phase, table.drawn, table.passes = "play", None, 0
        if symbol(shown) == "D":  # DISC-1
            table.discard_pile += sorted(other for other in hand if color_of(other) == color_of(shown))
            table.hands[seat] = hand = [other for other in hand if color_of(other) != color_of(shown)]
        table.discard_pile.append(card)
        table.color = move.color if is_wild(shown) else color_of(shown)  # TURN-7; BUZZ-1: none
        self.drop_stale_flags()  # UNO-1: a later hand of one card owes a new call
        if symbol(shown) in ("R", "WR4"):  # REV-1, WR4-1, RESP-3
            table.direction = -table.direction
        if table.pending is not None and symbol(shown) in ("D", "E"):  # RESP-4
            table.pending = None
            if table.going_out:
                self.win(table.going_out[0])
                return
        if not hand and self.wins_with(seat, shown):
            return
        self.effect(seat, move, bluff)
        received = self.exchange_hands(seat, move)
        if table.phase != "over":
            if stays:
                table.turn = seat
            self.open_windows(seat, move, received)

    def wins_with(self, seat: int, shown: str) -> bool:
        """End the round with a last card, if it ends it (END-1, END-2). Return False if the card acts first."""
        table = self.table
        if shown == "BZ":
            return False  # BUZZ-4
        if self.options.last_draw_card == "contest" and (is_draw_card(shown) or table.pending is not None):
            table.going_out.append(seat)  # END-2, RESP-5
            return False
        if symbol(shown) == "F":
            self.turn_over()  # FLIP-3
        if is_draw_card(shown) and self.options.last_draw_card == "draw_then_win":
            self.draw_debt(self.next_after(seat), self.debt_with(shown))  # PAY-4
        self.win(seat)
        return True

    def effect(self, seat: int, move: Move, bluff: bool) -> None:
        """Carry out what the card does to others and to the turn, hands exchanged apart."""
        table, shown = self.table, move.card
        following = self.next_after(seat)
        kind = symbol(shown)
        if is_draw_card(shown):
            self.aim_draw_card(seat, shown, bluff)
        elif table.pending is not None:
            self.owe(following, table.pending)  # RESP-3: passed on; a Reverse has turned the direction
        elif shown == "BZ":
            self.start_buzz(seat)
        elif shown == "WC":
            table.turn, table.phase = following, "choose_color"  # ROUL-1
            if move.color is not None:
                self.roulette(following, move.color)  # PAY-3
        elif kind == "S":
            table.turn = self.next_after(following)  # SKIP-1
        elif kind == "R":
            table.turn = seat if self.two_left() else following  # REV-1
        elif kind == "E":
            table.turn = seat  # ALL-1
        else:
            table.turn = following
        if kind == "F":
            self.turn_over()  # FLIP-2

    def exchange_hands(self, seat: int, move: Move) -> list[int]:
        """Exchange hands after a 7 or a 0. Return the seats that received one."""
        table, kind = self.table, symbol(move.card)
        if kind == "7" and move.target is not None:  # SEVEN-1
            table.hands[seat], table.hands[move.target] = table.hands[move.target], table.hands[seat]
            return [seat, move.target]
        if kind == "0" and self.options.zero_seven:  # ZERO-1
            before = list(table.hands)
            for giver in table.still_in():
                table.hands[self.next_after(giver)] = before[giver]
            return table.still_in()
        return []

    # --- draw cards ---

    def debt_with(self, shown: str) -> Debt:
        """Return what is owed once this draw card is played (STACK-2, RESP-2)."""
        already = self.table.pending.total if self.table.pending else 0
        value = DRAW_VALUES[symbol(shown)]
        return Debt(already + value, value, symbol(shown))

    def aim_draw_card(self, seat: int, shown: str, bluff: bool) -> None:
        # WR4-2: with two left the other is skipped and the card's own player owes. Else DRAW-1, WR4-1.
        owing = seat if shown == "WR4" and self.two_left() else self.next_after(seat)
        last = seat in self.table.going_out
        if self.options.bluff != "off" and shown in ("W4", "W2", "WD") and not last:
            self.table.challenge = Challenge(seat, bluff)  # BLUFF-1
        self.owe(owing, self.debt_with(shown))

    def is_bluff(self, seat: int, shown: str) -> bool:
        """Return True if a wild draw card is a bluff with the other cards of the hand (BLUFF-2)."""
        others = self.faces(seat)
        if self.options.bluff == "official":
            return self.table.color is not None and any(color_of(other) == self.table.color for other in others)
        return any(self.can_match(other) and symbol(other) != symbol(shown) for other in others)

    def challenge(self, seat: int) -> None:
        """Settle a challenge (BLUFF-3, BLUFF-4)."""
        table, right, debt = self.table, self.table.challenge, self.table.pending
        assert right is not None
        assert debt is not None
        table.run = table.challenge = None
        if not right.bluff:
            self.pay(seat, more=2)
            return
        table.pending = None
        self.draw_debt(right.seat, debt, more=2 if self.options.bluff == "playroom" else 0)
        if table.going_out:
            self.win(table.going_out[0])
        else:
            self.won_by_the_last()  # else the challenger's turn goes on

    def roulette(self, victim: int, color: str) -> None:
        """Name the colour and draw until it shows (ROUL-1, ROUL-2, PAY-2)."""
        self.table.color, self.table.phase = color, "play"
        self.draw_until_color(victim, color)
        self.after_paying(victim)

    # --- buzzers and Flips ---

    def start_buzz(self, seat: int) -> None:
        table = self.table
        if self.options.buzzers == "race":
            table.phase, table.buzz = "buzz", Buzz(seat, [])  # BUZZ-2
            return
        table.buzzes += 1
        order = shuffled(sorted(table.still_in()), self.key, f"b{table.buzzes}")  # BUZZ-3
        self.buzz_hits(seat, order[0])

    def turn_over(self) -> None:
        """Turn the discard pile and the draw pile over; the other side is in force (FLIP-2)."""
        table = self.table
        table.side = "dark" if table.side == "light" else "light"
        table.discard_pile.reverse()
        table.draw_pile.reverse()
        table.color = color_of(table.top())

    # --- calls (CALL-1 to CALL-4) ---

    def drop_stale_flags(self) -> None:
        """Clear calls and callout windows of hands that are not one card."""
        table = self.table
        table.declared = [seat for seat in table.declared if len(table.hands[seat]) == 1]
        table.exposed = [seat for seat in table.exposed if len(table.hands[seat]) == 1]

    def open_windows(self, seat: int, move: Move, received: list[int]) -> None:
        table = self.table
        for flags in (table.declared, table.exposed):
            # UNO-4: a call for an earlier hand does not carry over; CALL-1: another hand closes a window.
            flags[:] = [owner for owner in flags if owner not in received]
        for owner in [seat, *(other for other in received if other != seat)]:
            if owner in table.out or len(table.hands[owner]) != 1:
                continue
            if owner == seat and move.uno:
                table.declared.append(owner)  # UNO-1, UNO-4, CALL-4
            elif owner not in received or self.options.uno_on_received_hand:
                table.exposed.append(owner)
