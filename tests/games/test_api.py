"""The API over HTTP: fields, statuses and codes as in docs/api.md."""

from __future__ import annotations

import json
import re
from dataclasses import fields
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import OperationalError
from django.test import Client
from django.utils import timezone
from psycopg.errors import LockNotAvailable

from accounts.models import User
from games import rules
from games.actions import lobby, play
from games.api.schemas import NewGame
from games.models import Game, Hand, Seat
from games.queries import lists
from games.staff import tables
from tests.conftest import api_token
from tests.support.races import STRAIGHT
from tests.support.tables import TWO_HANDS, now_of, table_at

pytestmark = pytest.mark.django_db

VIEW = {
    "id", "version", "status", "preset", "programs", "options", "target", "round", "deal", "you", "hand", "turn",
    "phase", "direction", "top", "color", "pending", "drawn", "draw_pile", "discard_pile", "seats", "callouts", "legal",
    "deadline", "paused", "hands", "winner", "points", "commitment",
}  # fmt: skip


class Program:
    """A client with a token."""

    def __init__(self, user: User) -> None:
        self.client = Client(headers={"authorization": f"Bearer {api_token(user)}"})

    def get(self, path: str, **query: Any) -> Any:
        return self.client.get(f"/api/v1/{path}", query)

    def post(self, path: str, body: Any = None) -> Any:
        data = body if isinstance(body, str) else json.dumps(body)
        return self.client.post(f"/api/v1/{path}", data, content_type="application/json")


@pytest.fixture
def a(alice: User) -> Program:
    return Program(alice)


@pytest.fixture
def b(bob: User) -> Program:
    return Program(bob)


def test_me_returns_the_callers_account(a: Program, alice: User) -> None:
    me = a.get("me").json()
    assert (me["username"], me["guest"], me["waiting"]) == (alice.username, False, 0)


@pytest.mark.parametrize("path", ["me", "games", "games/abc", "games/abc/moves", "games/abc/record"])
def test_authentication_is_checked_first(path: str) -> None:
    response = Client().get(f"/api/v1/{path}")
    assert (response.status_code, response.json()["error"]) == (401, "unauthorized")


@pytest.mark.parametrize("header", ["Bearer nonsense", "Bearer ", "Basic YTpi", "nonsense"])
def test_a_wrong_token_is_unauthorized(header: str) -> None:
    assert Client(headers={"authorization": header}).get("/api/v1/me").status_code == 401


def test_creating_a_table_returns_201_and_the_whole_view(a: Program) -> None:
    response = a.post("games", {"players": 4, "bots": 3, "bot_pause": 0.0})
    assert response.status_code == 201
    view = response.json()
    assert set(view) == VIEW
    assert (view["status"], view["you"], view["version"], view["round"]) == ("playing", 0, 0, 1)
    assert len(view["hand"]) == 7
    assert set(view["seats"][0]) == {
        "seat", "name", "program", "bot", "bot_for_owner", "cards", "uno", "exposed", "out", "score",
    }  # fmt: skip
    assert "target" not in view["options"]
    assert view["hands"] is None


def test_an_open_table_has_no_cards(a: Program) -> None:
    view = a.post("games", {"players": 3}).json()
    assert set(view) == VIEW
    assert (view["status"], view["hand"], view["legal"], view["turn"]) == ("open", None, [], None)


@pytest.mark.parametrize(
    "body",
    [
        "nonsense",
        "[]",
        '{"players": "4"}',
        {"players": 9},
        {"player": 4},
        {"bot_pause": 11},
        {"options": {"mercy_limit": True}},
        {"options": {"target": 10}},
        {"preset": "poker"},
        {"target": -1},
        {"bots": 10**30},
    ],
)
def test_malformed_table_options_are_400(a: Program, body: Any) -> None:
    response = a.post("games", body)
    assert (response.status_code, response.json()["error"]) == (400, "malformed")
    assert not Game.objects.exists()


def private_table(a: Program, **fields: Any) -> Game:
    return Game.objects.get(code=a.post("games", {"public": False, **fields}).json()["id"])


