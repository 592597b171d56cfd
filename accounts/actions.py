"""Writes to people and their API tokens."""

from collections import defaultdict
from contextlib import suppress
from datetime import datetime, time, timedelta
from itertools import groupby
from typing import NamedTuple

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from django.contrib.auth.hashers import get_hasher, identify_hasher, make_password
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from accounts import encryption, queries, tries
from accounts.limits import REST_CHANGES
from accounts.models import FREED_NAMES_HELD, ApiToken, NameSkeleton, Session, User
from accounts.names import (
    ALIKE,
    NAME_TAKEN,
    HeldName,
    Person,
    clean_display_name,
    guest_display_name,
    guest_username,
    held_names,
    random_neutral_name,
    username_validators,
    validate_time_zone,
)
from accounts.rest import LONGEST_QUIET, quiet_length
from accounts.tokens import digest_of, new_token

GUEST_NAME_TRIES = 20
TOKENS_A_USER = 20
LAST_USED_GRAIN = timedelta(minutes=10)


class NameTaken(Exception):
    """Someone else has this name, or one that looks like it. The message is a sentence for the person."""


class Muted(Exception):
    """Staff have muted this person until a date, so the name cannot be changed before it."""


class NoGuest(Exception):
    """This person is no longer a guest: another request has signed them up."""


class AccountChanged(Exception):
    """The account was closed, or its sessions were ended, after this request began.

    A new password and a new second factor end sessions, and so does *Log out everywhere else*.
    """


class AccountOpen(Exception):
    """This account is not closed."""


class TooManyTokens(Exception):
    """The user has `TOKENS_A_USER` API tokens already."""


def create_guest() -> User:
    """Create a guest, who has no password and a friendly name that nobody else has."""
    for _ in range(GUEST_NAME_TRIES):
        guest = User(username=guest_username(), display_name=guest_display_name(), is_guest=True)
        guest.set_unusable_password()
        try:
            with transaction.atomic():
                guest.save(force_insert=True)
        except IntegrityError:
            continue
        return guest
    guest.display_name = ""  # every name tried is taken: the random username will do
    guest.save(force_insert=True)
    return guest


def create_person(*, username: str) -> User:
    """Create a person without a password, for example for a program that plays.

    :raises ValidationError: the username is not allowed or not free.
    """
    person = User(username=username)
    person.set_unusable_password()
    person.full_clean()
    for validate in username_validators:
        validate(username)
    if clash := queries.name_clash(username, except_for=person):
        raise ValidationError(clash, code="name_taken")
    try:
        person.save(force_insert=True)
    except IntegrityError:
        raise ValidationError(NAME_TAKEN, code="name_taken") from None
    return person


def mark_address_verified(*, username: str) -> None:
    """Mark the address of this person as confirmed without a mail, if they have one. For operators only."""
    person = User.objects.get(username=username)
    if person.email:
        person.email = person.email.lower()  # as addresses from forms are stored
        with transaction.atomic():
            person.save(update_fields=["email"])
            EmailAddress.objects.create(user=person, email=person.email, primary=True, verified=True)


def remove_addresses(*, user: User) -> list[str]:
    """Remove all mail addresses of a closed account, and return them.

    :raises AccountOpen: the account is open.
    """
    with transaction.atomic():
        person = lock_person(user.pk)
        if person.is_active:
            raise AccountOpen
        removed = queries.addresses_of(person)
        EmailAddress.objects.filter(user=person).delete()
        person.email = ""
        person.save(update_fields=["email"])
    return removed


def choose_time_zone(*, user: User, zone: str, now: datetime) -> None:
    """Set the time zone of this person.

    :raises ValidationError: there is no such zone.
    """
    validate_time_zone(zone)
    with transaction.atomic():
        _set_time_zone(user, lock_person(user.pk), zone, now)
        user.save(update_fields=["time_zone", "quiet_since"])


