"""Wait for several servers at once, with the database in one thread."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import TypeVar

About = TypeVar("About")
Answer = TypeVar("Answer")


def answers_of(
    requests: Iterable[tuple[About, Callable[[], Answer]]], *, at_once: int
) -> Iterator[tuple[About, Answer]]:
    """Call these functions in threads, and yield what each is about with its answer as soon as that is there.

    The next request is taken when a thread is free. Requests are taken, and answers yielded, in the thread of the
    caller. The functions must not use the database, because Django opens a connection for each thread.
    """
    with ThreadPoolExecutor(at_once) as pool:
        running: dict[Future[Answer], About] = {}
        for about, request in requests:
            running[pool.submit(request)] = about
            if len(running) == at_once:
                yield from _next(running)
        while running:
            yield from _next(running)


def _next(running: dict[Future[Answer], About]) -> Iterator[tuple[About, Answer]]:
    done, _ = wait(running, return_when=FIRST_COMPLETED)
    for future in done:
        yield running.pop(future), future.result()
