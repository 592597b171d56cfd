"""Mails about accounts and addresses: who may ask for one, and what each says when it is sent.

A request only writes a row (`AccountMail`). The outbox sends it (`games/notices/`) and makes its text and its
links then, so no token is ever stored (docs/decisions/0089-account-mails-go-through-the-outbox.md).
"""

from __future__ import annotations

import re
import zoneinfo
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from email.utils import format_datetime, parseaddr
from math import ceil
from string import Formatter
from typing import Any, Final, Literal
from urllib.parse import urlsplit

from allauth.account import app_settings
from allauth.account.models import EmailAddress, EmailConfirmationHMAC
from allauth.account.utils import user_pk_to_url_str
from django.conf import settings
from django.core.mail import EmailMultiAlternatives
from django.db import transaction
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone

from accounts import queries
from accounts.actions import lock_person
from accounts.addresses import LONGEST_ADDRESS, canonical, mailbox_of
from accounts.limits import MAILS_BY_PERSON, MAILS_TO_MAILBOX, TooManyTries, scaled
from accounts.models import AccountMail, Delivery, User

LISTED: Final = 10
"""The most accounts that one confirmation lists. Three such mails list as many as an address can ask for in an hour."""
ALSO_LISTED: Final = "also_listed"
"""The key in a confirmation's `facts` for the numbers of the accounts that it lists besides the one that asked."""
LATEST: Final = timedelta(days=3)
"""A mail that was asked for longer ago than this is no longer sent, for example after a restore."""
KEPT: Final = timedelta(days=1)
"""How long a row stays after its mail is sent or dropped; the limits need an hour."""

Reason = Literal["merged", "enough", "late", "nothing"]
"""Why a mail about an account was not sent, or waits longer: another waiting mail says the same, its mailbox has had
its limit for the hour, it was asked for too long ago, or there is nothing left to say."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of mail.

    `name` is allauth's prefix for its templates. `title` is the subject. `says` is the one sentence of a notice; names
    in braces are filled in from the facts of the row. A kind without `says` has its own template and function.

    A `limited` kind can be asked for, and is subject to the limits above. All kinds go only to addresses that are
    confirmed, except those that go to `anyone`.
    """

    name: str
    title: str
    says: str = ""
    limited: bool = False
    anyone: bool = False

    @property
    def facts(self) -> list[str]:
        """The names of the facts that the sentence needs."""
        return [name for _, name, _, _ in Formatter().parse(self.says) if name]


CONFIRM: Final = "account/email/email_confirmation"
RESET: Final = "account/email/password_reset_key"
ADDED: Final = "account/email/email_added"
DELETED: Final = "account/email/email_deleted"
TOKEN_MADE: Final = "account/email/token_made"  # noqa: S105  # the name of a kind
PASSWORD_CHANGED: Final = "account/email/password_changed"  # noqa: S105  # the name of a kind
WORKS: Final = "works"
"""Asks whether mail arrives again at an address that mails bounced from. `games` makes its text."""

KINDS: Final[Mapping[str, Kind]] = {
    kind.name: kind
    for kind in (
        Kind(CONFIRM, "Confirm your email address", limited=True, anyone=True),
        Kind(RESET, "Choose a new password", limited=True, anyone=True),
        Kind(WORKS, "Does this address work again?", limited=True),
        Kind(PASSWORD_CHANGED, "Your password was changed", "Your password was changed."),
        Kind("account/email/password_set", "A password was set", "A password was set for your account."),
        Kind(
            "account/email/password_reset",
            "Your password was changed",
            "A new password was set by the link in a mail to you.",
        ),
        Kind(
            "account/email/email_changed",
            "Your email address was changed",
            "Your account’s primary email address was changed from {from_email} to {to_email}.",
        ),
        Kind(ADDED, "An email address was added", "The email address {added_email} was added to your account."),
        Kind(
            DELETED,
            "An email address was removed",
            "The email address {deleted_email} was removed from your account.",
        ),
        Kind(
            TOKEN_MADE,
            "An API token was made",
            "An API token was made for your account. A program that has it can play for you until you revoke it.",
        ),
        Kind(
            "mfa/email/totp_activated",
            "An authenticator app was set up",
            "An authenticator app was set up as the second factor of your account.",
        ),
        Kind(
            "mfa/email/totp_deactivated",
            "Your authenticator app was removed",
            "The authenticator app of your account was removed: your password alone lets you in.",
        ),
        Kind(
            "mfa/email/recovery_codes_generated",
            "New recovery codes were made",
            "New recovery codes were made for your account. The old ones no longer work.",
        ),
    )
}
"""Every kind. A further notice is one more row."""


