"""Every read that a door needs: who may see a table, what one viewer may see of it, and what stands in lists.

`load` and `load_for` give a `Table`: everything, for the server's own use. Doors show people only a `GameView`, made
by `view_of`. The other modules read one thing each: `lists` of games and those of the `front_page`, who people are to
each other (`profiles`), reports and cases (`conduct`), rounds that are over (`records`, `replays`, `verify`), what
waits to be done (`backlog`), and what open pages are told beside moves (`news`).
"""

from games.queries.tables import (
    Playing,
    RoundResult,
    Table,
    Viewer,
    find,
    load,
    load_by_invite,
    load_for,
    match_of,
    may_see,
    options_of,
    pause_voters,
    plays_with,
    rematch_of,
    require_seat,
    results_of,
    unseen_end,
    visible_to,
    with_tables,
)
from games.queries.views import GameView, LastHand, LogLine, SeatView, hands_after, log_of, view_of

__all__ = [
    "GameView",
    "LastHand",
    "LogLine",
    "Playing",
    "RoundResult",
    "SeatView",
    "Table",
    "Viewer",
    "find",
    "hands_after",
    "load",
    "load_by_invite",
    "load_for",
    "log_of",
    "match_of",
    "may_see",
    "options_of",
    "pause_voters",
    "plays_with",
    "rematch_of",
    "require_seat",
    "results_of",
    "unseen_end",
    "view_of",
    "visible_to",
    "with_tables",
]
