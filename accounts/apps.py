"""The Django app of users, guests and API tokens."""

from typing import Any

from django.apps import AppConfig
from django.http import HttpRequest
from django.utils import timezone


class AccountsConfig(AppConfig):
    name = "accounts"

    def ready(self) -> None:
        from allauth.account import signals  # noqa: PLC0415  # imports models
        from allauth.mfa.signals import authenticator_added  # noqa: PLC0415  # imports models
        from django.contrib.auth.signals import user_logged_in  # noqa: PLC0415  # imports models

        signals.authentication_step_completed.connect(end_copies, dispatch_uid="accounts.end_copies")
        signals.email_added.connect(address_added, dispatch_uid="accounts.address_added")
        signals.email_removed.connect(address_removed, dispatch_uid="accounts.address_removed")
        authenticator_added.connect(shown_at_setup)
        user_logged_in.connect(remember_log_in, dispatch_uid="accounts.remember_log_in")


def shown_at_setup(*, request: Any, user: Any, authenticator: Any, **rest: Any) -> None:
    """Setting a second factor up takes a code from it: this session has shown it, as if at the log-in."""
    from allauth.account.internal.flows.login import record_authentication  # noqa: PLC0415  # imports models

    if authenticator.type == authenticator.Type.TOTP:
        record_authentication(request, user, "mfa", id=authenticator.pk, type=authenticator.type)


def remember_log_in(*, request: HttpRequest, **rest: Any) -> None:
    """Keep when a session was logged in, and by what browser."""
    from accounts import log_ins  # noqa: PLC0415  # imports models

    log_ins.remember(request, now=timezone.now())


def end_copies(*, request: Any, reauthenticated: bool = False, **rest: Any) -> None:
    """Give the session a new key after a confirmation, because a copy of its cookie has not confirmed anything."""
    if reauthenticated:
        request.session.renew_key()


def address_added(*, user: Any, email_address: Any, **rest: Any) -> None:
    """Tell the other addresses of an account that one was added, which allauth does not."""
    from accounts import mails  # noqa: PLC0415  # imports models

    added = email_address.email
    mails.tell(kind=mails.ADDED, user=user, facts={"added_email": added}, but=added, now=timezone.now())


def address_removed(*, user: Any, email_address: Any, **rest: Any) -> None:
    """Tell an address that it was removed if it was confirmed. allauth tells only the addresses that are left."""
    from accounts import mails  # noqa: PLC0415  # imports models

    if not email_address.verified:  # it may be a stranger's
        return
    removed, facts = email_address.email, {"deleted_email": email_address.email}
    mails.queue(kind=mails.DELETED, address=removed, user=user, facts=facts, confirmed=True, now=timezone.now())
