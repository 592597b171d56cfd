"""Who asks, and what they may know of: a person, a guest, or a visitor with the links opened so far."""

from __future__ import annotations

from typing import Final

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from accounts.adapter import LEFT_GUEST, LINKS
from accounts.models import User
from accounts.queries import guest_numbered
from games import queries
from games.actions import guests
from games.queries import Table, conduct, lists
from games.refusals import Denied
from games.web.answers import SeeOther

LINKS_KEPT: Final = 50
SEAT_TAKEN: Final = "Staff took your seat at this table, so you cannot see it any more. The bell says what they did."
BACKEND: Final = "accounts.backends.ByUsername"
"""What a guest is logged in by."""


def person(request: HttpRequest) -> User | None:
    """Who is logged in, guests included."""
    return request.user if isinstance(request.user, User) else None


def links(request: HttpRequest) -> list[str]:
    """The codes of the tables whose invitation link this browser has opened."""
    codes: list[str] = request.session.get(LINKS, [])
    return codes


def remember_link(request: HttpRequest, code: str) -> None:
    """Let this browser see a table from now on."""
    kept = [known for known in links(request) if known != code]
    request.session[LINKS] = [*kept, code][-LINKS_KEPT:]


def table_for(request: HttpRequest, code: str) -> Table:
    """The table with this code, as of one moment.

    :raises Http404: there is none, or whoever asks may not know of it.
    :raises PermissionDenied: staff took this person's seat there away, which is said.
    """
    user = person(request)
    try:
        return queries.load_for(code, user, links(request))
    except Denied as denied:
        if user is not None and conduct.lost_seat(code, user):
            raise PermissionDenied(SEAT_TAKEN) from denied
        raise Http404(denied.message) from denied


def left_guest(request: HttpRequest) -> User | None:
    """The guest this browser was before its user logged in to an account, if that guest sits somewhere."""
    number = request.session.get(LEFT_GUEST)
    guest = guest_numbered(number) if isinstance(number, int) else None
    if guest is None or not lists.games_of(guest).exists():
        return None
    return guest


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def move_seats(request: HttpRequest) -> HttpResponse:
    """Ask whether the games of the guest of a moment ago come along to the account, and do as answered."""
    user, guest = person(request), left_guest(request)
    if user is None or guest is None:
        return redirect("home")
    if request.method != "POST":
        return render(request, "accounts/move_seats.html", {"guest": guest, "count": lists.games_of(guest).count()})
    del request.session[LEFT_GUEST]
    if request.POST.get("answer") == "move":
        moved, kept = guests.move_seats(guest=guest, user=user)
        messages.success(request, f"{moved} game{'' if moved == 1 else 's'} of {guest.name} moved to your account.")
        if kept:
            stays = f"{kept} game{'' if kept == 1 else 's'} of {guest.name} stayed behind"
            messages.warning(request, f"{stays}: you looked at hands there as staff, or staff took you off the table.")
    return SeeOther.to("home")
