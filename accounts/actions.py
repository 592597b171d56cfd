"""Writes to people and their API tokens."""

from contextlib import suppress
from datetime import datetime, time, timedelta
from typing import Final, NamedTuple

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.conf import settings
from django.contrib.auth.hashers import check_password, get_hasher, identify_hasher, make_password
from django.core.exceptions import ValidationError
from django.core.validators import MaxLengthValidator
from django.db import IntegrityError, transaction

from accounts import queries, tries
from accounts.encryption import change_secrets
from accounts.hashers import normalized
from accounts.models import DELETION_DAYS, FREED_NAMES_HELD, ApiToken, NameSkeleton, Session, User, keyed_hashes
from accounts.names import (
    DISPLAY_NAME_LENGTH,
    NAME_TAKEN,
    clean_display_name,
    guest_display_name,
    guest_username,
    is_guest_display_name,
    name_skeletons,
    random_neutral_name,
    username_validators,
    validate_display_name,
    validate_time_zone,
)
from accounts.time_off import LONGEST_QUIET, quiet_length
from accounts.tokens import digest_of, new_token
from common.encryption import Undecryptable, decrypt, encrypt
from common.limits import TIME_OFF_CHANGES
from common.readers_language import say
from mail import site_keys
from mail.addresses import canonical, validate_address
from mail.models import ENCRYPTED

GUEST_NAME_TRIES = 20
TOKENS_A_USER = 20
LAST_USED_GRAIN = timedelta(minutes=10)


class NameTaken(Exception):
    """Someone else has this name, or one that looks like it. The message is a sentence for the person."""


class Muted(Exception):
    """Staff have muted this person until a date, so the name cannot be changed before it."""


class NoGuest(Exception):
    """This person is no longer a guest: another request has signed them up."""


class GuestsAreOff(Exception):
    """Nobody can become a guest here (`GUESTS`). Pages ask a visitor to log in before they come this far."""


class AccountChanged(Exception):
    """The account was closed, or its sessions were ended, after this request began.

    A new password and a new second factor end sessions, and so does *Log out everywhere else*.
    """


class AlreadyLinked(Exception):
    """This account has an identity at the OpenID provider already."""


class LinkedToAnother(Exception):
    """Another account has this identity of the OpenID provider."""


class LastWayIn(Exception):
    """This account has no password, so its identity at the OpenID provider cannot be removed."""


class AccountOpen(Exception):
    """This account is not closed."""


NOT_ALONE: Final = "not_alone"
"""The key in `Authenticator.data` of a passkey that needs the password, too."""


class TooManyTokens(Exception):
    """The user has `TOKENS_A_USER` API tokens already."""


def create_guest(*, name: str | None = None, time_zone: str = "UTC", username: str | None = None) -> User:
    """Create a guest, who has no password. Without a `name` they get a friendly one that nobody else has.

    :param time_zone: the name of a zone that exists.
    :param username: one of `names.guest_username`, or None for a random one.
    :raises GuestsAreOff: the site has no guests.
    :raises ValidationError: the name is not allowed, or not free.
    """
    if not settings.GUESTS:
        raise GuestsAreOff
    guest = User(username=username or guest_username(), is_guest=True, time_zone=time_zone)
    guest.set_unusable_password()
    if name is not None:
        # Before anything is done with it: composing a character can make it 18 times as long.
        MaxLengthValidator(DISPLAY_NAME_LENGTH)(name)
        guest.display_name = clean_display_name(name)
        validate_display_name(guest.display_name)  # also an empty one, which the field allows
        guest.clean_fields()
        _insert(guest, guest.display_name)
        return guest
    for _ in range(GUEST_NAME_TRIES):
        guest.display_name = guest_display_name()
        with suppress(IntegrityError), transaction.atomic():
            guest.save(force_insert=True)
            return guest
        guest.pk, guest.username = None, guest_username()
    guest.display_name = ""  # every name tried is taken: the random username will do
    guest.save(force_insert=True)
    return guest


