"""Put leaks into the site, to test that they are found."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.http import HttpResponse

from games import rules
from games.queries import Table
from games.web import game as game_views


def leak_in_page(patch: pytest.MonkeyPatch, leak: Callable[[HttpResponse, Table], object]) -> None:
    """Call `leak` with each answer that shows a table, and with the table. It may change the answer, or log."""
    show = game_views._show

    def leaky(request: Any, table: Table, *args: Any, **named: Any) -> HttpResponse:
        answer = show(request, table, *args, **named)
        leak(answer, table)
        return answer

    patch.setattr(game_views, "_show", leaky)


def leak_in_refusals(patch: pytest.MonkeyPatch, told: Callable[[rules.Position, int, rules.Options], str]) -> None:
    """Add what `told` returns for the position, the seat and the options to each refusal of the rules."""
    apply = rules.apply

    def leaky(position: rules.Position, seat: int, move: rules.Move, options: rules.Options, *rest: Any) -> Any:
        try:
            return apply(position, seat, move, options, *rest)
        except rules.Refused as refused:
            leak = told(position, seat, options)
            raise rules.Refused(refused.code, "{why}{leak}", why=refused.message, leak=leak) from refused

    patch.setattr(rules, "apply", leaky)
