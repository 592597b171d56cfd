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
from tests.support.api import Program, refusal
from tests.support.races import STRAIGHT
from tests.support.tables import TWO_HANDS, table_at

pytestmark = pytest.mark.django_db

VIEW = {
    "id", "version", "status", "preset", "programs", "vacations", "options", "target", "round", "deal", "you", "hand",
    "turn", "phase", "direction", "top", "color", "pending", "drawn", "draw_pile", "discard_pile", "seats", "callouts",
    "legal", "deadline", "paused", "hands", "winner", "points", "commitment",
}  # fmt: skip


@pytest.fixture
def a(alice: User) -> Program:
    return Program(alice)


@pytest.fixture
def b(bob: User) -> Program:
    return Program(bob)


@pytest.fixture
def code(alice: User, bob: User) -> str:
    """The code of a game in which alice is on turn."""
    return table_at(TWO_HANDS, [alice, bob]).game.code


def ids(answer: Any) -> list[str]:
    """Return the codes of the listed games."""
    return [item["id"] for item in answer.json()["items"]]


def test_me_returns_the_callers_account(a: Program, alice: User) -> None:
    me = a.get("me").json()
    assert (me["username"], me["guest"], me["waiting"]) == (alice.username, False, 0)


def test_creating_a_table_returns_201_and_the_view_without_cards_while_it_is_open(a: Program) -> None:
    response = a.post("games", {"players": 4, "bots": 3, "bot_pause": 0.0})
    assert response.status_code == 201
    view = response.json()
    assert set(view) == VIEW | {"orders"}
    assert (view["status"], view["you"], view["version"], view["round"]) == ("playing", 0, 0, 1)
    assert (len(view["hand"]), view["hands"], "target" in view["options"]) == (7, None, False)
    assert set(view["seats"][0]) == {
        "seat", "name", "program", "bot", "bot_for_owner", "cards", "uno", "exposed", "out", "score",
    }  # fmt: skip
    view = a.post("games", {"players": 3}).json()
    assert set(view) == VIEW | {"orders"}
    assert (view["status"], view["hand"], view["legal"], view["turn"]) == ("open", None, [], None)


@pytest.fixture
def private(a: Program) -> Game:
    return Game.objects.get(code=a.post("games", {"public": False, "players": 3}).json()["id"])


def test_a_program_sits_down_by_an_invitation_link(private: Game, b: Program) -> None:
    assert refusal(b.post(f"games/{private.code}/join")) == (404, "not_found")
    for wrong in ("nothere", "-", "a" * 200):
        assert refusal(b.post(f"join/{wrong}")) == (404, "not_found"), wrong
    view = b.post(f"join/{private.invite_key}").json()
    assert (view["id"], view["you"], view["status"]) == (private.code, 1, "open")
    assert refusal(b.post(f"join/{private.invite_key}")) == (409, "already_seated")
    assert b.get(f"games/{private.code}").json()["you"] == 1


def test_a_link_does_not_bring_back_whom_staff_removed(private: Game, a: Program, b: Program, ann: User) -> None:
    b.post(f"join/{private.invite_key}")
    tables.remove(game_id=private.pk, by=ann, seat=1, bot=None, reason="Sends links to all.", now=timezone.now())
    old = private.invite_key
    private.refresh_from_db()
    for key in (old, private.invite_key):
        assert b.post(f"join/{key}").status_code == 404
    assert "bob" not in str(a.get(f"games/{private.code}").json()["seats"])


def test_the_host_seats_bots(a: Program, b: Program) -> None:
    code = a.post("games", {"players": 3}).json()["id"]
    assert refusal(b.post(f"games/{code}/bots"))[1] == "not_seated"
    assert refusal(a.post(f"games/{code}/bots", {"bot": "perfect"})) == (400, "malformed")
    assert [seat["bot"] for seat in a.post(f"games/{code}/bots", {"bot": "sharp"}).json()["seats"]] == [False, True]
    assert list(Seat.objects.filter(game__code=code).order_by("index").values_list("bot", flat=True)) == ["", "sharp"]
    started = a.post(f"games/{code}/bots")
    assert (started.status_code, started.json()["status"]) == (200, "playing")
    assert refusal(a.post(f"games/{code}/bots"))[1] == "already_started"


