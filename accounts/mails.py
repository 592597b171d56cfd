"""Mails about accounts and addresses: their kinds, limits and texts.

A request only writes a row (`AccountMail`). The text is made with its links when the outbox (`mail`) sends the mail, so
no token is ever stored (docs/decisions/0089-account-mails-go-through-the-outbox.md).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from email.utils import format_datetime, parseaddr
from functools import cache
from math import ceil
from string import Formatter
from typing import Any, Final
from urllib.parse import urlsplit

from allauth.account import app_settings
from allauth.account.models import EmailAddress
from allauth.account.utils import user_pk_to_url_str
from django.conf import settings
from django.core.mail import EmailMultiAlternatives
from django.db import transaction
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone

from accounts import confirmation_keys, queries
from accounts.actions import lock_person
from accounts.models import AccountMail, User
from accounts.reset_tokens import ResetTokens
from accounts.zones import day_and_time, zone_to_show
from common.limits import MAILS_BY_PERSON, MAILS_TO_MAILBOX, TooManyTries, scaled
from common.readers_language import say
from common.say import N_
from mail import sources
from mail.addresses import LONGEST_ADDRESS, canonical, mailbox_of
from mail.message_ids import message_id, name_of_mail
from mail.models import EMAIL
from mail.sources import Kind

MOST_WAITING: Final = 20
"""How many notices of one kind may wait for one person and mailbox."""
MOST_LISTED: Final = 10
"""How many accounts one confirmation mail lists at most. An address can get three such mails an hour."""
ALSO_LISTED: Final = "also_listed"
"""The key in `facts` of a confirmation for the users that it lists besides the one who asked."""
LATEST: Final = timedelta(days=3)
"""A mail older than this is dropped, for example after a restore."""
KEPT: Final = timedelta(days=1)
"""How long a row stays after its mail was sent or dropped. The limits need an hour of them."""


@dataclass(frozen=True, slots=True)
class MailKind(Kind):
    """A kind of mail.

    `name` is the template prefix that allauth uses for it. `title` is the subject. `sentence` is the text of a notice,
    with names in braces that are filled in from the row's facts. A kind without it has its own template and function.

    A `limited` kind is sent when somebody asks for it, so `MAILS_TO_MAILBOX` and `MAILS_BY_PERSON` apply to it. A kind
    goes only to confirmed addresses unless `to_unconfirmed` is set.

    A kind of another package brings what is needed to send it: `has_content`, which says whether the mail still has
    something to say, and `build`, which makes it.
    """

    sentence: str = ""
    limited: bool = False
    to_unconfirmed: bool = False
    has_content: Callable[[AccountMail], bool] | None = None
    build: Callable[[AccountMail, datetime], EmailMultiAlternatives | None] | None = None

    @property
    def facts(self) -> list[str]:
        """Return the names of the facts that the sentence needs."""
        return [name for _, name, _, _ in Formatter().parse(self.sentence) if name]


CONFIRM: Final = "account/email/email_confirmation"
RESET: Final = "account/email/password_reset_key"
ADDED: Final = "account/email/email_added"
CONFIRMED: Final = "account/email/email_confirmed"
DELETED: Final = "account/email/email_deleted"
TOKEN_MADE: Final = "account/email/token_made"  # noqa: S105  # the name of a kind
PROGRAM_DECLARED: Final = "account/email/program_declared"
PASSWORD_CHANGED: Final = "account/email/password_changed"  # noqa: S105  # the name of a kind
LINKED: Final = "socialaccount/email/account_connected"
UNLINKED: Final = "socialaccount/email/account_disconnected"
DATA_READY: Final = "account/email/data_ready"
DELETION_ASKED: Final = "account/email/deletion_asked"
DELETION_CANCELLED: Final = "account/email/deletion_cancelled"

LIFETIMES: Final = {
    CONFIRM: timedelta(days=app_settings.EMAIL_CONFIRMATION_EXPIRE_DAYS),
    RESET: timedelta(seconds=settings.PASSWORD_RESET_TIMEOUT),
}
"""How long the links of these kinds work from when they are made, which is when the mail is sent."""

KINDS: Final[Mapping[str, MailKind]] = {
    kind.name: kind
    for kind in (
        MailKind(CONFIRM, N_("Confirm your email address"), limited=True, to_unconfirmed=True),
        MailKind(RESET, N_("Choose a new password"), limited=True, to_unconfirmed=True),
        MailKind(PASSWORD_CHANGED, N_("Your password was changed"), N_("Your password was changed.")),
        MailKind("account/email/password_set", N_("A password was set"), N_("A password was set for your account.")),
        MailKind(
            "account/email/password_reset",
            N_("Your password was changed"),
            N_("A new password was set using the link in an email to you."),
        ),
        MailKind(
            "account/email/email_changed",
            N_("Your email address was changed"),
            N_("Your account’s primary email address was changed from {from_email} to {to_email}."),
        ),
        MailKind(
            ADDED, N_("An email address was added"), N_("The email address {added_email} was added to your account.")
        ),
        MailKind(
            CONFIRMED,
            N_("An email address was confirmed"),
            N_("The email address {confirmed_email} was confirmed for your account, so it can reset the password."),
        ),
        MailKind(
            DELETED,
            N_("An email address was removed"),
            N_("The email address {deleted_email} was removed from your account."),
        ),
        MailKind(
            TOKEN_MADE,
            N_("An API token was created"),
            N_(
                "An API token was created for your account. A program that has it can play for you until you revoke it."
            ),
        ),
        MailKind(
            PROGRAM_DECLARED,
            N_("A program plays for your account"),
            N_(
                "Somebody who was logged in to your account has said that a program plays for it. Everybody sees that,"
                " and it cannot be taken back."
            ),
        ),
        MailKind(
            LINKED,
            N_("Another way to log in was added"),
            N_("Your account was linked with an account of {provider}, which can log in to yours from now on."),
        ),
        MailKind(
            UNLINKED,
            N_("A way to log in was removed"),
            N_("Your account is no longer linked with {provider}, so it cannot log in to yours any more."),
        ),
        MailKind(
            DATA_READY,
            N_("The copy of your data is ready"),
            N_(
                "The copy of your data that was asked for with your account is ready. Until {until} you can fetch it"
                " here, once you are logged in: {page}"
            ),
        ),
        MailKind(
            DELETION_ASKED,
            N_("Your account will be deleted"),
            N_(
                "Somebody who was logged in to your account has asked for its deletion. It will be deleted after"
                " {deletes_on}. To keep it, log in before then."
            ),
        ),
        MailKind(
            DELETION_CANCELLED,
            N_("Your account will not be deleted"),
            N_("Your account will not be deleted, because somebody has logged in to it."),
        ),
        MailKind(
            "mfa/email/totp_activated",
            N_("An authenticator app was set up"),
            N_("An authenticator app was set up as the second factor of your account."),
        ),
        MailKind(
            "mfa/email/totp_deactivated",
            N_("Your authenticator app was removed"),
            N_(
                "The authenticator app was removed from your account. Unless you have another second factor, you now"
                " log in without one."
            ),
        ),
        MailKind(
            "mfa/email/webauthn_added",
            N_("A passkey was added"),
            N_("A passkey was added to your account. The device that has it can log in without your password."),
        ),
        MailKind(
            "mfa/email/webauthn_removed",
            N_("A passkey was removed"),
            N_(
                "A passkey was removed from your account. Unless you have another second factor, you now log in without"
                " one."
            ),
        ),
        MailKind(
            "mfa/email/recovery_codes_generated",
            N_("New recovery codes were created"),
            N_("New recovery codes were created for your account. The old ones no longer work."),
        ),
    )
}
"""The kinds of this package by name. A new notice is a new row."""


@cache
def all_kinds() -> Mapping[str, MailKind]:
    """Return the kinds of mail of all sources by name, also those that other packages bring."""
    found = (kind for source in sources.sources() for kind in source.kinds.values())
    return {kind.name: kind for kind in found if isinstance(kind, MailKind)}


def queue(
    *,
    kind: str,
    address: str,
    user: User | None,
    now: datetime,
    facts: Mapping[str, Any] | None = None,
    confirmed: bool | None = None,
) -> None:
    """Queue a mail in the caller's transaction. The outbox sends it within seconds.

    `kind` is a name in `all_kinds`. `user` is the account concerned, or None if the person who asks is not known to own
    one. `facts` must have what the kind's sentence needs; the rest is not stored.

    `confirmed` says whether the address is, or was until now, a confirmed one of this user; None asks the database. If
    it is not, nothing is queued of a kind that goes only to confirmed addresses.

    Nothing is queued either while the same notice still waits, which then gets the new time, or while `MOST_WAITING` of
    its kind do. Otherwise somebody could make more of them than the site can send.

    :raises KeyError: there is no such kind, or a fact is missing.
    :raises TooManyTries: the kind is limited, and this user has asked for too many.
    """
    row_kind = all_kinds()[kind]
    if not row_kind.to_unconfirmed and settings.MAIL_NEEDS_VERIFIED:
        known = queries.has_confirmed(user, address) if confirmed is None else confirmed
        if not known:
            return
    row = AccountMail(
        kind=kind,
        channel=EMAIL,
        address=canonical(address),
        mailbox=_counted_as(kind, address),
        user=user,
        facts={name: (facts or {})[name] for name in row_kind.facts},
        created_at=now,
        due_at=now,
        since=now,
    )
    with transaction.atomic():
        if row_kind.limited and user is not None:
            lock_person(user.pk)
            check_requests(kind=kind, address=address, user=user, now=now)
        if not row_kind.limited and _is_covered(row):
            return
        AccountMail.objects.bulk_create([row], ignore_conflicts=True)


def _is_covered(row: AccountMail) -> bool:
    """Return True if this notice needs no row: it waits to be sent already, or many of its kind do to this mailbox.

    A notice that waits already gets the time of this one.
    """
    waiting = AccountMail.objects.filter(
        state=AccountMail.State.WAITING, mailbox=row.mailbox, kind=row.kind, user=row.user
    )
    found = list(waiting.values_list("pk", "address", "facts")[:MOST_WAITING])
    same = [pk for pk, address, facts in found if (address, facts) == (row.address, row.facts)]
    if same:
        return bool(waiting.filter(pk__in=same).update(created_at=row.created_at))  # none if a sender has just taken it
    return len(found) >= MOST_WAITING


def _counted_as(kind: str, address: str) -> str:
    """Return the name under which `MAILS_TO_MAILBOX` counts mails of this kind to this address."""
    # A confirmed address has its own count of mails for a new password. Others can claim other spellings of the
    # mailbox, but must not use up what its owner may need.
    if kind == RESET and queries.holder_of(address) is not None:
        return f":{canonical(address)}"[:LONGEST_ADDRESS]  # no address here has a colon
    return mailbox_of(address)


def notify(
    *, kind: str, user: User, now: datetime, facts: Mapping[str, Any] | None = None, except_for: str = ""
) -> None:
    """Queue a notice to every confirmed address of this account, except to the address `except_for`.

    The other parameters are as in `queue`.
    """
    for address in queries.addresses_of(user):
        if canonical(address) != canonical(except_for):
            queue(kind=kind, address=address, user=user, facts=facts, now=now)


def check_requests(*, kind: str, address: str, user: User, now: datetime) -> None:
    """Check that this person may ask for such a mail to this address now.

    Counts only what this person has asked for. How often others ask for the address must not show, so the limit on
    those is applied when the mail is sent.

    :raises TooManyTries: this person has asked for too many.
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


