"""People and guests, their sessions, API tokens and held names, and the mails about accounts."""

import hashlib
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from importlib import import_module
from typing import Any, ClassVar, Final

from django.conf import settings
from django.contrib.auth.hashers import check_password, make_password
from django.contrib.auth.models import AbstractUser
from django.contrib.postgres.fields import ArrayField
from django.contrib.sessions.base_session import AbstractBaseSession
from django.db import models, transaction
from django.db.models.functions import Lower, Upper
from django.utils import timezone
from django.utils.crypto import salted_hmac

from accounts.avatars import avatar_of, validate_avatar
from accounts.names import DISPLAY_NAME_LENGTH, NAME_TAKEN, name_skeletons, validate_display_name, validate_time_zone
from accounts.time_off import TimeOff
from mail.models import TO_ADDRESS, Delivery

FREED_NAMES_HELD: Final = timedelta(days=90)
"""How long a name is held after its account was deleted, or after staff took it away."""
FORMER_NAMES: Final = 20
"""How many names that a person gave up are stored with the person."""
NEW_ACCOUNT_FOR: Final = timedelta(days=1)
"""How long an account is new. A guest always is."""
SESSION_SALT: Final = "django.contrib.auth.models.AbstractBaseUser.get_session_auth_hash"
FOR_GOOD: Final = datetime(9999, 1, 1, tzinfo=UTC)
"""The end of a suspension or mute without an end."""
DELETION_DAYS: Final = 14
LONGEST_DELETION_DAYS: Final = 30
"""How long an account stays after its person has asked for the deletion, and how long if staff have work with it."""


def name_sql(user: str) -> str:
    """Return SQL for `User.name`. `user` is the alias of the table; without a row the value is null."""
    return f"COALESCE(NULLIF({user}.display_name, ''), NULLIF({user}.neutral_name, ''), {user}.username)"


