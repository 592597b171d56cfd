"""Write notices about moves, deals and tables, in one statement in the transaction of the event.

`notices/outbox.py` checks them again when they are due, and shows or sends them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final

import structlog
from django.db.models import Q, QuerySet
from psycopg.types.json import Jsonb

from accounts.zones import day_and_time
from common.fixed_sql import prepared_cursor
from games import rules
from games.models import AuditEntry, Game, Seat
from games.models.notices import EMAIL, SITE, TEXT_LENGTH, Notice
from games.notices.kinds import (
    BOT_TOOK_OVER,
    CASE_HANDED_OVER,
    CAUGHT,
    CHANNELS,
    DAY_TAKEN,
    GAME_OVER,
    HOST_CHANGED,
    INVITED,
    KINDS,
    LINK_CHANGED,
    OUT,
    ROUND_OVER,
    SEAT_MOVED,
    TABLE_FULL,
    TAKEN_OUT,
    TURN,
    TURN_KINDS,
    Reason,
)
from games.queries import Table
from games.render.log_rows import sentence_case
from games.render.words import counted, listed, of_bot, who_wins

log = structlog.get_logger(__name__)

ASKED_AGAIN: Final = timedelta(days=1)
"""How long after an invitation by mail further ones from the same person are only shown on the site."""

BY_STAFF: Final = (CASE_HANDED_OVER, HOST_CHANGED, LINK_CHANGED, SEAT_MOVED)
"""The kinds of notices about acts of staff. Their `occasion` is the number of the act's audit entry."""

if TYPE_CHECKING:
    from accounts.models import User


@dataclass(frozen=True, slots=True)
class NewNotice:
    """A notice to write. `text` addresses the reader as "you" and names no card.

    `said` and `facts` are as in the row.
    """

    user_id: int
    kind: str
    text: str = ""
    said: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)


# Inserts the new notices, drops the mover's waiting ones at this table, and marks those shown as read. Guests get no
# rows for mail, because they have no address. What a person has switched off is stored as dropped, so that they can see
# why nothing came. The kind is compared by `array_position`: with `= ANY` the planner, as long as it has no statistics,
# takes the index `notice_once`, and a move of a long game reads all notices of its player there.
_WRITE: Final = """
WITH settled AS (
    UPDATE games_notice SET
        state = CASE state WHEN 'waiting' THEN 'dropped' ELSE state END,
        reason = CASE state WHEN 'waiting' THEN %(reason)s ELSE reason END,
        since = CASE state WHEN 'waiting' THEN %(now)s ELSE since END,
        read_at = CASE state WHEN 'sent' THEN %(now)s ELSE read_at END
    WHERE user_id = %(mover)s AND game_id = %(game)s AND array_position(%(settled)s::text[], kind::text) IS NOT NULL
      AND (state = 'waiting' OR (channel = 'site' AND state = 'sent' AND read_at IS NULL))
)
INSERT INTO games_notice
    (user_id, game_id, version, kind, channel, occasion, said, facts, text,
     state, reason, created_at, due_at, since, tries)
SELECT u.id, %(game)s, %(version)s, i.kind, i.channel, %(occasion)s, i.said, i.facts, left(i.text, %(longest)s),
       CASE WHEN wants.it THEN 'waiting' ELSE 'dropped' END, CASE WHEN wants.it THEN '' ELSE 'off' END,
       %(now)s, i.due_at, %(now)s, 0
FROM unnest(%(users)s::bigint[], %(kinds)s::text[], %(channels)s::text[], %(usual)s::boolean[], %(said)s::text[],
            %(facts)s::jsonb[], %(texts)s::text[], %(dues)s::timestamptz[])
    WITH ORDINALITY AS i (user_id, kind, channel, usual, said, facts, text, due_at, n)
JOIN accounts_user u ON u.id = i.user_id
LEFT JOIN games_noticesettings s ON s.user_id = u.id
CROSS JOIN LATERAL (SELECT COALESCE((s.choices ->> (i.kind || '.' || i.channel))::boolean, i.usual) AS it) wants
WHERE NOT (u.is_guest AND i.channel = 'email')
ORDER BY i.n
ON CONFLICT DO NOTHING
"""


def write(
    game: Game | None,
    notices: Iterable[NewNotice],
    *,
    now: datetime,
    mover: int | None = None,
    settled: Collection[str] = (),
    reason: Reason = Reason.MOVED,
    occasion: int = 0,
) -> None:
    """Write these notices for every channel, in the caller's transaction. Runs one statement, or none.

    Writing the same notice (person, game, version, kind, channel, `occasion`) again changes nothing.

    :param game: the game that they are about, or None.
    :param mover: the id of a person whose earlier notices at this table are no longer needed.
    :param settled: the kinds of those. Waiting ones are dropped for this `reason`; those on the site are marked read.
    :param occasion: tells notices of the same kind and version apart.
    """
    rows = [(notice, channel) for notice in notices for channel in CHANNELS]
    if not rows and mover is None:
        return
    parameters: dict[str, Any] = {
        "game": game.pk if game else None,
        "version": game.version if game else 0,
        "occasion": occasion,
        "longest": TEXT_LENGTH,
        "now": now,
        "mover": mover,
        "settled": list(settled),
        "reason": reason,
        "users": [notice.user_id for notice, _ in rows],
        "kinds": [notice.kind for notice, _ in rows],
        "channels": [channel for _, channel in rows],
        "usual": [channel in KINDS[notice.kind].channels for notice, channel in rows],
        "said": [notice.said for notice, _ in rows],
        "facts": [Jsonb(notice.facts) for notice, _ in rows],
        "texts": [notice.text for notice, _ in rows],
        "dues": [now + KINDS[notice.kind].wait for notice, _ in rows],
    }
    with prepared_cursor() as cursor:
        cursor.execute(_WRITE, parameters)


