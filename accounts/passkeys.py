"""Passkeys: a second factor that can also log in alone. The forms and pages replace allauth's.

A device uses a passkey only for the address of this site, and only after it has checked its owner by a fingerprint, a
face or a PIN. So a passkey is two factors in one (docs/decisions/0092-second-factors.md).
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from ipaddress import ip_address
from typing import Any, Final, cast
from urllib.parse import urlsplit

from allauth.account.utils import passthrough_next_redirect_url
from allauth.mfa.base.views import AuthenticateView, ReauthenticateView
from allauth.mfa.models import Authenticator
from allauth.mfa.webauthn.forms import (
    AddWebAuthnForm,
    AuthenticateWebAuthnForm,
    EditWebAuthnForm,
    LoginWebAuthnForm,
    ReauthenticateWebAuthnForm,
)
from allauth.mfa.webauthn.views import (
    AddWebAuthnView,
    EditWebAuthnView,
    LoginWebAuthnView,
    ReauthenticateWebAuthnView,
    RemoveWebAuthnView,
)
from cryptography.exceptions import InvalidSignature
from django import forms
from django.conf import settings
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect
from django.urls import reverse, reverse_lazy
from fido2.utils import websafe_decode, websafe_encode
from fido2.webauthn import AttestedCredentialData, CollectedClientData, RegistrationResponse

from accounts import actions, allauth_internals, queries
from accounts.actions import NOT_ALONE
from accounts.changes import AddsFactor, NotAfterEnd
from accounts.forms import offer_to_revoke_tokens
from accounts.models import User
from common.readers_language import say
from common.say import N_

MOST: Final = 10
"""How many passkeys a person may have."""
LONGEST_NAME: Final = 50
LONGEST_ANSWER: Final = 16 * 1024
"""The most characters of a device's answer, several times what devices send."""
NOT_ACCEPTED: Final = N_("This passkey was not accepted. Try again, or use another way.")
LAST_WAY: Final = N_("This passkey is your only way to log in. Set a password or add another passkey first.")
NEEDS_MORE: Final = N_(
    "The password was reset since you added this passkey. Log in with the password, and use the passkey then."
)
ADDED: Final = "added"
"""The code of the error that the account has this passkey already."""
MALFORMED: Final = (
    ArithmeticError, AssertionError, AttributeError, LookupError, NotImplementedError, RecursionError, TypeError,
    ValueError, struct.error,
)  # fmt: skip
"""What the parsers of JSON and of the `fido2` package raise for an answer that no device sends."""


def are_possible() -> bool:
    """Return True if browsers allow passkeys at this site's address: https or localhost, and a host name."""
    site = urlsplit(settings.SITE_URL)
    host = site.hostname or ""
    try:
        ip_address(host)
    except ValueError:
        return site.scheme == "https" or host == "localhost" or host.endswith(".localhost")
    return False


@contextmanager
def _refusing() -> Iterator[None]:
    """Turn every way in which an answer of a device is wrong into one sentence.

    :raises ValidationError: the answer is wrong, or its account was deleted meanwhile.
    """
    try:
        yield
    except (ValidationError, User.DoesNotExist, *MALFORMED) as error:
        raise ValidationError(say.text("error", NOT_ACCEPTED), code="not_accepted") from error


class AnswerField(forms.Field):
    """The answer of a device, a JSON object."""

    widget = forms.HiddenInput
    default_error_messages = {"required": NOT_ACCEPTED}  # as in Django

    def to_python(self, value: object) -> dict[str, Any] | None:
        """Return the object, or None without a value.

        :raises ValidationError: it is none, or longer than `LONGEST_ANSWER`.
        """
        if value in self.empty_values:
            return None
        with _refusing():
            if not isinstance(value, str) or len(value) > LONGEST_ANSWER:
                raise ValueError
            found = json.loads(value)
            if not isinstance(found, dict):
                raise TypeError
        return found


def _check_origin(data: CollectedClientData) -> None:
    """Check that the device answered a page of this site. The package accepts also subdomains and other ports.

    :raises ValueError: it did not.
    """
    if data.cross_origin or data.origin != _origin():
        raise ValueError


def _origin() -> str:
    """Return this site's address as browsers write it, which leave out the usual port."""
    site = urlsplit(settings.SITE_URL)
    usual = {"https": 443, "http": 80}[site.scheme]
    host = (site.hostname or "").lower()
    return f"{site.scheme}://{host}" if site.port in (None, usual) else f"{site.scheme}://{host}:{site.port}"


def _check_key(stored: AttestedCredentialData, credential_id: bytes) -> None:
    """Check that a new passkey can be used.

    :raises ValueError: it has another id than the answer says, or an unknown kind of key.
    """
    if stored.credential_id != credential_id:
        raise ValueError
    with suppress(InvalidSignature):
        stored.public_key.verify(b"", b"")


