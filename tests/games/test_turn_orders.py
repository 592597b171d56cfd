"""Test what standing orders play on the turn of their player, when they do, how they are stopped, and what ends them.

The long form is `TURN_ORDER_GAMES=10000 script/test --all tests/games/test_turn_orders.py`.
"""

from __future__ import annotations

import os
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final

import pytest

from accounts.models import User
from games import queries, rules
from games.actions import lobby, seating
from games.actions.bot_turn import MOST_BY_ORDER, play_bots
from games.actions.play import play_move, play_orders
from games.actions.standing_orders import end_turn_orders, set_orders, stop_orders, turn_moves
from games.clocks import pausing
from games.models import Game, Move, Notice, Round, Seat
from games.models.orders import STACK, STOP, FirstPlay, Orders, orders_of
from games.notices.kinds import ORDERS_ENDED, TURN
from games.queries import Playing, Table, Viewer
from games.queries.verify import faults_of
from games.refusals import Denied
from games.render.news import since_your_move
from tests.conftest import Figure, logged_in
from tests.support.clocks import locked, swept
from tests.support.game_page import GamePage
from tests.support.tables import NOON, log_of, now_of, table_at

GAMES: Final = int(os.environ.get("TURN_ORDER_GAMES", "60"))
SECOND: Final = timedelta(seconds=1)
PILE: Final = ["y9", "g4", "b6", "y8", "g1", "y1", "b3", "g6", "b4", "y6"]
PRESETS: Final = tuple(rules.PRESETS)


@pytest.fixture
def three(alice: User, bob: User, charlie: User) -> list[User]:
    return [alice, bob, charlie]


def table_of(people: Sequence[User | str], *hands: str, preset: str = "classic", **fields: Any) -> Table:
    """Return a table with these hands, where seat 0 is on turn on a red 3."""
    options = fields.pop("options", None)
    game = {name: fields.pop(name) for name in ("pace", "wake_at", "target") if name in fields}
    position = {"hands": [hand.split() for hand in hands], "turn": 0, "discard_pile": ["r3"], "draw_pile": PILE}
    return table_at({**position, **fields}, people, preset=preset, options=options, **game)


def order(table: Table, user: User, *, now: timedelta = timedelta(), **fields: Any) -> None:
    set_orders(code=table.game.code, viewer=Viewer(user), fields=fields, now=NOON + now)


def play(table: Table, user: User, text: str, *, after: int = 0) -> Table:
    now, version = NOON + after * SECOND, now_of(table).game.version
    return play_move(code=table.game.code, viewer=Viewer(user), text=text, version=version, now=now)


def wait(table: Table, seconds: int) -> list[str]:
    """Let the worker do what is due this long after noon; return the log."""
    play_bots(game_id=table.game.pk, clock=lambda: NOON + seconds * SECOND, rng=random.Random(1))
    return log_of(table)


def told(kind: str) -> list[tuple[str, str, str]]:
    """Return who got a notice of this kind on the site, its sentences and its state."""
    rows = Notice.objects.filter(kind=kind, channel="site").order_by("pk")
    return list(rows.values_list("user__username", "said", "state"))


# What is played

