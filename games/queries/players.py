"""The people of a table: those who have a seat, and those who staff took one from."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from accounts.models import User
from games.models.owner_changes import read_owner_changes
from games.queries.tables import Table
from mail.models import Hook


class SeatOwner(NamedTuple):
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


def _owners_of(table: Table) -> list[SeatOwner]:
    """Return every person as the owner of each seat that they have or had, former owners first. Runs one query."""
    changes = [(one.seat, one.owner, one.name, True) for one in read_owner_changes(table.game.pk)]
    today = [(row.index, row.user_id, row.name, False) for row in table.seats]
    owners, found = Counter[int](), list[SeatOwner]()
    for seat, person_id, name, former in [*changes, *today]:
        if person_id is not None and name is not None:  # neither a bot nor a deleted guest
            found.append(SeatOwner(seat, owners[seat], person_id, name, former))
        owners[seat] += 1
    return found


def players_of(table: Table) -> list[SeatOwner]:
    """Return the people with a seat, and after them the former owners, each person once. Runs one query."""
    owners = _owners_of(table)
    today = {player.person_id: player for player in owners if not player.former}
    former = {player.person_id: player for player in owners if player.person_id not in today}
    return [*today.values(), *former.values()]


def others_of(table: Table, user: User | None) -> list[SeatOwner]:
    """Return the people of `players_of` except `user`, who can report them. Runs one query."""
    return [player for player in players_of(table) if user is None or player.person_id != user.pk]


def hook_owner_of(table: Table) -> str:
    """Return the name of the host if their hook gets the turns of everybody at this table, else "". Runs one query."""
    if table.game.host_id is None or table.game.terms.live:
        return ""
    hooks = Hook.objects.filter(user=table.game.host_id, others_since__lte=table.game.created_at)
    hook = hooks.select_related("user").first()
    return "" if hook is None else hook.user.name


def owner_of(table: Table, seat: int, owner: int | None = None) -> int | None:
    """Return the number of the person who has this seat, or was its owner with this count (see `SeatOwner`).

    None if that is a bot or a deleted guest, or if there is no such seat or owner. Runs one query if `owner` is given.
    """
    if owner is None:
        return next((row.user_id for row in table.seats if row.index == seat), None)
    return next((one.person_id for one in _owners_of(table) if (one.seat, one.owner) == (seat, owner)), None)