def _name_field() -> forms.CharField:
    return forms.CharField(
        label="Name", max_length=LONGEST_NAME, help_text="Only you see it: for example the device that has the passkey."
    )


class AddPasskeyForm(AddWebAuthnForm):  # type: ignore[misc]  # allauth ships no types
    """Adds a passkey."""

    passwordless = None  # each passkey can log in alone, so allauth's choice is removed
    name = _name_field()
    credential = AnswerField()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        offer_to_revoke_tokens(self)

    def clean_credential(self) -> dict[str, Any]:
        """Return only those parts of the answer that are needed later, as the parser understood them.

        :raises ValidationError: the answer cannot be read, or the account has this passkey already.
        """
        with _refusing():
            answer: RegistrationResponse = allauth_internals.parse_registration_response(
                self.cleaned_data["credential"]
            )
            _check_origin(answer.response.client_data)
            stored = answer.response.attestation_object.auth_data.credential_data
            assert stored is not None  # else it is an answer to another question
            _check_key(stored, answer.raw_id)
            rk = (answer.client_extension_results.get("credProps") or {}).get("rk")
        self.check_is_new(answer.raw_id)
        return {
            "id": websafe_encode(answer.raw_id),
            "rawId": websafe_encode(answer.raw_id),
            "type": "public-key",
            "response": {
                "clientDataJSON": websafe_encode(answer.response.client_data),
                "attestationObject": websafe_encode(answer.response.attestation_object),
            },
            "clientExtensionResults": {"credProps": {"rk": rk}} if isinstance(rk, bool) else {},
        }

    def check_is_new(self, credential_id: bytes) -> None:
        if allauth_internals.get_authenticator_by_credential_id(self.user, credential_id) is not None:
            raise ValidationError(say.text("error", "You have added this passkey already."), code=ADDED)

    def clean(self) -> dict[str, Any]:
        with _refusing():
            cleaned: dict[str, Any] = super().clean()
        return cleaned


class RenamePasskeyForm(EditWebAuthnForm):  # type: ignore[misc]  # allauth ships no types
    """Gives a passkey another name."""

    name = _name_field()


class _OfThisSite(forms.Form):
    """Accepts only what a device has answered to a page of this site."""

    credential = AnswerField()

    def clean_credential(self) -> Authenticator:
        with _refusing():
            answer = allauth_internals.parse_authentication_response(self.cleaned_data["credential"])
            _check_origin(answer.response.client_data)
            passkey: Authenticator = cast("Any", super()).clean_credential()
        return passkey


class _UsesPasskeyUnderLock(_OfThisSite):
    """Checks an answer and uses it at once, with the person locked, so that no other request removes the passkey."""

    def clean_credential(self) -> Authenticator:
        form, allauths = cast("Any", self), cast("Any", super())
        with transaction.atomic(), _refusing():
            actions.lock_person(form.user.pk)
            form.cleaned_data["credential"] = allauths.clean_credential()
            allauths.save()
        passkey: Authenticator = form.cleaned_data["credential"]
        return passkey

    def save(self) -> None:
        """Do nothing: the passkey is used by then."""


class LogInByFactorForm(_UsesPasskeyUnderLock, AuthenticateWebAuthnForm):  # type: ignore[misc]  # allauth ships no types
    """Asks for a passkey after the password."""


class ConfirmByPasskeyForm(_UsesPasskeyUnderLock, ReauthenticateWebAuthnForm):  # type: ignore[misc]  # allauth ships no types
    """Asks for a passkey before a change to security settings."""


class LogInByPasskeyForm(_OfThisSite, LoginWebAuthnForm):  # type: ignore[misc]  # allauth ships no types
    """Asks for a passkey alone. The passkey itself says whose it is."""

    def clean_credential(self) -> Authenticator:
        passkey = super().clean_credential()
        if passkey.data.get(NOT_ALONE):
            raise ValidationError(say.text("error", NEEDS_MORE), code="not_alone")
        return passkey


class ShowsFactors:
    """A page that says which second factors a person has, and can use here."""

    def person(self) -> User:
        """Return the person whose factors the page is about: the one who is logged in."""
        return cast("User", cast("Any", self).request.user)

    def get_context_data(self, **context: Any) -> dict[str, Any]:
        shown: dict[str, Any] = cast("Any", super()).get_context_data(**context)
        person = self.person()
        return shown | {
            "has_app": queries.totp_of(person) is not None,
            "has_passkey": are_possible() and queries.passkeys_of(person).exists(),
        }


