"""Tables as they are stored, for use on the server, and who may see them."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Generic, TypeVar

import structlog
from django.core.exceptions import EmptyResultSet
from django.db.models import QuerySet

from accounts.models import name_sql
from common.fixed_sql import prepared_cursor
from common.say import N_
from games import rules
from games.models import Game, Hand, Invitation, Round, Seat
from games.models.positions import position_of
from games.models.rows import Key, Loaded, read_hands, read_results, read_table, read_tables
from games.queries import conduct
from games.refusals import Denied, not_found

if TYPE_CHECKING:
    from accounts.models import User

log = structlog.get_logger(__name__)

NO_TOKENS: Final = N_("No programs play at this table, so it takes no API tokens. Play on the pages of the site.")


@dataclass(slots=True)
class Playing:
    """The last round of a started table: its row, the row of each hand, and the position."""

    round: Round
    hands: list[Hand]
    position: rules.Position

    @property
    def over(self) -> bool:
        """Return True if the round is over and the next one is not dealt yet."""
        return self.position.phase == "over"


@dataclass(slots=True)
class Table:
    """A game as stored: its rows, and its last round once it has started.

    `earlier` has the results of earlier rounds, if they were read together with the game. `sent_before` has, for each
    seat, the moves that it made with the token asked for, or None.
    """

    game: Game
    seats: list[Seat]
    options: rules.Options
    playing: Playing | None = None
    earlier: list[RoundResult] | None = None
    sent_before: Sequence[list[str] | None] = ()

    @property
    def started(self) -> Playing:
        """Return the last round. Use it only where the table must have started.

        :raises RuntimeError: if it has not started.
        """
        if self.playing is None:
            raise RuntimeError(f"the table {self.game.code} has not started")
        return self.playing

    @property
    def on_turn(self) -> Seat:
        """Return the seat whose turn it is. Use it only where the table must have started.

        :raises RuntimeError: if it has not started.
        """
        return self.seats[self.started.position.turn]

    def seat_of(self, user: User | None) -> int | None:
        """Return the number of a person's seat, or None."""
        seat = self.own_seat(user)
        return None if seat is None else seat.index

    def was_sent_before(self, user: User) -> bool:
        """Return True if a person's seat has made the moves with the token asked for in an earlier request."""
        seat = self.seat_of(user)
        return seat is not None and bool(self.sent_before) and self.sent_before[seat] is not None

    def own_seat(self, user: User | None) -> Seat | None:
        """Return a person's seat, or None.

        Use it instead of `seats[number]` where the table may be open: free seats leave gaps in the numbers.
        """
        if user is None:
            return None
        return next((seat for seat in self.seats if seat.user_id == user.pk), None)

    @property
    def attended(self) -> bool:
        """Return True if a person still plays at this table (see `pause_voters`)."""
        return bool(pause_voters(self))

    @property
    def names(self) -> list[str]:
        return [seat.name for seat in self.seats]


Rows = tuple[Game, list[Seat], Loaded | None]
"""What is stored of a table: its game, its seats and, once it is dealt, its hands."""
Person_co = TypeVar("Person_co", bound="User | None", covariant=True)


@dataclass(frozen=True, slots=True)
class Viewer(Generic[Person_co]):
    """Who asks for a table: a person, or None for a visitor, and their invitation links.

    `links` are the keys of the invitation links that were opened in the session. `by_token` is True if the request has
    an API token instead of a session.
    """

    user: Person_co
    links: Collection[str] = ()
    by_token: bool = False


@lru_cache(maxsize=256)
def _options(preset: str, stored: str) -> rules.Options:
    return rules.options_from_stored(preset, json.loads(stored))


def options_of(game: Game) -> rules.Options:
    """Return the options of a table for the rules, `target` included."""
    return _options(game.preset, json.dumps({**game.options, "target": game.target}, sort_keys=True))


def _with_names(seats: Iterable[Seat]) -> list[Seat]:
    """Return seats that were read with their `user`, with the current names of people and their time off."""
    found = list(seats)
    for seat in found:
        if seat.user is not None:
            seat.name, seat.username, seat.time_off = seat.user.name, seat.user.username, seat.user.time_off
            seat.avatar, seat.is_program = seat.user.avatar_shown, seat.user.is_program
            seat.has_hook = seat.user.has_hook
    return found


