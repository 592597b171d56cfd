"""Fixed SQL for what every request reads: planned once a connection, and built once from the models' own fields.

The ORM builds each statement anew, and PostgreSQL plans it anew; both cost several times the answer (bench/request.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any, Final, TypeVar

from django.db import connection, models
from django.db.backends.postgresql.base import ServerBindingCursor as _ServerBindingCursor

from accounts.models import User

if TYPE_CHECKING:
    from django.db.backends.utils import CursorWrapper

ServerBindingCursor: Any = _ServerBindingCursor  # its stub lacks what psycopg's cursor takes
M = TypeVar("M", bound=models.Model)


def prepared() -> CursorWrapper:
    """A cursor of Django's connection whose statements PostgreSQL plans once, after a few uses, and keeps.

    It is for a few fixed statements with parameters: each that is different is kept as well.
    """
    ours: Any = connection  # what Django does for `cursor()`, but with its cursor that binds on the server
    ours.close_if_health_check_failed()
    ours.ensure_connection()
    with ours.wrap_database_errors:
        cursor: CursorWrapper = ours._prepare_cursor(ServerBindingCursor(ours.connection))
    return cursor


@contextmanager
def pipelined() -> Iterator[CursorWrapper]:
    """Give a `prepared` cursor that sends statements without waiting for their answers; none may return rows.

    :raises django.db.Error: what PostgreSQL refuses, by the end of the block.
    """
    ours: Any = connection
    with prepared() as cursor, ours.wrap_database_errors, ours.connection.pipeline():
        yield cursor


def columns(model: type[models.Model], alias: str) -> str:
    """The stored columns of a model, for a SELECT whose rows `reader` reads."""
    return ", ".join(f'{alias}."{field.column}"' for field in model._meta.concrete_fields)


@cache
def reader(model: type[M]) -> tuple[int, Callable[[Sequence[Any]], M]]:
    """The number of columns of a model, and a function from their values to an instance."""
    fields = model._meta.concrete_fields
    names = [field.attname for field in fields]
    converters = [(n, field.from_db_value) for n, field in enumerate(fields) if hasattr(field, "from_db_value")]

    def read(values: Sequence[Any]) -> M:
        row = list(values)
        for n, convert in converters:
            row[n] = convert(row[n], None, connection)
        return model.from_db(connection.alias, names, row)

    return len(names), read


_USER: Final = f"SELECT {columns(User, 'u')} FROM accounts_user u WHERE u.id = %s"  # noqa: S608  # columns of a model


def read_user(pk: int) -> User | None:
    """The user with this number, or None."""
    with prepared() as cursor:
        cursor.execute(_USER, [pk])
        row = cursor.fetchone()
    return None if row is None else reader(User)[1](row)
