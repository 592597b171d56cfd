"""Test the limit of open and running tables of a person, however they get their seats."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from pytest_django.fixtures import Settings

from accounts.actions import create_guest
from accounts.models import User
from games.actions import create_once, guests, lobby, table_limits
from games.actions.play import play_move
from games.actions.rematch import ask_rematch
from games.actions.table_limits import TABLES
from games.models import Game, Invitation, Seat
from games.queries import Table, Viewer
from games.refusals import Denied
from games.staff import tables as staff_tables
from tests.conftest import api_token, logged_in, person
from tests.support.pages import CHOICES
from tests.support.staff import act
from tests.support.tables import NOON, TWO_HANDS, now_of, table_at
from tests.support.web import at_once

pytestmark = pytest.mark.django_db

FULL = "2 unfinished tables"


@pytest.fixture(autouse=True)
def two_tables_at_most(settings: Settings) -> None:
    settings.RATE_LIMITS = 1


@pytest.fixture
def full(alice: User, bob: User) -> list[Table]:
    """Return the tables of Alice, who is at the limit: one where she plays and one where a bot plays for her."""
    tables = [table_at(TWO_HANDS, [alice, bob]) for _ in range(2)]
    Seat.objects.filter(game=tables[1].game, user=alice).update(bot="careful")
    return tables


def new_table(host: User, **options: object) -> Table:
    chosen = {"players": 2, "pace": "slow"} | options
    return lobby.create_table(user=host, choices=lobby.TableChoices(**chosen), now=NOON)  # type: ignore[arg-type]  # mixed


def ended_table(alice: User, other: User) -> Table:
    table = table_at(TWO_HANDS, [alice, other])
    Game.objects.filter(pk=table.game.pk).update(status=Game.Status.OVER, winner=0)
    return table


def create(alice: User, other: User) -> None:
    new_table(alice)


def create_and_start(alice: User, other: User) -> None:
    new_table(alice, bots=1)


def create_by_form(alice: User, other: User) -> None:
    create_once.create_table_once(user=alice, choices=lobby.TableChoices(players=2), form_key="a form", now=NOON)


def join_and_start(alice: User, other: User) -> None:
    lobby.join(code=new_table(other).game.code, viewer=Viewer(alice), now=NOON)


def join_and_wait(alice: User, other: User) -> None:
    lobby.join(code=new_table(other, players=3).game.code, viewer=Viewer(alice), now=NOON)


def accept_an_invitation(alice: User, other: User) -> None:
    table = new_table(other, public=False)
    Invitation.objects.create(game=table.game, user=alice, at=NOON)
    lobby.join(code=table.game.code, viewer=Viewer(alice), now=NOON)


def ask_for_a_rematch(alice: User, other: User) -> None:
    ask_rematch(code=ended_table(alice, other).game.code, viewer=Viewer(alice), now=NOON)


def agree_to_a_rematch(alice: User, other: User) -> None:
    table = ended_table(alice, other)
    ask_rematch(code=table.game.code, viewer=Viewer(other), now=NOON)
    ask_rematch(code=table.game.code, viewer=Viewer(alice), now=NOON)


WAYS = [
    create, create_and_start, create_by_form, join_and_start, join_and_wait, accept_an_invitation, ask_for_a_rematch,
    agree_to_a_rematch,
]  # fmt: skip


def seats_of(user: User) -> int:
    going = (Game.Status.OPEN, Game.Status.PLAYING)
    return Seat.objects.filter(user=user, left=False, game__status__in=going).count()


@pytest.mark.parametrize("sit_down", WAYS)
def test_a_person_at_the_limit_gets_no_further_seat(
    full: list[Table], alice: User, charlie: User, sit_down: Callable[[User, User], None]
) -> None:
    with pytest.raises(Denied, match=f"You have {FULL}.*Finish or leave one first") as refused:
        sit_down(alice, charlie)
    assert (refused.value.code, refused.value.status) == ("forbidden", 403)
    assert seats_of(alice) == 2


@pytest.mark.parametrize("sit_down", WAYS)
def test_after_leaving_a_table_a_person_can_join_another(
    full: list[Table], alice: User, charlie: User, sit_down: Callable[[User, User], None]
) -> None:
    play_move(code=full[0].game.code, viewer=Viewer(alice), text="leave", version=None, now=NOON)
    sit_down(alice, charlie)
    assert seats_of(alice) == 2


def test_without_limits_a_person_can_have_any_number_of_tables(
    settings: Settings, full: list[Table], alice: User, charlie: User
) -> None:
    settings.RATE_LIMITS = 0
    join_and_start(alice, charlie)
    assert seats_of(alice) == 3


def test_the_limit_is_far_above_what_people_play() -> None:
    assert TABLES == 200


def test_staff_cannot_give_a_seat_to_a_person_at_the_limit(
    full: list[Table], alice: User, bob: User, charlie: User, ann: User
) -> None:
    table = table_at(TWO_HANDS, [bob, charlie])
    with pytest.raises(Denied, match="alice has the maximum number of tables") as refused:
        staff_tables.move_seat(**act(table, ann, seat=0, username="alice"))
    assert refused.value.code == "forbidden"
    assert now_of(table).seats[0].user == bob


def test_a_guest_s_tables_over_the_limit_stay_with_the_guest(alice: User, bob: User, charlie: User) -> None:
    """Otherwise an account could collect the tables of any number of guests."""
    over, going = ended_table(bob, charlie), [table_at(TWO_HANDS, [bob, charlie]) for _ in range(2)]
    table_at(TWO_HANDS, [alice, charlie])
    moved = guests.move_seats(guest=bob, user=alice, now=NOON)
    assert moved == (2, 0, 0, 1)
    assert owners(over, *going) == [alice, alice, bob]


@pytest.fixture
def two_of_each_kind(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.RATE_LIMITS = 100
    monkeypatch.setattr(table_limits, "OPEN_TABLES", 2)
    monkeypatch.setattr(table_limits, "TABLES_AGAINST_BOTS", 2)


OPEN, AGAINST_BOTS = {"players": 3}, {"players": 2, "bots": 1}


@pytest.fixture
def guest(db: None) -> User:
    return create_guest()


def owners(*tables: Table) -> list[User | None]:
    """Return who has seat 0 of each table."""
    return [now_of(table).seats[0].user for table in tables]


@pytest.mark.long
@pytest.mark.usefixtures("two_of_each_kind")
@pytest.mark.parametrize("kind", [OPEN, AGAINST_BOTS], ids=["open", "against bots"])
def test_an_account_cannot_exceed_a_limit_with_tables_of_guests(
    kind: dict[str, object], alice: User, guest: User
) -> None:
    own, another = new_table(alice, **kind), create_guest()
    tables = [own, *(new_table(host, **kind) for host in (guest, guest, another))]
    assert guests.move_seats(guest=guest, user=alice, now=NOON) == (1, 0, 0, 1)
    assert guests.move_seats(guest=another, user=alice, now=NOON) == (0, 0, 0, 1)
    assert [now_of(table).game.host for table in tables] == [alice, alice, guest, another]
    with pytest.raises(Denied, match=r"2 (tables|bot games)"):
        new_table(alice, **kind)


@pytest.mark.long
@pytest.mark.usefixtures("two_of_each_kind")
def test_each_kind_of_a_guest_s_tables_has_its_own_limit(alice: User, charlie: User, guest: User) -> None:
    for kind in (OPEN, OPEN, AGAINST_BOTS, AGAINST_BOTS):
        new_table(guest, **kind)
    for _ in range(3):
        table_at(TWO_HANDS, [guest, charlie])
    ended_table(guest, charlie)
    assert guests.move_seats(guest=guest, user=alice, now=NOON) == (8, 0, 0, 0)


@pytest.mark.usefixtures("two_of_each_kind")
def test_a_guest_s_table_that_all_others_left_counts_as_against_bots(alice: User, charlie: User, guest: User) -> None:
    tables = [table_at(TWO_HANDS, [guest, other]) for other in ("careful", "careful", "careful", charlie)]
    Seat.objects.filter(game=tables[3].game, user=charlie).update(left=True)
    assert guests.move_seats(guest=guest, user=alice, now=NOON) == (2, 0, 0, 2)
    assert owners(*tables) == [alice, alice, guest, guest]


def test_tables_over_one_limit_do_not_count_for_another(alice: User, charlie: User, guest: User) -> None:
    """The limits are one table against bots and two in all. Of three tables, the second one against bots stays."""
    tables = [table_at(TWO_HANDS, [guest, other]) for other in ("careful", "careful", charlie)]
    assert guests.move_seats(guest=guest, user=alice, now=NOON) == (2, 0, 0, 1)
    assert owners(*tables) == [alice, guest, alice]


@pytest.mark.long
def test_moving_a_guest_s_tables_runs_a_constant_number_of_queries(alice: User, bob: User, charlie: User) -> None:
    asked, dora = [], person("dora")
    for guest, tables in ((bob, 1), (charlie, 10)):
        for _ in range(tables):
            ended_table(guest, dora)
        with CaptureQueriesContext(connection) as queries:
            assert guests.move_seats(guest=guest, user=alice, now=NOON).games == tables
        asked.append(len(queries))
    assert asked[0] == asked[1]
    assert set(Game.objects.values_list("host", flat=True)) == {alice.pk}


def test_a_start_locks_the_person_before_it_changes_seats(alice: User, bob: User) -> None:
    """A staff act that removes a name locks the person before the seats. The other order could deadlock."""
    table = new_table(alice, players=4, bots=1)
    lobby.join(code=table.game.code, viewer=Viewer(bob), now=NOON)
    lobby.leave_table(code=table.game.code, viewer=Viewer(bob), now=NOON)
    with CaptureQueriesContext(connection) as queries:
        lobby.start(code=table.game.code, viewer=Viewer(alice), now=NOON)
    sql = [query["sql"] for query in queries]
    locked = next(n for n, one in enumerate(sql) if "accounts_user" in one and "FOR NO KEY UPDATE" in one)
    changed = next(n for n, one in enumerate(sql) if one.startswith('UPDATE "games_seat"'))
    assert locked < changed
    assert [seat.index for seat in now_of(table).seats] == [0, 1]


def test_the_page_says_which_tables_stayed_with_the_guest(full: list[Table], alice: User, charlie: User) -> None:
    browser, guest = logged_in(alice), create_guest()
    table_at(TWO_HANDS, [guest, charlie])
    session = browser.session
    session["left_guest"] = guest.pk
    session.save()
    text = browser.post("/move-seats/", {"answer": "move"}, follow=True).content.decode()
    assert f"1 game of {guest.name} stayed behind: you would have too many tables." in text


@pytest.mark.long
def test_the_page_and_the_api_refuse_one_more_table(full: list[Table], alice: User, charlie: User) -> None:
    table = new_table(charlie)
    browser, join = logged_in(alice), f"/games/{table.game.code}/join/"
    pages = [browser.post("/tables/new/", CHOICES | {"players": 2, "bots": 1}), browser.post(join)]
    token = {"Authorization": f"Bearer {api_token(alice)}"}
    calls = [
        browser.post(path, {}, content_type="application/json", headers=token)
        for path in ("/api/v1/games", f"/api/v1/games/{table.game.code}/join")
    ]
    assert [answer.status_code for answer in pages + calls] == [403] * 4
    assert all("Finish or leave one first" in answer.content.decode() for answer in pages + calls)
    assert {answer.json()["error"] for answer in calls} == {"forbidden"}
    assert seats_of(alice) == 2


@pytest.mark.django_db(transaction=True)
def test_seats_taken_at_once_are_counted_in_turn() -> None:
    alice, others = person("alice"), [person(name) for name in ("bob", "charlie", "dora", "emil")]
    codes = [new_table(other).game.code for other in others]

    def sit(n: int, ready: Callable[[], object]) -> bool:
        ready()
        try:
            if n % 2:
                lobby.join(code=codes[n // 2], viewer=Viewer(alice), now=NOON)
            else:
                new_table(alice, bots=1)
        except Denied:
            return False
        return True

    assert sum(at_once([partial(sit, n) for n in range(8)])) == 2
    assert seats_of(alice) == 2