def load(game: Game, *, token: str | None = None) -> Table:
    """Return the table of a game whose row the caller has locked. Runs one query.

    With a `token`, `sent_before` has the moves made with it. Without a lock the hands may be newer than the row: use
    `find` or `load_for` then.
    """
    return table_of(game, None if game.round_id is None else read_hands(game.round_id, token))


def find(game_id: int) -> Table | None:
    """Return the table of a game from one snapshot, or None. Runs one query, and a second one before the first deal."""
    found = read_table("pk", game_id)
    return None if found is None else table_of(*found)


def table_of(game: Game, loaded: Loaded | None, seats: list[Seat] | None = None) -> Table:
    """Make a table of these rows. The `seats` of a table that has not been dealt are read if they are not given."""
    options = options_of(game)
    if loaded is None:
        if seats is None:
            seats = _with_names(Seat.objects.filter(game_id=game.pk).select_related("user").order_by("index"))
        return Table(game, seats, options)
    hands, sent_before, results, swept_at = loaded
    round_ = hands[0].round
    game.round, game.swept_at = round_, swept_at
    earlier = [_result(*columns) for columns in results]
    playing = Playing(round_, hands, position_of(round_))
    return Table(game, [hand.seat for hand in hands], options, playing, earlier, sent_before)


def may_see(table: Table, viewer: Viewer[User | None]) -> bool:
    """Return True if a viewer may see a table. Runs at most one query.

    They may if it is public, if they sit there, if a rematch invited them, or if they opened its link and staff have
    not removed them. Keep in step with `OpenPage.open_to`, which open sockets are checked by.
    """
    user = viewer.user
    if _may_see_without_invitation(table, user):
        return True
    by_link = table.game.invite_key in viewer.links
    if user is None:
        return by_link
    return (
        not conduct.removed_by_staff(table.game.code, user)
        if by_link
        else table.game.pk in _invited(user, [table.game.pk])
    )


def require_access(table: Table, viewer: Viewer[User | None]) -> None:
    """Check that a viewer may see a table and act there the way they do. Runs at most one query.

    :raises Denied: `not_found`; `forbidden` for an API token at a table without programs.
    """
    if not may_see(table, viewer):
        raise not_found()
    if viewer.by_token and not table.game.programs:
        raise Denied("forbidden", NO_TOKENS, version=table.game.version)


def visible_to(user: User, tables: Iterable[Table]) -> list[Table]:
    """Return the tables that a person may see without a link, in order. Runs at most one query."""
    tables = list(tables)
    hidden = [table.game.pk for table in tables if not _may_see_without_invitation(table, user)]
    invited = _invited(user, hidden) if hidden else set()
    return [table for table in tables if table.game.pk in invited or _may_see_without_invitation(table, user)]


def _may_see_without_invitation(table: Table, user: User | None) -> bool:
    """Return True if a person may see a table without a link or an invitation."""
    return table.game.is_public or table.seat_of(user) is not None


def _invited(user: User, games: Collection[int]) -> set[int]:
    """Return the numbers of the games to which a rematch invited a person. Runs one query."""
    return set(Invitation.objects.filter(game__in=games, user_id=user.pk).values_list("game_id", flat=True))


def load_for(code: str, viewer: Viewer[User | None]) -> Table:
    """Return the table with this code from one snapshot.

    :raises Denied: `not_found` if there is none, or the viewer may not see it.
    """
    table = _read("code", code)
    if not may_see(table, viewer):
        raise not_found()
    return table


def load_by_invite(key: str) -> Table:
    """Return the table of an invitation link from one snapshot.

    :raises Denied: `not_found` if there is none.
    """
    return _read("invite", key)


def _read(by: Key, value: str) -> Table:
    found = read_table(by, value)
    if found is None:
        raise not_found()
    return table_of(*found)


@dataclass(frozen=True, slots=True)
class RoundResult:
    """A line of the score sheet: the number of a round and its outcome."""

    number: int
    outcome: rules.Outcome


def _result(number: int, winner: int, points: int | list[int]) -> RoundResult:
    """Return a line of the score sheet from the columns of a round."""
    return RoundResult(number, rules.Outcome(winner, tuple(points) if isinstance(points, list) else points))


def results_of(table: Table) -> tuple[RoundResult, ...]:
    """Return the rounds that have ended, oldest first. Runs one query if the round was dealt in this request."""
    if table.playing is None:
        return ()
    round_, ended = table.playing.round, rules.outcome(table.playing.position)
    earlier = table.earlier
    if earlier is None:
        before = read_results(table.game.pk, round_.number) if round_.number > 1 else []
        earlier = [_result(*columns) for columns in before]
    return tuple(earlier) if ended is None else (*earlier, RoundResult(round_.number, ended))


