"""Time off: quiet hours, vacation, and the time zone that both use."""

from __future__ import annotations

from typing import Final, cast

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from accounts import actions, views
from accounts.forms import TimeOffForm, VacationForm
from accounts.models import User
from accounts.queries import vacation_days_left, vacation_year
from common.readers_language import say
from common.say import N_
from games import announce
from games.clocks import vacations
from games.refusals import Denied
from games.render.time_off import Vacation
from games.web.http import SeeOther, form_status

SAVED: Final = N_("Saved.")
NEW_HOURS: Final = N_(
    "Saved. From your next turn, deadlines stay out of these hours."
    " A running deadline a day or more away moves within a minute."
)
NO_HOURS: Final = N_("Saved. You have no quiet hours; deadlines stay as they are.")
ON_VACATION: Final = N_(
    "Your clocks are stopped, except at tables without vacations. Your tables will show it within a minute."
    " Enjoy your time off."
)
BACK: Final = N_("Welcome back. Your clocks are running again. Your tables will show it within a minute.")


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def me(request: HttpRequest) -> HttpResponse:
    """Show the account page. A new time zone moves the user's quiet hours, so the worker updates their clocks."""
    answer: HttpResponse = views.me(request, on_new_zone=announce.time_off_changed)
    return answer


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def time_off(request: HttpRequest) -> HttpResponse:
    """Show quiet hours and vacation. POST saves the quiet hours, and what is ticked below them."""
    user = cast("User", request.user)
    if request.method != "POST":
        return _page(request, user)
    form = TimeOffForm(request.POST)
    if form.is_valid():
        try:
            new_hours = actions.update_time_off(user_id=user.pk, **form.cleaned_data, now=timezone.now())
        except ValidationError as error:
            form.add_error(None, error)
        else:
            if new_hours:
                announce.time_off_changed(user.pk)
            hours = NEW_HOURS if form.cleaned_data["quiet_from"] is not None else NO_HOURS
            messages.success(request, say.text("message", hours if new_hours else SAVED))
            return SeeOther.to("time-off")
    return _page(request, user, time_off_form=form)


@login_required
@require_POST
def begin_vacation(request: HttpRequest) -> HttpResponse:
    user, form = cast("User", request.user), VacationForm(request.POST)
    if form.is_valid():
        try:
            vacations.start(user=user, days=form.cleaned_data["days"], now=timezone.now())
        except Denied as denied:
            form.add_error(None, denied.words)
        else:
            messages.success(request, say.text("message", ON_VACATION))
            return SeeOther.to("time-off")
    return _page(request, user, vacation_form=form)


@login_required
@require_POST
def end_vacation(request: HttpRequest) -> HttpResponse:
    """End the vacation early. Says so if it has ended already."""
    try:
        days = vacations.end(user=cast("User", request.user), now=timezone.now())
    except Denied as denied:
        messages.info(request, denied.words)
    else:
        said = [say.text("message", BACK)]
        if days:
            said.append(say.plural("message", "{n} vacation day returned.", "{n} vacation days returned.", days))
        messages.success(request, " ".join(said))
    return SeeOther.to("time-off")


def _page(
    request: HttpRequest,
    user: User,
    *,
    time_off_form: TimeOffForm | None = None,
    vacation_form: VacationForm | None = None,
) -> HttpResponse:
    now = timezone.now()
    saved = {name: getattr(user, name) for name in ("quiet_from", "quiet_to", "shows_sleep", "auto_vacation")}
    time_off_form, vacation_form = time_off_form or TimeOffForm(initial=saved), vacation_form or VacationForm()
    away_until = user.vacation_until if user.time_off.on_vacation(now) else None
    vacation = Vacation(away_until, vacation_days_left(user, now), vacation_year(user, now))
    context = {"time_off_form": time_off_form, "vacation_form": vacation_form, "vacation": vacation}
    return render(request, "accounts/time_off.html", context, status=form_status(time_off_form, vacation_form))
