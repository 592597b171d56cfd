"""`script/run`: the whole site in one process, and the embedded PostgreSQL.

With `DATABASE_URL` it uses that database, with `REDIS_URL` that Redis.
"""

import asyncio
import errno
import gc
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from importlib import import_module
from typing import IO, TYPE_CHECKING, Any

from channels.layers import InMemoryChannelLayer

from nomercy.checks import LOCAL_HOSTS, Environment, check_static_files, host_of
from nomercy.launcher import postgres
from nomercy.launcher.file_limit import raise_file_limit
from nomercy.launcher.given import require_reachable, require_redis_log_in
from nomercy.launcher.place import (
    CHECKOUT,
    STOP_SIGNALS,
    EmbeddedError,
    kept_secret_key,
    lock_alone,
    open_lock,
    place_for,
    undisturbed,
)
from nomercy.logs import log_start
from nomercy.queues import QUEUES

if TYPE_CHECKING:
    from celery.worker import WorkController

    from nomercy.asgi import Application
    from nomercy.launcher.quiet_server import QuietServer

GOODBYE_SECONDS = 3
DEFAULT_PORTS = {"http": 80, "https": 443}


class ServerLoopLayer(InMemoryChannelLayer):
    """Channels' in-memory layer for senders in any thread. Its queues are used only in the server's event loop."""

    loop: asyncio.AbstractEventLoop | None = None

    async def send(self, channel: str, message: dict[str, Any]) -> None:
        await self._in_server_loop(super().send, channel, message)

    async def group_send(self, group: str, message: dict[str, Any]) -> None:
        await self._in_server_loop(super().group_send, group, message)

    def forget(self, channel: str) -> None:
        """Delete the channel of a closed socket with its unread messages."""
        self.channels.pop(channel, None)

    async def _in_server_loop(self, call: Callable[..., Coroutine[Any, Any, None]], *args: Any) -> None:
        loop = type(self).loop
        if loop is None or loop is asyncio.get_running_loop():
            await call(*args)
        else:
            await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(call(*args), loop))


class Workers:
    """Run Celery's workers, one for each queue, and its beat as threads of this process during a block."""

    def __enter__(self) -> None:
        from celery.beat import Service

        from nomercy.celery import app

        self._app = app
        self._names = {queue: f"{queue}-{os.getpid()}@localhost" for queue in QUEUES}
        workers = [_worker(queue, name) for queue, name in self._names.items()]
        self._beat = Service(app, max_interval=1, scheduler_cls=app.conf.beat_scheduler)
        self._threads = [threading.Thread(target=one.start, name="celery-worker", daemon=True) for one in workers]
        for thread in self._threads:
            thread.start()
        threading.Thread(target=self._beat.start, name="celery-beat", daemon=True).start()

    def __exit__(self, *_: object) -> None:
        from celery.worker import state
        from kombu.exceptions import OperationalError

        self._beat.stop()  # sends no more; its thread may sleep for another second
        try:
            # Threads get no signals. This wakes the workers, which finish their running tasks.
            self._app.control.shutdown(destination=list(self._names.values()))
        except OperationalError:  # no broker: workers read this flag between tries to reconnect
            state.should_stop = os.EX_OK  # type: ignore[assignment]  # the stub has only its first value
        until = time.monotonic() + GOODBYE_SECONDS
        for thread in self._threads:
            thread.join(max(0.0, until - time.monotonic()))


def _worker(queue: str, name: str) -> "WorkController":
    """Return the worker of one queue. It has as many threads as it has processes in production."""
    from celery.worker import WorkController

    from nomercy.celery import new_app

    return WorkController(
        app=new_app(set_as_current=False),
        hostname=name,
        queues=queue,
        pool_cls="threads",
        concurrency=QUEUES[queue],
        loglevel="WARNING",
        without_gossip=True,
        without_mingle=True,
        without_heartbeat=True,
    )


def main() -> None:
    """Serve until a stop signal. A refusal to start is one sentence on standard error."""
    gc.disable()  # Nearly all objects made during the start stay. Checking them would take a fifth of the CPU time.
    raise_file_limit()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "nomercy.settings")
    try:
        with stopped_cleanly() as stack:
            _serve(stack)
    except SystemExit as leaving:
        if leaving.code:
            raise
    # Everything has stopped, except perhaps a thread that waits for a mail server, which may take a minute.
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(os.EX_OK)


