"""What every request passes through: a log line with an id, no shared copies of private pages, patience."""

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
from django.http import Http404, HttpRequest, HttpResponse
from django.http.multipartparser import MultiPartParserError
from django.http.response import HttpResponseBase
from django.template import loader
from django.utils import timezone
from django.views.defaults import server_error
from django_htmx.middleware import HtmxDetails

from common.htmx import login_redirect
from games.api import unknown
from games.refusals import RETRY_SECONDS, Denied, passing
from nomercy.answers import API, error_object, too_large
from nomercy.sessions import SessionStore
from nomercy.storms import warn
from nomercy.uploads import FileRefused

Handler = Callable[[HttpRequest], HttpResponseBase]
SAFE = ("GET", "HEAD")
METHODS = frozenset(HTTPMethod)
CODE = re.compile(r"[a-z0-9]{10}")
OF_A_GAME = ("games/<slug:code>/", "api/v1/games/")
NUL = "\0"
QUOTED_NUL = "%00"
log = structlog.get_logger("nomercy.request")


class NullCharacter(SuspiciousOperation):
    """The query of a URL has a NUL character."""


class RequestLog:
    """Names all log lines of a request by its id, answers that in `X-Request-ID`, and logs how the request ended.

    Requests that are over a limit are one line a minute for each limit, with the number of the others.
    From the view on the lines also say who asks and about which game, by numbers and codes that open nothing.
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
            if response.status_code == HTTPStatus.TOO_MANY_REQUESTS:
                limit = structlog.contextvars.get_contextvars().get("limit")
                warn(log, "too many requests", status=response.status_code, limit=limit)
            else:
                log.info("request", method=method, route=route, status=response.status_code, ms=milliseconds)
        finally:
            structlog.contextvars.clear_contextvars()
        response["X-Request-ID"] = request_id
        return response

    def process_view(self, request: HttpRequest, view: object, args: object, kwargs: dict[str, Any]) -> None:
        if request.user.is_authenticated:  # a middleware has asked before: this is no query
            structlog.contextvars.bind_contextvars(user=request.user.pk)
        if request.resolver_match and request.resolver_match.route.startswith(OF_A_GAME):
            code = str(kwargs.get("code"))
            if CODE.fullmatch(code):  # else it is anything that somebody chose to write into an address
                structlog.contextvars.bind_contextvars(game=code)


def private_pages(get_response: Handler) -> Handler:
    """Keep every answer that may depend on who asks out of caches. Stands outside the session's own middleware."""

    def handle(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        known = settings.SESSION_COOKIE_NAME in request.COOKIES or "Authorization" in request.headers
        if known or settings.SESSION_COOKIE_NAME in response.cookies:
            response["Cache-Control"] = "no-store, private"
        return response

    return handle


def background_fetches(get_response: Handler) -> Handler:
    """Let no fetch of an open page take the session's cookie away. Stands outside the session's own middleware.

    Such a fetch may still carry the session of before a log-in, which is gone by the time it is answered; deleting the
    cookie then would throw away the new session that the browser got meanwhile.
    """

    def handle(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        cookie = response.cookies.get(settings.SESSION_COOKIE_NAME)
        if cookie is not None and cookie["max-age"] == 0 and HtmxDetails(request):
            del response.cookies[settings.SESSION_COOKIE_NAME]
        return response

    return handle


class Sessions(SessionMiddleware):
    """Ask people to log in where Django answers 400 because a session ended before its request did.

    Logging out elsewhere can end it. What the request did is done by then, and only its session could not be saved.
    After the log-in the person comes back to the page that was read, or to the one that a form leads to.
    """

    def process_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        try:
            return super().process_response(request, response)
        except SessionInterrupted:
            return _log_in_again(request, response)


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
    if htmx:
        page = htmx.current_url_abs_path
    return login_redirect(page, htmx=bool(htmx))


def last_seen(get_response: Handler) -> Handler:
    """Store when the session of a logged-in person was last used. A move is a POST, and never writes it."""

    def handle(request: HttpRequest) -> HttpResponseBase:
        if request.method in SAFE and request.user.is_authenticated:
            cast("SessionStore", request.session).note_use(timezone.now())
        return get_response(request)

    return handle


def short_bodies(get_response: Handler) -> Handler:
    """Refuse a body that is longer than any form or call needs, before it is parsed.

    The server has read it whole, and refuses what is longer than `LIMITS.body_bytes` by itself.
    """

    def handle(request: HttpRequest) -> HttpResponseBase:
        if int(request.META.get("CONTENT_LENGTH") or 0) > settings.DATA_UPLOAD_MAX_MEMORY_SIZE:
            return bad_request(request, RequestDataTooBig())
        return get_response(request)

    return handle


def no_null_characters(get_response: Handler) -> Handler:
    """Refuse a URL with a NUL character. PostgreSQL accepts none, so looking one up would fail.

    In the path it is 404, because no page has such a path; in the query it is 400. Forms and the API's JSON are checked
    where they are read, so that the refusal can say which field is wrong.
    """

    def handle(request: HttpRequest) -> HttpResponseBase:
        if NUL in request.path:
            if request.path.startswith(API):
                return unknown(request)
            raise Http404
        if QUOTED_NUL in request.META.get("QUERY_STRING", ""):
            return bad_request(request, NullCharacter())
        return get_response(request)

    return handle


def readable_forms(get_response: Handler) -> Handler:
    """Refuse a form that cannot be read, or that brings a file, before any page looks at it.

    Django reads a form when somebody asks for a field. That can be its page for an unknown address, and what is wrong
    with the form would then be an error of the site. The API refuses what it cannot read by itself.
    """

    def handle(request: HttpRequest) -> HttpResponseBase:
        if request.method == "POST" and not request.path.startswith(API):
            try:
                request.POST  # noqa: B018  # read here for its errors
            except (MultiPartParserError, SuspiciousOperation) as error:
                return bad_request(request, error)
        return get_response(request)

    return handle


class DatabaseUnavailable:
    """Answer 503 where a view met a fault of the database that passes: see `refusals.passing`."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        denied = passing(error)
        return None if denied is None else try_again(request, denied)


def broken(request: HttpRequest) -> HttpResponse:
    """The site's `handler500`: what goes wrong outside a view, as where a session is loaded or saved, ends here."""
    error = sys.exc_info()[1]
    denied = None if error is None else passing(error)
    if denied is not None:
        return try_again(request, denied)
    if request.path.startswith(API):
        return error_object(Denied("broken", "Something is broken here, and has been logged. Try again later."))
    return server_error(request)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer what Django itself refuses, such as an unknown host. The site's `handler400`."""
    denied = Denied("malformed", "The site does not accept this request. Check its Host header and its body.")
    if isinstance(exception, RequestDataTooBig):
        denied = too_large()
    elif isinstance(exception, FileRefused):
        denied = Denied("malformed", str(exception))
    if request.path.startswith(API):
        return error_object(denied)
    sentence = denied.message if isinstance(exception, FileRefused) else ""
    context = {"sentence": sentence, "most": settings.DATA_UPLOAD_MAX_MEMORY_SIZE}
    return HttpResponse(loader.get_template(f"{denied.status}.html").render(context), status=denied.status)


def try_again(request: HttpRequest, denied: Denied) -> HttpResponse:
    """The answer that asks to try again soon. It asks the database nothing, so the page knows nobody."""
    if request.path.startswith(API):
        response = error_object(denied)
    else:
        # What was sent may have been kept before the fault: only a move has a token by which it counts once.
        match = request.resolver_match
        move = match is not None and match.view_name == "move"
        said = {"sentence": denied.message, "sent": request.method not in SAFE, "move": move}
        page = loader.get_template("503.html").render(said)
        response = HttpResponse(page, status=denied.status)
    response["Retry-After"] = str(RETRY_SECONDS)
    response._has_been_logged = True  # type: ignore[attr-defined]  # Django would log the address, and see `request_log`
    return response
