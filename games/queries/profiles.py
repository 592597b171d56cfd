"""What everybody may see of a person: games played and won, and public tables."""

from __future__ import annotations

from typing import Final, NamedTuple

from django.db.models import Case, Count, Exists, F, OuterRef, Q, QuerySet, Value, When

from accounts.models import User
from games.models import Game, Move, Seat
from games.queries import conduct

SHOWN: Final = 20
"""How many tables of each kind are listed."""
OF_PEOPLE: Final = Q(user__isnull=False) | Q(bot="") | Q(left=True)
"""The seats of people. A deleted person's seat has no user, and earlier versions left a guest's to the bot that played
for the guest. Ordinary bots never leave."""


class PlayerStats(NamedTuple):
    """The number of games played to their end: with other accounts, with guests besides, and with bots alone.

    `won` is the number of wins in games with other accounts that count (see `stats_of`).
    """

    with_people: int
    won: int
    with_guests: int
    with_bots: int


def stats_of(person: User) -> PlayerStats:
    """Return how many games a person has finished and won, private tables included. Runs one query.

    A win counts if each person made at least two moves: not the clock, nor a bot for them.
    """
    people = Seat.objects.filter(OF_PEOPLE, game=OuterRef("game"))
    others = people.exclude(index=OuterRef("index"))
    accounts = others.filter(Q(user=None) | Q(user__is_guest=False))
    company = Case(When(Exists(accounts), then=Value("accounts")), When(Exists(others), then=Value("guests")))
    moves = Move.objects.filter(game=OuterRef("game"), seat=OuterRef("index"), by_bot=False)
    second_move = moves.exclude(Q(text="leave") | Q(text__startswith="clock "))[1:2]
    won = Q(game__winner=F("index")) & Q(~Exists(people.exclude(Exists(second_move))))
    played = Seat.objects.filter(user=person, game__status=Game.Status.OVER).annotate(company=company)
    # Grouped, so that the company is looked up once for each game.
    rows = played.values_list("company").annotate(games=Count("pk"), won=Count("pk", filter=won))
    games, wins = {kind: n for kind, n, _ in rows}, {kind: n for kind, _, n in rows}
    return PlayerStats(
        with_people=games.get("accounts", 0),
        won=wins.get("accounts", 0),
        with_guests=games.get("guests", 0),
        with_bots=games.get(None, 0),
    )


def public_tables_of(person: User) -> QuerySet[Game]:
    """Return the open and running public tables where a person sits, newest first, at most `SHOWN`."""
    going = Game.objects.filter(is_public=True, status__in=(Game.Status.OPEN, Game.Status.PLAYING))
    return going.filter(seats__user=person, seats__left=False).order_by("-pk")[:SHOWN]


def shared_tables(person: User, reader: User) -> QuerySet[Game]:
    """Return the tables where both people have a seat: those going on first, then the newest, at most `SHOWN`."""
    mine = Seat.objects.filter(user=reader).values("game")
    return _going_first(Game.objects.filter(seats__user=person, pk__in=mine))


def tables_to_report(person: User, reader: User) -> QuerySet[Game]:
    """Return the tables where both people have or had a seat and which the reader may see: as `shared_tables`.

    Staff may have taken the seat of either. A reader without a seat may see public tables.
    """
    seen = Game.objects.filter(Q(is_public=True) | Q(pk__in=Seat.objects.filter(user=reader).values("game")))
    return _going_first(seen.filter(pk__in=games_ever_of(person)).filter(pk__in=games_ever_of(reader)))


def games_ever_of(user: User) -> QuerySet[Seat, int]:
    """Return the numbers of the games in which a person has a seat, or had one that staff took."""
    lost = conduct.games_with_seat_lost_by(User.objects.filter(pk=user.pk).values("pk"))
    # A union, because PostgreSQL would try every game for two conditions joined by OR.
    return Seat.objects.filter(user=user).values_list("game", flat=True).union(lost)


def _going_first(games: QuerySet[Game]) -> QuerySet[Game]:
    going = Case(When(status__in=(Game.Status.OPEN, Game.Status.PLAYING), then=1), default=0)
    return games.annotate(going=going).order_by("-going", "-pk")[:SHOWN]
