"""The log of a table, page by page."""

from __future__ import annotations

from typing import Final

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from games import queries
from games import render as rendering
from games.actions.moderation.log import notes_of
from games.render import words
from games.web.asker import number, person, table_for

LINES: Final = 100
"""Moves on a page."""


@require_safe
def log(request: HttpRequest, code: str) -> HttpResponse:
    """Show the log as this reader may know it, newest first: the page that begins with move `?to=`, or the newest."""
    table, user = table_for(request, code), person(request)
    view = queries.view_of(table, user)
    newest = table.game.version
    to = min(number(request.GET.get("to")) or newest, newest)
    before = max(0, to - LINES)
    lines = queries.log_of(table, user, after=before, until=to)
    later = notes_of(table, reader=user, since=before and before + 1)
    notes = [note for note in later if note.version <= to]
    here = reverse("log", args=[code])
    context = {
        "code": code,
        "name": words.table_name(view),
        "lines": rendering.log_of(view, lines, timezone.now(), notes),
        "over": view.ended,
        "replay_url": reverse("replay", args=[code]),
        "players": [{"name": seat.name, "url": words.profile_url(seat.username)} for seat in view.seats],
        "shown": f"Moves {before + 1} to {to} of {newest}" if to - before < newest else "",
        "earlier_url": f"{here}?to={before}" if before else "",
        "later_url": _later(here, to, newest),
    }
    return render(request, "games/log.html", context)


def _later(here: str, to: int, newest: int) -> str:
    if to == newest:
        return ""
    return here if to + LINES >= newest else f"{here}?to={to + LINES}"
