"""The game page: a view that shows it, one that takes moves, and the record."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from http import HTTPStatus
from typing import Final

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse
from django.middleware.csrf import get_token
from django.shortcuts import redirect, render
from django.template import loader
from django.utils import timezone
from django.utils.cache import patch_vary_headers
from django.utils.http import urlencode
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django_htmx.http import HttpResponseClientRefresh

from accounts.models import User
from common.htmx import HtmxRequest, login_redirect
from games import presence, queries, rules
from games import render as rendering
from games.actions import seen
from games.actions.play import play_move
from games.clocks.turn_clock import moment_of
from games.models import Game
from games.notices import inbox
from games.notices.inbox import Badges
from games.queries import GameView, LogLine, Table, conduct, key_moments, lists, records, watching
from games.queries.watching import Watched
from games.refusals import Denied
from games.render import BETWEEN, LastRound, LogNote, PageRequest, RematchState
from games.render.log_notes import notes_of
from games.staff.browser_marks import mark
from games.web import table as table_views
from games.web.guests import left_guest
from games.web.http import SeeOther
from games.web.replay import no_replay
from games.web.viewer import number, person, table_for, viewer_as

View = Callable[[HtmxRequest, str], HttpResponse]

READ_LINES: Final = 30
"""The newest lines of the log that are read for a game page: to show, to announce, and for "Since your last move"."""

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
        # The game has started, and an open lobby page lacks the scripts and styles of a game.
        user = person(request)
        if user is not None and _idle_seconds(request) is None:
            presence.expect_reload(game_id=table.game.pk, user_id=user.pk)
        return _reload()
    asked = PageRequest(
        choose=request.GET.get("choose", ""),
        uno=request.GET.get("uno") == "1",
        sort=request.GET.get("sort", "") or request.COOKIES.get(SORT_COOKIE, ""),
        refresh=request.GET.get("refresh") != "off",
    )
    since, ended = (number(request.GET.get(name)) for name in ("since", "ended"))
    watched = None if "skip" in request.GET else _watched(request, table, since)
    response = _show(request, table, asked, since=since, ended=ended, watched=watched)
    if request.GET.get("sort") in rendering.SORTS:
        sort, secure = request.GET["sort"], settings.HTTPS
        response.set_cookie(SORT_COOKIE, sort, max_age=SORT_SECONDS, samesite="Lax", httponly=True, secure=secure)
    return response


def _watched(request: HtmxRequest, table: Table, since: int | None) -> Watched | None:
    """Return the next step of a round that the reader is out of, if their page has not shown it yet."""
    seat, deal = table.seat_of(person(request)), _deal_shown(request)
    if not request.htmx or table.playing is None or seat is None or since is None or deal is None:
        return None
    return watching.next_step(table, seat, since=since, deal=deal, now=moment_of(table.game, timezone.now()))


@require_http_methods(["GET", "HEAD", "POST"])
@_or_reload
def move(request: HtmxRequest, code: str) -> HttpResponse:
    """Make a move, and show the page after it, or the current page with the reason for a refusal."""
    user = person(request)
    if request.method != "POST":
        return redirect("game", code)
    if user is None:
        return login_redirect(f"/games/{code}/", htmx=bool(request.htmx))
    version = number(request.POST.get("version"))
    text = request.POST.get("move", "")
    uno = request.POST.get("uno") == "1"
    if "choose" in request.POST:
        return _choosing(request, code, request.POST["choose"], uno=uno, version=version)
    try:
        table = _play(request, code, user, text=text, uno=uno, version=version)
    except Denied as denied:
        return _refused(request, code, denied, text=text, uno=uno, version=version)
    seen.mark_end_seen(table, user)
    if request.htmx:
        asked = PageRequest(sort=request.COOKIES.get(SORT_COOKIE, ""))
        response = _show(request, table, asked, since=version, last=_lines_after_move(table, version))
    else:
        response = SeeOther(f"{table.game.get_absolute_url()}#headline")
    if not table.was_sent_before(user):
        mark(request, response, code=table.game.code, user=user)
    return response


def _play(request: HtmxRequest, code: str, user: User, *, text: str, uno: bool, version: int | None) -> Table:
    called = uno and text.startswith("play ")
    first, *then = (f"{text} uno" if called else text).split(BETWEEN)
    return play_move(
        code=code,
        viewer=viewer_as(request, user),
        text=first,
        then=then,
        version=version,
        deal=_deal_shown(request),
        leave_in_deal=_deal_shown(request),
        token=request.POST.get("token") or None,
        now=timezone.now(),
    )


def _refused(
    request: HtmxRequest, code: str, denied: Denied, *, text: str, uno: bool, version: int | None
) -> HttpResponse:
    """Show the current page with the reason. For a play that lacks only its colour or target, open the chooser."""
    if denied.code in ("color_missing", "swap_missing"):
        return _choosing(request, code, text.removeprefix("play "), uno=uno, version=version)
    table = table_for(request, code)
    sort = request.COOKIES.get(SORT_COOKIE, "")
    return _show(request, table, PageRequest(uno=uno, sort=sort, refusal=denied), since=version, status=denied.status)


def _choosing(request: HtmxRequest, code: str, choose: str, *, uno: bool, version: int | None) -> HttpResponse:
    """Show the current page with the chooser for a card, or for the cards of a straight."""
    table = table_for(request, code)
    if not request.htmx:
        query = urlencode({"choose": choose, "uno": "1"} if uno else {"choose": choose})
        return SeeOther(f"{table.game.get_absolute_url()}?{query}#move")
    asked = PageRequest(choose=choose, uno=uno, sort=request.COOKIES.get(SORT_COOKIE, ""))
    return _show(request, table, asked, since=version)


def game_page(
    request: HtmxRequest, table: Table, view: GameView, status: int = 200, refusal: Denied | None = None
) -> HttpResponse:
    """Return the page of a game, for other views whose action was refused there."""
    asked = PageRequest(sort=request.COOKIES.get(SORT_COOKIE, ""), refusal=refusal)
    return _show(request, table, asked, status=status, view=view)


def _show(
    request: HtmxRequest,
    table: Table,
    asked: PageRequest,
    *,
    since: int | None = None,
    ended: int | None = None,
    status: int = 200,
    view: GameView | None = None,
    last: int = READ_LINES,
    watched: Watched | None = None,
) -> HttpResponse:
    """Return the whole page, or its fragment for HTMX with the events after version `since`.

    `ended` is the round whose end the page showed, if any. `last` is how many of the newest lines of the log are read.
    With `watched` that earlier moment is shown. The lobby is shown if the game has not started.
    """
    table = table if watched is None else watched.table
    user, now = person(request), moment_of(table.game, timezone.now())
    view = view or queries.view_of(table, user)
    if view.view is None:  # it has not started, or was closed before it did
        return table_views.lobby_page(request, table, view, status=status, refusal=asked.refusal)
    looks = user is not None and view.you is not None and _mark_if_looking(request, table, user)
    lines = queries.log_of(table, user, last=last)
    last_round = _ended_before(table, view, lines)
    page = rendering.page_of(
        view,
        lines,
        asked=asked,
        now=now,
        notes=_notes_beside(table, lines, user),
        ended=last_round,
        moments=_moments_shown(table, view, last_round),
        earlier=watched is not None,
        turn_waits=watched is not None and watched.my_turn,
        rematch=_rematch_state(table, view, user),
        unseen=queries.unseen_end(table, user),
        looks=looks,
        guest=user is not None and user.is_guest and not user.no_sign_up_until and view.you is not None,
        called_off_by_staff=table.game.status == Game.Status.VOID and conduct.closed_by_staff(table.game),
        unseated=conduct.unseated_by(table.game, user) if user is not None and view.you is None else "",
    )
    badges = inbox.badges_of(user) if user else Badges()
    context = {
        "page": page,
        "turn_count": badges.turns,
        "next_count": badges.turns - view.my_turn,
        "notice_count": badges.notices,
    }
    if request.htmx:
        since = view.version if since is None else since
        events = rendering.page_events(view, lines, since=since, now=now, ended=ended, deal=_deal_shown(request))
        context |= {"csrf_token": get_token(request), "user": user, "events": events, "request": request}
        response = HttpResponse(loader.get_template("games/_fragment.html").render(context), status=status)
    else:
        context["events"] = rendering.recap(view, lines, now=now) if page.news else rendering.PageEvents()
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


def _mark_if_looking(request: HtmxRequest, table: Table, user: User) -> bool:
    """Return True if this player looks at the page that is sent to them, and mark them as viewing the game."""
    idle, ids = _idle_seconds(request), {"game_id": table.game.pk, "user_id": user.pk}
    if idle is None or (not request.htmx and presence.is_reload(**ids)):
        return False
    presence.mark_viewing(**ids, idle=idle)
    return True


def _deal_shown(request: HtmxRequest) -> int | None:
    """Return the number of the deal that the reader's page showed, if the request says it."""
    return number((request.POST if request.method == "POST" else request.GET).get("deal"))


