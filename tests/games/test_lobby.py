"""Test tables before the first deal, and rematches."""

from __future__ import annotations

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from pytest_django.fixtures import Settings

from accounts.actions import create_guest
from accounts.models import User
from games import queries, rules
from games.actions import guests, invitations, lobby, table_limits
from games.actions.create_once import create_table_once
from games.actions.lobby import TableChoices
from games.actions.play import play_move
from games.actions.rematch import ask_rematch
from games.actions.table_limits import OPEN_TABLES, TABLES_AGAINST_BOTS
from games.models import Game, Invitation, Seat
from games.queries import Viewer, front_page
from games.queries.verify import faults_of
from games.refusals import Denied
from tests.conftest import person
from tests.support.api import Program, refusal
from tests.support.pages import CHOICES, text_of
from tests.support.tables import NOON, TWO_HANDS, now_of, table_at

pytestmark = pytest.mark.django_db


def new_table(user: User, **options: Any) -> queries.Table:
    return lobby.create_table(user=user, choices=TableChoices(**options), now=NOON)


def join(table: queries.Table, user: User) -> queries.Table:
    return lobby.join(code=table.game.code, viewer=Viewer(user), now=NOON)


def leave(table: queries.Table, user: User) -> None:
    lobby.leave_table(code=table.game.code, viewer=Viewer(user), now=NOON)


def start(table: queries.Table, user: User) -> queries.Table:
    return lobby.start(code=table.game.code, viewer=Viewer(user), now=NOON)


def add_bot(table: queries.Table, user: User) -> queries.Table:
    return lobby.add_bot(code=table.game.code, viewer=Viewer(user), bot="random", now=NOON)


def rematch(table: queries.Table, user: User) -> queries.Table:
    return ask_rematch(code=table.game.code, viewer=Viewer(user), now=NOON)


def refused(name: str, act: Callable[[queries.Table, User], object], table: queries.Table, user: User) -> None:
    with pytest.raises(Denied) as caught:
        act(table, user)
    assert caught.value.code == name


def test_a_table_waits_for_people_and_the_last_free_seat_starts_the_game(alice: User, bob: User) -> None:
    table = new_table(alice, players=2)
    assert (table.game.status, table.game.host, table.game.round) == (Game.Status.OPEN, alice, None)
    assert table.names == [alice.name]
    after = join(table, bob)
    assert (after.game.status, after.names) == (Game.Status.PLAYING, [alice.name, bob.name])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"players": 1}, "2 to 6 players"),
        ({"players": 7}, "2 to 6 players"),
        ({"players": 3, "bots": 3}, "Choose 0 to 2 bots for 3 players"),
        ({"bots": -1}, "Choose 0 to 3 bots for 4 players"),
        ({"pace": "hasty"}, "live, fast, standard, slow"),
        ({"bot": "grandma"}, "careful"),
        ({"bot_pause": 11.0}, "0 to 10 seconds"),
        ({"preset": "poker"}, "poker"),
        ({"options": {"mercy_limit": 7}}, "mercy_limit"),
        ({"options": {"jokers": 3}}, "jokers"),
        ({"options": {"target": 3}}, "in its own field"),
        ({"target": 5001}, "target"),
    ],
)
def test_an_invalid_table_is_refused_with_a_sentence(alice: User, options: dict[str, Any], words: str) -> None:
    with pytest.raises(Denied, match=words) as caught:
        new_table(alice, **options)
    assert caught.value.status == 400
    assert not Game.objects.exists()


def test_a_new_table_stores_what_differs_from_its_preset_and_starts_full_of_bots(alice: User) -> None:
    table = new_table(alice, options={"mercy_limit": 30, "hand_size": 7}, target=500)
    assert table.game.options == {"mercy_limit": 30}
    assert queries.options_of(now_of(table).game).target == 500
    table = new_table(alice, players=4, bots=3, bot="sharp")
    after = now_of(table)
    assert after.game.status == Game.Status.PLAYING
    assert [seat.bot for seat in after.seats] == ["", "sharp", "sharp", "sharp"]
    assert [len(hand) for hand in after.started.position.hands] == [7, 7, 7, 7]


