"""The second factor: encrypted secrets, and forms that accept each code of an app only once.

The forms count wrong codes and raise `TooManyTries` when a limit of `common.limits` is reached.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, cast
from urllib.parse import urlsplit

import structlog
from allauth.core import context
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.base.forms import AuthenticateForm, ReauthenticateForm
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.forms import ActivateTOTPForm
from allauth.mfa.utils import decrypt, encrypt
from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from accounts import actions, encryption, queries, tries, try_keys
from accounts.allauth_internals import (
    PENDING_SECRET,
    compare_user_code,
    format_hotp_value,
    hotp_value,
    yield_hotp_counters_from_time,
)
from accounts.forms import offer_to_revoke_tokens
from accounts.models import User
from common.encryption import encrypt as encrypt_stored
from common.readers_language import say
from common.say import N_

log = structlog.get_logger(__name__)

UNREADABLE: Final = "a second factor cannot be decrypted: is an old SECRET_KEY missing in SECRET_KEY_FALLBACKS?"
TURNED_OFF: Final = N_(
    "The second factor was turned off a moment ago. Load this page again to continue without a code."
)
USED: Final = N_("This code was used already. Wait until your app shows the next one.")


class SecondFactorAdapter(DefaultMFAAdapter):  # type: ignore[misc]  # allauth ships no types
    """Stores the secrets of apps and the seeds of recovery codes encrypted."""

    error_messages = DefaultMFAAdapter.error_messages | {
        "cannot_generate_recovery_codes": "Recovery codes belong to a second factor, and you have none. Set up an"
        " authenticator app or add a passkey first: that makes the codes, too.",
    }

    def get_public_key_credential_rp_entity(self) -> dict[str, str]:
        """Return the host and the name of the site for its passkeys. allauth would take both from the request."""
        return {"id": urlsplit(settings.SITE_URL).hostname or "", "name": settings.SITE_NAME}

    def generate_authenticator_name(self, user: User, type: Authenticator.Type) -> str:  # noqa: A002  # allauth's name
        """Return the name that the form for a new passkey suggests."""
        number = queries.passkeys_of(user).count() + 1
        return say.text("passkey", "Passkey {number}", number=number)

    def encrypt(self, text: str) -> str:
        return encrypt_stored(text)

    def decrypt(self, encrypted_text: str) -> str:
        try:
            return encryption.decrypt(encrypted_text)
        except encryption.UnreadableSecret:
            log.error(UNREADABLE)  # noqa: TRY400  # the traceback says nothing more
            raise


class SetUpAppForm(ActivateTOTPForm):  # type: ignore[misc]  # allauth ships no types
    """Sets up an app. Until the first code is accepted, the secret is in the session, encrypted."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.secret: str = decrypt(self.secret)  # comes from the session if the form was sent
        context.request.session[PENDING_SECRET] = encrypt(self.secret)
        offer_to_revoke_tokens(self)

    def clean_code(self) -> str:
        return _counted(self.user, self._clean_code)

    def _clean_code(self) -> str:
        code: str = super().clean_code()
        step = step_of(self.secret, code)
        if step is None or not actions.use_totp_step(user_id=self.user.pk, step=step):
            raise ValidationError(say.text("error", USED), code="used_code")
        return code


class _UsesCodeUnderLock:
    """Checks a code and uses it at once, with the person locked, so that no other request removes its factor."""

    def clean_code(self) -> str:
        return _counted(cast("Any", self).user, self._use_code)

    def _use_code(self) -> str:
        form, allauths = cast("Any", self), cast("Any", super())
        with transaction.atomic():
            if not _still_has_factor(form.user):
                raise ValidationError(say.text("error", TURNED_OFF), code="turned_off")
            code = _clean_once(form, allauths.clean_code)
            allauths.save()
        return code

    def save(self) -> None:
        """Do nothing: a right code is used by then."""


class LogInByCodeForm(_UsesCodeUnderLock, AuthenticateForm):  # type: ignore[misc]  # allauth ships no types
    """Asks for a code to complete a log-in."""


class ConfirmByCodeForm(_UsesCodeUnderLock, ReauthenticateForm):  # type: ignore[misc]  # allauth ships no types
    """Asks for a code before a change to security settings."""


def _still_has_factor(user: User) -> bool:
    """Lock the person. Return False if they have no second factor any more, or were deleted."""
    try:
        return queries.has_second_factor(actions.lock_person(user.pk))
    except User.DoesNotExist:
        return False


def _counted(user: User, check: Callable[[], str]) -> str:
    return tries.check(try_keys.second_factor(context.request, user), timezone.now(), check)


def _clean_once(form: Any, clean: Callable[[], str]) -> str:
    """Check the code of this form by allauth's `clean`, and refuse a code of the app that was used before.

    :raises ValidationError: the code is wrong or was used.
    """
    # allauth marks used codes only in the cache, and only for 30 of the 90 seconds in which it accepts one.
    app = queries.totp_of(form.user)
    step = None if app is None else step_of(decrypt(app.data["secret"]), form.cleaned_data["code"])
    used = step is not None and not actions.use_totp_step(user_id=form.user.pk, step=step)
    if used:
        form.cleaned_data["code"] = ""  # allauth refuses an empty code
    try:
        return clean()
    except ValidationError as error:
        if used and error.code == "incorrect_code":
            raise ValidationError(say.text("error", USED), code="used_code") from None
        raise


def step_of(secret: str, code: str) -> int | None:
    """Return the 30-second step (a count since 1970) of this code, or None if the code is not accepted now."""
    for step in yield_hotp_counters_from_time():
        if compare_user_code(actual=code, expected=format_hotp_value(hotp_value(secret, step))):
            return int(step)
    return None
