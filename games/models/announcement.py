"""The line that staff show on all pages."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from django.db import models

LONGEST: Final = 200


class Announcement(models.Model):
    """What all pages say, in a single row with the number 1. The row is missing until the first announcement."""

    NUMBER: Final = 1

    # Empty for none.
    text = models.CharField(max_length=LONGEST, blank=True)
    # When it ends, if it ends by itself.
    until = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name = verbose_name_plural = "announcement"
        default_permissions = ("view",)

    def __str__(self) -> str:
        return self.text

    def is_shown(self, now: datetime) -> bool:
        return self.text != "" and (self.until is None or self.until > now)
