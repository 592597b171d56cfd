"""What staff did, and why: the audit log, warnings, suspensions, and the cases that reports gather under."""

from __future__ import annotations

from typing import Final

from django.conf import settings
from django.db import models
from django.db.models import Q

from games.models.tables import Game

SHORTEST_REASON: Final = 10
REASON_LENGTH: Final = 500
SHORTEST_WORDS: Final = 20
WORDS_LENGTH: Final = 2000
"""Lengths in characters: of the reasons and answers of staff, and of what people write in reports and appeals."""
LONGEST_DAYS: Final = 365
"""The longest mute and the longest suspension that ends by itself."""
MODERATOR: Final = "moderator"
ADMIN: Final = "admin"
"""The roles of staff, which are groups. A superuser needs none."""
CLOSE: Final = "close"
REMOVE: Final = "remove"
MOVE_SEAT: Final = "move_seat"
LOOK: Final = "look"
"""The acts that queries ask for. `games/staff/acts.py` has all acts."""
GONE: Final = "a deleted guest"
"""Who was forgotten: nobody else's row is ever deleted."""


class AuditEntry(models.Model):
    """One act of a member of staff, written in the transaction of what it did. Never changed and never deleted.

    The database refuses both (migration `audit_is_append_only`). So nothing may cascade into a row: the keys have no
    constraint, and the names are copied for when a person is gone. `version` is the game's at the act. `details` are
    plain facts, like seconds or the name of a kind; never a card.
    """

    at = models.DateTimeField()
    act = models.CharField(max_length=20)  # a name in `games.staff.acts.ACTS`
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.DO_NOTHING, db_constraint=False, related_name="+"
    )
    actor_name = models.CharField(max_length=150)
    reason = models.CharField(max_length=REASON_LENGTH)
    game = models.ForeignKey(
        Game, null=True, on_delete=models.DO_NOTHING, db_constraint=False, related_name="audit_entries"
    )
    game_code = models.CharField(max_length=16, default="", blank=True)
    version = models.PositiveIntegerField(null=True)
    seat = models.PositiveSmallIntegerField(null=True)
    person = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.DO_NOTHING, db_constraint=False, related_name="+"
    )
    person_name = models.CharField(max_length=150, default="", blank=True)
    details = models.JSONField(default=dict)

    class Meta:
        verbose_name_plural = "audit entries"
        default_permissions = ("view",)
        indexes = (
            models.Index(fields=["game", "id"], name="audit_of_game"),
            models.Index(fields=["person", "id"], name="audit_of_person"),
        )

    def __str__(self) -> str:
        return f"{self.act} by {self.actor_name}"


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
    """A time in which a person may do nothing here but read why, and appeal. `until` is null for good.

    `User.suspended_until` says what is in force now; these rows tell how it came to that.
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
    """What a suspended person says against it, once a suspension, and what staff answered."""

    class Answer(models.TextChoices):
        UPHELD = "upheld", "The suspension stays"
        LIFTED = "lifted", "The suspension is lifted"

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
    """What is said against one person in one kind of matter; reports gather here until staff close it.

    It outlives a guest: `person` is null once that guest is forgotten, and no name is kept.
    """

    class Kind(models.TextChoices):
        NAME = "name", "An offensive name"
        ABANDON = "abandon", "Letting others wait, or leaving games"
        TEAMING = "teaming", "Playing together, or with two accounts"
        CHEATING = "cheating", "Cheating in another way"
        OTHER = "other", "Something else"

    class Outcome(models.TextChoices):
        ACTED = "acted", "We agreed and acted on it"
        NOTHING = "nothing", "We found nothing against the rules"
        UNCLEAR = "unclear", "We could not tell"

    person = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="cases"
    )
    kind = models.CharField(max_length=12, choices=Kind)
    opened_at = models.DateTimeField()
    holder = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="held_cases"
    )
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

    @property
    def about(self) -> str:
        """Whom it is about, as people say it."""
        return self.person.name if self.person else GONE


class Report(models.Model):
    """What one person, or the site itself, says in a case about one game.

    `sign` is what the site saw; it is empty where a person reports, whose `reporter` is null once that guest is gone.
    `seen_at` is when the reporter has been shown the outcome.
    """

    class Sign(models.TextChoices):
        TIMEOUTS = "timeouts", "The clock played many turns"
        RESIGNATIONS = "resignations", "Many games resigned at once"
        BROWSER = "browser", "Two accounts in one browser"

    case = models.ForeignKey(Case, on_delete=models.CASCADE, related_name="reports")
    reporter = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="reports"
    )
    sign = models.CharField(max_length=12, choices=Sign, blank=True, default="")
    game = models.ForeignKey(Game, on_delete=models.CASCADE, related_name="reports")
    at = models.DateTimeField()
    text = models.CharField(max_length=WORDS_LENGTH)
    form = models.CharField(max_length=64, null=True)  # noqa: DJ001  # unique where it is known
    """What tells the form that sent it from every other, so that it counts once although it is sent again."""
    seen_at = models.DateTimeField(null=True)

    class Meta:
        default_permissions = ("view",)
        constraints = (
            models.UniqueConstraint(fields=["case", "reporter", "game"], name="report_once_per_case_and_game"),
            models.UniqueConstraint(fields=["reporter", "form"], name="report_form_once"),
            models.UniqueConstraint(
                fields=["case", "sign", "game"], condition=~Q(sign=""), name="report_once_per_case_sign_and_game"
            ),
        )

    def __str__(self) -> str:
        return f"report {self.pk}"


class BrowserMark(models.Model):
    """That somebody sat at a table with a browser that carries this mark (a signed cookie of ours, nothing else).

    Kept for 30 days, and only to see two accounts at one table in one browser. `mark` is the cookie's SHA-256.
    """

    game = models.ForeignKey(Game, on_delete=models.CASCADE, related_name="+")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    mark = models.CharField(max_length=64)
    at = models.DateTimeField()

    class Meta:
        default_permissions = ()
        constraints = (models.UniqueConstraint(fields=["game", "user", "mark"], name="browser_mark_once"),)
        indexes = (models.Index(fields=["at"], name="browser_mark_at"),)

    def __str__(self) -> str:
        return f"mark {self.pk}"