@contextmanager
def stopped_cleanly() -> Iterator[ExitStack]:
    """Yield a stack that closes undisturbed at the end of the block, which a stop signal ends.

    :raises SystemExit: a stop signal came, or something cannot be used. Then the reason is one sentence.
    """
    for number in STOP_SIGNALS:
        # Keep nohup's setting. Background jobs of a shell ignore SIGINT too, but there we accept it.
        if number != signal.SIGHUP or signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _leave)
    try:
        with ExitStack() as stack:
            try:
                yield stack
            finally:
                for number in STOP_SIGNALS:  # a second Ctrl-C must not interrupt the stop
                    signal.signal(number, signal.SIG_IGN)
    except EmbeddedError as error:
        sys.exit(str(error))
    except OSError as error:
        sys.exit(f"No Mercy cannot use {error.filename or 'this machine'}: {error.strerror}.")


def _say(sentence: str) -> None:
    sys.stderr.write(f"{sentence}\n")
    sys.stderr.flush()


def _leave(number: int, _: object) -> None:
    if number == signal.SIGHUP:
        signal.raise_signal(signal.SIGTERM)  # uvicorn handles this one
    else:
        raise SystemExit(0)


def _serve(stack: ExitStack) -> None:
    from django.conf import settings

    environment = Environment()
    if not environment.text("DATABASE_URL") and not environment.text("SECRET_KEY"):
        kept_secret_key(place_for())  # the settings read it
    address = settings.SITE_URL
    check_static_files(settings.STATIC_ROOT)
    if not settings.EMBEDDED:
        require_reachable()
    require_redis_log_in()
    for sentence in filter(None, (_wrong_port(), no_proxy())):
        _say(sentence)
    stack.enter_context(only_one_server(address))
    listening = stack.enter_context(listen(settings.HOST, settings.PORT))
    # The pages are loaded while PostgreSQL starts. A signal must come to the main thread, which can hold it back.
    with undisturbed():
        loading = ThreadPoolExecutor(1, thread_name_prefix="loading").submit(import_module, "nomercy.asgi")
    if settings.EMBEDDED:
        stack.enter_context(postgres.kept_up(place_for(), _say))
    loading.result()
    gc.enable()
    migrate()

    async def ready() -> None:
        print(_welcome(address, f"{settings.HOST} port {settings.PORT}", settings.EMAIL_HOST), flush=True)
        # After the first requests, which would wait for them: they take a fifth of a second.
        await asyncio.to_thread(stack.enter_context, Workers())
        log_start("site", queues=sorted(QUEUES))

    asyncio.run(_run(server(whole_site(), ready=ready), listening))


