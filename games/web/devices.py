"""The browsers in which a person is notified by web push. The page of notification settings lists them."""

from __future__ import annotations

from typing import cast

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_POST

from accounts.models import User
from accounts.user_agents import browser_of
from common.readers_language import say
from games.actions import tips
from games.notices import devices
from games.refusals import Denied
from games.web.http import SeeOther


@login_required
@require_POST
def add(request: HttpRequest) -> HttpResponse:
    """Notify the user in this browser. `static/js/push.js` sends what the browser says of its subscription."""
    sent = request.POST
    try:
        dropped = devices.add(
            user=cast("User", request.user),
            session=str(request.session.session_key),
            endpoint=sent.get("endpoint", ""),
            public=sent.get("public", ""),
            auth=sent.get("auth", ""),
            label=browser_of(request.headers.get("User-Agent", "")),
            now=timezone.now(),
        )
    except Denied as denied:
        return render(request, "games/device_refused.html", {"why": denied.words}, status=denied.status)
    messages.success(request, say.text("message", "Notifications reach this device now. Send a test to see one."))
    if dropped:
        most = devices.MOST
        text = say.text("message", "You can have {n} devices, so {device} was removed.", n=most, device=dropped)
        messages.info(request, text)
    return SeeOther.to("notice-settings")


@login_required
@require_POST
def choose(request: HttpRequest, number: int) -> HttpResponse:
    """Store the two ticks of a device."""
    _found(
        devices.choose(
            user=cast("User", request.user),
            number=number,
            hides_names="hides_names" in request.POST,
            mail_too="mail_too" in request.POST,
        )
    )
    messages.success(request, say.text("message", "Saved."))
    return SeeOther.to("notice-settings")


@login_required
@require_POST
def remove(request: HttpRequest, number: int) -> HttpResponse:
    """Remove a device. One that is gone already is none, so a second click does no harm."""
    devices.remove(user=cast("User", request.user), number=number)
    messages.success(request, say.text("message", "The device is removed."))
    return SeeOther.to("notice-settings")


@login_required
@require_POST
def test(request: HttpRequest, number: int) -> HttpResponse:
    """Send a test to a device."""
    _found(devices.test(user=cast("User", request.user), number=number, now=timezone.now()))
    messages.success(request, say.text("message", "A test is on its way. It takes a few seconds."))
    return SeeOther.to("notice-settings")


@login_required
@require_POST
def decline(request: HttpRequest) -> HttpResponse:
    """Offer notifications on devices no more on the front page."""
    tips.decline_push(cast("User", request.user))
    return SeeOther.to("home")


def _found(found: bool) -> None:
    if not found:
        raise Http404
