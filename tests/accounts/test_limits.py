"""Limits scale with one setting."""

import pytest
from pytest_django.fixtures import Settings

from common.limits import refusal, scaled


@pytest.mark.parametrize(
    ("percent", "most", "found"), [(100, 20, 20), (1000, 20, 200), (10, 20, 2), (1, 20, 1), (0, 20, None)]
)
def test_a_limit_is_scaled_by_rate_limits(settings: Settings, percent: int, most: int, found: int | None) -> None:
    settings.RATE_LIMITS = percent
    assert scaled(most) == found


@pytest.mark.parametrize(
    ("wait", "found"),
    [(1, "1 second"), (70, "70 seconds"), (120, "2 minutes"), (121, "3 minutes"), (3600, "60 minutes")],
)
def test_a_refusal_says_how_long_to_wait(wait: int, found: str) -> None:
    assert refusal("tests", wait) == f"Too many tests. Try again in {found}."
