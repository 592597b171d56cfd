"""What the seat on turn may do: a row for each phase.

A row lists the legal moves and says why any other move is refused. Both use the same helpers. A property test checks
that a move is listed if and only if it is not refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from games.rules import moves
from games.rules.cards import Card, card_name, color_name
from games.rules.clock import name_color, play_or_keep, take_or_draw
from games.rules.errors import Refused
from games.rules.moves import Move
from games.rules.options import Options
from games.rules.position import CHOOSE_COLOR, DRAWN, PLAY, Pending, Position
from games.rules.ruleset import SideRules


class Phase(NamedTuple):
    """What the seat on turn may do while a round is in this phase.

    ``kinds`` are the kinds of turn moves that belong to the phase. ``other_kinds_code`` is the code that refuses the
    others. ``moves`` returns the legal moves. ``refusal`` returns why a move of ``kinds`` is refused, or None.
    ``default`` returns the move that the clock makes (CLOCK-1).
    """

    kinds: frozenset[str]
    other_kinds_code: str
    moves: Callable[[Position, int, Options], list[Move]]
    refusal: Callable[[Position, int, Move, Options], Refused | None]
    default: Callable[[Position, int, Options], Move]


def _playable(position: Position, side: SideRules) -> frozenset[Card]:
    """Return the cards that may be played on the top card, or on the stack if there is one (TURN-2, STACK-1)."""
    if position.pending is None:
        return side.matching[position.discard_pile[-1], position.color]
    return side.answers[position.pending.value]


def _may_swap(position: Position, seat: int, target: int) -> bool:
    return 0 <= target < len(position.hands) and target != seat and target not in position.out


# Phase "play": play a card, draw, or take the stack.


def _play_phase_moves(position: Position, seat: int, options: Options) -> list[Move]:
    hand, side = position.hands[seat], options.rules.side
    plays = side.plays_from(hand)
    # Sorted, so that the order of the list never depends on how Python hashes text.
    cards = sorted(_playable(position, side).intersection(hand))
    result: list[Move] = []
    for card in cards:
        result += plays.moves[card]
    if not plays.swaps.isdisjoint(cards):
        result = [move for move in result if move.target is None or _may_swap(position, seat, move.target)]
    if position.pending is not None:
        result.append(moves.TAKE)
    elif options.voluntary_draw or not result:
        result.append(moves.DRAW)
    return result


def _play_phase_refusal(position: Position, seat: int, move: Move, options: Options) -> Refused | None:
    kind, pending, hand = move.kind, position.pending, position.hands[seat]
    if kind == "play":
        return _play_refusal(position, seat, move, options)
    if kind == "take":
        return Refused("nothing_to_take") if pending is None else None
    if pending is not None:
        return _cards_owed(pending)
    if kind == "draw" and (options.voluntary_draw or _playable(position, options.rules.side).isdisjoint(hand)):
        return None
    return Refused("may_not_draw", _MAY_NOT_SENTENCES[kind])


_MAY_NOT_SENTENCES: Final = {
    "draw": "You can only draw if you have no playable card.",
    "pass": "You can only pass after drawing a playable card.",
}


def _cards_owed(pending: Pending) -> Refused:
    return Refused("cards_owed", f"You owe {pending.total} cards: stack a draw card or take them.")


def _play_refusal(position: Position, seat: int, move: Move, options: Options) -> Refused | None:
    card, pending, side = move.card or "", position.pending, options.rules.side
    if pending is not None and not (side.faces[card].value and side.answers[pending.value]):
        return _cards_owed(pending)
    if card not in position.hands[seat]:
        return Refused("not_in_hand", f"{card_name(card)} is not in your hand.")
    if card not in _playable(position, side):
        return _not_playable(position, card, side)
    return _choice_refusal(position, seat, move, side.plays_from(position.hands[seat]).asks[card])


def _not_playable(position: Position, card: Card, side: SideRules) -> Refused:
    name, pending = card_name(card), position.pending
    if pending is not None:
        return Refused("too_low", f"{name} is too low: play a draw card of {pending.value} or more on this stack.")
    top = card_name(position.top)
    if position.color and not side.faces[position.top].color:
        top += f" ({color_name(position.color)})"
    return Refused("not_matching", f"{name} does not match {top}.")


def _choice_refusal(position: Position, seat: int, move: Move, asked: str) -> Refused | None:
    if asked == "color" and move.color is None:
        return Refused("color_missing", f"Choose a colour for {card_name(move.card or '')}.")
    if asked != "color" and move.color is not None:
        return Refused("color_not_asked")
    if asked == "target" and move.target is None:
        return Refused("swap_missing")
    if asked != "target" and move.target is not None:
        return Refused("swap_not_asked")
    if move.target is not None and not _may_swap(position, seat, move.target):
        return Refused("bad_swap_target")
    return None


# Phase "drawn": play the card just drawn, or keep it if `drawn_must_play` is off.


def _drawn_phase_moves(position: Position, seat: int, options: Options) -> list[Move]:
    plays = options.rules.side.plays_from(position.hands[seat])
    plays_of_card = plays.moves[position.drawn or ""]
    result = [move for move in plays_of_card if move.target is None or _may_swap(position, seat, move.target)]
    return result if options.drawn_must_play else [*result, moves.PASS]


def _drawn_phase_refusal(position: Position, seat: int, move: Move, options: Options) -> Refused | None:
    if move.kind == "pass":
        return None
    if move.card != position.drawn:
        drawn = card_name(position.drawn or "")
        return Refused("must_play_drawn", f"You drew {drawn} and can’t play any other card.")
    return _play_refusal(position, seat, move, options)


# Phase "choose_color": name the colour of a roulette.


def _colors_to_name(position: Position, seat: int, options: Options) -> list[Move]:
    return list(options.rules.side.name_color)


def _any_color(position: Position, seat: int, move: Move, options: Options) -> Refused | None:
    return None


_PLAY_KINDS: Final = frozenset({"play", "draw", "take", "pass"})

PHASES: Final[dict[str, Phase]] = {
    PLAY: Phase(_PLAY_KINDS, "no_roulette", _play_phase_moves, _play_phase_refusal, take_or_draw),
    DRAWN: Phase(_PLAY_KINDS, "no_roulette", _drawn_phase_moves, _drawn_phase_refusal, play_or_keep),
    CHOOSE_COLOR: Phase(frozenset({"color"}), "choose_color_first", _colors_to_name, _any_color, name_color),
}
"""The row of every phase except ``over``."""
