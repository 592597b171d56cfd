"""Tips for a player who meets something for the first time: one line below the headline, until they have moved."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Final, NamedTuple

from common.readers_language import say
from common.say import N_, Message
from games import rules
from games.queries import GameView
from games.render.mercy import mercy_of


class Tip(NamedTuple):
    """A row of `TIPS`: the words, at most 14, and when they are due.

    `occasion` returns the number `{n}` of the words, or True if they have none; 0 or False while there is no occasion.
    `{value}` is the draw value of a debt.
    """

    words: Message
    occasion: Callable[[GameView, rules.View], int]


class ShownTip(NamedTuple):
    """The tip of a page. `key` is that of its row."""

    key: str
    words: str


def tip_of(view: GameView, seen_tips: Collection[str]) -> ShownTip | None:
    """Return the first tip of `TIPS` that the reader has not seen and whose occasion is there now, or None.

    Only those who play get one, and no bot plays for them.
    """
    seen, you = view.view, view.you
    if seen is None or you is None or view.turn is None or view.paused or view.seats[you].out or view.seats[you].bot:
        return None
    for key, tip in TIPS.items():
        if key not in seen_tips and (n := tip.occasion(view, seen)):
            value = seen.pending.value if seen.pending else 0
            return ShownTip(key, say.form("tip", tip.words, n, value=value))
    return None


def _press(view: GameView, seen: rules.View) -> bool:
    return any(move.kind == "buzz" for move in view.legal)


def _catch(view: GameView, seen: rules.View) -> int:
    caught = any(move.kind == "catch" and move.target in seen.exposed for move in view.legal)
    return view.options.callout_penalty if caught else 0


def _call_uno(view: GameView, seen: rules.View) -> int:
    # A 7 that takes a hand of one card has a tip of its own.
    plays = [move for move in view.legal if move.kind == "play" and move.target is None]
    leaves_one = any(rules.cards_after(seen, move) == 1 for move in plays)
    return view.options.callout_penalty if leaves_one else 0


def _stack(view: GameView, seen: rules.View, stacking: str) -> bool:
    can_answer = view.my_turn and bool(view.plays) and view.options.stacking == stacking
    return can_answer and bool(seen.pending and seen.pending.total)


def _stack_any(view: GameView, seen: rules.View) -> bool:
    return _stack(view, seen, "any")


def _stack_family(view: GameView, seen: rules.View) -> bool:
    return _stack(view, seen, "family")


def _stack_same(view: GameView, seen: rules.View) -> bool:
    return _stack(view, seen, "same")


def _roulette(view: GameView, seen: rules.View) -> bool:
    return view.my_turn and seen.phase == "choose_color"


def _jump_in(view: GameView, seen: rules.View) -> bool:
    goes_on = seen.run is not None and seen.run.seat == view.you
    return not view.my_turn and bool(view.plays) and not goes_on


def _draw_until(view: GameView, seen: rules.View) -> bool:
    draws = view.my_turn and [move.kind for move in view.legal if move.kind in rules.TURN_MOVES] == ["draw"]
    return draws and view.options.draw_until_playable


def _mercy(view: GameView, seen: rules.View) -> int:
    return view.options.mercy_limit if any(mercy_of(view, seat).close for seat in view.seats) else 0


def _dark(view: GameView, seen: rules.View) -> bool:
    return view.my_turn and seen.side == "dark"


def _has(view: GameView, seen: rules.View, symbol: str) -> bool:
    """Return True if a card with this symbol lies on top, or the reader can play one."""
    return any(rules.face_of(card).symbol == symbol for card in (seen.top, *view.plays))


def _flip(view: GameView, seen: rules.View) -> bool:
    return _has(view, seen, "F")


def _seven(view: GameView, seen: rules.View) -> bool:
    return view.options.zero_seven and _has(view, seen, "7")


def _zero(view: GameView, seen: rules.View) -> bool:
    return view.options.zero_seven and _has(view, seen, "0")


TIPS: Final[dict[str, Tip]] = {
    "buzzer": Tip(N_("Press at once! The last to press draws two cards."), _press),
    "catch": Tip(
        (
            N_("Catch! Whoever forgot UNO draws {n} card."),
            N_("Catch! Whoever forgot UNO draws {n} cards."),
        ),
        _catch,
    ),
    "uno": Tip(N_("Down to one card? Call UNO with it, or draw {n} if caught."), _call_uno),
    "stack": Tip(N_("Play a +{value} or higher to pass it on."), _stack_any),
    "stack_family": Tip(N_("Pass it on with +{value} or higher of this family."), _stack_family),
    "stack_same": Tip(N_("Play the same draw card to pass it on."), _stack_same),
    "roulette": Tip(N_("Cards turn over until your colour shows. You get them all."), _roulette),
    "interception": Tip(N_("Your card matches the top one: jump in now, out of turn."), _jump_in),
    "draw": Tip(N_("You draw until a card fits. That can be many."), _draw_until),
    "mercy": Tip(N_("{n} cards and you’re out. Watch the counts."), _mercy),
    "dark": Tip(N_("Harsher now: Draw Five, Skip Everyone, Wild Draw Colour."), _dark),
    "flip": Tip(N_("A Flip turns every card over: all hands and both piles."), _flip),
    "seven": Tip(N_("A 7 swaps hands with a chosen player."), _seven),
    "zero": Tip(N_("A 0 passes every hand to the next player."), _zero),
}
"""Every tip by its key, which `User.seen_tips` stores. If several are due, the first one is shown."""