def edited(preset: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Change the options of the preset from now on."""
    offered = replace(rules.PRESETS[preset], hand_size=5, mercy_limit=20, zero_seven=False)
    monkeypatch.setitem(rules.PRESETS, preset, offered)


@pytest.mark.django_db(transaction=True)
def test_a_running_game_keeps_its_rules_when_its_preset_is_edited(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    table = new_table(alice, players=2, bots=1, options={"callout_penalty": 3})
    edited("no-mercy", monkeypatch)
    after = now_of(table)
    assert after.options == table.options
    assert (after.options.hand_size, after.options.mercy_limit, after.options.callout_penalty) == (7, 25, 3)
    assert [len(hand) for hand in after.started.position.hands] == [7, 7]
    assert faults_of(table.game.pk) == []


def test_new_tables_use_an_edited_preset_and_rematches_keep_their_rules(
    alice: User, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = finished_game(alice, bob)
    edited("no-mercy", monkeypatch)
    assert (new_table(alice).options.hand_size, new_table(alice).options.zero_seven) == (5, False)
    again = rematch(table, alice)
    assert now_of(again).options == table.options
    assert (table.options.hand_size, table.options.mercy_limit, table.options.target) == (7, 30, 0)


def test_a_table_is_joined_once_with_a_free_seat_and_a_private_one_by_its_link(
    alice: User, bob: User, charlie: User
) -> None:
    table = new_table(alice, players=2)
    with pytest.raises(Denied) as caught:
        lobby.join(code="nowhere", viewer=Viewer(bob), now=NOON)
    assert caught.value.code == "not_found"
    refused("already_seated", join, table, alice)
    join(table, bob)
    refused("full", join, table, charlie)
    refused("already_started", leave, table, alice)
    table = new_table(alice, players=2, public=False)
    refused("not_found", join, table, bob)
    assert queries.load_by_invite(table.game.invite_key).game == table.game
    after = lobby.join(code=table.game.code, viewer=Viewer(bob, [table.game.invite_key]), now=NOON)
    assert after.game.status == Game.Status.PLAYING


def test_leaving_before_the_start_closes_the_table_or_changes_its_host(alice: User, bob: User) -> None:
    table = new_table(alice, players=3, bots=1)
    leave(table, alice)
    assert now_of(table).game.status == Game.Status.VOID
    refused("over", join, table, bob)
    assert front_page.open_tables(bob) == []
    table = new_table(alice, players=3)
    join(table, bob)
    leave(table, alice)
    assert (now_of(table).names, now_of(table).game.host) == ([bob.name], bob)


def test_the_host_starts_with_the_players_present_or_fills_seats_with_bots(
    alice: User, bob: User, charlie: User
) -> None:
    table = new_table(alice, players=5)
    refused("too_few_players", start, table, alice)
    join(table, bob)
    join(table, charlie)
    leave(table, bob)
    refused("forbidden", start, table, charlie)
    assert start(table, alice).game.players == 2
    assert [(seat.index, seat.name) for seat in now_of(table).seats] == [(0, alice.name), (1, charlie.name)]
    table = new_table(alice, players=3)
    join(table, bob)
    refused("forbidden", add_bot, table, bob)
    after = add_bot(table, alice)
    assert (after.game.status, after.seats[2].bot) == (Game.Status.PLAYING, "random")


def finished_game(alice: User, bob: User) -> queries.Table:
    hands = [*TWO_HANDS["hands"], ["b3", "b4"]]
    table = table_at({**TWO_HANDS, "hands": hands}, [alice, bob, "careful"], options={"mercy_limit": 30})
    Game.objects.filter(pk=table.game.pk).update(status=Game.Status.OVER, winner=0, is_public=False)
    return table


def test_a_rematch_has_the_same_options_is_made_once_and_seats_the_second_person_who_asks(
    alice: User, bob: User
) -> None:
    refused("forbidden", rematch, table_at(TWO_HANDS, [alice, bob]), alice)
    table = finished_game(alice, bob)
    first = rematch(table, alice)
    assert first.game.options == {"mercy_limit": 30}
    assert (first.game.status, first.game.players) == (Game.Status.OPEN, 3)
    assert rematch(table, alice).game.pk == first.game.pk
    assert Seat.objects.filter(game=first.game, user=alice).count() == 1
    second = rematch(table, bob)
    assert (second.game.pk, second.game.status) == (first.game.pk, Game.Status.PLAYING)
    assert Invitation.objects.filter(game=first.game, user=bob).exists()


def test_a_rematch_keeps_each_bot_s_kind_and_can_be_asked_for_again_if_it_was_closed(alice: User, bob: User) -> None:
    table = table_at({**TWO_HANDS, "hands": [["r5"], ["r4"], ["g3"], ["W6"]]}, [alice, "sharp", bob, "random"])
    Game.objects.filter(pk=table.game.pk).update(status=Game.Status.OVER)
    again = rematch(table, alice)
    assert [seat.bot for seat in again.seats] == ["", "sharp", "random"]
    table = finished_game(alice, bob)
    first = rematch(table, alice)
    leave(first, alice)
    second = rematch(table, bob)
    assert second.game.pk != first.game.pk
    assert second.game.status == Game.Status.OPEN
    invited = Invitation.objects.filter(game__rematch_of=table.game).values_list("game", "user")
    assert list(invited) == [(second.game.pk, alice.pk)]


def test_invitations_move_along_with_a_guest_s_seats(alice: User, bob: User, charlie: User) -> None:
    ours, only_theirs = (table_at(TWO_HANDS, [charlie, "careful"], is_public=False) for _ in range(2))
    Invitation.objects.create(game=ours.game, user=alice, at=NOON)
    for table in (ours, only_theirs):
        Invitation.objects.create(game=table.game, user=bob, at=NOON)
    guests.move_seats(guest=bob, user=alice, now=NOON)
    assert sorted(Invitation.objects.values_list("user__username", "game")) == [
        ("alice", ours.game.pk),
        ("alice", only_theirs.game.pk),
    ]


def test_a_guest_s_seats_move_to_the_account(alice: User, bob: User, charlie: User) -> None:
    own = table_at(TWO_HANDS, [alice, bob])
    both = table_at(TWO_HANDS, [alice, charlie])
    assert guests.move_seats(guest=alice, user=charlie, now=NOON) == (1, 0, 0, 0)
    assert [seat.user for seat in now_of(own).seats] == [charlie, bob]
    assert now_of(own).game.host == charlie
    assert [seat.user for seat in now_of(both).seats] == [alice, charlie]


# How many tables one person can have open


@pytest.mark.long
@pytest.mark.parametrize(
    ("is_guest", "bots", "most", "refusal"),
    [
        (False, 0, 20, "You have 20 tables waiting for players, the maximum. Start or leave one first"),
        (False, 1, 50, "50 bot games are open, the maximum. Go on with one, or leave one for a new one"),
        (True, 0, 2, "the maximum for guests. Start or leave one first, or sign up"),
        (True, 1, 2, "the most for a guest. Go on with one, leave one for a new one, or sign up"),
    ],
)
def test_a_person_sits_at_a_limited_number_of_tables_of_each_kind(
    settings: Settings, alice: User, bob: User, is_guest: bool, bots: int, most: int, refusal: str
) -> None:
    settings.RATE_LIMITS = 100
    user = create_guest() if is_guest else alice
    tables = [new_table(user, players=2, bots=bots) for _ in range(most)]
    with pytest.raises(Denied, match=re.escape(refusal)) as refused:
        new_table(user, players=2, bots=bots)
    assert (refused.value.code, refused.value.status, Game.objects.count()) == ("forbidden", 403, most)
    another_kind = new_table(user, players=2, bots=1 - bots)  # each kind is counted by itself
    others = new_table(bob, players=2, bots=bots)
    if not bots:
        with pytest.raises(Denied, match=f"You have {most} tables"):
            join(new_table(bob, players=3), user)
        leave(tables[0], user)
    else:  # a table with another person is not against bots alone
        assert join(another_kind, bob).game.status == Game.Status.PLAYING
        play_move(code=tables[0].game.code, viewer=Viewer(user), text="leave", version=None, now=NOON)
    assert new_table(user, players=2, bots=bots).game.status == others.game.status


def test_a_rematch_counts_as_a_table_like_others(settings: Settings, alice: User, bob: User) -> None:
    settings.RATE_LIMITS = 100
    ended = table_at(TWO_HANDS, [alice, bob])
    Game.objects.filter(pk=ended.game.pk).update(status=Game.Status.OVER, winner=0)
    for _ in range(OPEN_TABLES):
        new_table(alice, players=3)
    with pytest.raises(Denied, match="You have 20 tables"):
        rematch(ended, alice)
    assert not Game.objects.filter(rematch_of=ended.game).exists()
    assert rematch(ended, bob).game.host == bob


def test_becoming_the_host_of_a_left_table_does_not_exceed_the_limit(
    settings: Settings, alice: User, bob: User
) -> None:
    settings.RATE_LIMITS = 10
    for _ in range(2):
        table = new_table(alice, players=3)
        join(table, bob)
        leave(table, alice)
    another, pair = new_table(alice, players=3), new_table(alice, players=2)
    with pytest.raises(Denied, match="You have 2 tables"):
        join(another, bob)
    assert join(pair, bob).game.status == Game.Status.PLAYING  # it is no longer open


@pytest.mark.long
@pytest.mark.parametrize(("bots", "most"), [(0, OPEN_TABLES), (1, TABLES_AGAINST_BOTS)])
def test_without_limits_a_person_sits_at_any_number_of_tables(
    settings: Settings, alice: User, bots: int, most: int
) -> None:
    settings.RATE_LIMITS = 0
    for _ in range(most + 1):
        new_table(alice, players=2, bots=bots)


@pytest.mark.django_db(transaction=True)
def test_tables_created_at_once_are_counted_one_by_one(settings: Settings) -> None:
    settings.RATE_LIMITS = 10
    user = person("alice")

    def make(_: int) -> bool:
        try:
            new_table(user, players=3)
        except Denied:
            return False
        finally:
            connection.close()
        return True

    with ThreadPoolExecutor(8) as threads:
        assert sum(threads.map(make, range(8))) == 2
    assert Game.objects.count() == 2


@pytest.mark.parametrize(
    ("bots", "sentence"), [(0, "Start or leave one first"), (1, "2 bot games are open. Go on with one")]
)
def test_the_page_and_the_api_say_that_there_are_too_many(
    settings: Settings, alice: User, as_alice: Client, bots: int, sentence: str
) -> None:
    settings.RATE_LIMITS = 4 if bots else 10  # two tables
    for _ in range(2):
        new_table(alice, players=2, bots=bots)
    refused = as_alice.post("/tables/new/", CHOICES | {"players": 2, "bots": bots})
    assert refused.status_code == 403
    assert sentence in text_of(refused)
    assert refusal(Program(alice).post("games", {"players": 2, "bots": bots})) == (403, "forbidden")
    assert Game.objects.count() == 2


@pytest.mark.parametrize(
    ("act", "options"), [(lobby.start, {}), (lobby.add_bot, {"bot": "careful"})], ids=["start", "last bot"]
)
def test_an_open_table_with_bots_alone_cannot_be_started_past_the_limit(
    settings: Settings, alice: User, act: Callable[..., queries.Table], options: dict[str, Any]
) -> None:
    settings.RATE_LIMITS = 2  # one table of each kind
    new_table(alice, players=2, bots=1)
    waiting = new_table(alice, players=3, bots=1)
    with pytest.raises(Denied, match="1 bot game is open"):
        act(code=waiting.game.code, viewer=Viewer(alice), **({"now": NOON} | options))
    after = now_of(waiting)
    assert (after.game.status, len(after.seats)) == (Game.Status.OPEN, 2)


# Guests


@pytest.mark.parametrize(
    ("limit", "bots", "sentence"),
    [
        ("OPEN_TABLES", 0, "You have 1 table waiting for players, the maximum."),
        ("TABLES_AGAINST_BOTS", 1, "1 bot game is open, the maximum."),
        ("TABLES", 1, "You have 1 unfinished table, the maximum."),
    ],
)
def test_a_limit_of_one_table_is_said_in_the_singular(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, alice: User, limit: str, bots: int, sentence: str
) -> None:
    settings.RATE_LIMITS = 100
    monkeypatch.setattr(table_limits, limit, 1)
    new_table(alice, players=2, bots=bots)
    with pytest.raises(Denied, match=sentence):
        new_table(alice, players=2, bots=bots)


def test_a_guest_who_has_signed_up_in_another_request_has_the_limits_of_others(settings: Settings) -> None:
    settings.RATE_LIMITS = 100
    guest = create_guest()
    for _ in range(2):
        new_table(guest, players=2, bots=1)
    User.objects.filter(pk=guest.pk).update(is_guest=False)
    assert new_table(guest, players=2, bots=1).game.status == Game.Status.PLAYING


def listed(user: User | None = None) -> list[str]:
    """Return the codes of the open tables on the front page."""
    return [table.game.code for table in front_page.open_tables(user)]


def test_the_front_page_lists_one_table_of_a_host(alice: User, bob: User, charlie: User) -> None:
    tables = {user: [new_table(user, players=2) for _ in range(3)] for user in (alice, bob)}
    new_table(alice, players=3, public=False)
    newest = [tables[user][-1].game.code for user in (bob, alice)]
    assert listed() == listed(charlie) == newest
    assert listed(alice) == newest[:1]
    join(tables[alice][-1], charlie)  # full, so it has started
    assert listed() == [newest[0], tables[alice][-2].game.code]


def test_a_table_that_waits_for_my_answer_or_is_mine_is_no_open_table_and_hides_no_other(
    alice: User, bob: User
) -> None:
    older, newer = new_table(alice, players=3), new_table(alice, players=3)
    own = Invitation.objects.create(game=newer.game, user=bob, at=NOON)
    assert (listed(bob), listed()) == ([older.game.code], [newer.game.code])
    invitations.decline(number=own.pk, user=bob, now=NOON)
    assert listed(bob) == [newer.game.code]
    join(newer, bob)
    assert (listed(bob), listed()) == ([older.game.code], [newer.game.code])


def joined_long_ago(*people: User) -> None:
    for user in people:
        user.date_joined = NOON - timedelta(days=30)
        user.save(update_fields=["date_joined"])


def test_tables_of_guests_leave_half_of_the_front_page_to_others(alice: User, bob: User) -> None:
    joined_long_ago(alice, bob)
    others = [new_table(user, players=2).game.code for user in (alice, bob)]
    of_guests = [
        create_table_once(
            user=None, choices=TableChoices(players=2), form_key=None, now=NOON + timedelta(minutes=n)
        ).table
        for n in range(20)
    ]
    newest = [table.game.code for table in reversed(of_guests)]
    assert listed() == newest[:6] + others[::-1] + newest[6:10]


def test_tables_of_new_accounts_leave_half_of_the_front_page_to_others(alice: User) -> None:
    joined_long_ago(alice)
    older = new_table(alice, players=3).game.code
    users = (User.objects.create(username=f"new{n}", date_joined=NOON - timedelta(hours=23)) for n in range(20))
    newer = [new_table(user, players=3).game.code for user in users][::-1]
    assert listed() == [*newer[:6], older, *newer[6:11]]


def test_newer_tables_of_guests_never_hide_a_table_of_an_account(
    alice: User, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    joined_long_ago(alice, bob)
    monkeypatch.setattr(front_page, "NEWEST", 3)
    of_accounts = [new_table(user, players=3).game.code for user in (alice, bob)]
    of_guests = [new_table(create_guest(), players=3).game.code for _ in range(8)]
    assert listed() == [*of_guests[:-4:-1], *of_accounts[::-1]]


def test_a_table_that_a_guest_hands_on_counts_for_its_new_host(alice: User) -> None:
    joined_long_ago(alice)
    guest = create_guest()
    table = new_table(guest, players=3)
    join(table, alice)
    assert Game.objects.get().hosted_by_new_account
    leave(table, guest)
    assert not Game.objects.get().hosted_by_new_account
    join(table, guest)
    leave(table, alice)
    assert Game.objects.get().hosted_by_new_account
