"""Make the page of notices: each event, and for each channel whether it was shown or sent, and why not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from django.conf import settings
from django.urls import reverse

from accounts.models import User
from accounts.zones import day_and_time
from common.readers_language import say
from common.say import N_
from games.models.notices import Notice, NoticeSettings
from games.notices.inbox import Entry
from games.notices.kinds import KINDS, title_of
from games.notices.preferences import HELD
from games.queries import GameView
from games.render import words
from mail.channels import CHANNELS
from mail.channels.email import MailAddress
from mail.models import SITE
from mail.verdicts import Reason, sentence_of


class ChannelState(NamedTuple):
    """The state of a notice in one channel."""

    channel: str
    what: str  # with its time
    why: str
    good: bool  # shown or sent


class Item(NamedTuple):
    """One event on the page."""

    number: int  # the id of the notice on the site, 0 if it was not shown there
    title: str
    where: str  # the table, or ""
    url: str  # a page that says more, or ""
    when: str
    new: bool
    lines: list[ChannelState]


@dataclass(frozen=True, slots=True)
class NoticesPage:
    """A person's notices."""

    items: Sequence[Item]
    new: int  # how many are unread
    newest: int  # the id of the newest unread one
    hidden: int  # how many are left out because the person did not need them
    everything: bool  # whether nothing is left out


def notices_page(entries: Sequence[Entry], *, everything: bool, held: bool, now: datetime) -> NoticesPage:
    """Return the page of these notices. `held` says whether mail is on hold."""
    items = [_item(entry, held, now) for entry in entries if everything or not entry.unneeded]
    new = [item.number for item in items if item.new]
    return NoticesPage(items, len(new), max(new, default=0), len(entries) - len(items), everything)


class MailState(NamedTuple):
    """The state of mail to a person."""

    address: str  # "" if there is none
    trouble: str  # why no mail arrives: "guest", "none" (no address), "bounced", "unverified", or "" if all is well
    held: str  # that all mail is on hold, or ""


def mail_state_of(user: User, address: MailAddress | None, chosen: NoticeSettings, *, held: bool) -> MailState:
    """Return the state of this person's mail for the settings page."""
    why_held = say.text("notice", HELD) if held else ""
    return MailState(address.email if address else "", _trouble(user, address, chosen), why_held)


def why_away(user: User, now: datetime) -> str:
    """Return what the settings page says while this person is on vacation or has quiet hours, else ""."""
    for until, said in (
        (user.time_off.resumes_at(now), N_("You are on vacation until {until}: only what is urgent leaves this site.")),
        (
            user.time_off.quiet_end(now),
            N_("Your quiet hours last until {until}: only what is urgent leaves this site."),
        ),
    ):
        if until > now:
            return say.text("notice", said, until=day_and_time(until, user.time_zone))
    return ""


def _trouble(user: User, address: MailAddress | None, chosen: NoticeSettings) -> str:
    if user.is_guest:
        return "guest"
    if address is None:
        return "none"
    if chosen.bounced.casefold() == address.email.casefold():
        return "bounced"
    return "unverified" if settings.MAIL_NEEDS_VERIFIED and not address.verified else ""


def _item(entry: Entry, held: bool, now: datetime) -> Item:
    row, shown = entry.first, entry.shown
    return Item(
        number=shown.pk if shown else 0,
        title=entry.text or title_of(row.kind),
        where=_where(entry.view),
        url=_url(row, entry.view),
        when=words.short_time(row.created_at, now),
        new=shown is not None and shown.read_at is None,
        lines=[_line(row, held, now) for row in sorted(entry.notices, key=lambda row: row.channel != SITE)],
    )


def _url(row: Notice, view: GameView | None) -> str:
    """Return the URL of the table or the page that says more, or ""."""
    if view is not None:
        return reverse("game", args=[view.id])
    return KINDS[row.kind].path(row.occasion)


def _where(view: GameView | None) -> str:
    """Return the name of the table, which is named after its first seat, and who else sits there."""
    if view is None or not view.seats:
        return ""
    others = [seat.name for seat in view.seats[1:] if seat.seat != view.you]
    table = words.table_name(view)
    return say.text("table", "{table}, with {others}", table=table, others=words.listed(others)) if others else table


def _line(row: Notice, held: bool, now: datetime) -> ChannelState:
    why = sentence_of(row.reason)
    if row.state == Notice.State.SENT:
        what, why = N_("shown {since}") if row.channel == SITE else N_("sent {since}"), ""
    elif row.state in (Notice.State.DROPPED, Notice.State.FAILED):
        what = N_("not shown {since}") if row.channel == SITE else N_("not sent {since}")
        if row.reason == Reason.UNSURE:
            what = N_("possibly sent {since}")
    elif held and row.channel != SITE:
        what, why = N_("waits"), say.text("notice", HELD)
    else:
        what = N_("goes out in a moment") if row.due_at <= now else N_("waits until {due}")
    since, due = words.short_time(row.since, now), words.short_time(row.due_at, now)
    said = say.text("notice", what, since=since, due=due)
    return ChannelState(say.text("channel", CHANNELS[row.channel].title), said, why, row.state == Notice.State.SENT)
