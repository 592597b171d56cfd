"""Test what staff say to a table: with a sentence, or as the reason of an act."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from accounts.models import User
from games.actions import lobby
from games.models import AuditEntry, Notice
from games.queries import Table
from games.staff import tables
from tests.conftest import logged_in
from tests.support.codes import staff_browser
from tests.support.game_page import GamePage
from tests.support.notices import texts_of
from tests.support.pages import text_of
from tests.support.staff import act, confirm, dealt, refused
from tests.support.tables import NOON

__all__ = ["dealt"]

SAID = "Please wait, <b>we</b> look at round 1."
SHOWN = "Staff say: “Please wait, &lt;b&gt;we&lt;/b&gt; look at round 1.”"


def told() -> list[tuple[str, str]]:
    rows = Notice.objects.filter(kind="staff_said", channel="site").order_by("user__username", "pk")
    return list(zip([row.user.username for row in rows], texts_of(rows), strict=True))


def log_of(browser: Client, table: Table) -> str:
    return text_of(browser.get(f"/games/{table.game.code}/log/"))


def test_a_sentence_to_the_table_is_in_the_log_as_text_and_told_by_the_bell(
    dealt: Table, mo: User, alice: User, as_alice: Client
) -> None:
    answer = confirm(staff_browser(mo), f"/admin/games/game/{dealt.game.pk}/act/say/", {"said": SAID}, follow=True)
    assert "The table can read it." in answer.content.decode()
    assert SHOWN in log_of(as_alice, dealt)
    assert "<b>we</b>" not in as_alice.get(f"/games/{dealt.game.code}/log/").content.decode()
    page = text_of(as_alice.get(f"/games/{dealt.game.code}/"))
    assert f"Since your last move {SHOWN}" in page
    assert told() == [(name, f"Staff say to your table: “{SAID}”") for name in ("alice", "bob", "charlie")]
    entry = AuditEntry.objects.get()
    assert (entry.act, entry.reason, entry.details) == ("say", "", {"said": SAID})


def test_the_notice_of_a_pause_says_what_staff_said_with_it(
    dealt: Table, mo: User, charlie: User, as_alice: Client
) -> None:
    def clock(browser: Client) -> str:
        return GamePage.of(browser, dealt.game).part("clock-note")

    tables.pause(**act(dealt, mo, said=SAID))
    for browser in (as_alice, logged_in(charlie), Client()):
        assert f"Staff have paused the game. Staff say: “{SAID}” " in clock(browser)
    tables.say(**act(dealt, mo, said="Still here."))
    assert f"Staff say: “{SAID}”" in clock(as_alice)
    tables.resume(**act(dealt, mo))
    tables.pause(**act(dealt, mo))
    assert "Staff say" not in clock(as_alice)


def test_the_page_says_that_a_sentence_needs_no_reason(dealt: Table, mo: User) -> None:
    browser = staff_browser(mo)
    for name, optional in (("say", True), ("resume", False)):
        page = text_of(browser.get(f"/admin/games/game/{dealt.game.pk}/act/{name}/"))
        assert ("Optional. Stays in the audit log" in page) is optional


@pytest.mark.parametrize("name", ["pause", "void_round", "void_game"])
def test_players_are_given_the_reason_of_an_act_if_staff_say_so(
    dealt: Table, ann: User, as_alice: Client, name: str
) -> None:
    perform: Any = getattr(tables, name)
    perform(**act(dealt, ann, said=SAID))
    assert SHOWN in log_of(as_alice, dealt)
    assert [user for user, _ in told()] == ["alice", "bob", "charlie"]


@pytest.mark.parametrize("name", ["pause", "void_round", "void_game"])
def test_players_are_given_no_reason_otherwise(dealt: Table, ann: User, as_alice: Client, name: str) -> None:
    perform: Any = getattr(tables, name)
    perform(**act(dealt, ann))
    assert "Staff say" not in log_of(as_alice, dealt)
    assert told() == []
    assert "said" not in AuditEntry.objects.get().details


@pytest.mark.parametrize("bot", [True, False])
def test_who_is_removed_is_given_the_reason_too(dealt: Table, ann: User, as_alice: Client, bot: bool) -> None:
    tables.remove(**act(dealt, ann, seat=1, bot=bot, said=SAID))
    assert SHOWN in log_of(as_alice, dealt)
    assert [user for user, _ in told()] == ["alice", "bob", "charlie"]


def test_the_people_at_an_open_table_are_told(mo: User, alice: User) -> None:
    table = lobby.create_table(user=alice, choices=lobby.TableChoices(), now=NOON)
    tables.say(**act(table, mo, said=SAID))
    tables.close(**act(table, mo, said="This table is a copy of another."))
    assert [text for _, text in told()] == [
        f"Staff say to your table: “{SAID}”", "Staff say to your table: “This table is a copy of another.”"
    ]  # fmt: skip
    refused("over", tables.say, **act(table, mo, said=SAID))


@pytest.mark.parametrize("said", ["", "  ", "ab", "x" * 201])
def test_nothing_or_too_much_to_say_is_refused_with_a_sentence(dealt: Table, mo: User, said: str) -> None:
    refused("malformed", tables.say, **act(dealt, mo, said=said))
    answer = confirm(staff_browser(mo), f"/admin/games/game/{dealt.game.pk}/act/say/", {"said": said})
    assert answer.status_code == 422
    assert not AuditEntry.objects.exists()
