"""ELIM-1 to ELIM-3, MATCH-1, STUCK-1: players who are out, points, matches, and rounds where nobody can move."""

from __future__ import annotations

from functools import partial

import pytest

from games.rules import Match, Outcome, Position, Shuffler, apply, key_from_seed, options_from, outcome, parse_move
from games.rules.position import Extra
from tests.rules.tables import Case, Json, answer, case, cases, check

PNM = {"preset": "playroom-no-mercy", "mercy_limit": 10, "skip_after_draw": True, "stacking": "any"}
PARTY = {"preset": "house-party"}
party_case = partial(case, options=PARTY)
CLASSIC = {"preset": "classic"}
EIGHT = "b1 b2 b3 b4 b5 b6 b8 b9"
KNOCKED_OUT: Json = {"discard_pile": "r+4", "pending": (4, 4), "turn": 1}


@pytest.mark.rule("ELIM-1")
def test_the_hand_of_a_player_who_is_out_is_shuffled_into_the_draw_pile() -> None:
    pile = "r5 r6 y3 g4 g8"
    row = case("ELIM-1", "", f"y1 y2 / {EIGHT} / g1 g2", "1 take", options=PNM, draw_pile=pile, seed="s", **KNOCKED_OUT)
    position = answer(row.request)["position"]
    together = sorted([*EIGHT.split(), *pile.split()])
    assert position["draw_pile"] == Shuffler(key_from_seed("s")).shuffle(together, "1")
    assert (position["out"], position["set_aside"], position["reshuffles"], position["turn"]) == ([1], [], 1, 2)


@cases(
    case(
        "ELIM-1 MERCY-2",
        "set_aside: the hand is set aside",
        f"y1 y2 / {EIGHT} / g1 g2",
        "1 take",
        {"set_aside": "b1 b2 b3 b4 b5 b6 b8 b9 r5 r6", "draw_pile": "y3 g4 g8", "reshuffles": 0},
        options={**PNM, "mercy_cards": "set_aside"},
        draw_pile="r5 r6 y3 g4 g8",
        **KNOCKED_OUT,
    ),
    party_case(
        "ELIM-1 LEAVE-1",
        "a leaver's hand goes there too, also when the round ends with it",
        "y1 y2 / b1 b2",
        "0 leave",
        {"winner": 1, "set_aside": "-", "reshuffles": 1},
    ),
    party_case(
        "ELIM-1 END-2",
        "an empty hand shuffles nothing",
        "- / b1 b2 / y1 y2",
        "0 leave",
        {"draw_pile": "r1 r2", "reshuffles": 0, "out": [0], "going_out": []},
        discard_pile="r+2",
        pending=(2, 2),
        turn=1,
        going_out=[0],
        draw_pile="r1 r2",
    ),
    case(
        "ELIM-2",
        "mercy_card_points: the hand counts when its player is knocked out",
        f"y1 y2 / {EIGHT} / g1 g2",
        "1 take",
        {"fines": [0, 49, 0]},
        options={**PNM, "mercy_card_points": True},
        draw_pile="r5 r6 y3 g4 g8",
        **KNOCKED_OUT,
    ),
    case(
        "ELIM-2",
        "and without it it does not",
        f"y1 y2 / {EIGHT} / g1 g2",
        "1 take",
        {"fines": None},
        options=PNM,
        draw_pile="r5 r6 y3 g4 g8",
        **KNOCKED_OUT,
    ),
    case(
        "ELIM-2 LEAVE-1",
        "a leaver's hand counts too",
        "y1 y2 / b9 W6 / g1 g2",
        "1 leave",
        {"fines": [0, 59, 0]},
        options={**PNM, "mercy_card_points": True},
    ),
    case(
        "ELIM-2 SCORE-4",
        "mercy_points are the worth of a player who is out",
        "r5 / b9 b8 / -",
        "0 play r5",
        {"points": [0, 17, 100]},
        options={**PNM, "mercy_points": 100},
        out=[2],
    ),
    case(
        "ELIM-3 ROUL-2",
        "knocked out in the own turn by a catch: the colour most held, the cards of the catch included",
        "r1 r2 / y2 / g1 g2",
        "2 catch 1",
        {"out": [1], "color": "b", "phase": "play", "turn": 2},
        options={"mercy_limit": 10, "callout_penalty": 10},
        turn=1,
        discard_pile="WC",
        phase="choose_color",
        exposed=[1],
        draw_pile="b1 b2 b4 r5 b6 y8 g9 W6 r2 y1 g1",
    ),
    case(
        "ELIM-3 END-3",
        "and the debt is gone, so a player who went out on it wins",
        "- / y2 / g1 g2",
        "2 catch 1",
        {"winner": 0},
        options={"mercy_limit": 10, "callout_penalty": 10},
        going_out=[0],
        exposed=[1],
        **KNOCKED_OUT,
    ),
    case(
        "ELIM-3",
        "a drawn card goes with the hand",
        "r1 r2 / r5 / g1 g2",
        "2 catch 1",
        {"out": [1], "drawn": None, "phase": "play", "turn": 2},
        options={"mercy_limit": 10, "callout_penalty": 10},
        turn=1,
        phase="drawn",
        drawn="r5",
        exposed=[1],
    ),
    case(
        "SCORE-4",
        "winner: the fines of all others, not the winner's own",
        "r5 / g9 / y1",
        "0 play r5",
        {"points": 11},
        options={**CLASSIC, "interceptions": "exact"},
        fines=[3, 1, 0],
    ),
    party_case(
        "SCORE-4",
        "penalty: everybody's own fines, the winner's too",
        "r5 / g9 gS / - / W",
        "0 play r5",
        {"points": [3, 29, 256, 50]},
        out=[2],
        fines=[3, 0, 6, 0],
    ),
    party_case(
        "SCORE-4 END-4", "the winner's own cards never count", "b9 W / g9", "1 leave", {"winner": 0, "points": [0, 250]}
    ),
)
def test_elimination(row: Case) -> None:
    check(row)


