"""Notices that are posted to a URL of the person: a channel of a chat, or a program.

In one turn of the outbox each hook gets one: the others wait for the next turn, or for the next try if it failed. A
message that was not answered is posted again with the same `webhook-id`, so it can arrive twice.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final
from uuid import uuid4

import structlog
from django.conf import settings

from common import outgoing
from common.encryption import Undecryptable
from common.outgoing import OutgoingError
from common.say import N_
from mail import claims, hook_payloads, hooks
from mail.channels.base import Channel, person_check
from mail.channels.threads import answers_of
from mail.hook_payloads import Payload
from mail.message_ids import name_of_mail
from mail.models import HOOK as NAME
from mail.models import Delivery, Hook
from mail.sources import Kind, Message, Source
from mail.verdicts import Reason, Verdict

log = structlog.get_logger(__name__)

AT_ONCE: Final = 5


@dataclass(frozen=True, slots=True)
class Call:
    """A notice to post to a hook. Without a payload it could not be made."""

    row: Delivery
    hook: Hook
    payload: Payload | None


def post(hook: Hook, payload: Payload, signature: Mapping[str, str]) -> str:
    """Post this to a hook, and return a name in `hooks.ERRORS`, or "" if it arrived. Uses no database."""
    try:
        status = outgoing.post(hook.url, payload.body, {**payload.headers, **signature}).status
    except OutgoingError as error:
        return error.kind
    if status // 100 == 2:
        return ""
    return f"error_{status // 100}xx" if status // 100 in (4, 5) else "other"


def send_test(hook: Hook, message: Message, now: datetime) -> str:
    """Post a test message, and return as `post` whether it arrived. Changes nothing that is stored."""
    payload = hook_payloads.payload_of(hook, message)
    try:
        return post(hook, payload, hook_payloads.signature(hook, f"test.{uuid4().hex}", now, payload.body))
    except Undecryptable:
        return "secret"


def _hooks_of(people: Collection[int]) -> dict[int, Hook]:
    return {hook.user_id: hook for hook in Hook.objects.filter(user__in=people)}


def _may_send(row: Any, kind: Kind, hook: Hook | None, now: datetime, turn_ends: datetime | None) -> Verdict:
    if not settings.OUTGOING:
        return Verdict(Reason.NO_OUTGOING)
    if hook is None:
        return Verdict(Reason.NO_HOOK)
    if hook.stopped_at is not None:
        return Verdict(Reason.HOOK_STOPPED)
    if hook.retry_at is not None and hook.retry_at > now:
        return Verdict(Reason.AGAIN, hook.retry_at)
    return person_check(row, kind, now, turn_ends)


def _compose(source: Source[Any], rows: Sequence[Delivery], now: datetime) -> list[Call]:
    """Return the first of these notices of each hook. The others are given back to the queue."""
    found = _hooks_of({row.user_id for row in rows if row.user_id is not None})
    calls, later = dict[int, Call](), list[Delivery]()
    for row, message in source.messages(rows, now):
        hook = found.get(row.user_id)
        if hook is None or hook.pk in calls:  # a hook that has just been removed: the next check drops the notice
            later.append(row)
        else:
            calls[hook.pk] = Call(row, hook, None if message is None else hook_payloads.payload_of(hook, message))
    if later:
        claims.give_back(later, now, due_at=now)  # behind those of others
    return list(calls.values())


def _deliver(calls: Sequence[Call], clock: Callable[[], datetime], until: datetime) -> None:
    """Post these, several at once. After `until` none is started, except the first: they are given back."""
    for call, error in answers_of(_requests(calls, clock, until), at_once=AT_ONCE):
        now = clock()
        if not error:
            hooks.arrived(call.hook, now)
            claims.settle([call.row], Delivery.State.SENT, now)
        else:
            log.info("hook failed", host=call.hook.host, error=error)
            retry_at = hooks.failed(call.hook, error, now)
            claims.try_later([call.row], now, waits=hooks.WAITS, at_least=retry_at - now)


def _requests(
    calls: Sequence[Call], clock: Callable[[], datetime], until: datetime
) -> Iterator[tuple[Call, Callable[[], str]]]:
    for n, call in enumerate(calls):
        now = clock()
        if n and now >= until:
            claims.give_back([left.row for left in calls[n:]], now, due_at=now)  # behind others
            return
        if call.payload is None:
            claims.try_later([call.row], now, waits=hooks.WAITS)
            continue
        try:
            signature = hook_payloads.signature(call.hook, name_of_mail([call.row]), now, call.payload.body)
        except Undecryptable:
            hooks.failed(call.hook, "secret", now)
            claims.settle([call.row], Delivery.State.FAILED, now, Reason.FAULT)
            continue
        if claims.hand_over([call.row], now):
            yield call, partial(post, call.hook, call.payload, signature)


HOOK: Final = Channel(
    NAME,
    N_("By webhook"),
    addresses=_hooks_of,
    may_send=_may_send,
    compose=_compose,
    deliver=_deliver,
    only_if="has_hook",
    queue=("user__hook__failures", "due_at", "pk"),  # those that fail take the most time, so they come last
    budget=timedelta(seconds=10),
)
