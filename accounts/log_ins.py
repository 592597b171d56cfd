"""List the browsers in which a person is logged in, and log out there."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, cast

from allauth.account import app_settings
from allauth.account.authentication import get_authentication_records
from django.contrib.auth import update_session_auth_hash
from django.contrib.sessions.backends.base import SessionBase, UpdateError
from django.db import transaction
from django.http import HttpRequest
from django.utils.crypto import get_random_string

from accounts import queries
from accounts.actions import lock_person
from accounts.allauth_internals import did_recently_reauthenticate
from accounts.models import Session, User
from accounts.user_agents import UNKNOWN, browser_of

BROWSER: Final = "browser"
SINCE: Final = "since"
"""The keys under which a session stores the browser of its log-in, as text, and the time."""
MARK_LENGTH: Final = 22
MOST_LOG_INS: Final = 50
"""How many log-ins a person may have at once."""


@transaction.atomic
def record_log_in(request: HttpRequest, user_id: int, *, now: datetime) -> None:
    """Store the session of a log-in, with its browser and time.

    Of the person's other sessions, only the `MOST_LOG_INS` - 1 last used are kept. Locks the person.
    """
    lock_person(user_id)
    others = Session.objects.filter(user=user_id).exclude(session_key=request.session.session_key or "")
    kept = others.order_by("-seen_at").values("pk")[: MOST_LOG_INS - 1]
    others.exclude(pk__in=kept).delete()
    request.session[SINCE] = now.isoformat()
    request.session[BROWSER] = browser_of(request.headers.get("User-Agent", ""))
    store_now(request.session)  # under the lock, so that the next log-in counts it


def store_now(session: SessionBase) -> None:
    """Store this session now instead of with the response, because another request may read it before that."""
    with suppress(UpdateError):  # it has just been logged out elsewhere, which `SessionMiddleware` finds too
        session.save()


@dataclass(frozen=True, slots=True)
class LogIn:
    """A browser in which somebody is logged in.

    `handle` names the session on pages. `since` is None if it was not recorded. `seen` is the last use as stored
    (`SEEN_INTERVAL`). `here` is True for the session of the request.
    """

    handle: str
    browser: str
    since: datetime | None
    seen: datetime
    here: bool


def list_for(user: User, *, here: str | None, now: datetime) -> list[LogIn]:
    """Return the log-ins of this person, the last used first. `here` is the key of the session that asks."""
    rows = Session.objects.filter(user=user, expire_date__gt=now, ending=False).order_by("-seen_at")[:MOST_LOG_INS]
    found = [(row, row.get_decoded()) for row in rows]
    return [
        LogIn(
            handle=row.handle,
            browser=data.get(BROWSER, UNKNOWN),
            since=datetime.fromisoformat(data[SINCE]) if SINCE in data else None,
            seen=row.seen_at,
            here=row.session_key == here,
        )
        for row, data in found
        if queries.session_is_valid(data, user.pk, {user.pk: user}, now)
    ]


def is_recent(request: HttpRequest, now: datetime) -> bool:
    """Return True if this session logged in within the time for which a password that was asked for again counts."""
    since = request.session.get(SINCE)
    timeout = timedelta(seconds=app_settings.REAUTHENTICATION_TIMEOUT)
    return since is not None and now - datetime.fromisoformat(since) < timeout


def lacks_confirmation(request: HttpRequest) -> bool:
    """Return True if the user has to show their identity at the OpenID provider again before a security change.

    allauth asks nothing of people without a password and a second factor.
    """
    user = request.user
    if not isinstance(user, User) or not queries.confirms_by_identity(user):
        return False
    earliest = time.time() - app_settings.REAUTHENTICATION_TIMEOUT
    records = get_authentication_records(request, user)
    return not any(record.get("reauthenticated") and record["at"] > earliest for record in records)


def is_confirmed(request: HttpRequest) -> bool:
    """Return True if the user has confirmed their identity in the last few minutes, or can show nothing."""
    return bool(did_recently_reauthenticate(request)) and not lacks_confirmation(request)


def end(*, user_id: int, handle: str, here: str) -> bool:
    """End this person's session with this handle. Return False if there is none, or if its key is `here`."""
    others = Session.objects.filter(user=user_id).exclude(session_key=here).only("session_key")
    keys = [session.session_key for session in others.iterator() if session.handle == handle]
    deleted, _ = Session.objects.filter(session_key__in=keys).delete()
    return bool(deleted)


@transaction.atomic
def end_elsewhere(request: HttpRequest) -> bool:
    """End every session of this person except that of the request, which gets a new key.

    No other browser is known to the person any more (`known_browsers.remember` makes this one known again). Of what is
    under way in the others nothing completes: a log-in that waits for a code, and a request that waits for
    the person's lock. If the session of the request has ended meanwhile, do nothing and return False.
    """
    user, here = cast("User", request.user), request.session.session_key
    lock_person(user.pk)  # so that two sessions cannot end each other
    mine = Session.objects.filter(user=user)
    if not mine.filter(session_key=here).exists():
        return False
    mine.exclude(session_key=here).delete()
    user.session_mark = get_random_string(MARK_LENGTH)
    user.save(update_fields=["session_mark"])
    update_session_auth_hash(request, user)
    return True


def end_all(*, user_id: int, keep: str | None = None) -> None:
    """End every session of this person, except the one with the key `keep`."""
    Session.objects.filter(user=user_id).exclude(session_key=keep or "").delete()
