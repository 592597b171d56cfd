"""Try the PostgreSQL of `DATABASE_URL` before anything starts, so that a wrong URL is refused in one sentence."""

from typing import Any, Final

import psycopg

from nomercy.checks import Environment, refuse

NAME: Final = "DATABASE_URL"
CONNECT_SECONDS: Final = 5
NOT_FOR_LIBPQ: Final = frozenset({"assume_role", "isolation_level", "pool", "server_side_binding"})
"""Options of Django's own."""


def require_reachable() -> None:
    """Connect to the database of `DATABASE_URL`, if it is set, and disconnect.

    :raises SystemExit: if it cannot be used. The reason is one sentence and never contains the password.
    """
    given = Environment().database(NAME)
    if not given:
        return
    try:
        psycopg.connect(**_parameters(given)).close()
    except (psycopg.Error, ValueError) as error:  # ValueError: a NUL or the like in a part of the address
        refuse(f"the database of {NAME} cannot be used: {_reason(error, given)}.")


def _parameters(given: dict[str, Any]) -> dict[str, Any]:
    own = {"host": given["HOST"], "port": given["PORT"], "user": given["USER"], "password": given["PASSWORD"]}
    options = {name: value for name, value in given.get("OPTIONS", {}).items() if name not in NOT_FOR_LIBPQ}
    wanted = {name: value for name, value in own.items() if value} | {"dbname": given["NAME"]}
    return {"connect_timeout": CONNECT_SECONDS, **wanted, **options}


def _reason(error: Exception, given: dict[str, Any]) -> str:
    """Return what PostgreSQL or its client said, on one line; of several tries the last."""
    lines = [line for line in str(error).splitlines() if line.strip() and not line.startswith("\t")]
    said = " ".join(lines[-1].split()) if lines else type(error).__name__
    for prefix in ("- ", "connection failed: ", "connection is bad: "):
        said = said.removeprefix(prefix)
    return said.replace(given["PASSWORD"], "…").rstrip(".") if given["PASSWORD"] else said.rstrip(".")
