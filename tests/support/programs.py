"""Programs of the machine that tests and benches run."""

import shutil
from typing import Final

# Chromium's headless shell renders the same pages with less than half of the CPU time.
CHROMIUM_NAMES: Final = (
    "chromium-headless-shell", "chromium", "chromium-browser", "google-chrome-stable", "google-chrome",
)  # fmt: skip
CHROMIUM_FLAGS: Final = (
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
"""Starts Chromium as root too, and keeps it from asking anything but the site."""


def program(names: tuple[str, ...]) -> str | None:
    """Return the path of the first of these programs that is installed, or None."""
    return next((path for path in map(shutil.which, names) if path), None)
