"""Test that of many conflicting moves at one instant exactly one is accepted, and the others see the new state.

Each round makes 32 moves on one version of a game: by pages, fragments and the API over real HTTP, to a page server
with several processes and threads; by bots; and by the clock, whose deadline often passes at that moment.
`CONFLICT_ROUNDS=500` is the long form.
"""

from __future__ import annotations

import os
import random
import re
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any, NamedTuple

import pytest
from django.utils import timezone

from accounts.models import User
from games import rules
from games.actions import lobby, timeouts
from games.actions.play import play_seat
from games.models import Game, Move, Seat
from games.queries import Table, Viewer
from games.queries.verify import faults_of
from games.refusals import Denied
from games.rules import TURN_MOVES
from tests.conftest import Figure, api_token, logged_in
from tests.support.tables import TWO_HANDS, log_of, now_of, table_at
from tests.support.web import Answer, Site, at_once, page_move, program_move

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]

ROUNDS = int(os.environ.get("CONFLICT_ROUNDS", "3"))
VERSION = re.compile(rb'data-version="(\d+)"')
Call = Callable[[Callable[[], object]], "Outcome"]


class Outcome(NamedTuple):
    """An answer to a move: who sent it, "ok" or the code of the refusal, and the version that it showed, if any."""

    via: str
    result: str
    version: int | None


class Access(NamedTuple):
    """The browser and the API token that a person moves with."""

    browser: Any
    token: str

    @classmethod
    def of(cls, user: User) -> Access:
        return cls(logged_in(user), api_token(user))


def of_page(via: str, answer: Answer) -> Outcome:
    shown = VERSION.search(answer.body)
    result = {200: "ok", 303: "ok", 409: "stale"}.get(answer.status, f"{answer.status}")
    return Outcome(via, result, int(shown[1]) if shown else None)


def of_program(answer: Answer) -> Outcome:
    body = answer.json()
    return Outcome("api", "ok" if answer.status == 200 else body["error"], body["version"])


def by_page(site: Site, access: Access, code: str, fields: dict[str, Any], fragment: bool, when: Any) -> Outcome:
    answer = site.send(page_move(access.browser, code, fields, fragment=fragment), when)
    return of_page("fragment" if fragment else "page", answer)


def by_program(site: Site, access: Access, code: str, fields: dict[str, Any], when: Any) -> Outcome:
    return of_program(site.send(program_move(access.token, code, fields), when))


def by_bot(game_id: int, seat: int, move: rules.Move, version: int, when: Any) -> Outcome:
    when()
    try:
        play_seat(game_id=game_id, seat=seat, move=move, version=version, now=timezone.now())
    except Denied as denied:
        return Outcome("bot", denied.code, denied.version)
    return Outcome("bot", "ok", None)


def by_clock(game_id: int, when: Any) -> Outcome:
    when()
    acted = timeouts.run_out(game_id=game_id, now=timezone.now())
    return Outcome("clock", "acted" if acted else "nothing is due", None)


def new_match(alice: User, bob: User) -> Game:
    """Start a match of two people and a bot."""
    options = lobby.TableChoices(players=3, bots=1, target=5000)
    table = lobby.create_table(user=alice, choices=options, now=timezone.now())
    return lobby.join(code=table.game.code, viewer=Viewer(bob), now=timezone.now()).game


def conflicting(site: Site, table: Table, access_by_user: dict[int, Access], rng: random.Random) -> list[Call]:
    """Return 32 moves on the current version: 24 over HTTP by a person, 4 by the bot and 4 by the clock.

    They are moves of the seat on turn, except those of people and bots that are not on turn, which are refused.
    """
    position, code, version = table.started.position, table.game.code, table.game.version
    legal = rules.legal_moves(position, position.turn, table.options)
    moves = [move for move in legal if move.kind in TURN_MOVES]
    bot = next(seat.index for seat in table.seats if seat.bot)
    access = access_by_user[table.seats[position.turn].user_id or table.seats[0].user_id or 0]
    calls: list[Call] = [partial(by_clock, table.game.pk) for _ in range(4)]
    for n in range(28):
        move = rng.choice(moves)
        fields = {"move": str(move), "version": version, "token": f"{version}-{n}"}
        if n >= 24:
            calls.append(partial(by_bot, table.game.pk, bot, move, version))
        elif n % 3 == 2:
            calls.append(partial(by_program, site, access, code, fields))
        else:
            calls.append(partial(by_page, site, access, code, fields, n % 3 == 1))
    rng.shuffle(calls)
    return calls