def move(table: Table, events: Iterable[rules.Event], *, seat: int, own: bool, new_turn: bool, now: datetime) -> None:
    """Write the notices for a saved move. The caller holds the game's lock, and `table` has the position after it.

    If the player moved themselves (`own`), they have seen the table. They only get notices about another turn of theirs
    and about a game that ended because they left, and their older notices of this table are settled.

    If the clock or staff moved for them, they get all notices, and only those about a finished turn are settled. That
    the player was taken out of the game is a notice that the caller writes.
    """
    events = tuple(events)
    notices = [*_of_events(table, events), *_of_the_end(table, events)]
    if new_turn:
        notices += of_turn(table)
    mover = None if table.seats[seat].bot else table.seats[seat].user_id
    if own:
        left = any(event.kind == "left" for event in events)
        own_news = {TURN, GAME_OVER} if left else {TURN}
        notices = [one for one in notices if one.user_id != mover or one.kind in own_news]
    elif not new_turn:
        mover = None
    reason = Reason.MOVED if own else Reason.MOVED_ON
    write(table.game, notices, now=now, mover=mover, settled=tuple(KINDS) if own else TURN_KINDS, reason=reason)


def deal(table: Table, *, now: datetime) -> None:
    """Notify the player on turn in the round that was just dealt. The caller holds the game's lock."""
    write(table.game, of_turn(table), now=now)


def resumed(table: Table, *, now: datetime) -> None:
    """Notify the player on turn again after a pause has ended by itself. The caller holds the game's lock."""
    write(table.game, of_turn(table), now=now, occasion=int(now.timestamp()))


def start(table: Table, *, by: int, now: datetime) -> None:
    """Notify all people except `by` that the game has started, and the player on turn. The caller holds the lock."""
    names = {seat.index: seat.name for seat in table.seats}
    notices = []
    for seat in people_at(table):
        others = listed([name for index, name in names.items() if index != seat.index])
        if seat.user_id is not None and seat.user_id != by:
            notices.append(NewNotice(seat.user_id, TABLE_FULL, f"Your game with {others} has started."))
    write(table.game, [*notices, *of_turn(table)], now=now)


def invited(game: Game, people: Collection[int], *, asker: User, now: datetime) -> None:
    """Notify these people that `asker` invites them to a rematch at this table. Each gets at most one such mail a day.

    Deletes notices about earlier tables of `asker` that have closed. Otherwise a person could fill another person's
    list with repeated invitations.
    """
    earlier = Notice.objects.filter(user__in=people, kind=INVITED, occasion=asker.pk, game__status=Game.Status.VOID)
    earlier.filter(Q(channel=SITE) | Q(state=Notice.State.DROPPED)).delete()
    text = f"{asker.name} invites you to a rematch."
    mailed = Notice.objects.filter(kind=INVITED, channel=EMAIL, occasion=asker.pk, created_at__gt=now - ASKED_AGAIN)
    again = set(mailed.filter(user__in=people).exclude(state=Notice.State.DROPPED).values_list("user_id", flat=True))
    write(game, [NewNotice(user_id, INVITED, text) for user_id in people], now=now, occasion=asker.pk)
    mails = Notice.objects.filter(game=game, kind=INVITED, channel=EMAIL, user__in=again, state=Notice.State.WAITING)
    mails.update(state=Notice.State.DROPPED, reason=Reason.ASKED)


def closed_unstarted(table: Table, *, time: str, now: datetime) -> None:
    """Notify the people at a table that closed after waiting for `time`, like "7 days". The caller holds the lock."""
    closed(table, f"Your table was closed because not enough players joined within {time}.", now=now)


def closed(table: Table, text: str, *, now: datetime) -> None:
    """Notify the people at a table, in this text, that the game is over. The caller holds the game's lock."""
    people = [seat.user_id for seat in people_at(table) if seat.user_id is not None]
    write(table.game, [NewNotice(user_id, GAME_OVER, text) for user_id in people], now=now)


def replace_name(games: QuerySet[Game], *, before: str, after: str) -> None:
    """Replace the name of a person in the notices about these games, also in mails that have not been sent.

    Names are found as whole words.
    """
    _replace_word(Notice.objects.filter(game__in=games), before, after)


