"""The front page: for visitors and players, the next game, and the games of guests who log in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any
from xml.etree.ElementTree import Element

import pytest
from django.core.cache import cache
from django.test import Client
from django.utils import timezone
from pytest_django.fixtures import Settings

from accounts import actions as account_actions
from accounts.models import User
from games import presence, queries, rules
from games.actions import lobby, pauses, table_limits
from games.actions.play import play_move
from games.models import Game, Invitation, Round, Seat
from games.queries import Table, Viewer, front_page
from games.render.game_cards import game_card, rank_of
from tests.conftest import logged_in
from tests.support.pages import Page, group, open_table, text_of, words_of
from tests.support.tables import NOON, TWO_HANDS, table_after, table_at

pytestmark = pytest.mark.django_db


@pytest.fixture
def table(alice: User, bob: User) -> Table:
    """A game in which alice is on turn."""
    return table_at(TWO_HANDS, [alice, bob])


@pytest.fixture
def waiting(alice: User, bob: User) -> Callable[..., list[str]]:
    """Make games in which alice is on turn until these hours, and return their codes."""

    def make(*hours: int) -> list[str]:
        return [table_at(TWO_HANDS, [alice, bob], deadline=NOON.replace(hour=hour)).game.code for hour in hours]

    return make


# The front page


def test_a_visitor_sees_a_play_button_presets_and_what_is_going_on(client: Client, alice: User, bob: User) -> None:
    quiet = Page(client.get("/"))
    assert [said in quiet.text for said in ("in progress", "Open tables (", "Open tables make one")] == [
        False,
        False,
        True,
    ]
    cache.clear()  # the number of games
    game = open_table(alice)
    open_table(alice, public=False)
    table_at(TWO_HANDS, [alice, bob], is_public=False)
    page = Page(client.get("/"))
    assert page.has("form", action="/play-now/")
    assert "1 game is in progress." in page.text
    assert "Open tables (1)" in page.text
    assert page.has("form", action=f"/games/{game.code}/join/")
    for preset, title in rules.PRESET_TITLES.items():
        (link,) = page.links_to(f"/tables/new/?preset={preset}")
        assert words_of(link).endswith(f"{title} {rules.PRESET_SUMMARIES[preset]}")


@pytest.mark.parametrize("open_tables", [0, 1])
def test_visitors_and_people_without_games_see_the_same_doors(
    as_alice: Client, client: Client, bob: User, open_tables: int
) -> None:
    for _ in range(open_tables):
        open_table(bob)
    tables = "#group-open" if open_tables else "/tables/new/?way=anyone"
    for browser in (client, as_alice):
        page = Page(browser.get("/"))
        for door in ("/tables/new/?way=bots", "/tables/new/?way=friends", tables):
            assert page.links_to(door), door
        assert page.has("form", action="/play-now/")
    assert "No game needs you. Start one?" in page.text


def test_a_site_without_guests_has_no_doors_for_visitors(client: Client, settings: Settings) -> None:
    settings.GUESTS = False
    page = Page(client.get("/"))
    assert not any("/tables/new/" in link.get("href", "") for link in page.all("a"))
    assert page.links_to("/rules/?preset=flip")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "alice 1 of 4 seats taken · No Mercy · Standard pace"),
        ({"preset": "flip"}, "seats taken · Flip · Standard pace"),
        ({"options": {"mercy_limit": 30}}, "seats taken · No Mercy rules, changed · Standard pace"),
    ],
)
def test_an_open_table_says_which_rules_it_has(client: Client, alice: User, options: dict[str, Any], said: str) -> None:
    open_table(alice, **options)
    assert said in text_of(client.get("/"))


def test_play_now_starts_a_game_against_three_bots_for_a_visitor(client: Client) -> None:
    assert client.get("/play-now/").status_code == 405
    answer = client.post("/play-now/")
    assert answer.status_code == 303
    assert client.get(answer.headers["Location"]).status_code == 200
    assert Game.objects.get().status == "playing"
    assert sorted(Seat.objects.values_list("bot", flat=True)) == ["", "careful", "careful", "careful"]
    assert User.objects.get(is_guest=True) == Seat.objects.get(bot="").user


def test_play_now_keeps_the_logged_in_person(as_alice: Client, alice: User) -> None:
    as_alice.post("/play-now/")
    assert Seat.objects.get(bot="").user == alice
    assert not User.objects.filter(is_guest=True).exists()


def test_a_limit_on_tables_is_explained_on_the_front_page(
    as_alice: Client, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.RATE_LIMITS = 100
    monkeypatch.setattr(table_limits, "TABLES", 2)
    for _ in range(2):
        assert as_alice.post("/play-now/").status_code == 303
    refused = as_alice.post("/play-now/")
    assert refused.status_code == 403
    assert "You have 2 unfinished tables, the maximum. Finish or leave one first." in text_of(refused)
    assert Game.objects.count() == 2


def test_the_front_page_groups_my_games(as_alice: Client, alice: User, bob: User) -> None:
    mine, ended, seen = (table_at(TWO_HANDS, [alice, bob]).game for _ in range(3))
    theirs, given_up = (table_at(TWO_HANDS, [bob, alice]).game for _ in range(2))
    sitting, closed, free = open_table(alice), open_table(alice), open_table(bob)
    Game.objects.filter(pk__in=[ended.pk, seen.pk]).update(status="over", winner=1, version=5, deadline=None)
    Seat.objects.filter(game=seen, user=alice).update(end_seen_version=5)
    Seat.objects.filter(game=given_up, user=alice).update(left=True)
    lobby.leave_table(code=closed.code, viewer=Viewer(alice), now=NOON)
    page = as_alice.get("/")
    where = {
        name: [game for game in (mine, ended, seen, theirs, given_up, sitting, closed, free) if game.code in html]
        for name, html in ((name, group(page, name)) for name in ("turn", "wait", "open", "over"))
    }
    assert where == {"turn": [mine], "wait": [theirs, sitting], "over": [ended], "open": [free]}
    assert Page(page).title.startswith("(1) Games")


@pytest.mark.parametrize("games", [1, 7])
def test_the_front_page_and_its_fetches_take_few_queries_for_any_number_of_games_and_show_nobody(
    as_alice: Client, alice: User, bob: User, games: int, django_assert_max_num_queries: Any
) -> None:
    for _ in range(games):
        table = table_at(TWO_HANDS, [alice, bob], target=1000)
        Round.objects.filter(game=table.game).update(number=2)
        Invitation.objects.create(game=open_table(bob), user=alice, at=NOON)
        open_table(bob)
    with django_assert_max_num_queries(6):
        assert as_alice.get("/").status_code == 200
    for etag in ("", fetched(as_alice)["ETag"]):
        with django_assert_max_num_queries(6):
            fetched(as_alice, etag)
    assert presence.viewing([(table.game.pk, alice.pk)]) == set()


# What an open page fetches again


def fetched(browser: Client, etag: str = "", address: str = "/") -> Any:
    """Fetch the list as an open page does that shows the one with this ETag."""
    return browser.get(address, headers={"HX-Request": "true"} | ({"If-None-Match": etag} if etag else {}))


def test_an_open_list_fetches_what_has_changed(as_alice: Client, alice: User, bob: User) -> None:
    game = table_at({**TWO_HANDS, "turn": 1}, [alice, bob]).game
    before = fetched(as_alice)
    assert before.content.lstrip().startswith(b"<title>Games")
    assert b"Play next" not in before.content
    assert (before["Cache-Control"], "HX-Request" in before["Vary"]) == ("no-store, private", True)
    play_move(code=game.code, viewer=Viewer(bob), text="play r4", version=0, now=timezone.now())
    after = fetched(as_alice, before["ETag"])
    page = Page(after)
    assert after["ETag"] != before["ETag"]
    assert (page.title.startswith("(1) Games"), "Play next" in page.text) == (True, True)
    assert game.code in group(after, "turn")
    assert page.has("a", id="next-game", data_turns="1", hx_swap_oob="true")


def test_an_equal_list_is_not_sent_again(
    as_alice: Client, alice: User, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = timezone.now().replace(hour=12)  # not around midnight: another day makes another list
    monkeypatch.setattr("django.utils.timezone.now", lambda: now)
    table_at(TWO_HANDS, [alice, bob], deadline=now + timedelta(minutes=50))
    open_table(bob)
    before = fetched(as_alice)
    assert fetched(as_alice, before["ETag"], "/?finished=1").status_code == 200
    monkeypatch.setattr("django.utils.timezone.now", lambda: now + timedelta(minutes=20))
    same = fetched(as_alice, f"W/{before['ETag']}")  # as if the list had come compressed
    assert (same.status_code, same.content, same["ETag"]) == (304, b"", before["ETag"])
    assert "30 min left" in text_of(fetched(as_alice))


def test_fetching_the_list_leaves_messages_to_the_next_page(as_alice: Client) -> None:
    as_alice.get("/next/")  # no game waits
    assert not Page(fetched(as_alice)).has("li", class_="note info")
    assert words_of(Page(as_alice.get("/")).one("li", class_="note info")).startswith("No game needs you.")


def test_an_open_list_reloads_when_its_reader_has_logged_out(client: Client) -> None:
    assert fetched(client).headers["HX-Refresh"] == "true"


# Pages of the lists


@pytest.fixture
def pages_of_two(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(front_page, "PAGE", 2)


def listed(page: Any) -> list[str]:
    """Return the codes of the games in the lists of a page."""
    links = [heading.find("a") for heading in Page(page).all("h3")]
    return [link.get("href", "").split("/")[2] for link in links if link is not None]


def links(page: Any) -> dict[str, str]:
    """Return the addresses of the links to the pages of a list."""
    return {rel: link.get("href", "") for rel in ("prev", "next") for link in Page(page).all("a", rel=rel)}


@pytest.mark.usefixtures("pages_of_two")
def test_my_games_are_listed_in_pages(
    as_alice: Client, alice: User, bob: User, waiting: Callable[..., list[str]]
) -> None:
    at, theirs, free = waiting(15, 13, 16, 14), table_at(TWO_HANDS, [bob, alice]).game.code, open_table(bob).code
    first, second, last = (as_alice.get(url) for url in ("/", "/?from=3", "/?from=5"))
    assert [listed(page) for page in (first, second, last)] == [[at[1], at[3], free], [at[0], at[2]], [theirs]]
    assert [links(page) for page in (first, second, last)] == [
        {"next": "/?from=3"}, {"prev": "/", "next": "/?from=5"}, {"prev": "/?from=3"},
    ]  # fmt: skip
    assert [said in text_of(first) for said in ("Games 1 to 2", "Your turn (", "Open tables (1)")] == [
        True,
        False,
        True,
    ]
    assert [said in text_of(last) for said in ("Games 5 to 5", "No game needs you.")] == [True, False]


@pytest.mark.usefixtures("pages_of_two")
def test_finished_games_are_listed_in_pages(as_alice: Client, alice: User, bob: User) -> None:
    games = [table_at(TWO_HANDS, [alice, bob]).game for _ in range(3)]
    for hour, game in enumerate(games, 13):
        Game.objects.filter(pk=game.pk).update(
            status="over", winner=1, deadline=None, finished_at=NOON.replace(hour=hour)
        )
    first, second, beyond = (as_alice.get(f"/?finished=1{more}") for more in ("", "&from=3", "&from=9"))
    assert [listed(page) for page in (first, second, beyond)] == [[games[2].code, games[1].code], [games[0].code], []]
    assert [links(page) for page in (first, second, beyond)] == [
        {"next": "/?finished=1&from=3"}, {"prev": "/?finished=1"}, {"prev": "/?finished=1&from=7"},
    ]  # fmt: skip
    assert "There are no more games." in text_of(beyond)


@pytest.mark.usefixtures("pages_of_two")
def test_a_list_that_fits_on_a_page_has_no_links(as_alice: Client, waiting: Callable[..., list[str]]) -> None:
    codes = waiting(13, 14)
    page = as_alice.get("/")
    assert (listed(page), links(page), "Your turn (2)" in text_of(page)) == (codes, {}, True)


def test_an_unknown_page_of_a_list_is_the_first(as_alice: Client, table: Table) -> None:
    for start in ("0", "-1", "x", "1.5", "9" * 30):
        assert listed(as_alice.get(f"/?from={start}")) == [table.game.code], start
    assert as_alice.get("/?from=%00").status_code == 400


# The next game


def next_after(browser: Client, code: str) -> str:
    """Return the code of the game to which *Next game* leads on the page of this game, or on any other page."""
    address = browser.get(f"/next/?after={code}" if code else "/next/").headers["Location"]
    return address.removeprefix("/games/").removesuffix("/")


def test_the_next_games_go_from_the_most_urgent_through_the_whole_list_and_begin_again(
    as_alice: Client, waiting: Callable[..., list[str]]
) -> None:
    at = waiting(16, 13, 15, 14)
    codes = [next_after(as_alice, "")]
    for _ in range(4):
        codes.append(next_after(as_alice, codes[-1]))
    assert codes == [at[1], at[3], at[2], at[0], at[1]]
    Game.objects.filter(code=at[0]).update(deadline=NOON.replace(hour=14, minute=30))
    assert [next_after(as_alice, code) for code in at] == [at[2], at[3], at[1], at[0]]


@pytest.mark.parametrize("moved_in", [0, 1, 2])
def test_after_a_move_the_next_game_is_the_one_after_it(
    as_alice: Client, alice: User, waiting: Callable[..., list[str]], moved_in: int
) -> None:
    codes = waiting(13, 14, 15)
    play_move(code=codes[moved_in], viewer=Viewer(alice), text="play r5", version=0, now=NOON)
    assert next_after(as_alice, codes[moved_in]) == codes[(moved_in + 1) % 3]


def test_the_next_game_after_one_of_others_or_text_that_is_no_code_is_the_most_urgent(
    as_alice: Client, bob: User, waiting: Callable[..., list[str]]
) -> None:
    _, urgent = waiting(14, 13)
    of_others = table_at(TWO_HANDS, [bob, "careful"]).game.code
    for after in (of_others, "a" * 17, "%F0%9F%82%A1", "a/b", "%0A"):
        assert next_after(as_alice, after) == urgent, after


def test_the_only_waiting_game_is_its_own_next_game(as_alice: Client, table: Table) -> None:
    assert next_after(as_alice, table.game.code) == table.game.code


def test_without_a_next_game_the_front_page_says_so(as_alice: Client, client: Client) -> None:
    assert "No game needs you." in text_of(as_alice.get("/next/", follow=True))
    assert client.get("/next/").headers["Location"] == "/"


@pytest.mark.long
@pytest.mark.parametrize("hours", [(), (13, 14)])
def test_the_count_of_waiting_games_is_on_every_page(
    as_alice: Client, waiting: Callable[..., list[str]], hours: tuple[int, ...]
) -> None:
    waiting(*hours)
    for url in ("/", "/rules/", "/about/", "/tables/new/", "/accounts/me/"):
        page = Page(as_alice.get(url))
        assert page.title.startswith("(2) ") is bool(hours), url
        assert page.has("a", id="next-game", hidden="") is not bool(hours), url


# A guest's seats


@pytest.fixture
def guest(db: None) -> User:
    return account_actions.create_guest()


def log_in(browser: Client, name: str) -> str:
    """Log in and return where that leads."""
    address: str = browser.post("/accounts/login/", {"login": name, "password": name}).headers["Location"]
    return address


@pytest.fixture
def of_guest(guest: User, bob: User) -> Table:
    return table_at(TWO_HANDS, [guest, bob])


def owner(table: Table) -> User | None:
    return Seat.objects.get(game=table.game, index=0).user


def test_a_guest_who_logs_in_is_asked_to_move_the_games(guest: User, alice: User, of_guest: Table) -> None:
    browser = logged_in(guest)
    assert log_in(browser, "alice") == "/move-seats/"
    asked = browser.get("/move-seats/")
    assert f"as the guest {guest.name}, in 1 game. You can move it to your account" in text_of(asked)
    answer = browser.post("/move-seats/", {"answer": "move"}, follow=True)
    assert f"1 game of {guest.name} moved to your account." in text_of(answer)
    assert owner(of_guest) == alice


@pytest.mark.usefixtures("alice")
def test_the_front_page_asks_until_a_guest_says_no_and_leaves_the_games_behind(guest: User, of_guest: Table) -> None:
    browser = logged_in(guest)
    log_in(browser, "alice")

    def asks() -> bool:
        return "Move those games to this account?" in text_of(browser.get("/"))

    assert asks()
    browser.post("/move-seats/", {"answer": "leave"})
    assert asks()
    browser.post("/move-seats/", {"answer": "leave", "lose": "1"})
    assert not asks()
    assert owner(of_guest) == guest
    assert browser.get("/move-seats/").headers["Location"] == "/"


def test_the_page_of_a_former_guest_stays_until_the_user_answers(guest: User, alice: User, bob: User) -> None:
    """Otherwise it would reload, and say that there is no such page also after the seats have moved."""
    seated: list[list[User | str]] = [[guest, bob], [bob, guest], [bob, "careful"]]
    games = [table_at(TWO_HANDS, people, is_public=False).game for people in seated]
    browser = logged_in(guest)
    log_in(browser, "alice")

    def reloads() -> list[bool]:
        answers = [browser.get(game.get_absolute_url(), headers={"HX-Request": "true"}) for game in games]
        assert {(answer.status_code, answer.content) for answer in answers} == {(404, b"")}
        return [answer.headers.get("HX-Refresh") == "true" for answer in answers]

    assert reloads() == [False, False, True]
    browser.post("/move-seats/", {"answer": "leave", "lose": "2"})
    assert reloads() == [True, True, True]


@pytest.mark.usefixtures("alice")
def test_only_a_guest_in_this_browser_has_seats_to_move(
    guest: User, as_alice: Client, of_guest: Table, client: Client
) -> None:
    assert as_alice.post("/move-seats/", {"answer": "move", "guest": str(guest.pk)}).headers["Location"] == "/"
    assert owner(of_guest) == guest
    assert log_in(client, "alice") == "/"


def test_a_guest_who_signs_up_keeps_the_games(guest: User, of_guest: Table) -> None:
    browser, word = logged_in(guest), "a long enough pass-phrase"
    answer = browser.post("/accounts/signup/", {"username": "dana", "password1": word, "password2": word})
    assert answer.headers["Location"] == "/"
    dana = User.objects.get(username="dana")
    assert (dana.pk, dana.is_guest) == (guest.pk, False)
    assert of_guest.game.code in browser.get("/").content.decode()


def test_finished_games_are_listed(alice: User, bob: User, as_alice: Client, charlie: User) -> None:
    game = table_after([alice, bob], 10_000, seed=5).game
    Seat.objects.update(end_seen_version=game.version)
    page = Page(as_alice.get("/"))
    assert (game.code in page.html, bool(page.links_to("/?finished=1"))) == (False, True)
    assert Page(as_alice.get("/?finished=1")).links_to(game.get_absolute_url())
    assert "You haven’t finished a game yet." in text_of(logged_in(charlie).get("/?finished=1"))


def row(browser: Client, game: Game) -> str:
    """Return the text of the row of a game in the lists of the front page."""
    (found,) = [one for one in Page(browser.get("/")).all("li", class_="gamecard") if in_row(one, game)]
    return words_of(found)


def in_row(row: Element, game: Game) -> bool:
    return any(link.get("href") == game.get_absolute_url() for link in row.iter("a"))


def test_a_row_shows_what_to_do_the_hands_and_the_time_left(
    as_alice: Client, alice: User, bob: User, charlie: User
) -> None:
    hands = [["r5"], [f"g{n}" for n in range(1, 10)] * 2 + ["y1", "y2", "y3"], ["b0"] * 16, []]
    deadline = timezone.now() + timedelta(minutes=47, seconds=30)
    people: list[User | str] = [alice, bob, charlie, "careful"]
    game = table_at({**TWO_HANDS, "hands": hands, "out": [3]}, people, deadline=deadline).game
    text, asked = row(as_alice, game), "Play or draw with bob, charlie and Bot 3"
    assert f"{asked} No Mercy · Standard pace bob: 21 of 25 cards charlie: 16 of 25 cards" in text
    assert ("Bot 3: out" in text, "47 min left" in text) == (True, True)


def test_a_row_of_a_game_that_waits_for_others_says_for_whom_and_a_paused_one_has_no_time_left(
    as_alice: Client, alice: User, bob: User
) -> None:
    deadline = timezone.now() + timedelta(minutes=10)
    game = table_at({**TWO_HANDS, "turn": 1}, [alice, bob], deadline=deadline, options={"mercy_limit": 0}).game
    text = row(as_alice, game)
    assert "bob’s turn with bob" in text  # a name keeps its case
    assert ("10 min left" in text, "of 25 cards" in text) == (True, False)
    for player in (alice, bob):
        pauses.ask_pause(code=game.code, viewer=Viewer(player), now=timezone.now())
    assert " left" not in row(as_alice, game)


def test_a_row_seen_by_a_spectator_has_the_places_of_the_table(alice: User) -> None:
    card = game_card(queries.view_of(table_at(TWO_HANDS, [alice, "careful"]), None), NOON)
    assert [(player.name, player.place) for player in card.opponents] == [("alice", 1), ("Bot 1", 2)]
    assert card.people == "alice and Bot 1"


@pytest.mark.parametrize(("games", "heading"), [(0, "Games"), (1, "1 game waits for you"), (2, "2 games wait for you")])
def test_the_heading_counts_the_games_that_wait(
    as_alice: Client, alice: User, bob: User, games: int, heading: str
) -> None:
    for hours in range(1, games + 1):
        table_at(TWO_HANDS, [alice, bob], deadline=timezone.now() + timedelta(hours=hours, minutes=30))
    page = Page(as_alice.get("/"))
    assert words_of(page.one("h1")) == heading
    assert ("The most urgent one: 90 min left" in page.text) == bool(games)
    assert page.has("a", href="/next/", data_key="n") == bool(games)


def test_finished_games_have_a_date_a_rank_and_a_rematch_in_as_many_queries_for_any_number(
    as_alice: Client, as_bob: Client, alice: User, bob: User, charlie: User, django_assert_max_num_queries: Any
) -> None:
    ended = [table_after([alice, bob, charlie], 10_000, seed=seed).game for seed in (3, 4, 5)]
    first, second = as_alice.get("/?finished=1"), ended[1]
    assert f"1st of 3 {NOON.day} Nov 2026" in text_of(first)
    addresses = {button.get("formaction") for button in Page(first).all("button", form="ask-rematch")}
    assert addresses == {f"/games/{game.code}/rematch/" for game in ended}
    as_bob.post(f"/games/{second.code}/rematch/")
    with django_assert_max_num_queries(5):
        assert text_of(as_alice.get("/?finished=1")).count("Join the rematch") == 1
    assert "Go to the rematch" in text_of(as_bob.get("/"))


@pytest.mark.parametrize(
    ("preset", "target", "scores", "counts", "out", "expected"),
    [
        ("no-mercy", 0, [0, 60, 0, 0], [5, 0, 3, 0], [3], [2, 0, 1, 3]),
        ("no-mercy", 0, [0, 60, 0, 0], [5, 0, 5, 9], [], [1, 0, 1, 3]),
        ("no-mercy", 500, [90, 510, 400, 90], [5, 0, 9, 1], [], [2, 0, 1, 2]),
        ("playroom", 500, [90, 40, 510, 95], [0, 3, 9, 1], [], [1, 0, 3, 2]),
    ],
)
def test_ranks_follow_the_points_or_in_a_single_round_the_cards(
    alice: User, bob: User, preset: str, target: int, scores: list[int], counts: list[int], out: list[int],
    expected: list[int],
) -> None:  # fmt: skip
    hands = [["r5"] * count for count in counts]
    points = [10, 0, 10, 10] if preset == "playroom" else 60
    ended = {"phase": "over", "turn": 1, "winner": 1, "points": points}
    position = {**TWO_HANDS, "draw_pile": ["b1"], "hands": hands, "out": out, **ended}
    table = table_at(position, [alice, bob, "careful", "careful"], preset=preset, target=target)
    table.game.status, table.game.winner = Game.Status.OVER, 1
    for seat, score in zip(table.seats, scores, strict=True):
        seat.score = score
    view = queries.view_of(table, alice)
    assert [rank_of(replace(view, you=seat.index)) for seat in table.seats] == expected
