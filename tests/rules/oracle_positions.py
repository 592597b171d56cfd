"""Random requests for the console: positions, rare ones above all, and lines of moves that mostly somebody may make.

All is drawn from one seeded `random.Random`. The oracle follows the moves, so that a line of them stays interesting.
"""

from __future__ import annotations

import copy
import hashlib
import random
from typing import Any

from tests.rules.oracle import Oracle
from tests.rules.oracle_input import (
    COLORS,
    Options,
    dealt,
    draw_value,
    is_wild,
    known_cards,
    matches_top,
    options_from_json,
    table_from_json,
)
from tests.rules.oracle_moves import parse

Json = dict[str, Any]

NOISE = [
    "", " ", "0", "draw", "0  draw", " 0 draw", "0 draw ", "0 draw\n", "-1 draw", "+1 draw", "00 draw",
    "1.0 draw", "x draw", "0 Draw", "0 draw uno", "0 take uno", "0 uno uno", "0 play", "0 play ", "0 play zz",
    "0 play R5", "0 play r10", "0 play r5 uno uno", "0 play r5 swap", "0 play r7 swap x", "0 play r7 swap -1",
    "0 play W6 color", "0 play W6 color p", "0 play W6 color r y", "0 play W6 uno color r", "0 color",
    "0 color R", "0 color ry", "0 catch", "0 catch x", "0 catch 1 uno", "0 leave now", "0 clock",
    "0 clock clock draw", "clock 0 draw", "0 fold", "0 play r5 swop 1", "٠ draw", "0 catch ١", "9 draw",
    "6 leave", "99999999999999999999 draw", "9" * 5000 + " draw", "9 draw uno", "7 play zz", "0 pass uno",
    "0 play  r5",
]  # fmt: skip
WORDS = ["draw", "take", "pass", "uno", "leave", "catch", "color", "play", "clock"]


def random_options(rng: random.Random) -> Json:
    if rng.random() < 0.12:
        return {"preset": "classic"}
    options: Json = {"preset": "no-mercy"}
    if rng.random() < 0.5:
        return options
    values: dict[str, list[object]] = {
        "voluntary_draw": [False, True],
        "roulette_color": ["player", "victim"],
        "last_draw_card": ["draw_then_win", "win_now", "contest"],
        "uno_on_received_hand": [False, True],
        "callout_penalty": [0, 1, 4, 10],
        "false_catch_penalty": [1, 2, 10],
        "mercy_limit": [0, 10, 12, 50],
        "scoring": ["penalty", "winner"],
        "target": [0, 500, 5000],
        "hand_size": [1, 5, 9],
    }
    for name in rng.sample(sorted(values), rng.randint(1, 4)):
        options[name] = rng.choice(values[name])
    return options


def random_cards(rng: random.Random, options: Options, count: int) -> list[str]:
    """Return random cards of one sort: any, draw cards, one colour, or cards that move hands and turns."""
    cards = sorted(known_cards(options))
    color = rng.choice(COLORS)
    moods = [
        cards,
        [card for card in cards if draw_value(card)],
        [card for card in cards if card[0] == color],
        [card for card in cards if not card[1:].isdigit() or card[1] in "07"],
    ]
    mood = rng.choice(moods)
    return [rng.choice(mood if rng.random() < 0.7 else cards) for _ in range(count)]


def hand_size(rng: random.Random, options: Options) -> int:
    limit = options.mercy_limit or 30
    size = rng.choice([1, 1, 1, 2, 2, 3, rng.randint(3, 9), limit - 1, limit - rng.randint(1, 4)])
    return min(size, limit - 1)


def random_position(rng: random.Random, options: Options) -> Json:
    players = rng.randint(2, 6)
    seats = list(range(players))
    out = rng.sample(seats, rng.randint(0, players - 2)) if rng.random() < 0.5 else []
    playing = [seat for seat in seats if seat not in out]
    hands = [[] if seat in out else random_cards(rng, options, hand_size(rng, options)) for seat in seats]
    position: Json = {
        "hands": hands,
        "out": out,
        "turn": rng.choice(playing),
        "direction": rng.choice([1, -1]),
        "draw_pile": random_cards(rng, options, rng.choice([0, 0, 1, 2, rng.randint(3, 9), rng.randint(10, 60)])),
        "discard_pile": random_cards(rng, options, rng.choice([1, 1, 2, rng.randint(3, 9)])),
        "set_aside": random_cards(rng, options, rng.choice([0, 1, 25])) if out else [],
        "reshuffles": rng.randint(0, 3),
    }
    set_phase(rng, options, position)
    single = [seat for seat in playing if len(hands[seat]) == 1]
    position["declared"], position["exposed"] = [], []
    for seat in single:
        position[rng.choice(["declared", "exposed", "exposed"])].append(seat)
    for name in ("declared", "exposed"):
        if rng.random() < 0.3:
            position[name] = []
    return position


