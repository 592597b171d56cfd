"""Test who the log, the replay, the API and the staff's searches name after staff gave a seat away."""

from __future__ import annotations

import random
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest

from accounts.models import User
from games import queries
from games import render as rendering
from games.actions import table_events
from games.actions.bot_turn import play_bots
from games.actions.play import play_move
from games.models import Game, Seat, TableEvent
from games.queries import Table, Viewer
from games.queries.replays import frame_at, view_at
from games.render.log_notes import notes_of
from games.render.news import NewsStep, since_your_move
from games.render.page_events import page_events
from games.staff import tables
from tests.conftest import api_token, person
from tests.support.codes import staff_browser
from tests.support.staff import act, dealt
from tests.support.tables import NOON, TWO_HANDS, now_of, table_at

__all__ = ["dealt"]  # the fixture

THREE_HANDS: Mapping[str, Any] = {
    **TWO_HANDS,
    "hands": [["r5", "r1", "b1", "b2"], ["r4", "g3", "g4", "W6"], ["r9", "r8", "g2", "g5"]],
}


@pytest.fixture
def dora(db: None) -> User:
    return person("dora")


def play(table: Table, user: User, text: str) -> Table:
    return play_move(code=table.game.code, viewer=Viewer(user), text=text, version=now_of(table).game.version, now=NOON)


def said(table: Table, reader: User | None) -> list[str]:
    """Return the sentences of the log that this reader sees, oldest first."""
    here = now_of(table)
    view, lines = queries.view_of(here, reader), queries.log_of(here, reader)
    return [row.text for row in reversed(rendering.log_of(view, lines, NOON))]


@pytest.fixture
def given(alice: User, bob: User, charlie: User, dora: User, ann: User) -> Table:
    """Return a table where Bob's seat 1 was given to Dora after a move of his, and Dora has moved, too."""
    table = table_at(THREE_HANDS, [alice, bob, charlie])
    play(table, alice, "play r5")
    play(table, bob, "play r4")
    tables.move_seat(**act(table, ann, seat=1, username="dora"))
    play(table, charlie, "play r8")
    play(table, alice, "play r1")
    play(table, dora, "play W6 color g")
    return now_of(table)


def test_the_log_names_who_made_each_move(given: Table, alice: User) -> None:
    names = [line.split()[0] for line in said(given, None)]
    assert (names[0], names[1], names[2], names[-1]) == ("alice", "bob", "charlie", "dora")


def test_a_new_owner_does_not_read_moves_of_the_former_one_as_theirs(given: Table, dora: User, bob: User) -> None:
    lines = said(given, dora)
    assert lines[1].startswith("bob plays Red 4")
    assert lines[-1].startswith("You play Wild Draw Six")
    assert said(given, bob)[1].startswith("bob plays Red 4")
    rows = rendering.log_of(queries.view_of(given, dora), queries.log_of(given, dora), NOON)
    assert {row.n for row in rows if row.mine} == {given.game.version}


def test_news_of_a_new_owner_begin_with_the_seat(alice: User, bob: User, charlie: User, dora: User, ann: User) -> None:
    table = table_at(THREE_HANDS, [alice, bob, charlie])
    play(table, alice, "play r5")
    play(table, bob, "play r4")
    tables.move_seat(**act(table, ann, seat=1, username="dora"))
    play(table, charlie, "play r8")
    here = now_of(table)
    news = since_your_move(queries.view_of(here, dora), queries.log_of(here, dora))
    assert news == [NewsStep("charlie: Red 8.", "r8")]


def test_an_open_page_announces_moves_by_the_name_of_their_maker(given: Table, dora: User) -> None:
    view, lines = queries.view_of(given, dora), queries.log_of(given, dora)
    told = page_events(view, lines, since=0, now=NOON)
    assert "bob: Red 4." in [event.text for event in told.events]


def test_the_api_names_a_former_owner_at_their_moves(given: Table, client: Any, alice: User) -> None:
    answer = client.get(
        f"/api/v1/games/{given.game.code}/moves", headers={"authorization": f"Bearer {api_token(alice)}"}
    )
    assert [line.get("player") for line in answer.json()["moves"]][:3] == [None, "bob", None]
    assert "player" not in answer.json()["moves"][0]


