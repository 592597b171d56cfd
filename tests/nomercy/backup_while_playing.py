"""Back up a site while people play, lose it, restore, release: only moves after the backup are lost.

Every step is a command of docs/operations.md. The site is a checkout of its own, with its settings in `local.env`.
It takes minutes, so `script/test --all tests/nomercy/backup_while_playing.py` runs it only if it is named.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Self

import pytest
from psycopg import sql

from bench.api_games import Program
from nomercy.launcher.place import DATABASE, Place, place_for
from nomercy.launcher.postgres import connect, running
from nomercy.launcher.programs import system, wheel
from tests.conftest import Figure
from tests.nomercy.conftest import remove
from tests.nomercy.test_embedded import free_port, welcome
from tests.support.waiting import until

pytestmark = pytest.mark.long

MOVES: Final = 20
"""How many moves are made before the backup, and at least after it."""
PATIENCE: Final = 120.0
WAYS: Final = ("next major version", "embedded", "by hand")
"""From the system's PostgreSQL to the wheel's, to a new folder of the same one, and to a server that runs apart."""
PASSPHRASE: Final = "correct horse battery staple"


@dataclass
class Site:
    """A checkout and the environment of its processes."""

    checkout: Path
    port: int
    more: dict[str, str] = field(default_factory=dict)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def environment(self) -> dict[str, str]:
        # Little is logged, because nobody reads the pipe after the start.
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.checkout),
            "RATE_LIMITS": "0",
            "LOG_LEVEL": "WARNING",
            **self.more,
        }

    def manage(self, *arguments: str) -> str:
        """Run `manage.py` and return its output."""
        done = subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=self.checkout, env=self.environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    @contextmanager
    def up(self) -> Iterator[None]:
        """Run `script/run`, without its bootstrap, until the end of the block."""
        command = [sys.executable, "-m", "nomercy.launcher.embedded"]
        with subprocess.Popen(
            command,
            cwd=self.checkout,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            process_group=0,
        ) as process:
            try:
                welcome(process)
                yield
            finally:
                process.send_signal(signal.SIGINT)
                process.communicate()
        assert process.returncode == 0

    def token(self, name: str) -> str:
        return self.manage("create_token", name, "--create").split()[-1]


@dataclass
class Made:
    """An acknowledged move: the version after it, and when its request began and was answered."""

    game: str
    version: int
    asked: float
    answered: float


class Players:
    """Two people who play one game after the other in a thread, as fast as they can."""

    def __init__(self, site: Site, tokens: list[str]) -> None:
        self._people = [Program(site.url, token) for token in tokens]
        self._rng = random.Random(1)
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._play)
        self.made: list[Made] = []

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        self._thread.join()
        for person in self._people:
            person.close()

    def wait_for(self, moves: int) -> None:
        """Wait until so many more moves are made."""
        wanted = len(self.made) + moves
        until("moves are made", lambda: len(self.made) >= wanted, patience=PATIENCE)

    def _play(self) -> None:
        while not self._stopping.is_set():
            host, guest = self._people
            _, table = host.call("POST", "games", {"players": 2, "preset": "no-mercy"})
            guest.call("POST", f"games/{table['id']}/join", {})
            status = "playing"
            while status == "playing" and not self._stopping.is_set():
                for person in self._people:
                    status = self.turn(person, table["id"])["status"]

    def turn(self, person: Program, game: str) -> Any:
        """Make a legal move if there is one. Return the view before it."""
        _, view = person.call("GET", f"games/{game}")
        if view["legal"]:
            asked = time.monotonic()
            body = {"move": self._rng.choice(view["legal"]), "version": view["version"]}
            status, answer = person.call("POST", f"games/{game}/moves", body)
            assert status == 200, answer
            self.made.append(Made(game, answer["version"], asked, time.monotonic()))
        return view


@dataclass
class Kept:
    """Compares the moves that were made with those that a restored site has."""

    site: Site
    token: str
    versions: dict[str, int] = field(default_factory=dict)

    def __call__(self, move: Made) -> bool:
        if move.game not in self.versions:
            with closing(Program(self.site.url, self.token)) as program:
                status, view = program.call("GET", f"games/{move.game}")
            self.versions[move.game] = view["version"] if status == 200 else 0
        return move.version <= self.versions[move.game]


def wipe_embedded(site: Site) -> None:
    remove(place_for(site.checkout))
    with site.up():
        pass


def make_beside(site: Site) -> None:
    """Make the data of the wheel's PostgreSQL beside that of the system's."""
    site.more["POSTGRES"] = "wheel"
    with site.up():
        pass


def wipe_server(place: Place) -> None:
    with connect(place) as server:
        server.execute(sql.SQL("DROP DATABASE {}").format(sql.Identifier(DATABASE)))
        server.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(DATABASE)))


@pytest.mark.postgresql
@pytest.mark.parametrize("way", WAYS)
def test_only_moves_after_the_backup_are_lost(
    checkout: Path, tmp_path: Path, way: str, monkeypatch: pytest.MonkeyPatch, figure: Figure
) -> None:
    with free_port() as port:
        pass
    (checkout / "local.env").write_text(f"PORT={port}\nBACKUP_PASSPHRASE='{PASSPHRASE}'\n")
    (checkout / "local.env").chmod(0o600)
    site, file = Site(checkout, port), str(tmp_path / "site.backup")
    with ExitStack() as stack:
        if way == "by hand":
            server = _server(stack, tmp_path, monkeypatch)
            site.more = {"DATABASE_URL": server.url, "SECRET_KEY": "only for this test " * 3}
        elif way == "next major version":
            ours = wheel()
            assert ours is not None
            if system()[0].major >= ours.major:
                pytest.skip("the system's PostgreSQL is not older than the wheel's")
            site.more = {"POSTGRES": "system"}
        with site.up():
            tokens = [site.token("alice"), site.token("bob")]
            with Players(site, tokens) as players:
                players.wait_for(MOVES)
                begun = time.monotonic()
                site.manage("backup", file)
                ended = time.monotonic()
                players.wait_for(MOVES)
        key = place_for(checkout).beside("secret_key")
        old_key = key.read_text() if way == "embedded" else ""
        if way == "by hand":
            wipe_server(server)
        elif way == "embedded":
            wipe_embedded(site)
        else:
            make_beside(site)

        assert "games are stopped" in (said := site.manage("restore", file)) or "game is stopped" in said
        assert way != "embedded" or key.read_text() == old_key
        with site.up():
            assert site.manage("check_games").endswith(", 0 with faults\n")
            assert "mail goes out again" in site.manage("release")
            kept = Kept(site, tokens[0])
            before = [move for move in players.made if move.answered < begun]
            after = [move for move in players.made if move.asked > ended]
            assert len(before) >= MOVES
            assert len(after) > 0
            assert [move for move in before if not kept(move)] == []
            assert [move for move in after if kept(move)] == []
            saved = sum(map(kept, players.made)) - len(before)
            during = len(players.made) - len(before) - len(after)
            with Players(site, tokens) as again:
                again.wait_for(MOVES)
            assert site.manage("check_games").endswith(", 0 with faults\n")
        figure(f"{len(before)} moves before the backup kept, {saved} of {during} during it, 0 of {len(after)} after it")


def _server(stack: ExitStack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """Run a server of the system's PostgreSQL until the end of `stack`."""
    monkeypatch.setenv("POSTGRES", "system")
    place = place_for(tmp_path / "server")
    if not place.user:
        place.base.parent.parent.mkdir()
    stack.callback(remove, place)
    return stack.enter_context(running(place))
