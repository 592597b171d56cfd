"""The paginated log of a table."""

from __future__ import annotations

from typing import Final

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from games import queries
from games.render.log import LogPart, log_page_of
from games.render.log_notes import notes_of
from games.web.viewer import number, person, table_for

LINES: Final = 100
"""Moves on a page."""


@require_safe
def log(request: HttpRequest, code: str) -> HttpResponse:
    """Show the part of the log that ends with move `?to=`, or the newest part, as this reader may see it."""
    table, user = table_for(request, code), person(request)
    view = queries.view_of(table, user)
    newest = table.game.version
    to = min(number(request.GET.get("to")) or newest, newest)
    before = max(0, to - LINES)
    lines = queries.log_of(table, user, after=before, until=to)
    # The first page also has what happened before the first move.
    notes = notes_of(queries.between_moves(table, user, since=before and before + 1, until=to))
    part = LogPart(before, to, newest)
    page = log_page_of(view, lines, notes, part=part, most=LINES, now=timezone.now())
    return render(request, "games/log.html", {"page": page})
