"""Tables before the first deal: create, join, leave, add a bot, start."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final, NamedTuple

from django.db import transaction

from accounts.actions import create_guest
from accounts.names import BOT_NAMES, guest_username, name_skeletons
from common.say import N_
from games import announce, bots, queries, randomness, rules
from games.actions import invitations, rounds, seating, table_limits
from games.actions.programs import may_sit
from games.locks import lock_game
from games.models import Game, Seat
from games.models.paces import CUSTOM, PACES, Pace, pace_named
from games.models.rows import database_skew
from games.notices import player_notices
from games.queries import Table, Viewer, backlog, conduct
from games.refusals import Denied, frozen, over

if TYPE_CHECKING:
    from accounts.models import User

MAX_PAUSE: Final = 10.0
"""The longest pause of a bot before a move, in seconds."""

MOST_MISSES: Final = 10
"""The most missed turns in a row that a table can allow."""

REPEAT_WINDOW: Final = timedelta(minutes=1)
"""After this time a form that is sent again makes another table or guest: the person has gone back to the page."""
TAKEN_OFF: Final = N_("Staff removed you from this table, so you can’t join it again.")


@dataclass(frozen=True, slots=True, kw_only=True)
class TableChoices:
    """The choices of the person who creates a table."""

    preset: str = "no-mercy"
    options: Mapping[str, object] = field(default_factory=dict)  # override the preset's
    players: int = 4
    bots: int = 0
    bot: str = "careful"  # the kind of all its bots
    pace: str = "standard"
    clock: Mapping[str, object] | None = None  # the fields of the pace `custom`, by their names in `Pace`
    misses_allowed: int = 3
    after_misses: str = "bot"
    target: int = 0  # points that win the match; 0 for a single round
    bot_pause: float = 1.0  # seconds
    public: bool = True
    programs: bool = True
    vacations: bool = True  # they stop the clocks


def create_table(
    *,
    user: User,
    choices: TableChoices,
    now: datetime,
    form_key: str | None = None,
    form_guest: User | None = None,
    kinds: Sequence[str] | None = None,
) -> Table:
    """Create a table with `user` as its host. It starts immediately if bots fill all other seats.

    :param form_key: the key of the submitted form, stored for `create_once.create_table_once`.
    :param form_guest: the guest that this form made, if any.
    :param kinds: the kind of each bot, `choices.bots` of them. By default all are `choices.bot`.
    :raises IntegrityError: if `form_key` has created a table already.
    :raises Denied: `malformed`, with a sentence that says what to change; `paused` after a restore; `forbidden` if the
        person has as many tables as `table_limits` allows.
    """
    kept = options_to_store(choices)
    machines = [choices.bot] * choices.bots if kinds is None else kinds
    with transaction.atomic():
        check_not_frozen()
        _check_program(user, allowed=choices.programs)
        table_limits.check_all(user)
        if len(machines) + 1 < choices.players:  # it will wait for people
            table_limits.check_open(user)
        game = Game.objects.create(
            host=user,
            hosted_by_new_account=user.is_new_account(now),
            preset=choices.preset,
            options=kept,
            target=choices.target,
            players=choices.players,
            pace=choices.pace,
            custom_pace=dict(choices.clock) if choices.clock is not None else None,
            misses_allowed=choices.misses_allowed,
            after_misses=choices.after_misses,
            bot_pause=choices.bot_pause,
            is_public=choices.public,
            programs=choices.programs,
            vacations=choices.vacations,
            form_key=form_key,
            form_guest=form_guest,
            created_at=now,
            people_changed_at=now,
        )
        seats = Seat.objects.bulk_create([_person(game, 0, user), *_seats_of_bots(game, machines, user)])
        table = Table(game, seats, queries.options_of(game))
        if len(seats) == choices.players:
            game.skew = database_skew()
            _start(table, user, now)
        return table


def _check_program(user: User, *, allowed: bool) -> None:
    """Check that a program does not sit down at a table without programs.

    :raises Denied: `forbidden`.
    """
    if not may_sit(user, programs=allowed):
        raise Denied("forbidden", "No programs play at this table, and a program plays for your account.")


def _seats_of_bots(game: Game, kinds: Sequence[str], host: User) -> list[Seat]:
    """Return the last seats of a new table, for bots of these kinds with names other than the host's."""
    names = randomness.source.sample(_bot_names([host.name]), len(kinds))
    return [
        Seat(game=game, index=game.players - len(kinds) + place, bot=kind, name=name, bank=game.terms.bank)
        for place, (kind, name) in enumerate(zip(kinds, names, strict=True))
    ]


