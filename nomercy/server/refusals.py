"""The refusals of the HTTP server: the error object of the API, or a page. Each is rendered once."""

import io
from functools import cache
from http import HTTPStatus
from typing import Final

from django.conf import settings
from django.core.handlers.wsgi import WSGIRequest
from django.http import HttpResponse
from django.middleware.clickjacking import XFrameOptionsMiddleware
from django.middleware.security import SecurityMiddleware
from django.template import loader

from games.refusals import Denied
from nomercy.answers import API, error_object, too_large
from nomercy.content_security_policy import ContentSecurityPolicy
from nomercy.server.bridge import Answer
from nomercy.server.limits import LIMITS

RETRY_SECONDS: Final = 5
DENIED: Final = {
    400: Denied("malformed", "The site cannot read this request: correct it and send it again. Nothing was done."),
    408: Denied("timed_out", f"The request did not arrive within {LIMITS.body_seconds:.0f} seconds: send it again."),
    411: Denied("length_required", "Send the body with its Content-Length, and not in chunks. Nothing was done."),
    413: too_large(),
    429: Denied(
        "too_many_requests",
        f"Your address or account has too many requests open: try again in {RETRY_SECONDS} seconds.",
    ),
    431: Denied("malformed", "The headers are too long. Delete this site's cookies and try again. Nothing was done."),
}
PAGES: Final = {408, 413, 429}
"""The statuses with their own page. The others share that of 400."""
CLOSE: Final = (b"connection", b"close")
HEADERS: Final = (SecurityMiddleware, XFrameOptionsMiddleware, ContentSecurityPolicy)
"""The middleware that adds the headers of every response."""


def refusal(status: int, *, path: str) -> Answer:
    """Return the refusal with this status for a request to this path. It tells the client to close the connection."""
    return _made(status, path.startswith(API))


def as_bytes(answer: Answer) -> bytes:
    """Return the bytes of an answer, for use without a request that uvicorn could answer."""
    lines = [f"HTTP/1.1 {answer.status} {HTTPStatus(answer.status).phrase}".encode()]
    lines += [name + b": " + value for name, value in answer.headers]
    return b"\r\n".join([*lines, b"", answer.body])


@cache
def _made(status: int, api: bool) -> Answer:
    denied = DENIED[status]
    if api:
        response = error_object(denied)
    else:
        context = {"limits": LIMITS, "most": settings.DATA_UPLOAD_MAX_MEMORY_SIZE, "sentence": denied.message}
        page = loader.get_template(f"{status if status in PAGES else 400}.html")
        response = HttpResponse(page.render(context), status=status)
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        response["Retry-After"] = str(RETRY_SECONDS)
    response["Cache-Control"] = "no-store"
    response["Content-Length"] = str(len(response.content))
    headers = [(name.lower().encode(), value.encode()) for name, value in _with_headers(response).items()]
    return Answer(status, [*headers, CLOSE], response.content)


def _with_headers(response: HttpResponse) -> HttpResponse:
    """Add the headers of every response."""
    request = WSGIRequest(
        {"REQUEST_METHOD": "GET", "wsgi.input": io.BytesIO(), "wsgi.url_scheme": settings.SITE.scheme}
    )
    for middleware in HEADERS:
        middleware(lambda _: response).process_response(request, response)
    return response
