"""The test database: created from a kept template, and emptied after each test with transactions."""

from __future__ import annotations

from typing import cast

import psycopg
import pytest
from django.db import connection
from psycopg import sql

from games.staff import people
from tests.conftest import person, staff
from tests.support import database
from tests.support.stack import database_url
from tests.support.tables import NOON, TWO_HANDS, table_at


def rows() -> dict[str, int]:
    """Return how many rows each table holds."""
    with psycopg.connect(database_url()) as server:
        return {
            name: server.execute(sql.SQL("SELECT FROM {}").format(sql.Identifier(name))).rowcount
            for name in connection.introspection.table_names()
        }


@pytest.mark.django_db(transaction=True)
def test_an_emptied_database_equals_a_new_one() -> None:
    new = rows()
    alice, mo = person("alice"), staff("mo", "moderator")
    table_at(TWO_HANDS, [alice, "careful"])
    people.warn(person_id=alice.pk, by=mo, reason="A word that nobody wants to read", now=NOON)
    assert rows() != new
    database.empty()
    assert rows() == new
    assert new["auth_group"] == 2
    assert {name for name, count in new.items() if count} == database.WRITTEN_BY_MIGRATIONS | {"django_migrations"}


@pytest.fixture
def migrated(monkeypatch: pytest.MonkeyPatch, django_db_setup: None, django_db_blocker: None) -> list[str]:
    """Collect the digests of the migrations that were run, for a template of another name."""
    digests: list[str] = []

    def migrate(*args: str, **options: int) -> None:
        digests.append(database.digest_of_migrations())

    monkeypatch.setattr(database, "OF_THIS_CHECKOUT", "test_template_of_a_test")
    monkeypatch.setattr(database, "call_command", migrate)
    return digests


def test_the_template_is_rebuilt_after_new_migrations(migrated: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    with database.admin_connection() as server:
        try:
            for digest in ("old", "old", "new"):
                monkeypatch.setattr(database, "digest_of_migrations", lambda digest=digest: digest)
                made.append(database.template_database(server))
            found = server.execute("SELECT datname FROM pg_database WHERE datname LIKE 'test_template_of_a_test%'")
            assert found.fetchall() == [(made[2],)]
        finally:
            for name in made:
                database.drop(server, name)
    assert migrated == ["old", "new"]
    assert made[0] == made[1] != made[2]


def test_a_drop_is_tried_again_while_the_server_cannot_write_to_a_full_disk() -> None:
    answers = [psycopg.errors.InternalError_("checkpoint request failed"), None]

    class FullDisk:
        def execute(self, statement: sql.Composed) -> None:
            if (error := answers.pop(0)) is not None:
                raise error

    database.drop(cast("database.Server", FullDisk()), "test_nomercy_0_dropped")
    assert answers == []
