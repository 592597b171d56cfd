"""Test `kill -9` of web, worker, beat, Redis and PostgreSQL at random moments while people play quickly.

In the end every acknowledged move is in the log once and in order, every move whose answer was lost has been settled by
sending its token again, and the log leads to what is stored (tests/support/history.py). The production processes run on
a PostgreSQL of their own. `CRASH_KILLS=50 CRASH_MOVES=10000` is the long form.
"""

from __future__ import annotations

import os
import random
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest
from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import OperationalError, connection
from django.utils import timezone
from pytest_django import DjangoDbBlocker

from accounts.models import User
from games import rules
from games.actions import lobby
from games.models import Game, Round
from games.queries import Viewer
from nomercy.launcher.place import Place
from tests.conftest import Figure
from tests.support.crashes import VICTIMS, Crashes, Supervised, until
from tests.support.database import database_at
from tests.support.history import History, faults_in, observe
from tests.support.players import Hand, Player, Playing
from tests.support.stack import stack

KILLS = int(os.environ.get("CRASH_KILLS", "1"))
MOVES = int(os.environ.get("CRASH_MOVES", "0"))
SEED = int(os.environ.get("CRASH_SEED", "1"))
TABLES_OF = (2, 2, 3, 2)
"""The number of people at each table played at a time. The table of three has a bot as well."""
IN_A_ROW = 4 + (MOVES + 100 * KILLS) // 1000
"""The number of tables that each group plays one after another."""
MOST_MOVES_BETWEEN = 12
PAUSE = 0.02 if KILLS > 1 else 0.1
"""Seconds between two looks of the observer at all tables. In the short form, looks would take most of the time."""


def people_at(playing: Playing, rng: random.Random) -> Iterator[Player]:
    """Return groups of people with started tables, which each group plays one after another."""
    for group, size in enumerate(TABLES_OF):
        users: list[User] = [
            get_user_model().objects.create_user(username=f"player-{group}-{n}", password=f"{rng.random()}")
            for n in range(size)
        ]
        options = lobby.TableChoices(
            players=size + (size == 3), bots=size == 3, bot="random", target=5000, bot_pause=0.0
        )
        codes = []
        for _ in range(IN_A_ROW):
            code = lobby.create_table(user=users[0], choices=options, now=timezone.now()).game.code
            for user in users[1:]:
                lobby.join(code=code, viewer=Viewer(user), now=timezone.now())
            codes.append(code)
        moved = threading.Condition()
        for n, user in enumerate(users):
            seed = random.Random(rng.random())
            yield Player(user.username, Hand.of(user), (group + n) % 2 == 0, codes, moved, playing, seed)


@contextmanager
def under_load(playing: Playing, players: list[Player]) -> Iterator[None]:
    """Let everyone play during the block, and record what is stored. Then settle all moves."""
    threads = [threading.Thread(target=player.run, name=player.name) for player in players]
    threads.append(threading.Thread(target=watch, args=(playing,), name="observer"))
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        playing.stopping.set()
        for thread in threads:
            thread.join()
    assert playing.failed == []


def watch(playing: Playing) -> None:
    """Record what is stored of each table, again and again."""
    try:
        while not playing.stopping.wait(PAUSE):
            for code in sorted(playing.games):
                try:
                    observe(playing.history, code)
                except OperationalError:  # PostgreSQL was killed
                    connection.close()
    except BaseException as error:  # noqa: BLE001  # told by `under_load`
        playing.failed.append(error)
    finally:
        connection.close()


def kill_all(crashes: Crashes, playing: Playing, rng: random.Random) -> None:
    """Kill each victim `KILLS` times in random order, mostly after moves have been accepted again."""
    for _ in range(KILLS):
        for victim in rng.sample(VICTIMS, len(VICTIMS)):
            more = rng.choice((0, rng.randint(1, MOST_MOVES_BETWEEN), MOST_MOVES_BETWEEN))
            until(f"moves made before {victim} is killed", have_moved(playing, more))
            crashes.kill(victim)
    until("everything back", crashes.all_up)
    until("every table going on", all_have_moved_on(playing))
    while len(playing.history.acknowledged) < MOVES and not playing.failed:
        time.sleep(0.1)


