"""Pages that are the same for everybody."""

from __future__ import annotations

from functools import cache
from itertools import groupby
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from games import rules
from games.web.forms import preset_values


@require_safe
def about(request: HttpRequest) -> HttpResponse:
    return render(request, "about.html")


@require_safe
def rulebook(request: HttpRequest) -> HttpResponse:
    """Every rule under its number, from the data that refusals cite."""
    return render(request, "rules.html", _rulebook())


@cache
def _rulebook() -> dict[str, Any]:
    by_section = groupby(rules.RULEBOOK, key=lambda rule: rule.section)
    sections = [{"title": title, "rules": list(found)} for title, found in by_section]
    options = [
        {
            "name": spec.name,
            "title": spec.title,
            "help": spec.help,
            "rule": spec.source,
            "presets": preset_values(spec),
        }
        for spec in rules.OPTIONS
    ]
    return {"sections": sections, "options": options}
