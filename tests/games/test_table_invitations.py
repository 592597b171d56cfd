"""People find invitations and rematches on the front page, and sit down or say no."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest
from django.apps import apps
from django.test import Client

from accounts.models import User
from games import queries
from games.actions import guests, lobby, seating
from games.actions.rematch import ask_rematch
from games.models import Game, Invitation
from games.queries import Table, Viewer
from games.staff import tables
from tests.conftest import logged_in, person
from tests.support.clocks import locked
from tests.support.pages import group, open_table, text_of, words_in
from tests.support.staff import act
from tests.support.tables import NOON, TWO_HANDS, table_at
from tests.support.web import at_once

pytestmark = pytest.mark.django_db


def invite(user: User, game: Game) -> Invitation:
    return Invitation.objects.create(game=game, user=user, at=NOON)


@pytest.fixture
def invited(alice: User, bob: User) -> Invitation:
    """Return Alice's invitation to a private table of Bob's for three."""
    return invite(alice, open_table(bob, players=3, public=False))


def listed(browser: Client) -> str:
    return group(browser.get("/"), "invitations")


def decline(browser: Client, invitation: Invitation) -> Any:
    return browser.post(f"/invitations/{invitation.pk}/decline/")


def state(invitation: Invitation) -> str:
    invitation.refresh_from_db()
    return invitation.state


def rematch(alice: User, bob: User) -> Table:
    """Return the table of Bob's rematch of a finished game with Alice."""
    ended = table_at(TWO_HANDS, [alice, bob], is_public=False)
    Game.objects.filter(pk=ended.game.pk).update(status=Game.Status.OVER, winner=0)
    return ask_rematch(code=ended.game.code, viewer=Viewer(bob), now=NOON)


# The list


def test_an_invitation_is_on_top_of_the_front_page(as_alice: Client, alice: User, invited: Invitation) -> None:
    table_at(TWO_HANDS, [alice, "careful"])
    page = as_alice.get("/").content.decode()
    assert page.index("Invitations") < page.index("Your turn")
    for other in ("/?finished=1", "/?from=2"):
        assert invited.game.code not in as_alice.get(other).content.decode()
    part = listed(as_alice)
    assert "bob invites you to a game 1 of 3 seats taken · No Mercy · Standard pace" in words_in(part)
    assert re.findall(r'action="([^"]+)"', part) == [
        f"/games/{invited.game.code}/join/", f"/invitations/{invited.pk}/decline/"
    ]  # fmt: skip
    buttons = re.findall(r"<button.*?</button>", part, re.DOTALL)
    said = "bob invites you to a game"
    assert [" ".join(words_in(one).split()) for one in buttons] == [f"Sit down : {said}", f"No, thanks : {said}"]


def test_a_rematch_is_on_the_front_page_of_the_others(as_alice: Client, alice: User, bob: User) -> None:
    again = rematch(alice, bob)
    assert again.game.code in listed(as_alice)
    assert "bob invites you to a rematch" in words_in(listed(as_alice))
    assert not listed(logged_in(bob))


def test_sitting_down_takes_the_seat_and_the_line_away(as_alice: Client, alice: User, invited: Invitation) -> None:
    answer = as_alice.post(f"/games/{invited.game.code}/join/")
    assert answer.headers["Location"] == f"/games/{invited.game.code}/"
    assert (state(invited), invited.answered_at is not None) == ("joined", True)
    assert not listed(as_alice)


def test_the_newest_invitation_is_first_and_a_public_table_is_listed_once(
    as_alice: Client, alice: User, bob: User, charlie: User
) -> None:
    User.objects.filter(pk=bob.pk).update(display_name="<b>Bob</b>")
    older, newer = (invite(alice, open_table(host)) for host in (bob, charlie))
    page = as_alice.get("/").content.decode()
    assert page.index(newer.game.code) < page.index(older.game.code)
    assert 'id="group-open"' not in page
    assert "&lt;b&gt;Bob&lt;/b&gt; invites you" in listed(as_alice)


def add_bot(invited: Invitation, host: User) -> None:
    lobby.add_bot(code=invited.game.code, viewer=Viewer(host), bot="careful", now=NOON)


def start(invited: Invitation, host: User) -> None:
    add_bot(invited, host)
    lobby.start(code=invited.game.code, viewer=Viewer(host), now=NOON)


def fill(invited: Invitation, host: User) -> None:
    for _ in range(2):
        add_bot(invited, host)


def close(invited: Invitation, host: User) -> None:
    lobby.leave_table(code=invited.game.code, viewer=Viewer(host), now=NOON)


@pytest.mark.parametrize("end", [start, fill, close])
def test_a_table_that_starts_or_closes_ends_its_invitations(
    as_alice: Client, bob: User, invited: Invitation, end: Callable[[Invitation, User], None]
) -> None:
    said_no = invite(person("zoe"), invited.game)
    Invitation.objects.filter(pk=said_no.pk).update(state="declined")
    end(invited, bob)
    assert (state(invited), state(said_no)) == ("expired", "declined")
    assert not listed(as_alice)


