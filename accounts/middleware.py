"""Middleware for time zones, suspensions, and forms that are sent after a log-out."""

from collections.abc import Callable
from http import HTTPStatus
from typing import Final

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import resolve_url
from django.urls import reverse
from django.utils import timezone
from django.utils.deprecation import MiddlewareMixin
from django_htmx.http import HttpResponseClientRedirect

from accounts.zones import zone_to_show
from common.htmx import HtmxRequest

Handler = Callable[[HttpRequest], HttpResponseBase]


def time_zone(get_response: Handler) -> Handler:
    """Activate the user's time zone for the request. Runs no query for a request without a session."""

    def handle(request: HttpRequest) -> HttpResponseBase:
        if request.user.is_authenticated and request.user.time_zone != "UTC":
            with timezone.override(zone_to_show(request.user.time_zone)):
                return get_response(request)
        return get_response(request)

    return handle


UNSENT_COOKIE: Final = "__Host-unsent" if settings.HTTPS else "unsent"
"""The cookie that makes the log-in page say that a form was not processed."""


def note_unsent_forms(get_response: Handler) -> Handler:
    """Set a cookie when a form is answered by the log-in page, which then says that nothing was done."""

    def handle(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        leads_to = response.get("HX-Redirect") or response.get("Location", "")
        if request.method == "POST" and leads_to and leads_to.startswith(f"{resolve_url(settings.LOGIN_URL)}?next="):
            response.set_cookie(UNSENT_COOKIE, "1", max_age=60, secure=settings.HTTPS, httponly=True, samesite="Lax")
        elif UNSENT_COOKIE in request.COOKIES:
            response.delete_cookie(UNSENT_COOKIE)
        return response

    return handle


class RedirectSuspended(MiddlewareMixin):
    """Redirects suspended people from every page to the one that says why. The API refuses them itself."""

    OPEN = frozenset({"suspended", "account_logout", "service-worker", "healthz", "readyz", "mail-stop", "mail-works"})

    def process_view(self, request: HtmxRequest, *view: object) -> HttpResponse | None:
        user, match = request.user, request.resolver_match
        if not user.is_authenticated or not user.suspended(timezone.now()) or match is None:
            return None
        if match.url_name in self.OPEN or match.namespace == "api-v1":
            return None
        page = reverse("suspended")
        if request.htmx:
            return HttpResponseClientRedirect(page, status=HTTPStatus.FORBIDDEN)
        return HttpResponseRedirect(page)