def only_one_server(address: str) -> IO[str]:
    """Return the locked file that keeps a second server out of this checkout. The kernel unlocks it at our end.

    :raises EmbeddedError: another server holds the lock.
    """
    folder = CHECKOUT / "var"
    folder.mkdir(mode=0o755, exist_ok=True)
    file = open_lock(folder / "server.lock")
    if not lock_alone(file):
        with file:
            file.seek(0)
            raise EmbeddedError(f"No Mercy is already running from this folder, at {file.read().strip()}.")
    file.truncate(0)
    file.write(f"{address} (process {os.getpid()})\n")
    file.flush()
    return file


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens there.

    :raises EmbeddedError: the address cannot be used.
    """
    try:
        bound = socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise EmbeddedError(
                f"Another program uses port {port}. Choose another one, like PORT={port + 1} script/run."
            ) from None
        reason = str(error.strerror).partition(" (while ")[0]  # Python adds the address to it
        raise EmbeddedError(f"No Mercy cannot listen on {host} port {port}: {reason}.") from None
    # Accepted connections inherit it. asyncio sets it only on sockets that name their protocol, and without it the
    # second part of an answer waits 40 ms until the client acknowledges the first.
    bound.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return bound


def migrate() -> None:
    from django.core.management import call_command
    from django.db import connection

    from common.schema import migrated, used_by_newer_code, used_by_too_old_code

    if newer := used_by_newer_code():
        _say(newer)
    if not migrated():
        if older := used_by_too_old_code():
            raise EmbeddedError(older)
        with connection.cursor() as cursor:
            cursor.execute("SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0")
        print("Preparing the database ...", flush=True)
        call_command("migrate", interactive=False, verbosity=0)
    call_command("freeze", if_restored=True)
    connection.close()


def whole_site() -> "Application":
    """Return the ASGI application of pages, the API and websockets."""
    from a2wsgi import WSGIMiddleware
    from django.conf import settings

    from nomercy.asgi import Application
    from nomercy.launcher.whole_requests import WholeRequests
    from nomercy.wsgi import application

    # The queue of an answer has no limit, so that no thread waits for a client.
    pages: Any = WSGIMiddleware(application, workers=settings.HTTP_THREADS, send_queue_size=0)  # type: ignore[arg-type]  # its types are narrower than PEP 3333
    return Application(WholeRequests(pages))


def server(application: "Application", *, ready: Callable[[], Awaitable[None]]) -> "QuietServer":
    """Return uvicorn with this application. It awaits `ready` as soon as requests are answered."""
    from django.conf import settings
    from uvicorn import Config

    from nomercy.launcher.quiet_server import QuietServer
    from nomercy.limited_sockets import LimitedSocket

    configuration = Config(
        application,
        http="h11",
        loop="asyncio",
        ws=LimitedSocket,
        lifespan="off",
        log_config=None,
        access_log=False,
        proxy_headers=False,  # accounts/origin.py reads them
        server_header=False,
        h11_max_incomplete_event_size=16_384,
        ws_max_size=1024,
        ws_per_message_deflate=False,
        timeout_keep_alive=75 if settings.BEHIND_PROXY else 5,  # a proxy closes an idle connection first
        timeout_graceful_shutdown=GOODBYE_SECONDS,
    )
    return QuietServer(configuration, stopping=application.waiting_calls.stopping, ready=ready)


async def _run(running: "QuietServer", listening: socket.socket) -> None:
    ServerLoopLayer.loop = asyncio.get_running_loop()
    try:
        await running.serve(sockets=[listening])
    finally:
        ServerLoopLayer.loop = None


def _wrong_port() -> str:
    """Return what is wrong if `SITE_URL` is this machine, but another port than that of this site, else ""."""
    from django.conf import settings

    port = settings.SITE.port or DEFAULT_PORTS[settings.SITE.scheme]
    if host_of(settings.SITE) not in LOCAL_HOSTS or port == settings.PORT or settings.BEHIND_PROXY:
        return ""
    return (
        f"SITE_URL is {settings.SITE_URL}, but No Mercy listens on port {settings.PORT}, so links in mails lead to the"
        f" wrong port. Set PORT={port}, or change SITE_URL."
    )


def no_proxy() -> str:
    """Return what to do if other machines reach this site without a proxy, else ""."""
    from django.conf import settings

    if settings.HOST in LOCAL_HOSTS or settings.HOST == "::1" or settings.BEHIND_PROXY:
        return ""
    return (
        f"HOST is {settings.HOST}, so other machines reach No Mercy without a proxy. That is for a network of your own."
        " On the internet, put nginx in front and set BEHIND_PROXY=1 (docs/operations.md, Behind a proxy)."
    )


def _welcome(address: str, listening: str, mail_host: str) -> str:
    from django.conf import settings

    play = "one click on the front page, no account needed" if settings.GUESTS else "after logging in"
    signing_up = {"open": f"{address}/accounts/signup/", "invite": "by an invitation", "closed": "is closed"}
    mail = f"is sent through {mail_host}" if mail_host else "is shown here and kept in var/mail/"
    return f"""
  No Mercy is running at {address}

  Listens    on {listening}
  Play now   {play}
  Sign up    {signing_up[settings.REGISTRATION]}
  Staff      .venv/bin/python manage.py createsuperuser, then {address}/admin/
  Mail       {mail}

  Ctrl-C stops everything.
"""


if __name__ == "__main__":
    # The settings import this module for its layer, so run that copy and not this script's.
    from nomercy.launcher.embedded import main as importable_main

    importable_main()
