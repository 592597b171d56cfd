"""Put leaks into the site, to test that they are found."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from games import rules


def leak_in_refusals(patch: pytest.MonkeyPatch, told: Callable[[rules.Position, int, rules.Options], str]) -> None:
    """Add what `told` returns for the position, the seat and the options to each refusal of the rules."""
    apply = rules.apply

    def leaky(position: rules.Position, seat: int, move: rules.Move, options: rules.Options, *rest: Any) -> Any:
        try:
            return apply(position, seat, move, options, *rest)
        except rules.Refused as refused:
            refused.message += told(position, seat, options)
            raise

    patch.setattr(rules, "apply", leaky)
