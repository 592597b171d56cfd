"""Notices as their reader sees them: what it was, and in one sentence a channel what became of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from django.urls import reverse

from games.models.notices import CHANNELS, KINDS, SITE, Notice
from games.queries import GameView
from games.queries.inbox import Told
from games.render import words

WHY: Final[dict[str, str]] = {
    "moved": "You moved before it was due.",
    "moved_on": "It was no longer your turn.",
    "joined": "You had already sat down there.",
    "over": "The game was over, or had begun without you.",
    "later": "The deadline had been moved.",
    "looking": "You were looking at the game.",
    "read": "You had already read it.",
    "back": "You already had your seat back.",
    "staff": "Staff had changed your seat by then.",
    "reminded": "A reminder about the same turn went out instead.",
    "off": "This is switched off in your notice settings.",
    "no_address": "Your account has no email address.",
    "unverified": "Your email address is not confirmed.",
    "bounced": "Emails to your address came back.",
    "closed": "Your account was closed or suspended.",
    "nothing": "There was nothing to sum up.",
    "paused": "The game is paused.",
    "vacation": "You are on vacation.",
    "night": "These are your quiet hours.",
    "again": "The mail server did not take it: it will be tried again.",
    "server": "The mail server could not be reached: it will be tried again.",
    "refused": "The mail server says that your address accepts no mail.",
    "gave_up": "The mail server did not take it, and we have stopped trying.",
    "fault": "Something went wrong on our side. It is in the site’s log.",
    "unsure": "The site stopped while sending it: it may or may not have arrived.",
}
"""Why a notice was not sent, or is still waiting, by `Notice.reason`."""

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


def items_of(told: Iterable[Told], *, held: bool, now: datetime) -> list[Item]:
    """The list of the page, as its reader sees it. `held`: no mail goes out at the moment."""
    return [_item(entry, held, now) for entry in told]


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
    at, why = words.moment(row.since, now), WHY.get(row.reason, "")
    if row.state == Notice.State.SENT:
        what, why = ("shown" if row.channel == SITE else "sent"), ""
    elif row.state in (Notice.State.DROPPED, Notice.State.FAILED):
        what = "not shown" if row.channel == SITE else "not sent"
        if row.reason == "unsure":
            what = "perhaps sent"
    else:
        what, at = "waits until", words.moment(row.due_at, now)
        if row.due_at <= now:
            what, at = "goes out in a moment", ""
        if held and row.channel != SITE:
            what, at, why = "waits", "", HELD
    return Line(CHANNELS[row.channel], what, at, why, row.state == Notice.State.SENT)


def count_new(items: Sequence[Item]) -> int:
    return sum(item.new for item in items)
