"""The staff act on a person's invitations to sign up."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Final

from accounts import invitations
from accounts.models import User
from games.models import AuditEntry
from games.refusals import Denied
from games.staff import acts
from games.staff.acts import StaffAct
from games.staff.audit import record
from games.staff.people import locked_person


def revoke_invitations(*, person_id: int, by: User, reason: str, now: datetime) -> AuditEntry:
    """Revoke all invitations of this person that nobody has used.

    :raises Denied: `forbidden`, `malformed`, `not_found`.
    """
    with locked_person(acts.REVOKE_INVITATIONS, person_id=person_id, by=by, reason=reason, now=now) as (person, reason):
        revoked = invitations.revoke_all(user=person, now=now)
        if not revoked:
            raise Denied("not_found", "{name} has no invitation that works.", name=person.name)
        return record(acts.REVOKE_INVITATIONS, by=by, reason=reason, now=now, person=person, revoked=revoked)


PERFORM: Final[Mapping[StaffAct[Any], Callable[..., Any]]] = {acts.REVOKE_INVITATIONS: revoke_invitations}