def build(row: AccountMail, *, now: datetime) -> EmailMultiAlternatives | None:
    """Return the mail for this row, or None if there is nothing to say (`nothing`)."""
    kind = all_kinds()[row.kind]
    if kind.build is not None:
        return kind.build(row, now)
    content = _content(row)
    if content is None:
        return None
    template, title, context = content
    pages = {"reset": "account_reset_password", "account": "me", "log_in": "account_login"}
    context |= {name: settings.SITE_URL + reverse(view) for name, view in pages.items()}
    context |= {"email": row.address, "at": row.created_at, "site": settings.SITE_URL, "host": host()}
    reader = row.user or next((user for user, _ in context.get("links", ())), None)
    zone = reader.time_zone if reader is not None else "UTC"
    if row.kind in LIFETIMES:
        context["until"] = day_and_time(now + LIFETIMES[row.kind], zone)
    with timezone.override(zone_to_show(zone)):
        body = render_to_string(template, context)
    more = headers(".".join(("account", name_of_mail([row]))), to=row.address, now=now)
    return EmailMultiAlternatives(title, body.strip() + "\n", to=[row.address], headers=more)


def has_content(row: AccountMail) -> bool:
    """Return False if this requested mail has nothing to say any more: no account has or claims its address."""
    kind = all_kinds()[row.kind]
    if kind.has_content is not None:
        return kind.has_content(row)
    if row.kind == CONFIRM:
        return bool(queries.claims_of(row.address, [row.user_id]))
    return bool(queries.accounts_of(row.address))


