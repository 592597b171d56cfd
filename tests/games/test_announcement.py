"""The line that staff show on all pages: who may, when it ends, and what happens while the database is away."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Final

import psycopg
import pytest
from django.db import OperationalError
from django.test import Client
from django.utils import timezone

from accounts.models import User
from games.models import Announcement, AuditEntry
from games.queries import announcement
from games.refusals import Denied
from games.staff import people
from games.staff.announcement import announce, end_announcement
from tests.support.codes import staff_browser
from tests.support.pages import Page, open_table, text_of, words_of
from tests.support.tables import TWO_HANDS, table_at

pytestmark = pytest.mark.django_db

PAGE: Final = "/admin/games/announcement/"
TEXT: Final = "New rules from Monday <b>at</b> noon"


@pytest.fixture(autouse=True)
def _read_at_once(monkeypatch: pytest.MonkeyPatch, nothing_announced_yet: None) -> None:
    monkeypatch.setattr(announcement, "SECONDS", 0.0)
    monkeypatch.setattr(announcement.known, "read_at", None)


def announced(by: User, text: str = TEXT, **more: Any) -> AuditEntry:
    return announce(announcement_id=1, by=by, reason="", now=timezone.now(), **{"text": text, "until": None, **more})


def shown(browser: Client, address: str = "/about/") -> bool:
    return "New rules from Monday" in text_of(browser.get(address))


@pytest.mark.long
def test_all_pages_show_an_announcement(as_alice: Client, alice: User, ann: User) -> None:
    game, running = open_table(alice), table_at(TWO_HANDS, [alice, "careful"]).game
    announced(ann)
    pages = ["/", "/rules/", "/about/", "/accounts/login/", game.get_absolute_url(), "/no/such/page/"]
    for browser in (Client(), as_alice):
        for page in pages:
            assert "New rules from Monday &lt;b&gt;at&lt;/b&gt; noon" in browser.get(page).content.decode(), page
    assert "Announcement: New rules from Monday" in text_of(staff_browser(ann).get("/admin/"))
    for page in ("/", "/notices/", running.get_absolute_url()):
        assert "New rules from Monday" in text_of(as_alice.get(page, headers={"HX-Request": "true"})), page
    people.suspend(person_id=alice.pk, by=ann, days=1, reason="Rude words", now=timezone.now())
    assert shown(as_alice, "/suspended/")


@pytest.mark.long
def test_admins_announce_and_end_it_on_the_staff_pages(ann: User, client: Client) -> None:
    desk = staff_browser(ann)

    def page() -> str:
        return text_of(desk.get(PAGE))

    assert ("No announcement is shown." in page(), "End the announcement" in page()) == (True, False)
    seen = {"seen": desk.get(f"{PAGE}act/announce/").context["known"]}
    ends = (timezone.now() + timedelta(days=1)).strftime("%Y-%m-%dT%H:%M")
    assert desk.post(f"{PAGE}act/announce/", {"text": TEXT, "until": ends, "reason": "", **seen})["Location"] == PAGE
    assert TEXT.split("<")[0] in page()
    entry = AuditEntry.objects.get()
    assert (entry.act, entry.actor, entry.details["text"]) == ("announce", ann, TEXT)
    assert "Announce: New rules from Monday" in text_of(desk.get("/admin/games/auditentry/"))

    again = desk.post(f"{PAGE}act/announce/", {"text": "Other", "until": "", "reason": "", **seen})
    assert (again.status_code, "You have announced something on all pages" in text_of(again)) == (409, True)

    seen["seen"] = f"{entry.pk}-0"
    assert desk.post(f"{PAGE}act/end_announcement/", {"reason": "", **seen})["Location"] == PAGE
    assert not shown(client)
    assert AuditEntry.objects.latest("pk").act == "end_announcement"


def test_it_ends_by_itself(ann: User, client: Client) -> None:
    announced(ann, until=timezone.now() + timedelta(hours=1))
    assert shown(client)
    Announcement.objects.update(until=timezone.now() - timedelta(seconds=1))
    assert not shown(client)
    with pytest.raises(Denied, match="No announcement is shown"):
        end_announcement(announcement_id=1, by=ann, reason="", now=timezone.now())


def test_a_line_that_is_none_an_end_in_the_past_and_moderators_are_refused(ann: User, mo: User) -> None:
    for text in ("", "   ", "a" * 201, "turned \u202e around"):
        with pytest.raises(Denied) as denied:
            announced(ann, text)
        assert denied.value.code == "malformed"
    with pytest.raises(Denied, match="Choose an end in the future"):
        announced(ann, until=timezone.now())
    with pytest.raises(Denied, match="permission"):
        announced(mo)
    assert not Announcement.objects.exists()
    page = Page(staff_browser(mo).get(PAGE))
    assert (page.status, "Announce" in map(words_of, page.all("a"))) == (200, False)


def test_a_process_reads_it_every_few_seconds_and_shows_what_it_knew_while_the_database_is_away(
    ann: User, client: Client, monkeypatch: pytest.MonkeyPatch, django_assert_num_queries: Any
) -> None:
    def away() -> None:
        raise OperationalError("the connection is closed") from psycopg.OperationalError()

    announced(ann)
    monkeypatch.setattr(announcement, "SECONDS", 60.0)
    client.get("/about/")
    Announcement.objects.update(text="Something else")
    with django_assert_num_queries(0):
        assert shown(client)
    monkeypatch.setattr(announcement, "row", away)
    announcement.forget()
    assert shown(client)
