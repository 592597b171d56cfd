"""Write notices about moves, deals and tables, in one statement in the transaction of the event.

`mail/outbox.py` checks them again when they are due, and shows or sends them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final

import structlog
from django.db.models import Q
from psycopg.types.json import Jsonb

from common.fixed_sql import prepared_cursor
from games import rules
from games.models import Game, Notice, Seat
from games.models.orders import orders_of
from games.notices import sentences
from games.notices.kinds import (
    BOT_TOOK_OVER,
    CAUGHT,
    DAY_TAKEN,
    GAME_OVER,
    HOOK_STOPPED,
    INVITED,
    KINDS,
    ORDERS_ENDED,
    OTHERS_TURN,
    OUT,
    ROUND_OVER,
    TABLE_FULL,
    TAKEN_OUT,
    TURN,
    TURN_KINDS,
)
from games.queries import Table
from mail.channels import CHANNELS
from mail.models import EMAIL, SITE, Hook
from mail.verdicts import Reason

log = structlog.get_logger(__name__)

ASKED_AGAIN: Final = timedelta(days=1)
"""How long after an invitation by mail further ones from the same person are only shown on the site."""

if TYPE_CHECKING:
    from accounts.models import User


@dataclass(frozen=True, slots=True)
class NewNotice:
    """A notice to write. `said` has the names of sentences of its kind, `facts` what they need."""

    user_id: int
    kind: str
    said: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)


# Inserts the new notices, drops the mover's waiting ones at this table, and marks those shown as read. People get rows
# only for channels that reach them. What a person has switched off is stored as dropped, so that they can see
# why nothing came. The game and the kind are not compared by `=` and `= ANY`: the planner, as long as it has no
# statistics, would take the index `notice_once`, and a move of a long game would read all notices of its player there.
_WRITE: Final = """
WITH settled AS (
    UPDATE mail_delivery SET
        state = CASE state WHEN 'waiting' THEN 'dropped' ELSE state END,
        reason = CASE state WHEN 'waiting' THEN %(reason)s ELSE reason END,
        since = CASE state WHEN 'waiting' THEN %(now)s ELSE since END,
        read_at = CASE state WHEN 'sent' THEN %(now)s ELSE read_at END
    WHERE user_id = %(mover)s AND game_id IS NOT DISTINCT FROM %(game)s
      AND (%(settled)s::text[] IS NULL OR array_position(%(settled)s::text[], kind::text) IS NOT NULL)
      AND (state = 'waiting' OR (channel = 'site' AND state = 'sent' AND read_at IS NULL))
)
INSERT INTO mail_delivery
    (user_id, game_id, version, kind, channel, occasion, said, facts, state, reason, created_at, due_at, since, tries)
SELECT u.id, %(game)s, %(version)s, i.kind, i.channel, %(occasion)s, i.said, i.facts,
       CASE WHEN wants.it THEN 'waiting' ELSE 'dropped' END, CASE WHEN wants.it THEN '' ELSE 'off' END,
       %(now)s, i.due_at, %(now)s, 0
FROM ROWS FROM (jsonb_to_recordset(%(rows)s) AS (
    user_id bigint, kind text, channel text, switch text, usual boolean, to_guests boolean, only_if text, said text,
    facts jsonb, due_at timestamptz
)) WITH ORDINALITY AS i (user_id, kind, channel, switch, usual, to_guests, only_if, said, facts, due_at, n)
JOIN accounts_user u ON u.id = i.user_id
LEFT JOIN games_noticesettings s ON s.user_id = u.id
CROSS JOIN LATERAL (SELECT COALESCE((s.choices ->> i.switch)::boolean, i.usual) AS it) wants
WHERE (i.to_guests OR NOT u.is_guest)
  AND CASE i.only_if WHEN 'has_push' THEN u.has_push WHEN 'has_hook' THEN u.has_hook ELSE true END
