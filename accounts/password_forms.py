"""The forms about passwords that replace allauth's (ACCOUNT_FORMS)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from allauth.account.adapter import get_adapter
from allauth.account.forms import ChangePasswordForm, ResetPasswordForm, ResetPasswordKeyForm, SetPasswordForm
from allauth.account.models import EmailAddress
from allauth.core import context
from django import forms
from django.contrib import messages
from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone

from accounts import actions, log_ins, mails, queries, tries, try_keys
from accounts.forms import ChecksAddress, SentenceCase, revoke_tokens_field
from accounts.models import User
from accounts.origin import address_of
from accounts.reset_tokens import address_of_token
from accounts.tries import Key
from common.limits import RESETS_BY_ADDRESS, RESETS_IN_AN_HOUR, TooManyTries
from common.readers_language import say

NOT_MINE: Final = "none"
"""The choice that none of the addresses is one's own. No address has this form."""


@transaction.atomic
def replace_password(*, user: User, password: str, mailed_to: str = "") -> list[str]:
    """Set a password without asking for the old one. End all sessions and revoke all API tokens of the account.

    Addresses that are not confirmed are removed, except the one that the link to this was mailed to. If the account had
    a password before, its link with the OpenID provider is removed as well: somebody else who knew that password can
    have made it. Passkeys stay second factors, but log in no more without the new password, for the same reason.

    :param mailed_to: the address that the link was mailed to, if any.
    :returns: the removed addresses.
    """
    if user.has_usable_password():
        _unlink(user)
    get_adapter().set_password(user, password)
    others = EmailAddress.objects.filter(user=user, verified=False).exclude(email=mailed_to)
    removed = _remove(user, others)
    actions.let_no_passkey_log_in_alone(user=user)
    actions.revoke_tokens(user=user)
    log_ins.end_all(user_id=user.pk)
    return removed


def _unlink(user: User) -> None:
    """Remove the identities of this person at OpenID providers, and tell the confirmed addresses."""
    if actions.drop_identities(user=user):
        mails.notify(kind=mails.UNLINKED, user=user, facts={"provider": queries.provider_name()}, now=timezone.now())


def _remove(user: User, addresses: QuerySet[EmailAddress]) -> list[str]:
    """Remove these addresses of an account, and tell those that were confirmed and the others. Return the removed."""
    now, removed = timezone.now(), list(addresses.order_by("pk"))
    addresses.delete()
    for address in removed:
        if address.verified:
            facts = {"deleted_email": address.email}
            mails.queue(kind=mails.DELETED, address=address.email, user=user, facts=facts, confirmed=True, now=now)
            mails.notify(kind=mails.DELETED, user=user, facts=facts, now=now)
    left = EmailAddress.objects.filter(user=user).order_by("-primary", "-verified", "pk").first()
    if left is None:
        user.email = ""
        user.save(update_fields=["email"])
    elif not left.primary:
        left.set_as_primary()
    return [address.email for address in removed]


