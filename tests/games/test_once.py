"""A form sent twice makes one table, and one guest."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth import get_user
from django.db import connection
from django.test import Client
from django.utils import timezone

from accounts.models import User
from games.models import Game
from tests.conftest import logged_in
from tests.support.pages import CHOICES
from tests.support.web import at_once

URLS = {"/play-now/": {}, "/tables/new/": CHOICES}
forms = pytest.mark.parametrize("url", URLS)


def browser(secret: str = "a" * 32) -> Client:
    client = Client()
    client.cookies[settings.CSRF_COOKIE_NAME] = secret
    return client


def send(client: Client, url: str, form: str = "one") -> Any:
    return client.post(url, {**URLS[url], "form": form})


@pytest.mark.django_db
@forms
def test_a_visitor_s_form_sent_twice_makes_one_table_and_one_guest(url: str) -> None:
    first, second = browser(), browser()
    answers = [send(first, url), send(second, url)]
    assert [answer.status_code for answer in answers] == [303, 303]
    assert len({answer.headers["Location"] for answer in answers}) == 1
    guest = User.objects.get(is_guest=True)
    assert Game.objects.get().host == guest == get_user(first) == get_user(second)


@pytest.mark.django_db
@forms
def test_a_person_s_form_sent_twice_makes_one_table(url: str, alice: User) -> None:
    client = logged_in(alice)
    client.cookies[settings.CSRF_COOKIE_NAME] = "a" * 32
    assert send(client, url).headers["Location"] == send(client, url).headers["Location"]
    assert Game.objects.get().host == alice


@pytest.mark.django_db(transaction=True)
@forms
def test_of_two_clicks_at_one_instant_one_makes_the_table(url: str) -> None:
    def click(wait: Callable[[], object]) -> Any:
        client = browser()
        wait()
        return send(client, url).headers["Location"]

    assert len(set(at_once([click] * 4))) == 1
    assert (Game.objects.count(), User.objects.count()) == (1, 1)


@pytest.mark.django_db
@forms
def test_another_form_and_another_browser_make_another_table(url: str) -> None:
    send(browser(), url)
    send(browser(), url, form="two")
    send(browser("b" * 32), url)
    assert (Game.objects.count(), User.objects.filter(is_guest=True).count()) == (3, 3)


@pytest.mark.django_db
def test_a_form_that_came_from_nowhere_makes_a_table_each_time() -> None:
    for client, form in ((Client(), "one"), (Client(), "one"), (browser(), ""), (browser(), ""), (browser(), "x" * 65)):
        assert send(client, "/play-now/", form).status_code == 303
    assert Game.objects.count() == 5


@pytest.mark.django_db
def test_a_form_that_came_from_nowhere_touches_no_other_table() -> None:
    statements: list[str] = []

    def note(execute: Callable[..., Any], sql: str, params: object, many: bool, context: object) -> Any:
        statements.append(str(sql))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(note):
        send(browser(), "/play-now/", "")
    assert not [sql for sql in statements if "form" in sql.split("WHERE")[-1] and "UPDATE" in sql]


@pytest.mark.django_db
def test_a_form_sent_again_later_is_a_new_wish() -> None:
    client = browser()
    send(client, "/play-now/")
    Game.objects.update(created_at=timezone.now() - timedelta(minutes=2))
    send(client, "/play-now/")
    assert Game.objects.count() == 2


@pytest.mark.django_db
def test_nobody_gets_somebody_else_s_table_by_their_form(alice: User, bob: User) -> None:
    for user in (alice, bob):
        client = logged_in(user)
        client.cookies[settings.CSRF_COOKIE_NAME] = "a" * 32
        send(client, "/play-now/")
    assert {game.host for game in Game.objects.all()} == {alice, bob}


@pytest.mark.django_db
def test_every_such_form_carries_a_token_of_its_own(alice: User) -> None:
    pages = [(Client(), "/"), (Client(), "/tables/new/"), (logged_in(alice), "/"), (logged_in(alice), "/tables/new/")]
    found = [re.findall(r'name="form" value="([^"]+)"', client.get(url).content.decode()) for client, url in pages * 2]
    assert [len(tokens) for tokens in found] == [1] * 8
    assert len({token for tokens in found for token in tokens}) == 8