class User(AbstractUser):
    """A person or a guest. A guest has no password, and keeps all games when signing up makes them a person."""

    class Confirm(models.TextChoices):
        """What a game page asks about before it makes a move. At live tables `ALWAYS` is only about taps."""

        TAPS = "taps", "If I tap, where turns are long"
        ALWAYS = "all", "For every tap, click and key"
        NEVER = "off", "Never"

    first_name = None  # type: ignore[assignment]  # not needed: people have one name
    last_name = None  # type: ignore[assignment]
    display_name = models.CharField(
        "name at the table", max_length=DISPLAY_NAME_LENGTH, blank=True, validators=[validate_display_name]
    )
    # Empty until the person has chosen one: see `avatar_shown`.
    avatar = models.CharField(max_length=16, blank=True, default="", db_default="", validators=[validate_avatar])
    time_zone = models.CharField(max_length=64, default="UTC", validators=[validate_time_zone])
    is_guest = models.BooleanField(default=False)
    # No deadline falls between these times of day, in `time_zone`.
    quiet_from = models.TimeField(null=True, blank=True)
    quiet_to = models.TimeField(null=True, blank=True)
    # When the quiet hours or the time zone were last changed.
    quiet_since = models.DateTimeField(null=True, blank=True, editable=False)
    # The other players at a table may see that it is between these times, and about when they end.
    shows_sleep = models.BooleanField(default=False, db_default=False)
    confirm = models.CharField(
        max_length=4, choices=Confirm, default=Confirm.TAPS, db_default=Confirm.TAPS.value, editable=False
    )
    # Whether anything can reach the person by push, and by their webhook. Kept by the writes of those rows, so that a
    # move needs no query to know.
    has_push = models.BooleanField(default=False, db_default=False, editable=False)
    has_hook = models.BooleanField(default=False, db_default=False, editable=False)
    # The current vacation, or the last one.
    vacation_from = models.DateTimeField(null=True, blank=True)
    vacation_until = models.DateTimeField(null=True, blank=True)
    # The year of `vacation_used`.
    vacation_year = models.PositiveSmallIntegerField(default=0)
    vacation_used = models.PositiveSmallIntegerField("days of vacation used in that year", default=0)
    auto_vacation = models.BooleanField("take a day of vacation instead of missing a turn", default=False)
    # Set by staff: shown instead of the username, for example `Player 48213` (`names.random_neutral_name`).
    neutral_name = models.CharField(
        max_length=DISPLAY_NAME_LENGTH, blank=True, default="", db_default="", editable=False
    )
    # Set by staff. FOR_GOOD has no end.
    suspended_until = models.DateTimeField(null=True, blank=True, editable=False)
    muted_until = models.DateTimeField(null=True, blank=True, editable=False)
    # There is a warning that this person has not acknowledged.
    warned = models.BooleanField(default=False, editable=False)
    # Staff have settled a report by this person, who has not seen it yet.
    answered = models.BooleanField(default=False, editable=False)
    # The 30-second step of the last accepted code of an app. Codes of this step or earlier ones are refused.
    last_totp_step = models.PositiveBigIntegerField(default=0, editable=False)
    # Part of what sessions are checked by. A new one ends them, like a new password (`log_ins.end_elsewhere`).
    session_mark = models.CharField(max_length=22, blank=True, default="", db_default="", editable=False)
    # A program plays for this account. Nothing takes that back.
    is_program = models.BooleanField("played by a program", default=False, db_default=False, editable=False)
    # When the account will be deleted, because the person has asked for it. Logging in clears it.
    deletes_at = models.DateTimeField(null=True, blank=True, editable=False)
    # The worker is deleting the account: nobody can log in any more, and nothing stops it.
    deletion_begun = models.BooleanField(default=False, db_default=False, editable=False)
    # The last names that the person chose to give up, so that the deletion finds them in other people's notices.
    former_names = ArrayField(models.CharField(max_length=150), default=list, db_default=[], blank=True, editable=False)

    # The keys of the tips of game pages that are done: the person has read them, or moved while they were shown.
    seen_tips = ArrayField(models.CharField(max_length=16), default=list, db_default=[], blank=True, editable=False)
    # Game pages show this person no tips.
    no_tips = models.BooleanField(default=False, db_default=False)

    class Meta:
        verbose_name = "person"
        verbose_name_plural = "people"
        permissions = [("see_address", "Can see mail addresses")]
        constraints = [
            models.UniqueConstraint(
                Lower("display_name"),
                condition=~models.Q(display_name=""),
                name="accounts_user_display_name_unique",
                violation_error_message=NAME_TAKEN,
            ),
            models.UniqueConstraint(
                fields=["neutral_name"],
                condition=~models.Q(neutral_name=""),
                name="accounts_user_neutral_name_unique",
            ),
        ]
        indexes = [
            # `iexact` compares in uppercase.
            models.Index(Upper("username"), name="accounts_user_username"),
            models.Index(Upper("display_name"), name="accounts_user_display_name"),
            models.Index(Upper("neutral_name"), name="accounts_user_neutral_name"),
            models.Index(fields=["email"], name="accounts_user_email"),
            models.Index(
                fields=["deletes_at"], name="accounts_user_deletes_at", condition=models.Q(deletes_at__isnull=False)
            ),
        ]

    @property
    def name(self) -> str:
        """Return the name that others see. Keep in step with `name_sql`."""
        return self.display_name or self.neutral_name or self.username

    @property
    def avatar_shown(self) -> str:
        """Return the name of the picture that others see, a key of `avatars.AVATARS`."""
        return avatar_of(self.avatar, self.pk)

    @property
    def time_off(self) -> TimeOff:
        """Return this person's vacation and quiet hours."""
        return TimeOff(
            self.time_zone,
            self.quiet_from,
            self.quiet_to,
            self.vacation_from,
            self.vacation_until,
            self.auto_vacation,
            self.quiet_since,
            self.shows_sleep,
        )

    def save(self, *args: Any, **options: Any) -> None:
        """Save, and hold the skeletons of the names in the same transaction.

        :raises IntegrityError: somebody else has this name or one that looks like it.
        """
        fields = options.get("update_fields")
        if fields is not None and not {"username", "display_name", "neutral_name"} & set(fields):
            super().save(*args, **options)
            return
        with transaction.atomic():
            stored = User.objects.filter(pk=self.pk) if self.pk else User.objects.none()
            names = stored.values_list("username", "display_name", "neutral_name").first()
            super().save(*args, **options)
            _hold_names(self, before=_skeletons_of(*(names or ())))

    def check_password(self, raw_password: str | None) -> bool:
        """Return True if this is the password. Unlike Django's, store no new hash: `actions.renew_hash` does that."""
        if not self.has_usable_password():
            make_password(raw_password)  # takes as long as for an unknown name
            return False
        return check_password(raw_password, self.password)

    def get_session_auth_hash(self) -> str:
        """Return the hash by which a session is valid: until the password or `session_mark` changes."""
        return self._session_hash(None)

    def get_session_auth_fallback_hash(self) -> Iterator[str]:
        """Yield that hash under each of `SECRET_KEY_FALLBACKS`."""
        yield from map(self._session_hash, settings.SECRET_KEY_FALLBACKS)

    def _session_hash(self, secret: str | None) -> str:
        # Without a mark it is Django's, so that sessions from before there were marks stay valid.
        value = f"{self.password}{self.session_mark}"
        return salted_hmac(SESSION_SALT, value, secret=secret, algorithm="sha256").hexdigest()

    def give_up_name(self, name: str) -> None:
        """Note that the person was called by this name until now. Does not save."""
        self.former_names = [*(known for known in self.former_names if known != name), name][-FORMER_NAMES:]

    def is_new_account(self, now: datetime) -> bool:
        """Return True for a guest or a new account. One person can make any number of them (decision 99)."""
        return self.is_guest or self.date_joined > now - NEW_ACCOUNT_FOR

    def suspended(self, now: datetime) -> bool:
        """Return True if this person is suspended: they may only read why, and appeal."""
        return self.suspended_until is not None and self.suspended_until > now

    @property
    def deletes_by(self) -> datetime | None:
        """When the account will be deleted at the latest, or None if nobody has asked for that."""
        return self.deletes_at and self.deletes_at + timedelta(days=LONGEST_DELETION_DAYS - DELETION_DAYS)

    @property
    def suspended_now(self) -> bool:
        """For templates: whether this person is suspended now."""
        return self.suspended(timezone.now())

    def muted(self, now: datetime) -> bool:
        """Return True if this person may not change the name at the table."""
        return self.muted_until is not None and self.muted_until > now

    @property
    def no_sign_up_until(self) -> datetime | None:
        """For templates: until when this guest cannot sign up, because staff muted them. Else None."""
        return self.muted_until if self.is_guest and self.muted(timezone.now()) else None

    def get_full_name(self) -> str:
        return self.name

    def get_short_name(self) -> str:
        return self.name


