"""What happens when time runs out, what stops a clock, and what moves it.

All but `run_out` work on a table whose game row the caller has locked, and save what they change. Pauses, extensions
and seats that change hands are no log lines: they change no card. The clock's moves are, so that every game replays.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import Enum, auto
from typing import TYPE_CHECKING, Final

import structlog
from django.conf import settings
from django.db import transaction

from games import announce, queries, rules
from games.actions import vacations
from games.actions.commit import commit
from games.actions.locks import lock_game
from games.actions.next_round import deal_next
from games.actions.timing import CLOCK_FIELDS, TurnClock, aimed, first_wake, set_clock, turn_clock
from games.models import Game, Hand, Seat
from games.queries import Table
from games.refusals import Denied

if TYPE_CHECKING:
    from accounts.models import User

log = structlog.get_logger(__name__)

STAND_IN: Final = "careful"
LONGEST_EXTENSION: Final = timedelta(days=60)


class Struck(Enum):
    """What `strike` found: nothing due, the clock has acted or was moved, or a day of vacation is to be tried first."""

    NOTHING = auto()
    ACTED = auto()
    VACATION = auto()


def is_due(table: Table, now: datetime) -> bool:
    """Whether the clock has something to do at this table, by the database's time."""
    game, moment = table.game, now + table.game.skew
    if game.status != Game.Status.PLAYING or game.paused_at is not None or table.position is None:
        return False
    if game.deadline is not None and game.deadline <= moment:
        return True
    return any(hand.callout_until is not None and hand.callout_until <= moment for hand in table.hands or ())


def run_out(*, game_id: int, now: datetime) -> bool:
    """Let the clock act where a move came too late; says whether it did.

    While the sweep is away nobody is too late: what it missed is given back when it returns.
    """
    if queries.sweep_is_stale(now, grace=timedelta(seconds=settings.SWEEP_GRACE_SECONDS)):
        log.error("the sweep is stale: deadlines are not held", game=game_id)
        return False
    with transaction.atomic():
        table = queries.load(lock_game(pk=game_id))
        struck = strike(table, now=now)
    return conclude(table, struck, now=now)


def conclude(table: Table, struck: Struck, *, now: datetime) -> bool:
    """What follows on `strike` in transactions of its own: a day of vacation, or the next deal."""
    game_id = table.game.pk
    if struck is Struck.VACATION:
        assert table.position is not None
        user_id = table.seats[table.position.turn].user_id
        if user_id is not None and vacations.take_a_day(user_id=user_id, now=now):
            return True
        with transaction.atomic():
            table = queries.load(lock_game(pk=game_id))
            struck = strike(table, now=now, vacation=False)
    if table.position is not None and table.position.phase == "over":
        deal_next(game_id=game_id, now=now)
    return struck is Struck.ACTED


def strike(table: Table, *, now: datetime, vacation: bool = True) -> Struck:
    """Close the callout windows whose time has passed (CLOCK-2), then play for whose time has run out (CLOCK-1).

    A deadline that has come to fall in its player's vacation or quiet hours moves instead. With `vacation` a player who
    takes days of vacation instead of misses is left alone. The caller holds the lock.
    """
    if not is_due(table, now):
        return Struck.NOTHING
    game, moment = table.game, now + table.game.skew
    deadline = game.deadline
    turn_is_over = deadline is not None and deadline <= moment
    _, hands, _ = table.playing
    for hand in hands:
        until = hand.callout_until
        # A window that the turn's end closes anyway needs no line of its own.
        if until is not None and until <= moment and (deadline is None or not turn_is_over or until < deadline):
            commit(table, hand.seat.index, [rules.Move("uno", clock=True)], now=now)
    if not turn_is_over or _rested(table, now):
        return Struck.ACTED
    seat = table.seats[table.playing[2].turn]
    if vacation and seat.rest is not None and seat.rest.auto_vacation and not game.terms.live:
        return Struck.VACATION
    commit(table, seat.index, default_moves(table), now=now)
    _answer_misses(table, seat, now)
    return Struck.ACTED


