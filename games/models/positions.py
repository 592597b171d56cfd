"""Writes a position to the row of a round, and reads it back."""

from __future__ import annotations

from typing import Any, Final

from games.models.play import Round
from games.rules import Position

_NEEDED_BY_SQL: Final = ("turn", "phase", "out", "winner", "points")
POSITION_COLUMNS: Final = (*_NEEDED_BY_SQL, "state")
"""The columns of `Round` that a move changes: the fields of the position that SQL needs, and the others as JSON."""
JSON_COLUMNS: Final = ("points", "state")


def position_columns(position: Position) -> dict[str, Any]:
    """Return the values of `POSITION_COLUMNS`, by name. `absent` is left out, because only a deal changes it."""
    state = position.to_json()
    del state["absent"]
    return {name: state.pop(name) for name in _NEEDED_BY_SQL} | {"state": state}


def position_of(round_: Round) -> Position:
    """Return the position that is stored in the row of a round."""
    columns = {name: getattr(round_, name) for name in _NEEDED_BY_SQL}
    return Position.from_json({**round_.state, **columns, "absent": round_.absent})
