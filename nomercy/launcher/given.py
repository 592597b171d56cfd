"""Connect to the given PostgreSQL and Redis before anything starts, to refuse wrong settings in one sentence."""

from typing import Any, Final

import psycopg
import redis

from nomercy.checks import Environment, refuse

NAME: Final = "DATABASE_URL"
REDIS: Final = "REDIS_URL"
CONNECT_SECONDS: Final = 5
NOT_FOR_LIBPQ: Final = frozenset({"assume_role", "isolation_level", "pool", "server_side_binding"})
"""Options that Django reads itself."""


def require_reachable() -> None:
    """Connect to the database of `DATABASE_URL`, if it is set, and disconnect.

    :raises SystemExit: it cannot be used. The reason is one sentence without the password.
    """
    reason = why_unusable()
    if reason:
        refuse(f"the database of {NAME} cannot be used: {reason}.")


def why_unusable() -> str:
    """Return why the database of `DATABASE_URL` cannot be used: a clause without the password. Empty if it can be.

    Without `DATABASE_URL` it is empty, too.
    """
    given = Environment().database(NAME)
    if not given:
        return ""
    try:
        psycopg.connect(**_parameters(given)).close()
    except (psycopg.Error, ValueError) as error:  # ValueError: for example a NUL in the URL
        return _reason(error, given)
    return ""


def require_redis_log_in() -> None:
    """Log in to the Redis of `REDIS_URL`, if it is set, and disconnect. It may be away: the site works without it.

    :raises SystemExit: it refuses the password, or needs one.
    """
    url = Environment().redis(REDIS)
    if not url:
        return
    seconds = {"socket_connect_timeout": CONNECT_SECONDS, "socket_timeout": CONNECT_SECONDS}
    try:
        with redis.Redis.from_url(url, **seconds) as client:
            client.ping()
    except redis.AuthenticationError:
        refuse(f"the Redis of {REDIS} refuses the password.")
    except (redis.ConnectionError, redis.TimeoutError):
        pass  # `/readyz` says so as long as it is away


def _parameters(given: dict[str, Any]) -> dict[str, Any]:
    own = {"host": given["HOST"], "port": given["PORT"], "user": given["USER"], "password": given["PASSWORD"]}
    options = {name: value for name, value in given.get("OPTIONS", {}).items() if name not in NOT_FOR_LIBPQ}
    wanted = {name: value for name, value in own.items() if value} | {"dbname": given["NAME"]}
    return {"connect_timeout": CONNECT_SECONDS, **wanted, **options}


def _reason(error: Exception, given: dict[str, Any]) -> str:
    """Return the last error of PostgreSQL or its client, on one line and without the password."""
    lines = [line for line in str(error).splitlines() if line.strip() and not line.startswith("\t")]
    said = " ".join(lines[-1].split()) if lines else type(error).__name__
    for prefix in ("- ", "connection failed: ", "connection is bad: "):
        said = said.removeprefix(prefix)
    return said.replace(given["PASSWORD"], "…").rstrip(".") if given["PASSWORD"] else said.rstrip(".")
