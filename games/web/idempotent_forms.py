"""Forms that take effect once, even if a browser sends them twice."""

from __future__ import annotations

import hashlib
from datetime import datetime
from typing import Final

from django.conf import settings
from django.contrib.auth import login
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.csrf import csrf_failure

from accounts.models import User
from common.limits import TooManyTries
from games.actions.create_once import Created, create_table_once, find_created
from games.actions.lobby import TableChoices
from games.queries import Table
from games.web.guests import ask_for_time_zone, guest_allowed, time_zone_of
from games.web.http import SeeOther
from games.web.viewer import BACKEND, person

MAX_TOKEN_LENGTH: Final = 64
MADE: Final = "made_by_form"
"""The session key for the token of the form that made this guest, and for the code of the guest's table."""


def create_table_of_form(request: HttpRequest, choices: TableChoices, *, name: str | None = None) -> Table:
    """Return the table that this form creates, or created a moment ago. Logs a visitor in as the new guest.

    A form may have the code of a table that the user gives up for the new one (`give_up`).

    :param name: what the guest wants to be called, if they were asked and gave a name.
    :raises Denied: as `lobby.create_table`.
    :raises ValidationError: the `name` is not allowed, or not free.
    :raises TooManyTries: too many guests have been made from this address.
    """
    user, key, now = person(request), form_key(request), timezone.now()
    if user is not None:
        give_up = request.POST.get("give_up", "").replace("\0", "")
        return create_table_once(user=user, choices=choices, form_key=key, now=now, give_up=give_up).table
    made = _create_for_visitor(request, choices, key, now, name)
    if made.guest is not None:
        log_in_as_made(request, made.guest, made.table)
    return made.table


def log_in_as_made(request: HttpRequest, guest: User, table: Table) -> None:
    """Log a visitor in as the guest that this form has made, and remember the form and its table."""
    login(request, guest, backend=BACKEND)
    ask_for_time_zone(request)
    request.session[MADE] = [request.POST.get("form", ""), table.game.code]


def refuse_outdated_form(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Lead to the table that a form has just made for a new guest, or refuse a form without a valid CSRF token.

    The first of two clicks logs the guest in, which changes the token. The second then has the old one. It changes
    nothing here, so anybody may send it.
    """
    form, code = request.session.get(MADE, ("", ""))
    if form and form == request.POST.get("form"):
        return SeeOther.to("game", code)
    return csrf_failure(request, reason)


def _create_for_visitor(
    request: HttpRequest, choices: TableChoices, key: str | None, now: datetime, name: str | None
) -> Created:
    try:
        with guest_allowed(request) as one:
            zone = time_zone_of(request)
            made = create_table_once(user=None, choices=choices, form_key=key, now=now, name=name, time_zone=zone)
            if made.new:
                one.count()
            return made
    except TooManyTries:
        # The first of two clicks may have made the last guest that was allowed.
        made_already = find_created(user=None, form_key=key, now=now)
        if made_already is None:
            raise
        return made_already


def form_key(request: HttpRequest) -> str | None:
    """Return the key of a submitted form: a hash of its token and the secret of the CSRF cookie. None without either.

    The secret binds the token to this browser. Otherwise a cached page, whose token is the same for all its readers,
    would log them all in as one guest.
    """
    token, secret = request.POST.get("form", ""), request.COOKIES.get(settings.CSRF_COOKIE_NAME, "")
    if not token or len(token) > MAX_TOKEN_LENGTH or not secret:
        return None
    return hashlib.sha256(f"{secret}:{token}".encode()).hexdigest()
