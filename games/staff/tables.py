"""What staff do at a table. Each act locks the game, changes it by the same functions as everybody, and is audited."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import Final

from django.db import transaction

from accounts.models import User
from games import announce, queries, rules
from games.actions import lobby, rounds, seating
from games.actions.commit import commit
from games.actions.next_round import deal_again, deal_next
from games.clocks import pausing
from games.locks import lock_game
from games.models import AuditEntry, Game, Invitation, Seat
from games.models.tables import new_invite_key
from games.notices import staff_notices
from games.queries import Table, Viewer, conduct
from games.refusals import Denied, over
from games.staff import acts
from games.staff.acts import STAFF, StaffAct
from games.staff.audit import check, check_outside, record


@contextmanager
def _table(act: StaffAct[Table], *, game_id: int, by: User, reason: str, now: datetime) -> Iterator[tuple[Table, str]]:
    """The locked table and the reason, for an act of somebody who may do it and does not sit there.

    :raises Denied: `forbidden`, `malformed`, `not_found`.
    """
    with transaction.atomic():
        reason = check(act, by=by, reason=reason, now=now)
        table = queries.load(lock_game(pk=game_id))
        check_outside(table, by=by)
        yield table, reason


def _row(table: Table, seat: int) -> Seat:
    row = next((row for row in table.seats if row.index == seat), None)
    if row is None:
        raise Denied("malformed", "There is no such seat.", version=table.game.version)
    return row


def pause(*, game_id: int, by: User, reason: str, now: datetime) -> AuditEntry:
    """Stop the clock and all moves until staff resume.

    :raises Denied: `forbidden`, `malformed`, `not_found`, `not_started`, `over`; `forbidden` if it is paused so.
    """
    with _table(acts.PAUSE, game_id=game_id, by=by, reason=reason, now=now) as (table, why):
        if not pausing.pause(table, reason=STAFF, now=now):
            raise Denied("forbidden", "Staff have paused this game already.", version=table.game.version)
        return record(acts.PAUSE, by=by, reason=why, now=now, table=table)


def resume(*, game_id: int, by: User, reason: str, now: datetime) -> AuditEntry:
    """End a pause of the staff, and then one that the players agreed on stays; or, without one of the staff, theirs.

    :raises Denied: `forbidden`, `malformed`, `not_found`, `not_started`, `over`; `forbidden` without such a pause.
    """
    with _table(acts.RESUME, game_id=game_id, by=by, reason=reason, now=now) as (table, why):
        ended = next((one for one in (STAFF, Game.PAUSED_BY_CONSENT) if pausing.resume(table, reason=one, now=now)), "")
        if not ended:
            raise Denied(
                "forbidden", "Neither staff nor the players have paused this game.", version=table.game.version
            )
        return record(acts.RESUME, by=by, reason=why, now=now, table=table, pause=ended)


def extend(*, game_id: int, by: User, minutes: int, reason: str, now: datetime) -> AuditEntry:
    """Give the turn that runs more time.

    :raises Denied: `forbidden`, `malformed`, `not_found`, `not_started`, `over`.
    """
    with _table(acts.EXTEND, game_id=game_id, by=by, reason=reason, now=now) as (table, why):
        pausing.extend(table, seconds=minutes * 60, now=now)
        seat = table.started.position.turn
        person = _row(table, seat).user
        return record(acts.EXTEND, by=by, reason=why, now=now, table=table, seat=seat, person=person, minutes=minutes)


def forgive(*, game_id: int, by: User, seat: int, reason: str, now: datetime) -> AuditEntry:
    """Take a seat's misses off its count (CLOCK-3) and give the first bank back.

    :raises Denied: `forbidden`, `malformed`, `not_found`, `not_started`, `over`; `forbidden` without a miss.
    """
    with _table(acts.FORGIVE, game_id=game_id, by=by, reason=reason, now=now) as (table, why):
        pausing.require_playing(table)
        row = _row(table, seat)
        misses, bank = row.misses, row.bank
        if not pausing.forgive_misses(table, seat=seat):
            raise Denied("forbidden", "This seat has missed no turn.", version=table.game.version)
        given = row.bank - bank
        person = row.user
        return record(
            acts.FORGIVE,
            by=by,
            reason=why,
            now=now,
            table=table,
            seat=seat,
            person=person,
            misses=misses,
            seconds=given,
        )


def void_round(*, game_id: int, by: User, reason: str, now: datetime) -> AuditEntry:
    """Let the round that runs count for nothing and deal it anew.

    :raises Denied: `forbidden`, `malformed`, `not_found`, `not_started`, `over`; `forbidden` in a pause, or between
        two rounds.
    """
    with _table(acts.VOID_ROUND, game_id=game_id, by=by, reason=reason, now=now) as (table, why):
        pausing.require_playing(table)
        if table.game.paused_at is not None:
            raise Denied("forbidden", "The game is paused: resume it first.", version=table.game.version)
        number = table.started.round.number
        deal_again(table, now=now)
        return record(acts.VOID_ROUND, by=by, reason=why, now=now, table=table, round=number)


def void_game(*, game_id: int, by: User, reason: str, now: datetime) -> AuditEntry:
    """End a game that runs, without a winner.

    :raises Denied: `forbidden`, `malformed`, `not_found`, `not_started`, `over`.
    """
    with _table(acts.VOID_GAME, game_id=game_id, by=by, reason=reason, now=now) as (table, why):
        pausing.require_playing(table)
        rounds.call_off(table.game, now=now)
        staff_notices.called_off(table, now=now)
        return record(acts.VOID_GAME, by=by, reason=why, now=now, table=table)


def close(*, game_id: int, by: User, reason: str, now: datetime) -> AuditEntry:
    """Close a table that has not started.

    :raises Denied: `forbidden`, `malformed`, `not_found`; `already_started`, `over`.
    """
    with _table(acts.CLOSE, game_id=game_id, by=by, reason=reason, now=now) as (table, why):
        if table.game.status == Game.Status.PLAYING:
            raise Denied("already_started", "The game has started: void it instead.", version=table.game.version)
        if table.game.status != Game.Status.OPEN:
            raise over(table.game.version, begun=table.game.started_at is not None)
        rounds.call_off(table.game, now=now)
        staff_notices.called_off(table, now=now)
        return record(acts.CLOSE, by=by, reason=why, now=now, table=table)


def remove(*, game_id: int, by: User, seat: int, bot: bool, reason: str, now: datetime) -> AuditEntry:
    """Take a person out of a game: a bot plays on in the seat for good, or the hand is set aside (LEAVE-1).

    At a table that has not started the seat is free again. A private table gets a new link, and is closed to the
    person (decision 88).

    :raises Denied: `forbidden`, `malformed`, `not_found`, `over`; `forbidden` if no person sits there any more.
    """
    with _table(acts.REMOVE, game_id=game_id, by=by, reason=reason, now=now) as (table, why):
        row, game = _row(table, seat), table.game
        person = row.user
        if person is None or row.left:
            raise Denied("forbidden", "No person sits there any more.", version=game.version)
        details = {"bot": bot} if game.status == Game.Status.PLAYING else {}
        entry = record(acts.REMOVE, by=by, reason=why, now=now, table=table, seat=seat, person=person, **details)
        _close_to(game, person)
        if game.status == Game.Status.OPEN:
            lobby.leave_table(code=game.code, viewer=Viewer(person), now=now)
            text = f"Staff took you off the table {staff_notices.with_others(table, row)}."
            staff_notices.unseated(game, person, text, mark=entry.pk, now=now)
            return entry
        pausing.require_playing(table)
        if bot:
            _give_to_bot(table, row, now)
            text = f"Staff gave your seat to a bot for good, in the game {staff_notices.with_others(table, row)}."
            staff_notices.unseated(game, person, text, mark=entry.pk, now=now)
        else:
            commit(table, seat, [rules.Move("leave")], now=now, by_person=False)
            _take_seat_from_its_person(row)
            text = f"Staff took you out of the game {staff_notices.with_others(table, row)}."
            staff_notices.unseated(game, person, text, mark=entry.pk, now=now)
    deal_next(game_id=game_id, now=now)
    return entry


def _close_to(game: Game, person: User) -> None:
    """Let nobody see a private table by the link or the invitation that this person had.

    The link is changed for all, because the person could use the old one logged out or with another account.
    """
    Invitation.objects.filter(game=game, user=person).delete()
    if not game.is_public:
        game.invite_key = new_invite_key()
        game.save(update_fields=["invite_key"])
    announce.access_changed(game.code)


def _give_to_bot(table: Table, row: Seat, now: datetime) -> None:
    """A bot has the seat from now on, and nobody can take it back."""
    if not row.bot:
        seating.replace_by_bot(table, seat=row.index, now=now)
    _take_seat_from_its_person(row)
    announce.after_commit(table.game)


def _take_seat_from_its_person(row: Seat) -> None:
    """Leave the seat to nobody, under the name that its person went by."""
    row.user = None
    row.save(update_fields=["user", "name"])


def move_seat(*, game_id: int, by: User, seat: int, username: str, reason: str, now: datetime) -> AuditEntry:
    """Give a seat, its hand and its score to somebody else; a host's seat before the start with the table.

    A turn of the seat begins anew. Both people are told.

    :raises Denied: `forbidden`, `malformed`, `not_found` also for the new person, `over`, `already_seated`; `forbidden`
        to oneself, to somebody suspended or who has looked at hands of this game, or of a seat whose player has left.
    """
    with _table(acts.MOVE_SEAT, game_id=game_id, by=by, reason=reason, now=now) as (table, why):
        row = _row(table, seat)
        person = _new_owner(table, username, by, now)
        before, name = row.user, row.name
        seating.change_owner(table, row, person=person, now=now)
        announce.access_changed(table.game.code)
        details = {"before": name, "before_id": before.pk if before else None}
        entry = record(acts.MOVE_SEAT, by=by, reason=why, now=now, table=table, seat=seat, person=person, **details)
        staff_notices.seat_moved(table, row, before=before, name=name, mark=entry.pk, now=now)
        return entry


def _new_owner(table: Table, username: str, by: User, now: datetime) -> User:
    version = table.game.version
    person = User.objects.filter(username__iexact=username.strip(), is_active=True).first()
    if person is None:
        raise Denied("not_found", "There is nobody with this username.", version=version)
    if person.pk == by.pk or person.suspended(now):
        raise Denied("forbidden", "Not to yourself, nor to somebody suspended.", version=version)
    if conduct.looked_at(table.game, person):
        message = f"{person.name} has looked at hands of this game: give the seat to somebody else."
        raise Denied("forbidden", message, version=version)
    if table.seat_of(person) is not None:
        raise Denied("already_seated", f"{person.name} sits at this table.", version=version)
    return person


def check_look(table: Table, *, by: User) -> None:
    """Hands are looked at by who does not play with any of these people, here or elsewhere.

    :raises Denied: `forbidden`.
    """
    if queries.plays_with(by, [row.user_id for row in table.seats if row.user_id is not None]):
        message = "You play somewhere with somebody of this table: ask another member of staff to look at hands."
        raise Denied("forbidden", message, version=table.game.version)


def look(*, game_id: int, by: User, reason: str, now: datetime) -> tuple[AuditEntry, list[tuple[str, ...]]]:
    """Every hand of the round that runs, by seat; the players are told once the game is over.

    :raises Denied: `forbidden`, also to whoever plays somewhere with somebody of this table; `malformed`, `not_found`,
        `not_started`, `over`.
    """
    with _table(acts.LOOK, game_id=game_id, by=by, reason=reason, now=now) as (table, why):
        pausing.require_playing(table)
        check_look(table, by=by)
        table.game.looked_at = now
        table.game.save(update_fields=["looked_at"])
        entry = record(acts.LOOK, by=by, reason=why, now=now, table=table)
        return entry, [tuple(hand) for hand in table.started.position.hands]


PERFORM: Final[Mapping[StaffAct[Table], Callable[..., object]]] = {
    acts.PAUSE: pause,
    acts.RESUME: resume,
    acts.EXTEND: extend,
    acts.FORGIVE: forgive,
    acts.REMOVE: remove,
    acts.MOVE_SEAT: move_seat,
    acts.VOID_ROUND: void_round,
    acts.VOID_GAME: void_game,
    acts.CLOSE: close,
    acts.LOOK: look,
}
"""The function of each act, which takes what the act's form asks for."""
