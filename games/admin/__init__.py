"""The staff pages: rows to read and search, and the acts of `games.staff` behind a page each.

Nothing here writes: rows are shown read-only, without a card, and every change is an act with a reason.
"""

from games.admin import cases, games, people, rows

__all__ = ["cases", "games", "people", "rows"]
