"""Replace a name in the texts of notices that release 0.1 wrote, which kept no people.

Newer notices have no text (`games.notices.sentences`). Delete this module with the column `Notice.text`.
"""

from __future__ import annotations

import re
from typing import Final

from django.db.models import Q, QuerySet

from accounts.models import User
from games.models import AuditEntry, Game
from games.models.notices import Notice
from games.notices.kinds import CASE_HANDED_OVER, HOST_CHANGED, INVITED, LINK_CHANGED, SEAT_MOVED
from mail.models import TEXT_LENGTH

BY_STAFF: Final = (CASE_HANDED_OVER, HOST_CHANGED, LINK_CHANGED, SEAT_MOVED)
"""The kinds of notices about acts of staff. Their `occasion` is the number of the act's audit entry."""


def replace_name(games: QuerySet[Game], *, before: str, after: str) -> None:
    """Replace the name of a person in the notices about these games, also in mails that have not been sent.

    Names are found as whole words.
    """
    _replace_word(Notice.objects.filter(game__in=games), before, after)


def replace_name_elsewhere(person: User, *, before: str, after: str) -> None:
    """Replace a name of this person in notices about games in which they have no seat, as `replace_name` does.

    These are notices of their invitations, and of acts of staff by them or about them. Notices that only have the same
    word must not change.
    """
    about = Q(person=person.pk) | Q(actor=person.pk) | Q(details__before_id=person.pk)
    entries = AuditEntry.objects.filter(about).order_by().values("pk")
    theirs = Q(kind=INVITED, occasion=person.pk) | Q(kind__in=BY_STAFF, occasion__in=entries)
    _replace_word(Notice.objects.filter(theirs), before, after)


def _replace_word(notices: QuerySet[Notice], before: str, after: str) -> None:
    word = re.compile(rf"(?<!\w){re.escape(before)}(?!\w)")
    # Locked in the order of their ids, so that two replacements cannot deadlock.
    found = notices.select_for_update(of=("self",), no_key=True).filter(text__contains=before).only("pk", "text")
    rows = list(found.order_by("pk"))
    for row in rows:
        row.text = word.sub(lambda _: after, row.text)[:TEXT_LENGTH]
    Notice.objects.bulk_update(rows, ["text"], batch_size=1000)
