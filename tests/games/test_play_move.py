"""Test `play_move`: what it saves, and what it refuses in which order."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from functools import partial
from typing import Any, Final

import pytest
from django.db import IntegrityError, transaction

from accounts.models import User
from games.actions.play import play_move, play_seat
from games.models import Game, Move, Notice, Round, Seat
from games.queries import Table, Viewer
from games.refusals import Denied
from games.rules import parse_move
from tests.support.tables import NOON, TWO_HANDS, log_of, now_of, table_at

pytestmark = pytest.mark.django_db


LAST_CARD = {**TWO_HANDS, "hands": [["r5"], ["r4", "g3", "W6"]]}
"""Alice wins the round with her next card, and scores 57."""


def move(table: Table, user: User, text: str, **given: Any) -> Table:
    version = given.pop("version", now_of(table).game.version)
    return play_move(code=table.game.code, viewer=Viewer(user), text=text, version=version, now=NOON, **given)


@pytest.fixture
def table(alice: User, bob: User) -> Table:
    return table_at(TWO_HANDS, [alice, bob], deadline=NOON + timedelta(hours=5))


def test_a_move_saves_its_log_line_the_position_and_the_clock(table: Table, alice: User) -> None:
    returned = move(table, alice, "play r5")
    after = now_of(table)
    assert log_of(table) == ["0 play r5"]
    assert after.game.version == returned.game.version == 1
    round_, position = after.started.round, after.started.position
    assert position.hands == (("b1", "b2"), ("r4", "g3", "W6"))
    assert (position.turn, position.discard_pile, position.color) == (1, ("r3", "r5"), "r")
    assert position == returned.started.position
    assert round_.ended_at is None
    # A turn starts with the time of the pace, and banks what the last one left.
    assert after.seats[0].bank == 5 * 3600
    assert after.game.deadline == returned.game.deadline == NOON + timedelta(hours=48)


def test_a_move_that_cannot_be_saved_changes_nothing(table: Table, alice: User) -> None:
    Move.objects.create(game=table.game, round=table.started.round, n=1, seat=1, text="draw", at=NOON)
    with pytest.raises(IntegrityError, match="move_once_per_version"), transaction.atomic():
        move(table, alice, "play r5")
    after = now_of(table)
    assert (after.game.version, after.started.position) == (0, table.started.position)


def test_playing_the_drawn_card_keeps_the_deadline(alice: User, bob: User) -> None:
    position = {**TWO_HANDS, "hands": [["b1", "y1"], ["r4", "g3"]], "draw_pile": ["r9", "g1", "g2"]}
    table = table_at(position, [alice, bob], deadline=NOON + timedelta(hours=5))
    move(table, alice, "draw")
    assert now_of(table).game.deadline == NOON + timedelta(hours=5)


def test_a_last_card_without_uno_opens_a_callout_window_and_a_call_closes_it(alice: User, bob: User) -> None:
    table = table_at({**TWO_HANDS, "hands": [["r5", "b1"], ["r4", "g3"]]}, [alice, bob], pace="live")
    move(table, alice, "play r5")
    hands = now_of(table).started.hands
    assert hands[0].callout_until == NOON + timedelta(seconds=8)
    move(table, alice, "uno")
    hands, position = now_of(table).started.hands, now_of(table).started.position
    assert hands[0].callout_until is None
    assert position.declared == (0,)


def test_a_second_callout_window_gets_the_full_time(alice: User, bob: User) -> None:
    position = {**TWO_HANDS, "hands": [["r7", "b1"], ["g3"]], "exposed": [1]}
    table = table_at(position, [alice, bob], pace="live")
    move(table, alice, "play r7 swap 1")
    hands, after = now_of(table).started.hands, now_of(table).started.position
    assert (after.exposed, after.hands) == ((0, 1), (("g3",), ("b1",)))
    assert hands[1].callout_until == NOON + timedelta(seconds=8)
    reopened = table_at(position, [alice, bob], pace="live")
    reopened.started.hands[1].callout_until = NOON + timedelta(seconds=1)
    reopened.started.hands[1].save()
    move(reopened, alice, "play r7 swap 1")
    assert now_of(reopened).started.hands[1].callout_until == NOON + timedelta(seconds=8)


def test_repeating_a_token_changes_nothing(table: Table, alice: User) -> None:
    first = move(table, alice, "play r5", version=0, token="once")
    again = move(table, alice, "play r5", version=0, token="once")
    assert again.game.version == first.game.version == 1
    assert log_of(table) == ["0 play r5"]


def test_a_token_stands_for_an_accepted_move_of_one_seat(table: Table, alice: User, bob: User) -> None:
    assert refusal(table, alice, "play b1", token="once")[0] == "not_matching"
    move(table, alice, "play r5", token="once")
    assert refusal(table, alice, "draw", token="once") == ("token_reused", 422, None)
    move(table, bob, "play r4", token="once")
    assert log_of(table) == ["0 play r5", "1 play r4"]


def test_repeating_the_token_of_the_last_move_still_answers(alice: User, bob: User) -> None:
    table = table_at(LAST_CARD, [alice, bob])
    for _ in range(2):
        assert move(table, alice, "play r5", version=0, token="last").game.status == Game.Status.OVER


def refusal(table: Table, user: User, text: str, **given: Any) -> tuple[str, int, str | None]:
    before = now_of(table)
    with pytest.raises(Denied) as caught:
        move(table, user, text, **given)
    after = now_of(table)
    assert after.started.position == before.started.position
    assert Move.objects.filter(game=table.game).count() == before.game.version
    return caught.value.code, caught.value.status, caught.value.rule


@pytest.mark.parametrize(
    ("text", "given", "expected"),
    [
        ("play zz", {}, ("malformed", 400, None)),
        ("clock draw", {}, ("malformed", 400, None)),
        ("draw", {"version": None}, ("malformed", 400, None)),
        ("draw", {"token": "a\0b"}, ("malformed", 400, None)),
        ("draw", {"token": "x" * 65}, ("malformed", 400, None)),
        ("draw", {"version": 7}, ("stale", 409, None)),
        ("play b1", {}, ("not_matching", 422, "TURN-2")),
        ("play g9", {}, ("not_in_hand", 422, "TURN-1")),
        ("take", {}, ("nothing_to_take", 422, "STACK-3")),
        ("uno", {"version": None}, ("nothing_owed", 422, "UNO-6")),
        ("catch 1", {"version": 99}, ("nobody_to_catch", 422, "UNO-6")),
    ],
)
def test_a_refused_move_has_a_code_and_changes_nothing(
    table: Table, alice: User, text: str, given: dict[str, Any], expected: tuple[str, int, str | None]
) -> None:
    assert refusal(table, alice, text, **given) == expected


def test_only_the_player_on_turn_moves(table: Table, bob: User, charlie: User) -> None:
    assert refusal(table, bob, "draw") == ("not_your_turn", 422, "TURN-1")
    assert refusal(table, charlie, "draw", version=99) == ("not_seated", 403, None)
    Game.objects.filter(pk=table.game.pk).update(is_public=False)
    assert refusal(table, charlie, "draw") == ("not_found", 404, None)


PAUSED: Final[dict[str, Any]] = {"paused_at": NOON, "paused_reasons": ["staff"], "deadline": None, "remind_at": None}
DUE: Final[dict[str, Any]] = {"paused_at": None, "paused_reasons": [], "deadline": NOON}


def check_order(send: Callable[[], object], faults: Mapping[str, Callable[[], object]]) -> None:
    """Check that a request with all these faults is refused for the first; without that, for the second, and so on.

    :param faults: the code and the rule of the refusal for each fault, and what takes the fault away.
    """
    for fault, mend in faults.items():
        with pytest.raises(Denied) as caught:
            send()
        assert f"{caught.value.code} {caught.value.rule or ''}".strip() == fault
        mend()


def test_of_several_faults_of_a_person_s_move_the_first_is_told(
    table: Table, alice: User, bob: User, charlie: User
) -> None:
    move(table, alice, "play r5", token="used")
    move(table, bob, "play r4")
    change_game = Game.objects.filter(pk=table.game.pk).update
    change_seats = Seat.objects.filter(game=table.game).update
    change_game(status=Game.Status.OVER, is_public=False, **PAUSED)
    change_seats(bot="careful")
    sent: dict[str, Any] = {"user": charlie, "text": "play g9", "version": 0, "deal": 2, "token": "a\0b"}
    check_order(
        lambda: move(table, **sent),
        {
            "malformed": partial(sent.update, token="used"),
            "not_found": partial(change_game, is_public=True),
            "not_seated": partial(sent.update, user=alice),
            "token_reused": partial(sent.update, token=None),
            "over END-1": partial(change_game, status=Game.Status.PLAYING),
            "paused": partial(change_game, **DUE),
            "bot_plays CLOCK-3": partial(change_seats, bot=""),
            "stale": partial(sent.update, version=2, deal=1),
            "stale CLOCK-1": lambda: sent.update(version=now_of(table).game.version),
            "not_your_turn TURN-1": lambda: None,
        },
    )


def test_of_several_faults_of_a_bot_s_move_the_first_is_told(table: Table) -> None:
    change_game = Game.objects.filter(pk=table.game.pk).update
    change_game(status=Game.Status.OVER, **PAUSED)
    sent: dict[str, Any] = {"game_id": 0, "move": parse_move("play g9"), "version": 7, "deal": 2}
    check_order(
        lambda: play_seat(seat=0, now=NOON, **sent),
        {
            "not_found": partial(sent.update, game_id=table.game.pk),
            "over END-1": partial(change_game, status=Game.Status.PLAYING),
            "paused": partial(change_game, **DUE),
            "forbidden": partial(Seat.objects.filter(game=table.game).update, bot="careful"),
            "stale": partial(sent.update, version=0, deal=1),
            "stale CLOCK-1": lambda: sent.update(version=now_of(table).game.version),
            "not_your_turn TURN-1": lambda: None,
        },
    )


def test_a_turn_move_is_for_one_version_of_one_deal(table: Table, alice: User) -> None:
    for version, deal in ((7, 1), (0, 2), (7, 2)):
        assert refusal(table, alice, "play b1", version=version, deal=deal) == ("stale", 409, None)


def test_a_resignation_waits_for_nobody_but_is_for_one_deal(table: Table, alice: User) -> None:
    Game.objects.filter(pk=table.game.pk).update(**PAUSED)
    Seat.objects.filter(game=table.game).update(bot="careful")
    assert refusal(table, alice, "leave", version=None, deal=2) == ("stale", 409, None)
    assert move(table, alice, "leave", version=7, deal=1).seats[0].left


@pytest.mark.parametrize("target", [0, 50])
def test_the_last_card_ends_a_single_round_or_a_match_at_its_target(alice: User, bob: User, target: int) -> None:
    table = table_at(LAST_CARD, [alice, bob], target=target)
    move(table, alice, "play r5")
    after = now_of(table)
    assert (after.game.status, after.game.winner, after.game.deadline) == (Game.Status.OVER, 0, None)
    assert [seat.score for seat in after.seats] == [57, 0]
    assert refusal(table, bob, "draw") == ("over", 409, "END-1")


def test_a_match_goes_on_with_the_next_round_and_the_next_dealer(alice: User, bob: User) -> None:
    table = table_at(LAST_CARD, [alice, bob], target=1000)
    after = move(table, alice, "play r5")
    assert after.game.status == Game.Status.PLAYING
    round_, position = after.started.round, after.started.position
    assert (round_.number, round_.dealer, round_.from_version) == (2, 0, 1)
    assert [len(hand) for hand in position.hands] == [7, 7]
    assert position.turn == 1
    assert [seat.score for seat in now_of(table).seats] == [57, 0]


def test_a_player_who_leaves_is_out_of_later_rounds(alice: User, bob: User, charlie: User) -> None:
    position = {**TWO_HANDS, "hands": [["r5"], ["r4", "g3", "W6"], ["b1", "b2"]]}
    table = table_at(position, [alice, bob, charlie], target=5000)
    move(table, charlie, "leave")
    after = move(table, alice, "play r5")
    round_, position_after = after.started.round, after.started.position
    assert round_.number == 2
    assert position_after.hands[2] == ()
    assert (position_after.out, position_after.absent) == ((2,), (2,))


def test_the_last_player_in_the_match_wins_it(alice: User, bob: User) -> None:
    table = table_at(TWO_HANDS, [alice, bob], target=5000)
    move(table, alice, "leave")
    after = now_of(table)
    assert (after.game.status, after.game.winner) == (Game.Status.OVER, 1)


def test_a_game_is_called_off_at_the_move_limit(alice: User, bob: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("games.actions.commit.MAX_MOVES", 2)
    table = table_at(TWO_HANDS, [alice, bob], target=1000)
    assert move(table, alice, "play r5").game.status == Game.Status.PLAYING
    after = move(table, bob, "draw", version=1)
    assert (after.game.status, after.game.version, after.game.deadline) == (Game.Status.VOID, 2, None)
    assert Notice.objects.filter(kind="game_over", user__in=(alice, bob), channel="site").count() == 2
    assert refusal(table, alice, "draw", version=2) == ("over", 409, "END-1")


def test_a_match_is_called_off_at_the_limit_of_rounds(alice: User, bob: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("games.actions.rounds.MAX_ROUNDS", 2)
    last_card = {"hands": [["r5"], ["b1", "b2"]], "turn": 0, "discard_pile": ["r9"], "draw_pile": ["y1", "y2", "g1"]}
    table = table_at(last_card, [alice, bob], target=5000)
    Round.objects.filter(pk=table.started.round.pk).update(number=2)
    after = move(table, alice, "play r5")
    assert (after.game.status, after.game.winner, after.game.wake_at) == (Game.Status.VOID, None, None)
    assert Round.objects.filter(game=table.game).count() == 1  # no other is dealt
    assert Notice.objects.filter(said="too_many_rounds", channel="site").count() == 2
