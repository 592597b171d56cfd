"""What staff do to an account: correct its name, close and reopen it, give it a role, take its lost factor away."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Final

from allauth.mfa.models import Authenticator
from django.contrib.auth.models import Group
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from accounts import queries as accounts
from accounts.models import User
from accounts.names import clean_display_name, username_validators
from games import announce
from games.models import AuditEntry
from games.notices import staff_notices
from games.refusals import Denied
from games.staff import acts
from games.staff.acts import StaffAct, may_change_account
from games.staff.audit import check, check_person, record
from games.staff.people import forget_name, locked
from games.staff.roles import ROLES


def check_account(person: User, *, by: User) -> None:
    """Like `check_person`, and only superusers touch the accounts of staff.

    :raises Denied: `forbidden`.
    """
    check_person(person, by=by)
    if not may_change_account(person, by):
        raise Denied("forbidden", "Only a superuser changes the account of a member of staff.")


def rename(*, person_id: int, by: User, username: str, display_name: str, reason: str, now: datetime) -> AuditEntry:
    """Give this person another username, another name at the table (or none: then it is the username), or both.

    :raises Denied: `forbidden`, `not_found`; `malformed` also for a name that is not one, is taken, or is the same.
    """
    with transaction.atomic():
        reason = check(acts.RENAME, by=by, reason=reason, now=now)
        person = locked(person_id)
        check_account(person, by=by)
        before = {"username": person.username, "display_name": person.display_name}
        after = {"username": username.strip(), "display_name": clean_display_name(display_name)}
        if before == after:
            raise Denied("malformed", "These are the names that they go by already: change one.")
        entry = record(acts.RENAME, by=by, reason=reason, now=now, person=person, before=before, after=after)
        for field, name in after.items():
            if name != before[field]:
                _set_name(person, field, name)
        try:
            with transaction.atomic():
                forget_name(person)
                person.save(update_fields=["username", "display_name"])
        except IntegrityError:
            raise Denied("malformed", "Somebody else goes by this name.") from None
        return entry


def _set_name(person: User, field: str, name: str) -> None:
    setattr(person, field, name)
    try:
        for validate in username_validators if field == "username" else ():
            validate(name)
        person.clean_fields(exclude={other.name for other in User._meta.fields} - {field})
    except ValidationError as bad:
        raise Denied("malformed", " ".join(bad.messages)) from bad
    if name and (clash := accounts.name_clash(name, but=person)):
        raise Denied("malformed", clash)


def close_account(*, person_id: int, by: User, reason: str, now: datetime) -> AuditEntry:
    """Nobody can log in to this account, or use its tokens, until it is opened again; nothing of it is deleted.

    :raises Denied: `forbidden`, `malformed`, `not_found`; `over` if it is closed.
    """
    return _set_open(acts.CLOSE_ACCOUNT, person_id=person_id, by=by, reason=reason, now=now)


def reopen_account(*, person_id: int, by: User, reason: str, now: datetime) -> AuditEntry:
    """Let this person in again.

    :raises Denied: `forbidden`, `malformed`, `not_found`; `over` if the account is open.
    """
    return _set_open(acts.REOPEN_ACCOUNT, person_id=person_id, by=by, reason=reason, now=now)


def _set_open(act: StaffAct[User], *, person_id: int, by: User, reason: str, now: datetime) -> AuditEntry:
    with transaction.atomic():
        reason = check(act, by=by, reason=reason, now=now)
        person = locked(person_id)
        check_account(person, by=by)
        open_ = act is acts.REOPEN_ACCOUNT
        if person.is_active == open_:
            raise Denied("over", f"This account is {'open' if open_ else 'closed'} already.")
        person.is_active = open_
        person.save(update_fields=["is_active"])
        if not open_:
            announce.shut_out(person.pk)
        return record(act, by=by, reason=reason, now=now, person=person)


def set_role(*, person_id: int, by: User, role: str, reason: str, now: datetime) -> AuditEntry:
    """Make this person a moderator or an admin, or, with an empty `role`, a player like any other.

    :raises Denied: `forbidden`, also for a guest or a superuser; `not_found`; `malformed` also for a role that is none,
        or theirs.
    """
    with transaction.atomic():
        reason = check(acts.SET_ROLE, by=by, reason=reason, now=now)
        if role and role not in ROLES:
            raise Denied("malformed", f"The role is one of {', '.join(ROLES)}, or none.")
        person = locked(person_id)
        check_person(person, by=by)
        if person.is_superuser:
            raise Denied("forbidden", "A superuser may do everything, and has no role to give or take.")
        if person.is_guest:
            raise Denied("forbidden", "A guest has no password: they sign up first.")
        before = sorted(person.groups.values_list("name", flat=True)) if person.is_staff else []
        if before == ([role] if role else []) and person.is_staff == bool(role):
            raise Denied("malformed", "That is their role already.")
        person.is_staff = bool(role)
        person.save(update_fields=["is_staff"])
        person.groups.set(Group.objects.filter(name=role))
        return record(acts.SET_ROLE, by=by, reason=reason, now=now, person=person, before=before, role=role)


def drop_factor(*, person_id: int, by: User, reason: str, now: datetime) -> AuditEntry:
    """Take the authenticator app and the recovery codes of somebody who lost them away, so that they can set up others.

    They are told: it may be somebody else who asked for it.

    :raises Denied: `forbidden`, `malformed`, `not_found`, also without such a factor.
    """
    with transaction.atomic():
        reason = check(acts.DROP_FACTOR, by=by, reason=reason, now=now)
        person = locked(person_id)
        check_person(person, by=by)
        dropped, _ = Authenticator.objects.filter(user=person).delete()
        if not dropped:
            raise Denied("not_found", f"{person.name} has no second factor.")
        entry = record(acts.DROP_FACTOR, by=by, reason=reason, now=now, person=person)
        staff_notices.factor_dropped(person, mark=entry.pk, now=now)
        return entry


PERFORM: Final[Mapping[StaffAct[User], Callable[..., object]]] = {
    acts.RENAME: rename,
    acts.CLOSE_ACCOUNT: close_account,
    acts.REOPEN_ACCOUNT: reopen_account,
    acts.SET_ROLE: set_role,
    acts.DROP_FACTOR: drop_factor,
}
"""The function of each act, which takes what the act's form asks for."""
