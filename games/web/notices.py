"""The bell's page, what one wants to be told, and where the links of mails lead: a GET of those changes nothing."""

from __future__ import annotations

from http import HTTPStatus
from typing import cast

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.models import User
from accounts.queries import mail_addresses, name_of
from games.notices import inbox, mail_links, preferences
from games.notices.kinds import KINDS
from games.notices.mail_links import BadLink
from games.notices.render import mail_state_of, notices_page
from games.refusals import Denied
from games.web.http import SeeOther, form_status
from games.web.notice_form import NoticeForm
from games.web.viewer import number, person


@login_required
@require_safe
def notices(request: HttpRequest) -> HttpResponse:
    """What I was told and what not, and why; `?all=1` also what was never needed."""
    user, now = cast("User", request.user), timezone.now()
    page = notices_page(
        inbox.entries_for(user),
        everything=request.GET.get("all") == "1",
        held=inbox.mail_is_held() is not None,
        now=now,
    )
    return render(request, "games/notices.html", {"page": page})


@login_required
@require_POST
def read_all(request: HttpRequest) -> HttpResponse:
    """Everything up to the newest one that was listed is read."""
    up_to = number(request.POST.get("up_to"), digits=18)
    if up_to is None:
        raise Http404
    preferences.mark_read(user=cast("User", request.user), now=timezone.now(), up_to=up_to)
    return SeeOther.to("notices")


@login_required
@require_POST
def open_one(request: HttpRequest, number: int) -> HttpResponse:
    """On to the game that a notice is about, or to the page where one reads more; the notice is read."""
    notice = preferences.open_notice(user=cast("User", request.user), number=number, now=timezone.now())
    if notice is None:
        raise Http404
    if notice.game:
        return SeeOther(notice.game.get_absolute_url())
    kind = KINDS.get(notice.kind)  # a later release may have written it, before the site went back
    return SeeOther.to((kind and kind.page) or "notices")


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def settings(request: HttpRequest) -> HttpResponse:
    """What I want to be told, through which channel, and when the summary comes."""
    user = cast("User", request.user)
    chosen = inbox.settings_of(user)
    form = NoticeForm(request.POST if request.method == "POST" else None, chosen=chosen)
    if form.is_valid():
        preferences.choose(user=user, choices=form.choices(), digest_hour=form.digest_hour(), now=timezone.now())
        messages.success(request, "Saved.")
        return SeeOther.to("notice-settings")
    address = mail_addresses([user.pk]).get(user.pk)
    mail = mail_state_of(user, address, chosen, held=inbox.mail_is_held() is not None)
    return render(request, "games/notice_settings.html", {"form": form, "mail": mail}, status=form_status(form))


@login_required
@require_POST
def ask_whether_it_works(request: HttpRequest) -> HttpResponse:
    """Send a mail to the address that mails came back from, with a link that says that it arrives.

    :raises TooManyTries:
    """
    try:
        preferences.ask_whether_it_works(user=cast("User", request.user), now=timezone.now())
    except Denied as denied:
        messages.error(request, denied.message)
    else:
        messages.success(request, "We’ve sent a test email. Open its link to get the emails that are waiting.")
    return SeeOther.to("notice-settings")


@require_safe
def mail_open(request: HttpRequest, token: str) -> HttpResponse:
    """A mail's link to a game: on to it for whom it was sent to; others are told to log in, and see no card."""
    try:
        link = mail_links.read(mail_links.OPEN, token)
    except BadLink as bad:
        return _bad_link(request, bad)
    user, game = person(request), reverse("game", args=[link.target])
    if user is not None and user.pk == link.user_id:
        return redirect(game)
    return render(request, "games/mail_open.html", {"name": name_of(link.user_id), "game": game})


@csrf_exempt  # the token says who asks: no cookie is read, and a mail program sends none
@require_http_methods(["GET", "HEAD", "POST"])
def mail_stop(request: HttpRequest, token: str) -> HttpResponse:
    """Stop mails of one kind, or all: at once by POST (RFC 8058), by a button after a GET, which changes nothing."""
    try:
        if request.method == "POST":
            everything = request.POST.get("what") == "everything"
            link = preferences.stop(token=token, everything=everything)
            context = {"stopped": "emails about games" if everything else f"“{KINDS[link.target].title}” emails"}
        else:
            context = {"kind": KINDS[preferences.check_stop(token).target].title}
    except BadLink as bad:
        return _bad_link(request, bad)
    return render(request, "games/mail_stop.html", context)


@csrf_exempt  # as above
@require_http_methods(["GET", "HEAD", "POST"])
def mail_works(request: HttpRequest, token: str) -> HttpResponse:
    """The address that mails came back from works again: a button after a GET, which changes nothing."""
    try:
        if request.method == "POST":
            link = preferences.works_again(token=token, now=timezone.now())
        else:
            link = mail_links.read(mail_links.WORKS, token)
    except BadLink as bad:
        return _bad_link(request, bad)
    return render(request, "games/mail_works.html", {"address": link.target, "done": request.method == "POST"})


def _bad_link(request: HttpRequest, bad: BadLink) -> HttpResponse:
    """A link that is not one of ours, or no longer good: says which, and what to do."""
    status = HTTPStatus.GONE if bad.expired else HTTPStatus.NOT_FOUND
    return render(request, "games/mail_bad_link.html", {"expired": bad.expired}, status=status)
