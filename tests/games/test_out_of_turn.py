"""Test plays out of turn and the buzzer: races at live tables, refused at the other paces."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from functools import partial

import pytest

from accounts.models import User
from games import queries
from games.actions import penalties, timeouts
from games.actions.lobby import TableChoices, create_table
from games.actions.play import play_move, play_seat
from games.models import Game, Heartbeat
from games.models.paces import PACES
from games.queries import Table, Viewer
from games.refusals import Denied
from games.rules import parse_move
from tests.conftest import person
from tests.support.clocks import move, refused
from tests.support.races import INTERCEPTION, RACE, RACING, STRAIGHT
from tests.support.tables import NOON, log_of, now_of, table_at
from tests.support.threads import outcomes

pytestmark = pytest.mark.django_db

SLOW = [pace for pace in PACES if pace != "live"]


@pytest.fixture
def three(alice: User, bob: User, charlie: User) -> list[User]:
    return [alice, bob, charlie]


@pytest.fixture
def live(three: list[User]) -> Table:
    """Return a live table where Bob and Charlie can intercept."""
    return table_at(INTERCEPTION, three, **RACING)


def play(table: Table, user: User, text: str, version: int | None) -> Table:
    return play_move(code=table.game.code, viewer=Viewer(user), text=text, version=version, now=NOON)


def refusal_of(table: Table, user: User, text: str, version: int | None = 0) -> str:
    """Send a move that must be refused, and return the code. Nothing may have changed."""
    before = now_of(table)
    with pytest.raises(Denied) as caught:
        play(table, user, text, version)
    after = now_of(table)
    assert (after.game.version, after.started.position) == (before.game.version, before.started.position)
    return caught.value.code


def legal_for(table: Table, user: User) -> list[str]:
    return [str(move) for move in queries.view_of(now_of(table), user).legal]


def test_a_pace_races_if_players_stay_at_the_table() -> None:
    assert [name for name, pace in PACES.items() if pace.races] == ["live"]


def test_an_interception_is_listed_and_accepted_at_a_live_table(live: Table, bob: User) -> None:
    assert legal_for(live, bob) == ["play g3"]
    move(live, bob, "play g3")
    assert now_of(live).started.position.turn == 1  # a whole turn more (INT-3)


@pytest.mark.parametrize("pace", SLOW)
def test_an_interception_is_neither_listed_nor_accepted_at_other_paces(three: list[User], pace: str) -> None:
    alice, bob, _ = three
    table = table_at(INTERCEPTION, three, preset="house-party", pace=pace)
    assert legal_for(table, bob) == []
    assert refusal_of(table, bob, "play g3") == "not_your_turn"
    assert refusal_of(table, bob, "play y5") == "not_your_turn"  # no fine either (INT-4)
    assert refusal_of(table, bob, "play u3") == "malformed"
    assert "play r4" in legal_for(table, alice)


def test_a_step_sent_alone_needs_a_live_table(three: list[User]) -> None:
    alice = three[0]
    live, slow = table_at(STRAIGHT, three, **RACING), table_at(STRAIGHT, three, preset="house-party")
    for table in (live, slow):
        move(table, alice, "play r4")
    assert legal_for(live, alice) == ["play r5"]
    move(live, alice, "play r5")
    assert legal_for(slow, alice) == []
    assert refusal_of(slow, alice, "play r5", version=1) == "not_your_turn"


def test_bots_play_out_of_turn_only_at_live_tables(alice: User) -> None:
    people: list[User | str] = [alice, "careful", "careful"]
    step = partial(play_seat, seat=1, move=parse_move("play g3"), version=0, now=NOON)
    slow, live = (table_at(INTERCEPTION, people, **fields).game for fields in ({"preset": "house-party"}, RACING))
    assert refused(lambda: step(game_id=slow.pk))[0] == "not_your_turn"
    assert step(game_id=live.pk).game.version == 1


# Nobody is fined for being late (INT-5).


@pytest.mark.parametrize("text", ["play g3", "play y5", "challenge"])
def test_a_play_out_of_turn_and_a_challenge_need_a_version(live: Table, bob: User, text: str) -> None:
    assert refusal_of(live, bob, text, version=None) == "malformed"


def test_a_late_interception_is_stale_and_costs_nothing(live: Table, three: list[User]) -> None:
    alice, bob, charlie = three
    move(live, alice, "play r5")
    assert refusal_of(live, bob, "play g3", version=0) == "stale"
    assert now_of(live).started.position.extra.fines == ()
    move(live, charlie, "play b3", version=1)  # chosen on the new card, so it is a miss (INT-4)
    assert now_of(live).started.position.extra.fines == (0, 0, 3)


MISSING = {**STRAIGHT, "hands": [["r4", "r5", "g6", "b9"], ["g8", "g2", "y5"], ["b4", "b3", "g8"]]}
"""Seat 0 is on turn on a red 3, and no card of seat 1 intercepts it."""


def test_misses_and_false_catches_of_another_do_not_make_a_move_stale(three: list[User]) -> None:
    alice, bob, charlie = three
    options = {"buzzers": "race", "false_catch_penalty": 2}
    table = table_at(MISSING, three, **{**RACING, "options": options})
    for text in ("play g2", "catch 0", "catch 2"):
        move(table, bob, text)
    move(table, alice, "play r4", version=0)
    assert log_of(table) == ["1 play g2", "1 catch 0", "1 catch 2", "0 play r4"]
    assert refusal_of(table, charlie, "play b4", version=3) == "stale"  # a card was played since


def test_false_catches_draw_what_is_left_and_are_then_refused(three: list[User]) -> None:
    alice, bob, _ = three
    table = few_cards_to_draw(three)
    for _ in range(2):  # the second draws one card where two are due
        assert "catch 0" in legal_for(table, bob)
        play(table, bob, "catch 0", None)
    assert not now_of(table).started.position.draw_pile
    assert refusal_of(table, bob, "catch 0") == "nobody_to_catch"
    assert not [text for text in legal_for(table, bob) if text.startswith("catch")]
    play(table, alice, "play r4", 0)  # is not stale
    assert log_of(table)[-1] == "0 play r4"


def few_cards_to_draw(people: Sequence[User]) -> Table:
    """Return a table where a false catch draws two cards of the three that are left."""
    return table_at(
        {**MISSING, "draw_pile": ["b1", "b2", "y3"]}, people, preset="classic", options={"false_catch_penalty": 2}
    )


@pytest.mark.parametrize("version", [-1, 6, 10**9])
def test_a_version_that_was_never_there_is_stale(three: list[User], version: int) -> None:
    table = table_at(MISSING, three, **RACING)
    play(table, three[1], "play g2", 0)
    assert refusal_of(table, three[0], "play r4", version=version) == "stale"


def test_too_many_false_catches_make_a_version_stale(three: list[User], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(penalties, "MOST_PENALTIES", 2)
    table = table_at(MISSING, three, preset="classic", options={"false_catch_penalty": 1})
    for _ in range(3):
        play(table, three[1], "catch 0", None)
    assert refusal_of(table, three[0], "play r4", version=0) == "stale"
    play(table, three[0], "play r4", 1)


TWO_MISSES = {**MISSING, "hands": [*MISSING["hands"][:2], ["b5", "g8", "y1"]]}
"""Seat 2 has two cards that miss, too."""


def test_a_seat_can_miss_once_until_another_card_is_played(three: list[User]) -> None:
    alice, bob, charlie = three
    table = table_at(TWO_MISSES, three, **RACING)
    move(table, bob, "play g2")
    assert refusal_of(table, bob, "play g2", version=1) == "not_your_turn"
    assert refusal_of(table, bob, "play y5", version=1) == "not_your_turn"
    move(table, charlie, "play g8", version=1)
    assert refusal_of(table, bob, "play y5", version=2) == "not_your_turn"  # the miss of another changes nothing
    move(table, alice, "play r4", version=2)
    move(table, charlie, "play y1", version=3)
    assert now_of(table).started.position.extra.fines == (0, 3, 6)


def test_a_draw_allows_no_second_miss(three: list[User]) -> None:
    table = table_at(TWO_MISSES, three, **RACING)
    move(table, three[2], "play g8")
    move(table, three[0], "draw", version=1)  # and now it is Bob's turn
    assert refusal_of(table, three[2], "play y1", version=2) == "not_your_turn"


@pytest.mark.parametrize("text", ["play g2", "catch 0"])
def test_a_penalty_does_not_put_off_a_bots_move(alice: User, bob: User, text: str) -> None:
    options = {"buzzers": "race", "false_catch_penalty": 2}
    fields = {**RACING, "options": options, "bot_pause": 10.0}
    table = table_at({**MISSING, "turn": 2}, ["careful", bob, alice], **fields)
    move(table, alice, "play b3")
    before = now_of(table).game
    assert before.bots_move_at is not None or before.wake_at is not None
    play_move(code=table.game.code, viewer=Viewer(bob), text=text, version=1, now=NOON + timedelta(seconds=9))
    after = now_of(table).game
    assert after.version == 2
    assert (after.wake_at, after.bots_move_at) == (before.wake_at, before.bots_move_at)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("first", "second", "logs"),
    [((1, "play g3"), (2, "play b3"), (["1 play g3"], ["2 play b3"])), ((0, "play r4"), (2, "play b3"), None)],
    ids=["two interceptions", "a play and an interception"],
)
def test_of_two_plays_at_one_instant_one_wins_and_the_other_is_not_fined(
    three: list[User], first: tuple[int, str], second: tuple[int, str], logs: tuple[list[str], ...] | None
) -> None:
    for _ in range(5):
        table = table_at(INTERCEPTION, three, **RACING)
        answers = outcomes([partial(play, table, three[seat], text, 0) for seat, text in (first, second)])
        assert answers == {"ok": 1, "stale": 1}
        assert logs is None or log_of(table) in logs
        assert now_of(table).started.position.extra.fines == ()


# The buzzer


def test_a_press_needs_no_version_and_counts_once(three: list[User]) -> None:
    alice, bob, charlie = three
    table = table_at(RACE, three, **RACING)
    play(table, bob, "buzz", None)
    assert refusal_of(table, bob, "buzz", version=None) == "already_pressed"
    play(table, alice, "buzz", None)
    after = now_of(table).started.position
    assert (after.phase, len(after.hands[2]), after.turn) == ("play", 4, 1)
    assert refusal_of(table, charlie, "buzz", version=None) == "no_buzz"  # too late, and no fine
    assert after.extra.fines == ()


def test_only_players_still_in_press(alice: User, bob: User, charlie: User) -> None:
    position = {**RACE, "hands": [*RACE["hands"], []], "out": [3]}
    table = table_at(position, [alice, bob, "careful", charlie], **RACING)
    assert refusal_of(table, charlie, "buzz", version=None) == "out"
    assert refusal_of(table, person("dora"), "buzz", version=None) == "not_seated"


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
def test_presses_at_one_instant_leave_one_slowest(three: list[User]) -> None:
    for _ in range(5):
        table = table_at(RACE, three, **RACING)
        assert outcomes([partial(play, table, user, "buzz", None) for user in three]) == {"ok": 2, "no_buzz": 1}
        assert sorted(len(hand) for hand in now_of(table).started.position.hands) == [2, 2, 4]


@pytest.mark.django_db(transaction=True)
def test_of_the_last_press_and_the_end_of_the_race_at_one_instant_one_wins(three: list[User]) -> None:
    Heartbeat.objects.update_or_create(pk=1, defaults={"at": NOON})
    for _ in range(5):
        table = table_at({**RACE, "buzz": {"by": 0, "pressed": [0]}}, three, **RACING, deadline=NOON)
        just_in_time = NOON - timedelta(milliseconds=1)
        press = partial(move, table, three[1], "buzz", version=0, at=just_in_time)
        answers = outcomes([press, partial(timeouts.run_out, game_id=table.game.pk, now=NOON)])
        assert answers in ({"ok": 2}, {"ok": 1, "no_buzz": 1})
        assert log_of(table) == (["1 buzz"] if answers["ok"] == 2 else ["0 clock buzz"])
        assert [len(hand) for hand in now_of(table).started.position.hands] == [2, 2, 4]


def test_a_race_needs_the_pace_live(alice: User) -> None:
    race = TableChoices(preset="house-party", options={"buzzers": "race"}, players=2, bots=1)
    with pytest.raises(Denied, match="lottery") as caught:
        create_table(user=alice, choices=race, now=NOON)
    assert (caught.value.code, caught.value.rule) == ("malformed", "BUZZ-2")
    live = TableChoices(preset="house-party", options={"buzzers": "race"}, players=2, bots=1, pace="live")
    assert create_table(user=alice, choices=live, now=NOON).options.buzzers == "race"
    usual = TableChoices(preset="house-party", players=2, bots=1)
    assert create_table(user=alice, choices=usual, now=NOON + timedelta(seconds=1)).options.buzzers == "lottery"
    assert not Game.objects.filter(options__buzzers="race").exclude(pace="live").exists()


CATCHES = {**MISSING, "hands": [["r4", "r5"], ["g8", "g2", "y5"], ["b4", "b3", "g8"]]}


def test_a_late_catch_is_not_fined(three: list[User]) -> None:
    alice, bob, charlie = three
    table = table_at(CATCHES, three, preset="classic", options={"false_catch_penalty": 2})
    play(table, alice, "play r4", 0)
    play(table, bob, "catch 0", 1)
    for _ in range(2):
        assert refusal_of(table, charlie, "catch 0", version=1) == "stale"
        assert log_of(table) == ["0 play r4", "1 catch 0"]
    for version in (0, 2):  # nobody had to call UNO then
        play(table, charlie, "catch 0", version)
        assert log_of(table)[-1] == "2 catch 0"
    assert len(now_of(table).started.position.hands[2]) == 7


def test_a_catch_of_somebody_who_has_called_uno_meanwhile_is_not_fined(three: list[User]) -> None:
    alice, _, charlie = three
    table = table_at(CATCHES, three, preset="classic", options={"false_catch_penalty": 2})
    play(table, alice, "play r4", 0)
    play(table, alice, "uno", None)
    for _ in range(2):
        assert refusal_of(table, charlie, "catch 0", version=1) == "stale"
    play(table, charlie, "catch 1", 1)
    assert log_of(table)[-1] == "2 catch 1"
