"""People in the admin. Tokens are listed without anything that could be used."""

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin

from accounts.models import ApiToken, User


@admin.register(User)
class PersonAdmin(UserAdmin):  # type: ignore[type-arg]  # generic for mypy alone; at run time it takes no parameter
    list_display = ("username", "name", "email", "is_guest", "is_staff", "date_joined")
    list_filter = ("is_guest", "is_staff", "is_active")
    search_fields = ("username", "display_name", "email")
    fieldsets = (
        (None, {"fields": ("username", "password")}),
        ("At the table", {"fields": ("display_name", "time_zone", "is_guest", "email")}),
        ("Permissions", {"fields": ("is_active", "is_staff", "is_superuser", "groups", "user_permissions")}),
        ("Dates", {"fields": ("last_login", "date_joined")}),
    )


@admin.register(ApiToken)
class ApiTokenAdmin(admin.ModelAdmin):  # type: ignore[type-arg]  # generic for mypy alone; at run time it takes no parameter
    list_display = ("name", "user", "created_at", "last_used_at")
    fields = readonly_fields = ("name", "user", "created_at", "last_used_at")
    search_fields = ("user__username", "name")

    def has_add_permission(self, request: object) -> bool:
        return False
