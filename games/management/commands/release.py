"""`manage.py release`: let games and mail go on after `manage.py freeze`."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import Error
from django.utils import timezone

from games.actions import restore
from games.management.commands.freeze import cut_short, left_over


class Command(BaseCommand):
    help = "Lets the games that `freeze` stopped run on with the time they had left, and held mail go out."

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            released = restore.release(now=timezone.now())
        except Error as fault:
            raise CommandError(cut_short(fault, "released", "release")) from fault
        count = released.games.count
        games = "1 game runs" if count == 1 else f"{count} games run"
        self.stdout.write(f"{games} on; mail {'goes out again' if released.mail else 'was not held'}")
        if released.games.failed:
            raise CommandError(left_over(released.games, "released", "release"))
