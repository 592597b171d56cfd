"""Reads of people, their sessions, addresses and API tokens."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.conf import settings
from django.contrib.auth import HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends.base import SessionBase
from django.db.models import Q, QuerySet
from django.utils.crypto import constant_time_compare

from accounts.models import FREED_NAMES_HELD, ApiToken, NameSkeleton, Session, User, keyed_hashes
from accounts.names import NAME_TAKEN, name_skeletons
from accounts.tokens import LONGEST, digest_of
from accounts.zones import zone_to_show
from common.fixed_sql import Columns, prepared_cursor
from common.readers_language import say
from common.say import N_
from mail.addresses import canonical, spellings
from mail.channels.email import mail_addresses

NAME_ALIKE: Final = N_("This name looks like somebody else’s. Choose one that is easier to tell apart.")

_USER: Final = Columns({User: "u"})
_USER_SQL: Final = f"SELECT {_USER} FROM accounts_user u WHERE u.id = %s"  # noqa: S608  # columns of a model


def read_user(pk: int) -> User | None:
    """Return the user with this number, or None. Every request runs it, so it is a fixed statement."""
    with prepared_cursor() as cursor:
        cursor.execute(_USER_SQL, [pk])
        row = _USER.fetch_one(cursor)
    return None if row is None else row.instance(User)


def token_row(token: str) -> ApiToken | None:
    """Return the row of this token, with its user, or None if it is unknown or the user is not active."""
    if len(token) > LONGEST:
        return None
    return ApiToken.objects.select_related("user").filter(digest=digest_of(token), user__is_active=True).first()


def tokens_of(user: User) -> QuerySet[ApiToken]:
    """Return this user's API tokens, newest first."""
    return ApiToken.objects.filter(user=user)


def name_clash(name: str, *, except_for: User) -> str:
    """Return a refusal if this name, or one that looks like it, is or was recently another person's; else "".

    :param except_for: the person who wants the name. May be unsaved.
    """
    others = User.objects.exclude(pk=except_for.pk)
    if others.filter(Q(username__iexact=name) | Q(display_name__iexact=name) | Q(neutral_name__iexact=name)).exists():
        return say.text("error", NAME_TAKEN)
    looks = name_skeletons(name)
    of_deleted = [held for look in looks for held in keyed_hashes(look)]
    alike = NameSkeleton.objects.filter(skeleton__in=[*looks, *of_deleted])
    if except_for.pk is not None:
        alike = alike.exclude(user=except_for.pk)
    freed = alike.values_list("freed_at", flat=True)
    if not freed:
        return ""
    return name_freed() if all(freed) else say.text("error", NAME_ALIKE)


def name_freed() -> str:
    """Say that a name is held because it was given up lately."""
    return say.plural(
        "error",
        "Somebody had a name like this until recently. It stays reserved for {n} day: choose another.",
        "Somebody had a name like this until recently. It stays reserved for {n} days: choose another.",
        FREED_NAMES_HELD.days,
    )


def reread_user(user_id: int) -> User:
    """Return this user as stored now, as a new instance.

    :raises User.DoesNotExist:
    """
    return User.objects.get(pk=user_id)


def person_named(username: str) -> User | None:
    return User.objects.filter(username__iexact=username).first()


def people_with_username(login: str) -> list[User]:
    """Return the people who may log in by this username: Django takes it as given, allauth in lowercase."""
    return list(User.objects.filter(username__in={login, login.lower()}))


def name_of(number: int) -> str:
    """Return the name of the person with this id, or "" if there is none."""
    user = User.objects.filter(pk=number).first()
    return user.name if user is not None else ""


def guest_with_id(number: int) -> User | None:
    """Return the guest with this id, or None if there is none or staff have closed the account."""
    return User.objects.filter(pk=number, is_guest=True, is_active=True).first()


def has_session(user: User, now: datetime) -> bool:
    """Return True if a browser still has a session of this person, also while the account is closed or suspended."""
    return Session.objects.filter(user=user, expire_date__gt=now, ending=False).exists()


