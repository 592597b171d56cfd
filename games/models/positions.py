"""How the row of a round stores a position."""

from __future__ import annotations

from typing import Any, Final

from games.models.play import Round
from games.rules import Position

_ASKED_BY_SQL: Final = ("turn", "phase", "out", "winner", "points")
POSITION_COLUMNS: Final = (*_ASKED_BY_SQL, "state")
"""The columns of `Round` that a move changes: fields of the position that SQL asks for, and the others as JSON."""
JSON_COLUMNS: Final = ("points", "state")


def position_columns(position: Position) -> dict[str, Any]:
    """Return `POSITION_COLUMNS` with their values; `absent` is not among them, because only a deal changes it."""
    state = position.to_json()
    del state["absent"]
    return {name: state.pop(name) for name in _ASKED_BY_SQL} | {"state": state}


def position_of(round_: Round) -> Position:
    """Return the position that a round's row holds."""
    asked = {name: getattr(round_, name) for name in _ASKED_BY_SQL}
    return Position.from_json({**round_.state, **asked, "absent": round_.absent})