def queue(
    *,
    kind: str,
    address: str,
    user: User | None,
    now: datetime,
    facts: Mapping[str, Any] | None = None,
    confirmed: bool | None = None,
    asked_from: str = "",
) -> None:
    """Write a mail to be sent within seconds, in the caller's transaction. Nothing is sent here.

    `user` is the account concerned; None for a limited kind that was asked for without showing whose account it is.
    `facts` must have what the kind's sentence needs; the rest is not stored. `confirmed` says whether the address is,
    or was until now, a confirmed one of this user; without it the database is asked. A kind that goes to confirmed
    addresses only is silently left out for any other. `asked_from` is a keyed hash of the network that asks.

    :raises KeyError: for a kind that is not in `KINDS`, or a fact that is missing.
    :raises TooManyTries: for a limited kind, of which this user has asked for too many.
    """
    what = KINDS[kind]
    if not what.anyone and settings.MAIL_NEEDS_VERIFIED:
        known = queries.has_confirmed(user, address) if confirmed is None else confirmed
        if not known:
            return
    row = AccountMail(
        kind=kind,
        address=canonical(address),
        mailbox=_counted_as(kind, address),
        user=user,
        asked_from=asked_from,
        facts={name: (facts or {})[name] for name in what.facts},
        created_at=now,
        due_at=now,
        since=now,
    )
    with transaction.atomic():
        if what.limited and user is not None:
            lock_person(user.pk)
            check_asks(kind=kind, address=address, user=user, now=now)
        AccountMail.objects.bulk_create([row], ignore_conflicts=True)


def _counted_as(kind: str, address: str) -> str:
    """Return the name under which mails of a kind to this address are counted for the limit of a mailbox.

    A mail that sets a new password has a count of its own where the address is confirmed: others can claim further
    spellings of the mailbox, but cannot confirm them, and must not use up what its owner may need at once.
    """
    if kind == RESET and queries.holder_of(address) is not None:
        return f"={canonical(address)}"[:LONGEST_ADDRESS]  # no address begins so
    return mailbox_of(address)


def tell(*, kind: str, user: User, now: datetime, facts: Mapping[str, Any] | None = None, but: str = "") -> None:
    """Queue a notice to every confirmed address of this account, except the address `but`."""
    for address in queries.addresses_of(user):
        if canonical(address) != canonical(but):
            queue(kind=kind, address=address, user=user, facts=facts, now=now)


def check_asks(*, kind: str, address: str, user: User, now: datetime) -> None:
    """Refuse if this person cannot ask for such a mail to this address now.

    Only what this person has asked for counts here. What others ask for the same address must not show, so those limits
    hold when the mail is sent.

    :raises TooManyTries:
    """
    asked = AccountMail.objects.filter(user=user, kind=kind).order_by("created_at")
    for limit, counted in (
        (MAILS_TO_MAILBOX, asked.filter(mailbox=_counted_as(kind, address))),
        (MAILS_BY_PERSON, asked),
    ):
        allowed = scaled(limit.most)
        times = list(counted.filter(created_at__gt=now - limit.window).values_list("created_at", flat=True))
        if allowed is not None and len(times) >= allowed:
            raise TooManyTries(limit, max(1, ceil((times[-allowed] + limit.window - now).total_seconds())))


def letter(row: AccountMail, *, now: datetime) -> EmailMultiAlternatives | None:
    """Make the mail of this row as of now; None if there is nothing to say any more."""
    said = _said(row)
    if said is None:
        return None
    template, title, context = said
    pages = {"reset": "account_reset_password", "account": "me", "log_in": "account_login"}
    context |= {name: settings.SITE_URL + reverse(view) for name, view in pages.items()}
    context |= {"email": row.address, "at": row.created_at, "site": settings.SITE_URL, "host": host()}
    zone = row.user.time_zone if row.user is not None else "UTC"
    with timezone.override(zoneinfo.ZoneInfo(zone)):
        body = render_to_string(f"account/email/{template}_message.txt", context)
    unique = f"account.{row.pk}.{int(row.created_at.timestamp())}"
    return EmailMultiAlternatives(title, body.strip() + "\n", to=[row.address], headers=headers(unique, now=now))