@pytest.mark.long
def test_a_rematch_is_made_once_and_joined_by_the_others(code: str, a: Program, b: Program) -> None:
    assert refusal(a.post(f"games/{code}/rematch")) == (403, "forbidden")
    a.post(f"games/{code}/moves", {"move": "leave"})
    made = a.post(f"games/{code}/rematch").json()
    assert (made["status"], made["you"], len(made["seats"])) == ("open", 0, 1)
    assert a.post(f"games/{code}/rematch").json()["id"] == made["id"]
    joined = b.post(f"games/{code}/rematch").json()
    assert (joined["id"], joined["you"], joined["status"]) == (made["id"], 1, "playing")


@pytest.mark.parametrize("call", ["join", "leave", "start", "pause", "resume", "take-back", "rematch"])
def test_calls_without_fields_refuse_a_body(a: Program, b: Program, code: str, call: str) -> None:
    Game.objects.update(is_public=False)
    for program in (a, b):
        for body in ('{"x": 1}', "[]", '"s"', "{nonsense"):
            assert refusal(program.post(f"games/{code}/{call}", body)) == (400, "malformed"), body


@pytest.mark.parametrize("body", ["", "{}", "null"])
def test_a_call_without_a_body_accepts_null_or_an_empty_object(a: Program, body: str) -> None:
    code = a.post("games", {"players": 3}).json()["id"]
    assert a.post(f"games/{code}/leave", body).status_code == 200


def test_a_finished_game_is_refused_with_end_1(a: Program, code: str) -> None:
    assert a.post(f"games/{code}/moves", {"move": "leave"}).json()["status"] == "over"
    for call, body in (("moves", {"move": "draw", "version": 0}), ("join", {}), ("leave", {}), ("start", {})):
        answer = a.post(f"games/{code}/{call}", body)
        assert (refusal(answer), answer.json()["rule"]) == ((409, "over"), "END-1"), call


def test_a_move_takes_ten_statements_and_returns_the_new_view_also_when_it_is_sent_again(
    a: Program, code: str, django_assert_max_num_queries: Any
) -> None:
    with django_assert_max_num_queries(10):
        view = a.move(code, "play r5", token="t").json()
    assert (view["version"], view["top"], view["turn"], view["hand"]) == (1, "r5", 1, ["b1", "b2"])
    again = a.move(code, "play r5", token="t")
    assert (again.status_code, again.json()["version"]) == (200, 1)


@pytest.mark.parametrize(
    ("move", "version", "status", "error", "rule"),
    [
        ("play b1", 0, 422, "not_matching", "TURN-2"),
        ("take", 0, 422, "nothing_to_take", "STACK-3"),
        ("play r5", 3, 409, "stale", None),
    ],
)
def test_a_refused_move_gives_the_reason(
    a: Program, code: str, move: str, version: int, status: int, error: str, rule: str | None
) -> None:
    answer = a.move(code, move, version)
    assert (refusal(answer), answer.json()["rule"]) == ((status, error), rule)


def test_a_stale_move_gets_the_view_as_it_is_now(a: Program, code: str) -> None:
    a.move(code, "play r5")
    answer = a.move(code, "play r5").json()
    assert answer["error"] == "stale"
    assert answer["view"] == a.get(f"games/{code}").json()
    assert answer["view"]["version"] == answer["version"] == 1


def test_a_view_that_is_known_is_not_sent_again(a: Program, code: str) -> None:
    def known(tag: str) -> Any:
        return a.client.get(f"/api/v1/games/{code}", headers={"if-none-match": tag})

    tag = a.get(f"games/{code}").headers["ETag"]
    for other, status in ((tag, 304), ('"another"', 200)):
        answer = known(other)
        assert (answer.status_code, answer.headers["ETag"], bool(answer.content)) == (status, tag, status == 200)
    a.move(code, "play r5")
    assert (known(tag).status_code, known(tag).json()["version"]) == (200, 1)