def vacation_year(user: User, now: datetime) -> int:
    """Return the calendar year whose vacation days this person uses now, in their time zone.

    It never goes back to an earlier year, for example after a flight to the west on New Year's Day.
    """
    return max(user.vacation_year, now.astimezone(zone_to_show(user.time_zone)).year)


def vacation_days_left(user: User, now: datetime) -> int:
    """Return how many days of vacation this person has left this year."""
    used = user.vacation_used if user.vacation_year == vacation_year(user, now) else 0
    return max(0, int(settings.VACATION_DAYS) - used)


def valid_sessions(owners: Mapping[str, int | None], now: datetime) -> set[str]:
    """Return the keys of the sessions that are still valid. Runs two queries.

    `owners` maps the key of each session to the id of its user when its socket opened, or None for a visitor. A session
    is no longer valid if it was deleted or has expired, if its user is another one, or if that user was suspended or
    made inactive, or has a new password or `session_mark`.
    """
    rows = Session.objects.filter(session_key__in=owners, expire_date__gt=now)
    found = {row.session_key: row.get_decoded() for row in rows}
    users = User.objects.in_bulk([user_id for user_id in owners.values() if user_id is not None])
    return {key for key, data in found.items() if session_is_valid(data, owners[key], users, now)}


def session_is_valid(data: Mapping[str, str], user_id: int | None, users: Mapping[int, User], now: datetime) -> bool:
    """Return True if a session with this data still belongs to this user (None for a visitor), who is not suspended."""
    if user_id is None:
        return SESSION_KEY not in data
    user = users.get(user_id)
    return user is not None and not user.suspended(now) and _is_logged_in(user, data)


def _is_logged_in(user: User, data: Mapping[str, str]) -> bool:
    """Return True if this session logged this person in, and their password and `session_mark` are the same since."""
    if not user.is_active or data.get(SESSION_KEY) != str(user.pk):
        return False
    hashes = [user.get_session_auth_hash(), *user.get_session_auth_fallback_hash()]
    return any(constant_time_compare(data.get(HASH_SESSION_KEY, ""), known) for known in hashes)


def logged_in_by(session: SessionBase) -> User | None:
    """Return the user of this session, or None for a visitor or an invalid log-in. Runs two queries at most."""
    number = str(session.get(SESSION_KEY, ""))
    user = User.objects.filter(pk=int(number)).first() if number.isdecimal() else None
    data = {name: str(session.get(name, "")) for name in (SESSION_KEY, HASH_SESSION_KEY)}
    return user if user is not None and _is_logged_in(user, data) else None


def totp_of(user: User) -> Authenticator | None:
    """Return the authenticator app of this person, or None."""
    return Authenticator.objects.filter(user=user, type=Authenticator.Type.TOTP).first()


def passkeys_of(user: User) -> QuerySet[Authenticator]:
    """Return the passkeys of this person, oldest first."""
    passkeys: QuerySet[Authenticator] = Authenticator.objects.filter(user=user, type=Authenticator.Type.WEBAUTHN)
    return passkeys.order_by("pk")


def has_second_factor(user: User, *, except_for: int = 0) -> bool:
    """Return True if this person has an app or a passkey. Recovery codes alone are no second factor.

    `except_for` is the number of a factor that does not count.
    """
    factors = Authenticator.objects.filter(user=user, type__in=(Authenticator.Type.TOTP, Authenticator.Type.WEBAUTHN))
    return bool(factors.exclude(pk=except_for).exists())


def identities_of(user: User) -> QuerySet[SocialAccount]:
    """Return what this person can log in with at OpenID providers: the issuer (`provider`) and the subject (`uid`).

    Those of a former `OIDC_ISSUER` are among them.
    """
    rows: QuerySet[SocialAccount] = SocialAccount.objects.filter(user=user)
    return rows


def provider_name() -> str:
    """Return what the OpenID provider is called here. Of a former provider nothing is known."""
    return str(settings.OIDC_NAME) or say.text("provider", "another site")


