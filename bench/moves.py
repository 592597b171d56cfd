"""Measure a move: its statements, its transaction against bare psycopg, and moves a second against pgbench.

    .venv/bin/python -m bench.moves [--moves 600] [--seconds 10]
    .venv/bin/python -m bench.moves --against /path/to/other/checkout [--rounds 5] [--seconds 10]

Three figures, each a count or a ratio to a baseline of the same run, on databases that are dropped afterwards:

- statements of a whole move request, session and user included (BEGIN, COMMIT and savepoints not counted);
- `play_move` against the very same statements sent by bare psycopg to a copy of the database;
- moves a second over HTTP from 2 processes of the server for pages, logged in, page fragment included, against the
  transactions a second of pgbench doing seven statements of the same shape (2 clients both).

With `--against` only the third is measured, for two checkouts in turn, so that both see the same machine. It also gives
the CPU time of a move in the server and in PostgreSQL, which depends less on how busy the machine is.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import socket
import statistics
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import urlencode

import psycopg
from psycopg import sql

from nomercy.launcher.place import DATABASE, PORT, ROLE, place_for
from nomercy.launcher.postgres import binaries_for, running

CHECKOUT: Final = Path(__file__).resolve().parents[1]
TICKS: Final = os.sysconf("SC_CLK_TCK")
BENCH, COPY = f"{DATABASE}_bench", f"{DATABASE}_bench_copy"
CLIENTS = 2
WARM_UP: Final = 300
"""Moves that are made before the measurement over HTTP, so that templates are loaded and plans kept."""


def admin(database: str = "postgres") -> psycopg.Connection[Any]:
    return psycopg.connect(host=str(place_for().sockets), port=PORT, user=ROLE, dbname=database, autocommit=True)


def drop_databases() -> None:
    with admin() as connection:
        for name in (BENCH, COPY):
            connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))


@contextmanager
def bench_database() -> Iterator[str]:
    """Create an empty bench database on the embedded server, and give its DATABASE_URL."""
    place = place_for()
    with running(place):
        drop_databases()
        with admin() as connection:
            connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(BENCH)))
        try:
            yield place.url.rsplit("/", 1)[0] + f"/{BENCH}"
        finally:
            drop_databases()


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
    options = lobby.TableOptions(players=2, target=5000)
    code = lobby.create_table(user=users[0], options=options, now=timezone.now()).game.code
    table = lobby.join(code=code, viewer=Viewer(users[1]), now=timezone.now())
    return Replica(table, users, number)


def logged_in(user: Any) -> Any:
    from django.test import Client

    client = Client(headers={"host": "127.0.0.1"})
    client.force_login(user, backend="accounts.backends.ByUsername")
    return client


COUNTED = ("select", "insert", "update", "delete", "with")


def count_statements(replica: Replica) -> int:
    """Return the largest number of statements of 40 move requests."""
    from django.db import connection

    clients = {user.pk: logged_in(user) for user in replica.users}
    most = 0
    for _ in range(40):
        user, move, version = replica.next_move()
        seen: list[str] = []

        def note(execute: Any, statement: str, params: Any, many: bool, context: Any, seen: list[str] = seen) -> Any:
            seen.append(statement)
            return execute(statement, params, many, context)

        with connection.execute_wrapper(note):
            response = clients[user.pk].post(*move_request(replica.code, move, version), headers={"HX-Request": "true"})
        assert response.status_code == 200, response.content
        if replica.position.phase == "over":  # the request dealt a round as well
            break
        most = max(most, sum(statement.lstrip().lower().startswith(COUNTED) for statement in seen))
    return most


def move_request(code: str, move: str, version: int) -> tuple[str, dict[str, str]]:
    return f"/games/{code}/move/", {"move": move, "version": str(version), "token": f"bench-{version}"}


def time_transactions(replica: Replica, moves: int) -> tuple[float, float]:
    """Return the median milliseconds of `play_move`, and of psycopg sending the same statements to a copy."""
    from django.db import connection
    from django.utils import timezone

    from games.actions.play import play_move
    from games.queries import Viewer

    connection.close()
    with admin() as server:
        server.execute(sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(sql.Identifier(COPY), sql.Identifier(BENCH)))
    bare = psycopg.connect(
        host=str(place_for().sockets), port=PORT, user=ROLE, dbname=COPY, cursor_factory=psycopg.ClientCursor
    )
    ours, theirs = [], []
    for _ in range(moves):
        user, move, version = replica.next_move()
        statements: list[tuple[str, Any]] = []

        def note(
            execute: Any, statement: str, params: Any, many: bool, context: Any, log: list[tuple[str, Any]] = statements
        ) -> Any:
            log.append((statement, params))
            return execute(statement, params, many, context)

        with connection.execute_wrapper(note):
            started = time.perf_counter()
            play_move(
                code=replica.code,
                viewer=Viewer(user),
                text=move,
                version=version,
                now=timezone.now(),
                token=f"t{version}",
            )
            took = time.perf_counter() - started
        started = time.perf_counter()
        with bare.transaction(), bare.cursor() as cursor:
            for statement, params in statements:
                cursor.execute(statement, params)
                if cursor.description:
                    cursor.fetchall()
        if replica.position.phase != "over":
            ours.append(took)
            theirs.append(time.perf_counter() - started)
        if not replica.catch_up():
            break
    bare.close()
    return statistics.median(ours) * 1000, statistics.median(theirs) * 1000


PGBENCH = r"""
\set game random(1, :games)
BEGIN;
SELECT id, version, status, round_id FROM games_game WHERE id = :game FOR UPDATE;
SELECT h.id, h.callout_until, r.* FROM games_hand h JOIN games_round r ON r.id = h.round_id JOIN games_game g
    ON g.round_id = r.id WHERE g.id = :game;
