"""The table of all limits on how often something may be done. docs/limits.md lists it.

Requests are counted in the cache (`nomercy.limits`), tries in PostgreSQL (`accounts.tries`), mails by their rows, and
websockets in the process (`games.live.socket_limits`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from math import ceil
from typing import Final

from django.conf import settings

MINUTE: Final = 60
HOUR: Final = 60 * MINUTE
REQUESTS: Final = "requests in a short time"


@dataclass(frozen=True, slots=True)
class Limit:
    """At most `most` in `seconds`. `who` says for what each is counted, like "person" or "address".

    The log names the limit by `name`. `what` is counted, for the sentence that refuses more.
    """

    name: str
    who: str
    most: int
    seconds: int = MINUTE
    what: str = REQUESTS

    @property
    def window(self) -> timedelta:
        return timedelta(seconds=self.seconds)


RequestLimits = Mapping[str, Limit]
"""The limits on requests of one kind, by `who`. "visitor" means all visitors from one address together."""


def _requests(name: str, seconds: int = MINUTE, **most: int) -> RequestLimits:
    return {who: Limit(name, who, number, seconds) for who, number in most.items()}


# Requests. They are far above what playing needs. nomercy/limits.py says which URLs they are for.
READS: Final = _requests("reads", address=12_000)
HEALTH_CHECKS: Final = _requests("health", address=3_000)
API_CALLS: Final = _requests("api", token=18_000, session=18_000, address=36_000)
UNKNOWN_TOKENS: Final = _requests("unknown-tokens", address=60)
RECORDS: Final = _requests("records", person=300, visitor=300, address=600)
MOVES: Final = _requests("moves", person=6_000, visitor=480, address=120_000)
# By the hour: tables that a person has left do not count for the limits of games/actions/table_limits.py.
TABLES: Final = _requests("tables", HOUR, person=1_200, visitor=120, address=4_800)
SEATS: Final = _requests("seats", person=60, visitor=30, address=240)
API_SEATS: Final = _requests("api-seats", person=600, address=2_400)
STORES: Final = _requests("stores", person=30, visitor=30, address=60)
# Each can wait eight seconds for a host that somebody names, in one of the few threads for pages.
OUTGOING: Final = _requests("outgoing", person=6, address=20)
REPORTS: Final = _requests("reports", HOUR, person=10, address=40)
LOG_INS: Final = _requests("log-ins", person=60, address=60)
CALLBACKS: Final = _requests("openid-callbacks", person=60, address=60)
# By session, so that a thief with a stolen session cannot block its owner.
PASSWORDS: Final = _requests("passwords", session=10, address=60)
SESSIONS: Final = _requests("sessions", session=10, address=60)
ADDRESSES: Final = _requests("addresses", person=10, address=40)
OTHERS: Final = _requests("others", person=120, address=480)

# Tries that count when they fail
WRONG_BY_ADDRESS: Final = Limit("wrong-address", "address", 10, MINUTE, "wrong passwords and codes from your network")
WRONG_BY_NAME: Final = Limit("wrong-name", "name", 5, 5 * MINUTE, "wrong passwords for this name")
WRONG_BY_PERSON: Final = Limit("wrong-person", "person", 5, 5 * MINUTE, "wrong passwords and codes for this account")
WRONG_BY_BROWSER: Final = Limit("wrong-browser", "browser", 5, 5 * MINUTE, "wrong passwords and codes in this browser")
WRONG_IN_KNOWN: Final = Limit(
    "wrong-known", "person", 5, 5 * MINUTE, "wrong codes in browsers that you have used before"
)
# Tries that count when they succeed
SIGN_UPS: Final = Limit("sign-ups", "address", 20, MINUTE, "new accounts from your network")
SIGN_UPS_IN_AN_HOUR: Final = Limit("sign-ups-hour", "address", 120, HOUR, "new accounts from your network")
GUESTS: Final = Limit("guests", "address", 120, HOUR, "new guests from your network")
RESETS_BY_ADDRESS: Final = Limit(
    "resets-address", "address", 20, MINUTE, "requests for a new password from your network"
)
RESETS_IN_AN_HOUR: Final = Limit("resets-hour", "address", 30, HOUR, "requests for a new password from your network")
CONFIRMATIONS: Final = Limit(
    "confirmations-address", "address", 30, HOUR, "emails to confirm an address from your network"
)
TIME_OFF_CHANGES: Final = Limit(
    "rest-changes", "person", 5, MINUTE, "changes of your quiet hours, time zone or vacation"
)
HOOK_TESTS: Final = Limit("hook-tests", "person", 20, 24 * HOUR, "tests of your webhook")
DATA_COPIES: Final = Limit("data-copies", "person", 3, 24 * HOUR, "copies of your data")

# Mails of each kind that people can ask for
MAILS_TO_MAILBOX: Final = Limit("mails-mailbox", "mailbox", 3, HOUR, "emails of this kind to this address")
MAILS_BY_PERSON: Final = Limit("mails-person", "person", 10, HOUR, "emails of this kind for this account")

# Websockets that are opened
SOCKETS: Final = Limit("sockets", "address", 600)


class TooManyTries(Exception):
    """A limit is reached. The next try is possible after `wait` seconds."""

    def __init__(self, limit: Limit, wait: int) -> None:
        super().__init__(f"{limit.name}: wait {wait} s")
        self.limit = limit
        self.wait = wait

    @property
    def message(self) -> str:
        """The sentence that a form shows."""
        return refusal(self.limit.what, self.wait)


def refusal(what: str, wait: int) -> str:
    """Return the sentence that refuses more of `what`, with the time to wait. `wait` is in seconds."""
    number, unit = (wait, "second") if wait < 2 * MINUTE else (ceil(wait / MINUTE), "minute")
    return f"Too many {what}. Try again in {number} {unit}{'' if number == 1 else 's'}."


def scaled(most: int) -> int | None:
    """Return a limit scaled by `RATE_LIMITS` (per cent), rounded down, and at least 1. None means no limit."""
    # RATE_LIMITS=0 turns all limits off, for tests and measurements.
    if settings.RATE_LIMITS == 0:
        return None
    return max(1, most * settings.RATE_LIMITS // 100)
