"""Writes the database of a release, with games in every phase, for the upgrade tests of later releases.

    .venv/bin/python -m tests.support.release tests/golden/f8c9a292

Run it with the code of the release. It plays each table until it is in the phase that it is named after, adds what
people have besides games, and writes `database.sql` and the records of the finished games.
tests/nomercy/test_upgrade.py upgrades all of them.
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

MADE_AT: Final = datetime(2026, 11, 1, 12, tzinfo=UTC)
SECRET_KEY: Final = "not-used-anywhere-else-" * 2
TOTP_SECRET: Final = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"  # base32; Alice's second factor
IDENTITY: Final = ("https://id.example.org", "bob-at-the-provider")  # the issuer and subject of Bob's OpenID identity
FOREVER: Final = datetime(2100, 1, 1, tzinfo=UTC)
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

PRESETS: Final = {"classic": 12, "flip": 12}
"""Tables with other rules, named after their preset: how many moves are made at them."""


class Release:
    """Makes the tables. Create it after `django.setup()`, because it imports the code of the site."""

    def __init__(self) -> None:
        from django.contrib.auth import get_user_model

        from games import bots, queries, randomness, rules
        from games.actions import lobby, play
        from games.models import Game
        from games.queries import records

        randomness.source = random.Random(1)
        self.rng, self.game = random.Random(16), Game
        self.queries, self.records, self.rules, self.viewer = queries, records, rules, queries.Viewer
        self.lobby, self.play, self.bot = lobby, play, bots.BOTS["careful"]
        make: Any = get_user_model().objects.create_user
        names = ("alice", "bob", "charlie", "dora", "emil", "frida")
        self.users = [make(username=name, email=f"{name}@example.org", password=name) for name in names]

    def fill(self) -> Iterator[tuple[str, str]]:
        """Make every table. Yield the code and the record of each finished game."""
        from accounts.actions import mark_address_verified
        from games.models import Notice

        self.new_table("open", 1, players=4, public=False)
        self.new_table("closed", 1, players=3)
        self.lobby.leave_table(code="closed", viewer=self.viewer(self.users[0]), now=MADE_AT)
        self.new_table("bot", 2, players=4, bots=2)
        for code, (people, shows) in PHASES.items():
            self.new_table(code, people)
            for seat, move in self.line_to(code, shows):
                self.move(code, seat, move)
        for code, (target, stands) in MATCHES.items():
            self.new_table(code, 2, target=target)
            self.play_match(code, stands)
        Notice.objects.all().delete()  # of a thousand moves, which would be half of the file
        for user in self.users:
            mark_address_verified(username=user.username)
        for code, moves in PRESETS.items():
            self.new_table(code, 2, preset=code)
            for _ in range(moves):
                table = self.table(code)
                self.move(code, *self.choice(table.started.position, table.options))
        self.people()
        for code in ("over", "matchover"):
            yield code, self.rules.print_record(self.records.record_of(self.table(code)))

    def people(self) -> None:
        """Make what people have besides games: a guest, sessions, a pause, mails, a second factor and more."""
        from allauth.mfa.totp.internal.auth import TOTP

        from accounts import actions, mails
        from games.actions import pauses
        from games.staff import cases

        alice, bob, charlie = self.users[:3]
        guest = actions.create_guest(name="Hanna")
        made = self.lobby.create_table(user=guest, choices=self.lobby.TableChoices(players=2, bots=1), now=MADE_AT)
        self.game.objects.filter(pk=made.game.pk).update(code="guest")
        self.new_table("paused", 2)
        for user in (alice, bob):
            pauses.ask_pause(code="paused", viewer=self.viewer(user), now=MADE_AT)
        TOTP.activate(alice, TOTP_SECRET)
        for user in (alice, guest):
            self.log_in(user)
        issuer, subject = IDENTITY
        actions.add_identity(user=bob, issuer=issuer, subject=subject)
        mails.notify(kind=mails.PASSWORD_CHANGED, user=charlie, now=MADE_AT)
        text = "Alice shows her cards to Charlie."
        cases.report(code="stack", viewer=self.viewer(bob), seat=0, kind="teaming", text=text, now=MADE_AT)

    def log_in(self, user: Any) -> None:
        """Store a session of this user that never expires."""
        from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY

        from accounts import log_ins
        from accounts.user_agents import UNKNOWN
        from nomercy.sessions import SessionStore

        session = SessionStore()
        session[SESSION_KEY] = str(user.pk)
        session[BACKEND_SESSION_KEY] = "accounts.backends.ByUsername"
        session[HASH_SESSION_KEY] = user.get_session_auth_hash()
        session[log_ins.SINCE] = MADE_AT.isoformat()
        session[log_ins.BROWSER] = UNKNOWN
        row = session.create_model_instance(dict(session.items()))
        row.expire_date = FOREVER
        row.save(force_insert=True)

    def new_table(self, code: str, people: int, **options: Any) -> None:
        users = self.users[:people]
        chosen = self.lobby.TableChoices(**{"players": people, **options})
        made = self.lobby.create_table(user=users[0], choices=chosen, now=MADE_AT)
        self.game.objects.filter(pk=made.game.pk).update(code=code)
        for user in users[1:]:
            self.lobby.join(code=code, viewer=self.viewer(user), now=MADE_AT)

    def table(self, code: str) -> Any:
        return self.queries.load(self.game.objects.get(code=code))

    def move(self, code: str, seat: int, move: Any) -> None:
        version = self.table(code).game.version
        text, user = str(move), self.users[seat]
        self.play.play_move(
            code=code, viewer=self.viewer(user), text=text, version=version, token=f"{version}", now=MADE_AT
        )

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
        os.environ |= {"NOMERCY_ENV_FILE": "", "DATABASE_URL": place.url, "SECRET_KEY": SECRET_KEY}
        os.environ["EMAIL_URL"] = "smtp://mail.example.org"  # without one nobody has mails that wait
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
