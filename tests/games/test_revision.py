"""The revision of a game goes up if and only if somebody's page of it changes, whatever happens at the table."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import Final

import pytest
from django.core.exceptions import ValidationError
from django.db import transaction
from django.test import Client
from django.utils import timezone

from accounts.actions import Muted, NameTaken, update_profile
from accounts.models import User
from games import announce, queries
from games.actions import lobby, pauses, seating, sweep
from games.actions.end_seen import mark_end_seen
from games.actions.names import raise_revisions
from games.actions.next_round import deal_next
from games.actions.play import play_move
from games.actions.rematch import ask_rematch
from games.actions.standing_orders import set_orders
from games.clocks import vacations
from games.models import Game
from games.queries import Table, Viewer, view_of
from games.refusals import Denied
from games.staff import people, tables
from tests.conftest import Figure, logged_in, person, staff
from tests.support.clocks import locked
from tests.support.pages import open_table
from tests.support.tables import TWO_HANDS, now_of, table_after, table_at
from tests.support.threads import own_connection
from tests.support.worlds import comparable

pytestmark = pytest.mark.django_db

TRIES: Final = 60
TIMES_PASS: Final = tuple(
    re.compile(pattern)
    for pattern in (
        r"(?s)^.*?(?=<main)|(?<=</main>).*$",
        r'(?<=data-revision=")\d+',
        r"(?<=revision=)\d+",
        r'(?<=data-left=")[\d.]+',
        r"\d+ (?:s|min|h|days?)(?: \d+ h)? (?:left|ago)",
        r"(?<=>)[^<>]*(?=</time>)",
    )
)
"""What else of a page differs without a change at the table: the revision itself, and times that pass."""


class Everybody:
    """Two players, a third person, staff and a visitor, with their browsers and the games whose pages they look at."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.players = [person(name) for name in ("alice", "bob", "charlie")]
        self.admin = staff("ann", "admin")
        alice, bob, _ = self.players
        options = {"interceptions": "exact"}
        if seed % 2:
            self.games = [open_table(alice, players=4, options=options)]
        else:
            self.games = [table_after([alice, bob, "careful"], seed * 5, seed, options=options).game]
        self.browsers = [Client(), *map(logged_in, self.players)]

    @property
    def now(self) -> datetime:
        return timezone.now()

    def someone(self) -> User:
        return User.objects.get(pk=self.rng.choice(self.players).pk)

    def pages(self) -> dict[int, list[str]]:
        """Return what each browser shows of each game, by the number of the game."""
        return {game.pk: [self._page(browser, game) for browser in self.browsers] for game in self.games}

    @staticmethod
    def _page(browser: Client, game: Game) -> str:
        text = comparable(browser.get(game.get_absolute_url())).decode()
        for pattern in TIMES_PASS:
            text = pattern.sub("", text)
        return text

    def revisions(self) -> dict[int, int]:
        return dict(Game.objects.filter(pk__in=[game.pk for game in self.games]).values_list("pk", "revision"))


def _move(here: Everybody, table: Table) -> None:
    if table.playing is None:
        return
    if table.started.over:
        deal_next(game_id=table.game.pk, now=here.now)
        return
    for seat in here.rng.sample(table.seats, len(table.seats)):
        legal = view_of(table, seat.user).legal if seat.user is not None else ()
        if legal:
            text, version = f"{here.rng.choice(legal)}", table.game.version
            assert seat.user is not None
            play_move(code=table.game.code, viewer=Viewer(seat.user), text=text, version=version, now=here.now)
            return


def _time_runs_out(here: Everybody, table: Table) -> None:
    Game.objects.filter(pk=table.game.pk, deadline__isnull=False).update(deadline=here.now - timedelta(seconds=1))
    sweep.sweep(clock=timezone.now)


