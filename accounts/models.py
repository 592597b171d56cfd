"""Who plays: people, guests, their sessions, the tokens of their programs, and the mails about accounts."""

import hashlib
from datetime import UTC, datetime, timedelta
from importlib import import_module
from typing import Any, Final

from django.conf import settings
from django.contrib.auth.hashers import check_password
from django.contrib.auth.models import AbstractUser
from django.contrib.sessions.base_session import AbstractBaseSession
from django.db import models, transaction
from django.db.models.functions import Lower
from django.utils import timezone

from accounts.addresses import LONGEST_ADDRESS
from accounts.names import DISPLAY_NAME_LENGTH, name_skeletons, validate_display_name, validate_time_zone
from accounts.rest import Rest

FREED_NAMES_HELD: Final = timedelta(days=90)
MOST_FREED: Final = 6
"""The most skeletons that are held of names one person gave up: those of three names, which have at most two each.

Without this limit one person could take any number of names away from everybody, by changing theirs again and again.
"""
FOR_GOOD: Final = datetime(9999, 1, 1, tzinfo=UTC)
"""The end of what never ends: later than any clock here will read."""


class User(AbstractUser):
    """A person or a guest. A guest has no password and becomes a person by signing up, with all games kept.

    Between `quiet_from` and `quiet_to`, in `time_zone`, no deadline falls; `quiet_since` says when these were changed
    last. `vacation_from` and `vacation_until` are the ends of the vacation that runs, or of the last one;
    `vacation_used` days of the year `vacation_year` are gone.

    `suspended_until` and `muted_until` are what staff decided last; `FOR_GOOD` has no end. `warned`: there is a warning
    that this person has not acknowledged. `answered`: staff have settled a report of theirs, which they have not seen.

    `last_totp_step` is the 30-second step of the last code of an authenticator app that was accepted. No code of that
    step or of an earlier one is accepted again.
    """

    first_name = None  # type: ignore[assignment]  # one name is enough here; Django's two are switched off
    last_name = None  # type: ignore[assignment]
    display_name = models.CharField(
        "name at the table", max_length=DISPLAY_NAME_LENGTH, blank=True, validators=[validate_display_name]
    )
    time_zone = models.CharField(max_length=64, default="UTC", validators=[validate_time_zone])
    is_guest = models.BooleanField(default=False)
    quiet_from = models.TimeField(null=True, blank=True)
    quiet_to = models.TimeField(null=True, blank=True)
    quiet_since = models.DateTimeField(null=True, blank=True, editable=False)
    vacation_from = models.DateTimeField(null=True, blank=True)
    vacation_until = models.DateTimeField(null=True, blank=True)
    vacation_year = models.PositiveSmallIntegerField(default=0)
    vacation_used = models.PositiveSmallIntegerField("days of vacation used in that year", default=0)
    auto_vacation = models.BooleanField("take a day of vacation instead of missing a turn", default=False)
    suspended_until = models.DateTimeField(null=True, blank=True, editable=False)
    muted_until = models.DateTimeField(null=True, blank=True, editable=False)
    warned = models.BooleanField(default=False, editable=False)
    answered = models.BooleanField(default=False, editable=False)
    last_totp_step = models.PositiveBigIntegerField(default=0, editable=False)

    class Meta:
        verbose_name = "person"
        verbose_name_plural = "people"
        permissions = [("see_address", "Can see mail addresses")]
        constraints = [
            models.UniqueConstraint(
                Lower("display_name"),
                condition=~models.Q(display_name=""),
                name="accounts_user_display_name_unique",
                violation_error_message="Somebody else goes by this name.",
            )
        ]

    @property
    def name(self) -> str:
        """How others see this person at the table."""
        return self.display_name or self.username

    @property
    def rest(self) -> Rest:
        """When this person's clocks do not run."""
        return Rest(
            self.time_zone,
            self.quiet_from,
            self.quiet_to,
            self.vacation_from,
            self.vacation_until,
            self.auto_vacation,
            self.quiet_since,
        )

    def save(self, *args: Any, **options: Any) -> None:
        """Save, and hold what the names look like in the same transaction.

        :raises IntegrityError: somebody else has such a name, or one that looks like it.
        """
        fields = options.get("update_fields")
        if fields is not None and not {"username", "display_name"} & set(fields):
            super().save(*args, **options)
            return
        with transaction.atomic():
            super().save(*args, **options)
            _hold_names(self)

    def check_password(self, raw_password: str | None) -> bool:
        """Return True if this is the password. Stores nothing, unlike Django's: see `actions.renew_hash`."""
        return check_password(raw_password, self.password)

    def suspended(self, now: datetime) -> bool:
        """Whether this person may only read why, and appeal."""
        return self.suspended_until is not None and self.suspended_until > now

    def muted(self, now: datetime) -> bool:
        """Whether this person may not choose words that others read: the name at the table."""
        return self.muted_until is not None and self.muted_until > now

    def get_full_name(self) -> str:
        return self.name

    def get_short_name(self) -> str:
        return self.name


