"""Games in lists: on the front page and on profiles."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from django.utils import timezone

from accounts.zones import formatted
from common.readers_language import say
from common.say import N_
from games import rules
from games.models import Game
from games.queries import GameView, SeatView
from games.render import words
from games.render.mercy import Mercy, mercy_of

SOON: Final = timedelta(hours=1)
"""A move that is due within this time is marked."""


class Opponent(NamedTuple):
    """Another player in a row of a list. `now`: it is their turn. `place` is their place after the reader's seat."""

    name: str
    avatar: str
    cards: int
    mercy: Mercy
    out: bool
    now: bool
    place: int

    @property
    def classes(self) -> str:
        """The CSS classes of the player."""
        found = (f"n-{self.place}", self.mercy.nearness, "out" if self.out else "", "now" if self.now else "")
        return " ".join(filter(None, found))


class GameCard(NamedTuple):
    """A game in a list.

    `what` says what the reader has to do or how the game stands, and `people` who plays. `about` are the rules, the
    pace and the length. `opponents` are the others and their hands, empty before the first deal. `top` is the card on
    top of the discard pile, None before the first deal. `side` is the side in force, None if the deck has one side.
    `due` is the time left for the move, `due_note` its deadline in words and `deadline` in ISO 8601, all empty without
    a deadline. `soon`: the reader must move within `SOON`. `join_url` is empty if the table is not open.

    Of a game that has ended, `rank` says how well the reader did, `ended` on which day that was and `ended_at` when in
    ISO 8601. `rematch` is the label of the button that posts the form `ask-rematch` to `rematch_url`. All are empty
    otherwise, and in lists that have no such button.
    """

    code: str
    url: str
    what: str
    people: str
    about: str
    opponents: tuple[Opponent, ...] = ()
    top: str | None = None
    side: str | None = None
    due: str = ""
    due_note: str = ""
    deadline: str = ""
    soon: bool = False
    join_url: str = ""
    rank: str = ""
    ended: str = ""
    ended_at: str = ""
    rematch: str = ""
    rematch_url: str = ""


def game_card(view: GameView, now: datetime) -> GameCard:
    """Return a game's card for the reader of `view`."""
    deadline = words.deadline_of(view)
    others = words.listed([seat.name for seat in view.seats if seat.seat != view.you])
    return GameCard(
        code=view.id,
        url=words.table_url("game", view.id),
        what=_what(view),
        people=_people(view, others),
        about=about(view),
        opponents=tuple(_opponents(view)) if view.view else (),
        top=view.view.top if view.view else None,
        side=_side(view),
        due=words.time_left(deadline, now) if deadline else "",
        due_note=words.due(deadline, now) if deadline else "",
        deadline=words.exact(deadline) if deadline else "",
        soon=view.my_turn and deadline is not None and deadline - now <= SOON,
    )


RANKS: Final = (
    N_("1st of {players}"),
    N_("2nd of {players}"),
    N_("3rd of {players}"),
    N_("4th of {players}"),
    N_("5th of {players}"),
    N_("6th of {players}"),
    N_("7th of {players}"),
    N_("8th of {players}"),
    N_("9th of {players}"),
    N_("10th of {players}"),
)
"""How the result of a player is said, from the best to the worst."""


def ended_card(view: GameView, rematch: str, now: datetime) -> GameCard:
    """Return the card of a game that has ended. `rematch` is the label of its button, empty for none."""
    ended, rank = view.finished_at, rank_of(view)
    return game_card(view, now)._replace(
        rank="" if rank is None else say.text("list", RANKS[rank], players=len(view.seats)),
        ended=formatted(ended, N_("j M Y")) if ended else "",
        ended_at=words.exact(ended) if ended else "",
        rematch=rematch,
        rematch_url=words.table_url("rematch", view.id) if rematch else "",
    )


def rank_of(view: GameView) -> int | None:
    """Return how many players did better than the reader in a game that is over, None if it has no winner."""
    if view.winner is None or view.you is None:
        return None
    mine = order_of_result(view, view.winner, view.seats[view.you])
    return sum(order_of_result(view, view.winner, seat) < mine for seat in view.seats)


def order_of_result(view: GameView, winner: int, seat: SeatView) -> tuple[int, ...]:
    """Return what sorts the players at the end of a round or a game, the best first.

    The winner is first, and who has left is last. The others are in the order of their points or, after a single round
    that gives only the winner points, of the cards that they held, and of these players those who are out come last.
    """
    by_cards = view.options.scoring == "winner" and not view.options.is_match
    sign = 1 if view.options.scoring == "penalty" else -1
    result = (seat.out, seat.cards) if by_cards else (sign * seat.score,)
    return (seat.seat != winner, seat.left, *result)


def open_card(view: GameView) -> GameCard:
    """Return the card of a table where the reader can sit down."""
    return GameCard(
        code=view.id,
        url=words.table_url("game", view.id),
        what=words.table_name(view),
        people=words.listed([seat.name for seat in view.seats]),
        about=about_open(view, len(view.seats)),
        side=_side(view),
        join_url=words.table_url("join", view.id),
    )


def _opponents(view: GameView) -> Iterator[Opponent]:
    """Yield the other players, in the order of the seats after the reader's, with the places of the game's page."""
    first = -1 if view.you is None else view.you
    for place in range(1, len(view.seats) + (view.you is None)):
        seat = view.seats[(first + place) % len(view.seats)]
        now = seat.seat == view.turn
        yield Opponent(seat.name, seat.avatar, seat.cards, mercy_of(view, seat), seat.out, now, place)


def about_open(view: GameView, taken: int) -> str:
    """Return what a list says of a table that waits for players, with how many seats are taken."""
    seats = say.plural("list", "{n} of {seats} seats taken", "{n} of {seats} seats taken", taken, seats=view.players)
    return " · ".join((seats, about(view)))


def about(view: GameView) -> str:
    """Return the rules of a table, its pace, whether it has no vacations, and the length of a match, in a list."""
    preset = rules.PRESET_TITLES[view.preset]
    kind = say.text("list", "{preset} rules, changed", preset=preset) if words.differences(view) else preset
    pace = say.text("list", "{pace} pace", pace=view.terms.label)
    vacations = "" if view.vacations else say.text("list", "no vacations")
    return " · ".join(filter(None, (kind, pace, vacations, words.length(view) if view.options.is_match else "")))


def _side(view: GameView) -> str | None:
    """Return the side in force, or the first side before the first deal. None if the deck has one side."""
    return view.view.side if view.view else view.options.rules.first.name


def begun_at(game: Game) -> datetime:
    """Return when this table was started, or made if it has not started, in the current time zone."""
    return timezone.localtime(game.started_at or game.created_at)


def _people(view: GameView, others: str) -> str:
    if not others:
        return words.table_name(view)
    return others if view.you is None else say.text("list", "with {names}", names=others)


def _what(view: GameView) -> str:
    """Return what the reader has to do, or how the game stands."""
    if view.view is None:
        free = view.players - len(view.seats)
        return say.plural("list", "Waiting for {n} more player", "Waiting for {n} more players", free)
    if not view.bot_for_me:
        return words.task(view)
    bot = say.text("list", "A bot plays for you")
    return bot if view.turn == view.you else " · ".join((bot, words.headline(view)))
