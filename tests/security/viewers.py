"""Viewers of a running game. Each requests every URL and sends moves, in worlds that differ in hidden cards."""

from __future__ import annotations

import os
import random
import re
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from accounts.models import User
from games import queries, rules
from games.queries import GameView, Table
from tests.security.test_permissions import Row, declared, rows
from tests.security.world import ROLES, World
from tests.support.swaps import SWAPS
from tests.support.tables import now_of, table_after
from tests.support.worlds import CollectedLog, Reader, Transcript, another_world, fetched, undone

PLAYERS: Final = ("seated", "opponent", "seated moderator")
"""The roles of the players of a world, by seat."""
LOOKERS: Final = ROLES if "SWAP_ANSWERS" in os.environ else ("seated", "spectator", "moderator", "seated moderator")
"""The roles for which games with hidden faces and with orders are looked at. The others see what one of these sees."""
MOVES: Final = 15
"""The most moves between two comparisons."""


class Kind(NamedTuple):
    """A kind of game. Each variant gets a row."""

    preset: str
    public: bool = True
    options: Mapping[str, object] | None = None


KINDS: Final = (
    Kind("no-mercy"),
    Kind("flip"),
    Kind("house-party"),
    Kind("no-mercy", public=False),
    Kind("classic"),
    Kind("flip", options={"flip_backs": "hidden", "stacking": "any"}),
    Kind("playroom-no-mercy"),
    Kind("playroom"),
)
ABOUT_GAMES: Final = re.compile(r"/$|/next/|/games/|/people/|/api/v1/(games|me)|/admin/games/(game|round|move)/$")
"""The URLs that a viewer of a `few` requests."""
THE_GAME: Final = re.compile(
    r"/games/<slug:code>/(log/|record/)?$|/api/v1/games/<code>(/moves|/record)?$|/admin/games/game/$"
)
"""The URLs of one game, where `test_swap_leaks.py` and others put leaks."""


def number_cards(view: GameView) -> list[str]:
    """Return at most two moves that play a plain number; none from a hand of one card, because that shows all hands."""
    hand = view.view.hand or () if view.view else ()
    return [f"play {card}" for card in hand if re.fullmatch(r"[rygboput][1-689]", card)][:2] if len(hand) > 1 else []


def other_moves(view: GameView) -> list[str]:
    """Return moves that are refused or that no hidden card decides. Leaves out drawing on turn, which shows a card."""
    hand = view.view.hand or () if view.view else ()
    sides = rules.DECKS[view.options.deck].sides
    not_held = [f"play {next(card for card in side.faces if card not in hand)}" for side in sides]
    out_of_turn = [] if view.turn == view.you else ["draw", "pass", "challenge"]
    return [*not_held, "uno", "buzz", *(f"catch {seat.seat}" for seat in view.seats), "dance", "", *out_of_turn]


