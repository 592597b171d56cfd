"""What the players of a running game agree on: a pause, going on, and whose seat a bot keeps warm."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from django.db import transaction

from games import announce, queries
from games.actions import seating, table_events
from games.batch import for_each_game
from games.clocks import pausing
from games.locks import lock_game
from games.models import Game
from games.notices import player_notices, preferences
from games.notices.kinds import BOT_TOOK_OVER, Reason
from games.queries import Table, Viewer
from games.refusals import Denied, not_found

if TYPE_CHECKING:
    from accounts.models import User


def ask_pause(*, code: str, viewer: Viewer[User], now: datetime) -> Table:
    """Ask for a pause, or agree to one: when all players still in have asked, the clock stops.

    :raises Denied: `not_found`, `not_seated`, `not_started`, `over`, `forbidden` for who has no say, `paused`.
    """
    with transaction.atomic():
        table, seat = _voters_table(code, viewer)
        game = table.game
        if game.paused_at is not None:
            raise Denied("paused", "The game is paused already.", version=game.version)
        votes = {*game.pause_votes, seat}
        if votes >= set(queries.pause_voters(table)):
            pausing.pause(table, reason=Game.PAUSED_BY_CONSENT, now=now)
            table_events.record(table_events.PAUSE_BEGAN, game=game, now=now)
        else:
            _save_votes(game, votes)
        return table


def go_on(*, code: str, viewer: Viewer[User], now: datetime) -> Table:
    """Want no pause any more: take one's vote back, or end the pause, which stands only while all players want it.

    :raises Denied: as `ask_pause`, but for `paused`; `forbidden` too if only staff can end this pause.
    """
    with transaction.atomic():
        table, seat = _voters_table(code, viewer)
        game = table.game
        if game.paused_reasons and Game.PAUSED_BY_CONSENT not in game.paused_reasons:
            raise Denied("forbidden", "Staff have paused this game, and only they end that.", version=game.version)
        if pausing.resume(table, reason=Game.PAUSED_BY_CONSENT, now=now):
            table_events.record(table_events.PAUSE_ENDED, game=game, seat=seat, now=now)
        if seat in game.pause_votes:
            _save_votes(game, set(game.pause_votes) - {seat})
        return table


def end_old_pauses(*, now: datetime) -> int:
    """End the pauses that players agreed on and nobody has ended for `Game.LONGEST_PAUSE`; gives their number.

    Whose turn it is, is told so anew. One game that fails is logged, and tried again the next time.
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
            table_events.record(table_events.PAUSE_RAN_OUT, game=game, now=now)
        if not game.paused_reasons:
            player_notices.goes_on(table, now=now)
        return ended


def take_back(*, code: str, viewer: Viewer[User], now: datetime) -> Table:
    """Play one's own seat again instead of the bot that took it (CLOCK-3). Again is as good as once.

    :raises Denied: `not_found`, `not_seated`, `not_started`, `over`, `forbidden` for who has left.
    """
    with transaction.atomic():
        table, seat = _players_table(code, viewer)
        if table.seats[seat].bot:
            seating.give_back(table, seat=seat, now=now)
            table_events.record(table_events.SEAT_TAKEN_BACK, game=table.game, seat=seat, now=now)
            preferences.read_kind(
                user_id=viewer.user.pk, kind=BOT_TOOK_OVER, game=table.game, reason=Reason.BACK, now=now
            )
        return table


def _players_table(code: str, viewer: Viewer[User]) -> tuple[Table, int]:
    """Return the locked table of a running game, and this person's seat there."""
    table = queries.load(lock_game(code=code))
    if not queries.may_see(table, viewer):
        raise not_found()
    seat = queries.require_seat(table, viewer.user)
    pausing.require_playing(table)
    if table.seats[seat].left:
        raise Denied("forbidden", "You have left this game.", version=table.game.version)
    return table, seat


def _voters_table(code: str, viewer: Viewer[User]) -> tuple[Table, int]:
    table, seat = _players_table(code, viewer)
    seating.require_no_bot(table, seat=seat)
    return table, seat


def _save_votes(game: Game, votes: set[int]) -> None:
    game.pause_votes = sorted(votes)
    game.save(update_fields=["pause_votes"])
    announce.after_commit(game, wake=False)
