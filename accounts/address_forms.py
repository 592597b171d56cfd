"""The forms that take a mail address, as allauth's views use them (ACCOUNT_FORMS).

`accounts.forms.SignUpQuestions` is what signing up asks besides.
"""

from __future__ import annotations

from typing import Any

from allauth.account.adapter import get_adapter
from allauth.account.forms import AddEmailForm, LoginForm, SignupForm
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from accounts import mails, tries
from accounts.addresses import LONGEST_ADDRESS
from accounts.forms import check_addresses, limit_length
from accounts.limits import SIGN_UPS, SIGN_UPS_IN_AN_HOUR, TooManyTries
from accounts.models import User
from accounts.origin import address_of
from accounts.tries import Key


class LogInForm(LoginForm):  # type: ignore[misc]  # allauth ships no types
    """Asks for the username or the address in a label; allauth has it only as a placeholder."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        login = self.fields["login"]
        login.label = "Username or email"
        del login.widget.attrs["placeholder"]
        login.widget.attrs["autocomplete"] = "username"
        limit_length(login, LONGEST_ADDRESS)


class SignUpForm(SignupForm):  # type: ignore[misc]  # allauth ships no types
    """Takes a mail address whosever it is, so that neither the page nor its work nor what follows tells.

    Whose it is settles who confirms it: see `accounts.mails` and `accounts.backends`.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        check_addresses(self)

    def try_save(self, request: HttpRequest) -> tuple[User | None, HttpResponse | None]:
        """Make the account and its address in one transaction, and count it.

        :raises TooManyTries:
        :raises NoGuest: if the guest who signs up has done so in another request.
        :raises IntegrityError: if another request has taken the name since it was checked.
        """
        keys = Key.of_address(address_of(request), SIGN_UPS, SIGN_UPS_IN_AN_HOUR)
        with tries.attempt(keys, timezone.now()) as one:
            with transaction.atomic():
                saved: tuple[User | None, HttpResponse | None] = super().try_save(request)
            one.count()
        return saved

    def validate_unique_email(self, value: str) -> str:
        taken: str = get_adapter().validate_unique_email(value)
        return taken


class AddAddressForm(AddEmailForm):  # type: ignore[misc]  # allauth ships no types
    """Adds an address to an account."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        check_addresses(self)

    def clean_email(self) -> str:
        """Refuse also if the mail that asks to confirm the address could not be sent now."""
        address: str = super().clean_email()
        try:
            mails.check_requests(kind=mails.CONFIRM, address=address, user=self.user, now=timezone.now())
        except TooManyTries as many:
            raise ValidationError(many.message, code="too_many") from None
        return address
