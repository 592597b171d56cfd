"""Section "Clocks and leaving"."""

from __future__ import annotations

import pytest

from games.rules import PRESETS, Move, Position, Refused, default_move
from tests.rules.tables import Case, Json, case, cases, check

ROULETTE: Json = {"discard_pile": "WC", "phase": "choose_color"}
STACK: Json = {"discard_pile": "r+4", "pending": (4, 4)}


@cases(
    case(
        "CLOCK-1",
        "owed cards are taken",
        "g+4 b1 / g2 g3",
        "0 clock take",
        {"hands": "b1 b1 b2 g+4 y3 g4 / g2 g3", "turn": 1},
        **STACK,
    ),
    case(
        "CLOCK-1",
        "a roulette colour is the one most held",
        "y1 b1 b2 / g2 g3",
        "0 clock color b",
        {"color": "b"},
        draw_pile="b1",
        **ROULETTE,
    ),
    case(
        "CLOCK-1", "ties go to the first of r, y, g, b", "b1 g2 / g2 g3", "0 clock color g", {"color": "g"}, **ROULETTE
    ),
    case("CLOCK-1", "so does none held", "W6 W6 / g2 g3", "0 clock color r", {"color": "r"}, **ROULETTE),
    case(
        "CLOCK-1",
        "otherwise it draws, even with a playable card",
        "r5 r6 / g2 g3",
        "0 clock draw",
        {"drawn": "r9"},
        draw_pile="r9",
    ),
    case(
        "CLOCK-1",
        "it plays the card that it draws",
        "r5 r6 / g2 g3",
        "0 clock draw; 0 clock play r9",
        {"turn": 1},
        draw_pile="r9",
    ),
    case(
        "CLOCK-1",
        "a card already drawn is played",
        "r5 r6 / g2 g3",
        "0 draw; 0 clock play r9",
        {"turn": 1},
        draw_pile="r9",
    ),
    case(
        "CLOCK-1",
        "it names the colour most held, without the card played",
        "y1 b1 b2 W6 / g2 g3",
        "0 clock play W6 color b",
        {"color": "b"},
        phase="drawn",
        drawn="W6",
    ),
    case(
        "CLOCK-1",
        "it swaps with the player with the fewest cards",
        "r7 r6 / g2 g3 g4 / y1 y2",
        "0 clock play r7 swap 2",
        {"hands": "y1 y2 / g2 g3 g4 / r6"},
        phase="drawn",
        drawn="r7",
    ),
    case(
        "CLOCK-1",
        "on a tie it swaps with the nearest in the direction of play",
        "r7 r6 / g2 g3 / y1 y2",
        "0 clock play r7 swap 2",
        {"turn": 2},
        phase="drawn",
        drawn="r7",
        direction=-1,
    ),
    case(
        "CLOCK-1",
        "it never calls UNO, so the player can be caught",
        "r5 r6 / g2 g3",
        "0 clock play r6; 1 catch 0",
        {"turn": 1},
        phase="drawn",
        drawn="r6",
    ),
    case(
        "CLOCK-1",
        "it makes no UNO call",
        "r5 r6 / g2 g3",
        "0 clock play r6 uno",
        refused="not_the_clocks_move",
        phase="drawn",
        drawn="r6",
    ),
    case(
        "CLOCK-1",
        "it draws also where voluntary_draw is off",
        "r5 r6 / g2 g3",
        "0 clock draw",
        {"drawn": "r9"},
        draw_pile="r9",
        options={"voluntary_draw": False},
    ),
    case(
        "CLOCK-1", "it plays nothing from the hand", "r5 r6 / g2 g3", "0 clock play r5", refused="not_the_clocks_move"
    ),
    case(
        "CLOCK-1", "no other colour", "y1 b1 b2 / g2 g3", "0 clock color y", refused="not_the_clocks_move", **ROULETTE
    ),
    case("CLOCK-1", "it makes no catch", "r5 r6 / g2", "0 clock catch 1", refused="not_the_clocks_move", exposed=[1]),
    case("CLOCK-1", "the clock does not leave", "r5 r6 / g2", "0 clock leave", refused="not_the_clocks_move"),
    case("CLOCK-1", "only for the player on turn", "r5 r6 / g2 g3", "1 clock draw", refused="not_your_turn"),
    case(
        "CLOCK-1 ROUL-1",
        "a found roulette's colour, where its player names it",
        "y1 b1 b2 WC / g2 g3",
        "0 clock play WC color b",
        {"color": "b", "turn": 0},
        phase="drawn",
        drawn="WC",
        draw_pile="b1",
        options={"roulette_color": "player"},
    ),
    case(
        "CLOCK-2",
        "a window that runs out closes, and nothing is called",
        "r5 r6 / g2",
        "1 clock uno; 0 catch 1",
        {"exposed": [], "declared": []},
        refused="nobody_to_catch",
        exposed=[1],
    ),
    case("CLOCK-2", "no window, nothing to close", "r5 r6 / g2", "1 clock uno", refused="nothing_owed"),
    case(
        "CLOCK-3",
        "after the last default move the seat leaves at once",
        "b5 b6 / g2 g3 / y1 y2",
        "0 clock take; 0 leave",
        {"out": [0], "turn": 1, "winner": None},
        **STACK,
    ),
    case(
        "LEAVE-1",
        "out of turn nothing else changes",
        "r5 b1 / g2 g3 / y1 y2",
        "1 leave",
        {"hands": "r5 b1 / - / y1 y2", "out": [1], "set_aside": "g2 g3", "turn": 0},
    ),
    case("LEAVE-1", "on turn it goes to the next player", "r5 b1 / g2 g3 / y1 y2", "0 leave", {"turn": 1, "out": [0]}),
    case(
        "LEAVE-1",
        "a drawn card is set aside too",
        "r5 b1 / g2 g3 / y1 y2",
        "0 leave",
        {"turn": 1, "set_aside": "b1 r5", "phase": "play", "drawn": None},
        phase="drawn",
        drawn="r5",
    ),
    case(
        "LEAVE-1",
        "a stack owed by the leaver is cancelled",
        "b1 b2 / g2 g3 / y1 y2",
        "0 leave",
        {"turn": 1, "pending": None, "set_aside": "b1 b2"},
        **STACK,
    ),
    case(
        "LEAVE-1 END-3",
        "who went out on a cancelled stack wins",
        "b1 b2 / - / y1 y2",
        "0 leave",
        {"winner": 1, "points": 253},
        going_out=[1],
        **STACK,
    ),
    case(
        "LEAVE-1",
        "a stack owed by another stays",
        "b1 b2 / g2 g3 / y1 y2",
        "1 leave",
        {"turn": 0, "pending": (4, 4)},
        **STACK,
    ),
    case(
        "LEAVE-1",
        "a leaver who went out no longer counts as such",
        "b1 b2 / - / y1 y2",
        "1 leave; 0 take",
        {"going_out": [], "out": [1], "winner": None, "turn": 2},
        going_out=[1],
        **STACK,
    ),
    case(
        "LEAVE-1 END-3",
        "after a leaver who went out the next who did wins",
        "b1 b2 / - / - / y1 y2",
        "1 leave; 0 take",
        {"winner": 2},
        going_out=[1, 2],
        **STACK,
    ),
    case(
        "LEAVE-1 ROUL-2",
        "an owed colour is named and nothing drawn",
        "b1 b2 y1 / g2 g3 / y1 y2",
        "0 leave",
        {"color": "b", "turn": 1, "phase": "play", "draw_pile": "b1", "hands": "- / g2 g3 / y1 y2"},
        draw_pile="b1",
        **ROULETTE,
    ),
    case(
        "LEAVE-1",
        "the next player may leave before a roulette reaches anybody else",
        "b1 b2 / g2 g3 / y1 y2",
        "1 leave",
        {"phase": "choose_color", "turn": 0},
        **ROULETTE,
    ),
    case("LEAVE-1 END-4", "one player left in wins", "r5 b1 / g2 g3", "1 leave", {"winner": 0, "points": 250}),
    case(
        "LEAVE-1 END-4", "with a stack running too", "r5 b1 / g2 g3", "0 leave", {"winner": 1, "pending": None}, **STACK
    ),
    case(
        "LEAVE-1",
        "a swap target may leave before the swap",
        "r7 b1 / g2 g3 / y1 y2",
        "1 leave",
        {"drawn": "r7"},
        phase="drawn",
        drawn="r7",
        legal={0: "play r7 swap 2"},
    ),
    case(
        "LEAVE-1 UNO-1",
        "the leaver can no longer be caught",
        "r5 b1 / g2 / y1 y2",
        "1 leave",
        {"exposed": []},
        exposed=[1],
    ),
    case("LEAVE-1", "twice is once too often", "r5 b1 / g2 g3 / y1 y2", "1 leave; 1 leave", refused="out"),
)
def test_clock_and_leaving_follow_the_rulebook(row: Case) -> None:
    check(row)


@pytest.mark.rule("CLOCK-1")
def test_the_clock_has_no_move_for_a_player_who_is_not_on_turn() -> None:
    position = Position(hands=[["r1"], ["r2"]], turn=0, discard_pile=["r3"], color="r")
    assert default_move(position, 0, PRESETS["no-mercy"]) == Move("draw", clock=True)
    with pytest.raises(Refused, match="not_your_turn"):
        default_move(position, 1, PRESETS["no-mercy"])
    with pytest.raises(Refused, match="over"):
        default_move(position.replace(phase="over", winner=0, points=0), 0, PRESETS["no-mercy"])
