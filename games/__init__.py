"""The games: rules, tables, clocks, notices and pages."""

from typing import Final

HOUSEKEEPING_SECONDS: Final = 3_600.0
"""Seconds between two runs of the housekeeping task."""
