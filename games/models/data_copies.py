"""Copies of all that the site stores about a person, which people ask for."""

from __future__ import annotations

from django.conf import settings
from django.db import models


class DataCopy(models.Model):
    """A copy of a person's data that was asked for, at most one each."""

    person = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="data_copy")
    asked_at = models.DateTimeField()
    # When the worker may make it.
    due_at = models.DateTimeField()
    # JSON, compressed with gzip; null until it is made.
    content = models.BinaryField(null=True)
    # When the row is deleted.
    expires_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name_plural = "data copies"
        default_permissions = ()

    def __str__(self) -> str:
        return f"data of {self.person_id}"

    @property
    def ready(self) -> bool:
        """True if the worker has made it."""
        return self.expires_at is not None
