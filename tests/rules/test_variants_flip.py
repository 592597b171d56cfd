"""PAIR-1, FLIP-1 to FLIP-7: the Flip deck."""

from __future__ import annotations

import pytest

from games.rules import Position, Shuffler, apply, default_move, key_from_seed, options_from, parse_move, view_for
from games.rules.position import Extra
from tests.rules.tables import Case, Json, case, cases, check

FLIP = {"preset": "flip"}
NO_BLUFF = {"preset": "flip", "bluff": "off"}
LIGHT: Json = {"options": FLIP, "discard_pile": "y1/o9 r3/p1", "draw_pile": "b1/o1 b2/o2 y3/p3"}
DARK: Json = {"options": NO_BLUFF, "discard_pile": "r9/o9", "side": "dark"}


@cases(
    case(
        "FLIP-1",
        "only the face in force matches",
        "g5/p2 b1/o3 / g1/u1 g2/u2",
        "0 play g5",
        refused="not_matching",
        **LIGHT,
    ),
    case(
        "FLIP-1", "a hidden face is not held", "g5/p2 b1/o3 / g1/u1 g2/u2", "0 play r9", refused="not_in_hand", **LIGHT
    ),
    case(
        "FLIP-1", "nor one of the other side", "g5/p2 b1/o3 / g1/u1 g2/u2", "0 play p2", refused="not_in_hand", **LIGHT
    ),
    case(
        "FLIP-1",
        "a colour of the other side is no move",
        "W/p2 b1/o3 / g1/u1 g2/u2",
        "0 play W color p",
        refused="malformed",
        **LIGHT,
    ),
    case("FLIP-1", "a pair is no move", "g5/p2 b1/o3 / g1/u1 g2/u2", "0 play g5/p2", refused="malformed", **LIGHT),
    case(
        "FLIP-1",
        "the light side begins",
        "r5/o2 b1/o3 b4/o4 / g1/u1 g2/u2",
        "0 play r5",
        {"side": "light", "discard_pile": "y1/o9 r3/p1 r5/o2", "color": "r"},
        **LIGHT,
    ),
    case(
        "FLIP-2",
        "a Flip turns both piles over, and the new top has no effect",
        "rF/o1 b1/o3 b2/p4 / g1/u2 g2/u3 / g4/t1 g5/t2",
        "0 play rF",
        {
            "side": "dark",
            "discard_pile": "rF/o1 r3/p1 y1/oE",
            "draw_pile": "y3/p3 b2/o2 b1/o1",
            "color": "o",
            "turn": 1,
        },
        **{**LIGHT, "discard_pile": "y1/oE r3/p1"},
    ),
    case(
        "FLIP-2 TURN-8",
        "a wild that it brings up leaves no colour in force",
        "rF/o1 b1/o3 b2/p4 / g1/u2 g2/t3",
        "0 play rF",
        {"color": None, "turn": 1},
        legal={1: "draw; play t3; play u2"},
        **{**LIGHT, "discard_pile": "y1/WD r3/p1"},
    ),
    case(
        "FLIP-2",
        "the top card may be the Flip itself",
        "rF/o1 b1/o3 b2/p4 / g1/u2 g2/t3",
        "0 play rF",
        {"color": "p", "discard_pile": "rF/o1 r3/p1", "turn": 1},
        **{**LIGHT, "discard_pile": "r3/p1"},
    ),
    case(
        "FLIP-2",
        "a Flip matches by symbol",
        "gF/o1 b1/o3 b2/p4 / g1/u2 g2/t3",
        "0 play gF",
        {"side": "dark", "turn": 1},
        **{**LIGHT, "discard_pile": "y1/o9 rF/p1"},
    ),
    case(
        "FLIP-2",
        "and back to the light side",
        "r1/oF b1/o3 b2/p4 / g1/u2 g2/t3",
        "0 play oF",
        {"side": "light", "color": "r", "discard_pile": "r1/oF r9/o9"},
        **DARK,
    ),
    case(
        "FLIP-3 SCORE-4",
        "a last Flip is scored on the new side",
        "rF/o1 / g1/uE g2/u3",
        "0 play rF",
        {"winner": 0, "points": 33, "side": "dark"},
        **LIGHT,
    ),
    case(
        "FLIP-4",
        "of cards with one face the text that sorts first is played",
        "r5/p2 r5/o2 b1/o3 / g1/u1 g2/u2",
        "0 play r5",
        {"hands": "b1/o3 r5/p2 / g1/u1 g2/u2"},
        **LIGHT,
    ),
    case(
        "FLIP-4",
        "after a draw the drawn one",
        "r5/p2 r5/o2 b1/o3 / g1/u1 g2/u2",
        "0 play r5",
        {"hands": "b1/o3 r5/o2 / g1/u1 g2/u2"},
        phase="drawn",
        drawn="r5/p2",
        **LIGHT,
    ),
    case(
        "FLIP-5",
        "a Wild Draw Colour turns cards over until its colour shows",
        "r1/WD r2/o3 r4/o4 / g1/p1 g2/p2 / y1/u1 y2/u2",
        "0 play WD color u",
        {"hands": "r2/o3 r4/o4 / b1/o1 b2/o2 g1/p1 g2/p2 g4/u4 y3/p3 / y1/u1 y2/u2", "turn": 2, "color": "u"},
        **DARK,
    ),
    case(
        "FLIP-5",
        "wilds never count",
        "r1/WD r2/o3 r4/o4 / g1/p1 g2/p2 / y1/u1 y2/u2",
        "0 play WD color u",
        {"hands": "r2/o3 r4/o4 / b1/W g1/p1 g2/p2 g4/u4 / y1/u1 y2/u2"},
        draw_pile="b1/W g4/u4 b2/o2",
        **DARK,
    ),
    case(
        "FLIP-5 TURN-7",
        "it needs a colour, as the last card too",
        "r1/WD / g1/p1 g2/p2",
        "0 play WD",
        refused="color_missing",
        **DARK,
    ),
    case(
        "FLIP-5 PAY-4",
        "as the last card it is drawn before the round is scored",
        "r1/WD / g1/p1 g2/p2",
        "0 play WD color p",
        {"winner": 0, "points": 1 + 2 + 1 + 2 + 3},
        **DARK,
    ),
    case(
        "FLIP-5 TURN-6",
        "without that colour all cards are drawn",
        "r1/WD r2/o3 r4/o4 / g1/p1 g2/p2 / y1/u1 y2/u2",
        "0 play WD color u",
        {"draw_pile": "-", "turn": 2, "color": "u", "discard_pile": "r1/WD"},
        draw_pile="b1/o1 b2/o2",
        **DARK,
    ),
    case(
        "FLIP-7 CLOCK-1",
        "the clock names the colour most held on the side in force",
        "r1/W r2/t3 r4/t4 y5/p5 / g1/p1 g2/p2",
        "0 clock play W color t",
        {"color": "t"},
        phase="drawn",
        drawn="r1/W",
        **{**DARK, "options": {**NO_BLUFF, "drawn_must_play": True}},
    ),
    case(
        "FLIP-7",
        "ties go to the first of orange, pink, purple, teal",
        "r1/W r2/t3 r4/u4 / g1/p1 g2/p2",
        "0 clock play W color u",
        {"color": "u"},
        phase="drawn",
        drawn="r1/W",
        **{**DARK, "options": {**NO_BLUFF, "drawn_must_play": True}},
    ),
)
def test_flip(row: Case) -> None:
    check(row)


