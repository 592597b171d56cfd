"""What cards do: one function for each effect that a row of ``cards.py`` names, run in the order of that row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from games.rules.cards import Card
from games.rules.events import Event
from games.rules.position import CHOOSE_COLOR, Pending
from games.rules.ruleset import SideRules
from games.rules.turn import ALL_CARDS, Turn


def skip_next(turn: Turn) -> None:
    """Skip the next player (SKIP-1)."""
    skipped = turn.position.next_seat(turn.seat)
    turn.events.append(Event("skipped", skipped))
    turn.next = turn.position.next_seat(skipped)


def skip_everyone(turn: Turn) -> None:
    """Give the player another turn (ALL-1)."""
    turn.events.append(Event("skipped_everyone", turn.seat))
    turn.next = turn.seat


def reverse_direction(turn: Turn) -> None:
    """Reverse the direction of play (REV-1, WR4-1)."""
    position = turn.position
    position.direction = -position.direction
    turn.events.append(Event("turned_round", turn.seat, amount=position.direction))
    turn.next = position.next_seat(turn.seat)


def skip_if_two_left(turn: Turn) -> None:
    """Skip the other player if two players are left (REV-1)."""
    if _two_players_left(turn):
        turn.events.append(Event("skipped", turn.next))
        turn.next = turn.seat


def pass_hands(turn: Turn) -> None:
    """Pass every hand to the next player in the direction of play (ZERO-1)."""
    position = turn.position
    old = position.hands
    seats = position.still_in()
    for seat in seats:
        turn.set_hand(position.next_seat(seat), old[seat])
    turn.received = seats
    turn.events.append(Event("passed_hands", turn.seat, amount=position.direction))


def swap_hands(turn: Turn) -> None:
    """Swap the player's hand with the hand of the move's target (SEVEN-1).

    :raises ValueError: if the move has no target.
    """
    seat, target = turn.seat, turn.move.target
    if target is None:
        raise ValueError("a swap needs a target")
    mine, theirs = turn.position.hands[seat], turn.position.hands[target]
    turn.set_hand(seat, theirs)
    turn.set_hand(target, mine)
    turn.received = (seat, target)
    turn.events.append(Event("swapped", seat, target=target))


def next_owes(turn: Turn) -> None:
    """Make the next player owe the card's draw value and the stack so far (DRAW-1, STACK-2)."""
    _owe(turn, turn.next)


def next_owes_after_reverse(turn: Turn) -> None:
    """Make the next player owe the cards, or the card's own player if two are left (WR4-1, WR4-2)."""
    if _two_players_left(turn):
        turn.events.append(Event("skipped", turn.next))
        _owe(turn, turn.seat)
    else:
        _owe(turn, turn.next)


def draw_unanswered(turn: Turn) -> None:
    """Make the next player draw the last card's stack at once, with two players left too.

    For the value ``draw_then_win`` of the option ``last_draw_card``.
    """
    if "reverse_direction" in turn.side.effects[turn.move.card or ""]:
        reverse_direction(turn)
    next_owes(turn)
    total = turn.position.pending.total if turn.position.pending else 0
    turn.draw_owed(turn.next, total, "stack")


def _owe(turn: Turn, debtor: int) -> None:
    position = turn.position
    value = turn.side.faces[turn.move.card or ""].value
    total = value if position.pending is None else value + position.pending.total
    position.pending = Pending(total, value)
    turn.next = debtor
    turn.events.append(Event("owes", debtor, None, None, None, total))


def roulette(turn: Turn) -> None:
    """Make the next player name the colour of a Color Roulette (ROUL-1)."""
    turn.events.append(Event("aimed", turn.seat, target=turn.next))
    turn.position.phase = CHOOSE_COLOR


def roulette_at_once(turn: Turn) -> None:
    """Make the next player draw for a Color Roulette whose colour the move names (option ``roulette_color``)."""
    turn.events.append(Event("aimed", turn.seat, target=turn.next))
    turn_over_cards(turn, turn.next)
    turn.next = turn.position.next_seat(turn.next)


def turn_over_cards(turn: Turn, seat: int) -> None:
    """Turn cards over into a seat's hand until one of the active colour shows (ROUL-1)."""
    color = turn.position.color or ""
    cards, _ = turn.draw(seat, ALL_CARDS, turn.side.of_color[color])
    if cards:
        turn.events.append(Event("turned_over", seat, cards=cards, color=color, amount=len(cards)))
    turn.check_mercy_limit(seat)


def _two_players_left(turn: Turn) -> bool:
    """Return True if two players are still in, players who went out on a stack included (TWO-1)."""
    return len(turn.position.hands) - len(turn.position.out) == 2


EFFECTS: Final[dict[str, Callable[[Turn], None]]] = {
    "skip_next": skip_next,
    "skip_everyone": skip_everyone,
    "reverse_direction": reverse_direction,
    "skip_if_two_left": skip_if_two_left,
    "pass_hands": pass_hands,
    "swap_hands": swap_hands,
    "next_owes": next_owes,
    "next_owes_after_reverse": next_owes_after_reverse,
    "roulette": roulette,
    "roulette_at_once": roulette_at_once,
}
"""The function of each effect that a ``Ruleset`` names."""


def split_hand(hand: tuple[Card, ...], card: Card, side: SideRules) -> tuple[tuple[Card, ...], tuple[Card, ...]]:
    """Return the cards that stay in ``hand`` when ``card`` is played, and the cards shed with it (DISC-1).

    The cards shed are sorted as strings. They do not include ``card``.
    """
    at = hand.index(card)
    rest = hand[:at] + hand[at + 1 :]
    if card not in side.sheds:
        return rest, ()
    shed = side.sheds[card]
    return tuple(held for held in rest if held not in shed), tuple(sorted(held for held in rest if held in shed))
