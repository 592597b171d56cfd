"""The game page and its moves over HTTP."""

from __future__ import annotations

import html
import json
import random
import re
from collections.abc import Callable
from typing import Any, Protocol

import pytest
from django.test import Client

from accounts.actions import create_guest
from accounts.models import User
from games import queries, rules
from games.actions import lobby
from games.actions.commit import commit
from games.actions.next_round import deal_next
from games.actions.rematch import ask_rematch
from games.models import Game, Move, Round, Seat
from games.queries import Table, Viewer
from games.render.page import LOG_LINES
from games.rules import Move as RuleMove
from games.web.game import READ_LINES
from tests.conftest import logged_in
from tests.support.tables import NOON, TWO_HANDS, log_of, now_of, table_after, table_at

pytestmark = pytest.mark.django_db

AtMost = Callable[[int], Any]


class Answer(Protocol):
    """A response of the test client."""

    status_code: int
    headers: Any

    @property
    def content(self) -> bytes: ...


@pytest.fixture
def table(alice: User, bob: User) -> Table:
    return table_at(TWO_HANDS, [alice, bob])


def address(table: Table, rest: str = "") -> str:
    return f"{table.game.get_absolute_url()}{rest}"


def post(browser: Client, table: Table, move: str, *, htmx: bool = False, **fields: object) -> Answer:
    data = {"version": now_of(table).game.version, "move": move, **fields}
    headers = {"HX-Request": "true"} if htmx else {}
    return browser.post(address(table, "move/"), data, headers=headers)


def fragment(browser: Client, table: Table, query: str = "") -> Answer:
    return browser.get(address(table, query), headers={"HX-Request": "true"})


