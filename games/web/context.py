"""The context of every page: how many games wait for the user, and how many notices are new."""

from __future__ import annotations

from typing import cast

from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from accounts.models import User
from games.notices import inbox
from games.notices.inbox import Badges
from games.queries import backlog, conduct


def waiting(request: HttpRequest) -> dict[str, object]:
    """Return `turn_count` for the title, `next_count` for the link to the next game, and `notice_count` for the bell.

    `only_changed_outcomes` is whether the banner about reports is about changed outcomes. `mail_is_held` is whether
    mail waits for `manage.py release`.

    They are lazy, and one query counts all. The page of a game passes its own `next_count`, without that game.
    """
    badges = SimpleLazyObject(lambda: _badges(request))
    turns = SimpleLazyObject(lambda: badges.turns)
    return {
        "turn_count": turns,
        "mail_is_held": backlog.is_frozen,
        "next_count": turns,
        "notice_count": SimpleLazyObject(lambda: badges.notices),
        "only_changed_outcomes": SimpleLazyObject(lambda: conduct.only_changed_outcomes(cast("User", request.user))),
    }


def _badges(request: HttpRequest) -> Badges:
    user = getattr(request, "user", None)  # missing on error pages before the authentication middleware
    return inbox.badges_of(user) if isinstance(user, User) else Badges()
