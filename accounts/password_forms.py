"""The forms about passwords, as allauth's views use them (ACCOUNT_FORMS)."""

from __future__ import annotations

from typing import Any

from allauth.account.adapter import get_adapter
from allauth.account.forms import ChangePasswordForm, ResetPasswordForm, ResetPasswordKeyForm
from allauth.core import context
from django import forms
from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpRequest
from django.utils import timezone

from accounts import actions, log_ins, mails, queries, tries, try_keys
from accounts.forms import check_addresses
from accounts.limits import RESETS_BY_ADDRESS, RESETS_IN_AN_HOUR, TooManyTries
from accounts.models import User
from accounts.origin import address_of
from accounts.tries import Key


@transaction.atomic
def replace_password(*, user: User, password: str) -> None:
    """Set a password for somebody who has not shown the old one, and end every session and API token of the account."""
    get_adapter().set_password(user, password)
    actions.revoke_tokens(user=user)
    log_ins.end_all(user_id=user.pk)


class ChangePassword(ChangePasswordForm):  # type: ignore[misc]  # allauth ships no types
    """Changes the password, logs out everywhere else, and asks whether to revoke the API tokens."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["revoke_tokens"] = forms.BooleanField(
            label="Revoke my API tokens",
            required=False,
            initial=True,
            help_text="Keep this ticked if somebody else may know your password. Programs that play for you then need a"
            " new token.",
        )

    def clean_oldpassword(self) -> str:
        """Check the password of now, and count a wrong one.

        :raises TooManyTries:
        """
        keys = try_keys.password_again(context.request, self.user)
        checked: str = tries.check(keys, timezone.now(), super().clean_oldpassword)
        return checked

    @transaction.atomic
    def save(self) -> None:
        super().save()
        log_ins.end_all(user_id=self.user.pk, but=context.request.session.session_key)
        if self.cleaned_data["revoke_tokens"]:
            actions.revoke_tokens(user=self.user)


class RequestReset(ResetPasswordForm):  # type: ignore[misc]  # allauth ships no types
    """Asks for the mail that leads to a new password. Its work and its answer are the same for every address."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        check_addresses(self)

    def clean_email(self) -> str:
        """Refuse a person who asks too often for their own address; how often others ask is not told."""
        address: str = get_adapter().clean_email(self.cleaned_data["email"])
        if owner := self._owner(address):
            try:
                mails.check_requests(kind=mails.RESET, address=address, user=owner, now=timezone.now())
            except TooManyTries as many:
                raise ValidationError(many.message, code="too_many") from None
        return address

    def save(self, request: HttpRequest, **options: Any) -> str:
        """Count the request, and queue the mail. Which accounts have the address is looked up when it is sent.

        :raises TooManyTries:
        """
        now, address = timezone.now(), str(self.cleaned_data["email"])
        tries.count(Key.of_address(address_of(request), RESETS_BY_ADDRESS, RESETS_IN_AN_HOUR), now)
        mails.queue(kind=mails.RESET, address=address, user=self._owner(address), now=now)
        return address

    def _owner(self, address: str) -> User | None:
        """The person who is logged in, if the address is theirs."""
        user: User | AnonymousUser = context.request.user
        return user if isinstance(user, User) and queries.has_confirmed(user, address) else None


class ResetPassword(ResetPasswordKeyForm):  # type: ignore[misc]  # allauth ships no types
    """Sets a new password after a reset by mail, and ends every session and token of the account."""

    @transaction.atomic
    def save(self) -> None:
        if context.request.user == self.user:  # else the request could not store its session, which is deleted
            get_adapter().logout(context.request)
        replace_password(user=self.user, password=self.cleaned_data["password1"])
