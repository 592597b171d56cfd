"""Test the sentences about staff acts in a table's log."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import User
from games import queries
from games.actions import lobby, pauses
from games.actions.play import play_move
from games.models import AuditEntry, Game, Seat
from games.queries import Table, Viewer
from games.queries.game_page import LOG_LINES
from games.render import log_notes
from games.render.log_notes import notes_of
from games.staff import people, tables
from games.staff.acts import TABLE_ACTS
from tests.support.codes import staff_browser
from tests.support.game_page import log_lines
from tests.support.staff import write_entry
from tests.support.tables import NOON, TWO_HANDS, now_of, table_after, table_at

REASON = "Asked for by the players themselves"


@pytest.fixture
def dealt(alice: User, bob: User, charlie: User) -> Table:
    table = table_after([alice, bob, charlie], 7, seed=0)
    Game.objects.filter(pk=table.game.pk).update(target=500, deadline=NOON + timedelta(hours=10), turn_since=NOON)
    Seat.objects.filter(game=table.game, index=1).update(misses=2)
    return now_of(table)


@pytest.fixture
def dora() -> User:
    return User.objects.create_user(username="dora")


def arguments_for(game: Game, by: User, **more: Any) -> dict[str, Any]:
    return {"game_id": game.pk, "by": by, "reason": REASON, "now": NOON, **more}


def notes_shown(game: Game, reader: User | None = None) -> list[str]:
    """Return the sentences that this reader sees, oldest first."""
    table = queries.find(game.pk)
    assert table is not None
    return [note.text for note in notes_of(queries.between_moves(table, reader))]


def test_the_log_tells_the_acts_at_a_table_that_say_so() -> None:
    assert set(log_notes.ACTS) == {act.name for act in TABLE_ACTS.values() if act.in_log}


def test_the_log_says_what_staff_did_and_to_which_player(dealt: Table, ann: User, dora: User) -> None:
    game = dealt.game
    tables.pause(**arguments_for(game, ann))
    tables.resume(**arguments_for(game, ann))
    tables.extend(**arguments_for(game, ann, minutes=90))
    tables.extend(**arguments_for(game, ann, minutes=1))
    tables.forgive(**arguments_for(game, ann, seat=1))
    tables.void_round(**arguments_for(game, ann))
    tables.move_seat(**arguments_for(game, ann, seat=1, username="dora"))
    tables.remove(**arguments_for(game, ann, seat=1, bot=True))
    tables.move_seat(**arguments_for(game, ann, seat=1, username="bob"))
    tables.view_hands(**arguments_for(game, ann))
    tables.remove(**arguments_for(game, ann, seat=2, bot=False))
    expected = [
        "Staff paused the game.",
        "Staff resumed the game.",
        "Staff gave alice 90 min more for the turn.",
        "Staff gave alice 1 min more for the turn.",
        "Staff removed 2 missed turns from bob’s count.",
        "Staff cancelled round 1; it was dealt again.",
        "Staff gave bob’s seat to dora.",
        "Staff removed dora from the table, and a bot took over the seat.",
        "Staff gave dora’s seat to bob.",
    ]
    assert notes_shown(game) == expected  # the line of the move says that staff took charlie out
    tables.void_game(**arguments_for(game, ann))
    assert notes_shown(Game.objects.get(pk=game.pk)) == [
        *expected, "Staff looked at the hands.", "Staff ended the game without a winner."
    ]  # fmt: skip


def test_the_player_concerned_is_addressed_as_you(dealt: Table, ann: User, alice: User, bob: User, dora: User) -> None:
    game = dealt.game
    tables.extend(**arguments_for(game, ann, minutes=90))
    tables.forgive(**arguments_for(game, ann, seat=1))
    tables.move_seat(**arguments_for(game, ann, seat=1, username="dora"))
    tables.remove(**arguments_for(game, ann, seat=1, bot=True))
    assert notes_shown(game, alice)[0] == "Staff gave you 90 min more for the turn."
    assert notes_shown(game, bob)[1:3] == [
        "Staff removed 2 missed turns from your count.",
        "Staff gave your seat to dora.",
    ]
    assert notes_shown(game, dora)[2:] == [
        "Staff gave you bob’s seat.", "Staff removed you from the table, and a bot took over the seat."
    ]  # fmt: skip
    for reader in (None, ann):
        assert notes_shown(game, reader)[:2] == [
            "Staff gave alice 90 min more for the turn.", "Staff removed 2 missed turns from bob’s count."
        ]  # fmt: skip


def test_a_removal_with_the_hand_aside_leaves_one_line_and_that_of_a_new_link(dealt: Table, ann: User) -> None:
    Game.objects.filter(pk=dealt.game.pk).update(is_public=False)
    tables.remove(**arguments_for(dealt.game, ann, seat=1, bot=False))
    assert notes_shown(dealt.game) == ["The old link to the table no longer works."]


def test_acts_before_the_start_are_logged(ann: User, alice: User, bob: User) -> None:
    game = lobby.create_table(user=alice, choices=lobby.TableChoices(), now=NOON).game
    lobby.join(code=game.code, viewer=Viewer(bob), now=NOON)
    tables.remove(**arguments_for(game, ann, seat=1, bot=True))
    tables.close(**arguments_for(game, ann))
    assert notes_shown(game) == ["Staff removed bob from the table.", "Staff closed the table before the game started."]


def test_the_log_says_if_staff_ended_an_agreed_pause(dealt: Table, ann: User) -> None:
    for seat in dealt.seats:
        assert seat.user is not None
        pauses.ask_pause(code=dealt.game.code, viewer=Viewer(seat.user), now=NOON)
    tables.resume(**{**arguments_for(dealt.game, ann), "now": NOON + timedelta(minutes=1)})
    expected = ["The players agreed on a pause.", "Staff ended the agreed pause."]
    assert notes_shown(dealt.game) == expected


def test_the_log_shows_neither_removed_names_nor_deleted_people(dealt: Table, ann: User, bob: User, dora: User) -> None:
    User.objects.filter(pk=bob.pk).update(display_name="Rude Word")
    tables.move_seat(**arguments_for(dealt.game, ann, seat=1, username="dora"))
    tables.extend(**arguments_for(dealt.game, ann, minutes=5))
    assert notes_shown(dealt.game)[0] == "Staff gave Rude Word’s seat to dora."
    people.mute(person_id=bob.pk, days=3, by=ann, reason=REASON, now=NOON)
    assert notes_shown(dealt.game)[0] == "Staff gave bob’s seat to dora."
    User.objects.filter(pk=bob.pk).delete()
    assert notes_shown(dealt.game)[0] == "Staff gave a former player’s seat to dora."


def test_acts_are_logged_between_the_moves_where_they_happened(dealt: Table, ann: User, as_alice: Client) -> None:
    game = dealt.game
    before = log_lines(as_alice, game)
    assert len(before) >= 7
    tables.extend(**arguments_for(game, ann, minutes=90))
    tables.pause(**arguments_for(game, ann))
    tables.resume(**arguments_for(game, ann))
    common = ["Staff resumed the game.", "Staff paused the game."]
    to_alice, to_others = ([*common, f"Staff gave {who} 90 min more for the turn."] for who in ("you", "alice"))
    assert log_lines(as_alice, game) == [*to_alice, *before]
    tables.remove(**arguments_for(game, ann, seat=2, bot=False))
    for browser, said in ((as_alice, to_alice), (Client(), to_others)):
        lines = log_lines(browser, game)
        assert lines[0] == "Staff took charlie out of the game."
        assert lines[1:4] == said
        assert log_lines(browser, game, fragment=True) == lines
        assert log_lines(browser, game, "log/")[: len(lines)] == lines
    assert REASON not in as_alice.get(game.get_absolute_url()).content.decode()


def test_acts_before_the_first_move_are_logged(alice: User, bob: User, ann: User, as_alice: Client) -> None:
    table = table_at(TWO_HANDS, [alice, bob])
    assert log_lines(as_alice, table.game) == ["No moves yet."]
    tables.pause(**arguments_for(table.game, ann))
    assert log_lines(as_alice, table.game) == ["Staff paused the game."]
    tables.resume(**arguments_for(table.game, ann))
    play_move(code=table.game.code, viewer=Viewer(alice), text="play r5", version=0, now=NOON)
    expected = ["You play Red 5.", "Staff resumed the game.", "Staff paused the game."]
    assert log_lines(as_alice, table.game) == expected
    assert log_lines(as_alice, table.game, "log/") == expected


def test_the_staff_page_of_a_game_has_acts_before_the_first_move(
    alice: User, bob: User, ann: User, as_alice: Client
) -> None:
    table = table_at(TWO_HANDS, [alice, bob])
    tables.pause(**arguments_for(table.game, ann))
    tables.resume(**arguments_for(table.game, ann))
    play_move(code=table.game.code, viewer=Viewer(alice), text="play r5", version=0, now=NOON)
    log = staff_browser(ann).get(f"/admin/games/game/{table.game.pk}/change/").context["lines"]
    assert [line.text for line in log] == [
        "alice plays Red 5.", "Staff resumed the game.", "Staff paused the game."
    ]  # fmt: skip


def test_the_table_shows_only_acts_after_its_oldest_shown_move(
    alice: User, bob: User, ann: User, as_alice: Client
) -> None:
    game = table_after([alice, bob, "careful"], 20, seed=0).game
    oldest = game.version - LOG_LINES + 1
    for version in (oldest - 1, oldest):
        Game.objects.filter(pk=game.pk).update(version=version)
        (tables.pause if version < oldest else tables.resume)(**arguments_for(game, ann))
    Game.objects.filter(pk=game.pk).update(version=game.version)
    shown, whole = log_lines(as_alice, game), log_lines(as_alice, game, "log/")
    assert len(shown) == LOG_LINES + 1
    assert shown[-2] == "Staff resumed the game."
    assert whole[: len(shown)] == shown
    assert whole[len(shown)] == "Staff paused the game."


def test_an_unknown_act_breaks_no_page_and_no_move(alice: User, bob: User, ann: User, as_alice: Client) -> None:
    game = table_at(TWO_HANDS, [alice, bob]).game
    tables.pause(**arguments_for(game, ann))
    entry = tables.resume(**arguments_for(game, ann))
    write_entry("shuffle_again", ann, game=game, version=0)
    assert AuditEntry.objects.latest("pk").pk > entry.pk
    for rest in ("", "log/"):
        assert log_lines(as_alice, game, rest) == ["Staff resumed the game.", "Staff paused the game."]
    answer = as_alice.post(f"{game.get_absolute_url()}move/", {"move": "play r5", "version": 0})
    assert answer.status_code == 303
    assert log_lines(as_alice, game)[0] == "You play Red 5."


def test_a_look_at_hands_is_logged_after_the_game(dealt: Table, ann: User, as_alice: Client) -> None:
    tables.view_hands(**arguments_for(dealt.game, ann))
    for rest in ("", "log/"):
        assert "Staff looked at the hands." not in log_lines(as_alice, dealt.game, rest)
    tables.void_game(**arguments_for(dealt.game, ann))
    for rest in ("", "log/"):
        lines = log_lines(as_alice, dealt.game, rest)
        assert lines[:2] == ["Staff ended the game without a winner.", "Staff looked at the hands."]


def test_any_number_of_acts_costs_the_page_one_statement(
    dealt: Table, ann: User, dora: User, as_alice: Client, django_assert_num_queries: Callable[[int], Any]
) -> None:
    with CaptureQueriesContext(connection) as few:
        log_lines(as_alice, dealt.game, fragment=True)
    tables.move_seat(**arguments_for(dealt.game, ann, seat=1, username="dora"))
    for _ in range(3):
        tables.pause(**arguments_for(dealt.game, ann))
        tables.resume(**arguments_for(dealt.game, ann))
    with django_assert_num_queries(len(few)):
        assert len(log_lines(as_alice, dealt.game, fragment=True)) > 7
    assert sum("games_tableevent" in one["sql"] for one in few) == 1
