"""The preset `classic`."""

from __future__ import annotations

from typing import Any

from tests.rules.tables import Case, answer, cases, check
from tests.rules.tables import case as any_case

CLASSIC = {"preset": "classic"}


def case(name: str, hands: str, lines: str, expect: dict[str, Any] | None = None, **more: Any) -> Case:
    options = {**CLASSIC, **more.pop("options", {})}
    return any_case("TURN-2", name, hands, lines, expect, options=options, **{"draw_pile": "b4 b5", **more})


@cases(
    case(
        "a drawn card that does not match passes the turn",
        "b1 b2 / g2 g3",
        "0 draw",
        {"hands": "b1 b2 b4 / g2 g3", "turn": 1},
        draw_pile="b4 r9",
    ),
    case(
        "a playable drawn card may be played",
        "b1 b2 / g2 g3",
        "0 draw; 0 play r9",
        {"hands": "b1 b2 / g2 g3", "turn": 1},
        draw_pile="r9 b4",
        legal={1: "draw"},
    ),
    case(
        "a playable drawn card may be kept",
        "b1 b2 / g2 g3",
        "0 draw; 0 pass",
        {"hands": "b1 b2 r9 / g2 g3", "turn": 1, "phase": "play"},
        draw_pile="r9 b4",
    ),
    case(
        "playing and keeping a drawn card are listed",
        "b1 b2 / g2 g3",
        "0 draw",
        {"phase": "drawn", "drawn": "W4"},
        draw_pile="W4 b4",
        legal={0: "pass; play W4 color b; play W4 color g; play W4 color r; play W4 color y"},
    ),
    case(
        "only the card drawn may be played",
        "r1 b2 / g2 g3",
        "0 draw; 0 play r1",
        refused="must_play_drawn",
        draw_pile="r9",
    ),
    case("no pass before drawing", "r1 b2 / g2 g3", "0 pass", refused="may_not_draw"),
    case(
        "a Draw Two is drawn at once",
        "r+2 b1 b2 / g+2 g3 / y1 y2",
        "0 play r+2",
        {"hands": "b1 b2 / b1 b2 g+2 g3 / y1 y2", "turn": 2, "pending": None},
        draw_pile="b1 b2 b3",
    ),
    case(
        "a Wild Draw Four can be challenged before it is taken",
        "W4 b1 b2 / g2 g3 / y1 y2",
        "0 play W4 color b; 1 take",
        {"hands": "b1 b2 / b1 b2 b3 b4 g2 g3 / y1 y2", "turn": 2, "color": "b"},
        draw_pile="b1 b2 b3 b4 b5",
    ),
    case(
        "a Wild Draw Four is drawn at once if nobody may challenge it",
        "W4 b1 b2 / g2 g3 / y1 y2",
        "0 play W4 color b",
        {"hands": "b1 b2 / b1 b2 b3 b4 g2 g3 / y1 y2", "turn": 2, "color": "b"},
        draw_pile="b1 b2 b3 b4 b5",
        options={"bluff": "off"},
    ),
    case(
        "a window stays open while others draw what they owe",
        "r+2 b1 / g+2 g3 / y1 y2",
        "0 play r+2",
        {"exposed": [0]},
        draw_pile="b1 b2 b3",
    ),
    case("a plain Wild asks a colour", "W b1 b2 / g2 g3", "0 play W color b", {"color": "b", "turn": 1}),
    case(
        "a 7 and a 0 are plain numbers",
        "r7 r0 b1 / g2 g3",
        "0 play r7; 1 draw; 0 play r0",
        {"hands": "b1 / b4 g2 g3"},
        draw_pile="b4 b5",
    ),
    case(
        "the last draw card is drawn by the next player and scores",
        "r+2 / g2 g3 / y1 W",
        "0 play r+2",
        {"winner": 0, "points": 59, "hands": "- / b1 b2 g2 g3 / y1 W"},
        draw_pile="b1 b2 b3",
    ),
    case(
        "nobody is knocked out",
        f"r1 r2 / {'b1 ' * 24}g3",
        "0 play r1; 1 draw",
        {"out": [], "turn": 0},
        draw_pile="b4 b5",
    ),
    case("a card of the other deck is no move", "r1 b2 / g2 g3", "0 play W6 color r", refused="malformed"),
    case("the clock draws", "r1 b2 / g2 g3", "0 clock draw", {"drawn": "r9"}, draw_pile="r9"),
    case(
        "the clock passes after drawing a playable card",
        "r1 b2 / g2 g3",
        "0 draw; 0 clock pass",
        {"hands": "r1 b2 r9 / g2 g3", "turn": 1},
        draw_pile="r9",
    ),
    case("it plays nothing", "r1 b2 / g2 g3", "0 draw; 0 clock play r9", refused="not_the_clocks_move", draw_pile="r9"),
)
def test_classic_follows_its_own_rules(row: Case) -> None:
    check(row)


def test_no_mercy_has_no_pass_and_no_plain_wild() -> None:
    row = any_case("TURN-4", "", "r1 b2 / g2 g3", "0 pass; 0 play W color r; 0 play W4 color r")
    assert [step["error"] for step in answer(row.request)["steps"]] == ["malformed"] * 3
