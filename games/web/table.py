"""A table before the first deal: making one, and its page."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods
from django.views.decorators.vary import vary_on_headers

from accounts.htmx import HtmxRequest
from games import bots
from games.actions import lobby
from games.actions.housekeeping import time_waited
from games.actions.lobby import TAKEN_OFF
from games.queries import GameView, SeatView, Table, conduct
from games.refusals import Denied
from games.render import words
from games.web.answers import SeeOther, form_status
from games.web.asker import person
from games.web.forms import NewTableForm
from games.web.marks import marks
from games.web.once import make_table

Action = dict[str, Any]


@require_http_methods(["GET", "HEAD", "POST"])
@marks
def new_table(request: HttpRequest) -> HttpResponse:
    """Choose a table's options; POST makes it, and makes a visitor a guest."""
    form = NewTableForm(request.POST if request.method == "POST" else None)
    status = form_status(form)
    if form.is_valid():
        try:
            table = make_table(request, form.table_options())
        except Denied as denied:
            form.add_error(None, denied.message)
            status = form_status(form) if denied.code == "malformed" else HTTPStatus(denied.status)
        else:
            return SeeOther.to("game", table.game.code)
    return render(request, "games/new.html", {"form": form}, status=status)


@vary_on_headers("HX-Request")
def lobby_page(
    request: HtmxRequest,
    table: Table,
    view: GameView,
    status: int = 200,
    refusal: Denied | None = None,
    *,
    key: str = "",
) -> HttpResponse:
    """The page of a table that has not started, or was closed before it did; for HTMX the part that changes.

    With the `key` of an invitation the page lives at the address of that link, whose reader sees the table by it only.
    """
    lobby = _lobby(request, table, view, refusal)
    if key:
        here = reverse("invite", args=[key])
        lobby |= {
            "fragment_url": here,
            "report_url": "",
            "actions": [action | {"url": here} for action in lobby["actions"]],
        }
    template = "games/_lobby.html" if request.htmx else "games/lobby.html"
    return render(request, template, {"lobby": lobby, "login_next": key and request.path}, status=status)


def _lobby(request: HttpRequest, table: Table, view: GameView, refusal: Denied | None) -> dict[str, Any]:
    is_open = view.status == "open"
    free = view.players - len(view.seats) if is_open else 0
    taken: list[dict[str, str]] = [
        {"name": seat.name, "url": words.profile_url(seat.username), "note": _seat_note(table, view, seat)}
        for seat in view.seats
    ]
    people = [row for row in table.seats if row.user_id is not None and row.index != view.you]
    user = person(request)
    barred = is_open and view.you is None and user is not None and conduct.taken_off(table.game, user)
    invite_url = ""
    if is_open and view.you is not None:
        invite_url = settings.SITE_URL + reverse("invite", args=[table.game.invite_key])
    return {
        "code": view.id,
        "version": view.version,
        "open": is_open,
        "name": words.table_name(view),
        "headline": words.headline(view, timezone.now()) if is_open else "This table was closed before it started.",
        "detail": _detail(view, free, barred=barred) if is_open else _closed(table),
        "seats": taken + [{"name": "", "note": "waiting for a player"}] * free,
        "invite_url": invite_url,
        "report_url": reverse("report", args=[view.id]) if people else "",
        "private": not view.public,
        "options": words.options_prose(view),
        "actions": _actions(view, free) if is_open and not barred else [],
        "url": request.path,
        "refreshing": request.GET.get("refresh") != "off",
        "fragment_url": f"{reverse('game', args=[view.id])}?lobby=1",
        "refusal": refusal,
    }


def _detail(view: GameView, free: int, *, barred: bool) -> str:
    if barred:
        return TAKEN_OFF
    if view.you is None:
        return "Sit down to play; the game starts when every seat is taken." if free else "Every seat is taken."
    if view.hosting and len(view.seats) > 1:
        return "It starts by itself when every seat is taken, or as soon as you say so."
    return "It starts by itself when every seat is taken."


def _closed(table: Table) -> str:
    """Why nothing was played there. Whoever sat there was told so, and may be here because of it."""
    if all(row.bot for row in table.seats):
        return "Everybody who sat here has left."
    if conduct.closed_by_staff(table.game):
        return "The staff closed it."
    return f"It found too few players in {time_waited(table.game)}."


def _seat_note(table: Table, view: GameView, seat: SeatView) -> str:
    if seat.bot:
        return f"bot, plays {bots.BOTS[seat.bot].label.lower()}"
    row = next(row for row in table.seats if row.index == seat.seat)
    notes = ("host" if row.user_id == table.game.host_id else "", "you" if seat.seat == view.you else "")
    return ", ".join(filter(None, notes)) or "seated"


def _actions(view: GameView, free: int) -> list[Action]:
    """What this reader can do at this table, as forms of one button."""
    if view.you is None:
        return [_action(view, "join", "Sit down", "primary")] if free else []
    found = []
    if view.hosting and len(view.seats) > 1:
        found.append(_action(view, "start", f"Start with {len(view.seats)} players", "primary"))
    if view.hosting and free:
        found.append(_action(view, "add-bot", "Add a bot", "", bot=_bot_here(view)))
    found.append(_action(view, "leave", "Leave the table", "quiet"))
    return found


def _bot_here(view: GameView) -> str:
    """The kind of bot that this table has already, or the usual one."""
    return next((seat.bot for seat in view.seats if seat.bot), lobby.TableOptions().bot)


def _action(view: GameView, name: str, label: str, style: str, **fields: str) -> Action:
    return {"id": name, "label": label, "style": style, "url": reverse(name, args=[view.id]), "fields": fields}
