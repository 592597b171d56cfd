"""A move while it is carried out: drawing, knocking out, passing the turn and ending the round.

A ``Turn`` works on its own copy of the position. No other code changes a position.
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

ALL_CARDS: Final = 10**9
"""More cards than any deck has: draw until something else ends the drawing."""


class Turn:
    """The seat that moves, its move, the new position and the events so far.

    A play sets ``next``, the seat whose turn comes next, before the card's effects run. ``received`` are the seats that
    received a hand by a 7 or a 0.
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
        """Replace a seat's hand, and clear an UNO call made or owed for the old one (UNO-1, UNO-4)."""
        position = self.position
        hands = list(position.hands)
        hands[seat] = hand
        position.hands = tuple(hands)
        if seat in position.exposed:
            position.exposed = _without(position.exposed, seat)
        if seat in position.declared:
            position.declared = _without(position.declared, seat)

    def close_window(self, seat: int) -> None:
        """Close a seat's callout window: it can no longer be caught (UNO-3)."""
        if seat in self.position.exposed:
            self.position.exposed = _without(self.position.exposed, seat)

    def declare(self, seat: int) -> None:
        """Record that a seat has called UNO for its one card (UNO-1)."""
        self.position.declared = _with(self.position.declared, seat)
        self.events.append(Event("called_uno", seat))

    def expose(self, seat: int) -> None:
        """Record that a seat owes an UNO call and can be caught (UNO-1)."""
        self.position.exposed = _with(self.position.exposed, seat)
        self.events.append(Event("uno_due", seat))

    def draw(self, seat: int, count: int, wanted: frozenset[Card] = frozenset()) -> tuple[tuple[Card, ...], bool]:
        """Draw up to ``count`` cards into a hand, one at a time, until one of ``wanted`` is drawn.

        Return the cards drawn, and True if the last of them is in ``wanted`` and the hand is below the mercy limit. The
        draw stops early at the mercy limit (MERCY-1) and when no card is left anywhere (TURN-6).

        The caller adds the event for the cards drawn and then calls ``check_mercy_limit``.
        """
        position = self.position
        hand = position.hands[seat]
        limit = self.options.mercy_limit or ALL_CARDS
        room = min(count, limit - len(hand))
        cards: tuple[Card, ...] = ()
        found, pile = False, position.draw_pile
        while not found and len(cards) < room and (pile or (pile := self._reshuffled())):
            part, found = _take_from_top(pile, room - len(cards), wanted)
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
        """Shuffle the discard pile without its top card, and the set-aside hands, into a new draw pile (TURN-5).

        Return the pile, which is empty if there are no such cards.
        """
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
        """Draw owed or penalty cards, which only their player sees.

        ``reason`` is the reason of the event. Return the result of ``check_mercy_limit``.
        """
        if not count:
            return ()
        cards, _ = self.draw(seat, count)
        if cards:
            self.events.append(Event("drew", seat, None, None, reason, len(cards), cards))
        return self.check_mercy_limit(seat)

    def check_mercy_limit(self, seat: int) -> tuple[Card, ...]:
        """Knock a seat out if its hand has reached the mercy limit (MERCY-1).

        Return the hand set aside, which is empty if the seat stays in. The caller passes the turn on.
        """
        limit = self.options.mercy_limit
        if not limit or len(self.position.hands[seat]) < limit:
            return ()
        self.events.append(Event("knocked_out", seat))
        return self.remove_player(seat)

    def remove_player(self, seat: int) -> tuple[Card, ...]:
        """Set a seat's hand aside, put the seat out of the round and return the hand (MERCY-2, LEAVE-1)."""
        position = self.position
        hand = position.hands[seat]
        position.set_aside += hand
        self.set_hand(seat, ())
        position.out = _with(position.out, seat)
        position.going_out = _without(position.going_out, seat)
        return hand

    def come_back(self, seat: int) -> None:
        """Clear that a seat went out on the stack, because its player has to draw (END-2)."""
        if seat in self.position.going_out:
            self.position.going_out = _without(self.position.going_out, seat)
            self.events.append(Event("came_back", seat))

    def take_stack(self, seat: int) -> None:
        """Make a seat draw the whole stack and lose the turn (STACK-4).

        The first player who went out on the stack and has not had to draw wins now (END-2, END-3).
        """
        position = self.position
        total = position.pending.total if position.pending else 0
        position.pending = None
        self.come_back(seat)
        self.draw_owed(seat, total, "stack")
        self.end_turn(seat)

    def end_turn(self, seat: int) -> None:
        """End the turn of ``seat``: end the round if it has a winner, or pass the turn to the next player.

        The stack must be cleared by then, so that every seat left in ``going_out`` has not had to draw.
        """
        position = self.position
        if position.going_out:
            self.win(position.going_out[0], "last_card")
        elif not (position.out and self.end_if_one_left()):
            position.phase = PLAY
            position.drawn = None
            position.turn = position.next_seat(seat)

    def abandon_turn(self, seat: int, hand: tuple[Card, ...]) -> None:
        """End the turn of a player who has been put out without moving (LEAVE-1, MERCY-1).

        ``hand`` is the hand that was set aside. A stack owed by the player is cancelled. A colour that the player had
        to name is the one most held (ROUL-2).
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
        """End the round if one player is still in, and return True if it has ended (END-4)."""
        if len(self.position.out) < len(self.position.hands) - 1:
            return False
        self.win(self.position.still_in()[0], "last_one_in")
        return True

    def win(self, seat: int, reason: str) -> None:
        """End the round with ``seat`` as its winner. Every way to end a round calls this."""
        position = self.position
        position.phase = OVER
        position.turn = position.winner = seat
        position.pending = None
        position.drawn = None
        position.exposed = ()
        position.going_out = ()
        position.points = round_points(position, seat, self.options)
        self.events.append(Event("won", seat, points=position.points, reason=reason))


def _take_from_top(pile: tuple[Card, ...], most: int, wanted: frozenset[Card]) -> tuple[tuple[Card, ...], bool]:
    """Return up to ``most`` cards from the top of a pile, and True if the last of them is in ``wanted``.

    No card after the first one in ``wanted`` is taken.
    """
    if wanted:
        for at, card in enumerate(pile[:most], 1):
            if card in wanted:
                return pile[:at], True
    return pile[:most], False


def _without(seats: tuple[int, ...], seat: int) -> tuple[int, ...]:
    return tuple(other for other in seats if other != seat)


def _with(seats: tuple[int, ...], seat: int) -> tuple[int, ...]:
    return tuple(sorted({*seats, seat}))
