"""What staff do at a table: the effect, the audit entry, what the players are told, and that the game still replays."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import time, timedelta
from typing import Any

import pytest
from django.conf import settings
from django.core import mail
from django.test import Client
from django.utils import timezone

from accounts.models import User
from games import presence, queries, rules
from games.actions import lobby
from games.actions.clocks import stops
from games.actions.handover import give_back
from games.actions.locks import lock_game
from games.actions.moderation import people, tables
from games.actions.notices import outbox
from games.actions.play import play_move
from games.actions.rematch import ask_rematch
from games.admin.people import PAGES as PAGES_OF_PEOPLE
from games.admin.table_acts import PAGES
from games.models import AuditEntry, Game, Notice, Round, Seat
from games.queries import Table, lists, records
from games.queries.verify import faults_of
from games.refusals import Denied
from tests.conftest import logged_in, person
from tests.support.clocks import THREE_HANDS
from tests.support.codes import staff_browser
from tests.support.tables import NOON, TWO_HANDS, log_of, now_of, table_after, table_at

REASON = "Their power is out for a day"


def refused(code: str, act: Callable[..., Any], /, **arguments: Any) -> str:
    with pytest.raises(Denied) as denied:
        act(**arguments)
    assert denied.value.code == code
    return denied.value.message


def entry_of(table: Table) -> AuditEntry:
    entry = AuditEntry.objects.get()
    assert (entry.game_id, entry.game_code, entry.reason) == (table.game.pk, table.game.code, REASON)
    return entry


@pytest.fixture
def dealt(alice: User, bob: User, charlie: User) -> Table:
    """A match of three people, seven moves old, that follows from its deal; seat 0 is Alice's."""
    table = table_after([alice, bob, charlie], 7, seed=0)
    Game.objects.filter(pk=table.game.pk).update(target=500, deadline=NOON + timedelta(hours=10), turn_since=NOON)
    return now_of(table)


def act(table: Table, by: User, **more: Any) -> dict[str, Any]:
    return {"game_id": table.game.pk, "by": by, "reason": REASON, "now": NOON, **more}


def test_a_pause_stops_moves_until_staff_resume(dealt: Table, mo: User) -> None:
    tables.pause(**act(dealt, mo))
    user = dealt.seats[dealt.playing[2].turn].user
    assert user is not None
    with pytest.raises(Denied, match="paused"):
        play_move(code=dealt.game.code, user=user, text="draw", version=dealt.game.version, now=NOON)
    refused("forbidden", tables.pause, **act(dealt, mo))
    tables.resume(**act(dealt, mo, now=NOON + timedelta(hours=3)))
    assert now_of(dealt).game.deadline == NOON + timedelta(hours=13)
    refused("forbidden", tables.resume, **act(dealt, mo))
    assert [entry.act for entry in AuditEntry.objects.order_by("pk")] == ["pause", "resume"]


def test_staff_end_their_own_pause_first_and_then_one_of_the_players(dealt: Table, mo: User) -> None:
    stops.pause(dealt, reason="consent", now=NOON)
    tables.pause(**act(dealt, mo))
    tables.resume(**act(dealt, mo))
    assert now_of(dealt).game.paused_reasons == ["consent"]
    tables.resume(**act(dealt, mo, now=NOON + timedelta(hours=3)))
    assert (now_of(dealt).game.paused_at, now_of(dealt).game.deadline) == (None, NOON + timedelta(hours=13))
    resumes = AuditEntry.objects.filter(act="resume").order_by("pk")
    assert [entry.details for entry in resumes] == [{"pause": "staff"}, {"pause": "consent"}]
    refused("forbidden", tables.resume, **act(dealt, mo))


@pytest.mark.parametrize("bot", [True, False])
def test_a_pause_ends_as_staff_remove_the_last_person_who_could_end_it(mo: User, alice: User, bot: bool) -> None:
    table = table_at(THREE_HANDS, [alice, "careful", "careful"], deadline=NOON + timedelta(hours=1))
    stops.pause(table, reason="consent", now=NOON)
    tables.remove(**act(table, mo, seat=0, bot=bot))
    game = now_of(table).game
    assert (game.status, game.paused_reasons, game.wake_at) == ("playing", [], NOON)


