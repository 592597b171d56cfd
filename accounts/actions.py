"""Every write to people and tokens."""

from datetime import datetime, time, timedelta
from typing import NamedTuple

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from django.contrib.auth.hashers import get_hasher, identify_hasher, make_password
from django.core.exceptions import ValidationError
from django.db import IntegrityError, connection, transaction

from accounts import encryption, queries, tries
from accounts.limits import REST_CHANGES
from accounts.models import FREED_NAMES_HELD, ApiToken, NameSkeleton, User
from accounts.names import (
    HeldName,
    Person,
    clean_display_name,
    guest_display_name,
    guest_username,
    held_names,
    username_validators,
    validate_time_zone,
)
from accounts.rest import LONGEST_QUIET, quiet_length
from accounts.tokens import digest_of, new_token

GUEST_NAME_TRIES = 20
TOKENS_A_USER = 20
LAST_USED_GRAIN = timedelta(minutes=10)


class NameTaken(Exception):
    """Somebody else is known by this name, or by one that looks like it. The message is a sentence for the person."""


class Muted(Exception):
    """Staff have taken this person's choice of words away for a time."""


class NoGuest(Exception):
    """This person has signed up, in another request."""


class TooManyTokens(Exception):
    """The user has as many API tokens as one may have."""


def create_guest() -> User:
    """A guest who can play at once: no password, a friendly name nobody else has."""
    for _ in range(GUEST_NAME_TRIES):
        guest = User(username=guest_username(), display_name=guest_display_name(), is_guest=True)
        guest.set_unusable_password()
        try:
            with transaction.atomic():
                guest.save(force_insert=True)
        except IntegrityError:
            continue
        return guest
    guest.display_name = ""  # every friendly name tried is taken; the username is random enough
    guest.save(force_insert=True)
    return guest


def create_person(*, username: str) -> User:
    """A person without a password, as for a program's own account. Raises ValidationError."""
    person = User(username=username)
    person.set_unusable_password()
    person.full_clean()
    for validate in username_validators:
        validate(username)
    if clash := queries.name_clash(username, but=person):
        raise ValidationError(clash, code="name_taken")
    try:
        person.save(force_insert=True)
    except IntegrityError:
        raise ValidationError(queries.NAME_TAKEN, code="name_taken") from None
    return person


def mark_address_verified(*, username: str) -> None:
    """Count this person's address, if there is one, as confirmed: whoever runs the site says that it is theirs."""
    person = User.objects.get(username=username)
    if person.email:
        person.email = person.email.lower()  # as addresses are kept that people give themselves
        with transaction.atomic():
            person.save(update_fields=["email"])
            EmailAddress.objects.create(user=person, email=person.email, primary=True, verified=True)


def choose_time_zone(*, user: User, zone: str, now: datetime) -> None:
    """Tell times to this person in this zone from now on. Raises ValidationError for one there is not."""
    validate_time_zone(zone)
    with transaction.atomic():
        _move_nights(user, lock_person(user.pk), zone, now)
        user.save(update_fields=["time_zone", "quiet_since"])


def lock_person(user_id: int) -> User:
    """This person as stored, locked until the transaction ends; a row that only refers to them need not wait.

    :raises User.DoesNotExist:
    """
    return User.objects.select_for_update(of=("self",), no_key=True).get(pk=user_id)


def lock_guest(user_id: int) -> User:
    """Return this guest as stored, locked until the transaction ends.

    :raises NoGuest: if this person has signed up by now.
    """
    guest = lock_person(user_id)
    if not guest.is_guest:
        raise NoGuest
    return guest


def count_rest_change(*, user_id: int, now: datetime) -> None:
    """Count a change of this person's quiet hours, time zone or vacation: it moves the clocks of all their turns.

    Call it in the transaction of the change, with the person locked: if the change fails, it does not count.

    :raises TooManyTries: after too many changes in a minute.
    """
    with tries.trying([tries.Key.of(REST_CHANGES, user_id)], now, durable=False) as one:
        one.count()


def _move_nights(user: User, known: User, zone: str, now: datetime) -> bool:
    """Set the zone of `user`, and return True if it differs from that of `known`, the row read under the lock."""
    changed = known.time_zone != zone
    user.quiet_since = now if changed else known.quiet_since
    user.time_zone = zone
    return changed


def promote_guest(*, user: User) -> None:
    """Make a guest who signs up a person like any other, known by the username just chosen. The caller saves."""
    if user.is_guest:
        user.is_guest = False
        user.display_name = ""


def update_profile(*, user: User, display_name: str, time_zone: str, now: datetime) -> bool:
    """Change the name at the table and the time zone; return True if the zone has changed.

    :raises ValidationError:
    :raises NameTaken:
    :raises Muted: if the name changes.
    :raises TooManyTries: if the zone changes too often.
    """
    name = clean_display_name(display_name)
    with transaction.atomic():
        # A mute that comes at the same time takes the name away before this looks, or after it has saved.
        known = lock_person(user.pk)
        user.display_name, user.muted_until = known.display_name, known.muted_until
        if name != known.display_name and known.muted(now):
            raise Muted
        new_zone = _move_nights(user, known, time_zone, now)
        if new_zone:
            count_rest_change(user_id=user.pk, now=now)
        _save_profile(user=user, name=name)
        return new_zone


