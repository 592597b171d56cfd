"""Accounts say that a program plays for them, and tables can be without them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.test import Client
from django.utils import timezone

from accounts import mails
from accounts.actions import create_guest
from accounts.models import AccountMail, User
from games import queries
from games.actions import lobby, play, rematch
from games.actions.programs import declare_program
from games.api.routes import api
from games.models import AuditEntry, Game, Seat
from games.queries import Viewer
from games.refusals import Denied
from games.staff import tables
from tests.conftest import api_token, logged_in
from tests.support.codes import confirmed_browser
from tests.support.pages import CHOICES, open_table, text_of
from tests.support.staff import act
from tests.support.tables import TWO_HANDS, table_at

pytestmark = pytest.mark.django_db


def without(host: User, **options: Any) -> Game:
    """Make a table without programs that waits for players."""
    return open_table(host, players=3, programs=False, **options)


@pytest.fixture
def program(bob: User) -> User:
    declare_program(user=bob)
    return User.objects.get(pk=bob.pk)


def by_token(user: User) -> Client:
    return Client(headers={"authorization": f"Bearer {api_token(user)}"})


def join(code: str, user: User) -> queries.Table:
    return lobby.join(code=code, viewer=Viewer(user), now=timezone.now())


def test_a_program_cannot_sit_down_where_none_may(alice: User, program: User, charlie: User) -> None:
    code = without(alice).code
    with pytest.raises(Denied, match="No programs play at this table") as denied:
        join(code, program)
    assert denied.value.code == "forbidden"
    join(code, charlie)


def test_a_program_cannot_make_a_table_without_programs(program: User) -> None:
    with pytest.raises(Denied, match="No programs play at this table"):
        without(program)
    assert not Game.objects.exists()


def test_a_rematch_is_without_programs_too(alice: User, bob: User) -> None:
    table = table_at({**TWO_HANDS, "hands": [["r5"], ["b1"]]}, [alice, bob], programs=False)
    play.play_move(code=table.game.code, viewer=Viewer(alice), text="play r5 uno", version=0, now=timezone.now())
    again = rematch.ask_rematch(code=table.game.code, viewer=Viewer(alice), now=timezone.now())
    assert not again.game.programs


ACTS = {
    "join": ("post", "join", {}),
    "leave": ("post", "leave", {}),
    "start": ("post", "start", {}),
    "bots": ("post", "bots", {}),
    "rematch": ("post", "rematch", {}),
    "pause": ("post", "pause", {}),
    "resume": ("post", "resume", {}),
    "take-back": ("post", "take-back", {}),
    "moves": ("post", "moves", {"move": "play r5 uno", "version": 0}),
    "orders": ("put", "orders", {"intercept": "card"}),
}


def test_the_table_of_acts_has_every_call_that_writes_at_a_table() -> None:
    paths = api.get_openapi_schema()["paths"]
    at_a_table = {path: calls for path, calls in paths.items() if path.startswith("/api/v1/games/{code}/")}
    writes = {path.split("/")[-1] for path, calls in at_a_table.items() if {"post", "put", "delete"} & set(calls)}
    assert writes == set(ACTS)


@pytest.mark.parametrize("call_name", ACTS)
def test_no_api_token_plays_at_a_table_without_programs(alice: User, bob: User, call_name: str) -> None:
    method, call, body = ACTS[call_name]
    options = {"interceptions": "exact"} if call_name == "orders" else {}
    table = table_at(TWO_HANDS, [alice, bob], options=options, programs=False)
    url = f"/api/v1/games/{table.game.code}/{call}"
    program = by_token(alice)
    answer = getattr(program, method)(url, json.dumps(body), content_type="application/json")
    assert (answer.status_code, answer.json()["error"]) == (403, "forbidden")
    assert answer.json()["message"] == queries.NO_TOKENS
    answer = getattr(logged_in(alice), method)(url, json.dumps(body), content_type="application/json")
    assert answer.json().get("message") != queries.NO_TOKENS
    assert program.get(f"/api/v1/games/{table.game.code}").status_code == 200


def test_no_api_token_sits_down_at_a_table_without_programs(alice: User, bob: User) -> None:
    program = by_token(bob)
    game = without(alice)
    for url, body in ((f"games/{game.code}/join", {}), (f"join/{game.invite_key}", {}), ("games", {"programs": False})):
        answer = program.post(f"/api/v1/{url}", json.dumps(body), content_type="application/json")
        assert (answer.status_code, answer.json()["message"]) == (403, queries.NO_TOKENS), url
    assert not Seat.objects.filter(user=bob).exists()
    hidden = without(alice, public=False)
    assert program.post(f"/api/v1/games/{hidden.code}/join", "{}", content_type="application/json").status_code == 404
    browser = logged_in(bob)
    assert browser.post(f"/api/v1/games/{game.code}/join", "{}", content_type="application/json").status_code == 200


def test_everybody_sees_the_sign(alice: User, program: User) -> None:
    table = table_at(TWO_HANDS, [alice, program])
    page = logged_in(alice).get(table.game.get_absolute_url())
    assert "program" in text_of(page)
    seats = by_token(alice).get(f"/api/v1/games/{table.game.code}")
    assert [seat["program"] for seat in seats.json()["seats"]] == [False, True]
    waiting = open_table(program)
    assert "program" in text_of(logged_in(alice).get(waiting.get_absolute_url()))


def test_a_program_sees_its_own_sign_when_it_sits_down(alice: User, program: User) -> None:
    client, code = by_token(program), open_table(alice).code
    for url, signs in (("", [True]), (f"/{code}/join", [False, True])):
        answer = client.post(f"/api/v1/games{url}", {}, content_type="application/json").json()
        assert [seat["program"] for seat in answer["seats"]] == signs


def test_a_table_says_that_it_is_without_programs(alice: User) -> None:
    assert "No programs play here" in text_of(logged_in(alice).get(without(alice).get_absolute_url()))


def test_the_page_gives_the_sign_for_good(alice: User) -> None:
    EmailAddress.objects.create(user=alice, email=alice.email, verified=True)
    browser = confirmed_browser(alice)
    assert "This cannot be taken back" in text_of(browser.get("/accounts/me/program/"))
    for _ in range(2):
        assert browser.post("/accounts/me/program/").status_code == 303
        alice.refresh_from_db()
        assert alice.is_program
    assert "a program plays" in text_of(browser.get("/accounts/me/"))
    assert [mail.kind for mail in AccountMail.objects.all()] == [mails.PROGRAM_DECLARED]


def test_the_sign_needs_the_password_an_account_and_no_table_without_programs(alice: User, client: Client) -> None:
    url = "/accounts/me/program/"
    assert logged_in(alice).post(url).headers["Location"].startswith("/accounts/reauthenticate/")
    without(alice)
    refused = confirmed_browser(alice).post(url)
    assert refused.status_code == 403
    assert "Finish that game first, or leave it." in text_of(refused)
    client.post("/play-now/")  # a guest
    assert client.post(url).status_code == 403
    assert not User.objects.filter(is_program=True).exists()


@pytest.mark.parametrize("allowed", [True, False])
def test_the_form_and_the_api_make_such_tables(alice: User, allowed: bool) -> None:
    body = json.dumps({"programs": allowed})
    answer = logged_in(alice).post("/api/v1/games", body, content_type="application/json")
    assert answer.json()["programs"] is allowed
    form = CHOICES | {"way": "friends", "programs": "1" if allowed else "0"}
    assert logged_in(alice).post("/tables/new/", form).status_code == 303
    assert [game.programs for game in Game.objects.all()] == [allowed, allowed]


def test_a_guest_s_seat_at_a_table_without_programs_stays_with_the_guest(alice: User, program: User) -> None:
    guest = create_guest()
    waiting = without(alice)
    join(waiting.code, guest)
    other, over = (table_at(TWO_HANDS, [alice, guest], programs=programs) for programs in (True, False))
    Game.objects.filter(pk=over.game.pk).update(status=Game.Status.OVER, winner=0)
    browser = logged_in(guest)
    browser.post("/accounts/login/", {"login": "bob", "password": "bob"})
    answer = text_of(browser.post("/move-seats/", {"answer": "move"}, follow=True))
    assert f"2 games of {guest.name} moved to your account." in answer
    assert f"1 game of {guest.name} stayed behind: no programs play there" in answer
    owners = [Seat.objects.get(game=one, index=1).user for one in (waiting, other.game, over.game)]
    assert owners == [guest, program, program]


def test_staff_cannot_give_a_program_a_seat_where_none_may_sit(
    alice: User, charlie: User, ann: User, bob: User
) -> None:
    table = table_at(TWO_HANDS, [alice, charlie], programs=False)
    declare_program(user=bob)
    with pytest.raises(Denied, match=r"^A program plays for bob, and no programs play at this table\.") as denied:
        tables.move_seat(**act(table, ann, seat=1, username="bob"))
    assert denied.value.code == "forbidden"
    assert not AuditEntry.objects.exists()
