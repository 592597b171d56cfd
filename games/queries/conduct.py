"""Reads warnings, suspensions, reports, cases and what staff did at a table.

Staff never read reports, cases and audit entries about themselves: `reader` is the number of the person who reads, and
rows about them are left out. With `reader` None nothing is left out.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, TypeVar

from django.db.models import BigIntegerField, Count, F, FloatField, Model, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast, Coalesce

from accounts.models import User
from games.models import Appeal, AuditEntry, Case, Game, Move, PersonName, Report, Seat, Suspension, TableEvent, Warned
from games.models.moderation import (
    CHANGE_OUTCOME,
    CLOSE,
    CLOSE_CASE,
    CLOSE_WITH_TABLES,
    LOOK,
    MOVE_SEAT,
    NAMES_IN_DETAILS,
    REMOVE,
    REOPEN_CASE,
    SUSPEND,
    SUSPEND_FOR_GOOD,
    VOID_GAME,
)

M = TypeVar("M", bound=Model)

BAD_FAITH_COUNTS: Final = 3
"""How many unfounded reports a report in bad faith counts as in the trust in its reporter."""


def suspension_of(user: User, now: datetime) -> Suspension | None:
    """Return the suspension that is in force, with its appeal; None if there is none."""
    if not user.suspended(now):
        return None
    return suspensions_in_force(user, now).select_related("appeal").order_by("-at").first()


def suspensions_in_force(user: User, now: datetime) -> QuerySet[Suspension]:
    """Return the suspensions of a person that are neither lifted nor over."""
    return Suspension.objects.filter(person=user, lifted_at=None).exclude(until__lte=now)


def appeal_of(suspension: Suspension) -> Appeal | None:
    """Return the appeal against a suspension, or None."""
    return getattr(suspension, "appeal", None)


def waiting_appeals_of(person: User | int) -> QuerySet[Appeal]:
    """Return the appeals of a person, or the one with this number, that staff have not decided, oldest first."""
    return Appeal.objects.filter(suspension__person=person, decided_at=None).order_by("at", "pk")


def entry_of(suspension: Suspension) -> AuditEntry | None:
    """Return the audit entry of the act that made this suspension, or None if there is none."""
    # Both rows are written in one transaction, with the same time.
    entries = AuditEntry.objects.filter(
        person_id=suspension.person_id, act__in=(SUSPEND, SUSPEND_FOR_GOOD), at=suspension.at
    )
    return entries.order_by("-pk").first()


def suspended_by(suspension: Suspension) -> int | None:
    """Return the id of the staff member who made this suspension, or None if no audit entry says so."""
    entry = entry_of(suspension)
    return entry.actor_id if entry else None


def has_worker(now: datetime) -> Q:
    """Return the condition for cases that somebody works on, as `Case.worker` finds them."""
    free = Q(holder__suspended_until=None) | Q(holder__suspended_until__lte=now)
    return Q(holder__is_staff=True, holder__is_active=True) & free


def cases_of(person: User, *, reader: int | None) -> QuerySet[Case]:
    """Return the cases about a person, newest first; none to the person."""
    return _without_rows_about(Case.objects.filter(person=person), reader, "person_id").order_by("-pk")


def lifted_suspension_of(user: User) -> Suspension | None:
    """Return the last suspension of a person if staff lifted it, also by granting an appeal; else None."""
    # A suspension that a new one replaced was lifted, too, but is not the last.
    last = Suspension.objects.filter(person=user).order_by("-pk").first()
    return None if last is None or last.lifted_at is None else last


def decided_appeals_of(user: User, *, other_than: Suspension | None) -> list[Appeal]:
    """Return the decided appeals of a person with their suspensions, newest first, without that of `other_than`."""
    decided = Appeal.objects.filter(suspension__person=user, decided_at__isnull=False)
    if other_than is not None:
        decided = decided.exclude(suspension=other_than)
    return list(decided.select_related("suspension").order_by("-decided_at", "-pk"))


def reports_by(user: User) -> QuerySet[Report]:
    """Return the reports of a person, newest first."""
    related = ("case__person", "case__holder", "game")
    return Report.objects.filter(reporter=user).select_related(*related).order_by("-pk")


def unread_answers_of(person_id: int) -> list[Report]:
    """Return the closed reports of a person, with their cases, whose outcomes the person has not marked as read."""
    closed = Report.objects.filter(reporter_id=person_id, case__closed_at__isnull=False)
    return list(closed.filter(seen_at=None).select_related("case"))


def outcome_changes(cases: Iterable[Case]) -> dict[int, datetime]:
    """Return when the outcomes of these cases were last changed, by the number of the case. Runs one query."""
    people, closed = set[int](), dict[int, datetime]()
    for case in cases:
        if case.closed_at is not None and case.person_id is not None:
            people.add(case.person_id)
            closed[case.pk] = case.closed_at
    entries = AuditEntry.objects.filter(person__in=people, act=CHANGE_OUTCOME).order_by("pk") if people else ()
    changed = {entry.details["case"]: entry.at for entry in entries}
    # A case can have been reopened and closed again after a change.
    return {pk: at for pk, at in changed.items() if pk in closed and at >= closed[pk]}


def changes_of(case: Case) -> QuerySet[AuditEntry]:
    """Return the audit entries of the acts on a case whose notices are about its outcome."""
    acts = (CLOSE_CASE, CHANGE_OUTCOME, REOPEN_CASE)
    return AuditEntry.objects.filter(person=case.person_id, act__in=acts, details__case=case.pk)


def was_reopened(case: Case) -> bool:
    """Return True if staff have opened this case again after it was closed."""
    return changes_of(case).filter(act=REOPEN_CASE).exists()


def open_cases(*, reader: int) -> QuerySet[Case]:
    """Return the open cases that are not about the reader."""
    return _without_rows_about(Case.objects.filter(closed_at=None), reader, "person_id")


def other_open_cases(case: Case, *, reader: int) -> QuerySet[Case]:
    """Return the other open cases about the person of a case, newest first."""
    if case.person is None:
        return Case.objects.none()
    return cases_of(case.person, reader=reader).filter(closed_at=None).exclude(pk=case.pk)


def only_changed_outcomes(user: User) -> bool:
    """Return True if all outcomes that this person has not marked as read are changes of earlier ones."""
    unread = Case.objects.filter(reports__reporter=user, reports__seen_at=None, closed_at__isnull=False).distinct()
    changes = outcome_changes(unread)
    return bool(unread) and all(case.pk in changes for case in unread)


def warnings_of(user: User) -> QuerySet[Warned]:
    """Return all warnings to a person, newest first."""
    return Warned.objects.filter(person=user).order_by("-at", "-pk")


def without_entries_about(entries: QuerySet[AuditEntry], reader: int | None) -> QuerySet[AuditEntry]:
    """Return the audit entries that are not about the reader.

    A seat that was given to another person is also about the person it was taken from. That staff looked at the hands
    of a game, and why, is for nobody who plays in it before it has ended.
    """
    if reader is None:
        return entries
    played = Game.objects.filter(status=Game.Status.PLAYING, seats__user=reader)
    entries = entries.exclude(act=LOOK, game__in=played)
    # Most entries have no `before_id`: the comparison is null for them.
    of_another = ~Q(details__before_id=reader) | Q(details__before_id__isnull=True)
    return entries.exclude(person_id=reader).filter(of_another)


def _without_rows_about(rows: QuerySet[M], reader: int | None, field: str = "case__person_id") -> QuerySet[M]:
    """Return the reports or cases that are not about the reader. `field` is the number of the person they are about."""
    return rows if reader is None else rows.exclude(**{field: reader})


def audit_of_game(game: Game, *, reader: int | None) -> QuerySet[AuditEntry]:
    """Return what staff did at a table, newest first."""
    entries = Q(game_id=game.pk)
    if _closed_with_account(game):  # else do not search the whole log
        entries |= Q(act=CLOSE_WITH_TABLES, details__tables__contains=game.code)
    return without_entries_about(AuditEntry.objects.filter(entries), reader).order_by("-pk")


def closed_by_staff(game: Game) -> bool:
    """Return True if staff closed the table before it started, or called off the game."""
    closed = AuditEntry.objects.filter(game_id=game.pk, act__in=(CLOSE, VOID_GAME)).exists()
    return closed or _closed_with_account(game)


def _closed_with_account(game: Game) -> bool:
    """Return True if staff closed the table together with the account of its host."""
    return TableEvent.objects.filter(game_id=game.pk, kind=TableEvent.Kind.CLOSED_BY_STAFF).exists()


def _taken_from(user: User) -> Q:
    return Q(act=REMOVE, person_id=user.pk) | Q(act=MOVE_SEAT, details__before_id=user.pk)


def lost_seat_to_staff(code: str, user: User) -> bool:
    """Return True if staff took a seat at the table with this code away from a person, who has seen its hand."""
    return AuditEntry.objects.filter(_taken_from(user), game__code=code).exists()


def unseated_by(game: Game, user: User) -> str:
    """Return the act, `REMOVE` or `MOVE_SEAT`, by which staff last took a seat at this table from a person, or ""."""
    taken = AuditEntry.objects.filter(_taken_from(user), game_id=game.pk)
    return taken.order_by("-pk").values_list("act", flat=True).first() or ""


def sat_in_games_of(case: Case, user: User) -> bool:
    """Return True if a person sits or sat in a game that a case is about."""
    games = Report.objects.filter(case=case).values("game")
    sits = Seat.objects.filter(game__in=games, user=user)
    return sits.exists() or AuditEntry.objects.filter(_taken_from(user), game_id__in=games).exists()


def games_closed_to(user: User) -> QuerySet[AuditEntry, int | None]:
    """Return the numbers of the games in which a person may not take over a seat.

    These are games where staff took a seat from them, or where they viewed the hands as a member of staff.
    """
    looked = Q(act=LOOK, actor_id=user.pk)
    return AuditEntry.objects.filter(_taken_from(user) | looked, game__isnull=False).values_list("game_id", flat=True)


def games_with_seat_lost_by(people: QuerySet[User, Any]) -> QuerySet[AuditEntry, int | None]:
    """Return the numbers of the games where staff took a seat from one of these people, given by number."""
    lost = Q(act=REMOVE, person__in=people) | Q(act=MOVE_SEAT, before_id__in=people)
    return with_person_before().filter(lost, game__isnull=False).values_list("game_id", flat=True)


def with_person_before() -> QuerySet[AuditEntry]:
    """Return all audit entries with `before_id`, the number of the person that a seat was taken from, or null."""
    number = Cast(KeyTextTransform("before_id", "details"), BigIntegerField())
    return AuditEntry.objects.annotate(before_id=number)


def formerly_called(text: str) -> QuerySet[PersonName, int]:
    """Return the numbers of the people with a name in the audit log, current or former, that contains this text."""
    return PersonName.objects.filter(name__icontains=text).values_list("person_id", flat=True)


def details_with_names(entry: AuditEntry) -> dict[str, Any]:
    """Return the details of an entry with names instead of their numbers. Runs one query at most."""
    listed = {key: entry.details[key] for key in NAMES_IN_DETAILS.get(entry.act, ()) if key in entry.details}
    numbers = {n for value in listed.values() for n in (value.values() if isinstance(value, dict) else [value]) if n}
    names = {name.pk: str(name) for name in PersonName.objects.filter(pk__in=numbers)} if numbers else {}

    def named(value: Any) -> Any:
        return (
            {key: names.get(n, n) for key, n in value.items()} if isinstance(value, dict) else names.get(value, value)
        )

    return {**entry.details, **{key: named(value) for key, value in listed.items()}}


def audit_of_person(person: User) -> Q:
    """Return the condition for audit entries about a person, also as the owner that a seat was taken from."""
    return Q(person_id=person.pk) | Q(act=MOVE_SEAT, details__before_id=person.pk)


def removed_by_staff(code: str, user: User) -> bool:
    """Return True if staff have removed a person from the table with this code."""
    return AuditEntry.objects.filter(game__code=code, act=REMOVE, person_id=user.pk).exists()


def replaced_by_bots(game: Game) -> dict[int, User | None]:
    """Return the person of each seat that a bot took when staff last removed a person there, by the seat's index.

    The person is None if their row is gone. The seat may have another owner since.
    """
    removed = AuditEntry.objects.filter(game_id=game.pk, act=REMOVE, details__bot=True, seat__isnull=False)
    last = removed.order_by("seat", "-pk").distinct("seat")
    seats = {entry.seat: entry.person_id for entry in last if entry.seat is not None}
    people = User.objects.in_bulk([pk for pk in seats.values() if pk is not None])
    return {seat: people.get(pk or 0) for seat, pk in seats.items()}


def unseated_after_look(game: Game) -> dict[int, int]:
    """Return the people who had a seat when staff viewed the hands, lost it to staff, and have none now.

    Maps the id of each to the index of the seat.
    """
    entries = AuditEntry.objects.filter(game_id=game.pk, act__in=(LOOK, REMOVE, MOVE_SEAT)).order_by("pk")
    last_look_id, given_at, lost, seated = 0, dict[int | None, int](), dict[int, int](), set[int | None]()
    for entry in entries:
        if entry.act == LOOK:
            last_look_id = entry.pk
            continue
        loser = entry.person_id if entry.act == REMOVE else entry.details.get("before_id")
        if loser is not None and entry.seat is not None and given_at.get(entry.seat, 0) < last_look_id:
            lost.setdefault(loser, entry.seat)
        seated.discard(loser)
        if entry.act == MOVE_SEAT:
            given_at[entry.seat] = entry.pk
            seated.add(entry.person_id)
    known = User.objects.filter(pk__in=set(lost) - seated)
    return {pk: lost[pk] for pk in known.values_list("pk", flat=True)}


def has_viewed_hands(game: Game, user: User) -> bool:
    """Return True if a person has viewed the hands of a game as a member of staff."""
    return AuditEntry.objects.filter(game_id=game.pk, act=LOOK, actor_id=user.pk).exists()


def reports_of_game(game: Game, *, reader: int | None) -> QuerySet[Report]:
    """Return the reports about a game, newest first."""
    reports = with_move(_without_rows_about(Report.objects.filter(game=game), reader))
    return reports.select_related("case__person", "reporter").order_by("-pk")


@dataclass(frozen=True, slots=True)
class ConductRecord:
    """What staff see of one person's conduct."""

    suspension: Suspension | None
    suspensions: list[Suspension]
    warnings: list[Warned]
    cases: list[Case]
    audit: list[AuditEntry]


