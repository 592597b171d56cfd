"""How a view becomes what people read: the `page` object of the game page, and its sentences."""

from games.render.page import LOG_LINES, Again, Asked, Ended, GamePage, may_leave, page_of
from games.render.table import SORTS
from games.render.told import LogNote, announcements, log_of

__all__ = [
    "LOG_LINES",
    "SORTS",
    "Again",
    "Asked",
    "Ended",
    "GamePage",
    "LogNote",
    "announcements",
    "log_of",
    "may_leave",
    "page_of",
]
