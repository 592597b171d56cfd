"""Notices on the pages of the site. They are shown as soon as they are due."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from django.dispatch import Signal

from common.say import N_
from mail.channels.base import Channel
from mail.models import SITE as NAME
from mail.models import Delivery

shown: Final = Signal()
"""Sent in the transaction that shows notices, with the ids of their readers (`people`)."""


def _show(rows: Sequence[Delivery], now: datetime) -> None:
    shown.send(None, people=sorted({row.user_id for row in rows if row.user_id is not None}))


SITE: Final = Channel(NAME, N_("On this site"), claimed=_show, to_guests=True)
