"""Test what the clock does when a player's time runs out."""

from __future__ import annotations

from datetime import time, timedelta
from typing import Any

import pytest
from pytest_django.fixtures import DjangoAssertNumQueries

from accounts.models import User
from games import announce, queries
from games.actions import sweep, timeouts
from games.actions.next_round import deal_next
from games.models import Game, Hand, Heartbeat, Notice, Seat
from games.queries.verify import faults_of
from games.refusals import Denied
from tests.support.clocks import HOUR, SECOND, THREE_HANDS, due_table, move, refused, swept
from tests.support.notices import texts_of
from tests.support.tables import NOON, TWO_HANDS, log_of, now_of, table_after, table_at

pytestmark = pytest.mark.django_db

EXPOSED = {**TWO_HANDS, "hands": [["b1"], ["r4", "g3"]], "exposed": [0], "turn": 1}
"""It is the turn of seat 1, and seat 0 can be caught."""


@pytest.mark.rule("CLOCK-1")
@pytest.mark.parametrize(
    ("changes", "lines", "deadline"),
    [
        ({"pending": {"total": 6, "value": 4}, "discard_pile": ["r+4"]}, ["0 clock take"], 48),
        ({"phase": "choose_color", "color": None, "discard_pile": ["WC"]}, ["0 clock color b"], 48),
        ({"draw_pile": ["b5", "g1", "r9", "y3"]}, ["0 clock draw", "0 clock play r9"], 48),
        ({"phase": "drawn", "drawn": "r5"}, ["0 clock play r5"], 48),
        ({"draw_pile": ["rE", "g1", "y3"]}, ["0 clock draw", "0 clock play rE"], 24),
    ],
)
def test_the_clock_plays_when_time_runs_out(
    alice: User, bob: User, changes: dict[str, Any], lines: list[str], deadline: int
) -> None:
    table = due_table({**TWO_HANDS, **changes}, [alice, bob])
    assert swept() == sweep.Swept(acted=1)
    assert log_of(table) == lines
    after = now_of(table)
    assert after.game.deadline == NOON + deadline * HOUR
    assert (after.seats[0].misses, after.seats[0].bank) == (1, 0)
    assert swept() == sweep.Swept()


@pytest.mark.parametrize(
    "fields",
    [
        {"deadline": NOON + SECOND},
        {"status": Game.Status.OVER},
        {"deadline": None, "remind_at": None, "paused_at": NOON - HOUR, "paused_reasons": ["staff"]},
    ],
)
def test_no_clock_acts_early_or_in_a_game_that_is_over_or_paused(
    alice: User, bob: User, fields: dict[str, Any]
) -> None:
    table = due_table(TWO_HANDS, [alice, bob])
    Game.objects.filter(pk=table.game.pk).update(**fields)
    if fields.get("deadline") is None:
        Hand.objects.filter(round=table.started.round).update(callout_until=NOON - HOUR)
    assert swept() == sweep.Swept()


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
def test_games_that_the_clock_played_replay_from_their_log(alice: User, bob: User, charlie: User) -> None:
    for seed in range(6):
        table = table_after([alice, bob, charlie], 8, seed, deadline=NOON, turn_since=NOON - HOUR)
        for turns in range(1, 8):
            swept(NOON + turns * 80 * HOUR)
        assert any("clock" in line for line in log_of(table))
        assert faults_of(table.game.pk) == []


@pytest.mark.rule("CLOCK-2")
def test_a_callout_window_closes_when_its_time_has_passed(alice: User, bob: User) -> None:
    table = table_at(EXPOSED, [alice, bob], deadline=NOON + HOUR)
    Hand.objects.filter(round=table.started.round, seat__index=0).update(callout_until=NOON)
    assert swept(NOON - SECOND) == sweep.Swept()
    assert swept() == sweep.Swept(acted=1)
    after = now_of(table)
    assert log_of(table) == ["0 clock uno"]
    assert (after.started.position.exposed, after.started.hands[0].callout_until) == ((), None)
    assert (after.game.deadline, after.seats[0].misses) == (NOON + HOUR, 0)


