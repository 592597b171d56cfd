"""How a view becomes what people read: the `page` object of the game page, and its sentences."""

from games.render.page import LOG_LINES, Again, Asked, Ended, may_leave, page_of
from games.render.table import SORTS
from games.render.told import announcements, log_of
from games.render.words import (
    crumb,
    due,
    headline,
    moment,
    options_prose,
    profile_url,
    table_name,
    time_left,
    what_leaving_does,
)

__all__ = [
    "LOG_LINES",
    "SORTS",
    "Again",
    "Asked",
    "Ended",
    "announcements",
    "crumb",
    "due",
    "headline",
    "log_of",
    "may_leave",
    "moment",
    "options_prose",
    "page_of",
    "profile_url",
    "table_name",
    "time_left",
    "what_leaving_does",
]
