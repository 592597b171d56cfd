"""What a page says while a game goes on: each event once, causes first, much news summed up."""

from __future__ import annotations

from typing import Final

import pytest
from playwright.sync_api import expect

from accounts.models import User
from tests.browser.game_page import NewPage, TableForTwo, load_game, play
from tests.browser.pauses import pause
from tests.browser.speech import RECORD_SPEECH, hears, spoken
from tests.support.tables import table_at


def test_old_news_is_summed_up(open_table: TableForTwo) -> None:
    page, _ = open_table(script=RECORD_SPEECH)
    page.evaluate("""import(performance.getEntriesByType("resource")
    .find(({ name }) => name.includes("/announce")).name).then((module) => {
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


def test_a_missed_uno_call_interrupts(open_table: TableForTwo) -> None:
    page, table = open_table(reader=1, script=RECORD_SPEECH, hands=[["r5", "r6"], ["r4", "g3", "g4"]])
    play(table, 0, "play r5")
    expect(page.locator("#live-assertive")).to_have_text("alice has one card left and did not call UNO.")
    hears(page, "alice: Red 5. Your turn.")
    hears(page, "did not call UNO")


def test_two_answers_with_the_same_move_say_it_once(open_table: TableForTwo) -> None:
    page, table = open_table(reader=1, script=RECORD_SPEECH)
    play(table, 0, "play r5")
    hears(page, "alice: Red 5.")
    address = page.locator("#main").get_attribute("hx-get")
    assert address is not None
    page.evaluate(f"htmx.ajax('GET', '{address.replace('since=1', 'since=0')}', {{target: '#main', swap: 'morph'}})")
    expect(page.locator("#events li")).to_have_count(1)
    page.wait_for_timeout(500)
    hears(page, "alice: Red 5.")
    hears(page, "Your turn.")


def test_a_tip_that_is_too_long_for_an_announcement_is_the_next_one(open_table: TableForTwo) -> None:
    page, table = open_table(script=RECORD_SPEECH, hands=[["r0", "b1", "WR4", "W6"], ["r2", "g3", "g4"]], turn=1)
    page.keyboard.press("h")
    page.keyboard.press("End")
    play(table, 1, "play r2")
    hears(page, "to the next player.")
    assert spoken(page) == [
        "bob: Red 2. Selected: Wild Draw Six. Your turn. 3 of 4 fit: Red 0, Wild Reverse Draw Four and Wild Draw Six.",
        "A 0 passes every hand to the next player.",
    ]


def test_a_second_turn_is_said(open_table: TableForTwo) -> None:
    page, _ = open_table(script=RECORD_SPEECH, hands=[["rS", "r6", "b2"], ["r4", "g3", "g4"]])
    page.get_by_role("button", name="Red Skip").click()
    hears(page, "You: Red Skip. Your turn again. 1 of 2 fits: Red 6.")


def test_a_call_by_key_is_said(open_table: TableForTwo) -> None:
    page, _ = open_table(script=RECORD_SPEECH, hands=[["r5", "r6"], ["r4", "g3", "g4"]])
    page.keyboard.press("u")
    hears(page, "Call UNO: on.")
    pause(page)
    page.keyboard.press("u")
    hears(page, "Call UNO: off.")


def test_a_key_is_answered_before_the_news(open_table: TableForTwo) -> None:
    page, _ = open_table(script=RECORD_SPEECH)
    page.evaluate("""import(performance.getEntriesByType("resource")
    .find(({ name }) => name.includes("/announce")).name).then((module) => {
        for (const number of [1, 2, 3]) module.say(`News number ${number} ${'syllables '.repeat(20)}`);
    })""")
    hears(page, "News number 1")
    page.keyboard.press("v")
    expect(page.locator("#live-polite")).to_contain_text("Red.", timeout=2500)  # while the first is read for 4 s
    hears(page, "News number 3")
    said = " ".join(spoken(page))
    assert said.index("Red.") < said.index("number 2"), said


def test_no_announcement_has_more_than_25_words(open_table: TableForTwo) -> None:
    page, _ = open_table(script=RECORD_SPEECH)
    page.evaluate("""import(performance.getEntriesByType("resource")
    .find(({ name }) => name.includes("/announce")).name).then((module) => {
        module.say('word '.repeat(30).trim()); module.say('The end.');
    })""")
    hears(page, "The end.")
    assert [len(text.split()) for text in spoken(page)] == [25, 7]


RED: Final = [f"r{number}" for number in (1, 2, 3, 4)]
ENDING: Final = {
    "draw_pile": ["b1", "b2", "y3", "g4", "g5", "b6", "y8", "g9", "W6"],
    "hands": [[], ["r+2", *RED], [f"{color}{number}" for color in "gby" for number in range(1, 9)], [*RED, "gS"]],
    "out": [0],
    "turn": 1,
    "discard_pile": ["r0"],
}
"""Seat 0 is out. Seat 1 knocks seat 2 out, which has 24 cards, and then plays faster than seat 3."""


@pytest.mark.parametrize("at_once", [True, False], ids=["in one update", "in many updates"])
def test_who_is_out_and_who_wins_is_said_however_fast_the_round_ends(
    new_page: NewPage, alice: User, bob: User, at_once: bool
) -> None:
    dora, carol = (User.objects.create_user(username=name) for name in ("dora", "carol"))
    table = table_at(ENDING, [alice, bob, dora, carol])
    page = new_page(alice, script=RECORD_SPEECH)
    load_game(page, table.game)
    fragments = f"**{table.game.get_absolute_url()}*"
    if at_once:
        page.route(fragments, lambda route: route.abort())
    play(table, 1, "play r+2")
    play(table, 2, "take")
    for card in RED:
        play(table, 3, f"play {card}")
        play(table, 1, f"play {card}")
    page.unroute(fragments)
    hears(page, "dora is out")
    hears(page, "bob wins the round")
    hears(page, "bob wins.")