def _bot_takes_over(here: Everybody, table: Table) -> None:
    if table.playing is not None:
        seat = here.rng.choice([seat.index for seat in table.seats if seat.user_id is not None] or [0])
        locked(table, lambda locked_table: seating.replace_by_bot(locked_table, seat=seat, now=here.now))


def _change_profile(here: Everybody, table: Table) -> None:
    user, rng = here.someone(), here.rng
    name, avatar = rng.choice(("", "Dora", user.display_name)), rng.choice(("", "boat", "crown"))
    update_profile(user=user, display_name=name, time_zone=user.time_zone, now=here.now, avatar=avatar)


def _vacation(here: Everybody, table: Table) -> None:
    user = here.someone()
    if user.time_off.vacation_until is None or user.time_off.vacation_until < here.now:
        vacations.start(user=user, days=2, now=here.now)
    else:
        vacations.end(user=user, now=here.now)


def _ask_rematch(here: Everybody, table: Table) -> None:
    again = ask_rematch(code=table.game.code, viewer=Viewer(here.someone()), now=here.now)
    if again.game.pk not in [game.pk for game in here.games]:
        here.games.append(again.game)


def _end_seen(here: Everybody, table: Table) -> None:
    mark_end_seen(table, here.someone())


def _own_orders(here: Everybody, table: Table) -> None:
    fields = {"intercept": here.rng.choice(("never", "card")), "then_draw": True}
    set_orders(code=table.game.code, viewer=Viewer(here.someone()), fields=fields, now=here.now)


def _at_table(action: Callable[..., object], **fields: object) -> Callable[[Everybody, Table], None]:
    def act(here: Everybody, table: Table) -> None:
        action(code=table.game.code, viewer=Viewer(here.someone()), now=here.now, **fields)

    return act


def _by_staff(action: Callable[..., object], *choices: str, **fields: object) -> Callable[[Everybody, Table], None]:
    def act(here: Everybody, table: Table) -> None:
        values: dict[str, object] = {
            "seat": here.rng.randrange(table.game.players),
            "username": here.someone().username,
            "bot": table.game.status == Game.Status.PLAYING or None,
        }
        more = {name: values[name] for name in choices} | fields
        action(game_id=table.game.pk, by=here.admin, reason="Asked for by both of them", now=here.now, **more)

    return act


def _person_by_staff(action: Callable[..., object], **fields: object) -> Callable[[Everybody, Table], None]:
    def act(here: Everybody, table: Table) -> None:
        who = here.someone().pk
        action(person_id=who, by=here.admin, reason="Asked for by both of them", now=here.now, **fields)

    return act


ACTIONS: Final[dict[str, tuple[int, Callable[[Everybody, Table], None]]]] = {
    "move": (20, _move),
    "time": (3, _time_runs_out),
    "bot takes over": (2, _bot_takes_over),
    "take seat back": (4, _at_table(pauses.take_seat_back)),
    "ask pause": (4, _at_table(pauses.ask_pause)),
    "end pause": (4, _at_table(pauses.resume)),
    "profile": (2, _change_profile),
    "vacation": (2, _vacation),
    "rematch": (4, _ask_rematch),
    "end seen": (1, _end_seen),
    "orders": (2, _own_orders),
    "join": (4, _at_table(lobby.join)),
    "leave": (1, _at_table(lobby.leave_table)),
    "bot sits down": (1, _at_table(lobby.add_bot, bot="careful")),
    "start": (2, _at_table(lobby.start)),
    "say": (1, _by_staff(tables.say, said="Please be kind.")),
    "pause": (1, _by_staff(tables.pause)),
    "resume": (3, _by_staff(tables.resume)),
    "extend": (1, _by_staff(tables.extend, minutes=5)),
    "forgive": (2, _by_staff(tables.forgive, "seat")),
    "void round": (1, _by_staff(tables.void_round)),
    "void game": (1, _by_staff(tables.void_game)),
    "close": (1, _by_staff(tables.close)),
    "remove": (1, _by_staff(tables.remove, "seat", "bot")),
    "move seat": (1, _by_staff(tables.move_seat, "seat", "username")),
    "look": (1, _by_staff(tables.view_hands)),
    "mute": (1, _person_by_staff(people.mute, days=1)),
    "neutral name": (1, _person_by_staff(people.replace_username)),
}
"""What can happen, and how often compared with the others, until it has happened."""

