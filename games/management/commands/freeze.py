"""`manage.py freeze`: after a restore, stop every game's clock and hold all mail until `manage.py release`."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any, Final

from django.core.management.base import BaseCommand, CommandError
from django.db import Error
from django.utils import timezone

from games.actions import restore
from games.batch import Done
from games.render.words import counted

SHOWN: Final = 20
"""So many broken games are named; the log names them all."""


class Command(BaseCommand):
    help = "Stops every game as of the last sign of life and holds all mail, until `manage.py release`."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--if-restored", action="store_true", help="only if this database came out of a dump since it last ran"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        now = timezone.now()
        try:
            stopped = restore.freeze_if_restored(now=now) if options["if_restored"] else restore.freeze(now=now)
        except Error as fault:
            raise CommandError(cut_short(fault, "stopped", "freeze")) from fault
        if stopped is None:
            return
        games = counted(stopped.count, "game stands", "games stand")
        self.stdout.write(f"{games} still and mail is held, until: manage.py release")
        if not stopped.failed:
            return
        told = left_over(stopped, "stopped", "freeze")
        if not options["if_restored"]:
            raise CommandError(told)
        self.stderr.write(told)  # every start asks: one broken game must not keep the site down


def cut_short(fault: Error, done: str, command: str) -> str:
    """What is to be done when the database failed before all games were `done` so."""
    cause = str(fault).partition("\n")[0]
    return f"The database failed before every game was {done}: {cause}. Run manage.py {command} again."


def left_over(games: Done, done: str, command: str) -> str:
    """What is to be done about the games that could not be `done` so."""
    shown, more = ", ".join(f"game {number}" for number in games.failed[:SHOWN]), len(games.failed) - SHOWN
    return (
        f"Could not be read, and so not {done}: {shown}{f' and {more} more' if more > 0 else ''}."
        f" See manage.py check_games; when that is mended, run manage.py {command} again."
    )
