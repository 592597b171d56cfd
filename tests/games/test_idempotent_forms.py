"""Test that a form sent twice makes one table and one guest."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth import get_user
from django.db import connection, transaction
from django.test import Client
from django.utils import timezone

from accounts.actions import promote_guest
from accounts.models import User
from games import queries
from games.actions import guests, lobby, seating
from games.locks import lock_game
from games.models import Game
from games.queries import Viewer
from tests.conftest import logged_in
from tests.support.pages import CHOICES, Page
from tests.support.tables import NOON
from tests.support.web import at_once

URLS = {"/play-now/": {}, "/tables/new/": CHOICES}
forms = pytest.mark.parametrize("url", URLS)
pytestmark = pytest.mark.django_db


def browser(secret: str = "a" * 32, user: User | None = None) -> Client:
    """Return a browser with this CSRF token, of a visitor or of a person."""
    client = Client() if user is None else logged_in(user)
    client.cookies[settings.CSRF_COOKIE_NAME] = secret
    return client


def send(client: Client, url: str, form: str = "one") -> Any:
    return client.post(url, {**URLS[url], "form": form})


def hidden(page: Page) -> dict[str, str]:
    """Return the hidden fields of the first form of a page that makes something."""
    return {name: page.values(name)[0] for name in ("form", "csrfmiddlewaretoken")}


def logs_in_as_nobody_of(client: Client, *users: User) -> bool:
    """Return True if a browser was logged in as a person, and as none of these."""
    return get_user(client).pk not in (None, *(user.pk for user in users))


@forms
def test_the_second_of_two_clicks_leads_to_the_table_although_the_csrf_token_changed(url: str) -> None:
    client = Client(enforce_csrf_checks=True)
    sent = URLS[url] | hidden(Page(client.get("/" if url == "/play-now/" else url)))
    first, second = client.post(url, sent), client.post(url, sent)
    assert (first.status_code, second.status_code) == (303, 303)
    assert first.headers["Location"] == second.headers["Location"]
    assert Game.objects.count() == 1
    assert client.post(url, {**sent, "form": "another"}).status_code == 403
    assert Client(enforce_csrf_checks=True).post(url, sent).status_code == 403


@pytest.mark.long
@forms
def test_a_visitors_form_sent_twice_creates_one_table_and_one_guest(url: str) -> None:
    first, second = browser(), browser()
    answers = [send(first, url), send(second, url)]
    assert [answer.status_code for answer in answers] == [303, 303]
    assert len({answer.headers["Location"] for answer in answers}) == 1
    guest = User.objects.get(is_guest=True)
    assert Game.objects.get().host == guest == get_user(first) == get_user(second)


@forms
def test_a_users_form_sent_twice_creates_one_table(url: str, alice: User) -> None:
    client = browser(user=alice)
    assert send(client, url).headers["Location"] == send(client, url).headers["Location"]
    assert Game.objects.get().host == alice


@pytest.mark.django_db(transaction=True)
@forms
def test_two_clicks_at_one_instant_make_one_table(url: str) -> None:
    def click(wait: Callable[[], object]) -> Any:
        client = browser()
        wait()
        return send(client, url).headers["Location"]

    assert len(set(at_once([click] * 4))) == 1
    assert (Game.objects.count(), User.objects.count()) == (1, 1)


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("times", [1, 4])
def test_a_form_with_a_name_that_is_sent_again_leads_to_its_table(times: int) -> None:
    def post(form: str = "one", wait: Callable[[], object] = lambda: None) -> str:
        client = browser()
        wait()
        answer = client.post("/tables/new/", {**CHOICES, "form": form, "name": "Anna"})
        return str(answer.headers.get("Location", answer.status_code))

    first = at_once([partial(post, "one")] * times)
    assert {*first, post()} == {Game.objects.get().get_absolute_url()}
    assert [guest.name for guest in User.objects.all()] == ["Anna"]
    assert post("two") == "422"


@forms
def test_another_form_or_browser_creates_another_table(url: str) -> None:
    send(browser(), url)
    send(browser(), url, form="two")
    send(browser("b" * 32), url)
    assert (Game.objects.count(), User.objects.filter(is_guest=True).count()) == (3, 3)


def test_a_form_without_an_id_makes_a_table_each_time_and_changes_no_other() -> None:
    for client, form in ((Client(), "one"), (Client(), "one"), (browser(), ""), (browser(), ""), (browser(), "x" * 65)):
        assert send(client, "/play-now/", form).status_code == 303
    assert Game.objects.count() == 5
    statements: list[str] = []

    def note(execute: Callable[..., Any], sql: str, params: object, many: bool, context: object) -> Any:
        statements.append(str(sql))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(note):
        send(browser(), "/play-now/", "")
    assert not [sql for sql in statements if "form" in sql.split("WHERE")[-1] and "UPDATE" in sql]


def test_a_form_sent_again_later_or_by_another_person_makes_another_table(alice: User, bob: User) -> None:
    client = browser()
    send(client, "/play-now/")
    Game.objects.update(created_at=timezone.now() - timedelta(minutes=2))
    send(client, "/play-now/")
    assert Game.objects.count() == 2
    for user in (alice, bob):
        send(browser(user=user), "/play-now/")
    assert {game.host for game in Game.objects.all()} >= {alice, bob}


def give_table_away(game: Game, victim: User) -> None:
    """Let the guest who made the table leave it, so that the victim becomes its host."""
    guest = game.host
    assert guest is not None
    lobby.join(code=game.code, viewer=Viewer(victim), now=NOON)
    lobby.leave_table(code=game.code, viewer=Viewer(guest), now=NOON)


def give_seat_away(game: Game, victim: User) -> None:
    """Give the seat of the guest who made the table, and so the table, to the victim by a staff act."""
    with transaction.atomic():
        table = queries.load(lock_game(pk=game.pk))
        seating.change_owner(table, table.seats[0], person=victim, now=NOON)


def move_to_account(game: Game, victim: User) -> None:
    """Let the guest who made the table log in to the victim's account, which takes over the seat."""
    assert game.host is not None
    guests.move_seats(guest=game.host, user=victim, now=NOON)


