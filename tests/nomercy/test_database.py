"""A kept database connection is used again only while it works."""

from __future__ import annotations

import select
from typing import Any, LiteralString

import psycopg
import pytest
from django.db import InternalError, OperationalError, connection, connections, transaction
from psycopg.errors import IdleInTransactionSessionTimeout

from accounts.models import User
from accounts.queries import read_user
from common.fixed_sql import prepared_cursor
from games.actions.play import play_move
from games.queries import Viewer
from games.refusals import temporary_refusal
from nomercy.database.base import DatabaseWrapper
from tests.support.tables import NOON, TWO_HANDS, table_at


@pytest.fixture
def kept(transactional_db: None) -> DatabaseWrapper:
    """The open connection of the tests, with health checks on."""
    connection.ensure_connection()
    ours = connections["default"]
    assert isinstance(ours, DatabaseWrapper)
    assert ours.settings_dict["CONN_HEALTH_CHECKS"]
    return ours


def address() -> dict[str, Any]:
    """Return the parameters for another connection to the same database."""
    at = connection.get_connection_params()
    return {name: at.get(name) for name in ("host", "port", "user", "password", "dbname")}


def somebody_else(statement: LiteralString, *parameters: object) -> None:
    """Send a statement on another connection."""
    with psycopg.connect(**address(), autocommit=True) as other:
        other.execute(statement, parameters)


def test_an_idle_connection_is_usable_without_a_query(kept: DatabaseWrapper) -> None:
    def asked(*_: object) -> None:
        raise AssertionError("a statement was sent")

    with connection.execute_wrapper(asked):
        assert kept.is_usable()


def test_a_closed_connection_is_replaced(kept: DatabaseWrapper, alice: User) -> None:
    before = kept.connection.info.backend_pid
    somebody_else("SELECT pg_terminate_backend(%s, 5000)", before)  # as a restart does; answers once it has gone
    assert not kept.is_usable()
    vars(kept)["health_check_done"] = False  # as at the start of a request
    assert read_user(alice.pk) == alice
    assert kept.connection.info.backend_pid != before


def test_a_connection_with_an_unread_notification_is_kept(kept: DatabaseWrapper) -> None:
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


def test_a_fixed_statement_is_prepared(kept: DatabaseWrapper, alice: User) -> None:
    for _ in range(8):
        assert read_user(alice.pk) == alice
    with prepared_cursor() as cursor:
        cursor.execute("SELECT statement FROM pg_prepared_statements WHERE generic_plans + custom_plans > 1")
        assert [statement for (statement,) in cursor.fetchall() if "FROM accounts_user u" in statement]


def test_a_hanging_transaction_loses_its_locks(transactional_db: None, alice: User, bob: User) -> None:
    game = table_at(TWO_HANDS, [alice, bob]).game
    timeouts = "-c idle_in_transaction_session_timeout=200"
    with psycopg.connect(**address(), options=timeouts) as hanging:
        hanging.execute("SELECT FROM games_game WHERE id = %s FOR UPDATE", [game.pk])
        play_move(
            code=game.code, viewer=Viewer(alice), text="play r5", version=0, now=NOON
        )  # waits for the lock until then
        with pytest.raises(IdleInTransactionSessionTimeout):
            hanging.execute("SELECT 1")


def hang() -> None:
    """Do nothing in a transaction for longer than PostgreSQL allows, and go on."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL idle_in_transaction_session_timeout = 1")
        last_words = select.poll()
        last_words.register(connection.connection.fileno(), select.POLLIN)
        assert last_words.poll(20_000)
        cursor.execute("SELECT 1")


def test_an_idle_transaction_timeout_is_a_temporary_fault(transactional_db: None) -> None:
    with pytest.raises((InternalError, OperationalError)) as caught:
        hang()
    denied = temporary_refusal(caught.value)
    assert denied is not None
    # On a busy machine the connection may be cut before PostgreSQL's last words are read.
    assert denied.code == ("busy" if isinstance(caught.value, InternalError) else "unavailable")
    connection.close_if_unusable_or_obsolete()  # as at the end of a request
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
