"""Test all staff acts at tables: who may perform them, their pages, and that the game still replays."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import User
from games.models import AuditEntry, Game, Seat
from games.queries import Table
from games.rules.cards import card_name
from games.staff import tables
from games.staff.acts import TABLE_ACTS
from tests.support.codes import staff_browser
from tests.support.pages import text_of
from tests.support.staff import REASON, act, dealt, entry_of

__all__ = ["dealt"]  # the fixture


def test_the_page_to_choose_a_seat_says_whose_seat_staff_may_not_touch(dealt: Table, mo: User, bob: User) -> None:
    User.objects.filter(pk=bob.pk).update(is_staff=True)
    browser = staff_browser(mo)
    page = text_of(browser.get(f"/admin/games/game/{dealt.game.pk}/act/remove/"))
    assert "Remove alice, seat 1" in page
    assert "Remove bob, seat 2: Only an admin can do this to a staff member." in page
    assert 'href="?seat=1"' not in browser.get(f"/admin/games/game/{dealt.game.pk}/act/remove/").content.decode()


def test_a_paused_game_says_how_to_void_its_round(dealt: Table, mo: User) -> None:
    browser, page = staff_browser(mo), f"/admin/games/game/{dealt.game.pk}/change/"
    said = "To void the round, resume the game first."
    assert said not in text_of(browser.get(page))
    tables.pause(**act(dealt, mo))
    assert said in text_of(browser.get(page))
    Game.objects.filter(pk=dealt.game.pk).update(paused_reasons=[Game.PAUSED_BY_RESTORE])
    assert said not in text_of(browser.get(page))  # staff cannot end that pause


FORMS: dict[str, dict[str, Any]] = {
    "extend": {"amount": "30"},
    "forgive": {"seat": "1"},
    "remove": {"seat": "1", "instead": "aside"},
    "move_seat": {"seat": "1", "username": "dora"},
}


@pytest.fixture
def browser(dealt: Table, ann: User) -> Client:
    User.objects.create_user(username="dora")
    Seat.objects.filter(game=dealt.game, index=1).update(misses=1)
    return staff_browser(ann)


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(set(TABLE_ACTS) - {"say", "close", "resume", "look"}))
def test_the_page_of_an_act_explains_and_performs_it(dealt: Table, browser: Client, name: str) -> None:
    back = f"/admin/games/game/{dealt.game.pk}/change/"
    url = f"/admin/games/game/{dealt.game.pk}/act/{name}/"
    Game.objects.filter(pk=dealt.game.pk).update(deadline=timezone.now() + timedelta(hours=1))
    assert url in browser.get(back).content.decode()
    body = browser.get(url, {"seat": "1"} if TABLE_ACTS[name].seats else {}).content.decode()
    assert all(sentence.replace("'", "&#x27;") in body for sentence in TABLE_ACTS[name].consequences)
    assert browser.post(url, FORMS.get(name, {})).status_code == 422
    assert not AuditEntry.objects.exists()
    answer = browser.post(url, {**FORMS.get(name, {}), "reason": REASON})
    assert (answer.status_code, answer.headers.get("Location")) == (302, back)
    assert entry_of(dealt).act == name
    assert REASON in browser.get(back).content.decode()


def test_hands_are_shown_in_the_response_only(dealt: Table, browser: Client) -> None:
    url = f"/admin/games/game/{dealt.game.pk}/act/look/"
    assert not any(" ".join(hand) in browser.get(url).content.decode() for hand in dealt.started.position.hands)
    answer = browser.post(url, {"reason": REASON})
    assert answer.status_code == 200
    assert answer.headers["Cache-Control"] == "no-store, private"
    page = answer.content.decode()
    for hand in dealt.started.position.hands:
        for card in hand:
            assert f"<span>{card_name(card)}</span>" in page
    assert page.count('<svg class="face ') == sum(map(len, dealt.started.position.hands))
    assert entry_of(dealt).act == "look"
