"""What happens at a running table and is no move: pauses that the players agree on, and seats that a bot takes over.

What staff do is not here: it has audit entries, which the log shows as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from games.models import Game, TableEvent

MOST_PER_VERSION: Final = 20
"""How many events are kept between two moves, the newest ones."""


@dataclass(frozen=True, slots=True, eq=False)
class EventKind:
    """One kind of event.

    name: What is stored. It never changes.
    sentence: What the log says. `{name}` is the name, as of today, of the person whose seat it is about.
    to_owner: What the log says to that person instead.
    """

    name: str
    sentence: str
    to_owner: str = ""


PAUSE_BEGAN: Final = EventKind("pause_began", "The players agreed on a pause.")
PAUSE_ENDED: Final = EventKind(
    "pause_ended",
    "{name} ended the pause that the players had agreed on.",
    "You ended the pause that the players had agreed on.",
)
PAUSE_RAN_OUT: Final = EventKind(
    "pause_ran_out", f"The pause that the players had agreed on ended after {Game.LONGEST_PAUSE.days} days."
)
PAUSE_ABANDONED: Final = EventKind(
    "pause_abandoned", "The pause that the players had agreed on ended because nobody was left to end it."
)
BOT_BEGAN: Final = EventKind(
    "bot_began",
    "A bot plays for {name} from here on, after too many missed turns.",
    "A bot plays for you from here on, after too many missed turns.",
)
SEAT_TAKEN_BACK: Final = EventKind(
    "seat_taken_back", "{name} took the seat back from the bot.", "You took your seat back from the bot."
)

KINDS: Final = {
    kind.name: kind for kind in (PAUSE_BEGAN, PAUSE_ENDED, PAUSE_RAN_OUT, PAUSE_ABANDONED, BOT_BEGAN, SEAT_TAKEN_BACK)
}
"""Every kind by name."""


def record(kind: EventKind, *, game: Game, seat: int | None = None, now: datetime) -> None:
    """Save an event of this kind after the newest line of the log, in the transaction of what happened.

    `seat` is the number of the seat that it is about. The caller holds the game's lock.
    """
    TableEvent.objects.create(game=game, version=game.version, kind=kind.name, seat=seat, at=now)
    # Players can pause and go on without end between two moves: that must not fill the log.
    here = TableEvent.objects.filter(game=game, version=game.version)
    TableEvent.objects.filter(pk__in=here.order_by("-pk").values("pk")[MOST_PER_VERSION:]).delete()
