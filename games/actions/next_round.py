"""Deal the next round of a match, or deal a round again."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from games import announce, queries, rules
from games.actions.commit import commit
from games.actions.rounds import deal_round
from games.actions.standing_orders import end_orders_of_void_round
from games.locks import lock_game
from games.models import Game, Hand
from games.notices import player_notices, staff_notices
from games.queries import Table
from games.refusals import Denied


def deal_next(*, game_id: int, now: datetime) -> Table | None:
    """Deal the next round of a match whose round is over, and return the table.

    A player who missed the last allowed turn at the end of the previous round leaves first (CLOCK-3).

    :returns: None if the round was dealt already, the match has ended, or it is paused. After a pause the sweep deals.
    """
    with transaction.atomic():
        table = queries.load(lock_game(pk=game_id))
        game = table.game
        due = game.status == Game.Status.PLAYING and game.paused_at is None
        if not due or table.playing is None or not table.playing.over:
            return None
        number = table.playing.round.number + 1
        deal_round(table, number=number, dealer=queries.match_of(table).next_dealer, now=now)
        player_notices.deal(table, now=now)
        _let_missing_players_leave(table, now)
        announce.changed(game)
        return table


def deal_again(table: Table, *, now: datetime) -> None:
    """Void the running round and deal it again, with the same dealer if that player is still in the match.

    Notifies every player. The caller holds the lock of a running game that is not paused.

    :raises Denied: `forbidden` once the round is over.
    """
    round_ = table.started.round
    if table.started.over:
        raise Denied("forbidden", "This round is over; the next one is about to be dealt.", version=table.game.version)
    before = table.on_turn
    round_.void, round_.ended_at = True, now
    round_.save(update_fields=["void", "ended_at"])
    Hand.objects.filter(round=round_).update(callout_until=None)
    end_orders_of_void_round(table)
    deal_round(table, number=round_.number + 1, dealer=queries.match_of(table).dealer_after_void, now=now)
    staff_notices.dealt_again(table, round_.number, before=before, now=now)
    announce.changed(table.game)


def _let_missing_players_leave(table: Table, now: datetime) -> None:
    game = table.game
    if game.after_misses != Game.AfterMisses.LEAVE:
        return
    for seat in table.seats:
        gone = seat.misses >= game.misses_allowed and not (seat.left or seat.bot)
        if gone and not table.started.over:
            commit(table, seat.index, [rules.Move("leave")], now=now, by_person=False)
            player_notices.taken_out(table, seat, now=now)
