"""Test pauses, extensions, and who plays for a seat."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest

from accounts.models import User
from games import announce, queries
from games.actions import pauses, restore, seating, sweep
from games.actions.next_round import deal_next
from games.clocks import pausing
from games.models import Game, Hand, Notice, Seat
from games.queries import Table, Viewer, lists
from games.refusals import Denied
from tests.conftest import logged_in
from tests.support.clocks import HOUR, SECOND, THREE_HANDS, locked, move, paused, refused, resumed, swept
from tests.support.tables import NOON, TWO_HANDS, log_of, now_of, table_at

pytestmark = pytest.mark.django_db


@pytest.fixture
def table(alice: User, bob: User) -> Table:
    return table_at(TWO_HANDS, [alice, bob], deadline=NOON + 5 * HOUR, turn_since=NOON - 5 * HOUR, remind_at=NOON)


@pytest.fixture
def three(alice: User, bob: User, charlie: User) -> Table:
    return table_at(THREE_HANDS, [alice, bob, charlie], deadline=NOON + 5 * HOUR)


@pytest.fixture
def alone(alice: User) -> Table:
    """Return a table where Alice plays against bots."""
    return table_at(THREE_HANDS, [alice, "careful", "careful"], deadline=NOON + 5 * HOUR)


def ask_pause(table: Table, user: User) -> None:
    pauses.ask_pause(code=table.game.code, viewer=Viewer(user), now=NOON)


def resume(table: Table, user: User, *, at: datetime = NOON + HOUR) -> None:
    pauses.resume(code=table.game.code, viewer=Viewer(user), now=at)


def take_over(table: Table, seat: int) -> None:
    locked(table, lambda here: seating.replace_by_bot(here, seat=seat, now=NOON))


def test_an_owner_cannot_move_until_they_take_their_seat_back_from_the_bot(table: Table, alice: User) -> None:
    take_over(table, 0)
    assert refused(lambda: move(table, alice, "play r5")) == ("bot_plays", 409)
    view = queries.view_of(now_of(table), alice)
    assert (view.you, view.my_turn, view.legal) == (0, False, ())
    assert view.seats[0].owner
    assert lists.count_waiting_for(alice) == lists.waiting_for(alice).count() == 0
    for _ in range(2):  # taking back one's own seat changes nothing
        pauses.take_seat_back(code=table.game.code, viewer=Viewer(alice), now=NOON + HOUR)
        game = now_of(table).game
        assert (game.deadline, game.wake_at) == (NOON + 49 * HOUR, None)
    assert lists.count_waiting_for(alice) == lists.waiting_for(alice).count() == 1
    move(table, alice, "play r5")
    assert log_of(table) == ["0 play r5"]


def test_nobody_can_take_the_seat_of_an_ordinary_bot(alone: Table) -> None:
    assert refused(lambda: locked(alone, lambda here: seating.give_back(here, seat=1, now=NOON))) == ("forbidden", 403)
    assert refused(lambda: take_over(alone, 1))[0] == "bot_plays"


def test_a_player_replaced_by_a_bot_can_still_resign(alice: User, bob: User) -> None:
    table = table_at({**TWO_HANDS, "turn": 1}, [alice, bob])
    take_over(table, 0)
    move(table, alice, "leave")
    assert now_of(table).game.winner == 1


# Pauses


def test_a_pause_keeps_the_time_left(table: Table) -> None:
    paused(table)
    game = now_of(table).game
    assert (game.deadline, game.remind_at, game.time_left) == (None, None, 5 * HOUR)
    resumed(table, at=NOON + 100 * HOUR)
    game = now_of(table).game
    assert (game.deadline, game.time_left, game.paused_at) == (NOON + 105 * HOUR, None, None)
    assert game.remind_at == NOON + 103 * HOUR


def test_a_game_stays_paused_until_every_reason_is_removed(table: Table) -> None:
    paused(table, "staff")
    paused(table, "consent", at=NOON + HOUR)
    resumed(table, "staff", at=NOON + 2 * HOUR)
    assert now_of(table).game.paused_reasons == ["consent"]
    resumed(table, "consent", at=NOON + 3 * HOUR)
    game = now_of(table).game
    assert (game.paused_reasons, game.deadline) == ([], NOON + 8 * HOUR)


def test_players_cannot_move_in_a_pause_but_can_leave(three: Table, alice: User) -> None:
    paused(three)
    assert refused(lambda: move(three, alice, "play r5")) == ("paused", 409)
    assert queries.view_of(now_of(three), alice).legal == ()
    assert lists.count_waiting_for(alice) == lists.waiting_for(alice).count() == 0
    move(three, alice, "leave")
    game = now_of(three).game
    assert (game.deadline, game.time_left, game.wake_at) == (None, 48 * HOUR, None)
    resumed(three, at=NOON + HOUR)
    assert now_of(three).game.deadline == NOON + 49 * HOUR


def test_bots_do_not_move_in_a_pause(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    woken: list[int] = []
    monkeypatch.setattr(announce, "wake_bots", lambda game_id, at: woken.append(game_id))
    table = table_at({**TWO_HANDS, "turn": 1}, [alice, "careful"], wake_at=NOON, bot_pause=3.0)
    paused(table)
    assert now_of(table).game.wake_at is None
    assert swept(NOON + HOUR) == sweep.Swept()
    resumed(table, at=NOON + HOUR)
    assert now_of(table).game.wake_at == NOON + HOUR + timedelta(seconds=3)


def test_callout_windows_stop_in_a_pause(alice: User, bob: User) -> None:
    position = {**TWO_HANDS, "hands": [["b1"], ["r4", "g3"]], "exposed": [0], "turn": 1}
    table = table_at(position, [alice, bob])
    Hand.objects.filter(round=table.started.round, seat__index=0).update(callout_until=NOON + SECOND)
    paused(table)
    assert swept(NOON + HOUR) == sweep.Swept()
    resumed(table, at=NOON + HOUR)
    assert now_of(table).started.hands[0].callout_until == NOON + HOUR + SECOND


def test_the_next_round_is_dealt_after_a_pause_not_during_it(alice: User, bob: User) -> None:
    over = {**TWO_HANDS, "hands": [[], ["r4"]], "phase": "over", "winner": 0, "points": 4}
    table = table_at(over, [alice, bob], target=1000, wake_at=NOON)
    paused(table)
    assert deal_next(game_id=table.game.pk, now=NOON) is None
    resumed(table, at=NOON + HOUR)
    assert now_of(table).game.wake_at == NOON + HOUR
    assert deal_next(game_id=table.game.pk, now=NOON + HOUR) is not None


def test_a_pause_needs_the_votes_of_all_players_still_in(three: Table, alice: User, bob: User, charlie: User) -> None:
    ask_pause(three, bob)
    move(three, charlie, "leave")
    assert now_of(three).game.pause_votes == []  # cleared when a player leaves
    ask_pause(three, alice)
    assert (now_of(three).game.pause_votes, now_of(three).game.paused_at) == ([0], None)
    resume(three, alice, at=NOON)
    ask_pause(three, bob)
    assert now_of(three).game.pause_votes == [1]
    ask_pause(three, alice)
    game = now_of(three).game
    assert (game.paused_reasons, game.paused_at, game.pause_votes) == (["consent"], NOON, [])
    assert refused(lambda: ask_pause(three, bob)) == ("paused", 409)
    resume(three, bob)
    assert now_of(three).game.deadline == NOON + 6 * HOUR


def test_only_voters_can_ask_for_a_pause(alice: User, bob: User, charlie: User) -> None:
    table = table_at(THREE_HANDS, [alice, bob, "careful"])
    assert refused(lambda: ask_pause(table, charlie)) == ("not_seated", 403)
    take_over(table, 1)
    assert refused(lambda: ask_pause(table, bob)) == ("bot_plays", 409)
    ask_pause(table, alice)
    assert now_of(table).game.paused_reasons == ["consent"]


def test_players_are_told_who_stopped_all_games(table: Table, alice: User) -> None:
    """`manage.py freeze` by hand does the same as a restore, so the sentence is true of both."""
    restore.freeze(now=NOON)
    said = "The site’s operators have stopped all games, for example to restore a backup, and will resume them."
    page = logged_in(alice).get(f"/games/{table.game.code}/").content.decode()
    assert said in page
    assert "was restored" not in page
    with pytest.raises(Denied, match=said):
        resume(table, alice)


def test_a_game_that_ends_in_a_pause_is_no_longer_paused(table: Table, bob: User) -> None:
    paused(table)
    move(table, bob, "leave")
    game = now_of(table).game
    assert (game.status, game.paused_at, game.paused_reasons) == ("over", None, [])


def test_a_pause_ends_when_nobody_is_left_to_end_it(alone: Table, alice: User) -> None:
    """A person among bots pauses the game and resigns. The bots continue."""
    ask_pause(alone, alice)
    move(alone, alice, "leave")
    game = now_of(alone).game
    assert (game.status, game.paused_reasons, game.paused_at, game.wake_at) == ("playing", [], None, NOON)


def test_the_next_round_is_dealt_after_the_last_person_resigns_in_a_pause(alice: User) -> None:
    position = {**THREE_HANDS, "hands": [["r5"], [], ["y1", "y2"]], "out": [1], "set_aside": ["b3"]}
    table = table_at(position, [alice, "careful", "careful"], target=1000)
    ask_pause(table, alice)
    move(table, alice, "leave")
    after = now_of(table)
    assert (after.game.status, after.started.round.number, after.game.wake_at) == ("playing", 2, NOON)


def test_a_pause_by_staff_stays_when_the_last_person_leaves(alone: Table, alice: User) -> None:
    ask_pause(alone, alice)
    paused(alone)
    resume(alone, alice, at=NOON)
    assert refused(lambda: resume(alone, alice)) == ("forbidden", 403)  # not that of staff
    move(alone, alice, "leave")
    assert (now_of(alone).game.paused_reasons, now_of(alone).game.wake_at) == (["staff"], None)
    resumed(alone, at=NOON + HOUR)
    assert now_of(alone).game.wake_at == NOON + HOUR


def test_a_pause_stays_while_another_player_can_end_it(alice: User, bob: User) -> None:
    table = table_at(THREE_HANDS, [alice, bob, "careful"], deadline=NOON + 5 * HOUR)
    for user in (alice, bob):
        ask_pause(table, user)
    move(table, alice, "leave")
    assert now_of(table).game.paused_reasons == ["consent"]
    resume(table, bob)
    assert now_of(table).game.deadline == NOON + 49 * HOUR  # Bob’s turn, since alice left


def test_an_old_pause_ends_by_itself(table: Table, alice: User, bob: User) -> None:
    for user in (alice, bob):
        ask_pause(table, user)
    by_staff = table_at(TWO_HANDS, [alice, bob], deadline=NOON + 5 * HOUR)
    paused(by_staff)
    end = NOON + Game.LONGEST_PAUSE
    assert queries.view_of(now_of(table), alice).pause_ends == end
    assert queries.view_of(now_of(by_staff), alice).pause_ends is None
    assert [pauses.end_old_pauses(now=at) for at in (end - SECOND, end, end)] == [0, 1, 0]
    assert (now_of(table).game.deadline, now_of(by_staff).game.deadline) == (end + 5 * HOUR, None)
    told = Notice.objects.filter(user=alice, kind="turn", channel="email")
    assert [(row.game_id, row.created_at) for row in told] == [(table.game.pk, end)]


def test_a_game_that_fails_does_not_stop_other_old_pauses_from_ending(
    alice: User, bob: User, caplog: pytest.LogCaptureFixture
) -> None:
    broken, whole = (table_at(TWO_HANDS, [alice, bob], deadline=NOON + HOUR) for _ in range(2))
    for table in (broken, whole):
        paused(table, "consent")
    Game.objects.filter(pk=broken.game.pk).update(preset="nonsense")
    assert pauses.end_old_pauses(now=NOON + Game.LONGEST_PAUSE) == 1
    assert now_of(whole).game.paused_at is None
    assert "an old pause was not ended" in caplog.text


# Extensions and forgiveness


def test_staff_can_give_a_turn_more_time(alice: User, bob: User) -> None:
    table = table_at(TWO_HANDS, [alice, bob], deadline=NOON + HOUR, turn_since=NOON - 9 * HOUR)
    locked(table, lambda here: pausing.extend(here, seconds=36_000, now=NOON))
    game = now_of(table).game
    assert (game.deadline, game.remind_at) == (NOON + 11 * HOUR, NOON + 7 * HOUR)


def test_a_paused_turn_can_be_given_more_time(table: Table) -> None:
    paused(table)
    locked(table, lambda here: pausing.extend(here, seconds=3600, now=NOON))
    assert now_of(table).game.time_left == 6 * HOUR


@pytest.mark.parametrize(("seconds", "code"), [(0, "malformed"), (60 * 86_400 + 1, "malformed"), (60, "forbidden")])
def test_an_invalid_extension_is_refused(alice: User, seconds: int, code: str) -> None:
    table = table_at({**TWO_HANDS, "turn": 1}, [alice, "careful"])
    assert refused(lambda: locked(table, lambda here: pausing.extend(here, seconds=seconds, now=NOON)))[0] == code


def test_forgiving_misses_refills_the_time_bank(table: Table) -> None:
    Seat.objects.filter(game=table.game, index=0).update(misses=2, bank=7)
    assert locked(table, lambda here: pausing.forgive_misses(here, seat=0))
    assert not locked(table, lambda here: pausing.forgive_misses(here, seat=1))
    assert [(seat.misses, seat.bank) for seat in now_of(table).seats] == [(0, 86_400), (0, 86_400)]


@pytest.mark.parametrize("status", [Game.Status.OVER, Game.Status.VOID])
@pytest.mark.parametrize(
    "act",
    [
        paused,
        resumed,
        lambda table: locked(table, lambda here: pausing.extend(here, seconds=60, now=NOON)),
        lambda table: take_over(table, 0),
    ],
)
def test_a_finished_game_has_no_clock_to_change(table: Table, status: str, act: Callable[[Table], object]) -> None:
    Game.objects.filter(pk=table.game.pk).update(status=status)
    assert refused(lambda: act(table)) == ("over", 409)
