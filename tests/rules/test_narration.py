"""Events as sentences: to the player, to the target and to others."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import pytest

from common.say import Message
from games.rules import EVENTS, PRESETS, Event, redact, sentence
from games.rules.narration import ROWS, row_of
from tests.rules.strategies import play

NAMES = ("Ann", "Bob", "Cyn")

VOICES = [
    (
        Event("drew", 1, amount=4, reason="stack"),
        "You draw 4 cards and lose the turn.",
        "Bob draws 4 cards and loses the turn.",
    ),
    (Event("drew", 1, amount=1, cards=("r5",), reason="turn"), "You draw Red 5.", "Bob draws 1 card."),
    (
        Event("drew", 1, amount=2, reason="caught"),
        "You draw 2 cards for not calling UNO.",
        "Bob draws 2 cards for not calling UNO.",
    ),
    (
        Event("drew", 1, amount=2, cards=("r5", "yE"), reason="clock"),
        "You draw 2 cards: Red 5, Yellow Skip Everyone.",
        "Bob draws 2 cards.",
    ),
    (
        Event("found", 1, "r5"),
        "You have drawn a playable card: Red 5.",
        "Bob has drawn a playable card.",
    ),
    (
        Event("played", 1, "W6", "g"),
        "You play Wild Draw Six and choose green.",
        "Bob plays Wild Draw Six and chooses green.",
    ),
    (Event("swapped", 1, target=0), "You swap hands with Ann.", "Bob swaps hands with Ann."),
    (Event("caught", 1, target=0, amount=2), "You catch Ann not calling UNO.", "Bob catches Ann not calling UNO."),
    (
        Event("turned_over", 1, color="g", amount=2, cards=("W6", "g1")),
        "You turn over 2 cards: Wild Draw Six, Green 1.",
        "Bob turns over 2 cards: Wild Draw Six, Green 1.",
    ),
    (Event("shed", 1, color="r", cards=("r1", "r2")), "You shed Red 1, Red 2.", "Bob sheds Red 1, Red 2."),
    (Event("owes", 1, amount=6), "You owe 6 cards.", "Bob owes 6 cards."),
    (Event("skipped", 1), "You lose a turn.", "Bob loses a turn."),
    (
        Event("knocked_out", 1),
        "You reach the mercy limit and are out of the round.",
        "Bob reaches the mercy limit and is out of the round.",
    ),
    (Event("named_color", 1, color="b"), "You choose blue.", "Bob chooses blue."),
    (
        Event("won", 1, points=57, reason="last_card"),
        "You win the round. That’s 57 points.",
        "Bob wins the round. That’s 57 points.",
    ),
    (
        Event("won", 1, points=(3, 0), reason="last_one_in"),
        "You win the round as the last player standing.",
        "Bob wins the round as the last player standing.",
    ),
    (
        Event("won", 1, points=1250, reason="last_one_in"),
        "You win the round as the last player standing. That’s 1,250 points.",
        "Bob wins the round as the last player standing. That’s 1,250 points.",
    ),
    (
        Event("won", 1, points=1, reason="debt_ended"),
        "You win the round because the stack is cancelled. That’s 1 point.",
        "Bob wins the round because the stack is cancelled. That’s 1 point.",
    ),
    (
        Event("won", 1, points=(3, 0), reason="nobody_can_move"),
        "You win the round because nobody can move.",
        "Bob wins the round because nobody can move.",
    ),
    (Event("drew", 1, amount=4, reason="debt"), "You draw 4 cards.", "Bob draws 4 cards."),
    (
        Event("drew", 1, amount=2, reason="buzzer"),
        "You draw 2 cards for the buzzer.",
        "Bob draws 2 cards for the buzzer.",
    ),
    (Event("owes_color", 1, color="u"), "You have to draw until purple shows.", "Bob has to draw until purple shows."),
    (
        Event("missed", 1, "b9", amount=1),
        "You play Blue 9 out of turn. It does not fit, which costs 1 penalty point.",
        "Bob plays Blue 9 out of turn. It does not fit, which costs 1 penalty point.",
    ),
    (Event("pressed", 1), "You press the buzzer.", "Bob presses the buzzer."),
    (Event("slowest", 1), "You are the slowest to press.", "Bob is the slowest to press."),
    (Event("slowest", 1, reason="lottery"), "The lot falls on you.", "The lot falls on Bob."),
    (Event("stack_gone", 1, amount=6), "The 6-card stack is cancelled.", "The 6-card stack is cancelled."),
    (Event("stack_gone", 1, amount=0), "The Wild Draw Colour is cancelled.", "The Wild Draw Colour is cancelled."),
    (
        Event("turned_round", 1, amount=-1),
        "The direction turns: now counter-clockwise.",
        "The direction turns: now counter-clockwise.",
    ),
]


@pytest.mark.parametrize(("event", "yours", "theirs"), VOICES, ids=lambda value: str(value)[:40])
def test_a_sentence_addresses_the_player_or_names_them(event: Event, yours: str, theirs: str) -> None:
    for viewer, text in ((1, yours), (2, theirs), (None, theirs)):
        (shown,) = redact([event], viewer, over=False)
        assert sentence(shown, viewer, NAMES) == text


def test_a_sentence_addresses_the_target() -> None:
    assert sentence(Event("swapped", 1, target=0), 0, NAMES) == "Bob swaps hands with you."
    assert sentence(Event("caught", 1, target=0, amount=2), 0, NAMES) == "Bob catches you not calling UNO."
    assert sentence(Event("aimed", 1, target=0), 0, NAMES) == "The roulette is on you."
    assert sentence(Event("intercepted", 1, target=0), 0, NAMES) == "Bob intercepts you."
    caught = Event("challenged", 1, target=0, reason="right")
    assert sentence(caught, 0, NAMES) == "Bob challenges you and catches your bluff."
    wrong = Event("challenged", 1, target=0, reason="wrong")
    assert sentence(wrong, 2, NAMES) == "Bob challenges Ann, but it was no bluff."


@pytest.mark.parametrize(
    ("event", "yours", "theirs"),
    [
        (Event("drew", 1, amount=1, cards=("r5",), reason="turn"), "You draw Red 5.", "Bob draws 1."),
        (Event("drew", 1, amount=2, cards=("r1", "b3"), reason="stack"), "You draw 2: Red 1, Blue 3.", "Bob draws 2."),
        (
            Event("drew", 1, amount=5, cards=("r1", "b3", "b4", "W", "b9"), reason="caught"),
            "You draw 5: 3 blue, 1 red, 1 wild.",
            "Bob draws 5.",
        ),
        (
            Event("turned_over", 1, amount=4, cards=("r1", "r3", "g4", "b9"), color="b"),
            "You turn over 4: 2 red, 1 green, 1 blue.",
            "Bob turns over 4.",
        ),
        (Event("shed", 1, cards=("r1", "r3"), color="r"), "You shed 2.", "Bob sheds 2."),
    ],
)
def test_many_cards_are_counted_where_they_are_spoken(event: Event, yours: str, theirs: str) -> None:
    for viewer, text in ((1, yours), (2, theirs), (None, theirs)):
        (shown,) = redact([event], viewer, over=False)
        assert sentence(shown, viewer, NAMES, short=True) == text


def test_cards_are_counted_by_colour_the_most_first() -> None:
    cards = ("y1", "y2", "W4", "g3", "y4", "W")
    assert sentence(Event("drew", 1, amount=6, cards=cards), 1, NAMES, short=True) == (
        "You draw 6: 3 yellow, 2 wild, 1 green."
    )


def test_a_name_is_never_read_as_a_template() -> None:
    names = ("{target}", "[a|b]{seat}")
    assert sentence(Event("swapped", 1, target=0), None, names) == "[a|b]{seat} swaps hands with {target}."


def test_a_name_keeps_its_case_at_the_start_of_a_sentence() -> None:
    names = ("alice_n", "you")
    assert sentence(Event("drew", 0, amount=1), 1, names) == "alice_n draws 1 card."
    assert sentence(Event("drew", 1, amount=1), None, names) == "you draws 1 card."
    assert sentence(Event("drew", 0, amount=1), 0, names) == "You draw 1 card."


def assert_is_a_sentence(text: str) -> None:
    assert text[0].isupper()
    assert text.endswith(".")
    assert "None" not in text
    assert not set(text) & set("{}[]()|")


def forms(*messages: Message) -> list[str]:
    return [form for one in messages for form in ([one] if isinstance(one, str) else one) if form]


@pytest.mark.parametrize("name", ROWS)
def test_every_row_has_a_whole_sentence_for_each_voice_and_length(name: str) -> None:
    long = ROWS[name]
    for row in (long, long.short or long):
        assert row is long or row.short is None
        for form in forms(row.others, row.you, row.to_you):
            assert_is_a_sentence(form.format(seat="Bob", target="Ann", card="Red 5", cards="Red 5", color="red", n=2))
        assert not [form for form in forms(row.you) if "{seat}" in form], "the player is you"
        assert not [form for form in forms(row.to_you) if "{target}" in form], "the target is you"
        assert row.you or not [form for form in forms(row.others) if "{seat}" in form]
        assert row.to_you or not [form for form in forms(row.others) if "{target}" in form]


def events_of(kind: str) -> Iterator[Event]:
    """Yield the events of a kind with each of its reasons, with and without what it may leave out."""
    spec = EVENTS[kind]
    always_a_reason = kind in ("challenged", "flipped")
    reasons = spec.reasons if always_a_reason else (None, *spec.reasons)
    colors = (None, "r") if "color" in spec.optional else ("r",)
    for reason, color, amount, card in product(reasons, colors, (-1, 0, 1, 26), ("r5", "W")):
        event = Event(kind, 1, card, color, reason, amount, ("r1", "g2", "g3", "W"), 0, points=57)
        yield from redact([event], None, over=False)
        yield from redact([event], 1, over=False)


@pytest.mark.parametrize("kind", EVENTS)
def test_every_event_has_a_sentence_for_each_voice_and_length(kind: str) -> None:
    for event in events_of(kind):
        for viewer, short in product((None, 0, 1, 2), (False, True)):
            text = sentence(event, viewer, NAMES, short=short)
            assert_is_a_sentence(text)
            if viewer == event.seat:
                assert "Bob" not in text
            if viewer == event.target:
                assert "Ann" not in text


def test_every_row_is_used() -> None:
    assert {row_of(event) for kind in EVENTS for event in events_of(kind)} == set(ROWS)


# The kinds of events in the logs of release 0.1.0, with their reasons after a colon. Kinds of later releases are added.
STORED = """
played:clock shed called_uno uno_due caught false_catch window_closed
drew:turn,clock,stack,debt,caught,false_catch,buzzer found turned_over reshuffled nothing_left passed kept intercepted
missed challenged:right,wrong flipped:light,dark pressed slowest:lottery shuffled_in skipped skipped_everyone
turned_round swapped passed_hands owes owes_color stack_gone aimed named_color:clock went_out came_back knocked_out left
won:last_card,last_one_in,debt_ended,nobody_can_move
"""


@pytest.mark.parametrize("stored", STORED.split())
def test_every_event_that_an_old_log_may_have_still_has_a_sentence(stored: str) -> None:
    kind, _, reasons = stored.partition(":")
    for reason in reasons.split(","):
        event = Event(kind, 1, "r5", "r", reason or None, 2, ("r1", "g2"), 0, 57)
        (shown,) = redact([event], None, over=True)
        assert_is_a_sentence(sentence(shown, None, NAMES))


def test_every_event_of_random_games_has_a_sentence_for_every_viewer() -> None:
    for preset, seeds in (("no-mercy", range(25)), ("classic", range(2))):
        for seed in seeds:
            for played in play(PRESETS[preset], 3, seed, leaving=0.005, most=400):
                for viewer in (None, 0, 1, 2):
                    for shown in redact(played.events, viewer, over=False):
                        assert_is_a_sentence(sentence(shown, viewer, NAMES))
