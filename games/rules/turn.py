"""One move being carried out: what every rule needs to draw, to knock out, to pass the turn and to end the round.

A step owns a fresh copy of the position and is the only thing that changes one.
"""

from __future__ import annotations

from typing import Final

from games.rules.cards import Card
from games.rules.clock import most_held
from games.rules.events import Event
from games.rules.moves import Move
from games.rules.options import Options
from games.rules.position import CHOOSE_COLOR, OVER, PLAY, Position
from games.rules.scoring import round_points
from games.rules.shuffle import Shuffle, reshuffle

_NO_LIMIT: Final = 10**9


class Turn:
    """The work in hand: who moves and how, the new position, the events so far, and the rules of the table.

    A play sets ``next``, the seat whose turn comes next, before the card's effects run. ``received`` are the seats that
    have got another hand by it.
    """

    __slots__ = ("events", "move", "next", "options", "position", "received", "seat", "shuffle", "side")

    def __init__(self, position: Position, seat: int, move: Move, options: Options, shuffle: Shuffle) -> None:
        self.position = position.copy()
        self.seat = seat
        self.move = move
        self.options = options
        self.side = options.rules.side
        self.shuffle = shuffle
        self.events: list[Event] = []
        self.next: int
        self.received: tuple[int, ...] = ()

    def set_hand(self, seat: int, hand: tuple[Card, ...]) -> None:
        """Give a seat another hand: a call made or owed for the old one goes with it (UNO-1, UNO-4)."""
        position = self.position
        hands = list(position.hands)
        hands[seat] = hand
        position.hands = tuple(hands)
        if seat in position.exposed:
            position.exposed = _without(position.exposed, seat)
        if seat in position.declared:
            position.declared = _without(position.declared, seat)

    def close_window(self, seat: int) -> None:
        """Nobody can catch this seat any more."""
        if seat in self.position.exposed:
            self.position.exposed = _without(self.position.exposed, seat)

    def declare(self, seat: int) -> None:
        """The seat has called UNO for the one card it holds."""
        self.position.declared = _with(self.position.declared, seat)
        self.events.append(Event("called_uno", seat))

    def expose(self, seat: int) -> None:
        """The seat owes an UNO call and can be caught."""
        self.position.exposed = _with(self.position.exposed, seat)
        self.events.append(Event("uno_due", seat))

    def draw(self, seat: int, count: int, wanted: frozenset[Card] = frozenset()) -> tuple[tuple[Card, ...], bool]:
        """Move up to ``count`` cards to a hand, one at a time, until one of ``wanted`` shows.

        Returns the cards and whether one was found. Stops at the mercy limit (MERCY-1), where nothing is found, and
        when no card is left anywhere (TURN-6). The caller tells of the cards, then calls ``show_mercy``.
        """
        position = self.position
        hand = position.hands[seat]
        limit = self.options.mercy_limit or _NO_LIMIT
        room = min(count, limit - len(hand))
        cards: tuple[Card, ...] = ()
        found, pile = False, position.draw_pile
        while not found and len(cards) < room and (pile or (pile := self._reshuffled())):
            part, found = _first(pile, room - len(cards), wanted)
            cards += part
            pile = pile[len(part) :]
        position.draw_pile = pile
        if not cards:
            self.events.append(Event("nothing_left", seat))
            return (), False
        hand += cards
        self.set_hand(seat, hand)
        return cards, found and len(hand) < limit

    def _reshuffled(self) -> tuple[Card, ...]:
        """Make a new draw pile of the discards under the top card and the hands set aside (TURN-5)."""
        position = self.position
        cards = sorted(position.discard_pile[:-1] + position.set_aside)
        if not cards:
            return ()
        position.reshuffles += 1
        position.discard_pile = position.discard_pile[-1:]
        position.set_aside = ()
        self.events.append(Event("reshuffled", position.turn, amount=len(cards)))
        return tuple(self.shuffle(cards, reshuffle(position.reshuffles)))

    def draw_owed(self, seat: int, count: int, reason: str) -> tuple[Card, ...]:
        """Draw cards that are a debt or a penalty, told as secret; returns what ``show_mercy`` does."""
        if not count:
            return ()
        cards, _ = self.draw(seat, count)
        if cards:
            self.events.append(Event("drew", seat, None, None, reason, len(cards), cards))
        return self.show_mercy(seat)

    def show_mercy(self, seat: int) -> tuple[Card, ...]:
        """Knock a seat out if its hand has reached the limit (MERCY-1); the caller moves the turn on.

        Returns the hand set aside, which is empty if the seat stays in.
        """
        limit = self.options.mercy_limit
        if not limit or len(self.position.hands[seat]) < limit:
            return ()
        self.events.append(Event("knocked_out", seat))
        return self.put_out(seat)

    def put_out(self, seat: int) -> tuple[Card, ...]:
        """Set a hand aside, take its seat out of the round and return the hand (MERCY-2, LEAVE-1)."""
        position = self.position
        hand = position.hands[seat]
        position.set_aside += hand
        self.set_hand(seat, ())
        position.out = _with(position.out, seat)
        position.going_out = _without(position.going_out, seat)
        return hand

    def come_back(self, seat: int) -> None:
        """A seat that went out has had to draw: it is no longer one who went out (END-2)."""
        if seat in self.position.going_out:
            self.position.going_out = _without(self.position.going_out, seat)
            self.events.append(Event("came_back", seat))

    def pay(self, seat: int) -> None:
        """A seat draws the whole stack and loses the turn; who went out on it wins now (STACK-4, END-2, END-3)."""
        position = self.position
        total = position.pending.total if position.pending else 0
        position.pending = None
        self.come_back(seat)
        self.draw_owed(seat, total, "stack")
        self.end_turn(seat)

    def end_turn(self, seat: int) -> None:
        """The turn of ``seat`` is over: a winner is named if there is one, else the next player is on turn.

        Caller has settled what was owed: whoever is still in ``going_out`` has not had to draw.
        """
        position = self.position
        if position.going_out:
            self.win(position.going_out[0], "last_card")
        elif not (position.out and self.end_if_one_left()):
            position.phase = PLAY
            position.drawn = None
            position.turn = position.next_seat(seat)

    def abandon_turn(self, seat: int, hand: tuple[Card, ...]) -> None:
        """The seat on turn is out without having moved: nothing is drawn, and an owed colour is named for it.

        ``hand`` is what it held. (LEAVE-1; MERCY-1 by a catch, ROUL-2)
        """
        position = self.position
        if position.phase == CHOOSE_COLOR:
            position.color = most_held(hand)
            self.events.append(Event("named_color", seat, color=position.color, reason="clock"))
        if position.pending is not None:
            self.events.append(Event("stack_gone", seat, amount=position.pending.total))
            position.pending = None
        self.end_turn(seat)

    def end_if_one_left(self) -> bool:
        """End the round if all but one are out (END-4)."""
        if len(self.position.out) < len(self.position.hands) - 1:
            return False
        self.win(self.position.still_in()[0], "last_one_in")
        return True

    def win(self, seat: int, reason: str) -> None:
        """End the round: one function, whatever ended it."""
        position = self.position
        position.phase = OVER
        position.turn = position.winner = seat
        position.pending = None
        position.drawn = None
        position.exposed = ()
        position.going_out = ()
        position.points = round_points(position, seat, self.options)
        self.events.append(Event("won", seat, points=position.points, reason=reason))


def _first(pile: tuple[Card, ...], most: int, wanted: frozenset[Card]) -> tuple[tuple[Card, ...], bool]:
    """The first cards of a pile: up to one of ``wanted``, and whether that was found."""
    if wanted:
        for at, card in enumerate(pile[:most], 1):
            if card in wanted:
                return pile[:at], True
    return pile[:most], False


def _without(seats: tuple[int, ...], seat: int) -> tuple[int, ...]:
    return tuple(other for other in seats if other != seat)


def _with(seats: tuple[int, ...], seat: int) -> tuple[int, ...]:
    return tuple(sorted({*seats, seat}))
