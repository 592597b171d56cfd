"""Test several plays of one seat that are sent together: all are saved, or none (RUN-6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from accounts.models import User
from games.actions.play import MOST_STEPS, play_move, play_seat
from games.models import Game, Move, Seat
from games.queries import Table, Viewer
from games.refusals import Denied
from games.rules import parse_move
from tests.support.races import STRAIGHT
from tests.support.tables import NOON, log_of, now_of, table_at

pytestmark = pytest.mark.django_db

LATER = NOON + timedelta(hours=1)


def send(table: Table, user: User, *lines: str, **given: Any) -> Table:
    first, *then = lines
    given.setdefault("version", now_of(table).game.version)
    return play_move(code=table.game.code, viewer=Viewer(user), text=first, then=then, now=LATER, **given)


def refused(table: Table, user: User, *lines: str, **given: Any) -> Denied:
    """Send lines that must be refused, and return the refusal. Nothing may have changed."""
    before = now_of(table)
    with pytest.raises(Denied) as caught:
        send(table, user, *lines, **given)
    after = now_of(table)
    assert (after.game.version, after.started.position) == (before.game.version, before.started.position)
    return caught.value


@pytest.fixture(params=["standard", "live"])
def table(request: pytest.FixtureRequest, alice: User, bob: User, charlie: User) -> Table:
    return table_at(STRAIGHT, [alice, bob, charlie], preset="house-party", pace=request.param)


def test_a_straight_sent_with_its_play_is_saved_whole(table: Table, alice: User) -> None:
    returned = send(table, alice, "play r4", "play r5", "play r6 uno")
    after = now_of(table)
    assert log_of(table) == ["0 play r4", "0 play r5", "0 play r6 uno"]
    assert returned.game.version == after.game.version == 3
    assert returned.started.position == after.started.position
    assert (after.started.position.hands[0], after.started.position.turn) == (("b9",), 1)
    assert after.started.position.declared == (0,)


def test_the_next_player_gets_the_time_of_a_whole_turn(alice: User, bob: User, charlie: User) -> None:
    table = table_at(STRAIGHT, [alice, bob, charlie], preset="house-party", deadline=LATER + timedelta(hours=5))
    send(table, alice, "play r4", "play r5", "play r6 uno")
    after = now_of(table)
    assert after.seats[0].bank == 5 * 3600
    assert after.game.deadline == LATER + timedelta(hours=48)


def test_a_call_missing_in_a_straight_can_be_caught(table: Table, alice: User) -> None:
    send(table, alice, "play r4", "play r5", "play r6")
    after = now_of(table)
    assert after.started.position.exposed == (0,)
    assert after.started.hands[0].callout_until == LATER + timedelta(seconds=table.game.terms.callout)


def test_a_straight_can_end_the_round(alice: User, bob: User) -> None:
    hands = [["r4", "r5"], ["r1", "g2"]]
    table = table_at({**STRAIGHT, "hands": hands}, [alice, bob], preset="house-party")
    send(table, alice, "play r4 uno", "play r5")
    assert (now_of(table).game.status, now_of(table).game.winner) == (Game.Status.OVER, 0)


@pytest.mark.parametrize(
    ("lines", "failed", "code"),
    [
        (["play r4", "play r5", "play r8"], "Card 3 (play r8)", "not_your_turn"),
        (["play r4", "play r6"], "Card 2 (play r6)", "not_your_turn"),
        (["play b9", "play r4"], "Card 1 (play b9)", "not_matching"),
    ],
)
def test_a_refusal_names_the_card_and_nothing_is_played(
    alice: User, bob: User, lines: Sequence[str], failed: str, code: str
) -> None:
    table = table_at({**STRAIGHT, "hands": STRAIGHT["hands"][:2]}, [alice, bob], preset="house-party")
    denied = refused(table, alice, *lines)
    assert (denied.code, denied.status) == (code, 422)
    assert denied.message.startswith(f"{failed}: ")


@pytest.mark.parametrize("pace", ["standard", "live"])
def test_an_interception_or_a_miss_cannot_follow_a_play(alice: User, bob: User, pace: str) -> None:
    position = {**STRAIGHT, "hands": [["r4", "b4", "b9"], ["r1", "g2"]]}
    table = table_at(position, [alice, bob], preset="house-party", pace=pace)
    assert refused(table, alice, "play r4", "play b4").code == "not_your_turn"
    assert refused(table, alice, "play r4", "play b9").code == "not_your_turn"


UNKNOWN_AFTER = {
    "a swap": ("play r7 swap 1", ["r7", "b9", "y1"]),
    "a pass": ("play r0", ["r0", "b9", "y1"]),
    "cards drawn": ("play BZ", ["BZ", "b9", "y1"]),
}


@pytest.mark.long
@pytest.mark.parametrize("pace", ["standard", "live"])
@pytest.mark.parametrize("first", UNKNOWN_AFTER)
def test_a_refusal_does_not_tell_which_cards_the_first_play_brings(
    alice: User, bob: User, charlie: User, first: str, pace: str
) -> None:
    """Neither to people nor to bots."""
    text, hand = UNKNOWN_AFTER[first]
    position = {**STRAIGHT, "hands": [hand, ["r1", "g2", "y3"], ["b4", "b3", "g8"]]}
    table, of_bot = (
        table_at(position, [seat, bob, charlie], preset="house-party", pace=pace) for seat in (alice, "careful")
    )
    for card in dict.fromkeys(table.options.rules.deck.cards):
        first_play, *then = map(parse_move, (text, f"play {card}", "play o5"))
        by_bot = partial(play_seat, game_id=of_bot.game.pk, seat=0, move=first_play, then=then, version=0, now=LATER)
        for call in (partial(send, table, alice, text, f"play {card}", "play o5", version=0), by_bot):
            with pytest.raises(Denied) as caught:
                call()
            assert (caught.value.code, caught.value.message[:6]) == ("not_your_turn", "Card 2"), card
    for here in (table, of_bot):
        assert now_of(here).started.position == here.started.position


def test_cards_after_the_end_of_the_turn_or_the_round_are_refused(alice: User, bob: User, charlie: User) -> None:
    people = [alice, bob, charlie]
    hands = [["rS", "r5", "r6"], *STRAIGHT["hands"][1:]]
    table = table_at({**STRAIGHT, "hands": hands}, people, preset="house-party")
    assert refused(table, alice, "play rS", "play r5").code == "not_your_turn"
    hands = [["r4", "r5"], *STRAIGHT["hands"][1:]]
    table = table_at({**STRAIGHT, "hands": hands}, people, preset="house-party")
    denied = refused(table, alice, "play r4 uno", "play r5", "play r6")
    assert (denied.code, denied.message[:6]) == ("not_your_turn", "Card 3")


def rows_of(table: Table) -> Mapping[str, object]:
    game = Game.objects.values("version", "deadline", "turn_since", "remind_at", "wake_at").get(pk=table.game.pk)
    seats = Seat.objects.filter(game=table.game).order_by("index").values_list("bank", "misses")
    moves = Move.objects.filter(game=table.game).order_by("n").values_list("seat", "text", "events")
    windows = [hand.callout_until for hand in now_of(table).started.hands]
    return {**game, "seats": list(seats), "moves": list(moves), "windows": windows}


def test_turns_and_clocks_are_as_if_each_play_had_been_sent_alone(alice: User, bob: User) -> None:
    position = {**STRAIGHT, "hands": [["r4", "r5", "r6", "b9"], ["r1", "g2", "W"]]}
    tables = [
        table_at(position, [alice, bob], preset="house-party", pace="fast", deadline=LATER + timedelta(hours=1))
        for _ in range(2)
    ]
    send(tables[0], alice, "play r4", "play r5", "play r6")
    send(tables[1], alice, "play r4")
    Game.objects.filter(pk=tables[1].game.pk).update(pace="live")  # only there a step can be sent alone
    send(tables[1], alice, "play r5")
    step = send(tables[1], alice, "play r6")
    window = LATER + timedelta(seconds=now_of(tables[0]).game.terms.callout)
    alone = {**rows_of(tables[1]), "windows": [window, None]}  # the callout time is that of the pace
    assert step.started.position == now_of(tables[0]).started.position
    assert rows_of(tables[0]) == alone


def test_one_token_stands_for_the_whole_list(table: Table, alice: User) -> None:
    run = ("play r4", "play r5")
    first = send(table, alice, *run, version=0, token="once")
    again = send(table, alice, *run, version=0, token="once")
    assert again.game.version == first.game.version == 2
    for other in (("play r4",), ("play r4", "play r6"), ("play r4", "play r5", "play r6")):
        assert refused(table, alice, *other, version=0, token="once").code == "token_reused"


def test_a_token_of_one_play_is_not_that_of_a_straight(table: Table, alice: User) -> None:
    for _ in range(2):
        assert send(table, alice, "play r4", version=0, token="once").game.version == 1
        assert refused(table, alice, "play r4", "play r5", version=0, token="once").code == "token_reused"


@pytest.mark.parametrize(
    "lines",
    [
        ["draw", "play r4"],
        ["play r4", "draw"],
        ["play r4", "uno"],
        ["play r4", "play r"],
        ["play r4", "clock play r5"],
        ["play r4", *["play r5"] * (MOST_STEPS + 1)],
    ],
)
def test_only_a_few_plays_can_be_sent_together(table: Table, alice: User, lines: Sequence[str]) -> None:
    assert refused(table, alice, *lines).code == "malformed"
