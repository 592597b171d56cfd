"""Games that all people have left, and games that nobody played."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.db import transaction

from accounts.actions import create_guest
from accounts.models import User
from games import queries
from games.actions import abandoned, lobby, rounds, seating
from games.actions.play import play_move
from games.locks import lock_game
from games.models import Game, Move, Notice, Report
from games.queries import Table, Viewer
from games.queries.verify import faults_of
from games.staff import cases, tables
from tests.support.tables import NOON, now_of

pytestmark = pytest.mark.django_db

LATER = NOON + abandoned.PLAYED_OUT + timedelta(seconds=1)


def against_bots(user: User, **options: Any) -> Table:
    chosen = lobby.TableOptions(players=3, bots=2, bot="random", target=1000)
    return lobby.create_table(user=user, options=replace(chosen, **options), now=NOON)


def leave(table: Table, user: User) -> None:
    play_move(code=table.game.code, viewer=Viewer(user), text="leave", version=None, now=NOON)


def left_by(user: User, **options: Any) -> Table:
    table = against_bots(user, **options)
    leave(table, user)
    return table


def status(table: Table) -> str:
    return now_of(table).game.status


# Running


@pytest.mark.django_db(transaction=True)
def test_a_game_that_all_people_left_is_called_off_after_an_hour(alice: User, bob: User) -> None:
    left, played = left_by(alice), against_bots(alice)
    pair = lobby.create_table(user=alice, options=lobby.TableOptions(players=4, bots=2, target=1000), now=NOON)
    lobby.join(code=pair.game.code, viewer=Viewer(bob), now=NOON)
    leave(pair, alice)
    assert abandoned.call_off_left_games(now=LATER - timedelta(minutes=1)) == 0
    assert abandoned.call_off_left_games(now=LATER) == 1
    assert [status(table) for table in (left, played, pair)] == ["void", "playing", "playing"]
    ended = now_of(left).game
    assert (ended.finished_at, ended.wake_at, ended.winner) == (LATER, None, None)
    assert faults_of(ended.pk) == []
    leave(pair, bob)
    Move.objects.filter(game=pair.game, seat=1).update(at=LATER)
    assert abandoned.call_off_left_games(now=LATER) == 0
    assert abandoned.call_off_left_games(now=LATER + timedelta(hours=2)) == 1


def test_a_game_goes_on_while_a_bot_keeps_a_seat_for_its_owner(alice: User) -> None:
    table = against_bots(alice)
    with transaction.atomic():
        seating.replace_by_bot(queries.load(lock_game(pk=table.game.pk)), seat=0, now=NOON)
    assert abandoned.call_off_left_games(now=LATER) == 0


def test_a_left_game_that_staff_paused_stays(alice: User, mo: User) -> None:
    table = left_by(alice)
    tables.pause(game_id=table.game.pk, by=mo, reason="To look at the game", now=NOON)
    assert abandoned.call_off_left_games(now=LATER) == 0


def test_a_game_whose_seat_staff_have_just_given_to_somebody_goes_on(
    alice: User, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the list of the games and the lock of one of them."""
    table, call_off = left_by(alice), abandoned._call_off

    def seated_first(game_id: int, now: Any) -> bool:
        with transaction.atomic():
            found = queries.load(lock_game(pk=game_id))
            seating.change_owner(found, found.seats[1], person=bob, now=now)
        return call_off(game_id, now)

    monkeypatch.setattr(abandoned, "_call_off", seated_first)
    assert abandoned.call_off_left_games(now=LATER) == 0
    assert status(table) == Game.Status.PLAYING


# Ended


def ended(table: Table, *, days: int = 61) -> Table:
    """End a game so many days before `NOON`."""
    with transaction.atomic():
        game = lock_game(pk=table.game.pk)
        if not game.ended:
            rounds.call_off(game, now=NOON)
    Game.objects.filter(pk=game.pk).update(finished_at=NOON - timedelta(days=days))
    return table


def deleted(*found: Table) -> list[bool]:
    """Delete unplayed games; return for each table whether it is gone."""
    count = abandoned.delete_unplayed_games(now=NOON)
    gone = [not Game.objects.filter(pk=table.game.pk).exists() for table in found]
    assert count == sum(gone)
    return gone


def test_games_that_nobody_played_are_deleted_after_60_days(alice: User) -> None:
    never_started = lobby.create_table(user=alice, options=lobby.TableOptions(players=3), now=NOON)
    found = [ended(never_started), ended(left_by(alice)), ended(left_by(alice, players=2, bots=1, target=0))]
    assert [table.game.status for table in map(now_of, found)] == ["void", "void", "over"]
    young, playing = ended(left_by(alice), days=59), left_by(alice)
    assert deleted(*found, young, playing) == [True, True, True, False, False]
    assert not Notice.objects.filter(game__in=[table.game.pk for table in found]).exists()


def test_games_that_somebody_played_stay(alice: User, bob: User) -> None:
    moved = against_bots(alice)
    Move.objects.create(game=moved.game, round=moved.started.round, n=1, seat=0, text="draw", at=NOON)
    Game.objects.filter(pk=moved.game.pk).update(version=1)
    leave(moved, alice)
    # The other one won without a move.
    won = lobby.create_table(user=alice, options=lobby.TableOptions(players=2), now=NOON)
    lobby.join(code=won.game.code, viewer=Viewer(bob), now=NOON)
    leave(won, alice)
    stayed = against_bots(create_guest())
    found = [ended(moved), ended(won), ended(stayed)]
    assert status(won) == Game.Status.OVER
    User.objects.filter(is_guest=True).delete()  # forgotten, as after a month
    assert deleted(*found) == [False, False, False]


def test_games_with_a_report_or_an_act_of_staff_stay(alice: User, bob: User, mo: User) -> None:
    of_staff, reported = left_by(alice), lobby.create_table(user=alice, options=lobby.TableOptions(), now=NOON)
    tables.pause(game_id=of_staff.game.pk, by=mo, reason="To look at the game", now=NOON)
    lobby.join(code=reported.game.code, viewer=Viewer(bob), now=NOON)
    text = "He wrote a rude word as his name, twice."
    cases.report(code=reported.game.code, viewer=Viewer(bob), seat=0, kind="name", text=text, now=NOON)
    assert deleted(ended(of_staff), ended(reported)) == [False, False]


def test_a_game_that_is_reported_just_before_it_is_deleted_stays(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the list of the games and the lock of one of them."""
    table, delete = ended(left_by(alice)), abandoned._delete

    def reported_first(game_id: int, now: Any) -> bool:
        cases.report_sign(
            person_id=alice.pk, kind="abandon", sign=Report.Sign.RESIGNATIONS, game_id=game_id, text="x", now=NOON
        )
        return delete(game_id, now)

    monkeypatch.setattr(abandoned, "_delete", reported_first)
    assert deleted(table) == [False]