def become_host_in_the_database(game: Game, victim: User) -> None:
    """Change the host in a way that no action does."""
    Game.objects.filter(pk=game.pk).update(host=victim)


@pytest.mark.long
@pytest.mark.parametrize(
    ("change_host", "role"),
    [
        (give_table_away, "person"),
        (give_seat_away, "superuser"),
        (move_to_account, "person"),
        (become_host_in_the_database, "guest"),
    ],
)
def test_a_form_sent_again_never_logs_in_as_the_next_host(
    change_host: Callable[[Game, User], None], role: str, alice: User
) -> None:
    User.objects.filter(pk=alice.pk).update(is_superuser=role == "superuser", is_guest=role == "guest")
    send(browser(), "/tables/new/")
    game = Game.objects.get()
    change_host(game, User.objects.get(pk=alice.pk))
    again = browser()
    assert send(again, "/tables/new/").status_code == 303
    assert logs_in_as_nobody_of(again, alice)
    assert Game.objects.get(pk=game.pk).host == alice
    assert Game.objects.exclude(pk=game.pk).get().host == get_user(again)


@pytest.mark.long
@forms
def test_a_form_sent_again_never_logs_in_as_the_guest_who_has_signed_up(url: str) -> None:
    send(browser(), url)
    guest = User.objects.get()
    guest.username = "dora"
    promote_guest(user=guest)
    guest.save()
    again = browser()
    assert send(again, url).status_code == 303
    assert logs_in_as_nobody_of(again, guest)


def test_a_logged_in_person_s_form_logs_nobody_in(alice: User) -> None:
    send(browser(user=alice), "/tables/new/")
    stranger = browser()
    send(stranger, "/tables/new/")
    assert logs_in_as_nobody_of(stranger, alice)


@pytest.mark.django_db(transaction=True)
def test_simultaneous_forms_never_log_in_as_the_new_host(alice: User) -> None:
    send(browser(), "/tables/new/")
    game = Game.objects.get()
    clients = [browser() for _ in range(4)]

    def replay(client: Client, wait: Callable[[], object]) -> None:
        wait()
        assert send(client, "/tables/new/").status_code == 303

    def leave(wait: Callable[[], object]) -> None:
        wait()
        give_table_away(game, alice)

    at_once([leave, *(partial(replay, client) for client in clients)])
    assert alice.pk not in {get_user(client).pk for client in clients}


# Sitting down


def table_of(host: User, **options: Any) -> Game:
    return lobby.create_table(user=host, choices=lobby.TableChoices(**options), now=timezone.now()).game


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("name", [{}, {"name": "Anna"}])
def test_a_visitor_who_sits_down_twice_at_one_instant_takes_one_seat(alice: User, name: dict[str, str]) -> None:
    game = table_of(alice, players=2)

    def click(wait: Callable[[], object]) -> int:
        client = browser()
        wait()
        assert client.post(f"/games/{game.code}/join/", {"form": "one", **name}).status_code == 303
        return int(get_user(client).pk or 0)

    (guest,) = set(at_once([click] * 3))
    assert [seat.user_id for seat in game.seats.order_by("index")] == [alice.pk, guest]


def test_the_second_click_on_sit_down_leads_to_the_table_although_the_csrf_token_changed(alice: User) -> None:
    game = table_of(alice, players=2)
    client = Client(enforce_csrf_checks=True)
    sent = hidden(Page(client.get(game.get_absolute_url())))
    for _ in range(2):
        answer = client.post(f"/games/{game.code}/join/", sent)
        assert (answer.status_code, answer.headers.get("Location")) == (303, game.get_absolute_url())
    assert get_user(client).pk == game.seats.get(index=1).user_id


@pytest.mark.parametrize(
    ("secret", "form", "change"),
    [
        ("a", "one", {"date_joined": timezone.now() - timedelta(minutes=1)}),
        ("a", "two", {}),
        ("b", "one", {}),
        ("a", "one", {"is_guest": False}),
    ],
    ids=["made a minute ago", "made by another form", "made by another browser", "signed up since"],
)
def test_sitting_down_again_logs_in_only_as_the_guest_that_the_form_has_made(
    alice: User, secret: str, form: str, change: dict[str, Any]
) -> None:
    game = table_of(alice, players=4)
    join = f"/games/{game.code}/join/"
    browser(secret * 32).post(join, {"form": form})
    User.objects.filter(is_guest=True).update(**change)
    client = browser()
    assert client.post(join, {"form": "one"}).status_code == 303
    assert get_user(client).pk == game.seats.get(index=2).user_id


@pytest.mark.long
def test_every_such_form_has_its_own_token(as_alice: Client) -> None:
    tokens = [
        Page(client.get(url)).values("form") for client in (Client(), as_alice) for url in ("/", "/tables/new/") * 2
    ]
    assert [len(found) for found in tokens] == [1] * 8
    assert len({token for found in tokens for token in found}) == 8
