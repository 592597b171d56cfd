"""The words of the form for a new table that are no option of the rules: ways to play, presets and lengths."""

from __future__ import annotations

from typing import Final, NamedTuple

from games import rules
from games.models.paces import Pace
from games.render.words import counted

BOTS: Final = "bots"
FRIENDS: Final = "friends"
ANYONE: Final = "anyone"
WAYS: Final = {
    BOTS: ("Bots", "start at once"),
    FRIENDS: ("Friends", "by a link"),
    ANYONE: ("Anyone", "listed for all"),
}
"""Who plays at a new table, by its name in the form: a title and a hint."""

LENGTHS: Final = {"short": "Short match", "match": "Match", "long": "Long match"}
"""The titles of matches, by the name of a length in `rules.Lengths`."""


class PresetCard(NamedTuple):
    """A preset to choose: its title, two lines about it, and a face of one of its cards with the side."""

    name: str
    title: str
    summary: str
    face: rules.Card
    side: str | None


PRESET_CARDS: Final = tuple(
    PresetCard(name, title, rules.PRESET_SUMMARIES[name], *rules.FACE_OF[name])
    for name, title in rules.PRESET_TITLES.items()
)


class ChoiceLabel(str):
    """The label of a choice. `line` is what is said of it where its part of the form is folded, `hint` is below it."""

    __slots__ = ("hint", "line")

    line: str
    hint: str


def choice(text: str, line: str, hint: str = "") -> ChoiceLabel:
    """Return the label of a choice."""
    label = ChoiceLabel(text)
    label.line, label.hint = line, hint
    return label


def length_choice(name: str, preset: str) -> ChoiceLabel:
    """Return the label of a length of a match with this preset."""
    return choice(LENGTHS[name], LENGTHS[name], length_hint(name, preset))


def length_hint(name: str, preset: str) -> str:
    """Return how long a match of this length is with this preset."""
    length = getattr(rules.LENGTHS_OF[preset], name)
    return f"About {counted(length.rounds, 'round')} with four players, to {length.points:,} points."


def pace_choice(pace: Pace) -> ChoiceLabel:
    """Return the label of a pace."""
    return choice(f"{pace.label}: {pace.help}", f"{pace.label}, {pace.help.partition(':')[0]}")
