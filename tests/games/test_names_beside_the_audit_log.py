"""The names in the audit log are in a table beside it, and were moved there once."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from pytest_django import DjangoDbBlocker

from accounts.models import User
from games.models import AuditEntry, PersonName
from games.queries import Table, conduct
from games.staff import people, tables
from games.staff.accounts import rename
from tests.conftest import person
from tests.support.codes import staff_browser
from tests.support.database import empty_database, executor_of_replaced
from tests.support.pages import text_of
from tests.support.staff import REASON, act, dealt
from tests.support.tables import NOON

__all__ = ["dealt"]  # the fixture

BEFORE = ("games", "0052_names_in_reports")
AFTER = ("games", "0057_names_beside_the_audit_log")
COLUMNS = "id, act, actor_name, person_id, person_name, details"
OLD: list[tuple[Any, ...]] = [
    # act, actor, name, person, name, seat, details
    ("warn", 1, "Ann", 2, "Bob", None, "{}"),
    ("warn", 1, "ann", None, "", None, "{}"),
    ("rename", 1, "ann", 2, "Rude", None,
     '{"before": {"username": "rude", "display_name": "Rude"}, "after": {"username": "bob", "display_name": ""}}'),
    ("neutral_name", 1, "ann", 3, "carl", None, '{"name": "Player 10001"}'),
    ("end_neutral_name", 1, "ann", 3, "Player 10001", None, '{"name": "Player 10001"}'),
    ("set_role", 1, "ann", 3, "carl", None, '{"before": ["admin"], "role": ""}'),
    ("move_seat", 1, "ann", 3, "carl", 0, '{"before": "Bob", "before_id": 2}'),
    ("move_seat", 1, "ann", 2, "Bob", 1, '{"before": "Ada", "before_id": null}'),
    ("remove", 1, "ann", 2, "Bob", 1, '{"bot": true}'),
    ("move_seat", 1, "ann", 3, "carl", 1, '{"before": "Bob", "before_id": null, "back": true}'),
    ("change_outcome", 1, "ann", 2, "Bob", None, '{"before": "acted", "outcome": "nothing", "case": 4}'),
    ("teleport", 1, "ann", 2, "Bob", None, '{"before": {"x": "y"}}'),
]  # fmt: skip


def migrate_to(target: tuple[str, str]) -> None:
    """Migrate by the migrations that the squashed one replaces."""
    executor_of_replaced().migrate([target])


@pytest.fixture
def of_before(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """Use a database with the entries in `OLD`, as the migration finds them."""
    with django_db_blocker.unblock(), empty_database("names"):
        migrate_to(BEFORE)
        with connection.cursor() as cursor:
            cursor.executemany(
                "INSERT INTO games_auditentry (at, act, actor_id, actor_name, person_id, person_name, seat, details,"
                " reason, game_code, game_id) VALUES (now(), %s, %s, %s, %s, %s, %s, %s, '', '', 7)",
                OLD,
            )
        yield


def stored(columns: str = COLUMNS) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {columns} FROM games_auditentry ORDER BY id")  # noqa: S608  # columns of ours
        return list(cursor.fetchall())


@pytest.mark.more
@pytest.mark.usefixtures("of_before")
def test_entries_keep_their_names_there_and_back() -> None:
    before = stored()
    migrate_to(AFTER)
    entries = list(AuditEntry.objects.order_by("pk"))
    assert [(e.actor_name, e.person_id, e.person_name) for e in entries] == [row[2:5] for row in before]
    assert [conduct.details_with_names(e) for e in entries if e.act != "move_seat"] == [
        e for e, (_, act, *_) in zip(map(_parsed, before), before, strict=True) if act != "move_seat"
    ]
    assert [(e.before_name, e.about, e.details) for e in entries if e.act == "move_seat"] == [
        ("Bob", "carl (from Bob)", {"before_id": 2}),
        ("Ada", "Bob (from the bot in the seat of Ada)", {"before": "Ada", "before_id": None}),
        ("Bob", "carl (from the bot in the seat of Bob)", {"before_id": None, "back": True}),
    ]
    names = PersonName.objects.values_list("person_id", "name")
    assert sorted(names) == [
        (1, "Ann"), (1, "ann"), (2, "Bob"), (2, "Rude"), (2, "bob"), (2, "rude"), (3, "Player 10001"), (3, "carl"),
    ]  # fmt: skip
    assert not any(name in str(stored("details")) for name in ("Bob", "carl", "rude", "Player"))
    with pytest.raises(Exception, match="never changed"):
        AuditEntry.objects.update(reason="changed")
    migrate_to(BEFORE)
    assert stored() == before
    with pytest.raises(Exception, match="never changed"), connection.cursor() as cursor:
        cursor.execute("UPDATE games_auditentry SET reason = 'changed'")


def _parsed(row: tuple[Any, ...]) -> Any:
    return json.loads(row[5]) if isinstance(row[5], str) else row[5]


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
