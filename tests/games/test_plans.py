"""PostgreSQL's plans: rows are found by index for any number of games, and plans are kept."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import partial
from typing import Any, Final

import pytest
from django.db import connection, transaction
from django.db.models import F
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoDbBlocker

from accounts import due_mails, mails
from accounts import queries as accounts
from accounts.actions import create_guest
from accounts.models import User
from games import queries
from games.actions.play import play_move
from games.actions.sweep import sweep
from games.models import Game, Move, Seat, TableEvent
from games.models.notices import Notice
from games.notices import source as games_source
from games.notices.kinds import TURN, WARNED
from games.queries import Viewer, due_bots, front_page, lists
from games.staff import auto_reports
from mail import outbox
from mail.channels import EMAIL, SITE, Channel
from mail.models import Delivery
from tests.support.copies import copy_table
from tests.support.database import migrated_database
from tests.support.tables import TWO_HANDS, table_at

pytestmark = pytest.mark.django_db(transaction=True)

USES: Final = 12
"""A statement is prepared at its fifth use, and PostgreSQL may keep its plan from the sixth use after that."""
OF_GAMES: Final = ("games_game", "games_hand", "games_seat", "games_round", "games_move")


@pytest.fixture(scope="module", autouse=True)
def own_database(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """Use a new database: plans depend on the size of indexes, which rows that other tests deleted have made larger.

    They also depend on statistics, which autovacuum could renew in the middle of a test.
    """
    with django_db_blocker.unblock(), migrated_database("plans"):
        with connection.cursor() as cursor:
            for table in connection.introspection.table_names(cursor):
                cursor.execute(f'ALTER TABLE "{table}" SET (autovacuum_enabled = false)')
        yield


def analyze() -> None:
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")


def forget_statistics() -> None:
    """Let PostgreSQL know nothing of the tables of games, also if an earlier test has analyzed them."""
    with connection.cursor() as cursor:
        cursor.execute("UPDATE pg_class SET reltuples = -1, relpages = 0 WHERE relname ~ '^(games|mail)_'")
        cursor.execute("DELETE FROM pg_statistic USING pg_class WHERE starelid = oid AND relname ~ '^(games|mail)_'")


@pytest.fixture
def many(alice: User, bob: User) -> Iterator[list[int]]:
    """Make several hundred due games with one move each, and close the connection, so that nothing is prepared."""
    table, now = table_at(TWO_HANDS, [alice, bob]), timezone.now()
    games = copy_table(table, 400, deadline=lambda n: now, turn=timedelta(days=1))
    rounds = dict(Game.objects.filter(pk__in=games).values_list("pk", "round_id"))
    Game.objects.filter(pk__in=games).update(version=1)
    Move.objects.bulk_create(
        Move(game_id=pk, round_id=rounds[pk], n=1, seat=1, text="draw", at=now, token="t") for pk in games
    )
    analyze()
    connection.close()
    yield games
    connection.close()


def plan_counts() -> dict[str, tuple[int, int]]:
    """Return the prepared statements of the connection, with how often a kept plan and a new plan was used."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT name, generic_plans, custom_plans FROM pg_prepared_statements WHERE NOT from_sql")
        return {name: (generic, custom) for name, generic, custom in cursor.fetchall()}