def conduct_of(person: User, now: datetime, *, reader: int | None) -> ConductRecord:
    """Return the conduct of a person, newest first. A person who reads their own gets no cases and no audit entries."""
    audit = without_entries_about(AuditEntry.objects.filter(audit_of_person(person)), reader)
    return ConductRecord(
        suspension=suspension_of(person, now),
        suspensions=list(Suspension.objects.filter(person=person).order_by("-pk")),
        warnings=list(warnings_of(person)),
        cases=list(cases_of(person, reader=reader)),
        audit=list(audit.order_by("-pk")[:100]),
    )


def _settled_cases(outcome: str, reader: int | None) -> Subquery:
    """Return a subquery: in how many other cases with this outcome the reporter of a report has reported."""
    reported = Report.objects.filter(reporter=OuterRef("reporter"), case__outcome=outcome).order_by()
    cases = _without_rows_about(reported.exclude(case=OuterRef("case")), reader)
    return Subquery(cases.values("reporter").annotate(n=Count("case", distinct=True)).values("n"))


def _with_record(reports: QuerySet[Report], reader: int | None) -> QuerySet[Report]:
    """Annotate each report with the record of its reporter.

    `acted`, `nothing` and `bad_faith` are the numbers of their other cases with that outcome. `trust` follows from
    them: between 0 and 2, and 1 for a new reporter. A report in bad faith counts as much as `BAD_FAITH_COUNTS`
    unfounded ones.
    """
    # The report's own case does not count: closing it would change its weight. Cases about the reader do not count,
    # because the change would tell the reader who had reported them.
    return reports.annotate(
        acted=Coalesce(_settled_cases(Case.Outcome.ACTED, reader), 0),
        nothing=Coalesce(_settled_cases(Case.Outcome.NOTHING, reader), 0),
        bad_faith=Coalesce(_settled_cases(Case.Outcome.BAD_FAITH, reader), 0),
    ).annotate(trust=(F("acted") + 1) * 2.0 / (F("acted") + F("nothing") + F("bad_faith") * BAD_FAITH_COUNTS + 2))


