"""The game page: a view that shows it, one that takes moves, and the record."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from http import HTTPStatus
from typing import Final

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.template import loader
from django.utils import timezone
from django.utils.cache import patch_vary_headers
from django.utils.http import urlencode
from django.views.decorators.http import require_POST, require_safe
from django_htmx.http import HttpResponseClientRefresh

from accounts.models import User
from common.htmx import HtmxRequest, login_redirect
from games import presence, queries, rules
from games import render as rendering
from games.actions import end_seen, tips
from games.actions.play import play_move
from games.clocks.turn_clock import moment_of
from games.notices import inbox
from games.notices.inbox import Badges
from games.queries import Table, lists, records
from games.queries.game_page import ShownPage, contents_of
from games.refusals import Denied
from games.render import BETWEEN, PageRequest
from games.render.card_rules import card_rules
from games.render.confirm import asks_first
from games.staff.browser_marks import mark_browser
from games.web import table as table_views
from games.web.guests import left_guest
from games.web.http import SeeOther, get_shows_table
from games.web.replay import no_replay
from games.web.viewer import number, person, table_for, viewer_as

View = Callable[[HtmxRequest, str], HttpResponse]

IDLE_SECONDS: Final = "X-Idle-Seconds"
"""The header of a fetch by a visible page: how many seconds ago its reader last gave a sign (static/js/signs.js)."""

SORT_COOKIE: Final = "__Host-hand-sort" if settings.HTTPS else "hand_sort"
SORT_SECONDS: Final = 365 * 86_400


def _or_reload(view: View) -> View:
    """Decorate a view so that HTMX reloads the page on a 404 or 403; the whole page then shows the reason.

    Not while the guest that this browser was sits there: the page of that time tries again until its reader has said
    whether the seats move to the account (`/move-seats/`).
    """

    @wraps(view)
    def handle(request: HtmxRequest, code: str) -> HttpResponse:
        try:
            return view(request, code)
        except (Http404, PermissionDenied) as refused:
            if not request.htmx:
                raise
            guest = left_guest(request)
            if guest is not None and lists.games_of(guest).filter(code=code).exists():
                return HttpResponse(status=HTTPStatus.NOT_FOUND)
            return _reload(HTTPStatus.NOT_FOUND if isinstance(refused, Http404) else HTTPStatus.FORBIDDEN)

    return handle


def _reload(status: HTTPStatus = HTTPStatus.OK) -> HttpResponse:
    response = HttpResponseClientRefresh()
    response.status_code = status
    return response


@require_safe
@_or_reload
def game(request: HtmxRequest, code: str) -> HttpResponse:
    """Show the game page, or its fragment for HTMX; the lobby while the table is open."""
    table = table_for(request, code)
    if request.htmx and "lobby" in request.GET and table.game.started_at is not None:
        return _reload_lobby(request, table)
    if request.htmx and not _has_seen_revision(request, table):
        return _reload()
    choose, uno = request.GET.get("choose", ""), request.GET.get("uno") == "1"
    response = _show(request, table, _asked(request, choose=choose, uno=uno))
    if request.GET.get("sort") in rendering.SORTS:
        sort, secure = request.GET["sort"], settings.HTTPS
        response.set_cookie(SORT_COOKIE, sort, max_age=SORT_SECONDS, samesite="Lax", httponly=True, secure=secure)
    return response


def _reload_lobby(request: HtmxRequest, table: Table) -> HttpResponse:
    """Make an open lobby page load the page of the game, which has started: it lacks its scripts and styles."""
    user = person(request)
    if user is not None and _idle_seconds(request) is None:
        presence.expect_reload(game_id=table.game.pk, user_id=user.pk)
    return _reload()


def _has_seen_revision(request: HtmxRequest, table: Table) -> bool:
    """Return False if the page says that it shows a revision that the table never had, for example after a restore."""
    if "revision" not in request.GET:
        return True
    shown = number(request.GET["revision"])
    return shown is not None and shown <= table.game.revision


@get_shows_table
@_or_reload
def move(request: HtmxRequest, code: str) -> HttpResponse:
    """Make a move, and show the page after it, or the current page with the reason for a refusal."""
    user = person(request)
    if user is None:
        return login_redirect(f"/games/{code}/", htmx=bool(request.htmx))
    if "choose" in request.POST:
        return _choosing(request, table_for(request, code), request.POST["choose"])
    if user.confirm == User.Confirm.ALWAYS and "sure" not in request.POST:
        table, text = table_for(request, code), _move_in(request)
        if _is_current(request, table) and asks_first(queries.view_of(table, user), text, timezone.now()):
            return _choosing(request, table, text, at="choose-yes")
    try:
        table = _play(request, code, user)
    except Denied as denied:
        if denied.code in ("color_missing", "swap_missing"):  # the play lacks only its colour or target
            return _choosing(request, table_for(request, code), request.POST["move"].removeprefix("play "))
        return refused(request, code, denied)
    end_seen.mark_end_seen(table, user)
    tips.mark_tip_seen(user, request.POST.get("tip", ""))
    after = f"{table.game.get_absolute_url()}#headline"
    response = _show(request, table, _asked(request, moved=True)) if request.htmx else SeeOther(after)
    if not table.was_sent_before(user):
        mark_browser(request, response, code=table.game.code, user=user)
    return response


def _is_current(request: HtmxRequest, table: Table) -> bool:
    """Return True if the form was made for the current version and deal of its table."""
    version, deal = (number(request.POST.get(name)) for name in ("version", "deal"))
    return table.playing is not None and version == table.game.version and deal in (None, table.playing.round.number)


def _move_in(request: HtmxRequest) -> str:
    """Return the move of a form, or the plays of a straight; the last play calls UNO if its player does."""
    text = request.POST.get("move", "")
    if request.POST.get("uno") == "1" and text.startswith("play "):
        text += " uno"
    return text


def _play(request: HtmxRequest, code: str, user: User) -> Table:
    first, *then = _move_in(request).split(BETWEEN)
    return play_move(
        code=code,
        viewer=viewer_as(request, user),
        text=first,
        then=then,
        version=number(request.POST.get("version")),
        deal=number(request.POST.get("deal")),
        token=request.POST.get("token") or None,
        now=timezone.now(),
    )


def refused(request: HtmxRequest, code: str, denied: Denied) -> HttpResponse:
    """Show the table as it is now, with the reason why an action there was refused.

    :raises Http404: this person may not see the table.
    """
    asked = _asked(request, uno=request.POST.get("uno") == "1", refusal=denied)
    return _show(request, table_for(request, code), asked, status=denied.status)


def _choosing(request: HtmxRequest, table: Table, choose: str, *, at: str = "move") -> HttpResponse:
    """Show the current page with the chooser for a card or a straight, or with the question before a move.

    Without scripts the focus goes to the element `at`.
    """
    uno = request.POST.get("uno") == "1"
    if not request.htmx:
        query = urlencode({"choose": choose, "uno": "1"} if uno else {"choose": choose})
        return SeeOther(f"{table.game.get_absolute_url()}?{query}#{at}")
    return _show(request, table, _asked(request, choose=choose, uno=uno))


def _asked(
    request: HtmxRequest,
    *,
    choose: str = "",
    uno: bool = False,
    refusal: Denied | None = None,
    moved: bool = False,
) -> PageRequest:
    """Return what the request asks the page to show. `moved`: the reader has just made a move."""
    shown = None
    if request.htmx:
        is_form = request.method == "POST"
        sent = request.POST if is_form else request.GET
        version, deal, ended = (number(sent.get(name)) for name in ("version" if is_form else "since", "deal", "ended"))
        watches = not is_form and "skip" not in sent
        shown = ShownPage(version, deal, ended, moved=moved, watches=watches, tip=sent.get("tip", ""))
    return PageRequest(
        choose=choose,
        uno=uno,
        sort=request.GET.get("sort", "") or request.COOKIES.get(SORT_COOKIE, ""),
        refusal=refusal,
        refresh=request.GET.get("refresh") != "off",
        shown=shown,
        orders="orders" in request.GET or "stop" in request.POST,
    )


def _show(request: HtmxRequest, table: Table, asked: PageRequest, *, status: int = 200) -> HttpResponse:
    """Return the whole page of a table, or its fragment for HTMX; the lobby if it was never dealt."""
    user, now = person(request), moment_of(table.game, timezone.now())
    if table.playing is None:
        return table_views.lobby_page(request, table, status=status, refusal=asked.refusal)
    looks = _mark_if_looking(request, table, user)
    contents = contents_of(table, user, asked.shown, now=now)
    page = rendering.game_page(contents, replace(asked, looks=looks), now)
    badges = inbox.badges_of(user) if user else Badges()
    context = {
        "page": page,
        "turn_count": badges.turns,
        "next_count": badges.turns - contents.view.my_turn,
        "notice_count": badges.notices,
    }
    if request.htmx:
        context |= {"user": user, "request": request}
        response = HttpResponse(loader.get_template("games/_fragment.html").render(context), status=status)
    else:
        response = render(request, "games/game.html", context, status=status)
    patch_vary_headers(response, ["HX-Request"])
    return response


def _idle_seconds(request: HtmxRequest) -> int | None:
    """Return how many seconds ago the reader gave a sign; None if that is too long ago to look at the page."""
    if request.method == "POST":
        return 0  # a form that they send
    if not request.htmx:  # a page that they load, unless the browser says that a script or a refresh has loaded it
        by_itself = request.headers.get("Sec-Fetch-Mode") == "navigate" and "Sec-Fetch-User" not in request.headers
        return None if by_itself else 0
    idle = number(request.headers.get(IDLE_SECONDS))
    return idle if idle is not None and idle < presence.SECONDS else None


def _mark_if_looking(request: HtmxRequest, table: Table, user: User | None) -> bool:
    """Return True if a player looks at the page that is sent to them, and mark them as viewing the game."""
    if user is None or table.seat_of(user) is None:
        return False
    idle, ids = _idle_seconds(request), {"game_id": table.game.pk, "user_id": user.pk}
    if idle is None or (not request.htmx and presence.is_reload(**ids)):
        return False
    presence.mark_viewing(**ids, idle=idle)
    return True


@get_shows_table
@_or_reload
def tip(request: HtmxRequest, code: str) -> HttpResponse:
    """Note that a tip of the game page is seen, or that its reader wants none, and show the page."""
    user = person(request)
    if user is None:
        return login_redirect(f"/games/{code}/", htmx=bool(request.htmx))
    table = table_for(request, code)
    if "off" in request.POST:
        tips.turn_tips_off(user)
    else:
        tips.mark_tip_seen(user, request.POST.get("seen", ""))
    uno, choose = request.POST.get("uno") == "1", request.POST.get("choose", "")
    if not request.htmx:
        query = urlencode({"choose": choose} if choose else {})
        return SeeOther(f"{table.game.get_absolute_url()}?{query}#headline")
    return _show(request, table, _asked(request, choose=choose, uno=uno))


@require_POST
def mark_end_seen(request: HtmxRequest, code: str) -> HttpResponse:
    """Mark the end of a game as seen, and redirect to the front page. With scripts the page posts this by itself."""
    end_seen.mark_end_seen(table_for(request, code), person(request))
    return HttpResponse(status=HTTPStatus.NO_CONTENT) if request.htmx else SeeOther.to("home")


@require_safe
def cards(request: HtmxRequest, code: str) -> HttpResponse:
    """Return what each card of a table does, for static/js/card_info.js."""
    view = queries.view_of(table_for(request, code), person(request))
    context = {"cards": card_rules(view), "swaps": view.options.zero_seven}
    return HttpResponse(loader.get_template("games/card_info.html").render(context))


@require_safe
def record(request: HtmxRequest, code: str) -> HttpResponse:
    """Return the record of a finished game, from which anyone can replay and verify it."""
    table = table_for(request, code)
    try:
        text = rules.print_record(records.record_of(table))
    except Denied as denied:
        return no_replay(request, code, denied)
    return HttpResponse(text, content_type="text/plain; charset=utf-8")
