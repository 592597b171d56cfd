"""Limits that are counted in PostgreSQL, and how `RATE_LIMITS` scales all limits of the site.

`nomercy/limits.py` has the limits on requests, which are counted in memory or in Redis.
"""

from dataclasses import dataclass
from datetime import timedelta
from math import ceil
from typing import Final

from django.conf import settings

MINUTE: Final = 60
HOUR: Final = 60 * MINUTE


@dataclass(frozen=True, slots=True)
class TryLimit:
    """At most `most` counted tries in any `seconds`. `what` names them in the sentence that refuses more."""

    name: str
    most: int
    seconds: int
    what: str

    @property
    def window(self) -> timedelta:
        return timedelta(seconds=self.seconds)


# Counted when they fail
WRONG_BY_ADDRESS: Final = TryLimit("wrong-address", 10, MINUTE, "wrong passwords and codes from your network")
WRONG_BY_NAME: Final = TryLimit("wrong-name", 5, 5 * MINUTE, "wrong passwords for this name")
WRONG_BY_PERSON: Final = TryLimit("wrong-person", 5, 5 * MINUTE, "wrong passwords and codes for this account")
WRONG_BY_BROWSER: Final = TryLimit("wrong-browser", 5, 5 * MINUTE, "wrong passwords and codes in this browser")
WRONG_IN_KNOWN: Final = TryLimit("wrong-known", 5, 5 * MINUTE, "wrong codes in browsers that you have used before")
# Counted when they succeed
SIGN_UPS: Final = TryLimit("sign-ups", 20, MINUTE, "new accounts from your network")
SIGN_UPS_IN_AN_HOUR: Final = TryLimit("sign-ups-hour", 120, HOUR, "new accounts from your network")
GUESTS: Final = TryLimit("guests", 120, HOUR, "new guests from your network")
RESETS_BY_ADDRESS: Final = TryLimit("resets-address", 20, MINUTE, "requests for a new password from your network")
CONFIRMATIONS: Final = TryLimit("confirmations-address", 30, HOUR, "emails to confirm an address from your network")
RESETS_IN_AN_HOUR: Final = TryLimit("resets-hour", 30, HOUR, "requests for a new password from your network")
REST_CHANGES: Final = TryLimit("rest-changes", 5, MINUTE, "changes of your quiet hours, time zone or vacation")
DATA_COPIES: Final = TryLimit("data-copies", 3, 24 * HOUR, "copies of your data")
# Counted by rows of mails, separately for each kind that people can ask for (accounts/mails.py)
MAILS_TO_MAILBOX: Final = TryLimit("mails-mailbox", 3, HOUR, "emails of this kind to this address")
MAILS_BY_PERSON: Final = TryLimit("mails-person", 10, HOUR, "emails of this kind for this account")


class TooManyTries(Exception):
    """A limit is reached. The next try is possible after `wait` seconds."""

    def __init__(self, limit: TryLimit, wait: int) -> None:
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


def crowded(of_network: int, most: int, *, own: int, few: int) -> bool:
    """Return whether an address gets no more, because all of its network have more than `most`.

    An address that has at most `few` of its own may go on until its network has twice as much. Otherwise a handful of
    addresses would lock out their neighbours. `few` is not scaled.
    """
    return of_network > (most if own > few else 2 * most)
