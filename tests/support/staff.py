"""Helpers for tests of staff acts: a game, arguments, refusals and audit entries."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from html import unescape
from typing import Any, Final

import pytest
from django.db.models import Model
from django.test import Client

from accounts.models import User
from games.models import Appeal, AuditEntry, Case, Game, PersonName, Report
from games.queries import Table, Viewer
from games.refusals import Denied
from games.staff import cases
from tests.support.pages import text_of
from tests.support.tables import NOON, now_of, table_after

REASON = "Their power is out for a day"


def refused(code: str, act: Callable[..., Any], /, **arguments: Any) -> str:
    """Check that a call is refused with a code and writes no audit entry, and return the sentence."""
    before = AuditEntry.objects.count()
    with pytest.raises(Denied) as denied:
        act(**arguments)
    assert (denied.value.code, AuditEntry.objects.count()) == (code, before)
    return denied.value.message


def entry_of(table: Table) -> AuditEntry:
    """Return the only audit entry, and check that it is about a table and has the reason."""
    entry = AuditEntry.objects.get()
    assert (entry.game_id, entry.game_code, entry.reason) == (table.game.pk, table.game.code, REASON)
    return entry


def write_entry(act: str, by: User, *, person: User | None = None, **more: Any) -> AuditEntry:
    """Write an audit entry as no act does, for example one of a later release."""

    def called(somebody: User) -> PersonName:
        return PersonName.objects.get_or_create(person=somebody, name=somebody.name)[0]

    fields = {"at": NOON, "reason": REASON, "person": person, "person_called": called(person) if person else None}
    return AuditEntry.objects.create(act=act, actor=by, actor_called=called(by), **{**fields, **more})


@pytest.fixture
def dealt(alice: User, bob: User, charlie: User) -> Table:
    """Return a match of three people after seven moves that follow from its deal. Alice has seat 0."""
    table = table_after([alice, bob, charlie], 7, seed=0)
    Game.objects.filter(pk=table.game.pk).update(target=500, deadline=NOON + timedelta(hours=10), turn_since=NOON)
    return now_of(table)


@dataclass(frozen=True)
class ActPage:
    """The page of a staff act, in the browser of a staff member."""

    browser: Client
    url: str
    answer: Any

    @property
    def status(self) -> int:
        return int(self.answer.status_code)

    @property
    def source(self) -> str:
        return str(self.answer.content.decode())

    @property
    def text(self) -> str:
        return unescape(text_of(self.answer)).strip()

    @property
    def button(self) -> str | None:
        """Return what the button that confirms the act says, or None if the page has none."""
        found = re.search(r'<input type="submit" class="default[^"]*" value="([^"]*)">', self.source)
        return unescape(found[1]) if found else None

    @property
    def fields(self) -> dict[str, Any]:
        """Return the values of the inputs, also of the hidden ones, which a browser sends."""
        return values_of(self.answer)

    def send(self, *, follow: bool = False, **fields: Any) -> ActPage:
        """Send the form with these fields, and the reason if none is given, and return what the browser shows then."""
        sent = {"seen": self.fields["seen"], "reason": REASON, **fields}
        return ActPage(self.browser, self.url, self.browser.post(self.url, sent, follow=follow))


PLACES: Final = {Game: "games/game", User: "accounts/user", Case: "games/case", Appeal: "games/appeal"}


def page_url(subject: Model) -> str:
    """Return the path of the staff page of a game, a person, a case or an appeal."""
    return f"/admin/{PLACES[type(subject)]}/{subject.pk}/change/"


def open_act(browser: Client, subject: Model, act: str, **query: Any) -> ActPage:
    """Open the page of an act on a game, a person, a case or an appeal. `query`: like the chosen `seat`."""
    url = f"/admin/{PLACES[type(subject)]}/{subject.pk}/act/{act}/"
    return ActPage(browser, url, browser.get(url, query))


def report_seat(game: Game, *, by: User, seat: int, now: datetime = NOON) -> Report:
    """Report the name of the player on a seat."""
    text = "He wrote a rude word as his name, twice."
    return cases.report(code=game.code, viewer=Viewer(by), seat=seat, kind="name", text=text, now=now)


def seen_in(page: Any) -> str:
    """Return what the page of an act knew of its subject, as its form sends it."""
    found = re.search(r'name="seen" value="([\d-]+)"', page.content.decode())
    assert found is not None
    return found[1]


def known_by(page: Any) -> dict[str, str]:
    """Return what the form of an act sends to say what its page knew."""
    return {"seen": seen_in(page)}


def values_of(page: Any) -> dict[str, str]:
    """Return the values of the inputs in the form of an act, also the hidden ones."""
    form = page.content.decode().split('<form method="post" autocomplete="off">')[1]
    inputs = re.findall(r'<input (?=[^>]*name="([^"]+)")(?:[^>]*value="([^"]*)")?', form)
    return dict(inputs)


def confirm(browser: Client, url: str, fields: dict[str, Any], *, follow: bool = False) -> Any:
    """Open the page of an act, send its form with these fields, and return the answer."""
    return browser.post(url, {**known_by(browser.get(url)), **fields}, follow=follow)


def act(table: Table, by: User, **more: Any) -> dict[str, Any]:
    """Return the arguments that every act at a table needs."""
    return {"game_id": table.game.pk, "by": by, "reason": REASON, "now": NOON, **more}
