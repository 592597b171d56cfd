"""Test that the site recovers when parts of the production processes fail. `bench/sockets.py` is a long form.

The benchmark `load` is run here too, on the same processes.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import time
from collections.abc import Awaitable, Iterator
from contextlib import suppress
from datetime import timedelta
from functools import partial
from http.client import HTTPConnection
from urllib.parse import urlencode, urlsplit

import httpx
import pytest
from allauth.account.models import EmailAddress
from django.conf import settings
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoDbBlocker
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Origin

from accounts.models import User
from bench import load
from bench.sockets import FAULTS, measure
from games import queries
from games.actions import lobby
from games.models import Game, Heartbeat, Move, Notice
from games.notices import player_notices
from games.queries import Table
from games.queries.verify import faults_of
from nomercy.queues import MAIL, QUEUES
from tests.conftest import Figure, logged_in
from tests.support import waiting
from tests.support.database import emptied_afterwards
from tests.support.mail import MailServer, serve
from tests.support.stack import RunningStack, stack
from tests.support.tables import TWO_HANDS, table_at

pytestmark = [pytest.mark.nginx, pytest.mark.redis, pytest.mark.django_db(transaction=True), pytest.mark.long]

CSRF = "b" * 32
METRICS_TOKEN = "a-token-for-prometheus"
PATIENCE = 60.0
HOUR = timedelta(hours=1)


@pytest.fixture(scope="module")
def mail_server() -> Iterator[tuple[MailServer, int]]:
    """Run the mail server of the stack. Return it and its port."""
    server = MailServer()
    controller = serve(server)
    yield server, controller.port
    controller.stop()


@pytest.fixture(scope="module")
def running(
    mail_server: tuple[MailServer, int], django_db_setup: None, django_db_blocker: DjangoDbBlocker
) -> Iterator[RunningStack]:
    parts = ["web", "ws", "clock", "worker", "mail", "beat"]
    settings = {
        "DJANGO_SETTINGS_MODULE": "tests.support.patient",  # senders hang until a test is over, however slow it is
        "EMAIL_URL": f"smtp://127.0.0.1:{mail_server[1]}",
        "LOG_LEVEL": "ERROR",
        "METRICS_TOKEN": METRICS_TOKEN,
        "RATE_LIMITS": "1000000",
        "SWEEP_SECONDS": "1",
        "WEB_CONCURRENCY": "1",
    }
    with emptied_afterwards(django_db_blocker), stack(only=parts, **settings) as running:
        yield running


@pytest.fixture(autouse=True)
def on_the_stack(transactional_db: None, running: RunningStack) -> Iterator[None]:
    """Keep the stack away from the database while it is emptied."""
    running.go_on()
    yield
    running.hold()


def cookies_of(browser: Client) -> str:
    session = browser.cookies[settings.SESSION_COOKIE_NAME].value
    return f"{settings.SESSION_COOKIE_NAME}={session}; {settings.CSRF_COOKIE_NAME}={CSRF}"


def post(running: RunningStack, path: str, browser: Client, **form: object) -> tuple[int, float]:
    """Return the status of the answer and how long it took."""
    address = urlsplit(running.url)
    headers = {
        "Cookie": cookies_of(browser),
        "X-CSRFToken": CSRF,
        "Origin": running.url,
        "Content-Type": "application/x-www-form-urlencoded",
    }
    started = time.monotonic()
    connection = HTTPConnection(address.hostname or "", address.port, timeout=PATIENCE)
    try:
        connection.request("POST", path, urlencode(form), headers)
        return connection.getresponse().status, time.monotonic() - started
    finally:
        connection.close()


until = partial(waiting.until, patience=PATIENCE)


def test_pages_recover_and_are_current_after_redis_or_the_socket_server_is_killed(
    running: RunningStack, figure: Figure
) -> None:
    seated = load.seat_people(5)
    some = [fault for fault in FAULTS if fault.name in ("Redis killed", "sockets killed")]

    found = asyncio.run(measure(running.url, seated, moves=5, kill=running.kill, faults=some))

    for one in found:
        figure(one.line())
    assert [one.name for one in found if not one.good] == []


def test_the_benchmark_of_load_says_its_figures(running: RunningStack) -> None:
    found: list[load.Figures] = []

    def somebody_was_told() -> bool:
        found.append(asyncio.run(load.measure(running.url, load.seat_people(2), games=2, seconds=1)))
        return bool(found[-1].messages)

    # After a test in which Redis was away, sockets hear nothing for some seconds.
    until("messages about moves", somebody_was_told)

    assert re.fullmatch(r"2 games: \d+ moves/s; .* 0 errors; CPU: .*", found[-1].line()), (
        found[-1].line(),
        found[-1].errors,
    )
    assert found[-1].moves


def a_table_with_a_bot(person: User) -> Game:
    options = lobby.TableChoices(players=2, bots=1, bot_pause=0.0, target=5000)
    return lobby.create_table(user=person, choices=options, now=timezone.now()).game


def my_turn(game: Game, person: User) -> queries.GameView | None:
    table = queries.load(Game.objects.get(pk=game.pk))
    view = queries.view_of(table, person)
    return view if view.my_turn else None


@pytest.mark.parametrize("away", ["redis-server", "nomercy worker"])
def test_moves_work_while_a_process_hangs_and_bots_catch_up_once(running: RunningStack, alice: User, away: str) -> None:
    games = [a_table_with_a_bot(alice) for _ in range(3)]
    browser = logged_in(alice)
    for game in games:
        until("my turn", lambda game=game: my_turn(game, alice) is not None)  # type: ignore[misc]  # a default to bind it
    pids = running.pids(away)
    assert pids
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        for game in games:
            view = my_turn(game, alice)
            assert view is not None
            move = str(next(move for move in view.legal if move.kind != "catch"))
            status, seconds = post(
                running, f"/games/{game.code}/move/", browser, move=move, version=view.version, token=game.code
            )
            assert (status, seconds < 5.0) == (303, True), seconds
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)
    for game in games:
        until("my turn again", lambda game=game: _settled(game, alice))  # type: ignore[misc]
        assert faults_of(game.pk) == []
        numbers = list(Move.objects.filter(game=game).order_by("n").values_list("n", flat=True))
        assert numbers == list(range(1, len(numbers) + 1))


def _settled(game: Game, person: User) -> bool:
    return my_turn(game, person) is not None or Game.objects.get(pk=game.pk).status != Game.Status.PLAYING


def tell_a_turn(user: User, other: User | str) -> Table:
    """Make a table where this user is on turn and a mail about that is due."""
    now = timezone.now()
    table = table_at(TWO_HANDS, [user, other], deadline=now + HOUR)
    player_notices.deal(table, now=now - HOUR)
    return table


def test_clocks_and_bots_do_not_wait_for_a_mail_server(
    running: RunningStack, mail_server: tuple[MailServer, int], alice: User, bob: User
) -> None:
    server, _ = mail_server
    server.hangs |= {alice.email, bob.email}
    for user in (alice, bob):
        EmailAddress.objects.create(user=user, email=user.email, primary=True, verified=True)
    try:
        tables = []
        for n, user in enumerate((alice, bob)):  # one after the other, so that each gets its own sender
            tables.append(tell_a_turn(user, "careful"))
            until("the mail server asked", lambda n=n: len(server.left) > n)  # type: ignore[misc]
        assert len(server.left) == QUEUES[MAIL]  # every worker that could send hangs now

        Game.objects.update(deadline=timezone.now())
        for table in tables:  # the clock plays for the person, then the bot moves
            until("the bot's move", lambda pk=table.game.pk: Game.objects.get(pk=pk).version >= 2)  # type: ignore[misc]
        heartbeat = Heartbeat.objects.get()
        assert heartbeat.at is not None
        assert timezone.now() - heartbeat.at < timedelta(seconds=settings.SWEEP_GRACE_SECONDS)
        assert Notice.objects.filter(channel="email", state="handed").count() == QUEUES[MAIL]
    finally:
        for pid in running.pids("--queues mail"):  # or the stack would wait for them at its end
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def test_the_metrics_have_the_tasks_that_wait_in_redis(running: RunningStack) -> None:
    answer = httpx.get(f"{running.url}/metrics", headers={"Authorization": f"Bearer {METRICS_TOKEN}"})
    told = [line for line in answer.text.splitlines() if line.startswith("nomercy_queued_tasks{")]
    assert [line.partition("}")[0] for line in told] == [f'nomercy_queued_tasks{{queue="{queue}"' for queue in QUEUES]


def open_socket(running: RunningStack, game: Game, browser: Client) -> Awaitable[ClientConnection]:
    address = f"{running.url.replace('http', 'ws', 1)}/ws/games/{game.code}/"
    return _told(address, running.url, cookies_of(browser))


async def _told(address: str, origin: str, cookies: str) -> ClientConnection:
    socket = await connect(address, origin=Origin(origin), additional_headers={"Cookie": cookies})
    assert "version" in json.loads(await socket.recv())
    return socket


async def frames_until_closed(socket: ClientConnection) -> int:
    frames = 0
    try:
        async with asyncio.timeout(PATIENCE):
            while True:
                await socket.recv()
                frames += 1
    except ConnectionClosed:
        return frames
