"""The stored notices: one row per notice and channel, what each person wants to be told, and the outbox.

`games/notices/kinds.py` has the kinds.
"""

from __future__ import annotations

import secrets
from typing import Final

from django.conf import settings
from django.contrib.postgres.indexes import BrinIndex
from django.core.validators import MaxValueValidator
from django.db import models
from django.db.models import Q

from accounts.models import Delivery
from games.models.tables import Game

EMAIL: Final = "email"
SITE: Final = "site"


class Notice(Delivery):
    """One thing to tell one person through one channel; written in the transaction of what it tells.

    `text` is what happened, never with a card's name; empty where the game itself says it. `mark` tells apart
    the reminders of one turn whose deadline moved, the times a bot took one seat over, and days of vacation that were
    taken by themselves, in seconds of the epoch; it is the number of the audit entry of a seat or a second factor that
    staff gave or took away, also for the turn that goes with a seat, of the case where a report is settled, and of the
    person who asks for a rematch. A digest, a day, a factor and a report have no game; a digest's `version` is the
    number of the day.
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="notices", db_index=False)
    game = models.ForeignKey(
        Game, null=True, blank=True, on_delete=models.CASCADE, related_name="notices", db_index=False
    )
    version = models.PositiveIntegerField()
    kind = models.CharField(max_length=16)  # a name in `games.notices.kinds.KINDS`
    channel = models.CharField(max_length=16)  # `EMAIL` or `SITE`
    mark = models.PositiveBigIntegerField(default=0)
    text = models.CharField(max_length=300, blank=True, default="")
    read_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["game", "user", "version", "kind", "channel", "mark"],
                name="notice_once",
                nulls_distinct=False,
            ),
        )
        indexes = (
            models.Index(fields=["due_at"], name="notice_due", condition=Q(state="waiting")),
            models.Index(fields=["since"], name="notice_under_way", condition=Q(state__in=("sending", "handed"))),
            models.Index(
                fields=["user", "game"],
                name="notice_open",
                condition=Q(state="waiting") | Q(channel=SITE, state="sent", read_at=None),
            ),
            models.Index(fields=["user", "-id"], name="notice_of_user"),
            BrinIndex(fields=["created_at"], name="notice_age"),
        )

    def __str__(self) -> str:
        return f"{self.kind} to {self.user_id} by {self.channel}"


def new_mail_key() -> str:
    """What the links of a person's mails are signed with besides the site's key; a new one makes the old links void."""
    return secrets.token_urlsafe(9)


class NoticeSettings(models.Model):
    """What one person wants to be told, and how; without a row, the usual channels of each kind hold.

    `choices` maps `kind.channel` to yes or no where that differs from the kind's own. `digest_hour` is in the person's
    time zone, `digest_at` the next time it comes; once it could not be written then, `digest_again_at` says when that
    is tried again. `bounced` is the address that mails came back from.
    """

    user = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="notice_settings")
    choices = models.JSONField(default=dict, blank=True)
    digest_hour = models.PositiveSmallIntegerField(null=True, blank=True, validators=[MaxValueValidator(23)])
    digest_at = models.DateTimeField(null=True, blank=True)
    digest_again_at = models.DateTimeField(null=True, blank=True)
    mail_key = models.CharField(max_length=16, default=new_mail_key, editable=False)
    bounced = models.EmailField(blank=True, default="")
    bounced_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name_plural = "notice settings"
        indexes = (
            models.Index(fields=["digest_at"], name="digest_due", condition=Q(digest_at__isnull=False)),
            models.Index(fields=["bounced"], name="bounced_address", condition=~Q(bounced="")),
        )

    def __str__(self) -> str:
        return f"what {self.user_id} wants to be told"


class Outbox(models.Model):
    """The one row about all mail: held back by those who run the site, or waiting for a mail server that is away."""

    held_since = models.DateTimeField(null=True, blank=True)
    held_why = models.CharField(max_length=200, blank=True, default="")
    retry_at = models.DateTimeField(null=True, blank=True)
    failures = models.PositiveIntegerField(default=0)

    class Meta:
        verbose_name_plural = "outbox"
        constraints = (models.CheckConstraint(condition=Q(id=1), name="outbox_has_one_row"),)

    def __str__(self) -> str:
        return "held" if self.held_since else "open"
