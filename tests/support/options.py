"""Values of options to test with."""

from __future__ import annotations

from games import rules


def values_of(spec: rules.OptionSpec) -> list[object]:
    """Return every choice of an option, or the bounds of a number."""
    return [
        *(choice.value for choice in spec.choices),
        *sorted({number for bounds in spec.ranges for number in bounds}),
    ]
