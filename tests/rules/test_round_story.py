"""What the end of a round tells: what finished each player, what won, and what each player did."""

from __future__ import annotations

from typing import Final

import pytest

from games.rules import Blow, Event, Feats, LoggedMove, round_story
from tests.rules.test_key_moments import drew, owes


def played(seat: int, card: str) -> Event:
    return Event("played", seat, card=card)


def out(seat: int) -> Event:
    return Event("knocked_out", seat)


def won(seat: int, reason: str = "last_card") -> Event:
    return Event("won", seat, points=10, reason=reason)


TURNED_OVER: Final = Event("turned_over", 1, color="g", cards=("r1", "g2"), amount=2)
STACKED: Final = [
    LoggedMove(1, "play W6", [played(0, "W6"), owes(1, 6)]),
    LoggedMove(2, "play W10", [played(1, "W10"), owes(2, 16)]),
]
ROUNDS: Final[dict[str, tuple[list[LoggedMove], dict[int, Blow], Blow | None]]] = {
    "a stack": (
        [*STACKED, LoggedMove(3, "take", [drew(2, "stack", 9), out(2)]), LoggedMove(4, "play r1", [played(0, "r1")])],
        {2: Blow(3, "W10", 1, 16)},
        None,
    ),
    "a roulette": (
        [
            LoggedMove(1, "play WC", [played(0, "WC"), Event("aimed", 0, target=1)]),
            LoggedMove(2, "color g", [Event("named_color", 1, color="g"), TURNED_OVER, out(1), won(0, "last_one_in")]),
        ],
        {1: Blow(2, "WC", 0)},
        Blow(2, "WC", 0),
    ),
    "a catch": (
        [LoggedMove(5, "catch 1", [Event("caught", 0, target=1, amount=2), drew(1, "caught", 2), out(1)])],
        {1: Blow(5, None, 0)},
        None,
    ),
    "a turn without a card that fits": (
        [LoggedMove(5, "draw", [drew(1, "turn", 9), out(1)])],
        {1: Blow(5)},
        None,
    ),
    "a stack that comes back to its sender": (
        [LoggedMove(5, "play WR4", [played(1, "WR4"), owes(1, 4)]), LoggedMove(6, "take", [drew(1, "stack"), out(1)])],
        {1: Blow(6, "WR4", None, 4)},
        None,
    ),
    "the last card": ([LoggedMove(7, "play r5", [played(2, "r5"), won(2)])], {}, Blow(7, "r5", 2)),
    "a last card that a stack follows": (
        [
            LoggedMove(7, "play W6", [played(2, "W6"), owes(0, 6), Event("went_out", 2)]),
            LoggedMove(8, "take", [drew(0, "stack", 6), won(2)]),
        ],
        {},
        Blow(7, "W6", 2),
    ),
    "a last card of a player who had to come back": (
        [
            LoggedMove(7, "play W6", [played(2, "W6"), owes(0, 6), Event("went_out", 2)]),
            LoggedMove(8, "play W6", [played(0, "W6"), owes(2, 12)]),
            LoggedMove(9, "take", [Event("came_back", 2), drew(2, "stack", 12)]),
            LoggedMove(10, "play r1", [played(2, "r1"), won(2)]),
        ],
        {},
        Blow(10, "r1", 2),
    ),
    "a wild card before a Flip": (
        [
            LoggedMove(1, "play rF", [played(0, "rF"), Event("flipped", 0, card="o5", reason="dark")]),
            LoggedMove(2, "play WD", [played(1, "WD"), Event("owes_color", 2, color="o")]),
            LoggedMove(3, "play oF", [played(0, "oF"), Event("flipped", 0, card="r5", reason="light")]),
            LoggedMove(4, "take", [Event("turned_over", 2, color="o", cards=("r1",), amount=1), out(2)]),
        ],
        {2: Blow(4, "WD", 1, side="dark")},
        None,
    ),
    "a player who left": (
        [LoggedMove(7, "leave", [Event("left", 1), won(0, "last_one_in")])],
        {},
        Blow(7),
    ),
    "the round after it": (
        [LoggedMove(1, "draw", [out(1), won(0)]), LoggedMove(2, "play r5", [played(2, "r5"), won(2)])],
        {},
        Blow(2, "r5", 2),
    ),
}


@pytest.mark.parametrize("name", ROUNDS)
def test_the_log_of_a_round_tells_what_finished_its_players(name: str) -> None:
    lines, outs, win = ROUNDS[name]
    story = round_story(lines, 3)
    assert (story.outs, story.win) == (outs, win)


@pytest.mark.parametrize(
    ("last", "third"),
    [
        ([drew(2, "stack", 16)], Feats(survived=16, drawn=16)),
        ([drew(2, "debt", 9), out(2)], Feats(drawn=9)),
        ([Event("stack_gone", 2)], Feats()),
    ],
)
def test_feats_are_the_biggest_stacks_and_all_drawn_cards(last: list[Event], third: Feats) -> None:
    lines = [LoggedMove(0, "draw", [drew(0, "turn", 3)]), *STACKED, LoggedMove(3, "", last)]
    lines += [LoggedMove(4, "play W6", [played(0, "W6"), owes(1, 4)]), LoggedMove(5, "color g", [TURNED_OVER])]
    assert round_story(lines, 3).feats == (Feats(sent=6, drawn=3), Feats(sent=16, survived=4, drawn=2), third)
