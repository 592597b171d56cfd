"""Test giving a seat to another person: its hand, its turn, its table and the notices."""

from __future__ import annotations

from datetime import time, timedelta

import pytest
from django.conf import settings
from django.core import mail

from accounts.models import User
from games import presence, queries
from games.actions import lobby
from games.actions.play import play_move
from games.models import Hand, Notice, Seat
from games.queries import Table, Viewer
from games.staff import people, tables
from mail import outbox
from tests.conftest import logged_in, person
from tests.support.notices import texts_of
from tests.support.staff import REASON, act, dealt, entry_of, refused
from tests.support.tables import NOON, TWO_HANDS, now_of, table_at

__all__ = ["dealt"]  # the fixture


def test_a_seat_moves_to_another_person_with_its_hand(dealt: Table, ann: User, bob: User) -> None:
    dora = User.objects.create_user(username="dora")
    hand = dealt.started.position.hands[1]
    tables.move_seat(**act(dealt, ann, seat=1, username=" DORA "))
    after = now_of(dealt)
    assert (after.seat_of(dora), after.seat_of(bob)) == (1, None)
    view = queries.view_of(after, dora).view
    assert view is not None
    assert view.hand == hand
    entry = entry_of(dealt)
    assert (entry.person, entry.before_name, entry.details) == (dora, "bob", {"before_id": bob.pk})


def test_the_turn_restarts_with_the_new_owner_s_quiet_hours(ann: User, alice: User) -> None:
    dora = User.objects.create_user(username="dora", quiet_from=time(11), quiet_to=time(15))
    table = table_at(TWO_HANDS, [alice, "careful"], deadline=NOON + timedelta(minutes=5), turn_since=NOON)
    Seat.objects.filter(game=table.game, index=0).update(misses=2)
    tables.move_seat(**act(table, ann, seat=0, username="dora"))
    after = now_of(table)
    assert after.game.deadline == NOON + timedelta(days=2, hours=3)
    assert (after.seats[0].user, after.seats[0].misses, after.game.quiet_seconds_added) == (dora, 0, 10_800)


def test_a_seat_given_away_in_a_pause_starts_its_turn_after_it(ann: User, alice: User) -> None:
    User.objects.create_user(username="dora")
    table = table_at(TWO_HANDS, [alice, "careful"], deadline=NOON + timedelta(minutes=5), turn_since=NOON)
    tables.pause(**act(table, ann))
    tables.move_seat(**act(table, ann, seat=0, username="dora"))
    assert (now_of(table).game.deadline, now_of(table).game.time_left) == (None, timedelta(days=2))
    tables.resume(**act(table, ann))
    assert now_of(table).game.deadline == NOON + timedelta(days=2)


def test_giving_away_the_host_s_seat_of_an_open_table_changes_the_host(ann: User, alice: User, bob: User) -> None:
    dora = User.objects.create_user(username="dora")
    game = lobby.create_table(user=alice, choices=lobby.TableChoices(players=4), now=NOON).game
    table = lobby.join(code=game.code, viewer=Viewer(bob), now=NOON)
    tables.move_seat(**act(table, ann, seat=0, username="dora"))
    assert now_of(table).game.host == dora
    tables.move_seat(**act(table, ann, seat=1, username="alice"))
    assert now_of(table).game.host == dora
    lobby.start(code=game.code, viewer=Viewer(dora), now=NOON)
    assert [seat.user for seat in now_of(table).seats] == [dora, alice]


def test_a_person_who_loses_a_seat_is_notified_even_while_viewing(ann: User, alice: User, bob: User) -> None:
    person("dora")
    table = table_at(TWO_HANDS, [bob, alice])
    presence.mark_viewing(game_id=table.game.pk, user_id=alice.pk)
    tables.move_seat(**act(table, ann, seat=1, username="dora"))
    outbox.deliver(clock=lambda: NOON)
    assert "No Mercy with bob and dora: Staff gave your seat to dora, at the table with bob." in [
        str(letter.subject) for letter in mail.outbox if "alice" in letter.to[0]
    ]


@pytest.mark.long
def test_the_old_and_the_new_owner_are_notified(ann: User, alice: User, bob: User) -> None:
    dora = person("dora")
    table = table_at(TWO_HANDS, [bob, alice], deadline=NOON + timedelta(hours=9), is_public=False)
    play_move(code=table.game.code, viewer=Viewer(bob), text="play r5", version=0, now=NOON)
    tables.move_seat(**act(table, ann, seat=1, username="dora"))

    def mails_of(user: User) -> list[tuple[str, str, str]]:
        rows = Notice.objects.filter(user=user, channel="email").order_by("pk")
        return [(row.kind, row.state, text) for row, text in zip(rows, texts_of(rows), strict=True)]

    assert mails_of(alice) == [
        ("turn", "dropped", ""),
        ("seat_moved", "waiting", "Staff gave your seat to dora, at the table with bob."),
    ]
    assert mails_of(dora) == [("seat_moved", "waiting", "Staff gave you the seat of alice."), ("turn", "waiting", "")]
    outbox.deliver(clock=lambda: NOON)
    sent = {str(letter.to[0]): str(letter.body) for letter in mail.outbox}
    assert f"{settings.SITE_URL}/mail/open/" in sent["dora@example.org"]
    assert f"{settings.SITE_URL}/mail/open/" not in sent["alice@example.org"]  # the private table is closed to her
    page = logged_in(alice).get("/notices/").content.decode()
    assert "Staff gave your seat to dora, at the table with bob." in page
    assert table.game.code not in page
    closed = logged_in(alice).get(f"/games/{table.game.code}/")
    assert closed.status_code == 403
    assert "Staff gave your seat at this table to somebody else" in closed.content.decode()
    assert logged_in(person("charlie")).get(f"/games/{table.game.code}/").status_code == 404