def test_somebody_to_whom_staff_give_a_seat_has_joined(as_alice: Client, alice: User, invited: Invitation) -> None:
    table = queries.load(invited.game)
    locked(table, lambda here: seating.change_owner(here, here.seats[0], person=alice, now=NOON))
    assert not listed(as_alice)
    start(invited, alice)
    assert state(invited) == "joined"


def test_a_program_is_not_asked_to_tables_without_programs(as_alice: Client, alice: User, bob: User) -> None:
    invite(alice, open_table(bob, programs=False))
    assert listed(as_alice)
    User.objects.filter(pk=alice.pk).update(is_program=True)
    assert not listed(as_alice)


def test_whom_staff_removed_is_not_asked_to_come_back(
    ann: User, as_alice: Client, alice: User, invited: Invitation
) -> None:
    lobby.join(code=invited.game.code, viewer=Viewer(alice), now=NOON)
    tables.remove(**act(queries.load_for(invited.game.code, Viewer(alice)), ann, seat=1, bot=False))
    assert not listed(as_alice)


def test_a_table_that_cannot_be_read_is_left_out(as_alice: Client, alice: User, bob: User, invited: Invitation) -> None:
    Game.objects.filter(pk=invited.game_id).update(preset="no-such-preset")
    good = invite(alice, open_table(bob))
    assert re.findall(r'href="/games/(\w+)/"', listed(as_alice)) == [good.game.code]


# No, thanks


def test_declining_takes_the_line_away_and_twice_is_fine(as_alice: Client, invited: Invitation) -> None:
    times = set()
    for _ in range(2):
        answer = decline(as_alice, invited)
        assert (answer.status_code, answer.headers["Location"]) == (303, "/")
        assert state(invited) == "declined"
        times.add(invited.answered_at)
    assert len(times - {None}) == 1  # the time of the first no is kept
    assert "You said no to the invitation." in text_of(as_alice.get("/"))
    assert not listed(as_alice)


def test_nobody_declines_for_another(as_bob: Client, invited: Invitation) -> None:
    assert decline(as_bob, invited).status_code == 404
    assert decline(Client(), invited).headers["Location"].startswith("/accounts/login/")
    assert as_bob.post(f"/invitations/{10**30}/decline/").status_code == 404
    assert state(invited) == "waiting"


def test_who_has_sat_down_meanwhile_is_led_to_the_table(as_alice: Client, alice: User, invited: Invitation) -> None:
    lobby.join(code=invited.game.code, viewer=Viewer(alice), now=NOON)
    assert decline(as_alice, invited).headers["Location"] == f"/games/{invited.game.code}/"
    assert state(invited) == "joined"


def test_a_late_no_to_a_started_table_changes_nothing(as_alice: Client, bob: User, invited: Invitation) -> None:
    start(invited, bob)
    assert decline(as_alice, invited).headers["Location"] == "/"
    assert state(invited) == "expired"
    page = text_of(as_alice.get("/"))
    assert "The invitation has ended, because the table has started or closed." in page
    assert "You said no" not in page


def test_somebody_who_said_no_can_still_sit_down_by_the_old_game(as_alice: Client, alice: User, bob: User) -> None:
    again = rematch(alice, bob)
    invitation = Invitation.objects.get(game=again.game, user=alice)
    decline(as_alice, invitation)
    as_alice.post(f"/games/{again.game.rematch_of.code}/rematch/")  # type: ignore[union-attr]  # it is one
    assert state(invitation) == "joined"


@pytest.mark.django_db(transaction=True)
def test_sitting_down_and_declining_at_once_leave_no_contradiction(alice: User, bob: User) -> None:
    invitation = invite(alice, open_table(bob, players=3))

    browser = logged_in(alice)

    def sit(wait: Callable[[], object]) -> None:
        wait()
        lobby.join(code=invitation.game.code, viewer=Viewer(alice), now=NOON)

    def say_no(wait: Callable[[], object]) -> None:
        wait()
        decline(browser, invitation)

    at_once([sit, say_no])
    assert state(invitation) == "joined"


def test_a_guest_s_answers_move_to_the_account(bob: User, alice: User, charlie: User) -> None:
    invitation = invite(bob, open_table(charlie, public=False))
    decline(logged_in(bob), invitation)
    guests.move_seats(guest=bob, user=alice, now=NOON)
    assert (state(invitation), invitation.user) == ("declined", alice)


# The migration


def test_the_migration_knows_who_has_joined(alice: User, bob: User, charlie: User) -> None:
    waiting, started, closed, joined_open = (open_table(bob, players=3) for _ in range(4))
    rows = [invite(alice, game) for game in (waiting, started, closed, joined_open)]
    both = invite(charlie, started)
    for game in (joined_open, started):
        lobby.join(code=game.code, viewer=Viewer(alice if game == joined_open else charlie), now=NOON)
    lobby.start(code=started.code, viewer=Viewer(bob), now=NOON)
    lobby.leave_table(code=closed.code, viewer=Viewer(bob), now=NOON)
    Invitation.objects.update(state="waiting", answered_at=None)
    import_module("games.migrations.0066_answers_to_invitations").set_states(apps, None)
    assert [state(row) for row in (*rows, both)] == ["waiting", "expired", "expired", "joined", "joined"]