POSITION = Position(
    hands=(("r5/p2", "b1/W", "r5/o1"), ("g1/u1", "W/t2", "g2/o2"), ("y1/o4",)),
    turn=0, discard_pile=("r3/p1",), draw_pile=("b2/o2",), color="r", extra=Extra(side="light"),
)  # fmt: skip


OWING: Json = {
    "options": {**FLIP, "stacking": "same", "advanced_stacking": True, "last_draw_card": "contest"},
    "discard_pile": "y1/o9 g+1/p1",
    "pending": (1, 1),
}


@cases(
    case(
        "FLIP-1 RESP-3",
        "under a debt a Reverse of the other side is not held, as any Reverse that is not",
        "gR/pR b1/o3 / g1/u1 g2/u2",
        "0 play pR",
        refused="not_in_hand",
        **OWING,
    ),
    case(
        "FLIP-1 RESP-3",
        "and so is a Skip, which only the light side has",
        "gS/pR b1/oE / g1/u1 g2/u2",
        "0 play gS",
        refused="not_in_hand",
        **{**OWING, "side": "dark", "discard_pile": "y1/o9 g1/p+5", "pending": (5, 5)},
    ),
    case(
        "FLIP-1 RESP-3",
        "a number of the other side cannot answer",
        "gR/pR b1/o3 / g1/u1 g2/u2",
        "0 play o3",
        refused="cards_owed",
        **OWING,
    ),
)
def test_cards_of_the_other_side_under_a_debt(row: Case) -> None:
    check(row)


