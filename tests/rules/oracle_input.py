"""The oracle's input: cards, options, decks, the deal and the checks for bad input.

Part of the reference implementation in `oracle.py`; shares no code with `games.rules`.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterator
from dataclasses import dataclass, field

COLORS = ["r", "y", "g", "b"]
DRAW_VALUES = {"+2": 2, "+4": 4, "WR4": 4, "W6": 6, "W10": 10, "W4": 4}
NO_MERCY_FACES = [*"0123456789", "S", "R", "E", "D", "+2", "+4"]
NO_MERCY_WILDS = ["WC", "W6", "W10", "WR4"]
CLASSIC_FACES = [*"0123456789", "S", "R", "+2"]
CLASSIC_WILDS = ["W", "W4"]
NO_MERCY_CARDS = {color + text for color in COLORS for text in NO_MERCY_FACES} | set(NO_MERCY_WILDS)
CLASSIC_CARDS = {color + text for color in COLORS for text in CLASSIC_FACES} | set(CLASSIC_WILDS)


class BadInputError(ValueError):
    """The request is bad input, which the console refuses."""


@dataclass
class Options:
    """The options (RULEBOOK, "Options of the engine"). `classic` is True for the preset and all its own rules."""

    classic: bool = False
    voluntary_draw: bool = True
    roulette_color: str = "victim"
    last_draw_card: str = "contest"
    uno_on_received_hand: bool = True
    callout_penalty: int = 2
    false_catch_penalty: int = 0
    mercy_limit: int = 25
    hand_size: int = 7
    scoring: str = "winner"
    target: int = 1000


@dataclass
class Table:
    """A position (NOTATION, "Position")."""

    hands: list[list[str]]
    turn: int
    discard_pile: list[str]
    out: list[int] = field(default_factory=list)
    direction: int = 1
    draw_pile: list[str] = field(default_factory=list)
    color: str | None = None
    pending: tuple[int, int] | None = None  # total, value
    phase: str = "play"
    drawn: str | None = None
    set_aside: list[str] = field(default_factory=list)
    declared: list[int] = field(default_factory=list)
    exposed: list[int] = field(default_factory=list)
    going_out: list[int] = field(default_factory=list)
    reshuffles: int = 0
    winner: int | None = None
    points: int | list[int] | None = None


# --- cards and decks -------------------------------------------------------------------------------------------------


def is_wild(card: str) -> bool:
    return card.startswith("W")


def face(card: str) -> str:
    """Return the number or symbol of a coloured card, or the text of a wild."""
    return card if is_wild(card) else card[1:]


def draw_value(card: str) -> int:
    """Return the draw value of a card, 0 if it is not a draw card (STACK-1)."""
    return DRAW_VALUES.get(face(card), 0)


def known_cards(options: Options) -> set[str]:
    return CLASSIC_CARDS if options.classic else NO_MERCY_CARDS


def deck(options: Options) -> list[str]:
    """Return the deck in NOTATION's shuffle order (DECK-1)."""
    cards: list[str] = []
    for color in COLORS:
        if options.classic:
            counts = [("0", 1), *((n, 2) for n in "123456789"), ("S", 2), ("R", 2), ("+2", 2)]
        else:
            counts = [*((n, 2) for n in "0123456789"), ("S", 3), ("R", 3), ("E", 2), ("D", 3), ("+2", 3), ("+4", 2)]
        for text, count in counts:
            cards += [color + text] * count
    wilds = [("W", 4), ("W4", 4)] if options.classic else [("WC", 8), ("W6", 4), ("W10", 4), ("WR4", 8)]
    for text, count in wilds:
        cards += [text] * count
    return cards


def words(key: bytes, epoch: int) -> Iterator[int]:
    """Yield the 32-bit words of one epoch (NOTATION, "Shuffle")."""
    block = 0
    while True:
        digest = hmac.new(key, f"{epoch}:{block}".encode("ascii"), hashlib.sha256).digest()
        for start in range(0, 32, 4):
            yield int.from_bytes(digest[start : start + 4], "big")
        block += 1


def shuffled(cards: list[str], key: bytes, epoch: int) -> list[str]:
    cards = list(cards)
    stream = words(key, epoch)
    for k in range(len(cards) - 1, 0, -1):
        limit = 2**32 - 2**32 % (k + 1)
        word = next(stream)
        while word >= limit:
            word = next(stream)
        other = word % (k + 1)
        cards[k], cards[other] = cards[other], cards[k]
    return cards


def dealt(players: int, options: Options, key: bytes) -> Table:
    """Return the table after the deal (SETUP-2 to SETUP-4). The last seat deals, so seat 0 starts."""
    pile = shuffled(deck(options), key, 0)
    hands: list[list[str]] = [[] for _ in range(players)]
    for _ in range(options.hand_size):
        for hand in hands:
            hand.append(pile.pop(0))
    discard = [pile.pop(0)]
    while not discard[-1][1:].isdigit() or is_wild(discard[-1]):  # SETUP-3
        discard.append(pile.pop(0))
    return Table(hands=hands, turn=0, discard_pile=discard, draw_pile=pile, color=discard[-1][0])


