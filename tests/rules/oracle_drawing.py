"""Drawing, paying, being out and the end of a round in the oracle."""

from __future__ import annotations

from tests.rules.oracle_cards import color_of, face, shuffled
from tests.rules.oracle_game import Game
from tests.rules.oracle_table import Debt


class Drawing(Game):
    last_lost_hand: list[str] = []

    # --- cards ---

    def draw_one(self, seat: int) -> str | None:
        """Draw one card and return it, or None if no card is left anywhere (TURN-6)."""
        table = self.table
        if not table.draw_pile:  # TURN-5
            cards = sorted(table.discard_pile[:-1] + table.set_aside)
            if not cards:
                return None
            table.reshuffles += 1
            table.draw_pile = shuffled(cards, self.key, str(table.reshuffles))
            table.discard_pile = table.discard_pile[-1:]
            table.set_aside = []
        card = table.draw_pile.pop(0)
        table.passes = 0  # STUCK-1
        table.hands[seat].append(card)
        if len(table.hands[seat]) == self.options.mercy_limit:
            self.lose_hand(seat)  # MERCY-1
        return card

    def draw_cards(self, seat: int, count: int) -> bool:
        """Draw cards. Return False if the player is out or no card is left, so that nothing more is drawn."""
        while count > 0:
            if self.draw_one(seat) is None or seat in self.table.out:
                return False
            count -= 1
        return True

    def draw_until_color(self, seat: int, color: str | None) -> bool:
        """Turn cards over until one of the colour shows (ROUL-1). Return False as `draw_cards` does."""
        while True:
            card = self.draw_one(seat)
            if card is None or seat in self.table.out:
                return False
            if color_of(face(card, self.table.side)) == color:
                return True

    def draw_debt(self, seat: int, debt: Debt, more: int = 0) -> None:
        """Draw a debt, and then `more` cards (BLUFF-3, BLUFF-4)."""
        if debt.by == "WD":  # BLUFF-5, FLIP-5
            going_on = self.draw_until_color(seat, self.table.color)
        else:
            going_on = self.draw_cards(seat, debt.total)
        if going_on:
            self.draw_cards(seat, more)

    # --- paying (PAY-1 to PAY-4) ---

    def pay(self, seat: int, more: int = 0) -> None:
        """Draw the debt; then the turn goes on (STACK-4, PAY-2)."""
        debt = self.table.pending
        assert debt is not None
        self.table.pending = None
        self.draw_debt(seat, debt, more)
        self.after_paying(seat)

    def after_paying(self, seat: int) -> None:
        """Go on after a debt or a roulette. Who went out on the debt wins first (END-2)."""
        if self.table.going_out or self.options.skip_after_draw or seat in self.table.out:
            self.end_stack_of(seat)
        else:
            self.table.turn, self.table.phase = seat, "play"  # PAY-2

    def end_stack_of(self, seat: int) -> None:
        """Clear the stack. The first player who went out on it and has not had to draw wins (END-2, END-3)."""
        self.table.pending = None
        if self.table.going_out:
            self.win(self.table.going_out[0])
        else:
            self.pass_turn_from(seat)

    def owe(self, seat: int, debt: Debt) -> None:
        """Make a player owe a debt, and pay it inside the move if nothing else can be done (PAY-1)."""
        table = self.table
        table.turn, table.pending = seat, debt
        if seat in table.going_out:  # END-2: the stack comes back, is drawn at once and costs the turn (PAY-2)
            table.going_out.remove(seat)
            table.pending = table.challenge = None  # BLUFF-1
            self.draw_debt(seat, debt)
            self.end_stack_of(seat)
        elif table.challenge is None and (self.options.stacking == "off" or debt.by == "WD"):
            self.pay(seat)

    def pass_turn_from(self, seat: int) -> None:
        if not self.won_by_the_last():
            self.table.turn, self.table.phase, self.table.drawn = self.next_after(seat), "play", None

    def won_by_the_last(self) -> bool:
        """Let the last player still in win (END-4). Return False if there are more."""
        left = self.table.still_in()
        if len(left) == 1:
            self.win(left[0])
        return len(left) == 1

    # --- out (ELIM-1 to ELIM-3) ---

    def lose_hand(self, seat: int) -> None:
        """Put a player out (MERCY-2, LEAVE-1): the hand is set aside, or goes into the draw pile (ELIM-1)."""
        table = self.table
        self.last_lost_hand = hand = table.hands[seat]
        if self.options.mercy_card_points:
            table.fines[seat] += self.worth(hand)  # ELIM-2
        table.hands[seat] = []
        if self.options.mercy_cards == "set_aside":
            table.set_aside += hand
        elif hand:
            table.reshuffles += 1
            table.draw_pile = shuffled(sorted(table.draw_pile + hand), self.key, str(table.reshuffles))
        table.out.append(seat)
        if seat in table.going_out:
            table.going_out.remove(seat)
        if table.run is not None and table.run.seat == seat:
            table.run = None  # RUN-4
        if table.challenge is not None and table.challenge.seat == seat:
            table.challenge = None  # BLUFF-1
        if table.buzz is not None and seat in table.buzz.pressed:
            table.buzz.pressed.remove(seat)  # BUZZ-2

    def go_on_without(self, seat: int) -> None:
        """Go on after a player is out by leaving or by a catch (LEAVE-1, ELIM-3)."""
        table = self.table
        if seat == table.turn:
            if table.phase == "choose_color":
                table.color = self.most_held(self.last_lost_hand)
            table.run = table.challenge = table.buzz = None  # RUN-4; BUZZ-2: the race is off
            self.end_stack_of(seat)
        elif not self.won_by_the_last():
            self.end_race_if_decided()

    # --- races (BUZZ-1 to BUZZ-4) ---

    def end_race_if_decided(self) -> None:
        """End a race when one seat only has not pressed (BUZZ-2)."""
        if self.table.buzz is not None:
            pressed = self.table.buzz.pressed
            waiting = [seat for seat in self.table.still_in() if seat not in pressed]
            if len(waiting) == 1:
                self.buzz_hits(self.table.buzz.by, waiting[0])

    def clock_ends_race(self) -> None:
        """End a race by the clock: the last in the order of play from the buzzer's player is slowest (BUZZ-2)."""
        assert self.table.buzz is not None
        by, pressed = self.table.buzz.by, self.table.buzz.pressed
        order = [by]
        while (seat := self.next_after(order[-1])) != by:
            order.append(seat)
        self.buzz_hits(by, [seat for seat in order if seat not in pressed][-1])

    def buzz_hits(self, by: int, slowest: int) -> None:
        """Let the slowest draw two cards; then a buzzer's player without a card has won (BUZZ-4)."""
        table = self.table
        table.buzz, table.phase = None, "play"
        self.draw_cards(slowest, 2)
        if by not in table.out and not table.hands[by]:
            self.win(by)
        else:
            self.pass_turn_from(by)

    # --- the end (SCORE-4) ---

    def win(self, winner: int) -> None:
        table, options = self.table, self.options
        table.phase, table.winner, table.turn = "over", winner, winner
        table.pending, table.drawn, table.exposed, table.going_out = None, None, [], []
        table.run = table.challenge = table.buzz = None
        owed = [options.mercy_points if s in table.out else self.worth(table.hands[s]) for s in self.seats()]
        owed[winner] = 0  # the winner's own cards never count
        if options.scoring == "penalty":
            table.points = [owed[seat] + table.fines[seat] for seat in self.seats()]
        else:
            table.points = sum(owed[seat] + table.fines[seat] for seat in self.seats() if seat != winner)

    def end_if_stuck(self, seat: int) -> None:
        """Count a turn that ended with a draw of no card. After one for each player the round is over (STUCK-1)."""
        table = self.table
        if not self.options.can_get_stuck(len(table.hands)):
            return
        table.passes += 1
        if table.passes < len(table.still_in()):
            return
        order = [self.next_after(seat)]  # ties go to the first of them after the seat that passed last
        while order[-1] != seat:
            order.append(self.next_after(order[-1]))
        self.win(min(order, key=lambda other: self.worth(table.hands[other])))
