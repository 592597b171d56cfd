"""The game page and its moves over HTTP."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from accounts.actions import create_guest
from accounts.models import User
from games import queries, rules
from games.actions.commit import commit
from games.actions.next_round import deal_next
from games.actions.rematch import ask_rematch
from games.models import Game, Move, Round, Seat
from games.queries import Table, Viewer
from games.queries.game_page import LOG_LINES, READ_LINES, contents_of
from games.rules import Move as RuleMove
from tests.conftest import logged_in
from tests.support.game_page import HTMX, GamePage
from tests.support.pages import Page, open_table
from tests.support.tables import NOON, TWO_HANDS, log_of, now_of, table_after, table_at

pytestmark = pytest.mark.django_db

AtMost = Callable[[int], Any]
LAST_CARD = {**TWO_HANDS, "hands": [["r5"], ["r4", "g3", "W6"]]}


@pytest.fixture
def table(alice: User, bob: User) -> Table:
    return table_at(TWO_HANDS, [alice, bob])


@pytest.fixture
def url(table: Table) -> str:
    return table.game.get_absolute_url()


@pytest.fixture
def last_card(alice: User, bob: User) -> Table:
    """A round of a match that alice can win with her next card."""
    return table_at(LAST_CARD, [alice, bob], target=1000)


def address(table: Table, rest: str = "") -> str:
    return f"{table.game.get_absolute_url()}{rest}"


def post(browser: Client, table: Table, move: str, *, htmx: bool = False, **fields: object) -> Any:
    data = {"version": now_of(table).game.version, "move": move, **fields}
    return browser.post(address(table, "move/"), data, headers=HTMX if htmx else {})


def fragment(browser: Client, table: Table, query: str = "") -> GamePage:
    return GamePage.of(browser, table.game, query, fragment=True)


def page_of(browser: Client, table: Table, rest: str = "") -> GamePage:
    return GamePage.of(browser, table.game, rest)


@pytest.mark.parametrize("revision", ["1", "-1", "", "x", "9" * 40])
def test_a_page_with_a_revision_that_the_table_never_had_is_loaded_as_a_whole(
    revision: str, table: Table, as_bob: Client
) -> None:
    assert page_of(as_bob, table).has(data_revision="0")
    query = f"?revision={revision}"
    answer = as_bob.get(address(table, query), headers=HTMX)
    assert (answer.status_code, answer["HX-Refresh"], answer.content) == (200, "true", b"")
    assert page_of(as_bob, table, query).has(data_revision="0")
    assert fragment(as_bob, table, "?revision=0").has(data_revision="0")


def test_a_press_of_ones_own_picture_does_not_leave_the_game(table: Table, as_alice: Client) -> None:
    page = page_of(as_alice, table)
    assert [page.one(id=f"person-{seat}").tag for seat in (0, 1)] == ["span", "a"]


def test_the_page_says_who_must_do_what(table: Table, as_alice: Client, as_bob: Client) -> None:
    assert page_of(as_alice, table).headline == "Your turn"
    assert page_of(as_bob, table).headline == "alice’s turn"


def test_the_title_and_the_link_to_the_next_game_count_the_games_that_wait(
    table: Table, alice: User, bob: User, as_alice: Client
) -> None:
    def counted(read: Callable[[Client, Table], Page]) -> tuple[str, str]:
        page = read(as_alice, table)
        # The button and, in the list of keys that a fragment leaves out, what the key N presses.
        assert len(page.links_to(f"/next/?after={table.game.code}")) == (1 if read is fragment else 2)
        return page.title, page.part("next-count")

    turn = "Your turn · No Mercy"
    assert [counted(read) for read in (page_of, fragment)] == [(f"(1) {turn}", "0")] * 2
    table_at(TWO_HANDS, [alice, bob])
    assert [counted(read) for read in (page_of, fragment)] == [(f"(2) {turn}", "1")] * 2
    assert GamePage(post(as_alice, table, "play r5", htmx=True)).title.startswith("(1) bob’s turn")


def test_without_scripts_a_waiting_page_reloads(table: Table, url: str, as_alice: Client, as_bob: Client) -> None:
    assert page_of(as_bob, table).one("meta", http_equiv="refresh").get("content") == f"10; url={url}"
    assert not page_of(as_alice, table).has("meta", http_equiv="refresh")
    stopped = page_of(as_bob, table, "?refresh=off")
    assert not stopped.has("meta", http_equiv="refresh")
    assert "Reload it every 10 seconds" in [link.text for link in stopped.links_to(url)]


def test_htmx_gets_a_fragment_that_varies_by_header(table: Table, as_alice: Client) -> None:
    page, part = page_of(as_alice, table), fragment(as_alice, table)
    assert ("<!doctype html>" in page.html, "<!doctype html>" in part.html) == (True, False)
    assert part.html.lstrip().startswith("<title>")
    for response in (page.response, part.response):
        assert "HX-Request" in response.headers["Vary"]
        assert "no-store" in response.headers["Cache-Control"]


def test_an_open_lobby_reloads_when_the_game_starts(table: Table, alice: User, as_alice: Client) -> None:
    assert "1 seat is free" in Page(as_alice.get(open_table(alice, players=2).get_absolute_url())).text
    assert fragment(as_alice, table, "?lobby=1").response.headers["HX-Refresh"] == "true"


@pytest.fixture
def private(alice: User, bob: User) -> Table:
    return table_at(TWO_HANDS, [alice, bob], is_public=False)


def test_a_move_by_htmx_returns_the_new_page(table: Table, as_alice: Client) -> None:
    page = GamePage(post(as_alice, table, "play r5", htmx=True))
    assert (page.status, page.has(data_version="1"), page.told) == (200, True, (["You: Red 5."], ""))


def test_the_uno_toggle_calls_with_a_play_that_leaves_one_card(
    table: Table, alice: User, bob: User, as_alice: Client
) -> None:
    assert not page_of(as_alice, table).has(id="uno")
    table = table_at({**TWO_HANDS, "hands": [["r5", "b1"], ["r4", "g3"]]}, [alice, bob])
    assert page_of(as_alice, table).has(id="uno")
    post(as_alice, table, "play r5", uno="1")
    assert log_of(table) == ["0 play r5 uno"]
    assert now_of(table).started.position.declared == (0,)


@pytest.fixture
def wilds(alice: User, bob: User) -> Table:
    return table_at({**TWO_HANDS, "hands": [["r7", "W6", "b1", "b2", "g2"], ["r4", "g3"]]}, [alice, bob])


def test_a_wild_without_a_colour_opens_a_chooser_that_survives_an_update(wilds: Table, as_alice: Client) -> None:
    for card in ("W10", "zz", "b1", "r7 swap 1", "<b>"):
        page = Page(as_alice.get(address(wilds), {"choose": card}))
        assert (page.status, page.has(id="chooser")) == (200, False), card
    page = page_of(as_alice, wilds, "?choose=W6")
    assert fragment(as_alice, wilds, f"?{page.refetches}").has(id="chooser")
    response = post(as_alice, wilds, "play r7")
    assert (response.status_code, response.headers["Location"]) == (303, f"{address(wilds)}?choose=r7#move")
    page = page_of(as_alice, wilds, "?choose=r7")
    assert "play r7 swap 1" in page.values("move")
    assert "2 cards" in page.text
    page = GamePage(post(as_alice, wilds, "play W6", htmx=True, uno="1"))
    assert page.status == 200
    assert "Which colour for Wild Draw Six?" in page.text
    assert [value for value in page.values("move") if " color " in value] == [f"play W6 color {c}" for c in "rygb"]
    assert "you hold 2" in page.text
    assert log_of(wilds) == []


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
def test_a_refusal_shows_the_reason_the_rule_and_the_current_game(
    table: Table, as_alice: Client, move: str, fields: dict[str, str], status: int, reason: str, rule: str | None
) -> None:
    for htmx in (False, True):
        page = GamePage(post(as_alice, table, move, htmx=htmx, **fields))
        assert page.status == status
        assert reason in page.part("refusal")
        assert rule is None or page.links_to(f"/rules/#{rule}")
        assert page.has(data_version="0")
    assert log_of(table) == []


@pytest.mark.parametrize("htmx", [False, True], ids=["page", "fragment"])
def test_the_move_of_an_outsider_is_refused_with_the_page(table: Table, charlie: User, htmx: bool) -> None:
    page = GamePage(post(logged_in(charlie), table, "draw", htmx=htmx))
    assert (page.status, "<!doctype html>" in page.html) == (403, not htmx)
    assert "You are not seated at this table." in page.text


def test_a_page_reloads_when_its_reader_loses_access(private: Table, charlie: User) -> None:
    browser = logged_in(charlie)
    for response in (fragment(browser, private).response, post(browser, private, "draw", htmx=True)):
        assert (response.status_code, response.headers["HX-Refresh"], response.content) == (404, "true", b"")


def test_the_browser_shows_every_refusal_that_is_a_fragment(table: Table, as_alice: Client) -> None:
    handling = json.loads(page_of(as_alice, table).one(name="htmx-config").get("content", ""))["responseHandling"]
    statuses = (204, 304, 400, 401, 403, 404, 409, 422, 429, 500, 503)
    rule_of = {status: next(rule for rule in handling if re.search(rule["code"], str(status))) for status in statuses}
    assert [status for status, rule in rule_of.items() if rule["swap"]] == [400, 403, 409, 422, 429]


def test_a_visitors_move_leads_to_the_login(table: Table, url: str) -> None:
    response = post(Client(), table, "draw")
    assert (response.status_code, response.headers["Location"]) == (302, f"/accounts/login/?next={url}")
    assert post(Client(), table, "draw", htmx=True).headers["HX-Redirect"] == f"/accounts/login/?next={url}"


def test_every_page_has_its_own_token_and_a_double_click_plays_once(table: Table, as_alice: Client) -> None:
    token, other = (fragment(as_alice, table).field("token") for _ in range(2))
    assert token != other
    answers = [post(as_alice, table, "play r5", version=0, token=token, htmx=True) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [200, 200]
    assert log_of(table) == ["0 play r5"]


def test_without_scripts_a_move_and_its_address_redirect(url: str, as_alice: Client, table: Table) -> None:
    response = as_alice.get(f"{url}move/")
    assert (response.status_code, response.headers["Location"]) == (302, url)
    response = post(as_alice, table, "play r5")
    assert (response.status_code, response.headers["Location"]) == (303, f"{url}#headline")
    assert log_of(table) == ["0 play r5"]


def test_an_update_announces_what_happened_since(table: Table, as_alice: Client, as_bob: Client) -> None:
    post(as_alice, table, "play r5")
    assert fragment(as_bob, table, "?since=0").told == (
        ["alice: Red 5."],
        "Your turn. 2 of 3 fit: Red 4 and Wild Draw Six.",
    )
    assert fragment(as_bob, table, "?since=1").told == ([], "")
    assert fragment(as_bob, table, "?since=nonsense").told == ([], "")


def test_the_sort_order_of_the_hand_is_remembered(wilds: Table, as_alice: Client) -> None:
    for asked, shown in (
        ("", ["r7", "g2", "b1", "b2", "W6"]),
        ("number", ["b1", "g2", "b2", "r7", "W6"]),
        ("drawn", ["r7", "W6", "b1", "b2", "g2"]),
        ("nonsense", ["r7", "W6", "b1", "b2", "g2"]),
    ):
        fragment(as_alice, wilds, f"?sort={asked}" if asked else "")
        assert page_of(as_alice, wilds).plays == shown, asked


def test_a_player_can_resign_from_the_game_page(table: Table, url: str, as_alice: Client) -> None:
    assert page_of(as_alice, table).links_to(f"{url}resign/")
    asked = page_of(as_alice, table, "resign/")
    assert "bob wins the game. You can’t come back." in asked.text
    assert asked.values("move") == ["leave"]
    assert post(as_alice, table, "leave").status_code == 303
    page = page_of(as_alice, table)
    assert ("Resign" in page.html, "bob wins" in page.text) == (False, True)
    assert as_alice.get(address(table, "resign/")).headers["Location"] == url


@pytest.fixture
def finished(alice: User, bob: User, as_alice: Client) -> Table:
    table = table_at(LAST_CARD, [alice, bob])
    post(as_alice, table, "play r5")
    return now_of(table)


def test_the_end_of_a_game_has_next_steps_and_is_marked_as_seen_once(
    finished: Table, as_bob: Client, charlie: User
) -> None:
    page = page_of(as_bob, finished)
    assert "alice wins" in page.text
    assert "Wild Draw Six" in page.text
    assert page.has("form", action=address(finished, "rematch/"))
    assert page.values("move") == []

    def seen() -> list[int]:
        return list(
            Seat.objects.filter(game=finished.game).order_by("index").values_list("end_seen_version", flat=True)
        )

    path = address(finished, "seen/")
    form = page_of(as_bob, finished).one("form", action=path)
    assert (form.get("hx-post"), seen()) == (path, [1, 0])  # the player of the last move has seen it
    answer = as_bob.post(path)
    assert (answer.status_code, answer.headers["Location"], seen()) == (303, "/", [1, 1])
    assert not page_of(as_bob, finished).has("form", action=path)
    assert as_bob.post(path, headers=HTMX).status_code == 204
    Game.objects.filter(pk=finished.game.pk).update(is_public=False)
    assert logged_in(charlie).post(address(finished, "seen/")).status_code == 404
    assert as_bob.get(address(finished, "seen/")).status_code == 405


def test_a_round_that_the_readers_bot_won_says_so_after_they_took_the_seat_back(
    last_card: Table, as_alice: Client
) -> None:
    seat = Seat.objects.filter(game=last_card.game, index=0)
    seat.update(bot="careful")
    commit(now_of(last_card), 0, [RuleMove("play", "r5")], now=NOON, by_person=False)
    seat.update(bot="")
    deal_next(game_id=last_card.game.pk, now=NOON)
    assert "Your bot wins round 1" in page_of(as_alice, last_card).text


def test_a_page_with_the_end_of_a_round_announces_the_next_deal(alice: User, bob: User, as_bob: Client) -> None:
    ended = {"hands": [[], ["r4", "g3", "W6"]], "phase": "over", "winner": 0, "points": 57}
    table = table_at({**TWO_HANDS, **ended}, [alice, bob], target=1000)
    Round.objects.filter(game=table.game).update(ended_at=NOON)
    page = page_of(as_bob, table)
    assert page.has(data_version="0", data_deal="1")
    query = f"?{page.refetches}"
    assert fragment(as_bob, table, query).told == ([], "")
    deal_next(game_id=table.game.pk, now=NOON)
    Round.objects.filter(game=table.game, number=2).update(turn=1)
    dealt = fragment(as_bob, table, query)
    assert dealt.has(data_version="0", data_deal="2")
    assert "ended=" not in dealt.html
    said, now = dealt.told
    assert said == ["Round 2 is dealt."]
    assert now.startswith("Your turn. ")


def test_a_finished_games_page_updates_with_a_rematch_request(
    finished: Table, alice: User, as_alice: Client, as_bob: Client
) -> None:
    page = page_of(as_bob, finished)
    assert "js/live" in page.html
    assert page.one(id="rematch-note").get("role") == "status"
    again = ask_rematch(code=finished.game.code, viewer=Viewer(alice), now=NOON)
    asked = fragment(as_bob, finished).text
    assert "Join the rematch" in asked
    assert "alice wants a rematch." in asked
    assert "Go to the rematch" in fragment(as_alice, finished).text
    Game.objects.filter(pk=again.game.pk).update(status=Game.Status.VOID)
    closed = fragment(as_bob, finished)
    assert "The rematch has started without you, or was closed." in closed.text
    assert not closed.has(id="rematch")


def test_the_log_has_an_address_for_every_line(alice: User, bob: User, as_alice: Client) -> None:
    table = table_after([alice, bob, "careful"], 40, seed=5)
    lines = [line.get("id") for line in page_of(as_alice, table, "log/").all("li") if line.get("id")]
    assert lines == [f"m{n}" for n in range(table.game.version, 0, -1)]


def test_only_a_finished_game_has_a_record_as_text(alice: User, bob: User, as_alice: Client, url: str) -> None:
    assert as_alice.get(f"{url}record/").status_code == 404
    response = as_alice.get(address(table_after([alice, bob], 10_000, seed=3), "record/"))
    assert response.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert response.content.startswith(b"record: 1\n")


def test_the_result_of_a_round_stays_until_the_reader_moves_and_takes_8_statements(
    last_card: Table, as_alice: Client, as_bob: Client, django_assert_max_num_queries: AtMost
) -> None:
    post(as_alice, last_card, "play r5")
    with django_assert_max_num_queries(8):
        assert page_of(as_bob, last_card).has(id="ended")
    with django_assert_max_num_queries(7):  # how the round went is not read again
        fragment(as_bob, last_card, "?since=0")
    after = GamePage(post(as_alice, last_card, "play r5", htmx=True))
    for page in (after, page_of(as_bob, last_card)):
        assert page.has(id="ended")
        assert "Wild Draw Six" in page.text
    post(as_bob, last_card, "draw")
    assert not page_of(as_bob, last_card).has(id="ended")
    assert page_of(as_alice, last_card).has(id="ended")


def test_a_move_takes_at_most_12_statements(
    alice: User, bob: User, as_alice: Client, django_assert_max_num_queries: AtMost
) -> None:
    table = table_at(TWO_HANDS, [alice, bob], target=1000)
    savepoints = 2  # the test's own transaction turns BEGIN and COMMIT into these
    move = {"version": 0, "move": "play r5", "token": "once"}
    with django_assert_max_num_queries(12 + savepoints):
        as_alice.post(address(table, "move/"), move, headers=HTMX)
    assert Move.objects.filter(game=table.game).count() == now_of(table).game.version == 1


def test_a_page_reads_only_what_it_can_show(
    table: Table, alice: User, charlie: User, django_assert_num_queries: AtMost
) -> None:
    here = now_of(table)
    for reader, statements in ((alice, 2), (None, 2), (charlie, 3)):  # staff may have taken charlie's seat
        with django_assert_num_queries(statements):
            contents_of(here, reader, None, now=NOON)


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
        after = GamePage(post(browser, table, str(move), htmx=True))
        assert after.status == 200
        assert without_tokens(after) == without_tokens(fragment(browser, table, f"?since={now.game.version}"))
    assert now_of(table).game.version > LOG_LINES + 1


def without_tokens(page: Page) -> str:
    """Return the page without what differs each time: form tokens, and the time left."""
    changing = r'name="(token|csrfmiddlewaretoken)" value="[^"]*"|<time datetime="[^"]*"\s+data-left.*?</time>'
    return re.sub(changing, "", page.html, flags=re.DOTALL)


def test_a_guest_is_asked_to_sign_up_when_the_game_has_ended(alice: User, as_alice: Client) -> None:
    guest = create_guest()
    table, browser = table_at(LAST_CARD, [alice, guest]), logged_in(guest)
    assert "Sign up" not in page_of(browser, table).text
    post(as_alice, table, "play r5")
    assert "Keep this game? Sign up with a name and a password." in page_of(browser, table).text
    assert "Sign up" not in page_of(as_alice, table).text


def test_the_end_of_a_round_says_who_was_out(alice: User, bob: User) -> None:
    hands = [["r5"], ["r4"], [], []]
    table = table_at({**TWO_HANDS, "hands": hands, "out": [2, 3]}, [alice, bob, "careful", "careful"], target=1000)
    round_ = table.started.round
    Move.objects.create(game=table.game, round=round_, n=1, seat=3, text="leave", at=NOON, events=[])
    Round.objects.filter(pk=round_.pk).update(ended_at=NOON)
    told_apart = [(hand.out, hand.left) for hand in queries.hands_after(table, 1)]
    assert told_apart == [(False, False), (False, False), (True, False), (True, True)]


@pytest.mark.parametrize(("preset", "moves_hands"), [("no-mercy", True), ("classic", False)])
def test_cards_say_swap_and_pass_only_if_they_do(alice: User, as_alice: Client, preset: str, moves_hands: bool) -> None:
    page = page_of(as_alice, table_after([alice, "careful"], 0, seed=1, preset=preset))
    assert page.has(class_="game swaps") is moves_hands


@pytest.mark.parametrize("earlier", [1, 0])
def test_the_end_has_a_score_sheet_after_more_than_one_round(
    alice: User, bob: User, as_bob: Client, earlier: int
) -> None:
    table = table_after([alice, bob], 10_000, seed=3, earlier=earlier)
    Game.objects.filter(pk=table.game.pk).update(status=Game.Status.OVER, winner=0)
    page = page_of(as_bob, table)
    assert (page.has(id="over"), len(list(page.all(id="scores-final")))) == (True, earlier)


def test_after_drawing_many_cards_the_page_says_that_the_last_one_fits(
    as_alice: Client, alice: User, bob: User
) -> None:
    position = {**TWO_HANDS, "hands": [["g5", "b1", "b2"], ["r4", "g3"]], "draw_pile": ["y8", "b6", "r5"]}
    table = table_at(position, [alice, bob])
    assert "3 cards, 0 playable" in page_of(as_alice, table).text
    post(as_alice, table, "draw")
    assert "You drew 3; the last one fits and must be played." in page_of(as_alice, table).text
