"""The names in the audit log are in a table beside it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.db import connection

from accounts.models import User
from games.models import AuditEntry, PersonName
from games.queries import Table, conduct
from games.staff import people, tables
from games.staff.accounts import rename
from tests.conftest import person
from tests.support.codes import staff_browser
from tests.support.pages import text_of
from tests.support.staff import REASON, act, dealt
from tests.support.tables import NOON

__all__ = ["dealt"]  # the fixture


def test_no_name_is_in_an_entry(dealt: Table, ann: User, mo: User, bob: User) -> None:
    dora = person("dora")
    rename(person_id=bob.pk, by=ann, username="robert", display_name="Bobby", reason=REASON, now=NOON)
    people.replace_username(person_id=bob.pk, by=mo, reason=REASON, now=NOON)
    tables.remove(**act(dealt, mo, seat=1, bot=True))
    tables.move_seat(**act(dealt, ann, seat=1, username="dora", now=NOON + timedelta(minutes=1)))
    tables.move_seat(**act(dealt, ann, seat=1, username="robert", now=NOON + timedelta(minutes=2)))
    neutral = User.objects.get(pk=bob.pk).name
    with connection.cursor() as cursor:
        cursor.execute("SELECT e::text FROM games_auditentry e ORDER BY id")
        rows = str(cursor.fetchall())
    assert not [name for name in ("bob", "robert", "Bobby", "dora", "ann", neutral) if name in rows]
    assert list(conduct.details_with_names(AuditEntry.objects.earliest("pk"))["before"].values()) == ["bob", ""]
    assert [entry.about for entry in AuditEntry.objects.filter(act="move_seat").order_by("pk")] == [
        f"dora (from the bot in the seat of {neutral})",
        f"{neutral} (from dora)",
    ]
    page = text_of(staff_browser(ann).get(f"/admin/games/auditentry/{AuditEntry.objects.earliest('pk').pk}/change/"))
    assert '"username": "robert"' in page.replace("&quot;", '"')
    assert dora.pk in conduct.formerly_called("dor")


def test_a_list_of_entries_reads_the_names_with_them(mo: User, bob: User, django_assert_num_queries: Any) -> None:
    for _ in range(3):
        people.warn(person_id=bob.pk, by=mo, reason=REASON, now=NOON)
    with django_assert_num_queries(1):
        assert [(entry.actor_name, entry.about) for entry in AuditEntry.objects.all()] == [("mo", "bob")] * 3
    assert PersonName.objects.count() == 2
