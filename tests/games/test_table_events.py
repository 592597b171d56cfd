"""Test what a table's log says about agreed pauses and about seats that a bot takes over."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import User
from games import queries, rules
from games.actions import pauses
from games.actions.table_events import MOST_PER_VERSION
from games.clocks import pausing
from games.models import Game, Seat, TableEvent
from games.notices import player_notices
from games.queries import Table, Viewer
from games.queries.records import record_of
from games.render import log_notes
from games.render.log_notes import notes_of
from games.staff import people, tables
from tests.support.clocks import HOUR, MINUTE, THREE_HANDS, due_table, locked, move, swept
from tests.support.codes import staff_browser
from tests.support.game_page import log_lines
from tests.support.pages import text_of
from tests.support.tables import NOON, TWO_HANDS, now_of, table_after, table_at

pytestmark = pytest.mark.django_db

REASON = "Asked for by the players themselves"
AGREED = "The players agreed on a pause."
ENDED = "ended the agreed pause."
ABANDONED = "The agreed pause ended because nobody was left who could end it."
BOT = "A bot now plays for {} after too many missed turns."


@pytest.fixture
def table(alice: User, bob: User) -> Table:
    return table_at(TWO_HANDS, [alice, bob], deadline=NOON + 5 * HOUR)


def notes_shown(table: Table, reader: User | None = None) -> list[str]:
    """Return the notes that this reader sees between the moves, oldest first."""
    return [note.text for note in notes_of(queries.between_moves(now_of(table), reader))]


def pause(table: Table, *users: User, at: datetime = NOON) -> None:
    for user in users:
        pauses.ask_pause(code=table.game.code, viewer=Viewer(user), now=at)


def resume(table: Table, user: User, at: datetime = NOON + MINUTE) -> None:
    pauses.resume(code=table.game.code, viewer=Viewer(user), now=at)


def test_stored_names_do_not_change() -> None:
    assert list(TableEvent.Kind) == list(log_notes.EVENTS) == [
        "pause_began", "pause_ended", "pause_ran_out", "pause_abandoned", "bot_began", "seat_taken_back",
        "account_deleted", "closed_by_staff",
    ]  # fmt: skip


@pytest.mark.long
def test_the_log_shows_where_a_pause_began_and_ended(
    table: Table, alice: User, bob: User, as_alice: Client, as_bob: Client
) -> None:
    move(table, alice, "play r5")
    pause(table, alice)
    assert notes_shown(table) == []
    pause(table, bob)
    assert notes_shown(table) == [AGREED]
    resume(table, bob)
    move(table, bob, "play r4")
    for browser, who in ((as_alice, "bob"), (as_bob, "You"), (Client(), "bob")):
        shown = log_lines(browser, table.game)
        assert shown[1:3] == [f"{who} {ENDED}", AGREED]
        assert len(shown) == 4
        assert log_lines(browser, table.game, fragment=True) == shown
        assert log_lines(browser, table.game, "log/") == shown


def test_a_withdrawn_vote_is_not_logged_and_the_end_of_a_pause_by_itself_is(
    table: Table, alice: User, bob: User
) -> None:
    pause(table, alice)
    resume(table, alice)
    assert notes_shown(table) == []
    pause(table, alice, bob)
    pauses.end_old_pauses(now=NOON + Game.LONGEST_PAUSE)
    assert notes_shown(table) == [AGREED, "The agreed pause ended after 30 days."]


def test_the_log_says_that_nobody_was_left_to_end_a_pause(alice: User) -> None:
    table = table_at(THREE_HANDS, [alice, "careful", "careful"], deadline=NOON + 5 * HOUR)
    pause(table, alice)
    move(table, alice, "leave", at=NOON + MINUTE)
    notes = notes_of(queries.between_moves(now_of(table), None))
    assert [(note.version, note.text) for note in notes] == [(0, AGREED), (1, ABANDONED)]


def test_events_caused_by_a_staff_act_follow_it(alice: User, ann: User) -> None:
    table = table_at(THREE_HANDS, [alice, "careful", "careful"], deadline=NOON + 5 * HOUR)
    pause(table, alice)
    tables.remove(game_id=table.game.pk, by=ann, reason=REASON, now=NOON + MINUTE, seat=0, bot=True)
    removed = "Staff removed alice from the table, and a bot took over the seat."
    assert notes_shown(table) == [AGREED, removed, ABANDONED]


def test_pauses_by_staff_or_a_restore_are_not_logged_as_agreed(table: Table, ann: User) -> None:
    for act in (tables.pause, tables.resume):
        act(game_id=table.game.pk, by=ann, reason=REASON, now=NOON)
    locked(table, lambda here: pausing.pause(here, reason=Game.PAUSED_BY_RESTORE, now=NOON))
    locked(table, lambda here: pausing.resume(here, reason=Game.PAUSED_BY_RESTORE, now=NOON))
    assert notes_shown(table) == ["Staff paused the game.", "Staff resumed the game."]
    assert not TableEvent.objects.exists()


def test_players_can_end_their_pause_during_one_by_staff(table: Table, alice: User, bob: User, ann: User) -> None:
    pause(table, alice, bob)
    tables.pause(game_id=table.game.pk, by=ann, reason=REASON, now=NOON + MINUTE)
    resume(table, alice, at=NOON + 2 * MINUTE)
    assert notes_shown(table, bob) == [AGREED, "Staff paused the game.", f"alice {ENDED}"]


def test_the_log_shows_a_bot_taking_over_and_the_owner_returning(
    alice: User, bob: User, as_alice: Client, as_bob: Client
) -> None:
    table = due_table(TWO_HANDS, [alice, bob])
    Seat.objects.filter(game=table.game, index=0).update(misses=2)
    swept()
    assert notes_shown(table, alice) == [BOT.format("you")]
    for at in (NOON + MINUTE, NOON + 2 * MINUTE):
        pauses.take_seat_back(code=table.game.code, viewer=Viewer(alice), now=at)
    assert [event.version for event in TableEvent.objects.all()] == [2, 2]
    assert log_lines(as_alice, table.game)[:2] == ["You took your seat back from the bot.", BOT.format("you")]
    for browser in (as_bob, Client()):
        assert log_lines(browser, table.game)[:2] == ["alice took the seat back from the bot.", BOT.format("alice")]


def test_leaving_after_missed_turns_is_a_move_not_an_event(alice: User, bob: User, charlie: User) -> None:
    table = due_table(THREE_HANDS, [alice, bob, charlie], misses_allowed=1, after_misses="leave")
    swept()
    assert notes_shown(table) == []


def test_the_log_uses_current_names_and_keeps_those_of_deleted_guests(
    table: Table, alice: User, ann: User, bob: User
) -> None:
    pause(table, alice, bob)
    resume(table, bob)
    User.objects.filter(pk=bob.pk).update(display_name="Rude {name} %s {0.game}")
    assert notes_shown(table) == [AGREED, f"Rude {{name}} %s {{0.game}} {ENDED}"]
    people.mute(person_id=bob.pk, days=3, by=ann, reason=REASON, now=NOON)
    assert notes_shown(table) == [AGREED, f"bob {ENDED}"]
    User.objects.filter(pk=bob.pk).delete()
    assert notes_shown(table) == [AGREED, f"bob {ENDED}"]


def test_events_are_not_moves_and_not_in_the_record(alice: User, bob: User) -> None:
    table = table_after([alice, bob], 12, seed=5, deadline=NOON + 5 * HOUR)
    before = queries.log_of(now_of(table), alice)
    pause(table, alice, bob)
    resume(table, bob)
    assert queries.log_of(now_of(table), alice) == before
    move(table, bob, "leave")
    record = rules.print_record(record_of(now_of(table)))
    assert "pause" not in record
    assert len(notes_shown(table)) == 2


def test_an_event_is_saved_in_the_transaction_of_its_cause(
    alice: User, bob: User, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    table = due_table(TWO_HANDS, [alice, bob])
    Seat.objects.filter(game=table.game, index=0).update(misses=2)

    def fail(*_: Any, **__: Any) -> None:
        raise RuntimeError("after the event")

    monkeypatch.setattr(player_notices, "bot_took_over", fail)
    assert swept().failed == 1
    assert (now_of(table).seats[0].bot, TableEvent.objects.count()) == ("", 0)


@pytest.mark.long
def test_players_cannot_fill_the_log_between_two_moves(table: Table, alice: User, bob: User) -> None:
    for n in range(MOST_PER_VERSION):
        pause(table, alice, bob, at=NOON + n * MINUTE)
        resume(table, alice, at=NOON + n * MINUTE)
    pause(table, alice, bob, at=NOON + HOUR)
    assert TableEvent.objects.count() == MOST_PER_VERSION
    assert notes_shown(table)[-2:] == [f"alice {ENDED}", AGREED]
    resume(table, bob, at=NOON + 2 * HOUR)
    move(table, alice, "play r5", at=NOON + 2 * HOUR)
    pause(table, alice, bob, at=NOON + 3 * HOUR)
    assert TableEvent.objects.count() == MOST_PER_VERSION + 1


def test_events_keep_their_order_if_a_process_has_a_wrong_clock(
    table: Table, alice: User, bob: User, ann: User
) -> None:
    pause(table, alice, bob)
    resume(table, bob, at=NOON - HOUR)
    assert notes_shown(table) == [AGREED, f"bob {ENDED}"]
    assert AGREED in text_of(staff_browser(ann).get(f"/admin/games/game/{table.game.pk}/change/"))


def test_an_unknown_kind_breaks_no_page(table: Table, alice: User, bob: User, as_alice: Client) -> None:
    TableEvent.objects.create(game=table.game, version=0, kind="thunder", at=NOON)
    pause(table, alice, bob)
    for rest in ("", "log/"):
        assert log_lines(as_alice, table.game, rest) == [AGREED]


def test_a_page_of_an_old_part_of_the_log_shows_only_its_own_events(
    alice: User, bob: User, as_alice: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("games.web.log.LINES", 5)
    table = table_after([alice, bob], 12, seed=5, deadline=NOON + 5 * HOUR)
    for version in (3, 8):
        TableEvent.objects.create(game=table.game, version=version, kind="bot_began", seat=1, at=NOON)
    pause(table, alice, bob)
    bot = BOT.format("bob")
    assert [line for line in log_lines(as_alice, table.game, "log/") if line in (AGREED, bot)] == [AGREED, bot]
    assert [line for line in log_lines(as_alice, table.game, "log/?to=7") if line in (AGREED, bot)] == [bot]


def test_a_page_of_an_old_part_of_the_log_reads_no_later_events(table: Table, alice: User) -> None:
    Game.objects.filter(pk=table.game.pk).update(version=9)
    for version in (3, 8):
        TableEvent.objects.create(game=table.game, version=version, kind="bot_began", seat=1, at=NOON)
    for until, versions in ((7, [3]), (None, [3, 8]), (2, [])):
        events = queries.between_moves(now_of(table), alice, since=1, until=until)
        assert [event.version for event in events] == versions


@pytest.mark.long
def test_events_cost_a_page_no_extra_statement(
    table: Table, alice: User, bob: User, as_alice: Client, django_assert_num_queries: Callable[[int], Any]
) -> None:
    log_lines(as_alice, table.game, fragment=True)
    with CaptureQueriesContext(connection) as before:
        log_lines(as_alice, table.game, fragment=True)
    for n in range(3):
        pause(table, alice, bob, at=NOON + n * MINUTE)
        resume(table, bob, at=NOON + n * MINUTE)
    with django_assert_num_queries(len(before)):
        assert len(log_lines(as_alice, table.game, fragment=True)) == 6
