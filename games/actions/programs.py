"""Accounts that a program plays for."""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone

from accounts import mails
from accounts.actions import lock_person
from accounts.models import User
from common.say import N_
from games.models import Game, Seat
from games.refusals import Denied


def declare_program(*, user: User) -> None:
    """Note that a program plays for this account, and tell its owner by mail.

    Nothing takes that back, and doing it again changes nothing.

    :raises Denied: `forbidden` for a guest, and for somebody who sits at a table where no programs may sit.
    """
    with transaction.atomic():
        person = lock_person(user.pk)
        if person.is_guest:
            raise Denied("forbidden", "Sign up first: a program needs an account with a password.")
        seated = Seat.objects.filter(
            user=person, left=False, game__programs=False, game__status__in=(Game.Status.OPEN, Game.Status.PLAYING)
        )
        if seated.exists():
            sentence = N_("You sit at a table where no programs may sit. Finish that game first, or leave it.")
            raise Denied("forbidden", sentence)
        if not person.is_program:
            person.is_program = True
            person.save(update_fields=["is_program"])
            mails.notify(kind=mails.PROGRAM_DECLARED, user=person, now=timezone.now())


def may_sit(user: User, *, programs: bool) -> bool:
    """Return True if this person may have a seat at a table, `programs` being whether programs may sit there.

    Locks the person where that matters, so that they do not become a program meanwhile. Lock games first.
    """
    return programs or not lock_person(user.pk).is_program
