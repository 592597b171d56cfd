"""A move while it is carried out: drawing, knocking out, passing the turn and ending the round.

A ``Turn`` works on its own copy of the position. No other code changes a position.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from games.rules.cards import Card
from games.rules.clock import most_held
from games.rules.events import Event
from games.rules.moves import Move
from games.rules.options import Options
from games.rules.position import BUZZ, CHOOSE_COLOR, NO_EXTRA, OVER, PLAY, Position
from games.rules.scoring import hand_points, round_points
from games.rules.shuffle import Shuffle, reshuffle

ALL_CARDS: Final = 10**9
"""More cards than any deck has: draw until something else ends the drawing."""


class Turn:
    """The seat that moves, its move, the new position and the events so far.

    ``before`` is the position before the move. A play sets ``next``, the seat whose turn comes next, before the card's
    effects run. ``received`` are the seats that received a hand by a 7 or a 0.
    """

    __slots__ = (
        "before",
        "events",
        "move",
        "next",
        "options",
        "position",
        "received",
        "seat",
        "shuffle",
        "side",
    )

    def __init__(self, position: Position, seat: int, move: Move, options: Options, shuffle: Shuffle) -> None:
        self.before = position
        self.position = position.copy()
        self.seat = seat
        self.move = move
        self.options = options
        self.side = options.rules.sides[position.extra.side]
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
        if position.exposed or position.declared:
            position.exposed = _without(position.exposed, seat)
            position.declared = _without(position.declared, seat)

    def set_extra(self, **changes: Any) -> None:
        """Change fields of the position that only some variants have."""
        extra = self.position.extra
        # Most calls clear what is clear already, and comparing is several times faster than a new object.
        if any(getattr(extra, name) != value for name, value in changes.items()):
            self.position.extra = replace(extra, **changes)

    def accept_turn_move(self) -> None:
        """Close all callout windows, the straight and the right to challenge, as each turn move does.

        With the option ``uno_window`` open the windows stay (UNO-3, CALL-1, RUN-4, BLUFF-6).
        """
        position = self.position
        if position.exposed and self.options.uno_window == "turn":
            position.exposed = ()
        extra = position.extra
        if extra is not NO_EXTRA and (extra.run is not None or extra.challenge is not None):
            position.extra = replace(extra, run=None, challenge=None)

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

        ``wanted`` are faces. Return the cards drawn, and True if the last of them is in ``wanted`` and the hand is
        below the mercy limit. The draw stops early at the mercy limit (MERCY-1) and when no card is left anywhere
        (TURN-6).

        The caller adds the event for the cards drawn and then calls ``check_mercy_limit``.
        """
        position = self.position
        hand = position.hands[seat]
        limit = self.options.mercy_limit or ALL_CARDS
        room = min(count, limit - len(hand))
        cards: tuple[Card, ...] = ()
        found, pile = False, position.draw_pile
        while not found and len(cards) < room and (pile or (pile := self._reshuffled())):
            part, found = self._take_from_top(pile, room - len(cards), wanted)
            cards += part
            pile = pile[len(part) :]
        position.draw_pile = pile
        if not cards:
            self.events.append(Event("nothing_left", seat))
            return (), False
        if position.extra.passes:
            self.set_extra(passes=0)
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

    def _take_from_top(
        self, pile: tuple[Card, ...], most: int, wanted: frozenset[str]
    ) -> tuple[tuple[Card, ...], bool]:
        """Return up to ``most`` cards from the top of a pile, and True if the last of them is in ``wanted``.

        No card after the first one in ``wanted`` is taken.
        """
        if wanted:
            part = pile[:most]
            for at, face in enumerate(part if self.side.shown is None else self.side.show(part), 1):
                if face in wanted:
                    return pile[:at], True
        return pile[:most], False

    def draw_owed(self, seat: int, count: int, reason: str) -> tuple[Card, ...]:
        """Draw owed or penalty cards, which only their player sees.

        ``reason`` is the reason of the event. Return the result of ``check_mercy_limit``.
        """
        if not count:
            return ()
        cards, _ = self.draw(seat, count)
        if cards:
            self.events.append(Event("drew", seat, None, None, reason, len(cards), self.side.show(cards)))
        return self.check_mercy_limit(seat)

    def turn_over_until(self, seat: int, color: str) -> None:
        """Turn cards over into a seat's hand until one of a colour shows (ROUL-1, FLIP-5)."""
        cards, _ = self.draw(seat, ALL_CARDS, self.side.of_color[color])
        if cards:
            shown = self.side.show(cards)
            self.events.append(Event("turned_over", seat, cards=shown, color=color, amount=len(cards)))
        self.check_mercy_limit(seat)

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
        """Put a seat out of the round and return the hand it held (MERCY-2, LEAVE-1, ELIM-1, ELIM-2).

        The hand is set aside, or shuffled into the draw pile.
        """
        position, options = self.position, self.options
        hand = position.hands[seat]
        if options.mercy_card_points and hand:
            self.fine(seat, hand_points(hand, self.side))
        if options.mercy_cards == "set_aside":
            position.set_aside += hand
        elif hand:
            self._shuffle_into_draw_pile(hand)
        self.set_hand(seat, ())
        position.out = _with(position.out, seat)
        position.going_out = _without(position.going_out, seat)
        extra = position.extra
        if extra.run is not None and extra.run.seat == seat:
            self.set_extra(run=None)
        if extra.challenge is not None and extra.challenge.seat == seat:
            self.set_extra(challenge=None)
        return hand

    def _shuffle_into_draw_pile(self, hand: tuple[Card, ...]) -> None:
        position = self.position
        cards = sorted(position.draw_pile + hand)
        position.reshuffles += 1
        position.draw_pile = tuple(self.shuffle(cards, reshuffle(position.reshuffles)))
        self.events.append(Event("shuffled_in", position.turn, amount=len(hand)))

    def fine(self, seat: int, points: int) -> None:
        """Add penalty points to a seat (INT-4, ELIM-2)."""
        if points:
            fines = list(self.position.extra.fines or (0,) * self.position.players)
            fines[seat] += points
            self.set_extra(fines=tuple(fines))

    def come_back(self, seat: int) -> None:
        """Clear that a seat went out on the debt, because its player has to draw (END-2)."""
        if seat in self.position.going_out:
            self.position.going_out = _without(self.position.going_out, seat)
            self.events.append(Event("came_back", seat))

    def pay(self, seat: int, more: int = 0, reason: str = "stack") -> None:
        """Make a seat draw the whole debt, and ``more`` cards for a challenge (STACK-4, BLUFF-3, BLUFF-4, BLUFF-5).

        ``reason`` is the reason of the event: ``"debt"`` if the seat does not lose its turn.
        """
        position, pending = self.position, self.position.pending
        position.pending = None
        if position.extra.challenge is not None:
            self.set_extra(challenge=None)
        if position.going_out:
            self.come_back(seat)
        if pending is not None and not pending.value:
            self.turn_over_until(seat, position.color or "")
            if seat not in position.out:
                self.draw_owed(seat, more, reason)
        elif pending is not None:
            self.draw_owed(seat, pending.total + more, reason)

    def pay_and_go_on(self, seat: int, more: int = 0) -> None:
        """Make a seat draw the whole debt and settle whose turn is next (PAY-2).

        The first player who went out on the debt and has not had to draw wins now (END-2, END-3). A debt that came back
        to a player who went out costs the turn.
        """
        loses_turn = self.options.skip_after_draw or seat in self.position.going_out
        self.pay(seat, more, "stack" if loses_turn else "debt")
        self.end_turn(seat, keeps_turn=not loses_turn)

    def end_turn(self, seat: int, *, keeps_turn: bool = False) -> None:
        """End the turn of ``seat``: end the round if it has a winner, or pass the turn to the next player.

        With ``keeps_turn`` the seat has another turn if it is still in. The debt must be cleared by then, so that every
        seat left in ``going_out`` has not had to draw.
        """
        position = self.position
        if position.going_out:
            self.win(position.going_out[0], "last_card")
        elif not (position.out and self.end_if_one_left()):
            position.phase = PLAY
            position.drawn = None
            position.turn = seat if keeps_turn and seat not in position.out else position.next_seat(seat)
            if position.extra is not NO_EXTRA:
                self.set_extra(run=None)

    def abandon_turn(self, seat: int, hand: tuple[Card, ...]) -> None:
        """End the turn of a player who has been put out without moving (LEAVE-1, MERCY-1, BUZZ-2).

        ``hand`` is the hand that the player held. A debt owed by the player and an open race are cancelled. A colour
        that the player had to name is the one most held (ROUL-2).
        """
        position = self.position
        if position.phase == CHOOSE_COLOR:
            position.color = most_held(self.side.show(hand), self.side.colors)
            self.events.append(Event("named_color", seat, color=position.color, reason="clock"))
        if position.pending is not None:
            self.cancel_debt(seat)
        if position.phase == BUZZ:
            self.set_extra(buzz=None)
        self.end_turn(seat)

    def cancel_debt(self, seat: int) -> None:
        """Cancel a debt that ``seat`` owes, so that nobody draws it (LEAVE-1, RESP-4)."""
        position = self.position
        if position.pending is not None:
            self.events.append(Event("stack_gone", seat, amount=position.pending.total))
            position.pending = None
        if position.extra.challenge is not None:
            self.set_extra(challenge=None)

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
        if position.extra is not NO_EXTRA:
            self.set_extra(run=None, challenge=None, buzz=None)
        position.points = round_points(position, seat, self.options)
        self.events.append(Event("won", seat, points=position.points, reason=reason))


def _without(seats: tuple[int, ...], seat: int) -> tuple[int, ...]:
    return tuple([other for other in seats if other != seat])


def _with(seats: tuple[int, ...], seat: int) -> tuple[int, ...]:
    return tuple(sorted({*seats, seat}))
