"""Notices and notice settings. `games/notices/kinds.py` has the kinds of notices."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, ClassVar

from django.conf import settings
from django.core.validators import MaxValueValidator
from django.db import models
from django.db.models import Q

from mail.models import TO_PERSON, Delivery

if TYPE_CHECKING:
    from accounts.models import User


class Notices(models.Manager["Notice"]):
    """Finds only notices to people, not the mails about addresses."""

    def get_queryset(self) -> models.QuerySet[Notice]:
        return super().get_queryset().filter(TO_PERSON)


class Notice(Delivery):
    """One notice to one person through one channel. Its `kind` is a name in `games.notices.kinds.KINDS`."""

    if TYPE_CHECKING:  # a notice has a reader; only mails about addresses may have none
        user: User

    objects: ClassVar[Notices] = Notices()

    class Meta:
        proxy = True


def new_mail_key() -> str:
    """Return a random key that signs the links in a person's mails, together with the key of the site.

    A new key makes the links in older mails invalid.
    """
    return secrets.token_urlsafe(9)


class NoticeSettings(models.Model):
    """Which notices a person wants, and how. A person without a row has the defaults of each kind."""

    user = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="notice_settings")
    # `group.channel` (`games.notices.kinds.GROUPS`) to true or false where that differs from the default of the group.
    # Also `kind.channel` to false for kinds that always come, if the person has switched these off in release 0.1, and
    # until they save the page of settings, which says that such notices always come.
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