OWED: Final = {"pending": {"total": 2, "value": 2, "by": "+2"}, "discard_pile": ["r+2"]}


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("hand", "orders", "fields", "lines"),
    [
        # Without orders, or with none that fit, the player chooses.
        ("r5 b1 g2", {}, {}, []),
        ("r5 r1 g2", {"forced": True}, {}, []),
        ("b1 g2 g4", {"first": [{"card": "b1"}]}, {}, []),
        # Only one card fits, or none does: a play, a draw, or taking what is owed.
        ("r5 b1 g2", {"forced": True}, {}, ["play r5"]),
        ("b1 g2 g4", {"forced": True}, {}, ["draw"]),
        ("b1 g2", {"forced": True}, OWED, ["take"]),
        # The colour of a wild is the one held most, of the rest of the hand.
        ("W b1 b2 g4", {"forced": True}, {}, ["play W color b"]),
        # Cards to play first
        ("r5 r1 g2", {"first": [{"card": "b1"}, {"card": "r1"}, {"card": "r5"}]}, {}, ["play r1"]),
        ("W b1 b2", {"first": [{"card": "W", "color": "g"}]}, {}, ["play W color g"]),
        ("W b1 b2", {"first": [{"card": "W"}]}, {}, ["play W color b"]),
        # The last draw, and a call
        ("r5 b1 g2", {"then_draw": True}, {}, ["draw"]),
        ("r5 b1", {"first": [{"card": "r5"}]}, {}, ["play r5 uno"]),
        ("r5 b1", {"first": [{"card": "r5"}], "call_uno": False}, {}, ["play r5"]),
        # What follows a draw: the card is kept where that is allowed, or played if the orders say so.
        ("b1 g2", {"then_draw": True}, {"draw_pile": ["r9", "b9"]}, ["draw", "pass"]),
        ("b1 g2", {"then_draw": True, "first": [{"card": "r9"}]}, {"draw_pile": ["r9", "b9"]}, ["draw", "play r9"]),
        ("b1 g2", {"forced": True}, {"draw_pile": ["r9", "b9"]}, ["draw", "play r9"]),
    ],
)  # fmt: skip
def test_the_first_order_that_fits_is_played(
    three: list[User], hand: str, orders: dict[str, Any], fields: dict[str, Any], lines: list[str]
) -> None:
    table = table_of(three, hand, "y1 y2 y5", "y3 y4 y7", **fields)
    order(table, three[0], **orders)
    assert wait(table, 60) == [f"0 {line}" for line in lines]
    assert list(Move.objects.filter(game=table.game).values_list("by_order", flat=True)) == [True] * len(lines)


STACKED: Final = {"pending": {"total": 6, "value": 2, "by": "+2"}, "discard_pile": ["r+2"]}


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("hand", "orders", "line"),
    [
        ("b+2 r+4 W+6 g2", {"stack": "take"}, "take"),
        ("b+2 r+4 W+6 g2", {"stack": "lowest"}, "play b+2"),
        ("b+2 r+4 W6 g2", {"stack": "highest"}, "play W6"),
        ("b1 g2", {"stack": "highest"}, "take"),
        ("b+2 b1 g2", {"then_draw": True}, None),
        ("b+2 b1 g2", {"first": [{"card": "b+2"}]}, "play b+2"),
        ("b+2 b1 g2", {"stack": "take", "first": [{"card": "b+2"}]}, "take"),
    ],
)
def test_a_debt_is_answered_as_ordered(three: list[User], hand: str, orders: dict[str, Any], line: str | None) -> None:
    hand = hand.replace("W+6", "W6")
    table = table_of(three, hand, "y1 y2 y5", "y3 y4 y7", preset="no-mercy", **STACKED)
    order(table, three[0], **orders)
    played = wait(table, 60)
    assert [text.split(" color")[0] for text in played[:1]] == ([f"0 {line}"] if line else [])


@pytest.mark.django_db
@pytest.mark.parametrize(("target", "line"), [(None, "0 play r7 swap 2 uno"), (1, "0 play r7 swap 1")])
def test_a_seven_swaps_with_the_named_player_or_the_fewest_cards(
    three: list[User], target: int | None, line: str
) -> None:
    table = table_of(three, "r7 b1 b2", "y1 y2 y5", "y3", preset="no-mercy")
    order(table, three[0], first=[{"card": "r7", "target": target}])
    assert wait(table, 60) == [line]


@pytest.mark.django_db
def test_the_colour_of_a_roulette_is_the_one_held_most(three: list[User]) -> None:
    table = table_of(three, "b1 b2 g4", "y1 y2", "y3 y4", preset="no-mercy", discard_pile=["WC"], phase="choose_color")
    order(table, three[0], forced=True)
    assert wait(table, 60) == ["0 color b"]


# When it is played


