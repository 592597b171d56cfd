"""Tokens and second factors in the admin, to read, without anything that could be used. People are in `games.admin`."""

from allauth.mfa.models import Authenticator
from django.contrib import admin
from django.http import HttpRequest

from accounts.models import ApiToken


class _ToRead(admin.ModelAdmin):  # type: ignore[type-arg]  # generic for mypy alone; at run time it takes no parameter
    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False


@admin.register(ApiToken)
class ApiTokenAdmin(_ToRead):
    list_display = ("name", "user", "created_at", "last_used_at")
    fields = ("name", "user", "created_at", "last_used_at")
    search_fields = ("user__username", "name")


@admin.register(Authenticator)
class AuthenticatorAdmin(_ToRead):
    """Who has a second factor; one that is lost is taken away by an act on the person's page."""

    list_display = ("user", "type", "created_at", "last_used_at")
    list_filter = ("type",)
    fields = ("user", "type", "created_at", "last_used_at")
    search_fields = ("user__username",)
