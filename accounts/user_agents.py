"""Name browsers in words of our own, so that nothing from a `User-Agent` header is stored or shown."""

from __future__ import annotations

from typing import Final

UNKNOWN: Final = "Unknown browser"
NAMES: Final = (
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser/", "Samsung Internet"),
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("Chrome/", "Chrome"),
    ("CriOS/", "Chrome"),
    ("Safari/", "Safari"),
)
"""Parts of `User-Agent` headers and the browsers they mean.

The order matters, because most headers contain parts of several rows.
"""
SYSTEMS: Final = (
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("Windows", "Windows"),
    ("CrOS", "ChromeOS"),
    ("Macintosh", "Mac"),
    ("Linux", "Linux"),
)


def browser_of(user_agent: str) -> str:
    """Return the browser and the system of a `User-Agent` header, for example "Firefox, Windows"."""
    name = next((name for part, name in NAMES if part in user_agent), UNKNOWN)
    system = next((name for part, name in SYSTEMS if part in user_agent), "")
    return ", ".join(filter(None, [name, system]))
