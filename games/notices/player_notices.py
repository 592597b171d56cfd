"""Who is to be told what: one statement beside the move, the deal or the lobby's change that there is to tell.

Here notices are only written. `notices/outbox.py` looks again when they are due, and shows or sends them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

import structlog
from django.db.models import Q

from common.fixed_sql import prepared_cursor
from games import rules
from games.models import Game, Seat
from games.models.notices import EMAIL, SITE, Notice
from games.notices.kinds import (
    BOT_TOOK_OVER,
    CAUGHT,
    CHANNELS,
    DAY_TAKEN,
    GAME_OVER,
    INVITED,
    KINDS,
    OF_A_TURN,
    OUT,
    ROUND_OVER,
    TABLE_FULL,
    TAKEN_OUT,
    TURN,
    Reason,
)
from games.queries import Table
from games.render.words import counted, listed

log = structlog.get_logger(__name__)

ASKED_AGAIN: Final = timedelta(days=1)
"""How long after a mailed invitation further ones from the same person are shown only on the site."""

if TYPE_CHECKING:
    from accounts.models import User


@dataclass(frozen=True, slots=True)
class Intent:
    """Somebody is to be told something; `text` says what happened, in that person's voice and without a card's name."""

    user_id: int
    kind: str
    text: str = ""


# The move's own notices, and what it makes needless: the mover's open ones at this table. Mail to guests is not even
# meant: they have no address. What somebody has switched off is written as not sent, so that its reader can see why.
_TELL: Final = """
WITH settled AS (
    UPDATE games_notice SET state = 'dropped', reason = %(reason)s, since = %(now)s
    WHERE user_id = %(mover)s AND game_id = %(game)s AND kind = ANY(%(settled)s) AND state = 'waiting'
), seen AS (
    UPDATE games_notice SET read_at = %(now)s
    WHERE user_id = %(mover)s AND game_id = %(game)s AND kind = ANY(%(settled)s)
      AND channel = 'site' AND state = 'sent' AND read_at IS NULL
)
INSERT INTO games_notice
    (user_id, game_id, version, kind, channel, mark, text, state, reason, created_at, due_at, since, tries)
SELECT u.id, %(game)s, %(version)s, i.kind, i.channel, %(mark)s, left(i.text, 300),
       CASE WHEN wants.it THEN 'waiting' ELSE 'dropped' END, CASE WHEN wants.it THEN '' ELSE 'off' END,
       %(now)s, i.due_at, %(now)s, 0
FROM unnest(%(users)s::bigint[], %(kinds)s::text[], %(channels)s::text[], %(usual)s::boolean[], %(texts)s::text[],
            %(dues)s::timestamptz[]) WITH ORDINALITY AS i (user_id, kind, channel, usual, text, due_at, n)
