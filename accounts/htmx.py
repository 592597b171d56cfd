"""Requests as views get them: HTMX says of itself that it asks, and for what (`request.htmx`)."""

from http import HTTPStatus

from django.conf import settings
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django_htmx.http import HttpResponseClientRedirect
from django_htmx.middleware import HtmxDetails


class HtmxRequest(HttpRequest):
    """A request that has passed `HtmxMiddleware`; `htmx` is true for one that a page's own script makes."""

    htmx: HtmxDetails


def log_in_first(page: str | None, *, htmx: bool) -> HttpResponse:
    """Redirect to the log-in page, and from there to `page` if there is one. `htmx` has HTMX load it as a full page."""
    login = redirect_to_login(page) if page else redirect(settings.LOGIN_URL)
    return HttpResponseClientRedirect(login["Location"], status=HTTPStatus.UNAUTHORIZED) if htmx else login
