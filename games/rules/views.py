"""What one seat may know: an allow-list, and nothing outside it leaves the rules (SEE-1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from games.rules.cards import Card
from games.rules.options import Options
from games.rules.position import OVER, Pending, Points, Position, seat_beside


@dataclass(frozen=True, slots=True)
class View:
    """A position as ``you`` may know it (None: a spectator).

    ``hand`` and ``drawn`` are your own; ``draw_pile`` and ``set_aside`` are counts, ``counts`` is one number a seat;
    ``hands`` is None until the round is over. ``discard_pile`` is open to all, its last card being ``top``.
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
        """The next player after ``seat``: the next still in, in the direction of play (TERM-1)."""
        return seat_beside(seat, self.direction, len(self.counts), self.out)

    def seat_before(self, seat: int) -> int:
        """The player whose next player ``seat`` is."""
        return seat_beside(seat, -self.direction, len(self.counts), self.out)

    def with_hidden(
        self, hands: Sequence[Sequence[Card]], *, draw_pile: Sequence[Card], set_aside: Sequence[Card]
    ) -> Position:
        """Return the position that this is the view of if these are the hidden cards."""
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
    """Return what a seat may know, or a spectator (``seat`` None)."""
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
