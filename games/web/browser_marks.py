"""Mark the browser when a page seats its user."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec

from django.http import HttpResponse
from django.urls import resolve

from common.htmx import HtmxRequest
from games.staff.browser_marks import mark_browser
from games.web.http import SeeOther
from games.web.viewer import person

P = ParamSpec("P")


def marks_browser(
    view: Callable[Concatenate[HtmxRequest, P], HttpResponse],
) -> Callable[Concatenate[HtmxRequest, P], HttpResponse]:
    """Decorate a view that may seat its user: if it redirects to a table, mark the browser there."""

    @wraps(view)
    def handle(request: HtmxRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        response = view(request, *args, **kwargs)
        user = person(request)
        if isinstance(response, SeeOther) and user is not None:
            match = resolve(response.url)
            if match.url_name == "game":
                mark_browser(request, response, code=match.kwargs["code"], user=user)
        return response

    return handle
