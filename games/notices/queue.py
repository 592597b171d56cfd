"""What the outbox knows of the tables it sends from: which rows are due, what is to become of them, and their mails."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Generic, TypeVar

import structlog
from django.core.mail import EmailMultiAlternatives
from django.db import Error

from accounts.models import Delivery
from games.notices.kinds import Reason, Verdict

log = structlog.get_logger(__name__)

FAULT_WAIT: Final = timedelta(minutes=1)
"""Before the second look at a row that cannot be judged; doubled each time."""
MOST_LOOKS: Final = 12
"""The last of them is nearly three days after the first."""

Row = TypeVar("Row", bound=Delivery)

Letter = tuple[Sequence[Row], EmailMultiAlternatives | None]
"""The rows that one mail is for, all of one model and claim, and the mail; None if it could not be made."""


def judged(row: Delivery, judge: Callable[[], Verdict], *, now: datetime) -> Verdict:
    """Return the verdict on this row; a row that cannot be judged is logged and put off, and keeps no other waiting.

    :raises Error: what the database says.
    """
    try:
        return judge()
    except Error:
        raise
    except Exception as error:  # noqa: BLE001  # whatever it is, the others are told
        # Never the traceback's values: they hold cards.
        log.error("a notice cannot be judged", notice=row.pk, error=type(error).__name__)  # noqa: TRY400  # as said
        given_up = row.tries >= MOST_LOOKS
        return Verdict(Reason.FAULT, None if given_up else now + FAULT_WAIT * 2**row.tries)


@dataclass(frozen=True, slots=True)
class Queue(Generic[Row]):
    """One kind of rows that the outbox delivers.

    `judge_due` locks the rows that are due (`SKIP LOCKED`) and says what is to become of each, in a transaction.
    `compose` makes the mails of rows that were claimed, after that transaction. What has no `compose` is shown on the
    site.
    """

    model: type[Row]
    judge_due: Callable[[datetime], Sequence[tuple[Row, Verdict]]]
    compose: Callable[[Sequence[Row], datetime], Sequence[Letter[Row]]] | None = None