def create_person(*, username: str, is_program: bool = False) -> User:
    """Create a person without a password, for example for a program that plays.

    :raises ValidationError: the username is not allowed or not free.
    """
    person = User(username=username, is_program=is_program)
    person.set_unusable_password()
    person.full_clean()
    for validate in username_validators:
        validate(username)
    _insert(person, username)
    return person


def _insert(new: User, name: str) -> None:
    """Store a new person who chose this name.

    :raises ValidationError: somebody else has the name, or one that looks like it.
    """
    if clash := queries.name_clash(name, except_for=new):
        raise ValidationError(clash, code="name_taken")
    try:
        with transaction.atomic():
            new.save(force_insert=True)
    except IntegrityError:
        raise ValidationError(say.text("error", NAME_TAKEN), code="name_taken") from None


def set_first_address(*, user: User, address: str) -> None:
    """Give a new account its address, which is not confirmed.

    :raises ValidationError: the address is malformed, or somebody has confirmed it.
    """
    validate_address(address)
    address = canonical(address)
    if queries.holder_of(address) is not None:
        raise ValidationError(say.text("error", "Another account has confirmed this address."), code="address_taken")
    replace_unconfirmed(user=user, old=None, address=address)


def replace_unconfirmed(*, user: User, old: EmailAddress | None, address: str) -> EmailAddress:
    """Replace the primary address `old`, which is not confirmed, by a valid one, and return the new row."""
    if old is not None:
        old.delete()  # and not changed, because the links that were mailed to it name this row
    user.email = address
    user.save(update_fields=["email"])
    new: EmailAddress = EmailAddress.objects.create(user=user, email=address, primary=True, verified=False)
    return new


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


def count_time_off_change(*, user_id: int, now: datetime) -> None:
    """Count one change of quiet hours, time zone or vacation against the limit, because each concerns all tables.

    Call it in the transaction of the change and with the person locked. A change that fails does not count.

    :raises TooManyTries: too many changes in the last minute.
    """
    tries.count([tries.Key.of(TIME_OFF_CHANGES, user_id)], now)


def _set_time_zone(user: User, known: User, zone: str, now: datetime) -> bool:
    """Set the time zone of `user`. Return True if it differs from that of `known`, the row read under the lock."""
    changed = known.time_zone != zone
    user.quiet_since = now if changed else known.quiet_since
    user.time_zone = zone
    return changed


def promote_guest(*, user: User) -> None:
    """Turn a guest into a person. They go by the username, or by the name that they chose as a guest. Does not save."""
    if user.is_guest:
        if is_guest_display_name(user.display_name) or not user.display_name:
            user.give_up_name(user.name)
            user.display_name = ""
        user.is_guest = False
        user.deletes_at = None


def keep_capitals(*, user: User, typed: str) -> None:
    """Let others see the username of a new person as it was typed, because it is stored in lowercase. Does not save."""
    if typed != typed.lower() and not (user.display_name or user.neutral_name):
        user.display_name = typed


def update_profile(
    *,
    user: User,
    display_name: str,
    time_zone: str,
    now: datetime,
    avatar: str = "",
    confirm: str = "",
    no_tips: bool = False,
) -> bool:
    """Change what the profile form has. Return True if the time zone has changed.

    Without an `avatar` the picture stays, without `confirm` that setting.

    :raises ValidationError: the name, the picture or the zone is not allowed.
    :raises NameTaken: somebody else has the name or one that looks like it.
    :raises Muted: the name changes, and staff have muted this person.
    :raises TooManyTries: the zone changes too often.
    """
    name = clean_display_name(display_name)
    with transaction.atomic():
        # The lock orders this change and a mute at the same time, so that the mute always removes the name.
        known = lock_person(user.pk)
        user.display_name, user.muted_until = known.display_name, known.muted_until
        user.former_names = known.former_names
        if name != known.display_name and known.muted(now):
            raise Muted
        new_zone = _set_time_zone(user, known, time_zone, now)
        if new_zone:
            count_time_off_change(user_id=user.pk, now=now)
        user.no_tips = no_tips
        user.confirm = confirm or user.confirm
        _save_profile(user=user, name=name, avatar=avatar)
        return new_zone


