"""Seconds left and the text that the server and open pages show for them."""

from __future__ import annotations

from typing import Final

TIMES_LEFT: Final = [
    (-1, "time is up"), (0, "time is up"), (0.4, "1 s left"), (1, "1 s left"), (59.4, "60 s left"), (119, "119 s left"),
    (119.5, "2 min left"), (120, "2 min left"), (7199, "119 min left"), (7199.5, "2 h left"), (7200, "2 h left"),
    (172_800, "48 h left"), (176_400, "2 days 1 h left"), (259_199, "2 days 23 h left"), (259_200, "3 days left"),
    (302_400, "3 days 12 h left"), (604_800, "7 days left"),
]  # fmt: skip
