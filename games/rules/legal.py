"""May I play this card? Why not? The one definition of legality.

``legal_moves`` lists what a seat may do; ``refusal`` says why anything else is not accepted. Both stand on the same
few questions below, and a property test holds them together: a move is listed if and only if it is not refused.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from games.rules import moves
from games.rules.cards import DECKS, FACES, MATCHING, Card, card_name, color_name
from games.rules.clock import default_move
from games.rules.errors import Refused
from games.rules.moves import KINDS, TURN_MOVES, Move
from games.rules.options import Options
from games.rules.position import CHOOSE_COLOR, DRAWN, OVER, Pending, Position
from games.rules.stacking import answers


def legal_moves(position: Position, seat: int, options: Options) -> list[Move]:
    """Return every move a seat may make, colours and swap targets spelled out.

    ``leave``, the clock's moves and the ``uno`` suffix of a play are left out: they change nothing about a card.
    """
    if position.phase == OVER or seat in position.out:
        return []
    result = _turn_moves(position, seat, options) if seat == position.turn else []
    if seat in position.exposed:
        result.append(moves.UNO)
    if position.exposed or options.false_catch_penalty:
        seats = range(len(position.hands))
        result += [moves.CATCH[target] for target in seats if _catch(position, seat, target, options)]
    return result


def _turn_moves(position: Position, seat: int, options: Options) -> list[Move]:
    if position.phase == CHOOSE_COLOR:
        return list(moves.NAME_COLOR)
    hand = position.hands[seat]
    # A last 7 names no target, a last roulette no colour (END-1).
    swaps = options.zero_seven and len(hand) > 1
    names = options.roulette_color == "player" and len(hand) > 1
    ways = _ways_to_play(len(position.hands), seat, position.out, swaps, names)
    if position.drawn is not None:
        result = list(ways[position.drawn])
        return result if options.drawn_must_play else [*result, moves.PASS]
    # Sorted, so that the order of the list never depends on how Python hashes text.
    result = []
    for card in sorted(_playable(position, options).intersection(hand)):
        result += ways[card]
    if position.pending is not None:
        result.append(moves.TAKE)
    elif options.voluntary_draw or not result:
        result.append(moves.DRAW)
    return result


@cache
def _ways_to_play(
    players: int, seat: int, out: tuple[int, ...], swaps: bool, names: bool
) -> dict[Card, tuple[Move, ...]]:
    """Every way to play each card, were it to fit; whether a 7 swaps and whether a roulette names its colour."""
    targets = [other for other in range(players) if other != seat and other not in out]
    ways: dict[Card, tuple[Move, ...]] = {card: (move,) for card, move in moves.PLAY.items()}
    for card, face in FACES.items():
        if face.asks == "swap" and swaps:
            ways[card] = tuple(moves.PLAY_SWAP[card][other] for other in targets)
        elif face.asks == "color" or (face.asks == "roulette" and names):
            ways[card] = moves.PLAY_COLOR[card]
    return ways


def _playable(position: Position, options: Options) -> frozenset[Card]:
    """The cards that fit now: on the top card, or on the stack (TURN-2, STACK-1)."""
    if position.pending is None:
        return MATCHING[position.discard_pile[-1], position.color]
    return answers(position.pending, options)


def _asked(position: Position, seat: int, card: Card, options: Options) -> str:
    """The choice that goes with a play: ``"color"``, ``"swap"`` or none. A last 7 or roulette asks none (END-1)."""
    asks = FACES[card].asks
    last = len(position.hands[seat]) == 1
    if asks == "swap":
        return "swap" if options.zero_seven and not last else ""
    if asks == "roulette":
        return "color" if options.roulette_color == "player" and not last else ""
    return asks


def _swaps(position: Position, seat: int, target: int) -> bool:
    return 0 <= target < len(position.hands) and target != seat and target not in position.out


def _catch(position: Position, seat: int, target: int, options: Options) -> bool:
    if target == seat or target in position.out:
        return False
    return target in position.exposed or options.false_catch_penalty > 0


def refusal(position: Position, seat: int, move: Move, options: Options) -> Refused | None:
    """Return why a move is not accepted, or None if it is. The order of the checks is NOTATION's table."""
    kind = move.kind
    if kind not in KINDS or (kind == "play" and move.card not in DECKS[options.deck].faces):
        return Refused("malformed")
    if kind == "pass" and options.drawn_must_play:
        return Refused("malformed")
    if seat == position.turn and kind in TURN_MOVES and position.phase != OVER:
        return _turn_refusal(position, seat, move, options)
    return _aside_refusal(position, seat, move, options)


