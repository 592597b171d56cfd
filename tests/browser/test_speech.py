"""What a page says while a game goes on: each event once, causes first, much news summed up."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from accounts.models import User
from games.queries import Table
from tests.browser.game_page import NewPage, load_game, play
from tests.browser.speech import hears, record_speech, spoken
from tests.support.tables import TWO_HANDS, table_at


def listener(new_page: NewPage, user: User, table: Table) -> Page:
    """Open the game in a browser that records what it says."""
    page = new_page(user)
    record_speech(page)
    load_game(page, table.game)
    return page


def test_old_news_is_summed_up(new_page: NewPage, alice: User, bob: User) -> None:
    table = table_at(TWO_HANDS, [alice, bob])
    page = listener(new_page, alice, table)
    page.evaluate("""import(document.querySelector('script[src*="announce"]').src).then((module) => {
        module.update('0.1', 'bob leads with 2 cards.');
        module.say('word '.repeat(25).trim());  // while it is read, the rest gets old
        for (const move of [1, 2, 3]) module.say(`Move ${move}.`, { move });
        module.say('bob is out.');
        module.say('Move 4.', { move: 4 });
        module.say('It was your turn.', { version: '0.1' });
        module.update('1.1', 'bob leads with 1 card.');
        module.say('Your turn.', { version: '1.1' });
    })""")
    hears(page, "Your turn.")
    assert spoken(page)[1:] == ["4 more moves. bob leads with 1 card. bob is out. Your turn."]


def test_a_missed_uno_call_interrupts(new_page: NewPage, alice: User, bob: User) -> None:
    table = table_at({**TWO_HANDS, "hands": [["r5", "r6"], ["r4", "g3", "g4"]]}, [alice, bob])
    page = listener(new_page, bob, table)
    play(table, alice, "play r5")
    expect(page.locator("#live-assertive")).to_have_text("alice has one card left and did not call UNO.")
    hears(page, "alice plays Red 5. Your turn.")
    hears(page, "did not call UNO")


def test_two_answers_with_the_same_move_say_it_once(new_page: NewPage, alice: User, bob: User) -> None:
    table = table_at(TWO_HANDS, [alice, bob])
    page = listener(new_page, bob, table)
    play(table, alice, "play r5")
    hears(page, "alice plays Red 5.")
    address = page.locator("#main").get_attribute("hx-get")
    assert address is not None
    page.evaluate(f"htmx.ajax('GET', '{address.replace('since=1', 'since=0')}', {{target: '#main', swap: 'morph'}})")
    expect(page.locator("#events li")).to_have_count(1)
    page.wait_for_timeout(500)
    hears(page, "alice plays Red 5.")
    hears(page, "Your turn.")


def test_a_second_turn_is_said(new_page: NewPage, alice: User, bob: User) -> None:
    table = table_at({**TWO_HANDS, "hands": [["rS", "r6", "b2"], ["r4", "g3", "g4"]]}, [alice, bob])
    page = listener(new_page, alice, table)
    page.get_by_role("button", name="Red Skip").click()
    hears(page, "You play Red Skip. bob loses a turn. Your turn again. Red Skip, 1 of 2 fits.")


def test_a_call_by_key_is_said(new_page: NewPage, alice: User, bob: User) -> None:
    page = listener(new_page, alice, table_at({**TWO_HANDS, "hands": [["r5", "r6"], ["r4", "g3", "g4"]]}, [alice, bob]))
    page.keyboard.press("u")
    hears(page, "Call UNO: on.")
    page.keyboard.press("u")
    hears(page, "Call UNO: off.")


def test_a_key_is_answered_before_the_news(new_page: NewPage, alice: User, bob: User) -> None:
    table = table_at(TWO_HANDS, [alice, bob])
    page = listener(new_page, alice, table)
    page.evaluate("""import(document.querySelector('script[src*="announce"]').src).then((module) => {
        for (const number of [1, 2, 3]) module.say(`News number ${number} ${'word '.repeat(20)}`);
    })""")
    hears(page, "News number 1")
    page.keyboard.press("v")
    hears(page, "Red.")
    hears(page, "News number 3")
    said = " ".join(spoken(page))
    assert said.index("Red.") < said.index("number 2"), said


def test_no_announcement_has_more_than_25_words(new_page: NewPage, alice: User, bob: User) -> None:
    table = table_at(TWO_HANDS, [alice, bob])
    page = listener(new_page, alice, table)
    page.evaluate("""import(document.querySelector('script[src*="announce"]').src).then((module) => {
        module.say('word '.repeat(60).trim()); module.say('The end.');
    })""")
    hears(page, "The end.")
    assert [len(text.split()) for text in spoken(page)] == [25, 25, 12]