def test_a_program_sits_down_by_an_invitation_link(a: Program, b: Program) -> None:
    game = private_table(a, players=3)
    assert b.post(f"games/{game.code}/join").status_code == 404
    view = b.post(f"join/{game.invite_key}").json()
    assert (view["id"], view["you"], view["status"]) == (game.code, 1, "open")
    again = b.post(f"join/{game.invite_key}")
    assert (again.status_code, again.json()["error"]) == (409, "already_seated")
    assert b.get(f"games/{game.code}").json()["you"] == 1


@pytest.mark.parametrize("key", ["nothere", "-", "a" * 200])
def test_a_wrong_link_is_not_found(b: Program, key: str) -> None:
    answer = b.post(f"join/{key}")
    assert (answer.status_code, answer.json()["error"]) == (404, "not_found")


def test_a_link_does_not_bring_back_whom_staff_removed(a: Program, b: Program, bob: User, ann: User) -> None:
    game = private_table(a, players=3)
    b.post(f"join/{game.invite_key}")
    tables.remove(game_id=game.pk, by=ann, seat=1, bot=None, reason="Sends links to all.", now=timezone.now())
    assert b.post(f"join/{game.invite_key}").status_code == 404
    game.refresh_from_db()
    assert b.post(f"join/{game.invite_key}").status_code == 404
    assert bob.username not in str(a.get(f"games/{game.code}").json()["seats"])


def test_the_host_seats_bots(a: Program, b: Program) -> None:
    code = a.post("games", {"players": 3}).json()["id"]
    assert b.post(f"games/{code}/bots").json()["error"] == "not_seated"
    unknown = a.post(f"games/{code}/bots", {"bot": "perfect"})
    assert (unknown.status_code, unknown.json()["error"]) == (400, "malformed")
    assert [seat["bot"] for seat in a.post(f"games/{code}/bots", {"bot": "sharp"}).json()["seats"]] == [False, True]
    assert list(Seat.objects.filter(game__code=code).order_by("index").values_list("bot", flat=True)) == ["", "sharp"]
    started = a.post(f"games/{code}/bots")
    assert (started.status_code, started.json()["status"]) == (200, "playing")
    assert a.post(f"games/{code}/bots").json()["error"] == "already_started"


@pytest.mark.long
def test_a_rematch_is_made_once_and_joined_by_the_others(a: Program, b: Program, alice: User, bob: User) -> None:
    code = table_at(TWO_HANDS, [alice, bob]).game.code
    too_early = a.post(f"games/{code}/rematch")
    assert (too_early.status_code, too_early.json()["error"]) == (403, "forbidden")
    a.post(f"games/{code}/moves", {"move": "leave"})
    made = a.post(f"games/{code}/rematch").json()
    assert (made["status"], made["you"], len(made["seats"])) == ("open", 0, 1)
    assert a.post(f"games/{code}/rematch").json()["id"] == made["id"]
    joined = b.post(f"games/{code}/rematch").json()
    assert (joined["id"], joined["you"], joined["status"]) == (made["id"], 1, "playing")


@pytest.mark.parametrize("call", ["join", "leave", "start", "pause", "resume", "take-back", "rematch"])
@pytest.mark.parametrize("body", ['{"x": 1}', "[]", '"s"', "{nonsense"])
def test_calls_without_fields_refuse_a_body(a: Program, alice: User, bob: User, call: str, body: str) -> None:
    code = table_at(TWO_HANDS, [alice, bob], is_public=False).game.code
    for program in (a, Program(bob)):
        answer = program.post(f"games/{code}/{call}", body)
        assert (answer.status_code, answer.json()["error"]) == (400, "malformed")


@pytest.mark.parametrize("body", ["", "{}", "null"])
def test_a_call_without_a_body_accepts_null_or_an_empty_object(a: Program, body: str) -> None:
    code = a.post("games", {"players": 3}).json()["id"]
    assert a.post(f"games/{code}/leave", body).status_code == 200


@pytest.mark.parametrize("call", ["moves", "join", "leave", "start"])
def test_a_finished_game_is_refused_with_end_1(a: Program, alice: User, bob: User, call: str) -> None:
    code = table_at(TWO_HANDS, [alice, bob]).game.code
    assert a.post(f"games/{code}/moves", {"move": "leave"}).json()["status"] == "over"
    answer = a.post(f"games/{code}/{call}", {"move": "draw", "version": 0} if call == "moves" else {})
    assert (answer.status_code, answer.json()["error"], answer.json()["rule"]) == (409, "over", "END-1")


