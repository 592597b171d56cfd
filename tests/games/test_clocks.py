"""What the clock does for players whose time is up, what stops it, and what moves it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, time, timedelta
from typing import Any

import pytest
from django.db import transaction
from pytest_django.fixtures import DjangoAssertNumQueries

from accounts.models import User
from games import announce, queries
from games.actions import agreements, clocks, sweep
from games.actions.locks import lock_game
from games.actions.next_round import deal_next
from games.actions.play import play_move
from games.models import Game, Hand, Heartbeat, Round, Seat
from games.queries import Table
from games.refusals import Denied
from games.verify import faults_of
from tests.support.tables import NOON, TWO_HANDS, log_of, now_of, table_after, table_at

pytestmark = pytest.mark.django_db

HOUR = timedelta(hours=1)
SECOND = timedelta(seconds=1)
THREE_HANDS = {**TWO_HANDS, "hands": [["r5", "b1", "b2"], ["r4", "g3", "W6"], ["y1", "y2", "b3"]]}


def due_table(position: dict[str, Any] | Any, people: list[Any], **fields: Any) -> Table:
    """A table whose turn ran out a second before noon."""
    return table_at(
        position, people, **{"deadline": NOON - SECOND, "turn_since": NOON - HOUR, "remind_at": NOON - SECOND, **fields}
    )


def swept(at: datetime = NOON, *, last: datetime | None = None) -> sweep.Swept:
    """What a sweep does at this moment, the one before having run `last` (else just now)."""
    Heartbeat.objects.update_or_create(pk=1, defaults={"at": last or at})
    return sweep.sweep(clock=lambda: at)


def move(table: Table, user: User, text: str, *, at: datetime = NOON, version: int | None = None) -> Table:
    version = now_of(table).game.version if version is None else version
    return play_move(code=table.game.code, user=user, text=text, version=version, now=at)


def locked(table: Table, act: Callable[[Table], Any]) -> Any:
    with transaction.atomic():
        return act(queries.load(lock_game(pk=table.game.pk)))


def refused(act: Callable[[], object]) -> tuple[str, int]:
    with pytest.raises(Denied) as caught:
        act()
    return caught.value.code, caught.value.status


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
def test_the_clock_plays_for_whose_time_is_up(
    alice: User, bob: User, changes: dict[str, Any], lines: list[str], deadline: int
) -> None:
    table = due_table({**TWO_HANDS, **changes}, [alice, bob])
    assert swept() == sweep.Swept(acted=1)
    assert log_of(table) == lines
    after = now_of(table)
    assert after.game.deadline == NOON + deadline * HOUR
    assert (after.seats[0].misses, after.seats[0].bank) == (1, 0)
    assert swept() == sweep.Swept()


def test_no_clock_acts_before_its_time(alice: User, bob: User) -> None:
    due_table(TWO_HANDS, [alice, bob], deadline=NOON + SECOND)
    assert swept() == sweep.Swept()


@pytest.mark.parametrize(
    "fields",
    [
        {"status": Game.Status.OVER},
        {"deadline": None, "remind_at": None, "paused_at": NOON - HOUR, "paused_reasons": ["staff"]},
    ],
)
def test_no_clock_acts_in_a_game_that_is_over_or_paused(alice: User, bob: User, fields: dict[str, Any]) -> None:
    table = due_table(TWO_HANDS, [alice, bob])
    Game.objects.filter(pk=table.game.pk).update(**fields)
    Hand.objects.filter(round=table.round).update(callout_until=NOON - HOUR)
    assert swept() == sweep.Swept()


@pytest.mark.django_db(transaction=True)
def test_games_the_clock_has_played_follow_from_their_log(alice: User, bob: User, charlie: User) -> None:
    for seed in range(6):
        table = table_after([alice, bob, charlie], 8, seed, deadline=NOON, turn_since=NOON - HOUR)
        for turns in range(1, 8):
            swept(NOON + turns * 80 * HOUR)
        assert any("clock" in line for line in log_of(table))
        assert faults_of(table.game.pk) == []


@pytest.mark.rule("CLOCK-2")
def test_a_callout_window_closes_when_its_own_time_has_passed(alice: User, bob: User) -> None:
    position = {**TWO_HANDS, "hands": [["b1"], ["r4", "g3"]], "exposed": [0], "turn": 1}
    table = table_at(position, [alice, bob], deadline=NOON + HOUR)
    Hand.objects.filter(round=table.round, seat__index=0).update(callout_until=NOON)
    assert swept(NOON - SECOND) == sweep.Swept()
    assert swept() == sweep.Swept(acted=1)
    after = now_of(table)
    assert log_of(table) == ["0 clock uno"]
    assert (after.playing[2].exposed, after.playing[1][0].callout_until) == ((), None)
    assert (after.game.deadline, after.seats[0].misses) == (NOON + HOUR, 0)


@pytest.mark.rule("CLOCK-2")
def test_a_catch_after_the_window_s_time_is_refused_though_no_sweep_has_come(alice: User, bob: User) -> None:
    position = {**TWO_HANDS, "hands": [["b1"], ["r4", "g3"]], "exposed": [0], "turn": 1}
    table = table_at(position, [alice, bob], deadline=NOON + HOUR)
    Hand.objects.filter(round=table.round, seat__index=0).update(callout_until=NOON - SECOND)
    assert refused(lambda: move(table, bob, "catch 0")) == ("nobody_to_catch", 422)
    assert log_of(table) == ["0 clock uno"]


def test_a_window_that_the_turn_s_end_closes_needs_no_line(alice: User, bob: User) -> None:
    position = {**TWO_HANDS, "hands": [["b1"], ["r4", "g3"]], "exposed": [0], "turn": 1}
    table = due_table(position, [alice, bob])
    Hand.objects.filter(round=table.round, seat__index=0).update(callout_until=NOON)
    swept()
    assert log_of(table)[0] == "1 clock draw"


def test_a_late_move_loses_to_the_clock(alice: User, bob: User) -> None:
    table = due_table(TWO_HANDS, [alice, bob])
    with pytest.raises(Denied, match="Your time had run out") as late:
        move(table, alice, "play r5", version=0)
    assert (late.value.code, late.value.rule, late.value.version) == ("stale", "CLOCK-1", 2)
    assert log_of(table) == ["0 clock draw", "0 clock play y3"]


def test_a_move_in_time_wins_though_the_sweep_comes_late(alice: User, bob: User) -> None:
    table = due_table(TWO_HANDS, [alice, bob])
    move(table, alice, "play r5", at=NOON - 2 * SECOND)
    assert swept() == sweep.Swept()
    assert log_of(table) == ["0 play r5"]


def test_the_database_s_clock_says_who_is_late(alice: User, bob: User, monkeypatch: pytest.MonkeyPatch) -> None:
    table = due_table(TWO_HANDS, [alice, bob], deadline=NOON + 5 * SECOND)
    here = queries.load(Game.objects.get(pk=table.game.pk))
    assert not clocks.is_due(here, NOON)
    here.game.skew = 6 * SECOND  # this process's clock is behind
    assert clocks.is_due(here, NOON)
    here.game.skew = -6 * SECOND
    assert not clocks.is_due(here, NOON + 10 * SECOND)


def test_who_resigns_late_leaves_after_the_clock_s_move(alice: User, bob: User, charlie: User) -> None:
    table = due_table(THREE_HANDS, [alice, bob, charlie])
    move(table, alice, "leave")
    assert log_of(table) == ["0 clock draw", "0 clock play y3", "0 leave"]


@pytest.mark.rule("CLOCK-3")
@pytest.mark.parametrize("text", ["play r5", "uno", "catch 1"])
def test_any_move_of_one_s_own_forgets_the_misses(alice: User, bob: User, text: str) -> None:
    hands = {"play r5": [["r5", "b1", "b2"], ["r4", "g3"]], "uno": [["b1"], ["r4", "g3"]], "catch 1": [["b1"], ["g3"]]}
    exposed = {"play r5": [], "uno": [0], "catch 1": [1]}
    table = table_at({**TWO_HANDS, "hands": hands[text], "exposed": exposed[text]}, [alice, bob])
    Seat.objects.filter(game=table.game, index=0).update(misses=2)
    move(table, alice, text)
    assert now_of(table).seats[0].misses == 0


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


@pytest.mark.rule("CLOCK-3")
def test_a_bot_that_takes_the_seat_in_its_own_further_turn_is_due_at_once(alice: User, bob: User) -> None:
    table = due_table({**TWO_HANDS, "draw_pile": ["rE", "g1", "y3"]}, [alice, bob], bot_pause=2.0, misses_allowed=1)
    swept()
    game = now_of(table).game
    assert (game.deadline, game.remind_at, game.wake_at) == (None, None, NOON + timedelta(seconds=2))


@pytest.mark.rule("CLOCK-3")
def test_or_the_player_leaves_as_the_table_says(alice: User, bob: User, charlie: User) -> None:
    table = due_table(THREE_HANDS, [alice, bob, charlie], misses_allowed=1, after_misses="leave")
    swept()
    after = now_of(table)
    assert log_of(table) == ["0 clock draw", "0 clock play y3", "0 leave"]
    assert after.seats[0].left
    assert after.playing[2].turn == 1


@pytest.mark.rule("CLOCK-3")
def test_who_misses_the_last_turn_of_a_round_leaves_with_the_next_deal(alice: User, bob: User, charlie: User) -> None:
    position = {**THREE_HANDS, "hands": [[], ["r4"], ["y1"]], "phase": "over", "winner": 0, "points": 5}
    table = table_at(position, [alice, bob, charlie], target=1000, misses_allowed=1, after_misses="leave")
    Seat.objects.filter(game=table.game, index=1).update(misses=1)
    deal_next(game_id=table.game.pk, now=NOON)
    after = now_of(table)
    assert log_of(table) == ["1 leave"]
    assert after.seats[1].left
    assert after.game.deadline is not None


def test_a_bot_s_seat_is_not_its_owner_s_to_move_until_it_is_taken_back(alice: User, bob: User) -> None:
    table = table_at(TWO_HANDS, [alice, bob])
    locked(table, lambda here: clocks.replace_by_bot(here, seat=0, now=NOON))
    assert refused(lambda: move(table, alice, "play r5")) == ("bot_plays", 409)
    view = queries.view_of(now_of(table), alice)
    assert (view.you, view.my_turn, view.legal) == (0, False, ())
    assert view.seats[0].owner
    assert queries.count_waiting_for(alice) == 0
    assert queries.waiting_for(alice).count() == 0
    agreements.take_back(code=table.game.code, user=alice, now=NOON + HOUR)
    game = now_of(table).game
    assert (game.deadline, game.wake_at) == (NOON + 49 * HOUR, None)
    assert queries.count_waiting_for(alice) == queries.waiting_for(alice).count() == 1
    move(table, alice, "play r5")
    assert log_of(table) == ["0 play r5"]


def test_taking_back_a_seat_one_has_changes_nothing(alice: User, bob: User) -> None:
    table = table_at(TWO_HANDS, [alice, bob], deadline=NOON + HOUR)
    agreements.take_back(code=table.game.code, user=alice, now=NOON)
    assert now_of(table).game.deadline == NOON + HOUR


def test_a_bot_that_was_dealt_in_belongs_to_nobody(alice: User, bob: User) -> None:
    table = table_at(TWO_HANDS, [alice, "careful"])
    assert refused(lambda: locked(table, lambda here: clocks.give_back(here, seat=1, now=NOON))) == ("forbidden", 403)
    assert refused(lambda: locked(table, lambda here: clocks.replace_by_bot(here, seat=1, now=NOON)))[0] == "bot_plays"


def test_who_is_played_for_by_a_bot_may_still_resign(alice: User, bob: User) -> None:
    table = table_at({**TWO_HANDS, "turn": 1}, [alice, bob])
    locked(table, lambda here: clocks.replace_by_bot(here, seat=0, now=NOON))
    move(table, alice, "leave")
    assert now_of(table).game.winner == 1


# Pauses


def paused(table: Table, reason: str = "staff", at: datetime = NOON) -> None:
    locked(table, lambda here: clocks.pause(here, reason=reason, now=at))


def resumed(table: Table, reason: str = "staff", at: datetime = NOON) -> None:
    locked(table, lambda here: clocks.resume(here, reason=reason, now=at))


def test_a_pause_keeps_what_the_turn_had_left(alice: User, bob: User) -> None:
    table = table_at(TWO_HANDS, [alice, bob], deadline=NOON + 5 * HOUR, turn_since=NOON - 5 * HOUR, remind_at=NOON)
    paused(table)
    game = now_of(table).game
    assert (game.deadline, game.remind_at, game.time_left) == (None, None, 5 * HOUR)
    resumed(table, at=NOON + 100 * HOUR)
    game = now_of(table).game
    assert (game.deadline, game.time_left, game.paused_at) == (NOON + 105 * HOUR, None, None)
    assert game.remind_at == NOON + 103 * HOUR


def test_a_game_is_paused_while_any_reason_stands(alice: User, bob: User) -> None:
    table = table_at(TWO_HANDS, [alice, bob], deadline=NOON + 5 * HOUR)
    paused(table, "staff")
    paused(table, "consent", at=NOON + HOUR)
    resumed(table, "staff", at=NOON + 2 * HOUR)
    assert now_of(table).game.paused_reasons == ["consent"]
    resumed(table, "consent", at=NOON + 3 * HOUR)
    game = now_of(table).game
    assert (game.paused_reasons, game.deadline) == ([], NOON + 8 * HOUR)


def test_nobody_moves_in_a_pause_but_leaving_is_free(alice: User, bob: User, charlie: User) -> None:
    table = table_at(THREE_HANDS, [alice, bob, charlie], deadline=NOON + 5 * HOUR)
    paused(table)
    assert refused(lambda: move(table, alice, "play r5")) == ("paused", 409)
    assert queries.view_of(now_of(table), alice).legal == ()
    assert queries.count_waiting_for(alice) == queries.waiting_for(alice).count() == 0
    move(table, alice, "leave")
    game = now_of(table).game
    assert (game.deadline, game.time_left, game.wake_at) == (None, 48 * HOUR, None)
    resumed(table, at=NOON + HOUR)
    assert now_of(table).game.deadline == NOON + 49 * HOUR


def test_bots_wait_out_a_pause(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    woken: list[int] = []
    monkeypatch.setattr(announce, "wake_bots", lambda game_id, at: woken.append(game_id))
    table = table_at({**TWO_HANDS, "turn": 1}, [alice, "careful"], wake_at=NOON, bot_pause=3.0)
    paused(table)
    assert now_of(table).game.wake_at is None
    assert swept(NOON + HOUR) == sweep.Swept()
    resumed(table, at=NOON + HOUR)
    assert now_of(table).game.wake_at == NOON + HOUR + timedelta(seconds=3)


def test_callout_windows_stand_still_in_a_pause(alice: User, bob: User) -> None:
    position = {**TWO_HANDS, "hands": [["b1"], ["r4", "g3"]], "exposed": [0], "turn": 1}
    table = table_at(position, [alice, bob])
    Hand.objects.filter(round=table.round, seat__index=0).update(callout_until=NOON + SECOND)
    paused(table)
    assert swept(NOON + HOUR) == sweep.Swept()
    resumed(table, at=NOON + HOUR)
    assert now_of(table).playing[1][0].callout_until == NOON + HOUR + SECOND


def test_a_round_is_not_dealt_in_a_pause_but_right_after(alice: User, bob: User) -> None:
    over = {**TWO_HANDS, "hands": [[], ["r4"]], "phase": "over", "winner": 0, "points": 4}
    table = table_at(over, [alice, bob], target=1000, wake_at=NOON)
    paused(table)
    assert deal_next(game_id=table.game.pk, now=NOON) is None
    resumed(table, at=NOON + HOUR)
    assert now_of(table).game.wake_at == NOON + HOUR
    assert deal_next(game_id=table.game.pk, now=NOON + HOUR) is not None


def test_a_pause_needs_all_players_still_in(alice: User, bob: User, charlie: User) -> None:
    table = table_at(THREE_HANDS, [alice, bob, charlie], deadline=NOON + 5 * HOUR)
    code = table.game.code
    move(table, charlie, "leave")
    agreements.ask_pause(code=code, user=alice, now=NOON)
    assert (now_of(table).game.pause_votes, now_of(table).game.paused_at) == ([0], None)
    agreements.go_on(code=code, user=alice, now=NOON)
    agreements.ask_pause(code=code, user=bob, now=NOON)
    assert now_of(table).game.pause_votes == [1]
    agreements.ask_pause(code=code, user=alice, now=NOON)
    game = now_of(table).game
    assert (game.paused_reasons, game.paused_at, game.pause_votes) == (["consent"], NOON, [])
    assert refused(lambda: agreements.ask_pause(code=code, user=bob, now=NOON)) == ("paused", 409)
    agreements.go_on(code=code, user=bob, now=NOON + HOUR)
    assert now_of(table).game.deadline == NOON + 6 * HOUR


def test_who_has_no_say_cannot_pause(alice: User, bob: User, charlie: User) -> None:
    table = table_at(THREE_HANDS, [alice, bob, "careful"])
    code = table.game.code
    assert refused(lambda: agreements.ask_pause(code=code, user=charlie, now=NOON)) == ("not_seated", 403)
    locked(table, lambda here: clocks.replace_by_bot(here, seat=1, now=NOON))
    assert refused(lambda: agreements.ask_pause(code=code, user=bob, now=NOON)) == ("bot_plays", 409)
    agreements.ask_pause(code=code, user=alice, now=NOON)
    assert now_of(table).game.paused_reasons == ["consent"]


def test_players_cannot_end_a_pause_of_staff(alice: User, bob: User) -> None:
    table = table_at(TWO_HANDS, [alice, bob])
    paused(table)
    assert refused(lambda: agreements.go_on(code=table.game.code, user=alice, now=NOON)) == ("forbidden", 403)


def test_a_vote_lapses_when_a_player_leaves(alice: User, bob: User, charlie: User) -> None:
    table = table_at(THREE_HANDS, [alice, bob, charlie])
    agreements.ask_pause(code=table.game.code, user=alice, now=NOON)
    move(table, charlie, "leave")
    assert now_of(table).game.pause_votes == []


# Extensions and forgiveness


def test_staff_give_a_turn_more_time(alice: User, bob: User) -> None:
    table = table_at(TWO_HANDS, [alice, bob], deadline=NOON + HOUR, turn_since=NOON - 9 * HOUR)
    locked(table, lambda here: clocks.extend(here, seconds=36_000, now=NOON))
    game = now_of(table).game
    assert (game.deadline, game.remind_at) == (NOON + 11 * HOUR, NOON + 7 * HOUR)


def test_a_turn_that_is_paused_gets_its_time_too(alice: User, bob: User) -> None:
    table = table_at(TWO_HANDS, [alice, bob], deadline=NOON + HOUR)
    paused(table)
    locked(table, lambda here: clocks.extend(here, seconds=3600, now=NOON))
    assert now_of(table).game.time_left == 2 * HOUR


@pytest.mark.parametrize(("seconds", "code"), [(0, "malformed"), (60 * 86_400 + 1, "malformed"), (60, "forbidden")])
def test_an_extension_that_makes_no_sense_is_refused(alice: User, seconds: int, code: str) -> None:
    table = table_at({**TWO_HANDS, "turn": 1}, [alice, "careful"])
    assert refused(lambda: locked(table, lambda here: clocks.extend(here, seconds=seconds, now=NOON)))[0] == code


def test_misses_can_be_forgiven_and_the_bank_comes_back(alice: User, bob: User) -> None:
    table = table_at(TWO_HANDS, [alice, bob])
    Seat.objects.filter(game=table.game, index=0).update(misses=2, bank=7)
    assert locked(table, lambda here: clocks.forgive_misses(here, seat=0))
    assert not locked(table, lambda here: clocks.forgive_misses(here, seat=1))
    assert [(seat.misses, seat.bank) for seat in now_of(table).seats] == [(0, 86_400), (0, 86_400)]


@pytest.mark.parametrize("status", [Game.Status.OVER, Game.Status.VOID])
def test_a_game_that_is_over_has_no_clock_to_change(alice: User, bob: User, status: str) -> None:
    table = table_at(TWO_HANDS, [alice, bob])
    Game.objects.filter(pk=table.game.pk).update(status=status)
    for act in (
        lambda here: clocks.pause(here, reason="staff", now=NOON),
        lambda here: clocks.resume(here, reason="staff", now=NOON),
        lambda here: clocks.extend(here, seconds=60, now=NOON),
        lambda here: clocks.replace_by_bot(here, seat=0, now=NOON),
    ):
        assert refused(lambda act=act: locked(table, act)) == ("over", 409)  # type: ignore[misc]  # a default for the loop


# Quiet hours, found at the deadline


def test_a_deadline_that_came_to_fall_in_the_night_moves_when_it_is_due(alice: User, bob: User) -> None:
    table = due_table(TWO_HANDS, [alice, bob])
    User.objects.filter(pk=alice.pk).update(quiet_from=time(10), quiet_to=time(14))
    assert swept() == sweep.Swept(acted=1)
    assert log_of(table) == []
    assert now_of(table).game.deadline == NOON + 2 * HOUR
    swept(NOON + 2 * HOUR)
    assert log_of(table) != []


# The sweep's own pulse


def test_the_time_of_an_outage_is_given_back_and_nobody_is_blamed(alice: User, bob: User) -> None:
    table = table_at(TWO_HANDS, [alice, bob], deadline=NOON - HOUR, turn_since=NOON - 9 * HOUR, remind_at=NOON - HOUR)
    later = table_at(TWO_HANDS, [alice, bob], deadline=NOON + 9 * HOUR, turn_since=NOON - HOUR, remind_at=NOON)
    still = table_at(TWO_HANDS, [alice, "careful"])
    assert swept(last=NOON - 2 * HOUR) == sweep.Swept()
    assert log_of(table) == []
    game = now_of(table).game
    assert (game.deadline, game.turn_since, game.remind_at) == (NOON + HOUR, NOON - 7 * HOUR, NOON + HOUR)
    assert now_of(later).game.deadline == NOON + 10 * HOUR  # it had lost one hour
    assert now_of(still).game.deadline is None
    assert swept(NOON + timedelta(minutes=1)) == sweep.Swept()
    assert now_of(table).game.deadline == NOON + HOUR


def test_a_short_absence_of_the_sweep_changes_nothing(alice: User, bob: User) -> None:
    table = due_table(TWO_HANDS, [alice, bob])
    assert swept(last=NOON - timedelta(seconds=119)) == sweep.Swept(acted=1)
    assert log_of(table) != []


def test_while_the_sweep_is_away_no_move_is_too_late(alice: User, bob: User) -> None:
    swept(NOON - HOUR)
    table = due_table(TWO_HANDS, [alice, bob])
    move(table, alice, "play r5")
    assert log_of(table) == ["0 play r5"]


def test_an_outage_in_the_midst_of_the_giving_is_given_too(alice: User, bob: User) -> None:
    first = table_at(TWO_HANDS, [alice, bob], deadline=NOON, turn_since=NOON - 20 * HOUR)
    second = table_at(TWO_HANDS, [alice, bob], deadline=NOON, turn_since=NOON - 20 * HOUR)
    Heartbeat.objects.create(
        pk=1, at=NOON - HOUR, given_from=NOON - 3 * HOUR, given_to=NOON - HOUR, given_through=first.game.pk
    )
    assert sweep.sweep(clock=lambda: NOON) == sweep.Swept()
    assert now_of(first).game.deadline == NOON + HOUR
    assert now_of(second).game.deadline == NOON + 3 * HOUR
    assert queries.sweep_age(NOON) == timedelta()


def test_a_game_that_ends_in_a_pause_is_not_paused_any_more(alice: User, bob: User) -> None:
    table = table_at(TWO_HANDS, [alice, bob])
    with transaction.atomic():
        clocks.pause(queries.load(lock_game(pk=table.game.pk)), reason="staff", now=NOON)
    play_move(code=table.game.code, user=bob, text="leave", version=None, now=NOON)
    game = now_of(table).game
    assert (game.status, game.paused_at, game.paused_reasons) == ("over", None, [])


def test_the_sweep_s_age_can_be_asked(alice: User, bob: User) -> None:
    assert queries.sweep_age(NOON) is None
    assert not queries.sweep_is_stale(NOON, grace=SECOND)
    swept()
    due_table(TWO_HANDS, [alice, bob])
    assert queries.sweep_age(NOON + HOUR) == HOUR
    assert queries.sweep_is_stale(NOON + HOUR, grace=SECOND)


def test_a_game_that_fails_does_not_hold_up_the_others(
    alice: User, bob: User, caplog: pytest.LogCaptureFixture
) -> None:
    broken = due_table(TWO_HANDS, [alice, bob], deadline=NOON - HOUR)
    whole = due_table(TWO_HANDS, [alice, bob])
    Round.objects.filter(game=broken.game).update(discard_pile="nonsense")
    assert swept() == sweep.Swept(acted=1, failed=1)
    assert log_of(broken) == []
    assert log_of(whole) != []
    assert "nonsense" not in caplog.text


def test_an_idle_sweep_writes_nothing(
    alice: User, bob: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    table_at(TWO_HANDS, [alice, bob], deadline=NOON + HOUR)
    swept()
    with django_assert_num_queries(6) as asked:  # the pulse, bots, windows, and a transaction around the next deadline
        sweep.sweep(clock=lambda: NOON + SECOND)
    assert not [query for query in asked.captured_queries if query["sql"].lstrip().startswith(("UPDATE", "INSERT"))]
