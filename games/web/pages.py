"""Pages that are the same for all visitors."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from games.render.rulebook import rulebook_page


@require_safe
def about(request: HttpRequest) -> HttpResponse:
    return render(request, "about.html")


@require_safe
def rulebook(request: HttpRequest) -> HttpResponse:
    """Show how to play, all rules by number, and all options."""
    return render(request, "rules.html", {"page": rulebook_page()})
