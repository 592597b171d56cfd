"""`manage.py freeze`: after a restore, stop all clocks and hold all mail until `manage.py release`."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

from django.core.management.base import BaseCommand, CommandError
from django.db import Error
from django.utils import timezone

from common.interrupts import says_if_interrupted
from common.schema import migrated, what_to_do
from games.actions import restore
from games.refusals import does_not_fit
from games.staff.words import counted

SHOWN: Final = 20
"""How many games are named. The log names all that cannot be read."""


class Command(BaseCommand):
    help = "Stops all clocks as of the last sweep and holds all mail, until `manage.py release`."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--if-restored", action="store_true", help="only if this database was restored since it last ran"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        now = timezone.now()
        with database_errors("stopped", "freeze"):
            stopped = restore.freeze_if_restored(now=now) if options["if_restored"] else restore.freeze(now=now)
        if stopped is None:
            return
        games = counted(stopped.count, "game is", "games are")
        self.stdout.write(f"{games} stopped and mail is held, until: manage.py release")
        if not stopped.failed:
            return
        message = unreadable_games(stopped.failed, "stopped", "freeze")
        if not options["if_restored"]:
            raise CommandError(message)
        self.stderr.write(message)  # this runs at every start, and one broken game must not keep the site down


@contextmanager
def database_errors(done: str, command: str) -> Iterator[None]:
    """Say what to do if the block fails or is interrupted before all games are `done`, "stopped" or "released".

    :raises SystemExit: it does not have the tables of this release. Nothing was done.
    :raises CommandError: it failed, others hold the locks of some games, or the block was interrupted.
    :raises ProgrammingError: its tables are missing all the same, for which manage.py has a sentence.
    """
    if not migrated():
        sys.exit(what_to_do())
    again = f"Run manage.py {command} again."
    try:
        with says_if_interrupted(f"Stopped before every game was {done}. {again}"):
            yield
    except restore.StillLocked as found:
        message = f"These games were not {done}, because another process holds locks: {_named(found.games)}."
        unreadable = unreadable_games(found.unreadable, done, command) if found.unreadable else ""
        raise CommandError(f"{message} {again} {unreadable}".rstrip()) from found
    except Error as fault:
        if does_not_fit(fault):
            raise
        cause = str(fault).partition("\n")[0]
        raise CommandError(f"The database failed before every game was {done}: {cause}. {again}") from fault


def unreadable_games(games: Sequence[int], done: str, command: str) -> str:
    """Return what to do about the games that could not be `done`, which is "stopped" or "released"."""
    return (
        f"These games could not be read and were not {done}: {_named(games)}."
        f" See manage.py check_games. When they are repaired, run manage.py {command} again."
    )


def unreadable_open_tables(games: Sequence[int]) -> str:
    """Return what it means that these tables, which wait for players, cannot be read."""
    return f"These open tables could not be read: {_named(games)}. Lists leave them out, and their pages fail."


def _named(games: Sequence[int]) -> str:
    more = len(games) - SHOWN
    return ", ".join(f"game {number}" for number in games[:SHOWN]) + (f" and {more} more" if more > 0 else "")
