"""Test removing a person from a table: for a bot, with the hand set aside, or before the start."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from accounts.models import User
from games import queries
from games.actions import lobby
from games.actions.play import play_move
from games.actions.rematch import ask_rematch
from games.actions.seating import give_back
from games.locks import lock_game
from games.models import AuditEntry, Game, Notice, Seat
from games.queries import Table, Viewer, lists
from games.refusals import Denied
from games.render.log_notes import notes_of
from games.render.log_rows import sentences
from games.render.news import since_your_move
from games.render.page_events import page_events
from games.staff import tables
from games.staff.forms import CHOOSE_FOR_THE_SEAT
from mail import outbox
from tests.conftest import logged_in, person
from tests.support.codes import staff_browser
from tests.support.notices import texts_of
from tests.support.pages import text_of
from tests.support.staff import REASON, act, dealt, entry_of, open_act, page_url, refused
from tests.support.tables import NOON, TWO_HANDS, log_of, now_of, table_after, table_at

__all__ = ["dealt"]  # the fixture


@pytest.fixture
def act_page(dealt: Table, ann: User) -> Callable[[str], str]:
    """Return a function that reads a page of the acts at the table."""
    browser = staff_browser(ann)
    return lambda path: browser.get(f"/admin/games/game/{dealt.game.pk}/act/{path}").content.decode()


@pytest.fixture
def waiting(alice: User, bob: User) -> Table:
    """Return a table that Alice hosts and Bob has joined, and that waits for a third player."""
    table = lobby.create_table(user=alice, choices=lobby.TableChoices(players=3), now=NOON)
    return lobby.join(code=table.game.code, viewer=Viewer(bob), now=NOON)


def test_a_bot_gets_a_removed_player_s_seat_for_good(dealt: Table, mo: User, bob: User) -> None:
    tables.remove(**act(dealt, mo, seat=1, bot=True))
    seat = now_of(dealt).seats[1]
    assert (seat.user, seat.bot, seat.left, seat.name) == (None, "careful", False, "bob")
    assert not lists.games_of(bob).exists()
    with pytest.raises(Denied, match="not seated"):
        play_move(code=dealt.game.code, viewer=Viewer(bob), text="leave", version=None, now=NOON)
    with pytest.raises(Denied):
        give_back(queries.load(lock_game(pk=dealt.game.pk)), seat=1, now=NOON)
    entry = entry_of(dealt)
    assert (entry.person, entry.person_name, entry.seat, entry.details) == (bob, "bob", 1, {"bot": True})
    refused("forbidden", tables.remove, **act(dealt, mo, seat=1, bot=True))


OUT = "Staff took bob out of the game."


def test_open_pages_and_the_log_say_that_staff_took_a_player_out(
    dealt: Table, mo: User, alice: User, charlie: User
) -> None:
    tables.remove(**act(dealt, mo, seat=1, bot=False))
    table = now_of(dealt)
    for reader in (alice, charlie, None):
        view, lines = queries.view_of(table, reader), queries.log_of(table, reader)
        said = [event.text for event in page_events(view, lines, since=7, now=NOON).events]
        assert OUT in said
        assert sentences(view, lines[-1])[0] == OUT
        if reader is not None:
            assert since_your_move(view, lines)[-1].text.startswith(OUT)


def news_for(table: Table, user: User) -> list[str]:
    """Return "Since your last move" for this person."""
    now = now_of(table)
    notes = notes_of(queries.between_moves(now, user))
    return [step.text for step in since_your_move(queries.view_of(now, user), queries.log_of(now, user), notes)]


def test_since_your_last_move_says_who_got_or_lost_a_seat(dealt: Table, mo: User, ann: User, alice: User) -> None:
    dora = person("dora")
    before = news_for(dealt, alice)
    tables.pause(**act(dealt, mo))
    tables.resume(**act(dealt, mo))
    tables.remove(**act(dealt, mo, seat=1, bot=True))
    tables.move_seat(**act(dealt, ann, seat=2, username="dora"))
    took = ["Staff removed bob from the table, and a bot took over the seat.", "Staff gave charlie’s seat to dora."]
    assert news_for(dealt, alice) == [*before, *took]
    assert news_for(dealt, dora) == []


@pytest.mark.long
def test_the_new_owner_of_a_seat_is_told_of_later_void_rounds_only(dealt: Table, ann: User, bob: User) -> None:
    dora = person("dora")
    tables.void_round(**act(dealt, ann))
    tables.move_seat(**act(dealt, ann, seat=1, username="dora"))
    assert news_for(dealt, dora) == []
    tables.void_round(**act(dealt, ann))
    assert news_for(dealt, dora) == ["Staff cancelled round 2; it was dealt again."]


def test_a_player_who_resigns_after_another_was_removed_has_left(dealt: Table, mo: User, charlie: User) -> None:
    tables.remove(**act(dealt, mo, seat=1, bot=True))
    play_move(code=dealt.game.code, viewer=Viewer(charlie), text="leave", version=None, now=NOON)
    table = now_of(dealt)
    left = queries.log_of(table, None)[-1]
    assert sentences(queries.view_of(table, None), left)[0] == "charlie has left the game."


@pytest.mark.long
def test_no_seat_is_preselected_and_the_button_names_the_person(
    dealt: Table, ann: User, act_page: Callable[[str], str]
) -> None:
    Seat.objects.filter(game=dealt.game, index=1).update(misses=1)
    for name, button in (
        ("remove", "Remove bob, seat 2"),
        ("forgive", "Forgive bob, seat 2"),
        ("move_seat", "Give away the place of bob, seat 2"),
    ):
        assert 'name="reason"' not in act_page(f"{name}/")
        assert f'<a class="button" href="?seat=1">{button}</a>' in act_page(f"{name}/")
        assert f' value="{button}">' in act_page(f"{name}/?seat=1")


def test_an_act_on_a_seat_without_a_seat_does_nothing(dealt: Table, mo: User) -> None:
    url = page_url(dealt.game).replace("change", "act/remove")
    answer = staff_browser(mo).post(url, {"instead": "bot", "reason": REASON})
    assert (answer.status_code, "no seat was chosen" in answer.content.decode()) == (422, True)
    assert not AuditEntry.objects.exists()


def test_an_act_on_a_seat_that_has_another_owner_by_now_does_nothing(dealt: Table, mo: User, bob: User) -> None:
    dora = User.objects.create_user(username="dora")
    browser, url = staff_browser(mo), f"/admin/games/game/{dealt.game.pk}/act/remove/"
    Seat.objects.filter(game=dealt.game, index=1).update(user=dora)
    answer = browser.post(url, {"seat": 1, "owner": bob.pk, "instead": "bot", "reason": REASON})
    assert answer.status_code == 422
    assert "The seats have changed" in answer.content.decode()
    refused("forbidden", tables.remove, **act(dealt, mo, seat=1, bot=True, owner=bob.pk))
    refused("forbidden", tables.remove, **act(dealt, mo, seat=1, bot=True, owner=0))
    tables.remove(**act(dealt, mo, seat=1, bot=True, owner=dora.pk))


def test_a_seat_that_a_bot_took_for_a_removed_person_can_be_given_back(
    dealt: Table, ann: User, bob: User, act_page: Callable[[str], str]
) -> None:
    tables.remove(**act(dealt, ann, seat=1, bot=True))
    page = act_page("move_seat/?seat=1")
    assert "Give away the place of bob, seat 2" in act_page("move_seat/")
    assert "Seat 2 was bob’s. To give it back, enter the username bob." in page
    tables.move_seat(**act(dealt, ann, seat=1, username="bob"))
    seat = now_of(dealt).seats[1]
    assert (seat.user, seat.bot) == (bob, "")
    assert texts_of(Notice.objects.filter(user=bob).order_by("pk"))[-1] == "Staff gave you your seat back."
    [*_, note] = notes_of(queries.between_moves(now_of(dealt), None))
    assert note.text == "Staff gave bob the seat back."
    [*_, note] = notes_of(queries.between_moves(now_of(dealt), bob))
    assert note.text == "Staff gave you the seat back."
    assert AuditEntry.objects.latest("pk").about == "bob (from the bot in the seat of bob)"


def test_a_removed_person_s_seat_can_go_to_another_person(dealt: Table, ann: User) -> None:
    User.objects.create_user(username="dora")
    tables.remove(**act(dealt, ann, seat=1, bot=True))
    tables.move_seat(**act(dealt, ann, seat=1, username="dora"))
    [*_, note] = notes_of(queries.between_moves(now_of(dealt), None))
    assert note.text == "Staff gave bob’s seat to dora."
    told = texts_of(Notice.objects.filter(user__username="bob", channel="site").order_by("pk"))[-1]
    assert told == "Staff gave the seat that was yours to dora, at the table with alice and charlie."


def test_a_stand_in_bot_keeps_the_seat_when_its_owner_is_removed(dealt: Table, mo: User) -> None:
    Seat.objects.filter(game=dealt.game, index=1).update(bot="careful")
    tables.remove(**act(dealt, mo, seat=1, bot=True))
    assert (now_of(dealt).seats[1].user, now_of(dealt).seats[1].bot) == (None, "careful")


def test_setting_a_removed_player_s_hand_aside_is_a_logged_move(dealt: Table, mo: User, bob: User) -> None:
    tables.remove(**act(dealt, mo, seat=1, bot=False))
    after = now_of(dealt)
    assert log_of(dealt)[-1] == "1 leave"
    assert after.seats[1].left
    assert after.started.position.hands[1] == ()
    assert entry_of(dealt).version == 7


def test_removing_the_second_last_player_ends_the_game(mo: User, alice: User, bob: User) -> None:
    table = table_after([alice, bob], 4, seed=0)
    tables.remove(**act(table, mo, seat=1, bot=False))
    assert (now_of(table).game.status, now_of(table).game.winner) == (Game.Status.OVER, 0)


def test_the_page_says_who_wins_if_setting_the_hand_aside_ends_the_game(
    dealt: Table, act_page: Callable[[str], str], ann: User, alice: User, bob: User
) -> None:
    assert "the game ends" not in act_page("remove/?seat=1")
    url = f"/admin/games/game/{table_after([alice, bob], 4, seed=0).game.pk}/act/remove/?seat=1"
    page = staff_browser(ann).get(url).content.decode()
    assert "If the hand is set aside, the game ends and alice wins." in page


@pytest.mark.parametrize("instead", ["aside", "bot"])
def test_a_removal_that_would_end_the_game_by_now_is_asked_again(
    dealt: Table, mo: User, alice: User, charlie: User, instead: str
) -> None:
    page = open_act(staff_browser(mo), dealt.game, "remove", seat=1)
    play_move(code=dealt.game.code, viewer=Viewer(charlie), text="leave", version=dealt.game.version, now=NOON)
    answer = page.send(**page.fields | {"instead": instead, "reason": REASON})
    if instead == "bot":
        assert answer.status == 302
        return
    assert answer.status == 409
    assert "Nothing has been done. The game has changed since you opened this page:" in answer.text
    assert answer.text.count("if the hand is set aside, the game ends and alice wins.") == 1
    assert (now_of(dealt).game.status, AuditEntry.objects.exists()) == (Game.Status.PLAYING, False)
    assert answer.send(**answer.fields | {"instead": "aside", "reason": REASON}).status == 302
    assert now_of(dealt).game.winner == dealt.seat_of(alice)


def test_the_page_asks_what_happens_to_the_seat_only_if_the_game_has_started(ann: User, waiting: Table) -> None:
    assert 'name="instead"' not in open_act(staff_browser(ann), waiting.game, "remove", seat=1).source


@pytest.mark.long
def test_a_form_to_remove_from_an_open_table_is_refused_once_the_game_has_started(
    ann: User, alice: User, bob: User
) -> None:
    table = lobby.create_table(user=alice, choices=lobby.TableChoices(players=2), now=NOON)
    page = open_act(staff_browser(ann), table.game, "remove", seat=0)
    form: dict[str, Any] = {"seat": "0", "owner": alice.pk}
    lobby.join(code=table.game.code, viewer=Viewer(bob), now=NOON)
    assert now_of(table).game.status == Game.Status.PLAYING
    answer = page.send(**form)
    assert (answer.status, CHOOSE_FOR_THE_SEAT in answer.source) == (422, True)
    assert 'name="instead"' in answer.source
    refused("already_started", tables.remove, **act(table, ann, seat=0, bot=None))
    assert not AuditEntry.objects.exists()
    assert page.send(**form, instead="bot").status == 302


def test_removing_a_person_before_the_start_frees_the_seat_and_tells_the_new_host(
    waiting: Table, mo: User, bob: User
) -> None:
    tables.remove(**act(waiting, mo, seat=0, bot=None))
    after = now_of(waiting)
    assert ([seat.user for seat in after.seats], after.game.host) == ([bob], bob)
    outbox.deliver(clock=lambda: NOON)
    told = Notice.objects.filter(kind="host_changed", channel="site", state="sent")
    said = ["Staff removed alice, the host of your table. You are the host now."]
    assert (told.get().user, texts_of(told)) == (bob, said)


@pytest.mark.long
def test_a_person_removed_from_an_open_table_cannot_join_it_again(
    waiting: Table, ann: User, mo: User, alice: User, bob: User
) -> None:
    table, code = waiting, waiting.game.code
    tables.remove(**act(table, mo, seat=1, bot=True))
    for links in ((), (table.game.invite_key,)):
        assert "removed you from this table" in refused(
            "forbidden", lobby.join, code=code, viewer=Viewer(bob, links), now=NOON
        )
    answer = logged_in(bob).post(f"/games/{code}/join/")
    assert answer.status_code == 403
    assert "Staff removed you from this table" in answer.content.decode()
    assert now_of(table).seat_of(bob) is None
    for browser, offered in ((logged_in(bob), False), (logged_in(mo), True)):
        page = browser.get(f"/games/{code}/").content.decode()
        assert ('id="do-join"' in page, "Staff removed you from this table" in page) == (offered, not offered)
    another = lobby.create_table(user=alice, choices=lobby.TableChoices(players=3), now=NOON)
    lobby.join(code=another.game.code, viewer=Viewer(bob), now=NOON)
    User.objects.create_user(username="dora")
    tables.move_seat(**act(another, ann, seat=1, username="dora"))
    # A person whose seat was given away may join again.
    lobby.join(code=another.game.code, viewer=Viewer(bob), now=NOON)


def test_a_person_whose_seat_staff_took_reads_it_at_the_table(dealt: Table, ann: User, bob: User) -> None:
    browser, url = logged_in(bob), f"/games/{dealt.game.code}/"
    tables.move_seat(**act(dealt, ann, seat=1, username=person("dora").username))
    given = "Staff gave your seat to somebody else. You are watching."
    assert given in text_of(browser.get(url))
    assert given in text_of(browser.get(url, headers={"HX-Request": "true"}))
    assert "Staff" not in text_of(Client().get(url)).split("You are watching.")[0]
    tables.move_seat(**act(dealt, ann, seat=1, username="bob"))
    assert given not in text_of(browser.get(url))
    tables.remove(**act(dealt, ann, seat=1, bot=True))
    removed = text_of(browser.get(url))
    assert "Staff removed you from this table. You are watching." in removed
    assert REASON not in removed


def test_a_person_removed_from_a_rematch_cannot_return_by_invitation(ann: User, alice: User, bob: User) -> None:
    table = table_at(TWO_HANDS, [alice, bob], is_public=False)
    tables.void_game(**act(table, ann))
    again = ask_rematch(code=table.game.code, viewer=Viewer(alice), now=NOON)
    Game.objects.filter(pk=again.game.pk).update(players=3)
    ask_rematch(code=table.game.code, viewer=Viewer(bob), now=NOON)
    tables.remove(**act(again, ann, seat=1, bot=True))
    refused("not_found", ask_rematch, code=table.game.code, viewer=Viewer(bob), now=NOON)
    assert now_of(again).seat_of(bob) is None


@pytest.mark.parametrize(
    ("bot", "text"),
    [
        (True, "Staff removed you and gave your seat to a bot, at the table with alice and charlie."),
        (False, "Staff removed you from the table with alice and charlie."),
    ],
)
def test_a_removed_person_is_notified(dealt: Table, mo: User, bob: User, bot: bool, text: str) -> None:
    tables.remove(**act(dealt, mo, seat=1, bot=bot))
    told = Notice.objects.filter(user=bob, channel="site")
    assert (told.get().kind, texts_of(told)) == ("seat_moved", [text])


def test_a_person_removed_from_an_open_table_is_notified_and_its_host_stays(
    waiting: Table, mo: User, bob: User
) -> None:
    tables.remove(**act(waiting, mo, seat=1, bot=True))
    assert texts_of(Notice.objects.filter(user=bob, channel="site")) == ["Staff removed you from the table with alice."]
    assert not Notice.objects.filter(kind="host_changed").exists()


@pytest.mark.parametrize("public", [True, False])
def test_the_host_and_the_log_are_told_that_the_link_of_a_private_table_changed(
    mo: User, alice: User, bob: User, public: bool
) -> None:
    table = lobby.create_table(user=alice, choices=lobby.TableChoices(players=3, public=public), now=NOON)
    old = table.game.invite_key
    lobby.join(code=table.game.code, viewer=Viewer(bob, (old,)), now=NOON)
    tables.remove(**act(table, mo, seat=1, bot=False))
    outbox.deliver(clock=lambda: NOON)
    told = Notice.objects.filter(user=alice, kind="link_changed", channel="site", state="sent")
    start = "Staff removed bob from your table. The old link no longer"
    assert [text.startswith(start) for text in texts_of(told)] == ([] if public else [True])
    [note] = [one for one in notes_of(queries.between_moves(now_of(table), alice)) if "removed" in one.text]
    assert ("The old link to the table no longer works." in note.text) is not public
    assert Client().get(f"/join/{old}/").status_code == (200 if public else 404)


def test_a_person_removed_twice_is_notified_twice(ann: User, alice: User, bob: User) -> None:
    table = lobby.create_table(user=alice, choices=lobby.TableChoices(players=4), now=NOON)
    for n in (1, 2):
        other = person(f"other{n}")
        lobby.join(code=table.game.code, viewer=Viewer(other), now=NOON)
        tables.move_seat(**act(table, ann, seat=1, username="bob"))
        tables.remove(**act(table, ann, seat=1, bot=True))
        outbox.deliver(clock=lambda: NOON)
        sent = Notice.objects.filter(user=bob, channel="site", said="removed", state="sent")
        assert sent.count() == n
