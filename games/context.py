"""What every page shows: how many games wait for whoever looks."""

from __future__ import annotations

from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from accounts.models import User
from games import queries


def waiting(request: HttpRequest) -> dict[str, object]:
    """`turn_count` for the title, `next_count` for the link to the next game: counted if a template asks, and once.

    The page of a game gives another `next_count`: it does not count the game that one looks at.
    """
    count = SimpleLazyObject(lambda: _count(request))
    return {"turn_count": count, "next_count": count}


def _count(request: HttpRequest) -> int:
    user = getattr(request, "user", None)  # an error page may come before there is one
    return queries.count_waiting_for(user) if isinstance(user, User) else 0
