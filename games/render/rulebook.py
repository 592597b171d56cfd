"""The pages of the rules: of a preset, of a table, and of every rule."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import groupby
from typing import Final, NamedTuple
from urllib.parse import urlencode

from django.urls import reverse

from games import rules
from games.queries import GameView
from games.render import words
from games.render.how_to_play import HowToPlay, how_to_play

EVERY_RULE: Final = "all"
"""The name in the address of the page with every rule, in the place of a preset."""

USUAL: Final = "no-mercy"
"""The preset of the page without a name in its address."""


class ShownRule(NamedTuple):
    """A numbered rule. `here` says what the options of the page make of it, and may be empty."""

    id: str
    text: str
    here: str


class Section(NamedTuple):
    """A section of the rulebook."""

    title: str
    rules: Sequence[ShownRule]


class Option(NamedTuple):
    """An option of a table. `rule` is the number of its rule, `value` what it is at this page's tables."""

    name: str
    title: str
    help: str
    rule: str
    value: str


class PresetLink(NamedTuple):
    """A link to the page of a preset, or of every rule. `here`: the page that it is on."""

    title: str
    url: str
    here: bool


@dataclass(frozen=True, slots=True)
class RulebookPage:
    """The rules that apply at a table, or every rule.

    `how` is None on the page of every rule. `differences` says how a table differs from its preset, and may be empty.
    `new_table_url` is where a table with the page's preset is made. `shown` are the numbers of the page's rules.
    """

    title: str
    about: str
    differences: str
    how: HowToPlay | None
    presets: Sequence[PresetLink]
    sections: Sequence[Section]
    options: Sequence[Option]
    shown: Collection[str]
    new_table_url: str = ""


@cache
def preset_page(preset: str) -> RulebookPage:
    """Return the rules of a preset.

    :raises KeyError: if there is no such preset.
    """
    options, players = rules.PRESETS[preset], rules.MAX_PLAYERS_OF[preset]
    return RulebookPage(
        title=f"The {rules.PRESET_TITLES[preset]} rules",
        about=rules.PRESET_DESCRIPTIONS[preset],
        differences="",
        how=how_to_play(options, players),
        presets=_links(preset),
        sections=_sections(options, players),
        options=_options(options),
        shown=_shown(options, players),
        new_table_url=new_table_url(preset),
    )


@cache
def every_rule_page() -> RulebookPage:
    """Return the page with every rule, whatever tables it applies to."""
    by_section = groupby(rules.RULEBOOK, key=lambda rule: rule.section)
    return RulebookPage(
        title="Every rule",
        about="All rules of all decks and options. A table plays by those that its options turn on.",
        differences="",
        how=None,
        presets=_links(EVERY_RULE),
        sections=[Section(title, [ShownRule(one.id, one.text, "") for one in found]) for title, found in by_section],
        options=[
            Option(spec.name, spec.title, spec.help_in_words, spec.source, f"Default: {usual_value(spec)}.")
            for spec in rules.OPTIONS
        ],
        shown=frozenset(rule.id for rule in rules.RULEBOOK),
    )


def table_page(view: GameView) -> RulebookPage:
    """Return the rules of a table."""
    return RulebookPage(
        title=f"The rules of {words.table_name(view, inside=True)}",
        about=f"{rules.PRESET_TITLES[view.preset]} rules. {words.match_length(view)}",
        differences=words.differences(view),
        how=how_to_play(view.options, view.players),
        presets=_links(""),
        sections=_sections(view.options, view.players),
        options=_options(view.options),
        shown=_shown(view.options, view.players),
    )


@cache
def rules_url(preset: str = USUAL) -> str:
    """Return the address of the rules of a preset, or of `EVERY_RULE`."""
    return reverse("rules") + ("" if preset == USUAL else f"?{urlencode({'preset': preset})}")


def table_rules_url(view: GameView, rule: str | None = None, *, key: str = "") -> str:
    """Return the address of the rules of a table, or of one of its rules.

    A table without changes has the rules of its preset, unless some need more players. A rule that does not apply at
    the table, which a refusal may name all the same, is on the page of every rule.

    :param key: the invitation's key, for a reader who may see the table only by it.
    """
    shown = _shown(view.options, view.players)
    as_preset = not words.differences(view) and shown == preset_page(view.preset).shown
    if rule and rule not in shown:
        url = rules_url(EVERY_RULE)
    elif as_preset:
        url = rules_url(view.preset)
    elif key:
        url = reverse("invite-rules", args=[key])
    else:
        url = f"{reverse('rules')}?{urlencode({'table': view.id})}"
    return f"{url}#{rule}" if rule else url


def new_table_url(preset: str) -> str:
    """Return the address of the form for a new table with a preset chosen."""
    return f"{reverse('new-table')}?{urlencode({'preset': preset})}"


def _links(here: str) -> list[PresetLink]:
    titles = [*rules.PRESET_TITLES.items(), (EVERY_RULE, "Every rule")]
    return [PresetLink(title, rules_url(name), name == here) for name, title in titles]


@lru_cache(maxsize=256)
def _shown(options: rules.Options, players: int) -> frozenset[str]:
    return frozenset(rule.id for rule in rules.rules_that_apply(options, players))


_USUAL_RULES: Final = _shown(rules.PRESETS[USUAL], rules.MAX_PLAYERS_OF[USUAL])


@lru_cache(maxsize=64)
def _sections(options: rules.Options, players: int) -> list[Section]:
    by_section = groupby(rules.rules_that_apply(options, players), key=lambda rule: rule.section)
    return [
        Section(title, [ShownRule(rule.id, rule.text_for(options, players), _here(rule.id, options)) for rule in found])
        for title, found in by_section
    ]


def _here(rule: str, options: rules.Options) -> str:
    """Return what options make of a rule, in sentences.

    The text of a rule of the preset `no-mercy` says what holds there, so only other values are said.
    """
    said = []
    for spec in rules.OPTIONS:
        value = getattr(options, spec.name)
        same = rule in _USUAL_RULES and value == getattr(rules.PRESETS[USUAL], spec.name)
        if spec.source == rule and not same:
            said.append(
                "A single round is played." if spec.name == "target" and not options.is_match else spec.sentence(value)
            )
    return " ".join(said)


def _options(options: rules.Options) -> list[Option]:
    return [
        Option(
            spec.name,
            spec.title,
            spec.help_in_words,
            spec.source,
            f"Here: {spec.label(getattr(options, spec.name))}.",
        )
        for spec in rules.OPTIONS
    ]


def usual_value(spec: rules.OptionSpec) -> str:
    """Return the value of an option at each preset: `7`, or `25 with No Mercy and Playroom No Mercy; else 0`."""
    titles: dict[str, list[str]] = {}
    for preset, title in rules.PRESET_TITLES.items():
        titles.setdefault(spec.label(getattr(rules.PRESETS[preset], spec.name)), []).append(title)
    (most, _), *others = sorted(titles.items(), key=lambda row: -len(row[1]))
    if not others:
        return most
    return "; ".join([*(f"{label} with {words.listed(named)}" for label, named in others), f"else {most}"])
