"""A table as one viewer may see it: what `rules.view_for` allows, and what is public about the table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import OuterRef, Subquery

from accounts.time_off import TimeOff
from games import rules
from games.models import Game, Move, Round, Seat
from games.models.orders import Orders, orders_of
from games.models.paces import Pace
from games.models.positions import position_of

if TYPE_CHECKING:
    from accounts.models import User
from games.queries.legal import legal_moves
from games.queries.orders import has_orders
from games.queries.tables import Playing, RoundResult, Table, results_of
from games.queries.turn_orders import move_by_order


@dataclass(frozen=True, slots=True)
class SeatView:
    """What everybody sees of one seat.

    `owner` is True if a bot plays for the owner, who can take the seat back. `away_until` is the end of the owner's
    vacation, which may have passed. `sleep` has the quiet hours of an owner who shows them, else None. `username` and
    `avatar` are empty for a bot without an owner and for a deleted person.
    `catch_until` is the end of the callout window of an `exposed` hand, None if none is open (CLOCK-2).
    """

    seat: int
    name: str
    username: str
    avatar: str
    is_program: bool
    bot: str
    cards: int
    uno: bool
    exposed: bool
    out: bool
    left: bool
    score: int
    owner: bool
    bank: int
    misses: int
    away_until: datetime | None
    sleep: TimeOff | None
    catch_until: datetime | None


class LostHand(NamedTuple):
    """The faces of the hand that a player was knocked out with, as they saw them. `side` is the side in force then."""

    faces: tuple[str, ...]
    side: str | None


@dataclass(frozen=True, slots=True)
class GameView:
    """A table as one viewer may see it.

    `you` is the viewer's seat, None for a spectator. `view` is None while the table is open. `pause_ends` is when the
    pause ends by itself, None if it does not. `looked` is True if staff viewed hands while the game was running; it is
    shown once the game is over. `orders` are the viewer's own standing orders, None at a table without them. `lost`
    is the hand that the viewer was knocked out with in this round, None if they were not. `order_move` is the move that
    the viewer's orders would make if it were their turn now, None if none fits. If it is, they make it at `orders_at`,
    None for never.
    """

    id: str
    version: int
    revision: int
    status: str
    preset: str
    options: rules.Options
    target: int
    terms: Pace
    players: int
    bot_pause: float
    public: bool
    programs: bool
    vacations: bool
    hosting: bool
    round: int
    you: int | None
    view: rules.View | None
    seats: tuple[SeatView, ...]
    legal: tuple[rules.Move, ...]
    deadline: datetime | None
    paused: tuple[str, ...]
    time_left: timedelta | None
    pause_ends: datetime | None
    pause_votes: tuple[int, ...]
    misses_allowed: int
    after_misses: str
    winner: int | None
    finished_at: datetime | None
    looked: bool
    points: int | tuple[int, ...] | None
    results: tuple[RoundResult, ...]
    commitment: str | None
    orders: Orders | None = None
    order_move: rules.Move | None = None
    orders_at: datetime | None = None
    lost: LostHand | None = None

    @property
    def names(self) -> list[str]:
        return [seat.name for seat in self.seats]

    @property
    def deal(self) -> int:
        """The number of the current deal, 0 before the first. A round dealt again is a new one with a new number."""
        return self.round

    @property
    def cancelled(self) -> list[int]:
        """The numbers of the rounds that staff have voided."""
        counted = {result.number for result in self.results}
        return [number for number in range(1, self.round) if number not in counted]

    @property
    def ended(self) -> bool:
        """True if the game is over or was called off."""
        return self.status in Game.ENDED

    @property
    def turn(self) -> int | None:
        """The seat that must move, or None."""
        if self.status != "playing" or self.view is None or self.view.phase == "over":
            return None
        return self.view.turn

    @property
    def bot_for_me(self) -> bool:
        """True if a bot plays for the viewer, who can take the seat back. False once they are out of a single round."""
        if self.status != "playing" or self.you is None:
            return False
        seat = self.seats[self.you]
        return seat.owner and not seat.left and not (seat.out and not self.options.is_match)

    @property
    def my_turn(self) -> bool:
        """True if the viewer must move. False while the game is paused or a bot plays for them."""
        return self.you is not None and self.turn == self.you and not self.paused and not self.seats[self.you].bot

    @property
    def plays(self) -> Mapping[rules.Card, Sequence[rules.Move]]:
        """The legal plays of the viewer's cards, by card."""
        found: dict[rules.Card, list[rules.Move]] = {}
        for move in self.legal:
            if move.kind == "play" and move.card is not None:
                found.setdefault(move.card, []).append(move)
        return found

    @property
    def playable_cards(self) -> int:
        """How many cards of the viewer's hand can be played."""
        plays = self.plays
        return sum(card in plays for card in (self.view.hand if self.view else None) or ())

    @property
    def races(self) -> bool:
        """True if cards can be played out of turn at this table."""
        return self.terms.races and self.options.plays_out_of_turn

    @property
    def cost_of_miss(self) -> int:
        """How many points the viewer may get for a card that does not fit out of turn; 0 if it costs none (INT-4)."""
        return rules.cost_of_miss(self.view) if self.view is not None and self.terms.races else 0


