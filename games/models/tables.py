"""Tables, seats, invitations and the heartbeat of the sweep."""

from __future__ import annotations

import secrets
from collections.abc import Collection
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now
from django.urls import reverse

from accounts.time_off import TimeOff
from games.models.paces import Pace, pace_named

if TYPE_CHECKING:
    from games.models.play import Round

CODE_ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"
"""Digits and letters, without 0, 1, i, l and o, which look alike."""


def new_code() -> str:
    """Return a random public code for a table: 10 characters, 49 bits."""
    return "".join(secrets.choice(CODE_ALPHABET) for _ in range(10))


def new_invite_key() -> str:
    """Return the random secret of an invitation link: 120 bits."""
    return secrets.token_urlsafe(15)


class Game(models.Model):
    """One table from its opening to the end of its match."""

    class Status(models.TextChoices):
        OPEN = "open", "Open"
        PLAYING = "playing", "Playing"
        OVER = "over", "Over"
        VOID = "void", "Void"

    ENDED: Final = (Status.OVER, Status.VOID)

    PAUSED_BY_CONSENT: Final = "consent"
    """The pause reason of a pause that all players agreed to. All other reasons come from staff or a restore."""
    PAUSED_BY_STAFF: Final = "staff"
    """The pause reason of a pause by staff."""
    PAUSED_BY_RESTORE: Final = "restored"
    """The pause reason that `manage.py freeze` sets and `manage.py release` removes."""
    LONGEST_PAUSE: Final = timedelta(days=30)
    """After this time a pause that the players agreed to ends by itself."""

    class AfterMisses(models.TextChoices):
        """What happens to a seat when the clock has played `misses_allowed` turns in a row (CLOCK-3)."""

        BOT = "bot", "A bot takes the seat until its owner is back"
        LEAVE = "leave", "The player leaves the game"

    code = models.CharField(max_length=16, unique=True, default=new_code, editable=False)
    invite_key = models.CharField(max_length=32, default=new_invite_key, editable=False)
    status = models.CharField(max_length=8, choices=Status, default=Status.OPEN)
    host = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="hosted_games"
    )
    # Whether the host had a new account (`User.is_new_account`) when they became the host. Does not change later.
    hosted_by_new_account = models.BooleanField(default=False, db_default=False, editable=False)
    preset = models.CharField(max_length=32, default="no-mercy")
    # Read with `rules.options_from_stored`.
    options = models.JSONField(default=dict, blank=True)
    # The points that end the match; 0 for a single round.
    target = models.PositiveIntegerField(default=0)
    # How many seats the table has.
    players = models.PositiveSmallIntegerField()
    pace = models.CharField(max_length=16, default="standard")
    # How long bots wait before they move, in seconds.
    bot_pause = models.FloatField(default=1.0)
    is_public = models.BooleanField(default=True)
    # Whether accounts that programs play for may sit down.
    programs = models.BooleanField(default=True, db_default=True)
    # Whether vacations stop the clocks here. At live tables they never do.
    vacations = models.BooleanField(default=True, db_default=True)
    created_at = models.DateTimeField()
    # When a person last sat down or got up. Kept only while the table is open.
    people_changed_at = models.DateTimeField(db_default=Now(), editable=False)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    # The number of moves in the log.
    version = models.PositiveIntegerField(default=0)
    # Goes up in the transaction of each change that somebody's page of the table shows, moves included. Open pages
    # compare it. Times that pass and what a viewer sets for themselves are not such changes.
    revision = models.PositiveIntegerField(default=0, db_default=0, editable=False)
    # The current or last round; null while the table is open.
    round: models.ForeignKey[Round | None, Round | None] = models.ForeignKey(
        "games.Round", null=True, blank=True, on_delete=models.RESTRICT, related_name="+"
    )
    # The seat that won the match; null until then, and if it was called off.
    winner = models.PositiveSmallIntegerField(null=True, blank=True)
    # When the clock acts for the seat on turn. The sweep looks for it, for `wake_at` and for `remind_at`. All three are
    # null while the table is paused.
    deadline = models.DateTimeField(null=True, blank=True)
    # When a bot, standing orders or the next deal are due.
    wake_at = models.DateTimeField(null=True, blank=True)
    # See `clocks/bot_times.py`, which sets this and `react_at`.
    bots_move_at = models.DateTimeField(null=True, blank=True, editable=False)
    react_at = ArrayField(models.DateTimeField(null=True), default=list, db_default=[], blank=True, editable=False)
    # When the standing orders of the player on turn play; null if none fits or the player has stopped them. Nobody else
    # may learn it. A pause keeps it.
    orders_at = models.DateTimeField(null=True, blank=True, editable=False)
    # When the player on turn is reminded.
    remind_at = models.DateTimeField(null=True, blank=True)
    # When the time of the turn began to run.
    turn_since = models.DateTimeField(null=True, blank=True)
    # The seconds that quiet hours have added to the time of the turn.
    quiet_seconds_added = models.PositiveIntegerField(default=0)
    # The end of the player's vacation that `deadline` takes into account.
    vacation_counted_until = models.DateTimeField(null=True, blank=True)
    # The table is paused while there are any.
    paused_reasons = ArrayField(models.CharField(max_length=32), default=list, blank=True)
    paused_at = models.DateTimeField(null=True, blank=True)
    # What was left for the turn at `paused_at`.
    time_left = models.DurationField(null=True, blank=True)
    # The numbers of the seats that ask for a pause.
    pause_votes = ArrayField(models.PositiveSmallIntegerField(), default=list, blank=True)
    # The numbers of the pace `custom`.
    custom_pace = models.JSONField(null=True, blank=True)
    misses_allowed = models.PositiveSmallIntegerField(default=3)
    after_misses = models.CharField(max_length=8, choices=AfterMisses, default=AfterMisses.BOT)
    # When staff last viewed hands.
    hands_viewed_at = models.DateTimeField(null=True, blank=True)
    # The key of the form that made the table (`idempotent_forms.form_key`). Sent again it makes no second table.
    form_key = models.CharField(
        max_length=64, null=True, blank=True, unique=True, editable=False
    )  # nulls are exempt from uniqueness
    # The guest account made for a visitor who sent that form.
    form_guest = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, editable=False, on_delete=models.SET_NULL, related_name="+"
    )
    rematch_of = models.OneToOneField("self", null=True, blank=True, on_delete=models.SET_NULL, related_name="rematch")

    skew: timedelta = timedelta()
    """How far the clock of the database is ahead of this process's. Set by the functions of `rows` that read a game."""
    waited: timedelta = timedelta()
    """How long reading the row took, mostly waiting for its lock. Set like `skew`."""
    swept_at: datetime | None = None
    """When the sweep last looked after the clocks of this game. Set when the hands are read."""

    class Meta:
        constraints = (
            models.CheckConstraint(condition=Q(players__gte=2, players__lte=10), name="game_has_2_to_10_players"),
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
                fields=["hosted_by_new_account", "-id"],
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

    @staticmethod
    def raise_revisions(games: Collection[Game]) -> None:
        """Raise the revisions of these games, here and in their rows, which the caller has locked. Runs one query."""
        Game.objects.filter(pk__in=[game.pk for game in games]).update(revision=F("revision") + 1)
        for game in games:
            game.revision += 1

    @property
    def ended(self) -> bool:
        """True if the game was played to its end or called off."""
        return self.status in self.ENDED

    @property
    def terms(self) -> Pace:
        """The pace of the table with its numbers."""
        return pace_named(self.pace, self.custom_pace)

    @property
    def stops_for_vacations(self) -> bool:
        """True if a clock of this table stops while its player is on vacation."""
        return self.vacations and not self.terms.live

    @property
    def pause_ends(self) -> datetime | None:
        """When the pause that the players agreed to ends by itself; None without one, or with another reason."""
        agreed = self.paused_at is not None and self.paused_reasons == [self.PAUSED_BY_CONSENT]
        return self.paused_at + self.LONGEST_PAUSE if agreed and self.paused_at is not None else None


class Seat(models.Model):
    """A seat at a table, of a person or of a bot."""

    game = models.ForeignKey(Game, on_delete=models.CASCADE, related_name="seats")
    # Clockwise from 0.
    index = models.PositiveSmallIntegerField()
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="seats"
    )
    # The name of the bot that plays for the seat, or "". Beside a `user` the bot plays for them, who can take it back.
    bot = models.CharField(max_length=16, blank=True, default="")
    name = models.CharField(max_length=64)
    # The points of the match.
    score = models.PositiveIntegerField(default=0)
    # The player has left the match (LEAVE-1).
    left = models.BooleanField(default=False)
    # Thinking time in seconds.
    bank = models.PositiveIntegerField(default=0)
    # The turns in a row that the clock played (CLOCK-3).
    misses = models.PositiveSmallIntegerField(default=0)
    # The version of the ended game at which the person looked at its end. While the game's is higher, home lists it.
    end_seen_version = models.PositiveIntegerField(default=0)
    # The standing orders of the owner, or null, which `models/orders.py` reads. Nobody else may see them.
    orders = models.JSONField(null=True, blank=True)
    # What the person did in a finished game: the biggest stack that they sent, the biggest that they drew and survived,
    # and the cards that they drew. Null before the end, for bots, for seats for which a bot or an earlier owner played
    # too, and for games that ended before this was stored. The end of a game shows a player's best of them.
    stack_sent = models.PositiveSmallIntegerField(null=True, blank=True)
    stack_survived = models.PositiveSmallIntegerField(null=True, blank=True)
    cards_drawn = models.PositiveIntegerField(null=True, blank=True)

    FEATS: Final = ("stack_sent", "stack_survived", "cards_drawn")
    """These three columns, in the order of `rules.Feats`."""

    time_off: TimeOff | None = None
    """Vacation and quiet hours of the person who sits here. Set when the seat is read together with its user."""
    username: str = ""
    """The username of that person, set in the same way. Empty for a bot and for a person who is gone."""
    avatar: str = ""
    """The picture of that person, a key of `accounts.avatars.AVATARS`, set in the same way."""
    is_program: bool = False
    """Whether a program plays for that person, set in the same way."""
    has_hook: bool | None = None
    """Whether that person has a webhook that works, set in the same way. None if that is not known."""

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["game", "index"], name="seat_once_per_game"),
            models.UniqueConstraint(fields=["game", "user"], name="person_sits_once_per_game"),
        )

    def __str__(self) -> str:
        return f"{self.game_id}/{self.index} {self.name}"

    @property
    def held_for_owner(self) -> bool:
        """True if a bot plays for the person who owns the seat."""
        return bool(self.bot) and self.user_id is not None