def test_an_extension_gives_the_turn_that_runs_more_time(dealt: Table, mo: User) -> None:
    tables.extend(**act(dealt, mo, minutes=90))
    assert now_of(dealt).game.deadline == NOON + timedelta(hours=11, minutes=30)
    turn = dealt.playing[2].turn
    entry = entry_of(dealt)
    assert (entry.seat, entry.person, entry.details) == (turn, dealt.seats[turn].user, {"minutes": 90})
    refused("malformed", tables.extend, **act(dealt, mo, minutes=0))


def test_misses_are_forgiven_with_the_bank_that_they_used_up(dealt: Table, mo: User, bob: User) -> None:
    refused("forbidden", tables.forgive, **act(dealt, mo, seat=1))
    Seat.objects.filter(game=dealt.game, index=1).update(misses=2, bank=400)
    tables.forgive(**act(dealt, mo, seat=1))
    seat = now_of(dealt).seats[1]
    assert (seat.misses, seat.bank) == (0, 86_400)
    entry = entry_of(dealt)
    assert (entry.person, entry.details) == (bob, {"misses": 2, "seconds": 86_000})


def test_only_a_game_that_runs_has_misses_to_forgive(ann: User, alice: User) -> None:
    table = lobby.create_table(user=alice, options=lobby.TableOptions(players=3), now=NOON)
    refused("not_started", tables.forgive, **act(table, ann, seat=0))
    browser, back = staff_browser(ann), f"/admin/games/game/{table.game.pk}/change/"
    url = f"/admin/games/game/{table.game.pk}/act/forgive/"
    for answer in (browser.get(url), browser.post(url, {"seat": "0", "reason": REASON})):
        assert (answer.status_code, answer.headers.get("Location")) == (302, back)
    assert "not at a table that is open" in browser.get(back).content.decode().lower()
    assert not AuditEntry.objects.exists()


def test_a_void_round_counts_for_nothing_and_is_dealt_anew(dealt: Table, mo: User) -> None:
    dealer = dealt.playing[0].dealer
    tables.void_round(**act(dealt, mo))
    after = now_of(dealt)
    round_, _, position = after.playing
    assert (round_.number, round_.dealer, after.game.version) == (2, dealer, 7)
    assert [len(hand) for hand in position.hands] == [7, 7, 7]
    assert [seat.score for seat in after.seats] == [0, 0, 0]
    assert after.game.deadline is not None
    assert queries.view_of(after, None).results == ()
    entry = entry_of(dealt)
    assert (entry.version, entry.details) == (7, {"round": 1})


def test_a_void_round_is_shown_open_and_its_table_can_be_looked_at(dealt: Table, mo: User, alice: User) -> None:
    tables.void_round(**act(dealt, mo))
    for path in ("", "log/", "?since=3"):
        assert logged_in(alice).get(f"/games/{dealt.game.code}/{path}").status_code == 200
    assert Round.objects.get(game=dealt.game, number=1).ended_at == NOON


def test_a_move_meant_for_the_void_deal_is_not_made_in_the_new_one(dealt: Table, mo: User) -> None:
    _, _, position = dealt.playing
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
    owner = now.seats[now.playing[2].turn].user
    assert owner is not None
    assert logged_in(owner).post(f"{page}move/", {"move": "draw", **chosen}).status_code == 409
    assert now_of(dealt).game.version == now.game.version
    assert logged_in(owner).post(f"{page}move/", {"move": "draw", **chosen, "round": 2}).status_code == 303


def test_who_left_in_a_void_round_stays_out_and_the_record_replays(dealt: Table, mo: User, bob: User) -> None:
    code = dealt.game.code
    play_move(code=code, user=bob, text="leave", version=None, now=NOON)
    tables.void_round(**act(dealt, mo))
    after = now_of(dealt)
    assert after.playing[2].out == (1,)
    tables.void_round(**act(dealt, mo))
    for user in (dealt.seats[0].user,):
        assert user is not None
        play_move(code=code, user=user, text="leave", version=None, now=NOON)
    ended = now_of(dealt)
    assert (ended.game.status, ended.game.winner) == (Game.Status.OVER, 2)
    text = rules.print_record(records.record_of(ended))
    record = rules.parse_record(text)
    assert rules.print_record(record) == text
    assert len(list(rules.replay_record(record))) == 3


def test_no_round_is_made_void_in_a_pause_or_once_it_is_over(dealt: Table, mo: User) -> None:
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
    refused("over", tables.void_game, **act(dealt, ann))


