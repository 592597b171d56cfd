"""What players of a running game can do besides moving: pause, continue, and take a seat back from a bot."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from django.db import transaction

from common.say import N_
from games import announce, queries
from games.actions import seating, table_events
from games.batch import for_each_game
from games.clocks import pausing
from games.locks import lock_game
from games.models import Game, TableEvent
from games.notices import player_notices, preferences
from games.notices.kinds import BOT_TOOK_OVER
from games.queries import Table, Viewer
from games.refusals import STOPPED, Denied
from mail.verdicts import Reason

if TYPE_CHECKING:
    from accounts.models import User


def ask_pause(*, code: str, viewer: Viewer[User], now: datetime) -> Table:
    """Vote for a pause. The clock stops when all players who are still in have voted.

    :raises Denied: `not_found`, `not_seated`, `not_started`, `over`, `forbidden` if the person has left the game,
        `bot_plays`, `paused`.
    """
    with transaction.atomic():
        table, seat = _voters_table(code, viewer)
        game = table.game
        if game.paused_at is not None:
            raise Denied(
                "paused", "The game is already paused. It goes on when someone resumes it.", version=game.version
            )
        votes = {*game.pause_votes, seat}
        if votes >= set(queries.pause_voters(table)):
            pausing.pause(table, reason=Game.PAUSED_BY_CONSENT, now=now)
            table_events.record(TableEvent.Kind.PAUSE_BEGAN, game=game, now=now)
        else:
            _save_votes(game, votes)
        return table


def resume(*, code: str, viewer: Viewer[User], now: datetime) -> Table:
    """Withdraw a vote for a pause, or resume a game that the players agreed to pause. One player is enough to end it.

    :raises Denied: as `ask_pause`, without `paused`; `forbidden` also if only staff can end this pause.
    """
    with transaction.atomic():
        table, seat = _voters_table(code, viewer)
        game = table.game
        if game.paused_reasons and Game.PAUSED_BY_CONSENT not in game.paused_reasons:
            by_staff = N_("Staff paused this game, and only they can resume it.")
            why = STOPPED if Game.PAUSED_BY_RESTORE in game.paused_reasons else by_staff
            raise Denied("forbidden", why, version=game.version)
        if pausing.resume(table, reason=Game.PAUSED_BY_CONSENT, now=now):
            table_events.record(TableEvent.Kind.PAUSE_ENDED, game=game, seat=seat, now=now)
        if seat in game.pause_votes:
            _save_votes(game, set(game.pause_votes) - {seat})
        return table


def end_old_pauses(*, now: datetime) -> int:
    """End the pauses that players agreed on at least `Game.LONGEST_PAUSE` ago; return how many were ended.

    Notifies the player on turn again. A game that fails is logged and tried again by the next call.
    """
    begun = now - Game.LONGEST_PAUSE
    paused = Game.objects.filter(status=Game.Status.PLAYING, paused_at__lte=begun)
    due = paused.filter(paused_reasons__contains=[Game.PAUSED_BY_CONSENT]).order_by("pk")
    games = list(due.values_list("pk", flat=True))
    return for_each_game(games, lambda pk: _end_old_pause(pk, begun, now), failed="an old pause was not ended").count


def _end_old_pause(game_id: int, begun: datetime, now: datetime) -> bool:
    with transaction.atomic():
        table = queries.load(lock_game(pk=game_id))
        game = table.game
        if game.status != Game.Status.PLAYING or game.paused_at is None or game.paused_at > begun:
            return False
        ended = pausing.resume(table, reason=Game.PAUSED_BY_CONSENT, now=now)
        if ended:
            table_events.record(TableEvent.Kind.PAUSE_RAN_OUT, game=game, now=now)
        if not game.paused_reasons:
            player_notices.resumed(table, now=now)
        return ended


def take_seat_back(*, code: str, viewer: Viewer[User], now: datetime) -> Table:
    """Let the viewer play their seat again instead of the bot that took it over (CLOCK-3). Safe to repeat.

    :raises Denied: `not_found`, `not_seated`, `not_started`, `over`, `forbidden` if the person has left the game.
    """
    with transaction.atomic():
        table, seat = _players_table(code, viewer)
        if table.seats[seat].bot:
            seating.give_back(table, seat=seat, now=now)
            table_events.record(TableEvent.Kind.SEAT_TAKEN_BACK, game=table.game, seat=seat, now=now)
            preferences.mark_kind_read(
                user_id=viewer.user.pk, kind=BOT_TOOK_OVER, game=table.game, reason=Reason.BACK, now=now
            )
        return table


def _players_table(code: str, viewer: Viewer[User]) -> tuple[Table, int]:
    """Lock a running game; return its table and the number of this person's seat.

    :raises Denied: `not_found`, `not_seated`, `not_started`, `over`, `forbidden` if the person has left the game.
    """
    table = queries.load(lock_game(code=code))
    queries.require_access(table, viewer)
    seat = queries.require_seat(table, viewer.user)
    pausing.require_playing(table)
    if table.seats[seat].left:
        raise Denied("forbidden", "You have left this game. You can still watch it.", version=table.game.version)
    return table, seat


def _voters_table(code: str, viewer: Viewer[User]) -> tuple[Table, int]:
    table, seat = _players_table(code, viewer)
    seating.require_no_bot(table, seat=seat)
    return table, seat


def _save_votes(game: Game, votes: set[int]) -> None:
    game.pause_votes = sorted(votes)
    game.save(update_fields=["pause_votes"])
    announce.changed(game, wake=False)
