"""Random changes of good requests, which make most of them bad input."""

from __future__ import annotations

import copy
import random
from typing import Any

from tests.rules.oracle_cards import DARK, LIGHT
from tests.rules.oracle_options import CHOICES, OPTION_NAMES, PRESETS
from tests.rules.oracle_requests import random_request
from tests.rules.oracle_table import Table

Json = dict[str, Any]

FIELD_VALUES: list[object] = [
    None, True, False, 0, 1, -1, 2, 3, 6, 1.0, 1.5, "", "r", "p", "WC", "r5", "play", "drawn", "choose_color", "buzz",
    "over", [], [0], [1], [0, 0], [9], [-1], [True], ["r5"], ["W6"], ["zz"], ["W"], [1, 0], {}, "light", "dark", "none",
    {"total": 4, "value": 4}, {"total": 2, "value": 4}, {"total": 4}, {"total": 3, "value": 2},
    {"total": 10, "value": 10, "x": 1}, {"total": "4", "value": 4}, {"total": 0, "value": 0},
    {"total": 5, "value": 5}, [[]], [["r5"]], [["r5"], ["r6"]], [["r5"] * 25, ["r5"]], [["r5"], []],
    [["r5"]] * 7, [["r5"]] * 10, [["r5"]] * 11, [["r5"], [5]], "r5/o2", "W/WD", "rF/oF", "BZ", ["r5/o2"], ["r5/r5"],
    ["BZ"], {"total": 4, "value": 4, "by": "W4"}, {"total": 4, "value": 4, "by": "+2"},
    {"total": 2, "value": 2, "by": 2},
    {"total": 2, "value": 2, "by": "+2"}, {"total": 2, "value": 2, "by": None}, {"total": 2, "value": 2, "by": "S"},
    {"total": 0, "value": 0, "by": "WD"}, {"total": 5, "value": 5, "by": "+5"}, {"seat": 0, "card": "r5"},
    {"seat": 1, "card": "r5"}, {"seat": 1, "card": "r7"}, {"seat": 1, "card": "rS"}, {"seat": 1, "card": "r5/o2"},
    {"seat": 1}, {"seat": "1", "card": "r5"}, {"seat": 0, "bluff": True}, {"seat": 1, "bluff": False},
    {"seat": 1, "bluff": 1}, {"seat": 1, "bluff": None}, {"seat": True, "bluff": True}, {"seat": 9, "bluff": True},
    {"by": 0, "pressed": []}, {"by": 1, "pressed": []}, {"by": 0, "pressed": [0, 1]}, {"by": 0, "pressed": [1, 1]},
    {"by": 0}, {"by": 0, "pressed": [9]}, {"by": 0, "pressed": None}, [0, 0, 0], [0, 3], [3, 0], [1, 2, 3], [0, -1],
]  # fmt: skip
OPTION_VALUES: list[object] = [
    None, True, False, 0, 1, 5, 7, 9, 10, 11, 15, 16, 50, 51, 1000, 1001, 5000, 5001, -1, 1.0, "no", "", "on", [],
    *sorted({value for values in CHOICES.values() for value in values}), *PRESETS,
]  # fmt: skip
NEW_FIELDS = ["side", "run", "challenge", "buzz", "buzzes", "passes", "fines", "color", "pending", "phase"]
POSITION_FIELDS = [*Table.__dataclass_fields__, *NEW_FIELDS, *NEW_FIELDS, "extra"]
REQUEST_FIELDS = ["options", "seed", "moves", "position", "players", "extra"]
OPTION_FIELDS = [*OPTION_NAMES, "preset", "preset", "extra"]


def random_changed_request(rng: random.Random) -> object:
    """Return a good request with one or two changes."""
    request = random_request(rng, 2)
    if rng.random() < 0.6:
        for _ in range(rng.randint(1, 2)):
            twist(rng, request["position"])
    if rng.random() < 0.7:
        change_a_field(rng, request)
    if rng.random() < 0.1:
        request.pop("position", None)
        request["players"] = rng.choice([0, 1, 2, 5, 6, 7, 10, 11, "2", None, True])
    return request


