"""Check due notices again: whether each is still needed, and whether now is the time to send it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final

from django.db.models import Q, QuerySet

from games import presence
from games.models import Notice
from games.notices import inbox
from games.notices.kinds import KINDS, OTHERS_TURN, TURN
from games.queries import Table
from mail.channels import CHANNELS, Channel
from mail.models import EMAIL, HOOK, PUSH, SITE
from mail.sources import judge_or_postpone
from mail.verdicts import SEND, Reason, Verdict

IN_ONE_MAIL: Final = [kind.name for kind in KINDS.values() if kind.one_mail]
HEADSTART: Final = timedelta(hours=2)
"""How long the mail about a turn waits after a device or a webhook was notified of the turn."""
MAIL_AFTER: Final = KINDS[TURN].wait_in(EMAIL) - KINDS[TURN].wait_in(PUSH)
"""How much later than those the mail about a turn is judged, so that it is known whether they were notified."""
ENDS_SOON: Final = timedelta(minutes=30)
"""It does not wait if the turn ends so soon after that wait that the reminder would come before it."""

_Turn = tuple[int | None, int | None, int, int]
"""What the notices of one turn have in common: user, game, version and occasion."""


@dataclass(frozen=True, slots=True)
class _Known:
    """What is read once to check many notices (`kinds.Known`)."""

    now: datetime
    channel: Channel
    tables: Mapping[int, Table]
    # Game and user ids of people who are looking at the game, of the readers and of those on turn.
    looking: set[tuple[int, int]]
    addresses: Mapping[int, Any]  # of people in that channel
    told: Mapping[_Turn, Verdict]  # what holds back the mails about turns that devices and webhooks hear of
    replaced: set[tuple[int, int | None, str]] = field(default_factory=set)  # user, game and kind of notices to drop

    def table_of(self, notice: Notice) -> Table:
        assert notice.game_id is not None
        return self.tables[notice.game_id]

    def is_looking(self, game_id: int, user_id: int) -> bool:
        return (game_id, user_id) in self.looking

    def has_turn(self, notice: Notice) -> bool:
        turns = Notice.objects.filter(user=notice.user_id, game=notice.game_id, version=notice.version, kind=TURN)
        return turns.filter(channel=notice.channel).exclude(state=Notice.State.DROPPED).exists()

    def has_digest_content(self, notice: Notice) -> bool:
        return inbox.has_digest_content(notice.user, self.now)


def judge_due(channel: str, now: datetime, most: int) -> list[tuple[Notice, Verdict]]:
    """Lock up to `most` due notices of this channel and return each with a verdict.

    Adds notices that are not due yet but go into the same mail as a due one.
    """
    due = _locked(state=Notice.State.WAITING, due_at__lte=now, channel=channel)
    rows = list(due.order_by(*CHANNELS[channel].queue)[:most])
    others = _companions(rows)
    verdicts = judge([*rows, *others], CHANNELS[channel], now=now)
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


def judge(rows: Sequence[Notice], channel: Channel, *, now: datetime) -> dict[int, Verdict]:
    """Return the verdicts on these notices of one channel, by id.

    Runs six queries, two more for each summary, one for each start of a game, and one more for mails about turns to
    people with devices or webhooks.

    A notice that cannot be checked, for example because its game cannot be read, is logged and postponed.

    :raises Error: a database error.
    """
    tables = inbox.tables_of(inbox.games_in(rows))
    readers = {(row.game_id, row.user.pk) for row in rows if row.game_id is not None}
    known = _Known(
        now=now,
        channel=channel,
        tables=tables,
        looking=presence.viewing(readers | _on_turn_at_tables_of_others(rows)),
        addresses=channel.addresses({row.user.pk for row in rows}) if rows else {},
        told=_told(rows, now) if channel.name == EMAIL else {},
    )
    verdicts = {}
    for row in sorted(rows, key=_replaces_nothing):
        verdicts[row.pk] = judge_or_postpone(row, partial(_judge, row, known), now=now)
        if channel.name != SITE and verdicts[row.pk] == SEND:
            known.replaced.add((row.user.pk, row.game_id, KINDS[row.kind].replaces))
    return verdicts


def _on_turn_at_tables_of_others(rows: Iterable[Notice]) -> set[tuple[int, int]]:
    """Return the ids of games and of people on turn there whom notices to others are about."""
    return {
        (row.game_id, player)
        for row in rows
        if row.kind == OTHERS_TURN and row.game_id is not None
        for player in row.facts["player"]["people"]
    }


def _replaces_nothing(row: Notice) -> bool:
    """Return a sort key: notices that replace others come first. Unknown kinds, of a later release, come last."""
    return row.kind not in KINDS or not KINDS[row.kind].replaces


def _judge(row: Notice, known: _Known) -> Verdict:
    """Return the first verdict that holds this notice back, or `SEND`."""
    # The game is checked before the address, so that a person without an address reads why the notice was not needed.
    # Without a game the address comes first, because the check of a summary runs two queries.
    for check in (_game_check, _channel_check) if row.game_id is not None else (_channel_check, _still_needed):
        verdict = check(row, known)
        if verdict != SEND:
            return verdict
    return SEND


def _still_needed(row: Notice, known: _Known) -> Verdict:
    return KINDS[row.kind].still_needed(row, known)


def _game_check(row: Notice, known: _Known) -> Verdict:
    """Check a notice that is about a game.

    :raises KeyError: if the game could not be read.
    """
    known.table_of(row)  # some kinds do not need the table, but no notice of a broken game is sent
    verdict = _still_needed(row, known)
    if verdict != SEND:
        return verdict
    if not KINDS[row.kind].while_viewing and _reads_it_there(row, known):
        return Verdict(Reason.LOOKING)
    if known.channel.name != SITE and (row.user.pk, row.game_id, row.kind) in known.replaced:
        return Verdict(Reason.REMINDED)
    return SEND


def _reads_it_there(row: Notice, known: _Known) -> bool:
    """Return True if the person looks at the game and its page says the same to them.

    A page that was open counts longer than a seat, a log-in and an account.
    """
    if (row.game_id, row.user_id) not in known.looking or row.user.suspended(known.now) or not row.user.is_active:
        return False
    return KINDS[row.kind].to_unseated or known.table_of(row).seat_of(row.user) is not None


def _channel_check(row: Notice, known: _Known) -> Verdict:
    kind = KINDS[row.kind]
    turn_ends = known.table_of(row).game.deadline if kind.turn else None
    address = known.addresses.get(row.user.pk)
    verdict = known.channel.may_send(row, kind, address, known.now, turn_ends)
    return _after_others(row, known, turn_ends) if verdict == SEND else verdict


def _turn_of(row: Notice) -> _Turn:
    return row.user_id, row.game_id, row.version, row.occasion


def _told(rows: Sequence[Notice], now: datetime) -> dict[_Turn, Verdict]:
    """Return what holds back the mails about those of these turns that devices and webhooks hear of.

    They were notified lately, or are about to be: what waited for the morning is due in all channels at once, and mails
    go first; and a mail takes along turns that have just begun. Leaves out people who want both.
    """
    turns = [row for row in rows if row.kind == TURN and (row.user.has_push or row.user.has_hook)]
    if not turns:
        return {}
    sent = Q(state=Notice.State.SENT, since__gt=now - HEADSTART)
    soon = now + KINDS[TURN].wait
    due = Q(state=Notice.State.WAITING, due_at__gt=now - MAIL_AFTER, due_at__lte=soon) & ~Q(reason=Reason.AGAIN)
    others = Notice.objects.filter(sent | due, channel__in=(PUSH, HOOK), kind=TURN)
    others = others.filter(user__in={row.user_id for row in turns}, game__in={row.game_id for row in turns})
    return {
        _turn_of(row): Verdict(Reason.PUSHED, row.since + HEADSTART)
        if row.state == Notice.State.SENT
        else Verdict(until=row.due_at + MAIL_AFTER)
        for row in others.exclude(user__push_subscriptions__mail_too=True).order_by("-state", "since")  # sent ones win
    }


def _after_others(row: Notice, known: _Known, turn_ends: datetime | None) -> Verdict:
    """Hold back the mail about a turn that a device or a webhook was notified of, or is about to be."""
    verdict = known.told.get(_turn_of(row), SEND) if row.kind == TURN else SEND
    ends_soon = turn_ends is not None and verdict.until is not None and turn_ends < verdict.until + ENDS_SOON
    return SEND if ends_soon else verdict
