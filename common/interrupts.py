"""Ctrl-C and SIGTERM in commands: both end a command with a sentence and the status that shells expect."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager

from django.core.management.base import CommandError


class Terminated(KeyboardInterrupt):
    """SIGTERM has arrived. Everything that handles Ctrl-C handles it, too."""


def raise_terminated(*_: object) -> None:
    """Handle SIGTERM.

    :raises Terminated: always.
    """
    raise Terminated


def status_of(interrupt: KeyboardInterrupt) -> int:
    """Return the exit status of a command that was interrupted."""
    return 128 + (signal.SIGTERM if isinstance(interrupt, Terminated) else signal.SIGINT)


@contextmanager
def says_if_interrupted(sentence: str) -> Iterator[None]:
    """Turn an interrupt of the block into this sentence.

    :raises CommandError: the block was interrupted.
    """
    try:
        yield
    except KeyboardInterrupt as interrupt:
        raise CommandError(sentence, returncode=status_of(interrupt)) from None


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Ignore Ctrl-C and SIGTERM during a short block that must not stop half way."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        for number in before:
            signal.signal(number, signal.SIG_IGN)
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