def test_a_table_that_has_not_started_is_closed(mo: User, alice: User) -> None:
    table = lobby.create_table(user=alice, options=lobby.TableOptions(), now=NOON)
    tables.close(**act(table, mo))
    assert now_of(table).game.status == Game.Status.VOID
    entry_of(table)
    refused("over", tables.close, **act(table, mo))
    outbox.deliver(clock=lambda: NOON)
    (letter,) = mail.outbox
    assert (letter.to, letter.subject) == ([alice.email], "The staff closed this table before its game began.")
    assert f"{settings.SITE_URL}/mail/open/" in str(letter.body)


def test_a_game_that_runs_is_not_closed_but_void(dealt: Table, mo: User) -> None:
    refused("already_started", tables.close, **act(dealt, mo))


def test_a_bot_takes_a_removed_players_seat_for_good(dealt: Table, mo: User, bob: User) -> None:
    tables.remove(**act(dealt, mo, seat=1, bot=True))
    seat = now_of(dealt).seats[1]
    assert (seat.user, seat.bot, seat.left, seat.name) == (None, "careful", False, "bob")
    assert not lists.games_of(bob).exists()
    with pytest.raises(Denied, match="do not sit"):
        play_move(code=dealt.game.code, user=bob, text="leave", version=None, now=NOON)
    with pytest.raises(Denied):
        give_back(queries.load(lock_game(pk=dealt.game.pk)), seat=1, now=NOON)
    entry = entry_of(dealt)
    assert (entry.person, entry.person_name, entry.seat, entry.details) == (bob, "bob", 1, {"bot": True})
    refused("forbidden", tables.remove, **act(dealt, mo, seat=1, bot=True))


def test_a_bot_that_held_a_seat_for_its_owner_keeps_it_when_the_owner_is_removed(dealt: Table, mo: User) -> None:
    Seat.objects.filter(game=dealt.game, index=1).update(bot="careful")
    tables.remove(**act(dealt, mo, seat=1, bot=True))
    assert (now_of(dealt).seats[1].user, now_of(dealt).seats[1].bot) == (None, "careful")


def test_a_removed_players_hand_is_set_aside_as_a_line_of_the_log(dealt: Table, mo: User, bob: User) -> None:
    tables.remove(**act(dealt, mo, seat=1, bot=False))
    after = now_of(dealt)
    assert log_of(dealt)[-1] == "1 leave"
    assert after.seats[1].left
    assert after.playing[2].hands[1] == ()
    assert entry_of(dealt).version == 7


def test_the_last_but_one_removed_ends_the_game(mo: User, alice: User, bob: User) -> None:
    table = table_after([alice, bob], 4, seed=0)
    tables.remove(**act(table, mo, seat=1, bot=False))
    assert (now_of(table).game.status, now_of(table).game.winner) == (Game.Status.OVER, 0)


def test_a_person_removed_before_the_start_leaves_a_free_seat(mo: User, alice: User, bob: User) -> None:
    table = lobby.create_table(user=alice, options=lobby.TableOptions(players=3), now=NOON)
    lobby.join(code=table.game.code, user=bob, now=NOON)
    tables.remove(**act(table, mo, seat=0, bot=True))
    after = now_of(table)
    assert [seat.user for seat in after.seats] == [bob]
    assert after.game.host == bob


def test_whoever_is_taken_off_an_open_table_cannot_sit_down_there_again(
    ann: User, mo: User, alice: User, bob: User
) -> None:
    table = lobby.create_table(user=alice, options=lobby.TableOptions(players=3), now=NOON)
    code = table.game.code
    lobby.join(code=code, user=bob, now=NOON)
    tables.remove(**act(table, mo, seat=1, bot=True))
    for links in ((), (code,)):
        assert "took you off" in refused("forbidden", lobby.join, code=code, user=bob, now=NOON, links=links)
    answer = logged_in(bob).post(f"/games/{code}/join/")
    assert answer.status_code == 403
    assert "Staff took you off this table" in answer.content.decode()
    assert now_of(table).seat_of(bob) is None
    for browser, offered in ((logged_in(bob), False), (logged_in(mo), True)):
        page = browser.get(f"/games/{code}/").content.decode()
        assert ('id="do-join"' in page, "Staff took you off this table" in page) == (offered, not offered)
    another = lobby.create_table(user=alice, options=lobby.TableOptions(players=3), now=NOON)
    lobby.join(code=another.game.code, user=bob, now=NOON)
    User.objects.create_user(username="dora")
    tables.move_seat(**act(another, ann, seat=1, username="dora"))
    lobby.join(code=another.game.code, user=bob, now=NOON)  # a seat that went to somebody else bars nobody


