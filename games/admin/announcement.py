"""The page of the announcement, with the acts that show and end it."""

from __future__ import annotations

from typing import Any, Final, cast

from django.contrib import admin
from django.contrib.admin.exceptions import DisallowedModelAdminToField
from django.contrib.admin.options import TO_FIELD_VAR
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import URLPattern, path, reverse
from django.utils import timezone

from accounts.models import User
from common.read_only_admin import ReadOnlyAdmin
from games.admin.acts import act_page, buttons
from games.models import Announcement
from games.queries import announcement
from games.staff.acts import ANNOUNCE, ANNOUNCEMENT_ACTS
from games.staff.announcement import PERFORM

LIST: Final = "admin:games_announcement_changelist"


@admin.register(Announcement)
class AnnouncementAdmin(ReadOnlyAdmin):
    """There is at most one row, so its page is in the place of the list."""

    def get_urls(self) -> list[URLPattern]:
        act = path("act/<slug:act>/", self.admin_site.admin_view(self.act), name="games_announcement_act")
        return [act, *super().get_urls()]

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        if request.method == "POST" or not self.has_view_permission(request):
            raise PermissionDenied
        if TO_FIELD_VAR in request.GET:  # as in the lists of other models
            raise DisallowedModelAdminToField
        found, now, by = announcement.row() or Announcement(), timezone.now(), cast("User", request.user)
        offered = [act for act in ANNOUNCEMENT_ACTS.values() if act.offered(found, by, now)]
        context = {
            **self.admin_site.each_context(request),
            "title": "Announcement",
            "row": found,
            "shown": found.is_shown(now),
            "acts": buttons(request, offered, "games_announcement_act"),
        }
        return render(request, "admin/staff/announcement.html", context)

    def act(self, request: HttpRequest, act: str) -> HttpResponse:
        found, by = ANNOUNCEMENT_ACTS.get(act), cast("User", request.user)
        if found is None:
            raise Http404
        row = announcement.row() or Announcement()
        shown = {"text": row.text, "until": row.until} if row.is_shown(timezone.now()) else {}
        return act_page(
            request,
            found,
            PERFORM[found],
            subject={"announcement_id": Announcement.NUMBER},
            possible=lambda: found.offered(announcement.row() or Announcement(), by, timezone.now()),
            about="Announcement",
            within=("Announcement", LIST),
            back=reverse(LIST),
            form_options={"initial": shown} if found is ANNOUNCE else None,
        )