INSERT INTO games_move (game_id, round_id, n, seat, text, at, events)
    SELECT id, round_id, version + 1, 0, 'play r5', now(), '[]' FROM games_game WHERE id = :game;
UPDATE games_round SET turn = 1 - turn, state = state
    WHERE id = (SELECT round_id FROM games_game WHERE id = :game);
UPDATE games_game SET version = version + 1, deadline = now() WHERE id = :game;
COMMIT;
"""


def pgbench(games: int, seconds: int) -> float:
    """Return the transactions a second of a move transaction with seven statements."""
    place = place_for()
    with tempfile.NamedTemporaryFile("w", suffix=".sql") as script:
        script.write(PGBENCH)
        script.flush()
        Path(script.name).chmod(0o644)
        program = binaries_for(place) / "pgbench"
        command = [
            str(program),
            "-n",
            "-f",
            script.name,
            "-c",
            str(CLIENTS),
            "-j",
            "1",
            "-T",
            str(seconds),
            "-D",
            f"games={games}",
        ]
        command += ["-h", str(place.sockets), "-p", str(PORT), "-U", ROLE, BENCH]
        output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return float(next(line.split("=")[1].split()[0] for line in output.splitlines() if line.startswith("tps")))


class Load(NamedTuple):
    """What clients that play as fast as possible get from the server for pages.

    `server` and `postgres` are the milliseconds of CPU time that a move takes there.
    """

    moves_a_second: float
    server: float
    postgres: float


def serve_and_load(replicas: list[Replica], seconds: int) -> Load:
    """Play on the server for pages for a number of seconds, one client for each replica."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = ["script/serve", "web", "--bind", f"127.0.0.1:{port}"]
    environment = os.environ | {
        "LOG_LEVEL": "WARNING",
        "PORT": str(port),
        "RATE_LIMITS": "1000000",
        "WEB_CONCURRENCY": "2",
    }
    server = subprocess.Popen(command, env=environment)
    try:
        wait_for(port)
        stop, counts = threading.Event(), [0] * len(replicas)
        with ThreadPoolExecutor(len(replicas)) as clients:
            driven = [clients.submit(drive, replica, port, stop, counts, n) for n, replica in enumerate(replicas)]
            try:
                while sum(counts) < WARM_UP and not any(client.done() for client in driven):
                    time.sleep(0.01)
                roots = server.pid, postmaster()
                before, played, started = [cpu_of_tree(pid) for pid in roots], sum(counts), time.perf_counter()
                wait(driven, timeout=seconds)
                took, made = time.perf_counter() - started, sum(counts) - played
                used = [cpu_of_tree(pid) - so_far for pid, so_far in zip(roots, before, strict=True)]
            finally:
                stop.set()
        for client in driven:
            client.result()
        return Load(made / took, *(1000 * seconds / made for seconds in used))
    finally:
        server.terminate()
        server.wait()


def postmaster() -> int:
    """Return the process of PostgreSQL whose children serve the connections."""
    with admin() as connection:
        return int(_stat(connection.info.backend_pid)[1])


def cpu_of_tree(root: int) -> float:
    """Return the CPU seconds that a process and its descendants have used so far."""
    used = sum(map(int, _stat(root)[11:15])) / TICKS  # with those of children that it has waited for
    for children in Path(f"/proc/{root}/task").glob("*/children"):
        for pid in map(int, children.read_text().split()):
            with suppress(FileNotFoundError, ProcessLookupError):  # it has ended meanwhile
                used += cpu_of_tree(pid)
    return used


