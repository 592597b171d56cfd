"""People: found by name, changed by admins only, and acted on with a reason."""

from __future__ import annotations

from typing import Any, Final

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone

from accounts.models import User
from games import conduct
from games.actions.moderation import people
from games.admin.acts import Act, ActPage, DaysForm, act_page, buttons

PAGES: Final = {
    page.act.value: page
    for page in (
        ActPage(
            Act.WARN,
            (
                "The reason is shown to this person, word for word.",
                "A line on every page leads there until they say that they have read it.",
            ),
            lambda doing: people.warn(person_id=doing.subject, by=doing.by, reason=doing.reason, now=doing.now),
        ),
        ActPage(
            Act.MUTE,
            (
                "Their name at the table is taken away: they go by their username.",
                "They cannot choose another until the mute ends.",
            ),
            lambda doing: people.mute(
                person_id=doing.subject, by=doing.by, days=doing.more["days"], reason=doing.reason, now=doing.now
            ),
            DaysForm,
        ),
        ActPage(
            Act.UNMUTE,
            ("They may choose a name at the table again.",),
            lambda doing: people.unmute(person_id=doing.subject, by=doing.by, reason=doing.reason, now=doing.now),
        ),
        ActPage(
            Act.SUSPEND,
            (
                "They can log in to one page alone: it shows the reason, word for word, and takes an appeal.",
                "Pages, the API and open sockets are shut to them at once. It ends by itself.",
                "The clocks of their games run on; remove them from a game if others should not wait.",
            ),
            lambda doing: people.suspend(
                person_id=doing.subject, by=doing.by, days=doing.more["days"], reason=doing.reason, now=doing.now
            ),
            DaysForm,
        ),
        ActPage(
            Act.SUSPEND_FOR_GOOD,
            (
                "They can log in to one page alone: it shows the reason, word for word, and takes an appeal.",
                "Pages, the API and open sockets are shut to them at once, and stay so until somebody lifts it.",
                "The clocks of their games run on; remove them from a game if others should not wait.",
            ),
            lambda doing: people.suspend(
                person_id=doing.subject, by=doing.by, days=None, reason=doing.reason, now=doing.now
            ),
        ),
        ActPage(
            Act.LIFT,
            ("They can use everything again at once.",),
            lambda doing: people.lift(person_id=doing.subject, by=doing.by, reason=doing.reason, now=doing.now),
        ),
    )
}
"""Each act on a person, by its name in addresses."""

SUPERUSERS_ONLY: Final = ("email", "is_superuser", "user_permissions", "groups", "is_staff")
"""Whoever could set these could make themselves, or somebody whose password they reset, anything."""


@admin.register(User)
class PersonAdmin(UserAdmin):  # type: ignore[type-arg]  # generic for mypy alone; at run time it takes no parameter
    change_form_template = "admin/staff/person.html"
    list_display = ("username", "name", "email", "is_guest", "is_staff", "suspended_until", "date_joined")
    list_filter = ("is_guest", "is_staff", "is_active", ("suspended_until", admin.EmptyFieldListFilter))
    search_fields = ("username", "display_name", "email")
    fieldsets = (
        (None, {"fields": ("username",)}),
        ("At the table", {"fields": ("display_name", "time_zone", "is_guest", "email")}),
        ("Conduct", {"fields": ("suspended_until", "muted_until", "warned")}),
        ("Permissions", {"fields": ("is_active", "is_staff", "is_superuser", "groups", "user_permissions")}),
        ("Dates", {"fields": ("last_login", "date_joined")}),
    )

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        always = ("is_guest", "suspended_until", "muted_until", "warned", "last_login", "date_joined")
        return always if request.user.is_superuser else (*always, *SUPERUSERS_ONLY)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Nobody but a superuser changes staff."""
        reaches = obj is None or request.user.is_superuser or not (obj.is_staff or obj.is_superuser)
        return reaches and super().has_change_permission(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Deleting somebody leaves seats without a person in running games: accounts are closed, not deleted."""
        return False

    def user_change_password(self, request: HttpRequest, id: str, form_url: str = "") -> HttpResponse:  # noqa: A002  # the name that Django's addresses give it
        if not request.user.is_superuser:
            raise PermissionDenied
        return super().user_change_password(request, id, form_url)

    def get_urls(self) -> list[URLPattern]:
        act = path("<int:person_id>/act/<slug:act>/", self.admin_site.admin_view(self.act), name="accounts_user_act")
        return [act, *super().get_urls()]

    def act(self, request: HttpRequest, person_id: int, act: str) -> HttpResponse:
        page, person = PAGES.get(act), User.objects.filter(pk=person_id).first()
        if page is None or person is None:
            raise Http404
        back = reverse("admin:accounts_user_change", args=[person_id])
        return act_page(request, page, subject=person_id, about=person.name, back=back)

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        person = self.get_object(request, object_id)
        context = dict(extra_context or {})
        if person is not None:
            context["acts"] = buttons(request, PAGES, "accounts_user_act", person.pk)
            context["conduct"] = conduct.record_of(person, timezone.now(), reader=request.user.pk)
        return super().change_view(request, object_id, form_url, context)