def never_kept() -> list[str]:
    """Return the text of each prepared statement that was planned again at each use."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT statement FROM pg_prepared_statements WHERE NOT from_sql AND generic_plans = 0")
        return [statement for (statement,) in cursor.fetchall()]


def plan_of(name: str) -> str:
    with connection.cursor() as cursor:
        cursor.execute("SET plan_cache_mode = force_generic_plan")
        cursor.execute("SELECT cardinality(parameter_types) FROM pg_prepared_statements WHERE name = %s", [name])
        nulls = ", ".join(["NULL"] * cursor.fetchone()[0])
        cursor.execute(f"EXPLAIN EXECUTE {name}({nulls})")
        return "\n".join(line for (line,) in cursor.fetchall())


def whole_tables(plan: str) -> list[str]:
    return [table for table in OF_GAMES if f"Seq Scan on {table}" in plan]


def check_kept(statements: int) -> None:
    found = plan_counts()
    assert sum(generic > 0 for generic, _ in found.values()) == statements, (found, never_kept())
    for name, (generic, custom) in found.items():
        if generic + custom >= USES - 5:
            plan = plan_of(name)
            assert generic > 0, f"planned again each time:\n{plan}"
            assert whole_tables(plan) == [], plan
            assert "Incremental Sort" not in plan, plan


def test_the_clock_finds_every_row_by_index(many: list[int]) -> None:
    assert sweep(clock=timezone.now, most=USES).acted == USES
    check_kept(statements=7)  # the claim, the hands, the log, the round, the seat, the game and the notices
    # A plan without a token is so much cheaper that PostgreSQL would plan the statement again each time.
    assert not any(re.search(r"Scan.* on games_move", plan_of(name)) for name in plan_counts())


def test_a_move_finds_every_row_by_index(many: list[int], alice: User) -> None:
    Game.objects.filter(pk__in=many).update(deadline=timezone.now() + timedelta(days=1))
    for code in Game.objects.filter(pk__in=many[:USES]).values_list("code", flat=True):
        play_move(code=code, viewer=Viewer(alice), text="play r5", version=1, now=timezone.now(), token="mine")
    check_kept(statements=7)


@pytest.mark.long
def test_a_page_finds_every_row_by_index(many: list[int], alice: User) -> None:
    for code in Game.objects.filter(pk__in=many[:USES]).values_list("code", flat=True):
        queries.log_of(queries.load_for(code, Viewer(alice)), alice, last=10)
    check_kept(statements=2)  # the table and its log


@pytest.mark.long
def test_an_invitation_finds_its_table_by_index(many: list[int]) -> None:
    for key in Game.objects.filter(pk__in=many[:USES]).values_list("invite_key", flat=True):
        queries.load_by_invite(key)
    check_kept(statements=1)


def test_a_page_finds_the_events_between_its_moves_by_index(many: list[int], alice: User) -> None:
    events = (TableEvent(game_id=pk, version=1, kind="pause_began", at=timezone.now()) for pk in many * 5)
    TableEvent.objects.bulk_create(events)
    analyze()
    for pk in many[:USES]:
        table = queries.find(pk)
        assert table is not None
        assert len(queries.between_moves(table, alice, last=10)) == 5
    plans = [plan for plan in map(plan_of, plan_counts()) if "games_tableevent" in plan]
    assert len(plans) == 1
    assert "Index Scan" in plans[0]
    assert "table_event_of_game" in plans[0]


@pytest.mark.long
def test_the_front_page_reads_only_the_newest_open_tables_of_new_accounts_and_of_others(
    alice: User, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(front_page, "NEWEST", 10)
    guest, now = create_guest(), timezone.now()
    hosts = [alice] * 20 + [guest] * 4000
    open_games = Game.objects.bulk_create(
        Game(host=host, hosted_by_new_account=host.is_guest, players=3, created_at=now) for host in hosts
    )
    Seat.objects.bulk_create(Seat(game=game, index=0, user_id=game.host_id, name="x") for game in open_games)
    analyze()
    for user in (None, bob):
        (plan,) = plans_of_reads(partial(front_page.open_tables, user), of="games_game")
        read = {table: rows_read(plan, table) for table in ("games_game", "games_seat")}
        assert max(read.values()) <= 10 * 2 * 10, read  # each of the newest a few times
        assert read["games_game"] >= 2 * 10


@pytest.mark.long
def test_the_list_of_public_tables_reads_only_those_it_shows(
    alice: User, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lists, "PUBLIC_LISTED", 50)
    now = timezone.now()
    Game.objects.bulk_create(
        Game(host=alice, players=3, created_at=now - timedelta(minutes=n), is_public=n % 2 == 0) for n in range(4000)
    )
    analyze()
    games = lists.public_games()
    far = lists.public_games(lists.Place("open", now - timedelta(minutes=3000), 0))

    def read() -> None:
        assert len(queries.with_tables(games[20:40])) == 20
        assert games.count() == 50
        assert queries.with_tables(games[1_000_000:1_000_020]) == []
        assert len(queries.with_tables(far[20:40])) == 20
        assert far.count() == 50

    plans = plans_of_reads(read, of="games_game")
    assert len(plans) == 4
    for plan in plans:
        assert rows_read(plan, "games_game") <= 2 * 50, plan


@pytest.mark.long
def test_many_abandoned_games_do_not_slow_the_search_for_due_bots(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(due_bots, "NEWEST", 10)
    now = timezone.now()
    table = table_at(TWO_HANDS, [alice, "random"])
    left = copy_table(table, 3000, deadline=lambda n: now, turn=timedelta(days=1))
    Game.objects.filter(pk__in=left).update(
        deadline=None, turn_since=None, wake_at=now + F("pk") * timedelta(seconds=-1)
    )
    Seat.objects.filter(game__in=left, user=alice).update(left=True)
    analyze()

    def read_due() -> None:
        assert list(due_bots.newest_attended(now)) == []
        assert len(due_bots.unattended(now)[:2]) == 2

    for plan in plans_of_reads(read_due, of="games_game"):
        read = {name: rows_read(plan, name) for name in ("games_game", "games_seat")}
        assert max(read.values()) <= 10 * 10, (plan, read)


@pytest.mark.long
@pytest.mark.parametrize("analyzed", [False, True], ids=["without statistics", "with statistics"])
def test_a_move_of_a_long_game_reads_no_more_rows(alice: User, bob: User, analyzed: bool) -> None:
    connection.close()  # a connection that has kept no plans
    forget_statistics()
    now, long, short, *others = timezone.now(), *(table_at(TWO_HANDS, [alice, bob]) for _ in range(2 + USES))
    for table in others:  # while there are hardly any rows
        play_move(code=table.game.code, viewer=Viewer(alice), text="play r5", version=0, now=now, token="mine")
    moves, made = range(1, 501), {"game": long.game}
    Game.objects.filter(pk=long.game.pk).update(version=len(moves))
    Move.objects.bulk_create(
        Move(**made, round=long.started.round, n=n, seat=0, text="draw", at=now, token=f"t{n}") for n in moves
    )
    Notice.objects.bulk_create(
        Notice(**made, user=alice, version=n, kind=TURN, channel=SITE.name, state="dropped", **dict.fromkeys(WHEN, now))
        for n in moves
    )
    Notice.objects.create(**made, user=alice, version=501, kind=TURN, channel=SITE.name, **dict.fromkeys(WHEN, now))
    if analyzed:
        analyze()
    read = {}
    for table, version in ((short, 0), (long, len(moves))):
        with transaction.atomic():
            before = rows_fetched()
            play_move(
                code=table.game.code, viewer=Viewer(alice), text="play r5", version=version, now=now, token="mine"
            )
            read[version] = rows_fetched() - before
    assert Notice.objects.get(version=501, user=alice).state == "dropped"
    assert read[len(moves)] <= read[0] + 3


_WAITING: Final = """
INSERT INTO mail_delivery (user_id, version, kind, channel, occasion, address, mailbox, state, reason,
                           created_at, due_at, since, tries)