def match_of(table: Table) -> rules.Match:
    """Return the match of a table that has started.

    :raises RuntimeError: if it has not started.
    """
    scores = tuple(seat.score for seat in table.seats)
    left = tuple(seat.index for seat in table.seats if seat.left)
    return rules.Match(table.options, scores, table.started.round.dealer, left)


def with_tables(games: QuerySet[Game]) -> list[Table]:
    """Return the tables of a list of games, in its order and from one snapshot. Runs one query.

    :raises Exception: one of them cannot be read. A list that many people see is better made by `readable_tables`.
    """
    return [table_of(game, loaded, seats) for game, seats, loaded in _rows_of(games)]


def readable_tables(games: QuerySet[Game]) -> tuple[list[Table], list[Game]]:
    """Return the tables of a list of games as `with_tables`, but only those that can be read, and all its games."""
    rows = _rows_of(games)
    return readable(rows), [game for game, _, _ in rows]


def _rows_of(games: QuerySet[Game]) -> list[Rows]:
    try:
        listed, parameters = games.values("pk").query.sql_with_params()
    except EmptyResultSet:  # the ORM knows that the list is empty
        return []
    return read_tables(listed, parameters)


def readable(rows: Iterable[Rows]) -> list[Table]:
    """Return the tables of these rows without those that cannot be read, for example after a restore.

    Each of them is logged once by this process.
    """
    found = []
    for game, seats, loaded in rows:
        try:
            found.append(table_of(game, loaded, seats))
        except Exception as error:  # noqa: BLE001  # whatever its values cause
            log_unreadable(game.pk, type(error).__name__)
    return found


@lru_cache(maxsize=1024)
def log_unreadable(game_id: int, error: str) -> None:
    """Log that lists leave this table out, if that has not just been logged. Its values may show hands."""
    log.error("a table cannot be read and is left out of lists", game=game_id, error=error)


def pause_voters(table: Table) -> list[int]:
    """Return the seats that vote on a pause: a person owns the seat, has not left it, and no bot plays it."""
    return [seat.index for seat in table.seats if seat.user_id is not None and not (seat.bot or seat.left)]


def plays_with(user: User, others: Collection[int]) -> bool:
    """Return True if a person sits at an open or running table with one of these people."""
    going = Game.objects.filter(status__in=(Game.Status.OPEN, Game.Status.PLAYING))
    mine = going.filter(seats__user=user, seats__left=False)
    return Seat.objects.filter(game__in=mine.values("pk"), user_id__in=others, left=False).exists()


@dataclass(frozen=True, slots=True)
class RematchState:
    """The rematch of a finished game.

    `host` is the name of the player who asked for it. `seated`: the reader sits there. `open`: it has not started.
    """

    host: str
    seated: bool
    open: bool


_REMATCHES: Final = f"""
SELECT g.rematch_of_id, {name_sql("u")}, EXISTS (SELECT FROM games_seat s WHERE s.game_id = g.id AND s.user_id = %s),
    g.status = 'open'
FROM games_game g LEFT JOIN accounts_user u ON u.id = g.host_id WHERE g.rematch_of_id = ANY(%s)
"""  # noqa: S608  # columns of ours


def rematches_of(games: Collection[Game], user: User) -> dict[str, RematchState]:
    """Return the rematches that somebody has asked for, by the codes of the games that they follow.

    Runs one query, or none without games.
    """
    if not games:
        return {}
    codes = {game.pk: game.code for game in games}
    with prepared_cursor() as cursor:
        cursor.execute(_REMATCHES, [user.pk, list(codes)])
        return {codes[game]: RematchState(host or "", *state) for game, host, *state in cursor.fetchall()}


def unseen_end(table: Table, user: User | None) -> bool:
    """Return True if a game has ended and this person, who sat there, has not looked at its end."""
    seat = table.own_seat(user)
    return table.game.ended and seat is not None and seat.end_seen_version < table.game.version


def require_seat(table: Table, user: User) -> int:
    """Return the number of a person's seat.

    :raises Denied: `not_seated` if they have none.
    """
    return require_own_seat(table, user).index


def require_own_seat(table: Table, user: User) -> Seat:
    """Return a person's seat.

    :raises Denied: `not_seated` if they have none.
    """
    seat = table.own_seat(user)
    if seat is None:
        raise Denied("not_seated", "You are not seated at this table.", version=table.game.version)
    return seat
