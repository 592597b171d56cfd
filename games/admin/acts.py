"""One page for every act: it says what will happen, asks for the reason, and does it once that is given."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, cast

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone

from accounts.models import User
from games.refusals import Denied
from games.staff.acts import StaffAct

IN_THE_LOG: Final = "The log at the table says that staff did this, and when, but not why."


def may(user: object, act: StaffAct[Any]) -> bool:
    """Return True if this person's role has the right to an act, whatever stands in its way at one table."""
    return isinstance(user, User) and user.has_perm(act.permission)


def refusal_of(check: Callable[..., None], *subjects: Any, by: object) -> str:
    """Return the message with which a check would refuse this member of staff; empty if it would not."""
    try:
        check(*subjects, by=by)
    except Denied as denied:
        return denied.message
    return ""


def buttons(request: HttpRequest, acts: Iterable[StaffAct[Any]], url_name: str, subject: int) -> list[dict[str, Any]]:
    """Return those of these acts that this member of staff may do, with their addresses."""
    return [
        {
            "label": act.title,
            "url": reverse(f"admin:{url_name}", args=[subject, act.name]),
            "one_click": act.one_click,
        }
        for act in acts
        if may(request.user, act)
    ]


def act_page(
    request: HttpRequest,
    act: StaffAct[Any],
    perform: Callable[..., Any],
    *,
    subject: Mapping[str, int],
    about: str,
    within: tuple[str, str],
    back: str,
    also: Sequence[str] = (),
    form_options: Mapping[str, Any] | None = None,
    show: Callable[[Any], HttpResponse] | None = None,
) -> HttpResponse:
    """Show the page of an act, or do the act and go back.

    perform: The function that does it. It takes the `subject`, who does it, when, and what the form asks for.
    within: The list that holds the subject, as its title and the name of its page.
    also: Sentences about this subject besides the consequences of the act.
    show: Makes the answer from what `perform` returned, instead of going back.
    """
    if not may(request.user, act):
        raise PermissionDenied
    form = act.form(request.POST if request.method == "POST" else None, **(form_options or {}))
    form.fields["reason"].required = act.reason_required
    if act.reason_is_shown:
        form.fields["reason"].help_text = "The person reads this, word for word. Kept in the audit log for good."
    status = 200
    if form.is_valid():
        by = cast("User", request.user)
        try:
            result = perform(**subject, by=by, now=timezone.now(), **form.arguments())
        except Denied as denied:
            form.add_error(None, denied.message)
            status = denied.status
        else:
            if show is not None:
                return show(result)
            messages.success(request, act.done.format(about=about))
            return redirect(back)
    elif request.method == "POST":
        status = 422
    in_the_log = act.log_sentence is not None and not act.after_the_end
    context = {
        **admin.site.each_context(request),
        "title": act.title,
        "about": about,
        "within": within,
        "consequences": [*act.consequences, *([IN_THE_LOG] if in_the_log else []), *also],
        "form": form,
        "back": back,
    }
    return render(request, "admin/staff/act.html", context, status=status)
