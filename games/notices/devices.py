"""The browsers that a person is notified in by web push: add one, change it, test it, remove it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Final

from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Coalesce

from accounts.actions import lock_person
from accounts.models import Session, User
from common import outgoing
from common.outgoing import OutgoingError
from common.say import N_
from games.models import Notice
from games.notices.kinds import DEVICE_TEST
from games.refusals import Denied
from mail import site_keys, web_push
from mail.channels import push
from mail.models import PUSH, PushSubscription, note_reached

MOST: Final = 10
"""How many devices a person may have."""
UNUSABLE: Final = N_("This browser sent something we can’t use.")
ENDED: Final = N_("You have been logged out here meanwhile.")


@dataclass(frozen=True, slots=True)
class DevicesPage:
    """The part of the page of settings about devices.

    `here` is the key of the session that asks, `key` that of the site, for browsers. `off`: the operators have turned
    push off.
    """

    devices: Sequence[PushSubscription]
    here: str | None
    key: str
    off: bool

    @property
    def lists_this_browser(self) -> bool:
        return any(device.session_id == self.here for device in self.devices)


def page_for(user: User, *, here: str | None) -> DevicesPage:
    """Return this person's devices, the newest first. `here` is the key of the session that asks."""
    devices = list(PushSubscription.objects.filter(user=user).order_by("-pk"))
    return DevicesPage(devices, here, site_keys.public(), off=not settings.OUTGOING)


def add(*, user: User, session: str, endpoint: str, public: str, auth: str, label: str, now: datetime) -> str:
    """Notify a person in this browser from now on. Return the label of a device that is dropped for it, or "".

    A browser that is known is the person's from now on, because somebody else was logged in there before. If they have
    `MOST` others, the one that was reached longest ago is dropped.

    :param session: the key of the session, with which it ends.
    :param endpoint, public, auth: what the browser says of its subscription, the latter two in base64url.
    :raises Denied: `malformed` if the browser says something else; `forbidden` if the session has just ended.
    """
    browser = _read(endpoint, public, auth)
    digest = sha256(endpoint.encode()).hexdigest()
    with transaction.atomic():
        lock_person(user.pk)
        # The lock keeps the session until the end of the transaction.
        if not Session.objects.select_for_update(no_key=True).filter(pk=session, user=user, ending=False).exists():
            raise Denied("forbidden", ENDED)
        mine = PushSubscription.objects.filter(user=user)
        # In one order: two people may take each other's browsers at the same moment.
        touched = PushSubscription.objects.filter(Q(digest=digest) | Q(user=user)).select_for_update().order_by("pk")
        former = {device.user_id for device in touched} - {user.pk}
        # The same browser may have subscribed again.
        here = mine.filter(session=session)
        ticks = here.values("hides_names", "mail_too").first() or {"hides_names": False, "mail_too": False}
        here.exclude(digest=digest).delete()
        PushSubscription.objects.update_or_create(
            digest=digest,
            defaults={
                "user": user,
                "session_id": session,
                "endpoint": endpoint,
                "public": browser.public,
                "auth": browser.auth,
                "label": label,
                "created_at": now,
                "ok_at": None,
                "refusals": 0,
                **ticks,
            },
        )
        by_success = mine.exclude(digest=digest).order_by(Coalesce("ok_at", "created_at").desc(), "-pk")
        dropped = list(by_success[MOST - 1 :])
        mine.filter(pk__in=[row.pk for row in dropped]).delete()
        note_reached([user.pk])
    note_reached(former)  # in a transaction of its own, which locks people in order
    return dropped[0].label if dropped else ""


def _read(endpoint: str, public: str, auth: str) -> web_push.Browser:
    try:
        browser = web_push.read_browser(endpoint, public, auth)
        outgoing.check(endpoint)
    except (ValueError, OutgoingError):
        raise Denied("malformed", UNUSABLE) from None
    return browser


def choose(*, user: User, number: int, hides_names: bool, mail_too: bool) -> bool:
    """Store what this device of a person shows, and whether mails wait for it. Return False if it is not theirs."""
    mine = PushSubscription.objects.filter(user=user, pk=number)
    return bool(mine.update(hides_names=hides_names, mail_too=mail_too))


def remove(*, user: User, number: int) -> bool:
    """Notify a person on this device no more. Return False if it is not theirs."""
    with transaction.atomic():
        lock_person(user.pk)
        deleted, _ = PushSubscription.objects.filter(user=user, pk=number).delete()
        note_reached([user.pk])
    return bool(deleted)


def test(*, user: User, number: int, now: datetime) -> bool:
    """Send a test to this device of a person within seconds. Return False if it is not theirs.

    Two tests in the same second are one.
    """
    device = PushSubscription.objects.filter(user=user, pk=number).first()
    if device is None:
        return False
    facts = {push.DEVICE: device.pk}
    row = Notice(user=user, kind=DEVICE_TEST, channel=PUSH, occasion=int(now.timestamp()), facts=facts)
    row.created_at = row.due_at = row.since = now
    Notice.objects.bulk_create([row], ignore_conflicts=True)
    return True