def _stat(pid: int) -> list[str]:
    """Return the fields of /proc/<pid>/stat from the third on. The second, a name in brackets, may contain spaces."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def wait_for(port: int) -> None:
    until = time.perf_counter() + 20
    while time.perf_counter() < until:
        try:
            if b"200" in exchange(port, b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")[:20]:
                return
        except ConnectionError:
            time.sleep(0.05)
    raise SystemExit("the server did not answer within 20 seconds")


def exchange(port: int, request: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(request)
        parts = []
        while part := connection.recv(65536):
            parts.append(part)
    return b"".join(parts)


def drive(replica: Replica, port: int, stop: threading.Event, counts: list[int], index: int) -> None:
    """Play one game for both people, one request after the other, until `stop`."""
    cookies = {user.pk: cookies_of(user) for user in replica.users}
    while not stop.is_set():
        user, move, version = replica.next_move()
        path, fields = move_request(replica.code, move, version)
        body = urlencode(fields)
        answer = exchange(port, request_bytes(path, body, cookies[user.pk], port))
        if not answer.startswith(b"HTTP/1.1 200"):
            raise SystemExit(f"the server answered {answer[:300]!r} to {move}")
        counts[index] += 1
        if not replica.catch_up():
            return


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


def request_bytes(path: str, body: str, cookies: str, port: int) -> bytes:
    return (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\nCookie: {cookies}\r\n"
        f"X-CSRFToken: {CSRF}\r\nHX-Request: true\r\nContent-Type: application/x-www-form-urlencoded\r\n"
        f"Content-Length: {len(body)}\r\n\r\n{body}"
    ).encode()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--moves", type=int, default=600)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--against", type=Path, help="another checkout, measured in turn with this one")
    parser.add_argument("--rounds", type=int, default=5, help="how often the two checkouts are measured")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.against is not None:
        compare(arguments.against.resolve(), arguments.rounds, arguments.seconds)
        return
    with bench_database() as url:
        os.environ |= {"DATABASE_URL": url, "DJANGO_SETTINGS_MODULE": "nomercy.settings", "SECRET_KEY": "bench" * 12}
        os.environ["LOG_LEVEL"] = "WARNING"
        import django
        from django.core.management import call_command

        django.setup()
        call_command("migrate", verbosity=0)
        replicas = [new_replica(n) for n in range(2 + CLIENTS)]
        if arguments.here:
            load, transactions = measure_http(replicas[2:], arguments.seconds)
            print(json.dumps([*load, transactions]))
        else:
            report(arguments, replicas)


def compare(other: Path, rounds: int, seconds: int) -> None:
    """Measure moves over HTTP in another checkout and in this one, in turn, and print both and their ratio."""
    checkouts = other, CHECKOUT
    measured: dict[Path, list[list[float]]] = {checkout: [] for checkout in checkouts}
    for _ in range(rounds):
        for checkout in checkouts:
            # This file, so that both are measured in the same way; all that it imports is of the other checkout.
            command = [str(checkout / ".venv/bin/python"), __file__, "--here", "--seconds", str(seconds)]
            environment = os.environ | {"PYTHONPATH": str(checkout)}
            output = subprocess.run(
                command, cwd=checkout, env=environment, stdout=subprocess.PIPE, check=True, text=True
            ).stdout
            *load, transactions = json.loads(output.splitlines()[-1])
            measured[checkout].append(load)
            print(f"{told(Load(*load))}, {load[0] / transactions:.3f} of pgbench  {checkout}", flush=True)
    before, after = (Load(*map(statistics.median, zip(*of, strict=True))) for of in measured.values())
    cpu = (before.server + before.postgres) / (after.server + after.postgres)
    print(f"medians: {told(before)}; {told(after)}")
    print(f"moves a second: x {after.moves_a_second / before.moves_a_second:.2f}; moves a CPU second: x {cpu:.2f}")


def told(load: Load) -> str:
    return f"{load.moves_a_second:.0f} moves/s, CPU a move {load.server:.2f} + {load.postgres:.2f} ms"


def measure_http(replicas: list[Replica], seconds: int) -> tuple[Load, float]:
    """Return what the server for pages carries, and the transactions a second of pgbench."""
    return serve_and_load(replicas, seconds), pgbench(2, seconds)


def report(arguments: argparse.Namespace, replicas: list[Replica]) -> None:
    from django.db import connection

    statements = count_statements(replicas[0])
    print(f"statements a move request: {statements} (at most 12)")
    ours, bare = time_transactions(replicas[1], arguments.moves)
    print(f"transaction: {ours:.2f} ms, bare psycopg {bare:.2f} ms, ratio {ours / bare:.2f} (at most 3.0, goal 1.5)")
    load, transactions = measure_http(replicas[2:], arguments.seconds)
    ratio = load.moves_a_second / transactions
    print(f"over HTTP: {told(load)}; pgbench {transactions:.0f} transactions/s, ratio {ratio:.3f}")
    print("(at least 0.10, goal 0.26)")
    connection.close()


if __name__ == "__main__":
    main()
