"""Where people are logged in: what a session keeps of its log-in, the list of them, and ending them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.http import HttpRequest

from accounts import queries
from accounts.actions import lock_person
from accounts.models import Session, User
from accounts.user_agents import UNKNOWN, browser_of

BROWSER: Final = "browser"
SINCE: Final = "since"
"""The keys under which a session keeps the browser of its log-in, in words, and when it was."""
SHOWN: Final = 50
"""The most log-ins that are listed."""


def remember(request: HttpRequest, *, now: datetime) -> None:
    """Keep in the session that this is a log-in, for the list."""
    request.session[SINCE] = now.isoformat()
    request.session[BROWSER] = browser_of(request.headers.get("User-Agent", ""))


@dataclass(frozen=True, slots=True)
class LogIn:
    """A browser in which somebody is logged in. `since` is unknown for one from before this was stored."""

    handle: str
    browser: str
    since: datetime | None
    seen: datetime
    here: bool


def listed(user: User, *, here: str | None, now: datetime) -> list[LogIn]:
    """Return where this person is logged in, the last used first; `here` is the key of the session that asks."""
    rows = Session.objects.filter(user=user, expire_date__gt=now).order_by("-seen_at")[:SHOWN]
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
        if queries.stands(data, user.pk, {user.pk: user}, now)
    ]


def end(*, user_id: int, handle: str, here: str) -> bool:
    """End the session of this person that pages call `handle`; False if there is none, or it is `here` itself."""
    others = Session.objects.filter(user=user_id).exclude(session_key=here)
    keys = [session.session_key for session in others if session.handle == handle]
    deleted, _ = Session.objects.filter(session_key__in=keys).delete()
    return bool(deleted)


def end_others(*, user_id: int, here: str) -> bool:
    """End every session of this person but the one whose key is `here`; False, and nothing is done, if that has ended.

    Called in a transaction, with the person locked until its end: of two sessions that end each other one stays.
    """
    lock_person(user_id)
    mine = Session.objects.filter(user=user_id)
    if not mine.filter(session_key=here).exists():
        return False
    mine.exclude(session_key=here).delete()
    return True


def end_all(*, user_id: int, but: str | None = None) -> None:
    """End every session of this person, but the one with this key if it is given."""
    Session.objects.filter(user=user_id).exclude(session_key=but or "").delete()
