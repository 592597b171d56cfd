"""Test that a spammer's account is closed together with the tables that the person hosts."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from accounts.models import User
from games import queries
from games.actions import lobby
from games.models import AuditEntry, Game, Notice
from games.queries import Viewer
from games.render.log_notes import notes_of
from games.staff import accounts, tables
from tests.conftest import logged_in
from tests.support.codes import staff_browser
from tests.support.pages import open_table, text_of
from tests.support.staff import REASON, open_act, page_url, refused
from tests.support.tables import NOON, TWO_HANDS, table_at

TITLE = "Close the account and its open tables"
CLOSED = "Staff closed it."


def arguments(by: User, host: User, **more: Any) -> dict[str, Any]:
    return {"host_id": host.pk, "by": by, "reason": REASON, "now": NOON, **more}


@pytest.fixture
def spam(alice: User, bob: User) -> list[Game]:
    """Return two open tables that Bob hosts. Alice sits at the first."""
    games = [open_table(bob, players=3, public=public) for public in (True, False)]
    lobby.join(code=games[0].code, viewer=Viewer(alice), now=NOON)
    return games


def statuses(games: list[Game]) -> list[str]:
    return [Game.objects.get(pk=game.pk).status for game in games]


def test_the_account_and_its_open_tables_are_closed_with_one_entry(
    ann: User, alice: User, bob: User, charlie: User, spam: list[Game]
) -> None:
    others = open_table(charlie, players=3)
    lobby.join(code=others.code, viewer=Viewer(bob), now=NOON)
    running = table_at(TWO_HANDS, [bob, alice]).game
    entry = accounts.close_with_tables(**arguments(ann, bob))
    assert AuditEntry.objects.get() == entry
    assert (entry.act, entry.actor, entry.person, entry.reason) == ("close_with_tables", ann, bob, REASON)
    assert entry.details == {"tables": [game.code for game in spam]}
    bob.refresh_from_db()
    assert not bob.is_active
    assert statuses([*spam, others, running]) == ["void", "void", "open", "playing"]


def test_players_are_told_as_by_the_act_on_one_table(ann: User, alice: User, bob: User, spam: list[Game]) -> None:
    alone = open_table(bob, players=3)
    lobby.join(code=alone.code, viewer=Viewer(alice), now=NOON)
    tables.close(game_id=alone.pk, by=ann, reason=REASON, now=NOON)
    accounts.close_with_tables(**arguments(ann, bob))

    def shown(game: Game) -> tuple[Any, ...]:
        told = Notice.objects.filter(game=game, user=alice).order_by("channel")
        return (
            list(told.values_list("kind", "channel", "state", "said")),
            [note.text for note in notes_of(queries.between_moves(queries.load(Game.objects.get(pk=game.pk)), alice))],
            CLOSED in text_of(logged_in(alice).get(game.get_absolute_url())),
        )

    assert shown(spam[0]) == shown(alone)
    assert shown(alone)[0]
    assert shown(alone)[1:] == (["Staff closed the table before the game started."], True)


def test_it_is_all_or_nothing(ann: User, root: User, alice: User, bob: User, spam: list[Game]) -> None:
    def nothing_done() -> bool:
        return statuses(spam) == ["open", "open"] and User.objects.get(pk=bob.pk).is_active

    lobby.join(code=spam[1].code, viewer=Viewer(root, (spam[1].invite_key,)), now=NOON)
    said = refused("forbidden", accounts.close_with_tables, **arguments(root, bob))
    assert "You are or were a player at this table." in said
    refused("forbidden", accounts.close_with_tables, **arguments(alice, bob))
    assert nothing_done()
    accounts.close_with_tables(**arguments(ann, bob))
    refused("over", accounts.close_with_tables, **arguments(ann, bob))
    refused("not_found", accounts.close_with_tables, **arguments(ann, alice))
    assert User.objects.get(pk=alice.pk).is_active
    assert AuditEntry.objects.count() == 1


def test_a_table_that_is_opened_meanwhile_is_not_left_out(
    ann: User, bob: User, spam: list[Game], monkeypatch: pytest.MonkeyPatch
) -> None:
    lock_hosted = tables.lock_hosted

    def lock_and_open(host_id: int) -> Any:
        locked = lock_hosted(host_id)
        open_table(bob, players=3)
        return locked

    monkeypatch.setattr(tables, "lock_hosted", lock_and_open)
    refused("stale", accounts.close_with_tables, **arguments(ann, bob))
    monkeypatch.undo()
    assert set(Game.objects.values_list("status", flat=True)) == {"open"}
    assert User.objects.get(pk=bob.pk).is_active


def test_the_page_names_the_tables_and_the_confirmation_counts_them(
    ann: User, mo: User, bob: User, spam: list[Game]
) -> None:
    browser: Client = staff_browser(ann)
    page = open_act(browser, bob, "close_with_tables")
    assert page.button == "Close the account of bob and its open tables"
    assert f"These tables are closed: {spam[0].code}, {spam[1].code}." in page.text
    assert (page.send(reason="").status, statuses(spam)) == (422, ["open", "open"])
    done = page.send(follow=True)
    assert "The account and 2 tables of theirs are closed." in done.text
    assert TITLE not in done.text.split("What staff did")[0]
    again = page.send()
    assert again.status == 409
    assert "You have closed the account of bob and 2 tables" in again.text
    assert again.button is None
    assert AuditEntry.objects.count() == 1
    assert f"{TITLE}, 2 tables" in text_of(browser.get(page_url(spam[0])))
    assert open_act(staff_browser(mo), bob, "close_with_tables").status == 403