def test_whoever_is_taken_off_the_table_of_a_rematch_does_not_come_back_by_the_invitation(
    ann: User, alice: User, bob: User
) -> None:
    table = table_at(TWO_HANDS, [alice, bob], is_public=False)
    tables.void_game(**act(table, ann))
    again = ask_rematch(code=table.game.code, user=alice, now=NOON)
    Game.objects.filter(pk=again.game.pk).update(players=3)
    ask_rematch(code=table.game.code, user=bob, now=NOON)
    tables.remove(**act(again, ann, seat=1, bot=True))
    refused("forbidden", ask_rematch, code=table.game.code, user=bob, now=NOON)
    assert now_of(again).seat_of(bob) is None


def test_a_seat_moves_to_another_person_with_its_hand(dealt: Table, ann: User, bob: User) -> None:
    dora = User.objects.create_user(username="dora")
    hand = dealt.playing[2].hands[1]
    tables.move_seat(**act(dealt, ann, seat=1, username=" DORA "))
    after = now_of(dealt)
    assert (after.seat_of(dora), after.seat_of(bob)) == (1, None)
    view = queries.view_of(after, dora).view
    assert view is not None
    assert view.hand == hand
    entry = entry_of(dealt)
    assert (entry.person, entry.details) == (dora, {"before": "bob", "before_id": bob.pk})


def test_the_turn_of_a_seat_that_is_given_away_begins_anew_in_the_new_owners_nights(ann: User, alice: User) -> None:
    dora = User.objects.create_user(username="dora", quiet_from=time(11), quiet_to=time(15))
    table = table_at(TWO_HANDS, [alice, "careful"], deadline=NOON + timedelta(minutes=5), turn_since=NOON)
    Seat.objects.filter(game=table.game, index=0).update(misses=2)
    tables.move_seat(**act(table, ann, seat=0, username="dora"))
    after = now_of(table)
    assert after.game.deadline == NOON + timedelta(days=2, hours=3)
    assert (after.seats[0].user, after.seats[0].misses, after.game.quiet_given) == (dora, 0, 10_800)


def test_a_seat_given_away_in_a_pause_begins_its_turn_when_the_pause_ends(ann: User, alice: User) -> None:
    User.objects.create_user(username="dora")
    table = table_at(TWO_HANDS, [alice, "careful"], deadline=NOON + timedelta(minutes=5), turn_since=NOON)
    tables.pause(**act(table, ann))
    tables.move_seat(**act(table, ann, seat=0, username="dora"))
    assert (now_of(table).game.deadline, now_of(table).game.time_left) == (None, timedelta(days=2))
    tables.resume(**act(table, ann))
    assert now_of(table).game.deadline == NOON + timedelta(days=2)


def test_a_hosts_seat_goes_with_the_table_as_long_as_it_is_open(ann: User, alice: User, bob: User) -> None:
    dora = User.objects.create_user(username="dora")
    game = lobby.create_table(user=alice, options=lobby.TableOptions(players=4), now=NOON).game
    table = lobby.join(code=game.code, user=bob, now=NOON)
    tables.move_seat(**act(table, ann, seat=0, username="dora"))
    assert now_of(table).game.host == dora
    tables.move_seat(**act(table, ann, seat=1, username="alice"))
    assert now_of(table).game.host == dora
    lobby.start(code=game.code, user=dora, now=NOON)
    assert [seat.user for seat in now_of(table).seats] == [dora, alice]


def test_who_loses_a_seat_is_told_also_while_looking_at_the_game(ann: User, alice: User, bob: User) -> None:
    person("dora")
    table = table_at(TWO_HANDS, [bob, alice])
    presence.look(game_id=table.game.pk, user_id=alice.pk)
    tables.move_seat(**act(table, ann, seat=1, username="dora"))
    outbox.deliver(clock=lambda: NOON)
    assert "Staff gave your seat to dora, in the game with bob." in [
        str(letter.subject) for letter in mail.outbox if "alice" in letter.to[0]
    ]


