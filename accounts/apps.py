"""The Django app of users, guests and API tokens."""

from operator import itemgetter
from typing import Any, Final

from django.apps import AppConfig
from django.http import HttpRequest
from django.utils import timezone

AUTHENTICATIONS_KEPT: Final = 10
"""How many of allauth's records of log-ins and confirmations a session keeps."""


class AccountsConfig(AppConfig):
    name = "accounts"

    def ready(self) -> None:
        from allauth.account import signals  # noqa: PLC0415  # imports models
        from allauth.mfa.signals import authenticator_added  # noqa: PLC0415  # imports models
        from django.contrib.auth.signals import user_logged_in  # noqa: PLC0415  # imports models

        signals.authentication_step_completed.connect(note_authentication, dispatch_uid="accounts.note_authentication")
        signals.email_added.connect(address_added, dispatch_uid="accounts.address_added")
        signals.email_removed.connect(address_removed, dispatch_uid="accounts.address_removed")
        authenticator_added.connect(record_setup_as_shown)
        user_logged_in.connect(remember_log_in, dispatch_uid="accounts.remember_log_in")


def record_setup_as_shown(*, request: Any, user: Any, authenticator: Any, **rest: Any) -> None:
    """Count a second factor as shown in this session after its set-up, because setting it up used it."""
    from accounts.allauth_internals import record_authentication  # noqa: PLC0415  # imports models

    if authenticator.type != authenticator.Type.RECOVERY_CODES:
        record_authentication(request, user, "mfa", id=authenticator.pk, type=authenticator.type)


def remember_log_in(*, request: HttpRequest, user: Any, **rest: Any) -> None:
    """Store in the session when it logged in, and by what browser."""
    from accounts import log_ins  # noqa: PLC0415  # imports models

    log_ins.record_log_in(request, user.pk, now=timezone.now())


def note_authentication(*, request: Any, user: Any, method: str, reauthenticated: bool = False, **rest: Any) -> None:
    """Shorten allauth's records of log-ins in the session, and give it a new key after a confirmation.

    The log-in of a staff member without a second factor is a confirmation, so that they can set one up at once
    (docs/decisions/0062-staff-need-a-second-factor.md).

    With the new key a stolen copy of the cookie gains nothing by the confirmation. Only the newest record of each
    method and factor is kept, and only `AUTHENTICATIONS_KEPT`. Otherwise the session, and each copy of it, would grow
    without a limit.
    """
    from allauth.account.authentication import (  # noqa: PLC0415  # imports models
        AUTHENTICATION_METHODS_SESSION_KEY as RECORDS,
    )

    from accounts import queries  # noqa: PLC0415  # imports models

    newest = {(record["method"], record.get("id")): record for record in request.session[RECORDS]}
    if method == "password" and user.is_staff and not queries.has_second_factor(user):
        newest[method, None]["reauthenticated"] = True
    request.session[RECORDS] = sorted(newest.values(), key=itemgetter("at"))[-AUTHENTICATIONS_KEPT:]
    if reauthenticated:
        request.session.renew_key()


def address_added(*, user: Any, email_address: Any, **rest: Any) -> None:
    """Notify the other addresses of an account that one was added. allauth does not."""
    from accounts import mails  # noqa: PLC0415  # imports models

    added = email_address.email
    mails.notify(kind=mails.ADDED, user=user, facts={"added_email": added}, except_for=added, now=timezone.now())


def address_removed(*, user: Any, email_address: Any, **rest: Any) -> None:
    """Notify a confirmed address that it was removed. allauth notifies only the addresses that are left."""
    from accounts import mails  # noqa: PLC0415  # imports models

    if not email_address.verified:  # it may be a stranger's
        return
    removed, facts = email_address.email, {"deleted_email": email_address.email}
    mails.queue(kind=mails.DELETED, address=removed, user=user, facts=facts, confirmed=True, now=timezone.now())