class LastHand(NamedTuple):
    """A hand at the end of a round, and whether its player was out of the round or had left the game by then.

    `side` is the side in force by then, None if the deck has one side. `won_by_bot`: it is the winner's, and a bot made
    its last move for the owner of the seat.
    """

    cards: tuple[rules.Card, ...]
    out: bool
    left: bool
    side: str | None = None
    won_by_bot: bool = False


def hands_after(table: Table, number: int) -> list[LastHand]:
    """Return the hands at the end of an earlier round, by seat. Everybody may see them by then (SEE-1)."""
    leaving = Move.objects.filter(game_id=table.game.pk, text="leave", round__number__lte=number).values("seat")
    last = Move.objects.filter(round=OuterRef("pk"), seat=OuterRef("winner")).order_by("-n").values("by_bot")[:1]
    ended = Round.objects.filter(game_id=table.game.pk, number=number, ended_at__isnull=False)
    round_ = ended.annotate(left=ArraySubquery(leaving), by_bot=Subquery(last)).first()
    if round_ is None:
        return []
    position = position_of(round_)
    return [
        LastHand(
            hand,
            seat in position.out,
            seat in round_.left,
            position.extra.side,
            won_by_bot=seat == round_.winner and bool(round_.by_bot),
        )
        for seat, hand in enumerate(position.hands)
    ]


def _seat_view(seat: Seat, playing: Playing | None, view: rules.View | None) -> SeatView:
    n = seat.index
    return SeatView(
        seat=n,
        name=seat.name,
        username=seat.username,
        avatar=seat.avatar,
        is_program=seat.is_program,
        bot=seat.bot,
        cards=view.counts[n] if view else 0,
        uno=bool(view and n in view.declared),
        exposed=bool(view and n in view.exposed),
        out=seat.left or bool(view and n in view.out),
        left=seat.left,
        score=seat.score,
        owner=seat.held_for_owner,
        bank=seat.bank,
        misses=seat.misses,
        away_until=seat.time_off.vacation_until if seat.time_off else None,
        sleep=seat.time_off if seat.time_off and seat.time_off.shows_sleep else None,
        catch_until=playing.hands[n].callout_until if playing else None,
    )


def _lost_hand(playing: Playing | None, mine: Seat | None) -> LostHand | None:
    """Return the hand that the player of a seat lost in the last round, if they play on in the match."""
    if playing is None or mine is None or mine.left or mine.index not in playing.position.out:
        return None
    hand = playing.hands[mine.index]
    return LostHand(tuple(hand.lost), hand.lost_side or None) if hand.lost else None


def _move_by_order(orders: Orders, position: rules.Position, seat: int, options: rules.Options) -> rules.Move | None:
    """Return the move that a player's orders would make if it were their turn, None if none fits."""
    if position.phase == "over" or seat in position.out:
        return None
    if position.turn != seat:
        position = position.replace(turn=seat, phase="play", drawn=None)
    return move_by_order(orders, position, seat, options)


def view_of(table: Table, user: User | None) -> GameView:
    """Return what a person may see of a table. Pages, the API and sockets show nothing else of it."""
    game, playing = table.game, table.playing
    mine = table.own_seat(user)
    you = None if mine is None else mine.index
    view = None
    legal: tuple[rules.Move, ...] = ()
    if playing is not None:
        view = rules.view_for(playing.position, you, table.options)
        can_move = game.status == Game.Status.PLAYING and game.paused_at is None
        if mine is not None and can_move and not mine.bot:
            legal = tuple(legal_moves(table, playing.position, mine.index))
    orders = orders_of(mine) if mine is not None and has_orders(table) else None
    order_move = orders_at = None
    if orders is not None and orders.of_turn and playing is not None and you is not None:
        on_turn = playing.position.turn == you
        order_move = _move_by_order(orders, playing.position, you, table.options)
        orders_at = game.orders_at if on_turn and legal and order_move is not None else None
    results = results_of(table)
    return GameView(
        id=game.code,
        version=game.version,
        revision=game.revision,
        status=game.status,
        preset=game.preset,
        options=table.options,
        target=game.target,
        terms=game.terms,
        players=game.players,
        bot_pause=game.bot_pause,
        public=game.is_public,
        programs=game.programs,
        vacations=game.vacations,
        hosting=user is not None and game.host_id == user.pk,
        round=playing.round.number if playing else 0,
        you=you,
        view=view,
        seats=tuple(_seat_view(seat, playing, view) for seat in table.seats),
        legal=legal,
        deadline=game.deadline,
        paused=tuple(game.paused_reasons),
        time_left=game.time_left,
        pause_ends=game.pause_ends,
        pause_votes=tuple(game.pause_votes),
        misses_allowed=game.misses_allowed,
        after_misses=game.after_misses,
        winner=game.winner,
        finished_at=game.finished_at,
        looked=game.hands_viewed_at is not None and game.ended,
        points=results[-1].outcome.points if results else None,
        results=results,
        commitment=playing.round.commitment if playing else None,
        lost=_lost_hand(playing, mine),
        orders=orders,
        order_move=order_move,
        orders_at=orders_at,
    )
