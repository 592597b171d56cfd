"""What notices say to their readers."""

from __future__ import annotations

from collections.abc import Iterable

from games.models import Notice
from games.notices.player_notices import NewNotice
from games.notices.sentences import EVENT, names_in, text_of
from games.rules import Event


def texts_of(rows: Iterable[Notice]) -> list[str]:
    """Return what these notices say, in their order."""
    found = list(rows)
    names = names_in(found)
    return [text_of(row, names, row.user.time_zone) for row in found]


def won(user_id: int, winner: str, kind: str = "game_over") -> NewNotice:
    """Return a notice of any kind to this person, which says that a bot of this name wins the round."""
    event = {"event": Event("won", 0).to_json(), "people": [winner], "reader": 1, "bot": False}
    return NewNotice(user_id, kind, EVENT, {EVENT: event})
