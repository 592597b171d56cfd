"""A table before the first deal: the form that creates one, and its page."""

from __future__ import annotations

from collections.abc import Collection
from http import HTTPStatus

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods
from django.views.decorators.vary import vary_on_headers

from accounts.forms import GuestNameForm, HostNameForm
from common.htmx import HtmxRequest
from games import queries, rules
from games.actions.housekeeping import time_waited
from games.actions.lobby import TAKEN_OFF, TableChoices
from games.actions.table_limits import TooManyAgainstBots
from games.models import Game
from games.queries import Table, conduct
from games.queries.players import hook_owner_of, others_of
from games.refusals import Denied
from games.render.bot_tables import bot_tables_of
from games.render.invitations import preview_of
from games.render.lobby import Closed, LobbyRequest, lobby_of
from games.render.new_table import WAYS
from games.web.browser_marks import marks_browser
from games.web.forms import NewTableForm
from games.web.guests import log_in_first
from games.web.http import SeeOther, form_status
from games.web.idempotent_forms import create_table_of_form
from games.web.viewer import games_against_bots, person


@require_http_methods(["GET", "HEAD", "POST"])
@marks_browser
def new_table(request: HtmxRequest) -> HttpResponse:
    """Show the form for a new table. POST creates the table, and a guest for a visitor."""
    if first := log_in_first(request, request.get_full_path()):
        return first
    form = NewTableForm(request.POST) if request.method == "POST" else NewTableForm(initial=_preselected(request))
    name_form = HostNameForm(request.POST if request.method == "POST" else None) if person(request) is None else None
    status, bot_tables = form_status(form), None
    if form.is_valid():
        name = None if name_form is None else request.POST.get("name", "").strip() or None
        try:
            table = create_table_of_form(request, form.table_choices(), name=name)
        except ValidationError as why:
            assert name_form is not None
            name_form.refuse(why)
            status = form_status(name_form)
        except Denied as denied:
            status = HTTPStatus(denied.status)
            if isinstance(denied, TooManyAgainstBots):
                bot_tables = bot_tables_of(games_against_bots(request))
            if bot_tables is None:
                form.add_error(None, denied.words)
        else:
            for note in form.notes:
                messages.info(request, note)
            return SeeOther.to("game", table.game.code)
    context = {"form": form, "name_form": name_form, "bot_tables": bot_tables}
    return render(request, "games/new.html", context, status=status)


def _preselected(request: HttpRequest) -> dict[str, str]:
    """Return what a link to the form chooses: the rules (`?preset=`) and the players (`?way=`).

    Unknown values are ignored.
    """
    known: dict[str, Collection[str]] = {"preset": rules.PRESETS, "way": WAYS}
    return {name: request.GET[name] for name, values in known.items() if request.GET.get(name, "") in values}


@vary_on_headers("HX-Request")
def lobby_page(
    request: HtmxRequest,
    table: Table,
    status: int = 200,
    refusal: Denied | None = None,
    *,
    key: str = "",
    name_form: GuestNameForm | None = None,
) -> HttpResponse:
    """Return the page of a table that has not started, or was closed before it did. HTMX gets the part that changes.

    `key` is given if the page is at the address of an invitation. `name_form` is the form for a visitor's name if it
    was refused.
    """
    user = person(request)
    view = queries.view_of(table, user)
    if user is None and settings.GUESTS:
        name_form = name_form or GuestNameForm()
    is_open = view.status == Game.Status.OPEN
    barred = is_open and view.you is None and user is not None and conduct.removed_by_staff(table.game.code, user)
    asked = LobbyRequest(
        path=request.path,
        key=key,
        refresh=request.GET.get("refresh") != "off",
        refusal=refusal,
        name_form=name_form,
    )
    page = lobby_of(
        table,
        view,
        asked=asked,
        usual_bot=TableChoices().bot,
        reportable=bool(others_of(table, user)),
        hook_owner=hook_owner_of(table) if is_open else "",
        barred=TAKEN_OFF if barred else "",
        closed=None if is_open else Closed(conduct.closed_by_staff(table.game), time_waited(table.game)),
    )
    template = "games/_lobby.html" if request.htmx else "games/lobby.html"
    context = {"lobby": page, "login_next": key and request.path, "preview": preview_of(table, view) if key else None}
    return render(request, template, context, status=status)
