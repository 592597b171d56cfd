"""What the page says about the clock itself: a pause, votes for one, and a seat that a bot keeps for its owner."""

from __future__ import annotations

from typing import Any, Final

from django.urls import reverse
from django.utils import timezone

from games.models import Game
from games.queries import GameView, SeatView
from games.render.words import duration, listed

Context = dict[str, Any]

CONSENT: Final = Game.PAUSED_BY_CONSENT


def clock_of(view: GameView) -> Context | None:
    """The notice that stands above the table, its one button, and what the options offer; None if nothing runs."""
    if view.status != "playing":
        return None
    has_say = view.you is not None and votes(view.seats[view.you])
    context = _paused(view, has_say=has_say) if view.paused else _asked(view, has_say=has_say)
    if view.bot_for_me:
        # Nothing else can be done before.
        return {
            "notice": "A bot plays for you.",
            "action": _action(view, "take-back", "Take your seat back", "primary"),
        }
    return context


def votes(seat: SeatView) -> bool:
    """Whether a pause needs this seat's consent: a person sits there who is still in the match."""
    return not (seat.bot or seat.left)


def _paused(view: GameView, *, has_say: bool) -> Context:
    who = "The players have agreed to pause the game." if CONSENT in view.paused else "Staff have paused the game."
    if Game.PAUSED_BY_RESTORE in view.paused:
        who = "The site was restored from a backup: all games are paused until staff resume them."
    if CONSENT in view.paused and len(view.paused) > 1:
        who = "The players have agreed to pause the game, and staff have paused it too."
    left = ""
    if view.time_left is not None and view.turn is not None:
        whose = "You" if view.turn == view.you else view.names[view.turn]
        left = f" {whose} will have {duration(int(view.time_left.total_seconds()))} left when it goes on."
    by_itself = ""
    if view.pause_ends is not None:
        day = timezone.localtime(view.pause_ends)
        by_itself = f" It goes on by itself on {day.day} {day:%B}."
    ends = has_say and CONSENT in view.paused
    action = _action(view, "go-on", "Go on" if len(view.paused) == 1 else "Withdraw your request", "primary")
    return {"notice": f"{who}{left}{by_itself}", "action": action if ends else None}


def _asked(view: GameView, *, has_say: bool) -> Context:
    if not view.pause_votes:
        pause = _action(view, "pause", "Pause the game" if _alone(view) else "Ask for a pause", "")
        return {"notice": "", "pause": pause if has_say else None, "alone": _alone(view)}
    if view.you in view.pause_votes:
        missing = [seat.name for seat in view.seats if votes(seat) and seat.seat not in view.pause_votes]
        verb = "has" if len(missing) == 1 else "have"
        notice = f"You have asked for a pause; {listed(missing)} {verb} not agreed yet."
        return {"notice": notice, "action": _action(view, "go-on", "Withdraw", "")}
    names = [view.names[seat] for seat in view.pause_votes]
    notice = f"{listed(names)} {'asks' if len(names) == 1 else 'ask'} for a pause."
    return {"notice": notice, "action": _action(view, "pause", "Agree to a pause", "") if has_say else None}


def _alone(view: GameView) -> bool:
    return sum(votes(seat) for seat in view.seats) == 1


def _action(view: GameView, name: str, label: str, style: str) -> Context:
    return {"id": name, "url": reverse(name, args=[view.id]), "label": label, "style": style}
