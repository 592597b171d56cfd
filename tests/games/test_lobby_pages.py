"""The pages of open tables, invitations and rematches."""

from __future__ import annotations

from datetime import timedelta

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
from tests.support.pages import group, open_table, text_of
from tests.support.tables import NOON, TWO_HANDS, table_at

pytestmark = pytest.mark.django_db


def test_the_lobby_shows_players_and_actions(as_alice: Client, alice: User, as_bob: Client, client: Client) -> None:
    game = open_table(alice, players=4, bots=1)
    url = f"/games/{game.code}/"
    mine, theirs, nobodys = (text_of(browser.get(url)) for browser in (as_alice, as_bob, client))
    assert all("2 seats are free" in text for text in (mine, theirs, nobodys))
    assert ("Start with 2 players" in mine, "Add a bot" in mine, "Leave the table" in mine) == (True, True, True)
    assert "Sit down" not in mine
    for text in (theirs, nobodys):
        assert ("Sit down" in text, "Start with" in text, "Leave the table" in text) == (True, False, False)


def test_only_seated_players_see_the_invitation_link(as_alice: Client, alice: User, as_bob: Client) -> None:
    game = open_table(alice)
    url = f"/games/{game.code}/"
    assert f"{settings.SITE_URL}/join/{game.invite_key}/" in as_alice.get(url).content.decode()
    assert game.invite_key not in as_bob.get(url).content.decode()


def test_the_invitation_link_does_not_depend_on_the_request(as_alice: Client, alice: User) -> None:
    game = open_table(alice)
    page = as_alice.get(f"/games/{game.code}/", headers={"Host": "localhost:6666", "X-Forwarded-Host": "evil.example"})
    assert page.status_code == 200
    assert not any(host in page.content.decode() for host in ("6666", "localhost", "evil.example"))
    assert f"{settings.SITE_URL}/join/{game.invite_key}/" in page.content.decode()


def test_without_scripts_an_open_table_reloads(as_alice: Client, alice: User) -> None:
    url = open_table(alice).get_absolute_url()
    assert f'content="10; url={url}"' in as_alice.get(url).content.decode()
    assert "http-equiv" not in as_alice.get(f"{url}?refresh=off").content.decode()


def test_sitting_down_in_the_last_seat_starts_the_game(as_bob: Client, bob: User, alice: User) -> None:
    game = open_table(alice, players=2)
    answer = as_bob.post(f"/games/{game.code}/join/")
    assert (answer.status_code, answer.headers["Location"]) == (303, f"/games/{game.code}/")
    game.refresh_from_db()
    assert game.status == "playing"


def test_a_visitor_who_sits_down_becomes_a_guest(client: Client, alice: User) -> None:
    game = open_table(alice)
    assert client.post(f"/games/{game.code}/join/").status_code == 303
    assert Seat.objects.get(game=game, index=1).user == User.objects.get(is_guest=True)


def test_no_guest_is_created_for_a_missing_table(client: Client, alice: User) -> None:
    private = open_table(alice, public=False)
    for code in ("nothere", private.code):
        assert client.post(f"/games/{code}/join/").status_code == 404
    assert not User.objects.filter(is_guest=True).exists()


@pytest.mark.parametrize("by_link", [False, True])
@pytest.mark.parametrize(
    ("state", "why"),
    [
        ("full", "Every seat at this table is taken."),
        ("closed", "This table was closed before the game started."),
        ("over", "The game is over."),
    ],
)
def test_no_guest_is_created_for_a_full_table(
    client: Client, alice: User, bob: User, state: str, why: str, by_link: bool
) -> None:
    game = table_at(TWO_HANDS, [alice, bob]).game if state != "closed" else open_table(alice)
    if state == "closed":
        lobby.leave_table(code=game.code, viewer=Viewer(alice), now=NOON)
    if state == "over":
        Game.objects.filter(pk=game.pk).update(status=Game.Status.OVER)
    path = f"/join/{game.invite_key}/" if by_link else f"/games/{game.code}/join/"
    answer = client.post(path)
    assert answer.status_code == 409
    assert why in text_of(answer)
    assert not User.objects.filter(is_guest=True).exists()
    assert not get_user(client).is_authenticated


def test_the_host_adds_bots_and_starts(as_alice: Client, alice: User) -> None:
    game = open_table(alice, players=4)
    assert as_alice.post(f"/games/{game.code}/add-bot/", {"bot": "sharp"}).status_code == 303
    assert as_alice.post(f"/games/{game.code}/start/").status_code == 303
    game.refresh_from_db()
    assert (game.status, game.players) == ("playing", 2)


def test_leaving_a_table_leads_home(as_bob: Client, bob: User, alice: User) -> None:
    game = open_table(alice)
    as_bob.post(f"/games/{game.code}/join/")
    answer = as_bob.post(f"/games/{game.code}/leave/", follow=True)
    assert answer.redirect_chain == [("/", 303)]
    assert "You left the table." in text_of(answer)
    assert not Seat.objects.filter(user=bob).exists()


