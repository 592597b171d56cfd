"""A session that ends during a request, for example by a log-out elsewhere, leads to the log-in page."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import OperationalError
from django.http import HttpRequest
from django.test import Client
from psycopg.errors import AdminShutdown

from accounts.models import Session, User
from games.actions import lobby
from games.api.auth import SessionAuth
from games.models import Game, Seat
from games.queries import Viewer
from nomercy.sessions import SessionStore
from tests.security.headers import faults
from tests.support.tables import NOON

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _ends_before_it_is_saved(as_alice: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    save = SessionStore.save

    def end_and_save(self: SessionStore, must_create: bool = False) -> None:
        if not must_create:
            Session.objects.filter(session_key=self.session_key).delete()
        save(self, must_create)

    monkeypatch.setattr(SessionStore, "save", end_and_save)


@pytest.fixture
def open_table(bob: User) -> Game:
    options = lobby.TableChoices(players=3, bots=0, public=False)
    return lobby.create_table(user=bob, choices=options, now=NOON).game


def test_a_page_leads_to_the_log_in_and_back(as_alice: Client) -> None:
    answer = as_alice.get("/next/?after=abc")  # which says in a message that no game is waiting
    assert (answer.status_code, answer["Location"]) == (302, "/accounts/login/?next=/next/%3Fafter%3Dabc")
    assert faults(answer) == []
    assert as_alice.get(answer["Location"]).status_code == 200


def test_the_effect_of_a_form_is_shown_after_the_log_in(as_alice: Client, alice: User, open_table: Game) -> None:
    answer = as_alice.post(f"/join/{open_table.invite_key}/")
    assert (answer.status_code, answer["Location"]) == (302, f"/accounts/login/?next=/games/{open_table.code}/")
    assert Seat.objects.filter(game=open_table, user=alice).exists()


def test_a_form_without_a_redirect_leads_to_the_log_in(as_alice: Client, open_table: Game, charlie: User) -> None:
    lobby.join(code=open_table.code, viewer=Viewer(charlie, [open_table.invite_key]), now=NOON)
    Game.objects.update(players=2)
    answer = as_alice.post(f"/join/{open_table.invite_key}/")  # full
    assert (answer.status_code, answer["Location"]) == (302, "/accounts/login/")


def test_a_fragment_sends_the_whole_page_to_the_log_in(as_alice: Client) -> None:
    headers = {"HX-Request": "true", "HX-Current-URL": "http://testserver/games/abc/?sort=color"}
    answer = as_alice.get("/next/", headers=headers)
    assert answer.status_code == 401
    assert answer["HX-Redirect"] == "/accounts/login/?next=/games/abc/%3Fsort%3Dcolor"


def test_the_api_answers_401(as_alice: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    authenticate = SessionAuth.authenticate

    def change_session(self: SessionAuth, request: HttpRequest, key: str | None) -> Any:
        request.session["changed"] = True
        return authenticate(self, request, key)

    monkeypatch.setattr(SessionAuth, "authenticate", change_session)
    answer = as_alice.post("/api/v1/games", {"bots": 3}, content_type="application/json")
    assert answer.status_code == 401
    assert answer.json()["error"] == "unauthorized"
    assert answer["WWW-Authenticate"] == "Bearer"
    assert Game.objects.count() == 1


def test_an_answer_whose_session_cannot_be_saved_is_kept_out_of_caches(
    as_alice: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(self: SessionStore, must_create: bool = False) -> None:
        raise OperationalError("the server is gone") from AdminShutdown("the server is gone")

    monkeypatch.setattr(SessionStore, "save", fail)
    as_alice.raise_request_exception = False
    answer = as_alice.get("/next/?after=abc")
    assert (answer.status_code, answer["Cache-Control"]) == (503, "no-store, private")
