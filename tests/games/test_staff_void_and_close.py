"""Test the staff acts that void a round or a game and close a table."""

from __future__ import annotations

import re

import pytest
from django.conf import settings
from django.core import mail

from accounts.models import User
from games import presence, queries, rules
from games.actions import lobby
from games.actions.play import play_move
from games.models import Game, Notice, Round
from games.notices.player_notices import of_turn, write
from games.queries import Table, Viewer, records
from games.refusals import Denied
from games.render import words
from games.render.news import since_your_move
from games.staff import tables
from mail import outbox
from tests.conftest import logged_in
from tests.support.codes import staff_browser
from tests.support.game_page import HTMX, GamePage, log_lines
from tests.support.notices import texts_of
from tests.support.staff import act, dealt, entry_of, open_act, refused
from tests.support.tables import NOON, now_of

__all__ = ["dealt"]  # the fixture

CANCELLED = "Staff cancelled round 1; it was dealt again."


def on_turn(table: Table) -> User:
    """Return the person on turn now."""
    user = now_of(table).on_turn.user
    assert user is not None
    return user


@pytest.fixture
def voided(dealt: Table, mo: User) -> Table:
    """Return the table after its first round was voided, without a deadline."""
    tables.void_round(**act(dealt, mo))
    Game.objects.filter(pk=dealt.game.pk).update(deadline=None)
    return now_of(dealt)


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
    page = f"/games/{dealt.game.code}/"
    form = re.search(
        rb'name="version" value="(\d+)"><input type="hidden" name="deal" value="(\d+)"',
        logged_in(on_turn(dealt)).get(page).content,
    )
    assert form is not None
    chosen = {"move": "draw", "version": int(form[1]), "deal": int(form[2])}
    tables.void_round(**act(dealt, mo))
    Game.objects.filter(pk=dealt.game.pk).update(deadline=None)
    version, browser = now_of(dealt).game.version, logged_in(on_turn(dealt))
    assert browser.post(f"{page}move/", chosen).status_code == 409
    assert now_of(dealt).game.version == version
    assert browser.post(f"{page}move/", {**chosen, "deal": 2}).status_code == 303


def test_a_resign_form_opened_in_the_void_round_is_refused(dealt: Table, mo: User, bob: User) -> None:
    browser, page = logged_in(bob), f"/games/{dealt.game.code}/"
    assert b'<input type="hidden" name="deal" value="1">' in browser.get(f"{page}resign/").content
    tables.void_round(**act(dealt, mo))
    Game.objects.filter(pk=dealt.game.pk).update(deadline=None)
    answer = browser.post(f"{page}move/", {"move": "leave", "deal": 1})
    assert answer.status_code == 409
    assert "You have not resigned, because another deal is played now." in answer.content.decode()
    assert not now_of(dealt).seats[1].left
    assert browser.post(f"{page}move/", {"move": "leave", "deal": 2}).status_code == 303
    assert now_of(dealt).seats[1].left


@pytest.mark.long
def test_the_api_refuses_a_move_chosen_on_the_void_deal(voided: Table) -> None:
    url, browser = f"/api/v1/games/{voided.game.code}", logged_in(on_turn(voided))
    view = browser.get(url).json()
    assert (view["version"], view["deal"]) == (7, 2)
    move = {"move": "draw", "version": 7}
    for other in (1, 3, 0, -1, 2**70):
        answer = browser.post(f"{url}/moves", {**move, "deal": other}, "application/json")
        assert (answer.status_code, answer.json()["error"], answer.json()["version"]) == (409, "stale", 7)
    assert browser.post(f"{url}/moves", {"move": "draw", "deal": "x"}, "application/json").status_code == 400
    assert now_of(voided).game.version == 7
    answer = browser.post(f"{url}/moves", {**move, "deal": 2}, "application/json")
    assert (answer.status_code, answer.json()["deal"]) == (200, 2)
    # It is for turn moves only.
    assert browser.post(f"{url}/moves", {"move": "leave", "deal": 1}, "application/json").status_code == 200


