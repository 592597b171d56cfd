"""Notices as their reader sees them: what it was, and in one sentence a channel what became of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple

from django.conf import settings
from django.urls import reverse

from accounts.models import User
from accounts.queries import MailAddress
from games.models.notices import SITE, Notice, NoticeSettings
from games.notices.inbox import Told
from games.notices.kinds import CHANNELS, KINDS, Reason, sentence_of
from games.queries import GameView
from games.render import words

HELD: Final = "All mail is on hold until those who run this site release it."


class Line(NamedTuple):
    """What became of a notice in one channel."""

    channel: str
    what: str
    when: str
    why: str
    good: bool


class Item(NamedTuple):
    """One thing somebody was told, or would have been."""

    number: int
    title: str
    where: str
    url: str
    when: str
    new: bool
    lines: list[Line]


@dataclass(frozen=True, slots=True)
class NoticesPage:
    """The reader's notices. `new` is how many are not read yet, and `newest` the number of the newest of these.

    `everything`: notices that the reader did not need are listed too; else `hidden` is how many of them there are.
    """

    items: Sequence[Item]
    new: int
    newest: int
    hidden: int
    everything: bool


def notices_of(told: Sequence[Told], *, everything: bool, held: bool, now: datetime) -> NoticesPage:
    """Return the page of notices. `held`: no mail goes out at the moment."""
    items = [_item(entry, held, now) for entry in told if everything or not entry.needless]
    new = [item.number for item in items if item.new]
    return NoticesPage(items, len(new), max(new, default=0), len(told) - len(items), everything)


class MailState(NamedTuple):
    """Where mails to somebody go, and why none arrives.

    `address` is empty without one. `trouble` is `guest`, `none` (no address), `bounced`, `unverified`, or empty if all
    is well. `held`: no mail goes out at the moment.
    """

    address: str
    trouble: str
    held: bool


def mail_state_of(user: User, address: MailAddress | None, chosen: NoticeSettings, *, held: bool) -> MailState:
    """Return what the settings page says about this person's mail."""
    return MailState(address.email if address else "", _trouble(user, address, chosen), held)


def _trouble(user: User, address: MailAddress | None, chosen: NoticeSettings) -> str:
    if user.is_guest:
        return "guest"
    if address is None:
        return "none"
    if chosen.bounced.casefold() == address.email.casefold():
        return "bounced"
    return "unverified" if settings.MAIL_NEEDS_VERIFIED and not address.verified else ""


def _item(entry: Told, held: bool, now: datetime) -> Item:
    row, shown = entry.first, entry.shown
    return Item(
        number=shown.pk if shown else 0,
        title=row.text or KINDS[row.kind].title,
        where=_where(entry.view),
        url=_url(row, entry.view),
        when=words.moment(row.created_at, now),
        new=shown is not None and shown.read_at is None,
        lines=[_line(row, held, now) for row in sorted(entry.notices, key=lambda row: row.channel != SITE)],
    )


def _url(row: Notice, view: GameView | None) -> str:
    """Where one reads more: the table, or the page of such notices; empty if nowhere."""
    if view is not None:
        return reverse("game", args=[view.id])
    return reverse(KINDS[row.kind].page) if KINDS[row.kind].page else ""


def _where(view: GameView | None) -> str:
    """The table, which is called after its first seat, and who else sits there."""
    if view is None or not view.seats:
        return ""
    others = words.listed([seat.name for seat in view.seats[1:] if seat.seat != view.you])
    return words.table_name(view) + (f", with {others}" if others else "")


def _line(row: Notice, held: bool, now: datetime) -> Line:
    at, why = words.moment(row.since, now), sentence_of(row.reason)
    if row.state == Notice.State.SENT:
        what, why = ("shown" if row.channel == SITE else "sent"), ""
    elif row.state in (Notice.State.DROPPED, Notice.State.FAILED):
        what = "not shown" if row.channel == SITE else "not sent"
        if row.reason == Reason.UNSURE:
            what = "perhaps sent"
    else:
        what, at = "waits until", words.moment(row.due_at, now)
        if row.due_at <= now:
            what, at = "goes out in a moment", ""
        if held and row.channel != SITE:
            what, at, why = "waits", "", HELD
    return Line(CHANNELS[row.channel], what, at, why, row.state == Notice.State.SENT)
