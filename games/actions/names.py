"""Replace the name of a person where it is stored beside the person: in seats and in other people's notices."""

from __future__ import annotations

from collections.abc import Iterable

from django.db.models import OuterRef, Subquery

from accounts.models import User
from games import announce
from games.models import AuditEntry, Game, Seat
from games.models.moderation import REMOVE
from games.notices import player_notices
from games.queries import profiles


def erase_old_name(person: User) -> None:
    """Replace the stored name of this person, whose name is about to be saved. See `replace_names`."""
    replace_names(person, before=[User.objects.get(pk=person.pk).name], after=person.name)


def replace_names(person: User, *, before: Iterable[str], after: str) -> None:
    """Replace names in all seats that this person has, or had when staff removed them, and in notices about those
    games, and update open pages.

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
    for game in games.filter(status__in=(Game.Status.OPEN, Game.Status.PLAYING)):
        announce.after_commit(game, wake=False)
