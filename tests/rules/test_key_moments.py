"""Key moments: as tables of events, and against the positions of random games."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from games.rules import (
    PRESETS,
    TELLING,
    Event,
    KeyMoment,
    LoggedMove,
    LoggedRound,
    Match,
    Options,
    Outcome,
    key_moments,
)
from games.rules.key_moments import BIG_STACK
from tests.rules.strategies import Played, play, tables

ONE_ROUND: Final = replace(PRESETS["no-mercy"], target=0, rounds=0)
A_MATCH: Final = replace(ONE_ROUND, target=500)
GOLF: Final = replace(A_MATCH, scoring="penalty")


def owes(seat: int, amount: int) -> Event:
    return Event("owes", seat, amount=amount)


def drew(seat: int, reason: str, amount: int = 1) -> Event:
    return Event("drew", seat, amount=amount, reason=reason)


STORIES: Final[dict[str, tuple[list[LoggedMove], list[KeyMoment]]]] = {
    "a small stack": ([LoggedMove(1, "play r+2", [owes(1, 9)]), LoggedMove(2, "take", [drew(1, "stack", 9)])], []),
    "a stack that is taken": (
        [
            LoggedMove(1, "play W6", [owes(1, 6)]),
            LoggedMove(2, "play W6", [owes(0, 12)]),
            LoggedMove(3, "take", [drew(0, "stack", 12)]),
        ],
        [KeyMoment(3, 1, "took_stack", 0, 12)],
    ),
    "a stack that knocks out": (
        [
            LoggedMove(1, "play W10", [owes(1, 20)]),
            LoggedMove(2, "take", [drew(1, "stack", 8), Event("knocked_out", 1)]),
        ],
        [KeyMoment(2, 1, "took_stack", 1, 20), KeyMoment(2, 1, "knocked_out", 1)],
    ),
    "a stack that is passed on": (
        [LoggedMove(1, "play W10", [owes(1, 10)]), LoggedMove(2, "play rS", [owes(2, 10)])],
        [KeyMoment(1, 1, "stack", 1, 10)],
    ),
    "a stack that is cancelled": (
        [LoggedMove(1, "play W10", [owes(1, 10)]), LoggedMove(2, "leave", [Event("left", 1), Event("stack_gone", 1)])],
        [KeyMoment(1, 1, "stack", 1, 10)],
    ),
    "a stack with no card left to draw": (
        [
            LoggedMove(1, "play W10", [owes(1, 10)]),
            LoggedMove(2, "catch 0", [Event("nothing_left", 0)]),
            LoggedMove(3, "clock take", [Event("nothing_left", 1)]),
            LoggedMove(4, "play W10", [owes(0, 10)]),
        ],
        [KeyMoment(3, 1, "took_stack", 1, 10), KeyMoment(4, 1, "stack", 0, 10)],
    ),
    "a challenge": (
        [LoggedMove(1, "play W10", [owes(1, 10)]), LoggedMove(2, "challenge", [drew(0, "debt", 10)])],
        [KeyMoment(2, 1, "took_stack", 0, 10)],
    ),
    "a stack that is paid at once": (
        [LoggedMove(1, "play W10", [owes(1, 10), drew(1, "stack", 10), owes(1, 4)])],
        [KeyMoment(1, 1, "took_stack", 1, 10)],
    ),
    "a catch while a stack is open": (
        [LoggedMove(1, "play W10", [owes(1, 10)]), LoggedMove(2, "catch 0", [drew(0, "caught", 2), owes(1, 10)])],
        [KeyMoment(1, 1, "stack", 1, 10)],
    ),
}


@pytest.mark.parametrize("story", STORIES)
def test_the_events_of_a_round_tell_its_key_moments(story: str) -> None:
    lines, expected = STORIES[story]
    assert key_moments([LoggedRound(1, 9, Outcome(0, 10), (), lines)], ONE_ROUND, 3) == expected


def scored(*points: int | tuple[int, ...], winners: Sequence[int] = ()) -> list[LoggedRound]:
    """Return rounds that ended with these points, the n-th after line 10 * n."""
    return [
        LoggedRound(n, 10 * n, Outcome(winner, given), (), [])
        for n, (given, winner) in enumerate(zip(points, winners or [0] * len(points), strict=True), 1)
    ]


@pytest.mark.parametrize(
    ("options", "rounds", "expected"),
    [
        (A_MATCH, scored(50, 20, winners=[0, 0]), []),
        (A_MATCH, scored(50, 80, winners=[0, 1]), [KeyMoment(20, 2, "lead", 1, 80)]),
        # A tie changes nothing, and the same leader after it is no change.
        (A_MATCH, scored(50, 50, 5, winners=[0, 1, 0]), []),
        (A_MATCH, scored(50, 50, 5, winners=[0, 1, 1]), [KeyMoment(30, 3, "lead", 1, 55)]),
        (ONE_ROUND, scored(50, 80, winners=[0, 1]), []),
        (GOLF, scored((0, 30, 40), (60, 0, 40)), [KeyMoment(20, 2, "lead", 1, 30)]),
    ],
)
def test_the_lead_changes_when_another_has_the_best_score_alone(
    options: Options, rounds: list[LoggedRound], expected: list[KeyMoment]
) -> None:
    assert key_moments(rounds, options, 3) == expected


def test_a_leader_who_leaves_has_the_lead_no_more() -> None:
    first, second = scored((0, 30, 40), (0, 5, 5))
    left = [LoggedMove(14, "leave", [Event("left", 0)])]
    assert key_moments([first, second._replace(lines=left)], GOLF, 3) == [KeyMoment(20, 2, "lead", 1, 35)]
    assert key_moments([first, second._replace(absent=[0])], GOLF, 3) == [KeyMoment(20, 2, "lead", 1, 35)]


def test_a_void_round_has_moments_but_no_points() -> None:
    first, second, third = scored(50, 80, 10, winners=[0, 1, 0])
    void = second._replace(outcome=None, lines=[LoggedMove(12, "draw", [Event("knocked_out", 2)])])
    assert key_moments([first, void, third], A_MATCH, 3) == [KeyMoment(12, 2, "knocked_out", 2)]


def telling(event: Event) -> bool:
    return any(all(getattr(event, name) == value for name, value in fields.items()) for fields in TELLING)


def logged(moves: Sequence[Played]) -> list[LoggedMove]:
    """Return the lines that a caller has to give."""
    return [
        LoggedMove(n, str(played.move), played.events)
        for n, played in enumerate(moves, 1)
        if any(map(telling, played.events))
    ]


def expected_moments(moves: Sequence[Played]) -> list[tuple[str, int, int, int]]:
    """Work out knock-outs and stacks from the positions: kind, line, seat and size."""
    found: list[tuple[str, int, int, int]] = []
    biggest = None
    for n, played in enumerate(moves, 1):
        before, after = played.before.pending, played.after.pending
        left = {event.seat for event in played.events if event.kind == "left"}
        found += [("knocked_out", n, seat, 0) for seat in set(played.after.out) - set(played.before.out) - left]
        owed = [event for event in played.events if event.kind == "owes"]
        # A stack that is paid in the same move never shows in a position.
        size = after.total if after else max([event.amount or 0 for event in owed], default=0)
        if size and (biggest is None or size > biggest[1]):
            biggest = (n, size, owed[-1].seat)
        if (before or owed) and not after and biggest is not None:
            payer = next((e.seat for e in played.events if e.reason in ("stack", "debt") and e.kind == "drew"), None)
            if payer is None and any(event.kind == "nothing_left" for event in played.events):
                payer = next(event.seat for event in played.events if event.kind == "nothing_left")
            if biggest[1] >= BIG_STACK:
                gone = payer is None
                found.append(
                    ("stack", biggest[0], biggest[2], biggest[1]) if gone else ("took_stack", n, payer or 0, biggest[1])
                )
            biggest = None
    if biggest is not None and biggest[1] >= BIG_STACK:
        found.append(("stack", biggest[0], biggest[2], biggest[1]))
    return sorted(found)


@pytest.mark.long
@settings(max_examples=150, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(tables(), st.integers(2, 10), st.integers(0, 10**6))
def test_the_moments_of_random_games_are_those_of_their_positions(options: Options, players: int, seed: int) -> None:
    moves = list(play(options, players, seed, most=600))
    last = moves[-1].after
    ended = None if last.winner is None or last.points is None else Outcome(last.winner, last.points)
    found = key_moments([LoggedRound(1, len(moves), ended, (), logged(moves))], options, players)
    assert sorted((m.kind, m.n, m.seat, m.amount) for m in found) == expected_moments(moves)
    assert [moment.n for moment in found] == sorted(moment.n for moment in found)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    st.sampled_from([A_MATCH, GOLF]),
    st.lists(st.tuples(st.integers(0, 3), st.tuples(*[st.integers(0, 90)] * 4)), max_size=8),
)
def test_after_a_change_of_the_lead_its_seat_leads_alone(
    options: Options, results: list[tuple[int, tuple[int, ...]]]
) -> None:
    outcomes = [
        Outcome(winner, points[winner] if options.scoring == "winner" else points) for winner, points in results
    ]
    rounds = [LoggedRound(n, n, outcome, (), []) for n, outcome in enumerate(outcomes, 1)]
    moments = {moment.n: moment for moment in key_moments(rounds, options, 4)}
    match, leader = Match(options, (0, 0, 0, 0), 0), None
    for n, outcome in enumerate(outcomes, 1):
        match = match.with_result(outcome)
        best = (max if options.scoring == "winner" else min)(match.scores)
        alone = match.scores.index(best) if match.scores.count(best) == 1 else None
        changed = alone is not None and leader is not None and alone != leader
        assert (n in moments) == changed
        if changed:
            assert (moments[n].seat, moments[n].amount) == (alone, best)
        leader = leader if alone is None else alone
