"""Tests as tables: a position in notation, moves, and the expected position.

Hands are written `r5 b1 / g2 g3`, one a seat, and `-` is an empty one. Piles are written `b1 y2`. Fields that a case
does not give have the defaults of docs/notation.md. Fields that it does not expect are not checked.
A field that the answer leaves out is None. `pending` is a total, a value and, where it matters, a symbol.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from games.rules.console import replay_line

Json = dict[str, Any]

DRAW_PILE = "b1 b2 y3 g4 r5 b6 y8 g9 W6 r2 y1 g1"
DRAW_PILES = {
    "no-mercy": DRAW_PILE,
    "playroom-no-mercy": DRAW_PILE,
    "flip": "b1/o1 b2/o2 y3/p3 g4/u4 r5/t5 b6/o6 y8/p8 g9/u9 W/t1 r2/t2 y1/o9 g1/p9",
}
"""The draw pile of a case that gives none, by preset. Other presets have that of the classic deck."""
CLASSIC_DRAW_PILE = "b1 b2 y3 g4 r5 b6 y8 g9 W r2 y1 g1"
CARD_LISTS = ("draw_pile", "discard_pile", "set_aside")


class Case(NamedTuple):
    """A case. `refused` is the code that refuses the last line, or empty. `legal` maps seats to their legal moves."""

    rules: tuple[str, ...]
    name: str
    request: Json
    expect: Json
    refused: str
    legal: dict[int, str]


def cards(text: str) -> list[str]:
    return [] if text == "-" else text.split()


def hands(text: str) -> list[list[str]]:
    return [cards(hand) for hand in text.split(" / ")]


def fields(values: Json) -> Json:
    """Return the JSON of fields in short form."""
    result = dict(values)
    if "hands" in result:
        result["hands"] = hands(result["hands"])
    for name in CARD_LISTS:
        if name in result:
            result[name] = cards(result[name])
    if result.get("pending"):
        result["pending"] = dict(zip(("total", "value", "by"), result["pending"], strict=False))
    return result


def case(
    rules: str,
    name: str,
    hands: str,
    lines: str,
    expect: Json | None = None,
    *,
    refused: str = "",
    legal: dict[int, str] | None = None,
    options: Json | None = None,
    seed: str = "",
    **position: Any,
) -> Case:
    """Return a test case. `lines` are separated by `; `. `position` has more fields of the first position."""
    asked = {"preset": "no-mercy", **(options or {})}
    pile = DRAW_PILES.get(asked["preset"], CLASSIC_DRAW_PILE)
    start = fields({"turn": 0, "discard_pile": "r3", "draw_pile": pile, **position, "hands": hands})
    request = {
        "options": asked,
        "seed": seed,
        "position": start,
        "moves": [line for line in lines.split("; ") if line],
    }
    return Case(tuple(rules.split()), name, request, fields(expect or {}), refused, legal or {})


def cases(*rows: Case) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Run a test once for each row, marked with the rules of the row."""
    return pytest.mark.parametrize(
        "row",
        [
            pytest.param(row, id=f"{'+'.join(row.rules)} {row.name}", marks=[pytest.mark.rule(r) for r in row.rules])
            for row in rows
        ],
    )


def answer(request: Json) -> Json:
    """Return the console's answer, as parsed from its JSON."""
    return dict(json.loads(json.dumps(replay_line(json.dumps(request)))))


def check(row: Case) -> None:
    """Replay a case and compare the results with what it expects."""
    told = answer(row.request)
    errors = [step.get("error", "") for step in told["steps"]]
    accepted = [""] * len(errors)
    assert errors == ([*accepted[:-1], row.refused] if row.refused else accepted)
    shown = {name: told["position"].get(name) for name in row.expect}
    wanted = {
        **row.expect,
        **({"hands": [sorted(hand) for hand in row.expect["hands"]]} if "hands" in row.expect else {}),
    }
    assert shown == wanted
    for seat, lines in row.legal.items():
        assert told["legal"][str(seat)] == sorted(filter(None, lines.split("; ")))