def listed_in(row: AccountMail) -> list[int]:
    """Return the users that this confirmation lists, first the one who asked."""
    return [*filter(None, [row.user_id]), *row.facts.get(ALSO_LISTED, [])]


def add_to_list(row: AccountMail, other: AccountMail) -> bool:
    """Add the user of another request for the same address to the list of this confirmation, which is about to be sent.

    Return False if the list is full, or if the other user no longer claims the address.
    """
    listed = listed_in(row)
    if other.user_id in listed:
        return True
    if len(listed) >= MOST_LISTED or not has_content(other):
        return False
    row.facts = {ALSO_LISTED: [*listed[1:], other.user_id]}
    row.save(update_fields=["facts"])
    return True


def headers(unique: str, *, to: str, now: datetime) -> dict[str, str]:
    """Return the headers of every mail of the site. A retry with the same `unique` has the same Message-ID.

    :param to: the address that the mail goes to.
    """
    return {
        "Message-ID": message_id(unique, to=to, host=host()),
        "Date": format_datetime(now),
        "Auto-Submitted": "auto-generated",
        "X-Auto-Response-Suppress": "All",
    }


def host() -> str:
    """Return the host name in `SITE_URL`."""
    return urlsplit(settings.SITE_URL).hostname or "localhost"


def contact_address() -> str:
    """Return the sender's address, or "" if it is a `no-reply` one that nobody reads."""
    address = parseaddr(settings.DEFAULT_FROM_EMAIL)[1]
    return "" if re.match("no[-_.]?reply", address, re.IGNORECASE) else address