def test_both_the_old_and_the_new_owner_of_a_seat_are_told(ann: User, alice: User, bob: User) -> None:
    dora = person("dora")
    table = table_at(TWO_HANDS, [bob, alice], deadline=NOON + timedelta(hours=9), is_public=False)
    play_move(code=table.game.code, user=bob, text="play r5", version=0, now=NOON)
    tables.move_seat(**act(table, ann, seat=1, username="dora"))

    def told(user: User) -> list[tuple[str, str, str]]:
        rows = Notice.objects.filter(user=user, channel="email").order_by("pk")
        return [(row.kind, row.state, row.text) for row in rows]

    assert told(alice) == [
        ("turn", "dropped", ""),
        ("seat_moved", "waiting", "Staff gave your seat to dora, in the game with bob."),
    ]
    assert told(dora) == [("seat_moved", "waiting", "Staff gave you the seat of alice."), ("turn", "waiting", "")]
    outbox.deliver(clock=lambda: NOON)
    sent = {str(letter.to[0]): str(letter.body) for letter in mail.outbox}
    assert f"{settings.SITE_URL}/mail/open/" in sent["dora@example.org"]
    assert f"{settings.SITE_URL}/mail/open/" not in sent["alice@example.org"]  # the private table is closed to her
    page = logged_in(alice).get("/notices/").content.decode()
    assert "Staff gave your seat to dora, in the game with bob." in page
    assert table.game.code not in page
    closed = logged_in(alice).get(f"/games/{table.game.code}/")
    assert (closed.status_code, "Staff took your seat at this table" in closed.content.decode()) == (403, True)
    assert logged_in(person("charlie")).get(f"/games/{table.game.code}/").status_code == 404


def test_a_seat_that_is_given_away_and_given_back_at_once_is_told_as_it_is_now(
    ann: User, alice: User, bob: User
) -> None:
    dora = person("dora")
    table = table_at(TWO_HANDS, [bob, alice], deadline=NOON + timedelta(hours=9))
    play_move(code=table.game.code, user=bob, text="play r5", version=0, now=NOON)
    for username in ("dora", "alice"):
        tables.move_seat(**act(table, ann, seat=1, username=username))

    def told(user: User) -> list[tuple[str, str, str, str]]:
        rows = Notice.objects.filter(user=user, channel="email").order_by("pk")
        return [(row.kind, row.state, row.reason, row.text) for row in rows]

    assert told(alice) == [
        ("turn", "dropped", "staff", ""),
        ("seat_moved", "dropped", "staff", "Staff gave your seat to dora, in the game with bob."),
        ("seat_moved", "waiting", "", "Staff gave you the seat of dora."),
        ("turn", "waiting", "", ""),
    ]
    assert told(dora) == [
        ("seat_moved", "dropped", "staff", "Staff gave you the seat of alice."),
        ("turn", "dropped", "staff", ""),
        ("seat_moved", "waiting", "", "Staff gave your seat to alice, in the game with bob."),
    ]


@pytest.mark.parametrize(
    ("bot", "text"),
    [
        (True, "Staff gave your seat to a bot for good, in the game with alice and charlie."),
        (False, "Staff took you out of the game with alice and charlie."),
    ],
)
def test_whoever_is_removed_is_told(dealt: Table, mo: User, bob: User, bot: bool, text: str) -> None:
    tables.remove(**act(dealt, mo, seat=1, bot=bot))
    told = Notice.objects.get(user=bob, channel="site")
    assert (told.kind, told.text) == ("seat_moved", text)


def test_whoever_is_taken_off_an_open_table_is_told(mo: User, alice: User, bob: User) -> None:
    table = lobby.create_table(user=alice, options=lobby.TableOptions(players=3), now=NOON)
    lobby.join(code=table.game.code, user=bob, now=NOON)
    tables.remove(**act(table, mo, seat=1, bot=True))
    assert Notice.objects.get(user=bob, channel="site").text == "Staff took you off the table with alice."


def test_whoever_is_taken_off_an_open_table_twice_is_told_twice(ann: User, alice: User, bob: User) -> None:
    table = lobby.create_table(user=alice, options=lobby.TableOptions(players=4), now=NOON)
    for n in (1, 2):
        other = person(f"other{n}")
        lobby.join(code=table.game.code, user=other, now=NOON)
        tables.move_seat(**act(table, ann, seat=1, username="bob"))
        tables.remove(**act(table, ann, seat=1, bot=True))
        outbox.deliver(clock=lambda: NOON)
        sent = Notice.objects.filter(user=bob, channel="site", text__startswith="Staff took you off", state="sent")
        assert sent.count() == n


