"""The state of a game that its open pages show."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import NamedTuple

from django.contrib.postgres.aggregates import ArrayAgg
from django.db.models import Count, Q

from games.models import Game, Invitation


class PageState(NamedTuple):
    """What an open page of a game shows: the page need not change while this stays equal."""

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
        """Return True if a person may still see the table, without counting invitations by a rematch.

        `link` is the invitation key that they came with, or empty. When staff remove a player the key changes.
        """
        return self.is_public or link == self.invite_key or (user_id is not None and user_id in self.owners)


def states_of(codes: Collection[str]) -> dict[str, PageState]:
    """Return the state of each game, by its code. Runs one query."""
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
    """Return the pairs of a person's number and a code where the person is invited to that table. Runs one query."""
    rows = Invitation.objects.filter(user_id__in=people, game__code__in=codes)
    return set(rows.values_list("user_id", "game__code"))
