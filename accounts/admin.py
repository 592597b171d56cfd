"""Admin pages of API tokens and second factors, without their secrets. People are in `games.admin`."""

from allauth.mfa.models import Authenticator
from django.contrib import admin

from accounts.models import ApiToken
from common.read_only_admin import ReadOnlyAdmin


@admin.register(ApiToken)
class ApiTokenAdmin(ReadOnlyAdmin):
    list_display = ("name", "user", "scope", "created_at", "expires_at", "last_used_at")
    fields = list_display
    search_fields = ("user__username", "name")
    search_help_text = "The owner’s username, or the name of the token."


@admin.register(Authenticator)
class AuthenticatorAdmin(ReadOnlyAdmin):
    """Lists second factors. Staff remove a lost one by an act on the person's page."""

    list_display = ("user", "type", "created_at", "last_used_at")
    list_filter = ("type",)
    fields = ("user", "type", "created_at", "last_used_at")
    search_fields = ("user__username",)
    search_help_text = "The username."
