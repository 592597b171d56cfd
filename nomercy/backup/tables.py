"""Read and write the site's tables as a whole, in PostgreSQL's text format of COPY, which every version reads.

Only the schema that the site uses is looked at, and in it only what belongs to an installed app.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from django.apps import apps
from django.db import connection
from psycopg import sql

PART_BYTES: Final = 4 * 1024 * 1024
PLAIN: Final = "SET LOCAL datestyle = 'ISO, MDY'; SET LOCAL intervalstyle = 'postgres'; SET LOCAL timezone = 'UTC'"
"""Both sides of a copy set this, so that values read the same."""
HERE: Final = "relnamespace = current_schema()::regnamespace"
COLUMNS: Final = f"""
SELECT c.relname, array_agg(a.attname ORDER BY a.attnum)
FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
WHERE c.{HERE} AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
GROUP BY c.relname ORDER BY c.relname
"""  # noqa: S608  # only constants
SEQUENCES: Final = f"""
SELECT s.relname, t.relname, a.attname
FROM pg_class s
JOIN pg_depend d ON d.classid = 'pg_class'::regclass AND d.objid = s.oid AND d.deptype IN ('a', 'i')
JOIN pg_class t ON d.refclassid = 'pg_class'::regclass AND t.oid = d.refobjid
JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = d.refobjsubid
WHERE s.{HERE} AND s.relkind = 'S' ORDER BY t.relname
"""  # noqa: S608  # only constants
FUNCTIONS: Final = "SELECT proname FROM pg_proc WHERE pronamespace = current_schema()::regnamespace"
OTHER_CONNECTIONS: Final = """
SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
"""


def _rows(query: str) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(query)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
    return rows


def is_ours(name: str) -> bool:
    """Return True if a table or function of this name belongs to an installed app, in this or another release."""
    # Django's own tables do not all begin with the label of their app.
    return name.startswith(("django_", *(f"{app.label}_" for app in apps.get_app_configs())))


def server_version() -> int:
    """Return PostgreSQL's version as a number, like 180006."""
    return int(_rows("SHOW server_version_num")[0][0])


def columns() -> dict[str, list[str]]:
    """Return the columns of each table in the schema."""
    return dict(_rows(COLUMNS))


def sequences() -> list[tuple[str, str, int, bool]]:
    """Return each sequence: its table and column, its last value, and whether that was used."""
    return [
        (table, column, *_rows(_text("SELECT last_value, is_called FROM {}", name))[0])
        for name, table, column in _rows(SEQUENCES)
        if is_ours(table)
    ]


def set_sequence(table: str, column: str, last: int, used: bool) -> None:
    """Set the sequence of a column, which may have another name than in the backup."""
    with connection.cursor() as cursor:
        quoted = _text("{}", table)
        cursor.execute("SELECT setval(pg_get_serial_sequence(%s, %s), %s, %s)", [quoted, column, last, used])


def other_connections() -> int:
    """Return how many other programs are connected to this database."""
    (found,) = _rows(OTHER_CONNECTIONS)
    return int(found[0])


def has_people_or_games() -> bool:
    """Return True if the database has an account or a game."""
    return any(
        _rows(_text("SELECT EXISTS (SELECT FROM {})", table))[0][0]
        for table in columns()
        if table in ("accounts_user", "games_game")
    )


def drop_all() -> None:
    """Drop all tables and functions of the site."""
    functions = [name for (name,) in _rows(FUNCTIONS)]
    with connection.cursor() as cursor:
        for name in filter(is_ours, columns()):
            cursor.execute(_text("DROP TABLE {} CASCADE", name))
        for name in filter(is_ours, functions):
            cursor.execute(_text("DROP FUNCTION {} CASCADE", name))


def delete_rows(tables: Iterable[str]) -> None:
    """Delete the rows that migrations have written. Tables that are empty stay untouched."""
    with connection.cursor() as cursor:
        for name in tables:
            if _rows(_text("SELECT EXISTS (SELECT FROM {})", name))[0][0]:
                cursor.execute(_text("DELETE FROM {}", name))


def copy_out(table: str, names: list[str]) -> Iterator[bytes]:
    """Yield the rows of a table in parts of about `PART_BYTES`."""
    waiting = bytearray()
    # Django converts only the errors of its own methods.
    query, wrapped = _copy(table, names, "TO STDOUT"), connection.wrap_database_errors
    with connection.cursor() as cursor, wrapped, cursor.copy(query) as copy:
        for data in copy:
            waiting += data
            if len(waiting) >= PART_BYTES:
                yield bytes(waiting)
                waiting.clear()
    if waiting:
        yield bytes(waiting)


def copy_in(table: str, names: list[str], parts: Iterable[bytes]) -> int:
    """Add rows to a table and return their number."""
    with connection.cursor() as cursor, connection.wrap_database_errors:
        with cursor.copy(_copy(table, names, "FROM STDIN")) as copy:
            for part in parts:
                copy.write(part)
        return int(cursor.rowcount)


def _copy(table: str, names: list[str], direction: str) -> sql.Composed:
    listed = sql.SQL(", ").join(map(sql.Identifier, names))
    return sql.SQL("COPY {} ({}) {}").format(sql.Identifier(table), listed, sql.SQL(direction))


def _text(query: str, name: str) -> str:
    return sql.SQL(query).format(sql.Identifier(name)).as_string()
