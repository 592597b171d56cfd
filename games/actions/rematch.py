"""Create a rematch: a new table with the same options and bots, and invitations to the same people."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from django.db import transaction

from games import announce, queries, rules
from games.actions import lobby
from games.locks import lock_game
from games.models import Game, Invitation
from games.notices import player_notices
from games.queries import Table, Viewer
from games.refusals import Denied

if TYPE_CHECKING:
    from accounts.models import User


def ask_rematch(*, code: str, viewer: Viewer[User], now: datetime) -> Table:
    """Create a rematch of an ended game, or join the one that another player has created.

    :raises Denied: `not_found`, `not_seated`, `full`; `forbidden` while the game runs; all that `join` raises.
    """
    with transaction.atomic():
        table = queries.load(lock_game(code=code))
        game, user = table.game, viewer.user
        queries.require_access(table, viewer)
        queries.require_seat(table, user)
        if not game.ended:
            raise Denied("forbidden", "You can ask for a rematch when the game is over.", version=game.version)
        closed = Game.objects.filter(rematch_of=game, status=Game.Status.VOID)  # closed before it started
        Invitation.objects.filter(game__in=closed).delete()
        closed.update(rematch_of=None)
        again = Game.objects.filter(rematch_of=game).first()
        if again is None:
            return _new_table(table, user, now)
    seated = queries.find(again.pk)
    if seated is not None and seated.seat_of(user) is not None:
        return seated
    return lobby.join(code=again.code, viewer=viewer, now=now)


def _new_table(table: Table, user: User, now: datetime) -> Table:
    game = table.game
    machines = [seat.bot for seat in table.seats if seat.bot and seat.user_id is None]
    same = rules.options_dict(table.options)  # every option, because the preset's defaults may have changed
    del same["target"]
    again = lobby.create_table(
        user=user,
        choices=lobby.TableChoices(
            preset=game.preset,
            options=same,
            players=game.players,
            bots=len(machines),
            pace=game.pace,
            clock=game.custom_pace,
            misses_allowed=game.misses_allowed,
            after_misses=game.after_misses,
            target=game.target,
            bot_pause=game.bot_pause,
            public=game.is_public,
            programs=game.programs,
            vacations=game.vacations,
        ),
        now=now,
        kinds=machines,
    )
    again.game.rematch_of = game
    again.game.save(update_fields=["rematch_of"])
    asked = [seat.user_id for seat in table.seats if seat.user_id is not None and seat.user_id != user.pk]
    Invitation.objects.bulk_create(
        (Invitation(game=again.game, user_id=user_id, at=now) for user_id in asked), ignore_conflicts=True
    )
    player_notices.invited(again.game, asked, asker=user, now=now)
    announce.rematch_changed(again.game)
    return again
