"""Invitations to make an account, where `REGISTRATION` is `invite`. Each works once, for some days."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest

from accounts.actions import lock_person
from accounts.models import SignUpInvitation, User
from accounts.tokens import digest_of, new_invitation
from common.readers_language import say
from common.say import N_

DAYS: Final = (1, 7, 30)
"""The days that an invitation can be valid for."""
MOST_OPEN: Final = 10
MOST_IN_A_MONTH: Final = 30
"""How many invitations a member may have open, and may make in 30 days. Staff may have ten times as many."""
STAFF_FACTOR: Final = 10
MONTH: Final = timedelta(days=30)
LONGEST_KEY: Final = 100

SENTENCES: Final = {
    "used": N_("This invitation has been used. Each works once. If that was you, log in; otherwise ask for another."),
    "revoked": N_("This invitation has been revoked. Ask for another."),
    "expired": N_("This invitation has expired. Ask for another."),
}
"""Why an invitation does not work, by its state."""


class UnusableInvitation(Exception):
    """An invitation that does not work any more. The message says why."""


class TooManyInvitations(Exception):
    """This person may make no more invitations now. The message says so."""


def may_invite(user: User, now: datetime) -> bool:
    """Return True if this person may make invitations now, and those that they made work."""
    if settings.REGISTRATION != "invite" or user.is_guest or not user.is_active or user.suspended(now):
        return False
    return user.is_staff or bool(settings.INVITATIONS == "members")


def invitation_of(request: HttpRequest) -> str:
    """Return the digest of the invitation whose page this request is for, or "". The page has checked it."""
    digest: str = getattr(request, "invitation", "")
    return digest


def of(user: User) -> QuerySet[SignUpInvitation]:
    """Return the invitations of this person, newest first."""
    return SignUpInvitation.objects.filter(by=user).select_related("used_by")


def open_ones(user: User, now: datetime) -> QuerySet[SignUpInvitation]:
    """Return the invitations of this person that nobody has used and that have not ended."""
    return of(user).filter(used_at=None, revoked_at=None, expires_at__gt=now)


def invite(*, user: User, note: str, days: int, now: datetime) -> str:
    """Make an invitation, and return its key, which is not stored. The caller has checked `may_invite`.

    :raises TooManyInvitations: the person has reached a limit.
    """
    key, times = new_invitation(), STAFF_FACTOR if user.is_staff else 1
    with transaction.atomic():
        lock_person(user.pk)  # of two requests at once, the second counts the first
        if open_ones(user, now).count() >= MOST_OPEN * times:
            raise TooManyInvitations(
                say.plural(
                    "error",
                    "You have {n} invitation that nobody has used yet. Revoke it first.",
                    "You have {n} invitations that nobody has used yet. Revoke one first.",
                    MOST_OPEN * times,
                )
            )
        if of(user).filter(created_at__gt=now - MONTH).count() >= MOST_IN_A_MONTH * times:
            raise TooManyInvitations(
                say.plural(
                    "error",
                    "You can make {n} invitation in 30 days. Try again later.",
                    "You can make {n} invitations in 30 days. Try again later.",
                    MOST_IN_A_MONTH * times,
                )
            )
        SignUpInvitation.objects.create(
            digest=digest_of(key), by=user, note=note, created_at=now, expires_at=now + timedelta(days=days)
        )
    return key


def revoke(*, user: User, number: int, now: datetime) -> bool:
    """Revoke an invitation of this person. Return False if there is none with this number that is open."""
    return bool(open_ones(user, now).filter(pk=number).update(revoked_at=now))


def revoke_all(*, user: User, now: datetime) -> int:
    """Revoke all open invitations of this person, and return how many."""
    return open_ones(user, now).update(revoked_at=now)


def find(key: str, now: datetime) -> SignUpInvitation | None:
    """Return the invitation of this key, or None if there is none.

    :raises UnusableInvitation: it does not work any more.
    """
    return find_by_digest(digest_of(key), now) if len(key) <= LONGEST_KEY else None


def find_by_digest(digest: str, now: datetime) -> SignUpInvitation | None:
    """Return the invitation whose key has this digest, or None if there is none.

    :raises UnusableInvitation: it does not work any more.
    """
    return _usable(SignUpInvitation.objects.select_related("by"), digest, now)


def use(*, digest: str, user: User, now: datetime) -> None:
    """Use up an invitation for this new account, in the transaction that makes the account.

    :raises UnusableInvitation: it does not work any more. Another request may have used it.
    """
    rows = SignUpInvitation.objects.select_related("by").select_for_update(of=("self",))
    found = _usable(rows, digest, now)
    if found is None:
        raise UnusableInvitation(say.text("error", SENTENCES["revoked"]))
    found.used_at, found.used_by = now, user
    found.save(update_fields=["used_at", "used_by"])


def _usable(rows: QuerySet[SignUpInvitation], digest: str, now: datetime) -> SignUpInvitation | None:
    found = rows.filter(digest=digest).first()
    if found is None:
        return None
    state = found.state(now)
    if state == "open" and not may_invite(found.by, now):
        state = "revoked"
    if state != "open":
        raise UnusableInvitation(say.text("error", SENTENCES[state]))
    return found
