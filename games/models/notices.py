"""Notices, notice settings and the outbox. `games/notices/kinds.py` has the kinds of notices."""

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
TEXT_LENGTH: Final = 600
"""The most characters that a notice says: sentences and the longest answer of staff. A longer text is cut off."""


class Notice(Delivery):
    """One notice to one person through one channel, written in the transaction of what it is about."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="notices", db_index=False)
    # Null for digests, vacation days, second factors, reports and appeals.
    game = models.ForeignKey(
        Game, null=True, blank=True, on_delete=models.CASCADE, related_name="notices", db_index=False
    )
    # That of the game; of a digest the number of its day.
    version = models.PositiveIntegerField()
    kind = models.CharField(max_length=16)  # a name in `games.notices.kinds.KINDS`
    channel = models.CharField(max_length=16)  # `EMAIL` or `SITE`
    # What the notice was written for. Tells notices apart that are equal in all other fields:
    # - a time in seconds since the epoch for a reminder, a seat taken over by a bot, or a day of vacation taken
    #   automatically
    # - the number of the audit entry for a seat, a role or a second factor that staff gave or took away, for the turn
    #   that comes with such a seat, and for a changed outcome of a report
    # - the number of the case for a new case or a settled report, and of the appeal for one that arrived or is decided
    # - the number of the person who asks for a rematch
    # - 0 for all others
    occasion = models.PositiveBigIntegerField(default=0)
    # The names of the sentences that say what happened, which the row of the kind has; "" if the page of the game says
    # it, and in rows that have a `text`.
    said = models.CharField(max_length=32, blank=True, default="", db_default="")
    # What the sentences need: numbers, times in ISO 8601, people by their id, an event as its reader may see it.
    facts = models.JSONField(blank=True, default=dict, db_default={})
    # The sentence itself, of notices that release 0.1 wrote. The last of them are deleted 60 days after the upgrade
    # (`games.notices.preferences.KEPT`): a later release can drop the column, `games.notices.old_texts` and
    # `User.former_names`.
    text = models.CharField(max_length=TEXT_LENGTH, blank=True, default="", db_default="")
    read_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["game", "user", "version", "kind", "channel", "occasion"],
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
    """Return a random key that signs the links in a person's mails, together with the key of the site.

    A new key makes the links in older mails invalid.
    """
    return secrets.token_urlsafe(9)


class NoticeSettings(models.Model):
    """Which notices a person wants, and how. A person without a row has the defaults of each kind."""

    user = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="notice_settings")
    # `kind.channel` to true or false where that differs from the default of the kind.
    choices = models.JSONField(default=dict, blank=True)
    # In the time zone of the person.
    digest_hour = models.PositiveSmallIntegerField(null=True, blank=True, validators=[MaxValueValidator(23)])
    # When the next digest is due.
    digest_at = models.DateTimeField(null=True, blank=True)
    # If writing the digest fails: when to try again.
    digest_again_at = models.DateTimeField(null=True, blank=True)
    mail_key = models.CharField(max_length=16, default=new_mail_key, editable=False)
    # An address that mail bounced from, since `bounced_at`.
    bounced = models.EmailField(blank=True, default="")
    bounced_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name_plural = "notice settings"
        indexes = (
            models.Index(fields=["digest_at"], name="digest_due", condition=Q(digest_at__isnull=False)),
            models.Index(fields=["bounced"], name="bounced_address", condition=~Q(bounced="")),
        )

    def __str__(self) -> str:
        return f"notice settings of {self.user_id}"


class Outbox(models.Model):
    """The state of all mail, in a single row."""

    # Mail is held since then, for the reason `held_why`.
    held_since = models.DateTimeField(null=True, blank=True)
    held_why = models.CharField(max_length=200, blank=True, default="")
    # When the mail server is tried again.
    retry_at = models.DateTimeField(null=True, blank=True)
    # In a row.
    failures = models.PositiveIntegerField(default=0)

    class Meta:
        verbose_name_plural = "outbox"
        constraints = (models.CheckConstraint(condition=Q(id=1), name="outbox_has_one_row"),)

    def __str__(self) -> str:
        return "held" if self.held_since else "open"
