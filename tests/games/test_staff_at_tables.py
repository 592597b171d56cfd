"""Test all staff acts at tables: who may perform them, their pages, and that the game still replays."""

from __future__ import annotations

from accounts.models import User
from games.models import Game
from games.queries import Table
from games.rules.cards import card_name
from games.staff import tables
from tests.support.codes import staff_browser
from tests.support.pages import text_of
from tests.support.staff import act, dealt, entry_of, open_act

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


def test_hands_are_shown_in_the_response_only(dealt: Table, ann: User) -> None:
    page = open_act(staff_browser(ann), dealt.game, "look")
    assert not any(" ".join(hand) in page.source for hand in dealt.started.position.hands)
    shown = page.send()
    assert (shown.status, shown.answer.headers["Cache-Control"]) == (200, "no-store, private")
    for hand in dealt.started.position.hands:
        for card in hand:
            assert f"<span>{card_name(card)}</span>" in shown.source
    assert shown.source.count('<svg class="face ') == sum(map(len, dealt.started.position.hands))
    assert entry_of(dealt).act == "look"
