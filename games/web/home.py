"""The front page, and the two shortcuts into a game: "Play now" and the next game."""

from __future__ import annotations

import re
from hashlib import sha256
from typing import Final

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.template import loader
from django.urls import reverse
from django.utils import timezone
from django.utils.cache import get_conditional_response
from django.views.decorators.http import require_POST, require_safe
from django.views.decorators.vary import vary_on_headers
from django_htmx.http import HttpResponseClientRefresh

from accounts.models import User
from common.htmx import HtmxRequest
from common.readers_language import say
from games import queries
from games.actions import lobby
from games.actions.table_limits import TooManyAgainstBots
from games.notices import inbox
from games.queries import GameView, Table, front_page, invitations, lists
from games.refusals import Denied
from games.render.bot_tables import BotTables, bot_tables_of
from games.render.home import HomePage, ListPart, current_groups, finished_group, home_page, visitors_page
from games.web.browser_marks import marks_browser
from games.web.guests import left_guest, log_in_first
from games.web.http import SeeOther
from games.web.idempotent_forms import create_table_of_form
from games.web.viewer import games_against_bots, number, person

A_CODE: Final = re.compile(r"[-a-zA-Z0-9_]{1,16}")
DIFFERS_EACH_TIME: Final = re.compile(
    r' (?:name="(?:csrfmiddlewaretoken|form)" value|data-now)="[^"]*"|(?<=data-left>)[^<]*'
)
"""What is different in each answer although the list is the same: tokens of forms, and times left, which pages count
down by themselves."""
PLAY_NOW: Final = lobby.TableChoices(players=4, bots=3, bot="careful", public=False)


@require_safe
@vary_on_headers("HX-Request")
def home(request: HtmxRequest) -> HttpResponse:
    """Show the user's games, most urgent first, from number `?from=`; with `?finished=1` the finished ones.

    A visitor sees what the site is, and the open tables. HTMX gets the part of the user's page that changes, or 304.
    """
    return _front_page(request)


def _front_page(request: HtmxRequest, status: int = 200, *, bot_tables: BotTables | None = None) -> HttpResponse:
    user, now = person(request), timezone.now()
    if user is None and request.htmx:
        return HttpResponseClientRefresh()  # the reader has logged out
    if user is None:
        open_tables = _views(front_page.open_tables(None), None)
        context = {"page": visitors_page(open_tables, front_page.games_in_progress())}
        return render(request, "home.html", context, status=status)
    before = max(0, (number(request.GET.get("from")) or 1) - 1)
    finished = request.GET.get("finished") == "1"
    tables, more = (front_page.finished_games if finished else front_page.current_games)(user, before=before)
    mine, part = _views(tables, user), ListPart(before, len(tables), front_page.PAGE, more=more)
    rematches = queries.rematches_of([table.game for table in tables if table.game.ended], user)
    groups = [finished_group(mine, rematches, part, now)] if finished else current_groups(mine, rematches, part, now)
    guest = left_guest(request)
    page = home_page(
        groups,
        part,
        invitations=[] if finished or before else invitations.waiting_for(user),
        open_tables=[] if finished or before else _views(front_page.open_tables(user), user),
        finished=finished,
        left_guest=guest.name if guest and not guest.suspended_now else "",
        away_until=user.vacation_until if user.time_off.on_vacation(now) else None,
        offers_push=not finished and not before and front_page.offers_push(user, len(tables)),
        now=now,
    )
    if request.htmx:
        return _changed_part(request, user, page)
    return render(request, "home.html", {"page": page, "bot_tables": bot_tables}, status=status)


def _changed_part(request: HtmxRequest, user: User, page: HomePage) -> HttpResponse:
    """Return the part of the page that changes, or 304 if the reader's page shows the same already."""
    badges = inbox.badges_of(user)
    counts = {"turn_count": badges.turns, "next_count": badges.turns, "notice_count": badges.notices}
    text = loader.render_to_string("games/_my_games_fragment.html", {"page": page, **counts}, request)
    etag = f'"{sha256(DIFFERS_EACH_TIME.sub("", text).encode()).hexdigest()}"'
    answer = get_conditional_response(request, etag=etag, response=HttpResponse(text, headers={"ETag": etag}))
    assert answer is not None
    return answer


def _views(tables: list[Table], user: User | None) -> list[GameView]:
    return [queries.view_of(table, user) for table in tables]


@require_POST
@marks_browser
def play_now(request: HtmxRequest) -> HttpResponse:
    """Start a table with three bots. A visitor becomes a guest.

    A refusal, such as a limit on tables, is shown on the front page. A user with too many games against bots is led to
    the newest, and can give up the oldest for the new one: `give_up` is its code.
    """
    if first := log_in_first(request, reverse("home")):
        return first
    try:
        table = create_table_of_form(request, PLAY_NOW)
    except Denied as denied:
        full = isinstance(denied, TooManyAgainstBots)
        bot_tables = bot_tables_of(games_against_bots(request)) if full else None
        if bot_tables is None:
            messages.error(request, denied.words)
        return _front_page(request, denied.status, bot_tables=bot_tables)
    return SeeOther.to("game", table.game.code)


@require_safe
def next_game(request: HttpRequest) -> HttpResponse:
    """Redirect to the game that waits for the user after the current one (`?after=`), or to the most urgent one."""
    user = person(request)
    if user is None:
        return redirect("home")
    after = request.GET.get("after", "")
    game = lists.next_game_for(user, after=after if A_CODE.fullmatch(after) else None)
    if game is None:
        messages.info(request, say.text("message", "No game needs you. Start one?"))
        return redirect("home")
    return redirect(game)
