"""The log of a table in pages, on the site and in the API."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import User
from games import rules
from games.queries import Table
from games.rules import TURN_MOVES
from games.staff import tables
from tests.support.api import Program, refusal
from tests.support.clocks import move
from tests.support.pages import Page, text_of, words_of
from tests.support.tables import TWO_HANDS, now_of, table_after, table_at

FEW = 5


@pytest.fixture(autouse=True)
def short_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("games.web.log.LINES", FEW)


@pytest.fixture
def table(alice: User, bob: User) -> Table:
    """Return a table whose log has six pages, the last one not full."""
    found = table_after([alice, bob], 30, seed=4, earlier=1)
    assert found.game.version > 5 * FEW
    assert found.game.version % FEW
    return found


def page(browser: Client, address: str) -> tuple[list[int], dict[str, str]]:
    """Return the numbers of the moves on a page of the log, and the addresses of its buttons."""
    shown = Page(browser.get(address))
    assert shown.status == 200
    links = {rel: link.get("href", "") for rel in ("prev", "next") for link in shown.all("a", rel=rel)}
    return [int(line.get("id", "")[1:]) for line in shown.all("li") if line.get("id")], links


@pytest.fixture
def url(table: Table) -> str:
    return f"{table.game.get_absolute_url()}log/"


@pytest.mark.long
def test_the_pages_of_a_log_have_all_moves(as_alice: Client, table: Table, url: str) -> None:
    found, links = page(as_alice, url)
    while "next" in links:
        moves, links = page(as_alice, links["next"])
        assert len(moves) <= FEW
        found += moves
    assert found == list(range(table.game.version, 0, -1))
    while "prev" in links:
        moves, links = page(as_alice, links["prev"])
    assert moves[0] == table.game.version


@pytest.mark.long
def test_every_move_has_a_permanent_address(as_alice: Client, table: Table, url: str) -> None:
    body = as_alice.get(table.game.get_absolute_url()).content.decode()
    for address, n in re.findall(r'href="([^"]*/log/[^"#]*)#m(\d+)"', body):
        assert int(n) in page(as_alice, address)[0]
    assert page(as_alice, f"{url}?to=7")[0] == [7, 6, 5, 4, 3]


def test_players_see_the_number_of_each_move_as_a_link(as_alice: Client, table: Table, url: str) -> None:
    game, last = table.game.get_absolute_url(), table.game.version
    for address, log in ((game, url), (url, "")):
        (link,) = Page(as_alice.get(address)).links_to(f"{log}?to={last}#m{last}")
        assert words_of(link).startswith(f"Move {last}, ")
    assert "the log" in [link.text for link in Page(as_alice.get(f"{game}report/")).links_to(url)]


def test_an_unknown_page_of_the_log_shows_the_newest(as_alice: Client, table: Table, url: str) -> None:
    for to in ("", "0", "-1", "x", "999999999", "9" * 50, "٣"):
        moves, links = page(as_alice, f"{url}?to={to}")
        assert (moves[0], "prev" in links) == (table.game.version, False), to


def test_a_short_log_has_no_pages(as_alice: Client, alice: User, bob: User) -> None:
    short, none = table_after([alice, bob], FEW, seed=1), table_at(TWO_HANDS, [alice, bob])
    answer = text_of(as_alice.get(f"/games/{short.game.code}/log/"))
    assert ("Earlier moves" in answer, "Moves 1 to" in answer) == (False, False)
    assert "No moves yet." in text_of(as_alice.get(f"/games/{none.game.code}/log/"))


def test_staff_acts_are_on_the_page_of_their_move(as_alice: Client, alice: User, bob: User, mo: User) -> None:
    table = table_after([alice, bob], 7, seed=1, pace="standard")
    for act in (tables.pause, tables.resume):
        act(game_id=table.game.pk, by=mo, reason="The site was slow today", now=timezone.now())
    rng = random.Random(1)
    for _ in range(FEW):
        here = now_of(table)
        position = here.started.position
        moves = [one for one in rules.legal_moves(position, position.turn, here.options) if one.kind in TURN_MOVES]
        move(table, (alice, bob)[position.turn], str(rng.choice(moves)), at=timezone.now())
    shown = {
        to: "Staff paused the game." in text_of(as_alice.get(f"/games/{table.game.code}/log/?to={to}"))
        for to in (12, 11, 7, 6, 1)
    }
    assert shown == {12: False, 11: True, 7: True, 6: False, 1: False}


def test_a_page_of_the_log_takes_the_same_queries_for_any_length(
    as_alice: Client, url: str, django_assert_max_num_queries: Any
) -> None:
    for to in ("", "?to=20", "?to=5"):
        with django_assert_max_num_queries(7):
            assert as_alice.get(f"{url}{to}").status_code == 200


def test_the_api_returns_as_many_moves_as_asked(alice: User, table: Table) -> None:
    last, program = table.game.version, Program(alice)
    for query, expected in (
        ({"limit": 10}, range(1, 11)),
        ({"after": 12, "limit": 10}, range(13, 23)),
        ({"after": last - 3, "limit": 10}, range(last - 2, last + 1)),
        ({"after": last, "limit": 10}, range(0)),
        ({"limit": 1000}, range(1, last + 1)),
        ({}, range(1, last + 1)),
        ({"after": 2147483647, "limit": 1000}, range(0)),
    ):
        answer = program.get(f"games/{table.game.code}/moves", **query).json()
        assert ([line["n"] for line in answer["moves"]], answer["version"]) == (list(expected), last)
    for limit in ("0", "-1", "1001", "x", "", "1.5", "99999999999999999999"):
        refused = program.get(f"games/{table.game.code}/moves", limit=limit)
        assert refusal(refused) == (400, "malformed"), limit


def test_the_openapi_document_is_made_once_and_has_the_limit(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    document = client.get("/api/v1/openapi.json").json()
    fields = {field["name"]: field for field in document["paths"]["/api/v1/games/{code}/moves"]["get"]["parameters"]}
    assert not fields["limit"]["required"]

    def made_again(*_: object, **__: object) -> None:
        raise AssertionError

    monkeypatch.setattr("ninja.main.get_schema", made_again)
    assert client.get("/api/v1/openapi.json").json() == document
    assert client.get("/api/v1/docs").status_code == 200
