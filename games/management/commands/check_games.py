"""`manage.py check_games`: replay games from their secrets and logs, and compare with what is stored."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from games.models import Game
from games.queries.verify import faults_of


class Command(BaseCommand):
    help = "Replays all games, or those named, and compares them with what is stored. Exits 1 if anything differs."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("codes", nargs="*", help="codes of games; all games if none is given")

    def handle(self, *args: Any, **options: Any) -> None:
        games = Game.objects.order_by("pk")
        if options["codes"]:
            games = games.filter(code__in=options["codes"])
            missing = set(options["codes"]) - set(games.values_list("code", flat=True))
            if missing:
                raise CommandError(f"there is no game {', '.join(sorted(missing))}")
        checked = faulty = 0
        for pk, code in games.values_list("pk", "code").iterator():
            faults = faults_of(pk)
            checked += 1
            faulty += bool(faults)
            for fault in faults:
                self.stderr.write(f"{code}: {fault}")
        self.stdout.write(f"{checked} games checked, {faulty} with faults")
        if faulty:
            raise CommandError("some stored games do not follow from their logs", returncode=1)
