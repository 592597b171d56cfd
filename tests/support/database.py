"""The test database, and additional databases."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from inspect import getsource
from pathlib import Path
from typing import Any, Final

import psycopg
from django.apps import apps
from django.core.management import call_command
from django.db import connection
from psycopg import sql
from pytest_django import DjangoDbBlocker

from games.staff import acts, roles
from mail import site_keys
from nomercy.launcher.place import CHECKOUT, DATABASE, PORT, ROLE, Place
from tests.support.stack import database_url
from tests.support.waiting import until

OF_THIS_CHECKOUT: Final = f"test_template_{hashlib.sha256(os.fsencode(CHECKOUT)).hexdigest()[:12]}"
WRITTEN_BY_MIGRATIONS: Final = {
    "auth_group",
    "auth_group_permissions",
    "auth_permission",
    "django_content_type",
    "mail_sitekey",
}
"""The tables that have rows in a new database."""
EMPTY_THE_AUDIT_LOG: Final = sql.SQL("""
DO $$ BEGIN
    IF EXISTS (SELECT FROM games_auditentry) THEN TRUNCATE games_auditentry; END IF;
END $$
""")
"""Rows of the audit log cannot be deleted (`ONLY_ADDED` in the first migration of `games`), so it is truncated."""
Server = psycopg.Connection[Any]


def database_at(place: Place) -> AbstractContextManager[None]:
    """Let Django use the database of a place until the end of the block."""
    return using_database(HOST=str(place.sockets), PORT=PORT, USER=ROLE, PASSWORD="", NAME=DATABASE)


@contextmanager
def empty_database(purpose: str) -> Iterator[None]:
    """Let Django use a new, empty database until the end of the block."""
    with admin_connection() as server, _new_database(server, _name(purpose)):
        yield


@contextmanager
def copied_database(purpose: str, source: str) -> Iterator[None]:
    """Let Django use a copy of a database that no other process uses until the end of the block."""
    with admin_connection() as server, _new_database(server, _name(purpose), source):
        yield


@contextmanager
def migrated_database(purpose: str = "", *, tablespace: str = "pg_default") -> Iterator[None]:
    """Let Django use a new database with all tables until the end of the block. `purpose` is for one beside the tests'.

    It is a copy of a template that is kept between runs, because migrations take seconds and a copy does not.
    """
    with admin_connection() as server:
        # One process at a time: the first makes the template, which can only be copied while nobody uses it.
        server.execute("SELECT pg_advisory_lock(hashtext(%s))", [OF_THIS_CHECKOUT])
        with _new_database(server, _name(purpose), template_database(server), tablespace):
            server.execute("SELECT pg_advisory_unlock_all()")
            yield


@contextmanager
def emptied_afterwards(blocker: DjangoDbBlocker) -> Iterator[None]:
    """Allow the database in the block, and delete at its end what was written.

    The last tests of a module may be over before its site stops. Other tests follow in the same database.
    """
    with blocker.unblock():
        try:
            yield
        finally:
            empty()


def empty() -> None:
    """Delete all rows except those of a new database.

    Django's `flush` truncates all tables, which takes 50 times as long for a few rows, and deletes those rows too.
    """
    tables = set(connection.introspection.django_table_names(only_existing=True, include_views=False))
    others = sorted(tables - WRITTEN_BY_MIGRATIONS - {"games_auditentry"})
    deletions = [sql.SQL("DELETE FROM {}").format(sql.Identifier(table)) for table in others]
    with connection.cursor() as cursor:
        cursor.execute(sql.SQL(";").join([*deletions, EMPTY_THE_AUDIT_LOG]))


def drop_databases_of_the_dead(url: str) -> None:
    """Drop the databases of test runs that were killed. Their names have the process id of the run."""
    with psycopg.connect(url, autocommit=True) as server:
        for (name,) in server.execute("SELECT datname FROM pg_database WHERE datname ~ '^test_nomercy_[0-9]+'"):
            try:
                os.kill(int(name.split("_")[2]), 0)
            except ProcessLookupError:
                drop(server, name)


def template_database(server: Server) -> str:
    """Return the name of the template for the current migrations. Make it, and drop older ones, if it is missing."""
    name = f"{OF_THIS_CHECKOUT}_{digest_of_migrations()}"
    pattern = OF_THIS_CHECKOUT.replace("_", r"\_") + "%"
    found = [name for (name,) in server.execute("SELECT datname FROM pg_database WHERE datname LIKE %s", [pattern])]
    if name not in found:
        for outdated in found:
            drop(server, outdated)
        unfinished = f"{OF_THIS_CHECKOUT}_unfinished"
        _create(server, unfinished)
        with using_database(NAME=unfinished):
            call_command("migrate", verbosity=0)
        server.execute(
            sql.SQL("ALTER DATABASE {} RENAME TO {}").format(sql.Identifier(unfinished), sql.Identifier(name))
        )
    return name


def digest_of_migrations() -> str:
    """Return a digest of the code of all migrations, and of the acts, roles and key that are written with them."""
    folders = [Path(config.path) / "migrations" for config in apps.get_app_configs()]
    parts = [path.read_bytes() for folder in folders for path in sorted(folder.glob("*.py"))]
    parts += [getsource(module).encode() for module in (acts, roles, site_keys)]
    return hashlib.sha256(b"".join(parts)).hexdigest()[:12]


def vacuum_large_tables() -> None:
    """Free the space of rows that tests have rolled back. Scans of later tests would read them all.

    Does nothing without an open connection.
    """
    if connection.connection is None:
        return
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT oid::regclass::text FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"
            " AND pg_relation_size(oid) > 1000000"
        )
        for (name,) in cursor.fetchall():
            cursor.execute(f"VACUUM (ANALYZE) {name}")


def admin_connection() -> Server:
    return psycopg.connect(database_url(), dbname="postgres", autocommit=True)


def _name(purpose: str) -> str:
    """Return the name of this process's database for the tests, or, with a purpose, of one beside it."""
    own = str(connection.settings_dict["TEST"]["NAME"])
    return f"{own}_{purpose}" if purpose else own


