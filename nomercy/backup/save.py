"""Write a backup of the site while people play."""

from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from django.conf import settings
from django.db import connection, transaction
from django.db.migrations.recorder import MigrationRecorder

import nomercy
from nomercy.backup import manifest, tables
from nomercy.backup.archive import Writer
from nomercy.backup.encryption import BackupError
from nomercy.backup.files import new_file
from nomercy.backup.manifest import Manifest

ONE_MOMENT = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"


class Saved(NamedTuple):
    """The result of `save`: the number of tables, the file's size, and the tables that are not the site's."""

    tables: int
    size: int
    left_out: list[str]


def save(path: Path, *, passphrase: str, now: datetime) -> Saved:
    """Write everything that the database has committed at this moment, and the settings, into a new file.

    Only its owner can read the file. It has its name only once it is complete.

    :param passphrase: encrypts the file unless it is empty.
    :raises BackupError: the file exists, or there is no site in the database.
    :raises OSError: the file cannot be written.
    :raises Error: the database failed.
    """
    with new_file(path) as file:
        archive = Writer(file, passphrase=passphrase, now=now)
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(ONE_MOMENT)
            cursor.execute(tables.PLAIN)
            found = tables.columns()
            contents = _manifest({name: found[name] for name in found if tables.is_ours(name)}, now)
            archive.add(manifest.NAME, contents.as_json())
            for name, columns in contents.tables.items():
                for number, part in enumerate(tables.copy_out(name, columns)):
                    archive.add(f"tables/{name}/{number}", part)
        archive.finish()
        size = file.tell()
    return Saved(len(contents.tables), size, [name for name in found if name not in contents.tables])


def _manifest(columns: dict[str, list[str]], now: datetime) -> Manifest:
    migrations = sorted(MigrationRecorder(connection).applied_migrations())
    if not migrations:
        raise BackupError("The database has no site in it. Is the environment of the site loaded (NOMERCY_ENV_FILE)?")
    return Manifest(
        version=nomercy.__version__,
        created=now.isoformat(),
        site_url=settings.SITE_URL,
        postgresql=tables.server_version(),
        migrations=migrations,
        tables=columns,
        sequences=tables.sequences(),
        settings=manifest.site_settings(),
    )