class NameSkeleton(models.Model):
    """A skeleton of somebody's name, held so that nobody else takes a name that looks like it (`accounts.names`).

    `objection` says why staff should look at that name; empty if they need not. Names that are given today have none.

    `freed_at` is when its owner gave the name up; None while somebody has it. Only that person can take it back until
    `FREED_NAMES_HELD` have passed. After the deletion of an account its names have no user.
    """

    user = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="name_skeletons")
    skeleton = models.TextField()
    objection = models.CharField(max_length=20, blank=True)
    freed_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [models.Index(fields=["skeleton"], name="accounts_name_skeleton")]
        constraints = [
            # Names from before they were compared by look may look alike: all but the oldest have an objection.
            models.UniqueConstraint(
                fields=["skeleton"], condition=models.Q(objection=""), name="accounts_name_skeleton_unique"
            )
        ]

    def __str__(self) -> str:
        return f"{self.skeleton} of {self.user_id}"


def _hold_names(user: User) -> None:
    wanted = {skeleton for name in (user.username, user.display_name) if name for skeleton in name_skeletons(name)}
    rows = NameSkeleton.objects.filter(user=user)
    freed_at = dict(rows.values_list("skeleton", "freed_at"))
    if any(freed_at[skeleton] for skeleton in wanted & freed_at.keys()):
        rows.filter(skeleton__in=wanted).update(freed_at=None)
    if any(freed_at[skeleton] is None for skeleton in freed_at.keys() - wanted):
        _free_names(rows.exclude(skeleton__in=wanted))
    # In one order, so that two people who take the same names at once wait for each other instead of in a ring.
    NameSkeleton.objects.bulk_create(
        NameSkeleton(user=user, skeleton=skeleton) for skeleton in sorted(wanted - freed_at.keys())
    )


def _free_names(rows: models.QuerySet[NameSkeleton]) -> None:
    """Hold the skeletons that one person gives up, and delete the oldest ones over the limit."""
    rows.exclude(objection="").delete()  # nobody can take such a name, or an older account has it
    rows.filter(freed_at=None).update(freed_at=timezone.now())
    kept = rows.order_by("-freed_at", "pk").values_list("pk", flat=True)
    rows.filter(pk__in=list(kept[MOST_FREED:])).delete()