def _save_profile(*, user: User, name: str, avatar: str) -> None:
    changed = {"time_zone", "quiet_since", "no_tips", "confirm"}
    if avatar:
        user.avatar = avatar
        changed.add("avatar")
    if name != user.display_name:  # an unchanged name is not checked: it may be older than today's rules
        user.give_up_name(user.name)
        user.display_name = name
        changed |= {"display_name", "former_names"}
    user.clean_fields(exclude={field.name for field in User._meta.fields} - changed)
    if "display_name" in changed and name and (clash := queries.name_clash(name, except_for=user)):
        raise NameTaken(clash)
    try:
        with transaction.atomic():
            user.save(update_fields=changed)
    except IntegrityError:
        raise NameTaken(say.text("error", NAME_TAKEN)) from None


def ask_for_deletion(*, user: User, now: datetime) -> datetime:
    """Note that this account is to be deleted after `DELETION_DAYS`, and return when.

    A person is logged out everywhere, because logging in cancels the deletion. A guest has only the session to come
    back by, so it stays.

    :raises AccountChanged: the account was closed, or its sessions were ended, after `user` was read.
    """
    with transaction.atomic():
        lock_unchanged(user)
        user.deletes_at = queries.reread_user(user.pk).deletes_at or now + timedelta(days=DELETION_DAYS)
        user.save(update_fields=["deletes_at"])
        if not user.is_guest:
            Session.objects.filter(user=user).delete()
    return user.deletes_at


def cancel_deletion(*, user: User) -> bool:
    """Keep this account. Return False if nobody has asked for its deletion, or the worker has begun it.

    The caller is in a transaction and has locked the person.
    """
    asked = User.objects.filter(pk=user.pk, deletes_at__isnull=False, deletion_begun=False)
    user.deletes_at = None
    return bool(asked.update(deletes_at=None))


def free_neutral_name(person: User) -> str:
    """Return a neutral name for this person that nobody has."""
    name = random_neutral_name()
    while queries.name_clash(name, except_for=person):
        name = random_neutral_name()
    return name


def save_names_from_staff(*, person: User, now: datetime) -> None:
    """Save the names of this person as staff have changed them, and hold the former ones for `FREED_NAMES_HELD`.

    The caller is in a transaction and has locked the person.

    :raises IntegrityError: somebody else has one of the names, or one that looks like it.
    """
    fields = ("username", "display_name", "neutral_name")
    former = User.objects.values(*fields).get(pk=person.pk)
    person.save(update_fields=[field for field in fields if getattr(person, field) != former[field]])
    looks = sorted({look for name in former.values() if name for look in name_skeletons(name)})
    # Those that the person still has are held already. So may be one from before a rule, by an older account.
    NameSkeleton.objects.bulk_create(
        [NameSkeleton(user=person, skeleton=look, freed_at=now) for look in looks], ignore_conflicts=True
    )


def hold_names_of_deleted(*, person: User, now: datetime) -> None:
    """Hold the names of a person who is about to be deleted for `FREED_NAMES_HELD`, as keyed hashes.

    A hash may be there already: a new guest can be given the name of one who was deleted.
    """
    rows = NameSkeleton.objects.filter(user=person)
    held = [NameSkeleton(skeleton=keyed_hashes(row.skeleton)[0], freed_at=row.freed_at or now) for row in rows]
    rows.delete()
    NameSkeleton.objects.bulk_create(held, ignore_conflicts=True)


def free_held_names(*, now: datetime) -> None:
    """Free the names that have been held for `FREED_NAMES_HELD`."""
    NameSkeleton.objects.filter(freed_at__lte=now - FREED_NAMES_HELD).delete()


