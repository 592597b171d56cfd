"""The way in by invitation link. Opening it changes nothing: programs that look at mails and chats open links, too."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods
from django.views.decorators.vary import vary_on_headers

from games import queries
from games import render as words
from games.queries import Table
from games.refusals import Denied
from games.web import seats, table
from games.web.answers import SeeOther
from games.web.people import links, person, remember_link


@require_http_methods(["GET", "HEAD", "POST"])
@vary_on_headers("HX-Request")
def invite(request: HttpRequest, key: str) -> HttpResponse:
    """The table of this link, for who cannot see it otherwise; POST sits down, or with `watch` only looks on.

    From that POST on this browser may see the table at its own address.
    """
    try:
        found = queries.load_by_invite(key)
    except Denied as denied:
        raise Http404 from denied
    if request.method == "POST":
        remember_link(request, found.game.code)
        return SeeOther.to("game", found.game.code) if "watch" in request.POST else seats.join(request, found.game.code)
    known = queries.may_see(found, person(request), links(request))
    is_open = found.game.status == found.game.Status.OPEN
    if request.headers.get("HX-Request") and (known or not is_open):
        return HttpResponse(headers={"HX-Refresh": "true"})
    if known:
        return redirect(found.game)
    if not is_open:
        return _begun(request, found)
    return table.lobby_page(request, found, queries.view_of(found, person(request)), key=key)


def _begun(request: HttpRequest, found: Table) -> HttpResponse:
    view = queries.view_of(found, None)
    closed = view.view is None
    context = {
        "name": words.table_name(view),
        "closed": closed,
        "over": view.ended,
        "login_next": request.path,
    }
    return render(request, "games/invite.html", context)
