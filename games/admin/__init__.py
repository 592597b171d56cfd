"""The staff pages: lists to read and search, and a page for each act of `games.staff`.

Nothing is written here. Rows are read-only and show no hidden card; every change is an act with a reason.
"""

from games.admin import announcement, cases, games, invitations, people, rows

__all__ = ["announcement", "cases", "games", "invitations", "people", "rows"]
