"""Who asks, and what they may know of: a person, a guest, or a visitor with the links opened so far."""

from __future__ import annotations

from typing import Final

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest

from accounts.adapter import LINKS, links_in
from accounts.models import User
from games import queries
from games.queries import Table, Viewer, conduct
from games.refusals import Denied

LINKS_KEPT: Final = 50
SEAT_TAKEN: Final = "Staff removed you from this table, so you can’t see it any more. Your notices say more."
BACKEND: Final = "accounts.backends.ByUsername"
"""What a guest is logged in by."""


def person(request: HttpRequest) -> User | None:
    """Who is logged in, guests included."""
    return request.user if isinstance(request.user, User) else None


def viewer(request: HttpRequest) -> Viewer[User | None]:
    """Return who asks, and the invitation keys that this browser has opened."""
    return Viewer(person(request), links_in(request.session))


def viewer_as(request: HttpRequest, user: User) -> Viewer[User]:
    """Return a viewer with this person, who is logged in, and the invitation keys that this browser has opened."""
    return Viewer(user, links_in(request.session))


def remember_link(request: HttpRequest, key: str) -> None:
    """Let this browser see the table of this invitation key, for as long as the table keeps the key."""
    kept = [known for known in links_in(request.session) if known != key]
    request.session[LINKS] = [*kept, key][-LINKS_KEPT:]


def table_for(request: HttpRequest, code: str) -> Table:
    """The table with this code, as of one moment.

    :raises Http404: there is none, or whoever asks may not know of it.
    :raises PermissionDenied: staff took this person's seat there away, which is said.
    """
    asker = viewer(request)
    try:
        return queries.load_for(code, asker)
    except Denied as denied:
        if asker.user is not None and conduct.lost_seat(code, asker.user):
            raise PermissionDenied(SEAT_TAKEN) from denied
        raise Http404(denied.message) from denied


def number(text: str | None, *, digits: int = 9) -> int | None:
    """The whole number that an address or a form gives; None for anything else, as if nothing had been given."""
    return int(text) if text and text.isascii() and text.isdecimal() and len(text) <= digits else None
