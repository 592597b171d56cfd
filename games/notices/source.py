"""What the outbox gets from this package, and what it tells it."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Final

from accounts.mails import MailKind
from common.say import N_
from games import announce
from games.notices import messages, notice_mails, player_notices, preferences, recheck
from games.notices.kinds import KINDS, WORKS
from mail.channels import CHANNELS
from mail.channels.email import bounced
from mail.channels.site import shown
from mail.hooks import stopped
from mail.models import Hook
from mail.sources import Source

_WORKS: Final = MailKind(
    WORKS,
    N_("Does this address work again?"),
    limited=True,
    has_content=notice_mails.works_for_somebody,
    build=notice_mails.works_mail,
)
SOURCE: Final = Source(
    "games", {**KINDS, WORKS: _WORKS}, CHANNELS, recheck.judge_due, notice_mails.compose, messages.compose
)


def connect() -> None:
    """Connect the receivers of what the channels tell."""
    shown.connect(_refresh_bells, dispatch_uid="games.notices.shown")
    stopped.connect(_tell_owner, dispatch_uid="games.notices.stopped")
    bounced.connect(_mark_bounced, dispatch_uid="games.notices.bounced")


def _refresh_bells(people: Collection[int], **_: object) -> None:
    for reader in people:
        announce.person_news(reader)


def _mark_bounced(address: str, now: datetime, **_: object) -> None:
    preferences.mark_bounced(address=address, now=now)


def _tell_owner(hook: Hook, now: datetime, **_: object) -> None:
    player_notices.hook_stopped(hook, now=now)
