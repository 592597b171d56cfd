"""Test the staff acts that void a round or a game and close a table."""

from __future__ import annotations

import re

import pytest
from django.conf import settings
from django.core import mail

from accounts.models import User
from games import queries, rules
from games.actions import lobby
from games.actions.play import play_move
from games.models import Game, Round
from games.notices import outbox
from games.queries import Table, Viewer, records
from games.refusals import Denied
from games.staff import tables
from tests.conftest import logged_in
from tests.support.staff import act, dealt, entry_of, refused
from tests.support.tables import NOON, now_of

__all__ = ["dealt"]  # the fixture


def test_a_void_round_does_not_count_and_is_dealt_again(dealt: Table, mo: User) -> None:
    dealer = dealt.started.round.dealer
    tables.void_round(**act(dealt, mo))
    after = now_of(dealt)
    round_, position = after.started.round, after.started.position
    assert (round_.number, round_.dealer, after.game.version) == (2, dealer, 7)
    assert [len(hand) for hand in position.hands] == [7, 7, 7]
    assert [seat.score for seat in after.seats] == [0, 0, 0]
    assert after.game.deadline is not None
    assert queries.view_of(after, None).results == ()
    entry = entry_of(dealt)
    assert (entry.version, entry.details) == (7, {"round": 1})


def test_a_void_round_is_shown_with_all_hands(dealt: Table, mo: User, alice: User) -> None:
    tables.void_round(**act(dealt, mo))
    for path in ("", "log/", "?since=3"):
        assert logged_in(alice).get(f"/games/{dealt.game.code}/{path}").status_code == 200
    assert Round.objects.get(game=dealt.game, number=1).ended_at == NOON


def test_a_move_chosen_in_the_void_round_is_refused(dealt: Table, mo: User) -> None:
    position = dealt.started.position
    user = dealt.seats[position.turn].user
    assert user is not None
    browser, page = logged_in(user), f"/games/{dealt.game.code}/"
    form = re.search(
        rb'name="version" value="(\d+)"><input type="hidden" name="round" value="(\d+)"', browser.get(page).content
    )
    assert form is not None
    chosen = {"version": int(form[1]), "round": int(form[2])}
    tables.void_round(**act(dealt, mo))
    now = now_of(dealt)
    owner = now.on_turn.user
    assert owner is not None
    assert logged_in(owner).post(f"{page}move/", {"move": "draw", **chosen}).status_code == 409
    assert now_of(dealt).game.version == now.game.version
    assert logged_in(owner).post(f"{page}move/", {"move": "draw", **chosen, "round": 2}).status_code == 303


def test_a_player_who_left_in_a_void_round_stays_out_and_the_record_replays(dealt: Table, mo: User, bob: User) -> None:
    code = dealt.game.code
    play_move(code=code, viewer=Viewer(bob), text="leave", version=None, now=NOON)
    tables.void_round(**act(dealt, mo))
    after = now_of(dealt)
    assert after.started.position.out == (1,)
    tables.void_round(**act(dealt, mo))
    for user in (dealt.seats[0].user,):
        assert user is not None
        play_move(code=code, viewer=Viewer(user), text="leave", version=None, now=NOON)
    ended = now_of(dealt)
    assert (ended.game.status, ended.game.winner) == (Game.Status.OVER, 2)
    text = rules.print_record(records.record_of(ended))
    record = rules.parse_record(text)
    assert rules.print_record(record) == text
    assert len(list(rules.replay_record(record))) == 3


def test_a_round_cannot_be_voided_in_a_pause_or_after_its_end(dealt: Table, mo: User) -> None:
    tables.pause(**act(dealt, mo))
    assert "resume it first" in refused("forbidden", tables.void_round, **act(dealt, mo))
    tables.resume(**act(dealt, mo))
    Round.objects.filter(game=dealt.game).update(phase="over")
    refused("forbidden", tables.void_round, **act(dealt, mo))


@pytest.mark.parametrize("paused", [False, True])
def test_a_void_game_ends_without_a_winner(dealt: Table, ann: User, alice: User, paused: bool) -> None:
    if paused:
        tables.pause(**act(dealt, ann))
    tables.void_game(**act(dealt, ann))
    game = now_of(dealt).game
    assert (game.status, game.winner, game.deadline, game.wake_at, game.paused_at) == ("void", None, None, None, None)
    assert logged_in(alice).get(f"/games/{game.code}/").status_code == 200
    record = rules.parse_record(rules.print_record(records.record_of(now_of(dealt))))
    assert record.result is None
    assert len(list(rules.replay_record(record))) == 1
    with pytest.raises(Denied) as denied:
        tables.void_game(**act(dealt, ann))
    assert (denied.value.code, denied.value.rule, denied.value.message) == ("over", "END-1", "The game is over.")


def test_staff_can_close_a_table_that_has_not_started(mo: User, alice: User) -> None:
    table = lobby.create_table(user=alice, options=lobby.TableOptions(), now=NOON)
    tables.close(**act(table, mo))
    assert now_of(table).game.status == Game.Status.VOID
    entry_of(table)
    leave = {"code": table.game.code, "viewer": Viewer(alice), "now": NOON}
    for try_again, how in ((tables.close, act(table, mo)), (lobby.leave_table, leave)):
        with pytest.raises(Denied) as denied:
            try_again(**how)
        assert (denied.value.code, denied.value.rule) == ("over", None)
        assert denied.value.message == "This table was closed before the game started."
    outbox.deliver(clock=lambda: NOON)
    (letter,) = mail.outbox
    assert (letter.to, letter.subject) == ([alice.email], "Staff closed this table before the game started.")
    assert f"{settings.SITE_URL}/mail/open/" in str(letter.body)


def test_a_running_game_cannot_be_closed(dealt: Table, mo: User) -> None:
    refused("already_started", tables.close, **act(dealt, mo))
