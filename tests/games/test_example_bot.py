"""The bot in docs/ plays whole games over HTTP."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import subprocess
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest
from django.db import connections
from django.utils import timezone

from accounts.models import User
from games.actions import lobby
from games.models import Game
from nomercy.asgi import Application
from nomercy.launcher import embedded
from nomercy.launcher.embedded import ServerLoopLayer
from nomercy.launcher.place import CHECKOUT
from tests.conftest import api_token
from tests.faults.state import faulty_games
from tests.support.server import serving
from tests.support.sockets import thread_of_channels

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _thread_of_channels(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    yield from thread_of_channels(monkeypatch)


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The URL of a server for pages and the API. Moves are announced in its event loop."""
    # A connection that outlived its request would keep the test database from being emptied.
    monkeypatch.setitem(connections.settings["default"], "CONN_MAX_AGE", 0)
    application = embedded.whole_site()

    class Announced(Application):
        async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
            ServerLoopLayer.loop = asyncio.get_running_loop()
            await application(scope, receive, send)

    with serving(Announced()) as port:
        yield f"http://127.0.0.1:{port}"


def _example() -> ModuleType:
    spec = importlib.util.spec_from_file_location("example_bot", CHECKOUT / "docs" / "bot.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


example = _example()


def bot(site: str, token: str, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, CHECKOUT / "docs" / "bot.py", site, *arguments],
        env=os.environ | {"NOMERCY_TOKEN": token},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.long
def test_two_bots_play_a_game_to_its_end(site: str, alice: User, bob: User) -> None:
    options = lobby.TableChoices(players=2, bots=0)
    code = lobby.create_table(user=alice, choices=options, now=timezone.now()).game.code
    players = [bot(site, api_token(alice), "--until-over"), bot(site, api_token(bob), code, "--until-over")]
    for player in players:
        said, errors = player.communicate(timeout=60)
        assert (player.returncode, said, errors) == (0, "", "")
    game = Game.objects.get(code=code)
    assert game.status == Game.Status.OVER
    assert game.version > 5
    assert faulty_games() == {}


@pytest.mark.parametrize("callouts", [[], [{"seat": 2, "until": "2026-11-28T06:00:00Z"}]])
def test_it_makes_no_false_catch(callouts: list[dict[str, Any]]) -> None:
    view = {"legal": ["catch 1", "catch 2", "take"], "callouts": callouts, "turn": 0, "you": 0, "hand": ["r1"]}
    assert example.choose(view) == ("catch 2" if callouts else "take")


def test_it_presses_the_buzzer_out_of_turn() -> None:
    view = {"legal": ["buzz", "catch 1"], "callouts": [], "turn": 1, "you": 0, "hand": ["r1"]}
    assert example.choose(view) == "buzz"


def test_a_refusal_is_told(site: str, alice: User) -> None:
    wrong = bot(site, "no-such-token", "--until-over")
    assert "Log in, or send a valid token" in wrong.communicate(timeout=60)[1]
    assert wrong.returncode == 1


def test_it_makes_a_table_of_its_own(site: str, alice: User) -> None:
    player = bot(site, api_token(alice), "new")
    assert player.stdout is not None
    made = player.stdout.readline()
    player.terminate()
    player.communicate(timeout=60)
    assert made == f"made table {Game.objects.get().code}\n"
