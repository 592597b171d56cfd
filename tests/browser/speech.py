"""Records what the live regions of a page say, which a screen reader would read out."""

from __future__ import annotations

from typing import Final

from playwright.sync_api import Page

MOST_WAITING: Final = 60_000
"""Milliseconds within which a page must say or move what a test waits for."""

RECORD_SPEECH: Final = """
window.spoken = [];
document.addEventListener("DOMContentLoaded", () => {
  for (const id of ["live-polite", "live-assertive"]) {
    const region = document.getElementById(id);
    new MutationObserver(() => region.textContent && window.spoken.push(region.textContent)).observe(
      region, { childList: true, characterData: true, subtree: true });
  }
});
"""
"""A script that records from the beginning of each page what it says."""


def spoken(page: Page) -> list[str]:
    """Return all announcements so far, oldest first."""
    said: list[str] = page.evaluate("window.spoken")
    return said


def hears(page: Page, text: str, *, times: int = 1) -> None:
    """Wait until the announcements have this text, and check how often they have it."""
    # The content security policy forbids `wait_for_function`.
    page.evaluate(
        """async ([text, most]) => {
            const end = performance.now() + most;
            while (!window.spoken.join(" ").includes(text) && performance.now() < end) {
                await new Promise((done) => setTimeout(done, 50));
            }
        }""",
        [text, MOST_WAITING],
    )
    assert " ".join(spoken(page)).count(text) == times, spoken(page)
