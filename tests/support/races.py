"""Positions of `house-party`, whose rules have straights, interceptions and buzzers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

STRAIGHT: Mapping[str, Any] = {
    "draw_pile": ["b1", "b2", "y3", "g4", "b6", "y8", "g9", "r2", "y1", "g1"],
    "hands": [["r4", "r5", "r6", "b9"], ["r1", "g2", "y3"], ["b4", "b3", "g8"]],
    "turn": 0,
    "discard_pile": ["r3"],
}
"""Seat 0 is on turn on a red 3 and holds a straight from red 4 to red 6. Seat 2 can intercept a 3 and a 4."""

INTERCEPTION: Mapping[str, Any] = {
    **STRAIGHT,
    "hands": [["r4", "r5", "g6", "b9"], ["g3", "g2", "y5"], ["b4", "b3", "g8"]],
}
"""Seat 0 is on turn on a red 3. Seats 1 and 2 can intercept it with a green and a blue 3."""

RACE: Mapping[str, Any] = {
    "draw_pile": ["b1", "b2", "y3", "g4", "b6", "y8", "g9", "r2", "y1", "g1"],
    "hands": [["r4", "r5"], ["r1", "g2"], ["b4", "b3"]],
    "turn": 0,
    "discard_pile": ["r3", "BZ"],
    "phase": "buzz",
    "buzz": {"by": 0, "pressed": []},
}
"""Seat 0 has played a buzzer, and nobody has pressed yet."""

RACING: Mapping[str, Any] = {"preset": "house-party", "options": {"buzzers": "race"}, "pace": "live"}
"""What `table_at` needs for a table where players race."""