def test_a_player_who_left_a_private_table_may_still_see_it(as_alice: Client, alice: User) -> None:
    game = open_table(alice, public=False)
    as_alice.post(f"/games/{game.code}/leave/")
    part = as_alice.get(f"/games/{game.code}/?lobby=1", headers={"HX-Request": "true"})
    assert (part.status_code, "HX-Refresh" in part.headers) == (200, False)
    assert "This table was closed before it started." in part.content.decode()


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
    alice: User, bob: User, who: str, act: str, fields: dict[str, str], status: int, sentence: str
) -> None:
    game = open_table(alice)
    browser = logged_in({"alice": alice, "bob": bob}[who])
    answer = browser.post(f"/games/{game.code}/{act}/", fields)
    assert answer.status_code == status
    assert sentence in text_of(answer)
    assert 'id="seats-title"' in answer.content.decode()


@pytest.mark.parametrize("act", ["join", "leave", "start", "add-bot"])
def test_a_started_game_refuses_lobby_actions(alice: User, bob: User, charlie: User, act: str) -> None:
    game = table_at(TWO_HANDS, [alice, bob]).game
    browser = logged_in(charlie if act == "join" else alice)
    answer = browser.post(f"/games/{game.code}/{act}/", {"bot": "careful"})
    assert answer.status_code == 409
    assert 'id="refusal"' in answer.content.decode()
    assert f'data-game="{game.code}"' in answer.content.decode()


@pytest.mark.parametrize("act", ["leave", "start", "add-bot", "rematch"])
def test_a_visitor_is_asked_to_log_in_first(client: Client, alice: User, act: str) -> None:
    game = open_table(alice)
    answer = client.post(f"/games/{game.code}/{act}/")
    assert (answer.status_code, answer.headers["Location"]) == (302, f"/accounts/login/?next=/games/{game.code}/")


@pytest.mark.parametrize("act", ["join", "leave", "start", "add-bot", "rematch"])
def test_a_get_of_an_action_leads_to_the_table(as_alice: Client, alice: User, act: str) -> None:
    game = open_table(alice)
    answer = as_alice.get(f"/games/{game.code}/{act}/")
    assert (answer.status_code, answer.headers["Location"]) == (302, f"/games/{game.code}/")
    assert Seat.objects.filter(game=game).count() == 1


def test_htmx_gets_the_lobby_without_the_page_around_it(as_alice: Client, alice: User) -> None:
    game = open_table(alice)
    whole = as_alice.get(f"/games/{game.code}/")
    part = as_alice.get(f"/games/{game.code}/?lobby=1", headers={"HX-Request": "true"})
    assert "HX-Request" in whole.headers["Vary"]
    assert part.content.decode().startswith('<title>Your table · No Mercy</title>\n<main id="main"')
    assert "<html" not in part.content.decode()


def test_a_closed_table_says_why_it_closed(as_alice: Client, alice: User, bob: User, ann: User) -> None:
    everybody_left = "Everyone who sat here has left."

    def text_of_closed_table(game: Game) -> str:
        page = as_alice.get(f"/games/{game.code}/")
        assert (page.status_code, "This table was closed before it started." in text_of(page)) == (200, True)
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


def test_an_invitation_shows_a_private_table_and_changes_nothing(client: Client, alice: User) -> None:
    game = open_table(alice, public=False)
    before = rows()
    for _ in range(2):
        invited = client.get(f"/join/{game.invite_key}/")
        assert (invited.status_code, "Sit down" in text_of(invited)) == (200, True)
    assert client.get(f"/games/{game.code}/").status_code == 404
    assert rows() == before


def test_sitting_down_by_an_invitation_gives_access_to_the_table(client: Client, alice: User) -> None:
    game = open_table(alice, public=False)
    url = f"/games/{game.code}/"
    page = client.get(f"/join/{game.invite_key}/").content.decode()
    assert f'action="/join/{game.invite_key}/"' in page
    answer = client.post(f"/join/{game.invite_key}/")
    assert (answer.status_code, answer.headers["Location"]) == (303, url)
    assert Seat.objects.get(game=game, index=1).user == User.objects.get(is_guest=True)
    assert client.get(f"/join/{game.invite_key}/").headers["Location"] == url
    client.post(f"{url}leave/")
    assert client.get(url).status_code == 200


def test_an_invitation_page_updates_at_its_own_address(client: Client, alice: User, bob: User) -> None:
    game = open_table(alice, public=False, players=3)
    here = f"/join/{game.invite_key}/"
    htmx = {"HX-Request": "true"}
    assert f'hx-get="{here}"' in client.get(here).content.decode()
    assert "2 seats are free" in text_of(client.get(here, headers=htmx))
    logged_in(bob).post(here)
    part = client.get(here, headers=htmx)
    assert ("1 seat is free" in text_of(part), "<html" in part.content.decode()) == (True, False)
    assert "http-equiv" not in client.get(here).content.decode()  # a reload would lose the name being typed
    lobby.start(code=game.code, viewer=Viewer(alice), now=NOON)
    assert client.get(here, headers=htmx).headers["HX-Refresh"] == "true"


