"""Staff acts at tables. Each locks the game, changes it by the functions that players' acts use, and is audited."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any, Final

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
from games.queries.lists import hosted_tables
from games.refusals import Denied, over
from games.render.resign import may_leave
from games.render.words import winner_of_all_by_leaving
from games.staff import acts
from games.staff.acts import StaffAct
from games.staff.audit import check, check_outside, check_person, clean_said, record
from games.staff.forms import CHOOSE_FOR_THE_SEAT, Outdated


@contextmanager
def _table(act: StaffAct[Table], *, game_id: int, by: User, reason: str, now: datetime) -> Iterator[tuple[Table, str]]:
    """Check the act, lock the table, and yield it with the stored reason, in one transaction.

    :raises Denied: `forbidden`, also to a player of this table; `malformed`, `not_found`.
    """
    with transaction.atomic():
        reason = check(act, by=by, reason=reason, now=now)
        table = queries.load(lock_game(pk=game_id))
        check_outside(table, by=by)
        yield table, reason


def _row(table: Table, seat: int, owner: int | None = None) -> Seat:
    """Return the row of a seat.

    :param owner: the id of the person who must own it, 0 for a bot. If None, it can be anybody's.
    :raises Denied: `malformed`; `forbidden` if the seat has another owner.
    """
    row = next((row for row in table.seats if row.index == seat), None)
    if row is None:
        raise Denied("malformed", "There is no such seat.", version=table.game.version)
    if owner is not None and owner != (row.user_id or 0):
        raise Denied("forbidden", "This seat has another owner now. Choose the seat again.", version=table.game.version)
    return row


def _row_to_change(table: Table, seat: int, owner: int | None, by: User) -> Seat:
    """Return the row of a seat for an act on its owner, if `by` may act on that person.

    :raises Denied: as `_row` and `check_person`.
    """
    row = _row(table, seat, owner)
    if row.user is not None:
        check_person(row.user, by=by)
    return row


def _record_said(act: StaffAct[Table], table: Table, said: str, *, also: User | None = None, **more: Any) -> AuditEntry:
    """Write the audit entry of an act with what staff say to the table, and notify the people there of that.

    `also`: see `staff_notices.said`. The others are arguments of `audit.record`.
    """
    said = clean_said(said)
    if said:
        more["said"] = said
    entry = record(act, table=table, **more)
    staff_notices.said(table, said, also=also, entry_id=entry.pk, now=more["now"])
    return entry


def say(*, game_id: int, by: User, said: str, reason: str = "", now: datetime) -> AuditEntry:
    """Say something to everyone who sees a table, in its log, and notify its players.

    :raises Denied: `forbidden`, `malformed`, `not_found`, `over`.
    """
    with _table(acts.SAY, game_id=game_id, by=by, reason=reason, now=now) as (table, why):
        if table.game.ended:
            raise over(table.game.version, begun=table.game.started_at is not None)
        if not said.strip():
            raise Denied("malformed", "Write what you want to say.", version=table.game.version)
        entry = _record_said(acts.SAY, table, said, by=by, reason=why, now=now)
        if table.game.started_at is not None:  # the page of an open table has no log
            announce.changed(table.game, wake=False)
        return entry


def pause(*, game_id: int, by: User, reason: str, now: datetime, said: str = "") -> AuditEntry:
    """Stop the clock and all moves until staff resume the game. `said` is for its players, or "".

    :raises Denied: `malformed`, `not_found`, `not_started`, `over`; `forbidden` also if staff have paused it already.
    """
    with _table(acts.PAUSE, game_id=game_id, by=by, reason=reason, now=now) as (table, why):
        if not pausing.pause(table, reason=Game.PAUSED_BY_STAFF, now=now):
            raise Denied("forbidden", "Staff have already paused this game.", version=table.game.version)
        return _record_said(acts.PAUSE, table, said, by=by, reason=why, now=now)


def resume(*, game_id: int, by: User, reason: str, now: datetime) -> AuditEntry:
    """End a pause by staff or, if there is none, a pause that the players agreed on. Ends one of them only.

    :raises Denied: `malformed`, `not_found`, `not_started`, `over`; `forbidden` also if there is neither.
    """
    with _table(acts.RESUME, game_id=game_id, by=by, reason=reason, now=now) as (table, why):
        reasons = (Game.PAUSED_BY_STAFF, Game.PAUSED_BY_CONSENT)
        ended = next((one for one in reasons if pausing.resume(table, reason=one, now=now)), "")
        if not ended:
            raise Denied(
                "forbidden", "Neither staff nor the players have paused this game.", version=table.game.version
            )
        details: dict[str, Any] = {"pause": ended}
        if table.game.paused_reasons:
            details["still_paused"] = True
        return record(acts.RESUME, by=by, reason=why, now=now, table=table, **details)


def extend(
    *,
    game_id: int,
    by: User,
    minutes: int,
    reason: str,
    now: datetime,
    seat: int | None = None,
    owner: int | None = None,
) -> AuditEntry:
    """Give the current turn more time.

    :param seat: the seat on turn on the page, if known.
    :param owner: the id of its owner there, 0 for a bot.
    :raises Outdated: another seat is on turn, or the seat has another owner.
    :raises Denied: `forbidden`, `malformed`, `not_found`, `not_started`, `over`.
    """
    with _table(acts.EXTEND, game_id=game_id, by=by, reason=reason, now=now) as (table, why):
        pausing.extend(table, seconds=minutes * 60, now=now)
        row = table.on_turn
        if seat is not None and (seat, owner) != (row.index, row.user_id or 0):  # undoes the extension
            message = (
                f"The turn has moved on since you opened this page: it is {row.name}’s turn now, seat {row.index + 1}."
            )
            raise Outdated(message, {"seat": str(row.index), "owner": str(row.user_id or 0)})
        return record(
            acts.EXTEND, by=by, reason=why, now=now, table=table, seat=row.index, person=row.user, minutes=minutes
        )


def forgive(*, game_id: int, by: User, seat: int, reason: str, now: datetime, owner: int | None = None) -> AuditEntry:
    """Reset a seat's count of missed turns (CLOCK-3) and refill its time bank. `owner`: see `_row`.

    :raises Denied: `malformed`, `not_found`, `not_started`, `over`; `forbidden` also if the seat has no missed turns.
    """
    with _table(acts.FORGIVE, game_id=game_id, by=by, reason=reason, now=now) as (table, why):
        pausing.require_playing(table)
        row = _row_to_change(table, seat, owner, by)
        misses, bank = row.misses, row.bank
        if not pausing.forgive_misses(table, seat=seat):
            raise Denied("forbidden", "This seat has no missed turns.", version=table.game.version)
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


def void_round(
    *, game_id: int, by: User, reason: str, now: datetime, deal: int | None = None, said: str = ""
) -> AuditEntry:
    """Void the current round, deal it again and notify every player.

    :param deal: the number of the deal that the page showed, if known.
    :param said: what staff say to the players, or "".
    :raises Denied: `malformed`, `not_found`, `not_started`, `over`; `stale` if another deal is played by now;
        `forbidden` also during a pause or between rounds.
    """
    with _table(acts.VOID_ROUND, game_id=game_id, by=by, reason=reason, now=now) as (table, why):
        pausing.require_playing(table)
        if table.game.paused_at is not None:
            raise Denied("forbidden", "The game is paused: resume it first.", version=table.game.version)
        number = table.started.round.number
        if deal not in (None, number):
            sentence = "Round {number} is being played now. Look at the game before you void it."
            raise Denied("stale", sentence, version=table.game.version, number=number)
        deal_again(table, now=now)
        return _record_said(acts.VOID_ROUND, table, said, by=by, reason=why, now=now, round=number)


def void_game(*, game_id: int, by: User, reason: str, now: datetime, said: str = "") -> AuditEntry:
    """End a running game without a winner. `said` is for its players, or "".

    :raises Denied: `forbidden`, `malformed`, `not_found`, `not_started`, `over`.
    """
    with _table(acts.VOID_GAME, game_id=game_id, by=by, reason=reason, now=now) as (table, why):
        pausing.require_playing(table)
        rounds.call_off(table.game, now=now)
        staff_notices.called_off(table, now=now)
        return _record_said(acts.VOID_GAME, table, said, by=by, reason=why, now=now)


def lock_hosted(host_id: int) -> list[Table]:
    """Lock the tables that this person hosts and that have not started until the transaction ends, and return them.

    To avoid deadlocks, call it before the person is locked.

    :raises Denied: `not_found` if one of them is deleted at this moment.
    """
    newest_first = hosted_tables(host_id).order_by("-pk").values_list("pk", flat=True)
    tables = [queries.load(lock_game(pk=number)) for number in newest_first]
    return [
        table for table in reversed(tables) if table.game.status == Game.Status.OPEN and table.game.host_id == host_id
    ]


def require_all_hosted(host: User, hosted: Sequence[Table]) -> None:
    """Check that `lock_hosted` has locked all open tables of this person, who is locked now.

    :raises Denied: `stale` if they have opened another one in between. To lock it now could be a deadlock.
    """
    if hosted_tables(host.pk).count() > len(hosted):
        raise Denied("stale", "{name} has just opened another table. Confirm again.", name=host.name)


def close_locked(table: Table, *, now: datetime) -> None:
    """Close a table that has not started, and notify the people there. The caller has locked it."""
    rounds.call_off(table.game, now=now)
    staff_notices.called_off(table, now=now)


def close(*, game_id: int, by: User, reason: str, now: datetime, said: str = "") -> AuditEntry:
    """Close a table that has not started. `said` is for its players, or "".

    :raises Denied: `forbidden`, `malformed`, `not_found`; `already_started`, `over`.
    """
    with _table(acts.CLOSE, game_id=game_id, by=by, reason=reason, now=now) as (table, why):
        if table.game.status == Game.Status.PLAYING:
            raise Denied("already_started", "The game has started: void it instead.", version=table.game.version)
        if table.game.status != Game.Status.OPEN:
            raise over(table.game.version, begun=table.game.started_at is not None)
        close_locked(table, now=now)
        return _record_said(acts.CLOSE, table, said, by=by, reason=why, now=now)


def winner_by_removing(table: Table, seat: Seat) -> str:
    """Return who wins if the hand of this person's seat is set aside and that ends the game, or ""."""
    view = queries.view_of(table, seat.user)
    return winner_of_all_by_leaving(view) if may_leave(view) else ""