def update_time_off(
    *,
    user_id: int,
    quiet_from: time | None,
    quiet_to: time | None,
    auto_vacation: bool,
    shows_sleep: bool = False,
    now: datetime,
) -> bool:
    """Set the quiet hours, who sees them, and whether vacation is taken automatically. Return True for new hours.

    `quiet_from` and `quiet_to` are in the person's time zone. Both are None for no quiet hours.

    :raises ValidationError: only one end is given, or the hours are longer than `LONGEST_QUIET`.
    :raises TooManyTries: the hours change too often.
    """
    if (quiet_from is None) != (quiet_to is None):
        raise ValidationError(
            say.text("error", "Enter both times of your quiet hours, or leave both empty."), code="one_end"
        )
    if quiet_from is not None and quiet_to is not None and quiet_length(quiet_from, quiet_to) > LONGEST_QUIET:
        hours = LONGEST_QUIET // timedelta(hours=1)
        raise ValidationError(
            say.plural(
                "error", "Quiet hours can last {n} hour at most.", "Quiet hours can last {n} hours at most.", hours
            ),
            code="too_long",
        )
    with transaction.atomic():
        user = lock_person(user_id)
        new_hours = (user.quiet_from, user.quiet_to) != (quiet_from, quiet_to)
        changed = ["auto_vacation"]
        if new_hours or shows_sleep != user.shows_sleep:
            changed += ["quiet_from", "quiet_to", "quiet_since", "shows_sleep"]
            count_time_off_change(user_id=user_id, now=now)
        if new_hours:
            user.quiet_since = now
        user.quiet_from, user.quiet_to, user.auto_vacation = quiet_from, quiet_to, auto_vacation
        user.shows_sleep = shows_sleep
        user.save(update_fields=changed)
        return new_hours


def create_token(
    *, user: User, name: str, now: datetime, scope: ApiToken.Scope = ApiToken.Scope.PLAY, days: int | None = None
) -> str:
    """Create an API token and return its text, which is not stored. It works for `days`, or until it is revoked.

    :raises AccountChanged: the password was changed, or the account closed, after `user` was read.
    :raises TooManyTokens: the user has `TOKENS_A_USER` tokens already.
    """
    token = new_token()
    with transaction.atomic():
        lock_unchanged(user)
        if queries.tokens_of(user).count() >= TOKENS_A_USER:
            raise TooManyTokens
        expires_at = None if days is None else now + timedelta(days=days)
        ApiToken.objects.create(
            user=user, name=name, digest=digest_of(token), created_at=now, scope=scope, expires_at=expires_at
        )
    return token


def revoke_token(*, user: User, token_id: int) -> bool:
    """Delete this token of the user. Return False if there is none with this number."""
    deleted, _ = queries.tokens_of(user).filter(pk=token_id).delete()
    return bool(deleted)


def revoke_tokens(*, user: User) -> None:
    """Delete all tokens of the user."""
    queries.tokens_of(user).delete()


def use_token(*, token: str, now: datetime) -> ApiToken | None:
    """Return the row of a token that works, with its active owner, or None.

    Stores the time of use at most every `LAST_USED_GRAIN`.
    """
    row = queries.token_row(token)
    if row is None or row.expired(now):
        return None
    if row.last_used_at is None or now - row.last_used_at >= LAST_USED_GRAIN:
        row.last_used_at = now
        row.save(update_fields=["last_used_at"])
    return row


def renew_hash(*, user: User, password: str) -> None:
    """Store a new hash of the password that was just checked, if the old one has outdated parameters, or is that of
    the password before it was normalized.

    Does nothing if the password was changed after the check.
    """
    preferred, before = get_hasher(), user.password
    form = normalized(password)
    outdated = identify_hasher(before).algorithm != preferred.algorithm or preferred.must_update(before)
    if not outdated and (form == password or check_password(form, before)):
        return
    after = make_password(form)
    if User.objects.filter(pk=user.pk, password=before).update(password=after):
        user.password = after


def add_identity(*, user: User, issuer: str, subject: str) -> None:
    """Let this person log in by an identity at an OpenID provider. Nothing else of the provider is stored.

    The caller is in a transaction.

    :raises LinkedToAnother: an account has this identity, perhaps this one.
    """
    try:
        with transaction.atomic():
            SocialAccount.objects.create(user=user, provider=issuer, uid=subject)
    except IntegrityError:
        raise LinkedToAnother from None


def link_identity(*, user: User, issuer: str, subject: str) -> None:
    """Link an account with an identity at an OpenID provider.

    :raises AccountChanged: the account was closed, or its sessions were ended, after `user` was read.
    :raises AlreadyLinked: it has one at this provider.
    :raises LinkedToAnother: another account has this one.
    """
    with transaction.atomic():
        lock_unchanged(user)
        if queries.identities_of(user).filter(provider=issuer).exists():
            raise AlreadyLinked
        add_identity(user=user, issuer=issuer, subject=subject)


