"""Restore a backup: in one transaction, so that either everything is restored or nothing is changed."""

from collections.abc import Callable, Iterator
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from django.conf import settings
from django.core.management.sql import emit_post_migrate_signal
from django.db import DEFAULT_DB_ALIAS, connection, transaction
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

import nomercy
from common.schema import TOO_OLD, is_newer, is_too_old
from games.actions import restore as frozen_sites
from games.batch import BatchResult
from nomercy.backup import manifest, tables
from nomercy.backup.archive import DAMAGED
from nomercy.backup.encryption import BackupError
from nomercy.backup.manifest import Manifest

Parts = Iterator[tuple[str, bytes]]


class Restored(NamedTuple):
    """The result of `load`."""

    manifest: Manifest
    rows: int
    upgraded: int  # migrations applied after the rows were there
    frozen: BatchResult
    unreadable: list[int]  # open tables
    left_out: list[str]  # tables of the backup that its release does not have


def load(
    path: Path,
    *,
    passphrase: str,
    replace: bool,
    other_site: bool,
    now: datetime,
    before_commit: Callable[[], object],
) -> Restored:
    """Restore a backup into the database, bring it up to this release, stop its games and hold its mail.

    :param replace: whether accounts and games that are there may be deleted.
    :param other_site: whether the backup may be of a site with another `SITE_URL`.
    :param before_commit: called last before everything is changed at once.
    :raises BackupError: the backup or the database does not fit. Nothing is changed.
    :raises OSError: the file cannot be read. Nothing is changed.
    :raises Error: the database failed. Nothing is changed.
    """
    contents = manifest.verify(path, passphrase=passphrase)
    _require_known(contents)
    both_default = manifest.SITE_URL not in {**contents.settings, **manifest.site_settings()}
    if contents.site_url != settings.SITE_URL and not other_site and not both_default:
        raise BackupError(
            f"The backup is of the site {contents.site_url}, and SITE_URL is {settings.SITE_URL}. If that is meant, run"
            " this again with --other-site."
        )
    with transaction.atomic():
        _require_free(replace=replace)
        tables.drop_all()
        _check_constraints()
        _migrate(contents)
        left_out = _compare(contents)
        rows = _fill(contents, manifest.read(path, passphrase=passphrase)[1], set(left_out))
        upgraded = _upgrade()
        frozen = frozen_sites.freeze_restored(now=now)
        unreadable = frozen_sites.unreadable_open_tables()
        before_commit()
    return Restored(contents, rows, upgraded, frozen, unreadable, left_out)


def _require_known(contents: Manifest) -> None:
    """Refuse a backup of newer code, and of code before f8c9a292.

    :raises BackupError: no migration of the code here leads from it to this release.
    """
    known = MigrationLoader(None).disk_migrations or {}
    names = {app: {name for own, name in known if own == app} for app, _ in known}
    unknown = sorted((app, name) for app, name in contents.migrations if is_newer(name, names.get(app, ())))
    if unknown:
        app, name = unknown[0]
        raise BackupError(
            f"The backup was made by newer code (release {contents.version}) than the code here (release"
            f" {nomercy.__version__}), which does not have the migration {app}.{name}. Install the code that made it,"
            " or newer code."
        )
    if is_too_old(contents.migrations):
        raise BackupError(f"The site of the backup {TOO_OLD} Restore it there first.")


def _require_free(*, replace: bool) -> None:
    """Refuse to restore into a database that is in use or has something to lose.

    :raises BackupError: as said.
    """
    others = tables.other_connections()
    if others:
        raise BackupError(
            f"The database is in use by {others} other connection{'s' if others > 1 else ''}. Stop every process of the"
            " site except PostgreSQL, and run this again."
        )
    if tables.has_people_or_games() and not replace:
        raise BackupError(
            "The database has accounts or games. Restore into an empty one, or delete them with --replace: make a"
            " backup of them first."
        )


def _migrate(contents: Manifest) -> None:
    """Make the tables as they were in the release of the backup.

    :raises BackupError: the migrations of this release do not lead there.
    """
    executor = MigrationExecutor(connection)
    nodes = executor.loader.graph.node_map
    # A backup of f8c9a292 also records older migrations, which the first ones here have replaced.
    wanted = nodes.keys() & contents.migrations
    targets = [
        node
        for node in sorted(wanted)
        if not any(child.key in wanted and child.key[0] == node[0] for child in nodes[node].children)
    ]
    executor.migrate(targets)
    if set(MigrationRecorder(connection).applied_migrations()) != wanted:
        raise BackupError(
            "The backup has migrations in another order than this release. Restore it with its own release."
        )


def _compare(contents: Manifest) -> list[str]:
    """Return the tables of the backup that the site does not have here. Those of other programs are not looked at.

    :raises BackupError: a table that is in both has other columns.
    """
    here = {name: columns for name, columns in tables.columns().items() if tables.is_ours(name)}
    for name, columns in contents.tables.items():
        if name in here and set(columns) != set(here[name]):
            raise BackupError(f"The table {name} has other columns in the backup. Restore it with its own release.")
    return [name for name in contents.tables if name not in here]


def _fill(contents: Manifest, parts: Parts, left_out: set[str]) -> int:
    """Put the rows of the backup into the tables, and return their number.

    :raises BackupError: the file has changed since it was verified.
    """
    with connection.cursor() as cursor:
        cursor.execute(tables.PLAIN)
        cursor.execute("SET CONSTRAINTS ALL DEFERRED")  # tables come in the order of their names
    tables.delete_rows(filter(tables.is_ours, tables.columns()))
    rows = 0
    for name, own in groupby(parts, lambda part: part[0].split("/")[1] if part[0].startswith("tables/") else ""):
        if name not in contents.tables:
            raise BackupError(DAMAGED)
        if name not in left_out:
            rows += tables.copy_in(name, contents.tables[name], (data for _, data in own))
    for table, column, last, used in contents.sequences:
        if table not in left_out:
            tables.set_sequence(table, column, last, used)
    _check_constraints()
    return rows


def _check_constraints() -> None:
    """Check all constraints now, and later ones at once. PostgreSQL alters no table that still has checks to come."""
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")


def _upgrade() -> int:
    """Apply the migrations that the backup does not have, and return their number."""
    executor = MigrationExecutor(connection)
    targets = executor.loader.graph.leaf_nodes()
    plan = executor.migration_plan(targets)
    executor.migrate(targets, plan=plan)
    emit_post_migrate_signal(verbosity=0, interactive=False, db=DEFAULT_DB_ALIAS)
    return len(plan)
