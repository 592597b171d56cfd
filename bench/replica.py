"""A database for a benchmark on the embedded PostgreSQL, and games of two people that a benchmark plays in it."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import psycopg
from psycopg import sql

from nomercy.launcher.place import DATABASE, PORT, ROLE, place_for, secret_key
from nomercy.launcher.postgres import running

BENCH: Final = f"{DATABASE}_bench"


def admin(database: str = "postgres") -> psycopg.Connection[Any]:
    return psycopg.connect(host=str(place_for().sockets), port=PORT, user=ROLE, dbname=database, autocommit=True)


def drop_database() -> None:
    with admin() as connection:
        connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(BENCH)))


@contextmanager
def bench_database(**environment: str) -> Iterator[None]:
    """Create a database on the embedded server, drop it at the end, and set Django up with it and these settings."""
    place = place_for()
    os.environ |= {
        "DATABASE_URL": place.url.rsplit("/", 1)[0] + f"/{BENCH}",
        "DJANGO_SETTINGS_MODULE": "nomercy.settings",
        "SECRET_KEY": secret_key(place),
        "LOG_LEVEL": "WARNING",
        **environment,
    }
    with running(place):
        drop_database()
        with admin() as connection:
            connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(BENCH)))
        import django
        from django.core.management import call_command

        django.setup()
        call_command("migrate", verbosity=0)
        try:
            yield
        finally:
            from django.db import connection as used

            used.close()
            drop_database()


class Replica:
    """A game of two people, replicated in memory, so that choosing the next move runs no query."""

    def __init__(self, table: Any, users: list[Any], seed: int) -> None:
        from games import queries, rules

        self._queries, self._rules = queries, rules
        self.users, self.code = users, table.game.code
        self._rng = random.Random(seed)
        self._follow(table)

    def _follow(self, table: Any) -> None:
        round_, self.position = table.started.round, table.started.position
        self.version, self._options = table.game.version, table.options
        self._shuffle = self._rules.Shuffler(bytes(round_.secret)).shuffle

    def next_move(self) -> tuple[Any, str, int]:
        """Make the next move in the replica. Return who makes it, the move, and the version it is made on."""
        rules, seat, version = self._rules, self.position.turn, self.version
        move = self._rng.choice(rules.legal_moves(self.position, seat, self._options))
        self.position, _ = rules.apply(self.position, seat, move, self._options, self._shuffle)
        self.version += 1
        return self.users[seat], str(move), version

    def catch_up(self) -> bool:
        """Follow the next round after one has ended. Return False once the match is over."""
        if self.position.phase != "over":
            return True
        table = self._queries.load_for(self.code, self._queries.Viewer(self.users[0]))
        self._follow(table)
        return table.game.status == "playing"


def new_replica(number: int) -> Replica:
    from django.contrib.auth import get_user_model
    from django.utils import timezone

    from games.actions import lobby
    from games.queries import Viewer

    make = get_user_model().objects.create_user
    users = [make(username=f"bench-{number}-{side}") for side in "ab"]
    choices = lobby.TableChoices(players=2, target=5000)
    code = lobby.create_table(user=users[0], choices=choices, now=timezone.now()).game.code
    table = lobby.join(code=code, viewer=Viewer(users[1]), now=timezone.now())
    return Replica(table, users, number)


def logged_in(user: Any) -> Any:
    from django.test import Client

    client = Client(headers={"host": "127.0.0.1"})
    client.force_login(user, backend="accounts.backends.ByUsername")
    return client


def move_request(code: str, move: str, version: int) -> tuple[str, dict[str, str]]:
    return f"/games/{code}/move/", {"move": move, "version": str(version), "token": f"bench-{version}"}


CSRF = "b" * 32


def cookies_of(user: Any) -> str:
    """Return the cookies of a browser where this person is logged in and has played before."""
    from django.conf import settings
    from django.core import signing

    from games.staff import browser_marks

    marks = signing.get_cookie_signer(salt=browser_marks.COOKIE + browser_marks.SALT)
    cookies = {
        settings.SESSION_COOKIE_NAME: logged_in(user).cookies[settings.SESSION_COOKIE_NAME].value,
        settings.CSRF_COOKIE_NAME: CSRF,
        browser_marks.COOKIE: marks.sign("bench"),
    }
    return "; ".join(f"{name}={value}" for name, value in cookies.items())
