"""Times in the zone of their reader, and time zones as choices of a form, grouped by region, each zone once."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC as UTC_ZONE
from datetime import datetime, timedelta, tzinfo
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any, Final
from zoneinfo import ZoneInfo, available_timezones

from django import forms
from django.utils import timezone
from django.utils.dateformat import format as date_format
from django.utils.translation import get_language

from common.readers_language import say
from common.say import N_

UTC: Final = ("UTC", "UTC")
NAMES_OF_UTC: Final = frozenset({"UTC", "GMT", "UCT", "Zulu", "Universal", "Greenwich", "GMT0", "+00:00"})
"""How browsers name UTC, without `Etc/`. Keep in step with static/js/zone.js."""
OFFSET: Final = re.compile(r"([+-])(\d\d):?([0-5]\d)", re.ASCII)
"""What browsers name on a machine that is set to an offset from UTC."""
DATA: Final = files("tzdata.zoneinfo")

Choice = tuple[str, str]
Choices = list[Choice | tuple[str, list[Choice]]]


@lru_cache(maxsize=1024)  # the machine's zones are read from hundreds of files, and most pages ask for one
def zone_to_show(name: str) -> ZoneInfo:
    """Return the zone in which somebody sees times, or UTC if there is none of this name.

    The name of a restored account may be one that this machine does not know.
    """
    return ZoneInfo(name if name in available_timezones() else "UTC")


def formatted(at: datetime, pattern: str, zone: str = "") -> str:
    """Return a time in this zone, or in that of the reader of the page.

    :param pattern: a message in the letters of Django's filter `date`.
    """
    here = zone_to_show(zone) if zone else timezone.get_current_timezone()
    return _formatted(at, say.text("format of a time", pattern), here, get_language())


@lru_cache(maxsize=8192)  # a list shows mostly the times that it showed before
def _formatted(at: datetime, pattern: str, zone: tzinfo, _language: str | None) -> str:
    return date_format(timezone.localtime(at, zone), pattern)


def day_and_time(at: datetime, zone: str) -> str:
    """Return a time for a text that may be read on another day, like "Sunday 29 November, 21:30 (Europe/Berlin)"."""
    return say.text("time", "{time} ({zone})", time=formatted(at, N_("l j F, H:i"), zone), zone=zone_to_show(zone))


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


@cache
def _zones_by_offset() -> Mapping[timedelta, str]:
    """Return a zone for each offset from UTC that some zone has all year. Etc/GMT+5 is five hours behind UTC."""
    found = {timedelta(hours=-n): f"Etc/GMT{n:+}" for n in range(-14, 13) if n}
    for zone in sorted(current_zones()):
        winter, summer = (datetime(datetime.now(UTC_ZONE).year, month, 1, tzinfo=ZoneInfo(zone)) for month in (1, 7))
        offset = winter.utcoffset()
        if offset and offset == summer.utcoffset():
            found.setdefault(offset, zone)
    return found


def zone_of_browser(name: str) -> str:
    """Return the current name of the zone that a browser names, or UTC if there is none of this name.

    For an offset like +05:30 the zone is one that has it all year.
    """
    if name in _zones_by_offset().values():
        return name
    if offset := OFFSET.fullmatch(name):
        ahead = timedelta(hours=int(offset[2]), minutes=int(offset[3]))
        return _zones_by_offset().get(ahead if offset[1] == "+" else -ahead, "UTC")
    return _names().get(name, "UTC")


def is_no_place(name: str) -> bool:
    """Return True if a browser's zone is an offset or unknown, so that its user should be asked. UTC may be meant."""
    return bool(name) and name not in _names() and name.removeprefix("Etc/") not in NAMES_OF_UTC


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