@pytest.mark.rule("SCORE-4 SCORE-2")
@pytest.mark.parametrize(("scoring", "points"), [("winner", 9 + 250 + 4), ("penalty", (3, 9, 254, 2))])
def test_seats_that_left_in_an_earlier_round_count_only_their_fines(scoring: str, points: object) -> None:
    options = options_from("classic", {"interceptions": "exact", "scoring": scoring})
    position = Position(
        hands=(("r5",), ("g9",), (), ()), turn=0, discard_pile=("r3",), color="r", out=(2, 3), absent=(3,),
        extra=Extra(fines=(3, 0, 4, 0 if scoring == "winner" else 2)),
    )  # fmt: skip
    after, _ = apply(position, 0, parse_move("play r5"), options, Shuffler(b"").shuffle)
    assert outcome(after) == Outcome(0, points)  # type: ignore[arg-type]  # a number or one a seat


def match(scores: tuple[int, ...], played: int, changes: Json) -> Match:
    return Match(options_from("no-mercy", changes), scores, 0, rounds=played)


@pytest.mark.rule("MATCH-1")
@pytest.mark.parametrize(
    ("scores", "rounds", "changes", "winner"),
    [
        ((10, 900, 30), 2, {"rounds": 3}, None),
        ((10, 900, 30), 3, {"rounds": 3}, 1),
        ((10, 1000, 30), 2, {"rounds": 3}, 1),
        ((10, 1000, 30), 2, {"rounds": 3, "scoring": "penalty"}, 0),
        ((10, 900, 30), 3, {"rounds": 3, "scoring": "penalty"}, 0),
        ((900, 900, 30), 3, {"rounds": 3}, None),  # a tie is decided by another round
        ((900, 910, 30), 4, {"rounds": 3}, 1),
        ((900, 5, 5), 3, {"rounds": 3, "scoring": "penalty"}, None),
        ((10, 1200, 1200), 2, {}, None),
        ((10, 1200, 1300), 2, {}, 2),
        ((10, 900, 30), 1, {"target": 0}, 2),  # a single round is won by its winner
        ((10, 900, 30), 1, {"target": 0, "rounds": 1}, 2),
        ((10, 9000, 30), 1, {"target": 0, "rounds": 2}, None),
        ((10, 9000, 30), 2, {"target": 0, "rounds": 2}, 1),
        ((10, 900, 30), 1, {"rounds": 1}, 1),
    ],
)
def test_a_match_ends_after_its_rounds_or_at_its_target(
    scores: tuple[int, ...], rounds: int, changes: Json, winner: int | None
) -> None:
    assert match(scores, rounds, changes).winner(Outcome(2, 0)) == winner


