"""`manage.py freeze`: after a restore, stop every game's clock and hold all mail until `manage.py release`."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from games.actions import restore


class Command(BaseCommand):
    help = "Stops every game as of the last sign of life and holds all mail, until `manage.py release`."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--if-restored", action="store_true", help="only if this database came out of a dump since it last ran"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        now = timezone.now()
        stopped = restore.freeze_if_restored(now=now) if options["if_restored"] else restore.freeze(now=now)
        if stopped is not None:
            self.stdout.write(f"{stopped} games stand still and mail is held, until: manage.py release")