@pytest.mark.rule("CLOCK-2")
def test_a_late_catch_is_refused_even_before_the_sweep_runs(alice: User, bob: User) -> None:
    table = table_at(EXPOSED, [alice, bob], deadline=NOON + HOUR)
    Hand.objects.filter(round=table.started.round, seat__index=0).update(callout_until=NOON - SECOND)
    assert refused(lambda: move(table, bob, "catch 0")) == ("nobody_to_catch", 422)
    assert log_of(table) == ["0 clock uno"]


def test_a_window_closed_by_the_end_of_the_turn_is_not_logged(alice: User, bob: User) -> None:
    table = due_table(EXPOSED, [alice, bob])
    Hand.objects.filter(round=table.started.round, seat__index=0).update(callout_until=NOON)
    swept()
    assert log_of(table)[0] == "1 clock draw"


def test_a_late_move_loses_to_the_clock(alice: User, bob: User) -> None:
    table = due_table(TWO_HANDS, [alice, bob])
    with pytest.raises(Denied, match="Your time ran out") as late:
        move(table, alice, "play r5", version=0)
    assert (late.value.code, late.value.rule, late.value.version) == ("stale", "CLOCK-1", 2)
    assert log_of(table) == ["0 clock draw", "0 clock play y3"]


def test_a_move_in_time_is_accepted_even_if_the_sweep_is_late(alice: User, bob: User) -> None:
    table = due_table(TWO_HANDS, [alice, bob])
    move(table, alice, "play r5", at=NOON - 2 * SECOND)
    assert swept() == sweep.Swept()
    assert log_of(table) == ["0 play r5"]


def test_the_database_s_clock_decides_who_is_late(alice: User, bob: User) -> None:
    table = due_table(TWO_HANDS, [alice, bob], deadline=NOON + 5 * SECOND)
    here = queries.load(Game.objects.get(pk=table.game.pk))
    assert not timeouts.is_due(here, NOON)
    here.game.skew = 6 * SECOND  # this process's clock is behind
    assert timeouts.is_due(here, NOON)
    here.game.skew = -6 * SECOND
    assert not timeouts.is_due(here, NOON + 10 * SECOND)


def test_a_late_resignation_comes_after_the_clock_s_move(alice: User, bob: User, charlie: User) -> None:
    table = due_table(THREE_HANDS, [alice, bob, charlie])
    move(table, alice, "leave")
    assert log_of(table) == ["0 clock draw", "0 clock play y3", "0 leave"]


@pytest.mark.rule("CLOCK-3")
@pytest.mark.parametrize("text", ["play r5", "uno", "catch 1"])
def test_a_player_s_own_move_resets_the_misses(alice: User, bob: User, text: str) -> None:
    hands = {"play r5": [["r5", "b1", "b2"], ["r4", "g3"]], "uno": [["b1"], ["r4", "g3"]], "catch 1": [["b1"], ["g3"]]}
    exposed = {"play r5": [], "uno": [0], "catch 1": [1]}
    table = table_at({**TWO_HANDS, "hands": hands[text], "exposed": exposed[text]}, [alice, bob])
    Seat.objects.filter(game=table.game, index=0).update(misses=2)
    move(table, alice, text)
    assert now_of(table).seats[0].misses == 0


def mail_texts(user: User, kind: str) -> list[str]:
    """Return the texts of this person's mails of this kind."""
    return texts_of(Notice.objects.filter(user=user, kind=kind, channel="email"))


@pytest.mark.rule("CLOCK-3")
def test_after_the_last_miss_a_bot_takes_the_seat(alice: User, bob: User) -> None:
    table = due_table(TWO_HANDS, [alice, bob])
    Seat.objects.filter(game=table.game, index=0).update(misses=2)
    swept()
    after = now_of(table)
    assert log_of(table) == ["0 clock draw", "0 clock play y3"]
    seat = after.seats[0]
    assert (seat.bot, seat.user_id, seat.misses, seat.left) == ("careful", alice.pk, 0, False)
    assert after.game.status == Game.Status.PLAYING
    assert mail_texts(alice, "bot_took_over") == [
        "You missed too many turns, so a bot is keeping your seat warm. Take it back any time."
    ]


@pytest.mark.rule("CLOCK-3")
def test_a_bot_that_takes_over_during_its_own_turn_is_due_immediately(alice: User, bob: User) -> None:
    table = due_table({**TWO_HANDS, "draw_pile": ["rE", "g1", "y3"]}, [alice, bob], bot_pause=2.0, misses_allowed=1)
    swept()
    game = now_of(table).game
    assert (game.deadline, game.remind_at, game.wake_at) == (None, None, NOON + timedelta(seconds=2))