@pytest.mark.rule("FLIP-6")
def test_players_see_the_hidden_faces_of_other_hands_but_not_of_their_own() -> None:
    view = view_for(POSITION, 0, options_from("flip", {}))
    assert view.hand == ("r5", "b1", "r5")
    assert view.backs == ((), ("o2", "t2", "u1"), ("o4",))
    assert view.discard_pile == ("r3",)
    dark = POSITION.replace(extra=Extra(side="dark"))
    view = view_for(dark, 1, options_from("flip", {}))
    assert (view.hand, view.backs) == (("u1", "t2", "o2"), (("b1", "r5", "r5"), (), ("y1",)))


@pytest.mark.rule("FLIP-6")
@pytest.mark.parametrize(("viewer", "backs"), [(None, "seen"), (0, "hidden"), (None, "hidden")])
def test_visitors_see_no_hidden_face_and_with_backs_hidden_nobody_does(viewer: int | None, backs: str) -> None:
    view = view_for(POSITION, viewer, options_from("flip", {"flip_backs": backs}))
    assert view.backs is None
    assert "/" not in repr(view.discard_pile) + repr(view.hand)
    assert view.hands is None


@pytest.mark.rule("FLIP-6")
@pytest.mark.parametrize("viewer", [None, 0, 1])
def test_once_the_round_is_over_everybody_sees_both_faces(viewer: int | None) -> None:
    options = options_from("flip", {})
    start = POSITION.replace(hands=(("r5/p2",), *POSITION.hands[1:]))
    over, _ = apply(start, 0, parse_move("play r5"), options, Shuffler(key_from_seed("")).shuffle)
    view = view_for(over, viewer, options)
    assert view.hands == ((), ("g1/u1", "W/t2", "g2/o2"), ("y1/o4",))


@pytest.mark.rule("FLIP-7")
def test_the_clock_of_the_light_side_counts_light_colours() -> None:
    options = options_from("flip", {"drawn_must_play": True})
    position = POSITION.replace(hands=(("W/o1", "g1/o2", "b1/o3"), *POSITION.hands[1:]), phase="drawn", drawn="W/o1")
    assert str(default_move(position, 0, options)) == "clock play W color g"


@pytest.mark.rule("FLIP-6")
def test_a_player_who_left_before_the_round_sees_no_hidden_face() -> None:
    position = POSITION.replace(hands=(*POSITION.hands[:2], ()), out=(2,), absent=(2,))
    assert view_for(position, 2, options_from("flip", {})).backs is None
    assert view_for(position, 0, options_from("flip", {})).backs is not None