@pytest.mark.django_db
def test_orders_play_a_minute_after_the_turn_began(three: list[User]) -> None:
    table = table_of(three, "r5 b1 g2", "b3 y1 y2", "y3 y4 y7")
    order(table, three[1], forced=True)
    assert now_of(table).game.wake_at is None  # it is not their turn
    play(table, three[0], "play r5")
    game = now_of(table).game
    assert (game.orders_at, game.wake_at) == (NOON + 60 * SECOND, NOON + 60 * SECOND)
    assert wait(table, 59) == ["0 play r5"]
    assert wait(table, 60) == ["0 play r5", "1 draw"]
    after = now_of(table)
    assert (after.started.position.turn, after.game.orders_at, after.game.wake_at) == (2, None, None)
    assert (after.game.deadline or NOON) > NOON + 3600 * SECOND
    assert told(TURN) == [("bob", "", "dropped"), ("charlie", "", "waiting")]


@pytest.mark.django_db
def test_nothing_is_due_where_no_order_fits_or_the_table_is_live(three: list[User]) -> None:
    table = table_of(three, "r5 b1 g2", "r9 y1 y2", "y3 y4 y7")
    order(table, three[1], first=[{"card": "y1"}])
    play(table, three[0], "play r5")
    assert (now_of(table).game.orders_at, now_of(table).game.wake_at) == (None, None)
    live = table_of(three, "b1 g2", "y1 y2", "y3 y4", pace="live")
    Seat.objects.filter(game=live.game).update(orders=Orders(forced=True).to_row())
    play(live, three[0], "draw")
    assert now_of(live).game.wake_at is None


@pytest.mark.django_db
def test_orders_of_the_turn_that_runs_play_a_minute_after_they_were_set(three: list[User]) -> None:
    table = table_of(three, "b1 g2", "y1 y2", "y3 y4")
    order(table, three[0], now=10 * SECOND, then_draw=True)
    assert wait(table, 69) == []
    order(table, three[0], now=69 * SECOND)
    assert wait(table, 100) == []
    order(table, three[0], now=100 * SECOND, forced=True)
    assert wait(table, 160) == ["0 draw"]


@pytest.mark.django_db
def test_a_missed_turn_stays_counted(three: list[User]) -> None:
    table = table_of(three, "b1 g2", "y1 y2", "y3 y4")
    Seat.objects.filter(game=table.game, index=0).update(misses=2)
    order(table, three[0], forced=True)
    wait(table, 60)
    assert now_of(table).seats[0].misses == 2


@pytest.mark.django_db
def test_the_player_s_own_move_goes_first(three: list[User]) -> None:
    table = table_of(three, "b1 g2", "y1 y2", "y3 y4", draw_pile=["r9", "b9"])
    order(table, three[0], forced=True)
    found = now_of(table)
    play(table, three[0], "draw", after=30)
    assert now_of(table).game.orders_at is None  # they choose what to do with the card
    assert wait(table, 60) == ["0 draw"]
    assert found.game.orders_at is not None
    with pytest.raises(Denied) as denied:
        play_orders(
            game_id=table.game.pk, moves=turn_moves(found), orders_at=found.game.orders_at, version=0, deal=1,
            now=NOON + 60 * SECOND,
        )  # fmt: skip
    assert denied.value.code == "stale"


@pytest.mark.django_db
def test_stopped_at_59_seconds_nothing_plays_in_this_turn(three: list[User]) -> None:
    table = table_of(three, "b1 g2", "y1 y2", "y3 y4")
    order(table, three[0], forced=True)
    revision, shown = now_of(table).game.revision, time_of_orders(table)
    for _ in range(2):
        stop_orders(code=table.game.code, viewer=Viewer(three[0]), shown=shown)
    after = now_of(table).game
    assert (after.orders_at, after.wake_at, after.revision) == (None, None, revision)
    assert wait(table, 60) == []
    # Neither a pause nor a line of somebody else starts them again.
    locked(table, lambda here: pausing.pause(here, reason="staff", now=NOON + 70 * SECOND))
    locked(table, lambda here: pausing.resume(here, reason="staff", now=NOON + 80 * SECOND))
    assert now_of(table).game.orders_at is None
    play(table, three[0], "draw", after=90)
    with pytest.raises(Denied) as denied:
        stop_orders(code=table.game.code, viewer=Viewer(three[0]), shown=shown)
    assert denied.value.code == "stale"
    assert orders_of(now_of(table).seats[0]).forced  # the next turn has them