def forget_old(*, now: datetime, batch: int = 5000) -> int:
    """Delete at most `batch` rows whose mail was sent or dropped over `KEPT` ago, and return their number."""
    over = (AccountMail.State.SENT, AccountMail.State.DROPPED, AccountMail.State.FAILED)
    old = AccountMail.objects.filter(state__in=over, since__lt=now - KEPT).values_list("pk", flat=True)
    return AccountMail.objects.filter(pk__in=list(old[:batch])).delete()[0]


def _content(row: AccountMail) -> tuple[str, str, dict[str, Any]] | None:
    """Return the template, the subject and the context of this mail, or None if there is nothing to say (`nothing`)."""
    kind = all_kinds()[row.kind]
    if row.kind == CONFIRM:
        return _confirmation(row)
    title = say.text("mail", kind.title)
    if row.kind == RESET:
        links = [(user, _reset_link(user, row.address)) for user in queries.accounts_of(row.address)]
        return ("account/email/password_reset_message.txt", title, {"links": links}) if links else None
    assert row.user is not None
    context = {
        "user": row.user,
        "sentence": say.text("mail", kind.sentence, **row.facts),
        "can_reset": row.user in queries.accounts_of(row.address),  # False for an address that was removed
        "contact": contact_address(),
    }
    return "account/email/notice_message.txt", title, context


def _confirmation(row: AccountMail) -> tuple[str, str, dict[str, Any]] | None:
    """Return the mail that asks to confirm the address, or the one that tells its owner that somebody else tried."""
    asking = queries.claims_of(row.address, listed_in(row))
    if not asking:
        return None
    holder = queries.holder_of(row.address)
    if holder is not None:
        title = say.text("mail", "You have an account already")
        return "account/email/account_already_exists_message.txt", title, {"user": holder}
    links = [(claim.user, _confirm_link(claim)) for claim in asking]
    return "account/email/email_confirmation_message.txt", say.text("mail", KINDS[CONFIRM].title), {"links": links}


def _confirm_link(claim: EmailAddress) -> str:
    return settings.SITE_URL + reverse("account_confirm_email", args=[confirmation_keys.key_of(claim)])


def _reset_link(user: User, address: str) -> str:
    token = ResetTokens(address).make_token(user)
    page = reverse("account_reset_password_from_key", kwargs={"uidb36": user_pk_to_url_str(user), "key": token})
    return settings.SITE_URL + page
