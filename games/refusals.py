"""What a door answers when it cannot do what was asked: one closed table of names and HTTP statuses.

The rules have refusals of their own (`games.rules.REFUSALS`, rule numbers included); `Denied` carries those too, so
that pages, the API and staff tools all show the same name, sentence and status for the same fault.
"""

from typing import Final

import psycopg
import structlog
from django.db import DatabaseError, InterfaceError, OperationalError
from psycopg.errors import DeadlockDetected, IdleInTransactionSessionTimeout, LockNotAvailable, QueryCanceled

from games.rules import Refused

log = structlog.get_logger(__name__)

RETRY_SECONDS: Final = 2
"""How soon somebody who found a table busy may try again."""

WITHOUT_DATABASE: Final = frozenset(
    {"08000", "08001", "08003", "08004", "08006", "53300", "57P01", "57P02", "57P03", "57P05"}
)
"""The codes by which PostgreSQL says that a connection failed or is not to be had; without a code it said nothing."""

NO_ROOM: Final = frozenset({"53000", "53100", "53200"})
"""The SQLSTATE codes for insufficient resources: in general, disk (53100) and memory (53200)."""

STATUSES: Final[dict[str, int]] = {
    "unauthorized": 401,
    "suspended": 403,
    "malformed": 400,
    "timed_out": 408,
    "length_required": 411,
    "too_large": 413,
    "not_found": 404,
    "method_not_allowed": 405,
    "not_seated": 403,
    "forbidden": 403,
    "over": 409,
    "not_started": 409,
    "full": 409,
    "already_seated": 409,
    "already_started": 409,
    "too_few_players": 409,
    "paused": 409,
    "bot_plays": 409,
    "stale": 409,
    "token_reused": 422,
    "too_many_requests": 429,
    "broken": 500,
    "busy": 503,
    "unavailable": 503,
}
"""HTTP status of every refusal of a door, in the order they are checked; a refusal of the rules is 422."""


class Denied(Exception):
    """A request refused with a name, a sentence for the person, and a status.

    `rule` is a rule number of the rulebook, or None; `version` is the current version of the game, where there is one.
    """

    def __init__(self, code: str, message: str, *, rule: str | None = None, version: int | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.rule = rule
        self.version = version

    @property
    def status(self) -> int:
        return STATUSES.get(self.code, 422)

    def to_json(self) -> dict[str, object]:
        """The error object of the API."""
        return {"error": self.code, "message": self.message, "rule": self.rule, "version": self.version}


def from_rules(refused: Refused, version: int | None) -> Denied:
    """The rules' refusal as a door's."""
    return Denied(refused.code, refused.message, rule=refused.rule, version=version)


def not_started(version: int) -> Denied:
    """Return the refusal of a request that only a started table can answer."""
    return Denied("not_started", "The game has not started yet.", version=version)


def over(version: int, *, begun: bool) -> Denied:
    """For what only a game has that goes on, or is still to begin: it was `begun` and has ended, or never was."""
    if begun:
        return Denied("over", "The game is over.", rule="END-1", version=version)
    return Denied("over", "This table was closed before its game began.", version=version)


def suspended() -> Denied:
    """For everything that somebody suspended asks for, but the page that says why."""
    return Denied("suspended", "This account is suspended. Log in to the site to read why and until when.")


def not_found() -> Denied:
    """For a table that is not there, and for one that this person may not know of."""
    return Denied("not_found", "There is no such table, or it is private and needs its invitation link.")


def does_not_replay() -> Denied:
    """For a game whose stored log does not follow from its deal: there is no replay, and no record, of it."""
    return Denied("not_found", "The stored log of this game does not follow from its deal, so it cannot be replayed.")


def busy() -> Denied:
    """For a request that waited too long, and may succeed in a moment. What it had committed before that is kept."""
    return Denied("busy", "The site is busy. Try again in a few seconds.")


def unavailable() -> Denied:
    """For a request that the database left in the middle. Nobody knows yet whether its commit was kept, either."""
    return Denied("unavailable", "The database is unavailable. Try again in a few seconds.")


def cannot_save() -> Denied:
    """Return the refusal of a request that the database had no room for. Its transaction was rolled back."""
    return Denied("unavailable", "The site cannot save anything at the moment. Try again in a few minutes.")


def passing(error: BaseException) -> Denied | None:
    """Return the refusal for a temporary fault of the database that the request did not cause; None for any other.

    A lost or full database is logged by its code, without a traceback: the operator must be able to tell a restart
    from a wrong password, and tracebacks would fill the rest of the disk.
    """
    if waited_too_long(error):
        return busy()
    cause = error.__cause__
    code = cause.sqlstate if isinstance(cause, psycopg.Error) else None
    if has_no_room(error):
        log.error("the database has no room", error=type(cause).__name__, sqlstate=code)
        return cannot_save()
    if lost_the_database(error):
        log.error("the database is away", error=type(cause).__name__, sqlstate=code)
        return unavailable()
    return None


def passes(error: BaseException) -> bool:
    """Return True if `passing` has a refusal for this fault, or for each fault of a group."""
    if isinstance(error, BaseExceptionGroup):
        return all(passes(one) for one in error.exceptions)
    return waited_too_long(error) or has_no_room(error) or lost_the_database(error)


def waited_too_long(error: BaseException) -> bool:
    """Whether PostgreSQL ended a statement that waited too long, or in a ring, or a transaction in which this process
    hung: nothing of that transaction was kept, and trying again may well do."""
    causes = (LockNotAvailable, QueryCanceled, DeadlockDetected, IdleInTransactionSessionTimeout)
    return isinstance(error, DatabaseError) and isinstance(error.__cause__, causes)


def has_no_room(error: BaseException) -> bool:
    """Return True if PostgreSQL is short of disk or memory."""
    cause = error.__cause__
    return isinstance(error, OperationalError) and isinstance(cause, psycopg.Error) and cause.sqlstate in NO_ROOM


def lost_the_database(error: BaseException) -> bool:
    """Whether PostgreSQL cannot be reached, takes no more connections, or went away in the middle of a request."""
    cause = error.__cause__
    if isinstance(error, InterfaceError):
        return isinstance(cause, psycopg.InterfaceError)  # the connection was found closed
    if not isinstance(error, OperationalError) or not isinstance(cause, psycopg.OperationalError):
        return False
    return cause.sqlstate is None or cause.sqlstate in WITHOUT_DATABASE