class Invitation(models.Model):
    """An invitation to a rematch. The person may see the table without its link, whatever they answer."""

    class State(models.TextChoices):
        WAITING = "waiting", "Waiting"  # the table is open, and the person has not answered
        JOINED = "joined", "Joined"  # they sat down, and may have left since
        DECLINED = "declined", "Declined"
        WITHDRAWN = "withdrawn", "Withdrawn"  # by the person who invited them
        EXPIRED = "expired", "Expired"  # the table started or closed without them

    game = models.ForeignKey(Game, on_delete=models.CASCADE, related_name="invitations")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    # When they were invited.
    at = models.DateTimeField()
    state = models.CharField(max_length=9, choices=State, default=State.WAITING, db_default=State.WAITING)
    # When the person sat down or declined. Null in other states, and for people who joined before this was stored.
    answered_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = (models.UniqueConstraint(fields=["game", "user"], name="invited_once"),)

    def __str__(self) -> str:
        return f"{self.user_id} to {self.game_id}"


class Heartbeat(models.Model):
    """The state of the sweep, in a single row with the number 1."""

    # When a sweep last ran.
    at = models.DateTimeField(null=True)
    # After an outage the time from here to `given_to` is given back to the games in the order of their numbers. No
    # clock acts until all games have it.
    given_from = models.DateTimeField(null=True)
    given_to = models.DateTimeField(null=True)
    # The number of the last game that got it.
    given_through = models.BigIntegerField(default=0)
    # Written while deadlines are late: the clock has tried to play every turn whose deadline was before it, with or
    # without success.
    tried_through = models.DateTimeField(null=True)
    # Tells this database from copies of it, so that a restore is noticed.
    home = models.CharField(max_length=48, blank=True, default="")

    class Meta:
        constraints = (models.CheckConstraint(condition=Q(pk=1), name="heartbeat_is_one_row"),)

    def __str__(self) -> str:
        return f"last sweep at {self.at}"
