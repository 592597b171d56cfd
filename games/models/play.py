"""Rounds, hands, moves and table events. Only rounds, moves and lost hands store cards."""

from __future__ import annotations

from enum import StrEnum

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from games.models.tables import Game, Seat


class Round(models.Model):
    """One round of a game and its position, which `models/positions.py` writes and reads.

    Nobody sees `secret` or `deal` until the round is over, or `state` ever.
    """

    game = models.ForeignKey(Game, on_delete=models.CASCADE, related_name="rounds")
    # From 1. A round that replaces a void one has the next number.
    number = models.PositiveSmallIntegerField()
    # The seat that dealt.
    dealer = models.PositiveSmallIntegerField()
    # The 32 bytes of the shuffle.
    secret = models.BinaryField(max_length=32)
    # The SHA-256 of the secret, in hex. Shown from the deal on.
    commitment = models.CharField(max_length=64)
    # The whole deck in the order dealt and drawn, separated by spaces.
    deal = models.TextField()
    # The seats that left in an earlier round.
    absent = ArrayField(models.PositiveSmallIntegerField(), default=list, blank=True)
    # The version of the game at the deal.
    from_version = models.PositiveIntegerField()
    started_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)
    # Ended by staff: it does not count, and the next round replaces it.
    void = models.BooleanField(default=False)

    # From here to `points` are the fields of the position that SQL needs.
    turn = models.PositiveSmallIntegerField()
    phase = models.CharField(max_length=16, default="play")
    out = ArrayField(models.PositiveSmallIntegerField(), default=list, blank=True)
    winner = models.PositiveSmallIntegerField(null=True, blank=True)
    points = models.JSONField(null=True, blank=True)
    # All other fields of the position, hidden cards included.
    state = models.JSONField()

    class Meta:
        constraints = (models.UniqueConstraint(fields=["game", "number"], name="round_once_per_game"),)

    def __str__(self) -> str:
        return f"{self.game_id} round {self.number}"


class Hand(models.Model):
    """A seat in one round. Its cards are in the position of the round."""

    round = models.ForeignKey(Round, on_delete=models.CASCADE, related_name="hands")
    seat = models.ForeignKey(Seat, on_delete=models.RESTRICT, related_name="hands")
    # When the hand can no longer be caught (CLOCK-2); null if no callout window is open.
    callout_until = models.DateTimeField(null=True, blank=True)
    # The faces of the cards with which the seat was knocked out. Only its player sees them.
    lost = ArrayField(models.CharField(max_length=8), default=list, db_default=[], blank=True)
    # The side in force then; empty if the deck has one side.
    lost_side = models.CharField(max_length=8, default="", db_default="", blank=True)

    class Meta:
        constraints = (models.UniqueConstraint(fields=["round", "seat"], name="hand_once_per_seat"),)
        indexes = (
            models.Index(
                fields=["callout_until"],
                name="hand_callout_until",
                condition=models.Q(callout_until__isnull=False),
            ),
        )

    def __str__(self) -> str:
        return f"hand of {self.seat_id} in {self.round_id}"


class Move(models.Model):
    """One line of the log: an accepted move."""

    game = models.ForeignKey(
        Game, on_delete=models.CASCADE, related_name="moves", db_index=False
    )  # both constraints begin with it
    round = models.ForeignKey(Round, on_delete=models.CASCADE, related_name="moves")
    # From 1 over the whole game.
    n = models.PositiveIntegerField()
    seat = models.PositiveSmallIntegerField()
    # In the notation, without the seat.
    text = models.CharField(max_length=40)
    at = models.DateTimeField()
    # Every field of its events. Viewers get them only through `rules.redact`.
    events = models.JSONField(default=list)
    # The idempotency token of the client.
    token = models.CharField(max_length=64, null=True, blank=True)  # noqa: DJ001  # nulls are exempt from uniqueness
    # How many of the next lines were sent with the token.
    further = models.PositiveSmallIntegerField(default=0, db_default=0)
    # A bot made the move for the owner of the seat.
    by_bot = models.BooleanField(default=False, db_default=False)
    # The standing orders of the seat made it.
    by_order = models.BooleanField(default=False, db_default=False)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["game", "n"], name="move_once_per_version"),
            models.UniqueConstraint(fields=["game", "seat", "token"], name="token_once_per_seat"),
        )
        # For the hourly search for cases (games/staff/auto_reports.py), which needs only these few lines.
        indexes = (
            models.Index(
                fields=["at"], name="move_of_clock_or_leaver", condition=Q(text="leave") | Q(text__startswith="clock ")
            ),
        )

    def __str__(self) -> str:
        return f"{self.game_id} #{self.n}"


class TableEvent(models.Model):
    """Something that happened at a running table and is no move, for example a pause. Records leave it out."""

    class Kind(StrEnum):
        """The stored names, which never change. `games/render/log_notes.py` has what the log says."""

        PAUSE_BEGAN = "pause_began"
        PAUSE_ENDED = "pause_ended"
        PAUSE_RAN_OUT = "pause_ran_out"
        PAUSE_ABANDONED = "pause_abandoned"
        BOT_BEGAN = "bot_began"
        SEAT_TAKEN_BACK = "seat_taken_back"
        ACCOUNT_DELETED = "account_deleted"
        CLOSED_BY_STAFF = "closed_by_staff"  # together with the account of the host

    game = models.ForeignKey(
        Game, on_delete=models.CASCADE, related_name="events", db_index=False
    )  # in the index below
    # The log shows it after the move of this version.
    version = models.PositiveIntegerField()
    kind = models.CharField(max_length=20)  # a `Kind`, perhaps of a later release
    # The seat that it is about, if any.
    seat = models.PositiveSmallIntegerField(null=True)
    at = models.DateTimeField()

    class Meta:
        default_permissions = ()
        indexes = (models.Index(fields=["game", "id"], name="table_event_of_game"),)

    def __str__(self) -> str:
        return f"{self.game_id} {self.kind} after #{self.version}"
