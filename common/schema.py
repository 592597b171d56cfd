"""Whether the database has the tables of this release."""

import re
import time
from collections.abc import Collection, Mapping
from contextlib import closing
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pkgutil import iter_modules
from typing import Final

from django.apps import apps
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

OWN_APPS: Final = ("accounts", "games", "mail")
"""Our apps that have tables."""
FIRST: Final = ("games", "0001_squashed_0065_tables_of_newcomers")
"""The migration that a database has if the code of f8c9a292, or newer code, has migrated it."""
TOO_OLD: Final = (
    "was last used by code before f8c9a292, which this release cannot continue. Start the code of the commit 6b92c576~1"
    " once, then that of f8c9a292, then this release."
)
SECONDS: Final = 5.0
"""How long an answer holds that nothing is missing."""


@dataclass
class Known:
    """Migrations that were all that this release needs, and until when the database is known to have them."""

    enough: frozenset[tuple[str, str]] = frozenset()
    until: float = 0.0

    def forget(self) -> None:
        """Ask the database again."""
        self.enough, self.until = frozenset(), 0.0


known: Final = Known()


def migrated() -> bool:
    """Return True if the database has all migrations of this release. Runs two queries every `SECONDS`.

    They are repeated, because somebody may migrate back or restore an old database while the site runs.
    """
    now = time.monotonic()
    if now < known.until:
        return True
    recorded = frozenset(MigrationRecorder(connections[DEFAULT_DB_ALIAS]).applied_migrations())
    enough = bool(known.enough) and known.enough <= recorded
    if not enough and not has_all(recorded) and _plan():
        return False
    known.enough, known.until = recorded, now + SECONDS
    return True


def what_to_do() -> str:
    """Return the sentence about a database that has not the tables of this release."""
    migrated_once = MigrationRecorder(connections[DEFAULT_DB_ALIAS]).has_table()
    what = "does not have the tables of this release" if migrated_once else "has no tables yet"
    return f"The database {what}. Run manage.py migrate."


def unknown_migration() -> str:
    """Return a migration in the database that the code here does not have, like `games.9999_later`, else "".

    Newer code has used such a database. This asks on a connection of its own, for processes that fork later, and
    without Django's models, because the servers start processes before they load the site.
    """
    own = connections.create_connection(DEFAULT_DB_ALIAS)
    # Not a cursor of Django's, which warns of queries before the site is loaded.
    with own.wrap_database_errors, closing(own.get_new_connection(own.get_connection_params())) as connected:
        if not connected.execute("SELECT to_regclass('django_migrations') IS NOT NULL").fetchone()[0]:
            return ""
        statement = "SELECT app, name FROM django_migrations WHERE app = ANY(%s) ORDER BY 1, 2"
        recorded = connected.execute(statement, [list(OWN_APPS)]).fetchall()
    return _newer(recorded, {app: _modules_of(f"{app}.migrations") for app in OWN_APPS})


def newer_than_here(recorded: Collection[tuple[str, str]]) -> str:
    """Return a recorded migration that the code here, or of its libraries, does not have yet, else ""."""
    return _newer(recorded, {app.label: _migrations_of(app.label) for app in apps.get_app_configs()})


def _newer(recorded: Collection[tuple[str, str]], known: Mapping[str, Collection[str]]) -> str:
    return next((f"{app}.{name}" for app, name in sorted(recorded) if _is_newer(name, known.get(app, ()))), "")


def used_by_newer_code() -> str:
    """Return a sentence if newer code has used the database, else ""."""
    unknown = unknown_migration()
    what = f"The database was used by newer code: the code here does not have its migration {unknown}."
    return f"{what} Install that code, or restore a backup made before it." if unknown else ""


def _is_newer(name: str, known: Collection[str]) -> bool:
    """Return True if a migration with this name comes after these of the same app.

    Databases of f8c9a292 also record the migrations that `0001_squashed_0065_…` has replaced: these are not newer.
    """
    return name not in known and _number(name) > max(map(_number, known), default=0)


def _number(name: str) -> int:
    """Return the highest number of four digits in the name of a migration, or 0."""
    return max(map(int, re.findall(r"\d{4}", name)), default=0)


def is_too_old(recorded: Collection[tuple[str, str]]) -> bool:
    """Return True if these recorded migrations are those of code before f8c9a292, which no migration here continues."""
    return FIRST not in recorded and any(app == FIRST[0] for app, _ in recorded)


def used_by_too_old_code() -> str:
    """Return a sentence if code before f8c9a292 has used the database last, else ""."""
    recorded = MigrationRecorder(connections[DEFAULT_DB_ALIAS]).applied_migrations()
    return f"The database {TOO_OLD}" if is_too_old(recorded) else ""


def has_all(recorded: Collection[tuple[str, str]]) -> bool:
    """Return True if each migration that there is a file of is recorded. No migration is imported."""
    return all((app.label, name) in recorded for app in apps.get_app_configs() for name in _migrations_of(app.label))


def _migrations_of(app_label: str) -> list[str]:
    package, _ = MigrationLoader.migrations_module(app_label)
    return [] if package is None or find_spec(package) is None else _modules_of(package)


def _modules_of(package: str) -> list[str]:
    # The same names as Django's loader takes.
    modules = iter_modules(import_module(package).__path__)
    return [module.name for module in modules if not module.ispkg and module.name[0] not in "_~"]


def _plan() -> list[object]:
    """Return the migrations that `migrate` would apply. It may be none where one replaces others."""
    executor = MigrationExecutor(connections[DEFAULT_DB_ALIAS])
    return list(executor.migration_plan(executor.loader.graph.leaf_nodes()))