@pytest.mark.parametrize("name", ["move_seat", "remove"])
@pytest.mark.parametrize("what", ["look", "extend", "pause", "void_round"])
def test_a_member_of_staff_whose_seat_was_taken_away_stays_a_player_there(
    ann: User, mo: User, bob: User, charlie: User, name: str, what: str
) -> None:
    User.objects.create_user(username="dora")
    table = table_at(TWO_HANDS, [mo, bob])
    more = {"username": "dora"} if name == "move_seat" else {"bot": True}
    getattr(tables, name)(**act(table, ann, seat=0, **more))
    minutes = {"minutes": 5} if what == "extend" else {}
    assert "player like any other" in refused("forbidden", getattr(tables, what), **act(table, mo, **minutes))
    other = table_at(TWO_HANDS, [charlie, "careful"])
    tables.look(**act(other, mo))


def test_the_seat_of_who_has_left_is_nobodys_to_give(dealt: Table, ann: User, bob: User) -> None:
    User.objects.create_user(username="dora")
    play_move(code=dealt.game.code, user=bob, text="leave", version=None, now=NOON)
    assert "has left" in refused("forbidden", tables.move_seat, **act(dealt, ann, seat=1, username="dora"))


def test_a_seat_moves_to_nobody_who_should_not_have_it(dealt: Table, ann: User, alice: User) -> None:
    dora = User.objects.create_user(username="dora")
    people.suspend(person_id=dora.pk, by=ann, days=1, reason=REASON, now=NOON)
    for code, username in (
        ("not_found", "nobody"),
        ("already_seated", "alice"),
        ("forbidden", "dora"),
        ("forbidden", "ann"),
    ):
        refused(code, tables.move_seat, **act(dealt, ann, seat=1, username=username))


def test_a_seat_goes_to_nobody_who_has_looked_at_the_hands(dealt: Table, ann: User, mo: User, alice: User) -> None:
    tables.look(**act(dealt, mo))
    assert "looked at hands" in refused("forbidden", tables.move_seat, **act(dealt, ann, seat=1, username="mo"))
    assert not AuditEntry.objects.filter(act="move_seat").exists()
    another = table_at(TWO_HANDS, [alice, "careful"])
    tables.move_seat(**act(another, ann, seat=1, username="mo"))


def test_hands_are_looked_at_and_the_players_told_once_the_game_is_over(
    dealt: Table, mo: User, ann: User, alice: User
) -> None:
    entry, hands = tables.look(**act(dealt, mo))
    assert hands == list(dealt.playing[2].hands)
    assert entry.version == 7
    assert not any(card in str(entry.details) for hand in hands for card in hand)
    browser = logged_in(alice)
    log, page = f"/games/{dealt.game.code}/log/", f"/games/{dealt.game.code}/"
    assert "Staff looked at the hands." not in browser.get(log).content.decode()
    assert "Staff looked at hands" not in browser.get(page).content.decode()
    tables.void_game(**act(dealt, ann))
    assert "Staff looked at the hands." in browser.get(log).content.decode()
    assert "Staff looked at hands" in browser.get(page).content.decode()
    assert REASON not in browser.get(log).content.decode()


def test_nobody_looks_at_hands_of_people_they_play_with(dealt: Table, mo: User, bob: User) -> None:
    other = lobby.create_table(user=mo, options=lobby.TableOptions(players=3), now=NOON)
    lobby.join(code=other.game.code, user=bob, now=NOON)
    assert "You play somewhere" in refused("forbidden", tables.look, **act(dealt, mo))
    assert not AuditEntry.objects.exists()
    Game.objects.filter(pk=other.game.pk).update(status=Game.Status.VOID)
    tables.look(**act(dealt, mo))


AT_TABLES: dict[str, dict[str, Any]] = {
    "pause": {},
    "resume": {},
    "extend": {"minutes": 5},
    "forgive": {"seat": 0},
    "void_round": {},
    "void_game": {},
    "close": {},
    "remove": {"seat": 0, "bot": True},
    "move_seat": {"seat": 0, "username": "charlie"},
    "look": {},
}


