"""PAY-1 to PAY-4, RESP-1 to RESP-6: paying debts, and answers to them."""

from __future__ import annotations

from functools import partial

import pytest

from tests.rules.tables import Case, Json, answer, case, cases, check

PLAYROOM = {"preset": "playroom"}
PARTY = {"preset": "house-party", "interceptions": "off"}
party_case = partial(case, options=PARTY)
NO_MERCY_2024 = {"preset": "playroom-no-mercy"}
no_mercy_2024_case = partial(case, options=NO_MERCY_2024)
ADVANCED = {"advanced_stacking": True}
advanced_case = partial(case, options=ADVANCED)
TAKES_AND_PLAYS = {"skip_after_draw": False}
DARK: Json = {
    "options": {"preset": "flip", "stacking": "any", "last_draw_card": "contest", "advanced_stacking": True},
    "side": "dark",
    "discard_pile": "r9/o9",
}


@cases(
    case(
        "PAY-1 PAY-2",
        "without answers a debt is drawn inside the play, and the payer has a turn",
        "r+2 b4 b5 / g2 g3 / y1 y2",
        "0 play r+2",
        {"hands": "b4 b5 / b1 b2 g2 g3 / y1 y2", "turn": 1, "pending": None, "phase": "play"},
        options=PLAYROOM,
        legal={1: "draw"},
    ),
    case(
        "PAY-1 BLUFF-1",
        "without answers a debt that can be challenged is not drawn yet",
        "W4 b4 b5 / g2 g3 W4 / y1 y2",
        "0 play W4 color y",
        {"pending": (4, 4), "turn": 1},
        options={"preset": "classic"},
        legal={1: "challenge; take"},
    ),
    case(
        "PAY-1",
        "with answers a debt waits, even for a player who has none",
        "r+2 b4 b5 / g2 g3",
        "0 play r+2",
        {"pending": (2, 2), "turn": 1},
        legal={1: "take"},
    ),
    party_case(
        "PAY-2",
        "without skip_after_draw a player who takes has a turn",
        "r+2 b4 b5 / g2 r9 / y1 y2",
        "0 play r+2; 1 take; 1 play r9",
        {"hands": "b4 b5 / b1 b2 g2 / y1 y2", "turn": 2},
    ),
    case(
        "PAY-2",
        "with skip_after_draw the turn is lost",
        "r+2 b4 b5 / g2 r9 / y1 y2",
        "0 play r+2; 1 take",
        {"turn": 2},
        options={**PARTY, "skip_after_draw": True},
    ),
    case(
        "PAY-2 ROUL-1",
        "without skip_after_draw the victim of a roulette has a turn",
        "WC b4 b5 / g2 g3 / y1 y2",
        "0 play WC; 1 color y; 1 play y3",
        {"hands": "b4 b5 / b1 b2 g2 g3 / y1 y2", "turn": 2},
        options=TAKES_AND_PLAYS,
    ),
    case(
        "PAY-2 WR4-2",
        "with two left a player who takes a Wild Reverse Draw Four has a turn",
        "WR4 b4 b5 / g2 g3",
        "0 play WR4 color b; 0 take",
        {"hands": "b1 b2 b4 b5 g4 y3 / g2 g3", "turn": 0, "phase": "play"},
        options=TAKES_AND_PLAYS,
    ),
    party_case(
        "PAY-2 END-2",
        "a stack that comes back to a player who went out costs the turn",
        "r+2 / y+2 g3 g5",
        "0 play r+2; 1 play y+2",
        {"hands": "b1 b2 g4 y3 / g3 g5", "turn": 1, "going_out": [], "pending": None},
    ),
    party_case(
        "PAY-2 END-2",
        "the round ends before the payer's turn if somebody went out on the debt",
        "r+2 / g2 g3 / y1 y2",
        "0 play r+2; 1 take",
        {"winner": 0, "points": [0, 8, 3]},
    ),
    no_mercy_2024_case(
        "PAY-3 PAY-2",
        "a roulette with its colour is turned over inside the play, and the victim has a turn",
        "WC b4 b5 / g2 g3 / y1 y2",
        "0 play WC color g",
        {"hands": "b4 b5 / b1 b2 g2 g3 g4 y3 / y1 y2", "turn": 1, "color": "g", "phase": "play"},
    ),
    case(
        "PAY-3",
        "with skip_after_draw the victim loses the turn",
        "WC b4 b5 / g2 g3 / y1 y2",
        "0 play WC color g",
        {"turn": 2},
        options={**NO_MERCY_2024, "skip_after_draw": True},
    ),
    case(
        "PAY-3 MERCY-1",
        "a victim who is knocked out has no turn",
        "WC b4 b5 / b1 b2 b3 b4 b5 b6 b8 b9 / y1 y2",
        "0 play WC color r",
        {"out": [1], "turn": 2, "color": "r"},
        options={**NO_MERCY_2024, "mercy_limit": 10},
    ),
    case(
        "PAY-4",
        "draw_then_win: the other of two players draws a last Wild Reverse Draw Four",
        "WR4 / g2 g3",
        "0 play WR4 color y",
        {"winner": 0, "hands": "- / b1 b2 g2 g3 g4 y3", "points": 15},
        options={"last_draw_card": "draw_then_win"},
    ),
    case(
        "PAY-4",
        "draw_then_win: with three left the direction turns first",
        "WR4 / g2 g3 / y1 y2",
        "0 play WR4 color y",
        {"winner": 0, "hands": "- / g2 g3 / b1 b2 g4 y1 y2 y3", "direction": -1},
        options={"last_draw_card": "draw_then_win"},
    ),
)
def test_paying(row: Case) -> None:
    check(row)


