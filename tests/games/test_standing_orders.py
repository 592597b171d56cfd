"""Test which cards standing orders play, when, and what is saved of it."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from accounts.actions import create_guest
from accounts.models import User
from games import queries
from games.actions import lobby, seating
from games.actions.bot_turn import play_bots
from games.actions.guests import move_seats
from games.actions.play import play_move
from games.actions.standing_orders import set_orders
from games.models import Game, Hand, Move, Notice, Seat
from games.models.orders import Orders
from games.notices.kinds import GAME_OVER, TURN
from games.queries import Table, Viewer
from games.queries.verify import faults_of
from games.refusals import Denied
from games.render import log_rows, news
from games.staff import tables
from tests.conftest import person
from tests.support.clocks import HOUR, locked, swept
from tests.support.staff import act
from tests.support.tables import NOON, change_position, log_of, now_of, table_at

pytestmark = pytest.mark.django_db

SUPER = {"interceptions": "super"}
EXACT = {"interceptions": "exact"}
GAME_FIELDS = frozenset({"pace", "deadline", "wake_at", "target"})
PILE = ["y9", "g4", "b6", "y8", "g1", "y1", "b3", "g6", "b4", "y6"]


INTERCEPTED = ("r5 b1 b2", "y1 y2", "r5 g8 g9")
"""Three hands. Seat 0 plays a red 5, which seat 2 can intercept."""
LINES = ["0 play r5", "2 play r5"]


@pytest.fixture
def dora(db: None) -> User:
    return person("dora")


@pytest.fixture
def three(alice: User, bob: User, charlie: User) -> list[User]:
    return [alice, bob, charlie]


@pytest.fixture
def four(three: list[User], dora: User) -> list[User]:
    return [*three, dora]


@pytest.fixture
def table(three: list[User]) -> Table:
    """Return a table where Charlie's orders intercept the red 5 that Alice can play."""
    table = table_of(three, *INTERCEPTED)
    order(table, three[2], intercept="card")
    return table


def table_of(people: Sequence[User | str], *hands: str, options: Mapping[str, object] = SUPER, **fields: Any) -> Table:
    """Return a table with these hands, where seat 0 is on turn on a red 3."""
    game_fields = {name: fields.pop(name) for name in GAME_FIELDS.intersection(fields)}
    position = {"hands": [hand.split() for hand in hands], "turn": 0, "discard_pile": ["r3"], "draw_pile": PILE}
    return table_at({**position, **fields}, people, preset="classic", options=options, **game_fields)


def order(table: Table, user: User, **fields: Any) -> None:
    set_orders(code=table.game.code, viewer=Viewer(user), fields=fields, now=NOON)


def play(table: Table, user: User, text: str, **given: Any) -> Table:
    version = now_of(table).game.version
    return play_move(code=table.game.code, viewer=Viewer(user), text=text, version=version, now=NOON, **given)


def told(kind: str) -> list[tuple[str, int]]:
    """Return who got a notice of this kind on the site, and at which version."""
    rows = Notice.objects.filter(kind=kind, channel="site").order_by("pk")
    return list(rows.values_list("user__username", "version"))


def test_a_chain_of_two_interceptions_is_saved_with_the_move(four: list[User]) -> None:
    alice, _, charlie, dora = four
    table = table_of(four, "r5 b1 b2", "y2 y5", "r5 g9 g8", "g5 b9 b8")
    order(table, charlie, intercept="card")
    order(table, dora, intercept="face")
    returned = play(table, alice, "play r5", token="once")
    assert log_of(table) == ["0 play r5", "2 play r5", "3 play g5"]
    after = now_of(table)
    assert (after.game.version, after.started.position.turn) == (3, 3)
    assert returned.started.position == after.started.position
    rows = Move.objects.filter(game=table.game).order_by("n").values_list("by_order", "token")
    assert list(rows) == [(False, "once"), (True, None), (True, None)]
    assert after.game.deadline == NOON + 48 * HOUR
    assert told(TURN) == [("dora", 3)]  # only who is on turn after the chain, and once


