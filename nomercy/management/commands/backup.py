"""`manage.py backup`: write the database, the secret key and the settings into one file."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from nomercy.backup.command import add_passphrase_option, new_passphrase, one_sentence
from nomercy.backup.site import save

NOTHING_MADE = "No backup was made."


class Command(BaseCommand):
    help = "Writes the database, the secret key and the settings into a new file. People can play meanwhile."
    requires_system_checks: list[str] = []  # their fault need not be that of the backup

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE")
        parser.add_argument("--encrypt", action="store_true", help="ask for a passphrase if none is given")
        add_passphrase_option(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        with one_sentence(NOTHING_MADE):
            passphrase = new_passphrase(options)
            saved = save(options["file"], passphrase=passphrase, now=timezone.now())
        if saved.left_out:
            self.stderr.write(f"Left out, because they are not tables of the site: {', '.join(saved.left_out)}.")
        self.stdout.write(f"{options['file']} has {saved.tables} tables in {saved.size:,} bytes.")
        if not passphrase:
            self.stdout.write("It is not encrypted and has the secret key: keep it where only you can read it.")
