"""The registry of the parts of the site that write notices, with all kinds of notices."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final, Generic, TypeVar

import structlog
from django.conf import settings
from django.core.mail import EmailMultiAlternatives
from django.db import Error
from django.utils.module_loading import import_string

from mail.models import Delivery
from mail.verdicts import Reason, Verdict

log = structlog.get_logger(__name__)

FAULT_WAIT: Final = timedelta(minutes=1)
"""The wait before the second check of a row that cannot be checked. It doubles each time."""
MOST_CHECKS: Final = 12
"""The most checks of such a row. The last is nearly three days after the first."""

Row = TypeVar("Row", bound=Delivery)

ClaimedMail = tuple[Sequence[Delivery], EmailMultiAlternatives | None]
"""The rows of one mail, all of one claim, and the mail, or None if it could not be made."""


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of notice or mail. Sources add what only theirs need.

    name: The stored value.
    title: The name on pages and in mails.
    turn: It is about the player's turn. Such a notice has no text of its own and is dropped when the turn is over. Its
        mail does not wait for the morning if the turn ends before that or soon after.
    on_vacation, in_quiet_hours: Send the mail during that time too, instead of waiting for its end.
    while_suspended: Send the mail to a suspended person too.
    """

    name: str
    title: str
    turn: bool = field(default=False, kw_only=True)
    on_vacation: bool = field(default=False, kw_only=True)
    in_quiet_hours: bool = field(default=False, kw_only=True)
    while_suspended: bool = field(default=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Message:
    """What a notice says outside of mails: in a few words that others may see on a lock screen.

    title, body: What happened. They have no card, no words that people wrote, and no address. The body may be "".
    url: The page that shows more.
    tag: The same in messages that replace each other.
    deadline: When the turn ends that it is about.
    game: The code of the game that it is about, or "".
    version: That of the game.
    person: The name of the reader.
    turn: It is about a turn.
    urgent: It is about time that runs out.
    to_reader: It is about the reader. If not, `person` is the name of whom it is about.
    waiting: In how many games it is the reader's turn.
    language: The language of title and body.
    """

    title: str
    body: str
    url: str
    tag: str
    deadline: datetime | None
    kind: str
    game: str
    version: int
    person: str
    urgent: bool
    waiting: int
    language: str
    to_reader: bool = True
    turn: bool = False


@dataclass(frozen=True, slots=True)
class Source(Generic[Row]):
    """A part of the site that writes notices.

    name: Its name in the log.
    kinds: Its kinds, by name.
    channels: The names of the channels by which its notices go.
    judge_due: Lock the due rows of a channel (`SKIP LOCKED`), at most so many, and return each with a verdict. Called
        in a transaction.
    mails: Make the mails of claimed rows, after that transaction.
    messages: Say claimed rows, for the other channels. A message that cannot be made is None. Not needed by a source
        whose only channel is mail.
    """

    name: str
    kinds: Mapping[str, Kind]
    channels: Collection[str]
    judge_due: Callable[[str, datetime, int], Sequence[tuple[Row, Verdict]]]
    mails: Callable[[Sequence[Row], datetime], Sequence[ClaimedMail]]
    messages: Callable[[Sequence[Row], datetime], Sequence[tuple[Row, Message | None]]] = lambda rows, now: ()


def sources() -> list[Source[Any]]:
    """Return all sources, in the order of their turns."""
    return [import_string(path) for path in settings.NOTICE_SOURCES]


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