def remove(
    *,
    game_id: int,
    by: User,
    seat: int,
    bot: bool | None,
    reason: str,
    now: datetime,
    owner: int | None = None,
    known_winner: str | None = None,
    said: str = "",
) -> AuditEntry:
    """Remove a person from a table. They lose access to a private table, which gets a new link (decision 88).

    At a table that has not started, the seat becomes free. `owner`: see `_row`.

    :param bot: in a running game, True gives the seat to a bot; False sets the hand aside (LEAVE-1).
        None if the game had not started when staff decided.
    :param known_winner: who wins if the hand is set aside, as the page said, or "" if the game goes on. None if that is
        unknown.
    :param said: what staff say to the players, also to the one who is removed, or "".
    :raises Outdated: the hand is to be set aside, and by now somebody else wins by that.
    :raises Denied: `malformed`, `not_found`, `over`; `already_started` if `bot` is None and the game has started;
        `forbidden` also if no person has this seat.
    """
    with _table(acts.REMOVE, game_id=game_id, by=by, reason=reason, now=now) as (table, why):
        row, game = _row_to_change(table, seat, owner, by), table.game
        person = row.user
        if person is None or row.left:
            raise Denied("forbidden", "No person has this seat any more.", version=game.version)
        if bot is None and game.status == Game.Status.PLAYING:
            raise Denied("already_started", CHOOSE_FOR_THE_SEAT, version=game.version)
        winner = winner_by_removing(table, row) if bot is False else ""
        if bot is False and known_winner not in (None, winner):
            then = f"the game ends and {winner} wins" if winner else "the game goes on"
            message = f"The game has changed since you opened this page: if the hand is set aside, {then}."
            raise Outdated(message, {"known_winner": winner})
        details: dict[str, Any] = {"bot": bot} if game.status == Game.Status.PLAYING else {}
        if not game.is_public:
            details["new_link"] = True
        more = {"by": by, "reason": why, "now": now, "seat": seat, "person": person, **details}
        entry = _record_said(acts.REMOVE, table, said, also=person, **more)
        _close_to(game, person)
        if game.status == Game.Status.OPEN:
            host_id = game.host_id
            lobby.leave_table(code=game.code, viewer=Viewer(person), now=now)
            staff_notices.removed(table, row, person, entry_id=entry.pk, now=now)
            game.refresh_from_db()  # the table may have closed, or have another host
            if game.status == Game.Status.OPEN and game.host_id is not None:
                if game.host_id != host_id:
                    staff_notices.host_changed(game, game.host_id, person, entry_id=entry.pk, now=now)
                if not game.is_public:
                    staff_notices.link_changed(game, game.host_id, person, entry_id=entry.pk, now=now)
            return entry
        pausing.require_playing(table)
        if bot:
            _give_to_bot(table, row, now)
        else:
            commit(table, seat, [rules.Move("leave")], now=now, by_person=False)
            _remove_owner(row)
        staff_notices.removed(table, row, person, bot=bot, entry_id=entry.pk, now=now)
    deal_next(game_id=game_id, now=now)
    return entry


