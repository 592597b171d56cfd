"""What the tests that compare worlds share."""

from __future__ import annotations

import pytest
from django.utils import timezone


@pytest.fixture
def one_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing differs because a minute has passed between two looks."""
    now = timezone.now()
    monkeypatch.setattr("django.utils.timezone.now", lambda: now)