@pytest.mark.parametrize("name", sorted(AT_TABLES))
def test_a_member_of_staff_who_sits_at_a_table_is_a_player_like_any_other(ann: User, bob: User, name: str) -> None:
    table = table_at(TWO_HANDS, [bob, ann])
    message = refused("forbidden", getattr(tables, name), **act(table, ann, **AT_TABLES[name]))
    assert "player like any other" in message
    assert not AuditEntry.objects.exists()


@pytest.mark.parametrize("name", sorted(AT_TABLES))
def test_whoever_is_no_staff_does_nothing_at_a_table(dealt: Table, bob: User, name: str) -> None:
    refused("forbidden", getattr(tables, name), **act(dealt, bob, **AT_TABLES[name]))


def test_a_moderator_neither_voids_a_game_nor_moves_a_seat(dealt: Table, mo: User) -> None:
    refused("forbidden", tables.void_game, **act(dealt, mo))
    refused("forbidden", tables.move_seat, **act(dealt, mo, seat=1, username="dora"))


def test_every_act_at_a_table_has_its_page_and_its_test() -> None:
    assert set(PAGES) == set(AT_TABLES)
    of_cases = {"hold", "close_case", "decide_appeal"}
    assert set(AuditEntry.Act.values) == set(PAGES) | set(PAGES_OF_PEOPLE) | of_cases


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("name", sorted(set(AT_TABLES) - {"close"}))
def test_a_game_replays_after_every_act_and_the_moves_after_it(dealt: Table, ann: User, name: str) -> None:
    User.objects.create_user(username="dora")
    more = AT_TABLES[name] | ({"username": "dora"} if name == "move_seat" else {})
    if name == "resume":
        tables.pause(**act(dealt, ann))
    if name == "forgive":
        Seat.objects.filter(game=dealt.game, index=0).update(misses=1)
    getattr(tables, name)(**act(dealt, ann, **more))
    assert faults_of(dealt.game.pk) == []
    if name == "pause":
        tables.resume(**act(dealt, ann))
    after = now_of(dealt)
    user = after.seats[after.playing[2].turn].user
    if user is not None and name != "void_game":
        play_move(code=dealt.game.code, user=user, text="draw", version=after.game.version, now=NOON)
    assert faults_of(dealt.game.pk) == []


FORMS: dict[str, dict[str, Any]] = {
    "extend": {"minutes": "30"},
    "forgive": {"seat": "1"},
    "remove": {"seat": "1", "instead": "aside"},
    "move_seat": {"seat": "1", "username": "dora"},
}


@pytest.fixture
def pages(dealt: Table, ann: User) -> Client:
    User.objects.create_user(username="dora")
    Seat.objects.filter(game=dealt.game, index=1).update(misses=1)
    return staff_browser(ann)


@pytest.mark.parametrize("name", sorted(set(PAGES) - {"close", "resume", "look"}))
def test_the_page_of_an_act_says_what_will_happen_asks_a_reason_and_does_it(
    dealt: Table, pages: Client, name: str
) -> None:
    back = f"/admin/games/game/{dealt.game.pk}/change/"
    url = f"/admin/games/game/{dealt.game.pk}/act/{name}/"
    Game.objects.filter(pk=dealt.game.pk).update(deadline=timezone.now() + timedelta(hours=1))
    assert url in pages.get(back).content.decode()
    body = pages.get(url).content.decode()
    assert all(sentence.replace("'", "&#x27;") in body for sentence in PAGES[name].will)
    assert pages.post(url, FORMS.get(name, {})).status_code == 422
    assert not AuditEntry.objects.exists()
    answer = pages.post(url, {**FORMS.get(name, {}), "reason": REASON})
    assert (answer.status_code, answer.headers.get("Location")) == (302, back)
    assert entry_of(dealt).act == name
    assert REASON in pages.get(back).content.decode()


def test_the_page_of_looking_shows_the_hands_once(dealt: Table, pages: Client) -> None:
    url = f"/admin/games/game/{dealt.game.pk}/act/look/"
    assert not any(" ".join(hand) in pages.get(url).content.decode() for hand in dealt.playing[2].hands)
    answer = pages.post(url, {"reason": REASON})
    assert answer.status_code == 200
    assert answer.headers["Cache-Control"] == "no-store, private"
    for hand in dealt.playing[2].hands:
        for card in hand:
            assert f"<code>{card}</code>" in answer.content.decode()
    assert entry_of(dealt).act == "look"
