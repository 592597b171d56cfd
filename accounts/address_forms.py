"""The forms with a mail address that replace allauth's (`ACCOUNT_FORMS`): log in, sign up, add an address."""

from __future__ import annotations

from typing import Any, cast

from allauth.account.adapter import get_adapter
from allauth.account.forms import AddEmailForm, LoginForm, PasswordField, ReauthenticateForm, SignupForm
from allauth.account.models import EmailAddress
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from accounts import invitations, mails, tries
from accounts.forms import ChecksAddress, limit_length, shorten_password_help
from accounts.models import User
from accounts.origin import address_of
from accounts.tries import Key
from common.limits import SIGN_UPS, SIGN_UPS_IN_AN_HOUR, TooManyTries
from mail.addresses import LONGEST_ADDRESS, spellings


class LogInForm(LoginForm):  # type: ignore[misc]  # allauth ships no types
    """Asks for the username or address. allauth has no label for it, only a placeholder."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        login = self.fields["login"]
        login.label = "Username or email"
        del login.widget.attrs["placeholder"]
        login.widget.attrs["autocomplete"] = "username"
        limit_length(login, LONGEST_ADDRESS)

    def clean(self) -> dict[str, Any]:
        """Check the password, and replace the address by its stored spelling.

        allauth would store another spelling as one more address, which waits for its confirmation.
        """
        cleaned: dict[str, Any] = super().clean()
        if self.user and self._login.email:
            written = spellings(self._login.email.lower())
            stored = EmailAddress.objects.filter(user=self.user, email__in=written).order_by("-verified").first()
            self._login.email = stored.email if stored else self.user.email
        return cleaned


class CountedSignUp(ChecksAddress):
    """A sign-up form that accepts an address that another account has, so that nobody finds out which have accounts.

    The address belongs to the account that confirms it (`accounts.mails`). `forms.SignUpQuestions` has the other
    fields.
    """

    def try_save(self, request: HttpRequest) -> tuple[User | None, HttpResponse | None]:
        """Create the account and its address in one transaction, use its invitation up, and count it.

        :raises TooManyTries: too many accounts from this network.
        :raises NoGuest: the guest has signed up in another request meanwhile.
        :raises UnusableInvitation: another request has used the invitation, or it ended meanwhile.
        :raises IntegrityError: another request has taken the name since it was checked.
        """
        keys = [Key.of(limit, address_of(request)) for limit in (SIGN_UPS, SIGN_UPS_IN_AN_HOUR)]
        with tries.begin(keys, timezone.now()) as current:
            with transaction.atomic():
                saved: tuple[User | None, HttpResponse | None] = cast("Any", super()).try_save(request)
                if (digest := invitations.invitation_of(request)) and saved[0] is not None:
                    invitations.use(digest=digest, user=saved[0], now=timezone.now())
            current.count()
        return saved

    def validate_unique_email(self, value: str) -> str:
        # allauth's form would mark an address of another account. The adapter accepts it.
        taken: str = get_adapter().validate_unique_email(value)
        return taken


class SignUpForm(CountedSignUp, SignupForm):  # type: ignore[misc]  # allauth ships no types
    """Asks for a username and a password."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        shorten_password_help(self)


class AddAddressForm(ChecksAddress, AddEmailForm):  # type: ignore[misc]  # allauth ships no types
    def clean_email(self) -> str:
        """Return the address. Refuse it also if this person has asked for too many confirmation mails."""
        address: str = super().clean_email()
        try:
            mails.check_requests(kind=mails.CONFIRM, address=address, user=self.user, now=timezone.now())
        except TooManyTries as many:
            raise ValidationError(many.message, code="too_many") from None
        return address


class CorrectAddressForm(AddAddressForm):
    """Asks somebody who must confirm their address for another one, and for the password if they have one."""

    password = PasswordField(label="Password", autocomplete="current-password")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.user is None or not self.user.has_usable_password():
            del self.fields["password"]

    clean_password = ReauthenticateForm.clean_password
