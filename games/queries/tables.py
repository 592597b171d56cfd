"""Tables as they are stored, for the server's own use, and who may know of them."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Generic, TypeVar

from django.core.exceptions import EmptyResultSet
from django.db.models import QuerySet

from games import rules
from games.models import Game, Hand, Invitation, Round, Seat
from games.models.positions import position_of
from games.models.rows import Key, Loaded, read_hands, read_results, read_table, read_tables
from games.queries import conduct
from games.refusals import Denied, not_found

if TYPE_CHECKING:
    from accounts.models import User


@dataclass(slots=True)
class Playing:
    """The newest round of a started table: its row, the row of each hand, and the position."""

    round: Round
    hands: list[Hand]
    position: rules.Position

    @property
    def over(self) -> bool:
        """Return True if the round is over and the next one is not dealt yet."""
        return self.position.phase == "over"


@dataclass(slots=True)
class Table:
    """A game as stored: its rows, and what is played there once it has started.

    `earlier` are the results before this round, if they were read along with the game; `said` are, by seat, the moves
    made with the token that was asked for.
    """

    game: Game
    seats: list[Seat]
    options: rules.Options
    playing: Playing | None = None
    earlier: list[RoundResult] | None = None
    said: Sequence[str | None] = ()

    @property
    def started(self) -> Playing:
        """Return what is played at a table that has started. The caller knows that it has.

        :raises RuntimeError: it has not.
        """
        if self.playing is None:
            raise RuntimeError(f"the table {self.game.code} has not started")
        return self.playing

    @property
    def on_turn(self) -> Seat:
        """Return the seat whose turn it is. The caller knows that the table has started.

        :raises RuntimeError: it has not.
        """
        return self.seats[self.started.position.turn]

    def seat_of(self, user: User | None) -> int | None:
        """The seat number of this person, or None."""
        if user is None:
            return None
        return next((seat.index for seat in self.seats if seat.user_id == user.pk), None)

    @property
    def attended(self) -> bool:
        """Return True if at least one person still plays: has a seat, has not left, and no bot plays for them."""
        return any(seat.user_id is not None and not seat.bot and not seat.left for seat in self.seats)

    @property
    def names(self) -> list[str]:
        return [seat.name for seat in self.seats]


Person_co = TypeVar("Person_co", bound="User | None", covariant=True)


@dataclass(frozen=True, slots=True)
class Viewer(Generic[Person_co]):
    """Somebody who asks about a table: a person, or None for a visitor, and what their browser has opened.

    `links` are the keys of the invitation links that were opened in their session.
    """

    user: Person_co
    links: Collection[str] = ()


@lru_cache(maxsize=256)
def _options(preset: str, kept: str) -> rules.Options:
    return rules.options_from_stored(preset, json.loads(kept))


def options_of(game: Game) -> rules.Options:
    """The engine's options of this table, `target` included."""
    return _options(game.preset, json.dumps({**game.options, "target": game.target}, sort_keys=True))


def _named(seats: Iterable[Seat]) -> list[Seat]:
    """Seats read with their `user`: under the names that people go by now, and with their rest."""
    found = list(seats)
    for seat in found:
        if seat.user is not None:
            seat.name, seat.username, seat.rest = seat.user.name, seat.user.username, seat.user.rest
    return found


def load(game: Game, *, token: str | None = None) -> Table:
    """The whole table of a game row that the caller holds locked, and who has used this token there. One query.

    Of a row that is not, the hands may be another moment's: `find` and `load_for` read both at once.
    """
    return table_of(game, None if game.round_id is None else read_hands(game.round_id, token))


def find(game_id: int) -> Table | None:
    """The whole table of a game, as of one moment; None if there is no such game. One query, once it is dealt."""
    found = read_table("pk", game_id)
    return None if found is None else table_of(*found)


def table_of(game: Game, loaded: Loaded | None, seats: list[Seat] | None = None) -> Table:
    """Make a table of these rows; the `seats` of one that is not dealt are read if they are not given."""
    options = options_of(game)
    if loaded is None:
        if seats is None:
            seats = _named(Seat.objects.filter(game_id=game.pk).select_related("user").order_by("index"))
        return Table(game, seats, options)
    hands, said, results, pulse = loaded
    round_ = hands[0].round
    game.round, game.pulse = round_, pulse
    earlier = [_result(*columns) for columns in results]
    playing = Playing(round_, hands, position_of(round_))
    return Table(game, [hand.seat for hand in hands], options, playing, earlier, said)


