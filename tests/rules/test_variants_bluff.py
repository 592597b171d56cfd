"""BLUFF-1 to BLUFF-6: challenging a wild draw card."""

from __future__ import annotations

from functools import partial

import pytest

from games.rules import (
    Event,
    Shuffler,
    apply,
    key_from_seed,
    options_from,
    parse_move,
    position_from_json,
    redact,
    view_for,
)
from tests.rules.tables import Case, Json, answer, case, cases, check

CLASSIC = {"preset": "classic"}
classic_case = partial(case, options=CLASSIC)
PARTY = {"preset": "house-party", "interceptions": "off"}
party_case = partial(case, options=PARTY)
DARK: Json = {"options": {"preset": "flip"}, "side": "dark", "discard_pile": "r9/o9"}
OWED: Json = {"discard_pile": "r3 W4", "color": "y", "pending": (4, 4), "turn": 1}
CLAIM: Json = {"challenge": {"seat": 0, "bluff": False}}


@cases(
    classic_case(
        "BLUFF-1 BLUFF-2",
        "the player who owes may challenge",
        "W4 r1 b2 / g2 g3 W4 / y1 y2",
        "0 play W4 color y",
        {"challenge": {"seat": 0, "bluff": True}, "pending": (4, 4), "turn": 1},
        legal={0: "", 1: "challenge; take", 2: ""},
    ),
    party_case(
        "BLUFF-1",
        "instead of answering",
        "W4 r1 b2 / g2 g3 W4 / y1 y2",
        "0 play W4 color y",
        legal={1: "challenge; play W4 color b; play W4 color g; play W4 color r; play W4 color y; take"},
    ),
    case(
        "BLUFF-1",
        "not at other tables",
        "W4 r1 b2 / g2 g3",
        "1 challenge",
        refused="malformed",
        options={"preset": "playroom"},
    ),
    classic_case(
        "BLUFF-1",
        "no other seat may",
        "W4 r1 b2 / g2 g3 / y1 y2",
        "0 play W4 color y; 2 challenge",
        refused="not_your_turn",
    ),
    party_case(
        "BLUFF-1",
        "a Draw Two gives no right",
        "r+2 r1 b2 / g2 g3 / y1 y2",
        "0 play r+2; 1 challenge",
        refused="nothing_to_challenge",
    ),
    party_case(
        "BLUFF-1 END-2",
        "a last card gives no right",
        "W4 / g2 g3 / y1 y2",
        "0 play W4 color y; 1 challenge",
        {"challenge": None, "going_out": [0]},
        refused="nothing_to_challenge",
    ),
    classic_case(
        "BLUFF-1 LEAVE-1",
        "the right ends when its seat leaves, the debt stays",
        "W4 r1 b2 / g2 g3 / y1 y2",
        "0 play W4 color y; 0 leave",
        {"challenge": None, "pending": (4, 4), "turn": 1},
    ),
    case(
        "BLUFF-1 MERCY-1",
        "and when it is knocked out by a catch",
        "W4 b2 / g2 g3 / y1 y2",
        "0 play W4 color y; 1 catch 0",
        {"challenge": None, "pending": (4, 4), "out": [0], "turn": 1},
        options={**CLASSIC, "mercy_limit": 10, "callout_penalty": 10},
    ),
    party_case(
        "BLUFF-1 END-2",
        "a stack that goes back to a player who went out gives none",
        "- / W4 r1 y2",
        "1 play W4 color y",
        {"challenge": None, "pending": None, "turn": 1, "going_out": []},
        going_out=[0],
        draw_pile="b1 b2 y3 g4 r5 b6 y8 g9 r2",
        **{**OWED, "turn": 1},
    ),
    classic_case(
        "BLUFF-2",
        "official: no card of the colour, no bluff",
        "W4 b2 W / g2 g3 / y1 y2",
        "0 play W4 color y",
        {"challenge": {"seat": 0, "bluff": False}},
    ),
    classic_case(
        "BLUFF-2",
        "official: another card with the symbol on top is no bluff",
        "W4 b3 W / g2 g3 / y1 y2",
        "0 play W4 color y",
        {"challenge": {"seat": 0, "bluff": False}},
    ),
    classic_case(
        "BLUFF-2 TURN-8",
        "official: with no colour in force, no bluff",
        "W4 r1 b2 / g2 g3 / y1 y2",
        "0 play W4 color y",
        {"challenge": {"seat": 0, "bluff": False}},
        discard_pile="W",
    ),
    classic_case(
        "BLUFF-2",
        "official: the colour in force before counts, not the one named",
        "W4 y1 b2 / g2 g3 / y1 y2",
        "0 play W4 color y",
        {"challenge": {"seat": 0, "bluff": False}},
    ),
    party_case(
        "BLUFF-2",
        "playroom: a card that matches by symbol",
        "W4 b3 b2 / g2 g3 / y1 y2",
        "0 play W4 color y",
        {"challenge": {"seat": 0, "bluff": True}},
    ),
    party_case(
        "BLUFF-2",
        "playroom: a plain Wild",
        "W4 W b2 / g2 g3 / y1 y2",
        "0 play W4 color y",
        {"challenge": {"seat": 0, "bluff": True}},
    ),
    party_case(
        "BLUFF-2",
        "playroom: a buzzer",
        "W4 BZ b2 / g2 g3 / y1 y2",
        "0 play W4 color y",
        {"challenge": {"seat": 0, "bluff": True}},
    ),
    party_case(
        "BLUFF-2",
        "playroom: a card of the same symbol is none",
        "W4 W4 b2 / g2 g3 / y1 y2",
        "0 play W4 color y",
        {"challenge": {"seat": 0, "bluff": False}},
    ),
    party_case(
        "BLUFF-2",
        "playroom: with no colour in force any card is",
        "W4 b9 b2 / g2 g3 / y1 y2",
        "0 play W4 color y",
        {"challenge": {"seat": 0, "bluff": True}},
        discard_pile="BZ",
    ),
    party_case(
        "BLUFF-2",
        "playroom: debts are not considered",
        "W4 y1 b2 / g2 g3 / y1 y2",
        "0 play W4 color g",
        {"challenge": {"seat": 0, "bluff": True}, "pending": (8, 4)},
        **{**OWED, "turn": 0},
    ),
    classic_case(
        "BLUFF-3",
        "official: the player who bluffed draws the debt, and the challenger's turn goes on",
        "W4 r1 b2 / g2 g3 y9 / y1 y2",
        "0 play W4 color y; 1 challenge; 1 play y9",
        {"hands": "b1 b2 b2 g4 r1 y3 / g2 g3 / y1 y2", "turn": 2, "pending": None, "color": "y"},
    ),
    party_case(
        "BLUFF-3",
        "playroom: two cards more",
        "W4 r1 b4 / g2 g3 / y1 y2",
        "0 play W4 color y; 1 challenge",
        {"hands": "b1 b2 b4 b6 g4 r1 r5 y3 / g2 g3 / y1 y2", "turn": 1, "pending": None},
    ),
    case(
        "BLUFF-3 MERCY-1",
        "the player who bluffed may be knocked out",
        "W4 r1 b1 b2 b3 b4 b5 / g2 g3 / y1 y2",
        "0 play W4 color y; 1 challenge",
        {"out": [0], "turn": 1, "pending": None, "challenge": None},
        options={**CLASSIC, "mercy_limit": 10},
    ),
    party_case(
        "BLUFF-3 END-3",
        "the first player who went out on the debt wins",
        "- / W4 y1 b2 / g2 g3",
        "1 play W4 color b; 2 challenge",
        {"winner": 0, "points": [0, 41, 5]},
        going_out=[0],
        draw_pile="b1 b2 y3 g4 r5 b6 y8 g9 r0 y0 b9",
        **OWED,
    ),
    classic_case(
        "BLUFF-4 PAY-2",
        "wrongly: the challenger draws two more and loses the turn",
        "W4 b2 b4 / g2 g3 / y1 y2",
        "0 play W4 color y; 1 challenge",
        {"hands": "b2 b4 / b1 b2 b6 g2 g3 g4 r5 y3 / y1 y2", "turn": 2, "pending": None, "challenge": None},
    ),
    party_case(
        "BLUFF-4 PAY-2",
        "wrongly, without skip_after_draw: the challenger has a turn",
        "W4 b2 b4 / g2 g3 / y1 y2",
        "0 play W4 color y; 1 challenge",
        {"turn": 1, "phase": "play"},
    ),
    case(
        "BLUFF-5",
        "a Wild Draw Colour is a debt of no number",
        "r1/WD r2/o3 b1/p4 / g1/u1 g2/t2 / y1/p1 y2/p2",
        "0 play WD color u",
        {"pending": (0, 0), "challenge": {"seat": 0, "bluff": True}, "turn": 1},
        legal={1: "challenge; take"},
        **DARK,
    ),
    case(
        "BLUFF-5",
        "taken until the colour shows",
        "r1/WD r2/o3 b1/p4 / g1/u1 g2/t2 / y1/p1 y2/p2",
        "0 play WD color u; 1 take",
        {"turn": 2, "hands": "b1/p4 r2/o3 / b1/o1 b2/o2 g1/u1 g2/t2 g4/u4 y3/p3 / y1/p1 y2/p2", "pending": None},
        **DARK,
    ),
    case(
        "BLUFF-5 BLUFF-3",
        "rightly challenged",
        "r1/WD r2/o3 b1/p4 / g1/u1 g2/t2 / y1/p1 y2/p2",
        "0 play WD color u; 1 challenge",
        {"turn": 1, "hands": "b1/o1 b1/p4 b2/o2 g4/u4 r2/o3 y3/p3 / g1/u1 g2/t2 / y1/p1 y2/p2"},
        **DARK,
    ),
    case(
        "BLUFF-5 BLUFF-4",
        "wrongly challenged: two cards more",
        "r1/WD r2/t3 b1/p4 / g1/u1 g2/t2 / y1/p1 y2/p2",
        "0 play WD color u; 1 challenge",
        {"turn": 2, "hands": "b1/p4 r2/t3 / b1/o1 b2/o2 b6/o6 g1/u1 g2/t2 g4/u4 r5/t5 y3/p3 / y1/p1 y2/p2"},
        **DARK,
    ),
    party_case(
        "BLUFF-6",
        "an answer gives the right up",
        "W4 r1 b2 / g2 yS y4 / y1 y2",
        "0 play W4 color y; 1 play yS; 2 challenge",
        {"challenge": None, "pending": (4, 4, "W4")},
        refused="nothing_to_challenge",
    ),
    party_case(
        "BLUFF-6",
        "calls and catches do not",
        "W4 r1 / g2 g3 / y1",
        "0 play W4 color y; 1 catch 0; 2 uno; 1 challenge",
        {"turn": 1, "pending": None},
        exposed=[2],
    ),
    classic_case(
        "BLUFF-6 CLOCK-1",
        "the clock never challenges",
        "r1 b2 / g2 g3 / y1 y2",
        "1 clock challenge",
        refused="not_the_clocks_move",
        **OWED,
        **CLAIM,
    ),
    classic_case(
        "BLUFF-6 CLOCK-1",
        "it takes",
        "r1 b2 / g2 g3 / y1 y2",
        "1 clock take",
        {"turn": 2, "challenge": None},
        **OWED,
        **CLAIM,
    ),
)
def test_challenges(row: Case) -> None:
    check(row)