def options_to_store(choices: TableChoices) -> dict[str, object]:
    """Check the choices for a new table, and return its rule options in the form that a game stores.

    :raises Denied: `malformed`.
    """
    if "target" in choices.options:
        raise Denied("malformed", "Set the target in its own field, not in the options.")
    most_players = rules.MAX_PLAYERS_OF.get(choices.preset, rules.MAX_PLAYERS)
    if not rules.MIN_PLAYERS <= choices.players <= most_players:
        sentence = N_("A table with these rules has {fewest} to {most} players.")
        raise Denied(
            "malformed", sentence, rule="SETUP-1", option="players", fewest=rules.MIN_PLAYERS, most=most_players
        )
    if not 0 <= choices.bots < choices.players:
        sentence = N_("Choose 0 to {most} bots for {players} players: one seat is yours.")
        raise Denied("malformed", sentence, option="bots", most=choices.players - 1, players=choices.players)
    pace = _pace(choices)
    if choices.bot not in bots.BOTS:
        raise _no_such_bot()
    if not 0 <= choices.bot_pause <= MAX_PAUSE:
        sentence = N_("The pause before a bot’s move must be 0 to {most} seconds.")
        raise Denied("malformed", sentence, most=format(MAX_PAUSE, "g"))
    try:
        engine = rules.options_from(choices.preset, {**choices.options, "target": choices.target})
        rules.check_players(engine, choices.players)
    except rules.BadInput as bad:
        raise Denied("malformed", bad.said, message=str(bad), option=bad.option) from bad
    if engine.buzzers == "race" and not pace.races:
        sentence = N_("A race for the buzzer needs the pace Live. Choose “lottery” for the buzzers instead.")
        raise Denied("malformed", sentence, rule="BUZZ-2", option="buzzers")
    kept = rules.options_to_store(choices.preset, engine)
    kept.pop("target", None)
    return kept


def _no_such_bot() -> Denied:
    return Denied("malformed", "The bot must be one of: {bots}.", bots=", ".join(bots.BOTS))


def _pace(choices: TableChoices) -> Pace:
    if (choices.pace == CUSTOM) != (choices.clock is not None):
        raise Denied("malformed", "Give clock settings for the custom pace, and for no other pace.")
    if choices.pace not in PACES and choices.clock is None:
        raise Denied("malformed", "The pace must be one of: {paces}.", paces=", ".join((*PACES, CUSTOM)))
    try:
        pace = pace_named(choices.pace, choices.clock)
    except ValueError as bad:
        raise Denied(
            "malformed", "These times of the custom pace do not go together. Change one of them.", message=str(bad)
        ) from bad
    if not 1 <= choices.misses_allowed <= MOST_MISSES:
        sentence = N_("A table can allow 1 to {most} missed turns in a row.")
        raise Denied("malformed", sentence, rule="CLOCK-3", most=MOST_MISSES)
    if choices.after_misses not in Game.AfterMisses.values:
        sentence = N_("What follows too many missed turns must be one of: {values}.")
        raise Denied("malformed", sentence, rule="CLOCK-3", values=", ".join(Game.AfterMisses.values))
    return pace


def _bot_names(taken: Collection[str]) -> list[str]:
    """Return the bot names that do not look like any of these names."""
    looks = {look for name in taken for look in name_skeletons(name)}
    return [name for name in BOT_NAMES if looks.isdisjoint(name_skeletons(name))]


def _person(game: Game, index: int, user: User) -> Seat:
    seat = Seat(game=game, index=index, user=user, name=user.name, bank=game.terms.bank)
    # As for a seat that is read from the database with its user, because the answer shows this object.
    seat.time_off, seat.username = user.time_off, user.username
    seat.avatar, seat.is_program = user.avatar_shown, user.is_program
    return seat