def _lines_after_move(table: Table, version: int | None) -> int:
    """Return how many lines of the log are read for the page after a move that was chosen on this version."""
    if version is None:
        return READ_LINES
    # One more than the page shows, so that it knows that there are earlier ones. The reader's own move is after
    # `version`, so "Since your last move" needs no older lines.
    return min(READ_LINES, rendering.LOG_LINES + 1 + max(0, table.game.version - version))


def _notes_beside(table: Table, lines: list[LogLine], user: User | None) -> list[LogNote]:
    """Return the notes since the oldest line that the page shows, or since the beginning if it shows all lines."""
    oldest = lines[-rendering.LOG_LINES].n if len(lines) > rendering.LOG_LINES else 0
    return notes_of(queries.between_moves(table, user, since=oldest, last=rendering.LOG_LINES))[-rendering.LOG_LINES :]


def _ended_before(table: Table, view: GameView, lines: list[LogLine]) -> LastRound | None:
    """Return the round before this one, or None if the reader has moved since or that is long ago."""
    round_ = table.started.round
    new = view.version - round_.from_version < READ_LINES
    moved = any(line.round == view.round and rendering.is_own(view, line) for line in lines)
    if view.you is None or view.turn is None or view.round < 2 or moved or not new:
        return None
    last = next((result for result in view.results if result.number == view.round - 1), None)
    if last is None:  # staff voided it
        return None
    return LastRound(last.number, last.outcome, queries.hands_after(table, last.number))


