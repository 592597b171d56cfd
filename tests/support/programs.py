"""Programs of the machine that tests and benches run."""

import shutil
import subprocess
from pathlib import Path
from typing import Final

STREAM_MODULE: Final = Path("/usr/lib/nginx/modules/ngx_stream_module.so")
"""Debian's module of nginx for connections, which other builds have in the program."""

# Chromium's headless shell renders the same pages with less than half of the CPU time.
CHROMIUM_NAMES: Final = (
    "chromium-headless-shell", "chromium", "chromium-browser", "google-chrome-stable", "google-chrome",
)  # fmt: skip
WHOLE_CHROMIUM: Final = CHROMIUM_NAMES[1:]
"""What shows notifications, which the headless shell always refuses."""
CHROMIUM_FLAGS: Final = (
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--process-per-site",
)
"""Starts Chromium as root too, keeps it from asking anything but the site, and lets a browser keep its process for the
site. By default each visit after an empty page starts another one."""

FIREFOX_NAMES: Final = ("firefox-esr", "firefox")
WEBKIT_NAMES: Final = ("WebKitWebDriver",)
DISPLAY_NAMES: Final = ("Xvfb",)


def program(names: tuple[str, ...]) -> str | None:
    """Return the path of the first of these programs that is installed, or None."""
    return next((path for path in map(shutil.which, names) if path), None)


def nginx() -> str | None:
    """Return the path of an nginx that can count connections, or None."""
    path = program(("nginx",))
    if path is None or STREAM_MODULE.exists():
        return path
    built = subprocess.run([path, "-V"], capture_output=True, text=True, check=True).stderr
    return path if "--with-stream" in built.split() else None


def webkit() -> str | None:
    """Return the path of WebKit's driver if there is a display server for it too, or None."""
    return program(WEBKIT_NAMES) if program(DISPLAY_NAMES) else None