def lock_person(user_id: int) -> User:
    """Return this person as stored, and lock the row until the transaction ends.

    The lock does not stop inserts of rows that refer to the person (FOR NO KEY UPDATE).

    :raises User.DoesNotExist: there is no person with this number.
    """
    return User.objects.select_for_update(of=("self",), no_key=True).get(pk=user_id)


def lock_unchanged(user: User) -> None:
    """Lock this person until the transaction ends, before a change of security settings.

    A new password, a new second factor, *Log out everywhere else* and the closing of an account end sessions under this
    lock. A request that waited for the lock may have been let in by a session which no longer exists.

    :raises AccountChanged: since `user` was read, other sessions were ended or the account was closed.
    """
    stored = lock_person(user.pk)
    if (stored.get_session_auth_hash(), stored.is_active) != (user.get_session_auth_hash(), user.is_active):
        raise AccountChanged


def lock_guest(user_id: int) -> User:
    """Return this guest as stored, and lock the row until the transaction ends.

    :raises NoGuest: this person has signed up by now.
    """
    guest = lock_person(user_id)
    if not guest.is_guest:
        raise NoGuest
    return guest


def count_rest_change(*, user_id: int, now: datetime) -> None:
    """Count one change of quiet hours, time zone or vacation against the limit, because each moves all clocks.

    Call it in the transaction of the change and with the person locked. A change that fails does not count.

    :raises TooManyTries: too many changes in the last minute.
    """
    with tries.begin([tries.Key.of(REST_CHANGES, user_id)], now, durable=False) as current:
        current.count()


def _set_time_zone(user: User, known: User, zone: str, now: datetime) -> bool:
    """Set the time zone of `user`. Return True if it differs from that of `known`, the row read under the lock."""
    changed = known.time_zone != zone
    user.quiet_since = now if changed else known.quiet_since
    user.time_zone = zone
    return changed


def promote_guest(*, user: User) -> None:
    """Turn a guest into a person who goes by the username. Does not save."""
    if user.is_guest:
        user.is_guest = False
        user.display_name = ""


def update_profile(*, user: User, display_name: str, time_zone: str, now: datetime) -> bool:
    """Change the name at the table and the time zone. Return True if the zone has changed.

    :raises ValidationError: the name or the zone is not allowed.
    :raises NameTaken: somebody else has the name or one that looks like it.
    :raises Muted: the name changes, and staff have muted this person.
    :raises TooManyTries: the zone changes too often.
    """
    name = clean_display_name(display_name)
    with transaction.atomic():
        # The lock orders this change and a mute at the same time, so that the mute always removes the name.
        known = lock_person(user.pk)
        user.display_name, user.muted_until = known.display_name, known.muted_until
        if name != known.display_name and known.muted(now):
            raise Muted
        new_zone = _set_time_zone(user, known, time_zone, now)
        if new_zone:
            count_rest_change(user_id=user.pk, now=now)
        _save_profile(user=user, name=name)
        return new_zone


def _save_profile(*, user: User, name: str) -> None:
    changed = {"time_zone", "quiet_since"}
    if name != user.display_name:  # an unchanged name is not checked: it may be older than today's rules
        user.display_name = name
        changed.add("display_name")
    user.clean_fields(exclude={field.name for field in User._meta.fields} - changed)
    if "display_name" in changed and name and (clash := queries.name_clash(name, except_for=user)):
        raise NameTaken(clash)
    try:
        with transaction.atomic():
            user.save(update_fields=changed)
    except IntegrityError:
        raise NameTaken(NAME_TAKEN) from None


def free_neutral_name(person: User) -> str:
    """Return a neutral name for this person that nobody has."""
    name = random_neutral_name()
    while queries.name_clash(name, except_for=person):
        name = random_neutral_name()
    return name


