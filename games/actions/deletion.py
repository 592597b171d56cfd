"""Delete accounts whose people have asked for it (docs/decisions/0144-deleted-in-three-steps.md)."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Final

import structlog
from allauth.account.models import EmailAddress
from django.db import transaction
from django.db.models import Q, QuerySet

from accounts import actions as account_actions
from accounts import mails
from accounts.actions import lock_person
from accounts.models import DELETION_DAYS, AccountMail, Session, User
from accounts.names import deleted_name
from accounts.zones import formatted
from common.run_all import run_all
from common.say import N_
from games import announce, queries
from games.actions import lobby, seating, table_events
from games.actions.names import raise_each, replace_names
from games.batch import for_each_game
from games.locks import lock_game
from games.models import Case, Game, PersonName, Report, Seat, TableEvent
from games.notices import old_texts
from games.queries import Viewer, profiles
from mail.addresses import canonical

if TYPE_CHECKING:
    from games.queries import Table

log = structlog.get_logger(__name__)

SUSPENDED: Final = "You are suspended. You can delete your account when the suspension is over."
LAST_SUPERUSER: Final = (
    "You are the only superuser of this site, and nobody else could take care of it. Make another one first"
    " (manage.py createsuperuser), then delete your account."
)


class NotNow(Exception):
    """The account cannot be deleted now. The message is a sentence for the person."""


def objection_to_deletion(person: User, now: datetime) -> str:
    """Return why this person cannot ask for the deletion now, in a sentence for the person, or "".

    An open case is no reason: the sentence would tell of it, and one report would stop a deletion.
    """
    if person.suspended(now):
        return SUSPENDED
    return LAST_SUPERUSER if _is_last_superuser(person) else ""


def _is_last_superuser(person: User) -> bool:
    others = User.objects.filter(is_superuser=True, is_active=True, deletes_at=None).exclude(pk=person.pk)
    return person.is_superuser and not others.exists()


def _must_wait(person: User, now: datetime) -> bool:
    """Return True if the deletion that is due has to wait: for another superuser, or for staff until `deletes_by`.

    Staff may still settle cases from before the request. Later reports delay nothing, so nobody can stop a deletion.
    """
    if _is_last_superuser(person):
        return True
    assert person.deletes_at is not None
    assert person.deletes_by is not None
    earlier = Q(closed_at=None, opened_at__lte=person.deletes_at - timedelta(days=DELETION_DAYS))
    return now < person.deletes_by and (person.suspended(now) or Case.objects.filter(earlier, person=person).exists())


def ask(*, user: User, now: datetime) -> datetime:
    """Note that this account is to be deleted in `DELETION_DAYS` days, mail its confirmed addresses, and return when.

    Asking again changes nothing. A person is logged out everywhere (`accounts.actions.ask_for_deletion`). Until the
    account is kept, its API tokens are refused (`games.api.auth`).

    :raises NotNow: the account cannot be deleted now.
    :raises AccountChanged: as `ask_for_deletion`.
    """
    with transaction.atomic():
        # One at a time, so that the last two superusers cannot both ask.
        list(User.objects.select_for_update(of=("self",), no_key=True).filter(is_superuser=True).order_by("pk"))
        person = lock_person(user.pk)
        if objection := objection_to_deletion(person, now):
            raise NotNow(objection)
        asked_before = person.deletes_at is not None
        when = account_actions.ask_for_deletion(user=user, now=now)
        if not asked_before:
            on = formatted(when, N_("j F Y, H:i e"), person.time_zone)
            mails.notify(kind=mails.DELETION_ASKED, user=person, facts={"deletes_on": on}, now=now)
    announce.close_sockets(user.pk)
    return when


def keep(*, user: User) -> bool:
    """Cancel the deletion of this account. Return False if nobody has asked for it, or if it has begun."""
    with transaction.atomic():
        try:
            lock_person(user.pk)
        except User.DoesNotExist:
            return False
        return account_actions.cancel_deletion(user=user)


def delete_due(*, now: datetime) -> None:
    """Delete the accounts whose time has come. One that fails is logged, and tried again by the next call.

    :raises ExceptionGroup: after the last account, with the errors of those that failed.
    """
    due = User.objects.filter(deletes_at__lte=now).order_by("deletes_at").values_list("pk", flat=True)
    run_all(**{f"account {number}": partial(delete, user_id=number, now=now) for number in list(due)})


def delete(*, user_id: int, now: datetime) -> bool:
    """Delete this account if its time has come. Return False if it was kept or has to wait.

    It waits while `_must_wait` says so, and until all its seats in running games are with bots. Each
    step is a transaction. If the process dies between them, the next call goes on.
    """
    if not _begin(user_id, now):
        return False
    games = _waited_for(user_id).order_by("game").values_list("game", flat=True)
    done = for_each_game(list(games), lambda pk: _leave(pk, user_id, now), failed="a seat was not left")
    played = sorted(profiles.games_ever_of(User.objects.get(pk=user_id)))
    if done.failed or not _forget(user_id, now):
        return False
    # Afterwards, because a game is locked before a person.
    raise_each(played)
    return True


def _waited_for(user_id: int) -> QuerySet[Seat]:
    """Return the seats of this person at tables that have not started or are running, where they have not left."""
    going = Q(game__status=Game.Status.OPEN) | Q(game__status=Game.Status.PLAYING, left=False)
    return Seat.objects.filter(going, user=user_id)


def _begin(user_id: int, now: datetime) -> bool:
    """Close the account, so that nothing stops its deletion from here on. A log-in takes the same lock."""
    with transaction.atomic():
        person = User.objects.select_for_update(of=("self",), no_key=True).filter(pk=user_id).first()
        if person is None or person.deletes_at is None or person.deletes_at > now:
            return False
        if person.deletion_begun:
            return True
        if _must_wait(person, now):
            log.info("a deletion waits", user=user_id)
            return False
        person.is_active, person.deletion_begun = False, True
        person.save(update_fields=["is_active", "deletion_begun"])
        Session.objects.filter(user=person).delete()
        account_actions.revoke_tokens(user=person)
        announce.close_sockets_of_suspended(user_id)
        return True


def _leave(game_id: int, user_id: int, now: datetime) -> bool:
    """Get up from a table that has not started, or give the seat to a bot for good."""
    with transaction.atomic():
        table = queries.load(lock_game(pk=game_id))
        person = User.objects.get(pk=user_id)
        index = table.seat_of(person)
        if index is None or table.game.ended:
            return False
        # Here, because without the seat nothing tells any more that old notices about this game may name the person.
        for name in _names_of(person):
            old_texts.replace_name(Game.objects.filter(pk=game_id), before=name, after=deleted_name(user_id))
        if table.game.status == Game.Status.OPEN:
            lobby.leave_table(code=table.game.code, viewer=Viewer(person), now=now)
        elif not table.seats[index].left:
            _give_to_bot(table, table.seats[index], now)
        return True


def _give_to_bot(table: Table, row: Seat, now: datetime) -> None:
    if not row.bot:
        seating.replace_by_bot(table, seat=row.index, now=now)
    others = [seat.user_id for seat in table.seats if seat.user_id not in (None, row.user_id) and not seat.left]
    if table.game.host_id == row.user_id:
        seating.change_host(table.game, user_id=others[0] if others else None, now=now)
    assert row.user_id is not None
    row.name, row.user, row.orders = deleted_name(row.user_id), None, None
    row.save(update_fields=["user", "name", "orders"])
    table_events.record(TableEvent.Kind.ACCOUNT_DELETED, game=table.game, seat=row.index, now=now)
    announce.changed(table.game)


def _forget(user_id: int, now: datetime) -> bool:
    """Delete the row of the person with all that belongs to them, and replace their names elsewhere.

    Returns False if a request that began before the account was closed has taken a seat since.
    """
    with transaction.atomic():
        person = User.objects.select_for_update(of=("self",)).get(pk=user_id)
        if _waited_for(user_id).exists():
            return False
        name = deleted_name(user_id)
        known = _names_of(person)
        replace_names(person, before=known, after=name)
        for former in known:
            old_texts.replace_name_elsewhere(person, before=former, after=name)
        # A seat with a bot and without an owner would be a bot's, and a rematch would have that bot.
        Seat.objects.filter(user=person).exclude(bot="").update(bot="")
        Report.objects.filter(case__person=person).update(called="")
        PersonName.objects.filter(person=user_id).update(name="")
        account_actions.hold_names_of_deleted(person=person, now=now)
        _forget_addresses(person)
        person.delete()
        return True


def _names_of(person: User) -> list[str]:
    """Return every name that is known of this person, the longest first: one name may be a part of another."""
    stored = {person.username, person.display_name, person.neutral_name, *person.former_names}
    stored |= set(Seat.objects.filter(user=person).values_list("name", flat=True).distinct())
    stored |= set(PersonName.objects.filter(person=person.pk).values_list("name", flat=True))
    stored |= set(Report.objects.filter(case__person=person).values_list("called", flat=True))
    return sorted(stored - {"", deleted_name(person.pk)}, key=len, reverse=True)


def _forget_addresses(person: User) -> None:
    """Delete the mails to this person's addresses, and incomplete log-ins of visitors with such an address.

    Not for an address that the person only claims and somebody else has confirmed.
    """
    rows = EmailAddress.objects.filter(user=person).values_list("email", flat=True)
    theirs = EmailAddress.objects.filter(verified=True).exclude(user=person).filter(email__in=rows)
    own = {person.email, *rows} - set(theirs.values_list("email", flat=True))
    addresses = {spelling for email in own if email for spelling in (email, canonical(email))}
    AccountMail.objects.filter(Q(user=person) | Q(user=None, address__in=addresses)).delete()
    words = [json.dumps(address) for address in addresses]
    visitors = ((row.pk, json.dumps(row.get_decoded())) for row in Session.objects.filter(user=None).iterator())
    keys = [key for key, data in visitors if any(word in data for word in words)]
    Session.objects.filter(pk__in=keys).delete()
