"""Store what a person does with notices (choose, stop, read), the state of their address, and daily summaries."""

from __future__ import annotations

import zoneinfo
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Final

import structlog
from django.conf import settings
from django.db import transaction
from django.db.models import F, Q, QuerySet, Value
from django.db.models.functions import Greatest, Least

from accounts import mails
from accounts.models import User
from accounts.queries import people_with_mail_at
from common.say import N_
from games.models import Game
from games.models.notices import Notice, NoticeSettings, new_mail_key
from games.notices import inbox, mail_links
from games.notices.kinds import DIGEST, GROUPS, KINDS, WORKS, wants
from games.notices.mail_links import BadLink, MailLink
from games.refusals import Denied
from mail.channels import CHANNELS
from mail.channels.email import mail_addresses
from mail.models import EMAIL, SITE
from mail.verdicts import Reason

log = structlog.get_logger(__name__)

BATCH: Final = 100
FIRST_PUT_OFF: Final = timedelta(minutes=1)
LONGEST_PUT_OFF: Final = timedelta(hours=1)
"""A summary that could not be written is tried again after as long as it is late, within these bounds."""
UNCONFIRMED: Final = N_("We only email confirmed addresses. Confirm yours first, under “Email addresses”.")
HELD: Final = N_("All mail is on hold until this site’s operators release it.")
KEPT: Final = timedelta(days=60)
"""How long notices are kept."""


def choose(*, user: User, choices: Mapping[str, bool], digest_hour: int | None, now: datetime) -> NoticeSettings:
    """Save what this person wants to get.

    If they switch a kind of mail on, links in earlier mails become invalid, so that an old one cannot switch it off.

    :param choices: maps "group.channel" to yes or no. Missing ones stay as they are.
    :param digest_hour: the local hour of the daily summary, or None for no summary.
    """
    with transaction.atomic():
        chosen = _locked(user.pk)
        before = {kind: wants(chosen, kind, EMAIL) for kind in KINDS}
        had_digest = chosen.digest_hour is not None
        wanted = {
            switch: (choices.get(switch, wants(chosen, group.name, channel)), group.usual(channel))
            for group in GROUPS.values()
            for channel in CHANNELS
            for switch in (f"{group.name}.{channel}",)
        }
        chosen.choices = {switch: want for switch, (want, usual) in wanted.items() if want != usual}
        chosen.digest_hour = digest_hour
        chosen.digest_at, chosen.digest_again_at = next_digest(user.time_zone, digest_hour, now), None
        switched_on = any(wants(chosen, kind, EMAIL) and not before[kind] for kind in KINDS)
        if switched_on or (digest_hour is not None and not had_digest):
            chosen.mail_key = new_mail_key()
        chosen.save(update_fields=["choices", "digest_hour", "digest_at", "digest_again_at", "mail_key"])
        return chosen


def stop(*, token: str, everything: bool = False) -> MailLink:
    """Switch off mails of the token's kind with those of its group, or of all groups. Safe to repeat.

    :raises BadLink: as `check_stop`.
    """
    with transaction.atomic():
        link = check_stop(token)
        chosen = _locked(link.user_id)
        for switch in GROUPS if everything else (KINDS[link.target].switch,):
            if switch == DIGEST:
                chosen.digest_hour = chosen.digest_at = chosen.digest_again_at = None
            else:
                chosen.choices[f"{switch}.{EMAIL}"] = False
        chosen.save(update_fields=["choices", "digest_hour", "digest_at", "digest_again_at"])
        return link


def check_stop(token: str) -> MailLink:
    """Return the contents of a link that stops mails. Changes nothing.

    :raises BadLink: if it is not valid, too old, or the person has switched on a kind of mail since.
    """
    link = mail_links.read(mail_links.STOP, token)
    known = NoticeSettings.objects.filter(user_id=link.user_id, mail_key=link.key).exists()
    if not known or link.target not in KINDS:
        raise BadLink(expired=True)
    return link


def works_again(*, token: str, now: datetime) -> MailLink:
    """Send mail to a bounced address again, and make the mail that waited for it due now. Safe to repeat.

    :raises BadLink: if the token is not valid or too old.
    """
    link = mail_links.read(mail_links.WORKS, token)
    with transaction.atomic():
        chosen = NoticeSettings.objects.select_for_update().filter(user_id=link.user_id, mail_key=link.key).first()
        if chosen is None:
            raise BadLink(expired=True)
        if chosen.bounced == link.target:
            chosen.bounced, chosen.bounced_at = "", None
            chosen.save(update_fields=["bounced", "bounced_at"])
            held = Notice.objects.filter(user_id=link.user_id, state=Notice.State.WAITING, reason=Reason.BOUNCED)
            held.update(due_at=now, reason="")
        return link


def forget_bounced(*, user_id: int) -> None:
    """Forget which address of this person mails came back from."""
    NoticeSettings.objects.filter(user_id=user_id).exclude(bounced="").update(bounced="", bounced_at=None)


def recheck_night_mail(*, user_id: int, now: datetime) -> int:
    """Make mail due now that waits for the end of quiet hours, because those have changed; return how many."""
    waiting = Notice.objects.filter(user=user_id, state=Notice.State.WAITING, reason=Reason.NIGHT)
    return waiting.update(due_at=now)


def ask_whether_it_works(*, user: User, now: datetime) -> None:
    """Queue a mail to this person's address with a link for `works_again`. It is sent within seconds.

    :raises Denied: `forbidden` if all mail is on hold, or the address is missing or not confirmed.
    :raises TooManyTries: if the person has asked for too many such mails within an hour.
    """
    if inbox.mail_is_held():
        raise Denied("forbidden", HELD)
    address = mail_addresses([user.pk]).get(user.pk)
    if address is None or (settings.MAIL_NEEDS_VERIFIED and not address.verified):
        raise Denied("forbidden", UNCONFIRMED)
    mails.queue(kind=WORKS, address=address.email, user=user, confirmed=True, now=now)


