"""The replay of a finished game: every step and every point of view has an address, and needs no script."""

from __future__ import annotations

import json

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from games.queries import replays
from games.refusals import Denied
from games.render.replay import replay_of
from games.web.people import person, table_for

DIGITS = 9


@require_safe
@vary_on_headers("HX-Request")
def replay(request: HttpRequest, code: str) -> HttpResponse:
    """The game after `?n=` lines, in `?round=` where one ends and the next begins, seen from `?seat=` or from all."""
    user = person(request)
    table = table_for(request, code)
    try:
        step = replays.step_of(table, _number(request, "n") or 0, _number(request, "round"))
    except Denied as denied:
        return no_replay(request, code, denied)
    seat = _number(request, "seat")
    seat = seat if seat is not None and seat < len(table.seats) else None
    view = replays.view_at(table, step, user, seat)
    page = replay_of(step, view, seat=seat, options=table.options, now=timezone.now())
    response = render(request, "games/replay.html", {"page": page})
    if request.headers.get("HX-Request") == "true":
        said = {"polite": [f"{page['title']}.", page["told"], page["now"]], "assertive": []}
        response.headers["HX-Trigger"] = json.dumps({"announce": said})
    return response


def no_replay(request: HttpRequest, code: str, denied: Denied) -> HttpResponse:
    """Why a game that its reader may see cannot be replayed."""
    return render(request, "games/no_replay.html", {"code": code, "why": denied.message}, status=denied.status)


def _number(request: HttpRequest, name: str) -> int | None:
    """A whole number of the address; None for anything else, as if it had not been asked for."""
    text = request.GET.get(name, "")
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= DIGITS else None
