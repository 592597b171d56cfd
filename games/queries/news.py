"""What open pages are told of beside moves."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import NamedTuple

from django.contrib.postgres.aggregates import ArrayAgg
from django.db.models import Count, Q

from games.models import Game


class News(NamedTuple):
    """What an open page of a game would notice, beside the version: equal news look the same."""

    version: int
    status: str
    round_id: int | None
    deadline: datetime | None
    paused_at: datetime | None
    pause_votes: tuple[int, ...]
    time_left: timedelta | None
    rematch: int | None
    bots: int
    owners: tuple[int | None, ...]


def news_of(codes: Collection[str]) -> dict[str, News]:
    """How these games stand, by code. One query."""
    owners = ArrayAgg("seats__user", order_by="seats__index")
    rows = (
        Game.objects.filter(code__in=codes)
        .annotate(bots=Count("seats", filter=~Q(seats__bot="")), owners=owners)
        .values_list(
            "code", "version", "status", "round_id", "deadline", "paused_at", "pause_votes",
            "time_left", "rematch", "bots", "owners",
        )
    )  # fmt: skip
    return {
        code: News(version, status, round_id, deadline, paused_at, tuple(votes), left, rematch, bots, tuple(sat))
        for code, version, status, round_id, deadline, paused_at, votes, left, rematch, bots, sat in rows
    }
