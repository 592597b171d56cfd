"""Reports about players, and what staff write to a person: a suspension with its appeal, and warnings."""

from __future__ import annotations

from typing import cast

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from accounts.models import User
from common.readers_language import say
from games.notices import inbox
from games.notices.render import notices_page
from games.queries import conduct
from games.refusals import Denied
from games.render.conduct import SuspendedPage
from games.staff import appeals, cases, people
from games.web import report_form
from games.web.http import SeeOther
from games.web.idempotent_forms import form_key
from games.web.viewer import number, table_for, viewer_as


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def suspended(request: HttpRequest) -> HttpResponse:
    """Show why and until when the user is suspended, unread notices about their seats and by staff, and the decisions
    on earlier appeals. POST appeals, once.

    Without a suspension it shows the decisions, and whether staff lifted the last suspension. It redirects to the front
    page if there is nothing to show. An appeal that is refused stays on the page.
    """
    user, now, text, refusal = cast("User", request.user), timezone.now(), request.POST.get("text", ""), None
    if request.method == "POST":
        shown = number(request.POST.get("suspension"), digits=18) or 0
        try:
            appeals.appeal(person_id=user.pk, suspension_id=shown, text=text, now=now)
        except Denied as denied:
            refusal = denied
            user.refresh_from_db(fields=["suspended_until"])
        else:
            messages.success(request, say.text("message", "Appeal sent. The answer will appear on this page."))
            return SeeOther.to("suspended")
    suspension = conduct.suspension_of(user, now)
    earlier = conduct.decided_appeals_of(user, other_than=suspension)
    if suspension is not None:
        page = SuspendedPage(suspension, conduct.appeal_of(suspension), earlier, refusal, text)
        news = notices_page(inbox.unread_while_suspended(user), everything=True, held=False, now=now).items
        context: dict[str, object] = {"page": page, "news": news}
        return render(request, "conduct/suspended.html", context, status=refusal.status if refusal else 200)
    context = {"appeals": earlier, "lifted": conduct.lifted_suspension_of(user)}
    if refusal is not None and refusal.code == "over":
        context |= {"refusal": refusal, "text": text}
        return render(request, "conduct/appeals.html", context, status=refusal.status)
    return render(request, "conduct/appeals.html", context) if any(context.values()) else redirect("home")


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def report(request: HttpRequest, code: str) -> HttpResponse:
    """Report a person who has or had a seat at a table. `?seat=` preselects them."""
    user = cast("User", request.user)
    table = table_for(request, code)
    data = request.POST if request.method == "POST" else None
    form = report_form.GameReportForm(data, table=table, user=user, data_of=request.GET)

    def hand_in() -> None:
        cases.report(
            code=code,
            viewer=viewer_as(request, user),
            now=timezone.now(),
            form_key=form_key(request),
            **form.cleaned_data | {"seat": form.player.seat, "owner": form.player.owner},
        )

    return report_form.answer(request, form, hand_in, page="conduct/report.html", context={"code": code})


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def reports(request: HttpRequest) -> HttpResponse:
    """List the user's reports with their outcomes. POST marks the outcomes that its page showed as read."""
    user = cast("User", request.user)
    if request.method == "POST":
        shown = request.POST.getlist("answer")
        if not cases.mark_answers_read(person_id=user.pk, shown=shown, now=timezone.now()):
            messages.warning(
                request,
                say.text("message", "Another outcome has arrived since you opened the page. Please read it, too."),
            )
        return SeeOther.to("reports")
    filed = conduct.reports_by(user)
    changes = conduct.outcome_changes(one.case for one in filed)
    now = timezone.now()
    context = {"reports": [(one, changes.get(one.case_id), one.case.worker(now)) for one in filed]}
    return render(request, "conduct/reports.html", context)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def warnings(request: HttpRequest) -> HttpResponse:
    """List the user's warnings. POST acknowledges those that its page showed."""
    user = cast("User", request.user)
    if request.method == "POST":
        newest = number(request.POST.get("newest"), digits=18) or 0
        if people.acknowledge(person_id=user.pk, newest=newest, now=timezone.now()):
            messages.success(request, say.text("message", "Thank you for reading the warning."))
        else:
            messages.warning(
                request,
                say.text("message", "Another warning has arrived since you opened the page. Please read it, too."),
            )
        return SeeOther.to("warnings")
    return render(request, "conduct/warnings.html", {"warnings": conduct.warnings_of(user)})