def _close_to(game: Game, person: User) -> None:
    """Delete this person's invitation, and change the link of a private table.

    The link changes for everyone, because the person could use the old one logged out or with another account.
    """
    Invitation.objects.filter(game=game, user=person).delete()
    if not game.is_public:
        game.invite_key = new_invite_key()
        game.save(update_fields=["invite_key"])
    announce.access_changed(game.code)


def _give_to_bot(table: Table, row: Seat, now: datetime) -> None:
    """Give the seat to a bot: its owner cannot take it back, only get it back from staff."""
    if not row.bot:
        seating.replace_by_bot(table, seat=row.index, now=now)
    _remove_owner(row)
    announce.changed(table.game)


def _remove_owner(row: Seat) -> None:
    """Remove the owner of the seat, and their standing orders. The seat keeps their name."""
    row.user = row.orders = None
    row.save(update_fields=["user", "name", "orders"])


def move_seat(
    *, game_id: int, by: User, seat: int, username: str, reason: str, now: datetime, owner: int | None = None
) -> AuditEntry:
    """Give a seat with its hand and score to another person, and notify both people. `owner`: see `_row`.

    If staff had removed a person from it for a bot, that person is notified.

    Before the start, the host's seat brings the table along. If it is the seat's turn, its time restarts.

    :raises Denied: `malformed`, `over`, `already_seated`; `not_found` also if nobody has this username; `forbidden`
        also if the player of the seat has left, or if the new owner would be `by`, is suspended, has a closed account,
        has viewed hands of this game, or is a program and none may sit there.
    """
    with _table(acts.MOVE_SEAT, game_id=game_id, by=by, reason=reason, now=now) as (table, why):
        row = _row_to_change(table, seat, owner, by)
        person = _new_owner(table, username, by, now)
        before, name = row.user, row.name
        seating.change_owner(table, row, person=person, now=now)
        announce.access_changed(table.game.code)
        details: dict[str, Any] = {"before_id": before.pk if before else None}
        removed = None if before else conduct.replaced_by_bots(table.game).get(seat)
        had_it = before or removed
        if had_it is None:
            details["before"] = name  # a bot's
        back = removed == person
        if back:
            details["back"] = True
        entry = record(
            acts.MOVE_SEAT,
            by=by,
            reason=why,
            now=now,
            table=table,
            seat=seat,
            person=person,
            other=(had_it.pk, name) if had_it else None,
            **details,
        )
        staff_notices.seat_moved(table, row, before=before, removed=removed, name=name, entry_id=entry.pk, now=now)
        return entry


