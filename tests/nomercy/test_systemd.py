"""The units of docker/systemd, as docs/by-hand.md installs them."""

from __future__ import annotations

import os
import re
import secrets
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest
from django.core.management import get_commands

from nomercy.launcher.place import CHECKOUT
from nomercy.queues import QUEUES
from tests.support.stack import processes

FOLDER: Final = CHECKOUT / "docker" / "systemd"
COMMON: Final = FOLDER / "nomercy-.service.d" / "site.conf"
PAGE: Final = (CHECKOUT / "docs" / "by-hand.md").read_text()
OPERATIONS: Final = (CHECKOUT / "docs" / "operations.md").read_text()
ADDRESSES: Final = {"web": ("--bind", "127.0.0.1:8000"), "ws": ("--bind", "127.0.0.1:8001")}
HARDENED: Final = {
    "NoNewPrivileges": ["yes"], "CapabilityBoundingSet": [""], "ProtectSystem": ["strict"], "ProtectHome": ["yes"],
    "PrivateTmp": ["yes"], "PrivateDevices": ["yes"], "MemoryDenyWriteExecute": ["yes"], "RestrictNamespaces": ["yes"],
    "RestrictAddressFamilies": ["AF_UNIX AF_INET AF_INET6"], "SystemCallFilter": ["@system-service", "~@privileged"],
}  # fmt: skip


def settings_of(file: Path) -> dict[str, list[str]]:
    """Return the settings of a unit, each with its values in order."""
    found: dict[str, list[str]] = {}
    for line in file.read_text().splitlines():
        if line and not line.startswith(("#", "[")):
            name, _, value = line.partition("=")
            found.setdefault(name, []).append(value)
    return found


def services() -> list[Path]:
    return sorted(FOLDER.glob("*.service"))


def command_of(name: str) -> tuple[str, ...]:
    """Return the command of a service without the path of its program."""
    (line,) = settings_of(FOLDER / name)["ExecStart"]
    program, *arguments = shlex.split(line.replace("%%", "%"))
    assert program.startswith(("/srv/no-mercy/.venv/bin/", "/srv/no-mercy/script/"))
    return (program.removeprefix("/srv/no-mercy/").removeprefix(".venv/bin/"), *arguments)


def test_every_process_has_its_unit() -> None:
    ours = {
        "web": command_of("nomercy-pages.service"),
        "ws": command_of("nomercy-sockets.service"),
        "beat": command_of("nomercy-beat.service"),
    }
    template = command_of("nomercy-worker@.service")
    for process, queue in (("clock", "clock"), ("worker", "work"), ("mail", "mail")):
        ours[process] = tuple(part.replace("%i", queue) for part in template)
    written = {
        name: (*command[:2], *ADDRESSES[name]) if name in ADDRESSES else tuple(command)
        for name, command in processes().items()
    }
    assert ours.items() <= written.items()
    for command in ours.values():
        assert f"`{' '.join(command)}`" in OPERATIONS
    assert set(re.findall(r"nomercy-worker@(\w+)", PAGE)) == set(QUEUES)


def test_the_whole_site_in_one_process_is_that_of_script_run() -> None:
    command = " ".join(command_of("nomercy-small.service"))
    assert f"exec .venv/bin/{command}\n" in (CHECKOUT / "script" / "run").read_text()


@pytest.mark.parametrize("name", ["prepare", "backup"])
def test_other_services_run_commands_that_exist(name: str) -> None:
    assert name in get_commands()
    (line,) = settings_of(FOLDER / f"nomercy-{name}.service")["ExecStart"]
    assert f".venv/bin/python manage.py {name}" in line


@pytest.mark.parametrize("service", services(), ids=lambda file: file.name)
def test_every_service_has_the_settings_of_all(service: Path) -> None:
    """systemd reads `nomercy-.service.d` for each unit whose name begins like that."""
    assert service.name.startswith("nomercy-")
    common = settings_of(COMMON)
    assert HARDENED.items() <= common.items()
    assert (common["User"], common["WorkingDirectory"]) == (["nomercy"], ["/srv/no-mercy"])
    assert int(common["TimeoutStopSec"][0]) > 20  # the time of gunicorn.conf.py
    own = settings_of(service)
    assert not own.keys() & (HARDENED.keys() | {"User", "TimeoutStopSec"})
    assert all(name in ("/var/lib/no-mercy", "/var/backups/nomercy") for name in own.get("ReadWritePaths", []))


def test_processes_are_started_again_and_stop_with_the_target() -> None:
    for file in services():
        own = settings_of(file)
        if "Type" in own:
            continue
        assert own["Restart"] == ["always"], file.name
        assert (own["StartLimitIntervalSec"], own["PartOf"]) == (["0"], ["nomercy.target"]), file.name
        assert own["Requires"] == own["After"] == ["nomercy-prepare.service"], file.name
        assert own["WantedBy"] == ["nomercy.target"], file.name
        assert f" {file.name.removesuffix('.service').removesuffix('@')}" in PAGE


def test_the_page_shows_errors_of_every_priority() -> None:
    """All that a process writes has the same priority in the journal, so a filter would hide its errors."""
    commands = re.findall(r"(?m)^journalctl .*", PAGE)
    assert commands
    assert not [command for command in commands if "priority" in command or " -p" in command]


def test_nginx_reads_its_file_again_after_the_change_to_one_process() -> None:
    small = PAGE.partition("### A small host")[2].partition("\n## ")[0]
    assert "nginx -t && systemctl reload nginx\n" in small


@pytest.mark.long
@pytest.mark.systemd
def test_systemd_accepts_the_units(tmp_path: Path) -> None:
    """With the paths of this machine, because systemd looks for the programs."""
    folder = shutil.copytree(FOLDER, tmp_path / "units")
    for file in folder.rglob("*.*"):
        if file.is_file():
            text = file.read_text().replace("/srv/no-mercy/.venv", sys.prefix)
            file.write_text(text.replace("/srv/no-mercy", str(CHECKOUT)))
    environment = os.environ | {"SYSTEMD_UNIT_PATH": f"{folder}:"}
    for file in sorted(folder.glob("*.*")):
        if file.is_dir():
            continue
        done = analyze("verify", "--man=no", str(file), environment=environment)
        assert (done.returncode, done.stderr) == (0, ""), file.name
        if file.suffix == ".service" and "@" not in file.name:
            done = analyze("security", "--offline=true", "--threshold=20", str(file), environment=environment)
            assert done.returncode == 0, done.stdout


def analyze(*arguments: str, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    command = ["systemd-analyze", "--no-pager", *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.long
def test_the_settings_of_the_page_are_accepted(tmp_path: Path) -> None:
    (text,) = re.findall(r"(?s)```sh\n# /etc/nomercy/site.env\n(.*?)```", PAGE)
    (tmp_path / "secret_key").write_text(secrets.token_hex(32))
    file = tmp_path / "site.env"
    file.write_text(text.replace("/etc/nomercy", str(tmp_path)).replace("/var/lib/no-mercy", str(tmp_path)))
    file.chmod(0o600)
    done = subprocess.run(
        [sys.executable, "manage.py", "check", "--deploy"],
        cwd=CHECKOUT, env={"NOMERCY_ENV_FILE": str(file)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