@pytest.mark.django_db
def test_a_late_press_stops_no_newer_orders(three: list[User]) -> None:
    table = table_of(three, "b1 g2", "y1 y2", "y3 y4")
    order(table, three[0], forced=True)
    shown = time_of_orders(table)
    order(table, three[0], now=10 * SECOND, then_draw=True)
    with pytest.raises(Denied) as denied:
        stop_orders(code=table.game.code, viewer=Viewer(three[0]), shown=shown)
    assert denied.value.code == "stale"
    assert now_of(table).game.orders_at == NOON + 70 * SECOND


def time_of_orders(table: Table) -> str:
    orders_at = now_of(table).game.orders_at
    assert orders_at is not None
    return orders_at.isoformat()


@pytest.mark.django_db
def test_a_pause_puts_them_off(three: list[User]) -> None:
    table = table_of(three, "b1 g2", "y1 y2", "y3 y4")
    order(table, three[0], forced=True)
    locked(table, lambda here: pausing.pause(here, reason="staff", now=NOON + 10 * SECOND))
    assert now_of(table).game.wake_at is None
    assert wait(table, 60) == []
    locked(table, lambda here: pausing.resume(here, reason="staff", now=NOON + 100 * SECOND))
    assert now_of(table).game.orders_at == NOON + 160 * SECOND
    assert wait(table, 160) == ["0 draw"]


@pytest.mark.django_db
def test_a_bot_that_holds_the_seat_plays_instead(three: list[User]) -> None:
    table = table_of(three, "b1 g2", "y1 y2", "y3 y4")
    order(table, three[0], forced=True)
    locked(table, lambda here: seating.replace_by_bot(here, seat=0, now=NOON))
    assert now_of(table).game.orders_at is None
    locked(table, lambda here: seating.give_back(here, seat=0, now=NOON + 10 * SECOND))
    assert now_of(table).game.orders_at == NOON + 70 * SECOND


@pytest.mark.django_db
def test_bots_keep_their_time_beside_orders(alice: User, bob: User) -> None:
    """A bot looks after some seconds whether it catches a player, the orders play after a minute."""
    table = table_of([alice, "sharp", bob], "r5 b1", "b3 y1 y2", "b4", turn=2, exposed=[2])
    order(table, bob, forced=True)
    game = now_of(table).game
    assert game.orders_at == NOON + 60 * SECOND
    Game.objects.filter(pk=game.pk).update(wake_at=NOON + 5 * SECOND, bots_move_at=NOON + 5 * SECOND)
    assert wait(table, 5) == ["1 catch 2"]
    assert now_of(table).game.wake_at == NOON + 60 * SECOND
    assert wait(table, 60)[:2] == ["1 catch 2", "2 draw"]


@pytest.mark.django_db
def test_the_sweep_finds_orders_whose_task_was_lost(three: list[User], monkeypatch: pytest.MonkeyPatch) -> None:
    from games import announce  # noqa: PLC0415  # only this test replaces a function of it

    woken: list[int] = []
    monkeypatch.setattr(announce, "wake_bots", lambda game_id, wake_at: woken.append(game_id))
    table = table_of(three, "b1 g2", "y1 y2", "y3 y4")
    order(table, three[0], forced=True)
    swept(NOON + 60 * SECOND)
    assert woken == []
    swept(NOON + 63 * SECOND)
    assert woken == [table.game.pk]