def have_moved(playing: Playing, more: int) -> Callable[[], bool]:
    """Return True if people have made this many more moves since the call."""
    wanted = len(playing.history.acknowledged) + more
    return lambda: len(playing.history.acknowledged) >= wanted or bool(playing.failed)


def all_have_moved_on(playing: Playing) -> Callable[[], bool]:
    """Return True if each table has had 3 more moves, bots' included, or has ended."""
    versions = {one.game: one.when[1] for one in playing.history.observed}
    seen_before = len(playing.history.observed)

    def check() -> bool:
        now = {one.game: one.when[1] for one in playing.history.observed[seen_before:]}
        waiting = [code for code in playing.games & versions.keys() if now.get(code, 0) < versions[code] + 3]
        return not waiting or bool(playing.failed)

    return check


CARD = "|".join(sorted(map(re.escape, rules.DECKS["nomercy168"].faces), key=len, reverse=True))
HAND = re.compile(rf"(?:(?<!\w)(?:{CARD})(?!\w)\W{{1,4}}){{3}}")


def words_of(players: list[Player]) -> list[str]:
    """Return the seeds of all rounds, and every token and session, as a log might write them."""
    words = [f"{player.name}-" for player in players]
    for player in players:
        words += [player.hand.token, player.hand.browser.cookies[settings.SESSION_COOKIE_NAME].value]
    for secret in map(bytes, Round.objects.values_list("secret", flat=True)):
        words += [secret.hex(), repr(secret)[2:-1]]
    return words


def secrets_in(text: str, words: list[str]) -> list[str]:
    """Return the secrets in a log, hands and these words, each with some context."""
    found = [match.span() for match in HAND.finditer(text)]
    found += [(text.index(word), text.index(word) + len(word)) for word in words if word in text]
    return [text[max(0, start - 60) : end] for start, end in found]


@pytest.mark.parametrize(
    "line",
    [
        "cards=('r5', 'b+2', 'WC')",
        "Failing row contains (7, 3, 12, r5 b+2 WC y7, null).",
        '{"hand": ["r5","b0","gS","W10"]}',
        'Failing row contains (7, 3, play, {"hands": [["r5", "b+2", "WC"], ["y7"]]}).',
        """UPDATE games_round SET state = '{"hands": [["W6", "W6", "rE"]]}'""",
        "seed 00ff",
    ],
)  # fmt: skip
def test_the_scan_finds_a_hand_and_a_seed_in_a_log(line: str) -> None:
    assert len(secrets_in(f"stack: web ended with -9.\n{line}\n127.0.0.1 r5 b1\n", ["00ff", "token"])) == 1


@pytest.mark.long
@pytest.mark.nginx
@pytest.mark.redis
def test_crashes_neither_lose_nor_double_a_move(
    place: Place, django_db_blocker: DjangoDbBlocker, figure: Figure
) -> None:
    rng, history = random.Random(SEED), History()
    with (
        django_db_blocker.unblock(),
        Supervised(place) as postgres,
        database_at(place),
        stack(RATE_LIMITS="0", LOG_LEVEL="WARNING") as running,
    ):
        playing = Playing(urlsplit(running.url).port or 0, history)
        players = list(people_at(playing, rng))
        crashes = Crashes(running, postgres, rng)
        with under_load(playing, players):
            try:
                kill_all(crashes, playing, rng)
            except AssertionError as error:
                error.add_note(f"killed {dict(crashes.killed)}; the stack said last:\n{''.join(running.said[-80:])}")
                raise
        connection.close()  # it was cut off long ago
        faults = faults_in(history)
        # The figures of a long run.
        figure(f"seed {SEED}; killed {dict(crashes.killed)}; ended {crashes.ended()}\n{history.figures()}")
        figure(f"faults: {dict(Counter(fault.kind for fault in faults))} in {Game.objects.count()} games")
        assert faults == []
        assert Game.objects.filter(status=Game.Status.OPEN).count() == 0
        assert "automatic recovery in progress" in postgres.said
        assert secrets_in("".join(running.said) + postgres.said, words_of(players)) == []
    assert crashes.killed == dict.fromkeys(VICTIMS, KILLS)
    assert len(history.acknowledged) >= MOVES
