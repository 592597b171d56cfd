"""Run the processes of Procfile with honcho, and PostgreSQL unless `DATABASE_URL` is set: script/stack [name …]."""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Final
from urllib.parse import quote

from django.conf import settings
from honcho.environ import parse_procfile

from nomercy.checks import Environment, refuse
from nomercy.launcher import postgres
from nomercy.launcher.embedded import listen, stopped_cleanly
from nomercy.launcher.file_limit import raise_file_limit
from nomercy.launcher.given import require_reachable, require_redis_log_in
from nomercy.launcher.place import CHECKOUT, EmbeddedError, kept_secret_key, place_for

PROCFILE: Final = CHECKOUT / "Procfile"
READY_SECONDS: Final = 120


def main(names: list[str]) -> None:
    """Run these processes, or all. A refusal to start is one sentence on standard error."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "nomercy.settings")
    raise_file_limit()
    with stopped_cleanly() as stack:
        environment = services(stack)
        listen(settings.HOST, settings.PORT).close()  # nginx would repeat for ever that it cannot
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="nomercy-")))
        (folder / "nginx.conf").write_text(nginx_configuration(folder))
        environment["STACK"] = str(folder)
        wanted = [*names, "redis", "nginx"] if names else list(parse_procfile(PROCFILE.read_text()).processes)
        if Environment().text("REDIS_URL"):
            wanted.remove("redis")
        else:
            environment["REDIS_URL"] = f"unix://{quote(f'{folder}/redis.sock')}?db=0"
        if not names:
            environment["STATIC_ROOT"] = str(folder / "static")
            prepare = [sys.executable, "manage.py", "prepare"]
            if subprocess.run(prepare, cwd=CHECKOUT, env=environment, check=False).returncode:
                raise EmbeddedError("manage.py prepare failed. Its output is above.")
        run(stack, wanted, environment)


def services(stack: ExitStack) -> dict[str, str]:
    """Return the environment of the processes. Run PostgreSQL until `stack` closes, unless `DATABASE_URL` is set.

    :raises SystemExit: a setting is wrong, the database of `DATABASE_URL` cannot be used, or a program is missing.
    :raises EmbeddedError: PostgreSQL does not start, or the secret key of its data is lost.
    """
    path = f"{Path(sys.executable).parent}:{os.environ.get('PATH', os.defpath)}:/usr/local/sbin:/usr/sbin"
    own = {"PATH": path, "SITE_URL": settings.SITE_URL, "BEHIND_PROXY": "1"}
    given = Environment()
    if settings.HTTPS:
        refuse("script/stack serves only http on this machine. docs/operations.md says how to run a site with https.")
    if not shutil.which("redis-server", path=path) and not given.text("REDIS_URL"):
        refuse("redis-server is not installed. Install it (on Debian: apt-get install redis-server) or set REDIS_URL.")
    if not shutil.which("nginx", path=path):
        refuse("nginx is not installed. Install it (on Debian: apt-get install nginx-light).")
    require_redis_log_in()
    require_reachable()
    if not given.text("DATABASE_URL"):
        if not given.text("SECRET_KEY"):
            own["SECRET_KEY"] = kept_secret_key(place_for())
        own["DATABASE_URL"] = stack.enter_context(postgres.kept_up(place_for(), say)).url
    # honcho would give each process a port of its own in `PORT`, and nginx alone listens at one.
    return {name: value for name, value in os.environ.items() if name != "PORT"} | own


def nginx_configuration(folder: Path) -> str:
    """Write the maps of nginx into this folder, and return its configuration.

    With `RATE_LIMITS` 0 or more than 100, nginx limits no address.
    """
    maps = (CHECKOUT / "docker" / "nginx" / "proxy_maps.conf").read_text()
    if not 0 < settings.RATE_LIMITS <= 100:
        maps = maps.replace("default $binary_remote_addr;", 'default "";')
    (folder / "proxy_maps.conf").write_text(maps)
    text = (CHECKOUT / "docker" / "nginx" / "stack.conf").read_text()
    host = f"[{settings.HOST}]" if ":" in settings.HOST else settings.HOST
    for here, there in (
        ("/run/stack", str(folder)),
        ("/srv/no-mercy", str(CHECKOUT)),
        ("127.0.0.1:8000", f"{host}:{settings.PORT}"),
    ):
        text = text.replace(here, there)
    return text if os.geteuid() else f"user root;\n{text}"  # or its workers could not open the folder


def run(stack: ExitStack, names: list[str], environment: dict[str, str]) -> None:
    """Run these processes until a stop signal, and stop them when `stack` closes.

    :raises EmbeddedError: the site does not answer, or honcho has ended.
    """
    # In its own session, so that Ctrl-C reaches it only once.
    honcho = stack.enter_context(
        subprocess.Popen(
            [str(Path(sys.executable).with_name("honcho")), "start", *names],
            cwd=CHECKOUT,
            env=environment,
            stdout=sys.stderr,
            start_new_session=True,
        )
    )
    stack.callback(honcho.terminate)
    until = time.monotonic() + READY_SECONDS
    while not answers(names):
        if honcho.poll() is not None or time.monotonic() > until:
            raise EmbeddedError("The site does not answer. The output of its processes is above.")
        time.sleep(0.2)
    say(f"No Mercy is running at {settings.SITE_URL}. Ctrl-C stops everything.")
    honcho.wait()
    raise EmbeddedError("A process has ended. Its output is above.")


def answers(names: list[str]) -> bool:
    """Return True if those of the servers for pages and for websockets that these processes include both answer."""
    # Not /readyz, which waits for a person after a restore.
    if "web" in names and status_of("/healthz") != HTTPStatus.OK:
        return False
    # The server for websockets has the waiting calls. It refuses this address; while it is down nginx answers 503.
    return "ws" not in names or status_of("/api/v1/wait/") < HTTPStatus.INTERNAL_SERVER_ERROR


def status_of(path: str) -> int:
    """Return the status of the answer, or 503 if there is none yet."""
    connection = HTTPConnection(settings.HOST, settings.PORT, timeout=5)
    try:
        connection.request("GET", path, headers={"Host": settings.SITE.netloc})
        return connection.getresponse().status
    except (OSError, HTTPException):
        return HTTPStatus.SERVICE_UNAVAILABLE
    finally:
        connection.close()


def say(sentence: str) -> None:
    print(f"stack: {sentence}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