# What ends them


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("line", "orders", "said", "words"),
    [
        ("play r5", {"forced": True}, "", ""),
        ("play r7 swap 1", {"forced": True}, "forced hand_changed", "Your hand has changed."),
        ("play r7 swap 2", {"forced": True}, "", ""),
        ("play r7 swap 1", {"forced": True, "stop": ["one_card"]}, "", ""),
        ("play r0", {"stack": "take"}, "take hand_changed", "Your hand has changed."),
        (
            "play r7 swap 3", {"stack": "lowest", "then_draw": True}, "several one_card",
            "Your orders for your turn have ended. alice has one card.",
        ),
        ("play r7 swap 3", {"forced": True, "stop": []}, "", ""),
    ],
)  # fmt: skip
def test_orders_end_by_themselves_and_say_why(
    three: list[User], line: str, orders: dict[str, Any], said: str, words: str
) -> None:
    bob = three[1]
    table = table_of([*three, "random"], "r7 r0 r5 b1", "y1 y2 y5", "y3 y4 y7", "y8", preset="no-mercy")
    order(table, bob, **orders)
    after = play(table, three[0], line)
    ended = orders_of(now_of(table).seats[1]).ended
    assert told(ORDERS_ENDED) == ([("bob", said, "waiting")] if said else [])
    assert ("" if ended is None else f"{ended.order} {ended.why}") == said
    assert bool(orders_of(now_of(table).seats[1]).of_turn) == (not said)
    news = [step.text for step in since_your_move(queries.view_of(after, bob), queries.log_of(after, bob))]
    assert (words in " ".join(news), len(news)) == (True, 2 if said else 1)


@pytest.mark.django_db
def test_cards_that_are_gone_end_only_the_order_to_play_them(three: list[User]) -> None:
    table = table_of(three, "r5 b1 g2", "y1 y2", "y3 y4")
    order(table, three[0], first=[{"card": "r5"}], forced=True)
    assert wait(table, 60) == ["0 play r5"]
    orders = orders_of(now_of(table).seats[0])
    assert (orders.of_turn, orders.to_json()["ended"]) == ("forced", "cards_gone")
    assert told(ORDERS_ENDED) == [("alice", "first cards_gone", "waiting")]
    order(table, three[0], forced=True)
    assert orders_of(now_of(table).seats[0]).ended is None
    assert told(ORDERS_ENDED) == [("alice", "first cards_gone", "dropped")]  # there are orders again


@pytest.mark.django_db
def test_orders_for_the_turn_end_with_the_round_and_interceptions_stay(three: list[User]) -> None:
    table = table_of(three, "r5", "y1 y2", "y3 y4", options={"interceptions": "exact"}, target=500)
    order(table, three[1], forced=True, intercept="card", stop=[])
    play(table, three[0], "play r5")
    assert (now_of(table).game.status, now_of(table).started.round.number) == ("playing", 2)
    orders = orders_of(now_of(table).seats[1])
    assert (orders.intercept, orders.of_turn, orders.to_json()["ended"]) == ("card", "", "round_over")
    assert told(ORDERS_ENDED) == [("bob", "forced round_over", "waiting")]
    single = table_of(three, "r5", "y1 y2", "y3 y4")
    order(single, three[1], forced=True)
    play(single, three[0], "play r5")
    assert len(told(ORDERS_ENDED)) == 1  # the end of a game is news enough


@pytest.mark.django_db
def test_old_rows_are_read_as_off_and_new_ones_keep_what_an_old_release_reads(three: list[User]) -> None:
    table = table_of(three, "b1 g2", "y1 y2", "y3 y4")
    old = {"intercept": "card", "keep": ["r7"], "call_uno": False}
    assert Orders.from_row(old) == Orders("card", ("r7",), call_uno=False)
    order(table, three[0], keep=["r7"])
    assert now_of(table).seats[0].orders == {"intercept": "never", "keep": ["r7"], "call_uno": True}
    set_ = Orders(forced=True, first=(FirstPlay("W", "g"), FirstPlay("r7", None, 2)), stop=())
    assert Orders.from_row(set_.to_row()) == set_


# The page


