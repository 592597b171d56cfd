"""A second implementation of docs/rules.md and docs/notation.md: slow, simple and without code of `games.rules`.

`replay(request)` answers one request of `python -m games.rules replay`, without `events` and `message`. Each branch
names its rule. `test_against_oracle.py` compares both implementations on random positions.

The parts: `oracle_cards` (faces and decks), `oracle_options`, `oracle_table` (positions) with `oracle_checks` and
`oracle_json`, `oracle_moves` (the text of moves), `oracle_game` (questions), `oracle_drawing`, `oracle_play`,
`oracle_refusals`, and here the deal, the moves and the console.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from tests.rules.oracle_cards import DRAW_VALUES, color_of, colors_of, face, is_number, shuffled, symbol, unshuffled
from tests.rules.oracle_checks import check
from tests.rules.oracle_json import BadInputError, list_of, object_of, text_of, whole
from tests.rules.oracle_moves import RULES, TURN_MOVES, Line, Move, parse, words_of
from tests.rules.oracle_options import Options, check_players, options_from_json
from tests.rules.oracle_play import Play
from tests.rules.oracle_refusals import is_miss, refusal
from tests.rules.oracle_table import Debt, Table, table_from_json, table_to_json


class Oracle(Play):
    """One round: the table, its options and its shuffle key."""

    def refusal(self, line: Line) -> str | None:
        return refusal(self, line)

    def legal(self, seat: int) -> list[str]:
        """Return every legal move of a seat, found by trying all moves. A miss is not listed (INT-4)."""
        colors = colors_of(self.table.side)
        tries = [Move(kind) for kind in words_of(self.options) if kind != "leave"]
        tries += [Move("catch", target=target) for target in self.seats()]
        tries += [Move("color", color=color) for color in colors]
        for shown in set(self.faces(seat)):
            tries.append(Move("play", shown))
            tries += [Move("play", shown, color=color) for color in colors]
            tries += [Move("play", shown, target=target) for target in self.seats()]
        lines = [Line(seat, False, move) for move in tries]
        return sorted(str(line.move) for line in lines if not is_miss(self, line) and self.refusal(line) is None)

    def accept(self, line: Line) -> None:
        """Carry out a line that is not refused."""
        move, seat = line.move, line.seat
        if is_miss(self, line):
            self.table.fines[seat] += self.options.interception_penalty  # INT-4
            return
        if move.kind in TURN_MOVES and self.options.uno_window == "turn":
            self.table.exposed = []  # UNO-3, CALL-1, CALL-3
        if move.kind == "play":
            self.accept_play(line)
        elif move.kind in TURN_MOVES:
            self.accept_turn_move(seat, move)
        elif move.kind == "uno":
            self.table.exposed.remove(seat)
            if not line.clock:  # CLOCK-2: the clock closes the window, and calls nothing
                self.table.declared.append(seat)
        elif move.kind == "catch":
            assert move.target is not None
            self.catch(seat, move.target)
        elif move.kind == "leave":
            self.lose_hand(seat)
            self.go_on_without(seat)  # LEAVE-1
        elif line.clock:
            self.clock_ends_race()
        else:
            assert self.table.buzz is not None
            self.table.buzz.pressed.append(seat)
            self.end_race_if_decided()
        self.drop_stale_flags()

    def accept_play(self, line: Line) -> None:
        if line.seat == self.table.turn:
            self.play_in_turn(line.seat, line.move)
        elif self.is_step(line.seat, line.move.card):
            self.step(line.seat, line.move)
        else:
            self.intercept(line.seat, line.move)

    def accept_turn_move(self, seat: int, move: Move) -> None:
        if move.kind == "challenge":
            self.challenge(seat)
            return
        self.table.run = self.table.challenge = None  # RUN-4, BLUFF-6
        if move.kind == "draw":
            self.draw(seat)
        elif move.kind == "take":
            self.pay(seat)
        elif move.kind == "color":
            assert move.color is not None
            self.roulette(seat, move.color)
        else:
            self.pass_turn_from(seat)

    def draw(self, seat: int) -> None:
        """Draw until a card can be played, or one card only (TURN-4)."""
        table, found = self.table, False
        while True:
            card = self.draw_one(seat)
            found = found or card is not None
            if card is None or seat in table.out:  # TURN-6, MERCY-1
                break
            if self.can_match(face(card, table.side)):
                table.phase, table.drawn = "drawn", card
                return
            if not self.options.draw_until_playable:
                break
        self.pass_turn_from(seat)
        if not found:
            self.end_if_stuck(seat)

    def catch(self, seat: int, target: int) -> None:
        """Catch a player (UNO-2), or make a false catch (UNO-6, option `false_catch_penalty`)."""
        table = self.table
        if self.catchable(seat, target):
            table.exposed.remove(target)
            drawer, count = target, self.options.callout_penalty
        else:
            drawer, count = seat, self.options.false_catch_penalty
        self.draw_cards(drawer, count)
        if table.hands[drawer] and drawer in table.going_out:
            table.going_out.remove(drawer)  # CALL-4, END-3: has had to draw
        if drawer in table.out:
            self.go_on_without(drawer)


def dealt(players: int, options: Options, key: bytes) -> Table:
    """Return the table after the deal (SETUP-2 to SETUP-4, FIRST-1). The last seat deals, so seat 0 starts."""
    pile = shuffled(unshuffled(options.deck, options.buzzers, key), key, "0")
    hands: list[list[str]] = [[] for _ in range(players)]
    for _ in range(options.hand_size):
        for hand in hands:
            hand.append(pile.pop(0))
    table = Table(hands=hands, turn=0, discard_pile=[pile.pop(0)], draw_pile=pile, fines=[0] * players)
    table.side = "light" if options.is_flip else None
    if options.first_discard == "official":
        while table.top() in ("W4", "W2", "BZ") or symbol(table.top()) == "F":
            pile.append(table.discard_pile.pop())
            table.discard_pile.append(pile.pop(0))
    else:
        while not is_number(table.top()):  # SETUP-3
            if not pile:
                raise BadInputError("no number card is left to start with")
            table.discard_pile.append(pile.pop(0))
    table.color = color_of(table.top())
    first_card_acts(Oracle(table, options, key))
    return table


def first_card_acts(game: Oracle) -> None:
    """Carry out what the first card does (FIRST-1). With `first_discard` number it is a number, and does nothing."""
    table, kind = game.table, symbol(game.table.top())
    if kind == "S":
        table.turn = game.next_after(0)
    elif kind == "R":
        table.direction, table.turn = -1, len(table.hands) - 1
    elif kind in ("+1", "+2"):
        game.owe(0, Debt(DRAW_VALUES[kind], DRAW_VALUES[kind], kind))


@dataclass
class Request:
    options: Options
    key: bytes
    table: Table
    moves: list[str]


def request_from_json(value: object) -> Request:
    """Read one request.

    :raises BadInputError: if it is bad input.
    """
    given = object_of(value, "request", {"options", "seed", "position", "players", "moves"}, {"options"})
    options = options_from_json(given["options"])
    try:
        key = hashlib.sha256(text_of(given.get("seed", ""), "seed").encode()).digest()
    except UnicodeEncodeError as error:
        raise BadInputError("seed is not text") from error
    moves = [text_of(line, "moves") for line in list_of(given.get("moves", []), "moves")]
    if ("players" in given) == ("position" in given):
        raise BadInputError("either players or position is needed")
    if "players" in given:
        players = whole(given["players"], "players", 2, options.most_players)
        check_players(options, players)
        table = dealt(players, options, key)
    else:
        table = table_from_json(given["position"], options)
        check(table, options)
    return Request(options, key, table, moves)


def replay(request: object) -> dict[str, object]:
    """Return the console's answer to one request.

    :raises BadInputError: if the request is bad input.
    """
    given = request_from_json(request)
    oracle = Oracle(given.table, given.options, given.key)
    steps: list[dict[str, object]] = []
    for text in given.moves:
        line = parse(text, given.options, oracle.table.side)
        code = "malformed" if line is None else oracle.refusal(line)
        if line is None or code is not None:
            assert code is not None
            steps.append({"move": text, "ok": False, "error": code, "rule": RULES[code]})
        else:
            oracle.accept(line)
            steps.append({"move": text, "ok": True, "position": table_to_json(oracle.table)})
    legal = {str(seat): oracle.legal(seat) for seat in oracle.seats()}
    return {"steps": steps, "legal": legal, "position": table_to_json(oracle.table)}
