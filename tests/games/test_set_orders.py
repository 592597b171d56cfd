"""Test how players set and read their standing orders, through the API and on the page, and that nobody else can."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from django.test import Client

from accounts.models import User
from games.actions import lobby
from games.actions.rematch import ask_rematch
from games.models import Game, Seat
from games.models.orders import Orders, parse_orders
from games.queries import Table, Viewer
from games.rules import options_from
from tests.conftest import api_token, logged_in
from tests.support.game_page import GamePage
from tests.support.pages import open_table, text_of, words_of
from tests.support.tables import NOON, TWO_HANDS, table_at

pytestmark = pytest.mark.django_db

POSITION = {**TWO_HANDS, "hands": [["r5", "b1", "b2"], ["r4", "g3", "W"], ["y1", "y2"]], "draw_pile": ["b5", "g7"]}
UNSET: dict[str, Any] = {
    "intercept": "never", "keep": [], "call_uno": True, "forced": False, "stack": "ask", "first": [],
    "then_draw": False, "stop": ["one_card", "hand_changed"], "ended": "",
}  # fmt: skip
CHANGED = {
    "intercept": "face", "keep": ["r7", "g0"], "call_uno": False, "forced": True, "stack": "lowest",
    "first": [{"card": "r5"}, {"card": "W", "color": "g"}, {"card": "r7", "target": 1}], "then_draw": True,
    "stop": ["one_card"],
}  # fmt: skip
SET = {**UNSET, **CHANGED}
ANOTHER = "the seat of another player, after the deal"
BEFORE = {"intercept": "face", "keep": ["r7", "g0"], "call_uno": False}
"""Orders that fit before the deal, as they are stored."""


@pytest.fixture
def table(alice: User, bob: User, charlie: User) -> Table:
    return table_at(POSITION, [alice, bob, charlie], preset="house-party")


def program(user: User) -> Client:
    return Client(headers={"authorization": f"Bearer {api_token(user)}"})


def put(user: User, table: Table, body: Any) -> Any:
    data = body if isinstance(body, str) else json.dumps(body)
    return program(user).put(f"/api/v1/games/{table.game.code}/orders", data, content_type="application/json")


def get(user: User, table: Table) -> Any:
    return program(user).get(f"/api/v1/games/{table.game.code}/orders")


def view(user: User, table: Table) -> Any:
    return program(user).get(f"/api/v1/games/{table.game.code}").json()


def page_of(table: Table, reader: User | None) -> GamePage:
    return GamePage.of(logged_in(reader) if reader else Client(), table.game, "?orders=1")


def boxes(page: GamePage, name: str) -> list[tuple[str, bool]]:
    """Return the values of the form's boxes with this name, and which are checked."""
    return [(box.get("value", ""), "checked" in box.attrib) for box in page.all("input", name=name)]


def refused(response: Any) -> tuple[int, str]:
    return response.status_code, response.json()["error"]


