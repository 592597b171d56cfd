"""A database that is not the one of all other tests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection

from nomercy.place import PORT, ROLE, Place


@contextmanager
def database_at(place: Place, name: str) -> Iterator[None]:
    """Make this database the one that Django uses, in every thread of this process, for the length of a block."""
    there = {"HOST": str(place.sockets), "PORT": PORT, "USER": ROLE, "PASSWORD": "", "NAME": name}
    at = connection.settings_dict  # shared by the connections of all threads
    before = {key: at[key] for key in there}
    connection.close()
    at.update(there)
    try:
        yield
    finally:
        connection.close()
        at.update(before)
