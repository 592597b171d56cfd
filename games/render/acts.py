"""What staff did at a table, as its players read it: a sentence in the past for every act there, without the reason."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Final, NamedTuple

from games.models import AuditEntry, Game
from games.render.words import whose

Act = AuditEntry.Act


class Deed(NamedTuple):
    """One act of the staff, and after which move it was; 0 before the first."""

    text: str
    version: int
    at: datetime


def deeds_of(entries: Iterable[AuditEntry], names: Mapping[int, str]) -> list[Deed]:
    """The acts in their order. `names`: what people of these entries go by now; who is missing there is gone."""
    return [Deed(SAID[Act(entry.act)](entry, names), entry.version or 0, entry.at) for entry in entries]


def _who(number: int | None, names: Mapping[int, str]) -> str:
    return "a bot" if number is None else names.get(number, "a former player")


def _to(entry: AuditEntry, names: Mapping[int, str]) -> str:
    return _who(entry.person_id, names)


def _length(minutes: int) -> str:
    return f"{minutes} minute{'' if minutes == 1 else 's'}"


def _resumed(entry: AuditEntry, names: Mapping[int, str]) -> str:
    if entry.details.get("pause") == Game.PAUSED_BY_CONSENT:
        return "Staff ended the pause that the players had agreed on."
    return "Staff let the game go on."


def _forgiven(entry: AuditEntry, names: Mapping[int, str]) -> str:
    misses: int = entry.details["misses"]
    return f"Staff took {misses} missed turn{'' if misses == 1 else 's'} off {whose(_to(entry, names))} count."


def _removed(entry: AuditEntry, names: Mapping[int, str]) -> str:
    then = ": a bot has the seat from then on" if entry.details.get("bot") else ""
    return f"Staff took {_to(entry, names)} off the table{then}."


def _seat_moved(entry: AuditEntry, names: Mapping[int, str]) -> str:
    before = _who(entry.details["before_id"], names)
    return f"Staff gave {whose(before)} seat to {_to(entry, names)}."


def _plain(text: str) -> Callable[[AuditEntry, Mapping[int, str]], str]:
    return lambda entry, names: text


SAID: Final[Mapping[AuditEntry.Act, Callable[[AuditEntry, Mapping[int, str]], str]]] = {
    Act.PAUSE: _plain("Staff paused the game."),
    Act.RESUME: _resumed,
    Act.EXTEND: lambda entry, names: (
        f"Staff gave {_to(entry, names)} {_length(entry.details['minutes'])} more for the turn."
    ),
    Act.FORGIVE: _forgiven,
    Act.VOID_ROUND: lambda entry, names: f"Staff made round {entry.details['round']} void, and it was dealt anew.",
    Act.VOID_GAME: _plain("Staff ended the game without a winner."),
    Act.CLOSE: _plain("Staff closed the table before it started."),
    Act.REMOVE: _removed,
    Act.MOVE_SEAT: _seat_moved,
    Act.LOOK: _plain("Staff looked at the hands."),
}
"""Each act at a table; the others are not for players to read."""