def anything_to_say(row: AccountMail) -> bool:
    """Return False for a mail that was asked for and has no account to name, or not any more."""
    if row.kind == CONFIRM:
        return bool(queries.claims_of(row.address, [row.user_id]))
    return bool(queries.accounts_of(row.address))


def listed_in(row: AccountMail) -> list[int]:
    """Return the numbers of the accounts that this confirmation lists: the one that asked, and then the others."""
    return [*filter(None, [row.user_id]), *row.facts.get(ALSO_LISTED, [])]


def list_also(row: AccountMail, other: AccountMail) -> bool:
    """Let this confirmation, which is about to be sent, answer another request for the same address, too.

    Return False if its list is full, or if the other account no longer claims the address.
    """
    listed = listed_in(row)
    if other.user_id in listed:
        return True
    if len(listed) >= LISTED or not anything_to_say(other):
        return False
    row.facts = {ALSO_LISTED: [*listed[1:], other.user_id]}
    row.save(update_fields=["facts"])
    return True


def headers(unique: str, *, now: datetime) -> dict[str, str]:
    """Return the headers that every mail of the site has. The same `unique` gives the same Message-ID, for a retry."""
    return {
        "Message-ID": f"<{unique}@{host()}>",
        "Date": format_datetime(now),
        "Auto-Submitted": "auto-generated",
        "X-Auto-Response-Suppress": "All",
    }


def host() -> str:
    """Return the host name of the site, as mails tell it."""
    return urlsplit(settings.SITE_URL).hostname or "localhost"


def contact() -> str:
    """Return the address at which the people who run the site read mail; empty if mails are from a `no-reply` one."""
    address = parseaddr(settings.DEFAULT_FROM_EMAIL)[1]
    return "" if re.match("no[-_.]?reply", address, re.IGNORECASE) else address


def forget_old(*, now: datetime, batch: int = 5000) -> int:
    """Delete at most `batch` rows whose mail was sent or dropped a day ago, and return how many they were."""
    over = (Delivery.State.SENT, Delivery.State.DROPPED, Delivery.State.FAILED)
    old = AccountMail.objects.filter(state__in=over, since__lt=now - KEPT).values_list("pk", flat=True)
    return AccountMail.objects.filter(pk__in=list(old[:batch])).delete()[0]


def _said(row: AccountMail) -> tuple[str, str, dict[str, Any]] | None:
    """Return the template, the subject and the context of this mail; None if there is nothing to say."""
    kind = KINDS[row.kind]
    if row.kind == CONFIRM:
        return _confirmation(row, kind)
    if row.kind == RESET:
        links = [(user, _reset_link(user)) for user in queries.accounts_of(row.address)]
        return ("password_reset", kind.title, {"links": links}) if links else None
    assert row.user is not None
    context = {
        "user": row.user,
        "says": kind.says.format(**row.facts),
        "resets": row.user in queries.accounts_of(row.address),  # not if it is an address that was removed
        "contact": contact(),
    }
    return "notice", kind.title, context


def _confirmation(row: AccountMail, kind: Kind) -> tuple[str, str, dict[str, Any]] | None:
    """Ask to confirm the address for the accounts that claim it, or tell its owner that one of them tried."""
    asking = queries.claims_of(row.address, listed_in(row))
    if not asking:
        return None
    holder = queries.holder_of(row.address)
    if holder is not None:
        return "account_already_exists", "You have an account already", {"user": holder}
    links = [(claim.user, _confirm_link(claim)) for claim in asking]
    return "email_confirmation", kind.title, {"links": links}


def _confirm_link(claim: EmailAddress) -> str:
    return settings.SITE_URL + reverse("account_confirm_email", args=[EmailConfirmationHMAC(claim).key])


def _reset_link(user: User) -> str:
    token = app_settings.PASSWORD_RESET_TOKEN_GENERATOR().make_token(user)
    page = reverse("account_reset_password_from_key", kwargs={"uidb36": user_pk_to_url_str(user), "key": token})
    return settings.SITE_URL + page
