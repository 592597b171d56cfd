"""Carry out a move.

``apply`` takes any move and refuses illegal ones. ``push`` is for moves that are known to be legal.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from games.rules.cards import Card, Face
from games.rules.effects import EFFECTS, draw_unanswered, end_race, flip, more_cards_by_challenge, shed_color
from games.rules.events import Event
from games.rules.legal import refusal
from games.rules.moves import TURN_MOVES, Move
from games.rules.options import Options
from games.rules.out_of_turn import intercepts, is_step
from games.rules.position import DRAWN, NO_EXTRA, OVER, PLAY, Buzz, Pending, Position, Run
from games.rules.ruleset import SideRules
from games.rules.scoring import hand_points
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


def ends_turn(before: Position, seat: int, move: Move, after: Position, options: Options) -> bool:
    """Return True if a move of ``seat``, which led from ``before`` to ``after``, ended a turn or the round.

    The next turn may be the same player's (ALL-1, SKIP-1, INT-1). Drawing a card that can be played does not end the
    turn. A catch or a player's leaving ends it if it puts the player on turn out. A step of a straight and a miss never
    end the turn of the player on turn (RUN-2, INT-4), and a press only if it ends the race (BUZZ-2). A buzzer that
    opens a race ends the turn: the race has a time of its own.
    """
    if after.phase == OVER or after.turn != before.turn:
        return True
    if seat != before.turn:
        return move.kind == "play" and intercepts(before, move.card or "", options)
    return move.kind in TURN_MOVES and after.phase != DRAWN


def _play(turn: Turn) -> None:
    position, seat, side, move = turn.position, turn.seat, turn.side, turn.move
    if seat != position.turn and not _may_play_out_of_turn(turn):
        return
    text, color, pending = move.card or "", move.color, position.pending
    face, hand = side.faces[text], position.hands[seat]
    card = text if side.shown is None else _card_with_face(position, hand, text, side)
    # In most moves nothing has to be closed, and play-outs make thousands of moves a second.
    if position.exposed or position.extra is not NO_EXTRA:
        turn.accept_turn_move()
        turn.set_extra(passes=0)
    position.phase = PLAY
    position.drawn = None
    position.color = face.color or color
    turn.events.append(Event("played", seat, text, color, "clock" if move.clock else None))
    at = hand.index(card)
    hand = hand[:at] + hand[at + 1 :]
    if text in side.sheds:
        hand = shed_color(turn, hand)
    position.discard_pile += (card,)
    turn.set_hand(seat, hand)
    if seat == position.turn:
        _act(turn, face, pending, card)
    else:
        _go_on_with_straight(turn, text, card)
    if (turn.received or len(position.hands[seat]) == 1) and position.phase != OVER:
        _owe_calls(turn)


def _act(turn: Turn, face: Face, pending: Pending | None, card: Card) -> None:
    """Do what the card does that the seat on turn has played. ``pending`` is the debt that it was played on."""
    position, seat, side = turn.position, turn.seat, turn.side
    turn.next = position.next_seat(seat)
    if pending is not None and face.text in side.ending:
        turn.cancel_debt(seat)
        if position.going_out:
            turn.win(position.going_out[0], "debt_ended")
            return
    if not position.hands[seat] and not _round_goes_on(turn, face):
        return
    effects = side.effects[face.text] if pending is None else side.debt_effects[face.text]
    for name in effects:
        EFFECTS[name](turn)
    if position.phase == OVER:
        return
    position.turn = turn.next
    if position.pending is not None:
        if not _may_answer(turn):
            turn.pay_and_go_on(turn.next)
    elif turn.options.plays_out_of_turn and face.number is not None:
        if turn.before.turn != seat:
            position.turn = seat  # a whole turn more, and no straight (INT-3, RUN-1)
        elif turn.options.straights and not effects:
            turn.set_extra(run=Run(seat, card))


def _may_play_out_of_turn(turn: Turn) -> bool:
    """Return True if a play out of turn is a step of a straight or an interception, and give the turn to the latter.

    Any other play is a miss, which costs points (RUN-2, INT-2, INT-4).
    """
    position, seat, text, options = turn.position, turn.seat, turn.move.card or "", turn.options
    if is_step(position, seat, text, options):
        return True
    if intercepts(position, text, options):
        turn.events.append(Event("intercepted", seat, target=position.turn))
        position.turn = seat
        return True
    turn.fine(seat, options.interception_penalty)
    turn.events.append(Event("missed", seat, text, amount=options.interception_penalty))
    return False


def _go_on_with_straight(turn: Turn, text: str, card: Card) -> None:
    """Do what a step of a straight does. The turn does not move (RUN-2, RUN-3, RUN-5)."""
    if not turn.position.hands[turn.seat]:
        turn.win(turn.seat, "last_card")
        return
    effects = turn.side.effects[text]
    for name in effects:
        EFFECTS[name](turn)
    if not effects:
        turn.set_extra(run=Run(turn.seat, card))


def _card_with_face(position: Position, hand: tuple[Card, ...], text: str, side: SideRules) -> Card:
    """Return the card of a hand that a play takes: the drawn one, or the first as strings with this face (FLIP-4)."""
    if position.phase == DRAWN and position.drawn in hand and side.show_card(position.drawn or "") == text:
        return position.drawn or ""
    return min(card for card in hand if side.show_card(card) == text)


def _may_answer(turn: Turn) -> bool:
    """Return True if the next player may do anything about a debt but take it (PAY-1, END-2, BLUFF-1)."""
    position, pending = turn.position, turn.position.pending
    if turn.next in position.going_out:
        return False
    if position.extra.challenge is not None:
        return True
    return turn.options.stacking != "off" and pending is not None and pending.value > 0


def _round_goes_on(turn: Turn, face: Face) -> bool:
    """Return True if the round goes on after a player's last card.

    Otherwise the round has been ended (END-1, END-2, RESP-5, FLIP-3, option ``last_draw_card``).
    """
    position, options = turn.position, turn.options
    if face.kind == "buzzer":
        return True  # BUZZ-4: the slowest draws first
    if face.kind == "draw" or position.pending is not None:
        if options.last_draw_card == "contest":
            position.going_out = (*position.going_out, turn.seat)
            turn.events.append(Event("went_out", turn.seat))
            return True
        if options.last_draw_card == "draw_then_win":
            draw_unanswered(turn)
    elif face.kind == "flip":
        flip(turn)
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
    position, options, seat, side = turn.position, turn.options, turn.seat, turn.side
    turn.accept_turn_move()
    count = ALL_CARDS if options.draw_until_playable else 1
    cards, found = turn.draw(seat, count, side.playable(position.discard_pile[-1], position.color, None))
    if cards:
        reason = "clock" if turn.move.clock else "turn"
        turn.events.append(Event("drew", seat, None, None, reason, len(cards), side.show(cards)))
    if found:
        position.phase = DRAWN
        position.drawn = cards[-1]
        turn.events.append(Event("found", seat, side.show_card(cards[-1])))
        return
    turn.check_mercy_limit(seat)
    if seat not in position.out:
        turn.events.append(Event("passed", seat))
    turn.end_turn(seat)
    if not cards and position.phase != OVER and options.may_hold_all_cards(len(position.hands)):
        _count_pass(turn)


def _count_pass(turn: Turn) -> None:
    """Count a turn that ended without any card, and end the round if nobody can move (STUCK-1)."""
    position, passes = turn.position, turn.position.extra.passes + 1
    turn.set_extra(passes=passes)
    seats = position.still_in()
    if passes < len(seats):
        return
    seat, in_order = turn.seat, []
    for _ in seats:
        seat = position.next_seat(seat)
        in_order.append(seat)
    turn.win(min(in_order, key=lambda seat: hand_points(position.hands[seat], turn.side)), "nobody_can_move")


def _take(turn: Turn) -> None:
    turn.accept_turn_move()
    turn.pay_and_go_on(turn.seat)


def _challenge(turn: Turn) -> None:
    """Settle a challenge (BLUFF-3, BLUFF-4)."""
    seat, claim = turn.seat, turn.position.extra.challenge
    turn.accept_turn_move()
    if claim is None or not claim.bluff:
        turn.events.append(Event("challenged", seat, target=None if claim is None else claim.seat, reason="wrong"))
        turn.pay_and_go_on(seat, more_cards_by_challenge(turn.options, right=False))
        return
    turn.events.append(Event("challenged", seat, target=claim.seat, reason="right"))
    turn.pay(claim.seat, more_cards_by_challenge(turn.options, right=True), "debt")
    turn.end_turn(seat, keeps_turn=True)


def _color(turn: Turn) -> None:
    position, seat, move = turn.position, turn.seat, turn.move
    turn.accept_turn_move()
    position.color = move.color
    reason = "clock" if move.clock else None
    turn.events.append(Event("named_color", seat, color=move.color, reason=reason))
    turn.turn_over_until(seat, move.color or "")
    turn.end_turn(seat, keeps_turn=not turn.options.skip_after_draw)


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


def _after_removal(turn: Turn, seat: int, hand: tuple[Card, ...]) -> None:
    """Go on after a seat with a hand has been put out without moving: end its turn if it was on turn."""
    if seat == turn.position.turn:
        turn.abandon_turn(seat, hand)
    elif not turn.end_if_one_left():
        _end_race_if_one_is_missing(turn)


def _pass(turn: Turn) -> None:
    turn.accept_turn_move()
    turn.events.append(Event("kept", turn.seat))
    turn.end_turn(turn.seat)


def _buzz(turn: Turn) -> None:
    """Press the buzzer, or end the race for the clock (BUZZ-2)."""
    buzz = turn.position.extra.buzz
    if buzz is None:
        raise ValueError("no race is open")
    if turn.move.clock:
        end_race(turn, buzz.by, _not_pressed(turn.position, buzz)[-1])
    else:
        turn.set_extra(buzz=Buzz(buzz.by, (*buzz.pressed, turn.seat)))
        turn.events.append(Event("pressed", turn.seat))
        _end_race_if_one_is_missing(turn)


def _end_race_if_one_is_missing(turn: Turn) -> None:
    """End an open race if only one seat still in has not pressed: that one is the slowest (BUZZ-2)."""
    buzz = turn.position.extra.buzz
    if buzz is None:
        return
    turn.set_extra(buzz=Buzz(buzz.by, tuple(seat for seat in buzz.pressed if seat not in turn.position.out)))
    missing = _not_pressed(turn.position, buzz)
    if len(missing) == 1:
        end_race(turn, buzz.by, missing[0])


def _not_pressed(position: Position, buzz: Buzz) -> list[int]:
    """Return the seats still in that have not pressed, in the order of play from the buzzer's player."""
    in_order, seat = [buzz.by], position.next_seat(buzz.by)
    while seat != buzz.by:
        in_order.append(seat)
        seat = position.next_seat(seat)
    return [seat for seat in in_order if seat not in buzz.pressed]


def _leave(turn: Turn) -> None:
    turn.events.append(Event("left", turn.seat))
    _after_removal(turn, turn.seat, turn.remove_player(turn.seat))


MOVES: Final[dict[str, Callable[[Turn], None]]] = {
    "play": _play,
    "draw": _draw,
    "take": _take,
    "color": _color,
    "pass": _pass,
    "challenge": _challenge,
    "uno": _uno,
    "catch": _catch,
    "buzz": _buzz,
    "leave": _leave,
}
"""The function that carries out each kind of move."""