def set_phase(rng: random.Random, options: Options, position: Json) -> None:
    discard, hand = position["discard_pile"], position["hands"][position["turn"]]
    kind = rng.choice(
        ["play", "play", "drawn"] if options.classic else ["play", "play", "owed", "owed", "drawn", "choose"]
    )
    if kind == "owed":
        discard[-1] = rng.choice([card for card in sorted(known_cards(options)) if draw_value(card)])
        value = draw_value(discard[-1])
        position["pending"] = {"total": value + rng.choice([0, 0, 2, 4, 10, 24]), "value": value}
        if options.last_draw_card == "contest" and rng.random() < 0.6:
            set_going_out(rng, position)
        if rng.random() < 0.25:  # a player who may go out on a running stack
            hand[:] = [rng.choice([card for card in sorted(known_cards(options)) if draw_value(card) >= value])]
    if kind == "choose" and options.roulette_color == "victim":
        discard[-1] = "WC"
        position["phase"] = "choose_color"
    elif is_wild(discard[-1]) or rng.random() < 0.5:
        position["color"] = rng.choice(COLORS) if is_wild(discard[-1]) else discard[-1][0]
    if kind == "drawn":
        color = position.get("color", discard[-1][0])
        fitting = [card for card in hand if matches_top(card, discard[-1], color)]
        if fitting and len(hand) > 1:
            position["phase"], position["drawn"] = "drawn", rng.choice(fitting)


def set_going_out(rng: random.Random, position: Json) -> None:
    others = [seat for seat in range(len(position["hands"])) if seat not in [*position["out"], position["turn"]]]
    rng.shuffle(others)
    position["going_out"] = others[: rng.randint(1, len(others))]
    for seat in position["going_out"]:
        position["hands"][seat] = []


def random_request(rng: random.Random, most_moves: int = 10) -> Json:
    """Return a request with a random position and up to `most_moves` moves."""
    given = random_options(rng)
    options = options_from_json(given)
    position = random_position(rng, options)
    seed = rng.choice(["", "x", "☂"])
    oracle = Oracle(table_from_json(copy.deepcopy(position), options), options, hashlib.sha256(seed.encode()).digest())
    moves = random_moves(rng, oracle, rng.randint(1, most_moves))
    return {"options": given, "seed": seed, "position": position, "moves": moves}


def random_game(rng: random.Random, most_moves: int = 400) -> Json:
    """Return a request that deals a game, with up to `most_moves` moves."""
    given = random_options(rng)
    if given.get("mercy_limit") == 10:
        given.pop("hand_size", None)
    options = options_from_json(given)
    seed, players = str(rng.random()), rng.randint(2, 6)
    key = hashlib.sha256(seed.encode()).digest()
    oracle = Oracle(dealt(players, options, key), options, key)
    moves = random_moves(rng, oracle, most_moves)
    return {"options": given, "seed": seed, "players": players, "moves": moves}


def random_moves(rng: random.Random, oracle: Oracle, count: int) -> list[str]:
    moves: list[str] = []
    while len(moves) < count and (oracle.table.phase != "over" or rng.random() < 0.3):
        text = random_line(rng, oracle)
        moves.append(text)
        line = parse(text, oracle.options)
        if line is not None and oracle.refusal(line) is None:
            oracle.accept(line)
    return moves


def random_line(rng: random.Random, oracle: Oracle) -> str:
    chance, turn = rng.random(), oracle.table.turn
    if chance < 0.70:
        seat = turn if rng.random() < 0.7 else rng.choice(oracle.seats())
        legal = oracle.legal(seat)
        if not legal:
            seat, legal = turn, oracle.legal(turn)
        text = rng.choice(legal) if legal else "draw"
        called = text.startswith("play") and rng.random() < 0.4
        return f"{seat} {text}" + (" uno" if called else "")
    if chance < 0.73:
        return f"{rng.choice(oracle.seats())} leave"
    if chance < 0.80:
        return f"{turn} clock {'draw' if oracle.table.phase == 'over' else oracle.default_move()}"
    if chance < 0.84:
        return f"{rng.choice(oracle.seats())} clock {rng.choice(['uno', random_words(rng, oracle)])}"
    if chance < 0.98:
        seat = turn if rng.random() < 0.8 else rng.randrange(7)
        return f"{seat} {random_words(rng, oracle)}"
    return rng.choice(NOISE)


