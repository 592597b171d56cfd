"""What an open page tells of the moves since it was made: sentences, banners and motions, by the reader."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final

import pytest
from django.conf import settings

from games.queries import GameView, RoundResult
from games.render.page_events import TELLINGS, Motion, PageEvents, page_events, recap
from games.rules import EVENTS, Event, Outcome, row_of
from games.rules.narration import ROWS
from tests.games.test_render import (
    CHALLENGED,
    DRAWN,
    DRAWN_IN_CLASSIC,
    NOW,
    OVER,
    OWED,
    PLAIN,
    RACE,
    RACING,
    ROULETTE,
    line,
    seen,
)

WAITING = {**PLAIN, "turn": 1}
ALL = {0, 1, 2, None}
FLIP = "Flip: the dark side"
MOVED = "Hands move on."
HOLD = "You hold {}’s hand now."
HOLD_2, HOLD_3 = "You now hold {}’s 2 cards.", "You now hold {}’s 3 cards."
LOT = "The lot falls on {}: +2"
SIX = "Wild Draw Six, green."


def told(view: GameView, *events: Event, seat: int = 1, since: int = 3, **asked: Any) -> PageEvents:
    """Return what a page at version `since` is told of a move 4 with these events."""
    return page_events(view, [line(4, seat, *events)], since=since, now=NOW, **asked)


def test_each_event_is_told_in_order_with_its_own_key() -> None:
    lines = [line(4, 2, Event("played", 2, "r+2"), Event("owes", 0, amount=2)), line(5, 1, Event("passed", 1))]
    events = page_events(seen(OWED), lines, since=3, now=NOW).events
    assert [(event.key, event.move, event.text) for event in events] == [
        ("4.0", 4, "Chen: Red Draw Two."),
        ("4.1", 4, ""),
        ("5.0", 5, "Bob passes."),
    ]


def test_a_page_that_did_not_show_the_end_of_its_round_is_told_of_the_next_deal() -> None:
    results = (RoundResult(1, Outcome(1, 10)),)
    view = replace(seen(PLAIN, target=1000), round=2, results=results)
    lines = [line(4, 0, Event("won", 1, points=10)), replace(line(5, 1, Event("played", 1, "r3")), round=2)]
    texts = ["Bob wins the round. That’s 10 points.", "Round 2 is dealt.", "Bob: Red 3."]
    for new in (lines, lines[:1]):
        events = page_events(view, new, since=3, now=NOW, deal=1)
        assert [event.text for event in events.events] == texts[: len(new) + 1]
        assert events.now.startswith("Your turn. ")


def test_a_page_that_is_up_to_date_is_told_nothing() -> None:
    assert told(seen(PLAIN), Event("played", 1, "r3"), since=4) == PageEvents(
        [], lead="Bob and Chen lead with 2 cards."
    )


BANNERS: list[tuple[Event, str, str, str]] = [
    (Event("called_uno", 1), "Bob has UNO", "", "Bob has UNO"),
    (Event("uno_due", 1), "Bob forgot UNO: catch! (U)", "You forgot UNO: call it! (U)", "Bob forgot UNO: catch! (U)"),
    (Event("caught", 0, target=1, amount=2), "Bob caught! +2", "Caught! +2", "Bob caught! +2"),
    (Event("false_catch", 1, target=0, amount=2), "", "No UNO call was due: +2", ""),
    (Event("owes", 1, amount=14), "", "+14 on you", ""),
    (Event("owes_color", 1, color="o"), "", "Draw until orange shows", ""),
    (Event("aimed", 0, target=1), "", "The roulette is on you", ""),
    (Event("knocked_out", 1), "No mercy: Bob is out", "No mercy: you’re out", "No mercy: Bob is out"),
    (
        Event("swapped", 0, target=1),
        HOLD.format("Bob"),
        f"Ann took your hand. {HOLD.format('Ann')}",
        "",
    ),
    (
        Event("passed_hands", 0, amount=1),
        f"{MOVED} {HOLD.format('Chen')}",
        f"{MOVED} {HOLD.format('Ann')}",
        MOVED,
    ),
    (Event("flipped", 0, card="o5", reason="dark"), FLIP, FLIP, FLIP),
    (Event("skipped", 1), "", "You lose a turn", ""),
    (Event("intercepted", 0, target=1), "", "Ann intercepted you", ""),
    (Event("challenged", 0, target=1, reason="right"), "Bob was bluffing!", "Caught bluffing!", ""),
    (Event("challenged", 0, target=1, reason="wrong"), "It was no bluff", "Ann was wrong: no bluff", ""),
    (Event("missed", 1, card="r5", amount=3), "", "It did not fit: 3 penalty points", ""),
    (Event("missed", 1, card="r5", amount=1), "", "It did not fit: 1 penalty point", ""),
    (Event("slowest", 1, amount=2), "Bob was slowest: +2", "You were slowest: +2", "Bob was slowest: +2"),
    (
        Event("slowest", 1, reason="lottery", amount=2),
        "The lot falls on Bob: +2",
        "The lot falls on you: +2",
        "The lot falls on Bob: +2",
    ),
    (Event("won", 1, points=10), "Bob wins the round", "You win the round", "Bob wins the round"),
    (Event("played", 1, "r5"), "", "", ""),
]


SENTENCES: list[tuple[Event, str, str, str]] = [
    (Event("owes", 1, amount=14), "", "", ""),
    (Event("owes_color", 1, color="o"), "", "", ""),
    (Event("aimed", 0, target=1), "", "", ""),
    (Event("named_color", 1, color="g"), "Bob: green.", "You choose green.", "Bob: green."),
    (Event("skipped", 1), "", "You lose a turn.", ""),
    (Event("skipped_everyone", 1), "", "", ""),
    (Event("window_closed", 1), "", "You can no longer be caught.", ""),
    (Event("found", 1, card="r5"), "", "", ""),
    (
        Event("swapped", 0, target=1),
        HOLD_3.format("Bob"),
        HOLD_2.format("Ann"),
        "Ann swaps with Bob.",
    ),
    (Event("drew", 1, amount=6, reason="stack"), "Bob draws 6.", "You draw 6.", "Bob draws 6."),
    (Event("slowest", 1, amount=2), "Bob was slowest: +2.", "You were slowest: +2.", "Bob was slowest: +2."),
    (Event("drew", 1, amount=2, reason="buzzer"), "", "You draw 2.", ""),
    (Event("played", 1, "W6", color="g"), f"Bob: {SIX}", f"You: {SIX}", f"Bob: {SIX}"),
    (Event("knocked_out", 1), "No mercy: Bob is out.", "No mercy: you are out.", "No mercy: Bob is out."),
]


def test_banners_and_short_sentences_speak_to_their_reader() -> None:
    views = [seen(PLAIN, you) for you in (0, 1, None)]
    for event, *banners in BANNERS:
        assert [told(view, event).events[0].banner for view in views] == banners, event
    for event, *sentences in SENTENCES:
        assert [told(view, event).events[0].text for view in views] == sentences, event


def test_the_direction_is_said_while_more_than_two_are_left() -> None:
    turned = Event("turned_round", 1, amount=1)
    assert told(seen(PLAIN), turned).events[0].text == "Now clockwise."
    without_chen = seen({**PLAIN, "hands": [["r5", "b1", "W6"], ["r4", "g3"], []], "out": [2]})
    assert told(without_chen, turned).events[0].text == ""


@pytest.mark.parametrize("drawn", [0, 1, 2])
def test_the_slowest_at_a_buzzer_draws_what_the_piles_have(drawn: int) -> None:
    drew = [Event("drew", 1, amount=drawn, reason="buzzer")] if drawn else []
    slowest = told(seen(PLAIN), Event("slowest", 1), *drew).events[0]
    assert (slowest.text, slowest.banner) == (f"Bob was slowest: +{drawn}.", f"Bob was slowest: +{drawn}")


def test_the_hand_that_a_player_holds_now_is_named_once_and_comes_from_who_had_it_then() -> None:
    passed = Event("passed_hands", 1, amount=-1)
    first, last = told(seen(PLAIN), passed, Event("swapped", 2, target=0)).events
    assert (first.banner, last.text) == (MOVED, HOLD_3.format("Chen"))
    without_bob = seen({**PLAIN, "hands": [["r5", "b1", "W6"], [], ["y1", "y2"]], "out": [1]})
    assert told(without_bob, passed).events[0].text == HOLD_3.format("Chen")
    assert told(without_bob, passed, Event("knocked_out", 1)).events[0].text == HOLD_3.format("Bob")
    dealt = replace(seen(PLAIN), round=2)
    assert told(dealt, passed).events[0].text == MOVED


def test_every_kind_with_a_banner_is_tested() -> None:
    with_banner = {name for name, telling in TELLINGS.items() if telling.seat or telling.target or telling.others}
    tested = [row_of(event) for event, *banners in BANNERS if any(banners)]
    assert {name for name in with_banner if not any(row.startswith(name) for row in tested)} == {"flipped/light"}


def test_what_is_told_in_a_way_of_its_own_is_the_name_of_a_sentence() -> None:
    assert [name for name in TELLINGS if name not in ROWS and name not in EVENTS] == []


@pytest.mark.parametrize(
    ("event", "sound", "heard", "kept"),
    [
        (Event("played", 1, "r5"), "card", ALL, set()),
        (Event("drew", 1, amount=4, reason="stack"), "draw", ALL, set()),
        (Event("called_uno", 1), "uno", ALL, set()),
        (Event("uno_due", 1), "uno", ALL, ALL),
        (Event("owes", 1, amount=4), "hit", {1}, {1}),
        (Event("swapped", 0, target=1), "", set(), {0, 1}),
        (Event("caught", 0, target=1, amount=2), "stamp", ALL, ALL),
        (Event("turned_over", 1, cards=("r1", "b3"), color="b", amount=2), "tick", ALL, set()),
        (Event("knocked_out", 1), "out", ALL, ALL),
        (Event("won", 1, points=10), "won", ALL, ALL),
        (Event("passed", 1), "", set(), set()),
    ],
    ids=lambda value: getattr(value, "kind", ""),
)
def test_an_event_has_the_sound_of_its_kind_and_may_never_be_summed_up(
    event: Event, sound: str, heard: set[int | None], kept: set[int | None]
) -> None:
    events = {you: told(seen(PLAIN, you), event).events[0] for you in ALL}
    assert {you: shown.sound for you, shown in events.items()} == {you: sound if you in heard else "" for you in ALL}
    assert {you for you, shown in events.items() if shown.kept} == kept


def test_the_page_makes_every_sound_that_an_event_has() -> None:
    script = (settings.CHECKOUT / "static/js/sounds.js").read_text()
    made = set(re.findall(r"^  (\w+): \[\[", script, re.MULTILINE))
    assert made == {telling.sound for telling in TELLINGS.values() if telling.sound} | {"turn"}


def test_a_missing_uno_call_interrupts_while_it_can_be_caught() -> None:
    view = seen(PLAIN)
    lines = [line(4, 1, Event("uno_due", 1)), replace(line(5, 2, Event("uno_due", 2)), at=NOW - timedelta(seconds=7))]
    first, last = page_events(view, lines, since=3, now=NOW).events
    assert (first.at_once, first.seconds) == (False, 0)
    assert (last.at_once, last.seconds) == (True, view.terms.callout - 7)


@pytest.mark.parametrize(
    ("event", "moved"),
    [
        (Event("played", 1, "r5"), Motion("play", 1)),
        (Event("shed", 1, cards=("r1", "r3"), color="r"), Motion("play", 1, faces=("r1", "r3"))),
        (Event("drew", 1, amount=4), Motion("draw", 1, many=4)),
        (Event("turned_over", 1, cards=("r1", "b3"), amount=2), Motion("turn", 1, many=2, faces=("r1", "b3"))),
        (Event("swapped", 1, target=0), Motion("swap", 1, 0)),
        (Event("passed_hands", 1, amount=-1), Motion("pass", 1, many=-1)),
        (Event("flipped", 1, card="o5", reason="dark"), Motion("flip", 1)),
        (Event("knocked_out", 1), Motion("topple", 1)),
        (Event("owes", 2, amount=4), Motion("stack", 2)),
        (Event("skipped", 2), None),
    ],
    ids=lambda value: getattr(value, "kind", ""),
)
def test_what_moves_on_the_table(event: Event, moved: Motion | None) -> None:
    assert told(seen(WAITING), event).events[0].motion == moved


def test_cards_that_later_ones_cover_come_with_the_event() -> None:
    lines = [line(4, 1, Event("played", 1, "r5")), line(5, 2, Event("played", 2, "r9"))]
    first, last = page_events(seen(PLAIN), lines, since=3, now=NOW).events
    assert first.motion == Motion("play", 1, faces=("r5",))
    assert last.motion == Motion("play", 2)


RED: Final = "2 of 3 fit: Red 5 and Wild Draw Six."
BLUE: Final = "2 of 3 fit: Blue 1 and Wild Draw Six."


@pytest.mark.parametrize(
    ("position", "preset", "said"),
    [
        (PLAIN, "no-mercy", f"Your turn. {RED}"),
        ({**PLAIN, "hands": [["r5", "r8", "r9", "r6", "b2"], ["r4"]]}, "no-mercy", "Your turn. 4 of 5 fit."),
        ({**PLAIN, "hands": [["b1", "b2"], ["r4"]]}, "no-mercy", "Your turn. Nothing fits."),
        ({**PLAIN, "discard_pile": ["W6"], "color": "b"}, "no-mercy", f"Your turn. The colour is blue. {BLUE}"),
        (OWED, "no-mercy", "Your turn. Stack or take 6. 1 of 3 fits: Wild Draw Six."),
        ({**OWED, "hands": [["b1", "b2"], ["r4"]]}, "no-mercy", "Your turn. Take 6."),
        ({**OWED, "hands": [["b1"] * 22, ["r4"]]}, "no-mercy", "Your turn. Take 6. Drawing puts you out."),
        ({**PLAIN, "hands": [["b1"] * 23, ["r4"]]}, "no-mercy", "Your turn. Nothing fits."),
        ({**PLAIN, "hands": [["b1"] * 24, ["r4"]]}, "no-mercy", "Your turn. Nothing fits. Drawing puts you out."),
        (ROULETTE, "no-mercy", "Your turn. Pick the roulette’s colour."),
        (DRAWN, "no-mercy", "Your turn. You drew Red 5: play it."),
        (CHALLENGED, "classic", "Your turn. Challenge Chen or take 4."),
        ({**PLAIN, "turn": 1}, "no-mercy", ""),
        (OVER, "no-mercy", "You win!"),
    ],
)
def test_the_turn_is_said_after_its_cause(position: Any, preset: str, said: str) -> None:
    state: dict[str, Any] = {"status": "over", "winner": 0} if position is OVER else {}
    assert told(seen(position, preset=preset, **state), Event("played", 1, "r3")).now == said


def test_the_play_that_the_turn_does_not_name_again_is_never_summed_up() -> None:
    lines = [line(4, 1, Event("played", 1, "r3")), line(5, 2, Event("played", 2, "r3"))]
    for turn, kept in ((0, [False, True]), (1, [False, False])):
        found = page_events(seen({**PLAIN, "turn": turn}), lines, since=3, now=NOW)
        assert [event.kept for event in found.events] == kept
    roulette = line(
        6, 2, Event("named_color", 2, color="b"), Event("turned_over", 2, cards=("b1",), color="b", amount=1)
    )
    wild = seen({**PLAIN, "discard_pile": ["WC"], "color": "b"})
    assert page_events(wild, [*lines, roulette], since=3, now=NOW).now == f"Your turn. {BLUE}"
    drawn = [*lines, line(6, 2, Event("drew", 2, amount=1, reason="turn"))]
    assert page_events(seen(PLAIN), drawn, since=3, now=NOW).now == f"Your turn. Red 3 is on top. {RED}"


def test_a_debt_and_a_second_turn_in_a_row_are_said_once() -> None:
    told_now = told(seen(OWED), Event("played", 1, "r+2"), Event("owes", 0, amount=6))
    assert (told_now.events[-1].text, told_now.now) == ("", "Your turn. Stack or take 6. 1 of 3 fits: Wild Draw Six.")
    events = (Event("played", 0, "rS"), Event("skipped", 1))
    assert told(seen(PLAIN), *events, seat=0).now == f"Your turn again. Red 3 is on top. {RED}"


def test_a_drawn_card_is_named_once() -> None:
    drew = Event("drew", 0, amount=1, cards=("r5",), reason="turn")
    classic = seen(DRAWN_IN_CLASSIC, preset="classic")
    for view, now in ((seen(DRAWN), "Play it."), (classic, "Play or keep?")):
        found = told(view, drew, seat=0)
        assert (found.events[0].text, found.events[0].kept, found.now) == ("You draw Red 5.", True, now)
    two = Event("drew", 0, amount=2, cards=("b1", "r5"), reason="turn")
    assert told(seen(DRAWN), two, seat=0).now == "You drew Red 5: play it."


def test_the_deadline_is_said_within_its_last_hour_unless_only_bots_wait() -> None:
    def said(bot: str = "", **left: int) -> str:
        view = seen(PLAIN, deadline=NOW + timedelta(**left))
        others = [replace(seat, bot=bot) for seat in view.seats[1:]]
        return told(replace(view, seats=(view.seats[0], *others)), Event("played", 1, "r3")).now

    assert said(hours=2) == f"Your turn. {RED}"
    assert said(minutes=12) == f"Your turn. {RED} 12 min left."
    assert said("careful", minutes=12) == f"Your turn. {RED}"


def test_a_race_for_the_buzzer_is_said() -> None:
    assert told(seen(RACE, **RACING), Event("played", 2, "BZ")).now == "BUZZ!"


def test_a_round_that_staff_cancelled_is_told_without_its_moves() -> None:
    view = replace(seen(PLAIN), round=2)
    found = told(view, Event("played", 1, "r3"), deal=1)
    assert [(event.key, event.text, event.banner) for event in found.events] == [
        ("void-1", "Staff cancelled round 1; it was dealt again.", "Staff cancelled round 1")
    ]
    assert told(view, Event("played", 1, "r3")).events[0].key == "4.0"


def test_a_page_that_was_just_opened_has_what_its_reader_missed() -> None:
    lines = [
        line(2, 1, Event("played", 1, "r9")),
        line(3, 0, Event("played", 0, "r5")),
        line(4, 1, Event("played", 1, "r4")),
        line(5, 2, Event("drew", 2, amount=2)),
    ]
    missed = recap(seen(PLAIN), lines, now=NOW)
    assert [(event.key, event.motion) for event in missed.events] == [
        ("4.0", Motion("play", 1, faces=("r4",))),
        ("5.0", Motion("draw", 2, many=2)),
    ]
    assert missed.now == ""
    assert recap(seen(PLAIN, None), lines, now=NOW) == PageEvents()
    assert recap(seen(PLAIN), lines[:2], now=NOW) == PageEvents()


@pytest.mark.parametrize(
    ("hands", "you", "lead"),
    [
        ([["r5"], ["r4", "g3"], ["y1", "y2"]], 0, "You lead with 1 card."),
        ([["r5"], ["r4", "g3"], ["y1", "y2"]], 1, "Ann leads with 1 card."),
        ([["r5"], ["r4"], ["y1", "y2"]], 0, "You and Bob lead with 1 card."),
        ([["r5"], ["r4"], ["y1"]], 0, "3 players lead with 1 card."),
    ],
)
def test_who_leads(hands: list[list[str]], you: int, lead: str) -> None:
    declared = [seat for seat, hand in enumerate(hands) if len(hand) == 1]
    assert told(seen({**PLAIN, "hands": hands, "declared": declared}, you), Event("passed", 1)).lead == lead
