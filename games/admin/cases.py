"""Lists and pages of cases and appeals."""

from __future__ import annotations

from functools import partial
from typing import Any, cast

from django.contrib import admin
from django.contrib.admin.views.main import SEARCH_VAR
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, path
from django.utils import timezone

from accounts.models import User
from games.admin import close_together
from games.admin.acts import may, notes_in, refusal_of
from games.admin.columns import WHEN
from games.admin.people import on_suspension
from games.admin.subjects import SubjectAdmin
from games.models import Appeal, Case
from games.queries import conduct
from games.render.words import waited
from games.staff import appeals, cases, newer_acts, queue
from games.staff.acts import (
    APPEAL_ACTS,
    CASE_ACTS,
    CHANGE_OUTCOME,
    CLOSE_CASE,
    DECIDE_APPEAL,
    HAND_OVER,
    NOTE_CASE,
    REOPEN_CASE,
    StaffAct,
)


def _refusal_of(act: StaffAct[Case], case: Case, by: User) -> str:
    """Return why this staff member may not do this to a case, or ""."""
    if act is NOTE_CASE:
        return refusal_of(cases.check_no_part, case, by=by)
    closed = act in (CHANGE_OUTCOME, REOPEN_CASE)
    return refusal_of(cases.check_closed if closed else cases.check_case, case, by=by)


class State(admin.SimpleListFilter):
    """Filter by state. By default it shows open rows, and all rows in a search."""

    title = "state"
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("open", "Open"), ("closed", "Closed"), ("all", "All")]

    def _chosen(self, query: str) -> str:
        return self.value() or ("all" if query else "open")

    def choices(self, changelist: Any) -> Any:
        for state, title in self.lookup_choices:
            yield {
                "selected": self._chosen(changelist.query) == state,
                "query_string": changelist.get_query_string({"state": state}),
                "display": title,
            }

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        field = "closed_at" if queryset.model is Case else "decided_at"
        chosen = self._chosen(request.GET.get(SEARCH_VAR, ""))
        return queryset if chosen == "all" else queryset.filter(**{f"{field}__isnull": chosen != "closed"})


class Held(admin.SimpleListFilter):
    title = "who works on it"
    parameter_name = "held"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [
            ("me", "I do"),
            ("nobody", "Nobody"),
            ("long", f"Somebody, for more than {queue.HELD_TOO_LONG.days} days"),
        ]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Case]) -> QuerySet[Case]:
        match self.value():
            case "me":
                return queryset.filter(holder_id=request.user.pk)
            case "nobody":
                taken = Case.objects.filter(conduct.has_worker(timezone.now()))
                return queryset.exclude(pk__in=taken.values("pk"))
            case "long":
                taken = Case.objects.filter(conduct.has_worker(timezone.now()))
                return queryset.filter(queue.held_too_long(timezone.now()), pk__in=taken.values("pk"))
        return queryset


