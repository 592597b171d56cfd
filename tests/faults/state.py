"""What refusals and GETs must not change: games and people as stored."""

from __future__ import annotations

from django.db.models import Model, Sum

from accounts.models import User
from games.models import Appeal, AuditEntry, Case, Game, Hand, Invitation, Move, Report, Seat, Suspension
from games.queries.verify import faults_of

KINDS: tuple[type[Model], ...] = (
    Game, Seat, Hand, Move, Invitation, User, Report, Case, Appeal, Suspension, AuditEntry
)  # fmt: skip


def stored() -> tuple[object, ...]:
    """Return the number of rows of each kind, the sum of all versions, and all standing orders."""
    return (
        Game.objects.aggregate(Sum("version"))["version__sum"],
        *(model._default_manager.count() for model in KINDS),
        *Seat.objects.filter(orders__isnull=False).order_by("pk").values_list("pk", "orders"),
    )


def faulty_games() -> dict[str, list[str]]:
    """Return the games whose log does not lead to what is stored, with what is wrong. Call it outside transactions."""
    faults = {game.code: faults_of(game.pk) for game in Game.objects.all()}
    return {code: found for code, found in faults.items() if found}