def mark_bounced(*, address: str, now: datetime) -> int:
    """Hold all game mail to an address because mails to it bounced; return the number of people who get theirs there.

    The domain may be in Unicode (`bücher.de`) or in Punycode (`xn--bcher-kva.de`).
    """
    found = people_with_mail_at(address)
    for user_id, spelling in found.items():
        with transaction.atomic():
            chosen = _locked(user_id)
            chosen.bounced, chosen.bounced_at = spelling, now
            chosen.save(update_fields=["bounced", "bounced_at"])
    return len(found)


def _shown(notices: QuerySet[Notice]) -> QuerySet[Notice]:
    """Return the notices that are shown on the site."""
    return notices.filter(channel=SITE, state=Notice.State.SENT)


def mark_read(*, user: User, now: datetime, up_to: int) -> int:
    """Mark this person's notices on the site up to the id `up_to` as read; return how many were unread."""
    return _shown(Notice.objects.filter(user=user)).filter(read_at=None, pk__lte=up_to).update(read_at=now)


def mark_kind_read(
    *, user_id: int, kind: str, now: datetime, game: Game | None = None, reason: Reason = Reason.READ
) -> None:
    """Mark this person's notices of a kind as read, and drop waiting ones for this `reason`.

    :param game: only notices about this game, if given.
    """
    mine = Notice.objects.filter(user_id=user_id, kind=kind)
    if game is not None:
        mine = mine.filter(game=game)
    _shown(mine).filter(read_at=None).update(read_at=now)
    mine.filter(state=Notice.State.WAITING).update(state=Notice.State.DROPPED, reason=reason, since=now)


def open_notice(*, user: User, number: int, now: datetime) -> Notice | None:
    """Return one of this person's notices on the site and mark it as read; None if there is none with this id."""
    notice = _shown(Notice.objects.filter(user=user, pk=number)).select_related("game").first()
    if notice is not None and notice.read_at is None:
        notice.read_at = now
        notice.save(update_fields=["read_at"])
    return notice


def write_digests(*, now: datetime) -> int:
    """Write the daily summaries that are due; return how many.

    Uses one transaction per summary. One that fails is logged and postponed.
    """
    due = NoticeSettings.objects.filter(_is_due(now)).order_by("digest_at", "pk").values_list("pk", flat=True)
    return sum(_write_digest(pk, now) for pk in list(due[:BATCH]))


def _is_due(now: datetime) -> Q:
    return Q(digest_at__lte=now) & (Q(digest_again_at=None) | Q(digest_again_at__lte=now))


def _write_digest(pk: int, now: datetime) -> bool:
    due = NoticeSettings.objects.filter(_is_due(now), pk=pk)
    try:
        with transaction.atomic():
            row = due.select_for_update(skip_locked=True, of=("self",)).select_related("user").first()
            return row is not None and _sum_up(row, now)
    except Exception:
        log.exception("a summary was not written", settings=pk)
        late = Value(now) - F("digest_at")
        due.update(digest_again_at=Value(now) + Least(Greatest(late, FIRST_PUT_OFF), LONGEST_PUT_OFF))
        return False


def _sum_up(row: NoticeSettings, now: datetime) -> bool:
    """Write this person's summary and schedule the next one; return False if it was scheduled in another time zone."""
    zone, hour = row.user.time_zone, row.digest_at
    on_time = hour is not None and hour == next_digest(zone, row.digest_hour, hour - timedelta(seconds=1))
    row.digest_at, row.digest_again_at = next_digest(zone, row.digest_hour, now), None
    row.save(update_fields=["digest_at", "digest_again_at"])
    if hour is None or not on_time:  # the person has moved to another time zone since
        return False
    day = hour.astimezone(zoneinfo.ZoneInfo(zone)).date().toordinal()  # the day it was due, even if it is late
    Notice.objects.bulk_create(
        [Notice(user=row.user, version=day, kind=DIGEST, channel=EMAIL, created_at=now, due_at=now, since=now)],
        ignore_conflicts=True,
    )
    return True


def next_digest(zone: str, hour: int | None, now: datetime) -> datetime | None:
    """Return the next time after `now` when it is this hour in this zone, or an hour later where DST skips it."""
    if hour is None:
        return None
    here = now.astimezone(zoneinfo.ZoneInfo(zone))
    at = here.replace(hour=hour, minute=0, second=0, microsecond=0, fold=0)
    if at.astimezone(UTC) <= now:
        at = (here + timedelta(days=1)).replace(hour=hour, minute=0, second=0, microsecond=0, fold=0)
    return at.astimezone(UTC)


def forget_old(*, now: datetime, batch: int = 5000) -> int:
    """Delete at most `batch` notices older than `KEPT`; return how many."""
    old = Notice.objects.filter(created_at__lt=now - KEPT).exclude(
        state__in=(Notice.State.WAITING, Notice.State.SENDING, Notice.State.HANDED)
    )
    return Notice.objects.filter(pk__in=list(old.values_list("pk", flat=True)[:batch])).delete()[0]


def _locked(user_id: int) -> NoticeSettings:
    """Lock and return this person's settings. Creates them if they do not exist."""
    NoticeSettings.objects.bulk_create([NoticeSettings(user_id=user_id)], ignore_conflicts=True)
    return NoticeSettings.objects.select_for_update().get(user_id=user_id)
