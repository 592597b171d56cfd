"""Middleware and error handlers: request log, sessions, bad requests and database faults."""

import logging
import re
import sys
import time
import uuid
from collections.abc import Callable
from http import HTTPMethod, HTTPStatus
from typing import Any, cast

import structlog
from django.conf import settings
from django.contrib.sessions.exceptions import SessionInterrupted
from django.contrib.sessions.middleware import SessionMiddleware
from django.core.exceptions import RequestDataTooBig, SuspiciousOperation
from django.core.handlers.exception import response_for_exception
from django.http import Http404, HttpRequest, HttpResponse
from django.http.multipartparser import MultiPartParserError
from django.http.response import HttpResponseBase
from django.shortcuts import resolve_url
from django.template import loader
from django.utils import timezone
from django.utils.deprecation import MiddlewareMixin
from django.views.defaults import server_error
from django_htmx.middleware import HtmxDetails

from common.htmx import login_redirect
from games.api import unknown
from games.api.waits import HEADER as WAIT_HEADER
from games.refusals import RETRY_SECONDS, Denied, temporary_refusal
from nomercy.answers import API, error_object, too_large
from nomercy.content_types import is_utf8
from nomercy.limits import HEALTH
from nomercy.log_throttle import warn
from nomercy.sessions import SessionStore
from nomercy.uploads import FileRefused

