"""Run docker/compose.yaml with podman on images made of Debian's packages: `script/containers`, which says more."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import ssl
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import yaml

from bench.api_games import Program, play
from nomercy.launcher.place import CHECKOUT

PATIENCE: Final = 90
"""The most seconds until a container is healthy, or runs again."""
PROJECT: Final = "nomercy"
HTTP: Final = "http://localhost:18080"
HTTPS: Final = "https://localhost:18443"
"""As docker/trial/changes.yaml publishes them."""
ENDS_WITH: Final = {"ws": 143}
"""The status of a service after SIGTERM, unless it is 0: uvicorn ends by the signal itself."""
OF_THIS_MACHINE: Final = (
    "/etc/apt", "/usr/share/keyrings", "/etc/ssl/certs", "/etc/pip.conf", "/root/.config/pip/pip.conf",
)  # fmt: skip
"""From where packages come. Read only, and only while images are built."""


class Trial:
    """The services of docker/compose.yaml in a copy of this checkout."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.docker, self.began = folder, folder / "site" / "docker", time.monotonic()
        read = yaml.safe_load((CHECKOUT / "docker" / "compose.yaml").read_text())["services"]
        self.services: dict[str, Any] = {name: service for name, service in read.items() if "profiles" not in service}

    def say(self, sentence: str) -> None:
        print(f"{time.monotonic() - self.began:4.0f} s  {sentence}", flush=True)

    def attempt(self, *command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(command, cwd=self.docker, capture_output=True, text=True, check=False)

    def run(self, *command: str) -> str:
        """Run a command and return its output.

        :raises SystemExit: it has failed. The sentence has the end of its output.
        """
        done = self.attempt(*command)
        if done.returncode:
            sys.exit(f"{' '.join(command)} ended with {done.returncode}:\n{(done.stdout + done.stderr)[-5000:]}")
        return done.stdout

    def podman(self, *arguments: str) -> str:
        return self.run("podman", *arguments)

    def compose(self, *arguments: str) -> str:
        program = str(Path(sys.executable).with_name("podman-compose"))
        return self.run(program, "--in-pod=0", "-f", "compose.yaml", "-f", "trial/changes.yaml", *arguments)

    def manage(self, service: str, *command: str) -> str:
        return self.compose("exec", "-T", service, "python", "manage.py", *command)

    def build(self) -> None:
        """Make stand-ins for the images that compose.yaml and Dockerfile name, and build the image of the site."""
        left_out = shutil.ignore_patterns(".git", ".venv", ".*_cache", ".env", "__pycache__", "tests", "var")
        shutil.copytree(CHECKOUT, self.folder / "site", ignore=left_out)
        for file in (self.docker / "compose.yaml", self.docker / "Dockerfile"):
            file.write_text(re.sub("@sha256:[0-9a-f]{64}", "", file.read_text()))  # which no stand-in can have
        self.run("./make-env", HTTPS)
        tree = self.folder / "debian"
        packages = "ca-certificates,python3,python3-venv"
        self.run("debootstrap", "--variant=minbase", f"--include={packages}", "bookworm", str(tree))
        self.run("sh", "-euc", f"tar -C {tree} -c . | podman import - localhost/debian")
        given = ["--pull=never", f"--volume={CHECKOUT}/requirements:/requirements:ro"]
        given += [f"--volume={path}:{path}:ro" for path in OF_THIS_MACHINE if Path(path).exists()]
        images = set(re.findall(r"(?m)^FROM (\S+)", (self.docker / "Dockerfile").read_text()))
        images |= {service["image"] for service in self.services.values() if "build" not in service}
        for image in sorted(images):
            tag = f"docker.io/{image}" if "/" in image else f"docker.io/library/{image}"
            target = image.partition(":")[0].rpartition("/")[2]
            self.podman("build", *given, f"--target={target}", f"--tag={tag}", "trial")
        self.say(f"there are stand-ins for {', '.join(sorted(images))}")
        self.compose(f"--podman-build-args={' '.join(given)}", "build", "migrate")  # the others have the same image
        self.say("built the image of the site")

    def up(self, *left_out: str) -> None:
        """Start the services in the order of their conditions, as `docker compose up` does, and wait for each.

        podman below 4.6 waits for none, and without systemd it runs no health check by itself.
        """
        done = set(left_out)
        while waiting := self.services.keys() - done:
            due = sorted(name for name in waiting if self.services[name].get("depends_on", {}).keys() <= done)
            self.start(*due)
            done.update(due)
            self.say(f"healthy: {', '.join(due)}")

    def start(self, *services: str) -> None:
        self.compose("up", "--detach", "--no-build", "--no-deps", *services)
        for name in services:
            self.wait_for(name)

    def state(self, service: str) -> dict[str, Any]:
        found: list[dict[str, Any]] = json.loads(self.podman("inspect", container(service)))
        return found[0]

    def wait_for(self, service: str) -> None:
        """Wait until this service is healthy, or if it has no health check, until it has ended with 0."""

        def well() -> bool:
            if self.services[service].get("healthcheck", {}).get("disable"):
                state = self.state(service)["State"]
                return (state["Status"], state["ExitCode"]) == ("exited", 0)
            return self.attempt("podman", "healthcheck", "run", container(service)).returncode == 0

        self.until(f"{service} is healthy", well, service)

    def until(self, what: str, condition: Callable[[], bool], service: str) -> None:
        """Wait for a condition.

        :raises SystemExit: it is not fulfilled within `PATIENCE`. The sentence has the end of the log of this service.
        """
        end = time.monotonic() + PATIENCE
        while not condition():
            if time.monotonic() > end:
                log = self.attempt("podman", "logs", "--tail=40", container(service))
                sys.exit(f"Not within {PATIENCE} s: {what}. The end of its log:\n{log.stdout + log.stderr}")
            time.sleep(1)

    def check_restrictions(self) -> None:
        """Check that podman-compose has passed on what compose.yaml restricts."""
        for name, service in self.services.items():
            found = self.state(name)
            host = found["HostConfig"]
            units = {"m": 2**20, "g": 2**30}
            wanted = int(service["mem_limit"][:-1]) * units[service["mem_limit"][-1]]
            capabilities = {f"CAP_{capability}" for capability in service.get("cap_add", ())}
            require(host["Memory"] == wanted, f"{name} has a limit of {host['Memory']} bytes instead of {wanted}")
            require(host["ReadonlyRootfs"], f"{name} can write to its root")
            require("no-new-privileges" in str(host["SecurityOpt"]), f"{name} can gain privileges")
            require(set(found["BoundingCaps"] or ()) == capabilities, f"{name} has {found['BoundingCaps']}")
        self.say("every container has its restrictions")

    def certify(self) -> None:
        """Put a certificate that it has signed itself where certbot would put one, and wait until nginx has it."""
        volume = self.podman("volume", "inspect", "--format={{.Mountpoint}}", f"{PROJECT}_certificates").strip()
        live = Path(volume) / "live" / "nomercy"
        live.mkdir(parents=True)
        files = ["-keyout", f"{live}/privkey.pem", "-out", f"{live}/fullchain.pem"]
        name = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
        self.run("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", *name, *files)
        os.environ["SSL_CERT_FILE"] = str(live / "fullchain.pem")
        certificate = (live / "fullchain.pem").read_text()

        def loaded() -> bool:
            return ssl.get_server_certificate(("localhost", urlsplit(HTTPS).port or 443)) == certificate

        self.until("nginx has the certificate", loaded, "nginx")
        with closing(HTTPConnection(urlsplit(HTTP).netloc)) as connection:
            connection.request("GET", "/rules/")
            target = connection.getresponse().headers["Location"]
        require(target == f"{HTTPS}/rules/", f"http leads to {target}")
        self.start("certbot")
        self.say("nginx has taken the certificate, and leads from http to https")

    def play(self, token: str) -> Any:
        """Play a game against bots by the API. Return what the API then says of all games of this account."""
        with closing(Program(HTTPS, token)) as program:
            moves = play(program, "no-mercy", random.Random(), [])
            games = program.call("GET", "games?mine=1")
            status, _ = program.call("GET", f"wait/games/{games[1]['items'][0]['id']}?after=0")
        require(status == 200, f"a waiting call answered {status}")
        self.say(f"played a game, with {moves} moves of our own")
        return games

    def kill(self, service: str) -> None:
        """Kill the first process of this service, which ends all, and wait until it has been started again."""
        process = self.state(service)["State"]["Pid"]
        os.kill(process, signal.SIGKILL)
        self.until(f"{service} runs again", lambda: self.state(service)["State"]["Pid"] not in (0, process), service)
        self.wait_for(service)

    def stop(self, *services: str) -> None:
        """Stop these services, those that need others first, as `docker compose stop` does.

        Each must end by itself, in time, and say that all is well.
        """
        running = [name for name in services if self.state(name)["State"]["Status"] == "running"]
        for needs_others in (True, False):
            self.compose("stop", *(name for name in running if ("depends_on" in self.services[name]) is needs_others))
        for name in running:
            status = self.state(name)["State"]["ExitCode"]
            require(status == ENDS_WITH.get(name, 0), f"{name} ended with {status}")

    def restore(self) -> None:
        """Back up, delete the database, and restore as docs/operations.md says, while nginx stays up."""
        self.manage("backup", "backup", "/backups/trial.backup")
        everything = sorted(self.services.keys() - {"nginx"})
        self.stop(*everything)
        self.podman("rm", *(container(name) for name in everything))
        self.podman("volume", "rm", f"{PROJECT}_postgres")
        self.start("postgres")
        restore = ["python", "manage.py", "restore", "/backups/trial.backup"]
        self.compose("run", "--rm", "--no-deps", "-T", "backup", *restore)
        self.up("nginx", "postgres")
        self.manage("mail", "release")
        self.manage("mail", "check_games")
        self.say("restored a backup into an empty database")


def container(service: str) -> str:
    return f"{PROJECT}_{service}_1"


def require(condition: bool, otherwise: str) -> None:
    if not condition:
        sys.exit(f"Wrong: {otherwise}.")


def main(folder: Path, part: str) -> None:
    trial = Trial(folder)
    if part == "build":
        trial.build()
        # The containers have a network of their own, where they disturb nobody and find no other host.
        again = [sys.executable, "-m", "script.containers", str(folder), "play"]
        os.execvp("unshare", ["unshare", "--net", *again])
    trial.run("ip", "link", "set", "lo", "up")
    trial.up("certbot")
    trial.certify()
    trial.check_restrictions()
    trial.compose("exec", "-T", "mail", "test", "-w", "var/mail")  # where mails go without a mail server
    token = trial.manage("mail", "create_token", "program", "--create").split()[-1]
    trial.play(token)
    for service in sorted(trial.services.keys() - {"migrate"}):  # which has ended
        trial.kill(service)
    trial.say("killed each container once")
    before = trial.play(token)
    trial.restore()
    with closing(Program(HTTPS, token)) as program:
        require(program.call("GET", "games?mine=1") == before, "the restored games are not those of before")
    trial.play(token)
    trial.stop(*trial.services)
    trial.podman("rm", *map(container, trial.services))
    trial.say("all containers ended by themselves when asked to")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
