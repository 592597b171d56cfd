"""Run `pg_dump` and `pg_restore` for the tables of the site, which are those of installed apps in its schema."""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any, Final

from django.apps import apps
from django.db import connection
from psycopg import pq
from psycopg.conninfo import make_conninfo

from nomercy.backup.archive import BackupError
from nomercy.launcher.programs import DEBIAN, wheel

SCHEMA: Final = "SELECT current_schema(), current_setting('search_path')"
RELATIONS: Final = """
SELECT relname, relkind = 'r' FROM pg_class
WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'f', 'S') ORDER BY relname
"""
FUNCTIONS: Final = "SELECT proname FROM pg_proc WHERE pronamespace = current_schema()::regnamespace"
OTHER_CONNECTIONS: Final = """
SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
"""


def major_version() -> int:
    """Return the major version of the server."""
    connection.ensure_connection()
    return int(connection.connection.info.server_version // 10000)


def tables() -> list[str]:
    """Return the names of all tables in the schema of the site."""
    return [name for name, is_table in _rows(RELATIONS) if is_table]


def is_ours(name: str) -> bool:
    """Return True if a table or function of this name belongs to an installed app, in this or another release."""
    # Django's own tables do not all begin with the label of their app.
    return name.startswith(("django_", *(f"{app.label}_" for app in apps.get_app_configs())))


def other_connections() -> int:
    """Return how many other programs are connected to this database."""
    return int(_rows(OTHER_CONNECTIONS)[0][0])


def has_people_or_games() -> bool:
    """Return True if the database has an account or a game."""
    there = {"accounts_user", "games_game"}.intersection(tables())
    return any(_rows(f"SELECT EXISTS (SELECT FROM {table})")[0][0] for table in there)  # noqa: S608


def drop_all() -> None:
    """Drop all tables and functions of the site."""
    functions = [name for (name,) in _rows(FUNCTIONS)]
    with connection.cursor() as cursor:
        for kind, names in (("TABLE", tables()), ("FUNCTION", functions)):
            for name in filter(is_ours, names):
                cursor.execute(f"DROP {kind} {connection.ops.quote_name(name)} CASCADE")


@contextmanager
def dumping() -> Iterator[subprocess.Popen[bytes]]:
    """Yield a `pg_dump` that writes the tables of the site to its standard output.

    :raises BackupError: there is no such program of the server's version, or it fails.
    """
    ((schema, _),) = _rows(SCHEMA)
    left_out = [f"--exclude-table={_only(schema)}.{_only(name)}" for name, _ in _rows(RELATIONS) if not is_ours(name)]
    known = {option.keyword.decode() for option in pq.Conninfo.get_defaults()}  # the others are psycopg's
    given = {name: value for name, value in connection.get_connection_params().items() if name in known}
    hidden = {"PGPASSWORD": password} if (password := given.pop("password", "")) else {}
    options = ["--format=custom", "--encoding=UTF8", f"--schema={_only(schema)}", *left_out]
    with _running("pg_dump", [*options, f"--dbname={make_conninfo(**given)}"], **hidden) as process:
        yield process


def load(dump: IO[bytes]) -> int:
    """Make the tables of a dump with their rows, in the transaction of the site's connection, and return their number.

    The connection has other settings afterwards. Close it after the transaction.

    :raises BackupError: there is no `pg_restore` of the server's version, or it fails.
    :raises Error: the database refuses a statement.
    """
    ((schema, search_path),) = _rows(SCHEMA)
    # It only writes a script: a connection of its own would not be in the transaction.
    options = ["--file=-", f"--schema={schema}", "--no-owner", "--no-privileges", "--no-tablespaces"]
    with _running("pg_restore", options, dump) as process, connection.cursor() as cursor:
        assert process.stdout is not None
        rows = _run_script(process.stdout, cursor)
        cursor.execute("SELECT set_config('search_path', %s, false)", [search_path])
    return rows


def _run_script(script: IO[bytes], cursor: Any) -> int:
    rows, statements = 0, b""
    with connection.wrap_database_errors:
        for line in script:
            if line.startswith(b"COPY ") and line.endswith(b" FROM stdin;\n"):
                cursor.execute(statements.decode())
                statements = b""
                with cursor.copy(line) as copy:
                    # b"" is the end of a script that is cut off: then the program has failed.
                    while (row := script.readline()) not in (b"\\.\n", b""):
                        copy.write(row)
                rows += cursor.rowcount
            elif not line.startswith((b"\\restrict ", b"\\unrestrict ")):  # for psql
                statements += line
        cursor.execute(statements.decode())
    return rows


@contextmanager
def _running(
    name: str, options: list[str], stdin: IO[bytes] | None = None, **environment: str
) -> Iterator[subprocess.Popen[bytes]]:
    command, variables = [_program(name), *options], os.environ | environment | {"LC_ALL": "C"}
    with tempfile.TemporaryFile() as errors:
        with subprocess.Popen(command, stdin=stdin, stdout=subprocess.PIPE, stderr=errors, env=variables) as process:
            try:
                yield process
            except BaseException:
                process.kill()
                raise
        if process.returncode:
            errors.seek(0)
            said = re.sub(rf"^{name}: (error: )?", "", errors.readline().decode(errors="replace").strip())
            raise BackupError(f"{name} failed: {said.rstrip('.') or f'status {process.returncode}'}.")


def _program(name: str) -> str:
    """Return the path of this program of the server's major version, of the machine or else of the wheel.

    :raises BackupError: there is none.
    """
    major, ours = major_version(), wheel()
    machine = (f"{DEBIAN}/{major}/bin/{name}", f"/usr/pgsql-{major}/bin/{name}", shutil.which(name))
    for path in (*machine, f"{ours.folder}/{name}" if ours else None):
        if path and os.access(path, os.X_OK):
            version = subprocess.run([path, "--version"], capture_output=True, text=True, check=False).stdout
            if re.search(rf"\(PostgreSQL\) {major}\b", version):
                return path
    raise BackupError(
        f"The database server is PostgreSQL {major}, and there is no {name} of that version here. Install it (on"
        f" Debian: apt-get install postgresql-client-{major})."
    )


def _only(name: str) -> str:
    """Return a pattern of pg_dump that matches only this name."""
    return '"' + name.replace('"', '""') + '"'


def _rows(query: str) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(query)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
    return rows