@cases(
    party_case(
        "RESP-1",
        "same: only the same symbol answers, in any colour",
        "r+2 b4 b5 / y+2 W4 g3 / y1 y2",
        "0 play r+2",
        {"pending": (2, 2)},
        legal={1: "play y+2; take"},
    ),
    party_case(
        "RESP-1",
        "same: a higher draw card does not answer",
        "r+2 b4 b5 / y+2 W4 g3 / y1 y2",
        "0 play r+2; 1 play W4 color g",
        refused="too_low",
    ),
    no_mercy_2024_case(
        "RESP-1",
        "family: coloured on coloured, of equal or higher value",
        "r+2 b4 b5 / g+2 g+4 W6 g3 / y1 y2",
        "0 play r+2",
        legal={1: "play g+2; play g+4; take"},
    ),
    no_mercy_2024_case(
        "RESP-1",
        "family: a lower one does not answer",
        "r+4 b4 b5 / g+2 g+4 g3 / y1 y2",
        "0 play r+4; 1 play g+2",
        refused="too_low",
    ),
    no_mercy_2024_case(
        "RESP-1",
        "family: wild on wild, no coloured card",
        "W6 b4 b5 / g+4 W10 g3 / y1 y2",
        "0 play W6 color b",
        legal={1: "play W10 color b; play W10 color g; play W10 color r; play W10 color y; take"},
    ),
    case(
        "RESP-1",
        "any: of equal or higher value",
        "r+4 b4 b5 / g+2 g+4 g3 WR4 / y1 y2",
        "0 play r+4",
        legal={1: "play WR4 color b; play WR4 color g; play WR4 color r; play WR4 color y; play g+4; take"},
    ),
    party_case(
        "RESP-2 RESP-3",
        "a Skip passes a debt on to the next player, who answers the draw card below it",
        "r+2 b4 b5 / rS y1 y2 / y+2 W4 bS g3 / g1 g2",
        "0 play r+2; 1 play rS",
        {"pending": (2, 2, "+2"), "turn": 2, "color": "r"},
        legal={2: "play bS; play y+2; take"},
    ),
    party_case(
        "RESP-2",
        "an answer on top of it is the last draw card again",
        "r+2 b4 b5 / rS y1 y2 / y+2 W4 g3 / g1 g2",
        "0 play r+2; 1 play rS; 2 play y+2",
        {"pending": (4, 2), "turn": 3, "color": "y"},
    ),
    party_case(
        "RESP-3",
        "a Reverse turns the direction, then the next player owes",
        "r+2 b4 b5 / rR y1 y2 / g1 g2",
        "0 play r+2; 1 play rR",
        {"pending": (2, 2, "+2"), "turn": 0, "direction": -1},
    ),
    party_case(
        "RESP-3 TWO-1",
        "with two left a Reverse passes the debt to the other player",
        "r+2 b4 b5 / rR y1 y2",
        "0 play r+2; 1 play rR; 0 take",
        {"hands": "b1 b2 b4 b5 / y1 y2", "turn": 0, "direction": -1, "pending": None},
    ),
    party_case(
        "RESP-3",
        "a Wild names a colour and passes the debt on",
        "r+2 b4 b5 / W y1 y2 / g1 g2",
        "0 play r+2; 1 play W color g",
        {"pending": (2, 2, "+2"), "turn": 2, "color": "g"},
    ),
    party_case(
        "RESP-3 TURN-2",
        "a Skip that does not match the top card does not pass a debt on",
        "r+2 b4 b5 / gS y1 y2 / g1 g2",
        "0 play r+2; 1 play gS",
        refused="not_matching",
    ),
    case(
        "RESP-3",
        "without advanced_stacking nothing passes a debt on",
        "r+2 b4 b5 / rS y1 y2 / g1 g2",
        "0 play r+2; 1 play rS",
        refused="cards_owed",
        options={**PARTY, "advanced_stacking": False},
    ),
    advanced_case(
        "RESP-4 ALL-1",
        "a Skip Everyone ends a debt and brings another turn",
        "r+2 b4 b5 / rE y1 y2 / g1 g2",
        "0 play r+2; 1 play rE",
        {"pending": None, "turn": 1},
    ),
    advanced_case(
        "RESP-4 DISC-1",
        "a Discard All ends a debt and sheds",
        "r+2 b4 b5 / rD r5 y1 y2 / g1 g2",
        "0 play r+2; 1 play rD",
        {"pending": None, "turn": 2, "hands": "b4 b5 / y1 y2 / g1 g2", "discard_pile": "r3 r+2 r5 rD"},
    ),
    advanced_case(
        "RESP-4 END-3",
        "the first player who went out on a debt wins when it is ended",
        "r+2 / rE y1 y2 / g1 g2",
        "0 play r+2; 1 play rE",
        {"winner": 0, "points": 6, "hands": "- / y1 y2 / g1 g2"},
    ),
    advanced_case(
        "RESP-4 END-1",
        "a debt ended with the last card wins",
        "r+2 b4 / rE / g1 g2",
        "0 play r+2; 1 play rE",
        {"winner": 1, "points": 7},
    ),
    advanced_case(
        "RESP-4 END-3",
        "a last Discard All sheds first, then the player who went out wins",
        "r+2 / rD r5 / g1 g2",
        "0 play r+2; 1 play rD",
        {"winner": 0, "points": 3, "hands": "- / - / g1 g2"},
    ),
    advanced_case(
        "RESP-4",
        "a Skip Everyone that does not match ends nothing",
        "r+2 b4 b5 / gE y1 y2 / g1 g2",
        "0 play r+2; 1 play gE",
        refused="not_matching",
    ),
    party_case(
        "RESP-5",
        "a debt passed on with the last card",
        "r+2 b4 b5 / rS / g1 g2",
        "0 play r+2; 1 play rS",
        {"going_out": [1], "turn": 2, "pending": (2, 2, "+2"), "winner": None},
    ),
    party_case(
        "RESP-5 END-2",
        "and won when it is taken",
        "r+2 b4 b5 / rS / g1 g2",
        "0 play r+2; 1 play rS; 2 take",
        {"winner": 1, "points": [9, 0, 6]},
    ),
    advanced_case(
        "RESP-6",
        "nothing answers a roulette",
        "WC b4 b5 / WC W10 y1",
        "0 play WC; 1 play W10 color r",
        refused="choose_color_first",
    ),
    party_case(
        "RESP-6", "a buzzer is no answer", "r+2 b4 b5 / BZ y1 y2 / g1 g2", "0 play r+2; 1 play BZ", refused="cards_owed"
    ),
    case(
        "RESP-6",
        "no draw card answers a Wild Draw Colour",
        "r1/WD r2/p3 r4/p4 / r5/WD b1/o+5 b2/oR",
        "0 play WD color p; 1 play o+5",
        refused="too_low",
        **DARK,
    ),
    case(
        "RESP-6",
        "and no Reverse passes it on",
        "r1/WD r2/p3 r4/p4 / r5/WD b1/o+5 b2/pR",
        "0 play WD color p; 1 play pR",
        refused="cards_owed",
        legal={1: "challenge; take"},
        **DARK,
    ),
)
def test_answers(row: Case) -> None:
    check(row)


@pytest.mark.parametrize(
    ("second", "message"),
    [
        ("play g+2", "Green Draw Two is too low: play a draw card of 4 or more on this stack."),
        ("play WR4 color g", "Wild Reverse Draw Four does not answer the last draw card on this stack."),
        ("play W6 color g", "Wild Draw Six does not answer the last draw card on this stack."),
    ],
)
def test_a_draw_card_that_is_no_answer_is_refused_with_its_reason(second: str, message: str) -> None:
    row = case("RESP-1", "", "r+4 b4 b5 / g+2 WR4 W6 g3 / y1 y2", f"0 play r+4; 1 {second}", options=NO_MERCY_2024)
    assert answer(row.request)["steps"][-1]["message"] == message
