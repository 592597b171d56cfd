"""The calls of the API. Each parses, asks or acts, and answers; nothing is decided here."""

from __future__ import annotations

from typing import Annotated, Any

from django.db import OperationalError
from django.http import Http404, HttpRequest, HttpResponse
from django.utils import timezone
from ninja import NinjaAPI, Query, Status
from ninja.errors import AuthenticationError, HttpError, ValidationError
from psycopg.errors import LockNotAvailable, QueryCanceled

from accounts.models import User
from games import queries, records, rules
from games.actions import lobby, play
from games.api.auth import SessionAuth, TokenAuth
from games.api.schemas import ErrorOut, GameList, GameOut, Me, MoveList, NewGame, NewMove
from games.api.views import game_json, line_json, listed_json
from games.refusals import Denied

api = NinjaAPI(
    title="No Mercy",
    version="1",
    urls_namespace="api-v1",
    auth=[TokenAuth(), SessionAuth()],
    description="Turn-based play over days, for programs. Moves and cards are written as docs/notation.md says.",
)

REFUSED = {400: ErrorOut, 401: ErrorOut, 403: ErrorOut, 404: ErrorOut, 409: ErrorOut, 422: ErrorOut, 429: ErrorOut}


def _refuse(request: HttpRequest, denied: Denied) -> HttpResponse:
    body = {"error": denied.code, "message": denied.message, "rule": denied.rule, "version": denied.version}
    return api.create_response(request, body, status=denied.status)


@api.exception_handler(Denied)
def _denied(request: HttpRequest, denied: Denied) -> HttpResponse:
    return _refuse(request, denied)


@api.exception_handler(ValidationError)
def _invalid(request: HttpRequest, invalid: ValidationError) -> HttpResponse:
    fault = invalid.errors[0]
    where = ".".join(str(part) for part in fault["loc"] if part not in ("body", "payload", "query"))
    return _refuse(request, Denied("malformed", f"{where or 'The body'}: {fault['msg']}."))


@api.exception_handler(AuthenticationError)
def _unauthorized(request: HttpRequest, error: AuthenticationError) -> HttpResponse:
    return _refuse(request, Denied("unauthorized", "Log in, or send a valid token: Authorization: Bearer <token>."))


@api.exception_handler(HttpError)
def _http_error(request: HttpRequest, error: HttpError) -> HttpResponse:
    code = {400: "malformed", 403: "forbidden"}.get(error.status_code, "malformed")
    return _refuse(request, Denied(code, str(error)))


@api.exception_handler(OperationalError)
def _busy(request: HttpRequest, error: OperationalError) -> HttpResponse:
    """A lock or a statement took too long: nothing was changed, and the same call may succeed in a moment."""
    if not isinstance(error.__cause__, LockNotAvailable | QueryCanceled):
        raise error
    response = _refuse(request, Denied("busy", "The table is busy. Try again in a moment."))
    response.headers["Retry-After"] = "2"
    return response


@api.exception_handler(Http404)
def _not_found(request: HttpRequest, error: Http404) -> HttpResponse:
    return _refuse(request, Denied("not_found", "There is nothing at this address."))


def _user(request: HttpRequest) -> User:
    user = request.auth  # type: ignore[attr-defined]  # set by ninja: what TokenAuth or SessionAuth returned
    assert isinstance(user, User)
    return user


def _links(request: HttpRequest) -> list[str]:
    links: list[str] = request.session.get("links", [])
    return links


@api.get("/me", response=Me, summary="Who am I")
def me(request: HttpRequest) -> dict[str, Any]:
    user = _user(request)
    return {
        "id": user.pk,
        "username": user.username,
        "name": user.name,
        "guest": user.is_guest,
        "waiting": queries.count_waiting_for(user),
    }


@api.post("/games", response={201: GameOut, **REFUSED}, summary="Make a table and sit down")
def create_game(request: HttpRequest, payload: NewGame) -> Status[dict[str, Any]]:
    user = _user(request)
    options = lobby.TableOptions(**payload.dict())
    table = lobby.create_table(user=user, options=options, now=timezone.now())
    return Status(201, game_json(queries.view_of(table, user)))


@api.get("/games", response={200: GameList, **REFUSED}, summary="My games, most urgent first, or public tables")
def list_games(
    request: HttpRequest,
    mine: bool = False,
    turn: bool = False,
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
    offset: Annotated[int, Query(ge=0, le=1_000_000)] = 0,
) -> dict[str, Any]:
    user = _user(request)
    games = queries.games_of(user, turn=turn) if mine or turn else queries.public_games()
    page = queries.with_tables(games[offset : offset + limit])
    return {"items": [listed_json(queries.view_of(table, user)) for table in page], "count": games.count()}


@api.get("/games/{code}", response={200: GameOut, **REFUSED}, summary="The table as I may see it")
def get_game(request: HttpRequest, code: str) -> dict[str, Any]:
    user = _user(request)
    return game_json(queries.view_of(queries.load_for(code, user, _links(request)), user))


@api.post("/games/{code}/join", response={200: GameOut, **REFUSED}, summary="Sit down")
def join_game(request: HttpRequest, code: str) -> dict[str, Any]:
    user = _user(request)
    table = lobby.join(code=code, user=user, now=timezone.now(), links=_links(request))
    return game_json(queries.view_of(table, user))


@api.post("/games/{code}/leave", response={200: GameOut, **REFUSED}, summary="Get up, before the start")
def leave_game(request: HttpRequest, code: str) -> dict[str, Any]:
    user = _user(request)
    table = lobby.leave_table(code=code, user=user, now=timezone.now(), links=_links(request))
    return game_json(queries.view_of(table, user))


@api.post("/games/{code}/start", response={200: GameOut, **REFUSED}, summary="Start (the host)")
def start_game(request: HttpRequest, code: str) -> dict[str, Any]:
    user = _user(request)
    table = lobby.start(code=code, user=user, now=timezone.now(), links=_links(request))
    return game_json(queries.view_of(table, user))


@api.post("/games/{code}/moves", response={200: GameOut, **REFUSED}, summary="Make a move")
def make_move(request: HttpRequest, code: str, payload: NewMove) -> dict[str, Any]:
    user = _user(request)
    table = play.play_move(
        code=code,
        user=user,
        text=payload.move,
        version=payload.version,
        token=payload.token,
        now=timezone.now(),
        links=_links(request),
    )
    return game_json(queries.view_of(table, user))


@api.get("/games/{code}/moves", response={200: MoveList, **REFUSED}, summary="The log, as I may know it")
def list_moves(request: HttpRequest, code: str, after: Annotated[int, Query(ge=0, le=2**31 - 1)] = 0) -> dict[str, Any]:
    user = _user(request)
    table = queries.load_for(code, user, _links(request))
    lines = queries.log_of(table, user, after=after)
    return {"moves": [line_json(line) for line in lines], "version": table.game.version}


@api.get("/games/{code}/record", response={200: str, **REFUSED}, summary="The record, once the game is over")
def get_record(request: HttpRequest, code: str) -> HttpResponse:
    table = queries.load_for(code, _user(request), _links(request))
    text = rules.print_record(records.record_of(table))
    return HttpResponse(text, content_type="text/plain; charset=utf-8")
