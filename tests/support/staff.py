"""What tests of the staff share: a game, and how an act at its table is asked for, refused and audited."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from accounts.models import User
from games.models import AuditEntry, Game
from games.queries import Table
from games.refusals import Denied
from tests.support.tables import NOON, now_of, table_after

REASON = "Their power is out for a day"


def refused(code: str, act: Callable[..., Any], /, **arguments: Any) -> str:
    """The sentence of a refusal that has this code."""
    with pytest.raises(Denied) as denied:
        act(**arguments)
    assert denied.value.code == code
    return denied.value.message


def entry_of(table: Table) -> AuditEntry:
    """The one audit entry there is, which is about this table and has the reason."""
    entry = AuditEntry.objects.get()
    assert (entry.game_id, entry.game_code, entry.reason) == (table.game.pk, table.game.code, REASON)
    return entry


@pytest.fixture
def dealt(alice: User, bob: User, charlie: User) -> Table:
    """A match of three people, seven moves old, that follows from its deal; seat 0 is Alice's."""
    table = table_after([alice, bob, charlie], 7, seed=0)
    Game.objects.filter(pk=table.game.pk).update(target=500, deadline=NOON + timedelta(hours=10), turn_since=NOON)
    return now_of(table)


def act(table: Table, by: User, **more: Any) -> dict[str, Any]:
    """What every act at a table is asked with."""
    return {"game_id": table.game.pk, "by": by, "reason": REASON, "now": NOON, **more}
