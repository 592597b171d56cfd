"""The front page of a logged-in user: their current games in groups, or their finished games."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from django.urls import reverse
from django.utils.http import urlencode

from common.readers_language import say
from common.say import N_
from games.queries import GameView, RematchState
from games.queries.invitations import Invited
from games.render import words
from games.render.game_cards import GameCard, about_open, ended_card, game_card, open_card
from games.render.new_table import PRESET_CARDS, PresetCard
from games.render.page import rematch_button
from games.render.rulebook import new_table_url, rules_url


class InvitationLine(NamedTuple):
    """An invitation that waits for the reader's answer: who invites them to what, and where the answers go."""

    sentence: str
    about: str
    url: str
    join_url: str
    decline_url: str


class Group(NamedTuple):
    """Games under one heading. Without games it shows the sentence `empty`; without both it is left out.

    `urgent`: they wait for the reader. `whole`: these are all games of the group, so the heading counts them.
    """

    id: str
    title: str
    games: Sequence[GameCard]
    empty: str = ""
    urgent: bool = False
    whole: bool = True


@dataclass(frozen=True, slots=True)
class ListPart:
    """The part of a list that a page shows: `count` games after the first `before`. A full page has `size` games.

    `more`: the list goes on after this part.
    """

    before: int
    count: int
    size: int
    more: bool

    @property
    def whole(self) -> bool:
        """Return True if the page shows the whole list."""
        return not (self.before or self.more)


class PresetDoor(NamedTuple):
    """A preset on the page of a visitor, with the addresses of a new table with it and of its rules."""

    card: PresetCard
    new_table_url: str
    rules_url: str


class VisitorsPage(NamedTuple):
    """The front page of a visitor. `going_on` says how many games are in progress, and is empty if none is."""

    open_tables: Group
    presets: Sequence[PresetDoor]
    going_on: str


@dataclass(frozen=True, slots=True)
class HomePage:
    """The front page.

    `url` is the address of the page, and `now` when it was made, in ISO 8601. `groups` are the reader's games,
    `invitations` those that they have not answered, and `open_tables` the tables where anybody can sit down.
    `most_urgent` is the game whose move is due first, None if none has a deadline. `finished`: the page lists finished
    games. `shown` says which of the reader's games are on the page, empty if all are. `previous_url` and `next_url`
    lead to the pages beside it, empty where there is none. `left_guest` is the name of the guest that this browser was
    before it logged in, empty if that guest has no games. `away_until` is the end of the reader's vacation, if they are
    away. `offers_push`: it offers notifications on the reader's devices.
    """

    url: str
    now: str
    groups: Sequence[Group]
    invitations: Sequence[InvitationLine]
    open_tables: Group
    most_urgent: GameCard | None
    finished: bool
    shown: str
    previous_url: str
    next_url: str
    left_guest: str
    away_until: datetime | None
    offers_push: bool

    @property
    def empty(self) -> bool:
        """True if the reader has no games, and nothing waits for their answer."""
        return not (self.finished or self.shown or self.invitations or any(group.games for group in self.groups))

    @property
    def asks_rematch(self) -> bool:
        """True if a game on the page has a rematch button."""
        return any(game.rematch for group in self.groups for game in group.games)


def visitors_page(open_tables: Sequence[GameView], playing: int) -> VisitorsPage:
    """Return the front page of a visitor. `playing` is the number of games in progress."""
    one, many = N_("{n} game is in progress."), N_("{n} games are in progress.")
    return VisitorsPage(
        open_group(open_tables),
        [PresetDoor(card, new_table_url(card.name), rules_url(card.name)) for card in PRESET_CARDS],
        say.plural("home", one, many, playing) if playing else "",
    )


def open_group(views: Sequence[GameView]) -> Group:
    """Return the group of the tables where anybody can sit down."""
    return Group("open", say.text("home", "Open tables"), [open_card(view) for view in views])


def home_page(
    groups: Sequence[Group],
    part: ListPart,
    *,
    invitations: Sequence[Invited],
    open_tables: Sequence[GameView],
    finished: bool,
    left_guest: str,
    away_until: datetime | None,
    offers_push: bool,
    now: datetime,
) -> HomePage:
    """Return the front page that shows this part of the reader's games, and where they can sit down."""
    first, last = part.before + 1, part.before + part.count
    waiting = [game for group in groups if group.urgent for game in group.games if game.deadline]
    return HomePage(
        url=_page_url(first, finished=finished),
        now=words.exact(now),
        groups=groups,
        invitations=[_invitation(invited) for invited in invitations],
        open_tables=open_group(open_tables),
        most_urgent=waiting[0] if waiting and not part.before else None,
        finished=finished,
        shown=""
        if part.whole or not part.count
        else say.text("home", "Games {first} to {last}", first=first, last=last),
        previous_url=_page_url(max(1, first - part.size), finished=finished) if part.before else "",
        next_url=_page_url(last + 1, finished=finished) if part.more else "",
        left_guest=left_guest,
        away_until=away_until,
        offers_push=offers_push,
    )


def _invitation(invited: Invited) -> InvitationLine:
    view = invited.view
    pattern = N_("{name} invites you to a rematch") if invited.rematch else N_("{name} invites you to a game")
    return InvitationLine(
        sentence=say.text("home", pattern, name=invited.host),
        about=about_open(view, invited.taken),
        url=words.table_url("game", view.id),
        join_url=words.table_url("join", view.id),
        decline_url=reverse("decline", args=[invited.number]),
    )


def _page_url(first: int, *, finished: bool) -> str:
    """Return the address of the page that begins with game number `first`."""
    query: dict[str, int] = {"finished": 1} if finished else {}
    if first > 1:
        query["from"] = first
    return f"{reverse('home')}?{urlencode(query)}" if query else reverse("home")


def current_groups(
    mine: Sequence[GameView], rematches: Mapping[str, RematchState], part: ListPart, now: datetime
) -> list[Group]:
    """Return the groups of the reader's games that have not ended, or whose end the reader has not seen.

    `mine` are the `part` of these games that the page shows, and `rematches` those of games that have ended, by code.
    Games that wait for the reader come first, so the first page shows whether there are any.
    """
    turn = [game_card(view, now) for view in mine if view.my_turn]
    waiting = [game_card(view, now) for view in mine if not view.my_turn and view.status in ("open", "playing")]
    ended = _ended_cards([view for view in mine if view.ended], rematches, now)
    none_waits = "" if part.before else say.text("home", "No game needs you. Start one?")
    return [
        Group("turn", say.text("home", "Your turn"), turn, none_waits, urgent=True, whole=part.whole),
        Group("wait", say.text("home", "Waiting for others"), waiting, whole=part.whole),
        Group("over", say.text("home", "Just finished"), ended, whole=part.whole),
    ]


def finished_group(
    mine: Sequence[GameView], rematches: Mapping[str, RematchState], part: ListPart, now: datetime
) -> Group:
    """Return the one group of games that have ended. `mine` and `part` are as in `current_groups`."""
    games = _ended_cards(mine, rematches, now)
    none = N_("There are no more games.") if part.before else N_("You haven’t finished a game yet.")
    return Group("finished", say.text("home", "Finished"), games, say.text("home", none), whole=part.whole)


def _ended_cards(views: Sequence[GameView], rematches: Mapping[str, RematchState], now: datetime) -> list[GameCard]:
    return [ended_card(view, rematch_button(rematches.get(view.id))[0], now) for view in views]
