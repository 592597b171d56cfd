"""The oracle's refusals, in the order of docs/notation.md ("Refusals")."""

from __future__ import annotations

from tests.rules.oracle_cards import is_draw_card
from tests.rules.oracle_game import Game
from tests.rules.oracle_moves import TURN_MOVES, Line


def refusal(game: Game, line: Line) -> str | None:
    """Return the code with which a line is refused, or None if it is accepted."""
    checks = (before_the_turn, order_of_turns, phase_and_clock, turn_refusal, play_refusal)
    for check in checks:
        code = check(game, line)
        if code is not None:
            return code
    return None


def before_the_turn(game: Game, line: Line) -> str | None:
    table, move, seat = game.table, line.move, line.seat
    named = [seat, move.target] if move.kind == "catch" else [seat]  # a 7's target: bad_swap_target
    if not set(named) <= set(game.seats()):
        return "no_such_seat"
    if table.phase == "over":
        return "over"
    if seat in table.out:
        return "out"
    if move.kind == "uno" and seat not in table.exposed:
        return "nothing_owed"
    # UNO-6, CALL-4: a false catch costs cards only if the target is another player still in.
    costly = game.options.false_catch_penalty > 0 and move.target != seat and move.target not in table.out
    if move.kind == "catch" and not game.catchable(seat, move.target) and not costly:
        return "nobody_to_catch"
    if move.kind == "buzz" and table.buzz is None:
        return "no_buzz"
    if move.kind == "buzz" and not line.clock and table.buzz is not None and seat in table.buzz.pressed:
        return "already_pressed"
    return None


def is_miss(game: Game, line: Line) -> bool:
    """Return True for a play out of turn, where a miss could be, that is neither a step nor an interception (INT-4)."""
    out_of_turn = line.move.kind == "play" and line.seat != game.table.turn
    return out_of_turn and game.can_be_intercepted() and not is_good_out_of_turn(game, line)


def is_good_out_of_turn(game: Game, line: Line) -> bool:
    held = line.move.card in game.faces(line.seat)
    return held and game.fits_out_of_turn(line.seat, line.move.card)


def order_of_turns(game: Game, line: Line) -> str | None:
    move, seat = line.move, line.seat
    if move.kind not in TURN_MOVES or seat == game.table.turn:
        return None
    if move.kind != "play":
        return "not_your_turn"
    if is_good_out_of_turn(game, line):
        return None
    if not is_miss(game, line):
        return "not_your_turn"
    # INT-4: a miss costs points or, without a penalty, is refused. A card not held is `not_in_hand`, later.
    free = game.options.interception_penalty == 0
    return "not_your_turn" if free and move.card in game.faces(seat) else None


def phase_and_clock(game: Game, line: Line) -> str | None:
    table, move, seat = game.table, line.move, line.seat
    if move.kind in TURN_MOVES:
        if table.phase == "buzz":
            return "buzz_first"
        if table.phase == "choose_color" and move.kind != "color":
            return "choose_color_first"
        if table.phase != "choose_color" and move.kind == "color":
            return "no_roulette"
    if line.clock and move.kind != "uno" and (seat != table.turn or move != game.default_move()):
        return "not_the_clocks_move"
    return None


def turn_refusal(game: Game, line: Line) -> str | None:
    """Refuse what the player on turn may not do now, up to `cards_owed`."""
    table, move = game.table, line.move
    if move.kind not in TURN_MOVES or line.seat != table.turn:
        return None
    if table.phase == "drawn" and move.kind != "pass" and not plays_the_drawn_card(game, line):
        return "must_play_drawn"
    if move.kind == "take" and table.pending is None:
        return "nothing_to_take"
    if move.kind == "challenge" and table.challenge is None:
        return "nothing_to_challenge"
    if table.pending is not None and move.kind not in ("take", "challenge"):
        # STACK-3: only what may answer is played.
        answer = move.kind == "play" and (is_draw_card(move.card) or game.could_answer(move.card))
        return None if answer else "cards_owed"
    return None


def plays_the_drawn_card(game: Game, line: Line) -> bool:
    assert game.table.drawn is not None
    shown = game.faces(game.table.turn)[game.table.hands[game.table.turn].index(game.table.drawn)]
    return line.move.kind == "play" and line.move.card == shown


def play_refusal(game: Game, line: Line) -> str | None:
    """Refuse a play for its card, colour or target, and a draw or pass that the options forbid."""
    table, move, seat = game.table, line.move, line.seat
    if move.kind == "pass" and table.phase != "drawn":
        return "may_not_draw"
    if move.kind == "draw":
        willing = game.options.voluntary_draw or line.clock  # CLOCK-1: the clock may
        return None if willing or not any(map(game.can_match, game.faces(seat))) else "may_not_draw"
    if move.kind != "play":
        return None
    if move.card not in game.faces(seat):
        return "not_in_hand"
    if is_miss(game, line):
        # INT-4: colour, target and `uno` of a miss are not looked at.
        fits = any(game.fits_out_of_turn(seat, shown) for shown in game.faces(seat))
        return "wrong_card" if fits else None
    if seat == table.turn:
        if table.pending is not None and is_draw_card(move.card):
            if not game.answers(move.card):
                return "too_low"
        elif not game.can_match(move.card):
            return "not_matching"
    return choice_refusal(game, line)


def choice_refusal(game: Game, line: Line) -> str | None:
    move, seat = line.move, line.seat
    if game.asks_color(seat, move.card) != (move.color is not None):
        return "color_not_asked" if move.color else "color_missing"
    if game.asks_swap(seat, move.card) != (move.target is not None):
        return "swap_missing" if move.target is None else "swap_not_asked"
    if move.target is not None and (move.target == seat or move.target not in game.table.still_in()):
        return "bad_swap_target"
    return None
