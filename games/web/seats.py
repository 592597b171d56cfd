"""Joining, leaving, starting, pausing, rematches and standing orders. Each is a form with one button."""

from __future__ import annotations

from functools import partial
from typing import Protocol, cast

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from accounts.forms import GuestNameForm
from accounts.log_ins import store_now
from accounts.models import User
from common.htmx import HtmxRequest
from common.readers_language import say
from games import queries
from games.actions import invitations, lobby, pauses, standing_orders
from games.actions.play import LONGEST_MOVE
from games.actions.rematch import ask_rematch
from games.models import Invitation
from games.queries import Table, Viewer
from games.refusals import Denied
from games.render.resign import may_leave, resign_page_of
from games.rules import Refused, parse_move
from games.web import game as game_views
from games.web import table as table_views
from games.web.browser_marks import marks_browser
from games.web.guests import guest_allowed, log_in_first, time_zone_of
from games.web.http import SeeOther, form_status, get_shows_table
from games.web.idempotent_forms import form_key, log_in_as_made
from games.web.viewer import person, remember_link, table_for, viewer, viewer_as


class Act(Protocol):
    """Something that a person does at a table. Returns the table after it. May raise Denied."""

    def __call__(self, *, viewer: Viewer[User]) -> Table: ...


@get_shows_table
@marks_browser
def join(request: HtmxRequest, code: str, *, key: str = "") -> HttpResponse:
    """Sit down. A visitor who may see the table and gets a seat becomes a guest, or must log in without guests.

    A form that asks for the guest's name sends it as `name`. Without that field the guest gets a name of the site's.
    `key` is that of the invitation, if the form is on its page.
    """
    now = timezone.now()
    if person(request) is not None:
        return _done(request, code, partial(lobby.join, code=code, now=now))
    if first := log_in_first(request, reverse("game", args=[code])):
        return first
    try:
        with guest_allowed(request) as one:
            zone, links, name = time_zone_of(request), viewer(request).links, request.POST.get("name")
            joined = lobby.join_as_guest(
                code=code, now=now, links=links, name=name, time_zone=zone, form_key=form_key(request)
            )
            if joined.new:
                one.count()
    except Denied as denied:
        return game_views.refused(request, code, denied)
    except ValidationError as why:
        return _name_refused(request, code, why, key)
    log_in_as_made(request, joined.guest, joined.table)
    return SeeOther.to("game", joined.table.game.code)


@get_shows_table
def leave(request: HtmxRequest, code: str) -> HttpResponse:
    """Leave a table before the start. This browser may still see the table afterwards."""
    # The page of the table is still open. Without the link its next update would be “Page not found” instead of the
    # front page.
    if (user := person(request)) is not None:
        table = table_for(request, code)
        if table.seat_of(user) is not None and not table.game.is_public:
            remember_link(request, table.game.invite_key)
            store_now(request.session)  # before the commit that updates open pages
    answer = _done(request, code, partial(lobby.leave_table, code=code, now=timezone.now()))
    if not isinstance(answer, SeeOther):
        return answer
    messages.success(request, say.text("message", "You left the table."))
    return SeeOther.to("home")


@require_safe
def resign(request: HtmxRequest, code: str) -> HttpResponse:
    """Ask the player to confirm that they resign, and say what happens then. The button makes the move `leave`."""
    table = table_for(request, code)
    view = queries.view_of(table, person(request))
    if not may_leave(view):
        return redirect("game", code)
    return render(request, "games/resign.html", {"page": resign_page_of(view)})


@get_shows_table
def start(request: HtmxRequest, code: str) -> HttpResponse:
    """Start with the players seated so far."""
    return _done(request, code, partial(lobby.start, code=code, now=timezone.now()))


@get_shows_table
def add_bot(request: HtmxRequest, code: str) -> HttpResponse:
    bot = request.POST.get("bot", "")
    return _done(request, code, partial(lobby.add_bot, code=code, bot=bot, now=timezone.now()))


