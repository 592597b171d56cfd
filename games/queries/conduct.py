"""Reads about conduct: warnings, suspensions, cases, and what staff did at a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum, auto
from typing import Any, NamedTuple, TypeVar

from django.db.models import Count, F, FloatField, Model, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce

from accounts.models import User
from games.models import Appeal, AuditEntry, Case, Game, Report, Seat, Suspension, Warned
from games.models.log_rows import EventRow, read_between_moves
from games.models.moderation import CLOSE, LOOK, MOVE_SEAT, REMOVE

M = TypeVar("M", bound=Model)


def suspension_of(user: User, now: datetime) -> Suspension | None:
    """The suspension in force, with its appeal if there is one."""
    if not user.suspended(now):
        return None
    in_force = Suspension.objects.filter(person=user, lifted_at=None).exclude(until__lte=now)
    return in_force.select_related("appeal").order_by("-at").first()


def appeal_of(suspension: Suspension) -> Appeal | None:
    """What the person said against it, and what was answered."""
    return getattr(suspension, "appeal", None)


def reports_by(user: User) -> QuerySet[Report]:
    """What this person has reported, newest first."""
    return Report.objects.filter(reporter=user).select_related("case__person", "game").order_by("-pk")


def warnings_of(user: User) -> QuerySet[Warned]:
    """Every warning to this person, newest first."""
    return Warned.objects.filter(person=user).order_by("-at", "-pk")


def not_about(entries: QuerySet[AuditEntry], reader: int | None) -> QuerySet[AuditEntry]:
    """These entries but for what colleagues did and wrote about the member of staff who reads them.

    A seat that was given away is also about whom it was taken from.
    """
    if reader is None:
        return entries
    # Without the key, which most entries have not, the comparison is neither true nor false.
    of_another = ~Q(details__before_id=reader) | Q(details__before_id__isnull=True)
    return entries.exclude(person_id=reader).filter(of_another)


def _but_about(rows: QuerySet[M], reader: int | None, field: str = "case__person_id") -> QuerySet[M]:
    """These reports or cases but for those about the reader. Who they are about may be gone."""
    return rows if reader is None else rows.exclude(**{field: reader})


def audit_of_game(game: Game, *, reader: int | None) -> QuerySet[AuditEntry]:
    """What staff did at this table, newest first, but for what was done to the person who reads it."""
    return not_about(AuditEntry.objects.filter(game_id=game.pk), reader).order_by("-pk")


class You(Enum):
    """The reader, who is not called by name: no name that anybody can take is this."""

    YOU = auto()


class DoneAct(NamedTuple):
    """An act of staff at a table after its move `version` (0: before the first), as its players may know it.

    `person` is whom it was about and `before` whom it took a seat from, by the names of today: empty if they are gone,
    None if it was a bot, or nobody, and `You.YOU` if it is the reader.
    """

    act: str
    version: int
    at: datetime
    person: str | You | None
    before: str | You | None
    details: dict[str, Any]


def between_moves(
    game: Game,
    *,
    acts: Sequence[str],
    kinds: Sequence[str],
    reader: User | None,
    since: int = 0,
    until: int | None = None,
    last: int | None = None,
) -> tuple[list[DoneAct], list[EventRow]]:
    """Return which of these `acts` staff did at this table, and its events of these `kinds`.

    Both are oldest first, begin with version `since`, and end with version `until` if it is given. If `last` is given,
    only that many of the newest of each. Runs one query.
    """

    def called(name: str | None, number: int | None) -> str | You | None:
        return You.YOU if reader is not None and reader.pk == number else name

    done, events = read_between_moves(game.pk, since, game.version if until is None else until, acts, kinds, last)
    return [
        DoneAct(
            row.act,
            row.version,
            row.at,
            called(row.person, row.person_id),
            called(row.before, row.before_id),
            row.details,
        )
        for row in done
    ], events


def closed_by_staff(game: Game) -> bool:
    """Whether staff closed this table before it started."""
    return AuditEntry.objects.filter(game_id=game.pk, act=CLOSE).exists()


def _taken_from(user: User) -> Q:
    return Q(act=REMOVE, person_id=user.pk) | Q(act=MOVE_SEAT, details__before_id=user.pk)


def lost_seat(code: str, user: User) -> bool:
    """Whether staff have taken a seat at the table with this code away from this person, who has seen its hand."""
    return AuditEntry.objects.filter(_taken_from(user), game__code=code).exists()


def sat_in_games_of(case: Case, user: User) -> bool:
    """Whether this person sits or sat in a game that the case is about."""
    games = Report.objects.filter(case=case).values("game")
    sits = Seat.objects.filter(game__in=games, user=user)
    return sits.exists() or AuditEntry.objects.filter(_taken_from(user), game_id__in=games).exists()


def closed_to(user: User) -> QuerySet[AuditEntry, int | None]:
    """The numbers of the games in which this person takes no seat of somebody else: staff took one from them there, or
    they have, as one of the staff, looked at the hands."""
    looked = Q(act=LOOK, actor_id=user.pk)
    return AuditEntry.objects.filter(_taken_from(user) | looked, game__isnull=False).values_list("game_id", flat=True)


def taken_off(game: Game, user: User) -> bool:
    """Whether staff have removed this person from this table."""
    return AuditEntry.objects.filter(game_id=game.pk, act=REMOVE, person_id=user.pk).exists()


def looked_at(game: Game, user: User) -> bool:
    """Whether this person, as one of the staff, has looked at the hands of this game."""
    return AuditEntry.objects.filter(game_id=game.pk, act=LOOK, actor_id=user.pk).exists()


def reports_of_game(game: Game, *, reader: int | None) -> QuerySet[Report]:
    """What was said about this game, newest first, but for what is said about the person who reads it."""
    reports = _but_about(Report.objects.filter(game=game), reader)
    return reports.select_related("case__person", "reporter").order_by("-pk")


@dataclass(frozen=True, slots=True)
class ConductRecord:
    """What staff know of one person."""

    suspension: Suspension | None
    suspensions: list[Suspension]
    warnings: list[Warned]
    cases: list[Case]
    audit: list[AuditEntry]


def record_of(person: User, now: datetime, *, reader: int | None) -> ConductRecord:
    """Everything about this person's conduct, newest first; no cases and no audit if it is read by that person."""
    audit = not_about(AuditEntry.objects.filter(person_id=person.pk), reader)
    cases = _but_about(Case.objects.filter(person=person), reader, "person_id").order_by("-pk")
    return ConductRecord(
        suspension=suspension_of(person, now),
        suspensions=list(Suspension.objects.filter(person=person).order_by("-pk")),
        warnings=list(warnings_of(person)),
        cases=list(cases),
        audit=list(audit.order_by("-pk")[:100]),
    )