def test_orders_are_read_as_they_were_set_by_their_owner_alone(table: Table, alice: User, bob: User) -> None:
    assert get(alice, table).json() == UNSET
    for _ in range(2):
        response = put(alice, table, CHANGED)
        assert (response.status_code, response.json()) == (200, SET)
    assert get(alice, table).json() == SET
    assert program(alice).head(f"/api/v1/games/{table.game.code}/orders").status_code == 200
    assert (view(alice, table)["orders"], view(bob, table)["orders"]) == (SET, UNSET)
    assert view(alice, table)["version"] == 0  # no line of the log
    assert "orders" not in program(alice).get("/api/v1/games", {"mine": "1"}).json()["items"][0]
    assert put(alice, table, {}).json() == UNSET
    assert put(alice, table, UNSET).json() == UNSET  # a program changes what it has read


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ({"intercept": "always"}, "intercept: Input should be 'never', 'card' or 'face'."),
        ({"intercept": 1}, "intercept: Input should be 'never', 'card' or 'face'."),
        ({"keep": "r5"}, "keep: Input should be a valid list."),
        ({"keep": [5]}, "keep.0: Input should be a valid string."),
        ({"call_uno": 1}, "call_uno: Input should be a valid boolean."),
        ({"keep": ["r5"] * 1000}, "keep: List should have at most 500 items after validation, not 1000."),
        ({"keep": ["r5"] * 100}, "Keep at most 55 cards: this deck has no more different ones."),
        ({"stack": "all"}, "stack: Input should be 'ask', 'take', 'lowest' or 'highest'."),
        ({"forced": 1}, "forced: Input should be a valid boolean."),
        ({"stop": ["night"]}, "stop.0: Input should be 'one_card' or 'hand_changed'."),
        ({"first": [{"card": "r5"}] * 11}, "first: List should have at most 10 items after validation, not 11."),
        ({"first": [{}]}, "first.0.card: Field required."),
        ({"first": [{"card": "r5"}, {"card": "rE"}]}, "first.1.card: 'rE' is not a card of this table’s deck."),
        ({"first": [{"card": "r5", "color": "g"}]}, "first.0.color: r5 is played without a colour."),
        ({"first": [{"card": "W", "color": "o"}]}, "first.0.color: W takes one of r, y, g, b."),
        ({"first": [{"card": "r5", "target": 1}]}, "first.0.target: r5 swaps with nobody."),
        *(({"first": [{"card": "r7", "target": n}]}, f"first.0.target: r7 swaps with {ANOTHER}.") for n in (0, 3, -1)),
        ({"keep": ["r5", "rE"]}, "'rE' is not a card of this table’s deck: leave it out of keep."),
        ({"keep": ["o5"]}, "'o5' is not a card of this table’s deck: leave it out of keep."),
        ({"keep": ["r5/o2"]}, "'r5/o2' is not a card of this table’s deck: leave it out of keep."),
        ({"else": 1}, "else: Extra inputs are not permitted."),
        ([], "The body: Input should be a valid dictionary or object to extract fields from."),
        ("{", "The body is not valid JSON in UTF-8."),
    ],
)
def test_wrong_orders_are_malformed_and_change_nothing(table: Table, alice: User, body: Any, says: str) -> None:
    put(alice, table, CHANGED)
    response = put(alice, table, body)
    assert (*refused(response), response.json()["message"]) == (400, "malformed", says)
    assert get(alice, table).json() == SET


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"intercept": ["card"]}, "Set intercept to never, card or face."),
        ({"call_uno": 1}, "Set call_uno to true or false."),
        ({"keep": "r5"}, 'Set keep to a list of cards, like ["r7", "g0"].'),
        ({"keep": [5]}, 'Set keep to a list of cards, like ["r7", "g0"].'),
        ({"stack": ["take"]}, "Set stack to ask, take, lowest or highest."),
        ({"forced": "on"}, "Set forced to true or false."),
        ({"stop": "one_card"}, "Set stop to a list with any of one_card and hand_changed."),
        ({"first": ["r7"]}, 'Set first to a list of cards to play, like [{"card": "r7"}].'),
        ({"first": [{"card": 7}]}, "first.0.card: '7' is not a card of this table’s deck."),
        ({"first": [{"card": "r7"}] * 11}, "first: name at most 10 cards."),
        ({"first": [{"card": "r7", "uno": True}]}, "first.0: 'uno' is no field of a card to play"),
        (
            {"other": 1},
            "Orders have no field 'other': send intercept, keep, call_uno, forced, stack, first, then_draw and stop.",
        ),
    ],
)
def test_the_parser_says_what_to_change(fields: dict[str, object], says: str) -> None:
    with pytest.raises(ValueError, match=re.escape(says)):
        parse_orders(fields, options_from("house-party", {}))


def test_a_card_is_kept_once_and_both_sides_of_flip_can_be_kept() -> None:
    orders = parse_orders({"keep": ["o5", "r5", "o5"]}, options_from("flip", {"interceptions": "super"}))
    assert orders == Orders(keep=("o5", "r5"))


def test_only_a_seated_player_has_orders(table: Table, alice: User) -> None:
    outsider = User.objects.create_user(username="eve", email="eve@example.org", password="eve")
    assert refused(put(outsider, table, CHANGED)) == (403, "not_seated")
    assert refused(get(outsider, table)) == (403, "not_seated")
    Game.objects.filter(pk=table.game.pk).update(is_public=False)
    assert refused(get(outsider, table)) == (404, "not_found")
    assert view(alice, table)["orders"] == UNSET


def test_a_live_table_has_no_standing_orders_and_says_so(alice: User, bob: User) -> None:
    says = "This table is live: play yourself. Standing orders are for slower paces."
    table = table_at(
        {**POSITION, "hands": [["r5", "b1"], ["r4", "g3"]]}, [alice, bob], preset="house-party", pace="live"
    )
    for response in (put(alice, table, CHANGED), get(alice, table)):
        assert (*refused(response), response.json()["message"]) == (403, "forbidden", says)
    assert "orders" not in view(alice, table)
    assert "Standing orders" not in page_of(table, alice).text


@pytest.fixture
def waiting(alice: User) -> Table:
    """Return a table of Alice with two free seats, whose options use orders."""
    options = lobby.TableChoices(preset="house-party", players=3, target=500)
    return lobby.create_table(user=alice, choices=options, now=NOON)


