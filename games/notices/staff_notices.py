"""Write notices about staff acts, in the transaction of the act.

An `entry_id` is the number of the act's audit entry. It is the notice's occasion, because an act does not change the
version.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo

from django.db.models import Q
from django.utils import timezone
from django.utils.formats import date_format

from accounts.models import User
from games.models import Appeal, Case, Game, Notice, Report, Seat, Suspension
from games.models.moderation import ADMIN, MODERATOR
from games.models.notices import SITE
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
    Reason,
)
from games.notices.player_notices import NewNotice, closed, of_turn, people_at, write
from games.queries import Table, conduct
from games.render.words import inside, listed, round_cancelled


def called_off(table: Table, *, now: datetime) -> None:
    """Notify the people at a table that staff called off the game or closed the table. The caller holds the lock."""
    text = "Staff called off this game: nobody wins."
    if table.game.started_at is None:
        text = "Staff closed this table before the game started."
    closed(table, text, now=now)


def said(table: Table, words: str, *, also: User | None = None, entry_id: int, now: datetime) -> None:
    """Notify the people at a table of what staff said to it, or nobody if `words` is empty.

    The caller holds the game's lock. `also` is a person whom staff have just removed.
    """
    if not words:
        return
    people = [seat.user_id for seat in people_at(table) if seat.user_id is not None] + ([also.pk] if also else [])
    text = f"Staff say to your table: “{words}”"
    write(table.game, [NewNotice(pk, STAFF_SAID, text) for pk in dict.fromkeys(people)], now=now, occasion=entry_id)


def looked(game: Game, *, now: datetime) -> None:
    """Notify people who lost their seat to staff after staff had viewed the hands. The others read it at the table.

    The caller holds the lock of the game, which has just ended.
    """
    lost = conduct.unseated_after_look(game)
    if not lost:
        return
    names = dict(game.seats.order_by("index").values_list("index", "name"))
    start = "Staff looked at hands while you were playing in a game that is over now,"
    notices = [
        NewNotice(user_id, GAME_OVER, f"{start} {_with([name for index, name in names.items() if index != seat])}.")
        for user_id, seat in lost.items()
    ]
    write(game, notices, now=now)


def dealt_again(table: Table, number: int, *, before: Seat, now: datetime) -> None:
    """Notify the people at a table that staff voided a round, and who is on turn in the new deal.

    The caller holds the game's lock. Settles the notices about the turn that the new deal ended.

    :param number: the number of the void round, which tells its notices apart, because the version stays.
    :param before: the seat that was on turn in the void round.
    """
    people = [seat.user_id for seat in people_at(table) if seat.user_id is not None]
    notices = [NewNotice(user_id, ROUND_CANCELLED, round_cancelled(number)) for user_id in people]
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
    if before is not None:
        at = "at the table" if table.game.status == Game.Status.OPEN else "in the game"
        text = f"Staff gave your seat to {row.name}, {at} {with_others(table, row)}."
        unseated(table.game, before, text, entry_id=entry_id, now=now)
    if removed is not None and removed != row.user:
        text = f"Staff gave the seat that was yours to {row.name}, in the game {with_others(table, row)}."
        unseated(table.game, removed, text, entry_id=entry_id, now=now)
    back = removed is not None and removed == row.user
    text = "Staff gave you your seat back." if back else f"Staff gave you the seat of {name}."
    notices = [NewNotice(row.user_id, SEAT_MOVED, text)]
    if table.playing is not None and table.on_turn.index == row.index:
        notices += of_turn(table)
    write(
        table.game, notices, now=now, mover=row.user_id, settled=(SEAT_MOVED,), reason=Reason.STAFF, occasion=entry_id
    )


def with_others(table: Table, row: Seat) -> str:
    """Return "with" and the names of the others at the table, for a person who may not see the table any more.

    Put it last in a text: texts are cut off, and many long names make it too long.
    """
    return _with([seat.name for seat in table.seats if seat.index != row.index])


def _with(names: list[str]) -> str:
    return f"with {listed(names)}" if names else "with no other players"


def unseated(game: Game, person: User, text: str, *, entry_id: int, now: datetime) -> None:
    """Notify a person, in this `text`, that they lost their seat by a staff act.

    Settles their notices about a turn there and about earlier changes of the seat.
    """
    notices, settled = [NewNotice(person.pk, SEAT_MOVED, text)], (*TURN_KINDS, SEAT_MOVED)
    write(game, notices, now=now, mover=person.pk, settled=settled, reason=Reason.STAFF, occasion=entry_id)


def link_changed(game: Game, host_id: int, removed: User, *, entry_id: int, now: datetime) -> None:
    """Notify the host of an open private table that its link is another one, because staff removed a person."""
    text = (
        f"Staff removed {removed.name} from your table. The old link no longer works: send the new one, on the page of"
        " the table, to the people you invited."
    )
    write(game, [NewNotice(host_id, LINK_CHANGED, text)], now=now, occasion=entry_id)


def host_changed(game: Game, host_id: int, removed: User, *, entry_id: int, now: datetime) -> None:
    """Notify the new host of an open table that staff removed the former one."""
    text = f"Staff removed {removed.name}, the host of your table. You are the host now."
    write(game, [NewNotice(host_id, HOST_CHANGED, text)], now=now, occasion=entry_id)


SETTLED: Final = "Staff have settled your report"


def settled(case: Case, *, now: datetime) -> None:
    """Notify everyone who reported in this case that it was closed, with its outcome only."""
    _outcome(case, REPORT_SETTLED, SETTLED, occasion=case.pk, now=now)


def case_opened(case: Case, *, reporter_id: int | None, now: datetime) -> None:
    """Notify the staff members who may work on a new case, other than its person and the reporter."""
    may_hold = Q(is_superuser=True) | Q(groups__name__in=(MODERATOR, ADMIN))
    staff = User.objects.filter(may_hold, is_staff=True, is_active=True)
    people = staff.order_by("pk").values_list("pk", flat=True).distinct()
    text = f"A new case waits: {inside(case.get_kind_display())}."
    told = [NewNotice(pk, CASE_ARRIVED, text) for pk in people if pk not in (case.person_id, reporter_id)]
    write(None, told, now=now, occasion=case.pk)


def case_handed_over(case: Case, holder: User, *, entry_id: int, now: datetime) -> None:
    """Notify a staff member that a colleague handed a case over to them."""
    text = f"A colleague handed a case over to you: {inside(case.get_kind_display())}."
    write(None, [NewNotice(holder.pk, CASE_HANDED_OVER, text)], now=now, occasion=entry_id)


def settled_again(case: Case, *, entry_id: int, now: datetime) -> None:
    """Notify everyone who reported in this case that it was closed again."""
    _drop_earlier(case, now)
    _outcome(case, OUTCOME_CHANGED, SETTLED, occasion=entry_id, now=now)


def case_reopened(case: Case, *, entry_id: int, now: datetime) -> None:
    """Notify everyone who reported in this case that staff opened it again."""
    _drop_earlier(case, now)
    text = "Staff are looking at your report again. The earlier outcome does not count any more."
    write(None, [NewNotice(pk, OUTCOME_CHANGED, text) for pk in _reporters_in(case)], now=now, occasion=entry_id)


def outcome_changed(case: Case, *, new_outcome: bool, entry_id: int, now: datetime) -> None:
    """Notify everyone who reported in this case of its new outcome, or of a new answer, instead of what was before."""
    untold = _drop_earlier(case, now)
    if new_outcome or OUTCOME_CHANGED in untold:
        start = "Staff have changed the outcome of your report"
    elif untold:
        start = SETTLED
    else:
        start = "Staff have changed their answer to your report. The outcome stays"
    _outcome(case, OUTCOME_CHANGED, start, occasion=entry_id, now=now)


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


def _outcome(case: Case, kind: str, start: str, *, occasion: int, now: datetime) -> None:
    text = f"{start}: {inside(case.get_outcome_display())}."
    write(None, [NewNotice(pk, kind, text) for pk in _reporters_in(case)], now=now, occasion=occasion)


def _reporters_in(case: Case) -> list[int]:
    """Return the numbers of the people who reported in a case."""
    people = User.objects.filter(reports__case=case).order_by("pk")
    return list(people.values_list("pk", flat=True).distinct())


def appeal_arrived(appeal: Appeal, deciders: Iterable[User], *, now: datetime) -> None:
    """Notify the staff members who can decide a new appeal."""
    told = [NewNotice(one.pk, APPEAL_ARRIVED, "An appeal waits for a decision.") for one in deciders]
    write(None, told, now=now, occasion=appeal.pk)


def appeal_decided(appeal: Appeal, person: User, *, now: datetime) -> None:
    """Notify a person of the decision on their appeal, with the answer of staff, or of the act that closed it."""
    match appeal.decision, appeal.answer:
        case Appeal.Answer.REPLACED, _:
            text = (
                "Staff replaced your suspension by a new one, so your appeal is closed. You can appeal against the new"
                " suspension."
            )
        case Appeal.Answer.LIFTED, "":
            text = "Staff lifted your suspension, so your appeal is closed."
        case Appeal.Answer.LIFTED, answer:
            text = f"Staff granted your appeal: the suspension is lifted. {answer}"
        case _, answer:
            text = f"Staff upheld your suspension. {answer}"
    write(None, [NewNotice(person.pk, APPEAL_DECIDED, text)], now=now, occasion=appeal.pk)


def _day(person: User, at: datetime) -> str:
    """Return a date and time in the time zone of this person, with the short name of that: `9 May 2026, 14:00 CEST`."""
    return date_format(timezone.localtime(at, ZoneInfo(person.time_zone)), "j F Y, H:i T")


def warned(person: User, reason: str, *, entry_id: int, now: datetime) -> None:
    """Notify a person of a warning, with its reason."""
    write(
        None,
        [NewNotice(person.pk, WARNED, f"Staff warned you about your conduct: {reason}")],
        now=now,
        occasion=entry_id,
    )


def muted(person: User, *, entry_id: int, now: datetime) -> None:
    """Notify a person of their new mute."""
    assert person.muted_until is not None
    until = _day(person, person.muted_until)
    text = f"Staff muted you: you are shown as {person.name}, and can choose a name at the table again from {until}."
    write(None, [NewNotice(person.pk, MUTED, text)], now=now, occasion=entry_id)


def unmuted(person: User, *, entry_id: int, now: datetime) -> None:
    """Notify a person that staff ended their mute."""
    write(
        None,
        [NewNotice(person.pk, UNMUTED, "Staff ended your mute. You can choose a name again.")],
        now=now,
        occasion=entry_id,
    )


def suspended(suspension: Suspension, person: User, *, entry_id: int, now: datetime) -> None:
    """Notify a person of their new suspension, with its reason."""
    until = "for good" if suspension.until is None else f"until {_day(person, suspension.until)}"
    how = "appeal, in this browser only" if person.is_guest else "log in to read this and appeal"
    # No longer, so that the longest reason fits.
    text = f"Staff suspended you {until}. You can {how}. {suspension.reason}"
    write(None, [NewNotice(person.pk, SUSPENDED, text)], now=now, occasion=entry_id)


def suspension_lifted(person: User, *, entry_id: int, now: datetime) -> None:
    """Notify a person that staff ended their suspension."""
    text = "Staff lifted your suspension. You can use the site again."
    write(None, [NewNotice(person.pk, LIFTED, text)], now=now, occasion=entry_id)


def username_replaced(person: User, reason: str, *, entry_id: int, now: datetime) -> None:
    """Notify a person of the name that staff put in place of their username, and why."""
    when = ""
    if person.muted_until is not None and person.muted(now):
        when = f" from {_day(person, person.muted_until)}, when your mute ends"
    text = (
        f"Staff show you as {person.neutral_name} instead of your username. You still log in with your username, and"
        f" can choose another name at the table in your account{when}. Their reason: {reason}"
    )
    write(None, [NewNotice(person.pk, NAME_CHANGED, text)], now=now, occasion=entry_id)


def username_restored(person: User, *, entry_id: int, now: datetime) -> None:
    """Notify a person that their username is shown again."""
    write(None, [NewNotice(person.pk, NAME_CHANGED, "Staff show your username again.")], now=now, occasion=entry_id)


def renamed(person: User, *, username: bool, display_name: bool, entry_id: int, now: datetime) -> None:
    """Notify a person that staff corrected the username, the name at the table, or both (decision 93)."""
    sentences = []
    if username:
        sentences.append(f"Staff changed your username to {person.username}.")
        if not person.is_guest:
            sentences.append("Log in with it from now on.")
    if display_name:
        who = "They" if username else "Staff"
        to = (
            f"changed your name at the table to {person.display_name}"
            if person.display_name
            else ("removed your name at the table")
        )
        sentences.append(f"{who} {to}.")
    write(None, [NewNotice(person.pk, NAME_CHANGED, " ".join(sentences))], now=now, occasion=entry_id)


def role_changed(person: User, role: str, *, entry_id: int, now: datetime) -> None:
    """Notify a person of their new role, or with an empty `role` that they have none any more."""
    text = "You have no role on this site any more: the staff pages are closed to you."
    if role:
        article = "an" if role[0] in "aeiou" else "a"
        text = f"You are {article} {role} of this site now. The staff pages need a second factor."
    write(None, [NewNotice(person.pk, ROLE_CHANGED, text)], now=now, occasion=entry_id)


def factor_dropped(person: User, *, entry_id: int, now: datetime) -> None:
    """Notify a person that staff removed their second factor."""
    text = (
        "Staff removed your second factor, so you now log in with your password alone. If you did not ask for that, "
        "change your password and set up another second factor."
    )
    write(None, [NewNotice(person.pk, FACTOR_DROPPED, text)], now=now, occasion=entry_id)