def replace_name_elsewhere(person: User, *, before: str, after: str) -> None:
    """Replace a name of this person in notices about games in which they have no seat, as `replace_name` does.

    These are notices of their invitations, and of acts of staff by them or about them. Notices that only have the same
    word must not change.
    """
    about = Q(person=person.pk) | Q(actor=person.pk) | Q(details__before_id=person.pk)
    entries = AuditEntry.objects.filter(about).order_by().values("pk")
    theirs = Q(kind=INVITED, occasion=person.pk) | Q(kind__in=BY_STAFF, occasion__in=entries)
    _replace_word(Notice.objects.filter(theirs), before, after)


def _replace_word(notices: QuerySet[Notice], before: str, after: str) -> None:
    word = re.compile(rf"(?<!\w){re.escape(before)}(?!\w)")
    # Locked in the order of their ids, so that two replacements cannot deadlock.
    found = notices.select_for_update(of=("self",), no_key=True).filter(text__contains=before).only("pk", "text")
    rows = list(found.order_by("pk"))
    for row in rows:
        row.text = word.sub(lambda _: after, row.text)[:TEXT_LENGTH]
    Notice.objects.bulk_update(rows, ["text"], batch_size=1000)


def bot_took_over(table: Table, row: Seat, *, misses: int, now: datetime) -> None:
    """Notify the owner of this seat that a bot took it over after this many misses. The caller holds the lock."""
    assert row.user_id is not None
    text = f"You missed {_turns(misses)}, so a bot took over your seat."
    write(table.game, [NewNotice(row.user_id, BOT_TOOK_OVER, text)], now=now, occasion=int(now.timestamp()))


def taken_out(table: Table, row: Seat, *, misses: int, now: datetime) -> None:
    """Notify the owner of this seat that they are out after this many misses. The caller holds the game's lock."""
    assert row.user_id is not None
    text = f"You missed {_turns(misses)}, so you are out of the game."
    write(table.game, [NewNotice(row.user_id, TAKEN_OUT, text)], now=now)


def _turns(misses: int) -> str:
    return "your turn" if misses == 1 else f"{misses} turns in a row"


def day_taken(person: User, *, until: datetime, left: int, now: datetime) -> None:
    """Notify a person that a vacation day was used instead of a missed turn, and how many are `left` this year."""
    days = counted(left, "day is", "days are")
    end = day_and_time(until, person.time_zone)
    text = f"Your time ran out, so a vacation day was used: your clocks are stopped until {end}. {days} left this year."
    write(None, [NewNotice(person.pk, DAY_TAKEN, text)], now=now, occasion=int(now.timestamp()))


def people_at(table: Table) -> Sequence[Seat]:
    """Return the seats of the people who are still in the match, also if a bot plays for them."""
    return [seat for seat in table.seats if seat.user_id is not None and not seat.left]


def of_turn(table: Table) -> list[NewNotice]:
    """Return the notice to the player on turn; none at a live table, where a turn is over before a mail is read."""
    game, playing = table.game, table.playing
    if game.status != Game.Status.PLAYING or playing is None or playing.over:
        return []
    seat = table.on_turn
    if seat.user_id is None or seat.bot or game.terms.live:
        return []
    return [NewNotice(seat.user_id, TURN)]


_KINDS_OF_EVENTS: Final[dict[str, tuple[str, Callable[[rules.Event], int | None]]]] = {
    "caught": (CAUGHT, attrgetter("target")),
    "knocked_out": (OUT, attrgetter("seat")),
}
"""The kind of notice about an event of the rules, and the seat whose player gets it."""


def _of_events(table: Table, events: Iterable[rules.Event]) -> list[NewNotice]:
    """Return the notices about events in `_KINDS_OF_EVENTS`, with the sentence of the log."""
    notices = []
    for event in events:
        if event.kind not in _KINDS_OF_EVENTS:
            continue
        kind, seat_of = _KINDS_OF_EVENTS[event.kind]
        seat = seat_of(event)
        user_id = table.seats[seat].user_id if seat is not None else None
        if user_id is not None:
            notices.append(NewNotice(user_id, kind, rules.sentence(event, seat, table.names)))
    return notices


def _of_the_end(table: Table, events: Sequence[rules.Event]) -> list[NewNotice]:
    """Return notices about the end of a round or a game, for all players who are still in.

    The end of a game also goes to a player who ended it by leaving.
    """
    won = next((event for event in events if event.kind == "won"), None)
    if won is None:
        return []
    over = table.game.status == Game.Status.OVER
    leavers = {event.seat for event in events if event.kind == "left"} if over else set()
    return [
        NewNotice(seat.user_id, GAME_OVER if over else ROUND_OVER, _result(table, won, seat.index))
        for seat in table.seats
        if seat.user_id is not None and (not seat.left or seat.index in leavers)
    ]


def _result(table: Table, won: rules.Event, reader: int) -> str:
    game, winner = table.game, won.seat if table.game.winner is None else table.game.winner
    bot = table.seats[winner].held_for_owner
    if game.winner is None:
        names, you = of_bot(table.names, winner, reader) if bot else (table.names, reader)
        return f"Round {table.started.round.number}: {sentence_case(rules.sentence(won, you, names))}"
    what = "match" if table.options.is_match else "game"
    return f"{who_wins(table.names, winner, reader, bot=bot)} the {what}."