def test_a_player_may_intercept_their_own_card_and_is_told_of_the_turn(alice: User, bob: User) -> None:
    table = table_of([alice, bob], "r5 r5 b2 b1", "y2 y5")
    order(table, alice, intercept="card")
    play(table, alice, "play r5")
    assert log_of(table) == ["0 play r5", "0 play r5"]
    assert (now_of(table).started.position.turn, told(TURN)) == (0, [("alice", 2)])


@pytest.mark.parametrize("direction", [1, -1])
def test_of_several_seats_the_nearest_in_the_direction_of_play_intercepts(four: list[User], direction: int) -> None:
    """The next seat is on turn, so it cannot intercept. The other two seats are reached in the order of play."""
    alice, *others = four
    table = table_of(four, "r5 b1 b2", "y5 y1 y2", "g5 g9 g8", "b5 b9 b8", direction=direction)
    for user in others:
        order(table, user, intercept="face")
    play(table, alice, "play r5")
    lines = {1: ["2 play g5", "3 play b5"], -1: ["2 play g5", "1 play y5"]}
    assert log_of(table)[:3] == ["0 play r5", *lines[direction]]


@pytest.mark.parametrize(
    ("hand", "options", "orders", "line"),
    [
        ("r5 g5 g8", SUPER, {"intercept": "never"}, None),
        ("r5 g5 g8", SUPER, {"intercept": "card"}, "2 play r5"),
        ("r5 g5 g8", SUPER, {"intercept": "face"}, "2 play r5"),
        ("r5 g5 g8", SUPER, {"intercept": "face", "keep": ["r5"]}, "2 play g5"),
        ("r5 g5 g8", SUPER, {"intercept": "card", "keep": ["r5"]}, None),
        ("r5 g5 g8", SUPER, {"intercept": "face", "keep": ["r5", "g5"]}, None),
        ("r5 g5 g8", EXACT, {"intercept": "card"}, "2 play r5"),
        ("r5 g5 g8", EXACT, {"intercept": "face"}, "2 play r5"),
        ("r5 g5 g8", EXACT, {"intercept": "face", "keep": ["r5"]}, None),
        # Of two other colours the one held most is played.
        ("b5 y5 y8 g9", SUPER, {"intercept": "face"}, "2 play y5"),
        ("b5 y5 y8 g9", SUPER, {"intercept": "face", "keep": ["b5"]}, "2 play y5"),
        # No call is said with more cards left.
        ("r5 g8 g9", SUPER, {"intercept": "card", "call_uno": True}, "2 play r5"),
        ("r5 g8 g9", SUPER, {}, None),
    ],
)
def test_orders_play_the_card_that_fits(
    three: list[User], hand: str, options: dict[str, str], orders: dict[str, Any], line: str | None
) -> None:
    table = table_of(three, "r5 b1 b2", "y1 y2", hand, options=options)
    order(table, three[2], **orders)
    play(table, three[0], "play r5")
    assert log_of(table)[1:] == ([line] if line else [])


def test_the_seat_on_turn_does_not_intercept(alice: User, bob: User) -> None:
    table = table_of([alice, bob], "r5 b1 b2", "r5 y5")
    order(table, bob, intercept="card")
    play(table, alice, "play r5")
    assert log_of(table) == ["0 play r5"]


@pytest.mark.parametrize(("call", "line", "exposed"), [(True, "2 play r5 uno", ()), (False, "2 play r5", (2,))])
def test_orders_call_uno_if_they_say_so(three: list[User], call: bool, line: str, exposed: tuple[int, ...]) -> None:
    table = table_of(three, "r5 b1 b2", "y1 y2", "r5 g8")
    order(table, three[2], intercept="card", call_uno=call)
    play(table, three[0], "play r5")
    after = now_of(table)
    assert log_of(table) == ["0 play r5", line]
    assert after.started.position.exposed == exposed
    assert (after.started.hands[2].callout_until is None) is call