@admin.register(Case)
class CaseAdmin(SubjectAdmin):
    acts = CASE_ACTS
    perform = cases.PERFORM
    argument = "case_id"
    template = "admin/staff/case.html"
    list_display = ("about", "kind", "weight", "report_count", "age", "worker", "outcome")
    list_filter = (State, Held, "kind")
    search_fields = (
        "person__username",
        "person__display_name",
        "person__neutral_name",
        "reports__called",
        "=reports__game__code",
    )
    search_help_text = (
        "The username or name of the person it is about, also the name when it was reported, or a complete game code."
    )
    list_select_related = ("person", "holder")
    ordering = ("opened_at",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Case]:
        """Leave out cases about the reader."""
        return conduct.with_weight(
            super().get_queryset(request).exclude(person_id=request.user.pk), reader=request.user.pk
        )

    @admin.display(description="about", ordering="person")
    def about(self, case: Case) -> str:
        return case.about

    @admin.display(description="weight", ordering="-weight")
    def weight(self, case: Any) -> str:
        return f"{case.weight or 0:.1f}"

    @admin.display(description="reports", ordering="-report_count")
    def report_count(self, case: Any) -> int:
        return int(case.report_count)

    @admin.display(description="age", ordering="opened_at")
    def age(self, case: Case) -> str:
        return waited(case.opened_at, timezone.now(), depth=1)

    @admin.display(description="taken by", ordering="holder")
    def worker(self, case: Case) -> str:
        worker = case.worker(timezone.now())
        return worker.name if worker else "–"

    def get_urls(self) -> list[URLPattern]:
        several = path("close/", self.admin_site.admin_view(close_together.page), name="games_case_close")
        return [several, *super().get_urls()]

    def act(self, request: HttpRequest, act: StaffAct[Case], row: Case) -> HttpResponse:
        case, by = row, cast("User", request.user)
        options: dict[str, Any] = {"initial": {"outcome": case.outcome, "answer": case.answer}}
        if act is HAND_OVER:
            options["colleagues"] = [
                (one.pk, one.name) for one in cases.colleagues_for(case, by=by, now=timezone.now())
            ]
        elif act is CLOSE_CASE:
            options["person"] = case.about
        reports = conduct.reports_of(case, reader=by.pk)
        return self.page_of_act(
            request,
            act,
            case,
            about=f"Case about {case.about}",
            refusal=_refusal_of(act, case, by),
            also=on_suspension(case.person) if act is CLOSE_CASE and case.person else (),
            form_options=options,
            more={"case": case, "changed": conduct.outcome_changes([case]).get(case.pk), "reports": reports},
        )

    def page_values(self, request: HttpRequest, row: Case) -> dict[str, Any]:
        case, by, now = row, cast("User", request.user), timezone.now()
        known = newer_acts.newest({"case_id": case.pk}, reader=by)
        audit = list(newer_acts.about({"case_id": case.pk}, reader=by))
        return {
            "title": f"Case about {case.about}",
            "case": case,
            "worker": case.worker(now),
            "changed": conduct.outcome_changes([case]).get(case.pk),
            "reports": conduct.reports_of(case, reader=by.pk),
            "refusal": refusal_of(cases.check_case if case.closed_at is None else cases.check_closed, case, by=by),
            "acts": self.buttons(request, case, self.offered(request, case), known=known),
            "audit": audit,
            "next_case": queue.next_case(by, after=case, now=now),
            "notes_of_staff": notes_in(audit),
            "others": conduct.other_open_cases(case, reader=by.pk),
        }


@admin.register(Appeal)
class AppealAdmin(SubjectAdmin):
    acts = APPEAL_ACTS
    perform = appeals.PERFORM
    argument = "appeal_id"
    template = "admin/staff/appeal.html"
    when = staticmethod(WHEN)
    list_display = ("person", "when", "decision", "decided_at")
    list_filter = (State,)
    search_fields = ("suspension__person__username",)
    search_help_text = "The username of the person who appeals."
    list_select_related = ("suspension__person",)
    ordering = ("at",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Appeal]:
        """Leave out the reader's own appeals, whose pages say which colleague did what."""
        return super().get_queryset(request).exclude(suspension__person=request.user.pk)

    @admin.display(ordering="suspension__person")
    def person(self, appeal: Appeal) -> str:
        return appeal.suspension.person.name

    def act(self, request: HttpRequest, act: StaffAct[Appeal], row: Appeal) -> HttpResponse:
        person = row.suspension.person
        return self.page_of_act(
            request,
            act,
            row,
            about=f"Appeal of {person.name}",
            refusal=self._refusal_of(row, cast("User", request.user)),
            also=act.told if person.is_active else (),
            more={"appeal": row, "suspending": conduct.entry_of(row.suspension)},
        )

    @staticmethod
    def _refusal_of(appeal: Appeal, by: User) -> str:
        """Return why this staff member may not decide an appeal that waits, or ""."""
        check = partial(appeals.check_appeal, now=timezone.now())
        return refusal_of(check, appeal, by=by) if appeal.decided_at is None else ""

    def page_values(self, request: HttpRequest, row: Appeal) -> dict[str, Any]:
        appeal, by = row, cast("User", request.user)
        open_, refusal = appeal.decided_at is None, self._refusal_of(appeal, by)
        notes: list[str] = []
        if open_ and not may(by, DECIDE_APPEAL):
            notes = ["Only an admin can decide appeals."]
        elif open_ and not refusal and conduct.suspended_by(appeal.suspension) == by.pk:
            notes = ["You suspended this person yourself. You can decide because there is no other admin who can."]
        return {
            "title": f"Appeal of {appeal.suspension.person.name}",
            "appeal": appeal,
            "suspending": conduct.entry_of(appeal.suspension),
            "cases": conduct.cases_of(appeal.suspension.person, reader=by.pk),
            "refusal": refusal,
            "acts": self.buttons(request, appeal, self.offered(request, appeal)),
            "notes": notes,
        }
