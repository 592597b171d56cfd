"""What open pages are told of beside moves."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import NamedTuple

from django.contrib.postgres.aggregates import ArrayAgg
from django.db.models import Count, Q

from games.models import Game, Invitation


class PageState(NamedTuple):
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
    is_public: bool
    invite_key: str

    def open_to(self, user_id: int | None, link: str) -> bool:
        """Return True if somebody who came by this link may still see the table, without looking at invitations.

        `link` is the invitation key they had when they came, or empty. A removal changes the table's key.
        """
        return self.is_public or link == self.invite_key or (user_id is not None and user_id in self.owners)


def news_of(codes: Collection[str]) -> dict[str, PageState]:
    """How these games stand, by code. One query."""
    owners = ArrayAgg("seats__user", order_by="seats__index")
    rows = (
        Game.objects.filter(code__in=codes)
        .annotate(bots=Count("seats", filter=~Q(seats__bot="")), owners=owners)
        .values_list(
            "code", "version", "status", "round_id", "deadline", "paused_at", "pause_votes",
            "time_left", "rematch", "bots", "owners", "is_public", "invite_key",
        )
    )  # fmt: skip
    return {
        code: PageState(
            version, status, round_id, deadline, paused_at, tuple(votes), left, rematch, bots, tuple(sat), public, key
        )
        for code, version, status, round_id, deadline, paused_at, votes, left, rematch, bots, sat, public, key in rows
    }


def invited(people: Collection[int], codes: Collection[str]) -> set[tuple[int, str]]:
    """Return who of these people is invited to which of these tables. One query."""
    rows = Invitation.objects.filter(user_id__in=people, game__code__in=codes)
    return set(rows.values_list("user_id", "game__code"))