class Viewer(Reader):
    """A viewer with a role in the world, who requests URLs and sends moves, with `few` only three of them.

    The URLs are those that match `about`. Without `refused` they are only those that answer this role, and those about
    games, without the pages of acts that are not on a game.
    """

    def __init__(
        self, world: World, role: str, *, few: bool, about: re.Pattern[str] | None = None, refused: bool = True
    ) -> None:
        super().__init__(world.people[role], world.browsers[role])
        self.role = role
        self.few = few
        if few and about is None:
            about = ABOUT_GAMES
        self.paths = [
            world.url(row.address, row.act)
            for row in rows()
            if row.address.name not in NOT_ASKED
            and (about is None or about.match(row.key))
            and (refused or answers(row, role) or ABOUT_GAMES.match(row.key))
            and (refused or not row.act or row.address.name == "admin:games_game_act")
        ]

    def transcript(self, table: Table, *, pages: bool) -> Transcript:
        with CollectedLog() as collected:
            read = self._gets(table) | self._posts(table)
        return read | {"the server's log": "\n".join(collected.lines).encode()}

    def _gets(self, table: Table) -> Transcript:
        page = f"/games/{table.game.code}/"
        read = {path: fetched(self.browser, path) for path in [*self.paths, f"{page}?sort=color", f"{page}?uno=1"]}
        read["the game's fragment"] = fetched(self.browser, f"{page}?since=0", fragment=True)
        return read

    def _posts(self, table: Table) -> Transcript:
        view = queries.view_of(table, self.user)
        tries = [(text, view.version) for text in number_cards(view) + other_moves(view)]
        tries.append((tries[0][0], view.version - 1))
        read: Transcript = {}
        for text, version in tries[:2] + tries[-1:] if self.few else tries:
            for door, answer in self._move(table.game.code, {"move": text, "version": version}).items():
                read[f"{text!r} on version {version} by {door}"] = answer
        return read

    def _move(self, code: str, form: dict[str, object]) -> Transcript:
        """Return the answers to a move by page, fragment and API. Each is undone."""
        page, call = f"/games/{code}/move/", f"/api/v1/games/{code}/moves"
        read: Transcript = {}
        with undone():
            read["the page"] = fetched(self.browser, page, form=form)
            read["the page, and its page then"] = fetched(self.browser, f"/games/{code}/")
        with undone():
            read["the page's fragment"] = fetched(self.browser, page, form=form, fragment=True)
        with undone():
            read["the API"] = fetched(self.browser, call, form=form, program=True)
        return read


def answers(row: Row, role: str) -> bool:
    """Return True if a GET by this role is declared to be answered, neither refused nor sent to another page."""
    return declared()[row.key][ROLES.index(role)] == "."


NOT_ASKED: Final = {
    "mfa_activate_totp": "shows a new random secret each time",
    "mfa_add_webauthn": "has a new random challenge each time",
    "mfa_authenticate": "likewise",
    "mfa_login_webauthn": "likewise",
    "mfa_reauthenticate_webauthn": "likewise",
    "readyz": "tells by the clock of the process how long no sweep has run",
    "api-v1:openapi-view": "is made of the API's code, and takes as long as ten pages",
    "api-v1:openapi-json": "likewise",
}
"""URLs whose answers are not compared, and why."""


class Compared:
    """What has been compared so far, and the differences."""

    def __init__(self) -> None:
        self.answers = 0
        self.games = 0
        self.different: list[str] = []
        self.pairs: set[tuple[str, str]] = set()

    def look(self, table: Table, viewer: Viewer, swaps: list[str], rng: random.Random) -> None:
        """Compare all answers to this viewer before and after each of these swaps."""
        here = viewer.looks(table, pages=True)
        for name in swaps:
            with another_world(table, viewer.hidden_from(table), rng, SWAPS[name]) as other:
                if other is None:
                    continue
                there = viewer.looks(other, pages=True)
            self.answers += len(here)
            self.pairs.add((viewer.role, name))
            told = [question for question in here if here[question] != there.get(question)]
            self.different += [f"{viewer.role}, {name}, version {table.game.version}: {question}" for question in told]


def played_on(world: World, table: Table, rng: random.Random, *, most: int = MOVES) -> Table:
    """Make a few random moves with the players' browsers, fewer if the round ends; return the table."""
    for _ in range(rng.randint(1, most)):
        position = table.started.position
        if position.phase == "over":
            break
        move = rng.choice(rules.legal_moves(position, position.turn, table.options))
        form = {"move": str(move), "version": table.game.version}
        answer = world.browsers[PLAYERS[position.turn]].post(f"/games/{table.game.code}/move/", form)
        assert answer.status_code == 303, (str(move), answer.content.decode())
        table = now_of(table)
    return table


def game_of(kind: Kind, seed: int) -> tuple[World, Table]:
    """Return a world and its game, which has just been dealt."""
    tables: list[Table] = []

    def deal(people: Sequence[User]) -> Table:
        tables.append(table_after(people, 0, seed, preset=kind.preset, options=kind.options))
        return tables[0]

    world = World(deal, public=kind.public)
    return world, now_of(tables[0])