SELECT %s, 0, %s, %s, n, a.address, a.address, 'waiting', '', now(), now() - n * interval '1 ms', now(), 0
FROM generate_series(%s::int, %s) n
CROSS JOIN LATERAL (SELECT CASE WHEN %s THEN 'p' || n || '@example.org' ELSE '' END) a (address)
"""


@pytest.mark.long
@pytest.mark.parametrize(
    ("source", "channel", "kind"),
    [(games_source, SITE, WARNED), (games_source, EMAIL, WARNED), (due_mails, EMAIL, mails.TOKEN_MADE)],
)
def test_a_sender_reads_as_much_for_many_waiting_rows_as_for_few(
    alice: User, source: Any, channel: Channel, kind: str
) -> None:
    read = []
    for first, last in ((1, 100), (1, 100_000)):
        with connection.cursor() as cursor:
            to_address = source is due_mails
            cursor.execute(_WAITING, [alice.pk, kind, channel.name, first, last, to_address])
            cursor.execute("ANALYZE mail_delivery")  # as autovacuum does
        with transaction.atomic():
            before = rows_fetched()
            claimed, others = outbox.claim(channel, source.SOURCE, now=timezone.now())
            assert len(claimed) + others == outbox.BATCH
            read.append(rows_fetched() - before)
        Delivery.objects.all().delete()
    assert read[1] <= read[0] + 3, read


WHEN: Final = ("created_at", "due_at", "since")


def rows_fetched() -> int:
    """Return how many rows of moves and notices this transaction, and those just before it, have fetched so far.

    PostgreSQL keeps the counts of transactions for up to a second after their end.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT sum(seq_tup_read + idx_tup_fetch) FROM pg_stat_xact_user_tables"
            " WHERE relname IN ('games_move', 'mail_delivery')"
        )
        return int(cursor.fetchone()[0])


def scans_whole(plan: dict[str, Any], table: str) -> bool:
    """Return True if the plan reads this table without an index."""
    own = plan["Node Type"] == "Seq Scan" and plan["Relation Name"] == table
    return own or any(scans_whole(part, table) for part in plan.get("Plans", ()))


def rows_read(plan: dict[str, Any], table: str) -> int:
    """Return how many rows of a table an executed plan read, including filtered ones."""
    own = plan.get("Relation Name") == table
    rows = plan["Actual Rows"] + plan.get("Rows Removed by Filter", 0) if own else 0
    return int(rows * plan["Actual Loops"]) + sum(rows_read(part, table) for part in plan.get("Plans", ()))


