"""Tokens and second factors in the admin, without anything that could be used. People are in `games.admin`."""

from allauth.mfa.models import Authenticator
from django.contrib import admin
from django.http import HttpRequest

from accounts.models import ApiToken


@admin.register(ApiToken)
class ApiTokenAdmin(admin.ModelAdmin):  # type: ignore[type-arg]  # generic for mypy alone; at run time it takes no parameter
    list_display = ("name", "user", "created_at", "last_used_at")
    fields = readonly_fields = ("name", "user", "created_at", "last_used_at")
    search_fields = ("user__username", "name")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False


@admin.register(Authenticator)
class AuthenticatorAdmin(admin.ModelAdmin):  # type: ignore[type-arg]  # generic for mypy alone; at run time it takes no parameter
    """For somebody who lost the phone: deleting a second factor lets its owner set up another."""

    list_display = ("user", "type", "created_at", "last_used_at")
    list_filter = ("type",)
    fields = readonly_fields = ("user", "type", "created_at", "last_used_at")
    search_fields = ("user__username",)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False
