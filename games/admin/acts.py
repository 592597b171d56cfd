"""The page of a staff act: it says what will happen, asks for a reason, and performs the act.

If staff have acted on the same subject since the page was made, it says what they did, and does nothing (decision 65).
It does the same if somebody has reported in the same case, or the same person has appealed.
"""

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
from games.models import Appeal, AuditEntry, Report, Seat
from games.queries import Table
from games.refusals import Denied
from games.render import log_notes
from games.staff import newer_acts
from games.staff.acts import LOOK, NOTE_CASE, NOTE_PERSON, StaffAct
from games.staff.audit import check_person
from games.staff.forms import Outdated, ReasonForm
from games.staff.newer_acts import Known, NewerActs, News

IN_THE_LOG: Final = "The table’s log shows that staff did this, and when, but not your reason."


def may(user: object, act: StaffAct[Any]) -> bool:
    """Return True if this person's role has the permission for this act."""
    return isinstance(user, User) and user.has_perm(act.permission)


def refusal_of(check: Callable[..., None], *subjects: Any, by: object) -> str:
    """Return the message with which `check` refuses this staff member, or "" if it does not."""
    try:
        check(*subjects, by=by)
    except Denied as denied:
        return denied.message
    return ""


def buttons(
    request: HttpRequest, acts: Iterable[StaffAct[Any]], url_name: str, *subject: int, known: Known | str = ""
) -> list[dict[str, Any]]:
    """Return the buttons of the acts that this staff member has permission for. Those that cannot be undone are last.

    `known` is what the page knows of its subject, which the buttons of acts without a page send.
    """
    return [
        {
            "label": act.title,
            "url": reverse(f"admin:{url_name}", args=[*subject, act.name]),
            "one_click": act.one_click,
            "final": bool(act.final),
            "known": known,
        }
        for act in sorted(acts, key=lambda act: bool(act.final))
        if may(request.user, act)
    ]


def notes_in(audit: Iterable[AuditEntry]) -> list[AuditEntry]:
    """Return the notes of staff among these audit entries."""
    return [entry for entry in audit if entry.act in (NOTE_CASE.name, NOTE_PERSON.name)]


def _seat_title(act: StaffAct[Any], seat: Seat) -> str:
    return act.seat_title.format(name=seat.name, number=seat.index + 1)


def _refusal_of_seat(seat: Seat, by: object) -> str:
    return refusal_of(check_person, seat.user, by=by) if seat.user else ""


def chosen_seat(request: HttpRequest, table: Table) -> Seat | None:
    """Return the seat that the form or the link names, or None if there is no such seat or it has another owner now."""
    data = request.POST if request.method == "POST" else request.GET
    seat = next((seat for seat in table.seats if str(seat.index) == data.get("seat")), None)
    if seat is None or data.get("owner", "") not in ("", str(seat.user_id or 0)):
        return None
    return seat


def _ready_reason(request: HttpRequest, act: StaffAct[Any]) -> str:
    """Return the ready-made reason that the form asks to fill in, or "" if it asks for none."""
    chosen = {str(n): text for n, text in enumerate(act.ready)}
    return chosen.get(request.POST.get("ready", ""), "")


def _form_of(request: HttpRequest, act: StaffAct[Any], options: Mapping[str, Any], ready: str) -> ReasonForm:
    """Return the form of an act: empty, as it was sent, or with the ready-made reason that was asked for."""
    if ready:
        initial = {**options.get("initial", {}), **request.POST.dict(), "reason": ready}
        form = act.form(**{**options, "initial": initial})
        form.fields["reason"].widget.attrs["autofocus"] = True  # the page is loaded again, from its top
    else:
        form = act.form(request.POST if request.method == "POST" else None, **options)
    if not act.reason_required:
        form.fields["reason"].required = False
        form.fields["reason"].help_text = f"Optional. {form.fields['reason'].help_text}"
    if act.reason_is_shown:
        form.fields["reason"].help_text = "The person will read this word for word. Stays in the audit log permanently."
    return form


def _show(denied: Denied, form: ReasonForm) -> int:
    """Add a refusal to the form that was refused, and return its status."""
    form.add_error(None, denied.message)
    if isinstance(denied, Outdated):
        form.data = {**{name: form.data[name] for name in form.data}, **denied.known}
    return denied.status


def sentences_of(entries: Iterable[AuditEntry], reader: User) -> list[str]:
    """Return what staff did in sentences for this reader."""
    now = timezone.now()
    return [newer_acts.said(entry, reader=reader, now=now) for entry in entries]