def test_a_move_sent_again_after_a_void_round_is_answered_and_not_repeated(dealt: Table, mo: User) -> None:
    url = f"/api/v1/games/{dealt.game.code}/moves"
    move = "take" if dealt.started.position.pending else "draw"
    body = {"move": move, "version": 7, "deal": 1, "token": "once"}
    Game.objects.filter(pk=dealt.game.pk).update(deadline=None)
    browser = logged_in(on_turn(dealt))
    assert browser.post(url, body, "application/json").status_code == 200
    tables.void_round(**act(dealt, mo))
    after = now_of(dealt)
    again = browser.post(url, body, "application/json")
    assert (again.status_code, again.json()["deal"]) == (200, 2)
    assert now_of(dealt).game.version == after.game.version


def test_the_log_shows_the_void_between_the_two_deals(dealt: Table, mo: User, alice: User) -> None:
    moves = len(log_lines(logged_in(alice), dealt.game))
    tables.void_round(**act(dealt, mo))
    heading, void, *before = log_lines(logged_in(alice), dealt.game)
    assert (heading, void, len(before)) == ("Round 1", CANCELLED, moves)
    play_move(code=dealt.game.code, viewer=Viewer(on_turn(dealt)), text="draw", version=7, deal=2, now=NOON)
    for rest in ("", "log/"):
        lines = log_lines(logged_in(alice), dealt.game, rest)
        assert lines[1:] == ["Round 1", CANCELLED, *before]


def test_a_client_need_not_send_the_deal(voided: Table) -> None:
    url = f"/api/v1/games/{voided.game.code}/moves"
    body = {"move": "draw", "version": 7}
    assert logged_in(on_turn(voided)).post(url, body, "application/json").status_code == 200


def test_since_your_last_move_says_only_that_the_round_was_cancelled(dealt: Table, mo: User) -> None:
    for expected in ([CANCELLED], [CANCELLED, CANCELLED.replace("1", "2")]):
        tables.void_round(**act(dealt, mo))
        page = logged_in(on_turn(dealt)).get(f"/games/{dealt.game.code}/").context["page"]
        assert [step.text for step in page.news.steps] == expected


def test_the_news_after_a_void_round_are_those_of_the_new_deal(dealt: Table, mo: User) -> None:
    tables.void_round(**act(dealt, mo))
    first = now_of(dealt).on_turn
    assert first.user is not None
    play_move(code=dealt.game.code, viewer=Viewer(first.user), text="draw", version=7, deal=2, now=NOON)
    now = now_of(dealt)
    for seat in now.seats:
        view, lines = queries.view_of(now, seat.user), queries.log_of(now, seat.user)
        news = since_your_move(view, lines)
        if seat.index == first.index:
            assert news == []
        else:
            assert news[0].text == CANCELLED
            assert len(news) == 2
            assert news[1].text.startswith(f"{first.name} ")
            assert seat.user is not None
            page = logged_in(seat.user).get(f"/games/{dealt.game.code}/").context["page"]
            assert (page.news.steps, page.news.brief) == (news, CANCELLED)  # also while it is somebody else's turn
    assert since_your_move(queries.view_of(now, None), queries.log_of(now, None)) == []


def test_a_round_voided_before_any_move_is_news_too(alice: User, bob: User, mo: User) -> None:
    table = lobby.create_table(user=alice, choices=lobby.TableChoices(players=2), now=NOON)
    lobby.join(code=table.game.code, viewer=Viewer(bob), now=NOON)
    tables.void_round(**act(table, mo))
    owner = on_turn(table)
    page = logged_in(owner).get(f"/games/{table.game.code}/").context["page"]
    assert (page.news.brief, page.deal) == (CANCELLED, 2)
    play_move(code=table.game.code, viewer=Viewer(owner), text="draw", version=0, deal=2, now=NOON)
    now = now_of(table)
    assert since_your_move(queries.view_of(now, owner), queries.log_of(now, owner)) == []


def test_an_open_page_announces_that_the_round_was_cancelled(dealt: Table, mo: User, alice: User) -> None:
    before = logged_in(alice).get(f"/games/{dealt.game.code}/").context["page"].fragment_url
    tables.void_round(**act(dealt, mo))
    for address, times in ((before, 1), (before.replace("deal=1", "deal=2"), 0), (before.replace("&deal=1", ""), 0)):
        page = GamePage(logged_in(alice).get(address, headers=HTMX))
        assert page.told[0].count(CANCELLED) == times
        assert (page.version, page.deal) == (7, 2)


