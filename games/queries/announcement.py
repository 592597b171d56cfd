"""The announcement of staff, which every page asks for. A process reads it at most every five seconds."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.db import DatabaseError, InterfaceError

from games.models import Announcement
from games.refusals import temporary_refusal

SECONDS: Final = 5.0


@dataclass(slots=True)
class _Known:
    row: Announcement | None = None
    read_at: float | None = None


known: Final = _Known()
"""What this process knows, and when it read it."""


def announcement(now: datetime) -> str:
    """Return the announcement to show, or "". While the database is away, it is the one that was known before."""
    started = time.monotonic()
    if known.read_at is None or started - known.read_at >= SECONDS:
        known.read_at = started  # first, so that no other thread reads it as well
        try:
            known.row = row()
        except (DatabaseError, InterfaceError) as error:
            if temporary_refusal(error) is None:  # which logs a temporary fault
                raise
    return known.row.text if known.row is not None and known.row.is_shown(now) else ""


def forget() -> None:
    """Have this process read the announcement again. Others do so within `SECONDS`."""
    known.read_at = None


def row() -> Announcement | None:
    """Return the row of the announcement, whether it is shown or not."""
    return Announcement.objects.filter(pk=Announcement.NUMBER).first()