STUCK: Json = {"options": CLASSIC, "draw_pile": "-"}


@cases(
    case(
        "STUCK-1",
        "a turn without any card is counted",
        "g5 b9 / b2 / y1 y4",
        "0 draw; 1 draw",
        {"passes": 2, "turn": 2, "phase": "play"},
        **STUCK,
    ),
    case(
        "STUCK-1",
        "after as many as there are players the fewest points win",
        "g5 b9 / b2 / y1 y4",
        "0 draw; 1 draw; 2 draw",
        {"winner": 1, "points": 19, "passes": 3},
        **STUCK,
    ),
    case(
        "STUCK-1",
        "a tie goes to the first after the seat that passed last",
        "g9 b9 / b2 g3 / y1 y4",
        "1 draw",
        {"winner": 2},
        turn=1,
        passes=2,
        **STUCK,
    ),
    case(
        "STUCK-1",
        "in the direction of play",
        "g9 b9 / b2 g3 / y1 y4 / b5",
        "1 draw",
        {"winner": 3},
        turn=1,
        passes=3,
        direction=-1,
        **STUCK,
    ),
    case(
        "STUCK-1",
        "a card played starts it again",
        "r5 b9 / b2 / y1 y4",
        "0 play r5",
        {"passes": None},
        passes=2,
        **STUCK,
    ),
    case(
        "STUCK-1",
        "a card drawn does too",
        "g5 b9 / b2 / y1 y4",
        "0 draw",
        {"passes": None, "hands": "b1 b9 g5 / b2 / y1 y4"},
        passes=2,
        options=CLASSIC,
        draw_pile="b1",
    ),
    case(
        "STUCK-1",
        "also one drawn by somebody who was caught",
        "g5 b9 / b2 / y1 y4",
        "0 catch 1",
        {"passes": None},
        passes=2,
        options=CLASSIC,
        draw_pile="b1",
        exposed=[1],
    ),
    case(
        "STUCK-1",
        "it is not looked at when somebody leaves",
        "g5 b9 / b2 / y1 y4",
        "0 leave",
        {"winner": None, "passes": 2, "turn": 1},
        passes=2,
        **{**STUCK, "options": {**CLASSIC, "mercy_cards": "set_aside"}},
    ),
    case(
        "STUCK-1",
        "a table whose hands cannot hold the deck does not count",
        "g5 b9 / b2 / y1 y4",
        "0 draw; 1 draw; 2 draw; 0 draw",
        {"passes": None, "winner": None, "turn": 1},
        draw_pile="-",
    ),
    case(
        "STUCK-1",
        "with a mercy limit enough players could hold it",
        "b1 / g2 / y1 / g4 / g5 / g6 / b6",
        "0 draw",
        {"passes": 1},
        options={"preset": "playroom-no-mercy"},
        draw_pile="-",
    ),
    case(
        "STUCK-1",
        "but not one player fewer",
        "b1 / g2 / y1 / g4 / g5 / g6",
        "0 draw",
        {"passes": None},
        options={"preset": "playroom-no-mercy"},
        draw_pile="-",
    ),
)
def test_nobody_can_move(row: Case) -> None:
    check(row)


def test_a_match_counts_its_rounds() -> None:
    assert match((0, 0), 1, {}).with_result(Outcome(0, 5)).rounds == 2