def test_the_view_says_who_can_be_caught_and_until_when(a: Program, alice: User, bob: User) -> None:
    code = table_at({**TWO_HANDS, "hands": [["r5", "b1"], ["g4", "g5"]]}, [alice, bob]).game.code
    assert a.get(f"games/{code}").json()["callouts"] == []
    (callout,) = a.move(code, "play r5").json()["callouts"]
    until = Hand.objects.get(callout_until__isnull=False).callout_until
    assert until is not None
    shown = datetime.fromisoformat(callout["until"])  # in whole milliseconds
    assert (callout["seat"], until - timedelta(milliseconds=1) < shown <= until) == (0, True)


def test_the_view_says_why_the_game_stands_still_and_who_has_a_bot(a: Program, code: str) -> None:
    assert a.get(f"games/{code}").json()["paused"] == []
    Seat.objects.filter(index=1).update(bot="careful")
    Game.objects.update(paused_at=timezone.now(), paused_reasons=["staff"])
    view = a.get(f"games/{code}").json()
    assert view["paused"] == a.get(f"games/{code}/clock").json()["paused"] == ["staff"]
    assert [seat["bot_for_owner"] for seat in view["seats"]] == [False, True]


@pytest.fixture
def straight(alice: User, bob: User) -> str:
    """The code of a game in which alice can play a straight."""
    return table_at({**STRAIGHT, "hands": STRAIGHT["hands"][:2]}, [alice, bob], preset="house-party").game.code


def test_a_straight_is_sent_with_its_first_card(a: Program, straight: str) -> None:
    for _ in range(2):
        answer = a.move(straight, "play r4", then=["play r5", "play r6 uno"], token="once")
        assert (answer.status_code, answer.json()["version"], answer.json()["hand"]) == (200, 3, ["b9"])


@pytest.mark.parametrize(
    "then",
    ["play r5", None, {}, [["play r5"]], [5], ["draw"], ["play"], ["play r5" + " " * 60], ["play r5"] * 21,
     ["play r5", "play q9"], ["play r5", "play b9"]],
    ids=str,
)  # fmt: skip
def test_a_refused_straight_gives_the_reason(a: Program, straight: str, then: Any) -> None:
    answer = a.move(straight, "play r4", then=then)
    given = (*refusal(answer), answer.json()["rule"])
    no_step = isinstance(then, list) and then[-1] == "play b9"
    assert given == ((422, "not_your_turn", "TURN-1") if no_step else (400, "malformed", None))
    assert Game.objects.get(code=straight).version == 0


def waiting_tables(host: User, count: int) -> list[str]:
    """Make public tables that wait for players, and return their codes, newest first."""
    now = timezone.now()
    made = Game.objects.bulk_create(Game(host=host, players=3, created_at=now) for _ in range(count))
    return [game.code for game in reversed(made)]


def test_the_list_of_public_tables_is_bounded(
    a: Program, bob: User, code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lists, "PUBLIC_LISTED", 4)
    newest_first = waiting_tables(bob, 2)
    found = a.get("games")
    assert (ids(found), found.json()["count"]) == ([*newest_first, code], 3)
    waiting_tables(bob, 3)
    assert [len(ids(a.get("games", offset=n, limit=3))) for n in (0, 3, 4, 1_000_000)] == [3, 1, 0, 0]
    assert a.get("games").json()["count"] == 4


@pytest.mark.long
@pytest.mark.parametrize("limit", [2, 3, 4, 100])
def test_the_list_of_public_tables_can_be_read_to_its_end(
    a: Program, alice: User, bob: User, monkeypatch: pytest.MonkeyPatch, limit: int
) -> None:
    monkeypatch.setattr(lists, "PUBLIC_LISTED", 4)
    playing = [table_at(TWO_HANDS, [alice, bob]).game.code for _ in range(5)]
    waiting = waiting_tables(bob, 6)
    found = a.get("games", limit=limit)
    pages = [ids(found)]
    while "next" in found.json():
        found = a.get("games", limit=limit, after=found.json()["next"])
        pages.append(ids(found))
    assert [code for page in pages for code in page] == [*waiting, *reversed(playing)]
    assert max(map(len, pages)) == min(limit, 4)
    assert "next" not in a.get("games", mine=1).json()


