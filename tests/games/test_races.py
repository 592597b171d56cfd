"""Test conflicting requests at one instant on real connections: exactly one is accepted."""

from __future__ import annotations

import itertools
import threading
from collections import Counter
from collections.abc import Callable
from datetime import time, timedelta
from functools import partial
from typing import Any

import pytest
from django.db import DatabaseError, OperationalError, connection, transaction
from psycopg.errors import DeadlockDetected

from accounts.actions import update_rest
from accounts.models import User
from games import queries
from games.actions import lobby, timeouts
from games.actions.next_round import deal_next
from games.actions.play import play_move
from games.actions.rematch import ask_rematch
from games.locks import lock_game
from games.models import Case, Game, Move, Notice, Report, Round, Seat
from games.queries import Viewer
from games.refusals import Denied, waited_too_long
from games.rules import legal_moves
from games.staff import accounts, cases
from tests.support.tables import NOON, TWO_HANDS, now_of, table_at
from tests.support.waiting import until

pytestmark = pytest.mark.django_db(transaction=True)


def at_once(calls: list[Callable[[], object]]) -> Counter[str]:
    """Run all calls at the same instant, each on its own connection; count "ok" and the codes of refusals."""
    barrier = threading.Barrier(len(calls))
    answers: list[str] = []

    def run(call: Callable[[], object]) -> None:
        barrier.wait()
        try:
            call()
        except Denied as denied:
            answers.append(denied.code)
        else:
            answers.append("ok")
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return Counter(answers)


def mover(code: str, user: User, text: str, version: int, token: str | None = None) -> Callable[[], object]:
    return lambda: play_move(code=code, viewer=Viewer(user), text=text, version=version, token=token, now=NOON)


@pytest.mark.long
def test_of_32_moves_on_one_version_exactly_one_is_accepted(alice: User, bob: User) -> None:
    table = lobby.create_table(user=alice, options=lobby.TableOptions(players=2, target=5000), now=NOON)
    lobby.join(code=table.game.code, viewer=Viewer(bob), now=NOON)
    for _ in range(5):
        here = now_of(table)
        position, version = here.started.position, here.game.version
        user = (alice, bob)[position.turn]
        moves = [str(move) for move in legal_moves(position, position.turn, here.options)]
        calls = [mover(here.game.code, user, moves[n % len(moves)], version) for n in range(32)]
        answers = at_once(calls)
        assert answers["ok"] == 1, answers
        assert set(answers) <= {"ok", "stale"}
        assert now_of(table).game.version == version + 1
    assert Move.objects.filter(game=table.game).count() == 5


@pytest.mark.long
def test_the_same_token_32_times_at_once_moves_once(alice: User, bob: User) -> None:
    table = table_at(TWO_HANDS, [alice, bob])
    answers = at_once([mover(table.game.code, alice, "play r5", 0, "once") for _ in range(32)])
    assert answers == {"ok": 32}
    assert Move.objects.filter(game=table.game).count() == 1


def test_the_last_free_seat_is_taken_once(alice: User, bob: User, charlie: User) -> None:
    for _ in range(5):
        table = lobby.create_table(user=alice, options=lobby.TableOptions(players=2), now=NOON)
        code = table.game.code
        answers = at_once([partial(lobby.join, code=code, viewer=Viewer(user), now=NOON) for user in (bob, charlie)])
        assert answers == {"ok": 1, "full": 1}
        assert Seat.objects.filter(game=table.game).count() == 2


def test_two_people_who_ask_for_a_rematch_get_one_table(alice: User, bob: User) -> None:
    table = table_at(TWO_HANDS, [alice, bob])
    Game.objects.filter(pk=table.game.pk).update(status=Game.Status.OVER)
    code = table.game.code
    answers = at_once([partial(ask_rematch, code=code, viewer=Viewer(user), now=NOON) for user in (alice, bob)])
    assert answers == {"ok": 2}
    assert Game.objects.filter(rematch_of=table.game).count() == 1


def test_a_report_never_joins_a_case_that_is_being_closed(alice: User, bob: User, charlie: User, mo: User) -> None:
    game = table_at(TWO_HANDS, [alice, bob]).game
    said: dict[str, Any] = {"seat": 1, "kind": "name", "text": "A rude name, I think.", "now": NOON}
    first = cases.report(code=game.code, viewer=Viewer(alice), **said)

    def report_again() -> None:
        try:
            cases.report(code=game.code, viewer=Viewer(charlie), **said)
        finally:
            connection.close()

    thread = threading.Thread(target=report_again)
    with transaction.atomic():
        cases.close_case(
            case_id=first.case_id, by=mo, outcome="nothing", answer="", reason="Nothing in the log", now=NOON
        )
        thread.start()
        while thread.is_alive() and not somebody_waits_for_this_connection():
            pass
    thread.join()
    assert Case.objects.get(closed_at=None).reports.get().reporter == charlie
    assert Case.objects.exclude(closed_at=None).get().reports.get().reporter == alice


