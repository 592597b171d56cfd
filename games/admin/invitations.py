"""The read-only list of all invitations to sign up. The page of a person has the act that revokes theirs."""

from __future__ import annotations

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone

from accounts.models import SignUpInvitation
from common.read_only_admin import ReadOnlyAdmin


@admin.register(SignUpInvitation)
class InvitationAdmin(ReadOnlyAdmin):
    list_display = ("created_at", "by", "note", "expires_at", "is_now", "used_by")
    list_select_related = ("by", "used_by")
    fields = ("by", "note", "created_at", "expires_at", "is_now", "revoked_at", "used_at", "used_by")
    readonly_fields = ("is_now",)
    search_fields = ("=by__username", "=used_by__username", "note")
    search_help_text = "The username of the person who invited or was invited, or part of a note."
    ordering = ("-pk",)
    show_full_result_count = False

    @admin.display(description="state")
    def is_now(self, invitation: SignUpInvitation) -> str:
        return invitation.state(timezone.now())

    def get_queryset(self, request: HttpRequest) -> QuerySet[SignUpInvitation]:
        return super().get_queryset(request).select_related("by", "used_by")
