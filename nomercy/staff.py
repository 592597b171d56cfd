"""The admin site: behind the site's own log-in with its limits, and a second factor."""

import time
from typing import Any, Final, cast

from allauth.account.adapter import get_adapter
from allauth.account.authentication import get_authentication_records
from allauth.account.decorators import secure_admin_login
from allauth.mfa.models import Authenticator
from django.conf import settings
from django.contrib import messages
from django.contrib.admin import AdminSite
from django.contrib.auth import REDIRECT_FIELD_NAME
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import urlencode

from accounts import queries
from accounts.models import User

FACTOR_SECONDS: Final = 12 * 60 * 60
"""Seconds after which the staff pages ask for the factor again, because the cookie of a session can be stolen."""
OTHER_PACKAGES: Final = {
    "allauth.mfa.admin",
    "allauth.account.admin",
    "allauth.socialaccount.admin",
    "django.contrib.auth.admin",
}


def used_second_factor(request: HttpRequest) -> bool:
    """Return True if this session has shown a second factor in the last 12 hours, and its user still has it."""
    earliest = time.time() - FACTOR_SECONDS
    records = get_authentication_records(request, request.user)
    shown = [
        record["id"]
        for record in records
        if record.get("method") == "mfa" and "id" in record and record["at"] > earliest
    ]
    return bool(shown) and Authenticator.objects.filter(user_id=request.user.pk, pk__in=shown).exists()


class StaffSite(AdminSite):
    site_title = f"{settings.SITE_NAME} staff"
    site_header = f"{settings.SITE_NAME}: staff"
    index_title = "Staff"
    enable_nav_sidebar = False  # the lists need its room

    def has_permission(self, request: HttpRequest) -> bool:
        return super().has_permission(request) and used_second_factor(request)

    def register(self, model_or_iterable: Any, admin_class: Any = None, **options: Any) -> None:
        """Register a page, except those of other packages: they change rows without a reason, or show secrets."""
        if getattr(admin_class, "__module__", "") not in OTHER_PACKAGES:
            super().register(model_or_iterable, admin_class, **options)

    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Redirect to the site's log-in or to the second factor. Django's own form would have no limits."""
        answer: HttpResponse = secure_admin_login(self._next_step)(request)
        return answer

    def _next_step(self, request: HttpRequest) -> HttpResponse:
        index = reverse("admin:index")
        if self.has_permission(request):
            return redirect(index)
        if queries.has_second_factor(cast("User", request.user)):
            wanted = request.GET.get(REDIRECT_FIELD_NAME, "")
            query = urlencode({REDIRECT_FIELD_NAME: wanted if wanted.startswith(index) else index})
            methods = get_adapter().get_reauthentication_methods(request.user)
            if methods:
                messages.info(
                    request,
                    "The staff pages ask for your second factor every 12 hours. If you have just sent a form, send it"
                    " again.",
                )
                return redirect(f"{methods[0]['url']}?{query}")
            # The only factor is a passkey, and the address of the site has changed to one without passkeys.
            messages.error(request, "Your passkey does not work at this address. A superuser can remove it.")
            return redirect("mfa_index")
        messages.info(
            request, "The staff pages need a second factor: set up an authenticator app or a passkey, then come back."
        )
        return redirect("mfa_activate_totp")

    def autocomplete_view(self, request: HttpRequest) -> HttpResponse:
        """Refuse: no form here needs it, and it would list names."""
        raise PermissionDenied

    def password_change(  # type: ignore[override]  # any response will do
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Redirect to the site's page, which limits wrong passwords."""
        return redirect("account_change_password")
