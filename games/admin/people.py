"""The list of people, and the page of a person with the acts that staff can do."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any, Final, cast

from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.db.models import Exists, OuterRef, QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, path
from django.utils import timezone
from django.utils.formats import date_format

from accounts import queries as identities
from accounts.models import FOR_GOOD, User
from games.admin import new_account
from games.admin.acts import notes_in, refusal_of
from games.admin.subjects import SubjectAdmin
from games.models.moderation import BROWSER_MARKS_KEPT, Warned
from games.notices import inbox
from games.notices.render import mail_state_of
from games.queries import conduct, staff_summary
from games.queries.lists import hosted_tables
from games.staff import accounts, invitations, people
from games.staff.acts import (
    CLOSE_ACCOUNT,
    CLOSE_WITH_TABLES,
    LIFT,
    MUTE,
    PERSON_ACTS,
    RENAME,
    REOPEN_ACCOUNT,
    SUSPEND,
    SUSPEND_FOR_GOOD,
    StaffAct,
)
from games.staff.audit import check_person
from mail.channels.email import mail_addresses

ABOUT_APPEALS: Final = (SUSPEND, SUSPEND_FOR_GOOD, LIFT, CLOSE_ACCOUNT, CLOSE_WITH_TABLES)
"""The acts whose pages show the appeal that waits. They close it, or its answer will not be read."""


NO_MAIL: Final = {
    "none": "they have no email address",
    "unverified": "their email address is not confirmed",
    "bounced": "emails to their address came back",
}
"""Why a person with an account gets no mail, by `MailState.trouble`."""


def _mail_trouble(person: User) -> str:
    """Return why this person gets no mail (`MailState.trouble`), or ""."""
    address = mail_addresses([person.pk]).get(person.pk)
    return mail_state_of(person, address, inbox.settings_of(person), held=False).trouble


def _locks_out(person: User, trouble: str) -> list[str]:
    """Return the sentences about a new username for a person who gets no mail about it (decision 93)."""
    if not person.is_active or trouble not in NO_MAIL:
        return []
    return [
        "If they are logged out, they do not get to know a new username, and cannot log in by the former one.",
        "“Replace the username” hides it, too, and they log in as before.",
    ]


def _is_lost(person: User) -> bool:
    """Return True if nobody can play as this guest again, because no browser has their session."""
    return person.is_guest and not identities.has_session(person, timezone.now())


def _after_reopening(person: User) -> str:
    """Return what happens if the account of this guest is reopened."""
    if _is_lost(person):
        return "No browser has their session any more, so nobody can play as this guest again."
    return "They can play on in the browser that they played in, if it has not forgotten them."


def _how_told(person: User, trouble: str, *, lost: bool) -> str:
    """Return the sentence that tells staff where a person can read what they are told.

    :param trouble: why the person gets no mail, or "".
    :param lost: see `_is_lost`.
    """
    if lost:
        return "They are a guest, and no browser has their session any more: nobody can read it or play as this guest."
    if not person.is_active:
        return "The account is closed: they can read it only if it is reopened, and get no mail."
    if person.is_guest:
        return (
            "They are a guest: they can read it only in the browser that they play in. They get no mail, and cannot"
            " log in anywhere."
        )
    if trouble:
        return f"They are told by the bell only, because {NO_MAIL[trouble]}."
    return "They are told by bell and mail."


def _minute(moment: datetime) -> str:
    return date_format(timezone.localtime(moment), "Y-m-d H:i")


def _on_mute(person: User) -> list[str]:
    """Return the sentence about the mute in force, if there is one."""
    now = timezone.now()
    if person.muted_until is None or not person.muted(now):
        return []
    return [f"They are muted until {_minute(person.muted_until)} already. A longer mute replaces that."]


def on_suspension(person: User) -> list[str]:
    """Return the sentence about the suspension in force, which another one replaces, if there is one."""
    if person.suspended_until is None or not person.suspended(timezone.now()):
        return []
    if person.suspended_until == FOR_GOOD:
        return ["They are suspended for good already. A new suspension replaces that."]
    until = _minute(person.suspended_until)
    return [f"They are suspended until {until} already. A new suspension replaces that, also if it is shorter."]


class Account(admin.SimpleListFilter):
    title = "account"
    parameter_name = "account"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [
            ("people", "Signed up"),
            ("guests", "Guests"),
            ("staff", "Staff"),
            ("suspended", "Suspended now"),
            ("muted", "Muted now"),
            ("warned", "Ever warned"),
            ("unread", "Warned, and has not read it"),
            ("case", "In an open case"),
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
            case "muted":
                return queryset.filter(muted_until__gt=timezone.now())
            case "warned":
                return queryset.filter(Exists(Warned.objects.filter(person=OuterRef("pk"))))
            case "unread":
                return queryset.filter(warned=True)
            case "case":
                cases_ = conduct.open_cases(reader=cast("User", request.user).pk)
                return queryset.filter(pk__in=cases_.values("person"))
            case "closed":
                return queryset.filter(is_active=False)
        return queryset


@admin.register(User)
class PersonAdmin(SubjectAdmin):
    """People are read-only. Staff change them by acts; addresses and passwords are changed by the people themselves."""

    acts = PERSON_ACTS
    perform = {**people.PERFORM, **accounts.PERFORM, **invitations.PERFORM}
    argument = "person_id"
    template = "admin/staff/person.html"
    list_display = ("username", "goes_by", "account", "since")
    list_filter = (Account,)
    search_fields = ("username", "display_name", "neutral_name")
    ordering = ("username",)

    def get_search_fields(self, request: HttpRequest) -> tuple[str, ...]:
        """Let only those who see addresses find people by one: an answer tells whose address it is."""
        return (*self.search_fields, "=email") if request.user.has_perm("accounts.see_address") else self.search_fields

    def get_changelist_instance(self, request: HttpRequest) -> ChangeList:
        found = super().get_changelist_instance(request)
        last = ", or a complete email address" if "=email" in found.search_fields else ""
        either = "" if last else "or "
        found.search_help_text = (
            f"The username, the name at the table, a name given by staff, {either}a name that they had when staff"
            f" acted{last}."
        )
        return found

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[User], search_term: str
    ) -> tuple[QuerySet[User], bool]:
        found, duplicates = super().get_search_results(request, queryset, search_term)
        if text := search_term.strip():
            found |= queryset.filter(pk__in=conduct.formerly_called(text))
        return found, duplicates

    @admin.display(description="name at the table", ordering="display_name")
    def goes_by(self, person: User) -> str:
        return person.display_name or "–"

    @admin.display
    def account(self, person: User) -> str:
        if not person.is_active:
            return "closed"
        now = timezone.now()
        muted = ", muted" if person.muted(now) else ""
        if person.suspended(now):
            return f"suspended{muted}"
        return ("staff" if person.is_staff else "guest" if person.is_guest else "open") + muted

    @admin.display(description="joined", ordering="date_joined")
    def since(self, person: User) -> date:
        return timezone.localdate(person.date_joined)

    def get_urls(self) -> list[URLPattern]:
        make = path("make/", self.admin_site.admin_view(new_account.page), name="accounts_user_make")
        return [make, *super().get_urls()]

    def act(self, request: HttpRequest, act: StaffAct[User], row: User) -> HttpResponse:
        person = row
        role = person.groups.values_list("name", flat=True).first() if person.is_staff else ""
        initial = {"username": person.username, "display_name": person.display_name, "role": role}
        initial |= {f"known_{field}": initial[field] for field in ("username", "display_name")}
        trouble = _mail_trouble(person) if act.told else ""
        lost = _is_lost(person)
        nameless = act is MUTE and not person.display_name
        with_tables = act is CLOSE_WITH_TABLES
        codes = hosted_tables(person.pk).values_list("code", flat=True) if with_tables else ()
        return self.page_of_act(
            request,
            act,
            person,
            subject={"host_id" if with_tables else self.argument: person.pk},
            about=person.name,
            refusal=refusal_of(check_person, person, by=request.user),
            title=act.named.format(name=person.name),
            also=[
                *[f"These tables are closed: {', '.join(codes)}."] * bool(codes),
                *(_on_mute(person) if act is MUTE else ()),
                *(on_suspension(person) if act in (SUSPEND, SUSPEND_FOR_GOOD) else ()),
                *["They have no name at the table, so the only change is that they cannot choose one."] * nameless,
                *(act.told if person.is_active and not lost else ()),
                *[_how_told(person, trouble, lost=lost)] * bool(act.told),
                *[_after_reopening(person)] * (person.is_guest and act is REOPEN_ACCOUNT),
                *(_locks_out(person, trouble) if act is RENAME else []),
            ],
            consequences=act.for_guests if person.is_guest else None,
            form_options={"initial": initial},
            more={"waiting": conduct.waiting_appeals_of(person)} if act in ABOUT_APPEALS else {},
        )

    def page_values(self, request: HttpRequest, row: User) -> dict[str, Any]:
        """Return the person, their conduct and what staff can do."""
        person, now, by = row, timezone.now(), cast("User", request.user)
        record = conduct.conduct_of(person, now, reader=by.pk)
        roles = ["superuser"] * person.is_superuser + list(person.groups.values_list("name", flat=True))
        return {
            "title": person.name,
            "person": person,
            "role": ", ".join(roles) if person.is_staff else "",
            "muted": person.muted(now),
            "refusal": refusal_of(check_person, person, by=request.user),
            "acts": self.buttons(request, person, self.offered(request, person)),
            "conduct": record,
            "waiting": conduct.waiting_appeals_of(person),
            "notes_of_staff": notes_in(record.audit),
            "summary": staff_summary.staff_summary_of(person, now, reader=by.pk),
            "misses_days": staff_summary.MISSES_WITHIN.days,
            "marks_days": BROWSER_MARKS_KEPT.days,
        }
