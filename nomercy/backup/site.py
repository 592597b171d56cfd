"""Make a backup while people play, and restore one in one transaction: everything is restored or nothing is changed."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from django.conf import settings
from django.core.management.sql import emit_post_migrate_signal
from django.db import DEFAULT_DB_ALIAS, connection, transaction
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.recorder import MigrationRecorder

import nomercy
from common.schema import TOO_OLD, is_too_old, newer_than_here
from games.actions import restore as frozen_sites
from games.batch import BatchResult
from nomercy.backup import archive, manifest, postgresql
from nomercy.backup.archive import BackupError
from nomercy.backup.files import new_file
from nomercy.backup.manifest import Manifest


class Saved(NamedTuple):
    """The result of `save`: the number of tables, the file's size, and the tables that are not the site's."""

    tables: int
    size: int
    left_out: list[str]


class Restored(NamedTuple):
    """The result of `load`."""

    manifest: Manifest
    rows: int
    upgraded: int  # migrations applied after the rows were there
    frozen: BatchResult
    unreadable: list[int]  # open tables


def save(path: Path, *, passphrase: str, now: datetime) -> Saved:
    """Write everything that the database has committed at this moment, and the settings, into a new file.

    Only its owner can read the file. It has its name only once it is complete.

    :param passphrase: encrypts the file unless it is empty.
    :raises BackupError: the file exists, there is no site in the database, or `pg_dump` is missing or fails.
    :raises OSError: the file cannot be written.
    :raises Error: the database failed.
    """
    if not MigrationRecorder(connection).applied_migrations():
        raise BackupError("The database has no site in it. Is the environment of the site loaded (NOMERCY_ENV_FILE)?")
    found = postgresql.tables()
    left_out = [name for name in found if not postgresql.is_ours(name)]
    contents = manifest.of_this_site(tables=len(found) - len(left_out), now=now)
    with new_file(path) as file:
        with postgresql.dumping() as dump:
            archive.write(file, contents.as_json(), dump, passphrase, now)
        size = file.tell()
    return Saved(contents.tables, size, left_out)


def verify(path: Path, *, passphrase: str) -> Manifest:
    """Read a backup to its end and return its manifest.

    :raises BackupError: the passphrase is wrong, or the file is damaged or cut off.
    :raises OSError: it cannot be read.
    """
    key = archive.key_of(path, passphrase)
    with archive.decrypted(path, archive.SETTINGS, key) as part:
        contents = manifest.read(part.read())
    with archive.decrypted(path, archive.DUMP, key) as part:
        while part.read(archive.BUFFER):
            pass
    return contents


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
    contents = verify(path, passphrase=passphrase)
    _require_fit(contents, other_site=other_site)
    with transaction.atomic():
        _require_free(replace=replace)
        postgresql.drop_all()
        with archive.decrypted(path, archive.DUMP, archive.key_of(path, passphrase)) as dump:
            rows = postgresql.load(dump)
        _require_known(contents)
        upgraded = _upgrade()
        frozen = frozen_sites.freeze_restored(now=now)
        unreadable = frozen_sites.unreadable_open_tables()
        before_commit()
    connection.close()  # as `postgresql.load` wants
    return Restored(contents, rows, upgraded, frozen, unreadable)


def _require_fit(contents: Manifest, *, other_site: bool) -> None:
    """Refuse a backup of another site, and one of a newer server.

    :raises BackupError: as said.
    """
    both_default = manifest.SITE_URL not in {**contents.settings, **manifest.site_settings()}
    if contents.site_url != settings.SITE_URL and not other_site and not both_default:
        raise BackupError(
            f"The backup is of the site {contents.site_url}, and SITE_URL is {settings.SITE_URL}. If that is meant, run"
            " this again with --other-site."
        )
    if contents.postgresql > (major := postgresql.major_version()):
        raise BackupError(
            f"The backup was made with PostgreSQL {contents.postgresql}, and the database server here is PostgreSQL"
            f" {major}. Restore it into PostgreSQL {contents.postgresql} or newer."
        )


def _require_free(*, replace: bool) -> None:
    """Refuse to restore into a database that is in use or has something to lose.

    :raises BackupError: as said.
    """
    others = postgresql.other_connections()
    if others:
        raise BackupError(
            f"The database is in use by {others} other connection{'s' if others > 1 else ''}. Stop every process of the"
            " site except PostgreSQL, and run this again."
        )
    if postgresql.has_people_or_games() and not replace:
        raise BackupError(
            "The database has accounts or games. Restore into an empty one, or delete them with --replace: make a"
            " backup of them first."
        )


def _require_known(contents: Manifest) -> None:
    """Refuse restored tables of newer code, of code before f8c9a292, and of another schema than that of the database.

    :raises BackupError: no migration of the code here leads from them to this release.
    """
    recorded = MigrationRecorder(connection).applied_migrations()
    if not recorded:
        raise BackupError("The backup has its tables in another schema than this database, so none was found.")
    if unknown := newer_than_here(recorded):
        raise BackupError(
            f"The backup was made by newer code (release {contents.version}) than the code here (release"
            f" {nomercy.__version__}), which does not have the migration {unknown}. Install the code that made it, or"
            " newer code."
        )
    if is_too_old(recorded):
        raise BackupError(f"The site of the backup {TOO_OLD} Restore it there first.")


def _upgrade() -> int:
    """Apply the migrations that the backup does not have, and return their number."""
    executor = MigrationExecutor(connection)
    targets = executor.loader.graph.leaf_nodes()
    plan = executor.migration_plan(targets)
    executor.migrate(targets, plan=plan)
    emit_post_migrate_signal(verbosity=0, interactive=False, db=DEFAULT_DB_ALIAS)
    return len(plan)