def with_weight(cases: QuerySet[Case], *, reader: int | None) -> QuerySet[Case]:
    """Annotate each case with its `report_count` and its `weight`, the sum of the trust in its reporters.

    Each reporter counts once, even with reports about several games. The site and all deleted guests count as one.
    """
    own = Report.objects.filter(case=OuterRef("pk")).order_by()
    of_case = Report.objects.filter(case=OuterRef(OuterRef("pk")))
    one_each = of_case.order_by("reporter_id", "pk").distinct("reporter_id").values("pk")
    trusted = _with_record(own.filter(pk__in=one_each), reader)
    weight = trusted.values("case").annotate(w=Sum("trust", output_field=FloatField())).values("w")
    reports = own.values("case").annotate(n=Count("pk")).values("n")
    return cases.annotate(
        weight=Subquery(weight, output_field=FloatField()), report_count=Coalesce(Subquery(reports), 0)
    )


def with_move(reports: QuerySet[Report]) -> QuerySet[Report]:
    """Annotate each report with `move`, the number of the last move of its game when it was made, or None."""
    moves = Move.objects.filter(game=OuterRef("game"), at__lte=OuterRef("at")).order_by("-n")
    return reports.annotate(move=Subquery(moves.values("n")[:1]))


def reports_of(case: Case, *, reader: int | None) -> QuerySet[Report]:
    """Return the reports of a case, oldest first, each with the record of its reporter."""
    reports = with_move(_with_record(Report.objects.filter(case=case), reader))
    return reports.select_related("reporter", "game").order_by("pk")
