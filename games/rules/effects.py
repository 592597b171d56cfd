"""What cards do: one function for each effect that a row of ``cards.py`` names, run in the order of that row."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from games.rules.cards import Card, Effect
from games.rules.events import Event
from games.rules.options import Options
from games.rules.position import BUZZ, CHOOSE_COLOR, Buzz, Challenge, Pending
from games.rules.ruleset import SideRules
from games.rules.shuffle import lottery
from games.rules.turn import Turn


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
    """Make the next player draw the debt of a last card at once, with two players left too (PAY-4).

    For the value ``draw_then_win`` of the option ``last_draw_card``.
    """
    if "reverse_direction" in turn.side.effects[turn.move.card or ""]:
        reverse_direction(turn)
    next_owes(turn)
    turn.pay(turn.next)


def _owe(turn: Turn, debtor: int) -> None:
    position = turn.position
    face = turn.side.faces[turn.move.card or ""]
    total = face.value if position.pending is None else face.value + position.pending.total
    position.pending = Pending(total, face.value, face.symbol)
    turn.next = debtor
    if total:
        turn.events.append(Event("owes", debtor, None, None, None, total))
    else:
        turn.events.append(Event("owes_color", debtor, color=position.color))


def pass_debt_on(turn: Turn) -> None:
    """Make the next player owe the whole debt (RESP-3)."""
    if turn.position.pending is not None:
        turn.events.append(Event("owes", turn.next, None, None, None, turn.position.pending.total))


def allow_challenge(turn: Turn) -> None:
    """Give the player who owes the right to challenge the card, unless it was the last one (BLUFF-1)."""
    position, side = turn.position, turn.side
    rest = side.show(position.hands[turn.seat])
    if rest:
        # The wild draw card is on top, and nothing was shed with it.
        top = side.show_card(position.discard_pile[-2])
        bluff = is_bluff(turn.options.bluff, turn.move.card or "", rest, side, top=top, color=turn.before.color)
        turn.set_extra(challenge=Challenge(turn.seat, bluff))


def is_bluff(rule: str, card: str, rest: Iterable[str], side: SideRules, *, top: str, color: str | None) -> bool:
    """Return True if a wild draw card was a bluff (BLUFF-2).

    ``rule`` is the value of the option ``bluff``, ``card`` the wild draw card and ``rest`` what its player kept.
    ``top`` and ``color`` are the top card and the active colour before the play. All cards are texts of faces.
    """
    if rule == "official":
        return color is not None and any(side.faces[held].color == color for held in rest)
    playable, symbol = side.matching[top, color], side.faces[card].symbol
    return any(held in playable and side.faces[held].symbol != symbol for held in rest)


CHALLENGE_CARDS: Final = 2
"""The cards drawn besides the debt after a wrong challenge, with ``playroom`` also after a right one."""


def more_cards_by_challenge(options: Options, *, right: bool) -> int:
    """Return how many cards besides the debt the loser of a challenge draws (BLUFF-3, BLUFF-4)."""
    return 0 if right and options.bluff != "playroom" else CHALLENGE_CARDS


def flip(turn: Turn) -> None:
    """Turn both piles and all cards over to their other side (FLIP-2)."""
    position = turn.position
    name = turn.options.rules.other_side(position.extra.side)
    turn.set_extra(side=name)
    turn.side = turn.options.rules.sides[name]
    position.discard_pile = position.discard_pile[::-1]
    position.draw_pile = position.draw_pile[::-1]
    top = turn.side.faces[turn.side.show_card(position.top)]
    position.color = top.color or None
    turn.events.append(Event("flipped", turn.seat, top.text, reason=name))


def buzzer_race(turn: Turn) -> None:
    """Let everybody press the buzzer (BUZZ-2)."""
    turn.position.phase = BUZZ
    turn.set_extra(buzz=Buzz(turn.seat))
    turn.next = turn.seat


def buzzer_lottery(turn: Turn) -> None:
    """Choose at random who counts as the slowest to press the buzzer (BUZZ-3)."""
    number = turn.position.extra.buzzes + 1
    turn.set_extra(buzzes=number)
    seats = [str(seat) for seat in turn.position.still_in()]
    end_race(turn, turn.seat, int(turn.shuffle(seats, lottery(number))[0]), "lottery")
    turn.next = turn.position.turn


BUZZER_CARDS: Final = 2
"""The cards that the slowest player draws (BUZZ-4)."""


def end_race(turn: Turn, by: int, slowest: int, reason: str | None = None) -> None:
    """Make the slowest player draw, and settle whose turn is next (BUZZ-4). ``by`` played the buzzer.

    ``reason`` is that of the event.
    """
    turn.set_extra(buzz=None)
    turn.events.append(Event("slowest", slowest, reason=reason))
    turn.draw_owed(slowest, BUZZER_CARDS, "buzzer")
    if not turn.position.hands[by] and by not in turn.position.out:
        turn.win(by, "last_card")
    else:
        turn.end_turn(by)


def roulette(turn: Turn) -> None:
    """Make the next player name the colour of a Color Roulette (ROUL-1)."""
    turn.events.append(Event("aimed", turn.seat, target=turn.next))
    turn.position.phase = CHOOSE_COLOR


def roulette_at_once(turn: Turn) -> None:
    """Make the next player draw for a Color Roulette whose colour the move names (PAY-3)."""
    turn.events.append(Event("aimed", turn.seat, target=turn.next))
    turn.turn_over_until(turn.next, turn.position.color or "")
    if turn.next in turn.position.out and turn.end_if_one_left():
        return
    if turn.options.skip_after_draw or turn.next in turn.position.out:
        turn.next = turn.position.next_seat(turn.next)


def _two_players_left(turn: Turn) -> bool:
    """Return True if two players are still in, players who went out on a stack included (TWO-1)."""
    return len(turn.position.hands) - len(turn.position.out) == 2


EFFECTS: Final[dict[Effect, Callable[[Turn], None]]] = {
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
    "pass_debt_on": pass_debt_on,
    "allow_challenge": allow_challenge,
    "flip": flip,
    "buzzer_race": buzzer_race,
    "buzzer_lottery": buzzer_lottery,
}
"""The function of each effect that a ``Ruleset`` names."""


def shed_color(turn: Turn, hand: tuple[Card, ...]) -> tuple[Card, ...]:
    """Discard what leaves a hand with a Discard All, sorted as strings, and return the rest (DISC-1).

    ``hand`` is the player's hand without the Discard All.
    """
    face = turn.side.faces[turn.move.card or ""]
    sheds = turn.side.sheds[face.text]
    shed = tuple(sorted([card for card in hand if card in sheds]))
    if shed:
        turn.position.discard_pile += shed
        turn.events.append(Event("shed", turn.seat, color=face.color, cards=shed))
    return tuple([card for card in hand if card not in sheds])