class NameSkeleton(models.Model):
    """A skeleton of somebody's name, held so that nobody else takes a name that looks like it (`accounts.names`).

    `user` is None after the account was deleted. Then `skeleton` is the keyed hash of it.
    """

    user = models.ForeignKey(User, null=True, on_delete=models.CASCADE, related_name="name_skeletons")
    skeleton = models.TextField()
    # When staff took the name away or the account was deleted; None while the owner has it. For FREED_NAMES_HELD nobody
    # else gets it.
    freed_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["skeleton"], name="accounts_name_skeleton_unique")]

    def __str__(self) -> str:
        return f"{self.skeleton} of {self.user_id}"


def keyed_hashes(skeleton: str) -> list[str]:
    """Return a keyed hash of a skeleton, and after it those under each of `SECRET_KEY_FALLBACKS`.

    The names of deleted accounts are held in this form, so that the database does not have them.
    """
    keys = (None, *settings.SECRET_KEY_FALLBACKS)
    return [salted_hmac("accounts.NameSkeleton", skeleton, secret=key, algorithm="sha256").hexdigest() for key in keys]


def _skeletons_of(*names: str) -> frozenset[str]:
    return frozenset(skeleton for name in names if name for skeleton in name_skeletons(name))


def _hold_names(user: User, before: frozenset[str]) -> None:
    """Hold the skeletons of this person's names, and free those of names given up.

    :param before: the skeletons of the names before the change, of which an older account may hold one: a name that
        the person had before a rule stays theirs.
    """
    wanted = _skeletons_of(user.username, user.display_name, user.neutral_name)
    rows = NameSkeleton.objects.filter(user=user)
    if before - wanted:
        rows.filter(freed_at=None).exclude(skeleton__in=wanted).delete()
    if new := wanted - before:
        if before:
            rows.filter(skeleton__in=new).delete()  # names that staff took away, and that the person takes back
        # Sorted, so that two people who take the same names at once do not deadlock.
        NameSkeleton.objects.bulk_create(NameSkeleton(user=user, skeleton=skeleton) for skeleton in sorted(new))


