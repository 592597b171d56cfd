"""The addresses of the API: each takes HEAD where it takes GET, and what is not there is refused like all else."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.urls import URLPattern, URLResolver
from django.views.decorators.csrf import csrf_exempt

from games.api.base import refuse
from games.api.routes import api
from games.refusals import Denied

View = Callable[..., HttpResponse]
READING = ["GET", "HEAD"]
DOCUMENTS = {"openapi-json", "openapi-view"}  # pages of the framework, which answer to any method


def addresses() -> tuple[list[URLPattern | URLResolver], str, str]:
    """What `django.urls.path` takes: every call, the OpenAPI document and its page."""
    patterns, app, namespace = api.urls
    return [_answering(pattern) for pattern in patterns], app, namespace


def _answering(pattern: URLPattern | URLResolver) -> URLPattern | URLResolver:
    if isinstance(pattern, URLResolver):
        return pattern
    view = _refusing(pattern.callback, READING if pattern.name in DOCUMENTS else None)
    return URLPattern(pattern.pattern, view, pattern.default_args, pattern.name)


def _refusing(view: View, methods: list[str] | None) -> View:
    """`view` with the error object for a method it does not take, or for nothing there."""

    @csrf_exempt
    def handle(request: HttpRequest, **values: Any) -> HttpResponse:
        if methods is not None and request.method not in methods:
            return _not_allowed(request, methods)
        try:
            response = _answer(view, request, values)
        except Http404:
            return unknown(request)
        if isinstance(response, HttpResponseNotAllowed):
            allowed = [method.strip() for method in response.headers["Allow"].split(",")]
            return _not_allowed(request, sorted({*allowed, *(READING if "GET" in allowed else ())}))
        return response

    # A page of the framework is a partial, without a name of its own.
    return wraps(view)(handle) if hasattr(view, "__name__") else handle


def _answer(view: View, request: HttpRequest, values: dict[str, Any]) -> HttpResponse:
    """The answer of `view`; to HEAD that of GET, whose body the server leaves out."""
    if request.method != "HEAD":
        return view(request, **values)
    request.method = "GET"
    try:
        return view(request, **values)
    finally:
        request.method = "HEAD"


def _not_allowed(request: HttpRequest, methods: list[str]) -> HttpResponse:
    allowed = ", ".join(methods)
    response = refuse(request, Denied("method_not_allowed", f"This address supports {allowed}."))
    response.headers["Allow"] = allowed
    return response


@csrf_exempt
def unknown(request: HttpRequest, **values: Any) -> HttpResponse:
    """For an address that no call has, to anybody who asks."""
    message = "There is no such address. See /api/v1/docs for all calls."
    return refuse(request, Denied("not_found", message))