def may_see(table: Table, viewer: Viewer[User | None]) -> bool:
    """Return True if this viewer may know of this table. At most one query.

    They may if it is public, if they sit there, or if they opened its link or were invited by a rematch, and staff have
    not removed them.
    """
    user = viewer.user
    if _open_to(table, user):
        return True
    by_link = table.game.invite_key in viewer.links
    if user is None:
        return by_link
    return not conduct.taken_off(table.game, user) if by_link else table.game.pk in _invited(user, [table.game.pk])


def visible_to(user: User, tables: Iterable[Table]) -> list[Table]:
    """Return the tables that this person may know of without a link, in order. At most one query."""
    tables = list(tables)
    closed = [table.game.pk for table in tables if not _open_to(table, user)]
    invited = _invited(user, closed) if closed else set()
    return [table for table in tables if table.game.pk in invited or _open_to(table, user)]


def _open_to(table: Table, user: User | None) -> bool:
    """Return True if this person may know of this table without a link or an invitation."""
    return table.game.is_public or table.seat_of(user) is not None


def _invited(user: User, games: Collection[int]) -> set[int]:
    """Return the numbers of those of these games to which a rematch invited this person. One query."""
    return set(Invitation.objects.filter(game__in=games, user_id=user.pk).values_list("game_id", flat=True))


def load_for(code: str, viewer: Viewer[User | None]) -> Table:
    """Return the table with this code, as of one moment, if this viewer may know of it.

    :raises Denied: `not_found`.
    """
    table = _found("code", code)
    if not may_see(table, viewer):
        raise not_found()
    return table


def load_by_invite(key: str) -> Table:
    """The table of an invitation link, as of one moment.

    :raises Denied: `not_found`.
    """
    return _found("invite", key)


def _found(by: Key, value: str) -> Table:
    found = read_table(by, value)
    if found is None:
        raise not_found()
    return table_of(*found)


@dataclass(frozen=True, slots=True)
class RoundResult:
    """One line of the score sheet: the number of a round, and how it ended."""

    number: int
    outcome: rules.Outcome


def _result(number: int, winner: int, points: int | list[int]) -> RoundResult:
    """Return a line of the score sheet as these columns of a round's row hold it."""
    return RoundResult(number, rules.Outcome(winner, tuple(points) if isinstance(points, list) else points))


def results_of(table: Table) -> tuple[RoundResult, ...]:
    """The rounds that have ended, oldest first. One query for a round that was dealt just now, else none."""
    if table.playing is None:
        return ()
    round_, ended = table.playing.round, rules.outcome(table.playing.position)
    earlier = table.earlier
    if earlier is None:
        before = read_results(table.game.pk, round_.number) if round_.number > 1 else []
        earlier = [_result(*columns) for columns in before]
    return tuple(earlier) if ended is None else (*earlier, RoundResult(round_.number, ended))


def match_of(table: Table) -> rules.Match:
    """Return the match at a table that has started."""
    scores = tuple(seat.score for seat in table.seats)
    left = tuple(seat.index for seat in table.seats if seat.left)
    return rules.Match(table.options, scores, table.started.round.dealer, left)


def with_tables(games: QuerySet[Game]) -> list[Table]:
    """Return the tables of a list of games, in its order and as of one moment. One query."""
    try:
        listed, parameters = games.values("pk").query.sql_with_params()
    except EmptyResultSet:  # the ORM knows without asking that it lists nothing
        return []
    return [table_of(game, loaded, seats) for game, seats, loaded in read_tables(listed, parameters)]


def pause_voters(table: Table) -> list[int]:
    """The seats whose people must all agree to a pause: those still in the match, whom no bot plays for."""
    return [seat.index for seat in table.seats if seat.user_id is not None and not (seat.bot or seat.left)]


def plays_with(user: User, others: Collection[int]) -> bool:
    """Whether this person sits at a table that is open or running with one of these people."""
    going = Game.objects.filter(status__in=(Game.Status.OPEN, Game.Status.PLAYING))
    mine = going.filter(seats__user=user, seats__left=False)
    return Seat.objects.filter(game__in=mine.values("pk"), user_id__in=others, left=False).exists()


def rematch_of(table: Table) -> Game | None:
    """The table at which this one is played again, with its host, if somebody has asked for one."""
    return Game.objects.filter(rematch_of=table.game).select_related("host").first()


def unseen_end(table: Table, user: User | None) -> bool:
    """Whether this game is over and this person, who sat there, has not looked at its end."""
    index = table.seat_of(user)
    return table.game.ended and index is not None and table.seats[index].seen < table.game.version


def require_seat(table: Table, user: User) -> int:
    """This person's seat number.

    :raises Denied: `not_seated`.
    """
    seat = table.seat_of(user)
    if seat is None:
        raise Denied("not_seated", "You do not sit at this table.", version=table.game.version)
    return seat
