"""Seconds left and the text that the server and open pages show for them."""

from __future__ import annotations

from typing import Final

TIMES_LEFT: Final = [
    (-1, "time is up"), (0, "time is up"), (0.4, "1 s left"), (1, "1 s left"), (59.4, "60 s left"), (119, "119 s left"),
    (119.5, "2 min left"), (120, "2 min left"), (7199, "119 min left"), (7199.5, "2 h left"), (7200, "2 h left"),
    (259_199, "71 h left"), (259_200, "3 days left"), (302_400, "4 days left"), (388_800, "5 days left"),
]  # fmt: skip
