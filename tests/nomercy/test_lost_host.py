"""PostgreSQL on several hosts: the URL, parameters of connections, a server that takes no writes, and `prepare`."""

from __future__ import annotations

import os
import socketserver
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from django.conf import settings
from django.core.management import call_command
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client

from accounts.models import User
from nomercy.checks import Environment
from nomercy.database.base import DatabaseWrapper
from nomercy.launcher.place import CHECKOUT
from tests.nomercy.test_checks import read_settings
from tests.support.database import migrated_database
from tests.support.stack import database_url
from tests.support.tables import TWO_HANDS, table_at

SERVERS = "postgres://u:p%40@h1:5432,h2:5433/name"


def options(url: str) -> dict[str, Any]:
    """Return the parameters that connections get with this URL."""
    found: dict[str, Any] = read_settings(DATABASE_URL=url, SECRET_KEY="k" * 40)["DATABASES"]["default"]["OPTIONS"]
    return found


@pytest.mark.parametrize(
    ("url", "host", "port"),
    [
        (SERVERS, "h1,h2", "5432,5433"),
        ("postgres://u:p%40@h1,h2:5433/name", "h1,h2", ",5433"),
        ("postgres://u:p%40@[::1]:5432,[::2]/name", "::1,::2", "5432,"),
        ("postgres://u:p%40@h1/name", "h1", ""),
        ("postgres://u:p%40@%2Fvar%2Frun/name", "/var/run", ""),
    ],
)
def test_a_url_may_have_several_hosts(monkeypatch: pytest.MonkeyPatch, url: str, host: str, port: str) -> None:
    monkeypatch.setenv("DATABASE_URL", url)
    found = Environment().database("DATABASE_URL")
    assert [found[name] for name in ("HOST", "PORT", "USER", "PASSWORD", "NAME")] == [host, port, "u", "p@", "name"]


@pytest.mark.parametrize("url", ["postgres://u:hidden@h1:5432,h2:port/name", "postgres://u:hidden@h1,[h2/name"])
def test_a_wrong_one_of_several_hosts_is_refused(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.setenv("DATABASE_URL", url)
    with pytest.raises(SystemExit, match="DATABASE_URL must look like"):
        Environment().database("DATABASE_URL")


def test_a_host_that_vanishes_is_given_up_in_seconds() -> None:
    found = options(SERVERS)
    waits = found["keepalives_idle"] + found["keepalives_interval"] * found["keepalives_count"]
    assert max(waits * 1000, found["tcp_user_timeout"]) <= 11_000
    assert found["target_session_attrs"] == "read-write"


def test_parameters_of_the_url_win() -> None:
    found = options(f"{SERVERS}?tcp_user_timeout=7&target_session_attrs=any&options=-c%20lock_timeout%3D9")
    assert (int(found["tcp_user_timeout"]), found["target_session_attrs"]) == (7, "any")
    assert found["options"].startswith("-c lock_timeout=2000 ")
    assert found["options"].endswith(" -c lock_timeout=9")  # the last one counts


@pytest.fixture
def read_only(transactional_db: None) -> Iterator[None]:
    """Let the server of Django's connection take no writes any more, as one that has become a standby."""
    with connection.cursor() as cursor:
        cursor.execute("SET default_transaction_read_only = on")
    yield
    connection.close()


def test_a_move_on_a_standby_can_be_tried_again(
    transactional_db: None, alice: User, bob: User, as_alice: Client
) -> None:
    table = table_at(TWO_HANDS, [alice, bob])
    with connection.cursor() as cursor:
        cursor.execute("SET default_transaction_read_only = on")
    url, move = f"/api/v1/games/{table.game.code}/moves", {"move": "draw", "version": table.game.version}
    answer = as_alice.post(url, move, content_type="application/json")
    assert (answer.status_code, answer.headers["Retry-After"], answer.json()["error"]) == (503, "2", "unavailable")
    assert not connection.is_usable(), "the next request connects again"
    connection.close()
    assert as_alice.post(url, move, content_type="application/json").status_code == 200


def test_a_standby_is_not_healthy(read_only: None, client: Client) -> None:
    answer = client.get("/healthz")
    assert (answer.status_code, answer.json()["status"]) == (503, "read only")
    answer = client.get("/readyz")
    assert (answer.status_code, answer.json()["parts"]["database"]) == (503, "read only")


def test_a_server_that_refuses_writes_from_the_start_is_not_healthy(transactional_db: None, client: Client) -> None:
    name = connection.settings_dict["NAME"]
    connection.close()
    with psycopg.connect(database_url(), dbname="postgres", autocommit=True) as server:
        server.execute(f'ALTER DATABASE "{name}" SET default_transaction_read_only = on')
        try:
            with pytest.MonkeyPatch.context() as patch:
                patch.setitem(connection.settings_dict["OPTIONS"], "target_session_attrs", "read-write")
                answer = client.get("/healthz")
        finally:
            server.execute(f'ALTER DATABASE "{name}" RESET default_transaction_read_only')
            connection.close()
    assert (answer.status_code, answer.json()["status"]) == (503, "read only")


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
def test_two_hosts_prepare_at_once() -> None:
    """A migration is missing: those of an empty database would take ten seconds more."""
    with migrated_database("prepared"):
        graph = MigrationLoader(connection, replace_migrations=False).graph
        (newest,) = graph.leaf_nodes("games")
        before = next(node for node in graph.node_map[newest].parents if node.key[0] == "games")
        call_command("migrate", *before.key, verbosity=0)
        environment = os.environ | {"DATABASE_URL": database_url(), "SECRET_KEY": settings.SECRET_KEY * 2}
        command = [sys.executable, "manage.py", "prepare"]
        both = [
            subprocess.Popen(command, cwd=CHECKOUT, env=environment, stderr=subprocess.PIPE, text=True)
            for _ in range(2)
        ]
        said = [one.communicate()[1] for one in both]
        assert [one.returncode for one in both] == [0, 0], said
        assert newest in MigrationRecorder(connection).applied_migrations()


def test_the_host_that_answered_last_is_tried_first(transactional_db: None) -> None:
    """While another host is away, only the first connection of a process waits for it."""
    tried: list[str] = []

    class Away(socketserver.BaseRequestHandler):
        def handle(self) -> None:  # closes the connection
            tried.append("away")

    with socketserver.TCPServer(("127.0.0.1", 0), Away) as away:
        threading.Thread(target=away.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        there = connection.settings_dict
        hosts = {"HOST": f"127.0.0.1,{there['HOST']}", "PORT": f"{away.server_address[1]},{there['PORT']}"}
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(DatabaseWrapper, "used", ("", ""))
            for _ in range(3):
                wrapper = DatabaseWrapper(there | hosts, "default")
                wrapper.connect()
                wrapper.close()
                assert tried == ["away"]
        away.shutdown()