def accepted_by(table: Table, outcomes: list[Outcome], after: Game) -> str:
    """Return who got their move in. Checks that it is exactly one, and that all others were told the new state."""
    lines = list(Move.objects.filter(game=table.game, n__gt=table.game.version).order_by("n"))
    assert [line.n for line in lines] == list(range(table.game.version + 1, after.version + 1)), outcomes
    winners = [one for one in outcomes if one.result == "ok"]
    assert len(winners) <= 1, outcomes
    assert lines, outcomes
    # The clock moves on no version: it may continue for a player who drew a card in time and did no more.
    assert all(line.text.startswith("clock ") for line in lines[len(winners) :]), lines
    too_late = {"stale", "over"} if after.status == Game.Status.OVER else {"stale"}
    person_waits = table.on_turn.bot != ""
    for one in outcomes:
        not_on_turn = {"not_your_turn", "out", "422"} if person_waits != (one.via == "bot") else set()
        assert one in winners or one.result in too_late | not_on_turn | {"acted", "nothing is due"}, outcomes
        assert one.result != "stale" or (one.version or 0) > table.game.version, outcomes
    return winners[0].via if winners else "clock"


def test_of_32_conflicting_moves_exactly_one_is_accepted(site: Site, alice: User, bob: User, figure: Figure) -> None:
    rng, access_by_user = random.Random(32), {user.pk: Access.of(user) for user in (alice, bob)}
    accepted: Counter[str] = Counter()
    game = new_match(alice, bob)
    for _ in range(ROUNDS):
        in_a_moment = timezone.now() + timedelta(milliseconds=rng.randrange(30, 150))
        Game.objects.filter(pk=game.pk, deadline__isnull=False).update(deadline=in_a_moment)
        Seat.objects.filter(game=game, user__isnull=False).update(bot="", misses=0)  # undo replacements by bots
        table = now_of(Table(game, [], rules.PRESETS["no-mercy"]))
        calls = conflicting(site, table, access_by_user, rng)
        outcomes = at_once(calls)
        after = now_of(table).game
        accepted[accepted_by(table, outcomes, after)] += 1
        if after.status == Game.Status.OVER:
            assert faults_of(game.pk) == []
            game = new_match(alice, bob)
    assert faults_of(game.pk) == []
    assert accepted.total() == ROUNDS
    figure(f"{ROUNDS} rounds of 32 moves at one instant, one accepted each, by {dict(accepted)}")


def repeats(site: Site, access: Access, code: str, move: str, version: int, count: int) -> list[Call]:
    """Return calls that send the same move with the same token by page, fragment and API."""
    fields = {"move": move, "version": version, "token": "the same"}
    ways: list[Call] = [
        partial(by_page, site, access, code, fields, False),
        partial(by_page, site, access, code, fields, True),
        partial(by_program, site, access, code, fields),
    ]
    return [ways[n % 3] for n in range(count)]


def test_a_token_sent_20_times_at_once_and_20_times_later_moves_once(
    site: Site, alice: User, bob: User, figure: Figure
) -> None:
    table = table_at(TWO_HANDS, [alice, bob])
    code, access, other = table.game.code, Access.of(alice), Access.of(bob)
    first = at_once(repeats(site, access, code, "play r5", 0, 20))
    assert {one.result for one in first} == {"ok"}, first
    assert {one.version for one in first if one.via != "page"} == {1}
    assert log_of(table) == ["0 play r5"]
    again = at_once(repeats(site, access, code, "play r5", 0, 10))
    assert {(one.result, one.version) for one in again if one.via != "page"} == {("ok", 1)}, again
    assert by_program(site, other, code, {"move": "play r4", "version": 1}, lambda: None).result == "ok"
    later = at_once(repeats(site, access, code, "play r5", 0, 10))
    assert {(one.result, one.version) for one in later if one.via != "page"} == {("ok", 2)}, later
    reused = at_once(repeats(site, access, code, "draw", 2, 9))
    assert {one.result for one in reused} == {"422", "token_reused"}, reused
    assert log_of(table) == ["0 play r5", "1 play r4"]
    figure(f"{len(first + again + later)} posts of one token to two processes, one line; {len(reused)} of another move")
