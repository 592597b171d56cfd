"""People: found by name, read by staff, and acted on with a reason."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any, Final

from allauth.mfa.utils import is_mfa_enabled
from django import forms
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import URLPattern, path, reverse
from django.utils import timezone

from accounts import queries as identities
from accounts.models import User
from accounts.names import DISPLAY_NAME_LENGTH
from accounts.read_only import ReadOnly
from games.actions.moderation import accounts, people
from games.actions.moderation.audit import check_person
from games.actions.roles import ROLES
from games.admin.acts import Act, ActPage, DaysForm, ReasonForm, act_page, buttons, refusal_of
from games.queries import conduct


class NamesForm(ReasonForm):
    username = forms.CharField(max_length=30)
    display_name = forms.CharField(
        label="Name at the table",
        max_length=DISPLAY_NAME_LENGTH,
        required=False,
        help_text="Empty: they go by their username.",
    )


class RoleForm(ReasonForm):
    role = forms.ChoiceField(
        choices=[("", "No role: a player like any other"), *((role, role.capitalize()) for role in ROLES)],
        required=False,
        widget=forms.RadioSelect,
    )


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
            shown=True,
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
            shown=True,
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
            shown=True,
        ),
        ActPage(
            Act.LIFT,
            ("They can use everything again at once.",),
            lambda doing: people.lift(person_id=doing.subject, by=doing.by, reason=doing.reason, now=doing.now),
        ),
        ActPage(
            Act.RENAME,
            (
                "They go by these names from now on, at every table and in every log.",
                "They log in by the new username, or by their email address: tell them.",
            ),
            lambda doing: accounts.rename(
                person_id=doing.subject,
                by=doing.by,
                username=doing.more["username"],
                display_name=doing.more["display_name"],
                reason=doing.reason,
                now=doing.now,
            ),
            NamesForm,
        ),
        ActPage(
            Act.CLOSE_ACCOUNT,
            (
                "Nobody can log in to it or use its tokens, and no page says why: to let them read a reason, suspend.",
                "Nothing is deleted. The clocks of their games run on; remove them where others should not wait.",
            ),
            lambda doing: accounts.close_account(
                person_id=doing.subject, by=doing.by, reason=doing.reason, now=doing.now
            ),
        ),
        ActPage(
            Act.REOPEN_ACCOUNT,
            ("They can log in again, and find everything as it is.",),
            lambda doing: accounts.reopen_account(
                person_id=doing.subject, by=doing.by, reason=doing.reason, now=doing.now
            ),
        ),
        ActPage(
            Act.SET_ROLE,
            (
                "With a role, they can do what it allows as soon as they have shown a second factor.",
                "Without one, they are a player like any other at once.",
                "Who is a superuser is not settled here, but by whoever runs the site, in a shell.",
            ),
            lambda doing: accounts.set_role(
                person_id=doing.subject, by=doing.by, role=doing.more["role"], reason=doing.reason, now=doing.now
            ),
            RoleForm,
        ),
        ActPage(
            Act.DROP_FACTOR,
            (
                "Their authenticator app and recovery codes are removed: their password alone lets them in.",
                "Make sure that it is really they who ask: they are told.",
                "The staff pages stay shut to them until they have set up another.",
            ),
            lambda doing: accounts.drop_factor(
                person_id=doing.subject, by=doing.by, reason=doing.reason, now=doing.now
            ),
        ),
    )
}
"""Each act on a person, by its name in addresses."""


def _needless(person: User, by: object, now: datetime) -> set[str]:
    """The acts that take back what has not been done to this person, do it again, or would be refused of them."""
    needless = {Act.CLOSE_ACCOUNT if not person.is_active else Act.REOPEN_ACCOUNT}
    if not person.muted(now):
        needless.add(Act.UNMUTE)
    if not person.suspended(now):
        needless.add(Act.LIFT)
    if person.is_superuser or person.is_guest:
        needless.add(Act.SET_ROLE)
    if not is_mfa_enabled(person):
        needless.add(Act.DROP_FACTOR)
    if refusal_of(accounts.check_account, person, by=by):
        needless |= {Act.RENAME, Act.CLOSE_ACCOUNT, Act.REOPEN_ACCOUNT}
    return {act.value for act in needless}


class Account(admin.SimpleListFilter):
    title = "account"
    parameter_name = "account"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [
            ("people", "Signed up"),
            ("guests", "Guests"),
            ("staff", "Staff"),
            ("suspended", "Suspended now"),
            ("closed", "Closed"),
        ]

    def queryset(self, request: HttpRequest, queryset: QuerySet[User]) -> QuerySet[User]:
        match self.value():
            case "people" | "guests":
                return queryset.filter(is_guest=self.value() == "guests")
            case "staff":
                return queryset.filter(is_staff=True)
            case "suspended":
                return queryset.filter(suspended_until__gt=timezone.now())
            case "closed":
                return queryset.filter(is_active=False)
        return queryset


class Name(admin.SimpleListFilter):
    """Names from before today's rules, which their owners may keep."""

    title = "name"
    parameter_name = "name"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("alike", "Looks like an older account’s"), ("refused", "Would be refused today")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[User]) -> QuerySet[User]:
        if self.value() not in ("alike", "refused"):
            return queryset
        return queryset.filter(pk__in=identities.objected_to(alike=self.value() == "alike"))


