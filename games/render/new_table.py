"""The words of the form for a new table that are no option of the rules: ways to play, presets and lengths."""

from __future__ import annotations

from typing import Final, NamedTuple

from django.utils.html import escape, format_html
from django.utils.safestring import SafeString

from games import rules
from games.models.paces import Pace
from games.render.words import listed

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


class Choice(SafeString):
    """The label of a choice. `line` is what is said of it where its part of the form is folded."""

    line: str


def choice(text: str, line: str, hint: str = "") -> Choice:
    """Return the label of a choice, with a hint below it."""
    label = Choice(format_html("{} <small>{}</small>", text, hint) if hint else escape(text))
    label.line = line
    return label


def length_choice(name: str) -> Choice:
    """Return the label of a length of a match."""
    lengths = {preset: getattr(rules.LENGTHS_OF[preset], name) for preset in rules.PRESETS}
    titles: dict[int, list[str]] = {}
    for preset, length in lengths.items():
        titles.setdefault(length.points, []).append(rules.PRESET_TITLES[preset])
    points = [f"{number:,} in {listed(named)}" for number, named in sorted(titles.items(), reverse=True)]
    least, most = (choose(length.rounds for length in lengths.values()) for choose in (min, max))
    rounds = f"{least}" if least == most else f"{least} to {most}"
    hint = f"About {rounds} rounds with four players. Points: {', '.join(points)}."
    return choice(LENGTHS[name], LENGTHS[name], hint)


def pace_choice(pace: Pace) -> Choice:
    """Return the label of a pace."""
    return choice(f"{pace.label}: {pace.help}", f"{pace.label}, {pace.help.partition(':')[0]}")
