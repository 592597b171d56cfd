"""Deal and finish rounds, and end games."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Final

from games import announce, randomness, rules
from games.actions import invitations
from games.clocks.bot_times import BOT_FIELDS, BotTimes, first_bot_times, orders_time, set_bot_times
from games.clocks.turn_clock import CLOCK_FIELDS, TurnClock, set_clock, turn_clock
from games.models import Game, Hand, Move, Round, Seat
from games.models.owner_changes import read_owner_changes
from games.models.positions import position_columns
from games.notices import player_notices, staff_notices
from games.queries import Playing, Table, key_moments, match_of

MAX_ROUNDS: Final = 500
"""The most rounds of a match. Options can be chosen with which no round scores, and pages list all rounds."""


def deal_round(table: Table, *, number: int, dealer: int, now: datetime) -> None:
    """Deal a round to the seats still in the match and set its first deadline. The caller holds the game's lock.

    Draws a secret of 32 random bytes for the shuffle. Its commitment is public from now on.
    If the first discard ends the round at once, the round is finished too (FIRST-1, MERCY-1).
    """
    game, seats = table.game, table.seats
    secret = randomness.source.randbytes(32)
    shuffle = rules.Shuffler(secret).shuffle
    absent = tuple(seat.index for seat in seats if seat.left)
    position = rules.deal(table.options, len(seats), shuffle, dealer=dealer, absent=absent)
    round_ = Round.objects.create(
        game=game,
        number=number,
        dealer=dealer,
        secret=secret,
        commitment=rules.commitment(secret),
        deal=" ".join(rules.shuffled_cards(table.options, shuffle)),
        absent=list(absent),
        from_version=game.version,
        started_at=now,
        **position_columns(position),
    )
    hands = Hand.objects.bulk_create(Hand(round=round_, seat=seat) for seat in seats)
    table.playing, table.earlier = Playing(round_, hands, position), None
    game.round = round_
    set_clock(game, turn_clock(table, position, now))
    orders_at = orders_time(table, position, now)
    set_bot_times(game, first_bot_times(table, position, now, orders_at=orders_at))
    game.save(update_fields=["round", "status", "started_at", "players", *BOT_FIELDS, *CLOCK_FIELDS])
    ended = rules.outcome(position)
    if ended is not None:
        finish(table, ended, now=now)


def finish(table: Table, ended: rules.Outcome, *, now: datetime) -> None:
    """End a round that has been decided: save the scores and, if the match is decided too, end the game.

    A match that is not decided after `MAX_ROUNDS` is called off.

    The caller holds the game's lock and has saved the position. Source: SCORE-1 to SCORE-3, LEAVE-1.
    """
    game = table.game
    round_, position = table.started.round, table.started.position
    match = replace(match_of(table), rounds=_rounds_before(table)).with_result(ended)
    for seat, score in zip(table.seats, match.scores, strict=True):
        seat.score = score
    winner = match.winner(ended)
    if winner is not None:
        _set_feats(table)
    Seat.objects.bulk_update(table.seats, ["score"] if winner is None else ["score", *Seat.FEATS])
    round_.ended_at = now
    round_.save(update_fields=["ended_at"])
    if winner is None and round_.number >= MAX_ROUNDS:
        call_off(game, now=now)
        player_notices.closed(table, "too_many_rounds", number=MAX_ROUNDS, now=now)
        return
    if winner is None:
        # The next round is due: the sweep deals it if nobody else does.
        set_bot_times(game, first_bot_times(table, position, now, orders_at=None))
        game.save(update_fields=BOT_FIELDS)
        return
    game.winner = winner
    end_game(game, status=Game.Status.OVER, now=now)


def _set_feats(table: Table) -> None:
    """Set in the seats of people what they did in a game that ends now. Saves nothing.

    Seats keep null for which a bot or an earlier owner has played, too.
    """
    game = table.game
    shared = set(Move.objects.filter(game=game, by_bot=True).values_list("seat", flat=True))
    shared |= {change.seat for change in read_owner_changes(game.pk)}
    # Reads all lines under the game's lock, 0.3 s of 5,000: nobody moves any more, and two lines of three are needed.
    for seat, feats in zip(table.seats, key_moments.feats_of(table), strict=False):
        if seat.user_id is not None and seat.index not in shared:
            seat.stack_sent, seat.stack_survived, seat.cards_drawn = feats


def _rounds_before(table: Table) -> int:
    """Return how many rounds ended before the current one, if the length of the match depends on it (MATCH-1)."""
    if not table.options.rounds:
        return 0
    return Round.objects.filter(game=table.game, void=False).exclude(pk=table.started.round.pk).count()


def end_game(game: Game, *, status: str, now: datetime) -> None:
    """End a game with this status, and clear its clock and pauses. The caller holds the game's lock.

    If staff viewed hands, people who have lost their seat since are notified.
    """
    game.status, game.finished_at = status, now
    game.paused_at, game.paused_reasons, game.pause_votes = None, [], []
    set_bot_times(game, BotTimes())
    set_clock(game, TurnClock())
    paused = ("paused_at", "paused_reasons", "pause_votes")
    game.save(update_fields=["status", "winner", "finished_at", *paused, *BOT_FIELDS, *CLOCK_FIELDS])
    if game.hands_viewed_at is not None:
        staff_notices.looked(game, now=now)


def call_off(game: Game, *, now: datetime) -> None:
    """End a game without a winner, started or not, and update open pages. The caller holds the game's lock."""
    if game.started_at is None:
        invitations.end_waiting(game)
        announce.rematch_changed(game)
    end_game(game, status=Game.Status.VOID, now=now)
    announce.changed(game)