JOIN accounts_user u ON u.id = i.user_id
LEFT JOIN games_noticesettings s ON s.user_id = u.id
CROSS JOIN LATERAL (SELECT COALESCE((s.choices ->> (i.kind || '.' || i.channel))::boolean, i.usual) AS it) wants
WHERE NOT (u.is_guest AND i.channel = 'email')
ORDER BY i.n
ON CONFLICT DO NOTHING
"""


def write(
    game: Game | None,
    intents: Iterable[Intent],
    *,
    now: datetime,
    mover: int | None = None,
    settled: Collection[str] = (),
    reason: Reason = Reason.MOVED,
    mark: int = 0,
) -> None:
    """Write these notices, through every channel, in the transaction of what they tell of. One statement, or none.

    Of the kinds `settled`, what still waits for the person `mover` at this table is dropped for this `reason`, and what
    was shown is read. Writing the same notice (person, game, version, kind, channel, `mark`) again changes nothing.
    What is about no table has no `game`.
    """
    rows = [(intent, channel) for intent in intents for channel in CHANNELS]
    if not rows and mover is None:
        return
    parameters: dict[str, Any] = {
        "game": game.pk if game else None,
        "version": game.version if game else 0,
        "mark": mark,
        "now": now,
        "mover": mover,
        "settled": list(settled),
        "reason": reason,
        "users": [intent.user_id for intent, _ in rows],
        "kinds": [intent.kind for intent, _ in rows],
        "channels": [channel for _, channel in rows],
        "usual": [channel in KINDS[intent.kind].channels for intent, channel in rows],
        "texts": [intent.text for intent, _ in rows],
        "dues": [now + KINDS[intent.kind].wait for intent, _ in rows],
    }
    with prepared_cursor() as cursor:
        cursor.execute(_TELL, parameters)


def move(table: Table, events: Iterable[rules.Event], *, seat: int, own: bool, new_turn: bool, now: datetime) -> None:
    """What a move that is saved has to tell. Who made it as one's `own` has seen the table: is told nothing but of a
    further turn, for the page may be closed by then, and of a game that ended by leaving it; all other news of this
    table is settled. If the clock or staff did, the seat is told, and settled is but a turn that is over; that it was
    taken out of the game is for them to tell.

    The caller holds the lock; `table` holds the position after it, and the end of the game if it was the last move.
    """
    events = tuple(events)
    intents = [*_of_events(table, events), *_of_the_end(table, events)]
    if new_turn:
        intents += of_turn(table)
    mover = None if table.seats[seat].bot else table.seats[seat].user_id
    if own:
        left = any(event.kind == "left" for event in events)
        own_news = {TURN, GAME_OVER} if left else {TURN}
        intents = [one for one in intents if one.user_id != mover or one.kind in own_news]
    elif not new_turn:
        mover = None
    reason = Reason.MOVED if own else Reason.MOVED_ON
    write(table.game, intents, now=now, mover=mover, settled=tuple(KINDS) if own else OF_A_TURN, reason=reason)


def deal(table: Table, *, now: datetime) -> None:
    """Tell whoever begins the round that was just dealt. The caller holds the lock."""
    write(table.game, of_turn(table), now=now)


def resumed(table: Table, *, now: datetime) -> None:
    """Tell whose turn it is so anew, as a pause has ended by itself. The caller holds the lock."""
    write(table.game, of_turn(table), now=now, mark=int(now.timestamp()))


def start(table: Table, *, by: int, now: datetime) -> None:
    """Tell everybody but the person `by` who started it that the game has begun, and whose turn it is. Lock held."""
    names = {seat.index: seat.name for seat in table.seats}
    intents = []
    for seat in _people(table):
        others = listed([name for index, name in names.items() if index != seat.index])
        if seat.user_id is not None and seat.user_id != by:
            intents.append(Intent(seat.user_id, TABLE_FULL, f"Your game with {others} has begun."))
    write(table.game, [*intents, *of_turn(table)], now=now)


def invited(game: Game, people: Collection[int], *, asker: User, now: datetime) -> None:
    """Tell these people that `asker` asks them for a rematch at this table. Each gets at most one such mail a day.

    What they were told of `asker`'s tables that have closed meanwhile is deleted: otherwise somebody who asks again and
    again could fill another person's list with it.
    """
    earlier = Notice.objects.filter(user__in=people, kind=INVITED, mark=asker.pk, game__status=Game.Status.VOID)
    earlier.filter(Q(channel=SITE) | Q(state=Notice.State.DROPPED)).delete()
    text = f"{asker.name} asks you for a rematch."
    mailed = Notice.objects.filter(kind=INVITED, channel=EMAIL, mark=asker.pk, created_at__gt=now - ASKED_AGAIN)
    again = set(mailed.filter(user__in=people).exclude(state=Notice.State.DROPPED).values_list("user_id", flat=True))
    write(game, [Intent(user_id, INVITED, text) for user_id in people], now=now, mark=asker.pk)
    mails = Notice.objects.filter(game=game, kind=INVITED, channel=EMAIL, user__in=again, state=Notice.State.WAITING)
    mails.update(state=Notice.State.DROPPED, reason=Reason.ASKED)


def closed_unstarted(table: Table, *, time: str, now: datetime) -> None:
    """Tell everybody who sits there that the table is closed after waiting for `time`, like "7 days". Lock held."""
    closed(table, f"Your table found too few players in {time}, so it is closed.", now=now)


def closed(table: Table, text: str, *, now: datetime) -> None:
    """Tell everybody who sits there, in this text, that nothing will be played there any more. Lock held."""
    people = [seat.user_id for seat in _people(table) if seat.user_id is not None]
    write(table.game, [Intent(user_id, GAME_OVER, text) for user_id in people], now=now)


def bot_took_over(table: Table, row: Seat, *, misses: int, now: datetime) -> None:
    """Tell the owner of this seat that a bot plays there, after so many turns that the clock played. Lock held."""
    assert row.user_id is not None
    text = f"You missed {_turns(misses)}, so a bot took your seat over."
    write(table.game, [Intent(row.user_id, BOT_TOOK_OVER, text)], now=now, mark=int(now.timestamp()))


def taken_out(table: Table, row: Seat, *, misses: int, now: datetime) -> None:
    """Tell whose seat this is that so many turns that the clock played were too many to stay in. Lock held."""
    assert row.user_id is not None
    text = f"You missed {_turns(misses)}, so you are out of the game."
    write(table.game, [Intent(row.user_id, TAKEN_OUT, text)], now=now)


def _turns(misses: int) -> str:
    return "your turn" if misses == 1 else f"{misses} turns in a row"


def day_taken(person: User, *, left: int, now: datetime) -> None:
    """Tell somebody that a day of vacation was taken instead of a miss, and how many are `left` this year."""
    days = counted(left, "day is", "days are")
    text = f"Your time ran out, so you are on vacation for a day: your clocks are stopped. {days} left this year."
    write(None, [Intent(person.pk, DAY_TAKEN, text)], now=now, mark=int(now.timestamp()))


def _people(table: Table) -> Sequence[Seat]:
    return [seat for seat in table.seats if seat.user_id is not None and not seat.left]


def of_turn(table: Table) -> list[Intent]:
    """That it is somebody's turn; not at a live table, where the turn would be over before a mail is read."""
    game, playing = table.game, table.playing
    if game.status != Game.Status.PLAYING or playing is None or playing.over:
        return []
    seat = table.on_turn
    if seat.user_id is None or seat.bot or game.terms.live:
        return []
    return [Intent(seat.user_id, TURN)]


