"""The replay of a finished game. Every step and every view has an address, and works without scripts."""

from __future__ import annotations

from typing import Final

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers
from django_htmx.http import trigger_client_event

from common.htmx import HtmxRequest
from games.queries import replays
from games.refusals import RETRY_SECONDS, Denied
from games.render.replay import replay_of
from games.web.viewer import number, person, table_for

AUTOPLAY: Final = "X-Autoplay"
"""The header of a fetch by a replay that moves on by itself."""


@require_safe
@vary_on_headers("HX-Request")
def replay(request: HtmxRequest, code: str) -> HttpResponse:
    """Show the game after `?n=` moves from the view of `?seat=`, or with all hands.

    `?round=` says which round to show if one ends and the next begins after that move.
    """
    user = person(request)
    table = table_for(request, code)
    try:
        step = replays.frame_at(table, number(request.GET.get("n")) or 0, number(request.GET.get("round")))
    except Denied as denied:
        return no_replay(request, code, denied)
    seat = number(request.GET.get("seat"))
    seat = seat if seat is not None and seat < len(table.seats) else None
    view = replays.view_at(table, step, user, seat)
    page = replay_of(step, view, seat=seat, options=table.options, now=timezone.now())
    response = render(request, "games/replay.html", {"page": page})
    if request.htmx:
        # A replay that moves on by itself says only what happens.
        sentences = [page.done] if AUTOPLAY in request.headers else [f"{page.title}.", page.done, page.now]
        trigger_client_event(response, "announce", {"sentences": sentences})
    return response


def no_replay(request: HttpRequest, code: str, denied: Denied) -> HttpResponse:
    """Return the page that says why a game cannot be replayed, or not at this moment (`busy`)."""
    later = denied.code == "busy"
    context = {"code": code, "why": denied.words, "later": later}
    response = render(request, "games/no_replay.html", context, status=denied.status)
    if later:
        response["Retry-After"] = str(RETRY_SECONDS)
    return response
