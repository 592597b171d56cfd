"""Name a browser in words from our own list, so that nothing a browser sends about itself is stored or shown."""

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
"""What the browsers in use say of themselves, and their names. The order counts: most also claim to be a later one."""
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
    """Return a browser and its system, as "Firefox, Windows", by the `User-Agent` header."""
    name = next((name for sign, name in NAMES if sign in user_agent), UNKNOWN)
    system = next((name for sign, name in SYSTEMS if sign in user_agent), "")
    return f"{name}, {system}" if system else name
