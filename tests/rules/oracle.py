"""A second implementation of the rulebook: slow, simple and without code of `games.rules`.

`replay(request)` answers one request of `python -m games.rules replay`, without `events` and `message`. Each branch
names its rule. `test_against_oracle.py` compares both implementations on random positions.
"""

from __future__ import annotations

from tests.rules.oracle_input import (
    COLORS,
    Options,
    Table,
    draw_value,
    face,
    is_wild,
    matches_top,
    request_from_json,
    shuffled,
    table_to_json,
)
from tests.rules.oracle_moves import RULES, Line, Move, parse


class Oracle:
    """One round: the table, its options and its shuffle key."""

    def __init__(self, table: Table, options: Options, key: bytes) -> None:
        self.table = table
        self.options = options
        self.key = key
        self.last_lost_hand: list[str] = []

    # --- questions about the table ---

    def seats(self) -> list[int]:
        return list(range(len(self.table.hands)))

    def still_in(self) -> list[int]:
        """Return the players still in. A player who went out on a stack is still in (TERM-1)."""
        return [seat for seat in self.seats() if seat not in self.table.out]

    def next_after(self, seat: int) -> int:
        """Return the next player still in, in the direction of play (TERM-1)."""
        seat = (seat + self.table.direction) % len(self.table.hands)
        while seat in self.table.out:
            seat = (seat + self.table.direction) % len(self.table.hands)
        return seat

    def two_left(self) -> bool:
        return len(self.still_in()) == 2  # TWO-1

    def can_match(self, card: str) -> bool:
        return matches_top(card, self.table.discard_pile[-1], self.table.color)

    def is_last(self, seat: int) -> bool:
        return len(self.table.hands[seat]) == 1

    def asks_color(self, seat: int, card: str) -> bool:
        if card == "WC":  # ROUL-1, option roulette_color; END-1: a last roulette names no colour
            return self.options.roulette_color == "player" and not self.is_last(seat)
        return is_wild(card)  # TURN-7

    def asks_swap(self, seat: int, card: str) -> bool:
        # SEVEN-1; END-1: a last 7 names no target; VARIANTS 19: not in classic
        return face(card) == "7" and not self.is_last(seat) and not self.options.classic

    # --- refusals, in NOTATION's order ---

    def refusal(self, line: Line) -> str | None:
        table, move, seat = self.table, line.move, line.seat
        named = [seat, move.target] if move.kind == "catch" else [seat]  # a 7's target: bad_swap_target
        if not set(named) <= set(self.seats()):
            return "no_such_seat"
        if table.phase == "over":
            return "over"
        if seat in table.out:
            return "out"
        if move.kind == "uno" and seat not in table.exposed:
            return "nothing_owed"
        # UNO-6: a false catch costs cards only if the target is another player still in (UNO-2, MERCY-3).
        costly = self.options.false_catch_penalty > 0 and move.target != seat and move.target not in table.out
        if move.kind == "catch" and not self.catchable(seat, move.target) and not costly:
            return "nobody_to_catch"
        if move.kind in ("play", "draw", "take", "color", "pass"):
            if seat != table.turn:
                return "not_your_turn"
            if table.phase == "choose_color" and move.kind != "color":
                return "choose_color_first"
            if table.phase != "choose_color" and move.kind == "color":
                return "no_roulette"
        if line.clock and move.kind != "uno" and (seat != table.turn or move != self.default_move()):
            return "not_the_clocks_move"
        if move.kind in ("play", "draw", "take", "pass"):
            return self.turn_refusal(line)
        return None

    def turn_refusal(self, line: Line) -> str | None:
        table, move, seat = self.table, line.move, line.seat
        if table.phase == "drawn" and move.kind != "pass" and (move.kind, move.card) != ("play", table.drawn):
            return "must_play_drawn"
        if move.kind == "take" and table.pending is None:
            return "nothing_to_take"
        if table.pending is not None and move.kind != "take" and not draw_value(move.card):
            return "cards_owed"  # STACK-3: only draw cards may be played
        if move.kind == "play":
            return self.card_refusal(seat, move)
        willing = self.options.voluntary_draw or line.clock  # CLOCK-1: the clock may
        if move.kind == "pass" and table.phase != "drawn":
            return "may_not_draw"  # nothing drawn to keep: the closest of the codes
        if move.kind == "draw" and not willing and any(self.can_match(card) for card in table.hands[seat]):
            return "may_not_draw"
        return None

    def card_refusal(self, seat: int, move: Move) -> str | None:
        table, card = self.table, move.card
        if card not in table.hands[seat]:
            return "not_in_hand"
        if table.pending is not None:
            if draw_value(card) < table.pending[1]:
                return "too_low"
        elif not self.can_match(card):
            return "not_matching"
        if self.asks_color(seat, card) != (move.color is not None):
            return "color_not_asked" if move.color else "color_missing"
        if self.asks_swap(seat, card) != (move.target is not None):
            return "swap_missing" if move.target is None else "swap_not_asked"
        if move.target is not None and (move.target == seat or move.target not in self.still_in()):
            return "bad_swap_target"
        return None

    def catchable(self, seat: int, target: int | None) -> bool:
        return target in self.table.exposed and target != seat  # UNO-2

    def legal(self, seat: int) -> list[str]:
        """Return every legal move of a seat, found by trying all moves. Cards are tried on turn only (TURN-1)."""
        tries = [Move(kind) for kind in ("draw", "take", "uno", *(["pass"] if self.options.classic else []))]
        tries += [Move("catch", target=target) for target in self.seats()]
        tries += [Move("color", color=color) for color in COLORS]
        for card in set(self.table.hands[seat]) if seat == self.table.turn else ():
            tries.append(Move("play", card))
            tries += [Move("play", card, color=color) for color in COLORS]
            tries += [Move("play", card, target=target) for target in self.seats()]
        return sorted(str(move) for move in tries if self.refusal(Line(seat, False, move)) is None)

    # --- the clock (CLOCK-1; T-1 for classic) ---

    def default_move(self) -> Move:
        table, seat = self.table, self.table.turn
        if table.phase == "choose_color":
            return Move("color", color=most_held(table.hands[seat]))
        if table.pending is not None:
            return Move("take")
        if table.drawn is None:
            return Move("draw")
        if self.options.classic:
            return Move("pass")  # T-1
        card = table.drawn
        rest = list(table.hands[seat])
        rest.remove(card)
        color = most_held(rest) if self.asks_color(seat, card) else None
        target = self.smallest_hand(seat) if self.asks_swap(seat, card) else None
        return Move("play", card, color, target)

    def smallest_hand(self, seat: int) -> int:
        others = []
        other = self.next_after(seat)
        while other != seat:
            others.append(other)
            other = self.next_after(other)
        return min(others, key=lambda other: len(self.table.hands[other]))  # ties: the nearest

    # --- moves ---

    def accept(self, line: Line) -> None:
        move, seat = line.move, line.seat
        if move.kind in ("play", "draw", "take", "color"):
            self.table.exposed = []  # UNO-3
        if move.kind == "play":
            self.play(seat, move)
        elif move.kind == "draw":
            self.draw(seat)
        elif move.kind == "take":
            self.take(seat)
        elif move.kind == "color":
            assert move.color is not None
            self.roulette(seat, move.color)
        elif move.kind == "pass":
            self.pass_turn_from(seat)
        elif move.kind == "uno":
            self.table.exposed.remove(seat)
            if not line.clock:  # CLOCK-2: the clock closes the window, and calls nothing
                self.table.declared.append(seat)
        elif move.kind == "catch":
            assert move.target is not None
            self.catch(seat, move.target)
        elif move.kind == "leave":
            self.leave(seat)
        self.drop_stale_flags()

    def drop_stale_flags(self) -> None:
        """Clear calls and callout windows of hands that are not one card."""
        table = self.table
        table.declared = [seat for seat in table.declared if len(table.hands[seat]) == 1]
        table.exposed = [seat for seat in table.exposed if len(table.hands[seat]) == 1]

    def play(self, seat: int, move: Move) -> None:
        table, card = self.table, move.card
        hand = table.hands[seat]
        hand.remove(card)
        table.phase, table.drawn = "play", None
        if face(card) == "D":  # DISC-1
            shed = sorted(other for other in hand if other[0] == card[0])
            table.hands[seat] = hand = [other for other in hand if other[0] != card[0]]
            table.discard_pile += shed
        table.discard_pile.append(card)
        table.color = move.color if is_wild(card) else card[0]  # TURN-7
        self.drop_stale_flags()  # UNO-1: a later hand of one card owes a new call
        if face(card) == "R" or card == "WR4":  # REV-1, WR4-1, WR4-2
            table.direction = -table.direction
        if not hand and not (draw_value(card) and self.options.last_draw_card == "contest"):
            self.win_with(seat, card)
            return
        if not hand:
            table.going_out.append(seat)  # END-2
        received = self.effect(seat, move)
        if table.phase != "over":
            self.open_windows(seat, move, received)

    def win_with(self, seat: int, card: str) -> None:
        """End the round with a last card (END-1; END-2 with the option `last_draw_card`)."""
        if draw_value(card) and self.options.last_draw_card == "draw_then_win":
            already = self.table.pending[0] if self.table.pending else 0
            self.draw_cards(self.next_after(seat), already + draw_value(card))
        self.win(seat)

    def effect(self, seat: int, move: Move) -> list[int]:
        """Carry out what the card does to others and to the turn. Return the seats that received a hand."""
        table, symbol = self.table, face(move.card)
        following = self.next_after(seat)
        if draw_value(move.card):
            self.aim_draw_card(seat, move.card)
        elif symbol == "WC":
            table.turn, table.phase = following, "choose_color"  # ROUL-1
            if move.color is not None:
                self.roulette(following, move.color)  # option roulette_color: inside the move
        elif symbol == "S":
            table.turn = self.next_after(following)  # SKIP-1
        elif symbol == "R":
            table.turn = seat if self.two_left() else following  # REV-1
        elif symbol == "E":
            table.turn = seat  # ALL-1
        else:
            table.turn = following
        if symbol == "7" and move.target is not None:  # SEVEN-1
            table.hands[seat], table.hands[move.target] = table.hands[move.target], table.hands[seat]
            return [seat, move.target]
        if symbol == "0" and not self.options.classic:  # ZERO-1
            before = list(table.hands)
            for giver in self.still_in():
                table.hands[self.next_after(giver)] = before[giver]
            return self.still_in()
        return []

    def aim_draw_card(self, seat: int, card: str) -> None:
        table = self.table
        total = draw_value(card) + (table.pending[0] if table.pending else 0)  # STACK-2
        # WR4-2: with two left the other is skipped and the card's own player owes. Else DRAW-1, WR4-1.
        owing = seat if card == "WR4" and self.two_left() else self.next_after(seat)
        if self.options.classic:
            self.draw_cards(owing, total)  # C-10: paid at once
            self.pass_turn_from(owing)
            return
        table.turn, table.pending = owing, (total, draw_value(card))
        if owing in table.going_out:  # END-2: the stack comes back, and is drawn at once
            table.going_out.remove(owing)
            table.pending = None
            self.draw_cards(owing, total)
            self.end_stack_of(owing)

    def open_windows(self, seat: int, move: Move, received: list[int]) -> None:
        table = self.table
        for receiver in received:
            if receiver in table.declared:
                table.declared.remove(receiver)  # UNO-4: a call for an earlier hand does not carry over
        for owner in [seat, *(other for other in received if other != seat)]:
            if owner in table.out or len(table.hands[owner]) != 1:
                continue
            if owner == seat and move.uno:
                table.declared.append(owner)  # UNO-1, UNO-4
            elif owner not in received or self.options.uno_on_received_hand:
                table.exposed.append(owner)

    def draw(self, seat: int) -> None:
        """Draw until playable (TURN-4), or a single card in classic (C-4)."""
        table = self.table
        while True:
            card = self.draw_one(seat)
            if card is None or seat in table.out:  # TURN-6, MERCY-1
                break
            if self.can_match(card):
                table.phase, table.drawn = "drawn", card
                return
            if self.options.classic:
                break
        self.pass_turn_from(seat)

    def take(self, seat: int) -> None:
        """Take the stack (STACK-4)."""
        assert self.table.pending is not None
        total = self.table.pending[0]
        self.table.pending = None
        self.draw_cards(seat, total)
        self.end_stack_of(seat)

    def end_stack_of(self, seat: int) -> None:
        """Clear the stack. The first player who went out on it and has not had to draw wins (END-2, END-3)."""
        self.table.pending = None
        if self.table.going_out:
            self.win(self.table.going_out[0])
        else:
            self.pass_turn_from(seat)

    def pass_turn_from(self, seat: int) -> None:
        table = self.table
        if len(self.still_in()) == 1:
            self.win(self.still_in()[0])  # END-4
            return
        table.turn, table.phase, table.drawn = self.next_after(seat), "play", None

    def roulette(self, victim: int, color: str) -> None:
        """Name the colour and draw until it shows (ROUL-1, ROUL-2)."""
        self.table.color, self.table.phase = color, "play"
        while True:
            card = self.draw_one(victim)
            if card is None or victim in self.table.out or card[0] == color:
                break
        self.pass_turn_from(victim)

    def catch(self, seat: int, target: int) -> None:
        """Catch a player (UNO-2), or make a false catch (UNO-6, option `false_catch_penalty`)."""
        table = self.table
        if self.catchable(seat, target):
            table.exposed.remove(target)
            drawer, count = target, self.options.callout_penalty
        else:
            drawer, count = seat, self.options.false_catch_penalty
        self.draw_cards(drawer, count)
        if table.hands[drawer] and drawer in table.going_out:
            table.going_out.remove(drawer)  # END-3: has had to draw
        if drawer in table.out:
            self.go_on_without(drawer)

    def leave(self, seat: int) -> None:
        """Leave the game (LEAVE-1)."""
        self.lose_hand(seat)
        self.go_on_without(seat)

    def go_on_without(self, seat: int) -> None:
        """Go on after a player is out by leaving or by a catch (LEAVE-1, MERCY-1)."""
        table = self.table
        if seat == table.turn:
            if table.phase == "choose_color":
                table.color = most_held(self.last_lost_hand)
            self.end_stack_of(seat)
        elif len(self.still_in()) == 1:
            self.win(self.still_in()[0])  # END-4

    # --- drawing ---

    def draw_one(self, seat: int) -> str | None:
        """Draw one card and return it, or None if no card is left anywhere (TURN-6)."""
        table = self.table
        if not table.draw_pile:  # TURN-5
            cards = sorted(table.discard_pile[:-1] + table.set_aside)
            if not cards:
                return None
            table.reshuffles += 1
            table.draw_pile = shuffled(cards, self.key, table.reshuffles)
            table.discard_pile = table.discard_pile[-1:]
            table.set_aside = []
        card = table.draw_pile.pop(0)
        table.hands[seat].append(card)
        if len(table.hands[seat]) == self.options.mercy_limit:
            self.lose_hand(seat)  # MERCY-1
        return card

    def draw_cards(self, seat: int, count: int) -> None:
        for _ in range(count):
            if self.draw_one(seat) is None or seat in self.table.out:
                return

    def lose_hand(self, seat: int) -> None:
        """Set the hand aside and put the player out (MERCY-2, LEAVE-1)."""
        table = self.table
        self.last_lost_hand = table.hands[seat]
        table.set_aside += table.hands[seat]
        table.hands[seat] = []
        table.out.append(seat)
        if seat in table.going_out:
            table.going_out.remove(seat)

    # --- the end ---

    def win(self, winner: int) -> None:
        table = self.table
        table.phase, table.winner, table.turn = "over", winner, winner
        table.pending, table.drawn, table.exposed, table.going_out = None, None, [], []
        worth = [sum(card_points(card) for card in hand) for hand in table.hands]
        if self.options.scoring == "penalty":  # each loser scores their own hand, 250 if out
            table.points = [0 if s == winner else 250 if s in table.out else worth[s] for s in self.seats()]
        else:  # SCORE-1, SCORE-2
            table.points = sum(worth[seat] for seat in self.still_in() if seat != winner) + 250 * len(table.out)


def card_points(card: str) -> int:
    """Return the points of a card (SCORE-1)."""
    if is_wild(card):
        return 50
    return int(face(card)) if face(card).isdigit() else 20


def most_held(cards: list[str]) -> str:
    """Return the colour most held. If several are, or none is held, it is the first of r, y, g, b (CLOCK-1)."""
    return max(COLORS, key=lambda color: sum(card[0] == color for card in cards))


def replay(request: object) -> dict[str, object]:
    """Return the console's answer to one request.

    :raises BadInputError: if the request is no valid one.
    """
    given = request_from_json(request)
    oracle = Oracle(given.table, given.options, given.key)
    steps: list[dict[str, object]] = []
    for text in given.moves:
        line = parse(text, given.options)
        code = "malformed" if line is None else oracle.refusal(line)
        if line is None or code is not None:
            assert code is not None
            steps.append({"move": text, "ok": False, "error": code, "rule": RULES[code]})
        else:
            oracle.accept(line)
            steps.append({"move": text, "ok": True, "position": table_to_json(oracle.table)})
    legal = {str(seat): oracle.legal(seat) for seat in oracle.seats()}
    return {"steps": steps, "legal": legal, "position": table_to_json(oracle.table)}