@pytest.mark.long
def test_the_list_of_a_person_s_games_is_not_grouped(many: list[int], alice: User) -> None:
    """Grouping all columns of every game of a person takes longer than everything else."""
    plan = lists.games_of(alice)[:20].explain()
    assert "Aggregate" not in plan, plan


def test_the_lists_of_the_front_page_read_only_the_games_of_their_reader(
    many: list[int], charlie: User, mo: User
) -> None:
    table = table_at(TWO_HANDS, [charlie, mo])
    analyze()
    with connection.cursor() as cursor:
        cursor.execute("SET enable_seqscan TO off")  # a table of 400 rows is read as a whole where that is cheaper
    assert [one.game.pk for one in front_page.current_games(charlie)[0]] == [table.game.pk]

    def to_act_in(user: User) -> list[Game]:
        return list(lists.games_to_act_in(user, now=timezone.now()))

    for read in (front_page.current_games, front_page.finished_games, to_act_in):
        (plan,) = plans_of_reads(partial(read, charlie), of="games_game")
        assert rows_read(plan, "games_game") <= 3, plan


def plans_of_searches() -> list[dict[str, Any]]:
    """Return the plans of the searches for people who let turns time out and who resign early."""
    plans = plans_of_reads(lambda: auto_reports.report_signs(now=timezone.now()), of="games_move")
    timeouts, resignations, _browsers = plans
    return [timeouts, resignations]


@pytest.mark.long
def test_the_search_for_cases_reads_only_the_moves_it_needs(many: list[int]) -> None:
    for plan in plans_of_searches():
        assert "move_of_clock_or_leaver" in str(plan), plan
        assert not scans_whole(plan, "games_move"), plan


def test_the_search_for_cases_reads_each_move_once(alice: User, bob: User) -> None:
    """One person can let any number of turns time out in one game."""
    table, lines = table_at(TWO_HANDS, [alice, bob]), 400
    round_, now = table.started.round, timezone.now()
    Move.objects.bulk_create(
        Move(game=table.game, round=round_, n=n + 1, seat=n % 2, text="clock color r", at=now - timedelta(seconds=n))
        for n in range(lines)
    )
    analyze()
    for plan in plans_of_searches():
        assert rows_read(plan, "games_move") <= 2 * lines, plan


@pytest.mark.long
def test_people_are_found_by_index(alice: User) -> None:
    User.objects.bulk_create(
        User(username=f"guest-{n:06}", display_name=f"Quiet Otter {n}", email=f"otter{n}@example.org")
        for n in range(3000)
    )
    analyze()
    form = {"password1": "a long way to Bergen", "password2": "a long way to Bergen"}
    reads: list[Callable[[], object]] = [
        lambda: accounts.person_named("Dora"),
        lambda: accounts.people_with_username("Dora"),
        lambda: accounts.name_clash("Sleepy Seal 12", except_for=User()),
        lambda: accounts.holder_of("alice@example.org"),
        lambda: accounts.claimants("alice@example.org"),
        lambda: accounts.accounts_of("alice@example.org"),
        lambda: accounts.people_with_mail_at("alice@example.org"),
        lambda: Client().get("/people/Dora/"),
        lambda: Client().post("/play-now/"),
        lambda: Client().post("/accounts/password/reset/", {"email": "alice@example.org"}),
        lambda: Client().post("/accounts/login/", {"login": "alice@example.org", "password": "x"}),
        lambda: Client().post("/accounts/signup/", {"username": "dora", "email": "dora@example.org", **form}),
    ]
    found = [[rows_read(plan, "accounts_user") for plan in plans_of_reads(read)] for read in reads]
    assert all(found)
    assert [max(rows) for rows in found if max(rows) > 10] == [], found


def plans_of_reads(read: Callable[[], object], *, of: str = "accounts_user") -> list[dict[str, Any]]:
    """Return the plans of the statements of `read` that read a table, each run for its plan before it is run."""
    plans: list[dict[str, Any]] = []

    def explain(execute: Any, statement: str, parameters: Any, many: bool, context: Any) -> Any:
        if statement.lstrip("( \n").startswith(("SELECT", "WITH")) and of in statement:
            with connection.connection.cursor() as cursor:
                (plan,) = cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}", parameters).fetchone()[0]
                plans.append(plan["Plan"])
        return execute(statement, parameters, many, context)

    with connection.execute_wrapper(explain):
        read()
    return plans


def test_the_check_finds_a_statement_that_reads_a_whole_table(many: list[int]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "PREPARE bad (jsonb) AS UPDATE games_hand SET callout_until = h.until"
            " FROM jsonb_to_recordset($1) AS h (id bigint, until timestamptz) WHERE games_hand.id = h.id"
        )
    assert whole_tables(plan_of("bad")) == ["games_hand"]
