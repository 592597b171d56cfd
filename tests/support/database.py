"""A database that is not the one of all other tests."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

import psycopg
from django.db import connection
from psycopg import sql

from nomercy.launcher.place import DATABASE, PORT, ROLE, Place
from tests.support.stack import database_url


def database_at(place: Place) -> AbstractContextManager[None]:
    """Make the database of this place the one that Django uses, for the length of a block."""
    return _using(HOST=str(place.sockets), PORT=PORT, USER=ROLE, PASSWORD="", NAME=DATABASE)


@contextmanager
def empty_database(purpose: str) -> Iterator[None]:
    """Make a new database beside that of all tests, for Django to use for the length of a block."""
    name = f"test_nomercy_{os.getpid()}_{purpose}"  # by its number the next run finds it, should this one be killed
    with psycopg.connect(database_url(), dbname="postgres", autocommit=True) as server:
        server.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        try:
            with _using(NAME=name):
                yield
        finally:
            server.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


@contextmanager
def _using(**there: object) -> Iterator[None]:
    at = connection.settings_dict  # shared by the connections of all threads
    before = {key: at[key] for key in there}
    connection.close()
    at.update(there)
    try:
        yield
    finally:
        connection.close()
        at.update(before)
