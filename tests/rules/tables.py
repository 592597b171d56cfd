"""Tests that read like tables: a position in notation, moves, and what is expected after them.

Hands are written `r5 b1 / g2 g3`, one a seat, `-` for none; piles `b1 y2`. Fields that a case does not name are the
defaults of NOTATION, fields that it does not expect are not looked at.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from games.rules.console import replay_line

Json = dict[str, Any]

DRAW_PILE = "b1 b2 y3 g4 r5 b6 y8 g9 W6 r2 y1 g1"
CARD_LISTS = ("draw_pile", "discard_pile", "set_aside")


class Case(NamedTuple):
    """A row: `refused` is the code of the last line's refusal, if it is to be refused; `legal` maps seats to lines."""

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
    """The JSON of fields written in short."""
    result = dict(values)
    if "hands" in result:
        result["hands"] = hands(result["hands"])
    for name in CARD_LISTS:
        if name in result:
            result[name] = cards(result[name])
    if result.get("pending"):
        total, value = result["pending"]
        result["pending"] = {"total": total, "value": value}
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
    """A row of a table; `lines` are separated by `; `, and `position` holds further fields of the start."""
    start = fields({"turn": 0, "discard_pile": "r3", "draw_pile": DRAW_PILE, **position, "hands": hands})
    request = {
        "options": {"preset": "no-mercy", **(options or {})},
        "seed": seed,
        "position": start,
        "moves": [line for line in lines.split("; ") if line],
    }
    return Case(tuple(rules.split()), name, request, fields(expect or {}), refused, legal or {})


def cases(*rows: Case) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a test one run a row, each marked with the rules it shows."""
    return pytest.mark.parametrize(
        "row",
        [
            pytest.param(row, id=f"{'+'.join(row.rules)} {row.name}", marks=[pytest.mark.rule(r) for r in row.rules])
            for row in rows
        ],
    )


def answer(request: Json) -> Json:
    """What the console answers, as a program reading its output sees it."""
    return dict(json.loads(json.dumps(replay_line(json.dumps(request)))))


def check(row: Case) -> None:
    """Replay a row and compare."""
    told = answer(row.request)
    errors = [step.get("error", "") for step in told["steps"]]
    accepted = [""] * len(errors)
    assert errors == ([*accepted[:-1], row.refused] if row.refused else accepted)
    shown = {name: told["position"][name] for name in row.expect}
    wanted = {
        **row.expect,
        **({"hands": [sorted(hand) for hand in row.expect["hands"]]} if "hands" in row.expect else {}),
    }
    assert shown == wanted
    for seat, lines in row.legal.items():
        assert told["legal"][str(seat)] == sorted(filter(None, lines.split("; ")))
