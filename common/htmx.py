"""HTMX requests in views, and redirects that they follow."""

from http import HTTPStatus

from django.conf import settings
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django_htmx.http import HttpResponseClientRedirect
from django_htmx.middleware import HtmxDetails


class HtmxRequest(HttpRequest):
    """A request that `HtmxMiddleware` has seen. `htmx` is true if HTMX sent it, not the browser itself."""

    htmx: HtmxDetails


def login_redirect(page: str | None, *, htmx: bool) -> HttpResponse:
    """Redirect to the log-in page, which leads on to the URL `page` if it is given.

    With `htmx` the answer is a 401 whose header makes HTMX load the log-in page as a full page.
    """
    login = redirect_to_login(page) if page else redirect(settings.LOGIN_URL)
    return HttpResponseClientRedirect(login["Location"], status=HTTPStatus.UNAUTHORIZED) if htmx else login