def test_every_player_is_told_of_a_void_round_by_bell_and_mail(dealt: Table, mo: User, alice: User) -> None:
    for user in (seat.user for seat in dealt.seats):
        assert user is not None
        presence.mark_viewing(game_id=dealt.game.pk, user_id=user.pk)
    tables.void_round(**act(dealt, mo))
    tables.void_round(**act(dealt, mo))
    outbox.deliver(clock=lambda: NOON)
    for seat in dealt.seats:
        assert seat.user is not None
        rows = Notice.objects.filter(user=seat.user, kind="round_cancelled", state="sent")
        for channel in ("site", "email"):
            assert texts_of(rows.filter(channel=channel).order_by("pk")) == [CANCELLED, CANCELLED.replace("1", "2")]
    assert CANCELLED in logged_in(alice).get("/notices/").content.decode()


def test_the_turn_of_the_void_deal_is_no_longer_announced(dealt: Table, mo: User) -> None:
    before = on_turn(dealt)
    write(dealt.game, of_turn(dealt), now=NOON)
    tables.void_round(**act(dealt, mo))
    rows = Notice.objects.filter(kind="turn", channel="site").order_by("pk").values_list("user", "state", "occasion")
    assert list(rows) == [(before.pk, "dropped", 0), (on_turn(dealt).pk, "waiting", 1)]


@pytest.mark.long
def test_the_form_to_void_a_round_acts_on_the_deal_that_it_was_opened_for(dealt: Table, ann: User) -> None:
    page = open_act(staff_browser(ann), dealt.game, "void_round")
    assert page.fields["deal"] == "1"
    assert page.send(deal=1).status == 302
    again = page.send(deal=1)
    assert (again.status, "You have voided round 1 (" in again.text) == (409, True)
    again = again.send(deal=1)
    assert (again.status, "Round 2 is being played now." in again.text) == (409, True)
    assert now_of(dealt).started.round.number == 2


def test_a_void_round_makes_a_match_of_rounds_one_round_longer(dealt: Table, mo: User) -> None:
    Game.objects.filter(pk=dealt.game.pk).update(options={**dealt.game.options, "rounds": 3})
    assert words.length(queries.view_of(now_of(dealt), None)) == "round 1 of 3, to 500"
    tables.void_round(**act(dealt, mo))
    assert words.length(queries.view_of(now_of(dealt), None)) == "round 2 of 4, to 500"


def test_a_player_who_left_in_a_void_round_stays_out_and_the_record_replays(
    dealt: Table, mo: User, alice: User, bob: User
) -> None:
    code = dealt.game.code
    play_move(code=code, viewer=Viewer(bob), text="leave", version=None, now=NOON)
    tables.void_round(**act(dealt, mo))
    after = now_of(dealt)
    assert after.started.position.out == (1,)
    tables.void_round(**act(dealt, mo))
    play_move(code=code, viewer=Viewer(alice), text="leave", version=None, now=NOON)
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
    page = logged_in(alice).get(f"/games/{game.code}/").content.decode()
    assert "<title>Staff called this game off: nobody wins · No Mercy</title>" in page
    record = rules.parse_record(rules.print_record(records.record_of(now_of(dealt))))
    assert record.result is None
    assert len(list(rules.replay_record(record))) == 1
    with pytest.raises(Denied) as denied:
        tables.void_game(**act(dealt, ann))
    assert (denied.value.code, denied.value.rule, denied.value.message) == ("over", "END-1", "The game is over.")


def test_staff_can_close_a_table_that_has_not_started(mo: User, alice: User) -> None:
    table = lobby.create_table(user=alice, choices=lobby.TableChoices(), now=NOON)
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
    assert (letter.to, letter.subject) == ([alice.email], "No Mercy: Staff closed this table before the game started.")
    assert f"{settings.SITE_URL}/mail/open/" in str(letter.body)


def test_a_running_game_cannot_be_closed(dealt: Table, mo: User) -> None:
    refused("already_started", tables.close, **act(dealt, mo))
