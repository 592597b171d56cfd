"""Test when bots are due, what they do, and what stops them."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial
from itertools import count

import pytest
from django.db import connection, transaction

from accounts.actions import create_guest
from accounts.models import User
from games import announce, bots, queries, rules
from games.actions import bot_turn, lobby, pauses, seating, sweep
from games.actions.bot_turn import play_bots, play_due_bots
from games.actions.play import play_seat
from games.models import Game, Move
from games.queries import Table, Viewer, due_bots
from games.queries.verify import faults_of
from tests.conftest import person
from tests.support.clocks import HOUR, SECOND, locked, move, refused
from tests.support.statements import before_statement
from tests.support.tables import NOON, TWO_HANDS, log_of, now_of, table_at

pytestmark = pytest.mark.django_db


def run_bots(table: Table, *, at: datetime = NOON, most: int = 500) -> int | None:
    return play_bots(game_id=table.game.pk, clock=lambda: at, rng=random.Random(1), most=most)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return the list of games for which the worker is asked to move bots."""
    games: list[int] = []
    monkeypatch.setattr(announce, "wake_bots", lambda game_id, wake_at: games.append(game_id))
    return games


def unattended_table(user: User) -> Table:
    """Return a game against two bots that this person has left."""
    options = lobby.TableChoices(players=3, bots=2, bot="random", bot_pause=0.0)
    table = lobby.create_table(user=user, choices=options, now=NOON)
    move(table, user, "leave")
    return table


def table_of_bots_with_a_player_who_is_out(user: User) -> Table:
    """Return a game where only bots are still in the round; the person plays again in the next one."""
    colors = [[f"{color}{n}" for n in range(1, 9)] for color in "rb"]
    position = {**TWO_HANDS, "hands": [[], *colors], "out": [0], "turn": 1}
    return table_at(position, [user, "random", "random"], wake_at=NOON, bot_pause=10.0)


def test_a_bot_on_turn_moves_when_it_is_due(alice: User) -> None:
    table = table_at({**TWO_HANDS, "turn": 1}, [alice, "random"], wake_at=NOON)
    assert run_bots(table)
    assert all(line.startswith("1 ") for line in log_of(table))


def test_the_log_marks_moves_a_bot_made_for_an_owner(alice: User, bob: User) -> None:
    table = table_at(TWO_HANDS, [alice, bob])
    move(table, alice, "play r5")
    locked(table, lambda here: seating.replace_by_bot(here, seat=1, now=NOON, bot="random"))
    run_bots(table, at=NOON + HOUR, most=1)
    pauses.take_seat_back(code=table.game.code, viewer=Viewer(bob), now=NOON + HOUR)
    move(table, bob, "leave", at=NOON + HOUR)
    made = list(Move.objects.filter(game=table.game).order_by("n").values_list("seat", "by_bot"))
    assert (made[0], made[1], made[-1]) == ((0, False), (1, True), (1, False))
    assert [line.by_bot for line in queries.log_of(now_of(table), alice)] == [by_bot for _, by_bot in made]


def test_a_bot_waits_for_its_pause(alice: User) -> None:
    table = table_at(TWO_HANDS, [alice, "random"], bot_pause=3.0)
    move(table, alice, "play r5")
    assert now_of(table).game.wake_at == NOON + 3 * SECOND
    assert [run_bots(table, at=NOON + n * SECOND) for n in (2, 3)] == [0, 1]


@pytest.mark.parametrize(("pause", "pace", "seconds"), [(1.0, "standard", 5), (7.0, "standard", 7), (0.0, "live", 0)])
def test_a_bot_gives_people_time_to_call(alice: User, pause: float, pace: str, seconds: int) -> None:
    position = {**TWO_HANDS, "hands": [["r5", "b1"], ["r4", "g3", "W6"]]}
    table = table_at(position, [alice, "random"], bot_pause=pause, pace=pace)
    move(table, alice, "play r5")
    assert now_of(table).game.wake_at == NOON + seconds * SECOND


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
def test_bots_finish_an_unattended_game_a_few_moves_at_a_time(alice: User) -> None:
    table = unattended_table(alice)
    visits = [run_bots(table)]
    while now_of(table).game.status == Game.Status.PLAYING:
        visits.append(run_bots(table))
    assert set(visits[:-1]) == {bot_turn.UNATTENDED_MOVES}
    assert faults_of(table.game.pk) == []