class ApiToken(models.Model):
    """A program's key to the API. Only its SHA-256 is stored; the token itself is shown once."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=60)
    digest = models.CharField(max_length=64, unique=True, editable=False)
    created_at = models.DateTimeField()
    last_used_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name = "API token"
        ordering = ["-created_at", "-pk"]

    def __str__(self) -> str:
        return f"{self.name} of {self.user_id}"


class Session(AbstractBaseSession):
    """A session as Django stores it, with a column for its user, so that a person's sessions can be found.

    `seen_at` is when it was last used, to ten minutes. A visitor's session has no user.
    """

    # No constraint in the database: Django would take its error for a key that is taken, and try other keys for ever.
    user = models.ForeignKey(User, null=True, on_delete=models.CASCADE, db_constraint=False, related_name="sessions")
    seen_at = models.DateTimeField()

    @property
    def handle(self) -> str:
        """The name of this session on pages. Its key is the cookie, so no page may show it."""
        return hashlib.sha256(f"session {self.session_key}".encode()).hexdigest()[:20]

    @classmethod
    def get_session_store_class(cls) -> Any:  # the engine is above this module, and named by a setting
        return import_module(settings.SESSION_ENGINE).SessionStore


class CountedTry(models.Model):
    """A try that counts against a limit until a moment: see `accounts.tries`."""

    key = models.CharField(max_length=64)  # the limit's name and a keyed hash of who is counted
    slot = models.PositiveIntegerField()
    until = models.DateTimeField(db_index=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["key", "slot"], name="accounts_countedtry_slot_unique")]

    def __str__(self) -> str:
        return f"{self.key} {self.slot}"


class Delivery(models.Model):
    """One thing that the outbox sends, or shows on the site: how far it is, and what its sender needs to know.

    `waiting` until `due_at`, when the sender looks again; then shown or handed over (`sent`), or not (`dropped`, with a
    `reason`), or given up (`failed`). A mail is claimed (`sending`), and marked `handed` just before the mail server
    gets it. `since` is when the state last changed.
    """

    class State(models.TextChoices):
        WAITING = "waiting", "Waiting"
        SENDING = "sending", "Being sent"
        HANDED = "handed", "Handed over"
        SENT = "sent", "Sent"
        DROPPED = "dropped", "Not sent"
        FAILED = "failed", "Failed"

    state = models.CharField(max_length=8, choices=State, default=State.WAITING)
    reason = models.CharField(max_length=16, blank=True, default="")
    created_at = models.DateTimeField()
    due_at = models.DateTimeField()
    since = models.DateTimeField()
    tries = models.PositiveSmallIntegerField(default=0)
    claim = models.UUIDField(null=True, blank=True)

    class Meta:
        abstract = True


class AccountMail(Delivery):
    """A mail about an account, or about an address that accounts claim, from the request for it until a day after.

    `kind` is a name in `accounts.mails.KINDS`. `address` is in the spelling of `accounts.addresses.canonical`, and
    `mailbox` is what limits count: the mailbox (`accounts.addresses.mailbox_of`), or for a new password a confirmed
    address. `user` is the account concerned; None if the mail was asked for by somebody who need not have one. `facts`
    is what else the text says, such as the numbers of the other accounts that a confirmation lists. Links are made when
    the mail is sent, so no row ever holds a token.
    `asked_from` is a keyed hash of the network that asked (`accounts.origin.hashed_identity`), so that networks take
    turns; it is empty for mails that take no turns.
    """

    user = models.ForeignKey(User, null=True, on_delete=models.CASCADE, related_name="account_mails")
    kind = models.CharField(max_length=60)
    address = models.EmailField(max_length=LONGEST_ADDRESS)
    mailbox = models.EmailField(max_length=LONGEST_ADDRESS)
    asked_from = models.CharField(max_length=32, blank=True, default="", db_default="")
    facts = models.JSONField(default=dict)

    class Meta:
        constraints = (
            # Without an account to count for, one request under way stands for all others like it.
            models.UniqueConstraint(
                fields=["kind", "address"],
                name="account_mail_asked_once",
                condition=models.Q(user=None, state__in=("waiting", "sending", "handed")),
            ),
        )
        indexes = (
            models.Index(fields=["due_at"], name="account_mail_due", condition=models.Q(state="waiting")),
            models.Index(
                fields=["since"], name="account_mail_under_way", condition=models.Q(state__in=("sending", "handed"))
            ),
            models.Index(
                fields=["mailbox", "kind", "due_at"],
                name="account_mail_to_mailbox",
                condition=models.Q(state="waiting"),
            ),
            models.Index(
                fields=["mailbox", "kind", "since"],
                name="account_mail_gone_out",
                condition=models.Q(state__in=("sending", "handed", "sent", "failed")),
            ),
        )

    def __str__(self) -> str:
        return f"account mail {self.pk}"