def test_an_invitation_to_a_started_game_offers_watching(client: Client, alice: User, bob: User) -> None:
    game = table_at(TWO_HANDS, [alice, bob], is_public=False).game
    before = rows()
    page = client.get(f"/join/{game.invite_key}/")
    assert (page.status_code, "Watch the game" in text_of(page)) == (200, True)
    assert rows() == before
    assert client.get(f"/games/{game.code}/").status_code == 404
    answer = client.post(f"/join/{game.invite_key}/", {"watch": "1"})
    assert (answer.status_code, answer.headers["Location"]) == (303, f"/games/{game.code}/")
    assert client.get(f"/games/{game.code}/").status_code == 200
    assert not User.objects.filter(is_guest=True).exists()


def test_a_table_that_closes_while_it_is_read_is_still_shown(client: Client, alice: User) -> None:
    game = open_table(alice)
    Seat.objects.filter(game=game).delete()
    for path in ("/", game.get_absolute_url()):
        assert "A closed table" in text_of(client.get(path))


def test_an_invitation_shows_game_and_hands_of_one_moment(client: Client, alice: User, bob: User) -> None:
    game = table_at(TWO_HANDS, [alice, bob], is_public=False).game
    with CaptureQueriesContext(connection) as asked:
        assert client.get(f"/join/{game.invite_key}/").status_code == 200
    reads = [query["sql"] for query in asked if "games_hand" in query["sql"] or "games_game" in query["sql"]]
    assert len(reads) == 1


def test_an_invitation_to_a_full_game_says_so(client: Client, alice: User, bob: User) -> None:
    game = table_at(TWO_HANDS, [alice, bob], is_public=False).game
    answer = client.post(f"/join/{game.invite_key}/")
    assert (answer.status_code, "Every seat at this table is taken." in text_of(answer)) == (409, True)


def test_an_invitation_to_a_closed_table_says_so(client: Client, alice: User) -> None:
    game = open_table(alice, public=False)
    lobby.leave_table(code=game.code, viewer=Viewer(alice), now=NOON)
    page = client.get(f"/join/{game.invite_key}/")
    assert "This table was closed before it started." in text_of(page)
    assert "Watch" not in text_of(page)


def test_logging_in_returns_to_the_invitation(client: Client, alice: User, bob: User) -> None:
    game = open_table(alice, public=False)
    here = f"/join/{game.invite_key}/"
    assert f'href="/accounts/login/?next={here}"' in client.get(here).content.decode()
    answer = client.post("/accounts/login/", {"login": "bob", "password": "bob", "next": here})
    assert answer.headers["Location"] == here
    assert client.post(here).status_code == 303
    assert Seat.objects.filter(game=game, user=bob).exists()


@pytest.mark.long
def test_a_browser_keeps_the_newest_links_only(client: Client, alice: User, bob: User) -> None:
    games = [table_at(TWO_HANDS, [alice, bob], is_public=False).game for _ in range(52)]
    for game in games:
        client.post(f"/join/{game.invite_key}/", {"watch": "1"})
    seen = [client.get(f"/games/{game.code}/").status_code for game in (games[1], games[2], games[-1])]
    assert seen == [404, 200, 200]


def test_an_unknown_invitation_is_not_found(client: Client) -> None:
    assert client.get("/join/guess/").status_code == 404


def test_a_rematch_takes_one_click_and_invites_the_others(
    as_alice: Client, alice: User, as_bob: Client, bob: User
) -> None:
    game = table_at(TWO_HANDS, [alice, bob], is_public=False).game
    Game.objects.filter(pk=game.pk).update(status="over", winner=0)
    answer = as_alice.post(f"/games/{game.code}/rematch/")
    again = Game.objects.get(rematch_of=game)
    assert (answer.status_code, answer.headers["Location"]) == (303, f"/games/{again.code}/")
    assert again.code in group(as_bob.get("/"), "invitations")
    assert as_bob.post(f"/games/{game.code}/rematch/").headers["Location"] == f"/games/{again.code}/"
    again.refresh_from_db()
    assert again.status == "playing"


def test_private_and_missing_tables_look_the_same(client: Client, alice: User) -> None:
    game = open_table(alice, public=False)
    with pytest.raises(Denied) as denied:
        queries.load_for(game.code, Viewer(None))
    assert denied.value.status == 404
    pages = [client.get(f"/games/{code}/") for code in (game.code, "n" * len(game.code))]
    assert pages[0].status_code == pages[1].status_code == 404
    assert pages[0].content.replace(game.code.encode(), b"n" * len(game.code)) == pages[1].content