def test_a_table_where_bots_play_for_all_people_is_unattended(alice: User, asked: list[int]) -> None:
    table = table_at(TWO_HANDS, [alice, "random"], wake_at=NOON, bot_pause=0.0)
    assert now_of(table).attended
    locked(table, lambda here: seating.replace_by_bot(here, seat=0, now=NOON))
    assert not now_of(table).attended


def test_a_bot_catches_an_exposed_player(alice: User) -> None:
    position = {**TWO_HANDS, "hands": [["b1"], ["r4", "g3"]], "exposed": [0], "turn": 1}
    table = table_at(position, [alice, "sharp"], wake_at=NOON)
    run_bots(table, most=1)
    assert log_of(table) == ["1 catch 0"]


def choose(monkeypatch: pytest.MonkeyPatch, chosen: Callable[[Sequence[rules.Move]], rules.Move | None]) -> None:
    """Let careful bots choose this of their legal moves."""
    monkeypatch.setattr(type(bots.BOTS["careful"]), "choose", lambda self, view, legal, rng: chosen(legal))


def test_a_bot_that_does_not_want_to_move_is_not_asked_again(
    alice: User, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    position = {**TWO_HANDS, "hands": [["b1"], ["r4", "g3"], ["b2", "b3"]], "exposed": [0], "turn": 1}
    table = table_at(position, [alice, bob, "careful"], wake_at=NOON)
    choose(monkeypatch, lambda legal: None)
    assert run_bots(table) == 0
    assert now_of(table).game.wake_at is None


def test_a_seat_given_to_a_bot_during_a_task_gets_its_move(
    alice: User, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    position = {**TWO_HANDS, "hands": [["r4", "g3"], ["b1"], ["b2", "b3"]], "exposed": [1], "turn": 0}
    table = table_at(position, [alice, bob, "careful"], wake_at=NOON)
    given = partial(locked, table, lambda here: seating.replace_by_bot(here, seat=0, now=NOON + SECOND))
    choose(monkeypatch, lambda legal: given())  # which decides not to catch
    assert run_bots(table, most=1) == 0
    assert now_of(table).game.wake_at is not None


def test_a_bot_moves_only_on_the_version_it_saw_and_only_its_own_seat(alice: User) -> None:
    table = table_at({**TWO_HANDS, "turn": 1}, [alice, "random"], wake_at=NOON)
    made = partial(play_seat, game_id=table.game.pk, move=rules.parse_move("play r4"), now=NOON)
    assert refused(lambda: made(seat=1, version=1))[0] == "stale"
    assert refused(lambda: made(seat=0, version=0))[0] == "forbidden"
    assert not Move.objects.exists()


def test_the_sweep_finds_lost_bot_moves_and_deals(alice: User, bob: User, asked: list[int]) -> None:
    late = table_at({**TWO_HANDS, "turn": 1}, [alice, "random"], wake_at=NOON - timedelta(seconds=3))
    table_at({**TWO_HANDS, "turn": 1}, [alice, "random"], wake_at=NOON)
    table_at({**TWO_HANDS, "turn": 1}, [alice, "random"], wake_at=None)
    over = {**TWO_HANDS, "hands": [[], ["r4"]], "phase": "over", "winner": 0, "points": 4}
    undealt = table_at(over, [alice, bob], target=1000, wake_at=NOON - timedelta(seconds=9))
    assert sweep.sweep(clock=lambda: NOON).asked == 2
    assert asked == [undealt.game.pk, late.game.pk]


def test_a_round_that_ends_makes_the_deal_due(alice: User, bob: User) -> None:
    table = table_at({**TWO_HANDS, "hands": [["r5"], ["r4", "g3"]]}, [alice, bob], target=1000)
    with pytest.raises(ZeroDivisionError), before_statement('INSERT INTO "games_round"', lambda: 1 / 0):
        move(table, alice, "play r5")  # the process dies after the commit
    assert now_of(table).game.wake_at == NOON
    run_bots(table)
    assert now_of(table).started.round.number == 2


@pytest.mark.long
def test_bots_without_pause_need_one_task(alice: User, asked: list[int]) -> None:
    table = table_of_bots_with_a_player_who_is_out(alice)
    assert (run_bots(table) or 0) > 5
    assert asked == []


# Which host's bots move next


def due_tables(user: User, number: int, bot: str = "random", at: datetime = NOON) -> list[int]:
    """Return games of this host in which a bot is due."""
    return [table_at({**TWO_HANDS, "turn": 1}, [user, bot], wake_at=at).game.pk for _ in range(number)]


def run_task(game_id: int, rng: random.Random | None = None) -> int:
    return play_due_bots(game_id=game_id, clock=lambda: NOON, rng=rng or random.Random(1))


def moved() -> set[int]:
    return set(Move.objects.values_list("game_id", flat=True))


def test_tasks_follow_until_all_bots_have_moved(alice: User, asked: list[int]) -> None:
    games = due_tables(alice, 5)
    asked.append(games[0])
    tasks = 0
    while asked:
        run_task(asked.pop())
        tasks += 1
    assert moved() == set(games)
    assert tasks == 5


@pytest.mark.long
def test_a_task_stops_after_a_short_time_and_starts_another(alice: User, asked: list[int]) -> None:
    table = table_of_bots_with_a_player_who_is_out(alice)
    Game.objects.filter(pk=table.game.pk).update(bot_pause=0.0)
    moments = (NOON + n * bot_turn.TASK_TIME / 10 for n in count())
    made = play_due_bots(game_id=table.game.pk, clock=lambda: next(moments), rng=random.Random(1))
    assert 0 < made < 10
    assert asked == [table.game.pk]
    run_bots(table, at=NOON + timedelta(minutes=1))
    assert Move.objects.filter(game=table.game).count() > made


def moved_by_a_task(game_id: int, rng: random.Random) -> set[int]:
    """Return the games in which bots move when a task is started for this game. Undoes its moves."""
    with transaction.atomic():
        run_task(game_id, rng)
        found = moved()
        transaction.set_rollback(True)
    return found


@pytest.mark.long
def test_hosts_take_turns_however_many_games_they_have(alice: User, bob: User, asked: list[int]) -> None:
    many, (own,) = due_tables(alice, 30), due_tables(bob, 1)
    rng = random.Random(1)
    drawn = [moved_by_a_task(many[0], rng) for _ in range(20)]
    assert sum(own in found for found in drawn) >= 17
    Game.objects.filter(pk__in=many[3:]).update(wake_at=None)
    few = set().union(*(moved_by_a_task(many[0], rng) for _ in range(20)))
    assert few >= set(many[:3])


def known_for_a_day(user: User) -> User:
    """Make this account old enough not to be new."""
    user.date_joined = NOON - timedelta(days=2)
    user.save(update_fields=["date_joined"])
    return user


def new_account(n: int) -> User:
    return User.objects.create_user(f"new{n}", date_joined=NOON - timedelta(hours=23))


@pytest.mark.long
@pytest.mark.parametrize("new_host", [lambda n: create_guest(), new_account], ids=["guests", "new accounts"])
def test_new_accounts_get_a_third_of_the_tasks_while_others_wait(
    alice: User, asked: list[int], new_host: Callable[[int], User]
) -> None:
    of_guests = [due_tables(new_host(n), 1)[0] for n in range(30)]
    (own,) = due_tables(known_for_a_day(alice), 1)
    tasks, rng = 30, random.Random(1)
    first = sum(own in moved_by_a_task(of_guests[0], rng) for _ in range(tasks))
    assert tasks * 0.55 < first < tasks * 0.8
    run_task(own, rng)
    while own not in moved():
        run_task(own, rng)
    before = len(moved())
    assert run_task(of_guests[0], rng) == 1  # no other host has a game waiting now
    assert len(moved()) == before + 1


@pytest.mark.long
def test_a_game_without_a_host_is_not_drawn_with_those_of_new_accounts(alice: User, asked: list[int]) -> None:
    of_guests = [due_tables(create_guest(), 1)[0] for _ in range(10)]
    (orphan,) = due_tables(alice, 1)
    Game.objects.filter(pk=orphan).update(host=None)
    rng = random.Random(1)
    assert sum(orphan in moved_by_a_task(of_guests[0], rng) for _ in range(20)) >= 10


@pytest.mark.django_db(transaction=True)
def test_a_second_task_does_not_move_for_a_host_while_a_first_one_does(
    monkeypatch: pytest.MonkeyPatch, asked: list[int]
) -> None:
    alice, bob = person("alice"), person("bob")
    first, second = due_tables(alice, 2, "careful")
    later = NOON + timedelta(minutes=1)
    (other,) = due_tables(bob, 1, at=later)
    made: list[tuple[str, int | None]] = []

    def in_another_connection(game_id: int) -> int | None:
        try:
            return play_bots(game_id=game_id, clock=lambda: later, rng=random.Random(1))
        finally:
            connection.close()

    def meanwhile(legal: Sequence[rules.Move]) -> rules.Move:
        if not made:  # while the first task chooses
            with ThreadPoolExecutor(1) as threads:
                made.append(("same host", threads.submit(in_another_connection, second).result()))
                made.append(("other host", threads.submit(in_another_connection, other).result()))
        return next(move for move in legal if move.kind == "play")

    choose(monkeypatch, meanwhile)
    assert run_task(first) == 1
    assert made == [("same host", None), ("other host", 1)]
    assert len(asked) == 1  # what the second task left is not lost
    assert run_task(asked[0]) == 1
    assert moved() == {first, second, other}


@pytest.mark.django_db(transaction=True)
def test_a_task_skips_a_host_that_another_task_serves(asked: list[int]) -> None:
    alice, bob = person("alice"), person("bob")
    (one,), (other,) = due_tables(alice, 1), due_tables(bob, 1)

    rng = random.Random(1)

    def run() -> int:
        try:
            return run_task(one, rng)
        finally:
            connection.close()

    with transaction.atomic(), ThreadPoolExecutor(1) as threads:
        assert bot_turn.claim_host(alice.pk)
        assert [threads.submit(run).result() for _ in range(4)] == [1, 0, 0, 0]
    assert moved() == {other}
    assert run_task(one) == 1


def test_a_game_whose_bots_fail_does_not_stop_others_of_its_host(
    alice: User, bob: User, asked: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    broken, whole = due_tables(alice, 1, "careful") + due_tables(alice, 1)

    choose(monkeypatch, lambda legal: 1 / 0)  # type: ignore[arg-type,return-value]  # no move
    rng = random.Random(1)
    for _ in range(20):
        with suppress(ZeroDivisionError):
            run_task(broken, rng)
    assert moved() == {whole}
    assert asked.count(broken) <= 1


def test_a_task_for_an_unattended_game_plays_it_and_starts_no_other(alice: User, asked: list[int]) -> None:
    table = unattended_table(alice)
    other = unattended_table(alice)
    asked.clear()
    assert run_task(table.game.pk) == bot_turn.UNATTENDED_MOVES
    assert now_of(other).game.version == other.game.version + 1  # only the move with which its player left
    assert asked == []


# When many games wait


@pytest.mark.long
def test_games_where_people_play_are_found_behind_many_that_people_left(
    alice: User, asked: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(due_bots, "NEWEST", 3)
    left = [unattended_table(alice).game.pk for _ in range(8)]
    own = due_tables(alice, 5, at=NOON + 50 * SECOND)
    asked.clear()
    later = NOON + timedelta(minutes=1)
    assert play_due_bots(game_id=own[0], clock=lambda: later, rng=random.Random(1)) == 1
    Game.objects.filter(pk__in=own).update(wake_at=NOON + 50 * SECOND)
    asked.clear()
    for _ in range(40):
        sweep.sweep(clock=lambda: later)
    assert [asked.count(one) for one in own] == [40] * 5
    assert len(asked) == 40 * (5 + sweep.UNATTENDED_BATCH)
    assert set(asked) == {*own, *left}


@pytest.mark.long
def test_left_games_take_turns_even_if_their_bots_fail(alice: User, asked: list[int]) -> None:
    left = [unattended_table(alice).game.pk for _ in range(6)]
    asked.clear()
    for n in range(6):  # bots do not move in this test, as if all failed
        sweep.sweep(clock=lambda n=n: NOON + timedelta(minutes=1, seconds=2 * n))  # type: ignore[misc]  # called at once
    assert asked == left * 2
