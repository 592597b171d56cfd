"""Time off: quiet hours, days of vacation, and the time zone that nights are in."""

from __future__ import annotations

from datetime import datetime
from typing import cast

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from accounts import actions, views
from accounts.forms import RestForm, VacationForm
from accounts.models import User
from accounts.queries import vacation_days_left, vacation_year
from games.actions.clocks import vacations
from games.actions.clocks.rest import follow_rest
from games.actions.notices import mailbox
from games.refusals import Denied
from games.render.words import counted
from games.web.answers import SeeOther, form_status

SAVED = (
    "Saved. From your next turn on, your deadlines stay out of these hours;"
    " one that is running already does if it is a day away or more."
)
NO_HOURS = "Saved. You have no quiet hours: deadlines stay where they are."


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def me(request: HttpRequest) -> HttpResponse:
    """The account page. What POST saves may be another time zone: one's nights are others then."""
    answer: HttpResponse = views.me(request)
    if request.method == "POST" and isinstance(answer, HttpResponseRedirect):
        _follow(cast("User", request.user), timezone.now())
    return answer


def _follow(user: User, now: datetime) -> None:
    """Let clocks and waiting mail go by this person's nights as they are now."""
    follow_rest(user_id=user.pk, now=now)
    mailbox.look_again_at_night(user=user, now=now)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def rest(request: HttpRequest) -> HttpResponse:
    """Show both; POST saves the quiet hours, and whether days of vacation are taken by themselves."""
    user = cast("User", request.user)
    if request.method != "POST":
        return _page(request, user)
    form, now = RestForm(request.POST), timezone.now()
    if form.is_valid():
        try:
            actions.update_rest(user_id=user.pk, **form.cleaned_data, now=now)
        except ValidationError as error:
            form.add_error(None, error)
        else:
            _follow(user, now)
            messages.success(request, SAVED if form.cleaned_data["quiet_from"] is not None else NO_HOURS)
            return SeeOther.to("rest")
    return _page(request, user, rest_form=form)


@login_required
@require_POST
def begin_vacation(request: HttpRequest) -> HttpResponse:
    """Go on vacation."""
    user, form = cast("User", request.user), VacationForm(request.POST)
    if form.is_valid():
        try:
            vacations.start(user=user, days=form.cleaned_data["days"], now=timezone.now())
        except Denied as denied:
            form.add_error(None, denied.message)
        else:
            messages.success(request, "Your clocks are stopped. Enjoy your time off.")
            return SeeOther.to("rest")
    return _page(request, user, vacation_form=form)


@login_required
@require_POST
def end_vacation(request: HttpRequest) -> HttpResponse:
    """Come back early; back already is as good."""
    try:
        days = vacations.end(user=cast("User", request.user), now=timezone.now())
    except Denied as denied:
        messages.info(request, denied.message)
    else:
        back = f" You got {counted(days, 'day')} of vacation back." if days else ""
        messages.success(request, f"Welcome back: your clocks are running again.{back}")
    return SeeOther.to("rest")


def _page(
    request: HttpRequest, user: User, *, rest_form: RestForm | None = None, vacation_form: VacationForm | None = None
) -> HttpResponse:
    now = timezone.now()
    saved = {name: getattr(user, name) for name in ("quiet_from", "quiet_to", "auto_vacation")}
    rest_form, vacation_form = rest_form or RestForm(initial=saved), vacation_form or VacationForm()
    context = {
        "rest_form": rest_form,
        "vacation_form": vacation_form,
        "away_until": user.vacation_until if user.rest.away(now) else None,
        "days_left": vacation_days_left(user, now),
        "year": vacation_year(user, now),
    }
    return render(request, "accounts/rest.html", context, status=form_status(rest_form, vacation_form))
