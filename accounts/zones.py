"""Time zones as a list that people find theirs in: by region, the city in words."""

from __future__ import annotations

from functools import cache
from typing import Final
from zoneinfo import available_timezones

REGIONS: Final = (
    "Africa", "America", "Antarctica", "Arctic", "Asia", "Atlantic", "Australia", "Europe", "Indian", "Pacific",
)  # fmt: skip
OTHERS: Final = "Other names"

Choice = tuple[str, str]


@cache
def zone_choices() -> list[Choice | tuple[str, list[Choice]]]:
    """UTC, then every region with its zones, then the names that belong to none, as a form's choices."""
    groups: dict[str, list[Choice]] = {region: [] for region in (*REGIONS, OTHERS)}
    for zone in sorted(available_timezones() - {"UTC"}):
        region, _, place = zone.partition("/")
        if region in REGIONS and place:
            groups[region].append((zone, place.replace("/", ": ").replace("_", " ")))
        else:
            groups[OTHERS].append((zone, zone.replace("_", " ")))
    return [("UTC", "UTC, the same everywhere"), *groups.items()]
