"""The people of a table: those who have a seat, and those who staff took one from."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from accounts.models import User
from games.models.owner_changes import read_owner_changes
from games.queries.tables import Table


class Player(NamedTuple):
    """A person who has or had a seat.

    `owner` counts the owners of that seat, 0 for the first: staff may have given it away. `former`: the person has no
    seat at this table any more.
    """

    seat: int
    owner: int
    person_id: int
    name: str
    former: bool

    @property
    def key(self) -> str:
        """What a form calls this person. It says nothing about people who never had a seat at the table."""
        return f"{self.seat}.{self.owner}" if self.owner else f"{self.seat}"


def players_of(table: Table) -> list[Player]:
    """Return the people with a seat, and after them the former owners, each person once. Runs one query."""
    changes, owners = read_owner_changes(table.game.pk), Counter[int]()
    former = dict[int, Player]()
    for change in changes:
        if change.owner is not None and change.name is not None:  # neither a bot nor a deleted guest
            former[change.owner] = Player(change.seat, owners[change.seat], change.owner, change.name, former=True)
        owners[change.seat] += 1
    today = {
        row.user_id: Player(row.index, owners[row.index], row.user_id, row.name, former=False)
        for row in table.seats
        if row.user_id is not None
    }
    return [*today.values(), *(player for player in former.values() if player.person_id not in today)]


def others_of(table: Table, user: User | None) -> list[Player]:
    """Return the same people without this one: the people who they can report. Runs one query."""
    return [player for player in players_of(table) if user is None or player.person_id != user.pk]


def owner_of(table: Table, seat: int, owner: int | None = None) -> int | None:
    """Return the number of the person who has this seat, or was its owner with this count (see `Player`).

    None if that is a bot, or if there is no such seat or owner. Runs one query if `owner` is given.
    """
    row = next((row for row in table.seats if row.index == seat), None)
    today = None if row is None else row.user_id
    if owner is None:
        return today
    owners = [*(change.owner for change in read_owner_changes(table.game.pk) if change.seat == seat), today]
    return owners[owner] if 0 <= owner < len(owners) else None
