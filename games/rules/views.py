"""What a player may know of a position (SEE-1). Only the fields listed here are shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from games.rules.cards import Card
from games.rules.options import Options
from games.rules.position import NO_EXTRA, OVER, Buzz, Challenge, Extra, Pending, Points, Position, Run, nearest_seat


@dataclass(frozen=True, slots=True)
class View:
    """A position as the seat ``you`` may know it, or a spectator if ``you`` is None.

    ``hand`` and ``drawn`` are those of ``you``. ``draw_pile`` and ``set_aside`` are numbers of cards, and ``counts``
    has the number of cards of every hand. ``top`` is the last card of ``discard_pile``. ``hands`` is None until the
    round is over. The other fields are those of ``Position``.
    """

    you: int | None
    hand: tuple[Card, ...] | None
    turn: int
    phase: str
    direction: int
    top: Card
    color: str | None
    pending: Pending | None
    drawn: Card | None
    draw_pile: int
    discard_pile: tuple[Card, ...]
    counts: tuple[int, ...]
    out: tuple[int, ...]
    absent: tuple[int, ...]
    declared: tuple[int, ...]
    exposed: tuple[int, ...]
    going_out: tuple[int, ...]
    set_aside: int
    reshuffles: int
    winner: int | None
    points: Points
    side: str | None
    run: Run | None
    challenge: int | None
    buzz: Buzz | None
    buzzes: int
    passes: int
    fines: tuple[int, ...]
    backs: tuple[tuple[str, ...], ...] | None
    hands: tuple[tuple[Card, ...], ...] | None
    options: Options

    def next_seat(self, seat: int) -> int:
        """Return the next seat still in after ``seat``, in the direction of play (TERM-1)."""
        return nearest_seat(seat, self.direction, len(self.counts), self.out)

    def previous_seat(self, seat: int) -> int:
        """Return the seat still in whose next player is ``seat``."""
        return nearest_seat(seat, -self.direction, len(self.counts), self.out)

    def with_hidden(
        self,
        hands: Sequence[Sequence[Card]],
        *,
        draw_pile: Sequence[Card],
        set_aside: Sequence[Card],
        bluff: bool = False,
        discard_pile: Sequence[Card] | None = None,
        drawn: Card | None = None,
    ) -> Position:
        """Return the position that has this view and these hidden cards. Bots use it to guess what others hold.

        ``bluff`` is whether the card that may be challenged was a bluff. With a deck of two sides ``discard_pile`` and
        ``drawn`` must be given, because the view has only one face of their cards.
        """
        discard_pile = self.discard_pile if discard_pile is None else discard_pile
        extra = Extra(
            self.side,
            run=None if self.run is None else Run(self.run.seat, discard_pile[-1]),
            challenge=None if self.challenge is None else Challenge(self.challenge, bluff),
            buzz=self.buzz,
            buzzes=self.buzzes,
            passes=self.passes,
            fines=self.fines,
        )
        return Position(
            hands=hands,
            turn=self.turn,
            discard_pile=discard_pile,
            draw_pile=draw_pile,
            color=self.color,
            out=self.out,
            direction=self.direction,
            pending=self.pending,
            phase=self.phase,
            drawn=drawn or self.drawn,
            set_aside=set_aside,
            declared=self.declared,
            exposed=self.exposed,
            going_out=self.going_out,
            reshuffles=self.reshuffles,
            winner=self.winner,
            points=self.points,
            absent=self.absent,
            extra=NO_EXTRA if extra == NO_EXTRA else extra,  # moves are faster with this one object
        )


def _backs(position: Position, viewer: int | None, options: Options) -> tuple[tuple[str, ...], ...] | None:
    """Return the hidden faces of every other seat's hand, sorted, if players see them (FLIP-6)."""
    if viewer is None or viewer in position.absent or options.flip_backs == "hidden" or position.phase == OVER:
        return None
    rules = options.rules
    hidden = rules.sides[rules.other_side(position.extra.side)]
    return tuple(() if seat == viewer else tuple(sorted(hidden.show(hand))) for seat, hand in enumerate(position.hands))


def view_for(position: Position, seat: int | None, options: Options) -> View:
    """Return what a seat may know of a position, or a spectator if ``seat`` is None."""
    extra, over = position.extra, position.phase == OVER
    side = options.rules.sides[extra.side]
    run, claim = extra.run, extra.challenge
    return View(
        you=seat,
        hand=None if seat is None else side.show(position.hands[seat]),
        turn=position.turn,
        phase=position.phase,
        direction=position.direction,
        top=side.show_card(position.top),
        color=position.color,
        pending=position.pending,
        drawn=side.show_card(position.drawn) if position.drawn and seat == position.turn else None,
        draw_pile=len(position.draw_pile),
        discard_pile=side.show(position.discard_pile),
        counts=tuple(len(hand) for hand in position.hands),
        out=position.out,
        absent=position.absent,
        declared=position.declared,
        exposed=position.exposed,
        going_out=position.going_out,
        set_aside=len(position.set_aside),
        reshuffles=position.reshuffles,
        winner=position.winner,
        points=position.points,
        side=extra.side,
        run=None if run is None else Run(run.seat, side.show_card(run.card)),
        challenge=None if claim is None else claim.seat,
        buzz=extra.buzz,
        buzzes=extra.buzzes,
        passes=extra.passes,
        fines=extra.fines,
        backs=_backs(position, seat, options),
        hands=position.hands if over else None,
        options=options,
    )
