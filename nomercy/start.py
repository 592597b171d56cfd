"""What a process of a site does at its start, when it has logged that it has started."""

from django.db import Error
from structlog import get_logger

from common.schema import unknown_migration
from nomercy.checks import Environment
from nomercy.launcher.given import NAME, why_unusable

log = get_logger(__name__)


def log_state_of_database() -> None:
    """Log one line if the database of `DATABASE_URL` cannot be used, or was used by newer code.

    The process stays up: the database may be away for a moment, and older code may fit well enough.
    """
    if not Environment().text(NAME):
        return
    reason = why_unusable()
    if reason:
        log.error("the database cannot be used", reason=reason, away="PostgreSQL")
        return
    try:
        unknown = unknown_migration()
    except Error as error:  # it has gone away just now
        reason = str(error).partition("\n")[0]
        log.error("the database cannot be used", reason=reason, away="PostgreSQL")  # noqa: TRY400  # as above
        return
    if unknown:
        log.warning("the database was used by newer code", migration=unknown)
