"""Replace the name of a person where it is stored beside the person, in seats and in other people's old notices, and
let open pages show it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from django.db import transaction
from django.db.models import OuterRef, Subquery

from accounts.models import User
from games import announce
from games.batch import for_each_game
from games.locks import lock_game
from games.models import AuditEntry, Game, Seat
from games.models.moderation import REMOVE
from games.notices import old_texts
from games.queries import profiles

PORTION: Final = 25
"""The most games whose revisions one call of `raise_revisions` raises, so that other work gets the worker."""


def erase_old_name(person: User) -> None:
    """Replace the stored name of this person, whose name is about to be saved. See `replace_names`."""
    replace_names(person, before=[User.objects.get(pk=person.pk).name], after=person.name)


def replace_names(person: User, *, before: Iterable[str], after: str) -> None:
    """Replace names in all seats that this person has, or had when staff removed them, and in the texts of old notices
    about those games. The worker updates open pages once the person is saved (`raise_revisions`).

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
        old_texts.replace_name(games, before=name, after=after)


def raise_revisions(*, user_id: int, only_running: bool, after: int = 0) -> int:
    """Raise the revisions of a person's games, because others see the person differently; return how many.

    Takes the next `PORTION` games after the game with the id `after`, and asks the worker for the rest.

    :param only_running: leave out the games that have ended or not begun. Their pages show no vacation.
    """
    person = User.objects.filter(pk=user_id).first()
    if person is None:
        return 0
    # The page of a finished game names who asked for the rematch, who need not have played in it.
    hosted = Game.objects.filter(host=person, rematch_of__isnull=False).values_list("rematch_of", flat=True)
    games = Game.objects.filter(pk__in=profiles.games_ever_of(person).union(hosted), pk__gt=after).order_by("pk")
    if only_running:
        games = games.filter(status=Game.Status.PLAYING)
    portion = list(games.values_list("pk", flat=True)[:PORTION])
    raised = raise_each(portion)
    if len(portion) == PORTION:
        announce.person_changed(user_id, only_running=only_running, after=portion[-1])
    return raised


def raise_each(games: Iterable[int]) -> int:
    """Raise the revisions of the games with these numbers; return how many. Each has a transaction of its own."""
    return for_each_game(games, _raise, failed="open pages do not show yet how a person has changed").count


def _raise(game_id: int) -> bool:
    with transaction.atomic():
        announce.changed(lock_game(pk=game_id), wake=False)
    return True
