"""The pages around a game: the front page, new table, lobby, invitation, rules, next game, a guest's seats."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from accounts import actions as account_actions
from accounts.models import User
from games import queries, rules
from games.actions import lobby
from games.models import Game, Invitation, Seat
from games.refusals import Denied
from tests.conftest import logged_in
from tests.support.tables import NOON, TWO_HANDS, table_at

pytestmark = pytest.mark.django_db

CHOICES = {
    "players": "3",
    "bots": "0",
    "bot": "careful",
    "bot_pause": "1",
    "target": "0",
    "pace": "standard",
    "public": "1",
    "preset": "no-mercy",
}


def open_table(user: User, **options: Any) -> Game:
    return lobby.create_table(user=user, options=lobby.TableOptions(**options), now=NOON).game


def text_of(response: Any) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", response.content.decode()))


def group(response: Any, name: str) -> str:
    """The part of the front page below one heading."""
    html = response.content.decode()
    found = re.search(rf'<section class="group[^"]*" aria-labelledby="group-{name}">.*?</section>', html, re.DOTALL)
    return found[0] if found else ""


# The front page


def test_a_visitor_finds_one_button_to_play_and_the_open_tables(client: Client, alice: User) -> None:
    game = open_table(alice)
    open_table(alice, public=False)
    page = client.get("/")
    assert page.status_code == 200
    assert f'action="{reverse("play-now")}"' in page.content.decode()
    assert "Open tables (1)" in text_of(page)
    assert f'action="/games/{game.code}/join/"' in page.content.decode()


def test_play_now_deals_a_visitor_in_against_three_bots(client: Client) -> None:
    answer = client.post("/play-now/")
    assert answer.status_code == 303
    page = client.get(answer.headers["Location"])
    assert page.status_code == 200
    game = Game.objects.get()
    seats = Seat.objects.filter(game=game)
    assert game.status == "playing"
    assert sorted(seat.bot for seat in seats) == ["", "careful", "careful", "careful"]
    assert User.objects.get(is_guest=True) == seats.get(bot="").user


def test_play_now_keeps_who_is_logged_in(as_alice: Client, alice: User) -> None:
    as_alice.post("/play-now/")
    assert Seat.objects.get(bot="").user == alice
    assert not User.objects.filter(is_guest=True).exists()


def test_a_get_of_play_now_makes_nothing(client: Client) -> None:
    assert client.get("/play-now/").status_code == 405
    assert not Game.objects.exists()


def test_the_front_page_groups_my_games(as_alice: Client, alice: User, bob: User) -> None:
    mine = table_at(TWO_HANDS, [alice, bob]).game
    theirs = table_at(TWO_HANDS, [bob, alice]).game
    ended = table_at(TWO_HANDS, [alice, bob]).game
    Game.objects.filter(pk=ended.pk).update(status="over", winner=1, version=5, deadline=None)
    seen = table_at(TWO_HANDS, [alice, bob]).game
    Game.objects.filter(pk=seen.pk).update(status="over", winner=1, version=5, deadline=None)
    Seat.objects.filter(game=seen, user=alice).update(seen=5)
    sitting = open_table(alice)
    free = open_table(bob)
    page = as_alice.get("/")
    groups = {name: group(page, name) for name in ("turn", "wait", "open", "over")}
    where = {
        game.code: [name for name, html in groups.items() if game.code in html]
        for game in (mine, theirs, ended, seen, sitting, free)
    }
    assert where == {
        mine.code: ["turn"],
        theirs.code: ["wait"],
        ended.code: ["over"],
        seen.code: [],
        sitting.code: ["wait"],
        free.code: ["open"],
    }
    assert "<title>(1) Games" in page.content.decode()


def test_the_most_urgent_game_stands_first(as_alice: Client, alice: User, bob: User) -> None:
    later = table_at(TWO_HANDS, [alice, bob], deadline=NOON.replace(hour=20)).game
    sooner = table_at(TWO_HANDS, [alice, bob], deadline=NOON.replace(hour=13)).game
    html = group(as_alice.get("/"), "turn")
    assert html.index(sooner.code) < html.index(later.code)


def test_a_game_one_has_left_is_not_waited_for(as_alice: Client, alice: User, bob: User) -> None:
    game = table_at(TWO_HANDS, [bob, alice]).game
    Seat.objects.filter(game=game, user=alice).update(left=True)
    assert game.code not in as_alice.get("/").content.decode()


def test_a_closed_table_is_not_listed_as_finished(as_alice: Client, alice: User) -> None:
    game = open_table(alice)
    lobby.leave_table(code=game.code, user=alice, now=NOON)
    assert game.code not in as_alice.get("/").content.decode()


@pytest.mark.parametrize("games", [1, 7])
def test_the_front_page_costs_the_same_whatever_the_number_of_games(
    alice: User, bob: User, games: int, django_assert_max_num_queries: Any
) -> None:
    for _ in range(games):
        table = table_at(TWO_HANDS, [alice, bob], target=1000)
        round_, _, _ = table.playing
        round_.number = 2
        round_.save(update_fields=["number"])
        open_table(bob)
    browser = logged_in(alice)
    with django_assert_max_num_queries(9):
        assert browser.get("/").status_code == 200


# New table


def test_the_form_offers_every_option_of_the_rules(client: Client) -> None:
    html = client.get("/tables/new/").content.decode()
    assert [spec.name for spec in rules.OPTIONS if f'name="option_{spec.name}"' not in html] == ["target"]
    assert 'name="target"' in html


def test_a_new_table_is_as_its_form_says(as_alice: Client, alice: User) -> None:
    choices = CHOICES | {
        "players": "5",
        "bots": "2",
        "bot": "sharp",
        "bot_pause": "0.5",
        "target": "500",
        "pace": "slow",
        "public": "0",
        "option_mercy_limit": "30",
        "option_voluntary_draw": "False",
        "option_last_draw_card": "win_now",
    }
    answer = as_alice.post("/tables/new/", choices)
    game = Game.objects.get()
    assert (answer.status_code, answer.headers["Location"]) == (303, f"/games/{game.code}/")
    assert (game.players, game.target, game.pace, game.is_public, game.bot_pause) == (5, 500, "slow", False, 0.5)
    assert game.options == {"mercy_limit": 30, "voluntary_draw": False, "last_draw_card": "win_now"}
    assert [seat.bot for seat in Seat.objects.order_by("index")] == ["", "sharp", "sharp"]
    assert game.host == alice


def test_options_left_alone_are_as_the_chosen_rules_have_them(as_alice: Client) -> None:
    as_alice.post("/tables/new/", CHOICES | {"preset": "classic"})
    game = Game.objects.get()
    assert queries.options_of(game).deck == "classic108"
    assert game.options == {}


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"players": "2", "bots": "2"}, "Bots can fill every seat but yours"),
        ({"option_mercy_limit": "5"}, "The option mercy_limit must be 0 or 10 to 50."),
        ({"option_hand_size": "12", "option_mercy_limit": "10"}, "mercy_limit must exceed hand_size"),
        ({"option_hand_size": "99"}, "less than or equal to 15"),
        ({"players": "7"}, "not one of the available choices"),
        ({"pace": "glacial"}, "not one of the available choices"),
        ({"bot_pause": "nan"}, "Enter a number"),
        ({"bot_pause": "11"}, "less than or equal to 10"),
        ({"option_scoring": "golf"}, "not one of the available choices"),
    ],
)
def test_a_wrong_choice_is_answered_on_the_form(as_alice: Client, change: dict[str, str], sentence: str) -> None:
    answer = as_alice.post("/tables/new/", CHOICES | change)
    assert answer.status_code == 422
    assert sentence in text_of(answer)
    assert not Game.objects.exists()


def test_a_visitor_who_makes_a_table_becomes_a_guest_only_if_the_form_is_right(client: Client) -> None:
    client.post("/tables/new/", CHOICES | {"players": "9"})
    assert not User.objects.exists()
    client.post("/tables/new/", CHOICES)
    assert Game.objects.get().host == User.objects.get(is_guest=True)


def test_a_table_of_one_and_bots_starts_at_once(as_alice: Client) -> None:
    as_alice.post("/tables/new/", CHOICES | {"players": "3", "bots": "2"})
    assert Game.objects.get().status == "playing"


# Lobby and invitation


def test_the_lobby_shows_who_sits_and_what_one_can_do(
    as_alice: Client, alice: User, as_bob: Client, client: Client
) -> None:
    game = open_table(alice, players=4, bots=1)
    url = f"/games/{game.code}/"
    mine, theirs, nobodys = (text_of(browser.get(url)) for browser in (as_alice, as_bob, client))
    assert all("2 seats are free" in text for text in (mine, theirs, nobodys))
    assert ("Start with 2 players" in mine, "Add a bot" in mine, "Leave the table" in mine) == (True, True, True)
    assert "Sit down" not in mine
    for text in (theirs, nobodys):
        assert ("Sit down" in text, "Start with" in text, "Leave the table" in text) == (True, False, False)


def test_only_who_sits_at_a_table_is_shown_its_link(as_alice: Client, alice: User, as_bob: Client) -> None:
    game = open_table(alice)
    url = f"/games/{game.code}/"
    assert f"http://testserver/join/{game.invite_key}/" in as_alice.get(url).content.decode()
    assert game.invite_key not in as_bob.get(url).content.decode()


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


def test_no_guest_is_made_for_a_table_that_is_not_there(client: Client, alice: User) -> None:
    private = open_table(alice, public=False)
    for code in ("nothere", private.code):
        assert client.post(f"/games/{code}/join/").status_code == 404
    assert not User.objects.filter(is_guest=True).exists()


def test_the_host_adds_bots_and_starts(as_alice: Client, alice: User) -> None:
    game = open_table(alice, players=4)
    assert as_alice.post(f"/games/{game.code}/add-bot/", {"bot": "sharp"}).status_code == 303
    assert as_alice.post(f"/games/{game.code}/start/").status_code == 303
    game.refresh_from_db()
    assert (game.status, game.players) == ("playing", 2)


def test_leaving_leads_home(as_bob: Client, bob: User, alice: User) -> None:
    game = open_table(alice)
    as_bob.post(f"/games/{game.code}/join/")
    answer = as_bob.post(f"/games/{game.code}/leave/", follow=True)
    assert answer.redirect_chain == [("/", 303)]
    assert "You left the table." in text_of(answer)
    assert not Seat.objects.filter(user=bob).exists()


@pytest.mark.parametrize(
    ("who", "act", "fields", "status", "sentence"),
    [
        ("bob", "start", {}, 403, "You do not sit at this table."),
        ("bob", "leave", {}, 403, "You do not sit at this table."),
        ("bob", "rematch", {}, 403, "You do not sit at this table."),
        ("alice", "join", {}, 409, "You sit at this table already."),
        ("alice", "start", {}, 409, "A game needs two players"),
        ("alice", "add-bot", {"bot": "evil"}, 400, "The bot is one of"),
        ("alice", "add-bot", {}, 400, "The bot is one of"),
        ("alice", "rematch", {}, 403, "once the game is over"),
    ],
)
def test_a_refusal_shows_the_table_as_it_is_and_why(
    alice: User, bob: User, who: str, act: str, fields: dict[str, str], status: int, sentence: str
) -> None:
    game = open_table(alice)
    browser = logged_in({"alice": alice, "bob": bob}[who])
    answer = browser.post(f"/games/{game.code}/{act}/", fields)
    assert answer.status_code == status
    assert sentence in text_of(answer)
    assert 'id="seats-title"' in answer.content.decode()


@pytest.mark.parametrize("act", ["join", "leave", "start", "add-bot"])
def test_a_started_game_refuses_what_a_lobby_does(alice: User, bob: User, charlie: User, act: str) -> None:
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
def test_a_get_of_an_act_changes_nothing(as_alice: Client, alice: User, act: str) -> None:
    game = open_table(alice)
    assert as_alice.get(f"/games/{game.code}/{act}/").status_code == 405


def test_htmx_gets_the_lobby_without_the_page_around_it(as_alice: Client, alice: User) -> None:
    game = open_table(alice)
    whole = as_alice.get(f"/games/{game.code}/")
    part = as_alice.get(f"/games/{game.code}/?lobby=1", headers={"HX-Request": "true"})
    assert "HX-Request" in whole.headers["Vary"]
    assert part.content.decode().lstrip().startswith('<main id="main"')
    assert "<html" not in part.content.decode()


def test_a_closed_table_says_so(as_alice: Client, alice: User) -> None:
    game = open_table(alice)
    lobby.leave_table(code=game.code, user=alice, now=NOON)
    page = as_alice.get(f"/games/{game.code}/")
    assert page.status_code == 200
    assert "This table was closed before it started." in text_of(page)


def test_an_invitation_opens_a_private_table_and_seats_nobody(client: Client, alice: User) -> None:
    game = open_table(alice, public=False)
    url = f"/games/{game.code}/"
    assert client.get(url).status_code == 404
    invited = client.get(f"/join/{game.invite_key}/")
    assert (invited.status_code, "Sit down" in text_of(invited)) == (200, True)
    assert client.get(url).status_code == 200
    assert Seat.objects.filter(game=game).count() == 1
    assert not Invitation.objects.exists()
    assert not User.objects.filter(is_guest=True).exists()


def test_an_invitation_to_a_started_game_leads_to_it(client: Client, alice: User, bob: User) -> None:
    game = table_at(TWO_HANDS, [alice, bob], is_public=False).game
    answer = client.get(f"/join/{game.invite_key}/")
    assert (answer.status_code, answer.headers["Location"]) == (302, f"/games/{game.code}/")
    assert client.get(f"/games/{game.code}/").status_code == 200


def test_an_invitation_outlives_logging_in(client: Client, alice: User, bob: User) -> None:
    game = open_table(alice, public=False)
    client.get(f"/join/{game.invite_key}/")
    client.post("/accounts/login/", {"login": "bob", "password": "bob"})
    assert client.post(f"/games/{game.code}/join/").status_code == 303


def test_a_browser_keeps_the_newest_links_only(client: Client, alice: User) -> None:
    games = [open_table(alice, public=False) for _ in range(52)]
    for game in games:
        client.get(f"/join/{game.invite_key}/")
    seen = [client.get(f"/games/{game.code}/").status_code for game in (games[1], games[2], games[-1])]
    assert seen == [404, 200, 200]


def test_a_link_that_is_none_is_not_found(client: Client) -> None:
    assert client.get("/join/guess/").status_code == 404


def test_a_rematch_is_one_click_and_finds_the_others(as_alice: Client, alice: User, as_bob: Client, bob: User) -> None:
    game = table_at(TWO_HANDS, [alice, bob], is_public=False).game
    Game.objects.filter(pk=game.pk).update(status="over", winner=0)
    answer = as_alice.post(f"/games/{game.code}/rematch/")
    again = Game.objects.get(rematch_of=game)
    assert (answer.status_code, answer.headers["Location"]) == (303, f"/games/{again.code}/")
    assert again.code in group(as_bob.get("/"), "open")
    assert as_bob.post(f"/games/{game.code}/rematch/").headers["Location"] == f"/games/{again.code}/"
    again.refresh_from_db()
    assert again.status == "playing"


# The next game


def test_the_next_game_is_the_most_urgent_one_but_the_one_looked_at(as_alice: Client, alice: User, bob: User) -> None:
    later = table_at(TWO_HANDS, [alice, bob], deadline=NOON.replace(hour=20)).game
    sooner = table_at(TWO_HANDS, [alice, bob], deadline=NOON.replace(hour=13)).game
    assert as_alice.get("/next/").headers["Location"] == f"/games/{sooner.code}/"
    assert as_alice.get(f"/next/?after={sooner.code}").headers["Location"] == f"/games/{later.code}/"


def test_the_only_game_that_waits_is_its_own_next(as_alice: Client, alice: User, bob: User) -> None:
    game = table_at(TWO_HANDS, [alice, bob]).game
    assert as_alice.get(f"/next/?after={game.code}").headers["Location"] == f"/games/{game.code}/"


def test_without_a_next_game_the_front_page_says_so(as_alice: Client) -> None:
    assert "No game waits for you." in text_of(as_alice.get("/next/", follow=True))


@pytest.mark.parametrize("after", ["%00", "a" * 17, "%F0%9F%82%A1", "a/b", "%0A"])
def test_what_is_no_code_of_a_table_is_not_looked_for(as_alice: Client, alice: User, bob: User, after: str) -> None:
    game = table_at(TWO_HANDS, [alice, bob]).game
    assert as_alice.get(f"/next/?after={after}").headers["Location"] == f"/games/{game.code}/"


def test_a_visitor_has_no_next_game(client: Client) -> None:
    assert client.get("/next/").headers["Location"] == "/"


@pytest.mark.parametrize(("waiting", "shown"), [(0, False), (2, True)])
def test_the_count_of_waiting_games_is_on_every_page(
    as_alice: Client, alice: User, bob: User, waiting: int, shown: bool
) -> None:
    for _ in range(waiting):
        table_at(TWO_HANDS, [alice, bob])
    for url in ("/", "/rules/", "/about/", "/tables/new/", "/accounts/me/"):
        html = as_alice.get(url).content.decode()
        assert (f"<title>({waiting}) " in html) is shown, url
        link = re.search(r'<a class="next"[^>]*>', html)
        assert link is not None
        assert ("hidden" not in link[0]) is shown, url


# Rules and other pages


def test_the_rules_page_has_every_rule_under_its_number(client: Client) -> None:
    html = client.get("/rules/").content.decode()
    assert [rule.id for rule in rules.RULEBOOK if f'id="{rule.id}"' not in html] == []
    assert [spec.name for spec in rules.OPTIONS if f'id="option-{spec.name}"' not in html] == []


def test_every_rule_that_a_refusal_names_is_an_anchor(client: Client) -> None:
    html = client.get("/rules/").content.decode()
    assert [rule for rule in rules.REFUSALS.values() if rule and f'id="{rule}"' not in html] == []


def test_the_about_page_says_that_this_is_independent(client: Client) -> None:
    assert "not affiliated with or endorsed by Mattel" in text_of(client.get("/about/"))


@pytest.mark.parametrize("url", ["/rules/", "/about/"])
def test_a_page_for_everybody_asks_the_database_nothing_for_a_visitor(
    client: Client, url: str, django_assert_num_queries: Any
) -> None:
    with django_assert_num_queries(0):
        assert client.get(url).status_code == 200


# A guest's seats


@pytest.fixture
def guest(db: None) -> User:
    return account_actions.create_guest()


def log_in(browser: Client, name: str) -> Any:
    return browser.post("/accounts/login/", {"login": name, "password": name})


def test_a_guest_who_logs_in_is_asked_whether_the_games_come_along(guest: User, alice: User, bob: User) -> None:
    game = table_at(TWO_HANDS, [guest, bob]).game
    browser = logged_in(guest)
    assert log_in(browser, "alice").headers["Location"] == "/move-seats/"
    asked = browser.get("/move-seats/")
    assert f"as the guest {guest.name}, who sits in 1 game" in text_of(asked)
    answer = browser.post("/move-seats/", {"answer": "move"}, follow=True)
    assert f"1 game of {guest.name} moved to your account." in text_of(answer)
    assert Seat.objects.get(game=game, index=0).user == alice


def test_a_guest_who_says_no_leaves_the_games_behind(guest: User, alice: User, bob: User) -> None:
    game = table_at(TWO_HANDS, [guest, bob]).game
    browser = logged_in(guest)
    log_in(browser, "alice")
    browser.post("/move-seats/", {"answer": "leave"})
    assert Seat.objects.get(game=game, index=0).user == guest
    assert browser.get("/move-seats/").headers["Location"] == "/"


def test_the_front_page_asks_again_until_there_is_an_answer(guest: User, alice: User, bob: User) -> None:
    table_at(TWO_HANDS, [guest, bob])
    browser = logged_in(guest)
    log_in(browser, "alice")
    assert "Bring those games along?" in text_of(browser.get("/"))
    browser.post("/move-seats/", {"answer": "leave"})
    assert "Bring those games along?" not in text_of(browser.get("/"))


def test_nobody_can_ask_for_the_seats_of_a_guest_they_were_not(guest: User, alice: User, bob: User) -> None:
    game = table_at(TWO_HANDS, [guest, bob]).game
    browser = logged_in(alice)
    assert browser.post("/move-seats/", {"answer": "move", "guest": str(guest.pk)}).headers["Location"] == "/"
    assert Seat.objects.get(game=game, index=0).user == guest


def test_logging_in_without_a_guest_before_asks_nothing(client: Client, alice: User) -> None:
    assert log_in(client, "alice").headers["Location"] == "/"


def test_a_guest_who_signs_up_keeps_the_games(guest: User, bob: User) -> None:
    game = table_at(TWO_HANDS, [guest, bob]).game
    browser = logged_in(guest)
    word = "a long enough pass-phrase"
    answer = browser.post("/accounts/signup/", {"username": "dana", "password1": word, "password2": word})
    assert answer.headers["Location"] == "/"
    dana = User.objects.get(username="dana")
    assert (dana.pk, dana.is_guest) == (guest.pk, False)
    assert game.code in browser.get("/").content.decode()


def test_a_denied_table_is_not_told_from_one_that_is_not_there(client: Client, alice: User) -> None:
    game = open_table(alice, public=False)
    with pytest.raises(Denied) as denied:
        queries.load_for(game.code, None)
    assert denied.value.status == 404
    pages = [client.get(f"/games/{code}/") for code in (game.code, "nothere")]
    assert pages[0].status_code == pages[1].status_code == 404
    assert pages[0].content == pages[1].content
