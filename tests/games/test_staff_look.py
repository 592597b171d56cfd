"""Test the act of looking at hands, and that players learn of it after the game."""

from __future__ import annotations

from accounts.models import User
from games.actions import lobby
from games.models import AuditEntry, Game
from games.queries import Table, Viewer
from games.staff import tables
from tests.conftest import logged_in
from tests.support.staff import REASON, act, dealt, refused
from tests.support.tables import NOON

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


def test_staff_cannot_view_hands_of_people_they_play_with(dealt: Table, mo: User, bob: User) -> None:
    other = lobby.create_table(user=mo, options=lobby.TableOptions(players=3), now=NOON)
    lobby.join(code=other.game.code, viewer=Viewer(bob), now=NOON)
    assert "You are playing" in refused("forbidden", tables.view_hands, **act(dealt, mo))
    assert not AuditEntry.objects.exists()
    Game.objects.filter(pk=other.game.pk).update(status=Game.Status.VOID)
    tables.view_hands(**act(dealt, mo))
