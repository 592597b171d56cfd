"""Refuse an act if staff have acted on the same subject since its page was made, or there is news (decision 65).

News are the reports in a case, and the appeals of a person that wait. Audit entries and news about a subject are
written under the lock of one row, so their ids are in the order of time. The page of an act has the newest ids as
`Known`, which its form sends back.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple, TypeAlias

from django.db import transaction
from django.db.models import Q, QuerySet

from accounts.models import User
from games import queries
from games.locks import lock_game
from games.models import Appeal, AuditEntry, Case, Report
from games.queries import conduct
from games.refusals import Denied
from games.render.words import waited
from games.staff import acts, announcement, appeals, cases, people, tables
from games.staff.audit import check_outside, check_person

News: TypeAlias = Report | Appeal

LISTED: Final = 10
"""How many newer acts and news a refusal lists."""
_KNOWN: Final = re.compile(r"([0-9]{1,18})-([0-9]{1,18})", re.ASCII)  # more digits do not fit a column
RECENT: Final = 3
"""How many acts within `RECENTLY` the page of an act lists."""
RECENTLY: Final = timedelta(days=1)


class _Kind(NamedTuple):
    """A kind of subject: how the one with a number is locked, the condition for its audit entries, and its news.

    `lock` also refuses staff who may not act on the subject at all.
    """

    lock: Callable[[int, User], None]
    entries: Callable[[int], Q]
    news: Callable[[int], QuerySet[Any]] = lambda number: Report.objects.none()


def _lock_table(number: int, by: User) -> None:
    check_outside(queries.load(lock_game(pk=number)), by=by)


def _lock_person(number: int, by: User) -> None:
    check_person(people.lock_or_deny(number), by=by)


def _lock_host(number: int, by: User) -> None:
    hosted = tables.lock_hosted(number)  # games before people (`games/locks.py`)
    person = people.lock_or_deny(number)
    check_person(person, by=by)
    tables.require_all_hosted(person, hosted)


def _lock_appeal(number: int, by: User) -> None:
    check_person(appeals.lock_person_of(number), by=by)


def _lock_case(number: int, by: User) -> None:
    cases.check_no_part(cases.lock_case(number), by=by)


def _lock_announcement(number: int, by: User) -> None:
    announcement.lock()


def _reports_in(number: int) -> QuerySet[Report]:
    return Report.objects.filter(case=number).select_related("reporter", "game")


def _appeals_of(number: int) -> QuerySet[Appeal]:
    return Appeal.objects.filter(suspension__person=number, decided_at=None)


_OF_PEOPLE: Final = Q(act__in=[*acts.PERSON_ACTS, *acts.APPEAL_ACTS])


def _about_person(number: int) -> Q:
    return _OF_PEOPLE & Q(person_id=number)


_KINDS: Final[Mapping[str, _Kind]] = {
    "game_id": _Kind(_lock_table, lambda number: Q(game_id=number)),
    "person_id": _Kind(_lock_person, _about_person, _appeals_of),
    "host_id": _Kind(_lock_host, _about_person, _appeals_of),
    "appeal_id": _Kind(
        _lock_appeal,
        lambda number: _OF_PEOPLE & Q(person_id__in=User.objects.filter(suspensions__appeal=number).values("pk")),
    ),
    # Acts on the person of a case count, so that it is not closed with a warning that a colleague has just sent.
    "case_id": _Kind(
        _lock_case,
        lambda number: (
            Q(act__in=acts.CASE_ACTS, details__case=number)
            | (_OF_PEOPLE & Q(person_id__in=Case.objects.filter(pk=number).values("person")))
        ),
        _reports_in,
    ),
    "new_account_id": _Kind(lambda number, by: None, lambda number: Q(pk__in=[])),  # there is nothing yet
    "announcement_id": _Kind(_lock_announcement, lambda number: Q(act__in=acts.ANNOUNCEMENT_ACTS)),
}
"""The kinds by the argument that names the subject to the function of an act."""


class Known(NamedTuple):
    """What a page knows of its subject: the ids of the newest audit entry and of the newest report or appeal, or 0."""

    last_audit_id: int = 0
    last_news_id: int = 0

    def __str__(self) -> str:
        return f"{self.last_audit_id}-{self.last_news_id}"

    @classmethod
    def read(cls, text: str) -> Known:
        """Read what a form sends. A form without it, or of an earlier release, knew of nothing."""
        found = _KNOWN.fullmatch(text)
        return cls(*map(int, found.groups())) if found else cls()


class NewerActs(Denied):
    """An act was refused, because staff have acted on its subject since, or there is news.

    `entries` are those acts and `news` those reports or appeals, oldest first. `known` is what a page knows that shows
    them.
    """

    def __init__(self, entries: list[AuditEntry], news: list[News], known: Known) -> None:
        super().__init__("stale", "This has changed since you opened this page.")
        self.entries = entries
        self.news = news
        audit_id = entries[-1].pk if entries else known.last_audit_id
        self.known = Known(audit_id, news[-1].pk if news else known.last_news_id)


def about(subject: Mapping[str, int], reader: User) -> QuerySet[AuditEntry]:
    """Return the audit entries about a subject that this reader may see, newest first."""
    [(name, number)] = subject.items()
    entries = AuditEntry.objects.filter(_KINDS[name].entries(number))
    return conduct.without_entries_about(entries, reader.pk).order_by("-pk")


def newest(subject: Mapping[str, int], *, reader: User) -> Known:
    """Return what a page for this reader knows of a subject now."""
    rows = (about(subject, reader), _news_about(subject))
    return Known(*(found.values_list("pk", flat=True).first() or 0 for found in rows))


def since(known: Known, subject: Mapping[str, int], *, reader: User) -> list[AuditEntry]:
    """Return the audit entries about a subject that a page did not know, oldest first: at most the newest ten.

    Leaves out what this reader may not see.
    """
    return list(about(subject, reader).filter(pk__gt=known.last_audit_id)[:LISTED])[::-1]


def recent(subject: Mapping[str, int], *, reader: User, now: datetime) -> list[AuditEntry]:
    """Return the newest audit entries about a subject within a day, oldest first, which its page lists.

    After an act, the browser's Back button loads its page again. So the page shows that the act has just been done.
    Leaves out what this reader may not see.
    """
    return list(about(subject, reader).filter(at__gt=now - RECENTLY)[:RECENT])[::-1]


def _news_about(subject: Mapping[str, int]) -> QuerySet[Any]:
    [(name, number)] = subject.items()
    return _KINDS[name].news(number).order_by("-pk")


def perform(
    act: Callable[..., Any],
    subject: Mapping[str, int],
    *,
    known: Known,
    others_only: bool = False,
    by: User,
    now: datetime,
    **arguments: Any,
) -> Any:
    """Perform an act and return its result, if nothing about its subject is newer than what its page knew.

    Locks the subject first, as the act does. So of two acts with the same `known`, one is performed.

    :param others_only: True if only acts of others count as newer: no news, and no acts of `by`, so that a second click
        does no harm and needs no question.

    :raises NewerActs: something is newer.
    :raises Denied: as the function of the act. That `by` may not act on this subject is said first.
    """
    [(name, number)] = subject.items()
    with transaction.atomic():
        _KINDS[name].lock(number, by)
        newer = [entry for entry in since(known, subject, reader=by) if not others_only or entry.actor_id != by.pk]
        news = [] if others_only else list(_news_about(subject).filter(pk__gt=known.last_news_id)[:LISTED])[::-1]
        if newer or news:
            raise NewerActs(newer, news, known)
        return act(**subject, by=by, now=now, **arguments)


def said(entry: AuditEntry, *, reader: User, now: datetime) -> str:
    """Return the sentence for this reader: `Ann has suspended Bob for 7 days (2 minutes ago): his words.`"""
    act = acts.ACTS.get(entry.act)
    what = act.past.format(**acts.facts_of(entry)) if act else f"done “{entry.act}”"  # an act of a later release
    what += acts.words_of(entry)
    if "appeal" in entry.details:
        what += ", which closed the appeal"
    who = "You have" if entry.actor_id == reader.pk else f"{entry.actor_name} has"
    why = f": {entry.reason}" if entry.reason else "."
    return f"{who} {what} ({waited(entry.at, now)} ago){why}"
