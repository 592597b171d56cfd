"""The standing orders of a person, and whether a table has any."""

from __future__ import annotations

from typing import TYPE_CHECKING

from common.say import N_
from games.models.orders import Orders, orders_of
from games.queries.tables import Table, require_own_seat
from games.refusals import Denied

if TYPE_CHECKING:
    from accounts.models import User
    from games.models import Seat


def has_orders(table: Table) -> bool:
    """Return True if standing orders act at a table: its pace has no races."""
    return not table.game.terms.races


def can_intercept(table: Table) -> bool:
    """Return True if standing orders act out of turn at a table: cards can be intercepted there, too."""
    return table.options.interceptions != "off" and has_orders(table)


def seat_with_orders(table: Table, user: User) -> Seat:
    """Return a person's seat at a table with standing orders.

    :raises Denied: `not_seated`; `forbidden` if the table has no standing orders.
    """
    seat = require_own_seat(table, user)
    if has_orders(table):
        return seat
    sentence = N_("This table is live: play yourself. Standing orders are for slower paces.")
    raise Denied("forbidden", sentence, version=table.game.version)


def own_orders(table: Table, user: User) -> Orders:
    """Return the standing orders of a person at a table.

    :raises Denied: `not_seated`; `forbidden` if the table has no standing orders.
    """
    return orders_of(seat_with_orders(table, user))
