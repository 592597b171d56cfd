"""Invitation links. Opening one changes nothing, because mail scanners and chat programs open links too."""

from __future__ import annotations

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_http_methods, require_safe
from django.views.decorators.vary import vary_on_headers
from django_htmx.http import HttpResponseClientRefresh

from common import secret_pages
from common.htmx import HtmxRequest
from common.readers_language import say
from games import queries
from games.queries import Table, Viewer
from games.refusals import Denied
from games.render.invitations import preview_of
from games.render.lobby import invitation_of
from games.render.rulebook import table_page
from games.web import seats, table
from games.web.http import SeeOther
from games.web.viewer import SEAT_TAKEN, person, remember_link, viewer


@cache_control(no_store=True, private=True)  # the address has a secret
@require_http_methods(["GET", "HEAD", "POST"])
@vary_on_headers("HX-Request")
def invite(request: HtmxRequest, key: str) -> HttpResponse:
    """Show the table of this link to visitors, and to others who cannot see it otherwise. POST sits down, or watches
    with `watch`.

    After the POST this browser may see the table at its own address.

    :raises PermissionDenied: staff removed this person from the private table.
    """
    found = _table_of(request, key)
    if request.method == "POST":
        remember_link(request, key)
        if "watch" in request.POST:
            return SeeOther.to("game", found.game.code)
        return seats.join(request, found.game.code, key=key)
    asker = viewer(request)
    # A visitor stays here even if the table is public: only this address has the preview of the link.
    known = queries.may_see(found, asker) and (asker.user is not None or key in asker.links)
    is_open = found.game.status == found.game.Status.OPEN
    if request.htmx and (known or not is_open):
        return HttpResponseClientRefresh()
    if known:
        return redirect(found.game)
    if not is_open:
        return _not_open(request, found)
    return table.lobby_page(request, found, key=key)


@cache_control(no_store=True, private=True)
@require_safe
def rules(request: HttpRequest, key: str) -> HttpResponse:
    """Show the rules of the table of this link.

    :raises PermissionDenied: as `invite`.
    """
    page = table_page(queries.view_of(_table_of(request, key), person(request)))
    return render(request, "rules.html", {"page": page, "login_next": request.path})


@cache_control(no_store=True, private=True)
@require_safe
def without_tail(request: HttpRequest, link: str, tail: str) -> HttpResponse:
    """Lead to an invitation, to a table or to sign up, without the characters after its address."""
    return redirect(f"/{link}/")


def _table_of(request: HttpRequest, key: str) -> Table:
    """Return the table of a link, for a page that has the link in its own forms and links."""
    secret_pages.mark_secret(request)
    try:
        found = queries.load_by_invite(key)
    except Denied as denied:
        raise Http404 from denied
    if not queries.may_see(found, Viewer(person(request), [key])):
        raise PermissionDenied(say.text("error", SEAT_TAKEN))
    return found


def _not_open(request: HttpRequest, found: Table) -> HttpResponse:
    view = queries.view_of(found, None)
    context = {"page": invitation_of(view), "login_next": request.path, "preview": preview_of(found, view)}
    return render(request, "games/invite.html", context)
