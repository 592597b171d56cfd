"""`manage.py prepare`: all that a new release needs before its start, in one process, because each takes a second."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import DEFAULT_DB_ALIAS, connections

from common.interrupts import says_if_interrupted


class Command(BaseCommand):
    help = "Runs migrate, freeze --if-restored and, if STATIC_ROOT is set, collectstatic."
    requires_system_checks: list[str] = []  # migrate runs them

    def handle(self, *args: Any, **options: Any) -> None:
        if settings.STATIC_ROOT is not None:
            require_writable(settings.STATIC_ROOT)
        with says_if_interrupted("Stopped before everything was done. Run manage.py prepare again."), alone():
            call_command("migrate", interactive=False, verbosity=0, skip_checks=False)
            call_command("freeze", if_restored=True)
            if settings.STATIC_ROOT is not None:
                call_command("collectstatic", interactive=False, verbosity=0)
        static = f" The static files are in {settings.STATIC_ROOT}." if settings.STATIC_ROOT is not None else ""
        self.stdout.write(f"The database has the tables of this release.{static}")


@contextmanager
def alone() -> Iterator[None]:
    """Wait until no other host prepares the same database, and let none begin until the end of the block."""
    with closing(connections.create_connection(DEFAULT_DB_ALIAS)) as own, own.cursor() as cursor:
        cursor.execute("SET statement_timeout = 0; SET lock_timeout = 0")
        cursor.execute("SELECT pg_advisory_lock(hashtext('manage.py prepare'))")  # held until the connection ends
        yield


def require_writable(root: Path) -> None:
    """Refuse a `STATIC_ROOT` that `collectstatic` could not fill. Makes the folder if it is missing.

    :raises CommandError: no file can be made there.
    """
    try:
        root.mkdir(parents=True, exist_ok=True)
        TemporaryFile(dir=root).close()
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise CommandError(f"STATIC_ROOT is {root}, which cannot be written: {reason}. Nothing was done.") from None