@admin.register(User)
class PersonAdmin(ReadOnly):
    """A person, to read. Whatever changes is an act; an address and a password are the person's own to change."""

    list_display = ("username", "goes_by", "account", "since")
    list_filter = (Account, Name)
    search_fields = ("username", "display_name", "=email")
    search_help_text = "The username, the name at the table, or all of an email address."
    ordering = ("username",)

    @admin.display(description="name at the table", ordering="display_name")
    def goes_by(self, person: User) -> str:
        return person.display_name or "–"

    @admin.display
    def account(self, person: User) -> str:
        if not person.is_active:
            return "closed"
        if person.suspended(timezone.now()):
            return "suspended"
        return "staff" if person.is_staff else "guest" if person.is_guest else "open"

    @admin.display(description="here since", ordering="date_joined")
    def since(self, person: User) -> date:
        return timezone.localdate(person.date_joined)

    def get_urls(self) -> list[URLPattern]:
        act = path("<int:person_id>/act/<slug:act>/", self.admin_site.admin_view(self.act), name="accounts_user_act")
        return [act, *super().get_urls()]

    def act(self, request: HttpRequest, person_id: int, act: str) -> HttpResponse:
        page, person = PAGES.get(act), User.objects.filter(pk=person_id).first()
        if page is None or person is None:
            raise Http404
        back = reverse("admin:accounts_user_change", args=[person_id])
        role = person.groups.values_list("name", flat=True).first() if person.is_staff else ""
        initial = {"username": person.username, "display_name": person.display_name, "role": role}
        nameless = page.act == Act.MUTE and not person.display_name
        return act_page(
            request,
            page,
            subject=person_id,
            about=person.name,
            within=("People", "admin:accounts_user_changelist"),
            back=back,
            also=["They have no name at the table now: what changes is that they cannot choose one."] * nameless,
            form_options={"initial": initial},
        )

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Who this is and how they behaved, with what staff can do; nothing is changed here."""
        if request.method == "POST" or not self.has_view_permission(request):
            raise PermissionDenied
        person, now = self.get_object(request, object_id), timezone.now()
        if person is None:
            raise Http404
        needless = _needless(person, request.user, now)
        fitting = {name: page for name, page in PAGES.items() if name not in needless}
        roles = ["superuser"] * person.is_superuser + list(person.groups.values_list("name", flat=True))
        context = {
            **self.admin_site.each_context(request),
            "title": person.name,
            "person": person,
            "role": ", ".join(roles) if person.is_staff else "",
            "muted": person.muted(now),
            "objections": identities.objections_to(person),
            "refusal": refusal_of(check_person, person, by=request.user),
            "acts": buttons(request, fitting, "accounts_user_act", person.pk),
            "conduct": conduct.record_of(person, now, reader=request.user.pk),
        }
        return render(request, "admin/staff/person.html", context)