def test_a_seven_swaps_with_the_fewest_cards_and_calls_for_the_hand_received(four: list[User]) -> None:
    alice, _, charlie, _ = four
    table = table_of(four, "r7 b1 b2", "y1 y2", "r7 g8 g9", "b9", options={**SUPER, "zero_seven": True})
    order(table, charlie, intercept="card")
    play(table, alice, "play r7 swap 1")
    assert log_of(table) == ["0 play r7 swap 1", "2 play r7 swap 3 uno"]
    assert now_of(table).started.position.hands[2] == ("b9",)


@pytest.mark.parametrize(
    ("card", "hand", "fields", "options", "lines", "total"),
    [
        ("r+2", "r+2 g8 g9", {}, {}, ["0 play r+2", "2 play r+2"], 4),
        (
            "rS", "gS g8 g9", {"pending": {"total": 2, "value": 2, "by": "+2"}, "discard_pile": ["r+2"]},
            {"advanced_stacking": True, "last_draw_card": "contest"}, ["0 play rS", "2 play gS"], 2,
        ),
    ],
    ids=["answered", "passed on"],
)  # fmt: skip
def test_a_card_that_answers_a_debt_or_passes_it_on_is_played(
    four: list[User],
    card: str,
    hand: str,
    fields: dict[str, Any],
    options: dict[str, Any],
    lines: list[str],
    total: int,
) -> None:
    options = {**SUPER, "stacking": "same", **options}
    table = table_of(four, f"{card} b1 b2", "y1 y2", hand, "b9 b8", options=options, **fields)
    order(table, four[2], intercept="face")
    play(table, four[0], f"play {card}")
    position = now_of(table).started.position
    assert log_of(table) == lines
    assert position.pending is not None
    assert (position.turn, position.pending.total) == (3, total)


def test_a_last_card_played_by_order_wins(three: list[User]) -> None:
    table = table_of(three, "r5 b1 b2", "y1 y2", "r5")
    order(table, three[2], intercept="card")
    returned = play(table, three[0], "play r5")
    assert log_of(table) == LINES
    assert (returned.game.status, returned.game.winner) == (Game.Status.OVER, 2)
    assert sorted(who for who, _ in told(GAME_OVER)) == ["bob", "charlie"]
    assert told(TURN) == []


def test_an_owner_s_orders_act_while_a_bot_holds_the_seat(table: Table, alice: User, bob: User) -> None:
    locked(table, lambda here: seating.replace_by_bot(here, seat=2, now=NOON))
    after = play(table, alice, "play r5")
    line = Move.objects.get(game=table.game, n=2)
    assert (line.seat, line.by_order, line.by_bot) == (2, True, False)
    view, lines = queries.view_of(after, bob), queries.log_of(after, bob)
    assert log_rows.log_of(view, lines, NOON)[0].text == (
        "A standing order plays. charlie intercepts you. charlie plays Red 5."
    )


def test_the_bot_of_an_owner_without_orders_intercepts_nothing(three: list[User]) -> None:
    table = table_of(three, *INTERCEPTED)
    locked(table, lambda here: seating.replace_by_bot(here, seat=2, now=NOON))
    play(table, three[0], "play r5")
    assert log_of(table) == ["0 play r5"]


@pytest.mark.parametrize(
    ("bot", "hand", "line"),
    [
        ("random", "r5 g8", "2 play r5"),
        ("random", "g5 g8", None),
        ("careful", "g5 g8", "2 play g5 uno"),
        ("sharp", "g5 g8", "2 play g5 uno"),
    ],
)
def test_the_seats_of_bots_have_orders_of_their_own(
    alice: User, bob: User, bot: str, hand: str, line: str | None
) -> None:
    table = table_of([alice, bob, bot], "r5 b1 b2", "y1 y2", hand)
    play(table, alice, "play r5")
    assert log_of(table)[1:] == ([line] if line else [])


