"""Section "Cards": what each card does."""

from __future__ import annotations

from tests.rules.tables import Case, case, cases, check

THREE = "b1 b2 / g2 g3 / y1 y2"


@cases(
    case(
        "SEVEN-1",
        "hands are swapped",
        "r7 b1 b2 / g2 g3 / y1 y2",
        "0 play r7 swap 2",
        {"hands": "y1 y2 / g2 g3 / b1 b2", "turn": 1},
    ),
    case("SEVEN-1", "it is not optional", "r7 b1 / g2 g3", "0 play r7", refused="swap_missing"),
    case("SEVEN-1", "not with oneself", "r7 b1 / g2 g3", "0 play r7 swap 0", refused="bad_swap_target"),
    case(
        "SEVEN-1", "not with a seat that is not there", "r7 b1 / g2 g3", "0 play r7 swap 4", refused="bad_swap_target"
    ),
    case(
        "SEVEN-1 MERCY-3",
        "no swap with a player who is out",
        "r7 b1 / - / g2 g3",
        "0 play r7 swap 1",
        refused="bad_swap_target",
        out=[1],
    ),
    case("SEVEN-1", "only a 7 swaps", "r5 b1 / g2 g3", "0 play r5 swap 1", refused="swap_not_asked"),
    case(
        "ZERO-1",
        "hands move clockwise",
        "r0 b1 b2 / g2 g3 / y1 y2 y3",
        "0 play r0",
        {"hands": "y1 y2 y3 / b1 b2 / g2 g3", "turn": 1},
    ),
    case(
        "ZERO-1",
        "hands move counter-clockwise",
        "r0 b1 b2 / g2 g3 / y1 y2 y3",
        "0 play r0",
        {"hands": "g2 g3 / y1 y2 y3 / b1 b2", "turn": 2},
        direction=-1,
    ),
    case(
        "ZERO-1 MERCY-3",
        "hands pass by players who are out",
        "r0 b1 b2 / - / y1 y2 y3",
        "0 play r0",
        {"hands": "y1 y2 y3 / - / b1 b2", "turn": 2},
        out=[1],
    ),
    case("SKIP-1", "the next player loses the turn", "rS b1 b2 / g2 g3 / y1 y2", "0 play rS", {"turn": 2}),
    case("SKIP-1 TWO-1", "with two left one plays again", "rS b1 b2 / - / y1 y2", "0 play rS", {"turn": 0}, out=[1]),
    case("REV-1", "the direction turns", "rR b1 b2 / g2 g3 / y1 y2", "0 play rR", {"turn": 2, "direction": -1}),
    case(
        "REV-1 TWO-1",
        "with two left it turns and one plays again",
        "rR b1 b2 / - / y1 y2",
        "0 play rR",
        {"turn": 0, "direction": -1},
        out=[1],
    ),
    case("ALL-1", "another turn", "rE b1 b2 / g2 g3 / y1 y2", "0 play rE", {"turn": 0, "phase": "play"}),
    case(
        "ALL-1 TURN-4",
        "a whole turn: one may draw",
        "rE b1 b2 / g2 g3 / y1 y2",
        "0 play rE; 0 draw; 0 play r5",
        {"hands": "b1 b1 b2 b2 g4 y3 / g2 g3 / y1 y2", "turn": 1},
    ),
    case(
        "DISC-1",
        "all of its colour go beneath it, without effect",
        "rD r1 r+2 rS b4 W6 / g2 g3",
        "0 play rD",
        {"hands": "b4 W6 / g2 g3", "discard_pile": "r3 r+2 r1 rS rD", "turn": 1, "pending": None, "direction": 1},
    ),
    case(
        "DISC-1",
        "on another Discard All",
        "gD g1 b4 b5 / g2 g3",
        "0 play gD",
        {"hands": "b4 b5 / g2 g3", "discard_pile": "rD g1 gD", "color": "g"},
        discard_pile="rD",
    ),
    case(
        "DISC-1",
        "a second one is shed too",
        "rD rD b4 b5 / g2 g3",
        "0 play rD",
        {"hands": "b4 b5 / g2 g3", "discard_pile": "r3 rD rD"},
    ),
    case(
        "DISC-1 END-1",
        "shedding the last card wins",
        "rD r1 / g2 g3",
        "0 play rD",
        {"hands": "- / g2 g3", "winner": 0, "turn": 0, "points": 5, "phase": "over"},
    ),
    case("DRAW-1", "Draw Two", f"r+2 {THREE}", "0 play r+2", {"turn": 1, "pending": (2, 2)}),
    case("DRAW-1", "Draw Four", f"r+4 {THREE}", "0 play r+4", {"turn": 1, "pending": (4, 4)}),
    case("DRAW-1", "Draw Six", f"W6 {THREE}", "0 play W6 color y", {"turn": 1, "pending": (6, 6), "color": "y"}),
    case("DRAW-1", "Draw Ten", f"W10 {THREE}", "0 play W10 color y", {"turn": 1, "pending": (10, 10), "color": "y"}),
    case(
        "DRAW-1",
        "who takes them loses the turn",
        f"r+2 {THREE}",
        "0 play r+2; 1 take",
        {"hands": "b1 b2 / b1 b2 g2 g3 / y1 y2", "turn": 2, "pending": None},
    ),
    case(
        "WR4-1",
        "the direction turns first",
        f"WR4 {THREE}",
        "0 play WR4 color y",
        {"turn": 2, "direction": -1, "pending": (4, 4), "color": "y"},
    ),
    case(
        "WR4-2",
        "with two left its own player owes",
        "WR4 b1 b2 / g2 g3",
        "0 play WR4 color y",
        {"turn": 0, "direction": -1, "pending": (4, 4)},
        legal={0: "take", 1: ""},
    ),
    case(
        "WR4-2",
        "its own player may stack on it at once",
        "WR4 r+4 b1 b2 / g2 g3",
        "0 play WR4 color y; 0 play r+4",
        {"turn": 1, "direction": -1, "pending": (8, 4)},
    ),
    case(
        "WR4-2",
        "its own player owes the whole stack",
        "WR4 b1 b2 / g2 g3",
        "0 play WR4 color y; 0 take",
        {"hands": "b1 b1 b2 b2 g4 r5 y3 b6 / g2 g3", "turn": 1, "pending": None},
        discard_pile="r+2",
        pending=(2, 2),
    ),
    case(
        "WR4-2",
        "a second one still makes its own player owe",
        "WR4 WR4 b1 b2 / g2 g3",
        "0 play WR4 color y; 0 play WR4 color g",
        {"turn": 0, "direction": 1, "pending": (8, 4), "color": "g"},
    ),
    case(
        "TWO-1 WR4-1",
        "one who went out still counts: these are three",
        "- / WR4 b1 b2 / - / g2 g3",
        "1 play WR4 color y",
        {
            "turn": 3,
            "direction": -1,
            "hands": "b1 b2 g4 y3 r5 b6 / b1 b2 / - / g2 g3",
            "pending": None,
            "going_out": [],
        },
        out=[2],
        turn=1,
        pending=(2, 2),
        discard_pile="r+2",
        going_out=[0],
    ),
    case(
        "ROUL-1",
        "the next player names the colour",
        f"WC {THREE}",
        "0 play WC",
        {"turn": 1, "phase": "choose_color", "color": None},
        legal={0: "", 1: "color b; color g; color r; color y", 2: ""},
    ),
    case(
        "ROUL-1",
        "cards are turned over until the colour shows; wilds never count",
        f"WC {THREE}",
        "0 play WC; 1 color g",
        {"hands": "b1 b2 / W6 b2 g1 g2 g3 / y1 y2", "turn": 2, "color": "g", "phase": "play"},
        draw_pile="W6 b2 g1 r1",
    ),
    case(
        "ROUL-1", "nothing answers it", "WC b1 b2 / g2 WC / y1 y2", "0 play WC; 1 play WC", refused="choose_color_first"
    ),
    case(
        "ROUL-1", "a draw does not answer a roulette", f"WC {THREE}", "0 play WC; 1 draw", refused="choose_color_first"
    ),
    case("ROUL-1", "no colour without a roulette", "r5 b1 / g2 g3", "0 color g", refused="no_roulette"),
    case("ROUL-1", "the player of it names none", "WC b1 b2 / g2 g3", "0 play WC color g", refused="color_not_asked"),
    case(
        "ROUL-1 MERCY-1",
        "each card is in the hand at once",
        "WC b1 b2 / g1 g2 g3 g4 g5 g6 g8 g9 / y1 y2",
        "0 play WC; 1 color r",
        {"hands": "b1 b2 / - / y1 y2", "out": [1], "turn": 2, "color": "r", "draw_pile": "r5 b6"},
        draw_pile="b1 b2 r5 b6",
        options={"mercy_limit": 10},
    ),
    case("ROUL-2", "the colour named is the active colour", f"WC {THREE}", "0 play WC; 1 color y", {"color": "y"}),
    case(
        "ROUL-2 LEAVE-1",
        "for a player who leaves it is the colour most held",
        "WC b1 b2 / g2 g3 y1 / y1 y2",
        "0 play WC; 1 leave",
        {"hands": "b1 b2 / - / y1 y2", "color": "g", "turn": 2, "phase": "play", "out": [1]},
    ),
    case("TWO-1", "players, not seats", "r+2 b1 b2 / - / g2 g3 / - / y1 y2", "0 play r+2", {"turn": 2}, out=[1, 3]),
)
def test_cards_follow_the_rulebook(row: Case) -> None:
    check(row)
