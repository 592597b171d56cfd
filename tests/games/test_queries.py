"""Who may see a table, the lists of games and their order, the log and the record."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.db import connection

from accounts.models import User
from games import queries, rules
from games.actions import lobby
from games.actions.play import play_move
from games.models import Game, Hand, Invitation, Round, Seat
from games.models.positions import position_of
from games.queries import Table, Viewer, front_page, lists
from games.queries.records import record_of
from games.refusals import Denied
from tests.support.clocks import move
from tests.support.pages import open_table
from tests.support.tables import NOON, TWO_HANDS, now_of, table_after, table_at
from tests.support.threads import own_connection

pytestmark = pytest.mark.django_db


def codes(tables: list[queries.Table]) -> list[str]:
    return [table.game.code for table in tables]


def test_the_fixed_sql_reads_what_the_orm_reads(alice: User, bob: User) -> None:
    table = table_after([alice, bob, "careful"], 25, seed=3, options={"mercy_limit": 30})
    orm = Game.objects.select_related("round").get(pk=table.game.pk)
    fixed = now_of(table)
    assert fixed.game == orm
    for field in Game._meta.concrete_fields:
        assert getattr(fixed.game, field.attname) == getattr(orm, field.attname), field
    assert orm.round is not None
    assert position_of(orm.round) == fixed.started.position
    assert [hand.seat.user_id for hand in fixed.started.hands] == [alice.pk, bob.pk, None]


def test_a_private_table_is_seen_by_players_link_holders_and_the_invited(
    alice: User, bob: User, charlie: User, mo: User
) -> None:
    table = table_at(TWO_HANDS, [alice, bob], is_public=False)
    code = table.game.code
    Invitation.objects.create(game=table.game, user=mo, at=NOON)
    by_link = [table.game.invite_key]
    for user, links in ((alice, ()), (mo, ()), (charlie, by_link), (None, by_link)):
        assert queries.load_for(code, Viewer(user, links)).game.code == code
    for user in (charlie, None):
        with pytest.raises(Denied) as refused:
            queries.load_for(code, Viewer(user))
        assert refused.value.code == "not_found"


def test_a_game_where_i_can_catch_somebody_waits_for_me(alice: User, bob: User, charlie: User) -> None:
    people, hands = [alice, bob, charlie], [["r5", "b1"], ["g4"], ["b2", "b3"]]

    def exposed(**position: Any) -> Table:
        return table_at({**TWO_HANDS, "hands": hands, "turn": 1, "exposed": [1], **position}, people)

    table = exposed()
    Hand.objects.filter(round=table.game.round_id, seat__index=1).update(callout_until=NOON + timedelta(hours=1))

    def found(user: User, *, minutes: int = 0) -> list[str]:
        return [game.code for game in lists.games_to_act_in(user, now=NOON + timedelta(minutes=minutes))]

    code = table.game.code
    assert (found(alice), found(charlie), found(bob)) == ([code], [code], [code])  # it is Bob's turn
    assert (found(alice, minutes=61), found(bob, minutes=61)) == ([], [code])
    Seat.objects.filter(game=table.game, index=2).update(bot="careful")
    assert (found(alice), found(charlie)) == ([code], [])
    Seat.objects.filter(game=table.game, index=0).update(left=True)
    assert found(alice) == []
    Seat.objects.filter(game=table.game, index=0).update(left=False)
    Round.objects.filter(game=table.game).update(out=[0])
    assert found(alice) == []
    Round.objects.filter(game=table.game).update(out=[2])
    assert found(alice) == [code]
    Game.objects.filter(pk=table.game.pk).update(paused_at=NOON)
    assert found(alice) == []


def test_my_games_are_sorted_by_urgency(alice: User, bob: User) -> None:
    theirs = table_at({**TWO_HANDS, "turn": 1}, [alice, bob])
    later = table_at(TWO_HANDS, [alice, bob], deadline=NOON + timedelta(hours=9))
    sooner = table_at(TWO_HANDS, [alice, bob], deadline=NOON + timedelta(hours=2))
    over = table_at(TWO_HANDS, [alice, bob], winner=0)
    Game.objects.filter(pk=over.game.pk).update(status=Game.Status.OVER, finished_at=NOON)
    table_at(TWO_HANDS, [bob, "careful"])
    expected = [sooner, later, theirs, over]
    assert codes(queries.with_tables(lists.games_of(alice))) == codes(expected)
    assert codes(front_page.current_games(alice)[0]) == codes([sooner, later, theirs])
    assert codes(front_page.finished_games(alice)[0]) == codes([over])
    assert codes(queries.with_tables(lists.games_to_act_in(alice, now=NOON))) == codes([sooner, later])
    assert lists.count_waiting_for(alice) == 2
    assert lists.count_waiting_for(bob) == 2
    following = lists.next_game_for(alice, after=sooner.game.code)
    assert following is not None
    assert following.code == later.game.code


def test_nobody_must_move_in_a_finished_round(alice: User, bob: User) -> None:
    over = {**TWO_HANDS, "hands": [[], ["r4"]], "phase": "over", "winner": 0, "points": 4}
    table_at(over, [alice, bob], target=1000)
    assert lists.count_waiting_for(alice) == 0


def test_open_tables_have_a_free_seat_for_the_reader(alice: User, bob: User) -> None:
    open_table(bob, players=2)
    free = open_table(alice, players=3)
    open_table(alice, players=3, public=False)
    open_table(alice, players=2, bots=1)
    assert codes(front_page.open_tables(bob)) == [free.code]


def test_a_list_of_tables_takes_one_query_for_any_length(
    alice: User, bob: User, django_assert_num_queries: object
) -> None:
    for seed in range(6):
        table_after([alice, bob], 10, seed)
    with django_assert_num_queries(1):  # type: ignore[operator]  # a fixture of pytest-django
        assert len(queries.with_tables(lists.games_of(alice))) == 6


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("before", range(4))
def test_a_list_shows_one_moment_even_if_a_move_is_made_meanwhile(alice: User, bob: User, before: int) -> None:
    table = table_at(TWO_HANDS, [alice, bob])
    Seat.objects.filter(game=table.game, index=0).update(misses=2)
    asked = 0

    play = partial(own_connection, lambda: move(table, alice, "play r5", version=0))  # ends her missed turns

    def play_first(execute: Callable[..., Any], *statement: Any) -> Any:
        nonlocal asked
        if asked == before:
            with ThreadPoolExecutor(1) as other:  # on a connection of its own
                other.submit(play).result()
        asked += 1
        return execute(*statement)

    with connection.execute_wrapper(play_first):
        (listed,) = queries.with_tables(lists.games_of(alice))
    assert asked
    assert (listed.game.version, listed.seats[0].misses) in ((0, 2), (1, 0))


@pytest.mark.parametrize("moves", [0, 25, 500])
def test_a_list_and_a_page_read_the_same_table(alice: User, bob: User, moves: int) -> None:
    bob.display_name, bob.vacation_until = "Bobby", NOON
    bob.save()
    table = table_after([alice, bob, "careful"], moves, seed=3, earlier=2, options={"mercy_limit": 30})
    (listed,), page = queries.with_tables(lists.games_of(alice)), queries.find(table.game.pk)
    assert page is not None
    for reader in (alice, bob, None):
        assert queries.view_of(listed, reader) == queries.view_of(page, reader)
    assert len(queries.view_of(listed, None).results) >= 2


def test_a_list_can_have_open_tables_and_tables_without_people(alice: User, bob: User, charlie: User) -> None:
    waiting, closed = open_table(alice, players=3, bots=1), open_table(bob)
    lobby.leave_table(code=closed.code, viewer=Viewer(bob), now=NOON)
    gap = open_table(bob, players=4)
    for player in (alice, charlie):
        lobby.join(code=gap.code, viewer=Viewer(player), now=NOON)
    lobby.leave_table(code=gap.code, viewer=Viewer(bob), now=NOON)
    listed = queries.with_tables(Game.objects.order_by("pk"))
    assert codes(listed) == [waiting.code, closed.code, gap.code]
    assert [[seat.index for seat in table.seats] for table in listed] == [[0, 2], [], [1, 2]]
    for table in listed:
        page = queries.find(table.game.pk)
        assert page is not None
        assert queries.view_of(table, alice) == queries.view_of(page, alice)
    assert queries.with_tables(Game.objects.filter(pk__in=[])) == []


def test_the_log_is_oldest_first_and_starts_after_a_version(alice: User, bob: User) -> None:
    table = table_after([alice, bob], 12, seed=5)
    everything = queries.log_of(table, alice)
    assert [line.n for line in everything] == list(range(1, table.game.version + 1))
    assert [line.n for line in queries.log_of(table, alice, after=8)] == list(range(9, table.game.version + 1))
    assert [line.n for line in queries.log_of(table, alice, last=3)] == [line.n for line in everything[-3:]]


def test_the_record_of_a_game_replays(alice: User, bob: User) -> None:
    table = table_after([alice, bob, "random"], 500, seed=11)
    assert table.game.status == Game.Status.OVER
    text = rules.print_record(record_of(table))
    record = rules.parse_record(text)
    assert rules.print_record(record) == text
    (played,) = rules.replay_record(record)
    assert played.position == table.started.position
    assert "shuffle: " in text or table.started.position.reshuffles == 0


def test_the_record_of_a_match_replays_round_by_round(alice: User, bob: User, charlie: User) -> None:
    hands = [["r5"], ["r4", "g3", "W6"], ["b1", "b2"]]
    running = table_at({**TWO_HANDS, "hands": hands}, [alice, bob, charlie], target=1000)
    with pytest.raises(Denied):
        record_of(running)
    table = lobby.create_table(user=alice, choices=lobby.TableChoices(players=2, target=5000), now=NOON)
    lobby.join(code=table.game.code, viewer=Viewer(bob), now=NOON)
    play_move(code=table.game.code, viewer=Viewer(bob), text="leave", version=None, now=NOON - timedelta(seconds=5))
    over = now_of(table)
    list(rules.replay_record(rules.parse_record(rules.print_record(record_of(over)))))
    assert over.game.winner == 0
