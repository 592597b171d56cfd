"""Fixtures of the tests that compare worlds."""

from __future__ import annotations

import pytest
from django.utils import timezone


@pytest.fixture
def one_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stop the clock, so that no answer differs because a minute has passed between two requests."""
    now = timezone.now()
    monkeypatch.setattr("django.utils.timezone.now", lambda: now)