OWN: Final = {"orders", "end seen"}
"""What only the page of the person who does it shows. It raises no revision, and changes no other page."""

OF_A_PERSON: Final = {"profile", "vacation", "mute", "neutral name"}
"""What others see of a person. The worker raises the revisions of all games of the person, whether or not it shows.

Who sits down at a rematch likewise raises the revision of the game before, whose page does not name everybody.
"""


@pytest.mark.long
@pytest.mark.parametrize("seed", [2, 3])  # a game that runs, and a table that waits
def test_each_change_of_a_page_raises_the_revision_and_each_rise_changes_a_page(
    seed: int, monkeypatch: pytest.MonkeyPatch, figure: Figure
) -> None:
    asked: list[tuple[int, bool]] = []
    monkeypatch.setattr(
        announce, "person_changed", lambda user_id, only_running, after=0: asked.append((user_id, only_running))
    )
    here = Everybody(seed)
    done: Counter[str] = Counter()
    before, revisions = here.pages(), here.revisions()
    for _ in range(TRIES):
        weights = [weight / (1 + done[name]) for name, (weight, _) in ACTIONS.items()]
        (name,) = here.rng.choices(list(ACTIONS), weights)
        game = here.rng.choice(here.games)
        table = queries.find(game.pk)
        assert table is not None
        asked.clear()
        try:
            with transaction.atomic():
                ACTIONS[name][1](here, table)
        except (Denied, ValidationError, NameTaken, Muted):
            continue
        done[name] += 1
        for user_id, only_running in asked:
            raise_revisions(user_id=user_id, only_running=only_running)
        pages, raised = here.pages(), here.revisions()
        for number, was in revisions.items():
            changed = [n for n, (old, new) in enumerate(zip(before[number], pages[number], strict=True)) if old != new]
            if name in OWN:
                assert raised[number] == was, name
                assert len(changed) <= 1, name
            elif changed or (name not in OF_A_PERSON and number == game.pk):
                assert bool(changed) == (raised[number] > was), (name, changed, was, raised[number])
        before, revisions = pages, raised
    figure(f"{sum(done.values())} acts of {len(done)} kinds")


def test_a_vacation_raises_the_revisions_of_running_games_only(alice: User, bob: User) -> None:
    running, ended = table_at(TWO_HANDS, [alice, bob]), table_at(TWO_HANDS, [alice, bob])
    Game.objects.filter(pk=ended.game.pk).update(status=Game.Status.OVER)
    assert raise_revisions(user_id=alice.pk, only_running=True) == 1
    assert [now_of(table).game.revision for table in (running, ended)] == [1, 0]


@pytest.mark.django_db(transaction=True)
def test_a_new_name_and_somebody_who_joins_a_rematch_do_not_wait_for_each_other(
    alice: User, bob: User, charlie: User
) -> None:
    old = table_at(TWO_HANDS, [alice, bob, charlie])
    Game.objects.filter(pk=old.game.pk).update(status=Game.Status.OVER, winner=0)
    again = ask_rematch(code=old.game.code, viewer=Viewer(alice), now=timezone.now())

    def rename() -> int:
        return sum(raise_revisions(user_id=alice.pk, only_running=False) for _ in range(10))

    def join_and_leave() -> int:
        for act in (lobby.join, lobby.leave_table) * 10:
            act(code=again.game.code, viewer=Viewer(bob), now=timezone.now())
        return 20

    with ThreadPoolExecutor() as threads:
        assert list(threads.map(own_connection, [rename, join_and_leave])) == [20, 20]
