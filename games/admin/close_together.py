"""The page that closes several cases with one outcome, one answer and one reason."""

from __future__ import annotations

import re
from typing import Any, Final, NamedTuple, cast

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone

from accounts.models import User
from games.admin.acts import may, sentences_of
from games.models import Case, Report
from games.queries import conduct
from games.refusals import Denied
from games.staff import cases, newer_acts, queue
from games.staff.acts import CLOSE_CASE
from games.staff.forms import OutcomeForm
from games.staff.newer_acts import Known, NewerActs
from games.staff.words import counted

LISTED: Final = 20
"""How many cases the page lists, the oldest first."""
_CHOICE: Final = re.compile(r"([0-9]{1,18})-(.+)", re.ASCII)


class CaseRow(NamedTuple):
    """A case on the page. `choice` is what its box sends: its number, and what the page knew of it."""

    case: Case
    reports: list[Report]
    choice: str
    checked: bool


def _choices(request: HttpRequest) -> dict[int, Known]:
    """Return the chosen cases, each with what the page knew of it."""
    found = [_CHOICE.fullmatch(text) for text in request.POST.getlist("case")[:LISTED]]
    return {int(one[1]): Known.read(one[2]) for one in found if one}


def _close(chosen: dict[int, Known], by: User, **arguments: Any) -> tuple[int, list[str]]:
    """Close these cases, each in a transaction of its own.

    Returns how many were closed, and a sentence for each that stays open.
    """
    closed, refusals = 0, list[str]()
    for number, known in chosen.items():
        case = Case.objects.exclude(person=by).select_related("person").filter(pk=number).first()
        if case is None:  # also one about this member of staff, who must not learn of it
            refusals.append(f"Case {number}: There is no such case.")
            continue
        try:
            newer_acts.perform(cases.close_case, {"case_id": number}, known=known, by=by, **arguments)
        except NewerActs as denied:
            news = ["There is a new report."] * bool(denied.news)
            refusals.append(" ".join([f"Case about {case.about}:", *sentences_of(denied.entries, by), *news]))
        except Denied as denied:
            refusals.append(f"Case about {case.about}: {denied.message}")
        else:
            closed += 1
    return closed, refusals


def _rows(by: User, chosen: dict[int, Known]) -> list[CaseRow]:
    rows = []
    for case in queue.cases_to_close(by, now=timezone.now())[:LISTED]:
        known = newer_acts.newest({"case_id": case.pk}, reader=by)
        reports = list(conduct.reports_of(case, reader=by.pk))
        rows.append(CaseRow(case, reports, f"{case.pk}-{known}", case.pk in chosen))
    return rows


def page(request: HttpRequest) -> HttpResponse:
    """List the cases that this staff member can close, and close the chosen ones.

    A case that has changed since the page was made stays open. The page then says why, and can be sent again.
    """
    if not may(request.user, CLOSE_CASE):
        raise PermissionDenied
    by, sent = cast("User", request.user), request.method == "POST"
    form, chosen = OutcomeForm(request.POST if sent else None), _choices(request)
    refusals, status = list[str](), 422 if sent else 200
    if sent and not chosen:
        refusals = ["Choose at least one case."]
    elif form.is_valid():
        closed, refusals = _close(chosen, by, now=timezone.now(), **form.arguments())
        if closed:
            messages.success(request, f"{counted(closed, 'case')} closed.")
        if not refusals:
            return redirect("admin:games_case_changelist")
        status = 409
    context = {
        **admin.site.each_context(request),
        "title": "Close several cases",
        "form": form,
        "rows": _rows(by, chosen),
        "refusals": refusals,
        "consequences": CLOSE_CASE.consequences[:1],
    }
    return render(request, "admin/staff/close_together.html", context, status=status)