def identity_here(user: User) -> SocialAccount | None:
    """Return this person's identity at the provider of `OIDC_ISSUER`, or None. A person has at most one."""
    return identities_of(user).filter(provider=settings.OIDC_ISSUER).first() if settings.OIDC_ISSUER else None


def identity_with(*, issuer: str, subject: str) -> SocialAccount | None:
    """Return the identity with this issuer and subject, together with its person, or None."""
    return SocialAccount.objects.select_related("user").filter(provider=issuer, uid=subject).first()


def confirms_by_identity(user: User) -> bool:
    """Return True if an OpenID provider is all that this person can show: there is no password and no second factor."""
    if user.is_guest or user.has_usable_password() or has_second_factor(user):
        return False
    return identities_of(user).exists()


def holder_of(email: str) -> User | None:
    """Return the user who has confirmed this mail address, or None. Only one user can."""
    found = (
        EmailAddress.objects.filter(email__in=spellings(email.lower()), verified=True).select_related("user").first()
    )
    holder: User | None = found and found.user
    return holder


def addresses_of(user: User) -> list[str]:
    """Return every mail address of this person, confirmed or not, the primary one first."""
    named = EmailAddress.objects.filter(user=user).order_by("-primary", "pk").values_list("email", flat=True)
    return list(named) or [user.email] * bool(user.email)


def confirmed_addresses(user: User) -> list[str]:
    """Return the mail addresses that this person has confirmed."""
    return list(EmailAddress.objects.filter(user=user, verified=True).values_list("email", flat=True))


def has_confirmed(user: User | None, email: str) -> bool:
    """Return True if this person has confirmed this mail address."""
    return user is not None and canonical(email) in map(canonical, confirmed_addresses(user))


MOST_CLAIMS: Final = 5
"""How many accounts may use an address that nobody has confirmed: the oldest ones that name it.

For newer accounts it has no effect until they confirm it, and they are not told.
"""


def claimants(email: str) -> list[User]:
    """Return the active accounts that name this address, confirmed or not: the oldest `MOST_CLAIMS`."""
    return list(_named(email)[:MOST_CLAIMS])


def accounts_of(email: str) -> list[User]:
    """Return the active accounts whose password can be reset by a mail to this address.

    That is the account that has confirmed it. If none has, it is the accounts that name it and have not confirmed any
    address, so that a mistyped second address does not give an account away.
    """
    holder = holder_of(email)
    if holder is not None:
        return [holder] if holder.is_active else []
    settled = EmailAddress.objects.filter(verified=True).values("user")
    return list(_named(email).exclude(pk__in=settled)[:MOST_CLAIMS])


def _named(email: str) -> QuerySet[User]:
    """Return the active accounts that name this address, oldest first."""
    return User.objects.filter(pk__in=_naming(email), is_active=True).order_by("pk")


def _naming(email: str) -> QuerySet[Any, Any]:
    """Return the ids of the users that name this address."""
    written = spellings(email.lower())
    by_address = EmailAddress.objects.filter(email__in=written).values_list("user", flat=True)
    # Not an OR of both, for which PostgreSQL would read all people.
    named: QuerySet[Any, Any] = by_address.union(User.objects.filter(email__in=written).values_list("pk", flat=True))
    return named


def claims_of(address: str, people: Sequence[int | None]) -> list[EmailAddress]:
    """Return the unconfirmed rows of these people for this canonical address, in the order of `people` (user ids)."""
    claims = EmailAddress.objects.filter(user__in=people, user__is_active=True, verified=False).select_related("user")
    found = {claim.user_id: claim for claim in claims if canonical(claim.email) == address}
    return [found[pk] for pk in people if pk in found]


def people_with_mail_at(address: str) -> dict[int, str]:
    """Return how each person who gets mail at this address spells it, by user id. Runs three queries."""
    reached = mail_addresses(list(_naming(address)))
    return {pk: found.email for pk, found in reached.items() if canonical(found.email) == canonical(address)}