ORDER BY i.n
ON CONFLICT DO NOTHING
"""


def write(
    game: Game | None,
    notices: Iterable[NewNotice],
    *,
    now: datetime,
    mover: int | None = None,
    settled: Collection[str] | None = (),
    reason: Reason = Reason.MOVED,
    occasion: int = 0,
) -> None:
    """Write these notices in the caller's transaction, for each channel that they go by and that reaches their readers.

    Runs one statement, or none. Writing the same notice (person, game, version, kind, channel, `occasion`) again
    changes nothing.

    :param game: the game that they are about, or None.
    :param mover: the id of a person whose earlier notices at this table are no longer needed.
    :param settled: the kinds of those, None for all. Waiting ones are dropped for this `reason`; those on the site are
        marked read.
    :param occasion: tells notices of the same kind and version apart.
    """
    # One parameter, because psycopg needs as much time for each list as for all of this.
    rows = [
        {
            "user_id": notice.user_id,
            "kind": kind.name,
            "channel": channel.name,
            "switch": f"{kind.switch}.{channel.name}",
            "usual": kind.usual(channel.name),
            "to_guests": channel.to_guests,
            "only_if": channel.only_if,
            "said": notice.said,
            "facts": notice.facts,
            "due_at": (now + kind.wait_in(channel.name)).isoformat(),
        }
        for notice in notices
        for kind in (KINDS[notice.kind],)
        for channel in CHANNELS.values()
        if kind.goes_by(channel.name)
    ]
    if not rows and mover is None:
        return
    parameters: dict[str, Any] = {
        "game": game.pk if game else None,
        "version": game.version if game else 0,
        "occasion": occasion,
        "now": now,
        "mover": mover,
        "settled": None if settled is None else list(settled),
        "reason": reason,
        "rows": Jsonb(rows),
    }
    with prepared_cursor() as cursor:
        cursor.execute(_WRITE, parameters)


def move(
    table: Table,
    events: Iterable[rules.Event],
    *,
    seat: int,
    own: bool,
    new_turn: bool,
    without_orders: Sequence[Seat],
    now: datetime,
) -> None:
    """Write the notices for a saved move. The caller holds the game's lock, and `table` has the position after it.

    If the player moved themselves (`own`), they have seen the table. They only get notices about another turn of theirs
    and about a game that ended because they left, and their older notices of this table are settled.

    If the clock, staff or standing orders moved for them, they get all notices, and only those about a finished turn
    are settled. That the player was taken out of the game is a notice that the caller writes.

    :param without_orders: the seats whose orders for their own turn have ended.
    """
    events = tuple(events)
    notices = [*_of_events(table, events), *_of_orders(table, without_orders), *_of_the_end(table, events)]
    if new_turn:
        notices += of_turn(table)
    mover = None if table.seats[seat].bot else table.seats[seat].user_id
    if own:
        left = any(event.kind == "left" for event in events)
        own_news = {TURN, OTHERS_TURN, GAME_OVER} if left else {TURN, OTHERS_TURN}
        notices = [one for one in notices if one.user_id != mover or one.kind in own_news]
    elif not new_turn:
        mover = None
    reason = Reason.MOVED if own else Reason.MOVED_ON
    write(table.game, notices, now=now, mover=mover, settled=None if own else TURN_KINDS, reason=reason)


def hook_stopped(hook: Hook, *, now: datetime) -> None:
    """Notify a person that their hook has stopped, and why."""
    said, facts = ("stopped", hook.last_error), {"host": hook.host, "failures": hook.failures}
    notice = NewNotice(hook.user_id, HOOK_STOPPED, " ".join(said), facts)
    write(None, [notice], now=now, occasion=int(now.timestamp()))


def deal(table: Table, *, now: datetime) -> None:
    """Notify the player on turn in the round that was just dealt. The caller holds the game's lock."""
    write(table.game, of_turn(table), now=now)


def resumed(table: Table, *, now: datetime) -> None:
    """Notify the player on turn again after a pause has ended by itself. The caller holds the game's lock."""
    write(table.game, of_turn(table), now=now, occasion=int(now.timestamp()))


