"""SQL statements that are fixed when a module is imported, for what every request or move does.

The ORM builds a statement again for each call and PostgreSQL plans it again. Both cost several times what running it
does (bench/request.py). See docs/decisions/0021-fixed-sql-saves-a-move.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from django.db import DEFAULT_DB_ALIAS, connection, connections
from django.db.backends.postgresql.base import ServerBindingCursor as _ServerBindingCursor
from django.db.models import Model
from django.db.models.base import ModelState

if TYPE_CHECKING:
    from django.db.backends.utils import CursorWrapper

ServerBindingCursor: Any = _ServerBindingCursor  # the stub lacks psycopg's parameters
M = TypeVar("M", bound=Model)


def prepared_cursor() -> CursorWrapper:
    """Return a cursor of Django's connection whose statements PostgreSQL prepares after a few uses.

    Use it only for fixed statements with parameters, because each different statement is kept.
    """
    # What Django's `cursor()` does, but with the cursor that binds parameters on the server. `connection` would look
    # up the connection of the thread again for each attribute.
    ours: Any = connections[DEFAULT_DB_ALIAS]
    ours.close_if_health_check_failed()
    ours.ensure_connection()
    with ours.wrap_database_errors:
        cursor: CursorWrapper = ours._prepare_cursor(ServerBindingCursor(ours.connection))
    return cursor


@contextmanager
def pipelined_cursor() -> Iterator[CursorWrapper]:
    """Open a `prepared_cursor` that sends statements without waiting for the answers. None may return rows.

    :raises django.db.Error: PostgreSQL refused a statement; raised by the end of the block.
    """
    ours: Any = connections[DEFAULT_DB_ALIAS]
    with prepared_cursor() as cursor, ours.wrap_database_errors, ours.connection.pipeline():
        yield cursor


class Columns:
    """The columns of a fixed SELECT, whose rows are read by name: instances of models, and single values.

    `models` maps each model to the alias of its table. `values` maps the name of each other value to its SQL.
    `str()` returns the column list for the statement.
    """

    def __init__(self, models: Mapping[type[Model], str], **values: str) -> None:
        self._sql: list[str] = []
        self._models: dict[type[Model], tuple[slice, Callable[[Sequence[Any]], Any]]] = {}
        for model, alias in models.items():
            begin = len(self._sql)
            self._sql += [f'{alias}."{field.column}"' for field in model._meta.concrete_fields]
            self._models[model] = slice(begin, len(self._sql)), _reader(model)
        self._values = {name: len(self._sql) + n for n, name in enumerate(values)}
        self._sql += values.values()

    def __str__(self) -> str:
        return ", ".join(self._sql)

    def fetch_one(self, cursor: CursorWrapper) -> Row | None:
        """Return the next row of the executed statement, or None."""
        row = cursor.fetchone()
        return None if row is None else Row(self, row)

    def fetch_all(self, cursor: CursorWrapper) -> list[Row]:
        """Return the remaining rows of the executed statement."""
        return [Row(self, row) for row in cursor.fetchall()]


class Row:
    """One row of a statement made with `Columns`."""

    __slots__ = ("_columns", "_row")

    def __init__(self, columns: Columns, row: Sequence[Any]) -> None:
        self._columns, self._row = columns, row

    def __getitem__(self, name: str) -> Any:
        """Return the single value of this name."""
        return self._row[self._columns._values[name]]

    def values(self) -> dict[str, Any]:
        """Return all single values by name."""
        return {name: self._row[n] for name, n in self._columns._values.items()}

    def instance(self, model: type[M]) -> M:
        """Return an instance of this model, one of those that `Columns` was made with."""
        part, read = self._columns._models[model]
        made: M = read(self._row[part])
        return made


def _reader(model: type[M]) -> Callable[[Sequence[Any]], M]:
    """Return a function that makes an instance from the values of all columns of this model."""
    fields = model._meta.concrete_fields
    names = [field.attname for field in fields]
    converters = [(field.attname, field.from_db_value) for field in fields if hasattr(field, "from_db_value")]

    def read(values: Sequence[Any]) -> M:
        made = model.__new__(model)  # __init__ takes several times as long, and is for forms, defaults and signals
        made.__dict__.update(zip(names, values, strict=True))
        for name, convert in converters:
            made.__dict__[name] = convert(made.__dict__[name], None, connection)
        made._state = ModelState()
        made._state.adding, made._state.db = False, DEFAULT_DB_ALIAS
        return made

    return read