def change_a_field(rng: random.Random, request: Json) -> None:
    kind = rng.choice(["position", "position", "position", "options", "options", "request"])
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
    twists = [
        twist_flag, twist_hand, twist_turn, twist_color, twist_phase, twist_drawn, twist_over, twist_run,
        twist_challenge, twist_buzz, twist_debt, twist_counts, twist_side,
    ]  # fmt: skip
    rng.choice(twists)(rng, position, seat)


def twist_flag(rng: random.Random, position: Json, seat: int) -> None:
    name = rng.choice(["out", "declared", "exposed", "going_out"])
    position[name] = [*position.get(name, []), seat]


def twist_hand(rng: random.Random, position: Json, seat: int) -> None:
    held = position["hands"][seat] or position["discard_pile"]
    position["hands"][seat] = held[:1] * rng.choice([0, 0, 9, 10, 24, 25, 26])


def twist_turn(rng: random.Random, position: Json, seat: int) -> None:
    position["turn"] = rng.choice([seat, len(position["hands"])])


def twist_color(rng: random.Random, position: Json, seat: int) -> None:
    position["color"] = rng.choice([*LIGHT, *DARK, None, None])


def twist_phase(rng: random.Random, position: Json, seat: int) -> None:
    position["phase"] = rng.choice(["play", "drawn", "choose_color", "buzz"])


def twist_drawn(rng: random.Random, position: Json, seat: int) -> None:
    held = position["hands"][seat]
    position["phase"] = rng.choice(["drawn", position.get("phase", "play")])
    position["drawn"] = rng.choice([*held, "r5", None])


def twist_over(rng: random.Random, position: Json, seat: int) -> None:
    over = {"phase": "over", "turn": seat, "winner": seat, "points": 10}
    position |= over | {"exposed": [], "going_out": [], "pending": None, "drawn": None}
    if rng.random() < 0.7:
        for name in ("run", "challenge", "buzz"):
            position.pop(name, None)


def twist_run(rng: random.Random, position: Json, seat: int) -> None:
    card = rng.choice([position["discard_pile"][-1], *position["hands"][seat]])
    position["run"] = {"seat": seat, "card": card}


def twist_challenge(rng: random.Random, position: Json, seat: int) -> None:
    position["challenge"] = {"seat": seat, "bluff": rng.random() < 0.5}


def twist_buzz(rng: random.Random, position: Json, seat: int) -> None:
    pressed = rng.sample(range(len(position["hands"])), rng.randint(0, len(position["hands"])))
    position["buzz"] = {"by": rng.choice([seat, position["turn"]]), "pressed": pressed}
    if rng.random() < 0.5:
        position["phase"] = "buzz"


def twist_debt(rng: random.Random, position: Json, seat: int) -> None:
    owed = position.get("pending") or {"total": 4, "value": 4}
    name = rng.choice(["total", "value", "by"])
    value: object = (
        rng.choice([0, 1, 2, 4, 5, 6, 10])
        if name != "by"
        else rng.choice(["+1", "+2", "+4", "+5", "W4", "W2", "WD", "WR4", "W6", "W10", "S", "W", "", None])
    )
    position["pending"] = {**owed, name: value}


def twist_counts(rng: random.Random, position: Json, seat: int) -> None:
    players = len(position["hands"])
    position["fines"] = rng.choice([[0] * players, [3] * players, [3] * (players + 1), [-1] * players, None])
    position[rng.choice(["buzzes", "passes"])] = rng.choice([0, 1, players, -1, True, None])


def twist_side(rng: random.Random, position: Json, seat: int) -> None:
    position["side"] = rng.choice(["light", "dark", None])