def _save_profile(*, user: User, name: str) -> None:
    changed = {"time_zone", "quiet_since"}
    if name != user.display_name:  # a name from before today's rules stays, and may be saved along with a time zone
        user.display_name = name
        changed.add("display_name")
    user.clean_fields(exclude={field.name for field in User._meta.fields} - changed)
    if "display_name" in changed and name and (clash := queries.name_clash(name, but=user)):
        raise NameTaken(clash)
    try:
        with transaction.atomic():
            user.save(update_fields=changed)
    except IntegrityError:
        raise NameTaken(queries.NAME_TAKEN) from None


def recheck_names(*, now: datetime) -> None:
    """Judge all names by today's rules: what each looks like, and which staff should look at.

    Also let go of names that were given up long ago, and note the time for those of accounts that are deleted.

    Names are judged when they are given. This finds names that were given under other rules, and removes objections
    whose reason is gone. Takes about 0.1 ms a person, in which nobody can take a name.
    """
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("LOCK TABLE accounts_nameskeleton IN SHARE ROW EXCLUSIVE MODE")
        people = User.objects.order_by("pk").values_list("pk", "username", "display_name", "is_guest", "is_staff")
        found = set(held_names(Person(*row) for row in people.iterator()))
        NameSkeleton.objects.filter(user=None, freed_at=None).update(freed_at=now)
        freed, taken = NameSkeleton.objects.exclude(freed_at=None), {row.skeleton for row in found}
        freed.filter(freed_at__lte=now - FREED_NAMES_HELD).delete()
        # Somebody may have had the same look from before this rule.
        freed.filter(pk__in=[pk for pk, look in freed.values_list("pk", "skeleton") if look in taken]).delete()
        held = NameSkeleton.objects.filter(freed_at=None).values_list("pk", *HeldName._fields)
        rows = {HeldName(*values): pk for pk, *values in held}
        NameSkeleton.objects.filter(pk__in=[pk for row, pk in rows.items() if row not in found]).delete()
        NameSkeleton.objects.bulk_create(NameSkeleton(**row._asdict()) for row in sorted(found - rows.keys()))


def update_rest(
    *, user_id: int, quiet_from: time | None, quiet_to: time | None, auto_vacation: bool, now: datetime
) -> bool:
    """Set the quiet hours (both ends or neither), and whether vacation is taken automatically.

    Return True if the hours have changed.

    :raises ValidationError:
    :raises TooManyTries: if the hours change too often.
    """
    if (quiet_from is None) != (quiet_to is None):
        raise ValidationError("Give both ends of your quiet hours, or leave both empty.", code="one_end")
    if quiet_from is not None and quiet_to is not None and quiet_length(quiet_from, quiet_to) > LONGEST_QUIET:
        hours = LONGEST_QUIET // timedelta(hours=1)
        raise ValidationError(
            f"Quiet hours can be {hours} hours of the day at most, not all of it: choose ends that lie closer.",
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
    """A new API token, answered once and never again. Raises TooManyTokens."""
    token = new_token()
    with transaction.atomic():
        lock_person(user.pk)
        if queries.tokens_of(user).count() >= TOKENS_A_USER:
            raise TooManyTokens
        ApiToken.objects.create(user=user, name=name, digest=digest_of(token), created_at=now)
    return token


def revoke_token(*, user: User, token_id: int) -> bool:
    """Delete one of the user's tokens; False if there is none of that number."""
    deleted, _ = queries.tokens_of(user).filter(pk=token_id).delete()
    return bool(deleted)


def revoke_tokens(*, user: User) -> None:
    """Delete all tokens of the user."""
    queries.tokens_of(user).delete()


def use_token(*, token: str, now: datetime) -> User | None:
    """The owner of a token, with its use noted (to ten minutes, so that most calls write nothing)."""
    row = queries.token_row(token)
    if row is None:
        return None
    if row.last_used_at is None or now - row.last_used_at >= LAST_USED_GRAIN:
        row.last_used_at = now
        row.save(update_fields=["last_used_at"])
    return row.user


def renew_hash(*, user: User, password: str) -> None:
    """Hash the password that was just checked again if its hash is not as they are made today.

    Does nothing if the password has changed since it was checked.
    """
    preferred, before = get_hasher(), user.password
    if identify_hasher(before).algorithm == preferred.algorithm and not preferred.must_update(before):
        return
    after = make_password(password)
    if User.objects.filter(pk=user.pk, password=before).update(password=after):
        user.password = after


def use_totp_step(*, user_id: int, step: int) -> bool:
    """Mark this 30-second step of the person's app as used. Return False if it or a later one is already used."""
    return bool(User.objects.filter(pk=user_id, last_totp_step__lt=step).update(last_totp_step=step))


class Reencrypted(NamedTuple):
    """How many second factors are encrypted with the newest key now, and the users of those that no key decrypts."""

    done: int
    unreadable: list[str]


def reencrypt_factors(*, drop_unreadable: bool = False) -> Reencrypted:
    """Encrypt every second factor with the newest key, so that older keys are no longer needed. Safe to repeat.

    With `drop_unreadable` delete what no key decrypts; recovery codes are deleted together with their app.
    """
    done = 0
    unreadable: set[str] = set()
    for number in Authenticator.objects.order_by("pk").values_list("pk", flat=True):
        with transaction.atomic():
            # Under a lock, because a recovery code that is used at this moment is marked in the same column.
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
