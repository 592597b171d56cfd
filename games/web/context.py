"""What every page shows: how many games wait for whoever looks, and how many notices are new."""

from __future__ import annotations

from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from accounts.models import User
from games.notices import inbox
from games.notices.inbox import Badges


def waiting(request: HttpRequest) -> dict[str, object]:
    """`turn_count` for the title, `next_count` for the link to the next game, `notice_count` for the bell.

    They are counted if a template asks, and once. The page of a game gives another `next_count`: it does not count the
    game that one looks at.
    """
    badges = SimpleLazyObject(lambda: _badges(request))
    turns = SimpleLazyObject(lambda: badges.turns)
    return {"turn_count": turns, "next_count": turns, "notice_count": SimpleLazyObject(lambda: badges.notices)}


def _badges(request: HttpRequest) -> Badges:
    user = getattr(request, "user", None)  # an error page may come before there is one
    return inbox.badges_of(user) if isinstance(user, User) else Badges()
