"""What pages show: an object a page, made from what `games.queries` gives, without a request or the database."""

from games.render.page import LOG_LINES, Again, Asked, Ended, GamePage, page_of
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
    "page_of",
]