def _open_table(code: str, viewer: Viewer[User | None]) -> Table:
    """Lock and return a table that this viewer may see and that has not ended.

    :raises Denied: `not_found`, `over`.
    """
    table = queries.load(lock_game(code=code))
    queries.require_access(table, viewer)
    if table.game.ended:
        raise over(table.game.version, begun=table.game.started_at is not None)
    return table


def _hosted_table(code: str, viewer: Viewer[User]) -> Table:
    """Lock and return a table that this person hosts and that has not started.

    :raises Denied: `not_found`, `over`, `not_seated`, `forbidden`, `already_started`.
    """
    table, user = _open_table(code, viewer), viewer.user
    version = table.game.version
    queries.require_seat(table, user)
    if table.game.host_id != user.pk:
        raise Denied("forbidden", "Only the host of this table can do this.", version=version)
    if table.game.status != Game.Status.OPEN:
        raise Denied("already_started", "The game has already started. Reload the page to see it.", version=version)
    return table


def _free_seat(table: Table) -> int:
    taken = {seat.index for seat in table.seats}
    free = next((n for n in range(table.game.players) if n not in taken), None)
    if free is None or table.game.status != Game.Status.OPEN:
        raise Denied(
            "full", "Every seat at this table is taken. Join another table, or start one.", version=table.game.version
        )
    return free


def join(*, code: str, viewer: Viewer[User], now: datetime) -> Table:
    """Seat this person at an open table. Taking the last free seat starts the game.

    :raises Denied: `not_found`, `over`, `already_seated`, `full`; `paused` if that starts the game after a restore;
        `forbidden` if staff removed this person from the table, or if they have as many tables as `table_limits`
        allows.
    """
    with transaction.atomic():
        table, user = _open_table(code, viewer), viewer.user
        game = table.game
        if table.seat_of(user) is not None:
            raise Denied("already_seated", "You already have a seat at this table.", version=game.version)
        if conduct.removed_by_staff(game.code, user):
            raise Denied("forbidden", TAKEN_OFF, version=game.version)
        _check_program(user, allowed=game.programs)
        seat = _person(game, _free_seat(table), user)
        table_limits.check_all(user)
        if len(table.seats) + 1 < game.players:  # it will still wait for people
            table_limits.check_open(user)
            seating.people_changed(game, now=now)
        seat.save()
        invitations.join(game=game, user=user, now=now)
        _seat(table, seat, viewer.user, now)
        return table


class Joined(NamedTuple):
    """The table at which a visitor has sat down, and the guest to log them in as."""

    table: Table
    guest: User
    new: bool  # False if an earlier submission of the form made the guest


def join_as_guest(
    *,
    code: str,
    now: datetime,
    links: Collection[str] = (),
    name: str | None = None,
    time_zone: str = "UTC",
    form_key: str | None = None,
) -> Joined:
    """Create a guest for a visitor and seat the guest, in this time zone, or do neither.

    :param form_key: the key of the submitted form, or None if it is unknown. The
        same form makes one guest, as long as that guest has the seat and for `REPEAT_WINDOW`.
    :raises Denied: `not_found`, `over`, `full`.
    :raises ValidationError: the `name` is not allowed, or not free.
    """
    with transaction.atomic():
        table = _open_table(code, Viewer(None, links))  # of two requests at once, the second waits here for the first
        username = None if form_key is None else guest_username(form_key)
        for seat in table.seats:
            earlier = seat.user if username and seat.username == username else None
            if earlier is not None and earlier.is_guest and earlier.date_joined > now - REPEAT_WINDOW:
                return Joined(table, earlier, new=False)
        _free_seat(table)
        guest = create_guest(name=name, time_zone=time_zone, username=username)
        return Joined(join(code=code, viewer=Viewer(guest, links), now=now), guest, new=True)