class ChangePassword(SentenceCase, ChangePasswordForm):  # type: ignore[misc]  # allauth ships no types
    """Changes the password, logs out all other browsers, and asks for the own addresses and about the API tokens."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["revoke_tokens"] = revoke_tokens_field()
        if queries.identities_of(self.user).exists():
            self.fields["unlink"] = forms.BooleanField(
                label=say.text("label", "Unlink my account of {provider}", provider=queries.provider_name()),
                required=False,
                initial=True,
                help_text="Recommended if someone else may know your password: they can have linked an account of"
                " theirs. You can link yours again.",
            )
        if addresses := list(EmailAddress.objects.filter(user=self.user).order_by("pk")):
            self.fields["mine"] = _which_are_mine(addresses)
            self.fields["asked"] = forms.BooleanField(required=False, initial=True, widget=forms.HiddenInput)

    def clean_oldpassword(self) -> str:
        """Check the current password, and count a wrong one.

        :raises TooManyTries: too many wrong passwords.
        """
        keys = try_keys.password_again(context.request, self.user)
        checked: str = tries.check(keys, timezone.now(), super().clean_oldpassword)
        return checked

    def clean(self) -> dict[str, Any]:
        """Check the choice of addresses.

        :raises ValidationError: nothing is chosen, or “none of these” together with an address.
        """
        cleaned: dict[str, Any] = super().clean()
        mine = cleaned.get("mine", [])
        if cleaned.get("asked") and not mine and "mine" not in self.errors:
            self.add_error("mine", say.text("error", "Tick the addresses that are yours."))
        elif NOT_MINE in mine and len(mine) > 1:
            self.add_error("mine", say.text("error", "Choose either addresses or “None of these”."))
        elif cleaned.get("asked") and self._loses_all_confirmed(mine):
            # Somebody else who knows the password could otherwise leave only an address of their own.
            stays = say.text("error", "One confirmed address must stay. To remove it, confirm another one first.")
            self.add_error("mine", stays)
        return cleaned

    def _loses_all_confirmed(self, mine: Sequence[str]) -> bool:
        confirmed = queries.confirmed_addresses(self.user)
        return bool(confirmed) and not set(confirmed) & set(mine)

    @transaction.atomic
    def save(self) -> None:
        super().save()
        log_ins.end_all(user_id=self.user.pk, keep=context.request.session.session_key)
        if self.cleaned_data["revoke_tokens"]:
            actions.revoke_tokens(user=self.user)
        if self.cleaned_data.get("unlink"):
            _unlink(self.user)
        if removed := _remove(self.user, self._others()):
            said = say.text("message", "Removed from your account: {addresses}.", addresses=", ".join(removed))
            messages.warning(context.request, said)

    def _others(self) -> QuerySet[EmailAddress]:
        """Return the addresses to remove: also one that was added after the form was shown."""
        addresses: QuerySet[EmailAddress] = EmailAddress.objects.filter(user=self.user)
        if self.cleaned_data.get("asked"):
            return addresses.exclude(email__in=self.cleaned_data["mine"])
        # A program, or a page from before an update, did not ask.
        return addresses.filter(verified=False)


class SetPassword(SentenceCase, SetPasswordForm):  # type: ignore[misc]  # allauth ships no types
    """Sets the first password of an account that has none, and logs out all other browsers."""

    @transaction.atomic
    def save(self) -> None:
        super().save()
        log_ins.end_all(user_id=self.user.pk, keep=context.request.session.session_key)


def _address_choice(address: EmailAddress) -> str:
    if address.verified:
        return str(address.email)
    return say.text("choice", "{address} (not confirmed)", address=address.email)


def _which_are_mine(addresses: Sequence[EmailAddress]) -> forms.MultipleChoiceField:
    """Return a field that asks which of these addresses to keep.

    Somebody who knew the old password may have added or even confirmed one, and whose they are cannot be told from
    their order or from what is confirmed. So nothing is chosen in advance, unless all are confirmed: then the owner got
    a mail about each new one.
    """
    choices = [(one.email, _address_choice(one)) for one in addresses]
    confirmed = all(one.verified for one in addresses)
    if not any(one.verified for one in addresses):
        choices.append((NOT_MINE, say.text("choice", "None of these")))
    return forms.MultipleChoiceField(
        label="Which of these addresses are yours?",
        choices=choices,
        initial=[one.email for one in addresses] if confirmed else [],
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="The others are removed. Anyone who reads the mail of an address in this list can choose a new"
        " password for your account.",
    )


class RequestReset(ChecksAddress, ResetPasswordForm):  # type: ignore[misc]  # allauth ships no types
    """Requests the mail that leads to a new password. Takes the same time and answers the same for every address."""

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
        tries.count([Key.of(limit, address_of(request)) for limit in (RESETS_BY_ADDRESS, RESETS_IN_AN_HOUR)], now)
        mails.queue(kind=mails.RESET, address=address, user=self._owner(address), now=now)
        return address

    def _owner(self, address: str) -> User | None:
        """Return the logged-in user if they have confirmed this address."""
        user: User | AnonymousUser = context.request.user
        return user if isinstance(user, User) and queries.has_confirmed(user, address) else None


class ResetPassword(SentenceCase, ResetPasswordKeyForm):  # type: ignore[misc]  # allauth ships no types
    """Sets a new password after a reset by mail. Ends all sessions and revokes all API tokens of the account.

    :raises accounts.actions.AccountChanged: the link stopped working while the form was open.
    """

    @transaction.atomic
    def save(self) -> None:
        mailed_to = address_of_token(self.user, self.temp_key)
        if mailed_to is None:
            raise actions.AccountChanged
        if context.request.user == self.user:
            # The row of the session is deleted below, and saving it after that would fail.
            get_adapter().logout(context.request)
        replace_password(user=self.user, password=self.cleaned_data["password1"], mailed_to=mailed_to)