def default_moves(table: Table) -> list[rules.Move]:
    """The clock's moves for the seat on turn: one, or a draw and the play of what it found (CLOCK-1)."""
    round_, _, position = table.playing
    seat, options = position.turn, table.options
    first = rules.default_move(position, seat, options)
    shuffle = rules.Shuffler(bytes(round_.secret)).shuffle
    after, _ = rules.apply(position, seat, first, options, shuffle)
    if after.phase == "drawn":
        return [first, rules.default_move(after, seat, options)]
    return [first]


def _rested(table: Table, now: datetime) -> bool:
    """Move a deadline that passed in its player's vacation or quiet hours; says whether it lies ahead now."""
    game, seat = table.game, table.seats[table.playing[2].turn]
    assert game.deadline is not None
    if seat.rest is None or game.terms.live:
        return False
    since, deadline = game.turn_since or game.deadline, game.deadline
    if seat.rest.away(now) and seat.rest.vacation_from is not None:
        shift = seat.rest.back(now) - max(since, seat.rest.vacation_from)
        since, deadline = since + shift, deadline + shift
    clock = aimed(game, seat, deadline=deadline, since=since, quiet_given=game.quiet_given, now=now)
    if clock.deadline is None or clock.deadline <= now + game.skew:
        return False
    _save_clock(table, clock)
    return True


def _answer_misses(table: Table, seat: Seat, now: datetime) -> None:
    """After the last miss that the table allows a bot takes the seat, or its player leaves (CLOCK-3).

    If the round is over, the player leaves with the next deal.
    """
    game = table.game
    if seat.misses < game.misses_allowed or game.status != Game.Status.PLAYING:
        return
    if game.after_misses == Game.AfterMisses.BOT:
        replace_by_bot(table, seat=seat.index, now=now)
    elif seat.index not in table.playing[2].out and table.playing[2].phase != "over":
        commit(table, seat.index, [rules.Move("leave")], now=now, by_person=False)


def replace_by_bot(table: Table, *, seat: int, now: datetime, bot: str = STAND_IN) -> None:
    """Let a bot play for this seat's owner, who can take the seat back.

    :raises Denied: `over`, `bot_plays` if a bot has it already, `forbidden` if its player has left.
    """
    require_playing(table)
    row, version = table.seats[seat], table.game.version
    if row.bot:
        raise Denied("bot_plays", "A bot plays this seat already.", version=version)
    if row.left:
        raise Denied("forbidden", "This player has left the game.", version=version)
    row.bot, row.misses = bot, 0
    _hand_over(table, row, now)


def give_back(table: Table, *, seat: int, now: datetime) -> None:
    """Let the owner of a seat play again instead of the bot; a turn of the seat begins anew.

    :raises Denied: `over`, `forbidden` if no bot plays for an owner there.
    """
    require_playing(table)
    row = table.seats[seat]
    if not row.held_for_owner:
        raise Denied("forbidden", "No bot plays for the owner of this seat.", version=table.game.version)
    row.bot, row.misses = "", 0
    _hand_over(table, row, now)


def change_owner(table: Table, *, seat: int, person: User, now: datetime) -> None:
    """Give a seat of a running game, whoever or whatever has it, to this person; a turn of the seat begins anew, in the
    person's own nights and vacations.

    :raises Denied: `over`, `not_started`; `forbidden` if its player has left.
    """
    require_playing(table)
    row = table.seats[seat]
    if row.left:
        raise Denied("forbidden", "This player has left the game.", version=table.game.version)
    row.user, row.name, row.rest = person, person.name, person.rest
    row.bot, row.misses = "", 0
    row.save(update_fields=["user", "name"])
    _hand_over(table, row, now)


def _hand_over(table: Table, row: Seat, now: datetime) -> None:
    """Save a seat that has changed hands; its turn, if it has it, begins anew, and a pause must be agreed on anew."""
    game, position = table.game, table.playing[2]
    row.save(update_fields=["bot", "misses"])
    if position.turn == row.index:
        set_clock(game, turn_clock(table, position, now))
    game.wake_at, game.pause_votes = first_wake(table, position, now), []
    game.save(update_fields=["wake_at", "pause_votes", *CLOCK_FIELDS])
    announce.after_commit(game)


