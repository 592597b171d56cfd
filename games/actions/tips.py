"""Note which tips a person has seen, whether they want any, and what they want to be offered no more."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db.models import CharField, F, Func, Value

from accounts.models import User
from games.queries.front_page import PUSH_OFFER
from games.render.tips import TIPS


def mark_tip_seen(user: User, key: str) -> None:
    """Store that this person has seen the tip with this key. Any other text is ignored. Writes once a tip."""
    if key in TIPS:
        _note(user, key)


def decline_push(user: User) -> None:
    """Offer this person notifications on their devices no more. Writes once."""
    _note(user, PUSH_OFFER)


def _note(user: User, key: str) -> None:
    if key in user.seen_tips:
        return
    # The user was read earlier: another page may have stored a tip since.
    unseen = User.objects.filter(pk=user.pk).exclude(seen_tips__contains=[key])
    added = Func(F("seen_tips"), Value(key), function="array_append", output_field=ArrayField(CharField()))
    unseen.update(seen_tips=added)
    user.seen_tips = [*user.seen_tips, key]


def turn_tips_off(user: User) -> None:
    """Show this person no more tips, until they change that on their account page."""
    User.objects.filter(pk=user.pk).update(no_tips=True)
    user.no_tips = True
