"""Replace the name of a person where it is stored beside the person, in seats and in other people's notices, and let
open pages show it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from django.db import transaction
from django.db.models import OuterRef, Subquery

from accounts.models import User
from games import announce
from games.models import AuditEntry, Game, Seat
from games.models.moderation import REMOVE
from games.notices import player_notices
from games.queries import profiles

PORTION: Final = 25
"""The most games whose revisions are raised in one transaction, so that moves there do not wait long."""


def erase_old_name(person: User) -> None:
    """Replace the stored name of this person, whose name is about to be saved. See `replace_names`."""
    replace_names(person, before=[User.objects.get(pk=person.pk).name], after=person.name)


def replace_names(person: User, *, before: Iterable[str], after: str) -> None:
    """Replace names in all seats that this person has, or had when staff removed them, and in notices about those
    games. The worker updates open pages once the person is saved (`raise_revisions`).

    Seats store a name for when the account is deleted or staff have given the seat to a bot. The caller has locked the
    person and saves them afterwards.
    """
    games = Game.objects.filter(pk__in=profiles.games_ever_of(person))
    # Seats are updated before the person is saved. A move locks seats first and the person when it commits, so a
    # changed username that waited for seats could deadlock with it.
    Seat.objects.filter(user=person).update(name=after)
    removed = AuditEntry.objects.filter(act=REMOVE, seat__isnull=False)
    last = removed.filter(game=OuterRef("game"), seat=OuterRef("index")).order_by("-pk").values("person_id")[:1]
    theirs = Seat.objects.filter(user=None, game__in=removed.filter(person_id=person.pk).values("game"))
    theirs.alias(last=Subquery(last)).filter(last=person.pk).update(name=after)
    for name in before:
        player_notices.replace_name(games, before=name, after=after)


def raise_revisions(*, user_id: int, after: int = 0) -> int:
    """Raise the revisions of a person's games, because others see a new name, picture or vacation; return how many.

    Takes the next `PORTION` games after the game with the id `after`, in that order so that no locks cross, and asks
    the worker for the rest.
    """
    person = User.objects.filter(pk=user_id).first()
    if person is None:
        return 0
    with transaction.atomic():
        games = Game.objects.filter(pk__in=profiles.games_ever_of(person), pk__gt=after)
        portion = list(games.order_by("pk").select_for_update(no_key=True)[:PORTION])
        for game in portion:
            announce.changed(game, wake=False)
        if len(portion) == PORTION:
            announce.person_changed(user_id, after=portion[-1].pk)
    return len(portion)
