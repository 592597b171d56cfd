"""What the page about time off shows of a vacation."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple


class Vacation(NamedTuple):
    """`away_until` is the end of the current vacation, or None. `days_left` are the days left in `year`."""

    away_until: datetime | None
    days_left: int
    year: int