def start(table: Table, *, by: int, now: datetime) -> None:
    """Notify all people except `by` that the game has started, and the player on turn. The caller holds the lock."""
    preset = rules.PRESET_TITLES[table.game.preset]
    notices = []
    for seat in people_at(table):
        if seat.user_id is not None and seat.user_id != by:
            place = _place(table, seat)
            facts = {"rules": preset, "others": sentences.others(table, seat), "place": place}
            notices.append(NewNotice(seat.user_id, TABLE_FULL, _STARTED.get(place, "started later"), facts))
    write(table.game, [*notices, *of_turn(table)], now=now)


_STARTED: Final = {1: "started first", 2: "started second", 3: "started third"}
"""What is said to the players in the first places of the order of turns."""


def _place(table: Table, seat: Seat) -> int:
    """Return this seat's place in the order of turns of the round that was just dealt, from 1."""
    position = table.started.position
    return (seat.index - position.turn) * position.direction % len(table.seats) + 1


def invited(game: Game, people: Collection[int], *, asker: User, now: datetime) -> None:
    """Notify these people that `asker` invites them to a rematch at this table. Each gets at most one such mail a day.

    Deletes notices about earlier tables of `asker` that have closed. Otherwise a person could fill another person's
    list with repeated invitations.
    """
    earlier = Notice.objects.filter(user__in=people, kind=INVITED, occasion=asker.pk, game__status=Game.Status.VOID)
    earlier.filter(Q(channel=SITE) | Q(state=Notice.State.DROPPED)).delete()
    facts = {"player": sentences.people(asker.pk)}
    mailed = Notice.objects.filter(kind=INVITED, channel=EMAIL, occasion=asker.pk, created_at__gt=now - ASKED_AGAIN)
    again = set(mailed.filter(user__in=people).exclude(state=Notice.State.DROPPED).values_list("user_id", flat=True))
    write(game, [NewNotice(user_id, INVITED, "rematch", facts) for user_id in people], now=now, occasion=asker.pk)
    mails = Notice.objects.filter(game=game, kind=INVITED, channel=EMAIL, user__in=again, state=Notice.State.WAITING)
    mails.update(state=Notice.State.DROPPED, reason=Reason.ASKED)


def closed(table: Table, said: str, *, now: datetime, **facts: int) -> None:
    """Notify the people at a table, by this sentence, that the game is over. The caller holds the game's lock."""
    people = [seat.user_id for seat in people_at(table) if seat.user_id is not None]
    write(table.game, [NewNotice(user_id, GAME_OVER, said, facts) for user_id in people], now=now)


def bot_took_over(table: Table, row: Seat, *, now: datetime) -> None:
    """Notify the owner of this seat that a bot took it over after missed turns. The caller holds the game's lock."""
    assert row.user_id is not None
    write(table.game, [NewNotice(row.user_id, BOT_TOOK_OVER, "kept")], now=now, occasion=int(now.timestamp()))


def taken_out(table: Table, row: Seat, *, now: datetime) -> None:
    """Notify the owner of this seat that they are out after missed turns. The caller holds the game's lock."""
    assert row.user_id is not None
    write(table.game, [NewNotice(row.user_id, TAKEN_OUT, "out")], now=now)


def day_taken(person: User, *, until: datetime, left: int, now: datetime) -> None:
    """Notify a person that a vacation day was used instead of a missed turn, and how many are `left` this year."""
    facts = {"until": sentences.time(until), "days": left}
    write(None, [NewNotice(person.pk, DAY_TAKEN, "taken left", facts)], now=now, occasion=int(now.timestamp()))


def people_at(table: Table) -> Sequence[Seat]:
    """Return the seats of the people who are still in the match, also if a bot plays for them."""
    return [seat for seat in table.seats if seat.user_id is not None and not seat.left]


