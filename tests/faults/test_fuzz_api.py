"""Test random requests to the API: every answer is the API's own, never a 500, and a refusal changes nothing.

Valid and invalid requests are generated from the API's schema, for every kind of user. The long form is
`FUZZ=500 script/test --all tests/faults/test_fuzz_api.py`, with this many requests per call.
"""

from __future__ import annotations

import gzip
import json
import os
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
import requests
import schemathesis
from django.db.models import F
from django.test import Client
from django.utils import timezone
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import Case, GenerationMode

from accounts.models import User
from games import queries, rules
from games.actions import lobby, play
from games.api import api
from games.models import Game
from games.queries import Table, Viewer
from tests.conftest import Figure, logged_in
from tests.faults.state import faulty_games, stored
from tests.support.tables import now_of

REQUESTS = int(os.environ.get("FUZZ", "5"))
CALLS = [f"{method.upper()} {path}" for path, calls in api.get_openapi_schema()["paths"].items() for method in calls]
SLOW = list(HealthCheck)
MAKE_A_MOVE = "POST /api/v1/games/{code}/moves"
MOVES = ("play r5", "draw", "take", "color g", "uno", "catch 1", "leave", "pass", "clock draw", "play WC color g")

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]


@pytest.fixture
def tables(alice: User, bob: User) -> list[Table]:
    """Return one table of each kind: public, private, running, between people, with orders, over, and with races.

    They were made just now, so that no clock is due: a refused move would let it play.
    """
    now = timezone.now()
    made = [
        lobby.create_table(user=alice, choices=lobby.TableChoices(players=3), now=now),
        lobby.create_table(user=alice, choices=lobby.TableChoices(players=2, public=False), now=now),
        lobby.create_table(user=alice, choices=lobby.TableChoices(players=2, bots=1, target=1000), now=now),
        lobby.create_table(user=alice, choices=lobby.TableChoices(players=2), now=now),
        lobby.create_table(user=bob, choices=lobby.TableChoices(players=2, bots=1), now=now),
    ]
    lobby.join(code=made[3].game.code, viewer=Viewer(bob), now=now)
    party = lobby.TableChoices(preset="house-party", players=3, bots=2)
    made.append(lobby.create_table(user=alice, choices=party, now=now))
    made.append(lobby.create_table(user=alice, choices=lobby.TableChoices(players=2, bots=1), now=now))
    play.play_move(code=made[-1].game.code, viewer=Viewer(alice), text="leave", version=None, now=now)
    race = replace(party, pace="live", options={"buzzers": "race"})
    return [*made, lobby.create_table(user=alice, choices=race, now=now)]


def send(browser: Client, case: Case[Any]) -> Any:
    """Make the request that `case` describes. Raises exceptions of views."""
    described: dict[str, Any] = {
        k: v for k, v in case.as_transport_kwargs("http://testserver").items() if k in REQUEST_PARTS
    }
    made = requests.Request(**described).prepare()
    headers = {str(name): str(value) for name, value in made.headers.items()}
    return browser.generic(
        made.method or "GET",
        made.path_url,
        made.body or b"",
        content_type=headers.get("Content-Type", "application/json"),
        headers={k: v for k, v in headers.items() if k.lower() not in ("content-type", "content-length", "cookie")},
    )


REQUEST_PARTS = ("method", "url", "headers", "files", "data", "params", "auth", "cookies", "json")


def deepen(case: Case[Any], tables: Sequence[Table], asker: str, rng: random.Random) -> None:
    """Aim most requests at an existing table, and most moves at legal ones."""
    if not case.path_parameters or "code" not in case.path_parameters or rng.random() < 0.2:
        return
    with_orders = [table for table in tables if table.options.interceptions != "off"]
    table = now_of(rng.choice(with_orders if case.path.endswith("/orders") and rng.random() < 0.7 else tables))
    case.path_parameters["code"] = table.game.code
    if case.path.endswith("/moves") and case.method == "POST" and rng.random() < 0.6:
        seats = [seat.index for seat in table.seats if seat.user and seat.user.username == asker]
        legal = [str(move) for seat in seats for move in legal_at(table, seat)]
        version = table.game.version + rng.choice((0, 0, 0, 1))
        case.body = {"move": rng.choice(legal or MOVES), "version": version, "token": rng.choice((None, "again"))}
        if rng.random() < 0.3:
            case.body["deal"] = rng.choice((1, 1, 1, 2))
        if rng.random() < 0.2:
            case.body["then"] = rng.choices(legal or MOVES, k=rng.randrange(3))
        case.media_type = "application/json"

    if case.path.endswith("/orders") and case.method == "PUT" and rng.random() < 0.6:
        keep = rng.choices(("r5", "g0", "b7", "W", "WR4", ""), k=rng.randrange(3))
        body: dict[str, Any] = {
            "intercept": rng.choice(("never", "card", "face", "all")),
            "keep": keep,
            "call_uno": True,
        }
        case.body = body
        case.media_type = "application/json"


