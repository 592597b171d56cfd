"""Answers to invitations, and their end when a table starts or closes."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from django.db.models import Case, Exists, OuterRef, Value, When

from games.models import Game, Invitation, Seat

if TYPE_CHECKING:
    from accounts.models import User


def join(*, game: Game, user: User, now: datetime) -> None:
    """Note that this person sits down at a table, if they were invited. The caller holds the game's lock."""
    Invitation.objects.filter(game=game, user=user).update(state=Invitation.State.JOINED, answered_at=now)


def decline(*, number: int, user: User, now: datetime) -> Invitation | None:
    """Decline an invitation that waits for an answer, and return it as it is then. None if it is not this person's.

    Safe to repeat. Nobody is told.
    """
    own = Invitation.objects.filter(pk=number, user=user)
    own.filter(state=Invitation.State.WAITING).update(state=Invitation.State.DECLINED, answered_at=now)
    return own.first()


def end_waiting(game: Game) -> None:
    """End the invitations to a table that starts or closes. The caller holds the game's lock.

    Staff may have given a seat to a person who was invited, so some of them have joined.
    """
    seated = Seat.objects.filter(game=OuterRef("game"), user=OuterRef("user"))
    state = Case(When(Exists(seated), then=Value(Invitation.State.JOINED)), default=Value(Invitation.State.EXPIRED))
    Invitation.objects.filter(game=game, state=Invitation.State.WAITING).update(state=state)
