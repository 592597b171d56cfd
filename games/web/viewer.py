"""The user of a request and the invitation links of its browser, which decide what tables it may see."""

from __future__ import annotations

from typing import Final

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest

from accounts.adapter import LINKS, links_in
from accounts.models import User
from common.readers_language import say
from common.say import N_
from games import queries
from games.queries import GameView, Table, Viewer, conduct, lists
from games.refusals import Denied

LINKS_KEPT: Final = 50
SEAT_GIVEN_AWAY: Final = N_(
    "Staff gave your seat at this table to somebody else. It is private, so you can only watch it by its invitation"
    " link. Your notifications say more."
)
SEAT_TAKEN: Final = N_("Staff removed you from this table, so you can’t see it any more. Your notifications say more.")
BACKEND: Final = "accounts.backends.ByUsername"
"""The authentication backend that logs a guest in."""


def person(request: HttpRequest) -> User | None:
    """Return the logged-in user, who may be a guest, or None for a visitor."""
    return request.user if isinstance(request.user, User) else None


def viewer(request: HttpRequest) -> Viewer[User | None]:
    """Return the user, if any, with the invitation keys that this browser has opened."""
    return Viewer(person(request), links_in(request.session))


def viewer_as(request: HttpRequest, user: User) -> Viewer[User]:
    """Return this logged-in user with the invitation keys that this browser has opened."""
    return Viewer(user, links_in(request.session))


def remember_link(request: HttpRequest, key: str) -> None:
    """Let this browser see the table of this invitation key, for as long as the table keeps the key."""
    kept = [known for known in links_in(request.session) if known != key]
    request.session[LINKS] = [*kept, key][-LINKS_KEPT:]


def table_for(request: HttpRequest, code: str) -> Table:
    """Return the table with this code, from one snapshot.

    :raises Http404: there is none, or the viewer may not see it.
    :raises PermissionDenied: the viewer may not see it because staff removed them or gave their seat away.
    """
    asker = viewer(request)
    try:
        return queries.load_for(code, asker)
    except Denied as denied:
        if asker.user is not None and conduct.lost_seat_to_staff(code, asker.user):
            removed = conduct.removed_by_staff(code, asker.user)
            raise PermissionDenied(say.text("error", SEAT_TAKEN if removed else SEAT_GIVEN_AWAY)) from denied
        raise Http404(denied.words) from denied


def games_against_bots(request: HttpRequest) -> list[GameView]:
    """Return the running games that the user plays against bots alone, the newest first."""
    user = person(request)
    if user is None:
        return []
    readable, _ = queries.readable_tables(lists.games_against_bots(user))
    return [queries.view_of(table, user) for table in readable]


def number(text: str | None, *, digits: int = 9) -> int | None:
    """Return a whole number from a query or a form, or None for anything else, as if it were missing."""
    return int(text) if text and text.isascii() and text.isdecimal() and len(text) <= digits else None
