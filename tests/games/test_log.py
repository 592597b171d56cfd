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
from games.actions.play import play_move
from games.models import Move
from games.queries import Table, Viewer
from games.rules import TURN_MOVES
from games.staff import tables
from tests.conftest import api_token
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
    answer = browser.get(address)
    assert answer.status_code == 200
    body = answer.content.decode()
    links = dict(re.findall(r'href="([^"]*)" rel="(prev|next)"', body))
    return [int(n) for n in re.findall(r'<li id="m(\d+)"', body)], {rel: url for url, rel in links.items()}


@pytest.mark.long
def test_the_pages_of_a_log_have_all_moves(as_alice: Client, table: Table) -> None:
    address, found = f"/games/{table.game.code}/log/", list[int]()
    here = address
    while True:
        moves, links = page(as_alice, here)
        assert len(moves) <= FEW
        found += moves
        if "next" not in links:
            break
        here = links["next"]
    assert found == list(range(table.game.version, 0, -1))
    while "prev" in links:
        _, links = page(as_alice, links["prev"])
    assert as_alice.get(address).status_code == 200


@pytest.mark.long
def test_every_move_has_a_permanent_address(as_alice: Client, table: Table) -> None:
    body = as_alice.get(f"/games/{table.game.code}/").content.decode()
    for url, move in re.findall(r'href="([^"]*/log/[^"#]*)#m(\d+)"', body):
        assert int(move) in page(as_alice, url)[0]
    assert page(as_alice, f"/games/{table.game.code}/log/?to=7")[0] == [7, 6, 5, 4, 3]


def test_players_see_the_number_of_each_move_as_a_link(as_alice: Client, table: Table) -> None:
    game, last = f"/games/{table.game.code}/", table.game.version
    for address, log in ((game, f"{game}log/"), (f"{game}log/", "")):
        body = as_alice.get(address).content.decode()
        assert f'<a class="when" href="{log}?to={last}#m{last}">Move {last}, <time' in body
    assert f'<a href="{game}log/">the log</a>' in as_alice.get(f"{game}report/").content.decode()


@pytest.mark.parametrize("to", ["", "0", "-1", "x", "999999999", "9" * 50, "٣"])
def test_an_unknown_page_of_the_log_shows_the_newest(as_alice: Client, table: Table, to: str) -> None:
    moves, links = page(as_alice, f"/games/{table.game.code}/log/?to={to}")
    assert moves[0] == table.game.version
    assert "prev" not in links


def test_a_short_log_has_no_pages(as_alice: Client, alice: User, bob: User) -> None:
    short = table_after([alice, bob], FEW, seed=1)
    answer = as_alice.get(f"/games/{short.game.code}/log/").content.decode()
    assert "Earlier moves" not in answer
    assert "Moves 1 to" not in answer
    none = table_at(TWO_HANDS, [alice, bob])
    assert "No moves yet." in as_alice.get(f"/games/{none.game.code}/log/").content.decode()


def test_staff_acts_are_on_the_page_of_their_move(as_alice: Client, alice: User, bob: User, mo: User) -> None:
    table = table_after([alice, bob], 7, seed=1, pace="standard")
    for act in (tables.pause, tables.resume):
        act(game_id=table.game.pk, by=mo, reason="The site was slow today", now=timezone.now())
    rng = random.Random(1)
    for _ in range(FEW):
        here = now_of(table)
        position = here.started.position
        moves = [move for move in rules.legal_moves(position, position.turn, here.options) if move.kind in TURN_MOVES]
        user = (alice, bob)[position.turn]
        version = here.game.version
        play_move(
            code=here.game.code, viewer=Viewer(user), text=str(rng.choice(moves)), version=version, now=timezone.now()
        )
    shown = {
        to: "Staff paused the game." in as_alice.get(f"/games/{table.game.code}/log/?to={to}").content.decode()
        for to in (12, 11, 7, 6, 1)
    }
    assert shown == {12: False, 11: True, 7: True, 6: False, 1: False}


def test_a_page_of_the_log_takes_the_same_queries_for_any_length(
    as_alice: Client, table: Table, django_assert_max_num_queries: Any
) -> None:
    for to in ("", "?to=20", "?to=5"):
        with django_assert_max_num_queries(7):
            assert as_alice.get(f"/games/{table.game.code}/log/{to}").status_code == 200


def moves_of(table: Table, user: User, query: str) -> Any:
    headers = {"Authorization": f"Bearer {api_token(user)}"}
    return Client().get(f"/api/v1/games/{table.game.code}/moves{query}", headers=headers)


def test_the_api_returns_as_many_moves_as_asked(alice: User, table: Table) -> None:
    last = table.game.version
    for query, expected in (
        ("?limit=10", range(1, 11)),
        ("?after=12&limit=10", range(13, 23)),
        (f"?after={last - 3}&limit=10", range(last - 2, last + 1)),
        (f"?after={last}&limit=10", range(0)),
        ("?limit=1000", range(1, last + 1)),
        ("", range(1, last + 1)),
        ("?after=2147483647&limit=1000", range(0)),
    ):
        answer = moves_of(table, alice, query).json()
        assert [move["n"] for move in answer["moves"]] == list(expected)
        assert answer["version"] == last
    assert Move.objects.filter(game=table.game).count() == last


@pytest.mark.parametrize("limit", ["0", "-1", "1001", "x", "", "1.5", "99999999999999999999"])
def test_a_limit_out_of_range_is_malformed(alice: User, table: Table, limit: str) -> None:
    answer = moves_of(table, alice, f"?limit={limit}")
    assert (answer.status_code, answer.json()["error"]) == (400, "malformed")


def test_the_openapi_document_is_made_once_and_has_the_limit(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    document = client.get("/api/v1/openapi.json").json()
    fields = {field["name"]: field for field in document["paths"]["/api/v1/games/{code}/moves"]["get"]["parameters"]}
    assert not fields["limit"]["required"]

    def made_again(*_: object, **__: object) -> None:
        raise AssertionError

    monkeypatch.setattr("ninja.main.get_schema", made_again)
    assert client.get("/api/v1/openapi.json").json() == document
    assert client.get("/api/v1/docs").status_code == 200