def test_a_table_that_starts_or_goes_between_two_pages_changes_no_place(a: Program, bob: User) -> None:
    codes = waiting_tables(bob, 4)
    first = a.get("games", limit=2)
    assert ids(first) == codes[:2]
    Game.objects.filter(code=codes[0]).delete()
    Game.objects.filter(code=codes[1]).update(status=Game.Status.PLAYING)
    second = a.get("games", limit=2, after=first.json()["next"])
    assert (ids(second), second.json()["count"]) == (codes[2:], 2)


@pytest.mark.parametrize("scope", [{"mine": 1}, {}])
def test_lists_can_be_filtered_by_status(a: Program, code: str, scope: dict[str, int]) -> None:
    waiting = a.post("games", {"players": 3, "public": True}).json()["id"]
    every = {status: a.get("games", **scope, status=status) for status in ("open", "playing", "over")}
    assert {status: ids(answer) for status, answer in every.items()} == {
        "open": [waiting], "playing": [code], "over": [],
    }  # fmt: skip
    assert all(answer.json()["count"] == len(ids(answer)) and "next" not in answer.json() for answer in every.values())
    assert sorted(ids(a.get("games", **scope))) == sorted([code, waiting])
    assert refusal(a.get("games", **scope, status="lost")) == (400, "malformed")


def test_my_games_are_listed_most_urgent_first(a: Program, alice: User, bob: User) -> None:
    for_bob = table_at({**TWO_HANDS, "turn": 1}, [alice, bob]).game.code
    for_me = table_at(TWO_HANDS, [alice, bob]).game.code
    mine = a.get("games", mine=1)
    assert (ids(mine), mine.json()["count"]) == ([for_me, for_bob], 2)
    assert set(mine.json()["items"][0]) == VIEW - {"hand", "legal"}
    assert ids(a.get("games", mine=1, turn=1)) == [for_me]
    assert ids(a.get("games", mine=1, limit=1, offset=1)) == [for_bob]


def test_each_viewer_gets_their_own_log(a: Program, b: Program, alice: User, bob: User) -> None:
    position = {**TWO_HANDS, "hands": [["b1", "y1"], ["r4", "g3"]], "draw_pile": ["y8", "r9", "g1"]}
    code = table_at(position, [alice, bob]).game.code
    a.move(code, "draw")
    mine, theirs = (program.get(f"games/{code}/moves").json() for program in (a, b))
    assert mine["version"] == 1
    assert [set(line) for line in mine["moves"]] == [{"n", "round", "seat", "move", "at", "events"}]
    assert "r9" in json.dumps(mine)
    assert not {"r9", "y8"} & set(re.findall(r"\w+", json.dumps(theirs)))
    assert a.get(f"games/{code}/moves", after=1).json()["moves"] == []


def test_the_record_is_available_once_the_game_is_over(a: Program, b: Program) -> None:
    code = a.post("games", {"players": 2, "bot_pause": 0.0}).json()["id"]
    b.post(f"games/{code}/join")
    assert a.get(f"games/{code}/record").status_code == 404
    assert a.move(code, "leave", a.get(f"games/{code}").json()["version"]).json()["status"] == "over"
    record = b.get(f"games/{code}/record")
    assert record.status_code == 200
    assert record.content.decode().startswith("record: 1\npreset: no-mercy\n")


def test_joining_starting_and_leaving_a_table(a: Program, b: Program) -> None:
    code = a.post("games", {"players": 4}).json()["id"]
    assert b.post(f"games/{code}/join").json()["you"] == 1
    assert refusal(b.post(f"games/{code}/join")) == (409, "already_seated")
    assert b.post(f"games/{code}/start").status_code == 403
    assert refusal(b.move(code, "draw")) == (409, "not_started")
    left = b.post(f"games/{code}/leave")
    assert (left.status_code, left.json()["you"], len(left.json()["seats"])) == (200, None, 1)
    assert refusal(b.post(f"games/{code}/leave"))[1] == "not_seated"
    assert b.post(f"games/{code}/join").status_code == 200
    assert a.post(f"games/{code}/start").json()["status"] == "playing"