def test_orders_can_be_set_before_the_start(waiting: Table, alice: User, bob: User, charlie: User) -> None:
    assert put(alice, waiting, BEFORE).status_code == 200
    for user in (bob, charlie):
        lobby.join(code=waiting.game.code, viewer=Viewer(user), now=NOON)
    assert (get(alice, waiting).json(), get(bob, waiting).json()) == ({**UNSET, **BEFORE}, UNSET)


def test_the_page_of_a_table_that_waits_for_players_has_the_form(waiting: Table, alice: User, bob: User) -> None:
    browser, url = logged_in(alice), waiting.game.get_absolute_url()
    page = text_of(browser.get(url))
    assert "No standing order set" in page
    assert "Once the cards are dealt, you can also choose cards here" in page
    assert "Others can play out of turn here. Leave orders, and you do so too." in page
    answer = browser.post(f"{url}orders/", {"intercept": "face", "call_uno": "1"})
    assert (answer.status_code, answer["Location"]) == (303, url)
    assert get(alice, waiting).json() == {**UNSET, "intercept": "face", "stop": []}
    assert "Standing order: play the same face in any colour" in text_of(browser.get(url))
    refusal = browser.post(f"{url}orders/", {"intercept": "all"})
    assert (refusal.status_code, "Choose them again." in text_of(refusal)) == (400, True)
    for reader in (bob, None):
        assert "Standing orders" not in page_of(waiting, reader).text
    Game.objects.filter(pk=waiting.game.pk).update(status=Game.Status.VOID, finished_at=NOON)
    assert "Standing orders" not in text_of(browser.get(url))
    assert refused(put(alice, waiting, BEFORE)) == (409, "over")


def test_where_nobody_can_intercept_the_form_is_only_about_the_own_turn(alice: User, bob: User) -> None:
    table = table_at(TWO_HANDS, [alice, bob])
    page = page_of(table, alice)
    assert (boxes(page, "intercept"), boxes(page, "keep")) == ([], [])
    assert boxes(page, "stack")[0] == ("ask", True)
    refusal = put(alice, table, {"intercept": "card"})
    says = "Nobody can intercept cards at this table: set intercept to never."
    assert (*refused(refusal), refusal.json()["message"]) == (400, "malformed", says)


def test_a_live_table_that_waits_has_no_form(alice: User) -> None:
    page = logged_in(alice).get(open_table(alice, players=3, preset="house-party", pace="live").get_absolute_url())
    assert (page.status_code, "orders-form" in page.content.decode()) == (200, False)


def test_the_form_stays_until_the_next_deal(alice: User, bob: User) -> None:
    over = {**POSITION, "hands": [[], ["r4", "g3"]], "phase": "over", "winner": 0, "points": [0, 7]}
    table = table_at(over, [alice, bob], preset="house-party", target=500)
    assert "No standing order set" in page_of(table, bob).text
    logged_in(bob).post(f"{table.game.get_absolute_url()}orders/", {"intercept": "card"})
    assert get(bob, table).json()["intercept"] == "card"


def test_a_free_seat_between_players_mixes_no_orders_up(waiting: Table, alice: User, bob: User, charlie: User) -> None:
    """Alice has seat 0 and Charlie seat 2, because Bob has left seat 1."""
    Game.objects.filter(pk=waiting.game.pk).update(players=4)
    for user in (bob, charlie):
        lobby.join(code=waiting.game.code, viewer=Viewer(user), now=NOON)
    put(charlie, waiting, BEFORE)
    lobby.leave_table(code=waiting.game.code, viewer=Viewer(bob), now=NOON)
    assert page_of(waiting, charlie).status == 200
    assert (get(charlie, waiting).json(), get(alice, waiting).json()) == ({**UNSET, **BEFORE}, UNSET)
    again = {**BEFORE, "intercept": "card"}
    assert put(charlie, waiting, again).json() == {**UNSET, **again}
    orders = Seat.objects.filter(game=waiting.game).order_by("index").values_list("orders", flat=True)
    assert list(orders) == [None, again]


def test_orders_end_with_the_game_and_with_leaving(table: Table, alice: User) -> None:
    Seat.objects.filter(game=table.game, user=alice).update(left=True)
    assert refused(put(alice, table, CHANGED)) == (403, "forbidden")
    Seat.objects.filter(game=table.game, user=alice).update(left=False)
    Game.objects.filter(pk=table.game.pk).update(status=Game.Status.OVER)
    assert refused(put(alice, table, CHANGED)) == (409, "over")
    assert get(alice, table).status_code == 200


def test_a_rematch_starts_without_orders(table: Table, alice: User) -> None:
    put(alice, table, CHANGED)
    Game.objects.filter(pk=table.game.pk).update(status=Game.Status.OVER)
    again = ask_rematch(code=table.game.code, viewer=Viewer(alice), now=NOON)
    assert again.game.pk != table.game.pk
    assert get(alice, again).json() == UNSET


