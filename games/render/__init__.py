"""Makes the object that each page shows from the results of `games.queries`, without a request or the database."""

from games.render.log_rows import LogNote, log_of
from games.render.page import GamePage, PageRequest, game_page
from games.render.straight import BETWEEN
from games.render.table import SORTS

__all__ = [
    "BETWEEN",
    "SORTS",
    "GamePage",
    "LogNote",
    "PageRequest",
    "game_page",
    "log_of",
]