def leave_table(*, code: str, viewer: Viewer[User], now: datetime) -> Table:
    """Leave a table that has not started.

    If the host leaves, the next person becomes the host. If the last person leaves, the table is closed.

    :raises Denied: `not_found`, `over`, `not_seated`, `already_started`.
    """
    with transaction.atomic():
        table, user = _open_table(code, viewer), viewer.user
        game = table.game
        seat = queries.require_seat(table, user)
        if game.status != Game.Status.OPEN:
            message = "The game has started. To leave it now, resign with the move “leave”."
            sentence = N_("The game has started. To leave it now, resign.")
            raise Denied("already_started", sentence, message=message, version=game.version)
        Seat.objects.filter(game=game, index=seat).delete()
        table.seats = [other for other in table.seats if other.index != seat]
        people = [other for other in table.seats if other.user_id is not None]
        if not people:
            rounds.call_off(game, now=now)
            return table
        seating.people_changed(game, now=now)
        if game.host_id == user.pk:
            seating.change_host(game, user_id=people[0].user_id, now=now)
        announce.changed(game)
        return table


def start(*, code: str, viewer: Viewer[User], now: datetime) -> Table:
    """Start the viewer's table with the players seated so far.

    :raises Denied: `not_found`, `over`, `not_seated`, `already_started`, `too_few_players`; `paused` after a restore;
        `forbidden` if the viewer is not the host, or already has as many tables against bots alone as `table_limits`
        allows.
    """
    with transaction.atomic():
        table = _hosted_table(code, viewer)
        if len(table.seats) < rules.MIN_PLAYERS:
            raise Denied("too_few_players", "A game needs two players: invite someone or add a bot.", rule="SETUP-1")
        check_not_frozen(table.game)
        _start(table, viewer.user, now)
        return table


def check_not_frozen(game: Game | None = None) -> None:
    """Check that no restore has stopped the games. A new game would run, and this copy may not be the one that counts.

    :raises Denied: `paused`.
    """
    if backlog.is_frozen():
        raise frozen(None if game is None else game.version)


def _seat(table: Table, seat: Seat, by: User, now: datetime) -> None:
    """Add a saved seat to `table`, and start the game if it was the last one. The caller holds the game's lock.

    :raises Denied: `paused` if that starts the game after a restore.
    """
    table.seats.append(seat)
    table.seats.sort(key=lambda other: other.index)
    if len(table.seats) == table.game.players:
        check_not_frozen(table.game)
        _start(table, by, now)
    else:
        announce.changed(table.game)


def _start(table: Table, by: User, now: datetime) -> None:
    """Start with the players seated so far, and renumber the seats without gaps. The caller holds the game's lock.

    :param by: the person who started the game, or took or filled the last seat. Gets no notice of the start.
    """
    game = table.game
    if [seat.user_id for seat in table.seats if seat.user_id is not None] == [by.pk]:
        table_limits.check_against_bots(by)  # first, because the person is locked before their seats
    for index, seat in enumerate(table.seats):
        if seat.index != index:
            seat.index = index
            # Saved one by one in ascending order: (game, index) is unique, and a seat only moves down to a free index.
            seat.save(update_fields=["index"])
    invitations.end_waiting(game)
    game.players = len(table.seats)
    game.status, game.started_at = Game.Status.PLAYING, now
    rounds.deal_round(table, number=1, dealer=randomness.source.randrange(len(table.seats)), now=now)
    player_notices.start(table, by=by.pk, now=now)
    announce.rematch_changed(game)
    announce.changed(game)


def add_bot(*, code: str, viewer: Viewer[User], bot: str, now: datetime) -> Table:
    """Seat a bot at the viewer's own open table.

    :raises Denied: `not_found`, `not_seated`, `forbidden`, `malformed`, `already_started`, `full`; `paused` as `join`.
    """
    if bot not in bots.BOTS:
        raise _no_such_bot()
    with transaction.atomic():
        table = _hosted_table(code, viewer)
        game = table.game
        index = _free_seat(table)
        name = randomness.source.choice(_bot_names([seat.name for seat in table.seats]))
        seat = Seat.objects.create(game=game, index=index, bot=bot, name=name, bank=game.terms.bank)
        _seat(table, seat, viewer.user, now)
        return table