def recheck_names(*, now: datetime) -> None:
    """Check all names by today's rules, and store the skeleton of each and what staff should know about it.

    Names are checked when they are chosen. This finds names that were chosen under older rules, and deletes objections
    that no longer apply. It also frees names that were given up `FREED_NAMES_HELD` ago, and starts that time for the
    names of deleted accounts.

    The names are compared without a lock. Then each person whose rows are wrong is locked in a transaction of their
    own, so others can take names meanwhile. What changes at the same time is left to the next run.
    """
    NameSkeleton.objects.filter(user=None, freed_at=None).update(freed_at=now)
    freed, live = NameSkeleton.objects.exclude(freed_at=None), NameSkeleton.objects.filter(freed_at=None)
    freed.filter(freed_at__lte=now - FREED_NAMES_HELD).delete()
    stored: dict[int, set[HeldName]] = defaultdict(set)
    for row in live.exclude(user=None).values_list(*HeldName._fields):
        stored[row[0]].add(HeldName(*row))
    taken: set[str] = set()
    wrong: list[set[HeldName]] = []
    people = User.objects.order_by("pk").values_list(*Person._fields).iterator()
    for user_id, rows in groupby(held_names(Person(*row) for row in people), lambda row: row.user_id):
        wanted = set(rows)
        taken.update(row.skeleton for row in wanted)
        if wanted != stored.get(user_id):
            wrong.append(wanted)
    # Somebody else may have a name that looks like a freed one, chosen under older rules.
    freed.filter(pk__in=[pk for pk, look in freed.values_list("pk", "skeleton") if look in taken]).delete()
    # The youngest first: the older of two people with similar names can have one without an objection only after the
    # younger one has got it. Those who wait for an older one are next.
    for wanted in [wanted for wanted in reversed(wrong) if not _correct_names(wanted)]:
        _correct_names(wanted)


def _correct_names(wanted: set[HeldName]) -> bool:
    """Store these skeletons of one person instead of theirs. Return False if somebody else has one of them.

    Does nothing if the person has other names by now: those were checked when they were chosen.
    """
    user_id = next(iter(wanted)).user_id
    with suppress(IntegrityError), transaction.atomic():
        person = User.objects.select_for_update(no_key=True).filter(pk=user_id)
        alone = set(held_names(Person(*row) for row in person.values_list(*Person._fields)))
        if alone != {row._replace(objection="") if row.objection == ALIKE else row for row in wanted}:
            return True
        live = NameSkeleton.objects.filter(user=user_id, freed_at=None)
        rows = {pk: HeldName(*values) for pk, *values in live.values_list("pk", *HeldName._fields)}
        NameSkeleton.objects.bulk_create(NameSkeleton(**row._asdict()) for row in sorted(wanted - set(rows.values())))
        NameSkeleton.objects.filter(pk__in=[pk for pk, row in rows.items() if row not in wanted]).delete()
        return True
    return False


def update_rest(
    *, user_id: int, quiet_from: time | None, quiet_to: time | None, auto_vacation: bool, now: datetime
) -> bool:
    """Set the quiet hours, and whether vacation is taken automatically. Return True if the hours have changed.

    `quiet_from` and `quiet_to` are in the person's time zone. Both are None for no quiet hours.

    :raises ValidationError: only one end is given, or the hours are longer than `LONGEST_QUIET`.
    :raises TooManyTries: the hours change too often.
    """
    if (quiet_from is None) != (quiet_to is None):
        raise ValidationError("Enter both times of your quiet hours, or leave both empty.", code="one_end")
    if quiet_from is not None and quiet_to is not None and quiet_length(quiet_from, quiet_to) > LONGEST_QUIET:
        hours = LONGEST_QUIET // timedelta(hours=1)
        raise ValidationError(
            f"Quiet hours can last {hours} hours at most.",
            code="too_long",
        )
    with transaction.atomic():
        user = lock_person(user_id)
        new_hours = (user.quiet_from, user.quiet_to) != (quiet_from, quiet_to)
        if new_hours:
            count_rest_change(user_id=user_id, now=now)
            user.quiet_since = now
        user.quiet_from, user.quiet_to, user.auto_vacation = quiet_from, quiet_to, auto_vacation
        user.save(update_fields=["quiet_from", "quiet_to", "quiet_since", "auto_vacation"])
        return new_hours


