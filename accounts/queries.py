"""Every read of people and tokens."""

from datetime import datetime

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.db.models import Q, QuerySet

from accounts.models import ApiToken, User
from accounts.tokens import LONGEST, digest_of


def user_for_token(token: str) -> User | None:
    """The active owner of an API token, or None. One query."""
    found = token_row(token)
    return found.user if found else None


def token_row(token: str) -> ApiToken | None:
    """The stored token of an active user, with the user."""
    if len(token) > LONGEST:
        return None
    return ApiToken.objects.select_related("user").filter(digest=digest_of(token), user__is_active=True).first()


def tokens_of(user: User) -> QuerySet[ApiToken]:
    """A user's tokens, newest first."""
    return ApiToken.objects.filter(user=user)


def name_taken(name: str, *, but: User) -> bool:
    """Whether somebody else is known by this name, as username or at the table."""
    others = User.objects.exclude(pk=but.pk)
    return others.filter(Q(username__iexact=name) | Q(display_name__iexact=name)).exists()


def person_named(username: str) -> User | None:
    return User.objects.filter(username__iexact=username).first()


def guest_numbered(number: int) -> User | None:
    return User.objects.filter(pk=number, is_guest=True).first()


def vacation_days_left(user: User, now: datetime) -> int:
    """The days of vacation that this person can still take this year."""
    used = user.vacation_used if user.vacation_year == now.year else 0
    return max(0, int(settings.VACATION_DAYS) - used)


def is_person(user: User | AnonymousUser) -> bool:
    """Somebody with an account of their own: neither anonymous nor a guest."""
    return isinstance(user, User) and user.is_active and not user.is_guest
