"""Test that a person cannot see a private table after staff removed them from it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from asgiref.sync import sync_to_async
from django.test import Client
from django.utils import timezone

from accounts.models import User
from games import announce, queries
from games.actions import lobby
from games.actions.rematch import ask_rematch
from games.live.polling import poller
from games.models import Game, Invitation
from games.queries import Table, Viewer, lists
from games.staff import tables
from tests.conftest import api_token, logged_in, person
from tests.support.sockets import Socket, run, thread_of_channels
from tests.support.staff import act, dealt
from tests.support.tables import NOON, TWO_HANDS, now_of, table_at

__all__ = ["dealt"]  # the fixture

pytestmark = pytest.mark.django_db(transaction=True)

PAGES = ("", "?lobby=1", "log/", "replay/", "record/", "resign/", "report/")
CALLS = ("", "/clock", "/moves", "/record")


@pytest.fixture(autouse=True)
def _thread_of_channels(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    yield from thread_of_channels(monkeypatch)


@pytest.fixture
def private(dealt: Table) -> Table:
    Game.objects.filter(pk=dealt.game.pk).update(is_public=False)
    return now_of(dealt)


def join_by_link(browser: Client, game: Game) -> None:
    """Open the table's link in this browser, like every person who is invited to a private table."""
    assert browser.post(f"/join/{game.invite_key}/", {"watch": "1"}).status_code == 303
    assert browser.get(f"/games/{game.code}/").status_code == 200


def answers(browser: Client, code: str) -> set[int]:
    """Return the status of every URL that reads the table."""
    seen = {browser.get(f"/games/{code}/{page}").status_code for page in PAGES}
    seen |= {browser.get(f"/games/{code}/", headers={"HX-Request": "true"}).status_code}
    return seen | {browser.get(f"/api/v1/games/{code}{call}").status_code for call in CALLS}


@pytest.mark.long
@pytest.mark.parametrize("bot", [True, False])
def test_a_removed_person_cannot_see_the_table_anywhere(private: Table, mo: User, bob: User, bot: bool) -> None:
    code, old_key = private.game.code, private.game.invite_key
    browser = logged_in(bob)
    join_by_link(browser, private.game)

    tables.remove(**act(private, mo, seat=1, bot=bot))

    assert answers(browser, code) <= {403, 404}
    fragment = browser.get(f"/games/{code}/", headers={"HX-Request": "true"})
    assert (fragment.status_code, fragment.headers["HX-Refresh"], fragment.content) == (403, "true", b"")
    assert "Staff removed you" in browser.get(f"/games/{code}/").content.decode()
    bearer = {"Authorization": f"Bearer {api_token(bob)}"}
    assert {Client().get(f"/api/v1/games/{code}{call}", headers=bearer).status_code for call in CALLS} == {404}
    assert Client().post(f"/api/v1/games/{code}/join", {}, "application/json", headers=bearer).status_code == 404
    listed = Client().get("/api/v1/games?mine=true", headers=bearer).json()
    assert listed == {"items": [], "count": 0}
    assert not lists.games_of(bob).exists()
    assert browser.post(f"/games/{code}/join/").status_code == 403
    for page in ("/", "/notices/"):
        assert f"/games/{code}/" not in browser.get(page).content.decode()
    assert browser.get(f"/join/{old_key}/").status_code == 404
    assert answers(logged_in(person("outsider")), code) == {404}


@pytest.mark.parametrize("data", [{}, {"watch": "1"}])
def test_the_old_link_does_not_work_after_logging_out(
    private: Table, mo: User, bob: User, data: dict[str, str]
) -> None:
    before = Client()
    join_by_link(before, private.game)
    tables.remove(**act(private, mo, seat=1, bot=True))
    for browser in (before, Client()):
        assert answers(browser, private.game.code) == {302, 401, 404}  # 302: reporting needs a log-in
        assert browser.get(f"/join/{private.game.invite_key}/").status_code == 404
        assert browser.post(f"/join/{private.game.invite_key}/", data).status_code == 404


@pytest.mark.long
def test_a_removed_guest_cannot_return_with_another_account(private: Table, mo: User, bob: User, charlie: User) -> None:
    User.objects.filter(pk=bob.pk).update(is_guest=True)
    browser = logged_in(bob)
    join_by_link(browser, private.game)
    tables.remove(**act(private, mo, seat=1, bot=True))
    person("second")
    browser.post("/accounts/login/", {"login": "second", "password": "second"})
    assert browser.session["_auth_user_id"] != str(bob.pk)
    assert answers(browser, private.game.code) == {404}


