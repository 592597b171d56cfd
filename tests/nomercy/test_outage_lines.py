"""An outage of PostgreSQL or Redis is one line of each process, however much fails meanwhile."""

from __future__ import annotations

import io
import logging
from typing import Any, TypeVar

import psycopg
import pytest
import redis
import structlog
from celery.beat import SchedulingError
from celery.signals import after_task_publish, task_received
from celery.utils.dispatch import Signal
from django.db import OperationalError, ProgrammingError, connection
from kombu.exceptions import OperationalError as BrokerError
from psycopg.errors import LockNotAvailable, UndefinedColumn

from common.run_all import run_all
from games.refusals import temporary_refusal
from nomercy.cache import FailOpenRedisCache
from nomercy.faults import OVER_AFTER, OutageFilter
from tests.nomercy.conftest import written_log

pytestmark = pytest.mark.usefixtures("log_of_a_site")

E = TypeVar("E", bound=BaseException)


class Clock:
    """A clock in seconds that tests set."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch, clock: Clock) -> io.StringIO:
    """Return what the site's handler writes, in a process that has seen no outage yet."""
    return written_log(monkeypatch, OutageFilter(clock))


def caused(error: E, cause: BaseException) -> E:
    """Return the error as if it was raised from this cause."""
    error.__cause__ = cause
    return error


def redis_fails() -> None:
    """Log what Celery's worker and beat, the cache and the move path log while Redis is away."""
    consumer = logging.getLogger("celery.worker.consumer.consumer")
    refused = caused(redis.ConnectionError("Error 111 connecting to 127.0.0.1:6379."), ConnectionRefusedError())
    consumer.warning("%s (%r)", "consumer: Connection to broker lost. Trying again...", refused, exc_info=refused)
    warned = "consumer.py:427: CPending\nenable worker_cancel_long_running_tasks_on_connection_loss\n"
    logging.getLogger("py.warnings").warning("%s", warned)
    waits = "Trying again in 2.00 seconds... (1/None)\n"
    consumer.error("consumer: Cannot connect to %s: %s.\n%s\n", "redis://:**@127.0.0.1:6379/0", refused, waits)
    unsent = caused(SchedulingError("Could not"), caused(BrokerError("Error 111"), refused))
    logging.getLogger("celery.beat").error("Message Error: %s\n%s", unsent, "a stack", exc_info=unsent)
    gone = AttributeError("'NoneType' object has no attribute 'connection_errors'")
    logging.getLogger("celery.bootsteps").error("Error on %s %s: %r", "restarting", "Gossip", gone, exc_info=gone)
    FailOpenRedisCache("redis://127.0.0.1:1", {}).get("anything")
    structlog.get_logger("games.announce").warning(
        "announce failed", target="broker", error="OperationalError", away="Redis"
    )


def lost() -> OperationalError:
    return caused(OperationalError("connection failed:\nIs it running?"), psycopg.OperationalError("connection failed"))


def postgresql_fails() -> None:
    """Log what tasks, requests and sockets log while PostgreSQL is away."""
    trace = logging.getLogger("celery.app.trace")
    with pytest.raises(ExceptionGroup) as caught:
        run_all(reminders=fail, delivery=fail)
    for error in (lost(), caught.value):
        trace.error("Task %s[%s] raised unexpected: %r", "games.tasks.sweep", "id", error, exc_info=error)
    assert temporary_refusal(lost()) is not None
    structlog.get_logger("games.live.polling").warning(
        "sockets not looked after", error="OperationalError", away="PostgreSQL"
    )


def fail() -> None:
    raise lost()


@pytest.mark.parametrize("service", ["Redis", "PostgreSQL"])
def test_an_outage_is_one_line(written: io.StringIO, clock: Clock, service: str) -> None:
    for _ in range(15):
        (redis_fails if service == "Redis" else postgresql_fails)()
        clock.now += 2
    text = written.getvalue()
    assert text.count("\n") == 1, text
    assert len(text) < 400


def test_the_line_names_the_service(written: io.StringIO) -> None:
    redis_fails()
    assert "Redis is away: consumer: Connection to broker lost." in written.getvalue()
    postgresql_fails()
    assert "away=PostgreSQL" in written.getvalue()


def test_the_next_outage_is_another_line(written: io.StringIO, clock: Clock) -> None:
    redis_fails()
    clock.now += OVER_AFTER - 1
    redis_fails()
    clock.now += OVER_AFTER
    redis_fails()
    assert written.getvalue().count("\n") == 2


def answers_again(service: str) -> None:
    """Log what the cache and a new connection to PostgreSQL log. They do it whether there was an outage or not."""
    if service == "Redis":
        structlog.get_logger("nomercy.cache").info("the cache answers", back="Redis")
    else:
        structlog.get_logger("nomercy.apps").info("the database answers", back="PostgreSQL")


@pytest.mark.parametrize("service", ["Redis", "PostgreSQL"])
def test_the_end_of_an_outage_and_a_second_one_within_a_minute_are_logged(
    written: io.StringIO, clock: Clock, service: str
) -> None:
    fails = redis_fails if service == "Redis" else postgresql_fails
    answers_again(service)
    assert written.getvalue() == ""
    for _ in range(2):
        fails()
        clock.now += 7
        answers_again(service)
        answers_again(service)
    begins, ends, begins_again, ends_again = written.getvalue().splitlines()
    assert service in begins
    assert service in begins_again
    for line in (ends, ends_again):
        assert "answers" in line
        assert "away_for=7" in line


def test_connections_that_fail_now_and_then_are_one_line_a_second(written: io.StringIO, clock: Clock) -> None:
    for _ in range(10):
        postgresql_fails()
        clock.now += 0.1
        answers_again("PostgreSQL")
    assert written.getvalue().count("\n") == 2


def test_a_new_connection_ends_the_outage(written: io.StringIO, clock: Clock, transactional_db: None) -> None:
    postgresql_fails()
    clock.now += 7
    connection.close()
    connection.ensure_connection()
    assert "the database answers" in written.getvalue()


@pytest.mark.parametrize("signal", [task_received, after_task_publish])
def test_a_task_that_is_received_or_sent_ends_the_outage(written: io.StringIO, clock: Clock, signal: Signal) -> None:
    redis_fails()
    clock.now += 7
    signal.send(sender="a task")
    assert "the broker answers" in written.getvalue()


def test_outages_of_two_services_are_two_lines(written: io.StringIO) -> None:
    redis_fails()
    postgresql_fails()
    assert written.getvalue().count("\n") == 2


def test_a_missing_column_is_one_line(written: io.StringIO) -> None:
    for _ in range(3):
        error = caused(ProgrammingError("no such column"), UndefinedColumn("no such column"))
        logging.getLogger("celery.app.trace").error("Task failed: %r", error, exc_info=error)
        assert temporary_refusal(error) is not None
    assert written.getvalue().count("\n") == 1
    assert "Traceback" not in written.getvalue()


def test_other_faults_are_all_logged(written: io.StringIO) -> None:
    """A lock timeout has no traceback, because it is temporary. A bug has one."""
    trace = logging.getLogger("celery.app.trace")
    errors: list[Any] = [
        caused(OperationalError("lock timeout"), LockNotAvailable("lock timeout")),
        ValueError("a bug"),
    ]
    for error in errors * 2:
        trace.error("Task failed: %r", error, exc_info=error)
    assert written.getvalue().count("Task failed") == 4
    assert written.getvalue().count("ValueError: a bug") == 2
