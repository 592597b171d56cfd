"""What the page to log out says to people who would lose the games of a guest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from django.conf import settings
from django.urls import reverse

from common.readers_language import say
from common.say import N_

if TYPE_CHECKING:
    from datetime import datetime

    from accounts.models import User


@dataclass(frozen=True, slots=True)
class LossPage:
    """The two pages that ask before somebody loses `games` of a guest, which may be none.

    `title` and `last_title` are their headings. `loses` says what would be lost, and `remedy` how to keep it. `keep` is
    the button for that, which leads to `keep_url`; empty if there is nothing to press. `lose` is the button to log out.
    """

    games: int
    title: str
    last_title: str
    loses: str
    remedy: str
    keep: str
    keep_url: str
    lose: str


def loss_page_of(user: User, *, guest: User, games: int, now: datetime) -> LossPage:
    """Return the pages for a user who is this guest, or who was it in this browser before the log-in."""
    title = last_title = say.text("log out", "Log out for good?")
    lose = say.text("log out", "Log out")
    if games:
        title = say.plural("log out", "Keep your game?", "Keep your games?", games)
        last_title = say.plural("log out", "Lose {n} game for good?", "Lose {n} games for good?", games)
        lose = say.plural("log out", "Log out and lose {n} game", "Log out and lose {n} games", games)
    # What a muted guest can do is in `account/_after_mute.html`.
    no_way = guest.suspended(now) or user.suspended(now) or user.no_sign_up_until
    remedy, keep, keep_url = ("", "", "") if no_way else _way_to_keep(user, games)
    return LossPage(
        games=games,
        title=title,
        last_title=last_title,
        loses=" ".join(_losses(user, guest, games, now)),
        remedy=remedy,
        keep=keep,
        keep_url=keep_url,
        lose=lose,
    )


def _losses(user: User, guest: User, games: int, now: datetime) -> Iterator[str]:
    """Yield what the user loses by logging out."""
    if not user.is_guest:
        yield say.text("log out", "Before you logged in, you played here as the guest {name}.", name=guest.name)
    if games:
        yield say.plural(
            "log out",
            "If you log out, your guest game is gone for good.",
            "If you log out, your {n} guest games are gone for good.",
            games,
        )
    if user.is_guest and user.suspended(now):
        yield say.text("log out", "If you log out, you cannot appeal or read an answer.")


def _way_to_keep(user: User, games: int) -> tuple[str, str, str]:
    """Return how the user can keep the games, with the button for it and its address, both empty without a button."""
    if not user.is_guest:
        bring = say.plural(
            "log out",
            "You can bring it along to {name}.",
            "You can bring them along to {name}.",
            games,
            name=user.name,
        )
        return bring, say.plural("log out", "Bring it along", "Bring them along", games), reverse("move-seats")
    if settings.REGISTRATION == "invite":
        invited = say.plural(
            "log out",
            "To keep it you need an invitation to sign up. If you get one, open its link in this browser.",
            "To keep them you need an invitation to sign up. If you get one, open its link in this browser.",
            games,
        )
        return invited, "", ""
    if settings.REGISTRATION == "closed":
        closed = say.plural(
            "log out",
            "Nobody can sign up on this site, so stay logged in to keep it.",
            "Nobody can sign up on this site, so stay logged in to keep them.",
            games,
        )
        return closed, "", ""
    with_mail = settings.ACCOUNT_EMAIL_VERIFICATION == "mandatory"
    return (
        say.form("log out", _SIGN_UP_WITH_MAIL if with_mail else _SIGN_UP, games),
        say.plural("log out", "Sign up and keep it", "Sign up and keep them", games),
        reverse("account_signup"),
    )


_SIGN_UP: Final = (
    N_("Keep it? It takes a name and a password."),
    N_("Keep them? It takes a name and a password."),
)
_SIGN_UP_WITH_MAIL: Final = (
    N_("Keep it? It takes a name, an email address and a password."),
    N_("Keep them? It takes a name, an email address and a password."),
)
"""How to keep one game, and how to keep several."""
