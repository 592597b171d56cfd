"""Count visitors who become guests, and move the games of guests who log in to an account."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Final

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from accounts import tries
from accounts.adapter import LEFT_GUEST
from accounts.limits import GUESTS
from accounts.models import User
from accounts.origin import address_of
from accounts.queries import guest_with_id
from accounts.zones import zone_of_browser
from common.htmx import HtmxRequest, login_redirect
from games.actions import guests
from games.queries import lists
from games.render.words import counted
from games.web.http import SeeOther
from games.web.viewer import person

CLOSED: Final = "you looked at hands there as staff, or staff removed you from the table."
NO_PROGRAMS: Final = "no programs play there, and a program plays for your account."
OVER_LIMIT: Final = "you would have too many tables."


def guest_allowed(request: HttpRequest) -> AbstractContextManager[tries.Try]:
    """Allow a `with` block to create a guest for this visitor. The block calls `count()` once it has done so.

    The block runs in a transaction. If it raises, nothing is counted.

    :raises TooManyTries: the address has made as many guests as allowed.
    """
    return tries.begin(tries.Key.of_address(address_of(request), GUESTS), timezone.now())


def time_zone_of(request: HttpRequest) -> str:
    """Return the time zone for a new guest: the one that the browser has put into the form, or UTC."""
    return zone_of_browser(request.POST.get("browser_zone", ""))


def log_in_first(request: HtmxRequest, page: str) -> HttpResponse | None:
    """Return what leads a visitor to the log-in page and then to `page`, where nobody can become a guest, else None."""
    if settings.GUESTS or person(request) is not None:
        return None
    return login_redirect(page, htmx=bool(request.htmx))


def left_guest(request: HttpRequest) -> User | None:
    """Return the guest that this browser was before its user logged in, if that guest has games."""
    number = request.session.get(LEFT_GUEST)
    guest = guest_with_id(number) if isinstance(number, int) else None
    if guest is None or not lists.games_of(guest).exists():
        return None
    return guest


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def move_seats(request: HttpRequest) -> HttpResponse:
    """Ask whether to move the former guest's games to the account; POST moves them or not, as answered."""
    user, guest = person(request), left_guest(request)
    if user is None or guest is None:
        return redirect("home")
    if request.method != "POST":
        return render(request, "accounts/move_seats.html", {"guest": guest, "count": lists.games_of(guest).count()})
    del request.session[LEFT_GUEST]
    if request.POST.get("answer") == "move":
        moved = guests.move_seats(guest=guest, user=user, now=timezone.now())
        messages.success(request, f"{counted(moved.games, 'game')} of {guest.name} moved to your account.")
        stayed = ((moved.closed, CLOSED), (moved.no_programs, NO_PROGRAMS), (moved.over_limit, OVER_LIMIT))
        for number, why in stayed:
            if number:
                messages.warning(request, f"{counted(number, 'game')} of {guest.name} stayed behind: {why}")
    return SeeOther.to("home")