def answers(table: Table, reader: Client, visitor: Client) -> list[bytes]:
    """Return what everybody but the owner of the orders is answered about a table, without what changes by itself."""
    code = table.game.code
    paths = [f"/games/{code}/", f"/games/{code}/log/", f"/games/{code}/resign/"]
    calls = ["", "/moves", "/clock"]
    bodies = [browser.get(path).content for path in paths for browser in (reader, visitor)]
    bodies += [reader.get(f"/api/v1/games/{code}{call}").content for call in calls]
    once = rb'name="(csrfmiddlewaretoken|token)" value="[^"]*"|nonce="[^"]*"|"csrf[^}]*}'
    return [re.sub(once, b"", body) for body in bodies]


def test_no_answer_to_others_depends_on_a_player_s_orders(table: Table, alice: User, bob: User) -> None:
    reader, visitor = logged_in(bob), Client()
    before = answers(table, reader, visitor)
    put(alice, table, {"intercept": "face", "keep": ["b8"], "call_uno": False})
    assert answers(table, reader, visitor) == before


def test_the_form_shows_the_orders_and_saves_them(table: Table, alice: User) -> None:
    browser = logged_in(alice)
    page = GamePage.of(browser, table.game, "?orders=1")
    assert "No standing order set" in page.text
    assert ("never", True) in boxes(page, "intercept")
    assert boxes(page, "keep") == [("r5", False), ("b1", False), ("b2", False)]
    fields = {"intercept": "face", "keep": ["r5", "b2"], "call_uno": "1", "stop": ["one_card", "hand_changed"]}
    for _ in range(2):
        answer = browser.post(f"/games/{table.game.code}/orders/", fields)
        assert (answer.status_code, answer["Location"]) == (303, table.game.get_absolute_url())
    assert get(alice, table).json() == {**UNSET, "intercept": "face", "keep": ["r5", "b2"]}
    shown = GamePage.of(browser, table.game, "?orders=1")
    assert "Standing order: play the same face in any colour" in shown.text
    assert [shown.chosen(name) for name in fields] == [["face"], ["r5", "b2"], ["1"], ["one_card", "hand_changed"]]


def test_the_first_screen_leads_to_the_form(table: Table, alice: User, bob: User) -> None:
    def link(game: Game) -> list[str]:
        page = GamePage.of(logged_in(alice), game)
        assert not page.has(id="orders-form")
        links = page.has(id="to-orders") + page.has(id="change-orders")
        assert len(page.links_to(f"{game.get_absolute_url()}?orders=1#orders-form")) == links
        return [words_of(link) for link in page.all("a", id="to-orders")]

    assert link(table.game) == ["No standing order set"]
    put(alice, table, {"intercept": "face"})
    assert link(table.game) == ["Standing order: play the same face in any colour"]
    with_bot = table_at(POSITION, [alice, bob, "careful"], preset="house-party").game
    assert link(with_bot) == ["Want to jump in while away? Set a standing order."]
    Game.objects.filter(pk=with_bot.pk).update(version=6)
    assert link(with_bot) == ["No standing order set"]
    assert link(table_at(POSITION, [alice, bob, "careful"], preset="house-party", pace="live").game) == []
    plain = table_at(TWO_HANDS, [alice, bob])
    assert link(plain.game) == []
    put(alice, plain, {"forced": True})
    assert link(plain.game) == ["Standing orders set"]


def test_the_form_has_kept_cards_that_are_not_in_the_hand_and_no_wilds(table: Table, alice: User, bob: User) -> None:
    put(bob, table, {"keep": ["y9"]})
    assert boxes(page_of(table, bob), "keep") == [("r4", False), ("y9", True), ("g3", False)]


def test_where_only_the_same_card_intercepts_the_form_offers_no_face(alice: User, bob: User) -> None:
    options = {"interceptions": "exact"}
    position = {**POSITION, "hands": [["r5", "b1"], ["r4", "g3"]]}
    table = table_at(position, [alice, bob], preset="classic", options=options)
    put(alice, table, {"intercept": "face"})
    assert boxes(page_of(table, alice), "intercept") == [("never", False), ("card", True)]


def test_the_page_shows_why_a_form_is_refused(table: Table, alice: User) -> None:
    browser = logged_in(alice)
    answer = browser.post(f"/games/{table.game.code}/orders/", {"intercept": "face", "keep": ["rE"]})
    assert answer.status_code == 400
    assert "These standing orders do not fit this table. Choose them again." in text_of(answer)
    assert get(alice, table).json() == UNSET
    assert "Standing orders" not in page_of(table, None).text
    anonymous = Client().post(f"/games/{table.game.code}/orders/", {"intercept": "card"})
    assert (anonymous.status_code, "/accounts/login/" in anonymous["Location"]) == (302, True)