# --- small checks of JSON values -------------------------------------------------------------------------------------


def whole(value: object, name: str, low: int | None = None, high: int | None = None) -> int:
    if type(value) is not int:  # a bool is an int in Python
        raise BadInputError(f"{name} is not a whole number")
    if (low is not None and value < low) or (high is not None and value > high):
        raise BadInputError(f"{name} is out of range")
    return value


def text_of(value: object, name: str) -> str:
    if not isinstance(value, str):
        raise BadInputError(f"{name} is not a string")
    return value


def list_of(value: object, name: str) -> list[object]:
    if not isinstance(value, list):
        raise BadInputError(f"{name} is not a list")
    return value


def object_of(value: object, name: str, known: set[str], needed: set[str]) -> dict[str, object]:
    if not isinstance(value, dict):
        raise BadInputError(f"{name} is not an object")
    if set(value) - known:
        raise BadInputError(f"{name} has an unknown field")
    if needed - set(value):
        raise BadInputError(f"{name} lacks a field")
    return value


def one_of(value: object, name: str, allowed: list[str]) -> str:
    text = text_of(value, name)
    if text not in allowed:
        raise BadInputError(f"{name} is unknown")
    return text


def seats_of(value: object, name: str, players: int) -> list[int]:
    seats = [whole(seat, name, 0, players - 1) for seat in list_of(value, name)]
    if len(set(seats)) != len(seats):
        raise BadInputError(f"{name} names a seat twice")
    return seats


# --- options ---------------------------------------------------------------------------------------------------------


def options_from_json(value: object) -> Options:
    names = set(Options.__dataclass_fields__) - {"classic"}
    given = object_of(value, "options", names | {"preset"}, {"preset"})
    options = Options()
    if one_of(given["preset"], "preset", ["no-mercy", "classic"]) == "classic":
        # VARIANTS part 19, column CLA.
        options = Options(classic=True, last_draw_card="draw_then_win", mercy_limit=0, target=500)
    for name in ("voluntary_draw", "uno_on_received_hand"):
        if name in given:
            if not isinstance(given[name], bool):
                raise BadInputError(f"{name} is not true or false")
            setattr(options, name, given[name])
    values = {
        "roulette_color": ["victim", "player"],
        "last_draw_card": ["contest", "draw_then_win", "win_now"],
        "scoring": ["winner", "penalty"],
    }
    for name, allowed in values.items():
        if name in given:
            setattr(options, name, one_of(given[name], name, allowed))
    ranges = {
        "callout_penalty": (0, 10),
        "false_catch_penalty": (0, 10),
        "mercy_limit": (0, 50),
        "hand_size": (1, 15),
        "target": (0, 5000),
    }
    for name, (low, high) in ranges.items():
        if name in given:
            setattr(options, name, whole(given[name], name, low, high))
    if 0 < options.mercy_limit < 10 or 0 < options.mercy_limit <= options.hand_size:
        raise BadInputError("mercy_limit is 0, or 10 to 50 and above hand_size")
    return options


# --- positions -------------------------------------------------------------------------------------------------------


def cards_of(value: object, name: str, options: Options) -> list[str]:
    cards = [text_of(card, name) for card in list_of(value, name)]
    if set(cards) - known_cards(options):
        raise BadInputError(f"{name} holds an unknown card")
    return cards


def matches_top(card: str, top: str, color: str | None) -> bool:
    """Return True if a card is wild or matches the active colour, number or symbol (TURN-2, TURN-3)."""
    return is_wild(card) or card[0] == color or face(card) == face(top)


def table_from_json(value: object, options: Options) -> Table:
    known = set(Table.__dataclass_fields__)
    given = object_of(value, "position", known, {"hands", "turn", "discard_pile"})
    hands = [cards_of(hand, "hands", options) for hand in list_of(given["hands"], "hands")]
    players = len(hands)
    if not 2 <= players <= 6:
        raise BadInputError("hands are not 2 to 6")
    discard = cards_of(given["discard_pile"], "discard_pile", options)
    if not discard:
        raise BadInputError("discard_pile is empty")
    top = discard[-1]
    table = Table(
        hands=hands,
        turn=whole(given["turn"], "turn", 0, players - 1),
        discard_pile=discard,
        out=seats_of(given.get("out", []), "out", players),
        direction=whole(given.get("direction", 1), "direction"),
        draw_pile=cards_of(given.get("draw_pile", []), "draw_pile", options),
        color=None if is_wild(top) else top[0],
        phase=one_of(given.get("phase", "play"), "phase", ["play", "drawn", "choose_color", "over"]),
        set_aside=cards_of(given.get("set_aside", []), "set_aside", options),
        declared=seats_of(given.get("declared", []), "declared", players),
        exposed=seats_of(given.get("exposed", []), "exposed", players),
        going_out=seats_of(given.get("going_out", []), "going_out", players),
        reshuffles=whole(given.get("reshuffles", 0), "reshuffles", 0),
    )
    if table.direction not in (1, -1):
        raise BadInputError("direction is neither 1 nor -1")
    if given.get("color") is not None:  # null means the same as a missing color
        table.color = one_of(given["color"], "color", COLORS)
    if given.get("drawn") is not None:
        table.drawn = cards_of([given["drawn"]], "drawn", options)[0]
    if given.get("pending") is not None:
        owed = object_of(given["pending"], "pending", {"total", "value"}, {"total", "value"})
        table.pending = (whole(owed["total"], "total", 1), whole(owed["value"], "value", 1))
    if given.get("winner") is not None:
        table.winner = whole(given["winner"], "winner", 0, players - 1)
    points = given.get("points")
    if isinstance(points, list):
        table.points = [whole(point, "points") for point in points]
        if len(points) != players:
            raise BadInputError("points are not one a seat")
    elif points is not None:
        table.points = whole(points, "points")
    check_hands(table, options)
    check_phase(table)
    return table


