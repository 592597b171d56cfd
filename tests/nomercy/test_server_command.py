"""`python -m nomercy.server`: where it listens, and how it ends."""

from __future__ import annotations

import asyncio
import multiprocessing
import resource
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_django.fixtures import Settings
from uvicorn.config import STARTUP_FAILURE

from nomercy.server import command, listening
from nomercy.server.config import KEEP_ALIVE, KEEP_ALIVE_TO_PROXY, config
from nomercy.server.waiting import ENOUGH_FILES, RESERVED_FILES, files_for_waiting


@pytest.mark.parametrize(("address", "family"), [("127.0.0.1:0", socket.AF_INET), ("[::1]:0", socket.AF_INET6)])
def test_it_listens_at_a_host_and_port(address: str, family: socket.AddressFamily) -> None:
    with command.bound_to(address) as bound:
        assert bound.family == family


def test_a_stale_socket_file_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "web.sock"
    for _ in range(2):
        with command.bound_to(f"unix:{path}"):
            assert stat.S_ISSOCK(path.stat().st_mode)
            assert stat.S_IMODE(path.stat().st_mode) == 0o666  # the proxy is another user


@pytest.mark.parametrize("address", ["127.0.0.1:x", "127.0.0.1:99999", "nowhere.invalid:1", "unix:/no/such/folder/s"])
def test_an_unusable_address_is_refused_in_one_sentence(address: str) -> None:
    with pytest.raises(SystemExit, match=r"^No Mercy cannot listen on .*\.$"):
        command.bound_to(address)


def test_a_file_that_is_not_a_socket_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("mine")
    with pytest.raises(SystemExit, match="cannot listen"):
        command.bound_to(f"unix:{path}")
    assert path.read_text() == "mine"


@pytest.mark.parametrize(("alive", "ended"), [(True, 0), (False, 1)])
def test_a_process_ends_when_its_parent_was_killed(monkeypatch: pytest.MonkeyPatch, alive: bool, ended: int) -> None:
    class Parent:
        def is_alive(self) -> bool:
            return alive

    sent: list[int] = []
    monkeypatch.setattr(multiprocessing, "parent_process", Parent)
    monkeypatch.setattr(signal, "raise_signal", sent.append)
    asyncio.run(command.end_with_parent())
    assert sent == [signal.SIGTERM] * ended


@pytest.mark.parametrize(("behind", "seconds"), [(True, KEEP_ALIVE_TO_PROXY), (False, KEEP_ALIVE)])
def test_keep_alive_is_longer_behind_a_proxy(settings: Settings, behind: bool, seconds: int) -> None:
    settings.BEHIND_PROXY = behind
    assert config("nomercy.asgi:application", stop_seconds=1).timeout_keep_alive == seconds


@pytest.fixture
def file_limits() -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_the_limit_of_open_files_is_raised(file_limits: None) -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = min(hard, ENOUGH_FILES) if hard != resource.RLIM_INFINITY else ENOUGH_FILES
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(600, most), hard))
    assert files_for_waiting() == 600 - RESERVED_FILES
    for _ in range(2):
        listening.raise_file_limit()
        assert resource.getrlimit(resource.RLIMIT_NOFILE) == (most, hard)


@pytest.mark.long
def test_it_shows_its_usage() -> None:
    said = subprocess.run(
        [sys.executable, "-m", "nomercy.server", "--help"], capture_output=True, text=True, check=True
    ).stdout
    assert "pages" in said
    assert "unix:path" in said


def test_a_unix_socket_is_only_for_a_proxy(tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.BEHIND_PROXY = settings.EMBEDDED = False
    monkeypatch.setattr(sys, "argv", ["nomercy.server", "pages", "--bind", f"unix:{tmp_path}/web.sock"])
    with pytest.raises(SystemExit, match="BEHIND_PROXY=1"):
        command.main()


def test_a_site_that_fails_to_load_is_not_restarted(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(name: str) -> None:
        raise RuntimeError(name)

    monkeypatch.setattr(command, "import_module", broken)
    with pytest.raises(SystemExit) as ended:
        command.application()
    assert ended.value.code == STARTUP_FAILURE