def _aside_refusal(position: Position, seat: int, move: Move, options: Options) -> Refused | None:
    """Calls, catches, leaving, and whatever comes from a seat that is not on turn."""
    kind, players = move.kind, len(position.hands)
    if not 0 <= seat < players or (kind == "catch" and not 0 <= (move.target or 0) < players):
        return Refused("no_such_seat")
    if position.phase == OVER:
        return Refused("over")
    if seat in position.out:
        return Refused("out")
    if kind == "uno":
        return None if seat in position.exposed else Refused("nothing_owed")
    if kind == "catch" and not _catch(position, seat, move.target or 0, options):
        return Refused("nobody_to_catch")
    if kind in TURN_MOVES:
        return Refused("not_your_turn")
    return Refused("not_the_clocks_move") if move.clock else None


def _turn_refusal(position: Position, seat: int, move: Move, options: Options) -> Refused | None:
    kind, phase = move.kind, position.phase
    if (phase == CHOOSE_COLOR) != (kind == "color"):
        return Refused("choose_color_first" if phase == CHOOSE_COLOR else "no_roulette")
    if move.clock:
        return None if move == default_move(position, seat, options) else Refused("not_the_clocks_move")
    if kind == "color" or (kind == "pass" and phase == DRAWN):
        return None
    if phase == DRAWN and move.card != position.drawn:
        drawn = card_name(position.drawn or "")
        return Refused("must_play_drawn", f"You drew {drawn} and may play no other card.")
    if kind == "play":
        return _play_refusal(position, seat, move, options)
    if kind == "take":
        return Refused("nothing_to_take") if position.pending is None else None
    if position.pending is not None:
        return _owing(position.pending)
    if kind == "draw" and (options.voluntary_draw or _playable(position, options).isdisjoint(position.hands[seat])):
        return None
    return Refused("may_not_draw", _MAY_NOT[kind])


_MAY_NOT: Final = {
    "draw": "You may not draw while you can play a card.",
    "pass": "You may pass only after drawing a card that can be played.",
}


def _owing(pending: Pending) -> Refused:
    return Refused("cards_owed", f"You owe {pending.total} cards: answer with a draw card or take them.")


def _play_refusal(position: Position, seat: int, move: Move, options: Options) -> Refused | None:
    card, pending = move.card or "", position.pending
    if pending is not None and not (FACES[card].value and answers(pending, options)):
        return _owing(pending)
    if card not in position.hands[seat]:
        return Refused("not_in_hand", f"You do not hold {card_name(card)}.")
    if card not in _playable(position, options):
        return _unfit(position, card)
    if not FACES[card].asks and move.color is None and move.target is None:
        return None
    return _choice_refusal(position, seat, move, _asked(position, seat, card, options))


def _unfit(position: Position, card: Card) -> Refused:
    name, pending = card_name(card), position.pending
    if pending is not None:
        return Refused("too_low", f"{name} is too low: the stack needs a draw card of {pending.value} or more.")
    top = card_name(position.top)
    if not FACES[position.top].color and position.color:
        top += f" ({color_name(position.color)})"
    return Refused("not_matching", f"{name} does not match {top}.")


def _choice_refusal(position: Position, seat: int, move: Move, asked: str) -> Refused | None:
    if asked == "color" and move.color is None:
        return Refused("color_missing", f"Name a colour for {card_name(move.card or '')}.")
    if asked != "color" and move.color is not None:
        return Refused("color_not_asked")
    if asked == "swap" and move.target is None:
        return Refused("swap_missing")
    if asked != "swap" and move.target is not None:
        return Refused("swap_not_asked")
    if move.target is not None and not _swaps(position, seat, move.target):
        return Refused("bad_swap_target")
    return None


def why_not(position: Position, seat: int, card: Card, options: Options) -> Refused | None:
    """Return why a seat cannot play a card now, or None if it can (its colour or swap target yet to be named)."""
    refused = refusal(position, seat, moves.PLAY[card], options)
    if refused is not None and refused.code in ("color_missing", "swap_missing"):
        return None
    return refused
