"""What the sockets of open pages are compared with: the revision of a game, and who may see its table."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from django.contrib.postgres.aggregates import ArrayAgg

from games.models import Game, Invitation


class OpenPage(NamedTuple):
    """The version and the revision of a game, and what decides who may see its table.

    `owners` are the numbers of the people who sit there, in the order of the seats, None for a bot.
    """

    version: int
    revision: int
    is_public: bool
    invite_key: str
    owners: tuple[int | None, ...]

    def open_to(self, user_id: int | None, link: str) -> bool:
        """Return True if a person may still see the table, without counting invitations by a rematch.

        `link` is the invitation key that they came with, or empty. When staff remove a player the key changes.
        """
        return self.is_public or link == self.invite_key or (user_id is not None and user_id in self.owners)


def open_pages(codes: Collection[str]) -> dict[str, OpenPage]:
    """Return this of each game, by its code. Runs one query."""
    owners = ArrayAgg("seats__user", order_by="seats__index")
    games = Game.objects.filter(code__in=codes).annotate(owners=owners)
    rows = games.values_list("code", "version", "revision", "is_public", "invite_key", "owners")
    return {
        code: OpenPage(version, revision, is_public, invite_key, tuple(sat))
        for code, version, revision, is_public, invite_key, sat in rows
    }


def invited(people: Collection[int], codes: Collection[str]) -> set[tuple[int, str]]:
    """Return the pairs of a person's number and a code where the person is invited to that table. Runs one query."""
    rows = Invitation.objects.filter(user_id__in=people, game__code__in=codes)
    return set(rows.values_list("user_id", "game__code"))
