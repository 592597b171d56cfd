"""Measure the CPU time of a move request, through the real middleware.

    .venv/bin/python -m bench.request [--moves 300] [--profile | --against /path/to/other/checkout]

It takes the move of a logged-in person as HTMX posts it, fragment included, from the WSGI environment to the bytes of
the answer, and the CPU time of PostgreSQL's process. CPU time depends little on how busy the machine is. `--profile`
shows where ours goes. `--against` measures another checkout in turn, and prints the ratio of the medians.
"""

from __future__ import annotations

import argparse
import cProfile
import io
import pstats
import random
import resource
import statistics
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from bench.compare import compare
from bench.replica import CSRF, Replica, bench_database, cookies_of, move_request, new_replica


def environ_of(path: str, body: bytes, cookies: str) -> dict[str, Any]:
    """Return the WSGI environment of a request."""
    return {
        "REQUEST_METHOD": "POST",
        "PATH_INFO": path,
        "SCRIPT_NAME": "",
        "QUERY_STRING": "",
        "SERVER_NAME": "127.0.0.1",
        "SERVER_PORT": "8000",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "REMOTE_ADDR": "127.0.0.1",
        "HTTP_HOST": "127.0.0.1:8000",
        "HTTP_COOKIE": cookies,
        "HTTP_X_CSRFTOKEN": CSRF,
        "HTTP_HX_REQUEST": "true",
        "CONTENT_TYPE": "application/x-www-form-urlencoded",
        "CONTENT_LENGTH": str(len(body)),
        "wsgi.url_scheme": "http",
        "wsgi.input": io.BytesIO(body),
        "wsgi.errors": io.StringIO(),
        "wsgi.multithread": False,
        "wsgi.multiprocess": True,
        "wsgi.run_once": False,
        "wsgi.version": (1, 0),
    }


def cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


_tables = count()


def seated() -> tuple[Replica, dict[int, str]]:
    """Create a table. Return it and the cookies of its people."""
    replica = new_replica(next(_tables))
    return replica, {user.pk: cookies_of(user) for user in replica.users}


def cpu_of(pid: int) -> float:
    """Return the CPU seconds of another process so far."""
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9


def measure(moves: int, profile: cProfile.Profile | None) -> tuple[list[float], list[float], int]:
    """Return the CPU seconds of each move request, here and in PostgreSQL, and the mean size of an answer."""
    from django.db import connection

    from nomercy.wsgi import application

    taken: list[float] = []
    theirs: list[float] = []
    size, replica, cookies = 0, *seated()
    while len(taken) < moves:
        user, move, version = replica.next_move()
        path, fields = move_request(replica.code, move, version)
        environ = environ_of(path, urlencode(fields).encode(), cookies[user.pk])
        statuses: list[str] = []
        if profile:
            profile.enable()
        connection.ensure_connection()
        backend = connection.connection.info.backend_pid
        began, started = cpu_of(backend), cpu()
        response = application(environ, lambda status, headers, into=statuses: into.append(status))
        body = b"".join(response)
        response.close()
        took = cpu() - started
        if profile:
            profile.disable()
        assert statuses == ["200 OK"], body
        if replica.position.phase != "over":  # else the request dealt a round as well
            taken.append(took)
            theirs.append(cpu_of(backend) - began)
            size += len(body)
        if not replica.catch_up():
            replica, cookies = seated()
    return taken, theirs, size // len(taken)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--moves", type=int, default=300)
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--against", type=Path, help="another checkout, measured in turn with this one")
    arguments = parser.parse_args()
    if arguments.against:
        moves, milliseconds = ["--moves", str(arguments.moves)], r"process *:.* median ([\d.]+)"
        compare("bench.request", moves, arguments.against, figure=milliseconds)
        return
    with bench_database():
        from games import randomness

        randomness.source = random.Random(1)  # the same games every time
        measure(50, None)
        profile = cProfile.Profile() if arguments.profile else None
        taken, theirs, size = measure(arguments.moves, profile)
    for name, seconds in (("this process", taken), ("PostgreSQL", theirs)):
        mean, median = (of(seconds) * 1000 for of in (statistics.mean, statistics.median))
        print(f"CPU a move request, {name:12}: mean {mean:.2f} ms, median {median:.2f} ms")
    print(f"answer: {size:,} bytes")
    if profile:
        told = pstats.Stats(profile)
        told.sort_stats("cumulative").print_stats(110)
        told.sort_stats("tottime").print_stats(50)


if __name__ == "__main__":
    main()
