"""`/metrics`: who reads it, and what it says."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any, Final

import psycopg
import pytest
from django.db import OperationalError
from django.test import Client
from django.utils import timezone

from accounts.models import User
from games.models import Game
from games.queries import backlog
from nomercy.launcher.place import CHECKOUT
from tests.conftest import api_token, logged_in
from tests.support.pages import open_table
from tests.support.tables import TWO_HANDS, table_at

pytestmark = pytest.mark.django_db

TOKEN: Final = "a-token-for-prometheus"


@pytest.fixture
def measured(settings: Any) -> None:
    settings.METRICS_TOKEN = TOKEN
    settings.MIDDLEWARE = ["nomercy.metrics.measure", *settings.MIDDLEWARE]


def read() -> dict[str, float]:
    """Return the values by name and labels."""
    answer = Client().get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
    assert answer.status_code == 200
    lines = [line for line in answer.content.decode().splitlines() if not line.startswith("#")]
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines)}


def test_there_is_no_page_without_a_token_in_the_settings(client: Client) -> None:
    for headers in ({}, {"Authorization": "Bearer "}, {"Authorization": f"Bearer {TOKEN}"}):
        assert client.get("/metrics", headers=headers).status_code == 404


def test_the_docs_name_the_host_that_must_be_allowed(measured: None, settings: Any) -> None:
    section = (CHECKOUT / "docs" / "operations.md").read_text().partition("### Metrics")[2].partition("\n### ")[0]
    (target,) = re.findall(r"targets: \[\"(.+?)\"\]", section)
    (allowed,) = re.findall(r"`ALLOWED_HOSTS=(.+?)`", section)
    for hosts, status in (([], 400), (allowed.split(","), 200)):
        settings.ALLOWED_HOSTS = ["cards.example.org", *hosts]
        headers = {"Authorization": f"Bearer {TOKEN}", "Host": target}
        assert Client().get("/metrics", headers=headers).status_code == status


def test_who_has_no_token_reads_nothing(
    measured: None, as_alice: Client, alice: User, django_assert_num_queries: Any
) -> None:
    own = f"Bearer {api_token(alice)}"
    wrong = ["", "Bearer", "Bearer ", "Bearer x", f"Basic {TOKEN}", f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}", own]
    for sent in wrong:
        with django_assert_num_queries(0):
            answer = Client().get("/metrics", headers={"Authorization": sent} if sent else {})
        assert (answer.status_code, answer["WWW-Authenticate"]) == (401, "Bearer"), sent
        assert b"nomercy_" not in answer.content
        assert "no-store" in answer["Cache-Control"]
    assert as_alice.get("/metrics").status_code == 401
    assert as_alice.post("/metrics").status_code == 405


@pytest.mark.long
def test_requests_and_refusals_are_counted(measured: None, alice: User, bob: User) -> None:
    before = read()
    game = table_at(TWO_HANDS, [alice, bob]).game
    browser, token = logged_in(alice), {"Authorization": f"Bearer {api_token(alice)}"}
    browser.get("/rules/")
    browser.get("/no/such/page/")
    browser.post(f"/games/{game.code}/move/", {"move": "play r9", "version": game.version})
    Client().get("/healthz")
    stale = {"move": "play r5", "version": 99}
    Client().post(f"/api/v1/games/{game.code}/moves", stale, content_type="application/json", headers=token)
    Client().get("/api/v1/me")
    after = read()

    def more(name: str) -> float:
        return after.get(name, 0) - before.get(name, 0)

    assert more('nomercy_request_seconds_count{kind="page"}') == 2
    assert more('nomercy_request_seconds_count{kind="move"}') == 2
    assert more('nomercy_request_seconds_count{kind="api"}') == 1
    assert more('nomercy_responses_total{kind="page",status="200"}') == 1
    assert more('nomercy_refusals_total{code="404",kind="page"}') == 1
    assert more('nomercy_refusals_total{code="not_in_hand",kind="move"}') == 1
    assert more('nomercy_refusals_total{code="stale",kind="move"}') == 1
    assert more('nomercy_refusals_total{code="unauthorized",kind="api"}') == 1


def test_what_waits_is_told(measured: None, alice: User, bob: User) -> None:
    table = table_at(TWO_HANDS, [alice, bob])
    late = timezone.now() - timedelta(minutes=5)
    Game.objects.filter(pk=table.game.pk).update(deadline=late, turn_since=late)
    moves = read()["nomercy_moves_total"]
    told = read()
    assert told['nomercy_overdue{what="clocks"}'] == 1
    assert told['nomercy_overdue_seconds{what="clocks"}'] > 290
    assert told["nomercy_untried_clocks"] + told["nomercy_failing_clocks"] <= 1
    assert told["nomercy_database_up"] == 1
    assert told["nomercy_mail_held"] == 0
    Game.objects.update(deadline=timezone.now() + timedelta(days=1))
    logged_in(alice).post(f"/games/{table.game.code}/move/", {"move": "play r5", "version": table.game.version})
    assert read()["nomercy_moves_total"] > moves


def test_no_label_names_anybody(measured: None, as_alice: Client, alice: User) -> None:
    game = open_table(alice, public=False)
    for path in (game.get_absolute_url(), f"/join/{game.invite_key}/", "/people/alice/", "/<script>/"):
        as_alice.get(path)
    labels = set(re.findall(r'(\w+)="([^"]*)"', "".join(read())))
    assert {name for name, _ in labels} <= {"kind", "status", "code", "what", "queue", "version", "le"}
    assert {value for name, value in labels if name == "kind"} <= {"page", "api", "move"}


def test_it_answers_without_the_database(measured: None, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*args: object, **more: object) -> None:
        raise OperationalError("the connection is closed") from psycopg.OperationalError()

    monkeypatch.setattr(backlog, "backlog", away)
    told = read()
    assert told["nomercy_database_up"] == 0
    assert "nomercy_moves_total" not in told