def test_orders_changed_during_the_game_hold_from_the_next_line(four: list[User]) -> None:
    alice, bob, _, dora = four
    table = table_of(four, "r5 b1 b2", "r6 y2 y3", "y7 y8 y9", "r5 g6 g9")
    order(table, dora, intercept="card", keep=["r5"])
    play(table, alice, "play r5")
    order(table, dora, intercept="face", keep=["g9"])
    assert log_of(table) == ["0 play r5"]
    play(table, bob, "play r6")
    assert log_of(table) == ["0 play r5", "1 play r6", "3 play g6"]
    order(table, dora, intercept="never")
    assert now_of(table).seats[3].orders == Orders().to_row()


def test_orders_are_tried_after_any_line(three: list[User]) -> None:
    table = table_of(three, "b1 b2", "y1 y2", "r3 g6 g9")
    order(table, three[2], intercept="card")
    play(table, three[0], "draw")
    assert log_of(table) == ["0 draw", "2 play r3"]


def test_orders_are_tried_after_the_last_card_of_a_straight(three: list[User]) -> None:
    table = table_of(three, "r5 r6 b1 b2", "y1 y2", "r5 r6 g9", options={**SUPER, "straights": True})
    order(table, three[2], intercept="card")
    with pytest.raises(Denied):
        play(table, three[0], "play r5", then=["play r8"])
    assert log_of(table) == []
    play(table, three[0], "play r5", then=["play r6"], token="once")
    assert log_of(table) == ["0 play r5", "0 play r6", "2 play r6"]
    again = play_move(
        code=table.game.code, viewer=Viewer(three[0]), text="play r5", version=0, then=["play r6"], token="once",
        now=NOON,
    )  # fmt: skip
    assert again.game.version == 3


def test_orders_act_after_a_bot_s_move(alice: User, bob: User) -> None:
    table = table_of(["careful", alice, bob], "r5 b1 b2 b9", "y1 y2", "r5 g8 g9", wake_at=NOON)
    order(table, bob, intercept="card")
    play_bots(game_id=table.game.pk, clock=lambda: NOON, rng=random.Random(1))
    assert log_of(table) == ["0 play r5", "2 play r5"]


def test_orders_act_after_the_clock_s_moves(three: list[User]) -> None:
    table = table_of(three, "b1 b2", "y1 y2", "r3 g8 g9", deadline=NOON)
    order(table, three[2], intercept="card")
    swept()
    assert log_of(table) == ["0 clock draw", "2 play r3"]
    after = now_of(table)
    assert ([seat.misses for seat in after.seats], after.started.position.turn) == ([1, 0, 0], 2)


def test_the_clock_does_not_play_for_a_seat_that_got_the_turn_by_order(four: list[User]) -> None:
    """Closing a callout window is a line too. The deadline that was due was that of the player who lost the turn."""
    charlie, hands = four[2], ("b1 b2", "y1", "r3 g8 g9", "b9 b8")
    options = {**SUPER, "uno_window": "open"}
    table = table_of(four, *hands, options=options, exposed=[1], deadline=NOON)
    Hand.objects.filter(round=table.started.round, seat__index=1).update(callout_until=NOON - HOUR)
    order(table, charlie, intercept="card")
    swept()
    assert log_of(table) == ["1 clock uno", "2 play r3"]
    after = now_of(table)
    assert ([seat.misses for seat in after.seats], after.started.position.turn) == ([0, 0, 0, 0], 2)
    assert after.game.deadline == NOON + 48 * HOUR


def test_orders_do_not_act_while_the_game_is_paused(three: list[User]) -> None:
    table = table_of(three, "b1 b2", "y1 y2", "r3 g8 g9")
    order(table, three[2], intercept="card")
    Game.objects.filter(pk=table.game.pk).update(paused_at=NOON, paused_reasons=["staff"], deadline=None)
    play(table, three[1], "leave")
    assert log_of(table) == ["1 leave"]


