"""Test which notices moves, deals and the lobby write, in their own transaction."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

import pytest

from accounts.models import User
from games import queries
from games.actions import lobby, pauses
from games.actions.commit import commit
from games.actions.play import play_move
from games.actions.rematch import ask_rematch
from games.models import Game, Notice, NoticeSettings, Seat
from games.notices import player_notices, staff_notices
from games.notices.kinds import GROUPS
from games.queries import Table, Viewer
from games.refusals import Denied
from games.rules import Move
from mail import outbox
from tests.support.clocks import HOUR, MINUTE, move
from tests.support.notices import texts_of
from tests.support.tables import NOON, TWO_HANDS, now_of, table_at

pytestmark = pytest.mark.django_db

PLACES = ("You’re first.", "You’re second.", "You’re third.")
THREE = {**TWO_HANDS, "hands": [["r5", "b1", "b2"], ["r4", "g3", "W6"], ["y1", "y2"]]}


def stored_notices(**which: Any) -> list[tuple[str, str, str]]:
    """Return person, kind and channel of each notice, in order."""
    rows = Notice.objects.filter(**which).order_by("pk")
    return [(row.user.username, row.kind, row.channel) for row in rows.select_related("user")]


@pytest.fixture
def table(alice: User, bob: User) -> Table:
    return table_at(TWO_HANDS, [alice, bob])


@pytest.fixture
def three(alice: User, bob: User, charlie: User) -> Table:
    return table_at(THREE, [alice, bob, charlie])


@pytest.fixture
def nearly_over(alice: User, bob: User, charlie: User) -> Table:
    """Return a match whose round Alice ends by her next card."""
    return table_at({**THREE, "hands": [["r5"], ["r4", "g3"], ["y1", "y2"]]}, [alice, bob, charlie], target=1000)


def by_channel(**which: Any) -> Mapping[str, tuple[str, str, object]]:
    """Return state, reason and time of reading by channel, for notices of which each channel has one."""
    rows = Notice.objects.filter(**which)
    found = {row.channel: (row.state, row.reason, row.read_at) for row in rows}
    assert len(found) == len(rows)
    return found


def test_a_move_notifies_the_next_player_in_every_channel_once(table: Table, alice: User) -> None:
    for _ in range(2):
        play_move(code=table.game.code, viewer=Viewer(alice), text="play r5", version=0, now=NOON, token="once")
    assert stored_notices() == [("bob", "turn", "site"), ("bob", "turn", "email")]
    row = Notice.objects.get(channel="email")
    assert (row.game, row.version, row.state, row.said) == (table.game, 1, "waiting", "")
    assert (row.created_at, row.due_at) == (NOON, NOON + 5 * MINUTE)


def test_a_refused_move_writes_no_notice(table: Table, alice: User) -> None:
    with pytest.raises(Denied):
        move(table, alice, "play b1")
    assert stored_notices() == []


@pytest.mark.parametrize(
    ("changes", "second", "pace", "text"),
    [
        ({"hands": [["b1", "b2"], ["r4", "g3"]], "draw_pile": ["r7", "b3"]}, "", "standard", "draw"),
        ({}, "careful", "standard", "play r5"),
        ({}, "random", "standard", "play r5"),
        ({}, "", "live", "play r5"),
    ],
    ids=["a turn continues", "a careful bot", "a random bot", "a live table"],
)
def test_some_turns_need_no_notice(
    alice: User, bob: User, changes: dict[str, Any], second: str, pace: str, text: str
) -> None:
    move(table_at({**TWO_HANDS, **changes}, [alice, second or bob], pace=pace), alice, text)
    assert stored_notices() == []


@pytest.mark.parametrize("card", ["rS", "rE"])
def test_a_player_is_notified_of_another_turn_of_their_own(alice: User, bob: User, card: str) -> None:
    position = {**TWO_HANDS, "hands": [[card, "r1", "b2"], ["r4", "g3", "W6"]]}
    table = move(table_at(position, [alice, bob]), alice, f"play {card}")
    assert now_of(table).started.position.turn == 0
    assert stored_notices() == [("alice", "turn", "site"), ("alice", "turn", "email")]
    move(table, alice, "play r1")
    assert {row.reason for row in Notice.objects.filter(user=alice)} == {"moved"}
    assert stored_notices(user=bob) == [("bob", "turn", "site"), ("bob", "turn", "email")]


def test_a_guest_gets_no_mail_notices(table: Table, alice: User, bob: User) -> None:
    User.objects.filter(pk=bob.pk).update(is_guest=True)
    move(table, alice, "play r5")
    assert stored_notices() == [("bob", "turn", "site")]


def test_a_kind_that_is_switched_off_is_stored_as_not_sent(table: Table, alice: User, bob: User) -> None:
    NoticeSettings.objects.create(user=bob, choices={"turn.email": False})
    move(table, alice, "play r5")
    assert by_channel() == {"site": ("waiting", "", None), "email": ("dropped", "off", None)}


def test_a_kind_that_is_switched_on_waits(mo: User) -> None:
    NoticeSettings.objects.create(user=mo, choices={"case_arrived.email": True})
    player_notices.write(None, [player_notices.NewNotice(mo.pk, "case_handed_over")], now=NOON)
    assert by_channel() == dict.fromkeys(("site", "email"), ("waiting", "", None))


def test_being_caught_is_told_on_the_site_only(alice: User, bob: User) -> None:
    table = table_at({**TWO_HANDS, "hands": [["r5"], ["r4", "g3", "W6"]], "turn": 1, "exposed": [0]}, [alice, bob])
    move(table, bob, "catch 0")
    assert by_channel() == {"site": ("waiting", "", None)}
    assert texts_of(Notice.objects.all()) == ["bob catches you not calling UNO."]


def test_a_group_switches_all_its_kinds_and_nothing_else(table: Table, alice: User) -> None:
    NoticeSettings.objects.create(user=alice, choices={f"{group}.email": False for group in GROUPS})
    kinds = ("turn", "bot_took_over", "table_full", "game_over", "warned")
    player_notices.write(table.game, [player_notices.NewNotice(alice.pk, kind) for kind in kinds], now=NOON)
    mails = Notice.objects.filter(channel="email").order_by("pk")
    assert [row.reason for row in mails] == ["off", "off", "off", "off", ""]


def test_a_move_drops_waiting_notices_and_marks_shown_ones_read(table: Table, alice: User, bob: User) -> None:
    move(table, alice, "play r5")
    Notice.objects.filter(channel="site").update(state="sent")
    other = move(table_at(TWO_HANDS, [alice, bob]), alice, "play r5")
    move(table, bob, "play r4")
    assert by_channel(game=table.game, user=bob) == {"site": ("sent", "", NOON), "email": ("dropped", "moved", None)}
    assert {row.state for row in Notice.objects.filter(game=other.game)} == {"waiting"}


def test_the_end_of_a_game_notifies_all_but_the_player_who_ended_it(nearly_over: Table, alice: User) -> None:
    Game.objects.update(target=0)
    move(nearly_over, alice, "play r5 uno")
    assert stored_notices(channel="site") == [("bob", "game_over", "site"), ("charlie", "game_over", "site")]
    assert set(texts_of(Notice.objects.all())) == {"alice wins the game."}


def test_the_end_of_a_round_notifies_all_and_the_deal_notifies_the_first_player(
    nearly_over: Table, alice: User
) -> None:
    after = move(nearly_over, alice, "play r5 uno")
    begins = ("alice", "bob", "charlie")[after.started.position.turn]
    assert stored_notices(channel="site") == [
        ("bob", "round_over", "site"),
        ("charlie", "round_over", "site"),
        (begins, "turn", "site"),
    ]
    texts = set(texts_of(Notice.objects.filter(kind="round_over")))
    assert texts == {"Round 1 is over. alice wins the round. That’s 10 points."}
    for text in texts_of(Notice.objects.all()):
        assert not any(color in text for color in ("Red", "Yellow", "Green", "Blue", "Wild"))


def test_a_player_who_knocks_themselves_out_has_seen_it(alice: User, bob: User, charlie: User) -> None:
    many = [f"{color}{n}" for color in "gb" for n in range(1, 10)] + ["y3", "y4", "y6"]
    table = table_at({**THREE, "hands": [["r+4", "b1"], many, ["y1", "y2"]]}, [alice, bob, charlie])
    move(table, alice, "play r+4 uno")
    Notice.objects.all().delete()
    move(table, bob, "take")
    assert stored_notices(channel="site") == [("charlie", "turn", "site")]


def test_a_full_table_notifies_the_players_who_waited(alice: User, bob: User, charlie: User) -> None:
    game = lobby.create_table(user=alice, choices=lobby.TableChoices(players=3), now=NOON).game
    lobby.join(code=game.code, viewer=Viewer(bob), now=NOON)
    assert stored_notices() == []
    table = lobby.join(code=game.code, viewer=Viewer(charlie), now=NOON)

    assert stored_notices(kind="table_full", channel="email") == [
        ("alice", "table_full", "email"),
        ("bob", "table_full", "email"),
    ]
    begins = now_of(table).started.position.turn
    said = dict(zip((alice, bob), texts_of(Notice.objects.filter(kind="table_full", channel="site")), strict=True))
    assert said == {
        alice: f"No Mercy with bob and charlie has started. {PLACES[-begins % 3]}",
        bob: f"No Mercy with alice and charlie has started. {PLACES[(1 - begins) % 3]}",
    }
    assert len(stored_notices(kind="turn", channel="email")) == 1


@pytest.mark.parametrize("wants_turns", [True, False])
def test_whoever_begins_is_not_told_twice_that_the_game_has_started(alice: User, bob: User, wants_turns: bool) -> None:
    NoticeSettings.objects.create(user=alice, choices={"turn.email": wants_turns})
    table = table_at(TWO_HANDS, [alice, bob], deadline=NOON + 24 * HOUR)
    player_notices.start(table, by=bob.pk, now=NOON)
    outbox.deliver(clock=lambda: NOON + MINUTE)
    told = Notice.objects.filter(user=alice, kind="table_full").order_by("pk").values_list("channel", "state", "reason")
    assert list(told) == [("site", "sent", ""), ("email", *(("dropped", "turn") if wants_turns else ("sent", "")))]


def test_a_rematch_notifies_the_other_players(three: Table, bob: User) -> None:
    Game.objects.filter(pk=three.game.pk).update(status="over", winner=0)
    again = ask_rematch(code=three.game.code, viewer=Viewer(bob), now=NOON)
    assert stored_notices(kind="invited", channel="site") == [
        ("alice", "invited", "site"),
        ("charlie", "invited", "site"),
    ]
    assert set(texts_of(Notice.objects.filter(game=again.game))) == {"bob invites you to a rematch."}


def test_a_move_writes_its_notices_in_one_statement(
    table: Table, alice: User, bob: User, django_assert_num_queries: Callable[[int], Any]
) -> None:
    intents = [player_notices.NewNotice(user.pk, kind) for user in (alice, bob) for kind in ("turn", "out")]
    with django_assert_num_queries(1):
        player_notices.write(table.game, intents, now=NOON, mover=alice.pk, settled=("turn",))
    with django_assert_num_queries(0):
        player_notices.write(table.game, [], now=NOON)
    assert Notice.objects.count() == 6


def test_players_are_notified_when_staff_call_off_a_game(table: Table) -> None:
    staff_notices.called_off(table, now=NOON)
    assert stored_notices(channel="email") == [("alice", "game_over", "email"), ("bob", "game_over", "email")]


def test_a_player_taken_out_is_notified_and_keeps_other_notices(three: Table, alice: User) -> None:
    for kind in ("turn", "caught"):
        player_notices.write(three.game, [player_notices.NewNotice(alice.pk, kind)], now=NOON)
    Notice.objects.filter(channel="site", kind="caught").update(state="sent")
    commit(queries.load(three.game), 0, [Move("leave")], now=NOON, by_person=False)
    assert stored_notices(user=alice, kind="out") == []  # the caller writes the notice with the reason
    assert {row.reason for row in Notice.objects.filter(user=alice, kind="turn")} == {"moved_on"}
    assert Notice.objects.get(user=alice, kind="caught", channel="site").read_at is None


def test_a_player_who_leaves_gets_no_notice_of_it_and_none_of_the_result(three: Table, alice: User, bob: User) -> None:
    move(three, alice, "leave")
    assert stored_notices(user=alice) == []
    move(three, bob, "leave")
    assert stored_notices(kind="game_over", channel="site") == [
        ("bob", "game_over", "site"),
        ("charlie", "game_over", "site"),
    ]


@pytest.mark.parametrize("by_person", [True, False], ids=["leaves", "is taken out"])
def test_a_player_who_ends_the_game_by_leaving_is_told_the_result(table: Table, alice: User, by_person: bool) -> None:
    commit(queries.load(table.game), 0, [Move("leave")], now=NOON, by_person=by_person)
    assert stored_notices(channel="email") == [("alice", "game_over", "email"), ("bob", "game_over", "email")]
    assert texts_of(Notice.objects.filter(user=alice, channel="email")) == ["bob wins the game."]
    assert set(Notice.objects.values_list("state", flat=True)) == {"waiting"}


@pytest.mark.parametrize(("target", "text"), [(0, "the game."), (1000, "the round. That’s 57 points.")])
def test_a_notice_of_a_win_says_that_the_readers_bot_made_it(alice: User, bob: User, target: int, text: str) -> None:
    table = table_at({**TWO_HANDS, "hands": [["r5"], ["r4", "g3", "W6"]]}, [alice, bob], target=target)
    Seat.objects.filter(game=table.game, index=0).update(bot="careful")
    commit(now_of(table), 0, [Move("play", "r5")], now=NOON, by_person=False)

    start = "Round 1 is over. " if target else ""
    assert texts_of(Notice.objects.filter(channel="site").order_by("user")) == [
        f"{start}Your bot wins {text}",
        f"{start}alice’s bot wins {text}",
    ]


def test_a_takeover_notice_says_why(table: Table) -> None:
    for _ in range(2):
        player_notices.bot_took_over(table, table.seats[0], now=NOON)
    assert stored_notices() == [("alice", "bot_took_over", "site"), ("alice", "bot_took_over", "email")]
    assert set(texts_of(Notice.objects.all())) == {
        "You missed too many turns, so a bot is keeping your seat warm. Take it back any time."
    }


def test_taking_the_seat_back_settles_the_takeover_notice(table: Table, alice: User, bob: User) -> None:
    other = table_at(TWO_HANDS, [alice, bob])
    Seat.objects.filter(user=alice).update(bot="careful")
    for here in (table, other):
        player_notices.bot_took_over(here, here.seats[0], now=NOON)
    Notice.objects.filter(channel="site").update(state="sent")
    pauses.take_seat_back(code=table.game.code, viewer=Viewer(alice), now=NOON + MINUTE)
    read = {"site": ("sent", "", NOON + MINUTE), "email": ("dropped", "back", None)}
    assert by_channel(game=table.game) == read
    assert by_channel(game=other.game) == {"site": ("sent", "", None), "email": ("waiting", "", None)}


def test_closing_a_callout_window_keeps_the_turn_notice(alice: User, bob: User) -> None:
    position = {**TWO_HANDS, "hands": [["r5"], ["r4", "g3", "W6"]], "exposed": [0]}
    table = table_at(position, [alice, bob])
    player_notices.write(table.game, [player_notices.NewNotice(alice.pk, "turn")], now=NOON)
    Notice.objects.filter(channel="site").update(state="sent")
    commit(queries.load(table.game), 0, [Move("uno", clock=True)], now=NOON)
    assert by_channel() == {"site": ("sent", "", None), "email": ("waiting", "", None)}


def finished(*people: User) -> Table:
    table = table_at(TWO_HANDS, list(people))
    Game.objects.filter(pk=table.game.pk).update(status=Game.Status.OVER)
    return table


def asked_by_mail(user: User) -> list[str]:
    """Return the state of each invitation mail to this person, or the reason why it was not sent."""
    rows = Notice.objects.filter(user=user, kind="invited", channel="email").order_by("pk")
    return [row.reason or row.state for row in rows]


@pytest.mark.long
def test_a_person_gets_one_invitation_a_day_by_mail_from_another(alice: User, bob: User, charlie: User) -> None:
    tables = [finished(alice, bob) for _ in range(3)]
    for minutes in range(0, 30, 3):
        for table in tables:
            now = NOON + minutes * MINUTE
            again = ask_rematch(code=table.game.code, viewer=Viewer(alice), now=now)
            lobby.leave_table(code=again.game.code, viewer=Viewer(alice), now=now + 2 * MINUTE)
    # Notices about the tables that she closed are deleted, except the mail.
    assert asked_by_mail(bob) == ["waiting", "asked"]
    assert Notice.objects.filter(user=bob, kind="invited", channel="site", state="waiting").count() == 1

    ask_rematch(code=finished(charlie, bob).game.code, viewer=Viewer(charlie), now=NOON)
    ask_rematch(code=tables[0].game.code, viewer=Viewer(alice), now=NOON + timedelta(days=1))
    assert asked_by_mail(bob) == ["waiting", "waiting", "waiting"]


def test_only_mailed_invitations_count_for_the_daily_limit(alice: User, bob: User) -> None:
    table = finished(alice, bob)
    again = ask_rematch(code=table.game.code, viewer=Viewer(alice), now=NOON)
    lobby.leave_table(code=again.game.code, viewer=Viewer(alice), now=NOON)
    Notice.objects.filter(channel="email").update(state="dropped", reason="over")  # as the outbox does
    ask_rematch(code=table.game.code, viewer=Viewer(alice), now=NOON + 3 * MINUTE)
    assert asked_by_mail(bob) == ["waiting"]
