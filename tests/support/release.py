"""Writes the database of a release, with games in every phase, for the upgrade tests of later releases.

    .venv/bin/python -m tests.support.release tests/golden/release-0.1

Run it with the code of the release. It plays each table until it is in the phase that it is named after, and writes
`database.sql` and the records of the finished games. tests/nomercy/test_upgrade.py upgrades all of them.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from games.queries import Viewer

MADE_AT: Final = datetime(2026, 11, 1, 12, tzinfo=UTC)
CAREFUL: Final = 0.8
NO_LINES: Final = ("--", "\\", "SET ", "SELECT pg_catalog.set_config")

PHASES: Final[Mapping[str, tuple[int, Callable[[Any], bool]]]] = {
    "play": (2, lambda now: now.phase == "play" and len(now.discard_pile) > 5),
    "drawn": (2, lambda now: now.phase == "drawn"),
    "color": (2, lambda now: now.phase == "choose_color"),
    "stack": (3, lambda now: now.pending is not None and now.pending.total > 4),
    "uno": (2, lambda now: bool(now.exposed)),
    "out": (3, lambda now: bool(now.out) and now.phase == "play"),
    "goingout": (3, lambda now: bool(now.going_out) and now.phase == "play"),
    "reshuffled": (6, lambda now: now.reshuffles > 0 and now.phase == "play"),
    "over": (2, lambda now: now.phase == "over"),
}
"""Tables of a single round: the number of players, and a test for the wanted position."""

MATCHES: Final[Mapping[str, tuple[int, Callable[[Any], bool]]]] = {
    "secondround": (
        5000,
        lambda table: table.started.round.number == 2 and table.game.version > table.started.round.from_version + 3,
    ),
    "betweenrounds": (5000, lambda table: table.started.position.phase == "over"),
    "matchover": (500, lambda table: table.game.status == "over"),
}
"""Tables of a match of two players: its target, and a test for the wanted table."""


class Release:
    """Makes the tables. Create it after `django.setup()`, because it imports the code of the site."""

    def __init__(self) -> None:
        from django.contrib.auth import get_user_model

        from games import bots, queries, rules
        from games.actions import lobby, play
        from games.models import Game
        from games.queries import records

        self.rng, self.game = random.Random(16), Game
        self.queries, self.records, self.rules = queries, records, rules
        self.lobby, self.play, self.bot = lobby, play, bots.BOTS["careful"]
        make: Any = get_user_model().objects.create_user
        names = ("alice", "bob", "charlie", "dora", "emil", "frida")
        self.users = [make(username=name, email=f"{name}@example.org", password=name) for name in names]

    def fill(self) -> Iterator[tuple[str, str]]:
        """Make every table. Yield the code and the record of each finished game."""
        self.new_table("open", 1, players=4, public=False)
        self.new_table("closed", 1, players=3)
        self.lobby.leave_table(code="closed", viewer=Viewer(self.users[0]), now=MADE_AT)
        self.new_table("bot", 2, players=4, bots=2)
        for code, (people, shows) in PHASES.items():
            self.new_table(code, people)
            for seat, move in self.line_to(code, shows):
                self.move(code, seat, move)
        for code, (target, stands) in MATCHES.items():
            self.new_table(code, 2, target=target)
            self.play_match(code, stands)
        for code in ("over", "matchover"):
            yield code, self.rules.print_record(self.records.record_of(self.table(code)))

    def new_table(self, code: str, people: int, **options: Any) -> None:
        users = self.users[:people]
        chosen = self.lobby.TableOptions(**{"players": people, **options})
        made = self.lobby.create_table(user=users[0], options=chosen, now=MADE_AT)
        self.game.objects.filter(pk=made.game.pk).update(code=code)
        for user in users[1:]:
            self.lobby.join(code=code, viewer=Viewer(user), now=MADE_AT)

    def table(self, code: str) -> Any:
        return self.queries.load(self.game.objects.get(code=code))

    def move(self, code: str, seat: int, move: Any) -> None:
        version = self.table(code).game.version
        text, user = str(move), self.users[seat]
        self.play.play_move(code=code, viewer=Viewer(user), text=text, version=version, token=f"{version}", now=MADE_AT)

    def choice(self, position: Any, options: Any) -> tuple[int, Any]:
        """Return a seat and its move, often a careful bot's. Random moves alone reach few phases."""
        seats = range(len(position.hands))
        legal = [(seat, move) for seat in seats for move in self.rules.legal_moves(position, seat, options)]
        own = [move for seat, move in legal if seat == position.turn]
        view = self.rules.view_for(position, position.turn, options)
        careful = self.bot.choose(view, own, self.rng) if self.rng.random() < CAREFUL else None
        if careful is not None:
            return position.turn, careful
        return self.rng.choice([(seat, move) for seat, move in legal if move.kind != "leave"])

    def line_to(self, code: str, shows: Callable[[Any], bool]) -> list[tuple[int, Any]]:
        """Return moves that lead from the deal of a table to the wanted position."""
        table = self.table(code)
        shuffle = self.rules.Shuffler(bytes(table.started.round.secret)).shuffle
        while True:
            position, line = table.started.position, []
            while position.phase != "over":
                seat, move = self.choice(position, table.options)
                position, _ = self.rules.apply(position, seat, move, table.options, shuffle)
                line.append((seat, move))
                if shows(position):
                    return line

    def play_match(self, code: str, stands: Callable[[Any], bool]) -> None:
        next_round = self.play._next_round
        if code == "betweenrounds":  # as if the process had been killed after the last move of a round
            self.play._next_round = lambda table, now: table
        try:
            while not stands(table := self.table(code)):
                self.move(code, *self.choice(table.started.position, table.options))
        finally:
            self.play._next_round = next_round


def main(folder: Path) -> None:
    from nomercy.launcher.place import DATABASE, ROLE, place_for
    from nomercy.launcher.postgres import binaries_for, running
    from tests.nomercy.conftest import remove

    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as checkout, running(place_for(Path(checkout))) as place:
        os.environ |= {"NOMERCY_ENV_FILE": "", "DATABASE_URL": place.url, "SECRET_KEY": "not used anywhere else " * 2}
        os.environ["DJANGO_SETTINGS_MODULE"] = "nomercy.settings"
        import django

        django.setup()
        from django.core.management import call_command
        from django.db import connection

        call_command("migrate", verbosity=0)
        for code, record in Release().fill():
            (folder / f"{code}.txt").write_text(record)
        connection.close()
        program, sockets = str(binaries_for(place) / "pg_dump"), str(place.sockets)
        dump = [program, "-h", sockets, "-U", ROLE, "--no-owner", "--no-privileges", "--rows-per-insert=100", DATABASE]
        said = subprocess.run(dump, capture_output=True, text=True, check=True).stdout
    remove(place)
    lines = [line for line in said.splitlines() if line and not line.startswith(NO_LINES)]
    (folder / "database.sql").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
