"""What this site does when somebody logs in, confirms something, or changes second factors and addresses."""

from operator import itemgetter
from typing import Any, Final

from allauth.account import signals
from allauth.account.authentication import AUTHENTICATION_METHODS_SESSION_KEY as RECORDS
from allauth.mfa.signals import authenticator_added
from django.contrib.auth.signals import user_logged_in
from django.dispatch import receiver
from django.http import HttpRequest
from django.utils import timezone

from accounts import log_ins, mails, queries
from accounts.allauth_internals import record_authentication

AUTHENTICATIONS_KEPT: Final = 10
"""How many of allauth's records of log-ins and confirmations a session keeps."""


@receiver(authenticator_added)
def record_setup_as_shown(*, request: Any, user: Any, authenticator: Any, **rest: Any) -> None:
    """Count a second factor as shown in this session after its set-up, because setting it up used it."""
    if authenticator.type != authenticator.Type.RECOVERY_CODES:
        record_authentication(request, user, "mfa", id=authenticator.pk, type=authenticator.type)


@receiver(user_logged_in)
def remember_log_in(*, request: HttpRequest, user: Any, **rest: Any) -> None:
    """Store in the session when it logged in, and by what browser."""
    log_ins.record_log_in(request, user.pk, now=timezone.now())


@receiver(signals.authentication_step_completed)
def note_authentication(*, request: Any, user: Any, method: str, reauthenticated: bool = False, **rest: Any) -> None:
    """Shorten allauth's records of log-ins in the session, and give it a new key after a confirmation.

    The log-in of a staff member without a second factor is a confirmation, so that they can set one up at once
    (docs/decisions/0062-staff-need-a-second-factor.md).

    With the new key a stolen copy of the cookie gains nothing by the confirmation. Only the newest record of each
    method and factor is kept, and only `AUTHENTICATIONS_KEPT`. Otherwise the session, and each copy of it, would grow
    without a limit.
    """
    newest = {(record["method"], record.get("id")): record for record in request.session[RECORDS]}
    if method == "password" and user.is_staff and not queries.has_second_factor(user):
        newest[method, None]["reauthenticated"] = True
    request.session[RECORDS] = sorted(newest.values(), key=itemgetter("at"))[-AUTHENTICATIONS_KEPT:]
    if reauthenticated:
        request.session.renew_key()


@receiver(signals.email_added)
def address_added(*, user: Any, email_address: Any, **rest: Any) -> None:
    """Notify the other addresses of an account that one was added. allauth does not."""
    added = email_address.email
    mails.notify(kind=mails.ADDED, user=user, facts={"added_email": added}, except_for=added, now=timezone.now())


@receiver(signals.email_removed)
def address_removed(*, user: Any, email_address: Any, **rest: Any) -> None:
    """Notify a confirmed address that it was removed. allauth notifies only the addresses that are left."""
    if not email_address.verified:  # it may be a stranger's
        return
    removed, facts = email_address.email, {"deleted_email": email_address.email}
    mails.queue(kind=mails.DELETED, address=removed, user=user, facts=facts, confirmed=True, now=timezone.now())
