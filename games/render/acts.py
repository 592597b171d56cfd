"""What staff did at a table, as its players read it: a sentence in the past for every act there, without the reason."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from games.models import AuditEntry, Game
from games.queries.conduct import StaffAct, You
from games.render.words import counted, whose

Act = AuditEntry.Act


def deed(act: StaffAct) -> str:
    """The sentence."""
    return SAID[act.act](act)


def _who(name: str | You | None) -> str:
    if name is You.YOU:
        return "you"
    return "a bot" if name is None else name or "a former player"


def _whose(name: str | You | None) -> str:
    return "your" if name is You.YOU else whose(_who(name))


def _resumed(act: StaffAct) -> str:
    if act.details.get("pause") == Game.PAUSED_BY_CONSENT:
        return "Staff ended the pause that the players had agreed on."
    return "Staff let the game go on."


def _forgiven(act: StaffAct) -> str:
    misses: int = act.details["misses"]
    return f"Staff took {counted(misses, 'missed turn')} off {_whose(act.person)} count."


def _removed(act: StaffAct) -> str:
    then = ": a bot has the seat from then on" if act.details.get("bot") else ""
    return f"Staff took {_who(act.person)} off the table{then}."


def _moved(act: StaffAct) -> str:
    seat = f"{_whose(act.before)} seat"
    return f"Staff gave you {seat}." if act.person is You.YOU else f"Staff gave {seat} to {_who(act.person)}."


def _plain(text: str) -> Callable[[StaffAct], str]:
    return lambda act: text


SAID: Final[Mapping[AuditEntry.Act, Callable[[StaffAct], str]]] = {
    Act.PAUSE: _plain("Staff paused the game."),
    Act.RESUME: _resumed,
    Act.EXTEND: lambda act: (
        f"Staff gave {_who(act.person)} {counted(act.details['minutes'], 'minute')} more for the turn."
    ),
    Act.FORGIVE: _forgiven,
    Act.VOID_ROUND: lambda act: f"Staff made round {act.details['round']} void, and it was dealt anew.",
    Act.VOID_GAME: _plain("Staff ended the game without a winner."),
    Act.CLOSE: _plain("Staff closed the table before it started."),
    Act.REMOVE: _removed,
    Act.MOVE_SEAT: _moved,
    Act.LOOK: _plain("Staff looked at the hands."),
}
"""Each act at a table; the others are not for players to read."""
