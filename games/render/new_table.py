"""The words of the form for a new table that are no option of the rules: ways to play, presets and lengths."""

from __future__ import annotations

from typing import Final, NamedTuple

from common.readers_language import say
from common.say import N_
from games import rules
from games.bots import Bot
from games.models.paces import Pace

BOTS: Final = "bots"
FRIENDS: Final = "friends"
ANYONE: Final = "anyone"
WAYS: Final = {
    BOTS: (N_("Bots"), N_("start at once")),
    FRIENDS: (N_("Friends"), N_("by a link")),
    ANYONE: (N_("Anyone"), N_("listed for all")),
}
"""Who plays at a new table, by its name in the form: a title and a hint."""

LENGTHS: Final = {"short": N_("Short match"), "match": N_("Match"), "long": N_("Long match")}
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


def way_choice(name: str) -> ChoiceLabel:
    """Return the label of a way to play, by its name in the form."""
    title, hint = WAYS[name]
    return choice(say.text("way to play", title), "", say.text("way to play", hint))


def players_choice(number: int) -> ChoiceLabel:
    """Return the label of a number of players."""
    return choice(str(number), say.plural("players", "{n} player", "{n} players", number))


def bots_choice(number: int | None) -> ChoiceLabel:
    """Return the label of a number of bots, or of None for as many as fit the way to play."""
    if number is None:
        hint = say.text("bots", "against bots all other seats, with people none")
        return choice(say.text("bots", "Default"), "", hint)
    if not number:
        return choice(say.text("bots", "None"), say.text("bots", "no bots"))
    return choice(str(number), say.plural("bots", "{n} bot", "{n} bots", number))


def public_choice(public: bool | None) -> ChoiceLabel:
    """Return the label of who can join: anyone, people with the link, or None for what fits the way to play."""
    if public is None:
        hint = say.text("public", "for friends only with the link, otherwise anyone")
        return choice(say.text("public", "Default"), "", hint)
    if public:
        return choice(say.text("public", "Anyone, from the list of open tables"), say.text("public", "listed for all"))
    return choice(say.text("public", "Only people with the link"), say.text("public", "only with the link"))


def programs_choice(allowed: bool) -> ChoiceLabel:
    """Return the label of whether accounts that are run by a program can sit down."""
    if allowed:
        return choice(say.text("programs", "Yes"), "")
    return choice(say.text("programs", "No"), say.text("programs", "no programs"))


def vacations_choice(counted: bool) -> ChoiceLabel:
    """Return the label of whether vacations stop the clocks."""
    if counted:
        return choice(say.text("vacations", "Yes"), "")
    return choice(say.text("vacations", "No"), say.text("vacations", "no vacations"))


def bot_choice(bot: Bot) -> ChoiceLabel:
    """Return the label of a kind of bot."""
    return choice(bot.label, say.text("bots", "bots: {kind}", kind=bot.label), bot.help)


def length_choice(name: str, preset: str) -> ChoiceLabel:
    """Return the label of a length of a match with this preset."""
    title = say.text("length", LENGTHS[name])
    return choice(title, title, length_hint(name, preset))


def length_hint(name: str, preset: str) -> str:
    """Return how long a match of this length is with this preset."""
    length = getattr(rules.LENGTHS_OF[preset], name)
    return say.plural(
        "length",
        "About {n} round with four players, to {points} points.",
        "About {n} rounds with four players, to {points} points.",
        length.rounds,
        points=say.number(length.points),
    )


def pace_choice(pace: Pace) -> ChoiceLabel:
    """Return the label of a pace."""
    name, about = say.text("pace", pace.label), say.text("pace", pace.about)
    return choice(
        say.text("pace", "{pace}: {about}", pace=name, about=about),
        say.text("pace", "{pace}, {about}", pace=name, about=about),
        pace.help,
    )
