"""Time zones as choices of a form, grouped by region, each zone once."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any, Final
from zoneinfo import ZoneInfo, available_timezones

from django import forms

UTC: Final = ("UTC", "UTC")
DATA: Final = files("tzdata.zoneinfo")

Choice = tuple[str, str]
Choices = list[Choice | tuple[str, list[Choice]]]


@lru_cache(maxsize=1024)  # the machine's zones are read from hundreds of files, and most pages ask for one
def zone_to_show(name: str) -> ZoneInfo:
    """Return the zone in which somebody sees times, or UTC if there is none of this name.

    The name of a restored account may be one that this machine does not know.
    """
    return ZoneInfo(name if name in available_timezones() else "UTC")


def day_and_time(at: datetime, zone: str) -> str:
    """Return a time for a text that may be read on another day, like "Sunday 29 November, 21:30 (Europe/Berlin)"."""
    here = at.astimezone(zone_to_show(zone))
    return f"{here:%A} {here.day} {here:%B}, {here:%H:%M} ({here.tzinfo})"


@cache
def current_zones() -> frozenset[str]:
    """Return the current names of the zones that people live in, as tzdata lists them by country (zone.tab)."""
    rows = DATA.joinpath("zone.tab").read_text(encoding="utf-8").splitlines()
    return frozenset(row.split("\t")[2] for row in rows if not row.startswith("#")) & available_timezones()


@cache
def old_names() -> Mapping[str, tuple[str, ...]]:
    """Return the former names of each of `current_zones`. Browsers still send some, like Asia/Calcutta."""
    found: dict[str, list[str]] = {}
    for row in DATA.joinpath("tzdata.zi").read_text(encoding="utf-8").splitlines():
        if row.startswith("L "):
            _, zone, alias = row.split(" ")
            if zone in current_zones() and alias not in current_zones():
                found.setdefault(zone, []).append(alias)
    return {zone: tuple(aliases) for zone, aliases in found.items()}


@cache
def _names() -> Mapping[str, str]:
    """Return the current name of each zone by its current and its former names."""
    former = {old: zone for zone, names in old_names().items() for old in names}
    return {**former, **{zone: zone for zone in current_zones()}}


def zone_of_browser(name: str) -> str:
    """Return the current name of the zone that a browser names, or UTC if there is none of this name."""
    return _names().get(name, "UTC")


@cache
def _regions() -> list[tuple[str, list[Choice]]]:
    regions: dict[str, list[Choice]] = {}
    for zone in sorted(current_zones()):
        region, _, place = zone.partition("/")
        regions.setdefault(region, []).append((zone, place.replace("/", ": ").replace("_", " ")))
    return list(regions.items())


def zone_choices(stored: str = "UTC") -> Choices:
    """Return UTC and every region with its zones, as the choices of a form.

    A `stored` name that is no current zone comes first.
    """
    own: list[Choice] = [] if stored == "UTC" or stored in current_zones() else [(stored, stored.replace("_", " "))]
    return [*own, UTC, *_regions()]


class ZoneSelect(forms.Select):
    """A list of zones in which static/js/zone.js can find the browser's zone by any of its names."""

    def create_option(self, name: str, value: Any, *args: Any, **kwargs: Any) -> dict[str, Any]:
        option: dict[str, Any] = super().create_option(name, value, *args, **kwargs)
        if aliases := old_names().get(str(value)):
            option["attrs"]["data-also"] = " ".join(aliases)
        return option