@pytest.mark.rule("BLUFF-6")
def test_only_the_verdict_of_a_challenge_is_told() -> None:
    row = case("BLUFF-6", "", "W4 r1 b2 / g2 g3 / y1 y2", "0 play W4 color y; 1 challenge", options=CLASSIC)
    events = [Event.from_json(event) for event in answer(row.request)["steps"][-1]["events"]]
    assert events[0] == Event("challenged", 1, target=0, reason="right")
    for viewer in (None, 1, 2):
        told = redact(events, viewer, over=False)
        assert [event for event in told if event.card or event.cards] == []


@pytest.mark.rule("BLUFF-1")
@pytest.mark.parametrize("rest", [["r1", "b2"], ["b1", "b2"]])
def test_nobody_sees_if_it_was_a_bluff(rest: list[str]) -> None:
    options = options_from("classic", {})
    start = position_from_json({"hands": [["W4", *rest], ["g2", "g3"]], "turn": 0, "discard_pile": ["r3"]}, options)
    position, events = apply(start, 0, parse_move("play W4 color y"), options, Shuffler(key_from_seed("")).shuffle)
    assert position.extra.challenge == (0, "r1" in rest)
    assert [view_for(position, seat, options).challenge for seat in (None, 0, 1)] == [0, 0, 0]
    assert "bluff" not in repr(redact(events, 1, over=False))