def test_a_move_returns_the_new_view(a: Program, alice: User, bob: User) -> None:
    table = table_at(TWO_HANDS, [alice, bob])
    response = a.post(f"games/{table.game.code}/moves", {"move": "play r5", "version": 0, "token": "t"})
    assert response.status_code == 200
    view = response.json()
    assert (view["version"], view["top"], view["turn"], view["hand"]) == (1, "r5", 1, ["b1", "b2"])
    again = a.post(f"games/{table.game.code}/moves", {"move": "play r5", "version": 0, "token": "t"})
    assert (again.status_code, again.json()["version"]) == (200, 1)


@pytest.mark.parametrize(
    ("body", "status", "error", "rule"),
    [
        ({"move": "play b1", "version": 0}, 422, "not_matching", "TURN-2"),
        ({"move": "play r5", "version": 3}, 409, "stale", None),
        ({"move": "play r5"}, 400, "malformed", None),
        ({"move": "play  r5", "version": 0}, 400, "malformed", None),
        ({"move": "play r5", "version": 0, "seat": 1}, 400, "malformed", None),
        ({"move": "play r5", "version": 0, "token": ""}, 400, "malformed", None),
        ({"move": "play r5", "version": 0, "token": "x" * 65}, 400, "malformed", None),
        ({"move": "play r5", "version": 0, "token": "a\nb"}, 400, "malformed", None),
        ({"move": 5, "version": 0}, 400, "malformed", None),
        ({"move": "x" * 60_000, "version": 0}, 400, "malformed", None),
        ({"move": "play r5\u0000", "version": 0}, 400, "malformed", None),
        ({"move": "take", "version": 0}, 422, "nothing_to_take", "STACK-3"),
    ],
)
def test_a_refused_move_gives_the_reason(
    a: Program, alice: User, bob: User, body: dict[str, Any], status: int, error: str, rule: str | None
) -> None:
    table = table_at(TWO_HANDS, [alice, bob])
    response = a.post(f"games/{table.game.code}/moves", body)
    assert response.status_code == status
    answer = response.json()
    assert (answer["error"], answer["rule"]) == (error, rule)
    assert answer["message"].endswith((".", "?"))
    assert set(answer) == {"error", "message", "rule", "version"} | ({"view"} if error == "stale" else set())


def test_a_stale_move_gets_the_view_as_it_is_now(a: Program, alice: User, bob: User) -> None:
    code = table_at(TWO_HANDS, [alice, bob]).game.code
    a.post(f"games/{code}/moves", {"move": "play r5", "version": 0})
    answer = a.post(f"games/{code}/moves", {"move": "play r5", "version": 0}).json()
    assert answer["error"] == "stale"
    assert answer["view"] == a.get(f"games/{code}").json()
    assert answer["view"]["version"] == answer["version"] == 1


def test_a_view_that_is_known_is_not_sent_again(a: Program, alice: User, bob: User) -> None:
    code = table_at(TWO_HANDS, [alice, bob]).game.code
    tag = a.get(f"games/{code}").headers["ETag"]
    for known, status in ((tag, 304), ('"another"', 200)):
        answer = a.client.get(f"/api/v1/games/{code}", headers={"if-none-match": known})
        assert (answer.status_code, answer.headers["ETag"]) == (status, tag)
        assert bool(answer.content) is (status == 200)
    a.post(f"games/{code}/moves", {"move": "play r5", "version": 0})
    answer = a.client.get(f"/api/v1/games/{code}", headers={"if-none-match": tag})
    assert (answer.status_code, answer.json()["version"]) == (200, 1)


def test_the_view_says_who_can_be_caught_and_until_when(a: Program, alice: User, bob: User) -> None:
    hands = [["r5", "b1"], ["g4", "g5"]]
    code = table_at({**TWO_HANDS, "hands": hands, "discard_pile": ["r3"]}, [alice, bob]).game.code
    assert a.get(f"games/{code}").json()["callouts"] == []
    view = a.post(f"games/{code}/moves", {"move": "play r5", "version": 0}).json()
    (callout,) = view["callouts"]
    until = Hand.objects.get(callout_until__isnull=False).callout_until
    assert until is not None
    shown = datetime.fromisoformat(callout["until"])  # in whole milliseconds
    assert (callout["seat"], until - timedelta(milliseconds=1) < shown <= until) == (0, True)


