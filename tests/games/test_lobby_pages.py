"""The pages of open tables, invitations and rematches."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth import get_user
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import Session, User
from games import queries
from games.actions import housekeeping, lobby
from games.models import Game, Invitation, Seat
from games.queries import Viewer
from games.refusals import Denied
from games.staff import tables
from tests.conftest import logged_in
from tests.support.pages import Page, group, open_table, text_of
from tests.support.tables import NOON, TWO_HANDS, table_at

pytestmark = pytest.mark.django_db

HTMX = {"HX-Request": "true"}


@pytest.fixture
def game(alice: User) -> Game:
    """A public table of alice's with three free seats."""
    return open_table(alice)


@pytest.fixture
def secret(alice: User) -> Game:
    """A private table of alice's with three free seats."""
    return open_table(alice, public=False)


@pytest.fixture
def running(alice: User, bob: User) -> Game:
    """A private game of alice and bob."""
    return table_at(TWO_HANDS, [alice, bob], is_public=False).game


def link(game: Game) -> str:
    return f"/join/{game.invite_key}/"


def redirect(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.headers["Location"]


def guests() -> int:
    return User.objects.filter(is_guest=True).count()


def test_the_lobby_shows_players_and_actions(
    as_alice: Client, alice: User, as_bob: Client, bob: User, client: Client
) -> None:
    game = open_table(alice, players=4, bots=1)
    url = f"/games/{game.code}/"
    mine, theirs, nobodys = (text_of(browser.get(url)) for browser in (as_alice, as_bob, client))
    assert all("2 seats are free" in text for text in (mine, theirs, nobodys))
    assert ("Start with 2 players" in mine, "Add a bot" in mine, "Leave the table" in mine) == (True, True, True)
    assert "Sit down" not in mine
    alone = Page(as_bob.get(open_table(bob).get_absolute_url()))
    assert alone.has("button", id="do-start", type="button", aria_disabled="true")
    for text in (theirs, nobodys):
        assert ("Sit down" in text, "Start with" in text, "Leave the table" in text) == (True, False, False)


def test_only_seated_players_see_the_invitation_link_which_does_not_depend_on_the_request(
    game: Game, as_alice: Client, as_bob: Client
) -> None:
    url = game.get_absolute_url()
    assert game.invite_key not in as_bob.get(url).content.decode()
    for headers in ({}, {"Host": "localhost:6666", "X-Forwarded-Host": "evil.example"}):
        page = Page(as_alice.get(url, headers=headers))
        assert (page.status, f"{settings.SITE_URL}{link(game)}" in page.html) == (200, True)
        assert not any(host in page.html for host in ("6666", "localhost", "evil.example"))


def test_sitting_down_in_the_last_seat_starts_the_game(as_bob: Client, alice: User) -> None:
    game = open_table(alice, players=2)
    assert redirect(as_bob.post(f"/games/{game.code}/join/")) == (303, game.get_absolute_url())
    game.refresh_from_db()
    assert game.status == "playing"


def test_a_visitor_becomes_a_guest_at_a_table_that_exists(client: Client, secret: Game, game: Game) -> None:
    for code in ("nothere", secret.code):
        assert client.post(f"/games/{code}/join/").status_code == 404
    assert client.get("/join/guess/").status_code == 404
    assert guests() == 0
    assert client.post(f"/games/{game.code}/join/").status_code == 303
    assert Seat.objects.get(game=game, index=1).user == User.objects.get(is_guest=True)


@pytest.mark.parametrize(
    ("state", "why"),
    [
        ("playing", "Every seat at this table is taken."),
        ("void", "This table was closed before the game started."),
        ("over", "The game is over."),
    ],
)
def test_no_guest_is_created_for_a_full_table(
    client: Client, game: Game, alice: User, bob: User, state: str, why: str
) -> None:
    if state == "void":
        lobby.leave_table(code=game.code, viewer=Viewer(alice), now=NOON)
    else:
        game = table_at(TWO_HANDS, [alice, bob]).game
        Game.objects.filter(pk=game.pk).update(status=state)
    for path in (link(game), f"/games/{game.code}/join/"):
        answer = client.post(path)
        assert (answer.status_code, why in text_of(answer)) == (409, True)
        assert (guests(), get_user(client).is_authenticated) == (0, False)


def test_the_host_adds_bots_and_starts(as_alice: Client, game: Game) -> None:
    assert as_alice.post(f"/games/{game.code}/add-bot/", {"bot": "sharp"}).status_code == 303
    assert as_alice.post(f"/games/{game.code}/start/").status_code == 303
    game.refresh_from_db()
    assert (game.status, game.players) == ("playing", 2)


def test_leaving_a_table_leads_home(as_bob: Client, bob: User, game: Game) -> None:
    as_bob.post(f"/games/{game.code}/join/")
    answer = as_bob.post(f"/games/{game.code}/leave/", follow=True)
    assert (answer.redirect_chain, "You left the table." in text_of(answer)) == ([("/", 303)], True)
    assert not Seat.objects.filter(user=bob).exists()


def test_a_player_who_left_a_private_table_may_still_see_it(as_alice: Client, secret: Game) -> None:
    as_alice.post(f"/games/{secret.code}/leave/")
    part = as_alice.get(f"/games/{secret.code}/?lobby=1", headers=HTMX)
    assert (part.status_code, "HX-Refresh" in part.headers) == (200, False)
    assert "This table was closed before it started" in text_of(part)


@pytest.mark.parametrize(
    ("who", "act", "fields", "status", "sentence"),
    [
        ("bob", "start", {}, 403, "You are not seated at this table."),
        ("bob", "leave", {}, 403, "You are not seated at this table."),
        ("bob", "rematch", {}, 403, "You are not seated at this table."),
        ("alice", "join", {}, 409, "You already have a seat at this table."),
        ("alice", "start", {}, 409, "A game needs two players"),
        ("alice", "add-bot", {"bot": "evil"}, 400, "The bot must be one of"),
        ("alice", "add-bot", {}, 400, "The bot must be one of"),
        ("alice", "rematch", {}, 403, "when the game is over"),
    ],
)
def test_a_refusal_shows_the_current_table_and_the_reason(
    game: Game, as_alice: Client, as_bob: Client, who: str, act: str, fields: dict[str, str], status: int, sentence: str
) -> None:
    browser = as_alice if who == "alice" else as_bob
    page = Page(browser.post(f"/games/{game.code}/{act}/", fields))
    assert (page.status, sentence in page.text, page.has(id="seats-title")) == (status, True, True)


@pytest.mark.parametrize("act", ["join", "leave", "start", "add-bot"])
def test_a_started_game_refuses_lobby_actions(alice: User, bob: User, charlie: User, act: str) -> None:
    game = table_at(TWO_HANDS, [alice, bob]).game
    browser = logged_in(charlie if act == "join" else alice)
    page = Page(browser.post(f"/games/{game.code}/{act}/", {"bot": "careful"}))
    assert (page.status, page.has(id="refusal"), page.has(data_game=game.code)) == (409, True, True)


def test_the_lobby_by_htmx_is_a_part_of_the_page_and_without_scripts_reloads(as_alice: Client, game: Game) -> None:
    whole, part = as_alice.get(f"/games/{game.code}/"), as_alice.get(f"/games/{game.code}/?lobby=1", headers=HTMX)
    assert "HX-Request" in whole.headers["Vary"]
    assert part.content.decode().startswith('<title>Your table · No Mercy</title>\n<main id="main"')
    url = game.get_absolute_url()
    assert Page(as_alice.get(url)).one("meta", http_equiv="refresh").get("content") == f"10; url={url}"
    assert not Page(as_alice.get(f"{url}?refresh=off")).has("meta", http_equiv="refresh")
    url = game.get_absolute_url()
    for act in ("join", "leave", "start", "add-bot", "rematch"):
        assert redirect(as_alice.get(f"{url}{act}/")) == (302, url), act
    assert Seat.objects.filter(game=game).count() == 1


def test_a_closed_table_says_why_it_closed(as_alice: Client, alice: User, bob: User, ann: User) -> None:
    everybody_left = "Everyone who sat here has left."

    def text_of_closed_table(game: Game) -> str:
        page = as_alice.get(f"/games/{game.code}/")
        assert (page.status_code, "This table was closed before it started" in text_of(page)) == (200, True)
        return text_of(page)

    game = open_table(alice, players=3, bots=1)
    lobby.leave_table(code=game.code, viewer=Viewer(alice), now=NOON)
    assert everybody_left in text_of_closed_table(game)

    of_staff, old = open_table(alice, players=3), open_table(alice, players=3)
    tables.close(game_id=of_staff.pk, by=ann, reason="A table of nobody any more", now=NOON)
    Game.objects.filter(pk=old.pk).update(created_at=NOON - timedelta(days=8))
    assert housekeeping.close_old_tables(now=NOON) == 1
    for game, why in ((of_staff, "Staff closed it."), (old, "Not enough players joined within 7 days.")):
        assert why in text_of_closed_table(game)
        assert everybody_left not in text_of_closed_table(game)


def rows() -> list[object]:
    """Return the number of rows that opening a page could have changed: accounts, seats, invitations, sessions."""
    found = (User.objects, Seat.objects, Invitation.objects, Session.objects)
    return [list(table.order_by("pk").values()) for table in found]


def test_an_invitation_shows_a_private_table_and_changes_nothing(client: Client, secret: Game) -> None:
    before = rows()
    for _ in range(2):
        invited = client.get(link(secret))
        assert (invited.status_code, "Sit down" in text_of(invited)) == (200, True)
    assert client.get(secret.get_absolute_url()).status_code == 404
    assert rows() == before


def test_sitting_down_by_an_invitation_gives_access_to_the_table(client: Client, secret: Game) -> None:
    url = secret.get_absolute_url()
    assert Page(client.get(link(secret))).has("form", action=link(secret))
    assert redirect(client.post(link(secret))) == (303, url)
    assert Seat.objects.get(game=secret, index=1).user == User.objects.get(is_guest=True)
    assert client.get(link(secret)).headers["Location"] == url
    client.post(f"{url}leave/")
    assert client.get(url).status_code == 200


def test_an_invitation_page_updates_at_its_own_address(client: Client, alice: User, as_bob: Client) -> None:
    game = open_table(alice, public=False, players=3)
    here = link(game)
    page = Page(client.get(here))
    assert page.has(hx_get=here)
    assert not page.has("meta", http_equiv="refresh")  # a reload would lose the name being typed
    assert "2 seats are free" in text_of(client.get(here, headers=HTMX))
    as_bob.post(here)
    part = Page(client.get(here, headers=HTMX))
    assert ("1 seat is free" in part.text, "<html" in part.html) == (True, False)
    lobby.start(code=game.code, viewer=Viewer(alice), now=NOON)
    assert client.get(here, headers=HTMX).headers["HX-Refresh"] == "true"


def test_an_invitation_to_a_started_game_offers_watching(client: Client, running: Game) -> None:
    before, url = rows(), running.get_absolute_url()
    with CaptureQueriesContext(connection) as asked:
        page = client.get(link(running))
    reads = [query["sql"] for query in asked if "games_hand" in query["sql"] or "games_game" in query["sql"]]
    assert len(reads) == 1  # game and hands are of one moment
    assert (page.status_code, "Watch the game" in text_of(page)) == (200, True)
    assert rows() == before
    assert client.get(url).status_code == 404
    assert redirect(client.post(link(running), {"watch": "1"})) == (303, url)
    assert client.get(url).status_code == 200
    assert guests() == 0


def test_a_table_that_closes_while_it_is_read_is_still_shown(client: Client, game: Game) -> None:
    Seat.objects.filter(game=game).delete()
    for path in ("/", game.get_absolute_url()):
        assert "A closed table" in text_of(client.get(path))


def test_an_invitation_to_a_closed_table_says_so(client: Client, secret: Game, alice: User) -> None:
    lobby.leave_table(code=secret.code, viewer=Viewer(alice), now=NOON)
    text = text_of(client.get(link(secret)))
    assert ("This table was closed before it started" in text, "Watch" in text) == (True, False)


def test_logging_in_returns_to_the_invitation(client: Client, secret: Game, bob: User) -> None:
    here = link(secret)
    assert Page(client.get(here)).links_to(f"/accounts/login/?next={here}")
    answer = client.post("/accounts/login/", {"login": "bob", "password": "bob", "next": here})
    assert answer.headers["Location"] == here
    assert client.post(here).status_code == 303
    assert Seat.objects.filter(game=secret, user=bob).exists()


@pytest.mark.long
def test_a_browser_keeps_the_newest_links_only(client: Client, alice: User, bob: User) -> None:
    games = [table_at(TWO_HANDS, [alice, bob], is_public=False).game for _ in range(52)]
    for game in games:
        client.post(link(game), {"watch": "1"})
    seen = [client.get(f"/games/{game.code}/").status_code for game in (games[1], games[2], games[-1])]
    assert seen == [404, 200, 200]


def test_a_rematch_takes_one_click_and_invites_the_others(running: Game, as_alice: Client, as_bob: Client) -> None:
    Game.objects.filter(pk=running.pk).update(status="over", winner=0)
    answer = as_alice.post(f"/games/{running.code}/rematch/")
    again = Game.objects.get(rematch_of=running)
    assert redirect(answer) == (303, again.get_absolute_url())
    assert again.code in group(as_bob.get("/"), "invitations")
    assert as_bob.post(f"/games/{running.code}/rematch/").headers["Location"] == again.get_absolute_url()
    again.refresh_from_db()
    assert again.status == "playing"


def test_private_tables_are_denied_as_missing_ones(secret: Game) -> None:
    with pytest.raises(Denied) as denied:
        queries.load_for(secret.code, Viewer(None))
    assert denied.value.status == 404
