"""Carry out a move.

``apply`` takes any move and refuses illegal ones. ``push`` is for moves that are known to be legal.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from games.rules.cards import Card, Face
from games.rules.effects import EFFECTS, draw_unanswered, split_hand, turn_over_cards
from games.rules.events import Event
from games.rules.legal import refusal
from games.rules.moves import TURN_MOVES, Move
from games.rules.options import Options
from games.rules.position import DRAWN, OVER, PLAY, Position
from games.rules.shuffle import Shuffle
from games.rules.turn import ALL_CARDS, Turn


def apply(
    position: Position, seat: int, move: Move, options: Options, shuffle: Shuffle
) -> tuple[Position, tuple[Event, ...]]:
    """Return the position after a move, and the events of the move.

    ``position`` itself is never changed.

    :raises Refused: if the move is not legal.
    """
    refused = refusal(position, seat, move, options)
    if refused is not None:
        raise refused
    return push(position, seat, move, options, shuffle)


def push(
    position: Position, seat: int, move: Move, options: Options, shuffle: Shuffle
) -> tuple[Position, tuple[Event, ...]]:
    """Return the position after a legal move, and the events of the move, without checking that it is legal.

    ``move`` must come from ``legal_moves`` for the same position and seat; any other move gives a meaningless position.
    ``position`` itself is never changed.
    """
    turn = Turn(position, seat, move, options, shuffle)
    MOVES[move.kind](turn)
    return turn.position, tuple(turn.events)


def ends_turn(before: Position, move: Move, after: Position) -> bool:
    """Return True if ``move``, which led from ``before`` to ``after``, ended a turn or the round.

    The next turn may be the same player's (ALL-1, SKIP-1). Drawing a card that can be played does not end the turn. A
    catch or a player's leaving ends it if it puts the player on turn out.
    """
    if after.phase == OVER or after.turn != before.turn:
        return True
    return move.kind in TURN_MOVES and after.phase != DRAWN


def _play(turn: Turn) -> None:
    position, seat, side, card, color = turn.position, turn.seat, turn.side, turn.move.card or "", turn.move.color
    face = side.faces[card]
    position.exposed = ()
    position.phase = PLAY
    position.drawn = None
    position.color = face.color or color
    turn.events.append(Event("played", seat, card, color, "clock" if turn.move.clock else None))
    hand, shed = split_hand(position.hands[seat], card, side)
    if shed:
        position.discard_pile += shed
        turn.events.append(Event("shed", seat, color=face.color, cards=shed))
    position.discard_pile += (card,)
    turn.set_hand(seat, hand)
    turn.next = position.next_seat(seat)
    if not hand and not _round_goes_on(turn, face):
        return
    for name in side.effects[card]:
        EFFECTS[name](turn)
    if position.out and turn.end_if_one_left():
        return
    position.turn = turn.next
    pending = position.pending
    if pending is not None and (turn.next in position.going_out or not side.answers[pending.value]):
        turn.take_stack(turn.next)  # no answer is possible, so the cards are drawn now (END-2, option stacking)
    if position.phase != OVER and (turn.received or len(position.hands[seat]) == 1):
        _owe_calls(turn)


def _round_goes_on(turn: Turn, face: Face) -> bool:
    """Return True if the round goes on after a player's last card (END-1, END-2, option ``last_draw_card``).

    Otherwise the round has been ended.
    """
    position, options = turn.position, turn.options
    if face.value:
        if options.last_draw_card == "contest":
            position.going_out = (*position.going_out, turn.seat)
            turn.events.append(Event("went_out", turn.seat))
            return True
        if options.last_draw_card == "draw_then_win":
            draw_unanswered(turn)
    turn.win(turn.seat, "last_card")
    return False


def _owe_calls(turn: Turn) -> None:
    """Record which players with one card have called UNO with the play, and which owe the call (UNO-1, UNO-4)."""
    hands, seat = turn.position.hands, turn.seat
    received = turn.received if turn.options.uno_on_received_hand else ()
    for other in received:
        if other != seat and len(hands[other]) == 1:
            turn.expose(other)
    if len(hands[seat]) == 1:
        if turn.move.uno:
            turn.declare(seat)
        elif seat not in turn.received or received:
            turn.expose(seat)


def _draw(turn: Turn) -> None:
    position, options, seat = turn.position, turn.options, turn.seat
    position.exposed = ()
    count = ALL_CARDS if options.draw_until_playable else 1
    cards, found = turn.draw(seat, count, turn.side.matching[position.discard_pile[-1], position.color])
    if cards:
        reason = "clock" if turn.move.clock else "turn"
        turn.events.append(Event("drew", seat, None, None, reason, len(cards), cards))
    if found:
        position.phase = DRAWN
        position.drawn = cards[-1]
        turn.events.append(Event("found", seat, cards[-1]))
        return
    turn.check_mercy_limit(seat)
    if seat not in position.out:
        turn.events.append(Event("passed", seat))
    turn.end_turn(seat)


def _take(turn: Turn) -> None:
    turn.position.exposed = ()
    turn.take_stack(turn.seat)


def _color(turn: Turn) -> None:
    position, seat, move = turn.position, turn.seat, turn.move
    position.exposed = ()
    position.color = move.color
    reason = "clock" if move.clock else None
    turn.events.append(Event("named_color", seat, color=move.color, reason=reason))
    turn_over_cards(turn, seat)
    turn.end_turn(seat)


def _uno(turn: Turn) -> None:
    turn.close_window(turn.seat)
    if turn.move.clock:
        turn.events.append(Event("window_closed", turn.seat))
    else:
        turn.declare(turn.seat)


def _catch(turn: Turn) -> None:
    seat, target, options = turn.seat, turn.move.target or 0, turn.options
    if target in turn.position.exposed:
        turn.events.append(Event("caught", seat, target=target, amount=options.callout_penalty))
        turn.close_window(target)
        _penalise(turn, target, options.callout_penalty, "caught")
    else:
        turn.events.append(Event("false_catch", seat, target=target, amount=options.false_catch_penalty))
        _penalise(turn, seat, options.false_catch_penalty, "false_catch")


def _penalise(turn: Turn, seat: int, count: int, reason: str) -> None:
    """Draw penalty cards. The turn passes only if they knock out the player on turn (UNO-2, MERCY-1)."""
    set_aside = turn.draw_owed(seat, count, reason)
    if set_aside:
        _after_removal(turn, seat, set_aside)
    elif turn.position.hands[seat]:
        turn.come_back(seat)


def _after_removal(turn: Turn, seat: int, set_aside: tuple[Card, ...]) -> None:
    """Go on after a seat has been put out without moving: end its turn if it was on turn."""
    if seat == turn.position.turn:
        turn.abandon_turn(seat, set_aside)
    else:
        turn.end_if_one_left()


def _pass(turn: Turn) -> None:
    turn.events.append(Event("kept", turn.seat))
    turn.end_turn(turn.seat)


def _leave(turn: Turn) -> None:
    turn.events.append(Event("left", turn.seat))
    _after_removal(turn, turn.seat, turn.remove_player(turn.seat))


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
"""The function that carries out each kind of move."""
