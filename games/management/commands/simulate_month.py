"""`manage.py simulate_month`: simulate a month of games and mails, on a fake clock and in a separate database."""

from __future__ import annotations

import logging
import statistics
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connection

from games.models import Game
from games.queries.verify import faults_of


class Command(BaseCommand):
    help = "Simulates a month of games on a fake clock, with the real sweep and mail code, and prints the results."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--games", type=int, default=200)
        parser.add_argument("--days", type=int, default=30)
        parser.add_argument("--seed", type=int, default=1)
        parser.add_argument("--orders", action="store_true", help="everybody has standing orders for forced turns")

    def handle(self, *args: Any, games: int, days: int, seed: int, orders: bool, **options: Any) -> None:
        try:
            from bench.month.month import Month  # noqa: PLC0415  # only in development checkouts
            from bench.month.post import faults_in, follow, mail_server  # noqa: PLC0415
        except ImportError as error:
            raise CommandError("This needs a development checkout: run script/bootstrap dev there first.") from error
        name = connection.settings_dict["NAME"]
        connection.settings_dict["TEST"]["NAME"] = f"{name}_month"
        connection.creation.create_test_db(verbosity=0, autoclobber=True)
        with connection.cursor() as cursor:
            cursor.execute("SET synchronous_commit TO off")  # faster, and the database is deleted afterwards
        logging.disable(logging.INFO)  # a line for each mail and link
        try:
            with mail_server() as server:
                month = Month(games=games, days=days, seed=seed, server=server, orders=orders)
                results = month.run()
            mails = server.mails
            links, broken = follow(mails)
            unsound = {game.code: faults_of(game.pk) for game in Game.objects.all()}
            faults = [*results.faults, *faults_in(mails), *broken]
            faults += [f"{code}: {fault}" for code, found in unsound.items() for fault in found]
            self._print(month, results.lateness, [str(mail["To"]) for mail in mails], days)
            self.stdout.write(f"links followed: {links}; games replayed: {len(unsound)}; seed {seed}")
        finally:
            logging.disable(logging.NOTSET)
            connection.creation.destroy_test_db(str(name), verbosity=0)
        for fault in faults[:50]:
            self.stdout.write(f"FAULT {fault}")
        if faults:
            raise CommandError(f"{len(faults)} faults")
        self.stdout.write(
            "No game stuck, no mail twice, no deadline in the night, every link good, every game replays."
        )

    def _print(self, month: Any, lateness: list[float], readers: list[str], days: int) -> None:
        for line in month.summary():
            self.stdout.write(line)
        if len(lateness) > 1:
            cuts = statistics.quantiles(lateness, n=100)
            self.stdout.write(f"timeouts: {len(lateness)}, lateness p50 {cuts[49]:.1f} s, p99 {cuts[98]:.1f} s")
        each = [readers.count(person.user.email) / days for person in month.people]
        self.stdout.write(
            f"mails: {len(readers)}; a person and day: mean {statistics.mean(each):.2f}, most {max(each):.2f}"
        )