def of_turn(table: Table) -> list[NewNotice]:
    """Return the notices of a turn: to its player, and to the host if their hook gets the turns of others.

    At a live table there are none, because a turn is over before a mail is read. Runs one query if the host may have a
    hook.
    """
    game, playing = table.game, table.playing
    if game.status != Game.Status.PLAYING or playing is None or playing.over:
        return []
    seat = table.on_turn
    if seat.user_id is None or seat.bot or game.terms.live:
        return []
    notices = [NewNotice(seat.user_id, TURN)]
    if game.host_id not in (None, seat.user_id) and _host_hears_of_turns(table):
        notices.append(NewNotice(game.host_id, OTHERS_TURN, facts={"player": sentences.people(seat.user_id)}))
    return notices


def _host_hears_of_turns(table: Table) -> bool:
    """Return True if the host's hook works and gets the turns of others at this table."""
    game = table.game
    if any(seat.user_id == game.host_id and seat.has_hook is False for seat in table.seats):
        return False
    return Hook.objects.filter(user=game.host_id, user__has_hook=True, others_since__lte=game.created_at).exists()


_KINDS_OF_EVENTS: Final[dict[str, tuple[str, Callable[[rules.Event], int | None]]]] = {
    "caught": (CAUGHT, attrgetter("target")),
    "knocked_out": (OUT, attrgetter("seat")),
}
"""The kind of notice about an event of the rules, and the seat whose player gets it."""


def _of_events(table: Table, events: Iterable[rules.Event]) -> list[NewNotice]:
    """Return the notices about events in `_KINDS_OF_EVENTS`, which say what the log says."""
    told = [event for event in events if event.kind in _KINDS_OF_EVENTS]
    who = sentences.who_sits(table.game, table.seats) if told else []
    notices = []
    for event in told:
        kind, seat_of = _KINDS_OF_EVENTS[event.kind]
        reader = seat_of(event)
        user_id = table.seats[reader].user_id if reader is not None else None
        if reader is not None and user_id is not None:
            facts = {sentences.EVENT: sentences.event(who, event, reader=reader)}
            notices.append(NewNotice(user_id, kind, sentences.EVENT, facts))
    return notices


def _of_orders(table: Table, without_orders: Sequence[Seat]) -> list[NewNotice]:
    """Return the notices about orders that have ended; none if the game has."""
    if not without_orders or table.game.status != Game.Status.PLAYING:
        return []
    notices, who = [], sentences.who_sits(table.game, table.seats)
    for seat in without_orders:
        ended = orders_of(seat).ended
        if ended is not None and seat.user_id is not None:
            facts = {} if ended.seat is None else {"player": sentences.people(who[ended.seat])}
            notices.append(NewNotice(seat.user_id, ORDERS_ENDED, f"{ended.order} {ended.why}", facts))
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
    who = sentences.who_sits(table.game, table.seats)
    return [
        NewNotice(seat.user_id, GAME_OVER if over else ROUND_OVER, *_result(table, won, seat.index, who))
        for seat in table.seats
        if seat.user_id is not None and (not seat.left or seat.index in leavers)
    ]


_GAME_WON: Final = {
    (False, False): "won",
    (False, True): "won_by_bot",
    (True, False): "won_by_you",
    (True, True): "won_by_your_bot",
}
"""The second part of a sentence's name, by whether the winner is the reader, and whether a bot won for the winner."""


def _result(table: Table, won: rules.Event, reader: int, who: Sequence[sentences.Who]) -> tuple[str, dict[str, Any]]:
    """Return the sentences about the end of a round or a game, and their facts. `who` sits at the table."""
    game, winner = table.game, won.seat if table.game.winner is None else table.game.winner
    bot = table.seats[winner].held_for_owner
    if game.winner is None:
        event = sentences.event(who, won, reader=reader, bot=bot)
        return "over event", {"number": table.started.round.number, "event": event}
    length = "match" if table.options.is_match else "game"
    return f"{length}_{_GAME_WON[winner == reader, bot]}", {"player": sentences.people(who[winner])}
