"""What the scans of this folder compare: everything about games and people that a refusal, or a GET, may not change."""

from __future__ import annotations

from django.db.models import Sum

from accounts.models import User
from games.models import Game, Hand, Invitation, Move, Seat
from games.verify import faults_of


def stored() -> tuple[object, ...]:
    """The number of rows of each kind, and the sum of all versions."""
    return (
        Game.objects.aggregate(Sum("version"))["version__sum"],
        *(model.objects.count() for model in (Game, Seat, Hand, Move, Invitation, User)),
    )


def faulty_games() -> dict[str, list[str]]:
    """The games whose log does not prove what is stored, with what is wrong; to be read outside a transaction."""
    faults = {game.code: faults_of(game.pk) for game in Game.objects.all()}
    return {code: found for code, found in faults.items() if found}
