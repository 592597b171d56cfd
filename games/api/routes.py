"""The calls of the API. Each parses its input, calls a query or an action, and returns JSON."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from datetime import datetime
from functools import partial, wraps
from typing import Annotated, Any, Literal, Protocol

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import conditional_page
from ninja import Query, Status
from ninja.decorators import decorate_view

from accounts.adapter import links_in
from accounts.models import User
from games import queries, rules
from games.actions import lobby, pauses, play, rematch, standing_orders
from games.announce import group_of
from games.api.base import api
from games.api.schemas import (
    ClockOut,
    ErrorOut,
    EventsOut,
    GameList,
    GameOut,
    Me,
    MoveList,
    NewBot,
    NewGame,
    NewMove,
    NewOrders,
    Nothing,
    OrdersOut,
)
from games.api.views import clock_json, game_json, line_json, listed_json
from games.api.waits import Wait, waiting
from games.queries import Viewer, lists, records
from games.queries.orders import own_orders
from games.queries.replays import one_at_a_time
from games.refusals import Denied
from games.staff.browser_marks import mark_browser

__all__ = ["api"]  # importing this module registers the calls

MOST_MOVES = 10_000
"""How many moves are listed without `limit`: all of the longest games that people play. One takes 3.5 KB of memory."""
Version = Annotated[int, Query(ge=0, le=2**31 - 1)]
Mark = Annotated[str, Query(max_length=64, description="`mark` of the last answer")]


def _user(request: HttpRequest) -> User:
    user = request.auth  # type: ignore[attr-defined]  # set by ninja: what TokenAuth or SessionAuth returned
    assert isinstance(user, User)
    return user


def _by_token(request: HttpRequest) -> bool:
    return getattr(request, "by_token", False)


def _viewer(request: HttpRequest, *links: str) -> Viewer[User]:
    return Viewer(_user(request), [*links_in(request.session), *links], _by_token(request))


def _marked(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Mark the browser of a session that has sat down or moved, as pages do. The view sets `request.played_at`."""

    @wraps(view)
    def handle(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        response = view(request, *args, **kwargs)
        code: str | None = getattr(request, "played_at", None)
        if code is not None and not _by_token(request):
            mark_browser(request, response, code=code, user=_user(request))
        return response

    return handle


def _played(request: HttpRequest, table: queries.Table) -> dict[str, Any]:
    """Note that the user plays at this table, and return the table as they may see it."""
    request.played_at = table.game.code  # type: ignore[attr-defined]  # for `_marked`
    return game_json(queries.view_of(table, _user(request)))


class _Act(Protocol):
    """Something that a person does at a table. Returns the table after it. May raise Denied."""

    def __call__(self, *, code: str, viewer: Viewer[User], now: datetime) -> queries.Table: ...


def _acted(act: _Act, request: HttpRequest, code: str) -> dict[str, Any]:
    """Do something at a table, and return the table as the user may see it."""
    viewer = _viewer(request)
    return game_json(queries.view_of(act(code=code, viewer=viewer, now=timezone.now()), viewer.user))


@api.get("/me", response={200: Me}, summary="My account")
def me(request: HttpRequest) -> dict[str, Any]:
    user = _user(request)
    return {
        "id": user.pk,
        "username": user.username,
        "name": user.name,
        "guest": user.is_guest,
        "program": user.is_program,
        "waiting": lists.games_to_act_in(user, now=timezone.now()).count(),
    }


@api.post("/games", response={201: GameOut}, summary="Create a table and sit down")
@decorate_view(_marked)
def create_game(request: HttpRequest, payload: NewGame) -> Status[dict[str, Any]]:
    """Make a table. If bots take all other seats, it starts at once."""
    choices = lobby.TableChoices(**payload.dict())
    if _by_token(request) and not choices.programs:
        raise Denied("forbidden", queries.NO_TOKENS)
    table = lobby.create_table(user=_user(request), choices=choices, now=timezone.now())
    return Status(201, _played(request, table))


@api.get("/games", response={200: GameList}, summary="My games, most urgent first, or public tables")
def list_games(
    request: HttpRequest,
    mine: bool = False,
    turn: bool = False,
    status: Literal["open", "playing", "over", "void"] | None = None,
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
    offset: Annotated[int, Query(ge=0, le=1_000_000)] = 0,
    after: Annotated[
        str | None, Query(pattern=f"^{lists.PLACE}$", description="`next` of an answer: public tables from there")
    ] = None,
) -> dict[str, Any]:
    """List my games with `mine`, or with `turn` those in which I must move or can catch somebody.

    Without both it lists the public tables that are open or being played. The statuses `over` and `void` need `mine`.
    """
    user, place = _user(request), None if after is None else lists.Place.parsed(after)
    if place is not None and (mine or turn):
        raise Denied("malformed", "`after` continues the list of public tables, not of yours.")
    if mine or turn:
        games = lists.games_to_act_in(user, now=timezone.now()) if turn else lists.games_of(user)
        games = games if status is None else games.filter(status=status)
    else:
        games = lists.public_games(place, status)
    page, listed = queries.readable_tables(games[offset : offset + limit])
    answer = {"items": [listed_json(queries.view_of(table, user)) for table in page], "count": games.count()}
    if not (mine or turn):
        following = lists.next_place(listed, limit=limit, offset=offset, after=place)
        if following is not None and status in (None, following.status):
            answer["next"] = str(following)
    return answer


@api.get(
    "/games/{code}",
    response={200: GameOut},
    summary="The table as I may see it",
    openapi_extra={"responses": {304: {"description": "Not Modified"}}},
)
@decorate_view(conditional_page)  # adds an ETag, and answers 304 to a caller who has it
def get_game(request: HttpRequest, code: str) -> dict[str, Any]:
    """Show the table, with an `ETag`. Sent back as `If-None-Match`, it gets 304 and no body if nothing has changed."""
    viewer = _viewer(request)
    return game_json(queries.view_of(queries.load_for(code, viewer), viewer.user))


@api.get("/wait/games/{code}", response={200: GameOut}, summary="The table, as soon as it has changed")
@decorate_view(waiting)
def wait_for_game(request: HttpRequest, code: str, after: Version | None = None) -> dict[str, Any]:
    """Answer at once if the version is higher than `after`, and otherwise at the next change.

    If nothing changes within 25 seconds, the answer is the view as it is: make the same call again.
    """
    viewer = _viewer(request)
    table = queries.load_for(code, viewer)
    is_news = after is not None and table.game.version > after
    request.wait = Wait(viewer.user.pk, [group_of(code)], f"{table.game.revision}", is_news)  # type: ignore[attr-defined]
    return game_json(queries.view_of(table, viewer.user))


@api.get("/wait/events", response={200: EventsOut}, summary="My running tables, as soon as one has changed")
@decorate_view(waiting)
def wait_for_events(request: HttpRequest, after: Mark | None = None) -> dict[str, Any]:
    """Answer as soon as one of my tables, open or being played, has changed since the answer with the mark `after`.

    With an empty `after` it answers at once. If nothing changes within 25 seconds, it answers without news: call again.
    """
    user = _user(request)
    states = list(lists.states_of_games(user, now=timezone.now()))
    items = [
        {"id": code, "version": version, "status": status, "seats": taken, "waiting": waits}
        for code, version, status, taken, waits in states
    ]
    mark = hashlib.sha256(json.dumps(items).encode()).hexdigest()[:32]
    groups = [group_of(code) for code, *_ in states]
    request.wait = Wait(user.pk, groups, mark, after is not None and after != mark)  # type: ignore[attr-defined]
    return {"items": items, "mark": mark}


@api.post("/games/{code}/join", response={200: GameOut}, summary="Sit down")
@decorate_view(_marked)
def join_game(request: HttpRequest, code: str, payload: Nothing | None = None) -> dict[str, Any]:
    return _played(request, lobby.join(code=code, viewer=_viewer(request), now=timezone.now()))


@api.post("/join/{key}", response={200: GameOut}, summary="Sit down by an invitation link")
@decorate_view(_marked)
def join_by_link(request: HttpRequest, key: str, payload: Nothing | None = None) -> dict[str, Any]:
    """Sit down with the key that is in the address of the link: `/join/{key}/`."""
    viewer = _viewer(request, key)
    return _played(request, lobby.join(code=queries.load_by_invite(key).game.code, viewer=viewer, now=timezone.now()))


@api.post("/games/{code}/leave", response={200: GameOut}, summary="Leave before the start")
def leave_game(request: HttpRequest, code: str, payload: Nothing | None = None) -> dict[str, Any]:
    """Leave a table that has not started. After the start, send the move `leave`."""
    return _acted(lobby.leave_table, request, code)


@api.post("/games/{code}/start", response={200: GameOut}, summary="Start the game (host only)")
def start_game(request: HttpRequest, code: str, payload: Nothing | None = None) -> dict[str, Any]:
    return _acted(lobby.start, request, code)


@api.post("/games/{code}/bots", response={200: GameOut}, summary="Seat a bot (host only)")
def add_bot(request: HttpRequest, code: str, payload: NewBot | None = None) -> dict[str, Any]:
    bot = (payload or NewBot()).bot
    return _acted(partial(lobby.add_bot, bot=bot), request, code)


@api.post("/games/{code}/rematch", response={200: GameOut}, summary="Make a rematch, or join it")
@decorate_view(_marked)
def ask_rematch(request: HttpRequest, code: str, payload: Nothing | None = None) -> dict[str, Any]:
    """Make a table with the same rules and bots and invite the others, or join the one that another player made.

    Answers with the view of the new table.
    """
    return _played(request, rematch.ask_rematch(code=code, viewer=_viewer(request), now=timezone.now()))


@api.get("/games/{code}/clock", response={200: ClockOut}, summary="The table's clock")
def get_clock(request: HttpRequest, code: str) -> dict[str, Any]:
    viewer = _viewer(request)
    return clock_json(queries.view_of(queries.load_for(code, viewer), viewer.user))


@api.post("/games/{code}/pause", response={200: GameOut}, summary="Ask for a pause, or agree to one")
def pause_game(request: HttpRequest, code: str, payload: Nothing | None = None) -> dict[str, Any]:
    return _acted(pauses.ask_pause, request, code)


@api.post("/games/{code}/resume", response={200: GameOut}, summary="Withdraw or end a pause")
def resume_game(request: HttpRequest, code: str, payload: Nothing | None = None) -> dict[str, Any]:
    return _acted(pauses.resume, request, code)


@api.post("/games/{code}/take-back", response={200: GameOut}, summary="Take my seat back from the bot")
def take_back_seat(request: HttpRequest, code: str, payload: Nothing | None = None) -> dict[str, Any]:
    return _acted(pauses.take_seat_back, request, code)


@api.put("/games/{code}/orders", response={200: OrdersOut}, summary="Set my standing orders")
def set_orders(request: HttpRequest, code: str, payload: NewOrders) -> dict[str, Any]:
    """Replace all standing orders: a missing field gets its default.

    Only tables at a pace that is not live have orders.
    """
    viewer = _viewer(request)
    table = standing_orders.set_orders(code=code, viewer=viewer, fields=payload.dict(), now=timezone.now())
    return own_orders(table, viewer.user).to_json()


@api.get("/games/{code}/orders", response={200: OrdersOut}, summary="My standing orders")
def get_orders(request: HttpRequest, code: str) -> dict[str, Any]:
    viewer = _viewer(request)
    return own_orders(queries.load_for(code, viewer), viewer.user).to_json()


# `ErrorOut` is in the document because it is named here; `DocumentedAPI` refers to it at every call.
@api.post("/games/{code}/moves", response={200: GameOut, 409: ErrorOut}, summary="Make a move")
@decorate_view(_marked)
def make_move(request: HttpRequest, code: str, payload: NewMove) -> Status[dict[str, Any]]:
    """Make a move. A turn move needs the `version` of the view that it was chosen on.

    If the table has changed since, the answer is 409 `stale` with the view as it is now.
    """
    viewer = _viewer(request)
    try:
        table = play.play_move(
            code=code,
            viewer=viewer,
            text=payload.move,
            then=payload.then,
            version=payload.version,
            deal=None if payload.move == "leave" else payload.deal,  # which docs/api.md has for turn moves only
            token=payload.token,
            now=timezone.now(),
        )
    except Denied as denied:
        if denied.code != "stale":
            raise
        view = game_json(queries.view_of(queries.load_for(code, viewer), viewer.user))
        return Status(denied.status, denied.to_json() | {"version": view["version"], "view": view})
    if table.was_sent_before(viewer.user):
        return Status(200, game_json(queries.view_of(table, viewer.user)))
    return Status(200, _played(request, table))


@api.get("/games/{code}/moves", response={200: MoveList}, summary="The log as I may see it")
def list_moves(
    request: HttpRequest,
    code: str,
    after: Version = 0,
    limit: Annotated[int | None, Query(ge=1, le=1000)] = None,
) -> dict[str, Any]:
    """List the moves after the version `after`: the next `limit`, or without it at most 10,000."""
    viewer = _viewer(request)
    table = queries.load_for(code, viewer)
    until = min(after + (limit or MOST_MOVES), table.game.version)
    with one_at_a_time(until - after):
        lines = queries.log_of(table, viewer.user, after=after, until=until)
        return {"moves": [line_json(line) for line in lines], "version": table.game.version}


@api.get(
    "/games/{code}/record",
    response={200: None},
    summary="The record, once the game is over",
    openapi_extra={"responses": {200: {"content": {"text/plain": {"schema": {"type": "string"}}}}}},
)
def get_record(request: HttpRequest, code: str) -> HttpResponse:
    table = queries.load_for(code, _viewer(request))
    text = rules.print_record(records.record_of(table))
    return HttpResponse(text, content_type="text/plain; charset=utf-8")
