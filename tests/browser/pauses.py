"""How long people wait between two presses. Imports nothing of Django, for programs that only drive a browser."""

from __future__ import annotations

from typing import Final

from playwright.sync_api import Page

BETWEEN_PRESSES: Final = 600
"""Milliseconds after another press, or after a change of what is pressed, from which a press counts."""

TO_READ: Final = 800
"""Milliseconds after a press from which a press counts that means something else at the same place."""


def pause(page: Page, time: float = BETWEEN_PRESSES) -> None:
    """Wait as long as people do before a press: what comes sooner is taken for a part of the press before."""
    page.wait_for_timeout(time)
