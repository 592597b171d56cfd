"""Staff acts on accounts: correct names, close and reopen, change roles, remove a lost second factor."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Final

from allauth.mfa.models import Authenticator
from django.contrib.auth.models import Group
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from accounts import log_ins
from accounts import queries as accounts
from accounts.actions import revoke_tokens, save_names_from_staff
from accounts.models import User
from accounts.names import NAME_TAKEN, clean_display_name, username_validators
from games import announce
from games.actions import table_events
from games.actions.names import erase_old_name
from games.models import AuditEntry, TableEvent
from games.notices import staff_notices
from games.refusals import Denied
from games.staff import acts, tables
from games.staff.acts import StaffAct, may_change_account
from games.staff.audit import check_outside, record, stored_name
from games.staff.forms import Outdated
from games.staff.people import locked_person
from games.staff.roles import ROLES


def _check_may_change(person: User, by: User) -> None:
    """Check that this staff member may change this account: only superusers may change those of staff.

    :raises Denied: `forbidden`.
    """
    if not may_change_account(person, by):
        raise Denied("forbidden", "Only a superuser can change the account of a staff member.")


def rename(
    *,
    person_id: int,
    by: User,
    username: str,
    display_name: str,
    reason: str,
    now: datetime,
    known_username: str = "",
    known_display_name: str = "",
) -> AuditEntry:
    """Give this person another username, another name at the table, or both, and notify them.

    A new username ends a neutral name.

    :param display_name: the name at the table, or "" to be shown by username.
    :param known_username: the username that the page showed, or "" if that is unknown.
    :param known_display_name: the name at the table that it showed.
    :raises Outdated: the person has other names by now.
    :raises Denied: `forbidden`, `not_found`; `malformed` also if a name is invalid or taken, or none has changed.
    """
    with locked_person(acts.RENAME, person_id=person_id, by=by, reason=reason, now=now) as (person, reason):
        _check_may_change(person, by)
        before = {"username": person.username, "display_name": person.display_name}
        if known_username:
            _check_known(before, {"username": known_username, "display_name": known_display_name})
        after = {"username": username.strip(), "display_name": clean_display_name(display_name)}
        if before == after:
            raise Denied("malformed", "These are their current names. Change at least one.")
        entry = record(
            acts.RENAME,
            by=by,
            reason=reason,
            now=now,
            person=person,
            before={field: stored_name(person, name) for field, name in before.items()},
            after={field: stored_name(person, name) for field, name in after.items()},
        )
        for field, name in after.items():
            if name != before[field]:
                _set_name(person, field, name)
        if after["username"] != before["username"]:
            person.neutral_name = ""
        try:
            with transaction.atomic():
                erase_old_name(person)
                save_names_from_staff(person=person, now=now)
        except IntegrityError:
            raise Denied("malformed", NAME_TAKEN) from None
        staff_notices.renamed(
            person,
            username=after["username"] != before["username"],
            display_name=after["display_name"] != before["display_name"],
            entry_id=entry.pk,
            now=now,
        )
        return entry


def _check_known(names: dict[str, str], known: dict[str, str]) -> None:
    """Check that the names of a person are those that the page showed.

    :raises Outdated: they are not.
    """
    if known != names:
        at_the_table = f"“{names['display_name']}”" if names["display_name"] else "is empty"
        raise Outdated(
            f"Their names have changed since you opened this page: the username is now “{names['username']}”, and the"
            f" name at the table {at_the_table}.",
            {f"known_{field}": name for field, name in names.items()},
        )


def _set_name(person: User, field: str, name: str) -> None:
    setattr(person, field, name)
    try:
        for validate in username_validators if field == "username" else ():
            validate(name)
        person.clean_fields(exclude={other.name for other in User._meta.fields} - {field})
    except ValidationError as bad:
        raise Denied("malformed", "{problems}", problems=" ".join(bad.messages)) from bad
    if name and (clash := accounts.name_clash(name, except_for=person)):
        raise Denied("malformed", "{problem}", problem=clash)


def close_account(*, person_id: int, by: User, reason: str, now: datetime) -> AuditEntry:
    """End the sessions of this account, revoke its API tokens, and let nobody log in to it until it is reopened.

    The session of a guest stays, without effect until the account is reopened (decision 61).

    :raises Denied: `forbidden`, `malformed`, `not_found`; `over` if it is already closed.
    """
    with locked_person(acts.CLOSE_ACCOUNT, person_id=person_id, by=by, reason=reason, now=now) as (person, why):
        _check_may_change(person, by)
        _close(person)
        return record(acts.CLOSE_ACCOUNT, by=by, reason=why, now=now, person=person)


def close_with_tables(*, host_id: int, by: User, reason: str, now: datetime) -> AuditEntry:
    """Close this account as `close_account` does, and each table that the person hosts and that has not started.

    The players there are notified as by the act on one table.

    :raises Denied: as `close_account`; `forbidden` also if `by` is or was a player at one of the tables; `not_found`
        also if there is none; `stale` if the person opens another one at this moment.
    """
    with transaction.atomic():
        hosted = tables.lock_hosted(host_id)
        with locked_person(acts.CLOSE_WITH_TABLES, person_id=host_id, by=by, reason=reason, now=now) as (person, why):
            _check_may_change(person, by)
            for table in hosted:
                check_outside(table, by=by)
            _close(person)
            if not hosted:
                raise Denied("not_found", "{name} hosts no open table. Close the account alone.", name=person.name)
            tables.require_all_hosted(person, hosted)
            for table in hosted:
                tables.close_locked(table, now=now)
                table_events.record(TableEvent.Kind.CLOSED_BY_STAFF, game=table.game, now=now)
            codes = [table.game.code for table in hosted]
            return record(acts.CLOSE_WITH_TABLES, by=by, reason=why, now=now, person=person, tables=codes)


def _close(person: User) -> None:
    """Close this account. The caller has locked the person.

    :raises Denied: `over` if it is already closed.
    """
    if not person.is_active:
        raise Denied("over", "This account is already closed.")
    person.is_active = False
    person.save(update_fields=["is_active"])
    # An account that somebody had stolen must not open again with the thief's sessions. A guest has no other way back
    # than the session, which logs nobody in while the account is closed.
    if not person.is_guest:
        log_ins.end_all(user_id=person.pk)
    revoke_tokens(user=person)
    announce.close_sockets_of_suspended(person.pk)


def reopen_account(*, person_id: int, by: User, reason: str, now: datetime) -> AuditEntry:
    """Reopen a closed account.

    :raises Denied: `forbidden`, `malformed`, `not_found`; `over` if the account is already open.
    """
    with locked_person(acts.REOPEN_ACCOUNT, person_id=person_id, by=by, reason=reason, now=now) as (person, why):
        _check_may_change(person, by)
        if person.is_active:
            raise Denied("over", "This account is already open.")
        person.is_active = True
        person.save(update_fields=["is_active"])
        return record(acts.REOPEN_ACCOUNT, by=by, reason=why, now=now, person=person)


def set_role(*, person_id: int, by: User, role: str, reason: str, now: datetime) -> AuditEntry:
    """Give this person the role `moderator` or `admin`, or, with an empty `role`, none, and notify them.

    :raises Denied: `forbidden`, also for a guest or a superuser; `not_found`; `malformed` also for an unknown role or
        the one that they have.
    """
    with locked_person(acts.SET_ROLE, person_id=person_id, by=by, reason=reason, now=now) as (person, reason):
        if role and role not in ROLES:
            raise Denied("malformed", "The role must be one of: {roles}, or empty.", roles=", ".join(ROLES))
        if person.is_superuser:
            raise Denied("forbidden", "A superuser has every permission and needs no role.")
        if person.is_guest:
            raise Denied("forbidden", "Guests have no password. They must sign up first.")
        before = sorted(person.groups.values_list("name", flat=True)) if person.is_staff else []
        if before == ([role] if role else []) and person.is_staff == bool(role):
            raise Denied("malformed", "They already have this role.")
        person.is_staff = bool(role)
        person.save(update_fields=["is_staff"])
        person.groups.set(Group.objects.filter(name=role))
        entry = record(acts.SET_ROLE, by=by, reason=reason, now=now, person=person, before=before, role=role)
        staff_notices.role_changed(person, role, entry_id=entry.pk, now=now)
        return entry


def drop_factor(*, person_id: int, by: User, reason: str, now: datetime) -> AuditEntry:
    """Remove the app, the passkeys and the recovery codes of a person who lost them, and notify the person.

    :raises Denied: `forbidden`, `malformed`; `not_found` also if the person has no second factor.
    """
    with locked_person(acts.DROP_FACTOR, person_id=person_id, by=by, reason=reason, now=now) as (person, reason):
        dropped, _ = Authenticator.objects.filter(user=person).delete()
        if not dropped:
            raise Denied("not_found", "{name} has no second factor.", name=person.name)
        entry = record(acts.DROP_FACTOR, by=by, reason=reason, now=now, person=person)
        staff_notices.factor_dropped(person, entry_id=entry.pk, now=now)
        return entry


PERFORM: Final[Mapping[StaffAct[User], Callable[..., object]]] = {
    acts.RENAME: rename,
    acts.CLOSE_ACCOUNT: close_account,
    acts.CLOSE_WITH_TABLES: close_with_tables,
    acts.REOPEN_ACCOUNT: reopen_account,
    acts.SET_ROLE: set_role,
    acts.DROP_FACTOR: drop_factor,
}
"""The function of each act. It takes what the act's form asks for."""