def _of_events(table: Table, events: Iterable[rules.Event]) -> list[Intent]:
    """Being caught or knocked out, told to whom it happened, in the words of the log."""
    intents = []
    for event in events:
        kind, whom = {
            "caught": (CAUGHT, event.target),
            "knocked_out": (OUT, event.seat),
        }.get(event.kind, ("", None))
        user_id = table.seats[whom].user_id if whom is not None else None
        if user_id is not None:
            intents.append(Intent(user_id, kind, rules.sentence(event, whom, table.names)))
    return intents


def _of_the_end(table: Table, events: Sequence[rules.Event]) -> list[Intent]:
    """The end of a round of a match, or of the game, told to everybody who sits there; the game's also to whoever ended
    it by leaving.
    """
    won = next((event for event in events if event.kind == "won"), None)
    if won is None:
        return []
    over = table.game.status == Game.Status.OVER
    leavers = {event.seat for event in events if event.kind == "left"} if over else set()
    return [
        Intent(seat.user_id, GAME_OVER if over else ROUND_OVER, _result(table, won, seat.index))
        for seat in table.seats
        if seat.user_id is not None and (not seat.left or seat.index in leavers)
    ]


def _result(table: Table, won: rules.Event, reader: int) -> str:
    game, names = table.game, table.names
    if game.winner is None:
        return f"Round {table.started.round.number}: {rules.sentence(won, reader, names)}"
    what = "match" if game.target else "game"
    return f"You win the {what}." if game.winner == reader else f"{names[game.winner]} wins the {what}."
