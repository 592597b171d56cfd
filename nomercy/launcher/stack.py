"""`script/stack`: the production processes on one machine.

It also starts nginx, and PostgreSQL and Redis unless `DATABASE_URL` and `REDIS_URL` name others. A process that ends is
started again. If it ends too often, everything is stopped with one sentence. Nothing is left running.
"""

import asyncio
import logging.config
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Coroutine
from contextlib import AsyncExitStack, ExitStack, suppress
from dataclasses import dataclass, field
from http.client import HTTPConnection
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from django.conf import settings

from nomercy.checks import Environment, refuse
from nomercy.launcher import postgres
from nomercy.launcher.data import kept_secret_key
from nomercy.launcher.given import require_reachable, require_redis_log_in
from nomercy.launcher.listening import listen, raise_file_limit
from nomercy.launcher.place import CHECKOUT, STOP_SIGNALS, EmbeddedError, place_for
from nomercy.launcher.processes import COMMANDS, STOP_SECONDS, nginx_command, nginx_program, redis_command

READY_SECONDS: Final = 120
RESTARTS: Final = 5
"""How often a process may end within `RESTARTS_WITHIN` seconds before the stack gives up."""
RESTARTS_WITHIN: Final = 60.0
PAUSE_SECONDS: Final = 1.0


class StackError(Exception):
    """The stack cannot start or continue. The message is a sentence for the person at the terminal."""


class Stopped(Exception):
    """A stop signal came."""


@dataclass
class Watched:
    """One process, which is restarted when it ends. `ends` are the times at which it ended."""

    name: str
    command: list[str]
    environment: dict[str, str]
    ends: list[float] = field(default_factory=list)
    process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        # In its own session, so that Ctrl-C does not reach it and its children can be killed with it.
        self.process = await asyncio.create_subprocess_exec(
            *self.command, cwd=CHECKOUT, env=self.environment, stdin=asyncio.subprocess.DEVNULL, start_new_session=True
        )

    async def ended(self) -> int:
        """Wait for its end and return its status. Kill its remaining children."""
        assert self.process is not None
        status = await self.process.wait()
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        return status

    async def keep_up(self) -> None:
        """Start it again each time it ends.

        :raises StackError: it ends too often.
        """
        while True:
            status = await self.ended()
            self.ends = [*(end for end in self.ends if end > time.monotonic() - RESTARTS_WITHIN), time.monotonic()]
            if len(self.ends) > RESTARTS:
                raise StackError(f"{self.name} ended {RESTARTS + 1} times within a minute. Its output is above.")
            say(f"{self.name} ended with {status}. It is started again.")
            await asyncio.sleep(PAUSE_SECONDS)
            await self.start()

    async def stop(self) -> None:
        """Send SIGTERM, and kill it after `STOP_SECONDS`."""
        process = self.process
        if process is None:
            return
        with suppress(ProcessLookupError):
            process.terminate()
        try:
            async with asyncio.timeout(STOP_SECONDS):
                await process.wait()
        except TimeoutError:
            say(f"{self.name} did not stop within {STOP_SECONDS} s and is killed.")
            process.kill()
        await self.ended()


def say(sentence: str) -> None:
    sys.stderr.write(f"stack: {sentence}\n")
    sys.stderr.flush()


