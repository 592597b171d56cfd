"""The notice above the table: a pause, votes for one, or a bot that plays the reader's seat."""

from __future__ import annotations

from typing import Final, NamedTuple

from django.utils import timezone

from games.models import Game
from games.queries import GameView, SeatView
from games.refusals import STOPPED
from games.render.action import Action, action_at
from games.render.words import duration, listed

CONSENT: Final = Game.PAUSED_BY_CONSENT


class Clock(NamedTuple):
    """The notice above the table and its button, and the button that asks for a pause. Each may be missing.

    `alone`: no other player has to agree to a pause.
    """

    notice: str = ""
    action: Action | None = None
    pause: Action | None = None
    alone: bool = False


def clock_of(view: GameView, said: str = "") -> Clock | None:
    """Return the notice about the clock; None unless the game is in progress.

    :param said: what staff said to the players when they paused the game.
    """
    if view.status != "playing":
        return None
    has_say = view.you is not None and votes(view.seats[view.you])
    if view.bot_for_me:
        # The reader must take the seat back before anything else.
        return Clock("A bot plays for you.", action_at(view, "take-back", "Take your seat back", "primary"))
    return _paused(view, has_say=has_say, said=said) if view.paused else _running(view, has_say=has_say)


def votes(seat: SeatView) -> bool:
    """Return True if a pause needs this seat's consent: a person sits there and has not left the game."""
    return not (seat.bot or seat.left)


def _paused(view: GameView, *, has_say: bool, said: str) -> Clock:
    who = "The players have agreed to pause the game." if CONSENT in view.paused else "Staff have paused the game."
    if Game.PAUSED_BY_RESTORE in view.paused:
        who = STOPPED
    elif CONSENT in view.paused and len(view.paused) > 1:
        who = "The players have agreed to pause the game, and staff have paused it too."
    why = f" {said}" if said and Game.PAUSED_BY_STAFF in view.paused else ""
    left = ""
    if view.time_left is not None and view.turn is not None:
        whose = "You" if view.turn == view.you else view.names[view.turn]
        left = f" {whose} will have {duration(int(view.time_left.total_seconds()))} left when it resumes."
    by_itself = ""
    if view.pause_ends is not None:
        day = timezone.localtime(view.pause_ends)
        by_itself = f" It resumes automatically on {day.day} {day:%B}."
    ends = has_say and CONSENT in view.paused
    action = action_at(view, "go-on", "Resume" if len(view.paused) == 1 else "Withdraw your request", "primary")
    return Clock(f"{who}{why}{left}{by_itself}", action if ends else None)


def _running(view: GameView, *, has_say: bool) -> Clock:
    if not view.pause_votes:
        alone = sum(votes(seat) for seat in view.seats) == 1
        pause = action_at(view, "pause", "Pause the game" if alone else "Ask for a pause")
        return Clock(pause=pause if has_say else None, alone=alone)
    if view.you in view.pause_votes:
        missing = [seat.name for seat in view.seats if votes(seat) and seat.seat not in view.pause_votes]
        verb = "has" if len(missing) == 1 else "have"
        notice = f"You have asked for a pause; {listed(missing)} {verb} not agreed yet."
        return Clock(notice, action_at(view, "go-on", "Withdraw"))
    names = [view.names[seat] for seat in view.pause_votes]
    notice = f"{listed(names)} {'wants' if len(names) == 1 else 'want'} to pause the game."
    return Clock(notice, action_at(view, "pause", "Agree to pause") if has_say else None)
