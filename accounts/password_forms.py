"""The forms about passwords that replace allauth's (ACCOUNT_FORMS)."""

from __future__ import annotations

from typing import Any

from allauth.account.adapter import get_adapter
from allauth.account.forms import ChangePasswordForm, ResetPasswordForm, ResetPasswordKeyForm
from allauth.account.models import EmailAddress
from allauth.core import context
from django import forms
from django.contrib import messages
from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpRequest
from django.utils import timezone

from accounts import actions, log_ins, mails, queries, tries, try_keys
from accounts.forms import check_addresses, use_sentence_case
from accounts.limits import RESETS_BY_ADDRESS, RESETS_IN_AN_HOUR, TooManyTries
from accounts.models import User
from accounts.origin import address_of
from accounts.reset_tokens import address_of_token
from accounts.tries import Key


@transaction.atomic
def replace_password(*, user: User, password: str, mailed_to: str = "") -> None:
    """Set a password without asking for the old one. End all sessions and revoke all API tokens of the account.

    Addresses that are not confirmed are deleted, except the one that the link to this was mailed to. Without a link,
    the primary address is kept if none is confirmed.

    :param mailed_to: the address that the link was mailed to, if any.
    """
    get_adapter().set_password(user, password)
    _remove_unconfirmed(user, keep=mailed_to)
    actions.revoke_tokens(user=user)
    log_ins.end_all(user_id=user.pk)


def _remove_unconfirmed(user: User, *, keep: str = "") -> list[str]:
    """Delete the addresses of this account that are not confirmed, except one, and return them.

    Somebody who knew the old password may have added one. It could be confirmed later, or reset the password of an
    account that has confirmed none.

    :param keep: the address that stays; by default the first one if none is confirmed.
    """
    addresses = EmailAddress.objects.filter(user=user)
    if not keep and not addresses.filter(verified=True).exists():
        first = queries.first_address(user)  # somebody else could have made theirs the primary one
        keep = "" if first is None else first.email
    others = addresses.filter(verified=False).exclude(email=keep)
    removed = list(others.order_by("pk").values_list("email", flat=True))
    others.delete()
    left = list(addresses.order_by("-verified", "pk"))
    if left and not any(address.primary for address in left):
        left[0].set_as_primary()
    return removed


class ChangePassword(ChangePasswordForm):  # type: ignore[misc]  # allauth ships no types
    """Changes the password, logs out all other browsers, and asks whether to revoke the API tokens."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        use_sentence_case(self)
        self.fields["revoke_tokens"] = forms.BooleanField(
            label="Revoke my API tokens",
            required=False,
            initial=True,
            help_text="Recommended if someone else may know your password. Programs that play for you will need new"
            " tokens.",
        )

    def clean_oldpassword(self) -> str:
        """Check the current password, and count a wrong one.

        :raises TooManyTries: too many wrong passwords.
        """
        keys = try_keys.password_again(context.request, self.user)
        checked: str = tries.check(keys, timezone.now(), super().clean_oldpassword)
        return checked

    @transaction.atomic
    def save(self) -> None:
        super().save()
        log_ins.end_all(user_id=self.user.pk, keep=context.request.session.session_key)
        if self.cleaned_data["revoke_tokens"]:
            actions.revoke_tokens(user=self.user)
        if removed := _remove_unconfirmed(self.user):
            sentence = f"Removed, because not confirmed: {', '.join(removed)}. Add what is yours again."
            messages.warning(context.request, sentence)


class RequestReset(ResetPasswordForm):  # type: ignore[misc]  # allauth ships no types
    """Requests the mail that leads to a new password. Takes the same time and answers the same for every address."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        check_addresses(self)

    def clean_email(self) -> str:
        """Refuse a person who asks too often for their own address. How often others ask does not show."""
        address: str = get_adapter().clean_email(self.cleaned_data["email"])
        if owner := self._owner(address):
            try:
                mails.check_requests(kind=mails.RESET, address=address, user=owner, now=timezone.now())
            except TooManyTries as many:
                raise ValidationError(many.message, code="too_many") from None
        return address

    def save(self, request: HttpRequest, **options: Any) -> str:
        """Count the request and queue the mail. The accounts of the address are looked up when it is sent.

        :raises TooManyTries: too many requests from this network.
        """
        now, address = timezone.now(), str(self.cleaned_data["email"])
        tries.count(Key.of_address(address_of(request), RESETS_BY_ADDRESS, RESETS_IN_AN_HOUR), now)
        mails.queue(kind=mails.RESET, address=address, user=self._owner(address), now=now)
        return address

    def _owner(self, address: str) -> User | None:
        """Return the logged-in user if they have confirmed this address."""
        user: User | AnonymousUser = context.request.user
        return user if isinstance(user, User) and queries.has_confirmed(user, address) else None


class ResetPassword(ResetPasswordKeyForm):  # type: ignore[misc]  # allauth ships no types
    """Sets a new password after a reset by mail. Ends all sessions and revokes all API tokens of the account.

    :raises accounts.actions.AccountChanged: the link stopped working while the form was open.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        use_sentence_case(self)

    @transaction.atomic
    def save(self) -> None:
        mailed_to = address_of_token(self.user, self.temp_key)
        if mailed_to is None:
            raise actions.AccountChanged
        if context.request.user == self.user:
            # The row of the session is deleted below, and saving it after that would fail.
            get_adapter().logout(context.request)
        replace_password(user=self.user, password=self.cleaned_data["password1"], mailed_to=mailed_to)
