"""Check due notices again: whether each is still needed, and whether now is the time to send it."""

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
from games.notices.queue import judge_or_postpone
from games.queries import Table

BOUNCE_WAIT: Final = timedelta(days=1)
BOUNCE_PATIENCE: Final = timedelta(days=14)
NEAR: Final = timedelta(hours=1)
"""A mail about a turn is sent in quiet hours if the turn ends before their end or this soon after it."""
IN_ONE_MAIL: Final = [kind.name for kind in KINDS.values() if kind.one_mail]


@dataclass(frozen=True, slots=True)
class _Facts:
    """What is read once to check many notices (`kinds.Facts`)."""

    now: datetime
    tables: Mapping[int, Table]
    looking: set[tuple[int, int]]  # game and user ids of people who are looking at the game
    addresses: Mapping[int, MailAddress]
    replaced: set[tuple[int, int | None, str]] = field(default_factory=set)  # user, game and kind of mails to drop

    def table_of(self, notice: Notice) -> Table:
        assert notice.game_id is not None
        return self.tables[notice.game_id]

    def has_digest_content(self, notice: Notice) -> bool:
        return inbox.has_digest_content(notice.user, self.now)


def judge_due(channel: str, *, now: datetime, most: int) -> list[tuple[Notice, Verdict]]:
    """Lock up to `most` due notices of this channel and return each with a verdict.

    Adds notices that are not due yet but go into the same mail as a due one.
    """
    due = _locked(state=Notice.State.WAITING, due_at__lte=now, channel=channel)
    rows = list(due.order_by("pk")[:most])
    others = _companions(rows)
    verdicts = judge([*rows, *others], now=now)
    sent = {(row.user_id, row.kind) for row in rows if _shares_a_mail(row) and verdicts[row.pk] == SEND}
    rows += [row for row in others if (row.user_id, row.kind) in sent and verdicts[row.pk] == SEND]
    return [(row, verdicts[row.pk]) for row in rows]


def _locked(**which: Any) -> QuerySet[Notice]:
    """Lock and return these notices, without those that another sender has locked."""
    rows = Notice.objects.select_for_update(skip_locked=True, of=("self",)).filter(**which)
    return rows.select_related("user", "user__notice_settings")


def _shares_a_mail(row: Notice) -> bool:
    return row.channel == EMAIL and row.kind in IN_ONE_MAIL


def _companions(rows: Sequence[Notice]) -> list[Notice]:
    """Lock and return the notices that are not due yet but share a mail with one of these."""
    people = {row.user_id for row in rows if _shares_a_mail(row)}
    if not people:
        return []
    others = _locked(user__in=people, channel=EMAIL, kind__in=IN_ONE_MAIL, state=Notice.State.WAITING)
    return list(others.exclude(pk__in=[row.pk for row in rows]).order_by("pk"))


def judge(rows: Sequence[Notice], *, now: datetime) -> dict[int, Verdict]:
    """Return the verdicts on these notices, by id. Runs six queries, and two more for each summary.

    A notice that cannot be checked, for example because its game cannot be read, is logged and postponed.

    :raises Error: a database error.
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
        verdicts[row.pk] = judge_or_postpone(row, partial(_judge, row, facts), now=now)
        if row.channel == EMAIL and verdicts[row.pk] == SEND:
            facts.replaced.add((row.user_id, row.game_id, KINDS[row.kind].replaces))
    return verdicts


def _replaces_nothing(row: Notice) -> bool:
    """Return a sort key: notices that replace others come first. Unknown kinds, of a later release, come last."""
    return row.kind not in KINDS or not KINDS[row.kind].replaces


def _judge(row: Notice, facts: _Facts) -> Verdict:
    """Return the first verdict that holds this notice back, or `SEND`."""
    # The game is checked before the address, so that a person without an address reads why the notice was not needed.
    # Without a game the address comes first, because the check of a summary runs two queries.
    about_game = row.game_id is not None
    checks = (_game_check, _address_check) if about_game else (_address_check, _still_needed)
    for check in (*checks, hour_check):
        verdict = check(row, facts)
        if verdict != SEND:
            return verdict
    return SEND


def _still_needed(row: Notice, facts: _Facts) -> Verdict:
    return KINDS[row.kind].still_needed(row, facts)


def _game_check(row: Notice, facts: _Facts) -> Verdict:
    """Check a notice that is about a game.

    :raises KeyError: if the game could not be read.
    """
    facts.table_of(row)  # some kinds do not need the table, but no notice of a broken game is sent
    verdict = _still_needed(row, facts)
    if verdict != SEND:
        return verdict
    if not KINDS[row.kind].while_viewing and _reads_it_there(row, facts):
        return Verdict(Reason.LOOKING)
    if row.channel == EMAIL and (row.user_id, row.game_id, row.kind) in facts.replaced:
        return Verdict(Reason.REMINDED)
    return SEND


def _reads_it_there(row: Notice, facts: _Facts) -> bool:
    """Return True if the person looks at the game and its page says the same to them.

    A page that was open counts longer than a seat, a log-in and an account.
    """
    if (row.game_id, row.user_id) not in facts.looking or row.user.suspended(facts.now) or not row.user.is_active:
        return False
    return KINDS[row.kind].to_unseated or facts.table_of(row).seat_of(row.user) is not None


def _address_check(row: Notice, facts: _Facts) -> Verdict:
    if row.channel != EMAIL:
        return SEND
    address = facts.addresses.get(row.user_id)
    if address is None:
        return Verdict(Reason.NO_ADDRESS)
    suspended = row.user.suspended(facts.now) and not KINDS[row.kind].while_suspended
    if not row.user.is_active or suspended:
        return Verdict(Reason.CLOSED)
    if settings.MAIL_NEEDS_VERIFIED and not address.verified:
        return Verdict(Reason.UNVERIFIED)
    known = getattr(row.user, "notice_settings", None)
    if known is not None and known.bounced.casefold() == address.email.casefold():
        waited = facts.now - row.created_at
        return Verdict(Reason.BOUNCED, None if waited > BOUNCE_PATIENCE else facts.now + BOUNCE_WAIT)
    return SEND


def hour_check(row: Notice, facts: _Facts) -> Verdict:
    """Hold mail back until vacation and quiet hours are over, unless its kind is sent then or its turn ends soon."""
    if row.channel != EMAIL:
        return SEND
    kind, now, time_off = KINDS[row.kind], facts.now, row.user.time_off
    if not kind.on_vacation and time_off.on_vacation(now):
        return Verdict(Reason.VACATION, time_off.resumes_at(now))
    morning = time_off.quiet_end(now)
    if kind.in_quiet_hours or morning <= now:
        return SEND
    deadline = facts.table_of(row).game.deadline if row.game_id is not None else None
    if kind.turn and deadline is not None and deadline < morning + NEAR:
        return SEND
    return Verdict(Reason.NIGHT, morning)
