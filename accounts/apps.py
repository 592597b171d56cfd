"""The Django app of users, guests and API tokens."""

from typing import Any

from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "accounts"

    def ready(self) -> None:
        from allauth.mfa.signals import authenticator_added  # noqa: PLC0415  # imports models

        authenticator_added.connect(shown_at_setup)


def shown_at_setup(*, request: Any, user: Any, authenticator: Any, **rest: Any) -> None:
    """Setting a second factor up takes a code from it: this session has shown it, as if at the log-in."""
    from allauth.account.internal.flows.login import record_authentication  # noqa: PLC0415  # imports models

    if authenticator.type == authenticator.Type.TOTP:
        record_authentication(request, user, "mfa", id=authenticator.pk, type=authenticator.type)
