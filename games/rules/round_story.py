"""What finished each player of a round, how it was won, and what each player did in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from games.rules.cards import Card
from games.rules.events import Event
from games.rules.key_moments import LoggedMove


class Blow(NamedTuple):
    """What put a player out of a round, or won it, as can be seen after line ``n``.

    ``card`` is the card that did it and ``by`` the seat that played it. Nobody else did anything to a player who drew
    too many cards in their own turn (``by`` is None), and who caught a missing UNO call needed no card. ``stack`` is
    the number of owed cards, 0 if it was no stack. ``side`` is the side that was in force, None before any Flip.
    """

    n: int
    card: Card | None = None
    by: int | None = None
    stack: int = 0
    side: str | None = None


class Feats(NamedTuple):
    """What a player did: the biggest stack that they ``sent`` to another, the biggest that they drew and ``survived``,
    and the number of cards ``drawn``.
    """

    sent: int = 0
    survived: int = 0
    drawn: int = 0


class RoundStory(NamedTuple):
    """How a round went: ``outs`` has what knocked out each seat, ``win`` what won it, and ``feats`` one for each seat.

    ``win`` is None for a round that nobody has won, and its card is None if it was won without one.
    """

    outs: Mapping[int, Blow]
    win: Blow | None
    feats: tuple[Feats, ...]


def round_story(lines: Iterable[LoggedMove], players: int) -> RoundStory:
    """Return how a round went, from all lines of its log.

    Of the lines of several rounds, ``feats`` are those of all of them, and the rest is of the last one.
    """
    walk = _Walk(players)
    for line in lines:
        walk.add(line)
    return RoundStory(walk.outs, walk.win, tuple(map(Feats, walk.sent, walk.survived, walk.drawn)))


_PAID: Final = ("stack", "debt")
"""The reasons for which owed cards are drawn."""


class _Walk:
    """The round up to a line of its log.

    ``debt`` is the open stack or roulette. ``played`` is the card of the line, and ``cause`` what makes players draw in
    it. ``taken`` are the stacks that were drawn in it, by seat. ``last_cards`` are those of players who went out and
    wait for a stack.
    """

    def __init__(self, players: int) -> None:
        self.sent = [0] * players
        self.survived = [0] * players
        self.drawn = [0] * players
        self._begin()

    def _begin(self) -> None:
        self.outs: dict[int, Blow] = {}
        self.win: Blow | None = None
        self.debt = Blow(0)
        self.last_cards: dict[int, Blow] = {}
        self.side: str | None = None

    def add(self, line: LoggedMove) -> None:
        """Follow one line."""
        if self.win is not None:
            self._begin()
        self.played = self.cause = Blow(line.n, side=self.side)
        self.taken: dict[int, int] = {}
        for event in line.events:
            self._follow(event)
        for seat, stack in self.taken.items():
            self.survived[seat] = max(self.survived[seat], stack)

    def _follow(self, event: Event) -> None:
        match event.kind:
            case "played":
                self.played = self.cause = self.played._replace(card=event.card, by=event.seat)
            case "caught":
                self.cause = Blow(self.played.n, by=event.seat)
            case "flipped":
                self.side = event.reason
            case "owes" | "owes_color" | "aimed":
                self._owe(event)
            case "drew" | "turned_over":
                self._draw(event)
            case "knocked_out":
                self.taken.pop(event.seat, None)
                self.outs[event.seat] = self.cause if self.cause.by != event.seat else self.cause._replace(by=None)
            case "went_out":
                self.last_cards[event.seat] = self.played
            case "came_back":
                self.last_cards.pop(event.seat, None)
            case "won":
                self.win = self._won(event)

    def _owe(self, event: Event) -> None:
        amount = event.amount or 0
        self.debt = self.played._replace(stack=amount)
        if self.played.by is not None and self.played.by != event.seat:
            self.sent[self.played.by] = max(self.sent[self.played.by], amount)

    def _draw(self, event: Event) -> None:
        self.drawn[event.seat] += event.amount or 0
        if event.kind == "turned_over" or event.reason in _PAID:
            self.cause = self.debt._replace(n=self.played.n)
            self.taken[event.seat] = self.debt.stack
            self.debt = Blow(0)

    def _won(self, event: Event) -> Blow:
        if event.seat in self.last_cards:
            return self.last_cards[event.seat]
        if event.reason == "last_one_in":
            # The last knock-out, if it is in this line: a player may have left instead.
            here = (blow for blow in self.outs.values() if blow.n == self.played.n)
            return next(here, Blow(self.played.n))
        return self.played
