"""Pages about the site and the rules."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from games import queries, rules
from games.render.rulebook import EVERY_RULE, USUAL, RulebookPage, every_rule_page, preset_page, table_page
from games.web.viewer import person, table_for


@require_safe
def about(request: HttpRequest) -> HttpResponse:
    return render(request, "about.html")


@require_safe
def rulebook(request: HttpRequest) -> HttpResponse:
    """Show how to play and the rules by number: of a preset (`?preset=`), of a table (`?table=`), or every rule."""
    return render(request, "rules.html", {"page": _page(request)})


def _page(request: HttpRequest) -> RulebookPage:
    code, preset = request.GET.get("table"), request.GET.get("preset", USUAL)
    if code is not None:
        return table_page(queries.view_of(table_for(request, code), person(request)))
    if preset == EVERY_RULE:
        return every_rule_page()
    if preset not in rules.PRESETS:
        raise Http404("There are no rules of this name.")
    return preset_page(preset)