def _seat_page(
    request: HttpRequest,
    act: StaffAct[Any],
    seats: Sequence[Seat],
    newer: Sequence[str],
    *,
    refusal: str,
    about: str,
    within: tuple[str, str],
    back: str,
) -> HttpResponse:
    """Ask for the seat, and show a reason that was sent.

    :param newer: what staff have done since. The other parameters are those of `act_page`.
    """
    context = {
        **admin.site.each_context(request),
        "title": act.title,
        "about": about,
        "within": within,
        "back": back,
        "seats": [(seat.index, _seat_title(act, seat), _refusal_of_seat(seat, request.user)) for seat in seats],
        "refusal": refusal,
        "refused": request.method == "POST",
        "reason": request.POST.get("reason", ""),
        "newer": newer,
    }
    return render(request, "admin/staff/seat.html", context, status=422 if request.method == "POST" else 200)


def act_page(
    request: HttpRequest,
    act: StaffAct[Any],
    perform: Callable[..., Any],
    *,
    subject: Mapping[str, int],
    possible: Callable[[], bool],
    about: str,
    within: tuple[str, str],
    back: str,
    refusal: str = "",
    title: str = "",
    also: Sequence[str] = (),
    consequences: Sequence[str] | None = None,
    form_options: Mapping[str, Any] | None = None,
    table: Table | None = None,
    show: Callable[[Any], HttpResponse] | None = None,
    more: Mapping[str, Any] | None = None,
) -> HttpResponse:
    """Show the page of an act, or perform the act and redirect to `back`.

    A form that is sent when staff have acted on the subject since its page was made, its case has new reports or its
    person a new appeal, is shown again, with those. If it is sent again, it is performed.

    :param perform: the function of the act. Called with `subject`, `by`, `now` and the arguments of the form.
    :param subject: keyword arguments that name the subject, like `{"game_id": 5}`.
    :param possible: return True if the act is still possible after what others have done.
    :param about: the name of the subject on the page.
    :param within: the title and the URL name of the list that the subject belongs to.
    :param refusal: why this staff member may not act on the subject, or "".
    :param title: what the button says, if not the title of the act.
    :param also: more sentences under "What will happen".
    :param consequences: the sentences under "What will happen" in place of those of the act.
    :param form_options: keyword arguments of the form.
    :param table: the table of an act at a table. If the act is on one seat, the page first asks for the seat.
    :param more: more values for the page's template.
    :param show: makes the response from the result of `perform`, instead of the redirect.
    """
    if not may(request.user, act):
        raise PermissionDenied
    by, posted, ready = cast("User", request.user), request.method == "POST", _ready_reason(request, act)
    sent = posted and not ready
    known = Known.read(request.POST.get("seen", "")) if posted else newer_acts.newest(subject, reader=by)
    title, options = title or act.title, {**(form_options or {})}
    if table is not None and act.seats is not None:
        seat = chosen_seat(request, table)
        if seat is None or (refusal and not sent):
            newer = sentences_of(newer_acts.since(known, subject, reader=by), by) if sent else []
            return _seat_page(
                request, act, act.seats(table), newer, refusal=refusal, about=about, within=within, back=back
            )
        title = _seat_title(act, seat)
        options["initial"] = {**options.get("initial", {}), "seat": seat.index, "owner": seat.user_id or 0}
    form = _form_of(request, act, options, ready)
    status, newer, news = 200, list[str](), list[News]()
    not_now = f"“{act.title}” is not possible now."
    impossible = "" if sent else refusal or ("" if possible() else not_now)
    if form.is_valid():
        arguments = {"by": by, "now": timezone.now(), **form.arguments()}
        try:
            result = newer_acts.perform(perform, subject, known=known, others_only=act.one_click, **arguments)
        except NewerActs as denied:
            newer, news, known, status = sentences_of(denied.entries, by), denied.news, denied.known, denied.status
            impossible = "" if possible() else not_now
        except Denied as denied:
            status = _show(denied, form)
        else:
            if show is not None:
                return show(result)
            instead = act.done_instead(result) if act.done_instead else ""
            messages.success(request, instead or act.done.format(about=about))
            return redirect(back)
    elif sent:
        status = 422
    # A refusal lists what is newer. Staff who may not act on the subject are told only that.
    recent = newer_acts.recent(subject, reader=by, now=timezone.now()) if status in (200, 422) else []
    in_the_log = act.name in log_notes.ACTS and act is not LOOK
    context = {
        **admin.site.each_context(request),
        "title": title,
        "about": about,
        "within": within,
        "consequences": [*(consequences or act.consequences), *([IN_THE_LOG] if in_the_log else []), *also],
        "form": form,
        "known": str(known),
        "recent": sentences_of(recent, by),
        "status": status,
        "newer": newer,
        "ready": act.ready,
        "final": act.final,
        "newer_reports": [one for one in news if isinstance(one, Report)],
        "newer_appeals": [one for one in news if isinstance(one, Appeal)],
        "impossible": impossible,
        "back": back,
        **(more or {}),
    }
    return render(request, "admin/staff/act.html", context, status=status)
