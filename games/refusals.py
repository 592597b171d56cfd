"""Every refusal of pages, the API and staff tools: codes, HTTP statuses and sentences.

The rules have refusals of their own (`games.rules.REFUSALS`). `Denied` carries those too, so that the same refusal has
the same code, sentence and status everywhere.
"""

from collections.abc import Callable, Mapping
from contextvars import ContextVar
from typing import Any, Final, ParamSpec

import psycopg
import structlog
from django.db import DatabaseError, InterfaceError, OperationalError, ProgrammingError
from psycopg.errors import (
    DeadlockDetected,
    IdleInTransactionSessionTimeout,
    LockNotAvailable,
    QueryCanceled,
    ReadOnlySqlTransaction,
    UndefinedColumn,
    UndefinedTable,
)

from common.readers_language import say
from common.say import ENGLISH, N_, Message, Say
from games.rules import Refused

log = structlog.get_logger(__name__)

STOPPED: Final = N_(
    "The site’s operators have stopped all games, for example to restore a backup, and will resume them."
)
"""Why a game stands still until `manage.py release`, after a restore or after `manage.py freeze` by hand."""

RETRY_SECONDS: Final = 2
"""After how many seconds a client should try again if a table was busy."""

CONNECTION_LOST_CODES: Final = frozenset(
    {"08000", "08001", "08003", "08004", "08006", "53300", "57P01", "57P02", "57P03", "57P05"}
)
"""The SQLSTATE codes for a failed or refused connection. A connection that broke off has no code."""

NO_ROOM_CODES: Final = frozenset({"53000", "53100", "53200"})
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
"""The HTTP status of every refusal, in the order of the checks. A refusal of the rules is 422."""


refused_with: Final = ContextVar("refused_with", default="")
"""The code of the last refusal in this thread or task. `nomercy.metrics` counts it if the answer is a refusal."""


P = ParamSpec("P")


class Denied(Exception):
    """A request was refused.

    `code` is its name. `message` says why in English, for the API and logs, and `words` in the language of the person
    who is answered, for pages. `rule` is the number of a rule, or None. `version` is the current version of the game,
    None without a game. `option` is the choice of a new table that was refused, by its name in `TableChoices` or in its
    rule options, or empty.
    """

    def __init__(
        self,
        code: str,
        sentence: Message | Callable[[Say], str],
        *,
        message: str = "",
        rule: str | None = None,
        version: int | None = None,
        option: str = "",
        **facts: object,
    ) -> None:
        """Keep the sentence, whose placeholders stand for `facts`, or the function that says it.

        `message` is for what the API says in other words, for example with the names that options have there.
        """
        refused_with.set(code)
        self.option = option
        self.code = code
        self.rule = rule
        self.version = version
        self._sentence = sentence
        self._facts: Mapping[str, Any] = facts
        self.message = message or self.said(ENGLISH)
        super().__init__(self.message)

    def said(self, say: Say) -> str:
        """Return why the request was refused."""
        if callable(self._sentence):
            return self._sentence(say)
        return say.form("refusal", self._sentence, **self._facts)

    @property
    def words(self) -> str:
        """Why the request was refused, in the language that is active."""
        return self.said(say)

    @property
    def status(self) -> int:
        return STATUSES.get(self.code, 422)

    def to_json(self) -> dict[str, object]:
        """Return the error object of the API."""
        return {"error": self.code, "message": self.message, "rule": self.rule, "version": self.version}


def permits(check: Callable[P, object], *args: P.args, **kwargs: P.kwargs) -> bool:
    """Return True if a check with these arguments raises no `Denied`."""
    try:
        check(*args, **kwargs)
    except Denied:
        return False
    return True


def from_rules(refused: Refused, version: int | None) -> Denied:
    """Return a refusal of the rules as a `Denied`."""
    return Denied(refused.code, refused.said, rule=refused.rule, version=version)


def not_started(version: int) -> Denied:
    """Return the refusal of a request that only a started table can answer."""
    return Denied("not_started", "The game has not started yet.", version=version)


def over(version: int, *, begun: bool) -> Denied:
    """Return the refusal of a request to a table that has ended. `begun` is False if its game never started."""
    if begun:
        return Denied("over", "The game is over.", rule="END-1", version=version)
    return Denied("over", "This table was closed before the game started.", version=version)


