"""What the page of time off says about vacation."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple


class Vacation(NamedTuple):
    """`away_until` is the end of the vacation that somebody is on, if any; `days_left` is what is left in `year`."""

    away_until: datetime | None
    days_left: int
    year: int
