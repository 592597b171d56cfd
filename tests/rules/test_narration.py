"""Events as sentences: to the player, to the target and to others."""

from __future__ import annotations

import pytest

from games.rules import EVENTS, PRESETS, Event, redact, sentence
from games.rules.narration import _SENTENCES
from tests.rules.strategies import play

NAMES = ("Ann", "Bob", "Cyn")

VOICES = [
    (
        Event("drew", 1, amount=4, reason="stack"),
        "You draw 4 cards and lose the turn.",
        "Bob draws 4 cards and loses the turn.",
    ),
    (Event("drew", 1, amount=1, cards=("r5",), reason="turn"), "You draw 1 card (Red 5).", "Bob draws 1 card."),
    (
        Event("drew", 1, amount=2, reason="caught"),
        "You draw 2 cards for not calling UNO.",
        "Bob draws 2 cards for not calling UNO.",
    ),
    (
        Event("drew", 1, amount=2, reason="clock"),
        "You draw 2 cards (time ran out).",
        "Bob draws 2 cards (time ran out).",
    ),
    (
        Event("drew", 1, amount=2, cards=("r5", "yE"), reason="clock"),
        "You draw 2 cards: Red 5, Yellow Skip Everyone (time ran out).",
        "Bob draws 2 cards (time ran out).",
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
    (Event("played", 1, "r5", reason="clock"), "You play Red 5 (time ran out).", "Bob plays Red 5 (time ran out)."),
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
        "You win the round and score 57 points.",
        "Bob wins the round and scores 57 points.",
    ),
    (
        Event("won", 1, points=(3, 0), reason="last_one_in"),
        "You win the round as the last player standing.",
        "Bob wins the round as the last player standing.",
    ),
    (
        Event("won", 1, points=1250, reason="last_one_in"),
        "You win the round as the last player standing and score 1,250 points.",
        "Bob wins the round as the last player standing and scores 1,250 points.",
    ),
    (
        Event("won", 1, points=8, reason="debt_ended"),
        "You win the round because the stack is cancelled and score 8 points.",
        "Bob wins the round because the stack is cancelled and scores 8 points.",
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
        "You play Blue 9 out of turn and get 1 penalty point, because it does not fit.",
        "Bob plays Blue 9 out of turn and gets 1 penalty point, because it does not fit.",
    ),
    (Event("pressed", 1), "You press the buzzer.", "Bob presses the buzzer."),
    (Event("slowest", 1), "You are the slowest to press.", "Bob is the slowest to press."),
    (Event("slowest", 1, reason="lottery"), "Chance picks you.", "Chance picks Bob."),
    (Event("stack_gone", 1, amount=6), "The 6-card stack is cancelled.", "The 6-card stack is cancelled."),
    (Event("stack_gone", 1, amount=0), "The Wild Draw Colour is cancelled.", "The Wild Draw Colour is cancelled."),
    (Event("turned_round", 1, amount=-1), "Play now runs counter-clockwise.", "Play now runs counter-clockwise."),
]


@pytest.mark.parametrize(("event", "yours", "theirs"), VOICES, ids=lambda value: str(value)[:40])
def test_a_sentence_addresses_the_player_or_names_them(event: Event, yours: str, theirs: str) -> None:
    for viewer, text in ((1, yours), (2, theirs), (None, theirs)):
        (shown,) = redact([event], viewer, over=False)
        assert sentence(shown, viewer, NAMES) == text


def test_a_sentence_addresses_the_target() -> None:
    assert sentence(Event("swapped", 1, target=0), 0, NAMES) == "Bob swaps hands with you."
    assert sentence(Event("caught", 1, target=0, amount=2), 0, NAMES) == "Bob catches you not calling UNO."
    assert sentence(Event("aimed", 1, target=0), 0, NAMES) == "Bob plays Color Roulette on you."
    assert sentence(Event("intercepted", 1, target=0), 0, NAMES) == "Bob intercepts you."
    assert sentence(Event("challenged", 1, target=0, reason="right"), 0, NAMES) == "Bob challenges you: it was a bluff."
    assert (
        sentence(Event("challenged", 1, target=0, reason="wrong"), 2, NAMES) == "Bob challenges Ann: it was no bluff."
    )


def test_a_name_is_never_read_as_a_template() -> None:
    names = ("{target}", "[a|b]{seat}")
    assert sentence(Event("swapped", 1, target=0), None, names) == "[a|b]{seat} swaps hands with {target}."


def test_a_name_keeps_its_case_at_the_start_of_a_sentence() -> None:
    names = ("alice_n", "you")
    assert sentence(Event("drew", 0, amount=1), 1, names) == "alice_n draws 1 card."
    assert sentence(Event("drew", 1, amount=1), None, names) == "you draws 1 card."
    assert sentence(Event("drew", 0, amount=1), 0, names) == "You draw 1 card."


def test_every_kind_of_event_has_a_sentence_and_a_row() -> None:
    assert set(_SENTENCES) == set(EVENTS)


def assert_is_a_sentence(text: str) -> None:
    assert text[0].isupper()
    assert text.endswith(".")
    assert "None" not in text
    assert not set(text) & set("{}[]|")


@pytest.mark.parametrize("kind", EVENTS)
def test_every_kind_of_event_has_a_sentence_for_every_viewer(kind: str) -> None:
    event = Event(kind, 1, "r5", "r", "stack", 2, ("r1", "g2"), 0, 57)
    for viewer in (None, 0, 1, 2):
        (shown,) = redact([event], viewer, over=False)
        assert_is_a_sentence(sentence(shown, viewer, NAMES))


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
