"""The audit log, warnings, suspensions, appeals, cases and reports."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast

from accounts.models import User
from accounts.names import deleted_name
from games.models.tables import Game

SHORTEST_REASON: Final = 10
REASON_LENGTH: Final = 500
SHORTEST_WORDS: Final = 20
WORDS_LENGTH: Final = 2000
SHORTEST_SAID: Final = 3
SAID_LENGTH: Final = 200
"""Lengths in characters: REASON for the reasons and answers of staff, WORDS for reports and appeals, SAID for what
staff say to a table."""
LONGEST_DAYS: Final = 365
"""The longest mute in days, and the longest suspension that ends by itself."""
BROWSER_MARKS_KEPT: Final = timedelta(days=30)
"""How long the marks of browsers are kept, as SECURITY.md says."""
MODERATOR: Final = "moderator"
ADMIN: Final = "admin"
"""The roles of staff, which are names of groups. A superuser needs none."""
CLOSE: Final = "close"
CLOSE_WITH_TABLES: Final = "close_with_tables"
VOID_GAME: Final = "void_game"
REMOVE: Final = "remove"
MOVE_SEAT: Final = "move_seat"
LOOK: Final = "look"
SUSPEND: Final = "suspend"
SUSPEND_FOR_GOOD: Final = "suspend_for_good"
CLOSE_CASE: Final = "close_case"
CHANGE_OUTCOME: Final = "change_outcome"
REOPEN_CASE: Final = "reopen_case"
RENAME: Final = "rename"
NOTE_PERSON: Final = "note_person"
"""The names of acts that queries ask for. `games/staff/acts.py` has all acts."""
NEUTRAL_NAME: Final = "neutral_name"
END_NEUTRAL_NAME: Final = "end_neutral_name"
NAMES_IN_DETAILS: Final = {RENAME: ("before", "after"), NEUTRAL_NAME: ("name",), END_NEUTRAL_NAME: ("name",)}
"""The keys of `AuditEntry.details` that have names, by act. In `before` and `after` they are by field of the person."""
DELETED_PLAYER: Final = "a deleted player"
"""What a person is called whose row is gone, where nothing has their number."""


class PersonName(models.Model):
    """A name that somebody had at an act of staff. Audit entries refer to it, because they can never be changed.

    It is empty once the person has been deleted (docs/decisions/0060-audit-entries-are-only-added.md). The foreign key
    has no constraint, so that the row stays then.
    """

    person = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.DO_NOTHING, db_constraint=False, related_name="+"
    )
    name = models.CharField(max_length=150, blank=True)

    class Meta:
        default_permissions = ()
        constraints = (
            models.UniqueConstraint(fields=["person", "name"], condition=~Q(name=""), name="person_name_once"),
        )

    def __str__(self) -> str:
        return self.name or deleted_name(self.person_id)


class _AuditEntries(models.Manager["AuditEntry"]):
    def get_queryset(self) -> models.QuerySet[AuditEntry]:
        """Return all entries, which are read together with the names in them."""
        return super().get_queryset().select_related("actor_called", "person_called", "before_called")


class AuditEntry(models.Model):
    """One act of a member of staff, written in the transaction of the act.

    Rows are never changed or deleted: the database refuses both (migration `audit_is_append_only`). The keys to people
    and games have no constraint, so that nothing cascades into a row. No name is in a row: it refers to `PersonName`.
    """

    at = models.DateTimeField()
    act = models.CharField(max_length=20)  # a name in `games.staff.acts.ACTS`
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.DO_NOTHING, db_constraint=False, related_name="+"
    )
    # The name of the member of staff at the act.
    actor_called = models.ForeignKey(PersonName, on_delete=models.PROTECT, related_name="+", db_index=False)
    reason = models.CharField(max_length=REASON_LENGTH)
    game = models.ForeignKey(
        Game, null=True, on_delete=models.DO_NOTHING, db_constraint=False, related_name="audit_entries"
    )
    game_code = models.CharField(max_length=16, default="", blank=True)
    # The version of the game at the act.
    version = models.PositiveIntegerField(null=True)
    seat = models.PositiveSmallIntegerField(null=True)
    person = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.DO_NOTHING, db_constraint=False, related_name="+"
    )
    person_called = models.ForeignKey(PersonName, null=True, on_delete=models.PROTECT, related_name="+", db_index=False)
    # Who had the seat which was given away, or had it before a bot; or the colleague to whom a case was handed over.
    before_called = models.ForeignKey(PersonName, null=True, on_delete=models.PROTECT, related_name="+", db_index=False)
    # Plain facts, for example seconds, and never a card. Names in them (`NAMES_IN_DETAILS`) are numbers of
    # `PersonName`, or "" for none.
    details = models.JSONField(default=dict)

    objects = _AuditEntries()

    class Meta:
        verbose_name_plural = "audit entries"
        default_permissions = ("view",)
        indexes = (
            models.Index(fields=["game", "id"], name="audit_of_game"),
            models.Index(fields=["person", "id"], name="audit_of_person"),
            # For the people whose seats staff gave away (`conduct.with_person_before`).
            models.Index(
                Cast(KeyTextTransform("before_id", "details"), models.BigIntegerField()),
                name="audit_of_owner_before",
                condition=Q(act="move_seat"),
            ),
        )

    def __str__(self) -> str:
        return f"{self.act} by {self.actor_name}"

    @property
    def actor_name(self) -> str:
        """The name that the member of staff had then."""
        return str(self.actor_called)

    @property
    def person_name(self) -> str:
        """The name that the person had then, or "" if the act was about nobody."""
        return str(self.person_called or "")

    @property
    def before_name(self) -> str:
        """The name of who had the seat which was given away, a person or a bot, or of the colleague who got a case."""
        return str(self.before_called or (self.details.get("before", "") if self.act == MOVE_SEAT else ""))

    @property
    def about(self) -> str:
        """The name of the person that the act was about, and who had a seat before that was given away."""
        if self.act != MOVE_SEAT:
            return self.person_name
        before = self.before_name
        if self.details.get("before_id") is None:
            before = f"the bot in the seat of {before}"
        return f"{self.person_name} (from {before})"


class Warned(models.Model):
    """A warning to a person, shown on every page until the person has acknowledged it."""

    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="warnings")
    at = models.DateTimeField()
    text = models.CharField(max_length=REASON_LENGTH)
    acknowledged_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = "warning"
        default_permissions = ("view",)

    def __str__(self) -> str:
        return f"warning {self.pk} to {self.person_id}"


class Suspension(models.Model):
    """A suspension of a person, who may only read its reason and appeal. `until` is null if it does not end by itself.

    These rows are the history. `User.suspended_until` says what is in force now.
    """

    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="suspensions")
    at = models.DateTimeField()
    until = models.DateTimeField(null=True)
    reason = models.CharField(max_length=REASON_LENGTH)
    lifted_at = models.DateTimeField(null=True)

    class Meta:
        default_permissions = ("view",)
        constraints = (
            models.CheckConstraint(condition=Q(until=None) | Q(until__gt=models.F("at")), name="suspension_has_length"),
        )

    def __str__(self) -> str:
        return f"suspension {self.pk} of {self.person_id}"


class Appeal(models.Model):
    """The appeal of a person against a suspension, and the answer of staff. There is at most one a suspension.

    Without an `answer`, an act on the suspension closed it: lifting it, or replacing it by a new one.
    """

    class Answer(models.TextChoices):
        UPHELD = "upheld", "The suspension stays"
        LIFTED = "lifted", "The suspension is lifted"
        REPLACED = "replaced", "A new suspension replaced it"

    suspension = models.OneToOneField(Suspension, on_delete=models.CASCADE, related_name="appeal")
    at = models.DateTimeField()
    text = models.CharField(max_length=WORDS_LENGTH)
    decided_at = models.DateTimeField(null=True)
    decision = models.CharField(max_length=8, choices=Answer, default="", blank=True)
    answer = models.CharField(max_length=REASON_LENGTH, default="", blank=True)

    class Meta:
        default_permissions = ("view",)

    def __str__(self) -> str:
        return f"appeal {self.pk}"


class Case(models.Model):
    """The reports of one kind about one person. New reports are added until staff close the case."""

    class Kind(models.TextChoices):
        NAME = "name", "An offensive name"
        ABANDON = "abandon", "Making others wait, or leaving games"
        TEAMING = "teaming", "Playing together, or with two accounts"
        CHEATING = "cheating", "Cheating in another way"
        OTHER = "other", "Something else"

    class Outcome(models.TextChoices):
        ACTED = "acted", "We agreed and acted on it"
        NOTHING = "nothing", "We found nothing against the rules"
        UNCLEAR = "unclear", "We could not tell"
        BAD_FAITH = "badfaith", "It was reported in bad faith"

    # Null once a guest has been deleted. No name is kept.
    person = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="cases"
    )
    kind = models.CharField(max_length=12, choices=Kind)
    opened_at = models.DateTimeField()
    # The member of staff who took it, or got it from another, at `held_at`: see `worker`.
    holder = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="held_cases"
    )
    held_at = models.DateTimeField(null=True)
    closed_at = models.DateTimeField(null=True)
    outcome = models.CharField(max_length=8, choices=Outcome, default="", blank=True)
    answer = models.CharField(max_length=REASON_LENGTH, default="", blank=True)

    class Meta:
        default_permissions = ("view",)
        constraints = (
            models.UniqueConstraint(fields=["person", "kind"], condition=Q(closed_at=None), name="case_open_once"),
        )
        indexes = (models.Index(fields=["opened_at"], name="case_open", condition=Q(closed_at=None)),)

    def __str__(self) -> str:
        return f"case {self.pk}"

    def worker(self, now: datetime) -> User | None:
        """Return the member of staff who works on it: who took it, unless they are suspended or no longer staff."""
        holder = self.holder
        works = holder is not None and holder.is_staff and holder.is_active and not holder.suspended(now)
        return holder if works else None

    @property
    def about(self) -> str:
        """The name of the person that the case is about, or `DELETED_PLAYER`."""
        return self.person.name if self.person else DELETED_PLAYER


class Report(models.Model):
    """A report by one person, or by the site itself, about one game."""

    class Sign(models.TextChoices):
        TIMEOUTS = "timeouts", "The clock played many turns"
        RESIGNATIONS = "resignations", "Many games resigned at once"
        BROWSER = "browser", "Two accounts in one browser"

    case = models.ForeignKey(Case, on_delete=models.CASCADE, related_name="reports")
    # Null for a report by the site, and once a guest has been deleted.
    reporter = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="reports"
    )
    # What the site noticed; "" for a person's report.
    sign = models.CharField(max_length=12, choices=Sign, blank=True, default="")
    game = models.ForeignKey(Game, on_delete=models.CASCADE, related_name="reports")
    at = models.DateTimeField()
    text = models.CharField(max_length=WORDS_LENGTH)
    # The name that the person had then, since they can change it; "" once a guest has been deleted.
    called = models.CharField(max_length=150, blank=True, default="", db_default="")
    # The key of the form that sent the report (`idempotent_forms.form_key`). Sent again it makes no second one.
    form_key = models.CharField(max_length=64, null=True)  # noqa: DJ001  # nulls are exempt from uniqueness
    # When the reporter was shown the outcome.
    seen_at = models.DateTimeField(null=True)

    class Meta:
        default_permissions = ("view",)
        constraints = (
            models.UniqueConstraint(fields=["case", "reporter", "game"], name="report_once_per_case_and_game"),
            models.UniqueConstraint(fields=["reporter", "form_key"], name="report_form_once"),
            models.UniqueConstraint(
                fields=["case", "sign", "game"], condition=~Q(sign=""), name="report_once_per_case_sign_and_game"
            ),
        )

    def __str__(self) -> str:
        return f"report {self.pk}"

    @property
    def outcome_shown(self) -> str:
        """What the page of a closed report sends to say which outcome it showed: staff can change the outcome."""
        return f"{self.pk}-{self.case.outcome}"


class BrowserMark(models.Model):
    """A browser that a person used at a table, by which staff notice two accounts in one browser."""

    game = models.ForeignKey(Game, on_delete=models.CASCADE, related_name="+")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    # The SHA-256 of a signed random cookie.
    digest = models.CharField(max_length=64)
    # Rows are deleted after `BROWSER_MARKS_KEPT`.
    at = models.DateTimeField()

    class Meta:
        default_permissions = ()
        constraints = (models.UniqueConstraint(fields=["game", "user", "digest"], name="browser_mark_once"),)
        indexes = (
            models.Index(fields=["at"], name="browser_mark_at"),
            models.Index(fields=["digest"], name="browser_mark_of_browser"),
        )

    def __str__(self) -> str:
        return f"browser mark {self.pk}"
