"""The look again: whether a notice that is due is still needed, and whether now is the time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final

from django.conf import settings
from django.db.models import QuerySet

from accounts.queries import MailAddress, mail_addresses
from games import presence
from games.actions.notices.queue import Verdict, judged
from games.models import Game
from games.models.notices import (
    BOT_TOOK_OVER,
    DAY_TAKEN,
    DEADLINE,
    DIGEST,
    EMAIL,
    FACTOR_DROPPED,
    INVITED,
    KINDS,
    SEAT_MOVED,
    TAKEN_OUT,
    TURN,
    Notice,
)
from games.queries import Table, inbox

PAUSE_WAIT: Final = timedelta(minutes=15)
BOUNCE_WAIT: Final = timedelta(days=1)
BOUNCE_PATIENCE: Final = timedelta(days=14)
NEAR: Final = timedelta(hours=1)
"""A turn that ends so soon after the night is told of in the night."""
SAID_ANYWAY: Final = frozenset({SEAT_MOVED, BOT_TOOK_OVER, TAKEN_OUT})
"""Told also to who looks: whose seat is gone sees a page that says so by what it lacks only, and whoever missed turns
was not there, whatever the mark of an open page says."""


@dataclass(frozen=True, slots=True)
class _Facts:
    now: datetime
    tables: Mapping[int, Table]
    looking: set[tuple[int, int]]
    addresses: Mapping[int, MailAddress]
    reminded: set[tuple[int, int | None]]


def look(channel: str, *, now: datetime, most: int) -> list[tuple[Notice, Verdict]]:
    """Lock the notices that are due in this channel, at most so many, and say what is to become of each."""
    due = _locked(state=Notice.State.WAITING, due_at__lte=now, channel=channel)
    rows = list(due.order_by("pk")[:most])
    others = _companions(rows)
    verdicts = judge([*rows, *others], now=now)
    told = {row.user_id for row in rows if _is_turn_mail(row) and not verdicts[row.pk].reason}
    rows += [row for row in others if row.user_id in told and not verdicts[row.pk].reason]
    return [(row, verdicts[row.pk]) for row in rows]


def _locked(**which: Any) -> QuerySet[Notice]:
    """These notices, without those that another sender has locked."""
    rows = Notice.objects.select_for_update(skip_locked=True, of=("self",)).filter(**which)
    return rows.select_related("user", "user__notice_settings")


def _is_turn_mail(row: Notice) -> bool:
    return row.channel == EMAIL and row.kind == TURN


def _companions(rows: Sequence[Notice]) -> list[Notice]:
    """The other turns of the people who may get a turn mail now: several games become one mail."""
    people = {row.user_id for row in rows if _is_turn_mail(row)}
    if not people:
        return []
    others = _locked(user__in=people, channel=EMAIL, kind=TURN, state=Notice.State.WAITING)
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
        looking=presence.looking((row.game_id, row.user_id) for row in rows if row.game_id is not None),
        addresses=mail_addresses(people) if people else {},
        reminded=set(),
    )
    verdicts = {}
    for row in sorted(rows, key=lambda row: row.kind != DEADLINE):  # first: one that goes out stands for the turn's
        verdicts[row.pk] = judged(row, partial(_judge, row, facts), now=now)
        if row.kind == DEADLINE and row.channel == EMAIL and verdicts[row.pk] == Verdict():
            facts.reminded.add((row.user_id, row.game_id))
    return verdicts


def _judge(row: Notice, facts: _Facts) -> Verdict:
    return _about_the_game(row, facts) or _about_the_mail(row, facts) or Verdict()


def _about_the_game(row: Notice, facts: _Facts) -> Verdict | None:
    if row.game_id is None:
        return None
    table = facts.tables[row.game_id]
    if KINDS[row.kind].turn:
        if table.game.status != Game.Status.PLAYING:
            return Verdict("over")
        if not _on_turn(table, row.user_id):
            return Verdict("moved_on")
        if table.game.paused_at is not None:
            return Verdict("paused", facts.now + PAUSE_WAIT)
    if row.kind in (BOT_TOOK_OVER, INVITED) and (verdict := _about_the_seat(row, table)) is not None:
        return verdict
    if row.kind == DEADLINE and (table.game.deadline is None or int(table.game.deadline.timestamp()) != row.mark):
        return Verdict("later")
    if row.kind not in SAID_ANYWAY and (row.game_id, row.user_id) in facts.looking:
        return Verdict("looking")
    if row.kind == TURN and row.channel == EMAIL and (row.user_id, row.game_id) in facts.reminded:
        return Verdict("reminded")
    return None


def _about_the_seat(row: Notice, table: Table) -> Verdict | None:
    """Whether there is still a seat to take, or one that a bot plays for its owner, or did when the game ended."""
    index, invited = table.seat_of(row.user), row.kind == INVITED
    if invited and index is not None:
        return Verdict("joined")
    if table.game.status not in ((Game.Status.OPEN,) if invited else (Game.Status.PLAYING, Game.Status.OVER)):
        return Verdict("over")
    if not invited and (index is None or table.seats[index].left):
        return Verdict("staff")  # nobody else takes a seat away that a bot holds for its owner
    if index is not None and not table.seats[index].held_for_owner:
        return Verdict("back")
    return None


def _on_turn(table: Table, user_id: int) -> bool:
    position = table.position
    if position is None or position.phase == "over":
        return False
    seat = table.seats[position.turn]
    return seat.user_id == user_id and not seat.bot


def _about_the_mail(row: Notice, facts: _Facts) -> Verdict | None:
    if row.channel != EMAIL:
        return None
    address = facts.addresses.get(row.user_id)
    if address is None:
        return Verdict("no_address")
    if not row.user.is_active or row.user.suspended(facts.now):
        return Verdict("closed")
    if settings.MAIL_NEEDS_VERIFIED and not address.verified:
        return Verdict("unverified")
    known = getattr(row.user, "notice_settings", None)
    if known is not None and known.bounced.casefold() == address.email.casefold():
        waited = facts.now - row.created_at
        return Verdict("bounced", None if waited > BOUNCE_PATIENCE else facts.now + BOUNCE_WAIT)
    if row.kind == DIGEST and not inbox.anything_to_sum_up(row.user, facts.now):
        return Verdict("nothing")
    return _about_the_hour(row, facts)


def _about_the_hour(row: Notice, facts: _Facts) -> Verdict | None:
    """Mail waits for the end of a vacation and of the night, but for what cannot wait, and what was asked for then."""
    if row.kind in (DIGEST, FACTOR_DROPPED):
        return None
    now, rest = facts.now, row.user.rest
    if rest.away(now) and row.kind != DAY_TAKEN:  # that is news of the vacation itself
        return Verdict("vacation", rest.back(now))
    morning = rest.quiet_end(now)
    if morning <= now:
        return None
    deadline = facts.tables[row.game_id].game.deadline if row.game_id is not None else None
    if KINDS[row.kind].turn and deadline is not None and deadline < morning + NEAR:
        return None
    return Verdict("night", morning)
