"""The interface between the outbox and the tables whose rows it delivers."""

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
"""The wait before the second check of a row that cannot be checked. It doubles each time."""
MOST_CHECKS: Final = 12
"""The most checks of such a row. The last is nearly three days after the first."""

Row = TypeVar("Row", bound=Delivery)

ClaimedMail = tuple[Sequence[Row], EmailMultiAlternatives | None]
"""The rows of one mail, all of one model and claim, and the mail, or None if it could not be made."""


def judge_or_postpone(row: Delivery, judge: Callable[[], Verdict], *, now: datetime) -> Verdict:
    """Return the verdict of `judge` on this row. If that fails, log it and postpone the row.

    :raises Error: a database error.
    """
    try:
        return judge()
    except Error:
        raise
    except Exception as error:  # noqa: BLE001  # whatever it is, deliver the others
        # No traceback: its values can include cards.
        log.error("a notice cannot be checked", notice=row.pk, error=type(error).__name__)  # noqa: TRY400  # see above
        given_up = row.tries >= MOST_CHECKS
        return Verdict(Reason.FAULT, None if given_up else now + FAULT_WAIT * 2**row.tries)


@dataclass(frozen=True, slots=True)
class Queue(Generic[Row]):
    """The rows of one model and channel that the outbox delivers.

    judge_due: Lock the due rows (`SKIP LOCKED`) and return a verdict on each. Called in a transaction.
    compose: Make the mails of claimed rows, after that transaction. None if rows are shown on the site instead.
    """

    model: type[Row]
    judge_due: Callable[[datetime], Sequence[tuple[Row, Verdict]]]
    compose: Callable[[Sequence[Row], datetime], Sequence[ClaimedMail[Row]]] | None = None
