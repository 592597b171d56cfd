"""Sections "End of a round" and "Score and match"."""

from __future__ import annotations

from dataclasses import replace

import pytest

from games.rules import DECKS, PRESETS, Match, Position, hand_points, options_from, outcome
from games.rules.scoring import Outcome, round_points
from tests.rules.tables import Case, Json, case, cases, check

NO_MERCY = PRESETS["no-mercy"]
PENALTY = options_from("no-mercy", {"scoring": "penalty", "target": 500})
OTHERS = "g2 g3 / y1 W6"
WON: Json = {"phase": "over", "winner": 0, "turn": 0, "points": 56, "pending": None, "exposed": [], "going_out": []}
STACK: Json = {"discard_pile": "r+2", "pending": (2, 2)}


@cases(
    case("END-1", "the last card wins at once", f"r5 / {OTHERS}", "0 play r5", WON),
    case("END-1", "a last 7 names no target", f"r7 / {OTHERS}", "0 play r7", WON),
    case(
        "END-1 SEVEN-1",
        "a last 7 with a target is refused",
        f"r7 / {OTHERS}",
        "0 play r7 swap 1",
        refused="swap_not_asked",
    ),
    case("END-1 ZERO-1", "a last 0 passes no hand", f"r0 / {OTHERS}", "0 play r0", WON | {"hands": f"- / {OTHERS}"}),
    case("END-1 SKIP-1", "a last Skip", f"rS / {OTHERS}", "0 play rS", WON),
    case("END-1 REV-1", "a last Reverse", f"rR / {OTHERS}", "0 play rR", WON),
    case("END-1 ALL-1", "a last Skip Everyone", f"rE / {OTHERS}", "0 play rE", WON),
    case("END-1 ROUL-1", "a last Color Roulette", f"WC / {OTHERS}", "0 play WC", WON),
    case("END-1", "legal moves of last cards name nothing", f"r7 / {OTHERS}", "", legal={0: "draw; play r7"}),
    case(
        "END-1 TURN-7",
        "a last wild draw card still needs its colour",
        f"W6 / {OTHERS}",
        "0 play W6",
        refused="color_missing",
    ),
    case("END-1", "nothing after the end", f"r5 / {OTHERS}", "0 play r5; 1 leave", refused="over"),
    case(
        "END-2",
        "a last draw card: the others may stack first",
        f"r+2 / {OTHERS}",
        "0 play r+2",
        {"going_out": [0], "turn": 1, "pending": (2, 2), "winner": None, "exposed": []},
        legal={0: "", 1: "take"},
    ),
    case(
        "END-2 SCORE-1",
        "taken by another, who scores with the cards taken",
        f"- / {OTHERS}",
        "1 take",
        {"winner": 0, "points": 59, "going_out": []},
        turn=1,
        going_out=[0],
        **STACK,
    ),
    case(
        "END-2 MERCY-1 SCORE-2",
        "a taker knocked out is 250",
        "- / b1 b2 b3 b4 b5 b6 b8 b9 / y1 W6",
        "1 take",
        {"winner": 0, "points": 301, "out": [1]},
        turn=1,
        going_out=[0],
        options={"mercy_limit": 10},
        **STACK,
    ),
    case(
        "END-2",
        "come back, it is drawn at once and the round goes on",
        "- / g+2 b1 b3 / y+2 b4",
        "1 play g+2; 2 play y+2",
        {
            "hands": "b1 b2 y3 g4 r5 b6 / b1 b3 / b4",
            "turn": 1,
            "pending": None,
            "going_out": [],
            "winner": None,
            "color": "y",
        },
        turn=1,
        going_out=[0],
        **STACK,
    ),
    case(
        "END-2 MERCY-1",
        "who is knocked out by it",
        "- / g+2 b1 b3 / W10 b4 b5",
        "1 play g+2; 2 play W10 color g",
        {"hands": "- / b1 b3 / b4 b5", "out": [0], "turn": 1, "winner": None},
        turn=1,
        going_out=[0],
        options={"mercy_limit": 10},
        **STACK,
    ),
    case(
        "END-2 MERCY-1 END-4",
        "knocked out by it with one other left in",
        "- / W10 b4 b5",
        "1 play W10 color g",
        {"winner": 1, "points": 250, "out": [0]},
        turn=1,
        going_out=[0],
        options={"mercy_limit": 10},
        **STACK,
    ),
    case(
        "END-3",
        "two went out: the first wins",
        "- / - / b2 b3",
        "2 take",
        {"winner": 0},
        turn=2,
        going_out=[0, 1],
        **STACK,
    ),
    case(
        "END-3",
        "in the order in which they went out",
        "- / - / b2 b3",
        "2 take",
        {"winner": 1},
        turn=2,
        going_out=[1, 0],
        **STACK,
    ),
    case(
        "END-3",
        "the first has to draw: the next wins",
        "- / g+2 / b2 b3 y+2",
        "1 play g+2; 2 play y+2",
        {"winner": 1, "points": 26},
        turn=1,
        going_out=[0],
        **STACK,
    ),
    case(
        "END-3 WR4-2",
        "a last Wild Reverse with two left comes back at once",
        "WR4 / g2 g3",
        "0 play WR4 color b",
        {"hands": "b1 b2 y3 g4 / g2 g3", "turn": 1, "pending": None, "going_out": [], "color": "b", "direction": -1},
    ),
    case(
        "END-4 LEAVE-1",
        "all but one are out",
        "r5 b1 / - / g2 g3",
        "0 leave",
        {"winner": 2, "points": 500, "turn": 2},
        out=[1],
    ),
    case(
        "SCORE-1",
        "faces, 20 for coloured actions, 50 for wilds",
        "r5 / g9 gS g+4 gD gE gR g0 / W6 WC",
        "0 play r5",
        {"points": 9 + 20 * 5 + 0 + 100},
    ),
    case(
        "SCORE-2",
        "250 for every player out, cards or not",
        "r5 / - / g2 g3 / -",
        "0 play r5",
        {"points": 505},
        out=[1, 3],
    ),
)
def test_the_end_of_a_round_follows_the_rulebook(row: Case) -> None:
    check(row)


