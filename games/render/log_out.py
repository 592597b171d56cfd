"""What the page to log out says to people who would lose the games of a guest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from django.conf import settings
from django.urls import reverse

from games.render.words import counted

if TYPE_CHECKING:
    from datetime import datetime

    from accounts.models import User

BY_INVITATION: Final = "To keep {} you need an invitation to sign up. If you get one, open its link in this browser."
CLOSED: Final = "Nobody can sign up on this site, so stay logged in to keep {}."


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
    what, them = counted(games, "game"), "it" if games == 1 else "them"
    who = f"Before you logged in, you played here as the guest {guest.name}."
    if user.is_guest:
        who = "You are a guest, known only to this browser."
    lost = [f"lose {what} for good"] if games else []
    if user.is_guest and user.suspended(now):
        lost.append("cannot appeal or read an answer")
    remedy, keep, keep_url = ("", "", "") if guest.suspended(now) else _way_to_keep(user, them, now)
    return LossPage(
        games=games,
        title=f"Keep your {what.partition(' ')[2]}?" if games else "Log out for good?",
        last_title=f"Lose {what} for good?" if games else "Log out for good?",
        loses=f"{who} If you log out, you {' and '.join(lost)}.",
        remedy=remedy,
        keep=keep,
        keep_url=keep_url,
        lose=f"Log out and lose {what}" if games else "Log out",
    )


def _way_to_keep(user: User, them: str, now: datetime) -> tuple[str, str, str]:
    """Return how the user can keep the games, with the button for it and its address. All are empty for no way now.

    What a muted guest can do is in `account/_after_mute.html`.
    """
    if user.suspended(now) or user.no_sign_up_until:
        return "", "", ""
    if not user.is_guest:
        return f"You can bring {them} along to {user.name}.", f"Bring {them} along", reverse("move-seats")
    if settings.REGISTRATION == "open":
        mail = ", an email address" if settings.ACCOUNT_EMAIL_VERIFICATION == "mandatory" else ""
        remedy = f"Sign up to keep {them}: it takes a name{mail} and a password."
        return remedy, f"Sign up and keep {them}", reverse("account_signup")
    return (BY_INVITATION if settings.REGISTRATION == "invite" else CLOSED).format(them), "", ""
