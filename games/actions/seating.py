"""Change who owns a seat and who plays for it: its owner, or a bot for the owner.

The caller holds the game's lock. Every function saves what it changes. None of these changes is a move, because they
change no card.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final

from accounts.models import User
from common.say import N_
from games import announce, queries
from games.actions import table_events, table_limits
from games.actions.programs import may_sit
from games.clocks import pausing
from games.clocks.bot_times import BOT_FIELDS, first_bot_times, orders_time, set_bot_times
from games.clocks.turn_clock import CLOCK_FIELDS, set_clock, turn_clock
from games.models import Game, Seat, TableEvent
from games.queries import Table
from games.refusals import Denied, over

STAND_IN_BOT: Final = "careful"
"""The kind of bot that plays for an absent owner."""


def replace_by_bot(table: Table, *, seat: int, now: datetime, bot: str = STAND_IN_BOT) -> None:
    """Let a bot play for this seat's owner, who can take the seat back.

    :raises Denied: `not_started`, `over`, `bot_plays` if a bot plays it already, `forbidden` if its player has left.
    """
    pausing.require_playing(table)
    row, version = table.seats[seat], table.game.version
    if row.bot:
        raise Denied("bot_plays", "A bot already plays this seat.", version=version)
    if row.left:
        raise Denied("forbidden", "This player has left the game.", version=version)
    row.bot, row.misses = bot, 0
    row.save(update_fields=["bot", "misses"])
    _hand_over(table, row, now)


def give_back(table: Table, *, seat: int, now: datetime) -> None:
    """Let the owner of a seat play it again instead of the bot. If it is the seat's turn, the turn's time restarts.

    :raises Denied: `not_started`, `over`, `forbidden` if no bot plays for an owner there.
    """
    pausing.require_playing(table)
    row = table.seats[seat]
    if not row.held_for_owner:
        raise Denied("forbidden", "No bot plays for the owner of this seat.", version=table.game.version)
    row.bot, row.misses = "", 0
    row.save(update_fields=["bot", "misses"])
    _hand_over(table, row, now)


def change_owner(table: Table, row: Seat, *, person: User, now: datetime) -> None:
    """Give this seat of a person or a bot to another person. Before the start, the host's seat brings the table along.

    The new owner starts without standing orders. The hand with which the seat was knocked out is not shown to them.
    If it is the seat's turn, its time restarts, with the new owner's quiet hours and vacation.

    :raises Denied: `over`; `forbidden` if its player has left, a program plays for the person and none may sit at the
        table, or the person has as many tables as `table_limits` allows.
    """
    game, hosts = table.game, row.user_id is not None and row.user_id == table.game.host_id
    if game.ended:
        raise over(game.version, begun=game.started_at is not None)
    if row.left:
        raise Denied("forbidden", "This player has left the game.", version=game.version)
    if not may_sit(person, programs=game.programs):
        sentence = N_("A program plays for {name}, and no programs play at this table. Give the seat to someone else.")
        raise Denied("forbidden", sentence, version=game.version, name=person.name)
    if table_limits.room_for(person) == 0:
        sentence = N_("{name} has the maximum number of tables. Give the seat to someone else.")
        raise Denied("forbidden", sentence, version=game.version, name=person.name)
    row.user, row.name, row.time_off = person, person.name, person.time_off
    row.bot, row.misses, row.orders = "", 0, None
    row.save(update_fields=["user", "name", "bot", "misses", "orders"])
    if game.status == Game.Status.PLAYING:
        _forget_lost_hand(table, row)
        _hand_over(table, row, now)
        return
    people_changed(game, now=now)
    if hosts:
        change_host(game, user_id=person.pk, now=now)
    announce.changed(game)


def _forget_lost_hand(table: Table, row: Seat) -> None:
    """Delete the hand with which a seat was knocked out. Until the round is over, only its player may see it."""
    hand = table.started.hands[row.index]
    if hand.lost:
        hand.lost, hand.lost_side = [], ""
        hand.save(update_fields=["lost", "lost_side"])


def people_changed(game: Game, *, now: datetime) -> None:
    """Store when a person last joined or left this open table. A guest who is alone then waits for a day at most."""
    game.people_changed_at = now
    game.save(update_fields=["people_changed_at"])
    announce.rematch_changed(game)


def change_host(*games: Game, user_id: int | None, now: datetime) -> None:
    """Give tables to another host, and delete the keys of the forms that created them.

    A form that is sent again must not lead to a table that its sender does not host any more.
    """
    host = None if user_id is None else User.objects.get(pk=user_id)
    by_new_account = host is not None and host.is_new_account(now)
    for game in games:
        game.host_id, game.hosted_by_new_account = user_id, by_new_account
        game.form_key, game.form_guest_id = None, None
    Game.objects.bulk_update(games, ["host", "hosted_by_new_account", "form_key", "form_guest"])


def require_no_bot(table: Table, *, seat: int) -> None:
    """Raise Denied if a bot plays this seat.

    :raises Denied: `bot_plays`.
    """
    if table.seats[seat].bot:
        sentence = N_("A bot plays for you: take your seat back first.")
        raise Denied("bot_plays", sentence, rule="CLOCK-3", version=table.game.version)


def _hand_over(table: Table, row: Seat, now: datetime) -> None:
    """Update the game after a seat's owner or player has changed. If it is the seat's turn, its time restarts."""
    game, position = table.game, table.started.position
    if position.turn == row.index and position.phase != "buzz":  # the time of a race is for all seats
        set_clock(game, turn_clock(table, position, now))
    orders_at = orders_time(table, position, now) if position.turn == row.index else game.orders_at
    set_bot_times(game, first_bot_times(table, position, now, orders_at=orders_at))
    game.save(update_fields=[*BOT_FIELDS, *CLOCK_FIELDS])
    announce.changed(game)
    voters_changed(table, now=now)


def voters_changed(table: Table, *, now: datetime) -> None:
    """Clear the votes for a pause after the voters have changed, and end an agreed pause if no voter is left.

    Leaves pauses by staff alone. The caller holds the game's lock.
    """
    game = table.game
    if game.status != Game.Status.PLAYING:
        return
    if game.pause_votes:
        game.pause_votes = []
        game.save(update_fields=["pause_votes"])
    if not queries.pause_voters(table) and pausing.resume(table, reason=Game.PAUSED_BY_CONSENT, now=now):
        table_events.record(TableEvent.Kind.PAUSE_ABANDONED, game=game, now=now)
