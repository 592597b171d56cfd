"""How a view becomes what people read: the `page` object of the game page, and its sentences."""

from games.render.page import LOG_LINES, Again, Asked, Ended, page_of
from games.render.table import SORTS
from games.render.told import announcements, log_of
from games.render.words import due, headline, moment, options_prose, table_name, time_left

__all__ = [
    "LOG_LINES",
    "SORTS",
    "Again",
    "Asked",
    "Ended",
    "announcements",
    "due",
    "headline",
    "log_of",
    "moment",
    "options_prose",
    "page_of",
    "table_name",
    "time_left",
]