def create_token(*, user: User, name: str, now: datetime) -> str:
    """Create an API token and return its text, which is not stored.

    :raises AccountChanged: the password was changed, or the account closed, after `user` was read.
    :raises TooManyTokens: the user has `TOKENS_A_USER` tokens already.
    """
    token = new_token()
    with transaction.atomic():
        lock_unchanged(user)
        if queries.tokens_of(user).count() >= TOKENS_A_USER:
            raise TooManyTokens
        ApiToken.objects.create(user=user, name=name, digest=digest_of(token), created_at=now)
    return token


def revoke_token(*, user: User, token_id: int) -> bool:
    """Delete this token of the user. Return False if there is none with this number."""
    deleted, _ = queries.tokens_of(user).filter(pk=token_id).delete()
    return bool(deleted)


def revoke_tokens(*, user: User) -> None:
    """Delete all tokens of the user."""
    queries.tokens_of(user).delete()


def use_token(*, token: str, now: datetime) -> User | None:
    """Return the active owner of a token, or None. Stores the time of use at most every `LAST_USED_GRAIN`."""
    row = queries.token_row(token)
    if row is None:
        return None
    if row.last_used_at is None or now - row.last_used_at >= LAST_USED_GRAIN:
        row.last_used_at = now
        row.save(update_fields=["last_used_at"])
    return row.user


def renew_hash(*, user: User, password: str) -> None:
    """Store a new hash of the password that was just checked, if the old one has outdated parameters.

    Does nothing if the password was changed after the check.
    """
    preferred, before = get_hasher(), user.password
    if identify_hasher(before).algorithm == preferred.algorithm and not preferred.must_update(before):
        return
    after = make_password(password)
    if User.objects.filter(pk=user.pk, password=before).update(password=after):
        user.password = after


def use_totp_step(*, user_id: int, step: int) -> bool:
    """Mark this 30-second step of the person's app as used. Return False if it or a later one is used already."""
    return bool(User.objects.filter(pk=user_id, last_totp_step__lt=step).update(last_totp_step=step))


def drop_recovery_codes(*, user: User) -> None:
    """Delete the recovery codes of this person."""
    Authenticator.objects.filter(user=user, type=Authenticator.Type.RECOVERY_CODES).delete()


class Reencrypted(NamedTuple):
    """The number of second factors encrypted with the newest key, and the owners of those that no key decrypts."""

    done: int
    unreadable: list[str]


def reencrypt_factors(*, drop_unreadable: bool = False) -> Reencrypted:
    """Encrypt every second factor with the newest key, so that older keys are no longer needed. Safe to repeat.

    `drop_unreadable` deletes what no key decrypts. Recovery codes are deleted together with their app.
    """
    done = 0
    unreadable: set[str] = set()
    for number, owner in Authenticator.objects.order_by("pk").values_list("pk", "user_id"):
        with transaction.atomic():
            # Locked, because new recovery codes must not outlive their app, and using one writes the same column.
            lock_person(owner)
            factor = Authenticator.objects.select_for_update(of=("self",)).filter(pk=number).first()
            if factor is None:
                continue
            try:
                factor.data = encryption.change_secrets(factor.data, _reencrypt)
            except encryption.UnreadableSecret:
                unreadable.add(factor.user.username)
                if drop_unreadable:
                    of_app = factor.type == Authenticator.Type.TOTP
                    Authenticator.objects.filter(**{"user": factor.user} if of_app else {"pk": number}).delete()
                continue
            factor.save(update_fields=["data"])
            done += 1
    return Reencrypted(done, sorted(unreadable))


def _reencrypt(text: str) -> str:
    return encryption.encrypt(encryption.decrypt(text))


def clear_expired_sessions(*, now: datetime, batch: int = 5000) -> None:
    """Delete all expired sessions, `batch` rows at a time, so that no statement takes too long."""
    expired = Session.objects.filter(expire_date__lt=now).values_list("pk", flat=True)
    while keys := list(expired[:batch]):
        Session.objects.filter(pk__in=keys).delete()
