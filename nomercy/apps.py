"""The wiring as a Django app, so that the admin's protection is installed at start."""

from django.apps import AppConfig
from django.contrib import admin


class NomercyConfig(AppConfig):
    name = "nomercy"

    def ready(self) -> None:
        from allauth.account.decorators import secure_admin_login  # noqa: PLC0415  # imports models

        # The admin's own log-in form stands outside allauth's limits: send people through the site's.
        admin.site.login = secure_admin_login(admin.site.login)  # type: ignore[method-assign]  # allauth's documented way