@pytest.mark.django_db
def test_the_page_says_what_orders_will_do_and_stops_them(three: list[User]) -> None:
    table = table_of(three, "b1 g2", "y1 y2", "y3 y4")
    browser, other = logged_in(three[0]), logged_in(three[1])
    url = table.game.get_absolute_url()
    answer = browser.post(f"{url}orders/", {"forced": "1", "stack": "take", "stop": ["one_card"], "call_uno": "1"})
    assert (answer.status_code, answer["Location"]) == (303, url)
    page = GamePage.of(browser, table.game, "?orders=1")
    assert "Your orders will draw." in page.text
    assert "Your orders will draw." in GamePage.of(browser, table.game, "?since=0&deal=1", fragment=True).told[1]
    assert [page.chosen(name) for name in ("forced", "stack", "stop", "then_draw")] == [
        ["1"],
        ["take"],
        ["one_card"],
        [],
    ]
    assert not GamePage.of(other, table.game).has(id="pending-orders")
    answer = browser.post(f"{url}orders/stop/", {"at": page.field("at")})
    assert (answer.status_code, answer["Location"]) == (303, url)
    assert not GamePage.of(browser, table.game).has(id="pending-orders")
    refused = other.post(f"{url}orders/stop/")
    assert refused.status_code == 409


@pytest.mark.django_db
def test_the_form_says_what_would_happen_now(three: list[User]) -> None:
    table = table_of(three, "r5 b1 g2", "r8 y1", "y3 y4", preset="no-mercy", **STACKED)
    browser = logged_in(three[1])
    for fields, words in (
        ({}, None),
        ({"forced": "1"}, "If it were your turn now: take 6."),
        ({"first": ["r8"]}, "If it were your turn now: you would choose."),
        ({"first": ["r8", ""], "stack": "take"}, "If it were your turn now: take 6."),
    ):
        browser.post(f"{table.game.get_absolute_url()}orders/", fields)
        page = GamePage.of(browser, table.game, "?orders=1")
        assert [words] == ([page.part("orders-would")] if page.has(id="orders-would") else [None])
    assert page.chosen("first") == ["r8", ""]


@pytest.mark.django_db
def test_orders_can_be_set_before_the_deal(alice: User, bob: User) -> None:
    choices = lobby.TableChoices(preset="no-mercy", players=2)
    table = lobby.create_table(user=alice, choices=choices, now=NOON)
    browser, url = logged_in(alice), table.game.get_absolute_url()
    page = browser.get(url).content.decode()
    assert ("When you owe cards" in page, "orders-would" in page, 'name="first"' in page) == (True, False, False)
    browser.post(f"{url}orders/", {"forced": "1", "stop": ["one_card", "hand_changed"]})
    lobby.join(code=table.game.code, viewer=Viewer(bob), now=NOON)
    assert orders_of(Seat.objects.get(game=table.game, user=alice)).forced


@pytest.mark.django_db
def test_orders_that_could_play_for_ever_let_a_player_choose(three: list[User]) -> None:
    # Nothing in these hands ever fits, so each turn draws and plays the only card that is left.
    table = table_of(three[:2], "b1 b2", "y1 y2", draw_pile=["r9"])
    for user in three[:2]:
        order(table, user, forced=True)
    for minute in range(1, 150):
        lines = wait(table, 61 * minute)
    assert len(lines) == MOST_BY_ORDER
    play(table, three[0], "draw", after=61 * 150)
    play(table, three[0], "pass", after=61 * 150)
    assert len(wait(table, 61 * 152)) > MOST_BY_ORDER + 2


# Random games


def random_orders(options: rules.Options, seat: int, players: int, rng: random.Random) -> Orders:
    faces = [text for side in options.rules.sides.values() for text in side.faces]
    first = []
    for card in rng.sample(faces, rng.choice((0, 0, 3, 10))):
        side = next(side for side in options.rules.sides.values() if card in side.faces)
        asks = side.plays.asks[card]
        color = rng.choice((None, *side.colors)) if asks == "color" else None
        target = rng.choice([None, *(other for other in range(players) if other != seat)]) if asks == "target" else None
        first.append(FirstPlay(card, color, target))
    stop = tuple(why for why in STOP if rng.random() < 0.3)
    return Orders(
        forced=rng.random() < 0.6, stack=rng.choice(STACK), first=tuple(first), then_draw=rng.random() < 0.3, stop=stop,
        call_uno=rng.random() < 0.5,
    )  # fmt: skip


