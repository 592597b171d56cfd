"""`manage.py verify_backup`: check that a backup is whole, and get the settings out of it. It needs no database."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any, Final

from django.core.management.base import BaseCommand

from nomercy.backup import manifest
from nomercy.backup.command import OR_ITS_FILE, add_reading_options, known_passphrase, one_sentence
from nomercy.backup.files import new_file
from nomercy.backup.site import verify

ADD_PASSPHRASE: Final = (
    f"The backup was encrypted, but no backup holds its own passphrase. Add {OR_ITS_FILE}, or the next backups are not"
    " encrypted."
)


class Command(BaseCommand):
    help = "Reads a backup to its end and says what it is. Exits 1 if it is damaged or cut off."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE")
        parser.add_argument(
            "--write-settings",
            type=Path,
            metavar="NEW_FILE",
            help="write the site's settings, with the secret key, into a new environment file",
        )
        add_reading_options(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        path: Path = options["file"]
        with one_sentence("Nothing was written." if options["write_settings"] else ""):
            passphrase = known_passphrase(path, options)
            found = verify(path, passphrase=passphrase)
            if options["write_settings"]:
                text = manifest.as_environment_file(found.settings)
                with new_file(options["write_settings"]) as file:
                    file.write((text + (f"# {ADD_PASSPHRASE}\n" if passphrase else "")).encode())
        kind = "encrypted" if passphrase else "not encrypted"
        self.stdout.write(f"{path} is whole and {kind}: {found.site_url}, {found.made}, {found.tables} tables.")
        if options["write_settings"]:
            names = ", ".join(sorted(found.settings))
            self.stdout.write(f"{options['write_settings']} has the settings {names}.")
            if unsafe := manifest.in_comments(found.settings):
                self.stdout.write(
                    f"A shell would run a part of {', '.join(unsafe)}, so the line is a comment. Remove its # if no"
                    " shell reads the file."
                )
            if passphrase:
                self.stdout.write(ADD_PASSPHRASE)