def test_giving_a_seat_away_and_back_sends_only_the_last_notice(ann: User, alice: User, bob: User) -> None:
    dora = person("dora")
    table = table_at(TWO_HANDS, [bob, alice], deadline=NOON + timedelta(hours=9))
    play_move(code=table.game.code, viewer=Viewer(bob), text="play r5", version=0, now=NOON)
    for username in ("dora", "alice"):
        tables.move_seat(**act(table, ann, seat=1, username=username))

    def mails_of(user: User) -> list[tuple[str, str, str, str]]:
        rows = Notice.objects.filter(user=user, channel="email").order_by("pk")
        return [(row.kind, row.state, row.reason, text) for row, text in zip(rows, texts_of(rows), strict=True)]

    assert mails_of(alice) == [
        ("turn", "dropped", "staff", ""),
        ("seat_moved", "dropped", "staff", "Staff gave your seat to dora, at the table with bob."),
        ("seat_moved", "waiting", "", "Staff gave you the seat of dora."),
        ("turn", "waiting", "", ""),
    ]
    assert mails_of(dora) == [
        ("seat_moved", "dropped", "staff", "Staff gave you the seat of alice."),
        ("turn", "dropped", "staff", ""),
        ("seat_moved", "waiting", "", "Staff gave your seat to alice, at the table with bob."),
    ]


def test_a_seat_cannot_be_given_to_an_unsuitable_person(
    dealt: Table, ann: User, mo: User, alice: User, bob: User
) -> None:
    people.suspend(person_id=person("dora").pk, by=ann, days=1, reason=REASON, now=NOON)
    User.objects.create_user(username="eve", is_active=False)
    person("fay")
    tables.view_hands(**act(dealt, mo))
    for code, username, said in (
        ("not_found", "nobody", "Nobody has this username."),
        ("already_seated", "alice", "alice already has a seat"),
        ("forbidden", "dora", "a suspended player"),
        ("forbidden", "ann", "to yourself"),
        ("forbidden", "mo", "mo has looked at hands of this game."),
        ("forbidden", "eve", "The account of eve is closed. Reopen it first, or give the seat to someone else."),
    ):
        assert said in refused(code, tables.move_seat, **act(dealt, ann, seat=1, username=username))
    another = table_at(TWO_HANDS, [alice, "careful"])
    tables.move_seat(**act(another, ann, seat=1, username="mo"))
    play_move(code=dealt.game.code, viewer=Viewer(bob), text="leave", version=None, now=NOON)
    assert "has left" in refused("forbidden", tables.move_seat, **act(dealt, ann, seat=1, username="fay"))


def test_the_new_owner_is_not_shown_a_lost_hand(ann: User, alice: User, bob: User) -> None:
    dora = User.objects.create_user(username="dora")
    position = {**TWO_HANDS, "hands": [*TWO_HANDS["hands"], []], "out": [2]}
    table = table_at(position, [alice, "careful", bob], target=1000)
    Hand.objects.filter(round=table.started.round, seat__index=2).update(lost=["r1", "W6"])
    assert queries.view_of(now_of(table), bob).lost is not None
    tables.move_seat(**act(table, ann, seat=2, username="dora"))
    assert queries.view_of(now_of(table), dora).lost is None
    assert list(Hand.objects.filter(round=table.started.round).values_list("lost", flat=True)) == [[], [], []]


def drawn(table: Table, reader: User) -> list[bool]:
    """Return for each draw in the log, oldest first, whether its reader sees the card."""
    lines = queries.log_of(now_of(table), reader)
    return [event.cards is not None for line in lines for event in line.events if event.kind == "drew"]


def test_the_new_owner_does_not_see_what_the_seat_drew_before(ann: User, alice: User, bob: User) -> None:
    dora = User.objects.create_user(username="dora")
    position = {**TWO_HANDS, "hands": [["r5", "b1"], ["g3", "g4"]], "draw_pile": ["b4", "b5", "b6", "b7"], "turn": 1}
    table = table_at(position, [alice, bob], preset="classic")

    def draw(player: User) -> None:
        version = now_of(table).game.version
        play_move(code=table.game.code, viewer=Viewer(player), text="draw", version=version, now=NOON)

    draw(bob)
    assert drawn(table, bob) == [True]
    draw(alice)
    tables.move_seat(**act(now_of(table), ann, seat=1, username="dora"))
    draw(dora)
    assert drawn(table, dora) == [False, False, True]
    assert drawn(table, bob) == [False, False, False]
    tables.move_seat(**act(now_of(table), ann, seat=1, username="bob"))
    assert drawn(table, bob) == [True, False, False]