class ApiToken(models.Model):
    """A token for the API. Only its SHA-256 is stored; the token itself is shown once."""

    class Scope(models.TextChoices):
        READ = "read", "Only read"
        PLAY = "play", "Read and play"

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=60)
    digest = models.CharField(max_length=64, unique=True, editable=False)
    created_at = models.DateTimeField()
    last_used_at = models.DateTimeField(null=True, blank=True)
    scope = models.CharField(max_length=4, choices=Scope, default=Scope.PLAY)
    expires_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name = "API token"
        ordering = ["-created_at", "-pk"]

    def __str__(self) -> str:
        return f"{self.name} of {self.user_id}"

    def expired(self, now: datetime) -> bool:
        """Return True if the token does not work any more."""
        return self.expires_at is not None and self.expires_at <= now


class SignUpInvitation(models.Model):
    """An invitation to make an account. Only the SHA-256 of its key is stored; the link is shown once.

    `note` is for the person who invites. `used_by` is who signed up with it, None again if that account is deleted.
    """

    digest = models.CharField(max_length=64, unique=True, editable=False)
    by = models.ForeignKey(User, on_delete=models.CASCADE, related_name="sign_up_invitations")
    note = models.CharField(max_length=60, blank=True)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True, blank=True)
    used_at = models.DateTimeField(null=True, blank=True)
    used_by = models.ForeignKey(User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")

    class Meta:
        verbose_name = "invitation"
        default_permissions = ("view",)
        ordering = ["-created_at", "-pk"]

    def __str__(self) -> str:
        return f"{self.pk} by {self.by_id}"

    def state(self, now: datetime) -> str:
        """Return `used`, `revoked`, `expired` or `open`."""
        if self.used_at is not None:
            return "used"
        if self.revoked_at is not None:
            return "revoked"
        return "expired" if self.expires_at <= now else "open"


class Session(AbstractBaseSession):
    """A session as Django stores it, with its user (None for a visitor), so that a person's sessions can be found.

    `seen_at` is when it was last used, as stored (`SEEN_INTERVAL`). An `ending` session has been continued under
    another key, and nothing makes it last longer.
    """

    # Without a constraint in the database: Django would mistake its error for a taken key, and try other keys forever.
    user = models.ForeignKey(User, null=True, on_delete=models.CASCADE, db_constraint=False, related_name="sessions")
    seen_at = models.DateTimeField()
    ending = models.BooleanField(default=False, db_default=False)

    @property
    def handle(self) -> str:
        """Return the name of this session on pages. They must not show its key, which is the cookie."""
        return hashlib.sha256(f"session {self.session_key}".encode()).hexdigest()[:20]

    @classmethod
    def get_session_store_class(cls) -> Any:  # the engine is above this module, and named by a setting
        return import_module(settings.SESSION_ENGINE).SessionStore


class CountedTry(models.Model):
    """How many tries of one key count against its limit in the window that ends at `until` (`accounts.tries`)."""

    key = models.CharField(max_length=64, unique=True)  # the limit's name and a keyed hash of who is counted
    count = models.PositiveIntegerField()
    until = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return f"{self.key} {self.count}"


class AccountMails(models.Manager["AccountMail"]):
    """Finds only mails about addresses."""

    def get_queryset(self) -> "models.QuerySet[AccountMail]":
        return super().get_queryset().filter(TO_ADDRESS)


class AccountMail(Delivery):
    """A mail about an account, or about an address that accounts claim. Deleted a day after it is sent or dropped.

    Its `kind` is a name in `accounts.mails.KINDS`, and its `facts` are what else the text needs, such as the users that
    a confirmation lists.
    """

    objects: ClassVar[AccountMails] = AccountMails()

    class Meta:
        proxy = True

    def __str__(self) -> str:
        return f"account mail {self.pk}"