def _moments_shown(table: Table, view: GameView, last_round: LastRound | None) -> list[rules.KeyMoment]:
    """Return the key moments of a finished game, or of the round whose end the page shows, if any."""
    if view.ended:
        return key_moments.key_moments_of(table)
    if view.turn is None:
        return key_moments.moments_of_round(table, view.round)
    return [] if last_round is None else key_moments.moments_of_round(table, last_round.number)


def _rematch_state(table: Table, view: GameView, user: User | None) -> RematchState | None:
    """Return the rematch of a finished game, if there is one and the reader played in the game."""
    if view.you is None or not view.ended:
        return None
    game = queries.rematch_of(table)
    if game is None:
        return None
    seated = game.seats.filter(user=user).exists()
    return RematchState(game.host.name if game.host else "", seated, game.status == Game.Status.OPEN)


@require_POST
def mark_end_seen(request: HtmxRequest, code: str) -> HttpResponse:
    """Mark the end of a game as seen, and redirect to the front page. With scripts the page posts this by itself."""
    seen.mark_end_seen(table_for(request, code), person(request))
    return HttpResponse(status=HTTPStatus.NO_CONTENT) if request.htmx else SeeOther.to("home")


@require_safe
def record(request: HtmxRequest, code: str) -> HttpResponse:
    """Return the record of a finished game, from which anyone can replay and verify it."""
    table = table_for(request, code)
    try:
        text = rules.print_record(records.record_of(table))
    except Denied as denied:
        return no_replay(request, code, denied)
    return HttpResponse(text, content_type="text/plain; charset=utf-8")