def unlink_identity(*, user: User, issuer: str) -> bool:
    """Remove the identity of this person at an OpenID provider. Return False if there is none. Locks the person.

    The caller is in a transaction, and ends the other sessions: a log-in by this identity may be under way.

    :raises AccountChanged: the account was closed, or its sessions were ended, after `user` was read.
    :raises LastWayIn: the person has no password.
    """
    lock_unchanged(user)
    if not user.has_usable_password():
        raise LastWayIn
    deleted, _ = queries.identities_of(user).filter(provider=issuer).delete()
    return bool(deleted)


def drop_identities(*, user: User) -> bool:
    """Remove all identities of this person at OpenID providers. Return False if there are none."""
    deleted, _ = queries.identities_of(user).delete()
    return bool(deleted)


def note_identity_used(*, number: int, now: datetime) -> None:
    """Store when a person came from the OpenID provider with this identity (its number) last."""
    SocialAccount.objects.filter(pk=number).update(last_login=now)  # by no save, which would make a deleted row again


def use_totp_step(*, user_id: int, step: int) -> bool:
    """Mark this 30-second step of the person's app as used. Return False if it or a later one is used already."""
    return bool(User.objects.filter(pk=user_id, last_totp_step__lt=step).update(last_totp_step=step))


def let_no_passkey_log_in_alone(*, user: User) -> None:
    """Let the passkeys of this person only complete log-ins that began with the password. The person is locked."""
    for passkey in queries.passkeys_of(user):
        passkey.data[NOT_ALONE] = True
        passkey.save(update_fields=["data"])


def drop_recovery_codes(*, user: User) -> None:
    """Delete the recovery codes of this person."""
    Authenticator.objects.filter(user=user, type=Authenticator.Type.RECOVERY_CODES).delete()


class Reencrypted(NamedTuple):
    """The number of secrets encrypted with the newest key, and what or whose those are that no key decrypts."""

    done: int
    unreadable: list[str]


def reencrypt_factors(*, drop_unreadable: bool = False) -> Reencrypted:
    """Encrypt every second factor with the newest key, so that older keys are no longer needed. Safe to repeat.

    `drop_unreadable` deletes what no key decrypts. Recovery codes are deleted with the last second factor.
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
                factor.data = change_secrets(change_secrets(factor.data, decrypt), encrypt)
            except Undecryptable:
                unreadable.add(factor.user.username)
                if drop_unreadable:
                    factor.delete()
                    if not queries.has_second_factor(factor.user):
                        drop_recovery_codes(user=factor.user)
                continue
            factor.save(update_fields=["data"])
            done += 1
    return Reencrypted(done, sorted(unreadable))


def reencrypt_columns(*, drop_unreadable: bool = False) -> Reencrypted:
    """Encrypt every other secret (`mail.models.ENCRYPTED`) with the newest key. Safe to repeat.

    `drop_unreadable` deletes the rows of what no key decrypts.
    """
    done, unreadable = 0, list[str]()
    for model, column in ENCRYPTED:
        for number in list(model.objects.order_by("pk").values_list("pk", flat=True)):
            with transaction.atomic():
                row = model.objects.select_for_update().filter(pk=number).first()
                if row is None:
                    continue
                try:
                    setattr(row, column, encrypt(decrypt(getattr(row, column))))
                except Undecryptable:
                    unreadable.append(str(row))
                    if drop_unreadable:
                        row.delete()
                    continue
                row.save(update_fields=[column])
                done += 1
    site_keys.make()  # another one, if it was deleted
    return Reencrypted(done, unreadable)


def clear_expired_sessions(*, now: datetime, batch: int = 5000) -> None:
    """Delete all expired sessions, `batch` rows at a time, so that no statement takes too long."""
    expired = Session.objects.filter(expire_date__lt=now).values_list("pk", flat=True)
    while keys := list(expired[:batch]):
        Session.objects.filter(pk__in=keys).delete()