def somebody_waits_for_this_connection() -> bool:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY(pg_blocking_pids(pid)))"
        )
        return bool(cursor.fetchone()[0])


@pytest.mark.parametrize("moves_after", [1, 2])
def test_a_game_is_read_at_one_moment(alice: User, bob: User, moves_after: int) -> None:
    """A player moves after each statement of a reader in turn. No answer may mix cards or logs of two versions."""
    table = table_at(TWO_HANDS, [alice, bob])
    before: tuple[int, object, list[str]] = (0, table.started.position, [])
    asked = itertools.count(1)

    def moving(execute: Callable[..., object], *statement: object) -> object:
        found = execute(*statement)
        if next(asked) == moves_after:
            at_once([mover(table.game.code, alice, "play r5", 0)])
        return found

    with connection.execute_wrapper(moving):
        shown = queries.load_for(table.game.code, Viewer(alice))
        log = [line.text for line in queries.log_of(shown, alice)]
    now = now_of(table)
    assert now.game.version == 1
    after = (1, now.started.position, ["play r5"])
    assert (shown.game.version, shown.started.position, log) in (before, after)


def test_the_next_round_is_dealt_once(alice: User, bob: User) -> None:
    over = {**TWO_HANDS, "hands": [[], ["r4"]], "phase": "over", "winner": 0, "points": 4}
    table = table_at(over, [alice, bob], target=1000)
    dealt: list[object] = []
    at_once([lambda: dealt.append(deal_next(game_id=table.game.pk, now=NOON)) for _ in range(6)])
    assert len([one for one in dealt if one is not None]) == 1
    assert Round.objects.filter(game=table.game).count() == 2


def finishes_while(hold: Callable[[], object], call: Callable[[], object]) -> None:
    """Run `call` on its own connection while a transaction here holds the locks that `hold` takes."""
    failed: list[BaseException] = []

    def run() -> None:
        try:
            with connection.cursor() as cursor:
                cursor.execute("SET lock_timeout = '3s'")
            call()
        except (DatabaseError, Denied) as error:
            failed.append(error)
        finally:
            connection.close()

    with transaction.atomic():
        hold()
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
    assert failed == []


def test_a_report_and_a_move_do_not_wait_for_each_other(alice: User, bob: User) -> None:
    table = table_at(TWO_HANDS, [alice, bob])
    code = table.game.code
    text = "Bob plays two seats, I think."
    finishes_while(
        lambda: lock_game(code=code),
        lambda: cases.report(code=code, viewer=Viewer(alice), seat=1, kind="teaming", text=text, now=NOON),
    )
    assert Report.objects.filter(game=table.game).count() == 1
    finishes_while(
        lambda: cases.report_sign(
            person_id=bob.pk, kind="teaming", sign=Report.Sign.BROWSER, game_id=table.game.pk, text=text, now=NOON
        ),
        mover(code, alice, "play r5", 0),
    )
    assert Notice.objects.filter(game=table.game, user=bob, kind="turn").exists()


def test_a_rename_and_a_miss_of_one_person_do_not_deadlock(alice: User, bob: User, ann: User) -> None:
    table = table_at(TWO_HANDS, [alice, bob], deadline=NOON)
    Seat.objects.filter(game=table.game, index=0).update(misses=2)
    names: dict[str, Any] = {"username": "alina", "display_name": ""}
    failed: list[Exception] = []

    def rename() -> None:
        try:
            accounts.rename(person_id=alice.pk, by=ann, reason="Asked for by herself", now=NOON, **names)
        except Exception as error:  # noqa: BLE001  # told by the thread that waits for it
            failed.append(error)
        finally:
            connection.close()

    renaming = threading.Thread(target=rename)
    with transaction.atomic():
        assert timeouts.run_out(
            game_id=table.game.pk, now=NOON
        )  # her third miss writes a notice, which locks its reader last
        renaming.start()
        until("in the way of each other", lambda: failed or somebody_waits_for_a_lock())
    renaming.join()
    assert failed == []
    assert Notice.objects.filter(game=table.game, user=alice, kind="bot_took_over").exists()
    assert Seat.objects.get(game=table.game, index=0).name == "alina"


def test_hours_saved_by_two_pages_at_once_change_once(alice: User) -> None:
    """The later request compares with what the first has saved, not with what was stored when both started."""
    save = partial(update_rest, user_id=alice.pk, quiet_from=time(22), quiet_to=time(7), auto_vacation=False)

    def save_again() -> None:
        try:
            save(now=NOON + timedelta(hours=1))
        finally:
            connection.close()

    saving = threading.Thread(target=save_again)
    with transaction.atomic():
        save(now=NOON)
        saving.start()
        until("in the way of each other", somebody_waits_for_a_lock)
    saving.join()
    assert User.objects.get(pk=alice.pk).quiet_since == NOON


def somebody_waits_for_a_lock() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_clear_snapshot()")
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
        )
        return bool(cursor.fetchone() != (0,))


def test_a_deadlock_is_answered_as_busy() -> None:
    error = OperationalError()
    error.__cause__ = DeadlockDetected()
    assert waited_too_long(error)
