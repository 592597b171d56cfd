"""Pages about the site and the rules."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.templatetags.static import static
from django.utils import timezone
from django.views.decorators.http import require_safe

from common.readers_language import say
from games import queries, rules
from games.render import notation as notation_page
from games.render.rulebook import EVERY_RULE, USUAL, RulebookPage, every_rule_page, preset_page, table_page
from games.web.viewer import person, table_for

SECURITY_TXT_VALID: Final = timedelta(days=180)
"""How long a copy of `security.txt` can be trusted. RFC 9116 recommends less than a year."""
NOT_FOR_ROBOTS: Final = ("/accounts/", "/admin/", "/api/", "/games/", "/mail/", "/next/", "/notices/", "/play-now/")
"""Where search engines find nothing, or a page for each step of each game. `people/` is not here: its pages ask with a
`meta` element not to be listed, which only a robot that may fetch them can read."""


@require_safe
def about(request: HttpRequest) -> HttpResponse:
    return render(request, "about.html")


@require_safe
def notation(request: HttpRequest) -> HttpResponse:
    """Show how programs, records and the console write cards and moves."""
    return render(request, "notation.html", {"notation": notation_page.notation()})


@require_safe
def privacy(request: HttpRequest) -> HttpResponse:
    return render(request, "privacy.html")


@require_safe
def security_txt(request: HttpRequest) -> HttpResponse:
    """Say where to report a vulnerability (RFC 9116).

    :raises Http404: the operator has set no `SECURITY_CONTACT`.
    """
    if not settings.SECURITY_CONTACT:
        raise Http404
    until = (timezone.now() + SECURITY_TXT_VALID).replace(hour=0, minute=0, second=0, microsecond=0)
    lines = [
        f"Contact: {settings.SECURITY_CONTACT}",
        f"Expires: {until.isoformat()}",
        "Preferred-Languages: en",
        f"Canonical: {settings.SITE_URL}{request.path}",
    ]
    return HttpResponse("".join(f"{line}\n" for line in lines), content_type="text/plain; charset=utf-8")


@require_safe
def robots_txt(request: HttpRequest) -> HttpResponse:
    """Ask robots to fetch only pages that are the same for everybody (RFC 9309), or none if visitors see no tables."""
    closed = ("/",) if settings.LOGIN_REQUIRED else NOT_FOR_ROBOTS
    lines = ["User-agent: *", *(f"Disallow: {place}" for place in closed)]
    return HttpResponse("".join(f"{line}\n" for line in lines), content_type="text/plain; charset=utf-8")


@require_safe
def favicon(request: HttpRequest) -> HttpResponse:
    """Lead to the icon of the site. Browsers look for it here if an answer is no page, such as one of the API."""
    return redirect(static("img/favicon.ico"))


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
        raise Http404(say.text("error", "There are no rules of this name."))
    return preset_page(preset)