def test_the_view_says_why_the_game_stands_still_and_who_has_a_bot(a: Program, alice: User, bob: User) -> None:
    table = table_at(TWO_HANDS, [alice, bob])
    assert a.get(f"games/{table.game.code}").json()["paused"] == []
    Seat.objects.filter(game=table.game, index=1).update(bot="careful")
    Game.objects.filter(pk=table.game.pk).update(paused_at=timezone.now(), paused_reasons=["staff"])
    view = a.get(f"games/{table.game.code}").json()
    assert view["paused"] == a.get(f"games/{table.game.code}/clock").json()["paused"] == ["staff"]
    assert [seat["bot_for_owner"] for seat in view["seats"]] == [False, True]


def test_a_straight_is_sent_with_its_first_card(a: Program, alice: User, bob: User) -> None:
    table = table_at({**STRAIGHT, "hands": STRAIGHT["hands"][:2]}, [alice, bob], preset="house-party")
    body = {"move": "play r4", "then": ["play r5", "play r6 uno"], "version": 0, "token": "once"}
    answers = [a.post(f"games/{table.game.code}/moves", body) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [200, 200]
    assert [(answer.json()["version"], answer.json()["hand"]) for answer in answers] == [(3, ["b9"])] * 2


@pytest.mark.parametrize(
    ("then", "status", "error", "rule"),
    [
        ("play r5", 400, "malformed", None),
        (None, 400, "malformed", None),
        ({}, 400, "malformed", None),
        ([["play r5"]], 400, "malformed", None),
        ([5], 400, "malformed", None),
        (["draw"], 400, "malformed", None),
        (["play"], 400, "malformed", None),
        (["play r5" + " " * 60], 400, "malformed", None),
        (["play r5"] * 21, 400, "malformed", None),
        (["play r5", "play b9"], 422, "not_your_turn", "TURN-1"),
        (["play r5", "play q9"], 400, "malformed", None),
    ],
)
def test_a_refused_straight_gives_the_reason(
    a: Program, alice: User, bob: User, then: Any, status: int, error: str, rule: str | None
) -> None:
    table = table_at({**STRAIGHT, "hands": STRAIGHT["hands"][:2]}, [alice, bob], preset="house-party")
    response = a.post(f"games/{table.game.code}/moves", {"move": "play r4", "then": then, "version": 0})
    answer = response.json()
    assert (response.status_code, answer["error"], answer["rule"]) == (status, error, rule)
    assert answer["message"].endswith(".")
    assert set(answer) == {"error", "message", "rule", "version"} | ({"view"} if error == "stale" else set())
    assert now_of(table).game.version == 0


def test_a_spectator_sees_no_hand_and_cannot_move(alice: User, bob: User, charlie: User) -> None:
    table = table_at(TWO_HANDS, [alice, bob])
    c = Program(charlie)
    view = c.get(f"games/{table.game.code}").json()
    assert (view["you"], view["hand"], view["legal"], view["drawn"]) == (None, None, [], None)
    response = c.post(f"games/{table.game.code}/moves", {"move": "draw", "version": 0})
    assert (response.status_code, response.json()["error"]) == (403, "not_seated")


def test_a_private_table_is_not_found_by_others(alice: User, bob: User, charlie: User) -> None:
    table = table_at(TWO_HANDS, [alice, bob], is_public=False)
    c = Program(charlie)
    for response in (
        c.get(f"games/{table.game.code}"),
        c.get(f"games/{table.game.code}/moves"),
        c.post(f"games/{table.game.code}/join"),
        c.post(f"games/{table.game.code}/moves", {"move": "draw", "version": 0}),
    ):
        assert (response.status_code, response.json()["error"]) == (404, "not_found")


def test_the_list_of_public_tables_is_bounded(
    a: Program, alice: User, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lists, "PUBLIC_LISTED", 4)
    being_played = table_at(TWO_HANDS, [alice, bob]).game.code
    now = timezone.now()
    waiting = Game.objects.bulk_create(Game(host=bob, players=3, created_at=now) for _ in range(2))
    newest_first = [game.code for game in reversed(waiting)]
    found = a.get("games").json()
    assert ([item["id"] for item in found["items"]], found["count"]) == ([*newest_first, being_played], 3)
    Game.objects.bulk_create(Game(host=bob, players=3, created_at=now) for _ in range(3))
    assert [len(a.get("games", offset=n, limit=3).json()["items"]) for n in (0, 3, 4, 1_000_000)] == [3, 1, 0, 0]
    assert a.get("games").json()["count"] == 4


def all_public(a: Program, limit: int) -> list[list[str]]:
    """Return the codes of all public tables, by page."""
    pages, after = list[list[str]](), dict[str, str]()
    while True:
        found = a.get("games", limit=limit, **after).json()
        pages.append([item["id"] for item in found["items"]])
        if "next" not in found:
            return pages
        after = {"after": found["next"]}


@pytest.mark.long
@pytest.mark.parametrize("limit", [2, 3, 4, 100])
def test_the_list_of_public_tables_can_be_read_to_its_end(
    a: Program, alice: User, bob: User, monkeypatch: pytest.MonkeyPatch, limit: int
) -> None:
    monkeypatch.setattr(lists, "PUBLIC_LISTED", 4)
    playing = [table_at(TWO_HANDS, [alice, bob]).game.code for _ in range(5)]
    now = timezone.now()
    waiting = Game.objects.bulk_create(Game(host=bob, players=3, created_at=now) for _ in range(6))
    pages = all_public(a, limit)
    listed = [code for page in pages for code in page]
    assert listed == [*(game.code for game in reversed(waiting)), *reversed(playing)]
    assert max(map(len, pages)) == min(limit, 4)
    assert "next" not in a.get("games", mine=1).json()


def test_a_table_that_starts_or_goes_between_two_pages_changes_no_place(a: Program, bob: User) -> None:
    now = timezone.now()
    codes = [game.code for game in Game.objects.bulk_create(Game(host=bob, players=3, created_at=now) for _ in "abcd")]
    first = a.get("games", limit=2).json()
    assert [item["id"] for item in first["items"]] == codes[:1:-1]
    Game.objects.filter(code=codes[3]).delete()
    Game.objects.filter(code=codes[2]).update(status=Game.Status.PLAYING)
    second = a.get("games", limit=2, after=first["next"]).json()
    assert ([item["id"] for item in second["items"]], second["count"]) == (codes[1::-1], 2)


@pytest.mark.parametrize("query", [{"after": "x"}, {"after": "void-1-1"}, {"after": "open-1-1", "mine": 1}])
def test_a_place_that_no_answer_named_is_400(a: Program, query: dict[str, Any]) -> None:
    assert a.get("games", **query).json()["error"] == "malformed"


@pytest.mark.parametrize("scope", [{"mine": 1}, {}])
def test_lists_can_be_filtered_by_status(a: Program, alice: User, bob: User, scope: dict[str, int]) -> None:
    playing = table_at(TWO_HANDS, [alice, bob], is_public=True).game.code
    waiting = a.post("games", {"players": 3, "public": True}).json()["id"]

    def listed(**query: Any) -> list[str]:
        answer = a.get("games", **scope, **query).json()
        assert answer["count"] == len(answer["items"])
        assert "next" not in answer or not query
        return [item["id"] for item in answer["items"]]

    assert sorted(listed()) == sorted([playing, waiting])
    assert (listed(status="open"), listed(status="playing"), listed(status="over")) == ([waiting], [playing], [])
    assert a.get("games", **scope, status="lost").json()["error"] == "malformed"


def test_my_games_are_listed_most_urgent_first(a: Program, alice: User, bob: User) -> None:
    waiting_for_bob = table_at({**TWO_HANDS, "turn": 1}, [alice, bob])
    waiting_for_me = table_at(TWO_HANDS, [alice, bob])
    mine = a.get("games", mine=1).json()
    assert [item["id"] for item in mine["items"]] == [waiting_for_me.game.code, waiting_for_bob.game.code]
    assert mine["count"] == 2
    assert set(mine["items"][0]) == VIEW - {"hand", "legal"}
    turn = a.get("games", mine=1, turn=1).json()
    assert [item["id"] for item in turn["items"]] == [waiting_for_me.game.code]
    assert a.get("games", mine=1, limit=1, offset=1).json()["items"][0]["id"] == waiting_for_bob.game.code


@pytest.mark.parametrize("query", [{"limit": 101}, {"limit": 0}, {"offset": -1}, {"mine": "perhaps"}])
def test_malformed_list_parameters_are_400(a: Program, query: dict[str, Any]) -> None:
    assert a.get("games", **query).status_code == 400


def test_each_viewer_gets_their_own_log(a: Program, b: Program, alice: User, bob: User) -> None:
    position = {**TWO_HANDS, "hands": [["b1", "y1"], ["r4", "g3"]], "draw_pile": ["y8", "r9", "g1"]}
    table = table_at(position, [alice, bob])
    a.post(f"games/{table.game.code}/moves", {"move": "draw", "version": 0})
    mine = a.get(f"games/{table.game.code}/moves").json()
    theirs = b.get(f"games/{table.game.code}/moves").json()
    assert mine["version"] == 1
    assert [set(line) for line in mine["moves"]] == [{"n", "round", "seat", "move", "at", "events"}]
    assert "r9" in json.dumps(mine)
    assert "r9" not in json.dumps(theirs)
    assert "y8" not in json.dumps(theirs)
    assert a.get(f"games/{table.game.code}/moves", after=1).json()["moves"] == []


def test_the_record_is_available_once_the_game_is_over(a: Program, b: Program) -> None:
    code = a.post("games", {"players": 2, "bot_pause": 0.0}).json()["id"]
    b.post(f"games/{code}/join")
    assert a.get(f"games/{code}/record").status_code == 404
    version = a.get(f"games/{code}").json()["version"]
    assert a.post(f"games/{code}/moves", {"move": "leave", "version": version}).json()["status"] == "over"
    record = b.get(f"games/{code}/record")
    assert record.status_code == 200
    assert record.content.decode().startswith("record: 1\npreset: no-mercy\n")


def test_joining_starting_and_leaving_a_table(a: Program, b: Program) -> None:
    code = a.post("games", {"players": 4}).json()["id"]
    assert b.post(f"games/{code}/join").json()["you"] == 1
    again = b.post(f"games/{code}/join")
    assert (again.status_code, again.json()["error"]) == (409, "already_seated")
    assert b.post(f"games/{code}/start").status_code == 403
    early = b.post(f"games/{code}/moves", {"move": "draw", "version": 0})
    assert (early.status_code, early.json()["error"]) == (409, "not_started")
    left = b.post(f"games/{code}/leave")
    assert (left.status_code, left.json()["you"], len(left.json()["seats"])) == (200, None, 1)
    assert b.post(f"games/{code}/leave").json()["error"] == "not_seated"
    assert b.post(f"games/{code}/join").status_code == 200
    assert a.post(f"games/{code}/start").json()["status"] == "playing"


def test_a_browser_s_session_needs_the_csrf_token(alice: User, bob: User) -> None:
    table = table_at(TWO_HANDS, [alice, bob])
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(alice)
    assert browser.get("/api/v1/me").status_code == 200
    path, body = f"/api/v1/games/{table.game.code}/moves", {"move": "draw", "version": 0}
    response = browser.post(path, json.dumps(body), content_type="application/json")
    assert (response.status_code, response.json()["error"]) == (403, "forbidden")


def test_openapi_and_its_page_are_served(client: Client) -> None:
    document = client.get("/api/v1/openapi.json").json()
    assert "/api/v1/games/{code}/moves" in document["paths"]
    page = client.get("/api/v1/docs")
    html = page.content.decode()
    assert page.status_code == 200
    assert [path for path in document["paths"] if f"<code>{path}</code>" not in html] == []
    assert [name for name in document["components"]["schemas"] if f'id="object-{name}"' not in html] == []
    anchors = set(re.findall(r'href="#([^"]+)"', html))
    assert {anchor for anchor in anchors if f'id="{anchor}"' not in html} == set()
    assert 'href="/rules/"' in html  # the page has the site's navigation


def test_the_page_of_the_api_lists_events_and_options(client: Client) -> None:
    html = client.get("/api/v1/docs").content.decode()
    sections = dict(re.findall(r'<section id="([^"]+)"(.*?)</section>', html, re.DOTALL))
    assert [kind for kind in rules.EVENTS if f"<code>{kind}</code>" not in sections["events"]] == []
    assert "Ann turns over 2 cards: Red 1, Blue 3." in sections["events"]
    assert "for the seat only, until the round is over" in sections["events"]
    assert [name for name in rules.SPECS if f"<code>{name}</code>" not in sections["options"]] == ["target"]
    assert re.search(r"mercy_limit</code></th><td>whole number</td><td>0; 10 to 50</td>", sections["options"])


def test_the_page_of_the_api_names_every_type(client: Client) -> None:
    html = client.get("/api/v1/docs").content.decode()
    assert "anything" not in html
    assert "object or object" not in html
    assert "{{" not in html
    assert re.search(r"<code>run</code></th><td>RunOut</td>", html)
    assert re.search(r"<code>limit</code></th><td>whole number</td><td>in the query; 1 to 1000</td>", html)


def test_the_openapi_document_says_that_a_view_can_be_unchanged(client: Client) -> None:
    paths = client.get("/api/v1/openapi.json").json()["paths"]
    assert set(paths["/api/v1/games/{code}"]["get"]["responses"]) >= {"200", "304", "404"}
    assert "401" in paths["/api/v1/me"]["get"]["responses"]


def test_the_page_of_the_api_names_the_type_of_each_body(client: Client) -> None:
    html = client.get("/api/v1/docs").content.decode()
    calls = dict(re.findall(r'<section id="([^"]+)"(.*?)</section>', html, re.DOTALL))
    assert "Body:" not in calls["get-games-code"]
    assert re.search(r'Body:\s*<a href="#object-NewMove">', calls["post-games-code-moves"])
    assert re.search(r'Body:\s*<a href="#object-Nothing">', calls["post-games-code-join"])
    assert "200 OK</b> with text/plain" in calls["get-games-code-record"]


def test_a_move_request_needs_at_most_ten_statements(
    a: Program, alice: User, bob: User, django_assert_max_num_queries: Any
) -> None:
    table = table_at(TWO_HANDS, [alice, bob])
    with django_assert_max_num_queries(10):
        response = a.post(f"games/{table.game.code}/moves", {"move": "play r5", "version": 0, "token": "t"})
    assert response.status_code == 200


@pytest.mark.parametrize(
    "path", ["games/%00", "games/%00/moves", "games/%00/record", "games/x%00y", "games/" + "9" * 400]
)
def test_an_impossible_code_is_not_found(a: Program, path: str) -> None:
    response = a.client.get(f"/api/v1/{path}")
    assert (response.status_code, response.json()["error"]) == (404, "not_found")


def test_a_table_locked_for_too_long_is_busy(
    a: Program, alice: User, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = table_at(TWO_HANDS, [alice, bob])

    def locked(**which: object) -> Game:
        raise OperationalError("canceling statement due to lock timeout") from LockNotAvailable()

    monkeypatch.setattr(play, "lock_game", locked)
    response = a.post(f"games/{table.game.code}/moves", {"move": "play r5", "version": 0})
    assert (response.status_code, response.json()["error"]) == (503, "busy")
    assert response.headers["Retry-After"] == "2"


def test_seats_show_current_names(a: Program, alice: User, bob: User) -> None:
    table = table_at(TWO_HANDS, [alice, bob])
    User.objects.filter(pk=bob.pk).update(display_name="Bobby")
    waiting = a.post("games", {"players": 3}).json()["id"]
    User.objects.filter(pk=alice.pk).update(display_name="Al")
    assert [seat["name"] for seat in a.get(f"games/{table.game.code}").json()["seats"]] == ["Al", "Bobby"]
    assert a.get(f"games/{waiting}").json()["seats"][0]["name"] == "Al"
    assert [item["seats"][0]["name"] for item in a.get("games", mine=1).json()["items"]] == ["Al", "Al"]


def test_the_api_accepts_every_table_option() -> None:
    made_of = {one.name: getattr(lobby.TableOptions(), one.name) for one in fields(lobby.TableOptions)}
    assert NewGame().model_dump() == made_of
