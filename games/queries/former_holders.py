"""Who held the seats of a table at each line of its log. Staff may have given a seat away since."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final, NamedTuple

from common.readers_language import say
from games.models import Seat
from games.models.owner_changes import OwnerChange


def former_player() -> str:
    """Return what the log calls a former owner of a seat whose row is gone."""
    return say.text("name", "a former player")


class Holder(NamedTuple):
    """Who held a seat until a change of owner: up to move `until`, and at the time `until_at`.

    `name` is None if it is the name that the seat has today, and empty if the person's row is gone. `stand_in`: a bot
    played in place of a person that staff had removed. `set_aside`: staff removed the holder and set the hand aside,
    with the next line of the log.
    """

    until: int
    until_at: datetime
    name: str | None
    stand_in: bool = False
    set_aside: bool = False


_NO_END: Final = (2**31, datetime.max.replace(tzinfo=UTC))

Holders = Mapping[int, Sequence[Holder]]
"""The holders of each seat that changed hands, by the seat's index, in order of time."""


def holders_of(seats: Iterable[Seat], changes: Sequence[OwnerChange]) -> Holders:
    """Return the former holders of these seats. `changes` are in order of time."""
    if not changes:
        return {}
    return _holders_of(tuple((seat.index, seat.user_id) for seat in seats), changes)


@lru_cache(maxsize=256)  # a page asks for each line of its log
def _holders_of(owners: Iterable[tuple[int, int | None]], changes: Sequence[OwnerChange]) -> Holders:
    return {
        index: _of_seat(owner, own)
        for index, owner in owners
        if (own := [change for change in changes if change.seat == index])
    }


def _of_seat(owner: int | None, changes: Sequence[OwnerChange]) -> list[Holder]:
    last = changes[-1]
    # A seat keeps the name of a person that staff removed.
    today = last.owner if last.removed and owner is None else owner

    def name_of(change: OwnerChange) -> str | None:
        return None if change.owner is not None and change.owner == today else change.name or ""

    holders, removed = list[Holder](), None
    for change in changes:
        stand_in = change.owner is None and removed is not None
        name = name_of(removed if removed is not None and stand_in else change)
        set_aside = change.removed and not change.bot
        holders.append(Holder(change.version, change.at, name, stand_in, set_aside))
        removed = change if change.removed and change.bot else None
    if removed is not None:
        holders.append(Holder(*_NO_END, name_of(removed), stand_in=True))
    return holders


def holder_at(holders: Holders, seat: int, n: int) -> Holder | None:
    """Return who held this seat at line `n` of the log, or None for its owner of today."""
    return next((holder for holder in holders.get(seat, ()) if n <= holder.until), None)


def held_by_current_owner(holders: Holders, seat: int, n: int) -> bool:
    """Return True if the current owner, or a bot in their place, held this seat at line `n` of the log."""
    holder = holder_at(holders, seat, n)
    return holder is None or holder.name is None


def was_set_aside(holders: Holders, seat: int, n: int) -> bool:
    """Return True if line `n` of the log is that staff removed the holder of this seat and set the hand aside."""
    return any(holder.set_aside and holder.until == n - 1 for holder in holders.get(seat, ()))


def name_between(holders: Holders, seat: int, version: int, at: datetime) -> str | None:
    """Return the name of who held this seat at this time, after line `version` and before the next.

    None if it is the name that the seat has today.
    """
    found = (holder for holder in holders.get(seat, ()) if (version, at) < (holder.until, holder.until_at))
    holder = next(found, None)
    return None if holder is None or holder.name is None else holder.name or former_player()


def names_at(holders: Holders, n: int) -> dict[int, str]:
    """Return the names of the holders at line `n` of the log, for the seats with another name today."""
    found = {seat: holder_at(holders, seat, n) for seat in holders}
    return {
        seat: holder.name or former_player()
        for seat, holder in found.items()
        if holder is not None and holder.name is not None
    }