def _settled(outcome: str, reader: int | None) -> Subquery:
    """How many other cases that the reporter of a report has reported in ended like this, but for those about the
    reader.
    """
    reported = Report.objects.filter(reporter=OuterRef("reporter"), case__outcome=outcome).order_by()
    cases = _but_about(reported.exclude(case=OuterRef("case")), reader)
    return Subquery(cases.values("reporter").annotate(n=Count("case", distinct=True)).values("n"))


def _with_record(reports: QuerySet[Report], reader: int | None) -> QuerySet[Report]:
    """Each report with its reporter's record: `acted` and `nothing`, and the `trust` that follows, 1 for a newcomer.

    What came of the report's own case is no part of it, or closing a case would change what stood behind it; nor what
    came of a case about the reader: the change would tell the reader who had reported.
    """
    return reports.annotate(
        acted=Coalesce(_settled(Case.Outcome.ACTED, reader), 0),
        nothing=Coalesce(_settled(Case.Outcome.NOTHING, reader), 0),
    ).annotate(trust=(F("acted") + 1) * 2.0 / (F("acted") + F("nothing") + 2))


def with_weight(cases: QuerySet[Case], *, reader: int | None) -> QuerySet[Case]:
    """Each case with the number of its reports (`said`) and its `weight`: the sum of the trust in its reporters.

    Each reporter counts once, in however many games they report; so does the site, along with guests who are gone.
    """
    own = Report.objects.filter(case=OuterRef("pk")).order_by()
    of_case = Report.objects.filter(case=OuterRef(OuterRef("pk")))
    one_each = of_case.order_by("reporter_id", "pk").distinct("reporter_id").values("pk")
    trusted = _with_record(own.filter(pk__in=one_each), reader)
    weight = trusted.values("case").annotate(w=Sum("trust", output_field=FloatField())).values("w")
    said = own.values("case").annotate(n=Count("pk")).values("n")
    return cases.annotate(weight=Subquery(weight, output_field=FloatField()), said=Coalesce(Subquery(said), 0))


def reports_of(case: Case, *, reader: int | None) -> QuerySet[Report]:
    """The reports of a case, oldest first, each with its reporter's record as this reader may know it."""
    return _with_record(Report.objects.filter(case=case), reader).select_related("reporter", "game").order_by("pk")
