"""Processes by their numbers: waiting for the end of one."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest

from nomercy.launcher import pids
from nomercy.launcher.pids import EndWatch

needs_pidfd = pytest.mark.skipif(
    not hasattr(os, "pidfd_open"), reason="the system does not tell of the end of a process"
)


@pytest.fixture
def process() -> Iterator[subprocess.Popen[bytes]]:
    """A process that ends when its standard input does."""
    with subprocess.Popen(
        [sys.executable, "-c", "input()"], stdin=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        yield process


@pytest.fixture
def watch() -> Iterator[EndWatch]:
    watch = EndWatch()
    yield watch
    watch.close()


@needs_pidfd
def test_the_end_of_a_process_ends_the_wait(
    process: subprocess.Popen[bytes], watch: EndWatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pids, "LONGEST_WAIT_SECONDS", 1_000)
    assert process.stdin is not None
    process.stdin.close()

    assert watch.wait_for_end(process.pid) is False  # also while nobody has collected it
    process.wait()
    assert watch.wait_for_end(process.pid) is False
    watch.stop()


@needs_pidfd
def test_the_wait_for_a_process_can_be_stopped(
    process: subprocess.Popen[bytes], watch: EndWatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pids, "LONGEST_WAIT_SECONDS", 1_000)
    answers: list[bool] = []
    thread = threading.Thread(target=lambda: answers.append(watch.wait_for_end(process.pid)))
    thread.start()

    watch.stop()
    thread.join()

    assert answers == [True]
    assert watch.pause(1_000)
    assert watch.wait_for_end(process.pid)


@needs_pidfd
def test_a_long_wait_ends_by_itself(
    process: subprocess.Popen[bytes], watch: EndWatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pids, "LONGEST_WAIT_SECONDS", 0.001)

    assert watch.wait_for_end(process.pid) is False
    watch.stop()


@pytest.mark.parametrize("error", [AttributeError(), OSError(errno.ENOSYS, ""), PermissionError(errno.EPERM, "")])
def test_where_the_system_does_not_tell_a_short_pause_is_made(
    process: subprocess.Popen[bytes], watch: EndWatch, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def refuse(pid: int) -> int:
        raise error

    monkeypatch.setattr(os, "pidfd_open", refuse, raising=False)
    monkeypatch.setattr(pids, "LOOK_SECONDS", 0.001)

    assert watch.wait_for_end(process.pid) is False
    watch.stop()
    assert watch.wait_for_end(process.pid)


def test_without_a_file_descriptor_it_fails(watch: EndWatch, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(pid: int) -> int:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    monkeypatch.setattr(os, "pidfd_open", refuse, raising=False)

    with pytest.raises(OSError, match="Too many open files"):
        watch.wait_for_end(os.getpid())
    watch.stop()