def frozen(version: int | None = None) -> Denied:
    """Return the refusal to make or start a table until `manage.py release`."""
    sentence = N_(
        "The site’s operators have stopped all games: no table can be made or started until they resume them."
    )
    return Denied("paused", sentence, version=version)


def suspended() -> Denied:
    """Return the refusal of every request of a suspended person, except for the page with the reason."""
    return Denied("suspended", "This account is suspended. Log in to the site to read why and until when.")


def not_found() -> Denied:
    """Return the refusal for a table that does not exist, or that the person may not see."""
    return Denied("not_found", "This table does not exist, or it is private and you need its invitation link.")


def does_not_replay() -> Denied:
    """Return the refusal to replay a game whose stored log does not follow from its deal."""
    return Denied("not_found", "This game can’t be replayed: its record is damaged.")


def busy() -> Denied:
    """Return the refusal of a request that waited too long. It may succeed in a moment. What it committed is kept."""
    return Denied("busy", "The site is busy. Try again in a few seconds.")


def unavailable() -> Denied:
    """Return the refusal of a request that lost the database. Whether its last commit was kept is not known."""
    return Denied("unavailable", "The database is unavailable. Try again in a few seconds.")


def cannot_save() -> Denied:
    """Return the refusal of a request for which the database had no room. Its transaction was rolled back."""
    return Denied("unavailable", "The site cannot save anything at the moment. Try again in a few minutes.")


def being_updated() -> Denied:
    """Return the refusal of a request while the tables are those of another release."""
    return Denied("unavailable", "The site is being updated. Try again in a minute.")


def temporary_refusal(error: BaseException) -> Denied | None:
    """Return the refusal for a temporary fault of the database that the request did not cause, or None.

    A lost or full database is logged with its SQLSTATE code, so that the operator can tell a restart from a wrong
    password. Tracebacks are left out, because they would fill up the disk.
    """
    if waited_too_long(error):
        return busy()
    cause = error.__cause__
    code = cause.sqlstate if isinstance(cause, psycopg.Error) else None
    if has_no_room(error):
        log.error("the database has no room", error=type(cause).__name__, sqlstate=code)
        return cannot_save()
    if lost_the_database(error):
        log.error("the database is unavailable", error=type(cause).__name__, sqlstate=code, away="PostgreSQL")
        return unavailable()
    if does_not_fit(error):
        # The first line names a table or a column, and no value.
        log.error(
            "the database does not fit this release",
            missing=str(cause).partition("\n")[0],
            help="manage.py migrate",
            away="the schema of this release",
        )
        return being_updated()
    return None


def is_temporary(error: BaseException) -> bool:
    """Return True if `temporary_refusal` has a refusal for this fault, or for each fault of a group."""
    if isinstance(error, BaseExceptionGroup):
        return all(is_temporary(one) for one in error.exceptions)
    return waited_too_long(error) or has_no_room(error) or lost_the_database(error) or does_not_fit(error)


def waited_too_long(error: BaseException) -> bool:
    """Return True if PostgreSQL ended a statement for a timeout or a deadlock, or an idle transaction.

    Nothing of the transaction was kept, and trying again may succeed.
    """
    causes = (LockNotAvailable, QueryCanceled, DeadlockDetected, IdleInTransactionSessionTimeout)
    return isinstance(error, DatabaseError) and isinstance(error.__cause__, causes)


def has_no_room(error: BaseException) -> bool:
    """Return True if PostgreSQL is short of disk or memory."""
    cause = error.__cause__
    return isinstance(error, OperationalError) and isinstance(cause, psycopg.Error) and cause.sqlstate in NO_ROOM_CODES


def lost_the_database(error: BaseException) -> bool:
    """Return True if PostgreSQL cannot be reached, takes no connection or no writes, or broke off the connection."""
    cause = error.__cause__
    if isinstance(error, InterfaceError):
        return isinstance(cause, psycopg.InterfaceError)  # the connection was found closed
    if isinstance(cause, ReadOnlySqlTransaction):  # another server may have become the one that takes writes
        return True
    if not isinstance(error, OperationalError) or not isinstance(cause, psycopg.OperationalError):
        return False
    return cause.sqlstate is None or cause.sqlstate in CONNECTION_LOST_CODES


def does_not_fit(error: BaseException) -> bool:
    """Return True if PostgreSQL has no such table or column: migrations are missing, or this process is an old one."""
    return isinstance(error, ProgrammingError) and isinstance(error.__cause__, UndefinedColumn | UndefinedTable)
