"""The look again: whether a notice that is due is still needed, and whether now is the time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final

from django.conf import settings
from django.db.models import QuerySet

from accounts.queries import MailAddress, mail_addresses
from games import presence
from games.models.notices import EMAIL, Notice
from games.notices import inbox
from games.notices.kinds import KINDS, SEND, Reason, Verdict
from games.notices.queue import judged
from games.queries import Table

BOUNCE_WAIT: Final = timedelta(days=1)
BOUNCE_PATIENCE: Final = timedelta(days=14)
NEAR: Final = timedelta(hours=1)
"""The mail about a turn goes out at night if the turn ends before the morning, or so soon after it."""
IN_ONE_MAIL: Final = [kind.name for kind in KINDS.values() if kind.one_mail]


@dataclass(frozen=True, slots=True)
class _Facts:
    """What is known when notices are looked at again (`kinds.Facts`).

    `replaced` collects, by person, game and kind, the mails that a mail of another kind makes needless.
    """

    now: datetime
    tables: Mapping[int, Table]
    looking: set[tuple[int, int]]
    addresses: Mapping[int, MailAddress]
    replaced: set[tuple[int, int | None, str]] = field(default_factory=set)

    def table_of(self, notice: Notice) -> Table:
        assert notice.game_id is not None
        return self.tables[notice.game_id]

    def anything_to_sum_up(self, notice: Notice) -> bool:
        return inbox.anything_to_sum_up(notice.user, self.now)


def judge_due(channel: str, *, now: datetime, most: int) -> list[tuple[Notice, Verdict]]:
    """Lock the notices that are due in this channel, at most so many, and say what is to become of each."""
    due = _locked(state=Notice.State.WAITING, due_at__lte=now, channel=channel)
    rows = list(due.order_by("pk")[:most])
    others = _companions(rows)
    verdicts = judge([*rows, *others], now=now)
    sent = {(row.user_id, row.kind) for row in rows if _shares_a_mail(row) and verdicts[row.pk] == SEND}
    rows += [row for row in others if (row.user_id, row.kind) in sent and verdicts[row.pk] == SEND]
    return [(row, verdicts[row.pk]) for row in rows]


def _locked(**which: Any) -> QuerySet[Notice]:
    """These notices, without those that another sender has locked."""
    rows = Notice.objects.select_for_update(skip_locked=True, of=("self",)).filter(**which)
    return rows.select_related("user", "user__notice_settings")


def _shares_a_mail(row: Notice) -> bool:
    return row.channel == EMAIL and row.kind in IN_ONE_MAIL


def _companions(rows: Sequence[Notice]) -> list[Notice]:
    """Return the notices that are not due yet and go into one mail with one of these."""
    people = {row.user_id for row in rows if _shares_a_mail(row)}
    if not people:
        return []
    others = _locked(user__in=people, channel=EMAIL, kind__in=IN_ONE_MAIL, state=Notice.State.WAITING)
    return list(others.exclude(pk__in=[row.pk for row in rows]).order_by("pk"))


def judge(rows: Sequence[Notice], *, now: datetime) -> dict[int, Verdict]:
    """What is to become of these notices, by number. Six queries, and two more for each summary.

    One that cannot be judged, as a game or a person is broken, is logged and put off: it keeps no other.

    :raises Error: what the database says.
    """
    people = {row.user_id for row in rows if row.channel == EMAIL}
    facts = _Facts(
        now=now,
        tables=inbox.tables_of(inbox.games_in(rows)),
        looking=presence.viewing((row.game_id, row.user_id) for row in rows if row.game_id is not None),
        addresses=mail_addresses(people) if people else {},
    )
    verdicts = {}
    for row in sorted(rows, key=_replaces_nothing):
        verdicts[row.pk] = judged(row, partial(_judge, row, facts), now=now)
        if row.channel == EMAIL and verdicts[row.pk] == SEND:
            facts.replaced.add((row.user_id, row.game_id, KINDS[row.kind].replaces))
    return verdicts


def _replaces_nothing(row: Notice) -> bool:
    """Sort the notices that replace others first. Kinds of another release come last, and are put off."""
    return row.kind not in KINDS or not KINDS[row.kind].replaces


def _judge(row: Notice, facts: _Facts) -> Verdict:
    """Return the first thing that keeps this notice back.

    Its table is asked about before its address: "it was no longer your turn" is also true of a mail without an address.
    A kind without a table is asked last, because a summary costs two queries.
    """
    about_game = row.game_id is not None
    checks = (_game_check, _address_check) if about_game else (_address_check, _still_needed)
    for check in (*checks, _hour_check):
        verdict = check(row, facts)
        if verdict != SEND:
            return verdict
    return SEND


def _still_needed(row: Notice, facts: _Facts) -> Verdict:
    return KINDS[row.kind].still_needed(row, facts)


def _game_check(row: Notice, facts: _Facts) -> Verdict:
    """Check a notice that is about a game.

    :raises KeyError: if the game could not be read, whatever the notice tells of it.
    """
    facts.table_of(row)
    verdict = _still_needed(row, facts)
    if verdict != SEND:
        return verdict
    if not KINDS[row.kind].while_viewing and (row.game_id, row.user_id) in facts.looking:
        return Verdict(Reason.LOOKING)
    if row.channel == EMAIL and (row.user_id, row.game_id, row.kind) in facts.replaced:
        return Verdict(Reason.REMINDED)
    return SEND


def _address_check(row: Notice, facts: _Facts) -> Verdict:
    if row.channel != EMAIL:
        return SEND
    address = facts.addresses.get(row.user_id)
    if address is None:
        return Verdict(Reason.NO_ADDRESS)
    if not row.user.is_active or row.user.suspended(facts.now):
        return Verdict(Reason.CLOSED)
    if settings.MAIL_NEEDS_VERIFIED and not address.verified:
        return Verdict(Reason.UNVERIFIED)
    known = getattr(row.user, "notice_settings", None)
    if known is not None and known.bounced.casefold() == address.email.casefold():
        waited = facts.now - row.created_at
        return Verdict(Reason.BOUNCED, None if waited > BOUNCE_PATIENCE else facts.now + BOUNCE_WAIT)
    return SEND


def _hour_check(row: Notice, facts: _Facts) -> Verdict:
    """Let a mail wait for the end of the vacation and of the quiet hours, unless its kind or its turn cannot wait."""
    if row.channel != EMAIL:
        return SEND
    kind, now, rest = KINDS[row.kind], facts.now, row.user.rest
    if not kind.on_vacation and rest.on_vacation(now):
        return Verdict(Reason.VACATION, rest.resumes_at(now))
    morning = rest.quiet_end(now)
    if kind.in_quiet_hours or morning <= now:
        return SEND
    deadline = facts.table_of(row).game.deadline if row.game_id is not None else None
    if kind.turn and deadline is not None and deadline < morning + NEAR:
        return SEND
    return Verdict(Reason.NIGHT, morning)