def random_table(preset: str, rng: random.Random) -> Table:
    """Return a table of two to six people with random orders at the begin of a round. Nothing of it is stored."""
    options, players, secret = rules.options_from(preset, {}), rng.randrange(2, 7), rng.randbytes(32)
    seats = [
        Seat(index=n, user_id=n + 1, orders=random_orders(options, n, players, rng).to_row()) for n in range(players)
    ]
    position = rules.deal(options, players, rules.Shuffler(secret).shuffle, dealer=0)
    return Table(Game(preset=preset, pace="standard"), seats, options, Playing(Round(secret=secret), [], position))


def play_out(table: Table, rng: random.Random) -> Mapping[str, int]:
    """Play a round in which orders move where they fit, and else a player at random; check each line, and replay it."""
    options, start, counts = table.options, table.started.position, {"turns": 0, "by order": 0, "ended": 0}
    shuffle = rules.Shuffler(bytes(table.started.round.secret)).shuffle
    lines: list[tuple[int, rules.Move]] = []
    asked, ordered = True, False  # orders are asked once in a turn
    in_a_row = 0  # orders alone could go on for ever (`MOST_BY_ORDER`)
    while table.started.position.phase != "over":
        position = table.started.position
        seat, moves = position.turn, turn_moves(table) if asked and in_a_row < 20 else []
        ordered = bool(moves)
        if not moves:
            moves = [rng.choice(rules.legal_moves(position, seat, options))]
        for number, move in enumerate(moves):
            before = table.started.position
            assert before.turn == seat
            if ordered:
                assert replace(move, uno=False) in rules.legal_moves(before, seat, options)
                assert number == 0 or before.phase == "drawn"
            after, events = rules.apply(before, seat, move, options, shuffle)
            ended = end_turn_orders(table, before, after, events)
            assert all(orders_of(row).ended for row in ended)
            table.started.position = after
            lines.append((seat, move))
            counts["ended"] += len(ended)
        asked = rules.ends_turn(before, seat, move, after, options)
        counts["turns"] += asked
        in_a_row = (in_a_row + len(moves)) * ordered
        counts["by order"] += ordered
    assert not any(orders_of(row).of_turn for row in table.seats)
    *_, (replayed, _) = rules.replay(start, lines, options, shuffle)
    assert replayed == table.started.position
    return counts


@pytest.mark.long
@pytest.mark.parametrize("preset", PRESETS)
def test_in_random_games_orders_make_legal_moves_once_a_turn_and_the_lines_replay(preset: str, figure: Figure) -> None:
    rng, total = random.Random(20261129), dict.fromkeys(("turns", "by order", "ended"), 0)
    games = max(1, GAMES // len(PRESETS))
    for _ in range(games):
        total = {name: total[name] + number for name, number in play_out(random_table(preset, rng), rng).items()}
    figure(f"{games} games of {preset}: {total}")
    assert total["by order"] > games
    assert total["ended"] > games


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
def test_stored_games_with_orders_follow_from_their_deals(three: list[User]) -> None:
    by_order = 0
    for seed, preset in enumerate(PRESETS):
        choices = lobby.TableChoices(preset=preset, players=4, bots=1, pace="fast")
        table = lobby.create_table(user=three[0], choices=choices, now=NOON)
        for user in three[1:]:
            lobby.join(code=table.game.code, viewer=Viewer(user), now=NOON)
        rng, now = random.Random(seed), NOON
        for user in three:
            seat = Seat.objects.get(game=table.game, user=user)
            fields = random_orders(table.options, seat.index, 4, rng).to_json()
            fields.pop("ended")
            set_orders(code=table.game.code, viewer=Viewer(user), fields=fields, now=now)
        for _ in range(25):
            here = now_of(table)
            if here.game.ended:
                break
            now += timedelta(minutes=2)
            wait(table, int((now - NOON) / SECOND))
            here = now_of(table)
            if not here.game.ended and here.on_turn.user is not None and here.game.orders_at is None:
                move = rng.choice(queries.view_of(here, here.on_turn.user).legal or [rules.Move("draw")])
                play(table, here.on_turn.user, str(move), after=int((now - NOON) / SECOND))
        assert faults_of(table.game.pk) == []
        by_order += Move.objects.filter(game=table.game, by_order=True).count()
    assert by_order