class AddPasskey(AddsFactor, AddWebAuthnView):  # type: ignore[misc]  # allauth ships no types
    """Adds a passkey. A form that is sent twice adds one."""

    def get_context_data(self, **context: Any) -> dict[str, Any]:
        user = self.request.user
        # True asks the device to store the passkey, so that it can log in alone, and to check its owner.
        options = allauth_internals.begin_registration(user, True)  # has no name in the package's stubs
        # Past allauth's own method, which would begin another registration, for a passkey that cannot log in alone.
        shown: dict[str, Any] = super(AddWebAuthnView, self).get_context_data(**context)
        return shown | {"js_data": {"creation_options": options}, "has_factor": queries.has_second_factor(user)}

    def make_change(self, form: Any) -> HttpResponse:
        if queries.passkeys_of(form.user).count() >= MOST:
            form.add_error(
                None,
                say.plural(
                    "error",
                    "You have {n} passkey already. Remove it first.",
                    "You have {n} passkeys already. Remove one first.",
                    MOST,
                ),
            )
            return self.form_invalid(form)
        try:
            form.check_is_new(websafe_decode(form.cleaned_data["credential"]["rawId"]))
        except ValidationError:
            return self.redirect_to_factors()
        return super().make_change(form)

    def form_invalid(self, form: Any) -> HttpResponse:
        if form.has_error("credential", ADDED):  # a double click
            return self.redirect_to_factors()
        refused: HttpResponse = super().form_invalid(form)
        return refused


class RenamePasskey(NotAfterEnd, EditWebAuthnView):  # type: ignore[misc]  # allauth ships no types
    """Gives a passkey another name."""

    success_url = reverse_lazy("mfa_index")

    def make_change(self, form: Any) -> HttpResponse:
        # As it is now that the person is locked. allauth would store a removed one again.
        form.instance = self.get_queryset().filter(pk=form.instance.pk).first()
        if form.instance is None:
            return redirect("mfa_index")
        return super().make_change(form)


class RemovePasskey(NotAfterEnd, RemoveWebAuthnView):  # type: ignore[misc]  # allauth ships no types
    """Removes a passkey and logs out everywhere else, because it can have logged in there.

    Recovery codes are removed with the last second factor. The last way to log in cannot be removed.
    """

    success_url = reverse_lazy("mfa_index")

    def get_context_data(self, **context: Any) -> dict[str, Any]:
        shown: dict[str, Any] = super().get_context_data(**context)
        user = self.request.user
        return shown | {
            "is_last": not queries.has_second_factor(user, except_for=self.object.pk),
            "is_last_way": self.is_last_way(user),
        }

    def is_last_way(self, user: User) -> bool:
        """Return True if nothing else logs this person in."""
        if user.has_usable_password() or queries.identity_here(user) is not None:
            return False
        return not queries.passkeys_of(user).exclude(pk=self.object.pk).exists()

    def make_change(self, form: Any) -> HttpResponse:
        if not self.get_queryset().filter(pk=self.object.pk).exists():  # a double click
            return redirect("mfa_index")
        if self.is_last_way(self.request.user):
            messages.error(self.request, say.text("message", LAST_WAY))
            return redirect("mfa_index")
        return self.change_and_end_elsewhere(form)


class EnterSecondFactor(ShowsFactors, AuthenticateView):  # type: ignore[misc]  # allauth ships no types
    """Asks for the second factor after the password: a code or a passkey, whatever this person has."""

    def person(self) -> User:
        user: User = self.stage.login.user
        return user


class ConfirmByCode(ShowsFactors, ReauthenticateView):  # type: ignore[misc]  # allauth ships no types
    """Asks for a code before a change to security settings."""


class ConfirmByPasskey(ReauthenticateWebAuthnView):  # type: ignore[misc]  # allauth ships no types
    """Asks for a passkey before a change to security settings. Shows the form again with its errors."""

    def get_context_data(self, **context: Any) -> dict[str, Any]:
        shown: dict[str, Any] = super().get_context_data()  # allauth's method takes no form
        return shown | context

    def form_invalid(self, form: Any) -> HttpResponse:
        answer: HttpResponse = self.render_to_response(self.get_context_data(form=form))
        return answer


class LogInByPasskey(LoginWebAuthnView):  # type: ignore[misc]  # allauth ships no types
    """Logs in by a passkey alone. GET answers a script with what the device has to sign."""

    def form_valid(self, form: Any) -> HttpResponse:
        passkey: Authenticator = form.cleaned_data["credential"]
        with transaction.atomic():
            # The passkey, and with it the person, may have been removed since it was checked.
            if not User.objects.select_for_update().filter(pk=passkey.user_id, authenticator=passkey.pk).exists():
                form.add_error("credential", NOT_ACCEPTED)
                return self.form_invalid(form)
            answer: HttpResponse = super().form_valid(form)
        return answer

    def form_invalid(self, form: Any) -> HttpResponse:
        for sentence in form.errors["credential"]:
            messages.error(self.request, sentence)
        return HttpResponseRedirect(passthrough_next_redirect_url(self.request, reverse("account_login"), "next"))
