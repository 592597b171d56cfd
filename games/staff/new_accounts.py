"""The staff act that makes an account, also where nobody can sign up."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Final

from django.core.exceptions import ValidationError
from django.db import transaction

from accounts import mails
from accounts.actions import create_person, set_first_address
from accounts.models import User
from games.models import AuditEntry
from games.refusals import Denied
from games.staff import acts
from games.staff.acts import StaffAct
from games.staff.audit import check, record


def make_account(*, new_account_id: int, username: str, email: str, by: User, reason: str, now: datetime) -> AuditEntry:
    """Make an account without a password, and queue a mail to its address with the link that sets one.

    :raises Denied: `forbidden`; `malformed`, also if the name or the address is not allowed or not free.
    """
    with transaction.atomic():
        reason = check(acts.MAKE_ACCOUNT, by=by, reason=reason, now=now)
        try:
            person = create_person(username=username.lower())
            set_first_address(user=person, address=email)
        except ValidationError as error:
            raise Denied("malformed", "{problems}", problems=" ".join(error.messages)) from None
        mails.queue(kind=mails.RESET, address=email, user=None, now=now)
        return record(acts.MAKE_ACCOUNT, by=by, reason=reason, now=now, person=person)


PERFORM: Final[Mapping[StaffAct[Any], Callable[..., Any]]] = {acts.MAKE_ACCOUNT: make_account}