def test_moves_of_a_bot_in_a_removed_players_seat_stay_the_bots(
    alice: User, bob: User, charlie: User, dora: User, ann: User
) -> None:
    table = table_at(THREE_HANDS, [alice, bob, charlie])
    play(table, alice, "play r5")
    tables.remove(**act(table, ann, seat=1, bot=True))
    seat = Seat.objects.get(game=table.game, index=1)
    assert (seat.user, seat.name) == (None, "bob")
    play_bots(game_id=table.game.pk, clock=lambda: NOON + timedelta(hours=1), rng=random.Random(1), most=1)
    assert said(table, None)[1].startswith("bob’s bot ")
    assert said(table, charlie)[1].startswith("bob’s bot ")
    tables.move_seat(**act(table, ann, seat=1, username="bob"))
    assert said(table, bob)[1].startswith("Your bot ")
    tables.move_seat(**act(table, ann, seat=1, username="dora"))
    assert said(table, dora)[1].startswith("bob’s bot ")
    assert said(table, bob)[1].startswith("bob’s bot ")


def test_a_seat_given_back_reads_as_if_it_had_never_been_away(
    alice: User, bob: User, charlie: User, dora: User, ann: User
) -> None:
    table = table_at(THREE_HANDS, [alice, bob, charlie])
    play(table, alice, "play r5")
    play(table, bob, "play r4")
    tables.move_seat(**act(table, ann, seat=1, username="dora"))
    play(table, charlie, "play r8")
    play(table, alice, "play r1")
    play(table, dora, "play W6 color g")
    tables.move_seat(**act(table, ann, seat=1, username="bob"))
    lines = said(table, bob)
    assert lines[1].startswith("You play Red 4")
    assert lines[-1].startswith("dora plays Wild Draw Six")


def test_no_name_of_a_deleted_guest_stays_in_the_log(given: Table, bob: User, dora: User) -> None:
    bob.delete()
    assert said(given, dora)[1].startswith("A former player plays Red 4")


def test_a_name_removed_by_staff_disappears_from_earlier_moves(given: Table, bob: User, ann: User) -> None:
    User.objects.filter(pk=bob.pk).update(display_name="Something Rude")
    assert said(given, None)[1].startswith("Something Rude plays")
    User.objects.filter(pk=bob.pk).update(display_name="")
    assert said(given, None)[1].startswith("bob plays")


def test_events_name_who_had_the_seat(alice: User, bob: User, charlie: User, dora: User, ann: User) -> None:
    table = table_at(THREE_HANDS, [alice, bob, charlie])
    table_events.record(TableEvent.Kind.PAUSE_ENDED, game=table.game, seat=1, now=NOON - timedelta(minutes=1))
    tables.move_seat(**act(table, ann, seat=1, username="dora"))
    table_events.record(TableEvent.Kind.PAUSE_ENDED, game=table.game, seat=1, now=NOON + timedelta(minutes=1))
    texts = [note.text for note in notes_of(queries.between_moves(now_of(table), dora))]
    assert texts == [
        "bob ended the agreed pause.",
        "Staff gave you bob’s seat.",
        "You ended the agreed pause.",
    ]


def test_the_replay_shows_who_had_the_seat_at_each_step(dealt: Table, bob: User, ann: User, dora: User) -> None:
    tables.move_seat(**act(dealt, ann, seat=1, username="dora"))
    tables.void_game(**act(dealt, ann))
    table = now_of(dealt)
    frame = frame_at(table, 7)
    view = view_at(table, frame, dora, None)
    assert (view.names[1], view.seats[1].username, view.you) == ("bob", "", None)
    assert all(line.former == {1: "bob"} for line in frame.lines)


@pytest.mark.long
def test_staff_find_the_game_and_the_act_by_both_people(given: Table, bob: User, dora: User, ann: User) -> None:
    browser, code = staff_browser(ann), given.game.code
    for name in ("bob", "dora"):
        assert code in browser.get(f"/admin/games/game/?q={name}").content.decode()
        assert "Give a seat" in browser.get(f"/admin/games/auditentry/?q={name}").content.decode()
        assert code in browser.get(f"/admin/games/move/?q={name}").content.decode()
    for who in (bob, dora):
        page = browser.get(f"/admin/accounts/user/{who.pk}/change/").content.decode()
        assert "dora (from bob)" in page


def test_a_table_without_given_seats_names_nobody_else(dealt: Table, alice: User) -> None:
    lines = queries.log_of(dealt, alice)
    assert Game.objects.get(pk=dealt.game.pk).version == len(lines)
    assert all(line.former == {} for line in lines)