def random_words(rng: random.Random, oracle: Oracle) -> str:
    """Return a line of the right form that is rarely legal."""
    word = "play" if rng.random() < 0.6 else rng.choice(WORDS)
    seat, color = rng.randrange(7), rng.choice(COLORS)
    if word == "catch":
        return f"catch {seat}"
    if word == "color":
        return f"color {color}"
    if word == "clock":
        return f"clock {rng.choice(WORDS)}"
    if word == "play":
        table = oracle.table
        hand = table.hands[rng.choice([table.turn, table.turn, seat % len(table.hands)])]
        strange = rng.choice([*sorted(known_cards(oracle.options)), "W", "W4", "WC", "gD"])
        card = rng.choice(hand) if hand and rng.random() < 0.8 else strange
        tails = ["", f" color {color}", f" swap {seat}", f" swap {seat}"]
        if rng.random() < 0.02:
            tails = [f" swap {seat} color {color}", f" color {color} swap {seat}"]
        return f"play {card}{rng.choice(tails)}{rng.choice(['', '', ' uno'])}"
    return word


# --- requests that may be bad input ----------------------------------------------------------------------------------

FIELD_VALUES: list[object] = [
    None, True, 0, 1, -1, 2, 3, 6, 1.0, 1.5, "", "r", "p", "WC", "r5", "play", "drawn", "choose_color",
    "over", [], [0], [1], [0, 0], [9], [-1], [True], ["r5"], ["W6"], ["zz"], ["W"], [1, 0], {},
    {"total": 4, "value": 4}, {"total": 2, "value": 4}, {"total": 4}, {"total": 3, "value": 2},
    {"total": 10, "value": 10, "x": 1}, {"total": "4", "value": 4}, {"total": 0, "value": 0},
    {"total": 5, "value": 5}, [[]], [["r5"]], [["r5"], ["r6"]], [["r5"] * 25, ["r5"]], [["r5"], []],
    [["r5"]] * 7, [["r5"], [5]],
]  # fmt: skip
OPTION_VALUES: list[object] = [
    None, True, False, 0, 1, 5, 7, 9, 10, 11, 15, 16, 50, 51, 5000, 5001, -1, 1.0, "player", "contest", "no",
]  # fmt: skip
POSITION_FIELDS = [
    "hands", "out", "turn", "direction", "draw_pile", "discard_pile", "set_aside", "color", "pending",
    "phase", "drawn", "declared", "exposed", "going_out", "reshuffles", "winner", "points", "extra",
]  # fmt: skip
REQUEST_FIELDS = ["options", "seed", "moves", "position", "players", "extra"]
OPTION_FIELDS = [*sorted(set(Options.__dataclass_fields__) - {"classic"}), "preset", "extra"]


def random_changed_request(rng: random.Random) -> object:
    """Return a good request with one or two changes, which make most of them bad."""
    request = random_request(rng, 2)
    if rng.random() < 0.5:
        for _ in range(rng.randint(1, 2)):
            twist(rng, request["position"])
    if rng.random() < 0.7:
        change_a_field(rng, request)
    return request


def change_a_field(rng: random.Random, request: Json) -> None:
    kind = rng.choice(["position", "position", "position", "options", "request"])
    holder = request if kind == "request" else request[kind]
    values = OPTION_VALUES if kind == "options" else FIELD_VALUES
    name = rng.choice({"position": POSITION_FIELDS, "options": OPTION_FIELDS, "request": REQUEST_FIELDS}[kind])
    if rng.random() < 0.15:
        holder.pop(name, None)
    else:
        holder[name] = copy.deepcopy(rng.choice(values))


def twist(rng: random.Random, position: Json) -> None:
    """Change a position in a way that makes it impossible, or almost."""
    seat = rng.randrange(len(position["hands"]))
    name = rng.choice(["out", "declared", "exposed", "going_out"])
    kind = rng.choice(["flag", "fill", "empty", "turn", "color", "phase", "drawn", "over"])
    if kind == "flag":
        position[name] = [*position.get(name, []), seat]
    elif kind in ("fill", "empty"):
        position["hands"][seat] = ["r5"] * rng.choice([9, 10, 24, 25, 26]) if kind == "fill" else []
    elif kind == "turn":
        position["turn"] = rng.choice([seat, len(position["hands"])])
    elif kind == "color":
        position["color"] = rng.choice([*COLORS, None])
    elif kind == "phase":
        position["phase"] = rng.choice(["play", "drawn", "choose_color"])
    elif kind == "drawn":
        position["drawn"] = rng.choice(["r5", "W6", None])
    elif kind == "over":
        over = {"phase": "over", "turn": seat, "winner": seat, "points": 10}
        position |= over | {"exposed": [], "going_out": [], "pending": None, "drawn": None}
