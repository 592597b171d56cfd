"""Events at a running table that are not moves: pauses by agreement, and seats that a bot takes over.

Staff acts are not stored here: the log shows them from their audit entries. Only `TABLE_CLOSED` is part of one, whose
audit entry is about several tables.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from games.models import Game, TableEvent
from games.models.play import CLOSED_BY_STAFF

MOST_PER_VERSION: Final = 20
"""The number of events kept between two moves. Older ones are deleted."""


@dataclass(frozen=True, slots=True, eq=False)
class EventKind:
    """One kind of event.

    name: The stored value. It never changes.
    sentence: The log's sentence. `{name}` is the current name of the person in the seat.
    to_owner: The sentence for that person, if it differs.
    """

    name: str
    sentence: str
    to_owner: str = ""


PAUSE_BEGAN: Final = EventKind("pause_began", "The players agreed on a pause.")
PAUSE_ENDED: Final = EventKind(
    "pause_ended",
    "{name} ended the agreed pause.",
    "You ended the agreed pause.",
)
PAUSE_RAN_OUT: Final = EventKind("pause_ran_out", f"The agreed pause ended after {Game.LONGEST_PAUSE.days} days.")
PAUSE_ABANDONED: Final = EventKind(
    "pause_abandoned", "The agreed pause ended because nobody was left who could end it."
)
BOT_BEGAN: Final = EventKind(
    "bot_began",
    "A bot now plays for {name} after too many missed turns.",
    "A bot now plays for you after too many missed turns.",
)
SEAT_TAKEN_BACK: Final = EventKind(
    "seat_taken_back", "{name} took the seat back from the bot.", "You took your seat back from the bot."
)
ACCOUNT_DELETED: Final = EventKind(
    "account_deleted", "{name} has deleted the account. A bot plays the seat from now on."
)
TABLE_CLOSED: Final = EventKind(CLOSED_BY_STAFF, "Staff closed the table before the game started.")

KINDS: Final = {
    kind.name: kind
    for kind in (
        PAUSE_BEGAN, PAUSE_ENDED, PAUSE_RAN_OUT, PAUSE_ABANDONED, BOT_BEGAN, SEAT_TAKEN_BACK, ACCOUNT_DELETED,
        TABLE_CLOSED,
    )
}  # fmt: skip


def record(kind: EventKind, *, game: Game, seat: int | None = None, now: datetime) -> None:
    """Save an event after the newest line of the log. The caller is in a transaction and holds the game's lock.

    :param seat: the number of the seat that the event is about.
    """
    TableEvent.objects.create(game=game, version=game.version, kind=kind.name, seat=seat, at=now)
    # Players can pause and resume any number of times between two moves. That must not fill the log.
    here = TableEvent.objects.filter(game=game, version=game.version)
    TableEvent.objects.filter(pk__in=here.order_by("-pk").values("pk")[MOST_PER_VERSION:]).delete()
