"""Makes the object that each page shows from the results of `games.queries`, without a request or the database."""

from games.render.log_rows import LogNote, announcements, is_own, log_of
from games.render.page import LOG_LINES, GamePage, LastRound, PageRequest, RematchState, page_of
from games.render.straight import BETWEEN
from games.render.table import SORTS

__all__ = [
    "BETWEEN",
    "LOG_LINES",
    "SORTS",
    "GamePage",
    "LastRound",
    "LogNote",
    "PageRequest",
    "RematchState",
    "announcements",
    "is_own",
    "log_of",
    "page_of",
]
