"""A position, a seat and a move in; the next position and what happened out.

``apply`` is the entrance, ``push`` the same behind the door, for moves known to be legal.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from games.rules.cards import Card, Face
from games.rules.effects import EFFECTS, owe_unanswered, parted, turn_over
from games.rules.events import Event
from games.rules.legal import refusal
from games.rules.moves import TURN_MOVES, Move
from games.rules.options import Options
from games.rules.position import DRAWN, OVER, PLAY, Position
from games.rules.shuffle import Shuffle
from games.rules.turn import Turn


def apply(
    position: Position, seat: int, move: Move, options: Options, shuffle: Shuffle
) -> tuple[Position, tuple[Event, ...]]:
    """Return the position after a move, and its events; raises Refused. The given position is never changed."""
    refused = refusal(position, seat, move, options)
    if refused is not None:
        raise refused
    return push(position, seat, move, options, shuffle)


def push(
    position: Position, seat: int, move: Move, options: Options, shuffle: Shuffle
) -> tuple[Position, tuple[Event, ...]]:
    """Do what ``apply`` does without asking whether the move is allowed; the given position is never changed.

    Only for a move that ``legal_moves`` has just listed for this seat, as play-outs make them by the thousand; what
    another move does to the position means nothing.
    """
    step = Turn(position, seat, move, options, shuffle)
    MOVES[move.kind](step)
    return step.position, tuple(step.events)


def ends_turn(before: Position, move: Move, after: Position) -> bool:
    """Return whether a move that led from one position to the other has ended a turn.

    Another begins then, which may be the same player's (ALL-1, SKIP-1), or the round is over. Drawing a card that must
    or may be played is not the end; a catch or a player's leaving may be, if it takes the player on turn out.
    """
    if after.phase == OVER or after.turn != before.turn:
        return True
    return move.kind in TURN_MOVES and after.phase != DRAWN


def _play(step: Turn) -> None:
    position, seat, side, card, color = step.position, step.seat, step.side, step.move.card or "", step.move.color
    face = side.faces[card]
    position.exposed = ()
    position.phase = PLAY
    position.drawn = None
    position.color = face.color or color
    step.events.append(Event("played", seat, card, color, "clock" if step.move.clock else None))
    hand, shed = parted(position.hands[seat], card, side)
    if shed:
        position.discard_pile += shed
        step.events.append(Event("shed", seat, color=face.color, cards=shed))
    position.discard_pile += (card,)
    step.set_hand(seat, hand)
    step.next = position.next_seat(seat)
    if not hand and not _goes_on(step, face):
        return
    for name in side.effects[card]:
        EFFECTS[name](step)
    if position.out and step.end_if_one_left():
        return
    position.turn = step.next
    pending = position.pending
    if pending is not None and (step.next in position.going_out or not side.answers[pending.value]):
        step.pay(step.next)  # nobody can answer: it is drawn at once (END-2, option stacking)
    if position.phase != OVER and (step.received or len(position.hands[seat]) == 1):
        _owe_calls(step)


def _goes_on(step: Turn, face: Face) -> bool:
    """The last card was played: whether the round goes on with its effects (END-1, END-2, option last_draw_card)."""
    position, options = step.position, step.options
    if face.value:
        if options.last_draw_card == "contest":
            position.going_out = (*position.going_out, step.seat)
            step.events.append(Event("went_out", step.seat))
            return True
        if options.last_draw_card == "draw_then_win":
            owe_unanswered(step)
    step.win(step.seat, "last_card")
    return False


def _owe_calls(step: Turn) -> None:
    """Who holds one card after a play owes a call or has made it with the play (UNO-1, UNO-4)."""
    hands, seat = step.position.hands, step.seat
    received = step.received if step.options.uno_on_received_hand else ()
    for other in received:
        if other != seat and len(hands[other]) == 1:
            step.expose(other)
    if len(hands[seat]) == 1:
        if step.move.uno:
            step.declare(seat)
        elif seat not in step.received or received:
            step.expose(seat)


def _draw(step: Turn) -> None:
    position, options, seat = step.position, step.options, step.seat
    position.exposed = ()
    count = 10**9 if options.draw_until_playable else 1
    cards, found = step.draw(seat, count, step.side.matching[position.discard_pile[-1], position.color])
    if cards:
        reason = "clock" if step.move.clock else "turn"
        step.events.append(Event("drew", seat, None, None, reason, len(cards), cards))
    if found:
        position.phase = DRAWN
        position.drawn = cards[-1]
        step.events.append(Event("found", seat, cards[-1]))
        return
    step.show_mercy(seat)
    if seat not in position.out:
        step.events.append(Event("passed", seat))
    step.end_turn(seat)


def _take(step: Turn) -> None:
    step.position.exposed = ()
    step.pay(step.seat)


def _color(step: Turn) -> None:
    position, seat, move = step.position, step.seat, step.move
    position.exposed = ()
    position.color = move.color
    reason = "clock" if move.clock else None
    step.events.append(Event("named_color", seat, color=move.color, reason=reason))
    turn_over(step, seat)
    step.end_turn(seat)


def _uno(step: Turn) -> None:
    step.close_window(step.seat)
    if step.move.clock:
        step.events.append(Event("window_closed", step.seat))
    else:
        step.declare(step.seat)


def _catch(step: Turn) -> None:
    seat, target, options = step.seat, step.move.target or 0, step.options
    if target in step.position.exposed:
        step.events.append(Event("caught", seat, target=target, amount=options.callout_penalty))
        step.close_window(target)
        _penalise(step, target, options.callout_penalty, "caught")
    else:
        step.events.append(Event("false_catch", seat, target=target, amount=options.false_catch_penalty))
        _penalise(step, seat, options.false_catch_penalty, "false_catch")


def _penalise(step: Turn, seat: int, count: int, reason: str) -> None:
    """Draw penalty cards; the turn moves on only if its player is knocked out by them (UNO-2, MERCY-1)."""
    set_aside = step.draw_owed(seat, count, reason)
    if set_aside:
        _gone(step, seat, set_aside)
    elif step.position.hands[seat]:
        step.come_back(seat)


def _gone(step: Turn, seat: int, set_aside: tuple[Card, ...]) -> None:
    """A seat is out without having moved: more changes only if it was on turn."""
    if seat == step.position.turn:
        step.abandon_turn(seat, set_aside)
    else:
        step.end_if_one_left()


def _pass(step: Turn) -> None:
    step.events.append(Event("kept", step.seat))
    step.end_turn(step.seat)


def _leave(step: Turn) -> None:
    step.events.append(Event("left", step.seat))
    _gone(step, step.seat, step.put_out(step.seat))


MOVES: Final[dict[str, Callable[[Turn], None]]] = {
    "play": _play,
    "draw": _draw,
    "take": _take,
    "color": _color,
    "uno": _uno,
    "catch": _catch,
    "pass": _pass,
    "leave": _leave,
}
"""What carries out each kind of move."""
