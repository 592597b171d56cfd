"""Counts by name that forget what has come down to 0, so that they do not grow."""

from collections import Counter


def add(counts: Counter[str], name: str, number: int) -> None:
    """Add to a count, and forget it when it is 0."""
    counts[name] += number
    if not counts[name]:
        del counts[name]
