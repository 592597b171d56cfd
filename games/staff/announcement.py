"""The staff acts on the announcement: show a line on all pages, and end it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Final

from django.db import transaction

from accounts.models import User
from games.models import Announcement, AuditEntry
from games.models.announcement import LONGEST
from games.queries import announcement
from games.refusals import Denied
from games.staff import acts
from games.staff.acts import StaffAct
from games.staff.audit import check, record


def lock() -> Announcement:
    """Lock the row until the transaction ends, and return it. The first lock makes it."""
    found, _ = Announcement.objects.select_for_update(no_key=True).get_or_create(pk=Announcement.NUMBER)
    return found


def announce(
    *, announcement_id: int, text: str, until: datetime | None, by: User, reason: str, now: datetime
) -> AuditEntry:
    """Show this line on all pages, until a time if one is given, instead of the line that they show now.

    :raises Denied: `forbidden`, `malformed`.
    """
    with transaction.atomic():
        reason = check(acts.ANNOUNCE, by=by, reason=reason, now=now)
        text = " ".join(text.split())
        if not 1 <= len(text) <= LONGEST or not text.isprintable():
            raise Denied("malformed", "Write one line of visible characters, at most {most}.", most=LONGEST)
        if until is not None and until <= now:
            raise Denied("malformed", "Choose an end in the future, or none.")
        row = lock()
        row.text, row.until = text, until
        row.save()
        transaction.on_commit(announcement.forget)
        end = until.isoformat() if until else ""
        return record(acts.ANNOUNCE, by=by, reason=reason, now=now, text=text, until=end)


def end_announcement(*, announcement_id: int, by: User, reason: str, now: datetime) -> AuditEntry:
    """Show no line any more.

    :raises Denied: `forbidden`, `malformed`; `not_found` if none is shown.
    """
    with transaction.atomic():
        reason = check(acts.END_ANNOUNCEMENT, by=by, reason=reason, now=now)
        row = lock()
        if not row.is_shown(now):
            raise Denied("not_found", "No announcement is shown.")
        row.text, row.until = "", None
        row.save()
        transaction.on_commit(announcement.forget)
        return record(acts.END_ANNOUNCEMENT, by=by, reason=reason, now=now)


PERFORM: Final[Mapping[StaffAct[Any], Callable[..., Any]]] = {
    acts.ANNOUNCE: announce,
    acts.END_ANNOUNCEMENT: end_announcement,
}