@pytest.mark.rule("SCORE-2")
def test_a_player_who_left_in_an_earlier_round_scores_nothing_for_the_winner() -> None:
    position = Position(hands=[[], ["r5"], [], []], turn=0, discard_pile=["r3"], out=(2, 3), absent=(2,))
    assert round_points(position, 0, NO_MERCY) == 255
    assert round_points(position, 0, PENALTY) == (0, 5, 0, 250)


@pytest.mark.rule("SCORE-1")
def test_the_winners_own_cards_score_nothing() -> None:
    position = Position(hands=[["W6"], ["r5"]], turn=0, discard_pile=["r3"])
    assert round_points(position, 0, NO_MERCY) == 5
    assert hand_points(("W6", "r5"), NO_MERCY.rules.first) == 55


@pytest.mark.rule("SCORE-1")
def test_a_round_is_scored_with_the_points_of_its_own_deck(monkeypatch: pytest.MonkeyPatch) -> None:
    deck = DECKS["nomercy168"]
    faces = {card: replace(face, points=30) if face.symbol == "E" else face for card, face in deck.faces.items()}
    monkeypatch.setitem(DECKS, "house", deck._replace(name="house", sides=(deck.sides[0]._replace(faces=faces),)))
    position = Position(hands=[[], ["rE", "W6"]], turn=0, discard_pile=["r3"])
    assert round_points(position, 0, NO_MERCY) == 70
    assert round_points(position, 0, replace(NO_MERCY, deck="house")) == 80


@pytest.mark.rule("SCORE-3")
@pytest.mark.parametrize(
    ("scores", "absent", "winner"),
    [([999, 0, 0], (), None), ([1000, 0, 0], (), 0), ([0, 1200, 900], (), 1), ([0, 10, 20], (0, 2), 1)],
)
def test_the_first_to_reach_the_target_wins_the_match(
    scores: list[int], absent: tuple[int, ...], winner: int | None
) -> None:
    assert Match(NO_MERCY, tuple(scores), 0, absent).winner(Outcome(0, 0)) == winner


@pytest.mark.rule("SCORE-3")
@pytest.mark.parametrize(
    ("scores", "absent", "winner"),
    [
        ([499, 0, 10], (), None),
        ([500, 0, 10], (), 1),
        ([500, 20, 10], (), 2),
        ([500, 10, 10], (), None),
        ([500, 5, 10], (1,), 2),
        ([100, 5, 600], (2,), None),
    ],
)
def test_with_penalty_points_the_lowest_score_wins(
    scores: list[int], absent: tuple[int, ...], winner: int | None
) -> None:
    assert Match(PENALTY, tuple(scores), 0, absent).winner(Outcome(0, ())) == winner


@pytest.mark.rule("SCORE-3")
def test_a_single_round_is_won_by_its_winner() -> None:
    match = Match(options_from("no-mercy", {"target": 0}), (0, 0), 0)
    assert match.winner(Outcome(1, 0)) == 1


def test_an_outcome_gives_each_seat_its_points() -> None:
    assert outcome(Position(hands=[["r1"], ["r2"]], turn=0, discard_pile=["r3"])) is None
    over = Position(hands=[[], ["r2"]], turn=0, discard_pile=["r3"], phase="over", winner=0, points=2)
    assert outcome(over) == Outcome(0, 2)
    assert [Outcome(0, 2).gained(seat) for seat in (0, 1)] == [2, 0]
    assert [Outcome(0, (0, 7)).gained(seat) for seat in (0, 1)] == [0, 7]


def test_a_match_adds_up_the_points_of_its_rounds() -> None:
    match = Match(NO_MERCY, (10, 20, 30), 2, (0,))
    assert match.with_result(Outcome(1, 57)) == Match(NO_MERCY, (10, 77, 30), 2, (0,), rounds=1)
    assert match.with_result(Outcome(1, (5, 0, 7))) == Match(NO_MERCY, (15, 20, 37), 2, (0,), rounds=1)


@pytest.mark.rule("SETUP-5")
@pytest.mark.parametrize(("dealer", "absent", "following", "again"), [(0, (), 1, 0), (2, (), 0, 2), (0, (0, 1), 2, 2)])
def test_a_match_knows_the_next_dealer_and_the_dealer_after_a_void_round(
    dealer: int, absent: tuple[int, ...], following: int, again: int
) -> None:
    match = Match(NO_MERCY, (0, 0, 0), dealer, absent)
    assert (match.next_dealer, match.dealer_after_void) == (following, again)
