"""What people say about each other's conduct, and against a suspension, and how staff settle it."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from django.db import transaction

from accounts.models import User
from games import conduct
from games.models import Appeal
from games.models.moderation import WORDS_LENGTH
from games.refusals import Denied

SHORTEST: Final = 20
LONGEST: Final = WORDS_LENGTH


def _words(text: str) -> str:
    """At least a sentence, as stored.

    :raises Denied: `malformed`.
    """
    text = text.replace("\r\n", "\n").strip()
    if not SHORTEST <= len(text) <= LONGEST or len(text.split()) < 3 or "\0" in text:
        raise Denied("malformed", f"Say it in at least a sentence: {SHORTEST} to {LONGEST} characters.")
    return text


def appeal(*, person_id: int, text: str, now: datetime) -> Appeal:
    """Ask staff to look at one's suspension again, once a suspension.

    :raises Denied: `malformed`; `not_found` if none is in force; `forbidden` the second time.
    """
    text = _words(text)
    with transaction.atomic():
        person = User.objects.select_for_update(of=("self",)).get(pk=person_id)
        suspension = conduct.suspension_of(person, now)
        if suspension is None:
            raise Denied("not_found", "You are not suspended.")
        if conduct.appeal_of(suspension) is not None:
            raise Denied("forbidden", "You have appealed already; the answer will stand on this page.")
        return Appeal.objects.create(suspension=suspension, at=now, text=text)
