"""A table: its options, its seats and its clocks."""

from __future__ import annotations

import secrets
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.urls import reverse

from accounts.rest import Rest
from games.models.paces import Pace, pace_named

if TYPE_CHECKING:
    from games.models.play import Round

CODE_ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"
"""Digits and letters that are not mistaken for one another when read aloud."""


def new_code() -> str:
    """A table's public name: 10 characters, 49 bits."""
    return "".join(secrets.choice(CODE_ALPHABET) for _ in range(10))


def new_invite_key() -> str:
    """The secret part of an invitation link: 120 bits."""
    return secrets.token_urlsafe(15)


class Game(models.Model):
    """One table from its opening to the end of its match.

    `version` is the number of lines in the log. `round` is the round being played (or the last one); it is null only
    while the table is open. `options` is what `rules.options_from_stored` makes the rules of, whatever the preset
    offers by now; but `target`, of which 0 is a single round, has a field.

    `deadline`, `remind_at` and `wake_at` are swept: when the clock acts for the seat on turn, when that seat's person
    is reminded, when a bot or the next deal is due. `turn_since` is when the turn's time began to run, and
    `quiet_given` are the seconds that quiet hours have added to it; `rested_until` is the end of its player's vacation,
    past or to come, that it knows of. The clock stands still while `paused_reasons` holds
    anything: `paused_at` says since when, and `time_left` is what the turn had left then. Every deadline is null then.
    `pause_votes` are the seats that ask for a pause. `looked_at` is when staff last looked at hands. `custom_pace` are
    the numbers of the pace `custom`. `form` tells the filled-in form that made the table from all others, so that
    sending it twice makes no second one; `form_guest` is the guest that this form made, if a visitor sent it.
    """

    class Status(models.TextChoices):
        OPEN = "open", "Open"
        PLAYING = "playing", "Playing"
        OVER = "over", "Over"
        VOID = "void", "Void"

    ENDED: Final = (Status.OVER, Status.VOID)

    PAUSED_BY_CONSENT: Final = "consent"
    """The reason of a pause that all players have agreed to; every other reason is staff's."""
    PAUSED_BY_RESTORE: Final = "restored"
    """The reason of a pause that `manage.py release` ends."""
    LONGEST_PAUSE: Final = timedelta(days=30)
    """How long a pause lasts that players have agreed to and nobody ends."""

    class AfterMisses(models.TextChoices):
        """What becomes of a seat whose clock has acted `misses_allowed` turns in a row (CLOCK-3)."""

        BOT = "bot", "A bot takes the seat until its owner is back"
        LEAVE = "leave", "The player leaves the game"

    code = models.CharField(max_length=16, unique=True, default=new_code, editable=False)
    invite_key = models.CharField(max_length=32, default=new_invite_key, editable=False)
    status = models.CharField(max_length=8, choices=Status, default=Status.OPEN)
    host = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="hosted_games"
    )
    # Whether the host was a guest when they became the host. Does not change when the guest signs up.
    hosted_by_guest = models.BooleanField(default=False, db_default=False, editable=False)
    preset = models.CharField(max_length=32, default="no-mercy")
    options = models.JSONField(default=dict, blank=True)
    target = models.PositiveIntegerField(default=0)
    players = models.PositiveSmallIntegerField()
    pace = models.CharField(max_length=16, default="standard")
    bot_pause = models.FloatField(default=1.0)
    is_public = models.BooleanField(default=True)
    created_at = models.DateTimeField()
    # When a person last sat down or got up. Kept only while the table is open.
    people_changed_at = models.DateTimeField(db_default=Now(), editable=False)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    version = models.PositiveIntegerField(default=0)
    round: models.ForeignKey[Round | None, Round | None] = models.ForeignKey(
        "games.Round", null=True, blank=True, on_delete=models.RESTRICT, related_name="+"
    )
    winner = models.PositiveSmallIntegerField(null=True, blank=True)
    deadline = models.DateTimeField(null=True, blank=True)
    wake_at = models.DateTimeField(null=True, blank=True)
    remind_at = models.DateTimeField(null=True, blank=True)
    turn_since = models.DateTimeField(null=True, blank=True)
    quiet_given = models.PositiveIntegerField(default=0)
    rested_until = models.DateTimeField(null=True, blank=True)
    paused_reasons = ArrayField(models.CharField(max_length=32), default=list, blank=True)
    paused_at = models.DateTimeField(null=True, blank=True)
    time_left = models.DurationField(null=True, blank=True)
    pause_votes = ArrayField(models.PositiveSmallIntegerField(), default=list, blank=True)
    custom_pace = models.JSONField(null=True, blank=True)
    misses_allowed = models.PositiveSmallIntegerField(default=3)
    after_misses = models.CharField(max_length=8, choices=AfterMisses, default=AfterMisses.BOT)
    looked_at = models.DateTimeField(null=True, blank=True)
    form = models.CharField(
        max_length=64, null=True, blank=True, unique=True, editable=False
    )  # nulls are exempt from uniqueness
    form_guest = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, editable=False, on_delete=models.SET_NULL, related_name="+"
    )
    rematch_of = models.OneToOneField("self", null=True, blank=True, on_delete=models.SET_NULL, related_name="rematch")

    skew: timedelta = timedelta()
    """How far the database's clock is ahead of this process's; set by whoever locks the row."""
    pulse: datetime | None = None
    """When the sweep last saw to this game's clocks; set by whoever reads its hands."""

    class Meta:
        constraints = (
            models.CheckConstraint(condition=Q(players__gte=2, players__lte=6), name="game_has_2_to_6_players"),
            models.CheckConstraint(
                condition=Q(status="open", round=None) | ~Q(status="open"), name="game_open_has_no_round"
            ),
            models.CheckConstraint(
                condition=Q(paused_at=None) | Q(deadline=None, wake_at=None, remind_at=None),
                name="game_paused_has_nothing_due",
            ),
            models.UniqueConstraint(fields=["invite_key"], name="game_once_per_invite_key"),
        )
        indexes = (
            models.Index(fields=["deadline", "id"], name="game_deadline", condition=Q(deadline__isnull=False)),
            models.Index(fields=["remind_at"], name="game_remind_at", condition=Q(remind_at__isnull=False)),
            models.Index(fields=["wake_at"], name="game_wake_at", condition=Q(wake_at__isnull=False)),
            models.Index(fields=["finished_at"], name="game_finished_at", condition=Q(finished_at__isnull=False)),
            models.Index(fields=["id"], name="game_playing", condition=Q(status="playing")),
            models.Index(
                fields=["hosted_by_guest", "-id"],
                name="game_open_by_host",
                condition=Q(status="open", is_public=True),
            ),
            models.Index(
                fields=["status", "-created_at", "-id"],
                name="game_public_listed",
                condition=Q(is_public=True, status__in=("open", "playing")),
            ),
        )

    def __str__(self) -> str:
        return self.code

    def get_absolute_url(self) -> str:
        return reverse("game", args=[self.code])

    @property
    def ended(self) -> bool:
        """Whether nothing will ever be played here again: it was played to its end, or called off."""
        return self.status in self.ENDED

    @property
    def terms(self) -> Pace:
        """The time that this table gives."""
        return pace_named(self.pace, self.custom_pace)

    @property
    def pause_ends(self) -> datetime | None:
        """When the pause that the players agreed on ends by itself; None without one, or if it is not the only one."""
        agreed = self.paused_at is not None and self.paused_reasons == [self.PAUSED_BY_CONSENT]
        return self.paused_at + self.LONGEST_PAUSE if agreed and self.paused_at is not None else None


