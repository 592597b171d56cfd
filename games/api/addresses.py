"""The URLs of the API. Those with GET also support HEAD, and unknown ones answer with the error object."""

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
DOCUMENTS = {"openapi-json", "openapi-view"}  # pages of the framework, which would accept any method


def addresses() -> tuple[list[URLPattern | URLResolver], str, str]:
    """Return what `django.urls.path` takes: all calls, the OpenAPI document and its page."""
    patterns, app, namespace = api.urls
    return [_with_errors(pattern) for pattern in patterns], app, namespace


def _with_errors(pattern: URLPattern | URLResolver) -> URLPattern | URLResolver:
    if isinstance(pattern, URLResolver):
        return pattern
    view = _with_error_objects(pattern.callback, READING if pattern.name in DOCUMENTS else None)
    return URLPattern(pattern.pattern, view, pattern.default_args, pattern.name)


def _with_error_objects(view: View, methods: list[str] | None) -> View:
    """Return `view` with HEAD, and with the error object for a 404 or a method that it does not support.

    `methods` are the allowed methods, or None if the view checks them itself.
    """

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
    """Return the response of `view`. HEAD gets that of GET, whose body the server drops."""
    if request.method != "HEAD":
        return view(request, **values)
    request.method = "GET"
    try:
        return view(request, **values)
    finally:
        request.method = "HEAD"


def _not_allowed(request: HttpRequest, methods: list[str]) -> HttpResponse:
    allowed = ", ".join(methods)
    response = refuse(request, Denied("method_not_allowed", "This address supports {methods}.", methods=allowed))
    response.headers["Allow"] = allowed
    return response


@csrf_exempt
def unknown(request: HttpRequest, **values: Any) -> HttpResponse:
    """Answer any request to an unknown address."""
    message = "There is no such address. See /api/v1/docs for all calls."
    return refuse(request, Denied("not_found", message))
