"""The oracle's checks for impossible positions (docs/notation.md, "Position")."""

from __future__ import annotations

from tests.rules.oracle_cards import (
    DRAW_VALUES,
    color_of,
    face,
    faces_of,
    is_draw_card,
    is_number,
    is_wild,
    matches,
    symbol,
)
from tests.rules.oracle_json import BadInputError
from tests.rules.oracle_options import Options
from tests.rules.oracle_table import Table


def refuse_if(impossible: bool, why: str) -> None:
    if impossible:
        raise BadInputError(why)


def check(table: Table, options: Options) -> None:
    """Check that a position is possible.

    :raises BadInputError: if it is not.
    """
    check_hands(table, options)
    over = table.phase == "over"
    refuse_if(over != (table.winner is not None), "a winner belongs to a round that is over")
    refuse_if(over != (table.points is not None), "points belong to a round that is over")
    if over:
        running = table.pending or table.drawn or table.run or table.challenge or table.buzz
        refuse_if(bool(running or table.exposed or table.going_out), "something runs although the round is over")
        refuse_if(table.turn != table.winner, "the turn is not the winner's")
        return
    refuse_if(len(table.still_in()) < 2, "one player left, but not over")  # END-4
    check_color(table, options)
    check_debt(table, options)
    check_drawn(table)
    check_run(table, options)
    check_challenge(table)
    check_buzz(table)


def check_hands(table: Table, options: Options) -> None:
    refuse_if(set(table.declared) & set(table.exposed) != set(), "a seat has called and can still be caught")
    refuse_if(bool(table.going_out) and table.pending is None, "going_out without pending")
    refuse_if(bool(table.going_out) and options.last_draw_card != "contest", "going_out without contest")
    for seat, hand in enumerate(table.hands):
        refuse_if(0 < options.mercy_limit <= len(hand), "a hand at the mercy limit")
        refuse_if(seat in table.out and (bool(hand) or seat == table.turn), "out with cards or the turn")
        gone = seat in table.going_out
        refuse_if(gone and (bool(hand) or seat in table.out or seat == table.turn), "not gone out (TERM-1)")
        buzzer = table.buzz is not None and table.buzz.by == seat
        empty = not hand and seat not in table.out and table.phase != "over"
        refuse_if(empty and not gone and not buzzer, "a seat still in has no card and did not go out")
        called = seat in table.declared or seat in table.exposed
        refuse_if(called and len(hand) != 1, "declared or exposed, but not with one card")


def check_color(table: Table, options: Options) -> None:
    top = table.top()
    if table.phase == "choose_color":
        refuse_if(top != "WC" or table.color is not None, "no roulette waits for its colour")
        return
    if top == "BZ":
        refuse_if(table.color is not None, "a buzzer leaves no colour in force")  # BUZZ-1
    elif is_wild(top):
        # First Wilds, and wilds that a Flip brought up, have no colour (FIRST-1, FLIP-2).
        refuse_if(table.color is None and top != "W" and not options.is_flip, "a wild lacks its colour")
    else:
        refuse_if(table.color != color_of(top), "the active colour is not that of the top card")  # TURN-7


def check_debt(table: Table, options: Options) -> None:
    if table.pending is None:
        return
    debt = table.pending
    refuse_if(table.phase != "play" or table.color is None, "cards are owed in another phase or without a colour")
    faces = [shown for shown in faces_of(options.deck, options.buzzers) if is_draw_card(shown)]
    in_force = [shown for shown in faces if table.side is None or is_on_side(shown, table.side)]
    values = {symbol(shown): DRAW_VALUES[symbol(shown)] for shown in in_force}
    refuse_if(debt.by not in values, "no draw card has this symbol")
    refuse_if(debt.value != values[debt.by], "the symbol has another value")
    # RESP-3: only then something else than the debt's last draw card lies on top.
    refuse_if(debt.by != symbol(table.top()) and not options.advanced_stacking, "nothing passes a debt on")
    # BLUFF-5: a Wild Draw Colour's debt has no number, and it lies on top: nothing passes it on (RESP-6).
    refuse_if((debt.total == 0) != (debt.by == "WD"), "a debt without a number, or a Wild Draw Colour with one")
    refuse_if(debt.by == "WD" and table.top() != "WD", "a Wild Draw Colour is not passed on")
    refuse_if(debt.total < debt.value, "less is owed than the last draw card's value")


def is_on_side(shown: str, side: str) -> bool:
    """Return True if a draw card's face is on this side of flip112."""
    return symbol(shown) in (("+1", "W2") if side == "light" else ("+5", "WD"))


def check_drawn(table: Table) -> None:
    refuse_if((table.phase == "drawn") != (table.drawn is not None), "drawn does not fit the phase")
    if table.drawn is None:
        return
    refuse_if(table.drawn not in table.hands[table.turn], "drawn is not in the hand")
    playable = matches(face(table.drawn, table.side), table.top(), table.color)
    refuse_if(not playable, "drawn cannot be played")


def check_run(table: Table, options: Options) -> None:
    if table.run is None:
        return
    shown = face(table.run.card, table.side)
    refuse_if(table.run.card != table.discard_pile[-1], "the card of the straight is not the top one")
    refuse_if(not is_number(shown), "the card of the straight is no number")  # RUN-1
    refuse_if(options.zero_seven and symbol(shown) in ("0", "7"), "a 0 or 7 opens no straight")  # RUN-1
    refuse_if(table.run.seat == table.turn, "the straight is of the seat on turn")
    refuse_if(not table.hands[table.run.seat], "the straight is of a seat without a card")
    refuse_if(table.pending is not None, "a debt runs in a straight")  # RUN-2


def check_challenge(table: Table) -> None:
    if table.challenge is None:
        return
    refuse_if(table.pending is None, "a right to challenge without a debt")
    assert table.pending is not None
    top = table.top()
    refuse_if(top not in ("W4", "W2", "WD") or table.pending.by != top, "another top than the debt's wild")
    about = table.challenge.seat
    refuse_if(about == table.turn or about in table.going_out, "the seat may not be challenged")
    refuse_if(about in table.out, "the right has lapsed")  # BLUFF-1


def check_buzz(table: Table) -> None:
    refuse_if((table.phase == "buzz") != (table.buzz is not None), "buzz does not fit the phase")
    if table.buzz is None:
        return
    refuse_if(table.buzz.by != table.turn, "the race is not of the seat on turn")
    refuse_if(table.top() != "BZ", "no buzzer lies on top")  # BUZZ-2
    refuse_if(set(table.buzz.pressed) & set(table.out) != set(), "a seat that is out has pressed")  # BUZZ-2
    waiting = [seat for seat in table.still_in() if seat not in table.buzz.pressed]
    refuse_if(len(waiting) < 2, "the race is decided")  # BUZZ-2