def test_a_browser_s_session_needs_the_csrf_token(code: str, alice: User) -> None:
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(alice)
    assert browser.get("/api/v1/me").status_code == 200
    body = {"move": "draw", "version": 0}
    assert refusal(browser.post(f"/api/v1/games/{code}/moves", body, content_type="application/json")) == (
        403, "forbidden",
    )  # fmt: skip


def test_the_page_of_the_api_has_all_calls_objects_events_and_options(client: Client) -> None:
    document = client.get("/api/v1/openapi.json").json()
    assert set(document["paths"]["/api/v1/games/{code}"]["get"]["responses"]) >= {"200", "304", "404"}
    assert "401" in document["paths"]["/api/v1/me"]["get"]["responses"]
    html = client.get("/api/v1/docs").content.decode()
    assert [path for path in document["paths"] if f"<code>{path}</code>" not in html] == []
    assert [name for name in document["components"]["schemas"] if f'id="object-{name}"' not in html] == []
    assert {anchor for anchor in re.findall(r'href="#([^"]+)"', html) if f'id="{anchor}"' not in html} == set()
    assert 'href="/rules/"' in html  # the page has the site's navigation
    sections = dict(re.findall(r'<section id="([^"]+)"(.*?)</section>', html, re.DOTALL))
    assert [kind for kind in rules.EVENTS if f"<code>{kind}</code>" not in sections["events"]] == []
    assert "Ann turns over 2 cards: Red 1, Blue 3." in sections["events"]
    assert "for the seat only, until the round is over" in sections["events"]
    assert [name for name in rules.SPECS if f"<code>{name}</code>" not in sections["options"]] == ["target"]


def test_the_page_of_the_api_names_every_type(client: Client) -> None:
    html = client.get("/api/v1/docs").content.decode()
    assert [text for text in ("anything", "object or object", "{{") if text in html] == []
    calls = dict(re.findall(r'<section id="([^"]+)"(.*?)</section>', html, re.DOTALL))
    assert "Body:" not in calls["get-games-code"]
    assert "200 OK</b> with text/plain" in calls["get-games-code-record"]
    for part, pattern in (
        (calls["options"], r"mercy_limit</code></th><td>whole number</td><td>0; 10 to 50</td>"),
        (html, r"<code>run</code></th><td>RunOut</td>"),
        (html, r"<code>limit</code></th><td>whole number</td><td>in the query; 1 to 1000</td>"),
        (calls["post-games-code-moves"], r'Body:\s*<a href="#object-NewMove">'),
        (calls["post-games-code-join"], r'Body:\s*<a href="#object-Nothing">'),
    ):
        assert re.search(pattern, part), pattern


def test_a_table_locked_for_too_long_is_busy(a: Program, code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def locked(**which: object) -> Game:
        raise OperationalError("canceling statement due to lock timeout") from LockNotAvailable()

    monkeypatch.setattr(play, "lock_game", locked)
    response = a.move(code, "play r5")
    assert (refusal(response), response.headers["Retry-After"]) == ((503, "busy"), "2")


def test_seats_show_current_names(a: Program, alice: User, bob: User, code: str) -> None:
    User.objects.filter(pk=bob.pk).update(display_name="Bobby")
    waiting = a.post("games", {"players": 3}).json()["id"]
    User.objects.filter(pk=alice.pk).update(display_name="Al")
    assert [seat["name"] for seat in a.get(f"games/{code}").json()["seats"]] == ["Al", "Bobby"]
    assert a.get(f"games/{waiting}").json()["seats"][0]["name"] == "Al"
    assert [item["seats"][0]["name"] for item in a.get("games", mine=1).json()["items"]] == ["Al", "Al"]


def test_the_api_accepts_every_table_option() -> None:
    made_of = {one.name: getattr(lobby.TableChoices(), one.name) for one in fields(lobby.TableChoices)}
    assert NewGame().model_dump() == made_of
