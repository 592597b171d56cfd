"""A round with its position, its hands, and the log of moves and events. Only rounds and moves hold cards."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from games.models.tables import Game, Seat


class Round(models.Model):
    """One deal of a game, and its position, which `models/positions.py` writes and reads.

    `turn`, `phase`, `out`, `winner` and `points` are fields of the position that SQL asks for. `state` has its other
    fields as JSON, hidden cards included: it is never shown.
    `deal` is every card in the order dealt and drawn, space separated. `secret` is the shuffle's 32 bytes: nobody sees
    it, or `deal`, until the round is over; `commitment` is its SHA-256, seen by all from the deal on.
    `void`: staff have ended it, it counts for nothing, and the next round is the same one dealt again.
    `absent` are seats that left in an earlier round; `from_version` is the game's version at the deal.
    Seats are numbers.
    """

    game = models.ForeignKey(Game, on_delete=models.CASCADE, related_name="rounds")
    number = models.PositiveSmallIntegerField()
    dealer = models.PositiveSmallIntegerField()
    secret = models.BinaryField(max_length=32)
    commitment = models.CharField(max_length=64)
    deal = models.TextField()
    absent = ArrayField(models.PositiveSmallIntegerField(), default=list, blank=True)
    from_version = models.PositiveIntegerField()
    started_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)
    void = models.BooleanField(default=False)

    turn = models.PositiveSmallIntegerField()
    phase = models.CharField(max_length=16, default="play")
    out = ArrayField(models.PositiveSmallIntegerField(), default=list, blank=True)
    winner = models.PositiveSmallIntegerField(null=True, blank=True)
    points = models.JSONField(null=True, blank=True)
    state = models.JSONField()

    class Meta:
        constraints = (models.UniqueConstraint(fields=["game", "number"], name="round_once_per_game"),)

    def __str__(self) -> str:
        return f"{self.game_id} round {self.number}"


class Hand(models.Model):
    """A seat's hand in one round; its cards are in the round's position.

    `callout_until` is when this hand can no longer be caught (CLOCK-2), null while no window is open.
    """

    round = models.ForeignKey(Round, on_delete=models.CASCADE, related_name="hands")
    seat = models.ForeignKey(Seat, on_delete=models.RESTRICT, related_name="hands")
    callout_until = models.DateTimeField(null=True, blank=True)

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
    """One line of the log: an accepted move as the notation writes it, without its seat.

    `n` counts from 1 over the whole game. `events` is what the move did, told in full; a viewer gets it through
    `rules.redact`. `token` is the client's idempotency token, once per seat. `by_bot`: a bot made it for
    the owner of the seat.
    """

    game = models.ForeignKey(Game, on_delete=models.CASCADE, related_name="moves")
    round = models.ForeignKey(Round, on_delete=models.CASCADE, related_name="moves")
    n = models.PositiveIntegerField()
    seat = models.PositiveSmallIntegerField()
    text = models.CharField(max_length=40)
    at = models.DateTimeField()
    events = models.JSONField(default=list)
    token = models.CharField(max_length=64, null=True, blank=True)  # noqa: DJ001  # nulls are exempt from uniqueness
    by_bot = models.BooleanField(default=False, db_default=False)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["game", "n"], name="move_once_per_version"),
            models.UniqueConstraint(fields=["game", "seat", "token"], name="token_once_per_seat"),
        )
        # The few lines that the hourly search for cases is about (games/staff/auto_reports.py).
        indexes = (
            models.Index(
                fields=["at"], name="move_of_clock_or_leaver", condition=Q(text="leave") | Q(text__startswith="clock ")
            ),
        )

    def __str__(self) -> str:
        return f"{self.game_id} #{self.n}"


class TableEvent(models.Model):
    """Something that happened at a running table and is no move, like a pause: the log shows it after line `version`.

    It changes no card, and is not in records. `seat` is the number of the seat that it is about, or null.
    """

    game = models.ForeignKey(
        Game, on_delete=models.CASCADE, related_name="events", db_index=False
    )  # in the index below
    version = models.PositiveIntegerField()
    kind = models.CharField(max_length=20)  # a name in `games.actions.table_events.KINDS`
    seat = models.PositiveSmallIntegerField(null=True)
    at = models.DateTimeField()

    class Meta:
        default_permissions = ()
        indexes = (models.Index(fields=["game", "id"], name="table_event_of_game"),)

    def __str__(self) -> str:
        return f"{self.game_id} {self.kind} after #{self.version}"