@pytest.mark.long
@pytest.mark.parametrize("data", [{}, {"watch": "1"}])
def test_the_new_link_does_not_work_for_the_removed_person(
    mo: User, alice: User, bob: User, data: dict[str, str]
) -> None:
    table = lobby.create_table(user=alice, choices=lobby.TableChoices(players=3, public=False), now=NOON)
    key = table.game.invite_key
    lobby.join(code=table.game.code, viewer=Viewer(bob, (key,)), now=NOON)
    tables.remove(**act(table, mo, seat=1, bot=True))
    new = Game.objects.get(pk=table.game.pk).invite_key
    assert new != key
    assert new in logged_in(alice).get(f"/games/{table.game.code}/").content.decode()
    browser = logged_in(bob)
    shown = browser.get(f"/join/{new}/")
    assert (shown.status_code, "alice" in shown.content.decode()) == (403, False)
    assert browser.post(f"/join/{new}/", data).status_code == 403
    assert answers(browser, table.game.code) <= {403, 404}
    join_by_link(logged_in(mo), Game.objects.get(pk=table.game.pk))


@pytest.mark.long
def test_the_invitation_of_a_removed_person_is_deleted(ann: User, alice: User, bob: User) -> None:
    table = table_at(TWO_HANDS, [alice, bob], is_public=False)
    tables.void_game(**act(table, ann))
    again = ask_rematch(code=table.game.code, viewer=Viewer(alice), now=NOON)
    Game.objects.filter(pk=again.game.pk).update(players=3)
    ask_rematch(code=table.game.code, viewer=Viewer(bob), now=NOON)
    tables.remove(**act(again, ann, seat=1, bot=True))
    assert not Invitation.objects.filter(game=again.game, user=bob).exists()
    assert queries.visible_to(bob, [now_of(again)]) == []
    assert answers(logged_in(bob), again.game.code) <= {403, 404}


def test_a_removed_person_sees_the_table_again_when_staff_give_them_a_seat(
    private: Table, ann: User, bob: User
) -> None:
    tables.remove(**act(private, ann, seat=1, bot=True))
    tables.move_seat(**act(private, ann, seat=1, username="bob"))
    assert logged_in(bob).get(f"/games/{private.game.code}/").status_code == 200


def test_a_person_whose_seat_was_given_away_reads_that_the_link_still_works(
    private: Table, ann: User, bob: User
) -> None:
    person("dora")
    tables.move_seat(**act(private, ann, seat=1, username="dora"))
    browser = logged_in(bob)
    shown = browser.get(f"/games/{private.game.code}/")
    assert shown.status_code == 403
    assert "Staff gave your seat at this table to somebody else." in shown.content.decode()
    assert "you can only watch it by its invitation link" in shown.content.decode()
    join_by_link(browser, private.game)


def test_a_public_table_stays_open_to_a_removed_person(dealt: Table, mo: User, bob: User) -> None:
    tables.remove(**act(dealt, mo, seat=1, bot=False))
    assert logged_in(bob).get(f"/games/{dealt.game.code}/").status_code == 200
    assert Game.objects.get(pk=dealt.game.pk).invite_key == dealt.game.invite_key


@pytest.mark.long
@pytest.mark.parametrize("announced", [True, False])
@pytest.mark.parametrize("bot", [True, False])
def test_open_sockets_of_people_who_lost_access_are_closed(
    private: Table, mo: User, alice: User, bob: User, announced: bool, bot: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If no message says so, for example while Redis is down, polling finds them."""
    code = private.game.code
    removed, visitor, player = logged_in(bob), Client(), logged_in(alice)
    for browser in (removed, visitor):
        join_by_link(browser, private.game)
    if not announced:
        monkeypatch.setattr(announce, "get_channel_layer", lambda: None)

    async def scenario() -> None:
        sockets = [Socket(code, browser) for browser in (removed, visitor, player)]
        for socket in sockets:
            assert await socket.accepted()
            await socket.receive()
        await sync_to_async(tables.remove)(**act(private, mo, seat=1, bot=bot) | {"now": timezone.now()})
        if not announced:
            await poller().send_missed_updates()
        assert [await socket.read_until_closed() for socket in sockets[:2]] == [4403, 4403]
        assert (await sockets[2].receive())["game"] == code
        for browser in (removed, visitor):
            again = Socket(code, browser)
            assert await again.accepted()
            assert await again.closed() == 4404
        await sockets[2].leave()

    run(scenario())


def test_a_socket_is_closed_when_its_person_loses_the_seat(private: Table, ann: User, bob: User) -> None:
    """Bob can see the table only because of his seat, which `move_seat` takes away."""
    person("dora")
    browser = logged_in(bob)

    async def scenario() -> None:
        socket = Socket(private.game.code, browser)
        assert await socket.accepted()
        await socket.receive()
        await sync_to_async(tables.move_seat)(**act(private, ann, seat=1, username="dora"))
        assert await socket.read_until_closed() == 4403

    run(scenario())