def _new_owner(table: Table, username: str, by: User, now: datetime) -> User:
    version = table.game.version
    person = User.objects.filter(username__iexact=username.strip()).first()
    if person is None:
        raise Denied("not_found", "Nobody has this username.", version=version)
    if not person.is_active:
        sentence = "The account of {name} is closed. Reopen it first, or give the seat to someone else."
        raise Denied("forbidden", sentence, version=version, name=person.name)
    if person.pk == by.pk or person.suspended(now):
        raise Denied("forbidden", "You can’t give a seat to yourself or a suspended player.", version=version)
    if conduct.has_viewed_hands(table.game, person):
        sentence = "{name} has looked at hands of this game. Give the seat to someone else."
        raise Denied("forbidden", sentence, version=version, name=person.name)
    if table.seat_of(person) is not None:
        raise Denied("already_seated", "{name} already has a seat at this table.", version=version, name=person.name)
    return person


def check_view_hands(table: Table, *, by: User) -> None:
    """Check that `by` does not play with any person of this table, here or elsewhere.

    :raises Denied: `forbidden`.
    """
    if queries.plays_with(by, [row.user_id for row in table.seats if row.user_id is not None]):
        message = "You are playing with someone from this table. Ask another staff member to look at hands."
        raise Denied("forbidden", message, version=table.game.version)


def view_hands(*, game_id: int, by: User, reason: str, now: datetime) -> tuple[AuditEntry, list[tuple[str, ...]]]:
    """Return the audit entry and every hand of the current round, by seat. The players learn of it after the game.

    :raises Denied: `forbidden`, also if `by` plays with a person of this table; `malformed`, `not_found`,
        `not_started`, `over`.
    """
    with _table(acts.LOOK, game_id=game_id, by=by, reason=reason, now=now) as (table, why):
        pausing.require_playing(table)
        check_view_hands(table, by=by)
        table.game.hands_viewed_at = now
        table.game.save(update_fields=["hands_viewed_at"])
        entry = record(acts.LOOK, by=by, reason=why, now=now, table=table)
        return entry, [tuple(hand) for hand in table.started.position.hands]


PERFORM: Final[Mapping[StaffAct[Table], Callable[..., object]]] = {
    acts.SAY: say,
    acts.PAUSE: pause,
    acts.RESUME: resume,
    acts.EXTEND: extend,
    acts.FORGIVE: forgive,
    acts.REMOVE: remove,
    acts.MOVE_SEAT: move_seat,
    acts.VOID_ROUND: void_round,
    acts.VOID_GAME: void_game,
    acts.CLOSE: close,
    acts.LOOK: view_hands,
}
"""The function of each act. It takes what the act's form asks for."""