def test_a_standing_order_is_no_sign_of_its_player(table: Table, alice: User, charlie: User) -> None:
    """Missed turns stay counted (CLOCK-3), and the play is among the news since the player's last move."""
    Seat.objects.filter(game=table.game, index=2).update(misses=2)
    play(table, alice, "play r5")
    after = now_of(table)
    assert after.seats[2].misses == 2
    view, lines = queries.view_of(after, charlie), queries.log_of(after, charlie)
    assert [step.text for step in news.since_your_move(view, lines)] == [
        "alice: Red 5.",
        "A standing order plays. You intercept bob. You: Red 5.",
    ]


def test_a_new_owner_starts_without_orders(table: Table, alice: User, dora: User) -> None:
    locked(table, lambda here: seating.change_owner(here, here.seats[2], person=dora, now=NOON))
    assert Seat.objects.get(game=table.game, index=2).orders is None
    play(table, alice, "play r5")
    assert log_of(table) == ["0 play r5"]


def test_orders_move_with_the_seats_of_a_guest(alice: User, bob: User, charlie: User) -> None:
    guest = create_guest()
    table = table_of([alice, bob, guest], *INTERCEPTED)
    order(table, guest, intercept="card")
    move_seats(guest=guest, user=charlie, now=NOON)
    play(table, alice, "play r5")
    assert log_of(table) == LINES


def test_staff_who_remove_a_player_remove_the_orders(table: Table, mo: User) -> None:
    tables.remove(**act(table, mo, seat=2, bot=True))
    seat = Seat.objects.get(game=table.game, index=2)
    assert (seat.user, seat.orders, bool(seat.bot)) == (None, None, True)


def test_nobody_has_orders_at_a_live_table(alice: User, bob: User) -> None:
    table = table_of([alice, bob, "careful"], "r5 b1 b2", "r3 y1 y2", "r5 g8 g9", pace="live")
    Seat.objects.filter(game=table.game, index=1).update(orders=Orders("face").to_row())
    play(table, alice, "play r5")
    assert log_of(table) == ["0 play r5"]


def test_orders_hold_in_the_next_round(alice: User, bob: User) -> None:
    table = table_of([alice, bob], "r5", "y1 y2", target=500)
    order(table, bob, intercept="card")
    after = play(table, alice, "play r5")
    assert (after.started.round.number, after.seats[1].orders) == (2, Orders("card").to_row())


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("preset", ["house-party", "classic"])
def test_whole_games_with_orders_replay_from_their_logs(alice: User, preset: str) -> None:
    by_order = 0
    for seed in range(2):
        options = lobby.TableChoices(
            preset=preset, options=dict(SUPER), players=5, bots=4, bot="careful", bot_pause=0.0
        )
        table = lobby.create_table(user=alice, choices=options, now=NOON)
        play(table, alice, "leave")
        for _ in range(200):
            play_bots(game_id=table.game.pk, clock=lambda: NOON, rng=random.Random(seed))
            if now_of(table).game.ended:
                break
        assert now_of(table).game.status == Game.Status.OVER
        assert faults_of(table.game.pk) == []
        by_order += Move.objects.filter(game=table.game, by_order=True).count()
    assert by_order


def test_a_step_or_a_wild_is_never_played_by_order(three: list[User]) -> None:
    alice = three[0]
    table = table_of(three, "r5 r6 r4 b2", "y1 y2", "W W4 g8", options={**SUPER, "straights": True})
    for user in (alice, three[2]):
        order(table, user, intercept="face")
    play(table, alice, "play r5")
    assert log_of(table) == ["0 play r5"]
    change_position(table, discard_pile=("r3", "W"), color="r", turn=0)
    play(table, alice, "play r6")
    assert log_of(table) == ["0 play r5", "0 play r6"]
