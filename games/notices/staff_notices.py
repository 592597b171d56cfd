"""What staff have done, told to whom it concerns, in the transaction of the act."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from games.models import Case, Game, Report, Seat
from games.notices.kinds import FACTOR_DROPPED, OF_A_TURN, REPORT_SETTLED, SEAT_MOVED, Reason
from games.notices.player_notices import Intent, closed, of_turn, write
from games.queries import Table
from games.render.words import listed

if TYPE_CHECKING:
    from accounts.models import User


def called_off(table: Table, *, now: datetime) -> None:
    """Tell everybody who sits there that staff have ended the game, begun or not, without a winner. Lock held."""
    text = "The staff called this game off: nobody wins."
    if table.game.started_at is None:
        text = "The staff closed this table before its game began."
    closed(table, text, now=now)


def seat_moved(table: Table, row: Seat, *, before: User | None, name: str, mark: int, now: datetime) -> None:
    """Tell who has this seat now, and who had it `before`, that staff gave it away, and whose turn it is. Lock held.

    `name` is what the seat was called before. `mark` is the number of the act's audit entry, which changes no version.
    """
    assert row.user_id is not None
    if before is not None:
        at = "at the table" if table.game.status == Game.Status.OPEN else "in the game"
        text = f"Staff gave your seat to {row.name}, {at} {with_others(table, row)}."
        unseated(table.game, before, text, mark=mark, now=now)
    intents = [Intent(row.user_id, SEAT_MOVED, f"Staff gave you the seat of {name}.")]
    if table.playing is not None and table.on_turn.index == row.index:
        intents += of_turn(table)
    write(table.game, intents, now=now, mover=row.user_id, settled=(SEAT_MOVED,), reason=Reason.STAFF, mark=mark)


def with_others(table: Table, row: Seat) -> str:
    """Who else sits there: whose seat this was may see the table no more, and is to know which it was.

    To stand last in a text, which many long names make too long.
    """
    others = listed([seat.name for seat in table.seats if seat.index != row.index])
    return f"with {others}" if others else "where nobody else sat"


def unseated(game: Game, person: User, text: str, *, mark: int, now: datetime) -> None:
    """Tell somebody who has lost a seat by the staff, in this `text`; a turn there is not this person's any more, and
    what staff did with the seat before is no news. `mark` is the number of the act's audit entry.
    """
    intents, settled = [Intent(person.pk, SEAT_MOVED, text)], (*OF_A_TURN, SEAT_MOVED)
    write(game, intents, now=now, mover=person.pk, settled=settled, reason=Reason.STAFF, mark=mark)


def settled(case: Case, *, now: datetime) -> None:
    """Tell everybody who reported in this case that it is closed, and how; not who it is about, nor the answer."""
    people = Report.objects.filter(case=case, reporter__isnull=False).values_list("reporter_id", flat=True)
    outcome = case.get_outcome_display()
    text = f"Staff have settled your report: {outcome[0].lower()}{outcome[1:]}."
    write(None, [Intent(pk, REPORT_SETTLED, text) for pk in sorted({*people} - {None})], now=now, mark=case.pk)


def factor_dropped(person: User, *, mark: int, now: datetime) -> None:
    """Tell this person that staff took the second factor away. `mark` is the number of the act's audit entry."""
    text = (
        "Staff took your second factor away: your password alone lets you in. If you did not ask for that, change it "
        "and set up another factor."
    )
    write(None, [Intent(person.pk, FACTOR_DROPPED, text)], now=now, mark=mark)