class Seat(models.Model):
    """A place at a table, numbered clockwise from 0; a person's, or a bot's.

    `bot` names the bot that moves for this seat, or is empty. A seat with both a `user` and a `bot` is held by the bot
    for its owner, who can take it back. `score` is the match score. `left` marks who is out to
    the end of the match (LEAVE-1). `bank` is thinking time in seconds, `misses` counts turns in a row that the clock
    played (CLOCK-3). `seen` is the last version this seat's person has looked at.
    """

    game = models.ForeignKey(Game, on_delete=models.CASCADE, related_name="seats")
    index = models.PositiveSmallIntegerField()
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="seats"
    )
    bot = models.CharField(max_length=16, blank=True, default="")
    name = models.CharField(max_length=64)
    score = models.PositiveIntegerField(default=0)
    left = models.BooleanField(default=False)
    bank = models.PositiveIntegerField(default=0)
    misses = models.PositiveSmallIntegerField(default=0)
    seen = models.PositiveIntegerField(default=0)

    rest: Rest | None = None
    """Vacation and quiet hours of the person who sits here; set by whoever reads the seat along with its user."""
    username: str = ""
    """The username of that person, set likewise; empty for a bot and for who is gone."""

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["game", "index"], name="seat_once_per_game"),
            models.UniqueConstraint(fields=["game", "user"], name="person_sits_once_per_game"),
        )

    def __str__(self) -> str:
        return f"{self.game_id}/{self.index} {self.name}"

    @property
    def held_for_owner(self) -> bool:
        """Whether a bot plays for the person whose seat this is."""
        return bool(self.bot) and self.user_id is not None


class Invitation(models.Model):
    """A person asked to a private table by a rematch, who may see it without its link."""

    game = models.ForeignKey(Game, on_delete=models.CASCADE, related_name="invitations")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    at = models.DateTimeField()

    class Meta:
        constraints = (models.UniqueConstraint(fields=["game", "user"], name="invited_once"),)

    def __str__(self) -> str:
        return f"{self.user_id} to {self.game_id}"


class Heartbeat(models.Model):
    """The sweep's own pulse: one row, whose number is 1.

    `at` is when a sweep last ran. After an outage `given_from` and `given_to` are its ends, and the time between them
    is being given back to the games, in the order of their numbers: `given_through` is the last that has got it.
    While that goes on no clock acts. `tried_through`: every turn whose time was over by then the clock has tried to
    play; it is noted while some are late, those of games that fail among them. `home` tells this database from every
    copy of it, so that a restore is noticed.
    """

    at = models.DateTimeField(null=True)
    given_from = models.DateTimeField(null=True)
    given_to = models.DateTimeField(null=True)
    given_through = models.BigIntegerField(default=0)
    tried_through = models.DateTimeField(null=True)
    home = models.CharField(max_length=48, blank=True, default="")

    class Meta:
        constraints = (models.CheckConstraint(condition=Q(pk=1), name="heartbeat_is_one_row"),)

    def __str__(self) -> str:
        return f"last sweep at {self.at}"