@pytest.mark.rule("CLOCK-3")
def test_after_the_last_miss_the_player_leaves_if_the_table_says_so(alice: User, bob: User, charlie: User) -> None:
    table = due_table(THREE_HANDS, [alice, bob, charlie], misses_allowed=1, after_misses="leave")
    swept()
    after = now_of(table)
    assert log_of(table) == ["0 clock draw", "0 clock play y3", "0 leave"]
    assert after.seats[0].left
    assert after.started.position.turn == 1
    assert mail_texts(alice, "taken_out") == ["You missed too many turns, so you are out of the game."]


@pytest.mark.rule("CLOCK-3")
def test_a_player_who_misses_the_last_turn_of_a_round_leaves_at_the_next_deal(
    alice: User, bob: User, charlie: User
) -> None:
    position = {**THREE_HANDS, "hands": [[], ["r4"], ["y1"]], "phase": "over", "winner": 0, "points": 5}
    table = table_at(position, [alice, bob, charlie], target=1000, misses_allowed=1, after_misses="leave")
    Seat.objects.filter(game=table.game, index=1).update(misses=1)
    deal_next(game_id=table.game.pk, now=NOON)
    after = now_of(table)
    assert log_of(table) == ["1 leave"]
    assert after.seats[1].left
    assert mail_texts(bob, "taken_out") == ["You missed too many turns, so you are out of the game."]
    assert after.game.deadline is not None


def test_a_due_deadline_in_quiet_hours_moves_instead(alice: User, bob: User) -> None:
    table = due_table(TWO_HANDS, [alice, bob])
    User.objects.filter(pk=alice.pk).update(quiet_from=time(10), quiet_to=time(14))
    assert swept() == sweep.Swept(acted=1)
    assert log_of(table) == []
    assert now_of(table).game.deadline == NOON + 2 * HOUR
    swept(NOON + 2 * HOUR)
    assert log_of(table) != []


@pytest.mark.parametrize("windows", [True, False])
def test_many_failing_games_do_not_hold_up_others(
    alice: User, bob: User, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, windows: bool
) -> None:
    """There are more of them than a sweep handles at once, and all are due earlier."""
    monkeypatch.setattr(sweep, "BATCH", 2)
    deadline = NOON + HOUR if windows else NOON - HOUR
    *broken, whole = (table_at(EXPOSED, [alice, bob], deadline=deadline + n * SECOND) for n in range(6))
    Hand.objects.filter(seat__index=0).update(callout_until=NOON - HOUR if windows else None)
    Game.objects.filter(pk__in=[table.game.pk for table in broken]).update(preset="nonsense")
    Heartbeat.objects.create(pk=1, at=NOON)
    assert sweep.sweep(clock=lambda: NOON, most=1) == sweep.Swept(acted=1, failed=5)
    assert [bool(log_of(table)) for table in (*broken, whole)] == [False] * 5 + [True]
    assert "nonsense" not in caplog.text


@pytest.mark.long
def test_many_failing_bots_do_not_hold_up_others(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are asked for again and again without a move."""
    monkeypatch.setattr(sweep, "BATCH", 2)
    asked: list[int] = []
    monkeypatch.setattr(announce, "wake_bots", lambda game_id, at: asked.append(game_id))
    tables = [
        table_at({**TWO_HANDS, "turn": 1}, [alice, "careful"], wake_at=NOON - HOUR + n * SECOND) for n in range(6)
    ]
    assert {swept().asked for _ in range(30)} <= {1, 2}
    assert set(asked) == {table.game.pk for table in tables}


def test_an_idle_sweep_writes_nothing(
    alice: User, bob: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    table_at(TWO_HANDS, [alice, bob], deadline=NOON + HOUR)
    swept()
    # Heartbeat, bots of attended and unattended games, windows, claim of a turn
    with django_assert_num_queries(7) as asked:
        sweep.sweep(clock=lambda: NOON + SECOND)
    assert not [query for query in asked.captured_queries if query["sql"].lstrip().startswith(("UPDATE", "INSERT"))]
