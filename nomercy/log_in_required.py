"""Middleware that shows visitors almost nothing where `LOGIN_REQUIRED` is set."""

from typing import Final, cast

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.deprecation import MiddlewareMixin
from django.utils.http import url_has_allowed_host_and_scheme

from common.htmx import HtmxRequest, login_redirect
from games.api.auth import bearer_token, owner_of
from games.refusals import Denied
from nomercy.answers import API, error_object

OPEN: Final = frozenset(
    {
        "about", "privacy", "rules", "security-txt", "robots-txt", "favicon", "healthz", "readyz", "metrics",
        "manifest", "service-worker", "offline",
        "account_login", "account_logout", "account_signup", "account_invitation", "account_inactive",
        "invitation-without-tail",
        "mfa_authenticate", "mfa_login_webauthn",
        "account_email_verification_sent", "account_confirm_email", "confirm-again",
        "account_reset_password", "account_reset_password_done",
        "account_reset_password_from_key", "account_reset_password_from_key_done",
        "openid_login", "openid_callback", "socialaccount_signup",
        "mail-stop", "mail-works",
    }
)  # fmt: skip
"""The views that a visitor can use. The last two act on an address by a token that was mailed to it (RFC 8058)."""
PAGE_OF_API: Final = "api-v1:openapi-view"


class LogInRequired(MiddlewareMixin):
    """Redirects visitors from all pages that are not in `OPEN` to the log-in page, and refuses their calls with 401.

    A new page is closed to visitors until it is named there. `games.live.consumer` closes the sockets of visitors.
    """

    def process_view(self, request: HttpRequest, *view: object) -> HttpResponse | None:
        if not settings.LOGIN_REQUIRED or _is_open(request) or request.user.is_authenticated:
            return None
        match = request.resolver_match
        if request.path.startswith(API) and match is not None and match.view_name != PAGE_OF_API:
            token = bearer_token(request)
            if token is not None and owner_of(request, token) is not None:
                return None
            denied = Denied("unauthorized", "Log in, or send a valid token: Authorization: Bearer <token>.")
            answer = error_object(denied)
            answer["WWW-Authenticate"] = "Bearer"
            return answer
        htmx = cast("HtmxRequest", request).htmx
        return login_redirect(htmx.current_url_abs_path if htmx else _page(request), htmx=bool(htmx))


def _is_open(request: HttpRequest) -> bool:
    """Return True if visitors may see this. The rules of a table are not open: they show that it exists."""
    match = request.resolver_match
    return match is not None and match.view_name in OPEN and not (match.view_name == "rules" and "table" in request.GET)


def _page(request: HttpRequest) -> str | None:
    """Return the page to continue with after the log-in: this one, or the one with the form that was sent."""
    if request.method in ("GET", "HEAD"):
        return request.get_full_path()
    before = request.headers.get("Referer", "")
    return before if url_has_allowed_host_and_scheme(before, {request.get_host()}) else None