def main() -> None:
    """Run the stack until a stop signal. A refusal is one sentence on standard error."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "nomercy.settings")
    raise_file_limit()
    stack = Stack()
    for number in STOP_SIGNALS:
        # Keep nohup's setting. Background jobs of a shell ignore SIGINT too, but there we accept it.
        if number != signal.SIGHUP or signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, stack.leave)
    try:
        with ExitStack() as exit_stack:
            try:
                environment = prepare(exit_stack)
                logging.config.dictConfig(settings.LOGGING)
                folder = Path(exit_stack.enter_context(tempfile.TemporaryDirectory(prefix="nomercy-")))
                asyncio.run(stack.run(environment, folder))
            finally:
                for number in STOP_SIGNALS:  # a second Ctrl-C must not interrupt the stop
                    signal.signal(number, signal.SIG_IGN)
    except Stopped:
        pass
    except (EmbeddedError, StackError) as error:
        sys.exit(f"No Mercy stops: {error}")


def prepare(exit_stack: ExitStack) -> dict[str, str]:
    """Return the environment of the processes. Start PostgreSQL if no `DATABASE_URL` is set, until `exit_stack` closes.

    :raises SystemExit: a setting is wrong, or the database of `DATABASE_URL` cannot be used.
    :raises EmbeddedError: PostgreSQL does not start, or the secret key of its data is lost.
    """
    given = Environment()
    own = {"HOST": settings.HOST, "PORT": str(settings.PORT), "SITE_URL": settings.SITE_URL, "BEHIND_PROXY": "1"}
    environment = os.environ | own  # reading the settings has refused wrong ones before anything starts
    if settings.HTTPS:
        refuse("script/stack serves only http on this machine. docs/operations.md says how to run a site with https.")
    if not given.text("REDIS_URL") and not shutil.which("redis-server"):
        refuse("redis-server is not installed. Install it (on Debian: apt-get install redis-server) or set REDIS_URL.")
    if not nginx_program():
        refuse("nginx is not installed. Install it (on Debian: apt-get install nginx-light).")
    require_redis_log_in()
    if given.text("DATABASE_URL"):
        require_reachable()
    else:
        if not given.text("SECRET_KEY"):
            environment["SECRET_KEY"] = kept_secret_key(place_for())
        place = exit_stack.enter_context(postgres.kept_up(place_for(), say))
        environment["DATABASE_URL"] = place.url
    return environment


class Stack:
    """Runs everything except PostgreSQL."""

    def __init__(self) -> None:
        self._stopping = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._watched: list[Watched] = []
        self._watchers: list[asyncio.Task[None]] = []

    def leave(self, number: int, _: object) -> None:
        """Handle a stop signal."""
        if self._loop is None:
            raise SystemExit(128 + number)
        self._loop.call_soon_threadsafe(self._stopping.set)

    async def run(self, environment: dict[str, str], folder: Path) -> None:
        """Start everything, and stop everything at a stop signal.

        :raises StackError: a part cannot start or continue.
        :raises Stopped: a stop signal came.
        """
        self._loop = asyncio.get_running_loop()
        host, port = environment["HOST"], int(environment["PORT"])
        _check_free(host, port)
        async with AsyncExitStack() as exit_stack:
            exit_stack.push_async_callback(self._stop)
            if not Environment().text("REDIS_URL"):
                environment["REDIS_URL"] = await self._start_redis(environment, folder)
            environment["STATIC_ROOT"] = str(folder / "static")
            await self._until_stopped(self._prepare_site(environment))
            await self._start_site(environment, folder)
            nginx = nginx_command(folder, host=host, port=port, per_cent=settings.RATE_LIMITS)
            await self._start(Watched("nginx", nginx, environment))
            await self._until_stopped(_ready(environment))
            say(f"No Mercy is running at {environment['SITE_URL']}. Ctrl-C stops everything.")
            await self._until_stopped(asyncio.Event().wait())

    async def _start_redis(self, environment: dict[str, str], folder: Path) -> str:
        command, url = redis_command(folder)
        await self._start(Watched("redis", command, environment))
        return url

    async def _prepare_site(self, environment: dict[str, str]) -> None:
        watched = Watched("manage.py prepare", [sys.executable, "manage.py", "prepare"], environment)
        self._watched.append(watched)
        await watched.start()
        if await watched.ended() != 0:
            raise StackError(f"{watched.name} failed. Its output is above.")
        self._watched.remove(watched)

    async def _start_site(self, environment: dict[str, str], folder: Path) -> None:
        for name, (program, *arguments) in COMMANDS.items():
            path = program if "/" in program else str(Path(sys.executable).with_name(program))
            listening = ("--bind", f"unix:{folder}/{name}.sock") if name in ("web", "ws") else ()
            await self._start(Watched(name, [path, *arguments, *listening], environment))

    async def _start(self, watched: Watched) -> None:
        self._watched.append(watched)
        await watched.start()
        self._watchers.append(asyncio.create_task(watched.keep_up()))

    async def _until_stopped(self, work: Coroutine[object, object, object]) -> None:
        """Run `work` until it ends, a stop signal comes, or a process ends too often.

        :raises Stopped: a stop signal came.
        :raises StackError: a process ended too often.
        """
        doing = asyncio.create_task(work)
        stopping = asyncio.create_task(self._stopping.wait())
        try:
            await asyncio.wait((doing, stopping, *self._watchers), return_when=asyncio.FIRST_COMPLETED)
            for task in (*self._watchers, doing):
                if task.done():
                    task.result()
            if stopping.done():
                raise Stopped
        finally:
            doing.cancel()
            stopping.cancel()
            await asyncio.gather(doing, stopping, return_exceptions=True)

    async def _stop(self) -> None:
        for task in self._watchers:
            task.cancel()
        await asyncio.gather(*self._watchers, return_exceptions=True)
        last = [watched for watched in self._watched if watched.name in ("redis", "nginx")]
        await asyncio.gather(*(watched.stop() for watched in self._watched if watched not in last))
        for watched in last:  # they are used to the end
            await watched.stop()


def _check_free(host: str, port: int) -> None:
    """Check that nginx can listen there.

    :raises StackError: it cannot.
    """
    try:
        listen(host, port).close()
    except OSError as error:
        raise StackError(f"it cannot listen on {host} port {port}: {error.strerror}.") from None


async def _ready(environment: dict[str, str]) -> None:
    until = time.monotonic() + READY_SECONDS
    while not await asyncio.to_thread(_answers, environment):
        if time.monotonic() > until:
            raise StackError(f"the site does not answer after {READY_SECONDS} s. The output of its processes is above.")
        await asyncio.sleep(0.1)


def _answers(environment: dict[str, str]) -> bool:
    connection = HTTPConnection(environment["HOST"], int(environment["PORT"]), timeout=5)
    try:
        # Not /readyz, which waits for a person after a restore.
        connection.request("GET", "/healthz", headers={"Host": urlsplit(environment["SITE_URL"]).netloc})
        return connection.getresponse().status == 200
    except OSError:
        return False
    finally:
        connection.close()


if __name__ == "__main__":
    main()
