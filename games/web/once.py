"""Forms that count once, although a browser sends them twice."""

from __future__ import annotations

import hashlib
from contextlib import nullcontext
from typing import Final

from django.conf import settings
from django.contrib.auth import login
from django.http import HttpRequest
from django.utils import timezone

from games.actions.lobby import TableOptions
from games.actions.once import create_table_once
from games.queries import Table
from games.web.asker import BACKEND, person
from games.web.guests import counting_guest

LONGEST: Final = 64


def make_table(request: HttpRequest, options: TableOptions) -> Table:
    """Return the table that this form asks for, made now or a moment ago, and log a visitor in as the guest it made.

    :raises Denied: as `lobby.create_table`.
    :raises TooManyTries: too many guests have been made from this address.
    """
    user, form, now = person(request), form_of(request), timezone.now()
    with nullcontext() if user is not None else counting_guest(request):
        made = create_table_once(user=user, options=options, form=form, now=now)
    if made.guest is not None:
        login(request, made.guest, backend=BACKEND)
    return made.table


def form_of(request: HttpRequest) -> str | None:
    """Return what tells this form from every other: its token, bound to this browser by the secret of its CSRF cookie.

    Without that secret a page kept by some cache, with one token for all, would make all its readers one guest.
    """
    token, secret = request.POST.get("form", ""), request.COOKIES.get(settings.CSRF_COOKIE_NAME, "")
    if not token or len(token) > LONGEST or not secret:
        return None
    return hashlib.sha256(f"{secret}:{token}".encode()).hexdigest()
