"""A connection that is kept open is used again only while it stands."""

from __future__ import annotations

from typing import Any, LiteralString

import psycopg
import pytest
from django.db import connection, connections

from accounts.models import User
from accounts.rows import prepared, read_user
from nomercy.database.base import DatabaseWrapper


@pytest.fixture
def kept(transactional_db: None) -> DatabaseWrapper:
    """The connection of the tests, opened and known to be looked at."""
    connection.ensure_connection()
    ours = connections["default"]
    assert isinstance(ours, DatabaseWrapper)
    assert ours.settings_dict["CONN_HEALTH_CHECKS"]
    return ours


def somebody_else(statement: LiteralString, *parameters: object) -> None:
    """Send a statement on another connection."""
    at = connection.get_connection_params()
    where: dict[str, Any] = {name: at.get(name) for name in ("host", "port", "user", "password", "dbname")}
    with psycopg.connect(**where, autocommit=True) as other:
        other.execute(statement, parameters)


def test_an_idle_connection_is_usable_and_is_not_asked(kept: DatabaseWrapper) -> None:
    def asked(*_: object) -> None:
        raise AssertionError("a statement was sent")

    with connection.execute_wrapper(asked):
        assert kept.is_usable()


def test_a_connection_whose_server_has_gone_is_replaced(kept: DatabaseWrapper, alice: User) -> None:
    before = kept.connection.info.backend_pid
    somebody_else("SELECT pg_terminate_backend(%s, 5000)", before)  # as a restart does; answers once it has gone
    assert not kept.is_usable()
    vars(kept)["health_check_done"] = False  # as at the start of a request
    assert read_user(alice.pk) == alice
    assert kept.connection.info.backend_pid != before


def test_a_connection_with_a_notice_to_read_stays(kept: DatabaseWrapper) -> None:
    with connection.cursor() as cursor:
        cursor.execute("LISTEN here")
    somebody_else("NOTIFY here")
    assert kept.is_usable()


def test_a_connection_in_a_failed_transaction_is_not_usable(kept: DatabaseWrapper) -> None:
    connection.set_autocommit(False)
    with pytest.raises(Exception, match="division by zero"), connection.cursor() as cursor:
        cursor.execute("SELECT 1/0")
    assert not kept.is_usable()
    connection.rollback()
    connection.set_autocommit(True)
    assert kept.is_usable()


def test_a_fixed_statement_is_planned_once(kept: DatabaseWrapper, alice: User) -> None:
    for _ in range(8):
        assert read_user(alice.pk) == alice
    with prepared() as cursor:
        cursor.execute("SELECT statement FROM pg_prepared_statements WHERE generic_plans + custom_plans > 1")
        assert [statement for (statement,) in cursor.fetchall() if "FROM accounts_user u" in statement]
