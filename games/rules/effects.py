"""What cards do: a table from the effect names of the faces to functions, run in the order of the face's row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from games.rules.cards import Card
from games.rules.events import Event
from games.rules.position import CHOOSE_COLOR, Pending
from games.rules.ruleset import SideRules
from games.rules.turn import Turn


def skip_next(step: Turn) -> None:
    """Skip: the next player loses the turn (SKIP-1)."""
    skipped = step.position.next_seat(step.seat)
    step.events.append(Event("skipped", skipped))
    step.next = step.position.next_seat(skipped)


def skip_everyone(step: Turn) -> None:
    """Skip Everyone: another turn (ALL-1)."""
    step.events.append(Event("skipped_everyone", step.seat))
    step.next = step.seat


def turn_round(step: Turn) -> None:
    """The direction turns (REV-1, WR4-1)."""
    position = step.position
    position.direction = -position.direction
    step.events.append(Event("turned_round", step.seat, amount=position.direction))
    step.next = position.next_seat(step.seat)


def bounce(step: Turn) -> None:
    """With two players left a Reverse skips the other (REV-1)."""
    if _two_left(step):
        step.events.append(Event("skipped", step.next))
        step.next = step.seat


def pass_hands(step: Turn) -> None:
    """A 0: every hand goes to the next player in the direction of play (ZERO-1)."""
    position = step.position
    old = position.hands
    seats = position.still_in()
    for seat in seats:
        step.set_hand(position.next_seat(seat), old[seat])
    step.received = seats
    step.events.append(Event("passed_hands", step.seat, amount=position.direction))


def swap_hands(step: Turn) -> None:
    """A 7: two players swap hands (SEVEN-1)."""
    seat, target = step.seat, step.move.target
    if target is None:
        raise ValueError("a swap needs a target")
    mine, theirs = step.position.hands[seat], step.position.hands[target]
    step.set_hand(seat, theirs)
    step.set_hand(target, mine)
    step.received = (seat, target)
    step.events.append(Event("swapped", seat, target=target))


def next_owes(step: Turn) -> None:
    """A draw card: the next player owes its value and all of the stack so far (DRAW-1, STACK-2)."""
    _owe(step, step.next)


def rebound_owes(step: Turn) -> None:
    """Wild Reverse Draw Four: with two players left its own player owes (WR4-1, WR4-2)."""
    if _two_left(step):
        step.events.append(Event("skipped", step.next))
        _owe(step, step.seat)
    else:
        _owe(step, step.next)


def owe_unanswered(step: Turn) -> None:
    """The last card is a draw card that cannot be answered: the next player draws at once, with two left too.

    (Option ``last_draw_card`` draw_then_win.)
    """
    if "turn_round" in step.side.effects[step.move.card or ""]:
        turn_round(step)
    next_owes(step)
    total = step.position.pending.total if step.position.pending else 0
    step.draw_owed(step.next, total, "stack")


def _owe(step: Turn, debtor: int) -> None:
    position = step.position
    value = step.side.faces[step.move.card or ""].value
    total = value if position.pending is None else value + position.pending.total
    position.pending = Pending(total, value)
    step.next = debtor
    step.events.append(Event("owes", debtor, None, None, None, total))


def roulette(step: Turn) -> None:
    """Aim a Color Roulette at the next player, who names the colour (ROUL-1)."""
    step.events.append(Event("aimed", step.seat, target=step.next))
    step.position.phase = CHOOSE_COLOR


def roulette_at_once(step: Turn) -> None:
    """Aim a Color Roulette whose colour is named already: the next player draws now (option ``roulette_color``)."""
    step.events.append(Event("aimed", step.seat, target=step.next))
    turn_over(step, step.next)
    step.next = step.position.next_seat(step.next)


def turn_over(step: Turn, seat: int) -> None:
    """Turn cards over for a seat until one of the colour in force shows (ROUL-1)."""
    color = step.position.color or ""
    cards, _ = step.draw(seat, _ALL_THERE_ARE, step.side.of_color[color])
    if cards:
        step.events.append(Event("turned_over", seat, cards=cards, color=color, amount=len(cards)))
    step.show_mercy(seat)


_ALL_THERE_ARE: Final = 10**9


def _two_left(step: Turn) -> bool:
    """TWO-1: players still in, not seats; who went out counts."""
    return len(step.position.hands) - len(step.position.out) == 2


EFFECTS: Final[dict[str, Callable[[Turn], None]]] = {
    "skip_next": skip_next,
    "skip_everyone": skip_everyone,
    "turn_round": turn_round,
    "bounce": bounce,
    "pass_hands": pass_hands,
    "swap_hands": swap_hands,
    "next_owes": next_owes,
    "rebound_owes": rebound_owes,
    "roulette": roulette,
    "roulette_at_once": roulette_at_once,
}
"""What carries out each effect of a ``Ruleset``."""


def parted(hand: tuple[Card, ...], card: Card, side: SideRules) -> tuple[tuple[Card, ...], tuple[Card, ...]]:
    """Return what stays in a hand when a card of it is played, and what is shed with that card, sorted (DISC-1)."""
    at = hand.index(card)
    rest = hand[:at] + hand[at + 1 :]
    if card not in side.sheds:
        return rest, ()
    shed = side.sheds[card]
    return tuple(held for held in rest if held not in shed), tuple(sorted(held for held in rest if held in shed))
