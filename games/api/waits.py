"""Waiting calls: they answer as soon as there is something new, or after 25 seconds.

A view always answers at once. While it has nothing new, nomercy/waiting_calls.py gets an answer that names groups of
the channel layer. It runs the view again after a message to one of them, so no thread is held meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from http import HTTPStatus
from typing import Any, Final, NamedTuple

from django.http import HttpRequest, HttpResponse

from games.announce import person_group

PATH: Final = "/api/v1/wait/"
"""How the paths of waiting calls begin. A proxy passes them on to the server for websockets."""
KNOWN: Final = "nomercy.known"
"""The key of the WSGI environment by which a server says that it can wait. Its value is the mark of the answer that it
has had for this call, or empty at first. Clients cannot set it: their headers have other keys."""
HEADER: Final = "X-Wait-For"
"""The header of an answer that has nothing new: a mark of what there is, and the groups to listen to, first that of the
person who asks. It is not sent to clients."""


class Wait(NamedTuple):
    """Who makes a waiting call, and for what.

    `groups` of the channel layer tell of news. `mark` is the same as long as there is none. `is_news`: there is some
    already.
    """

    user_id: int
    groups: Iterable[str]
    mark: str
    is_news: bool


def waiting(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Let the server wait while the answer is not news. The view sets `request.wait` to a `Wait`."""

    @wraps(view)
    def handle(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        response = view(request, *args, **kwargs)
        known, wait = request.META.get(KNOWN), getattr(request, "wait", None)
        if known is None or wait is None or wait.is_news or response.status_code != HTTPStatus.OK:
            return response
        if known not in ("", wait.mark):
            return response
        told = " ".join([wait.mark, person_group(wait.user_id), *wait.groups])
        return HttpResponse(status=HTTPStatus.NO_CONTENT, headers={HEADER: told})

    return handle
