"""`manage.py restore`: put a backup into the database, with its games stopped and its mail held."""

from __future__ import annotations

from argparse import ArgumentParser
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from common.interrupts import uninterrupted
from games.management.commands.freeze import unreadable_games, unreadable_open_tables
from games.staff.words import counted
from nomercy.backup.command import add_reading_options, known_passphrase, one_sentence
from nomercy.backup.manifest import FALLBACKS, KEY, site_settings
from nomercy.backup.site import Restored, load
from nomercy.checks import Environment
from nomercy.launcher.place import EmbeddedError, place_for, store_secret_key


class Command(BaseCommand):
    help = (
        "Restores a backup into an empty database, in one transaction, and brings it up to this release. Stops its"
        " games and holds its mail until `manage.py release`."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE")
        parser.add_argument("--replace", action="store_true", help="delete the accounts and games that are there")
        parser.add_argument("--other-site", action="store_true", help="the backup is of a site with another SITE_URL")
        add_reading_options(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        path: Path = options["file"]
        with ExitStack() as stack:
            with one_sentence("Nothing was changed."):
                passphrase = known_passphrase(path, options)
                restored = load(
                    path,
                    passphrase=passphrase,
                    replace=options["replace"],
                    other_site=options["other_site"],
                    now=timezone.now(),
                    before_commit=lambda: stack.enter_context(uninterrupted()),
                )
            self._finish(restored, path)

    def _finish(self, restored: Restored, path: Path) -> None:
        """Store the key, and then say what was restored: nobody may read that any more.

        :raises CommandError: a part of the site could not be restored.
        """
        faults = []
        stored = False
        try:
            stored = self._store_key(restored.manifest.settings[KEY])
        except (EmbeddedError, OSError) as error:
            faults.append(f"The database is restored, but not its secret key: {error}. {advice(path)}")
        self.tell(restored)
        self._compare_settings(restored.manifest.settings, path, key_stored=stored)
        self.stdout.write(
            "Start the site and look at it, at manage.py check_games and at manage.py health. If people played on after"
            " the backup was made, they know hidden cards: release with --deal-again. If this is the copy that counts,"
            " run: manage.py release"
        )
        if restored.frozen.failed:
            faults.append(unreadable_games(restored.frozen.failed, "stopped", "freeze"))
        if restored.unreadable:
            faults.append(unreadable_open_tables(restored.unreadable))
        if faults:
            raise CommandError(" ".join(faults))

    def tell(self, restored: Restored) -> None:
        self.stdout.write(f"Restored {restored.rows} rows of {restored.manifest.site_url}, {restored.manifest.made}.")
        if restored.upgraded:
            self.stdout.write(f"{counted(restored.upgraded, 'migration', 'migrations')} brought them to this release.")
        self.stdout.write(f"{counted(restored.frozen.count, 'game is', 'games are')} stopped and mail is held.")

    def _store_key(self, key: str) -> bool:
        """Store the key where an embedded site reads it, and return True if that was needed.

        :raises EmbeddedError: the key cannot be stored.
        :raises OSError: the key cannot be stored.
        """
        needed = settings.EMBEDDED and key != settings.SECRET_KEY and not Environment().text(KEY)
        if needed:
            store_secret_key(place_for(), key)
        return needed

    def _compare_settings(self, found: dict[str, str], path: Path, *, key_stored: bool) -> None:
        """Say which settings are not those of the backup."""
        here = site_settings()
        if key_stored:
            self.stdout.write("The secret key of the backup is stored, too.")
            here[KEY] = found[KEY]
        keys = {here[KEY], *here.get(FALLBACKS, "").split(",")}
        if found[KEY] not in keys:
            self.stdout.write(
                f"{KEY} here is not that of the backup. Without it everybody is logged out, links in sent mails are"
                f" invalid, and second factors cannot be read. Set it, or put it into {FALLBACKS}. {advice(path)}"
            )
        others = [name for name in sorted(found) if name != KEY and found[name] != here.get(name)]
        if others:
            self.stdout.write(f"These settings are not those of the backup: {', '.join(others)}. {advice(path)}")


def advice(path: Path) -> str:
    """Return how to get the settings of a backup."""
    return f"To get its settings, run: manage.py verify_backup {path} --write-settings NEW_FILE"
