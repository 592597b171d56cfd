"""`manage.py release`: resume games and mail after `manage.py freeze`."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from games.actions import restore
from games.management.commands.freeze import database_errors, unreadable_games
from games.staff.words import counted


class Command(BaseCommand):
    help = "Resumes the games that `freeze` stopped, with the time they had left, and sends held mail."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--deal-again",
            action="store_true",
            help="void the round in play of each game and deal it again: people who played on after the backup was made"
            " know hidden cards of it",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        again = "release --deal-again" if options["deal_again"] else "release"
        with database_errors("released", again):
            released = restore.release(now=timezone.now(), deal_again=options["deal_again"])
        games = counted(released.games.count, "game runs", "games run")
        self.stdout.write(f"{games} on; mail {'goes out again' if released.mail else 'was not held'}")
        if released.mail:
            self.stdout.write("If this site was restored, mails sent after its backup was made may arrive twice.")
        if released.games.failed:
            raise CommandError(unreadable_games(released.games.failed, "released", again))
        if options["deal_again"] and not released.mail and not released.games.count:
            raise CommandError(
                "Nothing was stopped, so no round was dealt again. To deal now, run manage.py freeze and this again."
            )
