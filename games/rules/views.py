"""What a player may know of a position (SEE-1). Only the fields listed here are shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from games.rules.cards import Card
from games.rules.options import Options
from games.rules.position import OVER, Pending, Points, Position, nearest_seat


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
    hands: tuple[tuple[Card, ...], ...] | None
    options: Options

    def next_seat(self, seat: int) -> int:
        """Return the next seat still in after ``seat``, in the direction of play (TERM-1)."""
        return nearest_seat(seat, self.direction, len(self.counts), self.out)

    def previous_seat(self, seat: int) -> int:
        """Return the seat still in whose next player is ``seat``."""
        return nearest_seat(seat, -self.direction, len(self.counts), self.out)

    def with_hidden(
        self, hands: Sequence[Sequence[Card]], *, draw_pile: Sequence[Card], set_aside: Sequence[Card]
    ) -> Position:
        """Return the position that has this view and these hidden cards. Bots use it to guess what others hold."""
        return Position(
            hands=hands,
            turn=self.turn,
            discard_pile=self.discard_pile,
            draw_pile=draw_pile,
            color=self.color,
            out=self.out,
            direction=self.direction,
            pending=self.pending,
            phase=self.phase,
            drawn=self.drawn,
            set_aside=set_aside,
            declared=self.declared,
            exposed=self.exposed,
            going_out=self.going_out,
            reshuffles=self.reshuffles,
            winner=self.winner,
            points=self.points,
            absent=self.absent,
        )


def view_for(position: Position, seat: int | None, options: Options) -> View:
    """Return what a seat may know of a position, or a spectator if ``seat`` is None."""
    return View(
        you=seat,
        hand=None if seat is None else position.hands[seat],
        turn=position.turn,
        phase=position.phase,
        direction=position.direction,
        top=position.discard_pile[-1],
        color=position.color,
        pending=position.pending,
        drawn=position.drawn if seat == position.turn else None,
        draw_pile=len(position.draw_pile),
        discard_pile=position.discard_pile,
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
        hands=position.hands if position.phase == OVER else None,
        options=options,
    )
