"""The notice above the table: a pause, votes for one, or a bot that plays the reader's seat."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from accounts.zones import formatted
from common.readers_language import say
from common.say import N_
from games.models import Game
from games.queries import GameView, SeatView
from games.refusals import STOPPED
from games.render.action import Action, action_at
from games.render.words import duration, listed

CONSENT: Final = Game.PAUSED_BY_CONSENT
DAY_OF_YEAR: Final = N_("j F")
"""How the end of a pause is written, in the letters of Django's filter `date`."""


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
        notice = say.text("clock", "A bot is keeping your seat warm. Take it back any time.")
        return Clock(notice, action_at(view, "take-back", say.text("button", "Take your seat back"), "primary"))
    return _paused(view, has_say=has_say, said=said) if view.paused else _running(view, has_say=has_say)


def votes(seat: SeatView) -> bool:
    """Return True if a pause needs this seat's consent: a person sits there and has not left the game."""
    return not (seat.bot or seat.left)


def _paused(view: GameView, *, has_say: bool, said: str) -> Clock:
    ends = has_say and CONSENT in view.paused
    label = say.text("button", N_("Resume") if len(view.paused) == 1 else N_("Withdraw your request"))
    told = (_who_paused(view.paused), said if Game.PAUSED_BY_STAFF in view.paused else "", *_what_follows(view))
    return Clock(" ".join(filter(None, told)), action_at(view, "go-on", label, "primary") if ends else None)


def _who_paused(reasons: Sequence[str]) -> str:
    if Game.PAUSED_BY_RESTORE in reasons:
        return say.text("clock", STOPPED)
    if CONSENT not in reasons:
        return say.text("clock", "Staff have paused the game.")
    if len(reasons) > 1:
        return say.text("clock", "The players have agreed to pause the game, and staff have paused it too.")
    return say.text("clock", "The players have agreed to pause the game.")


def _what_follows(view: GameView) -> Iterator[str]:
    """Yield how much time the player on turn then has, and when the game resumes by itself."""
    if view.time_left is not None and view.turn is not None:
        yours, left = view.turn == view.you, duration(int(view.time_left.total_seconds()))
        pattern = (
            N_("You will have {time} left when it resumes.")
            if yours
            else N_("{name} will have {time} left when it resumes.")
        )
        yield say.text("clock", pattern, name=view.names[view.turn], time=left)
    if view.pause_ends is not None:
        day = formatted(view.pause_ends, DAY_OF_YEAR)
        yield say.text("clock", "It resumes automatically on {day}.", day=day)


def _running(view: GameView, *, has_say: bool) -> Clock:
    if not view.pause_votes:
        alone = sum(votes(seat) for seat in view.seats) == 1
        label = say.text("button", N_("Pause the game") if alone else N_("Ask for a pause"))
        return Clock(pause=action_at(view, "pause", label) if has_say else None, alone=alone)
    if view.you in view.pause_votes:
        missing = [seat.name for seat in view.seats if votes(seat) and seat.seat not in view.pause_votes]
        one = N_("You have asked for a pause; {names} has not agreed yet.")
        many = N_("You have asked for a pause; {names} have not agreed yet.")
        notice = say.plural("clock", one, many, len(missing), names=listed(missing))
        return Clock(notice, action_at(view, "go-on", say.text("button", "Withdraw")))
    names = [view.names[seat] for seat in view.pause_votes]
    one, many = N_("{names} wants to pause the game."), N_("{names} want to pause the game.")
    notice = say.plural("clock", one, many, len(names), names=listed(names))
    return Clock(notice, action_at(view, "pause", say.text("button", "Agree to pause")) if has_say else None)
