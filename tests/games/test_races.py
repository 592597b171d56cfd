"""Test conflicting requests at one instant on real connections: exactly one is accepted."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import time, timedelta
from functools import partial
from typing import Any

import pytest
from django.db import OperationalError, connection, transaction
from psycopg.errors import DeadlockDetected

from accounts.actions import update_time_off
from accounts.models import User
from games import queries
from games.actions import lobby, timeouts
from games.actions.next_round import deal_next
from games.actions.play import play_move
from games.actions.rematch import ask_rematch
from games.locks import lock_game
from games.models import Case, Game, Notice, Report, Round, Seat
from games.queries import Viewer
from games.refusals import waited_too_long
from games.staff import accounts, cases
from tests.support.tables import NOON, TWO_HANDS, now_of, table_at
from tests.support.threads import outcomes, own_connection, somebody_waits
from tests.support.waiting import until

pytestmark = pytest.mark.django_db(transaction=True)


def mover(code: str, user: User, text: str, version: int, token: str | None = None) -> Callable[[], object]:
    return lambda: play_move(code=code, viewer=Viewer(user), text=text, version=version, token=token, now=NOON)


def test_the_last_free_seat_is_taken_once(alice: User, bob: User, charlie: User) -> None:
    for _ in range(5):
        table = lobby.create_table(user=alice, choices=lobby.TableChoices(players=2), now=NOON)
        code = table.game.code
        answers = outcomes([partial(lobby.join, code=code, viewer=Viewer(user), now=NOON) for user in (bob, charlie)])
        assert answers == {"ok": 1, "full": 1}
        assert Seat.objects.filter(game=table.game).count() == 2


def test_two_people_who_ask_for_a_rematch_get_one_table(alice: User, bob: User) -> None:
    table = table_at(TWO_HANDS, [alice, bob])
    Game.objects.filter(pk=table.game.pk).update(status=Game.Status.OVER)
    code = table.game.code
    answers = outcomes([partial(ask_rematch, code=code, viewer=Viewer(user), now=NOON) for user in (alice, bob)])
    assert answers == {"ok": 2}
    assert Game.objects.filter(rematch_of=table.game).count() == 1


def test_a_report_never_joins_a_case_that_is_being_closed(alice: User, bob: User, charlie: User, mo: User) -> None:
    game = table_at(TWO_HANDS, [alice, bob]).game
    said: dict[str, Any] = {"seat": 1, "kind": "name", "text": "A rude name, I think.", "now": NOON}
    first = cases.report(code=game.code, viewer=Viewer(alice), **said)

    report_again = partial(cases.report, code=game.code, viewer=Viewer(charlie), **said)
    with ThreadPoolExecutor(1) as threads, transaction.atomic():
        cases.close_case(
            case_id=first.case_id, by=mo, outcome="nothing", answer="", reason="Nothing in the log", now=NOON
        )
        reporting = threads.submit(own_connection, report_again)
        until("in the way of each other", lambda: reporting.done() or somebody_waits())
    reporting.result()
    assert Case.objects.get(closed_at=None).reports.get().reporter == charlie
    assert Case.objects.exclude(closed_at=None).get().reports.get().reporter == alice


@pytest.mark.parametrize("moves_after", [1, 2])
def test_a_game_is_read_at_one_moment(alice: User, bob: User, moves_after: int) -> None:
    """A player moves after each statement of a reader in turn. No answer may mix cards or logs of two versions."""
    table = table_at(TWO_HANDS, [alice, bob])
    before: tuple[int, object, list[str]] = (0, table.started.position, [])
    asked = itertools.count(1)

    def moving(execute: Callable[..., object], *statement: object) -> object:
        found = execute(*statement)
        if next(asked) == moves_after:
            outcomes([mover(table.game.code, alice, "play r5", 0)])
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
    outcomes([lambda: dealt.append(deal_next(game_id=table.game.pk, now=NOON)) for _ in range(6)])
    assert len([one for one in dealt if one is not None]) == 1
    assert Round.objects.filter(game=table.game).count() == 2


def finishes_while(hold: Callable[[], object], call: Callable[[], object]) -> None:
    """Run `call` on its own connection while a transaction here holds the locks that `hold` takes."""

    def run() -> None:
        with connection.cursor() as cursor:
            cursor.execute("SET lock_timeout = '3s'")
        call()

    with transaction.atomic(), ThreadPoolExecutor(1) as threads:
        hold()
        threads.submit(own_connection, run).result()


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
    rename = partial(accounts.rename, person_id=alice.pk, by=ann, reason="Asked for by herself", now=NOON, **names)
    with ThreadPoolExecutor(1) as threads, transaction.atomic():
        # Her third miss writes a notice, which locks its reader last.
        assert timeouts.run_out(game_id=table.game.pk, now=NOON)
        renaming = threads.submit(own_connection, rename)
        until("in the way of each other", lambda: renaming.done() or somebody_waits())
    renaming.result()
    assert Notice.objects.filter(game=table.game, user=alice, kind="bot_took_over").exists()
    assert Seat.objects.get(game=table.game, index=0).name == "alina"


def test_hours_saved_by_two_pages_at_once_change_once(alice: User) -> None:
    """The later request compares with what the first has saved, not with what was stored when both started."""
    save = partial(update_time_off, user_id=alice.pk, quiet_from=time(22), quiet_to=time(7), auto_vacation=False)

    with ThreadPoolExecutor(1) as threads, transaction.atomic():
        save(now=NOON)
        saving = threads.submit(own_connection, partial(save, now=NOON + timedelta(hours=1)))
        until("in the way of each other", lambda: saving.done() or somebody_waits())
    saving.result()
    assert User.objects.get(pk=alice.pk).quiet_since == NOON


def test_a_deadlock_is_answered_as_busy() -> None:
    error = OperationalError()
    error.__cause__ = DeadlockDetected()
    assert waited_too_long(error)