def text_of(response: Answer) -> str:
    """Return the text of a page, without tags and with single spaces."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", response.content.decode()))


def field(response: Answer, name: str) -> str:
    found = re.search(rf'name="{name}" value="([^"]*)"', response.content.decode())
    assert found is not None
    return found[1]


def told(response: Answer) -> tuple[list[str], str]:
    """Return the sentences of the events that a fragment has, and what is said after them."""
    found = re.search(r'<ol id="events" hidden data-now="([^"]*)".*?</ol>', response.content.decode(), re.DOTALL)
    assert found is not None
    return [html.unescape(said) for said in re.findall(r"<span>(.*?)</span>", found[0])], html.unescape(found[1])


def test_the_page_says_who_must_do_what(table: Table, as_alice: Client, as_bob: Client) -> None:
    assert (
        '<h1 id="headline" tabindex="-1">Your turn: play a card or draw.</h1>'
        in as_alice.get(address(table)).content.decode()
    )
    assert "alice’s turn: play or draw." in text_of(as_bob.get(address(table)))


def test_the_title_counts_the_games_that_wait(table: Table, alice: User, bob: User, as_alice: Client) -> None:
    table_at(TWO_HANDS, [alice, bob])
    assert (
        "<title>(2) Your turn: play a card or draw. · No Mercy</title>" in as_alice.get(address(table)).content.decode()
    )
    assert "<title>(2) Your turn" in fragment(as_alice, table).content.decode()
    assert "<title>(1) bob’s turn" in post(as_alice, table, "play r5", htmx=True).content.decode()


@pytest.mark.parametrize("htmx", [False, True])
def test_the_link_to_the_next_game_skips_the_current_one(
    table: Table, alice: User, bob: User, as_alice: Client, htmx: bool
) -> None:
    headers = {"HX-Request": "true"} if htmx else {}
    url = table.game.get_absolute_url()
    assert '<b id="next-count">0</b>' in as_alice.get(url, headers=headers).content.decode()
    table_at(TWO_HANDS, [alice, bob])
    text = as_alice.get(url, headers=headers).content.decode()
    assert '<b id="next-count">1</b>' in text
    assert "<title>(2) " in text
    assert f'href="/next/?after={table.game.code}" aria-keyshortcuts="n"' in text  # the button
    assert f'href="/next/?after={table.game.code}" data-key="n"' in text  # what the key N presses


def test_without_scripts_a_waiting_page_reloads(table: Table, as_alice: Client, as_bob: Client) -> None:
    url = table.game.get_absolute_url()
    refresh = f'<noscript><meta http-equiv="refresh" content="10; url={url}"></noscript>'
    assert refresh in as_bob.get(url).content.decode()
    assert "http-equiv" not in as_alice.get(url).content.decode()
    stopped = as_bob.get(f"{url}?refresh=off").content.decode()
    assert ("http-equiv" in stopped, f'<a href="{url}">Reload it' in stopped) == (False, True)


def test_htmx_gets_a_fragment_that_varies_by_header(table: Table, as_alice: Client) -> None:
    page, part = as_alice.get(address(table)), fragment(as_alice, table)
    assert b"<!doctype html>" in page.content
    assert b"<!doctype html>" not in part.content
    assert part.content.lstrip().startswith(b"<title>")
    for response in (page, part):
        assert "HX-Request" in response.headers["Vary"]
        assert "no-store" in response.headers["Cache-Control"]


def test_an_open_table_shows_its_lobby(alice: User, as_alice: Client) -> None:
    table = lobby.create_table(user=alice, options=lobby.TableOptions(players=2), now=NOON)
    assert "1 seat is free" in text_of(as_alice.get(address(table)))


def test_an_open_lobby_reloads_when_the_game_starts(table: Table, as_alice: Client) -> None:
    assert fragment(as_alice, table, "?lobby=1").headers["HX-Refresh"] == "true"


def test_missing_and_private_tables_are_not_found(alice: User, bob: User, charlie: User) -> None:
    private = table_at(TWO_HANDS, [alice, bob], is_public=False)
    browser = logged_in(charlie)
    for path in ("/games/nosuchgame/", address(private), address(private, "log/"), address(private, "record/")):
        assert browser.get(path).status_code == 404, path
    assert post(browser, private, "draw").status_code == 404


def test_a_visitor_with_the_link_sees_a_private_table(alice: User, bob: User, charlie: User) -> None:
    private = table_at(TWO_HANDS, [alice, bob], is_public=False)
    browser = logged_in(charlie)
    session = browser.session
    session["links"] = [private.game.invite_key]
    session.save()
    page = browser.get(address(private))
    assert "You are watching." in text_of(page)
    assert b'name="move"' not in page.content


def test_a_move_without_scripts_redirects(table: Table, as_alice: Client) -> None:
    response = post(as_alice, table, "play r5")
    assert (response.status_code, response.headers["Location"]) == (303, f"{address(table)}#headline")
    assert log_of(table) == ["0 play r5"]


def test_a_move_by_htmx_returns_the_new_page(table: Table, as_alice: Client) -> None:
    response = post(as_alice, table, "play r5", htmx=True)
    assert response.status_code == 200
    assert b'data-version="1"' in response.content
    assert told(response) == (["You play Red 5."], "")


def test_the_uno_toggle_calls_with_the_play(alice: User, bob: User, as_alice: Client) -> None:
    table = table_at({**TWO_HANDS, "hands": [["r5", "b1"], ["r4", "g3"]]}, [alice, bob])
    assert b'id="uno"' in as_alice.get(address(table)).content
    post(as_alice, table, "play r5", uno="1")
    assert log_of(table) == ["0 play r5 uno"]
    position = now_of(table).started.position
    assert position.declared == (0,)


def test_the_uno_toggle_is_hidden_when_no_play_leaves_one_card(table: Table, as_alice: Client) -> None:
    assert b'id="uno"' not in as_alice.get(address(table)).content


@pytest.fixture
def wilds(alice: User, bob: User) -> Table:
    return table_at({**TWO_HANDS, "hands": [["r7", "W6", "b1", "b2", "g2"], ["r4", "g3"]]}, [alice, bob])


def test_a_wild_without_a_colour_opens_the_chooser(wilds: Table, as_alice: Client) -> None:
    response = post(as_alice, wilds, "play W6", htmx=True, uno="1")
    assert response.status_code == 200
    assert "Which colour for Wild Draw Six?" in text_of(response)
    assert re.findall(r'value="(play W6 [^"]+)"', response.content.decode()) == [f"play W6 color {c}" for c in "rygb"]
    assert "you hold 2" in text_of(response)
    assert log_of(wilds) == []


def test_without_scripts_the_chooser_has_an_address(wilds: Table, as_alice: Client) -> None:
    response = post(as_alice, wilds, "play r7")
    assert (response.status_code, response.headers["Location"]) == (303, f"{address(wilds)}?choose=r7#move")
    page = as_alice.get(address(wilds, "?choose=r7"))
    assert b'value="play r7 swap 1"' in page.content
    assert "2 cards" in text_of(page)


def test_an_open_chooser_survives_an_update(wilds: Table, as_alice: Client) -> None:
    page = as_alice.get(address(wilds, "?choose=W6")).content.decode()
    again = re.search(r'hx-get="[^"?]*(\?[^"]*)" hx-trigger="refetch"', page)
    assert again is not None
    assert b'id="chooser"' in fragment(as_alice, wilds, again[1].replace("&amp;", "&")).content


def test_there_is_no_chooser_for_a_card_that_the_reader_does_not_hold(wilds: Table, as_alice: Client) -> None:
    for card in ("W10", "zz", "b1", "r7 swap 1", "<b>"):
        page = as_alice.get(address(wilds), {"choose": card})
        assert page.status_code == 200
        assert b'id="chooser"' not in page.content


def test_the_target_of_a_roulette_is_asked_for_its_colour(alice: User, bob: User, as_alice: Client) -> None:
    table = table_at({**TWO_HANDS, "discard_pile": ["r3", "WC"], "color": None, "phase": "choose_color"}, [alice, bob])
    page = as_alice.get(address(table))
    assert re.findall(r'value="(color .)"', page.content.decode()) == ["color r", "color y", "color g", "color b"]


@pytest.mark.parametrize(
    ("move", "fields", "status", "reason", "rule"),
    [
        ("play b1", {}, 422, "Blue 1 does not match Red 3.", "TURN-2"),
        ("take", {}, 422, "You owe no cards.", "STACK-3"),
        ("draw", {"version": "7"}, 409, "The game has moved on.", None),
        ("draw", {"version": ""}, 400, "needs a version", None),
        ("draw", {"version": "x" * 500}, 400, "needs a version", None),
        ("fly", {}, 400, "That is not a move of this game.", None),
        ("", {}, 400, "That is not a move of this game.", None),
        ("play r5" * 900, {}, 400, "That is not a move of this game.", None),
        ("play r5", {"token": "x" * 65}, 400, "A token must be 1 to 64 printable ASCII characters.", None),
        ("play r5\x00", {}, 400, "That is not a move of this game.", None),
    ],
)
@pytest.mark.parametrize("htmx", [False, True], ids=["page", "fragment"])
def test_a_refusal_shows_the_reason_the_rule_and_the_current_game(
    table: Table,
    as_alice: Client,
    move: str,
    fields: dict[str, str],
    status: int,
    reason: str,
    rule: str | None,
    htmx: bool,
) -> None:
    response = post(as_alice, table, move, htmx=htmx, **fields)
    assert response.status_code == status
    assert reason in text_of(response)
    assert (f"/rules/#{rule}" in response.content.decode()) if rule else True
    assert b'data-version="0"' in response.content
    assert log_of(table) == []
    if htmx:
        assert re.search(f'id="refusal">.*{reason}', html.unescape(response.content.decode()))


@pytest.mark.parametrize("htmx", [False, True], ids=["page", "fragment"])
def test_the_move_of_an_outsider_is_refused_with_the_page(table: Table, charlie: User, htmx: bool) -> None:
    response = post(logged_in(charlie), table, "draw", htmx=htmx)
    assert response.status_code == 403
    assert "You are not seated at this table." in text_of(response)
    assert (b"<!doctype html>" in response.content) is not htmx


def test_a_page_reloads_when_its_reader_loses_access(table: Table, charlie: User) -> None:
    Game.objects.filter(pk=table.game.pk).update(is_public=False)
    browser = logged_in(charlie)
    for response in (fragment(browser, table), post(browser, table, "draw", htmx=True)):
        assert (response.status_code, response.headers["HX-Refresh"], response.content) == (404, "true", b"")


def test_the_browser_shows_every_refusal_that_is_a_fragment(table: Table, as_alice: Client) -> None:
    found = re.search(r"name=\"htmx-config\" content='([^']+)'", as_alice.get(address(table)).content.decode())
    assert found is not None
    handling = json.loads(found[1])["responseHandling"]

    def swapped(status: int) -> bool:
        shown: bool = next(rule["swap"] for rule in handling if re.search(rule["code"], str(status)))
        return shown

    statuses = (204, 304, 400, 401, 403, 404, 409, 422, 429, 500, 503)
    assert [status for status in statuses if swapped(status)] == [400, 403, 409, 422, 429]


def test_a_visitors_move_leads_to_the_login(table: Table) -> None:
    response = post(Client(), table, "draw")
    assert (response.status_code, response.headers["Location"]) == (302, f"/accounts/login/?next={address(table)}")
    assert post(Client(), table, "draw", htmx=True).headers["HX-Redirect"] == f"/accounts/login/?next={address(table)}"


def test_a_double_click_plays_once(table: Table, as_alice: Client) -> None:
    token = field(fragment(as_alice, table), "token")
    answers = [post(as_alice, table, "play r5", version=0, token=token, htmx=True) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [200, 200]
    assert log_of(table) == ["0 play r5"]


def test_every_page_has_its_own_token(table: Table, as_alice: Client) -> None:
    assert field(fragment(as_alice, table), "token") != field(fragment(as_alice, table), "token")


def test_a_get_of_the_move_address_redirects_to_the_game(table: Table, as_alice: Client) -> None:
    response = as_alice.get(address(table, "move/"))
    assert (response.status_code, response.headers["Location"]) == (302, address(table))


def test_an_update_announces_what_happened_since(table: Table, as_alice: Client, as_bob: Client) -> None:
    post(as_alice, table, "play r5")
    response = fragment(as_bob, table, "?since=0")
    assert told(response) == (["alice plays Red 5."], "Your turn. Red 5, 2 of 3 fit.")
    assert told(fragment(as_bob, table, "?since=1")) == ([], "")
    assert told(fragment(as_bob, table, "?since=nonsense")) == ([], "")


def test_the_sort_order_of_the_hand_is_remembered(wilds: Table, as_alice: Client) -> None:
    def shown() -> list[str]:
        return re.findall(r'value="play (\w+)', as_alice.get(address(wilds)).content.decode())

    assert shown() == ["r7", "g2", "b1", "b2", "W6"]
    fragment(as_alice, wilds, "?sort=number")
    assert shown() == ["b1", "g2", "b2", "r7", "W6"]
    fragment(as_alice, wilds, "?sort=drawn")
    assert shown() == ["r7", "W6", "b1", "b2", "g2"]
    fragment(as_alice, wilds, "?sort=nonsense")
    assert shown() == ["r7", "W6", "b1", "b2", "g2"]


def test_a_player_can_resign_from_the_game_page(table: Table, as_alice: Client) -> None:
    assert f'href="{address(table, "resign/")}"' in as_alice.get(address(table)).content.decode()
    asked = as_alice.get(address(table, "resign/"))
    assert "bob wins the game. You can’t come back." in text_of(asked)
    assert b'value="leave"' in asked.content
    assert post(as_alice, table, "leave").status_code == 303
    page = as_alice.get(address(table))
    assert b"Resign" not in page.content
    assert as_alice.get(address(table, "resign/")).headers["Location"] == address(table)
    assert "bob wins the game" in text_of(page)


@pytest.fixture
def finished(alice: User, bob: User, as_alice: Client) -> Table:
    table = table_at({**TWO_HANDS, "hands": [["r5"], ["r4", "g3", "W6"]]}, [alice, bob])
    post(as_alice, table, "play r5")
    return now_of(table)


def test_a_finished_game_shows_winner_hands_and_next_steps(finished: Table, as_bob: Client) -> None:
    page = as_bob.get(address(finished))
    text = text_of(page)
    assert "alice wins the game with 57 points." in text
    assert "Wild Draw Six" in text
    assert f'action="{address(finished, "rematch/")}"' in page.content.decode()
    assert b'name="move"' not in page.content


def test_seeing_the_end_of_a_game_is_stored_once(finished: Table, as_bob: Client) -> None:
    def seen() -> int:
        return Seat.objects.get(game=finished.game, index=1).seen

    page = as_bob.get(address(finished)).content.decode()
    assert seen() == 0
    assert f'<form method="post" action="{address(finished, "seen/")}" hx-post=' in page
    answer = as_bob.post(address(finished, "seen/"))
    assert (answer.status_code, answer.headers["Location"], seen()) == (303, "/", 1)
    assert "seen/" not in as_bob.get(address(finished)).content.decode()
    assert as_bob.post(address(finished, "seen/"), headers={"HX-Request": "true"}).status_code == 204


def test_the_player_of_the_last_move_has_seen_the_end(alice: User, bob: User, as_alice: Client) -> None:
    last = table_at({**TWO_HANDS, "hands": [["r5"], ["r4"]]}, [alice, bob])
    as_alice.post(address(last, "move/"), {"move": "play r5", "version": "0"})
    assert list(Seat.objects.filter(game=last.game).order_by("index").values_list("seen", flat=True)) == [1, 0]


def test_a_person_without_access_cannot_mark_the_end_as_seen(finished: Table, charlie: User, as_bob: Client) -> None:
    Game.objects.filter(pk=finished.game.pk).update(is_public=False)
    assert logged_in(charlie).post(address(finished, "seen/")).status_code == 404
    assert as_bob.get(address(finished, "seen/")).status_code == 405


def test_the_result_of_a_round_stays_until_the_reader_moves(
    alice: User, bob: User, as_alice: Client, as_bob: Client
) -> None:
    position = {**TWO_HANDS, "hands": [["r5"], ["r4", "g3", "W6"]]}
    table = table_at(position, [alice, bob], target=1000)
    after = post(as_alice, table, "play r5", htmx=True)
    for response in (after, as_bob.get(address(table))):
        assert "Round 1: " in text_of(response)
        assert "Wild Draw Six" in text_of(response)
    post(as_bob, table, "draw")
    assert "Round 1: " not in text_of(as_bob.get(address(table)))
    assert "Round 1: " in text_of(as_alice.get(address(table)))


def test_a_round_that_the_readers_bot_won_says_so_after_they_took_the_seat_back(
    alice: User, bob: User, as_alice: Client
) -> None:
    position = {**TWO_HANDS, "hands": [["r5"], ["r4", "g3", "W6"]]}
    table = table_at(position, [alice, bob], target=1000)
    seat = Seat.objects.filter(game=table.game, index=0)
    seat.update(bot="careful")
    commit(now_of(table), 0, [RuleMove("play", "r5")], now=NOON, by_person=False)
    seat.update(bot="")
    deal_next(game_id=table.game.pk, now=NOON)
    assert "Round 1: Your bot wins the round and scores 57 points." in text_of(as_alice.get(address(table)))


def test_a_page_with_the_end_of_a_round_announces_the_next_deal(alice: User, bob: User, as_bob: Client) -> None:
    ended = {"hands": [[], ["r4", "g3", "W6"]], "phase": "over", "winner": 0, "points": 57}
    table = table_at({**TWO_HANDS, **ended}, [alice, bob], target=1000)
    Round.objects.filter(game=table.game).update(ended_at=NOON)
    page = as_bob.get(address(table)).content.decode()
    assert 'data-version="0" data-deal="1" data-unversioned' in page
    again = re.search(r'hx-get="[^"?]*(\?[^"]*)" hx-trigger="refetch"', page)
    assert again is not None
    query = again[1].replace("&amp;", "&")
    assert told(fragment(as_bob, table, query)) == ([], "")
    deal_next(game_id=table.game.pk, now=NOON)
    Round.objects.filter(game=table.game, number=2).update(turn=1)
    dealt = fragment(as_bob, table, query)
    assert b'data-version="0" data-deal="2"' in dealt.content
    assert b"data-unversioned" not in dealt.content
    assert b"ended=" not in dealt.content
    said, now = told(dealt)
    assert said == ["Round 2 is dealt."]
    assert now.startswith("Your turn. ")


def test_a_finished_games_page_updates_with_a_rematch_request(
    finished: Table, alice: User, as_alice: Client, as_bob: Client
) -> None:
    page = as_bob.get(address(finished)).content.decode()
    assert "js/live" in page
    assert "data-unversioned" in page
    assert '<p id="rematch-note" role="status"></p>' in page
    again = ask_rematch(code=finished.game.code, viewer=Viewer(alice), now=NOON)
    asked = fragment(as_bob, finished)
    assert ">Join the rematch<" in asked.content.decode()
    assert "alice wants a rematch." in text_of(asked)
    assert ">Go to the rematch<" in fragment(as_alice, finished).content.decode()
    Game.objects.filter(pk=again.game.pk).update(status=Game.Status.VOID)
    closed = fragment(as_bob, finished)
    assert "The rematch has started without you, or was closed." in text_of(closed)
    assert b'id="rematch"' not in closed.content


def test_the_log_has_an_address_for_every_line(alice: User, bob: User, as_alice: Client) -> None:
    table = table_after([alice, bob, "careful"], 40, seed=5)
    page = as_alice.get(address(table, "log/")).content.decode()
    assert re.findall(r'id="m(\d+)"', page) == [str(n) for n in range(table.game.version, 0, -1)]


def test_only_a_finished_game_has_a_record_as_text(alice: User, bob: User, as_alice: Client, table: Table) -> None:
    assert as_alice.get(address(table, "record/")).status_code == 404
    over = table_after([alice, bob], 10_000, seed=3)
    response = as_alice.get(address(over, "record/"))
    assert response.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert response.content.startswith(b"record: 1\n")


def test_the_page_takes_at_most_8_statements(
    alice: User, bob: User, as_alice: Client, as_bob: Client, django_assert_max_num_queries: AtMost
) -> None:
    position = {**TWO_HANDS, "hands": [["r5"], ["r4", "g3", "W6"]]}
    table = table_at(position, [alice, bob], target=1000)
    post(as_alice, table, "play r5")
    with django_assert_max_num_queries(8):
        assert b'id="ended"' in as_bob.get(address(table)).content
    with django_assert_max_num_queries(8):
        fragment(as_bob, table, "?since=0")


def test_a_move_takes_at_most_12_statements(
    alice: User, bob: User, as_alice: Client, django_assert_max_num_queries: AtMost
) -> None:
    table = table_at(TWO_HANDS, [alice, bob], target=1000)
    savepoints = 2  # the test's own transaction turns BEGIN and COMMIT into these
    with django_assert_max_num_queries(12 + savepoints):
        move = {"version": 0, "move": "play r5", "token": "once"}
        as_alice.post(address(table, "move/"), move, headers={"HX-Request": "true"})
    assert Move.objects.filter(game=table.game).count() == 1
    assert Game.objects.get(pk=table.game.pk).version == 1


@pytest.mark.long
def test_the_page_after_a_move_shows_the_same_as_the_page_fetched_then(
    alice: User, bob: User, as_alice: Client, as_bob: Client
) -> None:
    table = table_at(TWO_HANDS, [alice, bob], target=1000)
    rng = random.Random(1)
    for _ in range(READ_LINES + 10):
        now = now_of(table)
        if now.started.over:
            break
        turn = now.started.position.turn
        move = rng.choice(rules.legal_moves(now.started.position, turn, now.options))
        browser = (as_alice, as_bob)[turn]
        before = now.game.version
        after = post(browser, table, str(move), htmx=True)
        assert after.status_code == 200
        assert without_tokens(after) == without_tokens(fragment(browser, table, f"?since={before}"))
    assert now_of(table).game.version > LOG_LINES + 1


def without_tokens(response: Answer) -> str:
    """Return the page without what differs each time: form tokens, and the time left."""
    changing = r'name="(token|csrfmiddlewaretoken)" value="[^"]*"|<time datetime="[^"]*"\s+data-left.*?</time>'
    return re.sub(changing, "", response.content.decode(), flags=re.DOTALL)


def test_a_guest_is_asked_to_sign_up_when_the_game_has_ended(alice: User, as_alice: Client) -> None:
    guest = create_guest()
    table = table_at({**TWO_HANDS, "hands": [["r5"], ["r4", "g3", "W6"]]}, [alice, guest])
    assert "Sign up" not in text_of(logged_in(guest).get(address(table)))
    post(as_alice, table, "play r5")
    assert "Sign up to keep your games, including this one." in text_of(logged_in(guest).get(address(table)))
    assert "Sign up" not in text_of(as_alice.get(address(table)))


def test_the_end_of_a_round_says_who_was_out(alice: User, bob: User) -> None:
    hands = [["r5"], ["r4"], [], []]
    table = table_at({**TWO_HANDS, "hands": hands, "out": [2, 3]}, [alice, bob, "careful", "careful"], target=1000)
    round_ = table.started.round
    Move.objects.create(game=table.game, round=round_, n=1, seat=3, text="leave", at=NOON, events=[])
    Round.objects.filter(pk=round_.pk).update(ended_at=NOON)
    told_apart = [(hand.out, hand.left) for hand in queries.hands_after(table, 1)]
    assert told_apart == [(False, False), (False, False), (True, False), (True, True)]


@pytest.mark.parametrize(("preset", "moves_hands"), [("no-mercy", True), ("classic", False)])
def test_cards_say_swap_and_pass_only_if_they_do(alice: User, preset: str, moves_hands: bool) -> None:
    table = table_after([alice, "careful"], 0, seed=1, preset=preset)
    browser = logged_in(alice)
    assert ('class="game swaps"' in browser.get(address(table)).content.decode()) is moves_hands


@pytest.mark.parametrize(("earlier", "sheets"), [(1, 1), (0, 0)])
def test_the_end_has_a_score_sheet_after_more_than_one_round(alice: User, bob: User, earlier: int, sheets: int) -> None:
    game = table_after([alice, bob], 10_000, seed=3, earlier=earlier).game
    Game.objects.filter(pk=game.pk).update(status=Game.Status.OVER, winner=0)
    page = logged_in(bob).get(f"/games/{game.code}/").content.decode()
    assert page.count('id="over"') == 1
    assert page.count('id="scores-final"') == sheets
