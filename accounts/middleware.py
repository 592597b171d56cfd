"""Middleware for time zones, suspended people, second factors, and forms that are sent after a log-out."""

import zoneinfo
from collections.abc import Callable
from http import HTTPStatus
from typing import Any, Final

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import render, resolve_url
from django.urls import reverse
from django.utils import timezone
from django_htmx.http import HttpResponseClientRedirect

from accounts.encryption import UnreadableSecret
from common.htmx import HtmxRequest

Handler = Callable[[HttpRequest], HttpResponseBase]


def time_zone(get_response: Handler) -> Handler:
    """Activate the user's time zone for the request. A request without a session asks the database nothing."""

    def handle(request: HttpRequest) -> HttpResponseBase:
        if request.user.is_authenticated and request.user.time_zone != "UTC":
            with timezone.override(zoneinfo.ZoneInfo(request.user.time_zone)):
                return get_response(request)
        return get_response(request)

    return handle


UNSENT: Final = "__Host-unsent" if settings.HTTPS else "unsent"
"""The cookie that tells the log-in page that a form was not done."""


def forms_without_a_log_in(get_response: Handler) -> Handler:
    """Have the log-in page say that nothing was done where it answers a form, as after a log-out in another browser."""

    def handle(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        leads_to = response.get("HX-Redirect") or response.get("Location", "")
        if request.method == "POST" and leads_to.startswith(f"{resolve_url(settings.LOGIN_URL)}?next="):
            response.set_cookie(UNSENT, "1", max_age=60, secure=settings.HTTPS, httponly=True, samesite="Lax")
        elif UNSENT in request.COOKIES:
            response.delete_cookie(UNSENT)
        return response

    return handle


class SuspendedSeeOnePage:
    """Sends suspended people from every page to the one that says why. The API answers by itself."""

    OPEN = frozenset({"suspended", "account_logout", "healthz", "readyz", "mail-stop", "mail-works"})

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self.get_response(request)

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


class GuestsFinishLogIns:
    """Lets a guest's browser enter the second factor of the account that it is logging in to.

    allauth shows that page only to visitors. So the request is a visitor's, and the guest is kept in `request.guest`.
    """

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self.get_response(request)

    def process_view(self, request: Any, *view: object) -> None:
        match, user = request.resolver_match, request.user
        if match is not None and match.url_name == "mfa_authenticate" and user.is_authenticated and user.is_guest:
            request.guest, request.user = user, AnonymousUser()


class UnreadableFactor:
    """Answers 503 with an explanation where a page needs the secret of a second factor and cannot decrypt it.

    Forms that ask for a code show the same sentence themselves.
    """

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        if not isinstance(error, UnreadableSecret):
            return None
        said = {"sentence": error.message}
        return render(request, "mfa/unreadable.html", said, status=HTTPStatus.SERVICE_UNAVAILABLE)
