"""HTTP responses and a decorator that several views share."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from http import HTTPStatus
from typing import Concatenate, ParamSpec

from django.forms import BaseForm
from django.http import HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, resolve_url
from django.views.decorators.http import require_http_methods

from common.htmx import HtmxRequest

P = ParamSpec("P")


class SeeOther(HttpResponseRedirect):
    """A 303 redirect after a successful POST, like `SeeOther.to("game", code)`."""

    status_code = HTTPStatus.SEE_OTHER

    @classmethod
    def to(cls, name: str, *args: object) -> SeeOther:
        return cls(resolve_url(name, *args))


def get_shows_table(
    view: Callable[Concatenate[HtmxRequest, P], HttpResponse],
) -> Callable[Concatenate[HtmxRequest, P], HttpResponse]:
    """Decorate a view that takes a POST about a table, so that GET redirects to the page of the table."""
    # A refusal is shown at the address of the act, which a phone loads again by GET when it has dropped the page.

    @require_http_methods(["GET", "HEAD", "POST"])
    @wraps(view)
    def handle(request: HtmxRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        return view(request, *args, **kwargs) if request.method == "POST" else redirect("game", kwargs["code"])

    return handle


def form_status(*forms: BaseForm) -> HTTPStatus:
    """Return the status of a page with these forms: 422 if one of them has errors, else 200."""
    return HTTPStatus.UNPROCESSABLE_ENTITY if any(form.errors for form in forms) else HTTPStatus.OK
