"""Conflicting moves at one instant, through every door at once: exactly one gets in, and the others see how it stands.

Each round posts 32 moves on one version of a game: by the page, by its fragments and by the API over real HTTP, to
gunicorn with processes and threads; and by the bots' own action. `CONFLICT_ROUNDS=500` is the long form.
"""

from __future__ import annotations

import os
import random
import re
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import pytest
from django.utils import timezone

from accounts.actions import create_token
from accounts.models import User
from games import rules
from games.actions import lobby
from games.actions.commit import TURN_MOVES
from games.actions.play import play_seat
from games.models import Game, Move, Seat
from games.queries import Table
from games.refusals import Denied
from games.verify import faults_of
from tests.conftest import logged_in
from tests.support.tables import TWO_HANDS, log_of, now_of, table_at
from tests.support.web import Answer, Site, at_once, page_move, program_move

pytestmark = pytest.mark.django_db(transaction=True)

ROUNDS = int(os.environ.get("CONFLICT_ROUNDS", "4"))
VERSION = re.compile(rb'data-version="(\d+)"')
Call = Callable[[Callable[[], object]], "Outcome"]


class Outcome(NamedTuple):
    """What a door answered: its name, "ok" or the refusal's name, and the version that it showed, if it shows one."""

    door: str
    said: str
    version: int | None


class Hand(NamedTuple):
    """Everything a person moves by."""

    browser: Any
    token: str

    @classmethod
    def of(cls, user: User) -> Hand:
        return cls(logged_in(user), create_token(user=user, name="test"))


def of_page(door: str, answer: Answer) -> Outcome:
    shown = VERSION.search(answer.body)
    said = {200: "ok", 303: "ok", 409: "stale"}.get(answer.status, f"{answer.status}")
    return Outcome(door, said, int(shown[1]) if shown else None)


def of_program(answer: Answer) -> Outcome:
    body = answer.json()
    return Outcome("api", "ok" if answer.status == 200 else body["error"], body["version"])


def by_page(site: Site, hand: Hand, code: str, fields: dict[str, Any], fragment: bool, when: Any) -> Outcome:
    answer = site.send(page_move(hand.browser, code, fields, fragment=fragment), when)
    return of_page("fragment" if fragment else "page", answer)


def by_program(site: Site, hand: Hand, code: str, fields: dict[str, Any], when: Any) -> Outcome:
    return of_program(site.send(program_move(hand.token, code, fields), when))


def by_bot(game_id: int, seat: int, move: rules.Move, version: int, when: Any) -> Outcome:
    when()
    try:
        play_seat(game_id=game_id, seat=seat, move=move, version=version, now=timezone.now())
    except Denied as denied:
        return Outcome("bot", denied.code, denied.version)
    return Outcome("bot", "ok", None)


def new_match(alice: User, bob: User) -> Game:
    """A match of two people, for each of whom a bot stands in as well."""
    table = lobby.create_table(user=alice, options=lobby.TableOptions(players=2, target=5000), now=timezone.now())
    table = lobby.join(code=table.game.code, user=bob, now=timezone.now())
    Seat.objects.filter(game=table.game).update(bot="careful")
    return table.game


def conflicting(site: Site, table: Table, hand: Hand, rng: random.Random) -> list[Call]:
    """32 moves of the seat on turn, made on the version of now."""
    position, code, version = table.playing[2], table.game.code, table.game.version
    legal = rules.legal_moves(position, position.turn, table.options)
    moves = [move for move in legal if move.kind in TURN_MOVES]
    calls: list[Call] = []
    for n in range(32):
        move = rng.choice(moves)
        fields = {"move": str(move), "version": version, "token": f"{version}-{n}"}
        if n % 4 == 3:
            calls.append(partial(by_bot, table.game.pk, position.turn, move, version))
        elif n % 4 == 2:
            calls.append(partial(by_program, site, hand, code, fields))
        else:
            calls.append(partial(by_page, site, hand, code, fields, n % 4 == 1))
    rng.shuffle(calls)
    return calls


def test_of_32_moves_through_every_door_exactly_one_is_accepted(site: Site, alice: User, bob: User) -> None:
    rng, hands = random.Random(32), {user.pk: Hand.of(user) for user in (alice, bob)}
    accepted: Counter[str] = Counter()
    game = new_match(alice, bob)
    for _ in range(ROUNDS):
        table = now_of(Table(game, [], rules.PRESETS["no-mercy"]))
        version, turn = table.game.version, table.playing[2].turn
        user = table.seats[turn].user_id
        assert user is not None
        outcomes = at_once(conflicting(site, table, hands[user], rng))
        after = now_of(table).game
        assert after.version == version + 1, outcomes
        assert Move.objects.filter(game=game, n=version + 1).count() == 1
        over = {"over"} if after.status == Game.Status.OVER else set()
        assert Counter(one.said in {"stale"} | over for one in outcomes) == {True: 31, False: 1}, outcomes
        winner = next(one for one in outcomes if one.said == "ok")
        accepted[winner.door] += 1
        assert {one.version for one in outcomes if one.said == "stale"} == {version + 1}, outcomes
        if over:
            assert faults_of(game.pk) == []
            game = new_match(alice, bob)
    assert faults_of(game.pk) == []
    assert accepted.total() == ROUNDS
    print("accepted by", dict(accepted))  # the figure of a long run


def repeats(site: Site, hand: Hand, code: str, move: str, version: int, count: int) -> list[Call]:
    """The same move with the same token, by page, fragment and API."""
    fields = {"move": move, "version": version, "token": "the same"}
    doors: list[Call] = [
        partial(by_page, site, hand, code, fields, False),
        partial(by_page, site, hand, code, fields, True),
        partial(by_program, site, hand, code, fields),
    ]
    return [doors[n % 3] for n in range(count)]


def test_a_token_sent_50_times_at_once_and_50_times_later_moves_once(site: Site, alice: User, bob: User) -> None:
    table = table_at(TWO_HANDS, [alice, bob])
    code, hand, other = table.game.code, Hand.of(alice), Hand.of(bob)
    first = at_once(repeats(site, hand, code, "play r5", 0, 50))
    assert {one.said for one in first} == {"ok"}, first
    assert {one.version for one in first if one.door != "page"} == {1}
    assert log_of(table) == ["0 play r5"]
    site.restart()
    again = at_once(repeats(site, hand, code, "play r5", 0, 25))
    assert {(one.said, one.version) for one in again if one.door != "page"} == {("ok", 1)}, again
    assert by_program(site, other, code, {"move": "play r4", "version": 1}, lambda: None).said == "ok"
    later = at_once(repeats(site, hand, code, "play r5", 0, 25))
    assert {(one.said, one.version) for one in later if one.door != "page"} == {("ok", 2)}, later
    reused = at_once(repeats(site, hand, code, "draw", 2, 9))
    assert {one.said for one in reused} == {"422", "token_reused"}, reused
    assert log_of(table) == ["0 play r5", "1 play r4"]
