"""Test the act of looking at hands, and that players learn of it after the game."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.core.cache import cache

from accounts.models import User
from games import presence
from games.actions import lobby
from games.models import AuditEntry, Game, Notice, Seat
from games.queries import Table, Viewer, conduct
from games.staff import tables
from mail import outbox
from tests.conftest import logged_in, person
from tests.support.codes import staff_browser
from tests.support.notices import texts_of
from tests.support.staff import REASON, act, dealt, refused
from tests.support.tables import NOON, table_after

__all__ = ["dealt"]  # the fixture


def test_players_are_told_after_the_game_that_staff_viewed_hands(
    dealt: Table, mo: User, ann: User, alice: User
) -> None:
    entry, hands = tables.view_hands(**act(dealt, mo))
    assert hands == list(dealt.started.position.hands)
    assert entry.version == 7
    assert not any(card in str(entry.details) for hand in hands for card in hand)
    browser = logged_in(alice)
    log, page = f"/games/{dealt.game.code}/log/", f"/games/{dealt.game.code}/"
    assert "Staff looked at the hands." not in browser.get(log).content.decode()
    assert "Staff looked at hands" not in browser.get(page).content.decode()
    tables.void_game(**act(dealt, ann))
    assert "Staff looked at the hands." in browser.get(log).content.decode()
    over = browser.get(page).content.decode()
    assert over.index('id="replay"') < over.index("Staff looked at hands")
    assert REASON not in browser.get(log).content.decode()


def test_people_who_lost_their_seat_after_the_look_are_told_when_the_game_is_over(
    dealt: Table, ann: User, bob: User, charlie: User
) -> None:
    tables.view_hands(**act(dealt, ann))
    tables.remove(**act(dealt, ann, seat=1, bot=True))
    person("dora")
    tables.move_seat(**act(dealt, ann, seat=2, username="dora"))
    told = Notice.objects.filter(said="looked", channel="site").order_by("user")
    assert not told.exists()
    assert b">Your notifications</a>" in refusal_for(bob, dealt)
    tables.void_game(**act(dealt, ann))
    text = "Staff looked at hands while you were playing in a game that is over now, with alice and"
    assert dict(zip([row.user for row in told], texts_of(told), strict=True)) == {
        bob: f"{text} dora.",
        charlie: f"{text} bob.",
    }


def test_a_removal_that_ends_the_game_after_a_look_tells_both(mo: User, alice: User, bob: User) -> None:
    table = table_after([alice, bob], 4, seed=0)
    tables.view_hands(**act(table, mo))
    tables.remove(**act(table, mo, seat=1, bot=False))
    told = Notice.objects.get(said="looked", channel="site")
    assert (told.user, told.facts) == (bob, {"others": {"people": [alice.pk]}})


def test_a_removed_person_is_told_of_the_look_also_with_the_page_open(
    dealt: Table, mo: User, ann: User, bob: User
) -> None:
    cache.clear()
    presence.mark_viewing(game_id=dealt.game.pk, user_id=bob.pk)
    tables.view_hands(**act(dealt, mo))
    tables.remove(**act(dealt, mo, seat=1, bot=True))
    tables.void_game(**act(dealt, ann))
    outbox.deliver(clock=lambda: NOON)
    told = Notice.objects.filter(user=bob, said="looked")
    assert {row.channel: row.state for row in told} == {"site": "sent", "email": "sent"}


@pytest.mark.parametrize(
    ("change", "state"),
    [({}, "dropped"), ({"suspended_until": NOON + timedelta(days=1)}, "sent"), ({"is_active": False}, "sent")],
    ids=["plays", "suspended", "closed"],
)
def test_only_a_page_that_its_reader_may_still_see_replaces_a_notice(
    dealt: Table, ann: User, bob: User, change: dict[str, Any], state: str
) -> None:
    cache.clear()
    presence.mark_viewing(game_id=dealt.game.pk, user_id=bob.pk)
    User.objects.filter(pk=bob.pk).update(**change)
    tables.void_game(**act(dealt, ann))
    outbox.deliver(clock=lambda: NOON)
    assert Notice.objects.get(user=bob, kind="game_over", channel="site").state == state


LOOK, DORA, BOB = ("look",), ("move_seat", 1, "dora"), ("move_seat", 1, "bob")
REMOVE = ("remove", 1)


@pytest.mark.parametrize(
    ("steps", "told"),
    [
        ([REMOVE, LOOK], []),
        ([LOOK, REMOVE, BOB], []),
        ([LOOK, DORA, REMOVE], ["bob"]),  # Dora came after the look
        ([LOOK, REMOVE, BOB, REMOVE], ["bob"]),
    ],
    ids=["lost before", "got back", "got after and lost", "lost twice"],
)
def test_who_lost_the_seat_after_the_look_and_did_not_get_it_back_is_told_once(
    dealt: Table, ann: User, steps: list[tuple[Any, ...]], told: list[str]
) -> None:
    person("dora")
    for name, *of in steps:
        if name == "look":
            tables.view_hands(**act(dealt, ann))
        elif name == "remove":
            tables.remove(**act(dealt, ann, seat=of[0], bot=True))
        else:
            tables.move_seat(**act(dealt, ann, seat=of[0], username=of[1]))
    tables.void_game(**act(dealt, ann))
    rows = Notice.objects.filter(said="looked", channel="site")
    assert [row.user.username for row in rows] == told


def refusal_for(user: User, table: Table) -> bytes:
    """Return the page that this person gets instead of the table, which is private by then."""
    Game.objects.filter(pk=table.game.pk).update(is_public=False)
    answer = logged_in(user).get(f"/games/{table.game.code}/")
    assert answer.status_code == 403
    return answer.content


def test_staff_cannot_view_hands_of_people_they_play_with(dealt: Table, mo: User, bob: User) -> None:
    other = lobby.create_table(user=mo, choices=lobby.TableChoices(players=3), now=NOON)
    lobby.join(code=other.game.code, viewer=Viewer(bob), now=NOON)
    assert "You are playing" in refused("forbidden", tables.view_hands, **act(dealt, mo))
    assert not AuditEntry.objects.exists()
    Game.objects.filter(pk=other.game.pk).update(status=Game.Status.VOID)
    tables.view_hands(**act(dealt, mo))


@pytest.mark.long
def test_a_moderator_who_plays_does_not_read_of_a_look_before_the_end(
    dealt: Table, ann: User, mo: User, bob: User
) -> None:
    tables.view_hands(**act(dealt, ann))
    Seat.objects.filter(game=dealt.game, user=bob).update(user=mo)
    playing, other = conduct.audit_of_game(dealt.game, reader=mo.pk), conduct.audit_of_game(dealt.game, reader=bob.pk)
    assert ([entry.act for entry in playing], [entry.act for entry in other]) == ([], ["look"])
    assert REASON not in staff_browser(mo).get("/admin/games/auditentry/").content.decode()
    tables.void_game(**act(dealt, ann))
    assert [entry.act for entry in conduct.audit_of_game(dealt.game, reader=mo.pk)] == ["void_game", "look"]