@get_shows_table
def pause(request: HtmxRequest, code: str) -> HttpResponse:
    """Ask for a pause, or agree to one."""
    return _done(request, code, partial(pauses.ask_pause, code=code, now=timezone.now()))


@get_shows_table
def resume(request: HtmxRequest, code: str) -> HttpResponse:
    """Withdraw a vote for a pause, or resume the game."""
    return _done(request, code, partial(pauses.resume, code=code, now=timezone.now()))


@get_shows_table
def take_seat_back(request: HtmxRequest, code: str) -> HttpResponse:
    """Take the user's seat back from the bot."""
    return _done(request, code, partial(pauses.take_seat_back, code=code, now=timezone.now()))


@get_shows_table
def orders(request: HtmxRequest, code: str) -> HttpResponse:
    """Set the user's standing orders to what the form says."""
    sent = request.POST
    fields = {
        "intercept": sent.get("intercept", "never"),
        "keep": sent.getlist("keep"),
        "call_uno": "call_uno" in sent,
        "forced": "forced" in sent,
        "stack": sent.get("stack", "ask"),
        "first": [_first_play(text) for text in sent.getlist("first") if text],
        "then_draw": "then_draw" in sent,
        "stop": sent.getlist("stop"),
    }
    return _done(request, code, partial(standing_orders.set_orders, code=code, fields=fields, now=timezone.now()))


def _first_play(text: str) -> dict[str, object]:
    """Return the fields of a play in the notation without its first word, or a card that no deck has."""
    try:
        move = parse_move(" ".join(("play", text[:LONGEST_MOVE])))
    except Refused:
        return {"card": text}
    return {"card": move.card, "color": move.color, "target": move.target}


@get_shows_table
def stop_orders(request: HtmxRequest, code: str) -> HttpResponse:
    """Let the user choose the move of this turn instead of their standing orders."""
    return _done(request, code, partial(standing_orders.stop_orders, code=code, shown=request.POST.get("at", "")))


@get_shows_table
@marks_browser
def rematch(request: HtmxRequest, code: str) -> HttpResponse:
    """Play again with the same options."""
    return _done(request, code, partial(ask_rematch, code=code, now=timezone.now()))


@login_required
@require_POST
def decline(request: HttpRequest, number: int) -> HttpResponse:
    """Decline an invitation.

    :raises Http404: the user has no invitation with this number.
    """
    invitation = invitations.decline(number=number, user=cast("User", request.user), now=timezone.now())
    if invitation is None:
        raise Http404
    if invitation.state == Invitation.State.JOINED:
        messages.info(request, say.text("message", "You have sat down at this table already. You can leave it here."))
        return SeeOther.to("game", invitation.game.code)
    if invitation.state == Invitation.State.EXPIRED:
        messages.info(
            request, say.text("message", "The invitation has ended, because the table has started or closed.")
        )
    else:
        messages.info(request, say.text("message", "You said no to the invitation."))
    return SeeOther.to("home")


def _done(request: HtmxRequest, code: str, act: Act) -> HttpResponse:
    """Do something at a table and redirect there. If it is refused, show the table as it is now with the reason."""
    user = person(request)
    if user is None:
        return redirect_to_login(reverse("game", args=[code]))
    try:
        return SeeOther.to("game", act(viewer=viewer_as(request, user)).game.code)
    except Denied as denied:
        return game_views.refused(request, code, denied)


def _name_refused(request: HtmxRequest, code: str, why: ValidationError, key: str) -> HttpResponse:
    """Return the table as it is now, with the name that a visitor has entered and why it was refused."""
    table = table_for(request, code)
    if table.playing is not None:  # it has started meanwhile
        return SeeOther.to("game", code)
    form = GuestNameForm(request.POST)
    form.refuse(why)
    return table_views.lobby_page(request, table, form_status(form), key=key, name_form=form)