Handler = Callable[[HttpRequest], HttpResponseBase]
SAFE = ("GET", "HEAD")
METHODS = frozenset(HTTPMethod)
PAGES = (HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
"""The refusals of a request that have a page of their own."""
CODE = re.compile(r"[a-z0-9]{10}")
GAME_ROUTES = ("games/<slug:code>/", "api/v1/games/")
NUL = "\0"
QUOTED_NUL = "%00"
BODY_SECONDS = 10.0
"""How long a body may take to arrive where no proxy reads it first."""
LATE = "nomercy.late"
"""The key of an ASGI scope that says whether the body took longer."""
log = structlog.get_logger("nomercy.request")


class UnreadableRequest(SuspiciousOperation):
    """A request that is refused before anything reads it. `denied` says why."""

    def __init__(self, denied: Denied) -> None:
        super().__init__(denied.message)
        self.denied = denied


class RequestLog:
    """Logs each request, and adds its id to all of its log lines and to the response (`X-Request-ID`).

    Refusals of one limit are logged once a minute, with the number of the others. From the view on, lines also name the
    user and the game, by an id and a code that give no access.
    """

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        request_id = uuid.uuid4().hex
        started = time.perf_counter()
        structlog.contextvars.clear_contextvars()
        structlog.contextvars.bind_contextvars(request_id=request_id)
        try:
            response = self.get_response(request)
            # The route, not the path: paths hold invitation and password-reset keys.
            route = (request.resolver_match.route or "/") if request.resolver_match else None
            method = request.method if request.method in METHODS else "other"
            milliseconds = round((time.perf_counter() - started) * 1000, 1)
            status = int(response.status_code)  # the console would print an HTTPStatus with its name
            if status == HTTPStatus.TOO_MANY_REQUESTS:
                limit = structlog.contextvars.get_contextvars().get("limit")
                warn(log, "too many requests", status=status, limit=limit)
            else:
                quiet = request.path in HEALTH or WAIT_HEADER in response  # a waiting call has an answer only later
                level = logging.DEBUG if quiet else logging.INFO
                log.log(level, "request", method=method, route=route, status=status, ms=milliseconds)
        finally:
            structlog.contextvars.clear_contextvars()
        response["X-Request-ID"] = request_id
        return response

    def process_view(self, request: HttpRequest, view: object, args: object, kwargs: dict[str, Any]) -> None:
        if request.user.is_authenticated:  # already loaded: no query
            structlog.contextvars.bind_contextvars(user=request.user.pk)
        if request.resolver_match and request.resolver_match.route.startswith(GAME_ROUTES):
            code = str(kwargs.get("code"))
            if CODE.fullmatch(code):  # otherwise it is any text from a URL
                structlog.contextvars.bind_contextvars(game=code)


class Sessions(SessionMiddleware):
    """Django's sessions. Answers that may depend on the person are kept out of caches.

    If the session ended during the request, this redirects to the log-in page, where Django would answer 400. A log-out
    elsewhere can end it. What the request did is done; only its session could not be saved. After the log-in the person
    returns to the page that was read, or to the one that the form led to.
    """

    def process_view(self, request: HttpRequest, *view: object) -> None:
        """Store when the session of a logged-in person was last used. Skips POST, so that a move does not write it."""
        if request.method in SAFE and request.user.is_authenticated:
            session, now = cast("SessionStore", request.session), timezone.now()
            session.note_use(now)
            if request.user.is_guest:
                session.lengthen(now)  # without end while the guest plays on: nobody could get back to the games

    def process_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        name = settings.SESSION_COOKIE_NAME
        try:
            response = super().process_response(request, response)
        except SessionInterrupted:
            response = _log_in_again(request, response)
        except Exception as error:  # noqa: BLE001  # as Django would, but the answer is kept out of caches, too
            response = response_for_exception(request, error)
        # A fetch by HTMX may still carry the session from before a log-in, which is gone when it is answered. Deleting
        # the cookie would delete the new session that the browser has got meanwhile.
        cookie = response.cookies.get(name)
        if cookie is not None and cookie["max-age"] == 0 and HtmxDetails(request):
            del response.cookies[name]
        if name in request.COOKIES or "Authorization" in request.headers or response.cookies:
            response["Cache-Control"] = "no-store, private"
        return response


def _log_in_again(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    if request.path.startswith(API):
        denied = Denied(
            "unauthorized",
            "Your session has ended. Log in, and check what was done before you repeat it.",
        )
        answer = error_object(denied)
        answer["WWW-Authenticate"] = "Bearer"
        return answer
    htmx = HtmxDetails(request)
    page = request.get_full_path() if request.method in SAFE else response.get("Location")
    if page and page.startswith(f"{resolve_url(settings.LOGIN_URL)}?"):
        return response  # it leads there already
    if htmx:
        page = htmx.current_url_abs_path
    return login_redirect(page, htmx=bool(htmx))


def readable_requests(get_response: Handler) -> Handler:
    """Refuse a request that is too long, late, of unknown length, not in UTF-8, or has a NUL or a bad form.

    A NUL in the path gets 404. In forms and in the API's JSON it is refused where it is read, so that the refusal can
    name the field.
    """

    def handle(request: HttpRequest) -> HttpResponseBase:
        if NUL in request.path:
            if request.path.startswith(API):
                return unknown(request)
            raise Http404
        try:
            _require_readable(request)
        except (MultiPartParserError, SuspiciousOperation) as error:
            return bad_request(request, error)
        return get_response(request)

    return handle


def _require_readable(request: HttpRequest) -> None:
    """Check the length, the encoding and the query of a request, and parse its form. The API parses its own bodies.

    :raises RequestDataTooBig: the body is over `DATA_UPLOAD_MAX_MEMORY_SIZE`.
    :raises UnreadableRequest: it is late, or of unknown length, or the text is not in UTF-8.
    :raises SuspiciousOperation: the query has a NUL, which PostgreSQL does not accept.
    :raises MultiPartParserError: the form cannot be parsed, or has a file.
    """
    length = request.META.get("CONTENT_LENGTH")
    if int(length or 0) > settings.DATA_UPLOAD_MAX_MEMORY_SIZE:
        raise RequestDataTooBig
    if request.META.get("asgi.scope", {}).get(LATE):
        sentence = "The request did not arrive within {seconds} seconds: send it again."
        raise UnreadableRequest(Denied("timed_out", sentence, seconds=round(BODY_SECONDS)))
    if not length and "HTTP_TRANSFER_ENCODING" in request.META:
        # Of a body in chunks Django would read nothing.
        sentence = "Send the body with its Content-Length, and not in chunks. Nothing was done."
        raise UnreadableRequest(Denied("length_required", sentence))
    if not is_utf8(request.content_params):
        raise UnreadableRequest(Denied("malformed", "The site reads text in UTF-8 only. Send it as UTF-8."))
    if QUOTED_NUL in request.META.get("QUERY_STRING", ""):
        raise SuspiciousOperation
    if request.method == "POST" and not request.path.startswith(API):
        # Django parses a form at the first access. If that is on an error page, a bad form would become a server error.
        request.POST  # noqa: B018


class DatabaseUnavailable(MiddlewareMixin):
    """Answers 503 if a view raises a temporary fault of the database (`refusals.temporary_refusal`)."""

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        denied = temporary_refusal(error)
        return None if denied is None else try_again(request, denied)


def server_error_page(request: HttpRequest) -> HttpResponse:
    """Return the response to an unhandled error (`handler500`), also one outside a view, such as loading a session."""
    error = sys.exc_info()[1]
    denied = None if error is None else temporary_refusal(error)
    if denied is not None:
        return try_again(request, denied)
    if request.path.startswith(API):
        return error_object(Denied("broken", "Something is broken here, and has been logged. Try again later."))
    return server_error(request)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Return the response to a request that Django refuses, such as one with an unknown host (`handler400`)."""
    sentence = ""
    if isinstance(exception, RequestDataTooBig):
        denied = too_large()
    elif isinstance(exception, UnreadableRequest):
        denied, sentence = exception.denied, exception.denied.words
    elif isinstance(exception, FileRefused):
        sentence = str(exception)
        denied = Denied("malformed", sentence)
    else:
        denied = Denied("malformed", "The site does not accept this request. Check its Host header and its body.")
    if request.path.startswith(API):
        return error_object(denied)
    context = {"sentence": sentence, "most": settings.DATA_UPLOAD_MAX_MEMORY_SIZE, "seconds": BODY_SECONDS}
    page = denied.status if denied.status in PAGES else HTTPStatus.BAD_REQUEST
    return HttpResponse(loader.get_template(f"{page:d}.html").render(context), status=denied.status)


def try_again(request: HttpRequest, denied: Denied) -> HttpResponse:
    """Return the response to a temporary fault, which asks to try again. Runs no query, so the page names no user."""
    if request.path.startswith(API):
        response = error_object(denied)
    else:
        # The change may have been saved before the fault. Only a move has a token, so that repeating it is safe.
        match = request.resolver_match
        move = match is not None and match.view_name == "move"
        context = {"sentence": denied.words, "sent": request.method not in SAFE, "move": move}
        page = loader.get_template("503.html").render(context)
        response = HttpResponse(page, status=denied.status)
    response["Retry-After"] = str(RETRY_SECONDS)
    response._has_been_logged = True  # type: ignore[attr-defined]  # or Django logs the path; `RequestLog` logs the request
    return response
