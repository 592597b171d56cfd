"""Reads for pages, the API, sockets and commands.

`load`, `find` and `load_for` return a `Table`: everything that is stored, for use on the server. People are only shown
a `GameView`, which `view_of` makes.

- `tables`, `views`, `log`, `legal`: one table, what one viewer may see of it and of its log, and what a seat may do
- `game_page`: all that the page of a game shows one viewer; `past_table`: the rest of a round for a player who is out;
  `orders`, `turn_orders`: standing orders
- `players`, `former_holders`: the people who have or had a seat at a table; `invitations` to rematches
- `lists`, `front_page`: lists of games; `profiles`: what people see of each other; `my_data`: a copy of one's data
- `records`, `replays`, `key_moments`, `verify`: finished games
- `conduct`: warnings, suspensions, reports and cases; `staff_summary`: what staff see of a person; `announcement`
- `backlog`, `due_bots`: what is due; `open_pages`: what open sockets are compared with
"""

from games.queries.legal import legal_moves, require_allowed, require_step
from games.queries.log import DoneAct, LogLine, PastEvent, You, between_moves, last_lines, log_of
from games.queries.tables import (
    NO_TOKENS,
    Playing,
    RematchState,
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
    readable_tables,
    rematches_of,
    require_access,
    require_seat,
    results_of,
    unseen_end,
    visible_to,
    with_tables,
)
from games.queries.views import GameView, LastHand, LostHand, SeatView, hands_after, view_of

__all__ = [
    "NO_TOKENS",
    "DoneAct",
    "GameView",
    "LastHand",
    "LogLine",
    "LostHand",
    "PastEvent",
    "Playing",
    "RematchState",
    "RoundResult",
    "SeatView",
    "Table",
    "Viewer",
    "You",
    "between_moves",
    "find",
    "hands_after",
    "last_lines",
    "legal_moves",
    "load",
    "load_by_invite",
    "load_for",
    "log_of",
    "match_of",
    "may_see",
    "options_of",
    "pause_voters",
    "plays_with",
    "readable_tables",
    "rematches_of",
    "require_access",
    "require_allowed",
    "require_seat",
    "require_step",
    "results_of",
    "unseen_end",
    "view_of",
    "visible_to",
    "with_tables",
]
