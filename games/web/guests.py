"""Count visitors who become guests, move the games of guests who log in to an account, and ask before any are lost.

The games of a guest are lost with the session. Nobody loses them by one press: a page says what is lost, and a second
one asks again.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any, Final

from allauth.account.views import LogoutView
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.views.decorators.http import require_http_methods

from accounts import tries
from accounts.adapter import LEFT_GUEST
from accounts.models import User
from accounts.origin import address_of
from accounts.queries import guest_with_id
from accounts.zones import is_no_place, zone_of_browser
from common.htmx import HtmxRequest, login_redirect
from common.limits import GUESTS
from common.readers_language import say
from common.say import N_
from games.actions import guests
from games.queries import lists
from games.refusals import Denied
from games.render.log_out import LossPage, loss_page_of
from games.web.http import SeeOther
from games.web.viewer import person

MOVED: Final = (
    N_("{n} game of {name} moved to your account."),
    N_("{n} games of {name} moved to your account."),
)
SHARED: Final = (
    N_("{n} game of {name} stayed behind: your account plays there too."),
    N_("{n} games of {name} stayed behind: your account plays there too."),
)
CLOSED: Final = (
    N_("{n} game of {name} stayed behind: you looked at hands there as staff, or staff removed you from the table."),
    N_("{n} games of {name} stayed behind: you looked at hands there as staff, or staff removed you from the tables."),
)
NO_PROGRAMS: Final = (
    N_("{n} game of {name} stayed behind: no programs play there, and a program plays for your account."),
    N_("{n} games of {name} stayed behind: no programs play there, and a program plays for your account."),
)
OVER_LIMIT: Final = (
    N_("{n} game of {name} stayed behind: you would have too many tables."),
    N_("{n} games of {name} stayed behind: you would have too many tables."),
)
"""What became of one game of a guest, and of several."""
COOKIE: Final = "__Host-left-guest" if settings.HTTPS else "left-guest"
SALT: Final = "games.web.guests"
SECONDS: Final = 365 * 86_400
LOSE: Final = "lose"
"""In an address: the page that asks once more. In its form: the number of games that it says are lost."""


def guest_allowed(request: HttpRequest) -> AbstractContextManager[tries.Try]:
    """Allow a `with` block to create a guest for this visitor. The block calls `count()` once it has done so.

    If the block raises, nothing is counted.

    :raises TooManyTries: the address has made as many guests as allowed.
    """
    return tries.begin([tries.Key.of(GUESTS, address_of(request))], timezone.now())


def time_zone_of(request: HttpRequest) -> str:
    """Return the time zone for a new guest: the one that the browser has put into the form, or UTC."""
    return zone_of_browser(request.POST.get("browser_zone", ""))


def ask_for_time_zone(request: HttpRequest) -> None:
    """Ask a new guest for the time zone on the next page, if the browser has not named one that people live in."""
    if is_no_place(request.POST.get("browser_zone", "")):
        why = say.text("message", "Your browser does not say which time zone you are in, so times may be wrong.")
        choose = say.text("message", "Choose your time zone")
        messages.info(request, format_html('{} <a href="{}">{}</a>', why, reverse("me"), choose))


def log_in_first(request: HtmxRequest, page: str) -> HttpResponse | None:
    """Return what leads a visitor to the log-in page and then to `page`, where nobody can become a guest, else None."""
    if settings.GUESTS or person(request) is not None:
        return None
    return login_redirect(page, htmx=bool(request.htmx))


def left_guest(request: HttpRequest) -> User | None:
    """Return the guest that this browser was before its user logged in, if that guest has games."""
    for number in (request.session.get(LEFT_GUEST), _in_cookie(request)):
        guest = guest_with_id(number) if isinstance(number, int) else None
        if guest is not None and lists.games_to_keep(guest).exists():
            return guest
    return None


def _in_cookie(request: HttpRequest) -> int | None:
    """Return the number of the guest in the cookie, or None if there is none, or another account was logged in then."""
    value = request.get_signed_cookie(COOKIE, default="", salt=SALT, max_age=SECONDS) or ""
    guest, _, account = value.partition(".")
    user = person(request)
    return int(guest) if user is not None and account == str(user.pk) else None


def _remember(request: HttpRequest, response: HttpResponse, *, guest: User, user: User) -> None:
    """Remember in a signed cookie which guest this browser was, because the session may be ended from elsewhere.

    The cookie also names the account, so that it is of no use to a thief whose copy of the session the owner has ended.
    A guest that it names already stays.
    """
    if _in_cookie(request) is None:
        value = f"{guest.pk}.{user.pk}"
        response.set_signed_cookie(
            COOKIE, value, salt=SALT, max_age=SECONDS, secure=settings.HTTPS, httponly=True, samesite="Lax"
        )


def _forget(request: HttpRequest, response: HttpResponse, guest: User) -> None:
    """Forget this guest in the session and in the cookie. Either may name another one."""
    if request.session.get(LEFT_GUEST) == guest.pk:
        del request.session[LEFT_GUEST]
    if _in_cookie(request) == guest.pk:
        response.delete_cookie(COOKIE)


def loss_by_log_out(request: HttpRequest) -> LossPage | None:
    """Return the pages that ask before a log-out, or None if the user would lose nothing by it.

    A guest would lose their games. Somebody who has logged in to an account would lose those of the guest that this
    browser was before. A suspended guest would lose the answer to an appeal, too, even without games.
    """
    user, now = person(request), timezone.now()
    guest = user if user is not None and user.is_guest else left_guest(request)
    if user is None or guest is None:
        return None
    games = lists.games_to_keep(guest).count()
    if not games and not guest.suspended(now):
        return None
    return loss_page_of(user, guest=guest, games=games, now=now)


def _was_asked_again(request: HttpRequest, games: int) -> bool:
    """Return True if the form is that of the page that asks once more, and that page named this number of games."""
    return request.POST.get(LOSE) == str(games)


class LogOut(LogoutView):  # type: ignore[misc]  # allauth ships no types
    """Logs out. People who would lose a guest's games are asked first, and once more with `?lose=1`.

    A form that was not on that second page leads here then, and changes nothing.
    """

    def get_context_data(self, **more: Any) -> dict[str, Any]:
        loss, ask_again = loss_by_log_out(self.request), LOSE in self.request.GET
        context: dict[str, Any] = super().get_context_data(**more, loss=loss, ask_again=ask_again)
        return context

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        loss = loss_by_log_out(request)
        if loss is not None and not _was_asked_again(request, loss.games):
            return SeeOther.to("account_logout")
        lost, in_cookie = left_guest(request), _in_cookie(request)
        answer: HttpResponse = super().post(request, *args, **kwargs)
        if lost is not None and lost.pk == in_cookie:
            answer.delete_cookie(COOKIE)
        return answer


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def move_seats(request: HttpRequest) -> HttpResponse:
    """Ask whether to move the former guest's games to the account. POST moves them or not, as answered.

    People who would leave the games behind are asked once more, with `?lose=1`.
    """
    user, guest = person(request), left_guest(request)
    if user is None or guest is None:
        return redirect("home")
    count = lists.games_to_keep(guest).count()
    if request.method != "POST":
        suspended = guests.suspended_sentence(guest) if guest.suspended_now else ""
        context = {"guest": guest, "count": count, "ask_again": LOSE in request.GET, "suspended": suspended}
        page = render(request, "accounts/move_seats.html", context)
        _remember(request, page, guest=guest, user=user)
        return page
    answer, home = request.POST.get("answer"), SeeOther.to("home")
    if answer == "move":
        if _move(request, guest, user):
            _forget(request, home, guest)
    elif answer == "leave" and _was_asked_again(request, count):
        _forget(request, home, guest)
    else:
        return SeeOther(f"{reverse('move-seats')}?{LOSE}=1" if answer == "leave" else reverse("move-seats"))
    return home


def _move(request: HttpRequest, guest: User, user: User) -> bool:
    """Move the guest's games. Return False if some stayed that the user can still decide about."""
    try:
        moved = guests.move_seats(guest=guest, user=user, now=timezone.now())
    except Denied as denied:
        messages.warning(request, denied.words)
        return False
    shared = lists.shared_games(guest, user).count()
    messages.success(request, say.form("message", MOVED, moved.games, name=guest.name))
    stayed = (
        (shared, SHARED),
        (moved.closed, CLOSED),
        (moved.no_programs, NO_PROGRAMS),
        (moved.over_limit, OVER_LIMIT),
    )
    for number, message in stayed:
        if number:
            messages.warning(request, say.form("message", message, number, name=guest.name))
    return not (shared or moved.no_programs or moved.over_limit)  # nobody has been asked about these yet