def check_hands(table: Table, options: Options) -> None:
    """Check the hands and seats of a position (NOTATION, "Position").

    :raises BadInputError: if they are impossible.
    """
    for seat, hand in enumerate(table.hands):
        if options.mercy_limit and len(hand) >= options.mercy_limit:
            raise BadInputError("a hand at the mercy limit")
        if seat in table.out and (hand or seat == table.turn):
            raise BadInputError("a seat that is out has cards or the turn")
        if seat not in table.out and not hand and seat not in table.going_out and table.phase != "over":
            raise BadInputError("a seat still in has no card and did not go out")
        if seat in table.going_out and (hand or seat in table.out or seat == table.turn):
            raise BadInputError("a seat that went out has cards or the turn, or is out")  # TERM-1

        if seat in table.declared + table.exposed and len(hand) != 1:
            raise BadInputError("declared or exposed, but not with one card")
    if set(table.declared) & set(table.exposed):
        raise BadInputError("a seat has called and can still be caught")
    if table.going_out and table.pending is None:
        raise BadInputError("going_out without pending")


def check_phase(table: Table) -> None:
    """Check that `phase`, `drawn`, `pending` and `color` match (NOTATION, "Position").

    :raises BadInputError: if they do not.
    """
    top = table.discard_pile[-1]
    over, choosing = table.phase == "over", table.phase == "choose_color"
    if over != (table.winner is not None) or over != (table.points is not None):
        raise BadInputError("winner and points belong to a round that is over")
    if over:
        if table.pending or table.drawn or table.exposed or table.going_out or table.turn != table.winner:
            raise BadInputError("a round that is over has nothing running")
        return
    if len(table.hands) - len(table.out) < 2:
        raise BadInputError("one player left, but not over")  # END-4
    if choosing != (table.color is None) or (choosing and top != "WC"):
        raise BadInputError("a colour is missing, or named though a roulette waits for one")
    if not is_wild(top) and table.color != top[0]:
        raise BadInputError("the active colour is not that of the top card")  # TURN-7
    if table.pending is not None:
        total, value = table.pending
        if table.phase != "play" or value not in DRAW_VALUES.values() or total < value:
            raise BadInputError("pending does not fit")
    if (table.phase == "drawn") != (table.drawn is not None):
        raise BadInputError("drawn does not fit the phase")
    if table.drawn is not None and table.drawn not in table.hands[table.turn]:
        raise BadInputError("drawn is not in the hand")
    if table.drawn is not None and not matches_top(table.drawn, top, table.color):
        raise BadInputError("drawn cannot be played")


def table_to_json(table: Table) -> dict[str, object]:
    total_value = table.pending
    return {
        "hands": [sorted(hand) for hand in table.hands],
        "out": sorted(table.out),
        "turn": table.turn,
        "direction": table.direction,
        "draw_pile": list(table.draw_pile),
        "discard_pile": list(table.discard_pile),
        "color": table.color,
        "pending": None if total_value is None else {"total": total_value[0], "value": total_value[1]},
        "phase": table.phase,
        "drawn": table.drawn,
        "set_aside": sorted(table.set_aside),
        "declared": sorted(table.declared),
        "exposed": sorted(table.exposed),
        "going_out": list(table.going_out),
        "reshuffles": table.reshuffles,
        "winner": table.winner,
        "points": list(table.points) if isinstance(table.points, list) else table.points,
    }


@dataclass
class Request:
    options: Options
    key: bytes
    table: Table
    moves: list[str]


def request_from_json(value: object) -> Request:
    known = {"options", "seed", "position", "players", "moves"}
    given = object_of(value, "request", known, {"options"})
    options = options_from_json(given["options"])
    try:
        key = hashlib.sha256(text_of(given.get("seed", ""), "seed").encode()).digest()
    except UnicodeEncodeError as error:
        raise BadInputError("seed is not text") from error
    moves = [text_of(line, "moves") for line in list_of(given.get("moves", []), "moves")]
    if ("players" in given) == ("position" in given):
        raise BadInputError("either players or position is needed")
    if "players" in given:
        table = dealt(whole(given["players"], "players", 2, 6), options, key)
    else:
        table = table_from_json(given["position"], options)
    return Request(options, key, table, moves)
