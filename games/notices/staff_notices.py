"""Write notices about staff acts, in the transaction of the act.

An `entry_id` is the number of the act's audit entry. It is the notice's occasion, because an act does not change the
version.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from django.db.models import Q

from accounts.models import User
from games.models import Appeal, Case, Game, Notice, Report, Seat, Suspension
from games.models.moderation import ADMIN, MODERATOR
from games.notices import sentences
from games.notices.kinds import (
    APPEAL_ARRIVED,
    APPEAL_DECIDED,
    CASE_ARRIVED,
    CASE_HANDED_OVER,
    FACTOR_DROPPED,
    GAME_OVER,
    HOST_CHANGED,
    LIFTED,
    LINK_CHANGED,
    MUTED,
    NAME_CHANGED,
    OUTCOME_CHANGED,
    REPORT_SETTLED,
    ROLE_CHANGED,
    ROUND_CANCELLED,
    SEAT_MOVED,
    STAFF_SAID,
    SUSPENDED,
    TURN_KINDS,
    UNMUTED,
    WARNED,
)
from games.notices.player_notices import NewNotice, closed, of_turn, people_at, write
from games.queries import Table, conduct
from mail.models import SITE
from mail.verdicts import Reason


def called_off(table: Table, *, now: datetime) -> None:
    """Notify the people at a table that staff called off the game or closed the table. The caller holds the lock."""
    closed(table, "closed" if table.game.started_at is None else "called_off", now=now)


def said(table: Table, words: str, *, also: User | None = None, entry_id: int, now: datetime) -> None:
    """Notify the people at a table of what staff said to it, or nobody if `words` is empty.

    The caller holds the game's lock. `also` is a person whom staff have just removed.
    """
    if not words:
        return
    people = [seat.user_id for seat in people_at(table) if seat.user_id is not None] + ([also.pk] if also else [])
    notices = [NewNotice(pk, STAFF_SAID, "said", {"words": words}) for pk in dict.fromkeys(people)]
    write(table.game, notices, now=now, occasion=entry_id)


def looked(game: Game, *, now: datetime) -> None:
    """Notify people who lost their seat to staff after staff had viewed the hands. The others read it at the table.

    The caller holds the lock of the game, which has just ended.
    """
    lost = conduct.unseated_after_look(game)
    if not lost:
        return
    seats = list(game.seats.order_by("index"))
    who = sentences.who_sits(game, seats)
    notices = []
    for user_id, lost_seat in lost.items():
        others = [one for seat, one in zip(seats, who, strict=True) if seat.index != lost_seat]
        notices.append(NewNotice(user_id, GAME_OVER, "looked", {"others": sentences.people(*others)}))
    write(game, notices, now=now)


def dealt_again(table: Table, number: int, *, before: Seat, now: datetime) -> None:
    """Notify the people at a table that staff voided a round, and who is on turn in the new deal.

    The caller holds the game's lock. Settles the notices about the turn that the new deal ended.

    :param number: the number of the void round, which tells its notices apart, because the version stays.
    :param before: the seat that was on turn in the void round.
    """
    people = [seat.user_id for seat in people_at(table) if seat.user_id is not None]
    notices = [NewNotice(user_id, ROUND_CANCELLED, "cancelled", {"number": number}) for user_id in people]
    notices += of_turn(table)
    write(
        table.game, notices, now=now, mover=before.user_id, settled=TURN_KINDS, reason=Reason.MOVED_ON, occasion=number
    )


def seat_moved(
    table: Table, row: Seat, *, before: User | None, removed: User | None, name: str, entry_id: int, now: datetime
) -> None:
    """Notify the old and the new owner of a seat that staff gave it away. The caller holds the game's lock.

    A person who was removed from the seat before is notified, too. If it is the new owner, they have got it back.

    :param before: the previous owner, if a person had it.
    :param name: the name that the seat had before.
    :param removed: the person who lost the seat when staff gave it to the bot that had it, if any.
    """
    assert row.user_id is not None
    given = {"player": sentences.people(row.user_id), "others": sentences.others(table, row)}
    if before is not None:
        said = "given" if len(table.seats) > 1 else "given_alone"
        _unseated(table.game, before, said, given, entry_id=entry_id, now=now)
    if removed is not None and removed != row.user:
        _unseated(table.game, removed, "given_on", given, entry_id=entry_id, now=now)
    had_it = before or removed
    got = {"player": sentences.people(had_it.pk if had_it else name)}
    back = removed is not None and removed == row.user
    notices = [NewNotice(row.user_id, SEAT_MOVED, "got_back" if back else "got", got)]
    if table.playing is not None and table.on_turn.index == row.index:
        notices += of_turn(table)
    write(
        table.game, notices, now=now, mover=row.user_id, settled=(SEAT_MOVED,), reason=Reason.STAFF, occasion=entry_id
    )


def removed(table: Table, row: Seat, person: User, *, bot: bool | None = None, entry_id: int, now: datetime) -> None:
    """Notify a person that staff removed them from this seat. `bot`: see `games.staff.tables.remove`."""
    said = "removed" if len(table.seats) > 1 else "removed_alone"
    if bot:
        said = "removed_for_bot"
    _unseated(table.game, person, said, {"others": sentences.others(table, row)}, entry_id=entry_id, now=now)


def _unseated(game: Game, person: User, said: str, facts: Mapping[str, Any], *, entry_id: int, now: datetime) -> None:
    """Notify a person, by this sentence, that they lost their seat by a staff act.

    Settles their notices about a turn there and about earlier changes of the seat.
    """
    notices, settled = [NewNotice(person.pk, SEAT_MOVED, said, facts)], (*TURN_KINDS, SEAT_MOVED)
    write(game, notices, now=now, mover=person.pk, settled=settled, reason=Reason.STAFF, occasion=entry_id)


def link_changed(game: Game, host_id: int, removed: User, *, entry_id: int, now: datetime) -> None:
    """Notify the host of an open private table that its link is another one, because staff removed a person."""
    facts = {"player": sentences.people(removed.pk)}
    write(game, [NewNotice(host_id, LINK_CHANGED, "new_link", facts)], now=now, occasion=entry_id)


def host_changed(game: Game, host_id: int, removed: User, *, entry_id: int, now: datetime) -> None:
    """Notify the new host of an open table that staff removed the former one."""
    facts = {"player": sentences.people(removed.pk)}
    write(game, [NewNotice(host_id, HOST_CHANGED, "new_host", facts)], now=now, occasion=entry_id)


def settled(case: Case, *, now: datetime) -> None:
    """Notify everyone who reported in this case that it was closed, with its outcome only."""
    _outcome(case, REPORT_SETTLED, "settled", occasion=case.pk, now=now)


def case_opened(case: Case, *, reporter_id: int | None, now: datetime) -> None:
    """Notify the staff members who may work on a new case, other than its person and the reporter."""
    may_hold = Q(is_superuser=True) | Q(groups__name__in=(MODERATOR, ADMIN))
    staff = User.objects.filter(may_hold, is_staff=True, is_active=True)
    people = staff.order_by("pk").values_list("pk", flat=True).distinct()
    facts = {"about": case.get_kind_display()}
    told = [NewNotice(pk, CASE_ARRIVED, "arrived", facts) for pk in people if pk not in (case.person_id, reporter_id)]
    write(None, told, now=now, occasion=case.pk)


def case_handed_over(case: Case, holder: User, *, entry_id: int, now: datetime) -> None:
    """Notify a staff member that a colleague handed a case over to them."""
    facts = {"about": case.get_kind_display()}
    write(None, [NewNotice(holder.pk, CASE_HANDED_OVER, "handed_over", facts)], now=now, occasion=entry_id)


def settled_again(case: Case, *, entry_id: int, now: datetime) -> None:
    """Notify everyone who reported in this case that it was closed again."""
    _drop_earlier(case, now)
    _outcome(case, OUTCOME_CHANGED, "settled", occasion=entry_id, now=now)


def case_reopened(case: Case, *, entry_id: int, now: datetime) -> None:
    """Notify everyone who reported in this case that staff opened it again."""
    _drop_earlier(case, now)
    told = [NewNotice(pk, OUTCOME_CHANGED, "reopened") for pk in _reporters_in(case)]
    write(None, told, now=now, occasion=entry_id)


def outcome_changed(case: Case, *, new_outcome: bool, entry_id: int, now: datetime) -> None:
    """Notify everyone who reported in this case of its new outcome, or of a new answer, instead of what was before."""
    untold = _drop_earlier(case, now)
    if new_outcome or OUTCOME_CHANGED in untold:
        said = "changed"
    elif untold:
        said = "settled"
    else:
        said = "answered"
    _outcome(case, OUTCOME_CHANGED, said, occasion=entry_id, now=now)


def _drop_earlier(case: Case, now: datetime) -> set[str]:
    """Drop the notices about the outcome of a case that wait, and mark those on the site as read.

    Returns the kinds of those that waited.
    """
    earlier = Notice.objects.filter(
        Q(kind=REPORT_SETTLED, occasion=case.pk)
        | Q(kind=OUTCOME_CHANGED, occasion__in=conduct.changes_of(case).values("pk")),
        user__in=Report.objects.filter(case=case).values("reporter"),
    )
    waiting = earlier.filter(state=Notice.State.WAITING)
    untold = set(waiting.values_list("kind", flat=True))
    waiting.update(state=Notice.State.DROPPED, reason=Reason.NEWER, since=now)
    earlier.filter(channel=SITE, state=Notice.State.SENT, read_at=None).update(read_at=now)
    return untold


def _outcome(case: Case, kind: str, said: str, *, occasion: int, now: datetime) -> None:
    """Notify everyone who reported in a case by this sentence and that of the outcome."""
    told = [NewNotice(pk, kind, f"{said} {case.outcome}") for pk in _reporters_in(case)]
    write(None, told, now=now, occasion=occasion)


def _reporters_in(case: Case) -> list[int]:
    """Return the numbers of the people who reported in a case."""
    people = User.objects.filter(reports__case=case).order_by("pk")
    return list(people.values_list("pk", flat=True).distinct())


def appeal_arrived(appeal: Appeal, deciders: Iterable[User], *, now: datetime) -> None:
    """Notify the staff members who can decide a new appeal."""
    told = [NewNotice(one.pk, APPEAL_ARRIVED, "arrived") for one in deciders]
    write(None, told, now=now, occasion=appeal.pk)


def appeal_decided(appeal: Appeal, person: User, *, now: datetime) -> None:
    """Notify a person of the decision on their appeal, with the answer of staff, or of the act that closed it."""
    match appeal.decision, appeal.answer:
        case Appeal.Answer.REPLACED, _:
            said = "replaced"
        case Appeal.Answer.LIFTED, "":
            said = "lifted"
        case Appeal.Answer.LIFTED, _:
            said = "granted answer"
        case _:
            said = "upheld answer"
    facts = {"answer": appeal.answer}
    write(None, [NewNotice(person.pk, APPEAL_DECIDED, said, facts)], now=now, occasion=appeal.pk)


def warned(person: User, reason: str, *, entry_id: int, now: datetime) -> None:
    """Notify a person of a warning, with its reason."""
    write(None, [NewNotice(person.pk, WARNED, "warned", {"reason": reason})], now=now, occasion=entry_id)


def muted(person: User, *, entry_id: int, now: datetime) -> None:
    """Notify a person of their new mute."""
    assert person.muted_until is not None
    facts = {"name": person.name, "until": sentences.time(person.muted_until)}
    write(None, [NewNotice(person.pk, MUTED, "muted", facts)], now=now, occasion=entry_id)


def unmuted(person: User, *, entry_id: int, now: datetime) -> None:
    """Notify a person that staff ended their mute."""
    write(None, [NewNotice(person.pk, UNMUTED, "unmuted")], now=now, occasion=entry_id)


def suspended(suspension: Suspension, person: User, *, entry_id: int, now: datetime) -> None:
    """Notify a person of their new suspension, with its reason."""
    facts: dict[str, Any] = {"reason": suspension.reason}
    if suspension.until is not None:
        facts["until"] = sentences.time(suspension.until)
    until = "for_good" if suspension.until is None else "until"
    appeal = "here reason" if person.is_guest else "log_in reason"
    write(None, [NewNotice(person.pk, SUSPENDED, f"{until} {appeal}", facts)], now=now, occasion=entry_id)


def suspension_lifted(person: User, *, entry_id: int, now: datetime) -> None:
    """Notify a person that staff ended their suspension."""
    write(None, [NewNotice(person.pk, LIFTED, "lifted")], now=now, occasion=entry_id)


def username_replaced(person: User, reason: str, *, entry_id: int, now: datetime) -> None:
    """Notify a person of the name that staff put in place of their username, and why."""
    facts: dict[str, Any] = {"name": person.neutral_name, "reason": reason}
    said = "neutral choose reason"
    if person.muted_until is not None and person.muted(now):
        facts["until"] = sentences.time(person.muted_until)
        said = "neutral choose_from reason"
    write(None, [NewNotice(person.pk, NAME_CHANGED, said, facts)], now=now, occasion=entry_id)


def username_restored(person: User, *, entry_id: int, now: datetime) -> None:
    """Notify a person that their username is shown again."""
    write(None, [NewNotice(person.pk, NAME_CHANGED, "restored")], now=now, occasion=entry_id)


def renamed(person: User, *, username: bool, display_name: bool, entry_id: int, now: datetime) -> None:
    """Notify a person that staff corrected the username, the name at the table, or both (decision 93)."""
    said = []
    if username:
        said.append("username" if person.is_guest else "username log_in")
    if display_name:
        said.append("name" if person.display_name else "no_name")
    facts = {"username": person.username, "name": person.display_name}
    write(None, [NewNotice(person.pk, NAME_CHANGED, " ".join(said), facts)], now=now, occasion=entry_id)


def role_changed(person: User, role: str, *, entry_id: int, now: datetime) -> None:
    """Notify a person of their new role, or with an empty `role` that they have none any more."""
    write(None, [NewNotice(person.pk, ROLE_CHANGED, role or "none")], now=now, occasion=entry_id)


def factor_dropped(person: User, *, entry_id: int, now: datetime) -> None:
    """Notify a person that staff removed their second factor."""
    write(None, [NewNotice(person.pk, FACTOR_DROPPED, "removed")], now=now, occasion=entry_id)
