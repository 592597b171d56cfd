"""What the seat on turn may do: a row for each phase.

A row lists the legal moves and says why any other move is refused. Both use the same helpers. A property test checks
that a move is listed if and only if it is not refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from common.say import N_
from games.rules import moves
from games.rules.cards import FACES
from games.rules.clock import end_race, name_color, play_or_keep, take_or_draw
from games.rules.errors import Refused
from games.rules.moves import Move
from games.rules.options import Options
from games.rules.position import BUZZ, CHOOSE_COLOR, DRAWN, PLAY, Pending, Position
from games.rules.ruleset import Plays, SideRules


@dataclass(frozen=True, slots=True)
class Phase:
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


def _may_swap(position: Position, seat: int, target: int) -> bool:
    return 0 <= target < len(position.hands) and target != seat and target not in position.out


# Phase "play": play a card, draw, or take the stack.


def _play_phase_moves(position: Position, seat: int, options: Options) -> list[Move]:
    side, pending, hand = options.rules.sides[position.extra.side], position.pending, position.hands[seat]
    playable = side.playable(position.discard_pile[-1], position.color, pending)
    held = hand if side.shown is None else side.show(hand)
    result = plays_of(position, seat, side.plays if len(hand) > 1 else side.last_plays, playable.intersection(held))
    if pending is not None:
        result.append(moves.TAKE)
        if position.extra.challenge is not None:
            result.append(moves.CHALLENGE)
    elif options.voluntary_draw or not result:
        result.append(moves.DRAW)
    return result


def plays_of(position: Position, seat: int, plays: Plays, cards: Iterable[str]) -> list[Move]:
    """Return every play of these cards, texts of faces: one for each colour and each swap target.

    ``plays`` is the result of ``SideRules.plays_from`` for the seat's hand. The cards are sorted, so that the order of
    the list never depends on how Python hashes text.
    """
    result: list[Move] = []
    moves_of, swaps = plays.moves, plays.swaps
    for card in sorted(cards):
        if card in swaps:
            swap_with = moves_of[card]
            result += [swap_with[target] for target in position.still_in() if target != seat]
        else:
            result += moves_of[card]
    return result


def _play_phase_refusal(position: Position, seat: int, move: Move, options: Options) -> Refused | None:
    kind, pending, side = move.kind, position.pending, options.rules.sides[position.extra.side]
    if kind == "play":
        return _play_refusal(position, seat, move, side)
    if kind == "take":
        return Refused("nothing_to_take") if pending is None else None
    if kind == "challenge":
        return None if position.extra.challenge is not None else _nothing_to_challenge(pending)
    if pending is not None:
        return _cards_owed(pending, side)
    if kind == "pass":
        return Refused("may_not_draw", "You can only pass after drawing a playable card.")
    playable = side.playable(position.top, position.color, None)
    if options.voluntary_draw or playable.isdisjoint(side.show(position.hands[seat])):
        return None
    return Refused("may_not_draw", "You can only draw if you have no playable card.")


def _nothing_to_challenge(pending: Pending | None) -> Refused:
    if pending is None:
        return Refused("nothing_to_challenge", "Nothing to challenge now. Play or draw.")
    return Refused("nothing_to_challenge", "Nothing to challenge now. Stack a draw card or take the cards.")


_MUST_TAKE: Final = (
    N_("You owe {n} card and have to take it first."),
    N_("You owe {n} cards and have to take them first."),
)
_STACK_OR_TAKE: Final = (
    N_("You owe {n} card: stack a draw card or take it."),
    N_("You owe {n} cards: stack a draw card or take them."),
)


def _cards_owed(pending: Pending, side: SideRules) -> Refused:
    if not pending.value:
        return Refused("cards_owed", "You have to take the cards of the Wild Draw Colour first.")
    if not side.answers[pending.by, pending.value]:
        return Refused("cards_owed", _MUST_TAKE, n=pending.total)
    return Refused("cards_owed", _STACK_OR_TAKE, n=pending.total)


def _play_refusal(position: Position, seat: int, move: Move, side: SideRules) -> Refused | None:
    card, pending, hand = move.card or "", position.pending, position.hands[seat]
    if pending is not None and not _may_be_an_answer(card, pending, side):
        return _cards_owed(pending, side)
    if card not in side.show(hand):
        return not_in_hand(card)
    if card not in side.playable(position.top, position.color, pending):
        return _not_playable(position, card, side)
    return choice_refusal(position, seat, move, side)


def _may_be_an_answer(card: str, pending: Pending, side: SideRules) -> bool:
    """Return True if a card is a draw card, or of a kind that passes this debt on or ends it (RESP-3 to RESP-6)."""
    return FACES[card].kind == "draw" or (card in side.passing and pending.value > 0)


def not_in_hand(card: str) -> Refused:
    """Return the refusal of a card that the player does not hold."""
    return Refused("not_in_hand", card=card)


def _not_playable(position: Position, card: str, side: SideRules) -> Refused:
    pending = position.pending
    if pending is not None and card not in side.passing:
        if not side.answers[pending.by, pending.value]:
            return Refused("too_low", "{card} does not answer the cards you owe: nothing does. Take them.", card=card)
        if FACES[card].value >= pending.value:
            return Refused("too_low", "{card} does not answer the last draw card on this stack.", card=card)
        return Refused(
            "too_low",
            "{card} is too low: play a draw card of {value} or more on this stack.",
            card=card,
            value=pending.value,
        )
    top = side.show_card(position.top)
    if position.color and not side.faces[top].color:
        return Refused(
            "not_matching", "{card} does not match {top} ({color}).", card=card, top=top, color=position.color
        )
    return Refused("not_matching", "{card} does not match {top}.", card=card, top=top)


def choice_refusal(position: Position, seat: int, move: Move, side: SideRules) -> Refused | None:
    """Return why the colour or the target of a play is refused, or None (TURN-7, SEVEN-1)."""
    asked = side.plays_from(position.hands[seat]).asks[move.card or ""]
    if asked == "color" and move.color is None:
        return Refused("color_missing", card=move.card or "")
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
    side = options.rules.sides[position.extra.side]
    plays = side.plays_from(position.hands[seat])
    result = plays_of(position, seat, plays, [side.show_card(position.drawn or "")])
    return result if options.drawn_must_play else [*result, moves.PASS]


def _drawn_phase_refusal(position: Position, seat: int, move: Move, options: Options) -> Refused | None:
    side = options.rules.sides[position.extra.side]
    drawn = side.show_card(position.drawn or "")
    if move.kind == "pass":
        return None
    if move.card != drawn:
        if options.drawn_must_play:
            return Refused("must_play_drawn", "You drew {card} and have to play it.", card=drawn)
        return Refused("must_play_drawn", "You drew {card}: play it or keep it.", card=drawn)
    return _play_refusal(position, seat, move, side)


# Phase "choose_color": name the colour of a roulette.


def _colors_to_name(position: Position, seat: int, options: Options) -> list[Move]:
    return list(options.rules.sides[position.extra.side].name_color)


def _any_color(position: Position, seat: int, move: Move, options: Options) -> Refused | None:
    return None


# Phase "buzz": nobody has a turn move. Everybody may press (``out_of_turn.py``).


def _no_moves(position: Position, seat: int, options: Options) -> list[Move]:
    return []


_PLAY_KINDS: Final = frozenset({"play", "draw", "take", "pass", "challenge"})

PHASES: Final[dict[str, Phase]] = {
    PLAY: Phase(_PLAY_KINDS, "no_roulette", _play_phase_moves, _play_phase_refusal, take_or_draw),
    DRAWN: Phase(_PLAY_KINDS, "no_roulette", _drawn_phase_moves, _drawn_phase_refusal, play_or_keep),
    CHOOSE_COLOR: Phase(frozenset({"color"}), "choose_color_first", _colors_to_name, _any_color, name_color),
    BUZZ: Phase(frozenset(), "buzz_first", _no_moves, _any_color, end_race),
}
"""The row of every phase except ``over``."""
