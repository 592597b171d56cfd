"""Metrics for Prometheus: how long requests take and why they are refused, and what waits in the database.

Requests are counted by the processes for pages. With several of them, `gunicorn.conf.py` makes a folder where
each keeps its counts, and any of them answers for all. What is read from the database is of the whole site.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from http import HTTPStatus
from typing import Final

import redis
from django.conf import settings
from django.db import DatabaseError, InterfaceError
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector

import nomercy
from games.models.rows import database_time
from games.queries import backlog
from games.refusals import refused_with, temporary_refusal
from nomercy.answers import API
from nomercy.limits import HEALTH
from nomercy.queues import QUEUES

FOLDER: Final = "PROMETHEUS_MULTIPROC_DIR"
"""The variable by which prometheus_client finds the folder. It reads it when it is imported."""
BUCKETS: Final = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
MOVES: Final = frozenset({"move", "api-v1:make_move"})

_own: Final = CollectorRegistry()
SECONDS: Final = Histogram(
    "nomercy_request_seconds", "The time that requests took, by kind.", ["kind"], buckets=BUCKETS, registry=_own
)
RESPONSES: Final = Counter("nomercy_responses", "Answers, by kind and status.", ["kind", "status"], registry=_own)
REFUSALS: Final = Counter("nomercy_refusals", "Refused requests, by kind and code.", ["kind", "code"], registry=_own)


def measure(get_response: Callable[[HttpRequest], HttpResponseBase]) -> Callable[[HttpRequest], HttpResponseBase]:
    """Count each request. It is in `MIDDLEWARE` only where `METRICS_TOKEN` is set."""

    def handle(request: HttpRequest) -> HttpResponseBase:
        if request.path in HEALTH:
            return get_response(request)
        refused_with.set("")
        started = time.perf_counter()
        response = get_response(request)
        kind = _kind(request)
        SECONDS.labels(kind).observe(time.perf_counter() - started)
        RESPONSES.labels(kind, str(int(response.status_code))).inc()
        if response.status_code >= HTTPStatus.BAD_REQUEST:
            REFUSALS.labels(kind, refused_with.get() or str(int(response.status_code))).inc()
        return response

    return handle


def _kind(request: HttpRequest) -> str:
    if request.resolver_match is not None and request.resolver_match.view_name in MOVES:
        return "move"
    return "api" if request.path.startswith(API) else "page"


def exposition() -> bytes:
    """Return all metrics in the text format of Prometheus."""
    counted = _own
    if FOLDER in os.environ:
        counted = CollectorRegistry()
        MultiProcessCollector(counted)  # type: ignore[no-untyped-call]  # it has no types
    stored = CollectorRegistry()
    stored.register(_Stored())
    return generate_latest(counted) + generate_latest(stored)


class _Stored:
    """Collects what the database and Redis have. Without the database only `nomercy_database_up` is told."""

    def collect(self) -> Iterator[Metric]:
        info = GaugeMetricFamily("nomercy_info", "The release that runs.", labels=["version"])
        info.add_metric([nomercy.__version__], 1)
        yield info
        try:
            found = list(_from_database())
        except (DatabaseError, InterfaceError) as error:
            if temporary_refusal(error) is None:
                raise
            found = []
        yield GaugeMetricFamily("nomercy_database_up", "Whether the database answers.", value=bool(found))
        yield from found
        if settings.REDIS_URL:
            yield from _queues()


def _from_database() -> Iterator[Metric]:
    grace = timedelta(seconds=settings.SWEEP_GRACE_SECONDS)
    now = backlog.backlog(database_time(), grace=grace)
    yield CounterMetricFamily("nomercy_moves", "Moves of people, bots and the clock.", value=backlog.moves_so_far())
    if now.sweep is not None:
        yield _gauge("nomercy_sweep_age_seconds", "Since the last sweep.", now.sweep.total_seconds())
    due = GaugeMetricFamily("nomercy_overdue", "What is due and not done.", labels=["what"])
    lag = GaugeMetricFamily("nomercy_overdue_seconds", "How long the first of them is due.", labels=["what"])
    overdue = {"clocks": now.clocks, "bots": now.bots, "notices": now.notices, "account_mails": now.account_mails}
    for what, one in overdue.items():
        due.add_metric([what], one.count)
        lag.add_metric([what], one.longest.total_seconds())
    yield due
    yield lag
    yield _gauge("nomercy_failing_clocks", "Games whose clock was tried without success.", now.late.failing)
    yield _gauge("nomercy_untried_clocks", "Games whose clock no sweep has tried in time.", now.late.untried)
    yield _gauge("nomercy_stopped_games", "Games that a restore has stopped.", now.stopped)
    yield _gauge("nomercy_mail_held", "Whether all mail is held after a restore.", now.is_frozen)


def _queues() -> Iterator[Metric]:
    """Yield the number of tasks that no worker has taken, or nothing if Redis is away."""
    wait = settings.PUBLISH_SECONDS
    try:
        with redis.Redis.from_url(settings.REDIS_URL, socket_connect_timeout=wait, socket_timeout=wait) as client:
            lengths = {queue: int(client.llen(queue)) for queue in QUEUES}
    except redis.RedisError:
        lengths = {}
    yield _gauge("nomercy_redis_up", "Whether Redis answers.", bool(lengths))
    waiting = GaugeMetricFamily("nomercy_queued_tasks", "Tasks that no worker has taken.", labels=["queue"])
    for queue, length in lengths.items():
        waiting.add_metric([queue], length)
    yield waiting


def _gauge(name: str, text: str, value: float) -> Metric:
    return GaugeMetricFamily(name, text, value=value)
