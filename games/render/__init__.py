"""Makes the object that each page shows from the results of `games.queries`, without a request or the database."""

from games.render.log_rows import LogNote, is_own, log_of
from games.render.page import LOG_LINES, GamePage, PageRequest, RematchState, page_of
from games.render.page_events import PageEvents, page_events, recap
from games.render.round_end import LastRound
from games.render.straight import BETWEEN
from games.render.table import SORTS

__all__ = [
    "BETWEEN",
    "LOG_LINES",
    "SORTS",
    "GamePage",
    "LastRound",
    "LogNote",
    "PageEvents",
    "PageRequest",
    "RematchState",
    "is_own",
    "log_of",
    "page_events",
    "page_of",
    "recap",
]