def legal_at(table: Table, seat: int) -> Sequence[rules.Move]:
    return rules.legal_moves(table.playing.position, seat, table.options) if table.playing else ()


@cache
def operations() -> dict[str, Any]:
    """Return the calls as Schemathesis knows them. That takes half a second, which the collection of tests need not."""
    schema = schemathesis.openapi.from_dict(api.get_openapi_schema())
    found = [result.ok() for result in schema.get_all_operations()]  # type: ignore[union-attr]  # ours is sound
    return {call.label: call for call in found}


def fuzz(label: str, tables: Sequence[Table]) -> Counter[int]:
    """Send generated requests for this call; count the statuses."""
    call = operations()[label]
    browsers = {user.username: logged_in(user) for user in User.objects.all()} | {"nobody": Client()}
    answered: Counter[int] = Counter()

    @settings(
        max_examples=REQUESTS,
        derandomize=True,
        deadline=None,
        database=None,
        suppress_health_check=SLOW,
        phases=[Phase.generate],
    )
    @given(
        case=call.as_strategy(generation_mode=GenerationMode.POSITIVE)
        | call.as_strategy(generation_mode=GenerationMode.NEGATIVE),
        asker=st.sampled_from(sorted(browsers)),
        rng=st.integers(0, 2**32).map(random.Random),
    )
    def requests_like_these(case: Case[Any], asker: str, rng: random.Random) -> None:
        deepen(case, tables, asker, rng)
        before = stored()
        answer = send(browsers[asker], case)
        answered[answer.status_code] += 1
        assert answer.status_code < 500, answer.content
        # The site refuses a NUL in an address before it asks who sent it.
        assert asker != "nobody" or answer.status_code in (401, 405) or "\0" in str(case.query.get("after"))
        if answer.status_code >= 400:
            packed = answer.headers.get("Content-Encoding") == "gzip"
            refusal = json.loads(gzip.decompress(answer.content) if packed else answer.content)
            assert refusal.keys() - {"view"} == {"error", "message", "rule", "version"}
            assert ("view" in refusal) is (refusal["error"] == "stale")
            assert refusal["message"]
        if answer.status_code >= 400 or case.method == "GET":
            assert stored() == before

    requests_like_these()
    return answered


@pytest.mark.parametrize("call", CALLS)
def test_every_call_gets_an_answer_of_the_api(
    call: str, tables: list[Table], charlie: User, mo: User, figure: Figure
) -> None:
    answered = fuzz(call, tables)
    figure(f"{call}: {dict(sorted(answered.items()))}")
    assert len(answered) > 1
    assert faulty_games() == {}


def test_the_scan_sees_a_view_that_breaks(tables: list[Table], monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> int:
        raise LookupError("seeded")

    monkeypatch.setattr(queries, "require_seat", broken)
    with pytest.raises(LookupError, match="seeded"):
        fuzz(MAKE_A_MOVE, tables)


def test_the_scan_sees_a_refusal_that_changes_something(tables: list[Table], monkeypatch: pytest.MonkeyPatch) -> None:
    honest = play.play_move

    def careless(*, code: str, **rest: Any) -> Table:
        Game.objects.filter(code=code).update(version=F("version") + 1)
        return honest(code=code, **rest)

    monkeypatch.setattr(play, "play_move", careless)
    with pytest.raises(AssertionError):
        fuzz(MAKE_A_MOVE, tables)
