"""`/healthz` says whether this process can serve, `/readyz` whether the whole site works."""

from collections.abc import Callable
from datetime import timedelta

import redis
from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, Error, connections
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

import nomercy
from common.disk import CANNOT_WRITE, OK, writing
from common.schema import migrated
from games import alarm
from games.models.rows import database_time
from games.queries import backlog

LATE = "late"
FROZEN = "frozen"
READ_ONLY = "read only"
UNAVAILABLE = "database unavailable"
REDIS_KEY = "nomercy.readyz"
REDIS_KEY_SECONDS = 60


@require_safe
@never_cache
def healthz(request: HttpRequest) -> JsonResponse:
    """Answer 200 if the database answers and all migrations are applied, else 503. Both name the version."""
    status = database()
    if status == OK:
        status = _unless_it_fails(migrations)
    return _answer({"status": status, "version": nomercy.__version__}, well=status == OK)


@require_safe
@never_cache
def readyz(request: HttpRequest) -> JsonResponse:
    """Answer 200 if every part of the site works, else 503. Both list the state of each part."""
    parts = readiness()
    ready = all(status == OK for status in parts.values())
    return _answer({"ready": ready, "version": nomercy.__version__, "parts": parts}, well=ready)


def _answer(body: dict[str, object], *, well: bool) -> JsonResponse:
    response = JsonResponse(body, status=200 if well else 503)
    response._has_been_logged = True  # type: ignore[attr-defined]  # or Django logs an error at each 503
    return response


def readiness() -> dict[str, str]:
    """Return the state of each part: `ok`, or what is wrong. It names no addresses.

    The sweep tells of workers and beat, by when it last ran and what is overdue. The parts for bots and mail are late
    if their worker is, or the mail server, and frozen if a restore has stopped the games or holds all mail.
    """
    parts = {"database": database()}
    if parts["database"] == OK:
        parts["database"] = writing()
    grace = timedelta(seconds=settings.SWEEP_GRACE_SECONDS)
    checks: dict[str, Callable[[], str]] = {
        "migrations": migrations,
        "sweep": lambda: alarm.check() or OK,
        "bots": lambda: _unless_frozen(lambda: backlog.bots_are_late(database_time(), grace=grace)),
        "mail": lambda: _unless_frozen(lambda: backlog.mail_is_late(database_time())),
    }
    for name, check in checks.items():
        parts[name] = _unless_it_fails(check) if parts["database"] == OK else "unknown"
    if settings.REDIS_URL:
        parts["redis"] = redis_server()
    return parts


def database() -> str:
    """Return `ok`, `read only` if PostgreSQL takes no writes, as a standby does, or that it is unavailable."""
    try:
        with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
            cursor.execute("SHOW transaction_read_only")
            return READ_ONLY if cursor.fetchone() == ("on",) else OK
    except Error as error:
        # With `target_session_attrs` libpq refuses such a server: "session is read-only".
        return READ_ONLY if "read-only" in str(error) else UNAVAILABLE


def migrations() -> str:
    return OK if migrated() else "migrations missing"


def _unless_frozen(is_late: Callable[[], bool]) -> str:
    if backlog.is_frozen():
        return FROZEN
    return LATE if is_late() else OK


def redis_server() -> str:
    """Return `ok` if Redis takes a write on a new connection. The cache would hide a failure."""
    wait = settings.PUBLISH_SECONDS
    try:
        with redis.Redis.from_url(settings.REDIS_URL, socket_connect_timeout=wait, socket_timeout=wait) as client:
            client.set(REDIS_KEY, 1, ex=REDIS_KEY_SECONDS)
    except redis.ResponseError:  # it is full, or a replica
        return CANNOT_WRITE
    except redis.RedisError:
        return "unavailable"
    return OK


def _unless_it_fails(ask: Callable[[], str]) -> str:
    try:
        return ask()
    except Error:
        return UNAVAILABLE
