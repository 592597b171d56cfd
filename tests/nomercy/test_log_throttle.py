"""Events that any client can cause thousands of times log one line a minute."""

from __future__ import annotations

import logging

import pytest
import structlog
from structlog.testing import capture_logs

from nomercy.log_throttle import KINDS, NO_HANDSHAKE, SECONDS, OnceAMinute, ThrottleFilter, warn


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def record(message: object, name: str = "uvicorn.error", error: Exception | None = None) -> logging.LogRecord:
    told = (type(error), error, error.__traceback__) if error else None
    return logging.LogRecord(name, logging.WARNING, __file__, 1, message, None, told)


def test_similar_records_are_logged_once_a_minute_with_their_number(clock: Clock) -> None:
    throttle = ThrottleFilter(OnceAMinute(clock))
    passed = []
    for _ in range(3 * 1000):
        one = record("Invalid HTTP request received.")
        if throttle.filter(one):
            passed.append(one.getMessage())
        clock.now += SECONDS / 1000
    assert passed == [
        "Invalid HTTP request received.",
        "Invalid HTTP request received. (999 more like this were not logged)",
        "Invalid HTTP request received. (999 more like this were not logged)",
    ]


def test_our_warnings_are_similar_by_their_content(clock: Clock) -> None:
    once = OnceAMinute(clock)
    log = structlog.get_logger("nomercy.request")
    with capture_logs() as logs:
        for status in (408, 429, 408, 408):
            warn(log, "request refused", once=once, status=status)
        clock.now = SECONDS
        warn(log, "request refused", once=once, status=408)
    assert [(line["status"], line["left_out"]) for line in logs] == [(408, 0), (429, 0), (408, 2)]


def test_asyncio_lines_are_similar_for_all_connections(clock: Clock) -> None:
    throttle = ThrottleFilter(OnceAMinute(clock))
    lines = [f"socket.accept() out of system resource\nsocket: <fd={number}>" for number in range(2)]
    assert [throttle.filter(record(line, "asyncio")) for line in lines] == [True, False]


def test_errors_from_different_places_are_different(clock: Clock) -> None:
    def one() -> None:
        raise ValueError

    def other() -> None:
        raise ValueError

    throttle = ThrottleFilter(OnceAMinute(clock))
    passed = []
    for fail in (one, other, one):
        try:
            fail()
        except ValueError as error:
            passed.append(throttle.filter(record("Exception in ASGI application\n", error=error)))
    assert passed == [True, True, False]


def test_lines_of_pages_are_never_dropped(clock: Clock) -> None:
    throttle = ThrottleFilter(OnceAMinute(clock))
    assert all(throttle.filter(record("request", name)) for name in ("nomercy.request", "django.request") * 2)


def test_the_number_of_remembered_kinds_is_limited(clock: Clock) -> None:
    once = OnceAMinute(clock)
    for number in range(KINDS):
        assert once.left_out(number) == 0
    assert once.left_out(0) is None
    assert once.left_out(KINDS) == 0
    assert once.left_out(0) == 0  # forgotten


def test_a_websocket_that_is_answered_with_a_page_is_a_warning(clock: Clock) -> None:
    one = record(NO_HANDSHAKE)
    one.levelno, one.levelname = logging.ERROR, "ERROR"
    assert ThrottleFilter(OnceAMinute(clock)).filter(one)
    assert (one.levelname, one.getMessage()) == ("WARNING", "A websocket was refused.")
