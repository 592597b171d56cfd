"""Fixed SQL for what every request reads: planned once a connection, and built once from the models' own fields.

The ORM builds each statement anew, and PostgreSQL plans it anew; both cost several times the answer (bench/request.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, TypeVar

from django.db import connection
from django.db.backends.postgresql.base import ServerBindingCursor as _ServerBindingCursor
from django.db.models import Model

from accounts.models import User

if TYPE_CHECKING:
    from django.db.backends.utils import CursorWrapper

ServerBindingCursor: Any = _ServerBindingCursor  # its stub lacks what psycopg's cursor takes
M = TypeVar("M", bound=Model)


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


class Selected:
    """What a fixed SELECT gives, read by name: whole rows of models, and single values.

    `models` are the models and the aliases of their tables. `values` are the names of other values, and their SQL.
    `str()` gives the list of columns for the statement.
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

    def one(self, cursor: CursorWrapper) -> Row | None:
        """Return the next row of what was executed, or None."""
        row = cursor.fetchone()
        return None if row is None else Row(self, row)

    def all(self, cursor: CursorWrapper) -> list[Row]:
        """Return the rows of what was executed."""
        return [Row(self, row) for row in cursor.fetchall()]


class Row:
    """A row of a `Selected` statement."""

    __slots__ = ("_row", "_selected")

    def __init__(self, selected: Selected, row: Sequence[Any]) -> None:
        self._selected, self._row = selected, row

    def __getitem__(self, name: str) -> Any:
        """Return a single value."""
        return self._row[self._selected._values[name]]

    def values(self) -> dict[str, Any]:
        """Return all single values by name."""
        return {name: self._row[n] for name, n in self._selected._values.items()}

    def instance(self, model: type[M]) -> M:
        """Make an instance of a model from its columns."""
        its_columns, read = self._selected._models[model]
        made: M = read(self._row[its_columns])
        return made


def _reader(model: type[M]) -> Callable[[Sequence[Any]], M]:
    """Return a function from the values of all columns of a model to an instance."""
    fields = model._meta.concrete_fields
    names = [field.attname for field in fields]
    converters = [(n, field.from_db_value) for n, field in enumerate(fields) if hasattr(field, "from_db_value")]

    def read(values: Sequence[Any]) -> M:
        row = list(values)
        for n, convert in converters:
            row[n] = convert(row[n], None, connection)
        return model.from_db(connection.alias, names, row)

    return read


_USER: Final = Selected({User: "u"})
_USER_SQL: Final = f"SELECT {_USER} FROM accounts_user u WHERE u.id = %s"  # noqa: S608  # columns of a model


def read_user(pk: int) -> User | None:
    """Return the user with this number, or None."""
    with prepared() as cursor:
        cursor.execute(_USER_SQL, [pk])
        row = _USER.one(cursor)
    return None if row is None else row.instance(User)