@contextmanager
def _new_database(
    server: Server, name: str, template: str = "template1", tablespace: str = "pg_default"
) -> Iterator[None]:
    _create(server, name, template, tablespace)
    try:
        with using_database(NAME=name):
            yield
    finally:
        drop(server, name)


def _create(server: Server, name: str, template: str = "template1", tablespace: str = "pg_default") -> None:
    database, source, place = map(sql.Identifier, (name, template, tablespace))
    server.execute(sql.SQL("CREATE DATABASE {} TEMPLATE {} TABLESPACE {}").format(database, source, place))
    # Waiting for the disk at each commit takes a third of the time, and test data need not survive a crash.
    server.execute(sql.SQL("ALTER DATABASE {} SET synchronous_commit = off").format(database))


def drop_database(name: str) -> None:
    """Drop a database that a test has made beside its own, if it is there."""
    with admin_connection() as server:
        drop(server, name)


def drop(server: Server, name: str) -> None:
    statement = sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name))

    def dropped() -> bool:
        try:
            server.execute(statement)
        except psycopg.errors.InternalError_ as error:
            # Before it deletes files, the server writes all databases to disk. It cannot while another process tests
            # a full disk (tests/faults/test_disk_full.py).
            if "checkpoint" not in str(error):
                raise
            return False
        return True

    until("dropped", dropped)


@contextmanager
def using_database(**there: object) -> Iterator[None]:
    """Let Django use another database until the end of the block: these settings replace its own, like `NAME`."""
    at = connection.settings_dict  # shared by the connections of all threads
    before = {key: at[key] for key in there}
    connection.close()
    at.update(there)
    try:
        yield
    finally:
        connection.close()
        at.update(before)