def pause(table: Table, *, reason: str, now: datetime) -> bool:
    """Stop the clock for this reason too; says whether it was not paused for it already.

    The deadline is kept as time left. Nothing is due while any reason stands, and callout windows do not run out.

    :raises Denied: `over`, `not_started`.
    """
    require_playing(table)
    game = table.game
    if reason in game.paused_reasons:
        return False
    game.paused_reasons = sorted([*game.paused_reasons, reason])
    if game.paused_at is None:
        game.paused_at = now
        if game.deadline is not None:
            game.time_left = max(timedelta(), game.deadline - _runs_from(table, now))
        game.deadline = game.remind_at = game.wake_at = None
    game.pause_votes = []
    game.save(update_fields=["paused_reasons", "paused_at", "pause_votes", "wake_at", *CLOCK_FIELDS])
    announce.after_commit(game)
    return True


def resume(table: Table, *, reason: str, now: datetime) -> bool:
    """Take a reason to pause away; with the last one the clock runs on where it stood. Says whether the reason stood.

    :raises Denied: `over`, `not_started`.
    """
    require_playing(table)
    game = table.game
    if reason not in game.paused_reasons:
        return False
    game.paused_reasons = [other for other in game.paused_reasons if other != reason]
    if not game.paused_reasons and game.paused_at is not None:
        _run_on(table, game.paused_at, now)
    game.save(update_fields=["paused_reasons", "paused_at", "wake_at", *CLOCK_FIELDS])
    announce.after_commit(game)
    return True


def _run_on(table: Table, paused_at: datetime, now: datetime) -> None:
    game, (_, hands, position) = table.game, table.playing
    seat, runs_from = table.seats[position.turn], _runs_from(table, now)
    if game.time_left is not None:
        ran = max(timedelta(), paused_at - (game.turn_since or paused_at))
        deadline = runs_from + game.time_left
        set_clock(
            game,
            aimed(game, seat, deadline=deadline, since=runs_from - ran, quiet_given=game.quiet_given, now=now),
        )
    game.paused_at = None
    for hand in hands:
        if hand.callout_until is not None:
            hand.callout_until += now - paused_at
    Hand.objects.bulk_update(hands, ["callout_until"])
    game.wake_at = first_wake(table, position, now)


def extend(table: Table, *, seconds: int, now: datetime) -> None:
    """Give the turn that runs, or stands still in a pause, more time.

    :raises Denied: `over`, `not_started`, `malformed` for less than a second or more than 60 days, `forbidden` if
        nobody's clock is on.
    """
    require_playing(table)
    game, more = table.game, timedelta(seconds=seconds)
    if not timedelta(seconds=1) <= more <= LONGEST_EXTENSION:
        raise Denied("malformed", "A clock can be extended by 1 second to 60 days.", version=game.version)
    if game.deadline is not None:
        seat = table.seats[table.playing[2].turn]
        since, given = game.turn_since or now, game.quiet_given
        _save_clock(table, aimed(game, seat, deadline=game.deadline + more, since=since, quiet_given=given, now=now))
    elif game.time_left is not None:
        game.time_left += more
        game.save(update_fields=["time_left"])
        announce.after_commit(game)
    else:
        raise Denied("forbidden", "Nobody's clock is on now: a bot is on turn.", version=game.version)


def forgive_misses(table: Table, *, seat: int) -> bool:
    """Take the turns that the clock has played off this seat's count (CLOCK-3), and give the first bank back.

    Says whether there was one. The turn that runs is not touched: see `extend`.
    """
    row = table.seats[seat]
    if not row.misses:
        return False
    row.misses, row.bank = 0, max(row.bank, table.game.terms.bank)
    row.save(update_fields=["misses", "bank"])
    announce.after_commit(table.game)
    return True


def _runs_from(table: Table, now: datetime) -> datetime:
    """When the clock of the seat on turn runs: now, or after its player's vacation."""
    seat = table.seats[table.playing[2].turn]
    return now if seat.rest is None or table.game.terms.live else seat.rest.back(now)


def _save_clock(table: Table, clock: TurnClock) -> None:
    set_clock(table.game, clock)
    table.game.save(update_fields=list(CLOCK_FIELDS))
    announce.after_commit(table.game)


def require_playing(table: Table) -> None:
    """Refuse what only a running game has.

    :raises Denied: `not_started`, `over`.
    """
    status, version = table.game.status, table.game.version
    if status == Game.Status.OPEN:
        raise Denied("not_started", "The game has not started yet.", version=version)
    if status != Game.Status.PLAYING:
        raise Denied("over", "The game is over.", rule="END-1", version=version)
