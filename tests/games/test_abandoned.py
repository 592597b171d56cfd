"""Test games that all people have left, and games that nobody played."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import pytest

from accounts.actions import create_guest
from accounts.models import User
from games.actions import abandoned, bot_turn, housekeeping, lobby, rounds, seating
from games.actions.play import play_move
from games.models import Game, Move, Notice, Report, Seat
from games.queries import Table, Viewer, profiles
from games.queries.verify import faults_of
from games.staff import cases, tables
from tests.support.clocks import locked
from tests.support.staff import act, report_seat
from tests.support.statements import LOCK_GAME, before_statement
from tests.support.tables import NOON, now_of

pytestmark = pytest.mark.django_db

IDLE = timedelta(days=7)
LATER = NOON + IDLE + timedelta(seconds=1)


def against_bots(user: User, **options: Any) -> Table:
    chosen = lobby.TableChoices(players=3, bots=2, bot="random", target=1000)
    return lobby.create_table(user=user, choices=replace(chosen, **options), now=NOON)


def pair_against_bots(first: User, second: User) -> Table:
    options = lobby.TableChoices(players=4, bots=2, bot="random", target=1000)
    table = lobby.create_table(user=first, choices=options, now=NOON)
    return lobby.join(code=table.game.code, viewer=Viewer(second), now=NOON)


def leave(table: Table, user: User, *, at: datetime = NOON) -> None:
    play_move(code=table.game.code, viewer=Viewer(user), text="leave", version=None, now=at)


def played_by(user: User) -> Table:
    """Return a game in which this person has made a move."""
    table = against_bots(user)
    Move.objects.create(game=table.game, round=table.started.round, n=1, seat=0, text="draw", at=NOON)
    Game.objects.filter(pk=table.game.pk).update(version=1)
    return table


def left_by(user: User, **options: Any) -> Table:
    table = against_bots(user, **options)
    leave(table, user)
    return table


def status(table: Table) -> str:
    return now_of(table).game.status


# Running


@pytest.mark.django_db(transaction=True)
def test_a_game_that_all_people_left_is_called_off_after_an_idle_week(alice: User) -> None:
    left, played = left_by(alice), against_bots(alice)
    assert abandoned.call_off_left_games(now=LATER - timedelta(minutes=1)) == 0
    assert abandoned.call_off_left_games(now=LATER) == 1
    assert [status(table) for table in (left, played)] == ["void", "playing"]
    ended = now_of(left).game
    assert (ended.finished_at, ended.wake_at, ended.winner) == (LATER, None, None)
    assert faults_of(ended.pk) == []


def test_a_left_game_goes_on_while_bots_move_in_it(alice: User) -> None:
    """Otherwise a person about to lose could leave many games to have them called off."""
    table = left_by(alice)
    assert bot_turn.play_bots(game_id=table.game.pk, clock=lambda: LATER, rng=random.Random(1))
    assert abandoned.call_off_left_games(now=LATER + IDLE) == 0
    assert abandoned.call_off_left_games(now=LATER + IDLE + timedelta(seconds=1)) == 1


def bot_moves(table: Table, bob: User, ann: User) -> None:
    bot_turn.play_bots(game_id=table.game.pk, clock=lambda: LATER, rng=random.Random(1), most=1)


def staff_act(table: Table, bob: User, ann: User) -> None:
    give_seat(table, bob, ann, at=LATER)
    tables.remove(**act(table, ann, seat=1, bot=True, now=LATER))


@pytest.mark.parametrize("meanwhile", [bot_moves, staff_act])
def test_a_game_in_which_something_happens_after_the_listing_goes_on(
    alice: User, bob: User, ann: User, meanwhile: Callable[[Table, User, User], None]
) -> None:
    table = left_by(alice)
    with before_statement(LOCK_GAME, lambda: meanwhile(table, bob, ann)):
        assert abandoned.call_off_left_games(now=LATER) == 0
    assert status(table) == Game.Status.PLAYING


def test_a_game_is_unplayed_if_two_people_leave_before_any_move(alice: User, bob: User) -> None:
    pair, an_hour_later = pair_against_bots(alice, bob), timedelta(hours=1)
    leave(pair, alice)
    assert abandoned.call_off_left_games(now=LATER) == 0
    leave(pair, bob, at=NOON + an_hour_later)
    assert abandoned.call_off_left_games(now=LATER) == 0
    assert abandoned.call_off_left_games(now=LATER + an_hour_later) == 1
    assert deleted(ended(pair)) == [True]


def test_a_game_goes_on_while_a_bot_keeps_a_seat_for_its_owner_or_staff_paused_it(alice: User, mo: User) -> None:
    kept, paused = against_bots(alice), left_by(alice)
    locked(kept, lambda here: seating.replace_by_bot(here, seat=0, now=NOON))
    tables.pause(**act(paused, mo))
    assert abandoned.call_off_left_games(now=LATER) == 0


@pytest.mark.parametrize("bot", [True, False])
def test_a_game_whose_last_person_was_removed_by_staff_stays_a_week(alice: User, mo: User, *, bot: bool) -> None:
    table = against_bots(alice)
    removed = LATER + timedelta(days=1)
    tables.remove(**act(table, mo, seat=0, bot=bot, now=removed))
    Move.objects.filter(game=table.game).update(at=NOON)
    assert abandoned.call_off_left_games(now=removed + timedelta(days=6)) == 0
    assert abandoned.call_off_left_games(now=removed + IDLE + timedelta(seconds=1)) == 1


def test_a_left_game_stays_if_staff_seat_a_person(alice: User, bob: User, ann: User) -> None:
    table = left_by(alice)
    give_seat(table, bob, ann)
    assert abandoned.call_off_left_games(now=LATER + IDLE) == 0
    leave(table, bob)
    assert deleted(ended(table)) == [False]


def give_seat(table: Table, user: User, staff: User, *, at: datetime = NOON) -> None:
    tables.move_seat(**act(table, staff, seat=1, username=user.username, now=at))


# Ended


def ended(table: Table, *, days: int = 61) -> Table:
    """End a game this many days before `NOON`."""
    if not now_of(table).game.ended:
        locked(table, lambda here: rounds.call_off(here.game, now=NOON))
    Game.objects.filter(pk=table.game.pk).update(finished_at=NOON - timedelta(days=days))
    return table


def deleted(*found: Table) -> list[bool]:
    """Delete unplayed games; return for each table whether it is gone."""
    count = abandoned.delete_unplayed_games(now=NOON)
    gone = [not Game.objects.filter(pk=table.game.pk).exists() for table in found]
    assert count == sum(gone)
    return gone


@pytest.mark.long
def test_games_that_nobody_played_are_deleted_after_60_days(alice: User) -> None:
    never_started = lobby.create_table(user=alice, choices=lobby.TableChoices(players=3), now=NOON)
    found = [ended(never_started), ended(left_by(alice))]
    assert [status(table) for table in found] == ["void", "void"]
    young, playing = ended(left_by(alice), days=59), left_by(alice)
    assert deleted(*found, young, playing) == [True, True, False, False]
    assert not Notice.objects.filter(game__in=[table.game.pk for table in found]).exists()


def test_games_that_somebody_played_stay(alice: User) -> None:
    moved, stayed = played_by(alice), against_bots(create_guest())
    leave(moved, alice)
    found = [ended(moved), ended(stayed)]
    User.objects.filter(is_guest=True).delete()  # the guest has been deleted
    assert deleted(*found) == [False, False]


def test_games_with_a_result_stay_because_they_count_in_profiles(alice: User, bob: User) -> None:
    lost = left_by(alice, players=2, bots=1, target=0)
    won = lobby.create_table(user=alice, choices=lobby.TableChoices(players=2), now=NOON)
    lobby.join(code=won.game.code, viewer=Viewer(bob), now=NOON)
    leave(won, alice)
    found = [ended(lost), ended(won)]
    assert [status(table) for table in found] == ["over", "over"]
    assert deleted(*found) == [False, False]
    assert (profiles.stats_of(alice), profiles.stats_of(bob)) == ((1, 0, 0, 1), (1, 0, 0, 0))  # nobody moved twice


@pytest.mark.parametrize("bot", ["", "careful"], ids=["now", "deleted by an earlier version"])
def test_a_game_played_by_a_deleted_guest_stays(alice: User, bot: str) -> None:
    guest = create_guest()
    table = played_by(guest)
    locked(table, lambda here: seating.replace_by_bot(here, seat=0, now=NOON))
    leave(table, guest)
    ended(table)
    User.objects.filter(pk=guest.pk).update(date_joined=NOON - timedelta(days=100))
    assert housekeeping.forget_guests(now=NOON) == 1
    Seat.objects.filter(game=table.game, index=0).update(bot=bot)
    assert deleted(table) == [False]


def test_games_with_a_report_or_a_staff_act_stay(alice: User, bob: User, mo: User) -> None:
    of_staff, reported = left_by(alice), lobby.create_table(user=alice, choices=lobby.TableChoices(), now=NOON)
    tables.pause(**act(of_staff, mo))
    lobby.join(code=reported.game.code, viewer=Viewer(bob), now=NOON)
    report_seat(reported.game, by=bob, seat=0)
    assert deleted(ended(of_staff), ended(reported)) == [False, False]


def test_a_game_that_is_reported_between_the_listing_and_its_lock_stays(alice: User) -> None:
    table = ended(left_by(alice))
    sign: dict[str, Any] = {"kind": "abandon", "sign": Report.Sign.RESIGNATIONS, "text": "x", "now": NOON}
    report = partial(cases.report_sign, person_id=alice.pk, game_id=table.game.pk, **sign)
    with before_statement(LOCK_GAME, report):
        assert deleted(table) == [False]
