"""Notices on people's devices, by the push services of their browsers.

A notice to several devices is one row. It is sent if one of them accepted it, so none gets it twice: only a row that no
device accepted is tried again. It is marked as handed over before the first request, so a sender that dies sends it at
most once (docs/decisions/0040-one-mail-per-notice.md).
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final
from urllib.parse import urlsplit

import structlog
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.db.models.functions import Now
from django.utils.http import parse_http_date_safe
from django.utils.text import Truncator

from common import outgoing
from common.encryption import Undecryptable
from common.outgoing import Answer, OutgoingError
from common.readers_language import say
from common.say import N_
from mail import claims, site_keys, web_push
from mail.channels.base import Channel, person_check
from mail.channels.threads import answers_of
from mail.models import PUSH as NAME
from mail.models import Delivery, PushSubscription, note_reached
from mail.sources import Kind, Message, Source
from mail.verdicts import Reason, Verdict

log = structlog.get_logger(__name__)

AT_ONCE: Final = 4
BUDGET: Final = timedelta(seconds=8)
WAITS: Final = (timedelta(minutes=1), timedelta(minutes=5), timedelta(minutes=15))
"""The waits before further tries of a notice that no push service took for now."""
LONGEST_WAIT: Final = timedelta(days=1)
"""The longest wait that a push service may ask for."""
LONGEST_LIFE: Final = timedelta(days=1)
SHORTEST_LIFE: Final = timedelta(minutes=1)
"""How long a push service keeps a message for a device that it cannot reach: until the turn ends, within these."""
MOST_REFUSALS: Final = 5
"""After so many refusals in a row a subscription is deleted. One may be a fault of the push service."""
GONE: Final = frozenset({404, 410})
LONGEST_TITLE: Final = 60
LONGEST_BODY: Final = 150
DEVICE: Final = "device"
"""The fact of a notice that only one device gets: its number."""


@dataclass(slots=True)
class _Push:
    """A notice under way: its message, the devices that have not answered yet, and what the others answered."""

    row: Delivery
    message: Message | None
    devices: list[PushSubscription]
    left: int = 0
    taken: bool = False
    again: bool = False
    refused: bool = False
    at_least: timedelta = timedelta(0)


def devices_of(people: Collection[int]) -> dict[int, list[PushSubscription]]:
    """Return the devices of each of these people (ids) who has some. Runs one query.

    Of the others it is noted, after the transaction, that push does not reach them any more: the database deletes a
    subscription with its session, and nobody is told.
    """
    found = defaultdict(list)
    for device in PushSubscription.objects.filter(user__in=people, session__expire_date__gt=Now()).order_by("pk"):
        found[device.user_id].append(device)
    if lost := set(people) - found.keys():
        transaction.on_commit(partial(note_reached, lost))
    return found


def may_send(
    row: Any, kind: Kind, devices: Sequence[PushSubscription] | None, now: datetime, turn_ends: datetime | None
) -> Verdict:
    """Return whether the person can be notified now: their devices, then their account and the hour."""
    if not settings.OUTGOING:
        return Verdict(Reason.NO_OUTGOING)
    if not devices:
        return Verdict(Reason.NO_DEVICE)
    return person_check(row, kind, now, turn_ends)


def _compose(source: Source[Any], rows: Sequence[Delivery], now: datetime) -> list[_Push]:
    devices = devices_of({row.user_id for row in rows if row.user_id is not None})
    pushes = []
    for row, message in source.messages(rows, now):
        only = row.facts.get(DEVICE)
        theirs = devices.get(row.user_id or 0, [])
        pushes.append(_Push(row, message, [one for one in theirs if only in (None, one.pk)]))
    return pushes


def _send(pushes: Sequence[_Push], clock: Callable[[], datetime], until: datetime) -> None:
    """Send these notices. After `until` no further one is started, except the first. They are given back to the queue.

    A host that does not answer is asked no more this time, and devices that were never reached come last, so that they
    do not hold up those of others.
    """
    try:
        key = site_keys.private()
    except Undecryptable:  # for example after a restore with another `SECRET_KEY`
        log.error("push is off: SECRET_KEY_FALLBACKS lacks the key that encrypted the site's key")  # noqa: TRY400
        now = clock()
        claims.give_back([push.row for push in pushes], now, due_at=now + WAITS[0])
        return
    silent = set[str]()
    pushes = sorted(pushes, key=lambda push: not any(device.ok_at for device in push.devices))
    for (push, device), answer in answers_of(_requests(pushes, key, clock, until, silent), at_once=AT_ONCE):
        if isinstance(answer, OutgoingError) and _is_away(answer):
            silent.add(_host(device))
        _note(push, device, answer, clock())
        push.left -= 1
        if not push.left:
            _settle(push, clock())


_Request = tuple[tuple[_Push, PushSubscription], Callable[[], Answer | OutgoingError]]


def _requests(
    pushes: Sequence[_Push],
    key: EllipticCurvePrivateKey,
    clock: Callable[[], datetime],
    until: datetime,
    silent: Collection[str],
) -> Iterator[_Request]:
    """Yield the requests of these notices, each handed over before its first one."""
    for n, push in enumerate(pushes):
        now, left = clock(), [other.row for other in pushes[n:]]
        if n and now >= until:
            claims.give_back(left, now, due_at=now)  # behind others, so that each is tried in time
            return
        asked = [device for device in push.devices if _host(device) not in silent]
        if push.message is None or (push.devices and not asked):
            claims.try_later([push.row], now, waits=WAITS)
        elif not asked:
            claims.settle([push.row], Delivery.State.DROPPED, now, Reason.NO_DEVICE)
        elif claims.hand_over([push.row], now):
            push.left = len(asked)
            for device in asked:
                yield (push, device), partial(_post, device.endpoint, *_request(key, push.message, device, now))


def _request(
    key: EllipticCurvePrivateKey, message: Message, device: PushSubscription, now: datetime
) -> tuple[bytes, Mapping[str, str]]:
    """Return body and headers of a message to a device. `key` is that of the site."""
    body = web_push.encrypted(
        payload(message, hides_names=device.hides_names),
        web_push.Browser(device.endpoint, bytes(device.public), bytes(device.auth)),
        sender=web_push.new_key(),
        salt=os.urandom(web_push.SALT_LENGTH),
    )
    life = LONGEST_LIFE if message.deadline is None else message.deadline - now
    life = min(LONGEST_LIFE, max(SHORTEST_LIFE, life))
    signature = web_push.authorization(web_push.origin_of(device.endpoint), key=key, contact=settings.SITE_URL, now=now)
    return body, web_push.headers(authorization=signature, life=life, urgent=message.urgent, topic=message.tag)


def payload(message: Message, *, hides_names: bool) -> bytes:
    """Return what a device gets: declarative web push, which `templates/service-worker.js` shows elsewhere."""
    title, body = message.title, message.body
    if hides_names:
        body = ""
        if not message.urgent:
            title = say.text("notice", N_("A game waits for you") if message.turn else N_("There is news for you"))
    shown = {
        "title": Truncator(title).chars(LONGEST_TITLE),
        "body": Truncator(body).chars(LONGEST_BODY),
        "navigate": message.url,
        "tag": message.tag,
        "renotify": True,  # else a device that still shows the last turn of this game tells of no later one
        "lang": message.language,
    }
    # 8030 marks the format, and the badge is a number beside the notification (w3c/push-api).
    content = {"web_push": 8030, "notification": shown, "app_badge": message.waiting}
    return json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()


def _post(endpoint: str, body: bytes, headers: Mapping[str, str]) -> Answer | OutgoingError:
    try:
        return outgoing.post(endpoint, body, headers)
    except OutgoingError as error:
        return error


def _note(push: _Push, device: PushSubscription, answer: Answer | OutgoingError, now: datetime) -> None:
    """Store what a push service answered about a device."""
    if isinstance(answer, OutgoingError):
        if _is_away(answer) or answer.kind == "certificate":  # which may be too old for a while
            push.again = True
        else:
            _refused(push, device, answer.kind)
    elif answer.status < 300:
        push.taken = True
        PushSubscription.objects.filter(pk=device.pk).update(ok_at=now, refusals=0)
    elif answer.status in GONE:
        _delete(device)
    elif answer.status == 429 or answer.status >= 500:
        push.again = True
        push.at_least = max(push.at_least, wait_asked(answer.retry_after, now))
    else:
        _refused(push, device, answer.status)


def _is_away(error: OutgoingError) -> bool:
    return error.kind == "silent" or error.rule == "host"


def _refused(push: _Push, device: PushSubscription, why: int | str) -> None:
    """Count a refusal that no other try would change."""
    push.refused = True
    PushSubscription.objects.filter(pk=device.pk).update(refusals=F("refusals") + 1)
    if device.refusals + 1 >= MOST_REFUSALS:
        log.warning("push refused", host=_host(device), why=why)  # the path would be a secret
        _delete(device)


def _delete(device: PushSubscription) -> None:
    PushSubscription.objects.filter(pk=device.pk).delete()
    note_reached([device.user_id])


def wait_asked(retry_after: str | None, now: datetime) -> timedelta:
    """Return the wait of a header `Retry-After` (seconds or a date), at most `LONGEST_WAIT`; none if it has neither."""
    text = (retry_after or "").strip()
    if text.isascii() and text.isdecimal():
        seconds = int(text[:9])
    else:
        at = parse_http_date_safe(text)
        seconds = 0 if at is None else at - int(now.timestamp())
    return min(LONGEST_WAIT, timedelta(seconds=max(0, seconds)))


def _settle(push: _Push, now: datetime) -> None:
    """Store what became of a notice after all devices have answered."""
    if push.taken:
        claims.settle([push.row], Delivery.State.SENT, now)
    elif push.again:
        claims.try_later([push.row], now, waits=WAITS, at_least=push.at_least)
    elif push.refused:
        claims.settle([push.row], Delivery.State.FAILED, now, Reason.GAVE_UP)
    else:
        claims.settle([push.row], Delivery.State.DROPPED, now, Reason.NO_DEVICE)


def _host(device: PushSubscription) -> str:
    return urlsplit(device.endpoint).hostname or ""


PUSH: Final = Channel(
    NAME,
    N_("On your devices"),
    addresses=devices_of,
    may_send=may_send,
    compose=_compose,
    deliver=_send,
    to_guests=True,
    only_if="has_push",
    budget=BUDGET,
)
