"""One page for every act: it says what will happen, asks the reason, and does it once that is given."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, cast

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone

from accounts.models import User
from games.actions.moderation.audit import SHORTEST_REASON
from games.actions.moderation.people import LONGEST_DAYS
from games.models import AuditEntry
from games.models.moderation import REASON_LENGTH
from games.queries import Table
from games.refusals import Denied

Act = AuditEntry.Act

SAID: Final[Mapping[AuditEntry.Act, tuple[str, str]]] = {
    Act.PAUSE: ("Pause this game", "The game is paused."),
    Act.RESUME: ("Resume this game", "Staff let the game go on."),
    Act.EXTEND: ("Extend the clock", "The turn has more time."),
    Act.FORGIVE: ("Forgive missed turns", "The missed turns no longer count."),
    Act.VOID_ROUND: ("Void this round", "The round is void and has been dealt anew."),
    Act.VOID_GAME: ("Void this game", "The game has ended without a winner."),
    Act.CLOSE: ("Close this table", "The table is closed."),
    Act.REMOVE: ("Remove a player", "The player has been removed."),
    Act.MOVE_SEAT: ("Give a seat to somebody else", "The seat has a new owner."),
    Act.LOOK: ("Look at hands", "You have looked at the hands."),
    Act.WARN: ("Warn", "You have warned {about}."),
    Act.MUTE: ("Mute", "You have muted {about}."),
    Act.UNMUTE: ("End the mute", "The mute of {about} has ended."),
    Act.SUSPEND: ("Suspend", "You have suspended {about}."),
    Act.SUSPEND_FOR_GOOD: ("Suspend for good", "You have suspended {about} for good."),
    Act.LIFT: ("Lift the suspension", "The suspension of {about} has ended."),
    Act.RENAME: ("Correct the name", "The name is corrected."),
    Act.CLOSE_ACCOUNT: ("Close this account", "The account is closed."),
    Act.REOPEN_ACCOUNT: ("Open this account again", "The account is open again."),
    Act.SET_ROLE: ("Give or take a role", "The role of {about} is settled."),
    Act.DROP_FACTOR: (
        "Take the lost second factor away",
        "The second factor of {about} is gone: the password alone lets them in.",
    ),
    Act.HOLD: ("Take this case", "You work on this case now."),
    Act.CLOSE_CASE: ("Close this case", "The case is closed."),
    Act.DECIDE_APPEAL: ("Decide this appeal", "The appeal is decided."),
}
"""What each act is called on the page of what it is done to, and what that page says once it is done.

No such sentence begins with a name: Django writes the first letter of a message large.
"""


class ReasonForm(forms.Form):
    """What every act asks. Forms of acts that need more put their fields before it.

    `table` is given to the forms of all acts at a table; those that ask for a seat read it.
    """

    reason = forms.CharField(
        widget=forms.Textarea(attrs={"rows": 3, "cols": 60}),
        min_length=SHORTEST_REASON,
        max_length=REASON_LENGTH,
        help_text="Kept in the audit log for good.",
    )

    def __init__(self, *args: Any, table: Table | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["reason"] = self.fields.pop("reason")  # last


class NoReasonForm(ReasonForm):
    """For acts that speak for themselves: the reason may be left empty."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["reason"].required = False


class DaysForm(ReasonForm):
    days = forms.IntegerField(label="Days", min_value=1, max_value=LONGEST_DAYS, initial=7)


@dataclass(frozen=True, slots=True)
class Doing:
    """An act about to be done: to whom or what, by whom, when, and what the form says besides the reason."""

    subject: int
    by: User
    now: datetime
    reason: str
    more: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ActPage:
    """An act's page. `will` are the sentences that say what happens; `do` does it and may raise `Denied`.

    `statuses`: of the games that it is offered for. `at_once`: its button does it, without a page that asks. `shown`:
    the person reads the reason.
    """

    act: AuditEntry.Act
    will: tuple[str, ...]
    do: Callable[[Doing], AuditEntry]
    form: type[ReasonForm] = ReasonForm
    statuses: frozenset[str] = frozenset()
    at_once: bool = False
    shown: bool = False

    @property
    def label(self) -> str:
        return SAID[self.act][0]

    def done(self, about: str) -> str:
        return SAID[self.act][1].format(about=about)


def may(user: object, act: AuditEntry.Act) -> bool:
    """Whether this person's role has the right to an act, whatever stands in its way at one table."""
    return isinstance(user, User) and user.has_perm(f"games.do_{act.value}")


def refusal_of(check: Callable[..., None], *subjects: Any, by: object) -> str:
    """What a check would refuse this member of staff, in its own words; empty if nothing."""
    try:
        check(*subjects, by=by)
    except Denied as denied:
        return denied.message
    return ""


def buttons(request: HttpRequest, pages: Mapping[str, ActPage], url_name: str, subject: int) -> list[dict[str, Any]]:
    """The acts that this member of staff may do, with their addresses."""
    return [
        {"label": page.label, "url": reverse(f"admin:{url_name}", args=[subject, name]), "at_once": page.at_once}
        for name, page in pages.items()
        if may(request.user, page.act)
    ]


def act_page(
    request: HttpRequest,
    page: ActPage,
    *,
    subject: int,
    about: str,
    within: tuple[str, str],
    back: str,
    also: Sequence[str] = (),
    form_options: Mapping[str, Any] | None = None,
    show: Callable[[Doing], HttpResponse] | None = None,
) -> HttpResponse:
    """Show the page of an act, or do it and go back; `show` does it instead, and answers with what is to be seen.

    `within`: the list that holds the subject, as its title and the name of its page. `also` are sentences that hold for
    this subject besides what will happen to any.
    """
    if not may(request.user, page.act):
        raise PermissionDenied
    form = page.form(request.POST if request.method == "POST" else None, **(form_options or {}))
    if page.shown:
        form.fields["reason"].help_text = "The person reads this, word for word. Kept in the audit log for good."
    status = 200
    if form.is_valid():
        more = {name: value for name, value in form.cleaned_data.items() if name != "reason"}
        by, reason = cast("User", request.user), form.cleaned_data["reason"]
        doing = Doing(subject=subject, by=by, now=timezone.now(), reason=reason, more=more)
        try:
            if show is not None:
                return show(doing)
            page.do(doing)
        except Denied as denied:
            form.add_error(None, denied.message)
            status = denied.status
        else:
            messages.success(request, page.done(about))
            return redirect(back)
    elif request.method == "POST":
        status = 422
    context = {
        **admin.site.each_context(request),
        "title": page.label,
        "about": about,
        "within": within,
        "will": [*page.will, *also],
        "form": form,
        "back": back,
    }
    return render(request, "admin/staff/act.html", context, status=status)
